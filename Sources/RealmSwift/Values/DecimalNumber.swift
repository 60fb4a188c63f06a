// Decimal numbers of 34 digits by IEEE 754-2008: what they consist of, their 16 bytes in the binary
// integer encoding, and the one place where a result is rounded. Pure values: no text
// (DecimalNumber+Text) and no public type (Decimal128).

/// A number of the format decimal128, taken apart.
///
/// Finite: `coefficient * 10^exponent`. The same number can have several such forms, its cohort.
struct DecimalNumber: Sendable {
  enum Kind: Sendable {
    case finite, infinity, quietNaN, signalingNaN
  }

  var kind: Kind
  var isNegative: Bool
  /// Below 10^34; of a NaN its payload, below 10^33; of an infinity 0.
  var coefficient: UInt128
  /// From `exponentMin` to `exponentMax` when finite, else 0.
  var exponent: Int

  /// Digits of a coefficient.
  static let digitsMax = 34
  static let exponentMin = -6176
  static let exponentMax = 6111
  /// What the encoding adds to an exponent.
  private static let bias = 6176
  static let coefficientMax = PowersOfTen[digitsMax] - 1
  static let payloadMax = PowersOfTen[digitsMax - 1] - 1

  static let zero = DecimalNumber(isNegative: false, coefficient: 0, exponent: 0)
  static let nan = DecimalNumber(kind: .quietNaN, isNegative: false, coefficient: 0, exponent: 0)

  static func infinity(isNegative: Bool) -> DecimalNumber {
    DecimalNumber(kind: .infinity, isNegative: isNegative, coefficient: 0, exponent: 0)
  }

  private init(kind: Kind, isNegative: Bool, coefficient: UInt128, exponent: Int) {
    self.kind = kind
    self.isNegative = isNegative
    self.coefficient = coefficient
    self.exponent = exponent
  }

  /// A finite number.
  ///
  /// - Precondition: coefficient and exponent are in range.
  init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    assert(coefficient <= Self.coefficientMax, "coefficient \(coefficient)")
    assert((Self.exponentMin...Self.exponentMax).contains(exponent), "exponent \(exponent)")
    self.init(
      kind: .finite, isNegative: isNegative, coefficient: coefficient, exponent: exponent)
  }

  /// A NaN; a payload that is too long counts as none.
  init(isSignaling: Bool, isNegative: Bool, payload: UInt128) {
    self.init(
      kind: isSignaling ? .signalingNaN : .quietNaN, isNegative: isNegative,
      coefficient: payload <= Self.payloadMax ? payload : 0, exponent: 0)
  }

  /// An integer; all that fit 64 bits are exact.
  init(_ value: Int64) {
    self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
  }

  var isNaN: Bool { kind == .quietNaN || kind == .signalingNaN }
  var isZero: Bool { kind == .finite && coefficient == 0 }

  /// The same number with the other sign.
  var negated: DecimalNumber {
    var result = self
    result.isNegative.toggle()
    return result
  }

  /// The form with the shortest coefficient: one for all members of a cohort, zero included.
  var reduced: DecimalNumber {
    guard kind == .finite else { return self }
    if coefficient == 0 { return .zero }
    var result = self
    while result.exponent < Self.exponentMax {
      let (quotient, remainder) = result.coefficient.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 { break }
      result.coefficient = quotient
      result.exponent += 1
    }
    return result
  }

  /// The same number in the one form that all forms of it have: integers without exponent where
  /// they fit, one form for all that is no number.
  var canonical: DecimalNumber {
    let shortest = reduced
    guard kind == .finite else { return isNaN ? .nan : shortest }
    var result = shortest
    while result.exponent > 0 {
      let (product, overflow) = result.coefficient.multipliedReportingOverflow(by: 10)
      if overflow || product > Self.coefficientMax { return shortest }
      result.coefficient = product
      result.exponent -= 1
    }
    return result
  }

  // MARK: - Encoding

  /// Reads the 128 bits of the format; forms that no number has count as zero, as the standard
  /// says.
  init(bits: UInt128) {
    let isNegative = bits >> 127 != 0
    let combination = UInt8(truncatingIfNeeded: bits >> 122) & 0b11111
    switch combination {
    case 0b11110:
      self = .infinity(isNegative: isNegative)
    case 0b11111:
      let isSignaling = bits >> 121 & 1 != 0
      self.init(
        isSignaling: isSignaling, isNegative: isNegative, payload: bits & (1 << 110 - 1))
    case 0b11000...:
      // The short form of exponents holds coefficients above 2^113 only, which is too much.
      let exponent = Int(truncatingIfNeeded: bits >> 111 & 0x3fff) - Self.bias
      self.init(isNegative: isNegative, coefficient: 0, exponent: exponent)
    default:
      let coefficient = bits & (1 << 113 - 1)
      let exponent = Int(truncatingIfNeeded: bits >> 113 & 0x3fff) - Self.bias
      self.init(
        isNegative: isNegative,
        coefficient: coefficient <= Self.coefficientMax ? coefficient : 0, exponent: exponent)
    }
  }

  /// The 128 bits of the format.
  var bits: UInt128 {
    let sign: UInt128 = isNegative ? 1 << 127 : 0
    switch kind {
    case .finite: return sign | UInt128(exponent + Self.bias) << 113 | coefficient
    case .infinity: return sign | 0b11110 << 122
    case .quietNaN: return sign | 0b11111 << 122 | coefficient
    case .signalingNaN: return sign | 0b111111 << 121 | coefficient
    }
  }

  // MARK: - Rounding

  /// The number nearest to `coefficient * 10^exponent`, ties to an even last digit.
  ///
  /// - Parameter isInexact: the exact value lies above the coefficient, by less than one of its
  ///   units. Then the coefficient must have more than 34 digits.
  init(isNegative: Bool, rounding coefficient: WideInteger, exponent: Int, isInexact: Bool = false)
  {
    var coefficient = coefficient
    var exponent = exponent
    let excess = coefficient.digitCount - Self.digitsMax
    assert(!isInexact || excess > 0, "an inexact coefficient of \(coefficient.digitCount) digits")
    var digits = max(0, excess, Self.exponentMin - exponent)
    exponent += digits
    var isInexact = isInexact
    // What the last step does not drop only matters by being there or not.
    while digits > PowersOfTen.exponentMax {
      isInexact = coefficient.divide(by: PowersOfTen[PowersOfTen.exponentMax]) != 0 || isInexact
      digits -= PowersOfTen.exponentMax
      if coefficient.isZero { digits = min(digits, PowersOfTen.exponentMax) }
    }
    if digits > 0 {
      let divisor = PowersOfTen[digits]
      let remainder = coefficient.divide(by: divisor)
      let half = divisor / 2
      if remainder > half || remainder == half && (isInexact || coefficient.low & 1 == 1) {
        coefficient.low += 1
      }
    }
    var rounded = coefficient.low
    if rounded > Self.coefficientMax {
      rounded /= 10
      exponent += 1
    }
    self.init(isNegative: isNegative, clamping: rounded, exponent: exponent)
  }

  /// A number whose exponent may be too large: zeros are moved into the coefficient while there is
  /// room, else it is infinite.
  private init(isNegative: Bool, clamping coefficient: UInt128, exponent: Int) {
    guard exponent > Self.exponentMax else {
      self.init(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
      return
    }
    let zeros = exponent - Self.exponentMax
    if coefficient == 0 {
      self.init(isNegative: isNegative, coefficient: 0, exponent: Self.exponentMax)
    } else if PowersOfTen.digitCount(coefficient) + zeros <= Self.digitsMax {
      self.init(
        isNegative: isNegative, coefficient: coefficient * PowersOfTen[zeros],
        exponent: Self.exponentMax)
    } else {
      self = .infinity(isNegative: isNegative)
    }
  }
}
