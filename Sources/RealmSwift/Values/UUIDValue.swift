// How UUID is stored: as its 16 bytes.
public import Foundation

extension UUID: _BytesValue, _RealmCollectionValueInsideOptional, SortableType, _PrimaryKey,
  _Indexable
{
  /// The identifier of stored bytes; of fewer than 16, as if zeros followed.
  public init(_bytes bytes: UnsafeRawBufferPointer) {
    var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &value) {
      $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(16)))
    }
    self.init(uuid: value)
  }

  /// Runs a body on the 16 bytes.
  public func _withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: uuid) { body($0) }
  }

  /// Stored as itself.
  public typealias PersistedType = UUID
  /// A universally unique identifier.
  public static var _rlmType: PropertyType { .UUID }
  /// A new identifier.
  public static func _defaultValue() -> UUID { UUID() }
  /// Each object gets its own.
  @inlinable
  public static var _keepsDefault: Bool { true }
  /// Reads a managed property.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> UUID {
    readBytes(object, column, UUID.self)
      ?? UUID(_bytes: UnsafeRawBufferPointer(start: nil, count: 0))
  }
  /// Reads a managed optional property.
  public static func _getOptional(_ object: ObjectBase, _ column: Int32) -> UUID? {
    readBytes(object, column, UUID.self)
  }
  /// The identifier that an untyped value is.
  public static func _fromAny(_ value: Any?) -> UUID? {
    switch value {
    case let value as UUID: return value
    case let value as NSUUID: return UUID(uuidString: value.uuidString)
    case let value as String: return UUID(uuidString: value)
    default: return storedForm(value).flatMap { _fromAny($0) }
    }
  }
  /// The functions that move values of this type.
  public static let _codec = _PropertyCodec.make(UUID.self)
  /// The functions that move optionals of this type.
  public static let _optionalCodec = _PropertyCodec.make(UUID?.self)
}
