// Decimal numbers from binary ones and from values without a type.
internal import Foundation

extension DecimalNumber {
  /// A binary number: exactly if it is an integer of at most 34 digits, else the shortest decimal
  /// number that reads back as the same.
  ///
  /// So two different numbers never become the same one.
  init(_ value: Double) {
    if value.isNaN {
      self.init(
        isSignaling: value.isSignalingNaN, isNegative: value.sign == .minus, payload: 0)
    } else if value.isInfinite {
      self = .infinity(isNegative: value < 0)
    } else if let integer = UInt128(exactly: value.magnitude), integer <= Self.coefficientMax {
      self.init(isNegative: value.sign == .minus, coefficient: integer, exponent: 0)
    } else {
      self.init(text: value.description)!
    }
  }

  /// A single precision number; see the other one.
  init(_ value: Float) {
    if value.isFinite && value != value.rounded() {
      self.init(text: value.description)!
    } else {
      self.init(Double(value))
    }
  }

  init(_ value: NSNumber) {
    if let decimal = value as? NSDecimalNumber {
      self = DecimalNumber(text: decimal.stringValue) ?? .nan
    } else {
      switch String(cString: value.objCType) {
      case "d": self.init(value.doubleValue)
      case "f": self.init(value.floatValue)
      case "Q": self.init(isNegative: false, coefficient: UInt128(value.uint64Value), exponent: 0)
      default: self.init(value.int64Value)
      }
    }
  }

  /// The number that an untyped number or text stands for; nil when there is none.
  init?(any value: Any?) {
    // Before the casts: those to binary numbers succeed too, and round decimal ones.
    if let number = instance(value, of: NSNumber.self) {
      self.init(number)
      return
    }
    switch value {
    case let value as Decimal128: self = value.number
    case let value as Double: self.init(value)
    case let value as Float: self.init(value)
    case is Bool: return nil
    case let value as any BinaryInteger: self.init(text: String(value))
    case let value as any BinaryFloatingPoint: self.init(Double(value))
    case let value as Decimal: self.init(text: value.description)
    case let value as String: self.init(text: value)
    default: return nil
    }
  }

  /// An integer; nil when it has more than 34 digits that are not zeros at its end.
  init?(exactly source: some BinaryInteger) {
    var rest = source.magnitude
    var exponent = 0
    while rest > Self.coefficientMax {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 || exponent == Self.exponentMax { return nil }
      rest = quotient
      exponent += 1
    }
    self.init(isNegative: source < 0, coefficient: UInt128(rest), exponent: exponent)
  }
}

extension DecimalNumber {
  /// The number as an integer; nil when it has a fraction or does not fit.
  var exactInteger: Int64? {
    canonical.exponent == 0 ? truncatedInteger : nil
  }

  /// The number without its fraction; nil when it does not fit.
  var truncatedInteger: Int64? {
    let number = canonical
    // With an exponent above zero it has more than 34 digits.
    guard kind == .finite, number.exponent <= 0 else { return nil }
    var coefficient = number.coefficient
    for _ in 0..<(-number.exponent) where coefficient > 0 { coefficient /= 10 }
    // The least integer has no counterpart above zero.
    let magnitude = Int128(exactly: coefficient)
    return magnitude.flatMap { Int64(exactly: number.isNegative ? -$0 : $0) }
  }
}
