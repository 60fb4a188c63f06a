// What a @Persisted wrapper holds, and the table of functions that moves its value. The functions
// are made for one concrete type each, so that bulk work runs no generic code.

/// How a property was declared.
@frozen
public struct _PropertyRole: Equatable, Sendable {
  @usableFromInline let rawValue: UInt8
  @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable static var plain: _PropertyRole { _PropertyRole(rawValue: 0) }
  @inlinable static var indexed: _PropertyRole { _PropertyRole(rawValue: 1) }
  @inlinable static var primary: _PropertyRole { _PropertyRole(rawValue: 2) }
}

/// Where a property's value is.
@frozen @usableFromInline
enum PropertyStorage<Value> {
  /// Not set: the type's default.
  case none(_PropertyRole)
  /// Here, because the object belongs to no Realm.
  case unmanaged(Value, _PropertyRole)
  /// In this column of the object's table.
  case managed(Int32)
  /// Nowhere: reading it is noted, as that of the class's property at this position.
  case recording(Int32)

  /// How the property was declared; known only while it is unmanaged.
  @inlinable @inline(__always)
  var role: _PropertyRole {
    switch self {
    case .none(let role), .unmanaged(_, let role): return role
    case .managed, .recording: return .plain
    }
  }
}

/// Moves the values of one type between wrappers, `Any` and the file.
///
/// `UnsafeMutableRawPointer`s point to a `Persisted` of that type inside a living object.
public struct _PropertyCodec: Sendable {
  /// The type that the client has declared; nil for a property that is known by name only.
  let declaredType: Any.Type?
  let type: PropertyType
  let isOptional: Bool
  let collection: _CollectionKind
  /// The class that a link, or a collection of links, leads to.
  let objectClass: ObjectBase.Type?
  /// Whether the default is made once an object and then kept.
  let keepsDefault: Bool
  /// How the wrapper was declared.
  let role: @Sendable (UnsafeRawPointer) -> _PropertyRole
  /// Makes the wrapper managed.
  private(set) var attach: @Sendable (UnsafeMutableRawPointer, Int32) -> Void
  /// Makes the wrapper note that it is read; see `KeyPathNames`.
  var record: @Sendable (UnsafeMutableRawPointer, Int32) -> Void = { _, _ in }
  /// Tells the unmanaged value, if there is one that others may hold, that it lives in a column of
  /// the object from now on; nothing for plain values.
  let becomeManaged: @Sendable (UnsafeRawPointer, ObjectBase, Int32) -> Void
  /// The bytes of a managed wrapper; nil when its values are more than bytes.
  let managedImage: @Sendable (Int32) -> UnsafeMutableRawBufferPointer?
  /// Writes the unmanaged value into a row; says whether there was one to write.
  private(set) var store: @Sendable (UnsafeMutableRawPointer, inout _RowWriter, Int) -> Void
  /// The value, managed or not; enumerations and own types as what is stored for them.
  var value: @Sendable (UnsafeMutableRawPointer, ObjectBase) -> Any?
  /// The value, managed or not, as access by name gives it.
  var namedValue: @Sendable (UnsafeMutableRawPointer, ObjectBase) -> Any?
  /// Sets the value, managed or not; false when it has the wrong type.
  let setValue: @Sendable (UnsafeMutableRawPointer, ObjectBase, Any?) -> Bool
  /// Whether a value could be set.
  let accepts: @Sendable (Any?) -> Bool
  /// Writes a value into a row; false when it has the wrong type.
  let storeAny: @Sendable (Any?, inout _RowWriter, Int) -> Bool
  /// The primary key in the form of the file; nil when the value has the wrong type.
  let keyOfAny: @Sendable (Any?) -> _PrimaryKeyValue?
  /// Takes the object that an unmanaged wrapper links to out of it.
  private(set) var takeLink: @Sendable (UnsafeMutableRawPointer) -> ObjectBase? = { _ in nil }
  /// Of linking objects that are not managed: the property of the other class that links here.
  let originProperty: @Sendable (UnsafeRawPointer) -> String?
  /// Gives the primary key of an unmanaged object to the body.
  let withKey: @Sendable (UnsafeMutableRawPointer, (_PrimaryKeyView) -> Void) -> Void
}

/// A primary key as the file knows it.
public enum _PrimaryKeyValue: Sendable {
  case integer(Int64?)
  case bytes([UInt8]?)

  /// A copy of a key that is good for a call only.
  init(_ key: _PrimaryKeyView) {
    switch key {
    case .integer(let value): self = .integer(value)
    case .bytes(let bytes): self = .bytes(bytes.map { [UInt8]($0) })
    }
  }

  /// Gives the key to `body` as one whose bytes are good during the call.
  func withView(_ body: (_PrimaryKeyView) -> Void) {
    switch self {
    case .integer(let value): body(.integer(value))
    case .bytes(nil): body(.bytes(nil))
    case .bytes(let bytes?): bytes.withUnsafeBytes { body(.bytes($0)) }
    }
  }
}

/// A primary key as the file knows it; its bytes are good only while the call lasts that gives it.
public enum _PrimaryKeyView {
  case integer(Int64?)
  case bytes(UnsafeRawBufferPointer?)
}

extension _Persistable {
  /// Gives the value as a primary key to `body`.
  public func _withPrimaryKey(_ body: (_PrimaryKeyView) -> Void) { _primaryKeyValue.withView(body) }
}

extension _PropertyCodec {
  /// The codec of links to a class.
  ///
  /// The compiler cannot specialise it for a class of the client. But references to all of them lie
  /// in memory alike, so that what bulk work needs can be done as for references to any object.
  static func link<Target: ObjectBase>(_: Target.Type) -> _PropertyCodec {
    var codec = make(Target?.self)
    codec.attach = { pointer, column in
      pointer.assumingMemoryBound(to: Persisted<ObjectBase?>.self).pointee.storage =
        .managed(column)
    }
    codec.takeLink = { pointer in
      let wrapper = pointer.assumingMemoryBound(to: Persisted<ObjectBase?>.self)
      guard case .unmanaged(let object, let role) = wrapper.pointee.storage else { return nil }
      wrapper.pointee.storage = .none(role)
      return object
    }
    codec.store = { pointer, row, column in
      let wrapper = pointer.assumingMemoryBound(to: Persisted<ObjectBase?>.self)
      guard case .unmanaged(let object?, _) = wrapper.pointee.storage else {
        if case .managed = wrapper.pointee.storage { return }
        return row.setLink(nil, column)
      }
      requireClass(object, Target.self)
      row.setLink(object, column)
    }
    return codec
  }

  /// The codec of mixed values, which may be links.
  static func mixed() -> _PropertyCodec {
    var codec = make(AnyRealmValue.self)
    codec.takeLink = { pointer in
      let wrapper = pointer.assumingMemoryBound(to: Persisted<AnyRealmValue>.self)
      guard case .unmanaged(.object(let object), let role) = wrapper.pointee.storage else {
        return nil
      }
      wrapper.pointee.storage = .none(role)
      return object
    }
    return codec
  }

  /// The codec of one type.
  ///
  /// Inlined where the type is known, which specialises every closure.
  @inline(__always)
  static func make<Value: _Persistable>(_: Value.Type) -> _PropertyCodec {
    _PropertyCodec(
      declaredType: Value.self, type: Value._rlmType, isOptional: Value._rlmOptional,
      collection: Value._rlmCollection,
      objectClass: Value._rlmObjectClass, keepsDefault: Value._keepsDefault,
      role: { $0.assumingMemoryBound(to: Persisted<Value>.self).pointee.role },
      attach: { pointer, column in
        pointer.assumingMemoryBound(to: Persisted<Value>.self).pointee.storage = .managed(column)
      },
      record: { pointer, property in
        pointer.assumingMemoryBound(to: Persisted<Value>.self).pointee.storage =
          .recording(property)
      },
      becomeManaged: { pointer, object, column in
        if Value._rlmCollection == .none { return }
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if case .unmanaged(let value, _) = wrapper.pointee.storage {
          value._becomeManaged(object, column)
        }
      },
      managedImage: { column in
        guard _isPOD(Value.self) else { return nil }
        let size = MemoryLayout<Persisted<Value>>.size
        let image = UnsafeMutableRawBufferPointer.allocate(
          byteCount: size, alignment: MemoryLayout<Persisted<Value>>.alignment)
        // Also the bytes that no value writes get one.
        image.initializeMemory(as: UInt8.self, repeating: 0)
        image.baseAddress!.initializeMemory(
          as: Persisted<Value>.self, to: Persisted(managed: column))
        return image
      },
      store: { pointer, row, column in
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if Value._keepsDefault { wrapper.pointee.keepDefault() }
        switch wrapper.pointee.storage {
        case .unmanaged(let value, _): value._write(to: &row, column)
        case .none: Value._defaultValue()._write(to: &row, column)
        case .managed, .recording: break
        }
      },
      value: { pointer, object in
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if Value._keepsDefault { wrapper.pointee.keepDefault() }
        switch wrapper.pointee.storage {
        case .unmanaged(let value, _): return value._anyValue
        case .none, .recording: return Value._defaultValue()._anyValue
        case .managed(let column): return Value._getAny(object, column)
        }
      },
      namedValue: { pointer, object in
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if Value._keepsDefault { wrapper.pointee.keepDefault() }
        switch wrapper.pointee.storage {
        case .unmanaged(let value, _): return value._namedValue
        case .none, .recording: return Value._defaultValue()._namedValue
        case .managed(let column): return Value._get(object, column)._namedValue
        }
      },
      setValue: { pointer, object, any in
        guard let value = Value._fromAny(any) else { return false }
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if case .managed(let column) = wrapper.pointee.storage {
          Value._set(object, column, value)
        } else {
          wrapper.pointee.setUnmanaged(value)
        }
        return true
      },
      accepts: { Value._accepts($0) },
      storeAny: { any, row, column in Value._storeAny(any, to: &row, column) },
      keyOfAny: { Value._fromAny($0)?._primaryKeyValue },
      originProperty: { pointer in
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        guard case .unmanaged(let value, _) = wrapper.pointee.storage else { return nil }
        return (value as? any _LinkingObjects)?._originProperty
      },
      withKey: { pointer, body in
        let wrapper = pointer.assumingMemoryBound(to: Persisted<Value>.self)
        if Value._keepsDefault { wrapper.pointee.keepDefault() }
        switch wrapper.pointee.storage {
        case .unmanaged(let value, _): value._withPrimaryKey(body)
        case .none, .managed, .recording: Value._defaultValue()._withPrimaryKey(body)
        }
      })
  }
}
