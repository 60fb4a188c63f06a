// Sum, product, quotient and order of decimal numbers: the exact result, or enough of its digits,
// in 256 bits, which the initializer of DecimalNumber then rounds once.

extension DecimalNumber {
  /// What an operation gives when an operand is not a number: the first signaling one, made quiet,
  /// else the first quiet one; nil when both are numbers.
  private static func propagatedNaN(_ left: DecimalNumber, _ right: DecimalNumber)
    -> DecimalNumber?
  {
    guard left.isNaN || right.isNaN else { return nil }
    var result: DecimalNumber
    if left.kind == .signalingNaN {
      result = left
    } else if right.kind == .signalingNaN {
      result = right
    } else {
      result = left.isNaN ? left : right
    }
    result.kind = .quietNaN
    return result
  }

  // MARK: - Sum

  static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if let nan = propagatedNaN(left, right) { return nan }
    if left.kind == .infinity || right.kind == .infinity {
      if left.kind == right.kind && left.isNegative != right.isNegative { return .nan }
      return left.kind == .infinity ? left : right
    }
    return left.exponent >= right.exponent
      ? sum(left, right) : sum(right, left)
  }

  static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    // The sign of a NaN is not touched.
    right.isNaN ? left + right : left + right.negated
  }

  /// Zeros that can be put behind a coefficient of 34 digits in 256 bits, with room for a carry.
  private static let shiftMax = 41

  /// The sum of finite numbers; the first has the larger exponent.
  private static func sum(_ first: DecimalNumber, _ second: DecimalNumber) -> DecimalNumber {
    var shift = first.exponent - second.exponent
    if first.coefficient == 0 { shift = 0 }
    let exponent: Int
    let upper: WideInteger
    var lower = WideInteger(second.coefficient)
    var isInexact = false
    if shift <= shiftMax {
      exponent = second.exponent
      upper = WideInteger(first.coefficient).scaled(by: shift)
    } else {
      // So far apart that of the second number only its first digits and that there are more of
      // them can matter: the first one is given 37 digits, three more than the result has.
      let zeros = 37 - PowersOfTen.digitCount(first.coefficient)
      exponent = first.exponent - zeros
      upper = WideInteger(first.coefficient).scaled(by: zeros)
      let dropped = shift - zeros
      if dropped > PowersOfTen.exponentMax {
        isInexact = second.coefficient != 0
        lower = WideInteger(0)
      } else {
        isInexact = lower.divide(by: PowersOfTen[dropped]) != 0
      }
    }
    if first.isNegative == second.isNegative {
      return DecimalNumber(
        isNegative: first.isNegative, rounding: upper + lower, exponent: exponent,
        isInexact: isInexact)
    }
    if upper == lower && !isInexact {
      return DecimalNumber(isNegative: false, rounding: WideInteger(0), exponent: exponent)
    }
    if upper < lower {
      return DecimalNumber(
        isNegative: second.isNegative, rounding: lower - upper, exponent: exponent)
    }
    // Taking away a little more than `lower` leaves a little more than one unit less.
    let difference = upper - lower - WideInteger(isInexact ? 1 : 0)
    return DecimalNumber(
      isNegative: first.isNegative, rounding: difference, exponent: exponent,
      isInexact: isInexact)
  }

  // MARK: - Product and quotient

  static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if let nan = propagatedNaN(left, right) { return nan }
    let isNegative = left.isNegative != right.isNegative
    if left.kind == .infinity || right.kind == .infinity {
      return left.isZero || right.isZero ? .nan : .infinity(isNegative: isNegative)
    }
    return DecimalNumber(
      isNegative: isNegative, rounding: WideInteger(left.coefficient, times: right.coefficient),
      exponent: left.exponent + right.exponent)
  }

  static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if let nan = propagatedNaN(left, right) { return nan }
    let isNegative = left.isNegative != right.isNegative
    if left.kind == .infinity {
      return right.kind == .infinity ? .nan : .infinity(isNegative: isNegative)
    }
    if right.kind == .infinity {
      return DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: exponentMin)
    }
    if right.coefficient == 0 {
      return left.coefficient == 0 ? .nan : .infinity(isNegative: isNegative)
    }
    let idealExponent = left.exponent - right.exponent
    if left.coefficient == 0 {
      return DecimalNumber(
        isNegative: isNegative, rounding: WideInteger(0), exponent: idealExponent)
    }
    // So many zeros that the quotient has 36 or 37 digits.
    let zeros =
      36 + PowersOfTen.digitCount(right.coefficient) - PowersOfTen.digitCount(left.coefficient)
    var quotient = WideInteger(left.coefficient).scaled(by: zeros)
    let remainder = quotient.divide(by: right.coefficient)
    var exponent = idealExponent - zeros
    if remainder == 0 {
      // An exact quotient has the form that is nearest to the ideal exponent.
      while exponent < idealExponent, quotient.low % 10 == 0 {
        quotient.low /= 10
        exponent += 1
      }
    }
    return DecimalNumber(
      isNegative: isNegative, rounding: quotient, exponent: exponent, isInexact: remainder != 0)
  }

  // MARK: - Order

  /// Whether the first is smaller (-1), equal (0) or larger (1); nil when one is not a number.
  static func compare(_ left: DecimalNumber, _ right: DecimalNumber) -> Int? {
    if left.isNaN || right.isNaN { return nil }
    let (leftSign, rightSign) = (left.signum, right.signum)
    if leftSign != rightSign { return leftSign < rightSign ? -1 : 1 }
    if leftSign == 0 { return 0 }
    let magnitude = compareMagnitudes(left, right)
    return leftSign < 0 ? -magnitude : magnitude
  }

  private var signum: Int { isZero ? 0 : isNegative ? -1 : 1 }

  /// Compares numbers that are not zero by their distance from it.
  private static func compareMagnitudes(_ left: DecimalNumber, _ right: DecimalNumber) -> Int {
    if left.kind == .infinity || right.kind == .infinity {
      return (left.kind == .infinity ? 1 : 0) - (right.kind == .infinity ? 1 : 0)
    }
    let (leftFirst, rightFirst) = (left.firstDigitExponent, right.firstDigitExponent)
    if leftFirst != rightFirst { return leftFirst < rightFirst ? -1 : 1 }
    // The first digits are at the same place, so that both have 34 digits at most when aligned.
    let exponent = min(left.exponent, right.exponent)
    let leftDigits = left.coefficient * PowersOfTen[left.exponent - exponent]
    let rightDigits = right.coefficient * PowersOfTen[right.exponent - exponent]
    return leftDigits < rightDigits ? -1 : leftDigits == rightDigits ? 0 : 1
  }

  /// The power of ten that the first digit counts.
  var firstDigitExponent: Int { exponent + PowersOfTen.digitCount(coefficient) - 1 }
}
