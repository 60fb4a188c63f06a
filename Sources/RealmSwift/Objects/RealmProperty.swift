// The boxes in which older classes declare optional and mixed properties: `let age =
// RealmProperty<Int?>()`. A box is a stored property of its object, found by property discovery
// like a `@Persisted` wrapper.
internal import ObjectStore
internal import Platform

/// A type whose optional older classes can hold in a box.
public protocol RealmOptionalType: _PersistableInsideOptional {}

/// A type that `RealmProperty` can hold.
public protocol RealmPropertyType: _Persistable {}

extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}
extension Bool: RealmOptionalType {}
extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}
extension AnyRealmValue: RealmPropertyType {}

/// The value of one property of an object, in classes that do not use `@Persisted` for it.
///
///     class Person: Object {
///       let age = RealmProperty<Int?>()
///     }
public final class RealmProperty<Value: RealmPropertyType>: CustomStringConvertible {
  let box = PropertyBox<Value>()

  /// The type's default: nil, or none.
  public init() {}

  /// The value; of a managed object it is set inside of a transaction only.
  public var value: Value {
    get { box.value }
    set { box.value = newValue }
  }

  /// The value as text.
  public var description: String { ObjectDescription.text(of: value._anyValue) }
}

extension RealmProperty: _UntypedHolder {
  /// The value without its type, or nil.
  public var _untyped: Any? { value._anyValue }
}

/// An optional number or truth value of an object, in classes that do not use `@Persisted` for it.
public final class RealmOptional<Value: RealmOptionalType>: CustomStringConvertible {
  let box = PropertyBox<Value?>()

  /// A value to start with.
  public init(_ value: Value? = nil) { box.value = value }

  /// The value; of a managed object it is set inside of a transaction only.
  public var value: Value? {
    get { box.value }
    set { box.value = newValue }
  }

  /// The value as text.
  public var description: String { ObjectDescription.text(of: value) }
}

extension RealmOptional: _UntypedHolder {
  /// The value without its type, or nil.
  public var _untyped: Any? { value._anyValue }
}

@available(*, unavailable)
extension RealmProperty: Sendable {}

@available(*, unavailable)
extension RealmOptional: Sendable {}

extension RealmProperty: Equatable where Value: Equatable {
  /// Whether both have equal values.
  public static func == (left: RealmProperty, right: RealmProperty) -> Bool {
    left.value == right.value
  }
}

extension RealmOptional: Equatable {
  /// Whether both have equal values.
  public static func == (left: RealmOptional, right: RealmOptional) -> Bool {
    left.value == right.value
  }
}

extension RealmProperty: Codable where Value: Codable {
  /// Decodes the value.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    value = try decoder.singleValueContainer().decode(Value.self)
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension RealmOptional: Codable where Value: Codable {
  /// Decodes the value.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Value?.self))
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

// MARK: - Storage

/// Where a boxed value is.
final class PropertyBox<Value: _Persistable> {
  private enum Storage {
    case unmanaged(Value)
    case managed(Owner, Int32)
  }

  /// The object that the box is part of: not kept by it, since it keeps the box.
  private struct Owner {
    weak var object: ObjectBase?
    /// Where the object is, for a box that is used after its accessor has gone.
    let realm: ConfinedRealm
    let table: TablePointer
    let key: ObjectKey
    let epoch: UInt32
    /// The object was there in this one.
    let generation: UInt64

    init(_ object: ObjectBase) {
      self.object = object
      realm = object._realm.unsafelyUnwrapped
      table = object._table.unsafelyUnwrapped
      key = object._key
      epoch = object._epoch
      generation = table.pointee.generation
    }
  }

  // Unchecked exclusivity: a managed box is touched only where its Realm may be used; an unmanaged
  // one is a plain value that the client guards.
  @exclusivity(unchecked) private var storage = Storage.unmanaged(Value._defaultValue())

  var value: Value {
    get {
      switch storage {
      case .unmanaged(let value): return value
      case .managed(let owner, let column): return Value._get(require(owner), column)
      }
    }
    set {
      switch storage {
      case .unmanaged: storage = .unmanaged(newValue)
      case .managed(let owner, let column): Value._set(require(owner), column, newValue)
      }
    }
  }

  /// The value of an object that belongs to no Realm; nil in a managed one.
  var unmanagedValue: Value? {
    if case .unmanaged(let value) = storage { return value }
    return nil
  }

  deinit {
    guard Value._rlmType == .any else { return }
    var values = takeValue()
    LooseValues.release(&values)
  }

  // Apart from `deinit`: the frame of that one would hold it a second time.
  @inline(never)
  private func takeValue() -> [Value] {
    guard case .unmanaged(let value) = storage else { return [] }
    storage = .unmanaged(Value._defaultValue())
    return [value]
  }

  func attach(_ object: ObjectBase, _ column: Int32) {
    storage = .managed(Owner(object), column)
  }

  private func require(_ owner: Owner) -> ObjectBase {
    if let object = owner.object { return object }
    if owner.epoch == owner.table.pointee.epoch,
      !owner.table.pointee.rollBacks.haveTaken(owner.key, since: owner.generation),
      let object = owner.realm.accessor(owner.table, owner.key)
    {
      return object
    }
    misuse(.invalidated, "Object has been deleted or invalidated.")
  }
}

extension _PropertyCodec {
  /// Moves a value between a box, `Any` and the file; pointers point to the box's place in its
  /// object.
  static func boxed<Value: _Persistable>(
    _: Value.Type, at offset: Int,
    _ box: @escaping @Sendable (UnsafeRawPointer) -> PropertyBox<Value>
  ) -> _PropertyCodec {
    _PropertyCodec(
      declaredType: Value.self, type: Value._rlmType, isOptional: Value._rlmOptional,
      collection: .none, objectClass: nil, keepsDefault: false, role: { _ in .plain },
      attach: { pointer, column in
        // The box lies in the object at the offset where discovery has found it.
        let object = Unmanaged<ObjectBase>.fromOpaque(pointer - offset).takeUnretainedValue()
        box(pointer).attach(object, column)
      },
      becomeManaged: { _, _, _ in }, managedImage: { _ in nil },
      store: { pointer, row, column in box(pointer).unmanagedValue?._write(to: &row, column) },
      value: { pointer, _ in box(pointer).value._anyValue },
      namedValue: { pointer, _ in box(pointer).value._namedValue },
      setValue: { pointer, _, any in
        guard let value = Value._fromAny(any) else { return false }
        box(pointer).value = value
        return true
      },
      accepts: { Value._accepts($0) },
      storeAny: { any, row, column in Value._storeAny(any, to: &row, column) },
      keyOfAny: { Value._fromAny($0)?._primaryKeyValue }, originProperty: { _ in nil },
      withKey: { pointer, body in box(pointer).value._withPrimaryKey(body) })
  }
}
