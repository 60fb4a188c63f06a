// Decimal numbers from text and to text, by the rules to-number and to-scientific-string of the
// General Decimal Arithmetic Specification.

extension DecimalNumber {
  /// The number that a text stands for, rounded to 34 digits; nil when the text is not a number.
  ///
  /// `[+-]digits[.digits][E[+-]digits]`, `Infinity`, `Inf`, `NaN` and `sNaN`, both perhaps with
  /// digits; letters of both cases.
  init?(text: some StringProtocol) {
    var rest = Substring(text).utf8
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    guard let first = rest.first else { return nil }
    if first == UInt8(ascii: ".") || Self.digit(first) != nil {
      self.init(isNegative: isNegative, numeral: rest)
    } else {
      self.init(isNegative: isNegative, word: Substring(rest).lowercased())
    }
  }

  private init?(isNegative: Bool, word: String) {
    if word == "inf" || word == "infinity" {
      self = .infinity(isNegative: isNegative)
      return
    }
    let isSignaling = word.hasPrefix("snan")
    guard isSignaling || word.hasPrefix("nan") else { return nil }
    var payload: UInt128 = 0
    for character in word.utf8.dropFirst(isSignaling ? 4 : 3) {
      guard let digit = Self.digit(character) else { return nil }
      payload = payload * 10 + UInt128(digit)
      if payload > Self.payloadMax { return nil }
    }
    self.init(isSignaling: isSignaling, isNegative: isNegative, payload: payload)
  }

  private init?(isNegative: Bool, numeral: Substring.UTF8View) {
    var rest = numeral
    var digits = DigitCollector()
    while let character = rest.first {
      if let digit = Self.digit(character) {
        digits.append(digit)
      } else if character == UInt8(ascii: "."), !digits.hasPoint {
        digits.hasPoint = true
      } else {
        break
      }
      rest.removeFirst()
    }
    guard digits.count > 0 else { return nil }
    var exponent = 0
    if let letter = rest.first {
      guard letter | 0x20 == UInt8(ascii: "e"),
        let value = Self.exponent(rest.dropFirst())
      else { return nil }
      exponent = value
    }
    self.init(
      isNegative: isNegative, rounding: WideInteger(digits.coefficient),
      exponent: exponent + digits.exponent, isInexact: digits.isInexact)
  }

  /// The digits of a numeral; the first 38 that count are kept.
  private struct DigitCollector {
    var coefficient: UInt128 = 0
    var exponent = 0
    var isInexact = false
    var hasPoint = false
    /// All digits, those that were not kept too.
    var count = 0

    mutating func append(_ digit: UInt8) {
      count += 1
      if coefficient < PowersOfTen[PowersOfTen.exponentMax - 1] {
        coefficient = coefficient * 10 + UInt128(digit)
        if hasPoint { exponent -= 1 }
      } else {
        if digit != 0 { isInexact = true }
        if !hasPoint { exponent += 1 }
      }
    }
  }

  /// An exponent behind its letter; one that is out of every range counts as just that.
  private static func exponent(_ text: Substring.UTF8View) -> Int? {
    var rest = text
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    if rest.isEmpty { return nil }
    var value = 0
    for character in rest {
      guard let digit = digit(character) else { return nil }
      value = min(value * 10 + Int(digit), 1 << 40)
    }
    return isNegative ? -value : value
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    let digit = character &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }

  // MARK: - Writing

  /// The text from which the same number in the same form is read.
  var text: String {
    let sign = isNegative ? "-" : ""
    switch kind {
    case .infinity: return sign + "Infinity"
    case .quietNaN: return sign + "NaN" + (coefficient == 0 ? "" : String(coefficient))
    case .signalingNaN: return sign + "sNaN" + (coefficient == 0 ? "" : String(coefficient))
    case .finite: break
    }
    let digits = String(coefficient)
    let firstExponent = exponent + digits.count - 1
    if exponent > 0 || firstExponent < -6 {
      let fraction = digits.dropFirst()
      return sign + digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction)
        + (firstExponent < 0 ? "E-" : "E+") + String(firstExponent.magnitude)
    }
    if exponent == 0 { return sign + digits }
    let whole = digits.count + exponent
    if whole > 0 { return sign + digits.prefix(whole) + "." + digits.dropFirst(whole) }
    return sign + "0." + String(repeating: "0", count: -whole) + digits
  }
}
