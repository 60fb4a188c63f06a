// JSON that remembers the line of everything in it: whoever writes a plan by hand is told where it
// is wrong. RFC 8259, and nothing beyond; a name may stand once in an object.

/// A value with its line.
package struct LocatedJSON: Sendable {
  package enum Value: Sendable {
    case object([Member])
    case array([LocatedJSON])
    case string(String)
    /// As it is written.
    case number(String)
    case bool(Bool)
    case null
  }

  package struct Member: Sendable {
    package let name: String
    package let line: Int
    package let value: LocatedJSON
  }

  package let value: Value
  package let line: Int

  /// What is wrong, and in which line.
  package struct SyntaxError: ErrorInWords, Equatable {
    package let line: Int
    package let message: String
    package var words: String { "line \(line): \(message)" }
  }

  /// Reads a whole text.
  package static func parse(_ text: String) throws(SyntaxError) -> LocatedJSON {
    var reader = Reader(bytes: Array(text.utf8))
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.error("something follows the end of the plan") }
    return value
  }

  /// In words, for messages.
  package var kind: String {
    switch value {
    case .object: "an object"
    case .array: "a list"
    case .string: "a text"
    case .number: "a number"
    case .bool: "true or false"
    case .null: "null"
    }
  }
}

private struct Reader {
  let bytes: [UInt8]
  var position = 0
  var line = 1
  /// Deeper ones are refused: the stack is finite.
  static let depthMax = 64

  init(bytes: [UInt8]) {
    self.bytes = bytes
    // A mark of the byte order, as some editors write it.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  var isAtEnd: Bool { position >= bytes.count }
  var byte: UInt8? { isAtEnd ? nil : bytes[position] }

  func error(_ message: String) -> LocatedJSON.SyntaxError {
    LocatedJSON.SyntaxError(line: line, message: message)
  }

  mutating func skipSpace() {
    while let byte, byte == 32 || byte == 9 || byte == 10 || byte == 13 {
      if byte == 10 { line += 1 }
      position += 1
    }
  }

  mutating func take(_ expected: Character) -> Bool {
    skipSpace()
    guard byte == expected.asciiValue else { return false }
    position += 1
    return true
  }

  mutating func value(depth: Int) throws(LocatedJSON.SyntaxError) -> LocatedJSON {
    guard depth < Self.depthMax else { throw error("nested more than \(Self.depthMax) deep") }
    skipSpace()
    let start = line
    guard let byte else { throw error("the plan ends too early") }
    switch byte {
    case UInt8(ascii: "{"): return LocatedJSON(value: .object(try object(depth)), line: start)
    case UInt8(ascii: "["): return LocatedJSON(value: .array(try array(depth)), line: start)
    case UInt8(ascii: "\""): return LocatedJSON(value: .string(try string()), line: start)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return LocatedJSON(value: .number(try number()), line: start)
    default:
      for (word, value) in [
        ("true", LocatedJSON.Value.bool(true)), ("false", .bool(false)), ("null", .null),
      ]
      where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return LocatedJSON(value: value, line: start)
      }
      throw error("expected a value, found '\(found)'")
    }
  }

  private var found: String {
    byte.map { $0 < 128 ? String(UnicodeScalar($0)) : "a letter outside of quotes" } ?? "the end"
  }

  private mutating func object(_ depth: Int) throws(LocatedJSON.SyntaxError) -> [LocatedJSON.Member]
  {
    position += 1
    var members: [LocatedJSON.Member] = []
    var names: Set<String> = []
    if take("}") { return members }
    while true {
      skipSpace()
      let start = line
      guard byte == UInt8(ascii: "\"") else {
        throw error("expected a name in quotes, found '\(found)'")
      }
      let name = try string()
      guard names.insert(name).inserted else { throw error("'\(name)' is there twice") }
      guard take(":") else { throw error("expected ':' after '\(name)', found '\(found)'") }
      members.append(.init(name: name, line: start, value: try value(depth: depth + 1)))
      if take("}") { return members }
      guard take(",") else { throw error("expected ',' or '}', found '\(found)'") }
    }
  }

  private mutating func array(_ depth: Int) throws(LocatedJSON.SyntaxError) -> [LocatedJSON] {
    position += 1
    var elements: [LocatedJSON] = []
    if take("]") { return elements }
    while true {
      elements.append(try value(depth: depth + 1))
      if take("]") { return elements }
      guard take(",") else { throw error("expected ',' or ']', found '\(found)'") }
    }
  }

  /// Passes digits; returns how many there were.
  private mutating func digits() -> Int {
    let first = position
    while let byte, (48...57).contains(byte) { position += 1 }
    return position - first
  }

  private mutating func number() throws(LocatedJSON.SyntaxError) -> String {
    let start = position
    if byte == UInt8(ascii: "-") { position += 1 }
    let first = byte
    let whole = digits()
    guard whole == 1 || (whole > 1 && first != UInt8(ascii: "0")) else {
      throw error("a number is not written that way")
    }
    if byte == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { throw error("a number is not written that way") }
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      position += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { throw error("a number is not written that way") }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func string() throws(LocatedJSON.SyntaxError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else {
          throw error("a text is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): text += try escaped()
      case 0..<32: throw error("a text ends at the end of its line: a quote is missing")
      default: text.append(byte)
      }
    }
    throw error("a text does not end: a quote is missing")
  }

  private mutating func escaped() throws(LocatedJSON.SyntaxError) -> [UInt8] {
    guard let byte else { throw error("a text does not end: a quote is missing") }
    position += 1
    let simple: [UInt8: UInt8] = [
      UInt8(ascii: "\""): 34, UInt8(ascii: "\\"): 92, UInt8(ascii: "/"): 47, UInt8(ascii: "b"): 8,
      UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
    ]
    if let plain = simple[byte] { return [plain] }
    guard byte == UInt8(ascii: "u") else { throw error("no escape '\\\(UnicodeScalar(byte))'") }
    var unit = try codeUnit()
    if (0xD800..<0xDC00).contains(unit), bytes[position...].starts(with: "\\u".utf8) {
      position += 2
      let low = try codeUnit()
      guard (0xDC00..<0xE000).contains(low) else { throw error("half of a pair of \\u escapes") }
      unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = UnicodeScalar(unit) else { throw error("half of a pair of \\u escapes") }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func codeUnit() throws(LocatedJSON.SyntaxError) -> UInt32 {
    // `UInt32` alone would take a sign.
    guard position + 4 <= bytes.count, !"+-".utf8.contains(bytes[position]),
      let unit = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw error("\\u needs four hexadecimal digits") }
    position += 4
    return unit
  }
}
