// Types that the file keeps as bytes: the protocol that gives them their accessors, String and Data.
// ObjectId, UUID, Decimal128 and AnyRealmValue are in Values.
public import Foundation

/// A value that is stored as bytes.
public protocol _BytesValue: _PersistableInsideOptional {
  /// The value of stored bytes.
  init(_bytes: UnsafeRawBufferPointer)
  /// Runs a body on the bytes to store, which are valid inside of it only.
  func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension _BytesValue {
  /// Writes a managed property.
  @inline(__always)
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    value._withBytes { writeBytes(object, column, $0) }
  }

  /// Writes a managed optional property.
  @inline(__always)
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    if let value {
      value._withBytes { writeBytes(object, column, $0) }
    } else {
      writeBytes(object, column, nil)
    }
  }

  /// Writes the value into a row.
  @inline(__always)
  public func _write(to row: inout _RowWriter, _ column: Int) {
    _withBytes { row.setBytes($0, column) }
  }

  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setBytes(nil, column)
  }

  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { _withBytes { .bytes(Array($0)) } }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { .bytes(nil) }
}

extension String: _BytesValue, _RealmCollectionValueInsideOptional, SortableType, _PrimaryKey,
  _Indexable
{
  /// The text of stored bytes.
  @inline(__always)
  public init(_bytes bytes: UnsafeRawBufferPointer) { self.init(decoding: bytes, as: UTF8.self) }

  /// Runs a body on the bytes to store.
  @inline(__always)
  public func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = self
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Stored as itself.
  public typealias PersistedType = String
  /// A text.
  public static var _rlmType: PropertyType { .string }
  /// Empty.
  @inlinable
  public static func _defaultValue() -> String { "" }
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> String {
    readBytes(object, column, String.self) ?? ""
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> String? {
    readBytes(object, column, String.self)
  }
  /// The text that an untyped value is.
  public static func _fromAny(_ value: Any?) -> String? { value as? String }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(String.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(String?.self)
}

extension Data: _BytesValue, _RealmCollectionValueInsideOptional {
  /// A copy of stored bytes.
  @inline(__always)
  public init(_bytes bytes: UnsafeRawBufferPointer) {
    // The count is given apart: an empty buffer may have no address.
    self = bytes.isEmpty ? Data() : Data(bytes: bytes.baseAddress!, count: bytes.count)
  }

  /// Runs a body on the bytes to store.
  @inline(__always)
  public func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(body)
  }

  /// Stored as itself.
  public typealias PersistedType = Data
  /// Bytes.
  public static var _rlmType: PropertyType { .data }
  /// Empty.
  @inlinable
  public static func _defaultValue() -> Data { Data() }
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Data {
    readBytes(object, column, Data.self) ?? Data()
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Data? {
    readBytes(object, column, Data.self)
  }
  /// The bytes that an untyped value is.
  public static func _fromAny(_ value: Any?) -> Data? { value as? Data }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Data.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Data?.self)
}
