// Types that the file keeps as bytes: String and Data.
public import Foundation

/// A value that is stored as bytes.
protocol BytesValue: _PersistableInsideOptional {
  init(bytes: UnsafeRawBufferPointer)
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension BytesValue {
  @inline(__always)
  func write(to row: inout _RowWriter, _ column: Int) {
    withBytes { row.setBytes($0, column) }
  }

  @inline(__always)
  static func write(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    if let value {
      value.withBytes { writeBytes(object, column, $0) }
    } else {
      writeBytes(object, column, nil)
    }
  }
}

extension String: BytesValue, _RealmCollectionValueInsideOptional, SortableType, _PrimaryKey,
  _Indexable
{
  @inline(__always)
  init(bytes: UnsafeRawBufferPointer) { self.init(decoding: bytes, as: UTF8.self) }

  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
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
  /// Writes a managed property.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: String) {
    write(object, column, value)
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> String? {
    readBytes(object, column, String.self)
  }
  /// Writes a managed optional property.
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: String?) {
    write(object, column, value)
  }
  /// Writes the value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) { write(to: &row, column) }
  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setBytes(nil, column)
  }
  /// The text that an untyped value is.
  public static func _fromAny(_ value: Any?) -> String? { value as? String }
  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { .bytes(Array(utf8)) }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { .bytes(nil) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(String.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(String?.self)
}

extension Data: BytesValue, _RealmCollectionValueInsideOptional {
  @inline(__always)
  init(bytes: UnsafeRawBufferPointer) {
    // The count is given apart: an empty buffer may have no address.
    self = bytes.isEmpty ? Data() : Data(bytes: bytes.baseAddress!, count: bytes.count)
  }

  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
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
  /// Writes a managed property.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Data) {
    write(object, column, value)
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Data? {
    readBytes(object, column, Data.self)
  }
  /// Writes a managed optional property.
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Data?) {
    write(object, column, value)
  }
  /// Writes the value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) { write(to: &row, column) }
  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setBytes(nil, column)
  }
  /// The bytes that an untyped value is.
  public static func _fromAny(_ value: Any?) -> Data? { value as? Data }
  /// The value as a primary key; the compiler does not let data be one.
  public var _primaryKeyValue: _PrimaryKeyValue { .bytes(Array(self)) }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { .bytes(nil) }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Data.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Data?.self)
}
