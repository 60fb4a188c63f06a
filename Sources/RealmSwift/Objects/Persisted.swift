// The property wrapper of persisted properties. Its accessors are inlined into the client's class,
// where the key path is a constant and turns into a plain field access; the work behind a managed
// property is done by functions of one concrete type each.

/// Makes a property of an `Object` subclass persistent.
///
/// An object that belongs to no Realm keeps the value itself; a managed one reads it from the
/// file's memory map each time, and writes it into the running write transaction.
///
/// - Complexity: O(1); reading an `Int` of a held object takes some nanoseconds.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
  @usableFromInline var storage: PropertyStorage<Value>

  init(managed column: Int32) { storage = .managed(column) }

  /// A property that starts with its type's default: zero, false, empty or nil.
  @inlinable
  public init() { storage = .none(.plain) }

  /// A property with a value of its own to start with.
  @inlinable
  public init(wrappedValue value: Value) { storage = .unmanaged(value, .plain) }

  /// Not for use: a persisted property works only inside of a class.
  @available(*, unavailable, message: "@Persisted can only be used as a property of an Object")
  public var wrappedValue: Value {
    get { fatalError("@Persisted can only be used as a property of an Object") }
    // A setter makes the property settable for the compiler.
    // swift-format-ignore
    set { fatalError("@Persisted can only be used as a property of an Object") }
  }

  /// The value, for the object that the property belongs to.
  @inlinable
  public static subscript<Owner: ObjectBase>(
    _enclosingInstance owner: Owner,
    wrapped valuePath: ReferenceWritableKeyPath<Owner, Value>,
    storage storagePath: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    @inlinable @inline(__always)
    get {
      // No access to the field is going on while other functions run: if there were one anywhere,
      // even in code that never runs, each access would be checked at run time, which takes longer
      // than the read.
      let storage = owner[keyPath: storagePath].storage
      if Value._keepsDefault, case .none(let role) = storage {
        let value = Value._defaultValue()
        owner[keyPath: storagePath].storage = .unmanaged(value, role)
        return value
      }
      return read(storage, owner)
    }
    @inlinable @inline(__always)
    set {
      let storage = owner[keyPath: storagePath].storage
      if case .managed(let column) = storage {
        Value._set(owner, column, newValue)
      } else if isCollection {
        // No access to the field may be going on here, either.
        var wrapper = owner[keyPath: storagePath]
        wrapper.setUnmanaged(newValue)
        owner[keyPath: storagePath] = wrapper
      } else {
        owner[keyPath: storagePath].storage = .unmanaged(newValue, storage.role)
      }
    }
  }

  @inlinable @inline(__always)
  static func read(_ storage: PropertyStorage<Value>, _ owner: ObjectBase) -> Value {
    switch storage {
    case .managed(let column): return Value._get(owner, column)
    case .unmanaged(let value, _): return value
    case .none: return Value._defaultValue()
    case .recording(let property): return readRecorded(owner, property)
    }
  }

  /// Whether the value is a collection.
  ///
  /// By its pattern, which the compiler decides in the client before it looks for accesses to
  /// check; a comparison it decides too late.
  @inlinable @inline(__always)
  static var isCollection: Bool {
    if case .none = Value._rlmCollection { return false }
    return true
  }

  /// Makes the default the value, where each call makes another or it changes in place.
  @inlinable
  mutating func keepDefault() {
    if case .none(let role) = storage { storage = .unmanaged(Value._defaultValue(), role) }
  }

  @inlinable @inline(__always)
  mutating func setUnmanaged(_ value: Value) {
    if Self.isCollection {
      keepDefault()
      if case .unmanaged(let current, _) = storage, current._takeContent(of: value) { return }
    }
    storage = .unmanaged(value, role)
  }

  /// How the property was declared; known only while it is unmanaged.
  @inlinable @inline(__always)
  var role: _PropertyRole { storage.role }
}

extension Persisted where Value: _HasPersistedType, Value.PersistedType: _Indexable {
  /// A property with an index, which makes finding objects by its value fast and writing it slower.
  @inlinable
  public init(indexed: Bool) { storage = .none(indexed ? .indexed : .plain) }

  /// A property with an index and a value of its own to start with.
  @inlinable
  public init(wrappedValue value: Value, indexed: Bool) {
    storage = .unmanaged(value, indexed ? .indexed : .plain)
  }
}

extension Persisted where Value: _HasPersistedType, Value.PersistedType: _PrimaryKey {
  /// The property that identifies an object among those of its class.
  @inlinable
  public init(primaryKey: Bool) { storage = .none(primaryKey ? .primary : .plain) }

  /// The property that identifies an object, with a value to start with.
  @inlinable
  public init(wrappedValue value: Value, primaryKey: Bool) {
    storage = .unmanaged(value, primaryKey ? .primary : .plain)
  }
}

/// Lets property discovery treat all wrappers alike.
protocol _PersistedProperty {
  static var _codec: _PropertyCodec { get }
  /// The type that the property was declared with.
  static var _valueType: Any.Type { get }
}

extension Persisted: _PersistedProperty {
  static var _valueType: Any.Type { Value.self }
  static var _codec: _PropertyCodec { Value._codec }
}
