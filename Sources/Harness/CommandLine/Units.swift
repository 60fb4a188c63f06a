// Numbers with units on the command line. A bare number where a unit is needed is refused: 30 could
// be seconds or milliseconds, and a benchmark that guesses measures something else.
internal import Foundation

/// What the caller of the tool did wrong; exit code 64.
package struct UsageError: ErrorInWords, Equatable, Sendable {
  package let message: String
  package var words: String { message }
  package init(_ message: String) { self.message = message }
}

/// Parsing and writing of durations, sizes, rates and counts.
///
/// Every way of writing is taken whose meaning is certain; the others are refused, with what to
/// write instead.
package enum Units {
  private typealias Unit = (name: String, factor: Double)

  private static let durations: [Unit] = [
    ("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9),
    ("d", 86_400e9),
  ]
  /// Other names of these.
  private static let otherDurations: [String: String] = [
    "nsec": "ns", "nanosecond": "ns", "nanoseconds": "ns", "\u{b5}s": "us", "\u{3bc}s": "us",
    "usec": "us", "microsecond": "us", "microseconds": "us", "msec": "ms", "millisecond": "ms",
    "milliseconds": "ms", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m",
    "mins": "m", "minute": "m", "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "day": "d", "days": "d",
  ]
  private static let sizes: [Unit] = [
    ("B", 1), ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824),
    ("TiB", 1_099_511_627_776),
  ]
  private static let otherSizes: [String: String] = [
    "byte": "B", "bytes": "B", "kib": "KiB", "mib": "MiB", "gib": "GiB", "tib": "TiB",
    "kiB": "KiB", "Kib": "KiB", "KIB": "KiB", "MIB": "MiB", "GIB": "GiB", "TIB": "TiB",
  ]
  /// Thousands for some, multiples of 1,024 for others.
  private static let doubtfulSizes: [String: (binary: String, decimal: Int)] = {
    var units: [String: (binary: String, decimal: Int)] = [:]
    for (position, letter) in ["k", "m", "g", "t"].enumerated() {
      let decimal = (0...position).reduce(1) { product, _ in product * 1_000 }
      for form in [letter, letter + "b"] { units[form] = (sizes[position + 1].name, decimal) }
    }
    return units
  }()
  private static let multiples: [String: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9]

  /// No duration is as long: some of them are added up.
  package static let nanosecondsMax: UInt64 = 1_000_000_000_000_000_000

  /// Nanoseconds of a duration such as `30s`, `1.5ms`, `1m30s`.
  package static func nanoseconds(_ text: String, flag: String) throws(UsageError) -> UInt64 {
    var rest = text.filter { $0 != " " }[...]
    var sum = 0.0
    var last = Double.infinity
    repeat {
      let (value, unit) = try scaled(
        &rest, of: text, flag: flag, units: durations, others: otherDurations,
        kind: "a duration", example: "30s or 500ms", last == .infinity)
      // Twice the same, or a smaller one first, is more likely a slip.
      guard unit < last else {
        throw UsageError(
          "\(flag): '\(text)' does not go from larger to smaller units; write it as 1h30m or 90m")
      }
      last = unit
      sum += value * unit
    } while !rest.isEmpty
    guard sum.rounded() < Double(nanosecondsMax) else {
      throw UsageError("\(flag): '\(text)' is too long")
    }
    return UInt64(sum.rounded())
  }

  /// Bytes of a size such as `100B`, `4KiB`.
  package static func bytes(_ text: String, flag: String) throws(UsageError) -> Int {
    var rest = text.filter { $0 != " " }[...]
    let (number, factor) = try scaled(
      &rest, of: text, flag: flag, units: sizes, others: otherSizes, kind: "a size",
      example: "100B or 4KiB", true)
    let value = number * factor
    guard rest.isEmpty else {
      throw UsageError("\(flag) needs a size such as 100B or 4KiB, not '\(text)'")
    }
    guard value == value.rounded(), value < 1e15 else {
      throw UsageError("\(flag): '\(text)' is not a whole number of bytes")
    }
    return Int(value)
  }

  /// Operations a second of a rate such as `2000/s`, `1.5k/s`, `60/m`.
  package static func ratePerSecond(_ text: String, flag: String) throws(UsageError) -> Double {
    let parts = text.filter { $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      let meant = quantity(parts[0]) != nil && parts.count == 1
      throw UsageError(
        "\(flag) needs a rate with its unit, such as 2000/s"
          + (meant ? "; did you mean \(text)/s?" : ", not '\(text)'"))
    }
    let name = String(parts[1])
    let known = otherDurations[name] ?? name
    guard let unit = durations.first(where: { $0.name == known })?.factor else {
      throw UsageError("\(flag): '\(name)' is no unit of time; write a rate such as 2000/s or 60/m")
    }
    // What is written by the second is taken as it stands: a command has to read back the same.
    guard let value = quantity(parts[0]).map({ unit == 1e9 ? $0 : $0 * 1e9 / unit }), value > 0
    else { throw UsageError("\(flag): '\(text)' is not a rate above 0, such as 2000/s") }
    guard value <= 1e9 else { throw UsageError("\(flag): '\(text)' is too high; up to 1G/s") }
    // A command has to read back what it is written with: exponents have two digits.
    guard value >= 1e-99 else { throw UsageError("\(flag): '\(text)' is too low") }
    return value
  }

  /// What everything random follows from, from 0 on, such as `7`, `10k` or `1e3`.
  package static func seed(
    _ text: String, flag: String = "--seed", below limit: UInt64? = nil
  ) throws(UsageError) -> UInt64 {
    // All 64 bits where there are only digits: no other form has as many.
    let value = UInt64(text) ?? (try? count(text, flag: flag, minimum: 0)).map { UInt64($0) }
    guard let value, value < limit ?? .max || limit == nil else {
      let range = limit == nil ? "2^64-1" : "2^62-1"
      throw UsageError("\(flag) needs a whole number from 0 to \(range), not '\(text)'")
    }
    return value
  }

  /// A whole number from `minimum` to `maximum`, such as `10000`, `10k`, `1e6`, `1_000_000` or
  /// `10,000`.
  package static func count(
    _ text: String, flag: String, minimum: Int, maximum: Int = 1 << 40
  ) throws(UsageError) -> Int {
    let range = "\(flag): \(text) is not between \(minimum) and \(maximum)"
    if isDigits(text) {
      // Digits that are no number are too many.
      guard let value = Int(text), value >= minimum, value <= maximum else {
        throw UsageError(range)
      }
      return value
    }
    // A comma cannot be one of decimals where the number is whole.
    let plain = withoutCommas(text) ?? text
    guard let value = quantity(plain[...]) else {
      throw UsageError("\(flag) needs a whole number" + countHint(text))
    }
    guard value == value.rounded() else {
      throw UsageError("\(flag) needs a whole number, not '\(text)'")
    }
    // 10.000 is ten for some, ten thousand for others.
    if let point = text.firstIndex(of: "."), text[point...].dropFirst().allSatisfy(\.isNumber) {
      throw UsageError("\(flag) needs a whole number without a point, not '\(text)'")
    }
    guard value >= Double(minimum), value <= Double(maximum) else { throw UsageError(range) }
    return Int(value)
  }

  private static func countHint(_ text: String) -> String {
    if text.first == "+", (try? count(String(text.dropFirst()), flag: "", minimum: 0)) != nil {
      return ", not '\(text)'; did you mean \(text.dropFirst())?"
    }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let meant = ["m": "M", "g": "G"][text.dropFirst(digits.count)].map { "\(digits)\($0)" }
    return ", not '\(text)'"
      + (meant.map { "; did you mean \($0)?" }
        ?? (digits.isEmpty ? "" : "; write it as 10000, 10k, 2M or 1e6"))
  }

  /// A size, a range of sizes as `uniform:10B..200B`, or sizes as a file has them: the least, p50,
  /// p90, p99 and the largest as `percentiles:0B..20B..90B..2KiB..8KiB`.
  package static func valueSize(_ text: String, flag: String) throws(UsageError) -> ValueSize {
    if text.hasPrefix("percentiles:") { return try percentiles(text, flag: flag) }
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

  private static func percentiles(
    _ text: String, flag: String
  ) throws(UsageError) -> ValueSize {
    let parts = text.dropFirst("percentiles:".count).split(separator: "..")
    var sizes: [Int] = []
    for part in parts { sizes.append(try bytes(String(part), flag: flag)) }
    guard sizes.count == ValueSize.shares.count, zip(sizes, sizes.dropFirst()).allSatisfy(<=) else {
      throw UsageError(
        "\(flag): '\(text)' is not of the form percentiles:0B..20B..90B..2KiB..8KiB (the least, p50, "
          + "p90, p99, the largest, none below the one before)")
    }
    return ValueSize(percentiles: sizes)
  }

  // MARK: - Writing

  /// The largest unit that needs no fraction.
  package static func text(nanoseconds: UInt64) -> String {
    for (unit, factor) in durations.dropLast().reversed() {
      let length = UInt64(factor)
      if nanoseconds >= length && nanoseconds % length == 0 {
        return "\(nanoseconds / length)\(unit)"
      }
    }
    return "0s"
  }

  /// The shortest text that `share` reads back as the same number.
  package static func text(share: Double) -> String {
    share == share.rounded() && abs(share) < 1e15 ? "\(Int(share))" : "\(share)"
  }

  package static func text(_ size: ValueSize) -> String {
    if size.minimum == size.maximum { return "\(size.minimum)B" }
    guard !size.percentiles.isEmpty else {
      return "uniform:\(size.minimum)B..\(size.maximum)B"
    }
    let sizes = [size.minimum] + size.percentiles + [size.maximum]
    return "percentiles:" + sizes.map { "\($0)B" }.joined(separator: "..")
  }

  package static func text(ratePerSecond rate: Double) -> String {
    rate == rate.rounded() ? "\(Int(rate))/s" : "\(rate)/s"
  }

  // MARK: - Parts

  /// Takes a number and its unit from the beginning of `rest`.
  private static func scaled(
    _ rest: inout Substring, of text: String, flag: String, units: [Unit],
    others: [String: String], kind: String, example: String, _ isFirst: Bool
  ) throws(UsageError) -> (value: Double, factor: Double) {
    let digits = number(atBeginOf: rest)
    let unit = rest[digits.endIndex...].prefix { !($0.isASCII && ($0.isNumber || $0 == ".")) }
    guard let value = quantity(digits) else {
      throw UsageError("\(flag) needs \(kind) such as \(example), not '\(text)'")
    }
    rest = rest[unit.endIndex...]
    if unit.isEmpty {
      throw UsageError(
        isFirst
          ? "\(flag): '\(text)' has no unit; write \(kind) such as \(example)"
          : "\(flag): the '\(digits)' at the end of '\(text)' has no unit")
    }
    let name = others[String(unit)] ?? String(unit)
    if let factor = units.first(where: { $0.name == name })?.factor { return (value, factor) }
    if kind == "a size", let doubt = doubtfulSizes[unit.lowercased()] {
      throw UsageError(
        "\(flag): '\(unit)' is a power of 1,000 for some and of 1,024 for others; write "
          + "\(digits)\(doubt.binary), or \(decimal(value * Double(doubt.decimal), places: 0))B")
    }
    let names = units.map(\.name)
    // Of another letter it would be another size, not a slip.
    let nearest = nearestName(String(unit), in: names)
      .flatMap { $0.first?.lowercased() == unit.first?.lowercased() ? $0 : nil }
      .map { "; did you mean \(digits)\($0)?" }
    throw UsageError(
      "\(flag): '\(unit)' is not a unit of \(kind) (\(names.joined(separator: ", ")))"
        + (nearest ?? ""))
  }

  /// The digits at the begin of a text, with point, underscores and exponent.
  private static func number(atBeginOf text: Substring) -> Substring {
    var end = text.startIndex
    func isDigit(_ index: String.Index) -> Bool {
      index < text.endIndex && text[index].isASCII && text[index].isNumber
    }
    while end < text.endIndex, isDigit(end) || text[end] == "." || text[end] == "_" {
      end = text.index(after: end)
    }
    if end < text.endIndex, text[end] == "e" || text[end] == "E" {
      let exponent = text.index(after: end)
      if isDigit(exponent) {
        end = exponent
        while isDigit(end) { end = text.index(after: end) }
      }
    }
    return text[..<end]
  }

  /// A number with one of the multiples k, M and G, an exponent, or underscores between its digits.
  private static func quantity(_ text: Substring) -> Double? {
    if let last = text.last, let multiple = multiples[String(last)] {
      return plainQuantity(text.dropLast()).map { $0 * multiple }
    }
    return plainQuantity(text)
  }

  private static func plainQuantity(_ text: Substring) -> Double? {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    let isGrouped = parts.allSatisfy { part in
      part.first?.isNumber == true && part.last?.isNumber == true
    }
    guard isGrouped else { return nil }
    let plain = parts.joined()
    let halves = plain.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
    guard let mantissa = halves.first.flatMap({ number($0) }) else { return nil }
    guard halves.count == 2 else { return halves.count == 1 ? mantissa : nil }
    var exponent = halves[1]
    let isNegative = exponent.first == "-"
    if let sign = exponent.first, "+-".contains(sign) { exponent.removeFirst() }
    guard exponent.count <= 2, isDigits(String(exponent)) else { return nil }
    return Double("\(halves[0])e\(isNegative ? "-" : "")\(exponent)")
  }

  /// `10,000` without its comma; nil for other groups than thousands.
  private static func withoutCommas(_ text: String) -> String? {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    guard groups.count > 1, (1...3).contains(groups[0].count),
      groups.dropFirst().allSatisfy({ $0.count == 3 }),
      groups.allSatisfy({ isDigits(String($0)) })
    else { return nil }
    return groups.joined()
  }

  /// A decimal number without sign or exponent.
  package static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.first != ".", text.last != ".",
      text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (48...57).contains($0) })
    else { return nil }
    // Of too many digits it would be no number any more.
    return Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A number from 0 on, such as 0.25, 5%, 1/32 or 1e-7: with an exponent where `text(share:)`
  /// writes one.
  package static func share(_ text: some StringProtocol) -> Double? {
    if text.hasSuffix("%") { return number(Substring(text.dropLast())).map { $0 / 100 } }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let part = number(Substring(parts[0])),
      let whole = number(Substring(parts[1])), whole > 0
    {
      return part / whole
    }
    let halves = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
    guard let first = halves.first, let mantissa = number(Substring(first)) else { return nil }
    guard halves.count == 2 else { return halves.count == 1 ? mantissa : nil }
    let digits =
      halves[1].first.map { "+-".contains($0) } == true ? halves[1].dropFirst() : halves[1]
    guard digits.count <= 3, isDigits(String(digits)), let value = Double(String(text)) else {
      return nil
    }
    return value.isFinite ? value : nil
  }

  static func isDigits(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
  }
}

/// The name with the least edit distance, when it is near enough to be a slip.
package func nearestName(_ wrong: String, in names: [String]) -> String? {
  // Nothing is near to a text that is much longer than all names, and to measure it takes long.
  guard wrong.utf8.count <= 1_024 else { return nil }
  let ranked = names.map { ($0, editDistance(wrong.lowercased(), $0.lowercased())) }
  // Slips are rarely in the first letter: it decides between equals.
  func rank(_ entry: (String, Int)) -> (Int, Int) {
    (entry.1, entry.0.first == wrong.first ? 0 : 1)
  }
  guard let best = ranked.min(by: { rank($0) < rank($1) }) else { return nil }
  // Of a word of one or two letters every short name is two changes away.
  let most = wrong.count <= 2 ? wrong.count - 1 : max(2, wrong.count / 3)
  return best.1 <= most ? best.0 : nil
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
