// Types that the file packs as integers: Bool, the integers, Float, Double and Date.
public import Foundation

/// A value that is stored as 64 bits or fewer.
public protocol _PackedValue: _PersistableInsideOptional {
  /// The value of stored bits.
  init(_packed: Int64)
  /// The stored bits.
  var _packed: Int64 { get }
}

extension _PackedValue {
  /// The value whose bits are all zero.
  @inlinable
  public static func _defaultValue() -> Self { Self(_packed: 0) }

  /// Reads a managed property.
  @inlinable @inline(__always)
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    Self(_packed: readInteger(object, column))
  }

  /// Writes a managed property.
  @inlinable @inline(__always)
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    writeInteger(object, column, value._packed)
  }

  /// Reads a managed optional property.
  @inlinable @inline(__always)
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self? {
    readOptionalInteger(object, column).map { Self(_packed: $0) }
  }

  /// Writes a managed optional property.
  @inlinable @inline(__always)
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    writeInteger(object, column, value?._packed)
  }

  /// Writes the value into a row.
  @inline(__always)
  public func _write(to row: inout _RowWriter, _ column: Int) {
    row.setInteger(_packed, column)
  }

  /// Writes nil into a row.
  @inline(__always)
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setInteger(nil, column)
  }

  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(_packed) }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { .integer(nil) }
}

extension RealmCollectionValue where Self: _PackedValue {
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packedElement: Int64? { _packed }
  /// Reads an element of a managed collection.
  @inlinable @inline(__always)
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    Self(_packed: source.integer(position))
  }
  /// Gives the value to a managed collection.
  public func _writeElement(to sink: _ElementSink) { sink.integer(_packed) }
}

// MARK: - Integers

extension FixedWidthInteger where Self: SignedInteger {
  /// The integer that an untyped number of any type stands for, if it is a whole one and fits.
  static func exactInteger(_ value: Any?) -> Self? {
    // Before the casts: they succeed for decimal numbers that are only near to an integer.
    if let number = instance(value, of: NSNumber.self) { return exactInteger(of: number) }
    switch value {
    case let value as Self: return value
    case is Bool: return nil
    case let value as any BinaryInteger: return Self(exactly: value)
    case let value as any BinaryFloatingPoint: return Self(exactly: Double(value))
    case let value as Decimal: return exactInteger(of: NSDecimalNumber(decimal: value))
    case let value as Decimal128: return value.number.exactInteger.flatMap { Self(exactly: $0) }
    default: return storedForm(value).flatMap { exactInteger($0) }
    }
  }

  private static func exactInteger(of number: NSNumber) -> Self? {
    if let decimal = number as? NSDecimalNumber {
      return DecimalNumber(decimal).exactInteger.flatMap { Self(exactly: $0) }
    }
    switch String(cString: number.objCType) {
    // A floating point number has to be a whole one.
    case "f", "d": return Self(exactly: number.doubleValue)
    case "Q": return Self(exactly: number.uint64Value)
    default: return Self(exactly: number.int64Value)
    }
  }
}

extension Int: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType,
  _PrimaryKey, _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Int
  /// An integer.
  public static var _rlmType: PropertyType { .int }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(truncatingIfNeeded: _packed) }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(self) }
  /// The integer that an untyped number stands for, if it fits.
  public static func _fromAny(_ value: Any?) -> Int? {
    plainInteger(value) ?? exactInteger(value)
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Int.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Int?.self)
}

extension Int8: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType,
  _PrimaryKey, _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Int8
  /// An integer.
  public static var _rlmType: PropertyType { .int }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(truncatingIfNeeded: _packed) }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(self) }
  /// The integer that an untyped number stands for, if it fits.
  public static func _fromAny(_ value: Any?) -> Int8? { exactInteger(value) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Int8.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Int8?.self)
}

extension Int16: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType,
  _PrimaryKey, _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Int16
  /// An integer.
  public static var _rlmType: PropertyType { .int }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(truncatingIfNeeded: _packed) }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(self) }
  /// The integer that an untyped number stands for, if it fits.
  public static func _fromAny(_ value: Any?) -> Int16? { exactInteger(value) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Int16.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Int16?.self)
}

extension Int32: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType,
  _PrimaryKey, _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Int32
  /// An integer.
  public static var _rlmType: PropertyType { .int }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(truncatingIfNeeded: _packed) }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(self) }
  /// The integer that an untyped number stands for, if it fits.
  public static func _fromAny(_ value: Any?) -> Int32? { exactInteger(value) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Int32.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Int32?.self)
}

extension Int64: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType,
  _PrimaryKey, _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Int64
  /// An integer.
  public static var _rlmType: PropertyType { .int }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(truncatingIfNeeded: _packed) }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(self) }
  /// The integer that an untyped number stands for, if it fits.
  public static func _fromAny(_ value: Any?) -> Int64? { exactInteger(value) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Int64.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Int64?.self)
}

// MARK: - Others

extension Bool: _PackedValue, _RealmCollectionValueInsideOptional, _Indexable, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Bool
  /// A truth value.
  public static var _rlmType: PropertyType { .bool }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self = _packed != 0 }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { self ? 1 : 0 }
  /// The truth value that an untyped one stands for; of numbers only 0 and 1.
  public static func _fromAny(_ value: Any?) -> Bool? {
    if let value = plain(value, Bool.self) ?? (value as? Bool) { return value }
    guard let number = Int.exactInteger(value) else { return storedForm(value) as? Bool }
    return number == 0 || number == 1 ? number == 1 : nil
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Bool.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Bool?.self)
}

extension Double: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType
{
  /// Stored as itself.
  public typealias PersistedType = Double
  /// A double precision number.
  public static var _rlmType: PropertyType { .double }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(bitPattern: UInt64(bitPattern: _packed)) }
  /// The stored bits: the same ones for all that is no number.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(bitPattern: isNaN ? Double.nan.bitPattern : bitPattern) }
  /// The number that an untyped one stands for.
  public static func _fromAny(_ value: Any?) -> Double? {
    if let value = plain(value, Double.self) { return value }
    // Before the casts, which round decimal numbers by another way.
    if let text = decimalText(value) { return Double(text) }
    switch value {
    case let value as Double: return value
    case let value as Float: return Double(value)
    case is Bool: return nil
    case let value as any BinaryInteger: return Double(value)
    case let value as any BinaryFloatingPoint: return Double(value)
    case let value as NSNumber: return value.doubleValue
    case let value as Decimal128:
      // Only where nothing is lost.
      let number = value.doubleValue
      return DecimalNumber.compare(DecimalNumber(number), value.number) == 0 ? number : nil
    default: return storedForm(value).flatMap { _fromAny($0) }
    }
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Double.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Double?.self)
}

extension Float: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, AddableType,
  SortableType
{
  /// Stored as itself.
  public typealias PersistedType = Float
  /// A single precision number.
  public static var _rlmType: PropertyType { .float }
  /// The value of stored bits.
  @inlinable @inline(__always)
  public init(_packed: Int64) { self.init(bitPattern: UInt32(truncatingIfNeeded: _packed)) }
  /// The stored bits: the same ones for all that is no number.
  @inlinable @inline(__always)
  public var _packed: Int64 { Int64(isNaN ? Float.nan.bitPattern : bitPattern) }
  /// The number that an untyped one stands for, if it lies in the range of `Float`.
  public static func _fromAny(_ value: Any?) -> Float? {
    if let value = plain(value, Float.self) { return value }
    if let text = decimalText(value) {
      return Float(text).flatMap { $0.isInfinite ? nil : $0 }
    }
    if let value = value as? Float { return value }
    guard let double = Double._fromAny(value) else { return nil }
    let float = Float(double)
    return float.isInfinite && !double.isInfinite ? nil : float
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Float.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Float?.self)
}

extension Date: _PackedValue, _RealmCollectionValueInsideOptional, MinMaxType, SortableType,
  _Indexable
{
  /// Stored as itself.
  public typealias PersistedType = Date
  /// A point in time.
  public static var _rlmType: PropertyType { .date }
  /// The value of stored bits: seconds since 2001, as `Date` keeps them itself.
  @inlinable @inline(__always)
  public init(_packed: Int64) {
    self.init(timeIntervalSinceReferenceDate: Double(_packed: _packed))
  }
  /// The stored bits.
  @inlinable @inline(__always)
  public var _packed: Int64 { timeIntervalSinceReferenceDate._packed }
  /// Now: when the object is made.
  public static func _defaultValue() -> Date { Date() }
  /// True: it is another one each time.
  public static var _keepsDefault: Bool { true }
  /// The date that an untyped value is.
  public static func _fromAny(_ value: Any?) -> Date? {
    plain(value, Date.self) ?? value as? Date ?? storedForm(value) as? Date
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Date.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Date?.self)
}
