// Unsigned integers of 256 bits, as far as decimal arithmetic needs them, and powers of ten.

/// Powers of ten that fit 128 bits.
enum PowersOfTen {
  static let exponentMax = 38

  private static let values: [UInt128] = {
    var values: [UInt128] = [1]
    while values.count <= exponentMax { values.append(values.last! * 10) }
    return values
  }()

  static subscript(exponent: Int) -> UInt128 { values[exponent] }

  /// How many decimal digits a number has; zero has one.
  static func digitCount(_ value: UInt128) -> Int {
    // 1233 / 4096 is log10(2), a little less: the digits, or one too few.
    let guess = ((128 - value.leadingZeroBitCount) * 1233) >> 12
    return guess <= exponentMax && value >= values[guess] ? guess + 1 : max(guess, 1)
  }
}

/// An unsigned integer of 256 bits.
struct WideInteger {
  var high: UInt128
  var low: UInt128

  init(_ value: UInt128) { (high, low) = (0, value) }

  init(_ left: UInt128, times right: UInt128) {
    (high, low) = left.multipliedFullWidth(by: right)
  }

  var isZero: Bool { high == 0 && low == 0 }

  /// How many decimal digits it has; zero has one.
  ///
  /// - Precondition: below 10^76.
  var digitCount: Int {
    if high == 0 { return PowersOfTen.digitCount(low) }
    var quotient = self
    _ = quotient.divide(by: PowersOfTen[PowersOfTen.exponentMax])
    return PowersOfTen.exponentMax + PowersOfTen.digitCount(quotient.low)
  }

  /// Multiplies by a power of ten.
  ///
  /// - Precondition: the product fits.
  func scaled(by exponent: Int) -> WideInteger {
    var result = self
    var rest = exponent
    while rest > 0 {
      let step = min(rest, PowersOfTen.exponentMax)
      let product = result.low.multipliedFullWidth(by: PowersOfTen[step])
      result = WideInteger(
        high: result.high * PowersOfTen[step] + product.high, low: product.low)
      rest -= step
    }
    return result
  }

  private init(high: UInt128, low: UInt128) { (self.high, self.low) = (high, low) }

  /// Divides; returns the remainder.
  mutating func divide(by divisor: UInt128) -> UInt128 {
    let (quotient, rest) = high.quotientAndRemainder(dividingBy: divisor)
    high = quotient
    let result = divisor.dividingFullWidth((rest, low))
    low = result.quotient
    return result.remainder
  }

  /// The sum.
  ///
  /// - Precondition: it fits.
  static func + (left: WideInteger, right: WideInteger) -> WideInteger {
    let (low, overflow) = left.low.addingReportingOverflow(right.low)
    return WideInteger(high: left.high + right.high + (overflow ? 1 : 0), low: low)
  }

  /// The difference.
  ///
  /// - Precondition: the left one is not smaller.
  static func - (left: WideInteger, right: WideInteger) -> WideInteger {
    let (low, overflow) = left.low.subtractingReportingOverflow(right.low)
    return WideInteger(high: left.high - right.high - (overflow ? 1 : 0), low: low)
  }
}

extension WideInteger: Comparable {
  static func < (left: WideInteger, right: WideInteger) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
