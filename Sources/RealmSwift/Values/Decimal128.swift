// Decimal128: the public decimal number. Its arithmetic is DecimalNumber's.
public import Foundation
internal import Platform

/// A decimal number of up to 34 digits and exponents from -6143 to 6144, as IEEE 754-2008 defines
/// it.
///
/// Fractions like 0.1 are exact. Results are rounded to 34 digits, ties to an even last digit.
/// `1.0` and `1.00` are equal and print as they were written. A NaN is equal to nothing. Only
/// `negate()` changes an instance; all else makes another one.
public final class Decimal128: Sendable {
  private let low: UInt64
  // Atomic, since `negate()` changes the sign in here.
  private let high: Atomic<UInt64>

  /// The number in the binary integer encoding of the standard.
  var bits: UInt128 { UInt128(high.load(ordering: .relaxed)) << 64 | UInt128(low) }

  init(bits: UInt128) {
    low = UInt64(truncatingIfNeeded: bits)
    high = Atomic(UInt64(truncatingIfNeeded: bits >> 64))
  }

  convenience init(_ number: DecimalNumber) { self.init(bits: number.bits) }

  var number: DecimalNumber { DecimalNumber(bits: bits) }

  /// Zero.
  public convenience init() { self.init(DecimalNumber.zero) }

  /// The number that a value stands for: any integer or floating point number, `NSNumber`, text or
  /// `Decimal128`.
  ///
  /// Stops when the value is nothing of these, or a text that is not a number.
  public convenience init(value: Any) {
    if let number = DecimalNumber(any: value) {
      self.init(number)
    } else if let text = value as? String {
      misuse(.argument, Self.complaint(text))
    } else {
      misuse(
        .argument,
        "Cannot convert value '\(ValueText.of(value))' of type '\(type(of: value))' to decimal128")
    }
  }

  /// The number that an `NSNumber` holds.
  public convenience init(number: NSNumber) { self.init(DecimalNumber(number)) }

  /// The number that a text stands for, rounded to 34 digits.
  ///
  /// Also `Infinity`, `NaN` and `sNaN`, and exponents: `-1.5E+3`.
  /// - Throws: `Realm.Error.invalidInput` when the text is not a number.
  public convenience init(string: String) throws {
    guard let number = DecimalNumber(text: string) else {
      throw Realm.Error(.invalidInput, Self.complaint(string), path: nil)
    }
    self.init(number)
  }

  private static func complaint(_ text: String) -> String {
    "'\(text)' is not a decimal number"
  }

  // MARK: - Facts

  /// The smallest finite number.
  public static var min: Decimal128 {
    Decimal128(
      DecimalNumber(
        isNegative: true, coefficient: DecimalNumber.coefficientMax,
        exponent: DecimalNumber.exponentMax))
  }

  /// The largest finite number.
  public static var max: Decimal128 {
    Decimal128(
      DecimalNumber(
        isNegative: false, coefficient: DecimalNumber.coefficientMax,
        exponent: DecimalNumber.exponentMax))
  }

  /// Whether it is no number.
  public var isNaN: Bool { number.isNaN }

  /// Whether it is a signaling NaN.
  public var isSignaling: Bool { number.kind == .signalingNaN }

  /// Whether it is a signaling NaN.
  public var isSignalingNaN: Bool { number.kind == .signalingNaN }

  /// The number without its sign.
  public var magnitude: Decimal128 {
    var result = number
    result.isNegative = false
    return Decimal128(result)
  }

  /// The nearest `Double`.
  public var doubleValue: Double {
    let number = number
    return number.isNaN ? .nan : Double(number.text)!
  }

  /// The text from which the same number is read.
  public var stringValue: String { number.text }
}

extension Decimal128: CustomStringConvertible {
  /// The text from which the same number is read.
  public var description: String { stringValue }
}

// MARK: - Comparing

extension Decimal128: Comparable, Hashable {
  /// Whether both are the same number, however many zeros are written; false for NaN.
  public static func == (left: Decimal128, right: Decimal128) -> Bool {
    DecimalNumber.compare(left.number, right.number) == 0
  }

  /// Whether the first is smaller; false for NaN.
  public static func < (left: Decimal128, right: Decimal128) -> Bool {
    DecimalNumber.compare(left.number, right.number) == -1
  }

  /// Whether the first is not larger; false for NaN.
  public static func <= (left: Decimal128, right: Decimal128) -> Bool {
    DecimalNumber.compare(left.number, right.number).map { $0 <= 0 } ?? false
  }

  /// Whether the first is larger; false for NaN.
  public static func > (left: Decimal128, right: Decimal128) -> Bool { right < left }

  /// Whether the first is not smaller; false for NaN.
  public static func >= (left: Decimal128, right: Decimal128) -> Bool { right <= left }

  /// Hashes the number, so that 1.0 and 1.00 hash alike.
  public func hash(into hasher: inout Hasher) { hasher.combine(number.reduced.bits) }
}

// MARK: - Arithmetic

extension Decimal128: SignedNumeric, Strideable {
  /// The number itself, without its sign.
  public typealias Magnitude = Decimal128
  /// A difference.
  public typealias Stride = Decimal128

  /// An integer; nil when it has more than 34 digits that are not zeros at its end.
  public convenience init?<Source: BinaryInteger>(exactly source: Source) {
    guard let number = DecimalNumber(exactly: source) else { return nil }
    self.init(number)
  }

  /// The rounded sum.
  public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number + right.number)
  }

  /// The rounded difference.
  public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number - right.number)
  }

  /// The rounded product.
  public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number * right.number)
  }

  /// The rounded quotient; infinite for a divisor of zero, NaN for zero by zero.
  public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number / right.number)
  }

  /// Adds and rounds.
  public static func += (left: inout Decimal128, right: Decimal128) { left = left + right }

  /// Subtracts and rounds.
  public static func -= (left: inout Decimal128, right: Decimal128) { left = left - right }

  /// Multiplies and rounds.
  public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }

  /// Divides and rounds.
  public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }

  /// The number with the other sign.
  public static prefix func - (operand: Decimal128) -> Decimal128 {
    Decimal128(operand.number.negated)
  }

  /// The number to add to this one for another.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }

  /// The sum of this number and a distance.
  public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }
}

extension Decimal128 {
  /// Changes the sign of this instance: everybody who has it sees the other number.
  ///
  /// `-number` makes another instance. That of a stored property is never changed: it is made when
  /// it is read.
  public func negate() {
    let number = number
    if number.isNaN { return }
    high.store(UInt64(truncatingIfNeeded: number.negated.bits >> 64), ordering: .relaxed)
  }
}

// MARK: - Names of old

extension Decimal128 {
  /// The smallest finite number.
  public static var minimumDecimalNumber: Decimal128 { min }
  /// The largest finite number.
  public static var maximumDecimalNumber: Decimal128 { max }
  /// Whether it is larger than another one.
  public func isGreaterThan(_ other: Decimal128) -> Bool { self > other }
  /// Whether it is not smaller than another one.
  public func isGreaterThanOrEqual(to other: Decimal128) -> Bool { self >= other }
  /// Whether it is smaller than another one.
  public func isLessThan(_ other: Decimal128) -> Bool { self < other }
  /// Whether it is not larger than another one.
  public func isLessThanOrEqual(to other: Decimal128) -> Bool { self <= other }
  /// The rounded sum.
  public func decimalNumber(byAdding other: Decimal128) -> Decimal128 { self + other }
  /// The rounded difference.
  public func decimalNumber(bySubtracting other: Decimal128) -> Decimal128 { self - other }
  /// The rounded product.
  public func decimalNumber(byMultiplyingBy other: Decimal128) -> Decimal128 { self * other }
  /// The rounded quotient.
  public func decimalNumber(byDividingBy other: Decimal128) -> Decimal128 { self / other }
}

// MARK: - Literals

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral
{
  /// An integer.
  public convenience init(integerLiteral value: Int64) { self.init(DecimalNumber(value)) }

  /// The shortest decimal number that is nearest to no other `Double`.
  ///
  /// A literal has passed through `Double`: write more than 15 digits as a text.
  public convenience init(floatLiteral value: Double) { self.init(DecimalNumber(value)) }

  /// The number that a text stands for; stops when it is not a number.
  public convenience init(stringLiteral value: String) {
    guard let number = DecimalNumber(text: value) else {
      misuse(.argument, Self.complaint(value))
    }
    self.init(number)
  }
}

extension Decimal128: Codable {
  /// Reads a text, or a number.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      guard let number = DecimalNumber(text: text) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: Self.complaint(text))
      }
      self.init(number)
    } else if let integer = try? container.decode(Int64.self) {
      self.init(DecimalNumber(integer))
    } else {
      self.init(DecimalNumber(try container.decode(Double.self)))
    }
  }

  /// Writes the text, which loses no digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

// MARK: - Storing

extension Decimal128: _BytesValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType
{
  /// The number of stored bytes; of fewer than 16, zero.
  public convenience init(_bytes bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 16 else {
      self.init()
      return
    }
    self.init(bits: UInt128(littleEndian: bytes.loadUnaligned(as: UInt128.self)))
  }

  /// Runs a body on the 16 bytes.
  public func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: bits.littleEndian) { body($0) }
  }

  /// Gives the value to a managed collection; a set has each number once, however many zeros are
  /// written.
  public func _writeElement(to sink: _ElementSink) {
    let element = sink.kind == .set ? inSet : self
    element._withBytes { sink.bytes($0) }
  }

  /// The form in which a set holds the number.
  var inSet: Decimal128 { Decimal128(number.canonical) }

  /// Stored as itself.
  public typealias PersistedType = Decimal128
  /// A decimal number.
  public static var _rlmType: PropertyType { .decimal128 }
  /// Zero.
  public static func _defaultValue() -> Decimal128 { Decimal128() }
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Decimal128 {
    readBytes(object, column, Decimal128.self) ?? Decimal128()
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Decimal128? {
    readBytes(object, column, Decimal128.self)
  }
  /// The number that an untyped number or text stands for.
  public static func _fromAny(_ value: Any?) -> Decimal128? {
    if let value = value as? Decimal128 { return value }
    return (DecimalNumber(any: value) ?? storedForm(value).flatMap { DecimalNumber(any: $0) })
      .map { Decimal128($0) }
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Decimal128.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Decimal128?.self)
}
