// Types that the file keeps as bytes. What they share is here, and the plain ones: String and Data.
public import Foundation

/// A value that is stored as bytes.
public protocol _BytesValue: _PersistableInsideOptional {
  /// The value of stored bytes.
  init(_bytes: UnsafeRawBufferPointer)
  /// The bytes to store, for as long as the call takes.
  func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension _BytesValue {
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    readBytes(object, column, Self.self) ?? _defaultValue()
  }
  /// Writes a managed property.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: Self) {
    value._withBytes { writeBytes(object, column, $0) }
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> Self? {
    readBytes(object, column, Self.self)
  }
  /// Writes a managed optional property.
  public static func _setOptional(_ object: ObjectBase, _ column: Int32, _ value: Self?) {
    if let value { _set(object, column, value) } else { writeBytes(object, column, nil) }
  }
  /// Writes the value into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    _withBytes { row.setBytes($0, column) }
  }
  /// Writes nil into a row.
  public static func _writeNil(to row: inout _RowWriter, _ column: Int) {
    row.setBytes(nil, column)
  }
  /// The value as a primary key.
  public var _primaryKeyValue: _PrimaryKeyValue { .bytes(_withBytes { [UInt8]($0) }) }
  /// Gives the value as a primary key to `body`, without a copy of its bytes.
  public func _withPrimaryKey(_ body: (_PrimaryKeyView) -> Void) {
    _withBytes { body(.bytes($0)) }
  }
  /// The key that nil is.
  public static var _nilKey: _PrimaryKeyValue { .bytes(nil) }
}

extension RealmCollectionValue where Self: _BytesValue {
  /// Reads an element of a managed collection.
  public static func _readElement(_ source: _ElementSource, _ position: Int) -> Self {
    source.withBytes(position) { Self(_bytes: $0) }
  }
  /// Gives the value to a managed collection.
  public func _writeElement(to sink: _ElementSink) { _withBytes { sink.bytes($0) } }
}

extension String: _BytesValue, _RealmCollectionValueInsideOptional, SortableType, _PrimaryKey,
  _Indexable
{
  /// The text of stored bytes.
  @inline(__always)
  public init(_bytes: UnsafeRawBufferPointer) { self.init(decoding: _bytes, as: UTF8.self) }
  /// The bytes to store.
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
  /// The text that an untyped value is.
  public static func _fromAny(_ value: Any?) -> String? {
    plainText(value) ?? value as? String ?? storedForm(value) as? String
      ?? (value as? Substring).map { String($0) }
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(String.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(String?.self)
}

extension Data: _BytesValue, _RealmCollectionValueInsideOptional {
  /// The data of stored bytes.
  @inline(__always)
  public init(_bytes: UnsafeRawBufferPointer) {
    // The count is given apart: an empty buffer may have no address.
    self = _bytes.isEmpty ? Data() : Data(bytes: _bytes.baseAddress!, count: _bytes.count)
  }
  /// The bytes to store.
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
  /// The bytes that an untyped value is.
  public static func _fromAny(_ value: Any?) -> Data? {
    plain(value, Data.self) ?? value as? Data ?? storedForm(value) as? Data
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(Data.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(Data?.self)
}
