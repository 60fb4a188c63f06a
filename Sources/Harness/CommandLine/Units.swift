// Numbers with units on the command line. A bare number where a unit is needed is refused: 30 could
// be seconds or milliseconds, and a benchmark that guesses measures something else.
internal import Foundation

/// What the caller of the tool did wrong; exit code 64.
package struct UsageError: Error, Equatable, Sendable {
  package let message: String
  package init(_ message: String) { self.message = message }
}

/// Parsing and writing of durations, sizes and rates.
package enum Units {
  private static let durations: [(String, Double)] = [
    ("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9),
  ]
  private static let sizes: [(String, Double)] = [
    ("B", 1), ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824),
  ]

  /// Nanoseconds of a duration such as `30s`, `1.5ms`.
  package static func nanoseconds(_ text: String, flag: String) throws(UsageError) -> UInt64 {
    let value = try scaled(
      text, flag: flag, units: durations, kind: "a duration", example: "30s or 500ms")
    guard value < 1e18 else { throw UsageError("\(flag): '\(text)' is too long") }
    return UInt64(value.rounded())
  }

  /// Bytes of a size such as `100B`, `4KiB`.
  package static func bytes(_ text: String, flag: String) throws(UsageError) -> Int {
    let value = try scaled(text, flag: flag, units: sizes, kind: "a size", example: "100B or 4KiB")
    guard value == value.rounded(), value < 1e15 else {
      throw UsageError("\(flag): '\(text)' is not a whole number of bytes")
    }
    return Int(value)
  }

  /// Operations a second of a rate such as `2000/s`.
  package static func ratePerSecond(_ text: String, flag: String) throws(UsageError) -> Double {
    guard text.hasSuffix("/s") else {
      throw UsageError(
        "\(flag) needs a rate with its unit, such as 2000/s" + suggestion(text, unit: "/s"))
    }
    guard let value = number(text.dropLast(2)), value > 0, value <= 1e9 else {
      throw UsageError("\(flag): '\(text)' is not a rate above 0, such as 2000/s")
    }
    return value
  }

  /// A whole number from `minimum` to `maximum`.
  package static func count(
    _ text: String, flag: String, minimum: Int, maximum: Int = 1 << 40
  ) throws(UsageError) -> Int {
    guard isDigits(text) else {
      throw UsageError("\(flag) needs a whole number, not '\(text)'")
    }
    // Digits that are no number are too many.
    guard let value = Int(text), value >= minimum, value <= maximum else {
      throw UsageError("\(flag): \(text) is not between \(minimum) and \(maximum)")
    }
    return value
  }

  /// A size, or a range of sizes as `uniform:10B..200B`.
  package static func valueSize(_ text: String, flag: String) throws(UsageError) -> ValueSize {
    guard text.hasPrefix("uniform:") else {
      let bytes = try bytes(text, flag: flag)
      return ValueSize(minimum: bytes, maximum: bytes)
    }
    let parts = text.dropFirst("uniform:".count).split(separator: "..")
    guard parts.count == 2 else {
      throw UsageError("\(flag): '\(text)' is not of the form uniform:10B..200B")
    }
    let minimum = try bytes(String(parts[0]), flag: flag)
    let maximum = try bytes(String(parts[1]), flag: flag)
    guard minimum <= maximum else {
      throw UsageError("\(flag): '\(text)' begins above its end")
    }
    return ValueSize(minimum: minimum, maximum: maximum)
  }

  // MARK: - Writing

  /// The largest unit that needs no fraction.
  package static func text(nanoseconds: UInt64) -> String {
    for (unit, factor) in durations.reversed() {
      let length = UInt64(factor)
      if nanoseconds >= length && nanoseconds % length == 0 {
        return "\(nanoseconds / length)\(unit)"
      }
    }
    return "0s"
  }

  package static func text(_ size: ValueSize) -> String {
    size.minimum == size.maximum
      ? "\(size.minimum)B" : "uniform:\(size.minimum)B..\(size.maximum)B"
  }

  package static func text(ratePerSecond rate: Double) -> String {
    rate == rate.rounded() ? "\(Int(rate))/s" : "\(rate)/s"
  }

  // MARK: - Parts

  private static func scaled(
    _ text: String, flag: String, units: [(String, Double)], kind: String, example: String
  ) throws(UsageError) -> Double {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[digits.endIndex...]
    guard let value = number(digits) else {
      throw UsageError("\(flag) needs \(kind) such as \(example), not '\(text)'")
    }
    if unit.isEmpty {
      throw UsageError(
        "\(flag): '\(text)' has no unit; write \(kind) such as \(example)")
    }
    guard let factor = units.first(where: { $0.0 == unit })?.1 else {
      let names = units.map(\.0)
      // Of another letter it would be another size, not a slip.
      let nearest = nearestName(String(unit), in: names)
        .flatMap { $0.first?.lowercased() == unit.first?.lowercased() ? $0 : nil }
        .map { "; did you mean \(digits)\($0)?" }
      throw UsageError(
        "\(flag): '\(unit)' is not a unit of \(kind) (\(names.joined(separator: ", ")))"
          + (nearest ?? ""))
    }
    return value * factor
  }

  private static func suggestion(_ text: String, unit: String) -> String {
    number(Substring(text)) == nil ? ", not '\(text)'" : "; did you mean \(text)\(unit)?"
  }

  /// A decimal number without sign or exponent.
  package static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.first != ".", text.last != ".",
      text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (48...57).contains($0) })
    else { return nil }
    return Double(text)
  }

  private static func isDigits(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
  }
}

/// The name with the least edit distance, when it is near enough to be a slip.
package func nearestName(_ wrong: String, in names: [String]) -> String? {
  let ranked = names.map { ($0, editDistance(wrong.lowercased(), $0.lowercased())) }
  // Slips are rarely in the first letter: it decides between equals.
  func rank(_ entry: (String, Int)) -> (Int, Int) {
    (entry.1, entry.0.first == wrong.first ? 0 : 1)
  }
  guard let best = ranked.min(by: { rank($0) < rank($1) }) else { return nil }
  return best.1 <= max(2, wrong.count / 3) ? best.0 : nil
}

/// Fewest insertions, deletions and replacements of a character that turn one text into the other.
package func editDistance(_ first: String, _ second: String) -> Int {
  let (left, right) = (Array(first), Array(second))
  if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
  var previous = Array(0...right.count)
  for row in 1...left.count {
    var current = [row]
    for column in 1...right.count {
      let replaced = previous[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
      current.append(min(replaced, previous[column] + 1, current[column - 1] + 1))
    }
    previous = current
  }
  return previous[right.count]
}
