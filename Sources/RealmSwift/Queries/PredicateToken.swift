// Words, numbers, texts and signs of a predicate's format. The parser asks for one token after
// another.
internal import Foundation

/// What is wrong with a predicate's format.
struct PredicateSyntaxError: Error {
  let message: String
}

/// A piece of a predicate's format.
enum PredicateToken: Equatable {
  /// A keyword or the name of a property.
  case word(String)
  /// A name that is never a keyword: written with `#`.
  case name(String)
  case integer(Int64)
  case double(Double)
  case text(String)
  /// `$name`.
  case variable(String)
  /// `@count` and the like.
  case aggregate(String)
  /// `%@`, `%d` and the like.
  case placeholder
  /// `%K`.
  case namePlaceholder
  /// Anything else: brackets, comparators, separators.
  case sign(String)
  case end

  /// Words that mean something to the parser.
  static let keywords: Set<String> = [
    "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH",
    "ENDSWITH", "LIKE", "MATCHES", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO",
    "NULL", "NIL", "SELF", "SUBQUERY", "GEOWITHIN",
  ]

  /// A property's name as it can stand in a format.
  static func escaped(_ name: String) -> String {
    keywords.contains(name.uppercased()) ? "#" + name : name
  }

  /// The token in messages.
  var shown: String {
    switch self {
    case .word(let word), .name(let word): return "'\(word)'"
    case .integer(let value): return "'\(value)'"
    case .double(let value): return "'\(value)'"
    case .text(let text): return "the text \"\(text)\""
    case .variable(let name): return "'$\(name)'"
    case .aggregate(let name): return "'@\(name)'"
    case .placeholder: return "a placeholder"
    case .namePlaceholder: return "'%K'"
    case .sign(let sign): return "'\(sign)'"
    case .end: return "the end"
    }
  }
}

/// Cuts a format into tokens.
///
/// By scalars: a mark that combines with a quote or a letter is a part of the text or name.
struct PredicateTokenizer {
  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ format: String) { scalars = Array(format.unicodeScalars) }

  /// All tokens, the last one being `.end`, with the position where each starts.
  mutating func tokens() throws(PredicateSyntaxError) -> [(token: PredicateToken, position: Int)] {
    var result: [(PredicateToken, Int)] = []
    while true {
      while position < scalars.count, scalars[position].properties.isWhitespace { position += 1 }
      let start = position
      let token = try next()
      result.append((token, start))
      if token == .end { return result }
    }
  }

  private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
    position + offset < scalars.count ? scalars[position + offset] : nil
  }

  private func string(_ range: some RangeExpression<Int>) -> String {
    String(String.UnicodeScalarView(scalars[range]))
  }

  private mutating func next() throws(PredicateSyntaxError) -> PredicateToken {
    guard let first = scalar() else { return .end }
    switch first {
    case "'", "\"": return try text(first)
    case "%": return try placeholder()
    case "$": return .variable(try word(behind: first))
    case "@":
      position += 1
      return .aggregate(word())
    case "#": return .name(try word(behind: first))
    default: break
    }
    if first.properties.isAlphabetic || first == "_" || Self.isNameSymbol(first) {
      return .word(word())
    }
    let isSigned = first == "-" || first == "+"
    let digit = isSigned ? scalar(1) : first
    let next = scalar(isSigned ? 2 : 1)
    if let digit, Self.isDigit(digit) || (digit == "." && next.map(Self.isDigit) == true) {
      return try number()
    }
    return try sign(first)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.numericType != nil
  }

  /// Whether a scalar is no letter or digit, but Swift's names may begin with it: emoji above all.
  private static func isNameSymbol(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20a0...0x20cf, 0x2100...0x218f, 0x10000...: return !isDigit(scalar)
    default: return false
    }
  }

  private static func isInName(_ scalar: Unicode.Scalar) -> Bool {
    // The last one joins several emoji to one.
    scalar == "_" || isDigit(scalar) || scalar.properties.isIDContinue || isNameSymbol(scalar)
      || scalar == "\u{200d}"
  }

  private mutating func word() -> String {
    let start = position
    while let next = scalar(), Self.isInName(next) { position += 1 }
    return string(start..<position)
  }

  /// The name behind `#` or `$`.
  private mutating func word(
    behind sign: Unicode.Scalar
  ) throws(PredicateSyntaxError) -> String {
    position += 1
    let name = word()
    if name.isEmpty { throw PredicateSyntaxError(message: "a name is missing behind '\(sign)'") }
    return name
  }

  private mutating func number() throws(PredicateSyntaxError) -> PredicateToken {
    let start = position
    position += 1
    var isInteger = scalars[start] != "."
    while let next = scalar() {
      let before = scalars[position - 1]
      let isExponentSign = (next == "-" || next == "+") && (before == "e" || before == "E")
      if next == "." || next == "e" || next == "E" {
        isInteger = false
      } else if !Self.isDigit(next) && !isExponentSign {
        break
      }
      position += 1
    }
    let text = string(start..<position)
    if isInteger, let value = Int64(text) { return .integer(value) }
    if let value = Double(text) { return .double(value) }
    throw PredicateSyntaxError(message: "'\(text)' is no number")
  }

  private mutating func text(
    _ quote: Unicode.Scalar
  ) throws(PredicateSyntaxError) -> PredicateToken {
    position += 1
    var result = String.UnicodeScalarView()
    while let next = scalar() {
      position += 1
      if next == quote { return .text(String(result)) }
      if next != "\\" {
        result.append(next)
        continue
      }
      guard let escaped = scalar() else { break }
      position += 1
      switch escaped {
      case "n": result.append("\n")
      case "t": result.append("\t")
      case "r": result.append("\r")
      default: result.append(escaped)
      }
    }
    throw PredicateSyntaxError(message: "a text has no closing \(quote)")
  }

  /// The forms of Foundation's, those of printf with their lengths.
  ///
  /// What they stand for follows from the argument.
  private mutating func placeholder() throws(PredicateSyntaxError) -> PredicateToken {
    position += 1
    if scalar() == "K" {
      position += 1
      return .namePlaceholder
    }
    if scalar() == "@" {
      position += 1
      return .placeholder
    }
    let length = scalars[position...].prefix { "hlqLzjt".unicodeScalars.contains($0) }.count
    let forms = "diDuUxXoOfFeEgGaAcCsSp".unicodeScalars
    if length <= 2, let form = scalar(length), forms.contains(form) {
      position += length + 1
      return .placeholder
    }
    throw PredicateSyntaxError(
      message: "'%\(scalar().map { String($0) } ?? "")' is no placeholder; use %@, %K, %d or %f")
  }

  private mutating func sign(
    _ first: Unicode.Scalar
  ) throws(PredicateSyntaxError) -> PredicateToken {
    for sign in ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||"] {
      if scalars[position...].starts(with: sign.unicodeScalars) {
        position += 2
        return .sign(sign)
      }
    }
    guard "=<>!(){}[],.*".unicodeScalars.contains(first) else {
      throw PredicateSyntaxError(message: "the sign '\(first)' has no meaning")
    }
    position += 1
    return .sign(String(first))
  }
}
