// Properties of older classes, which declare what is stored by constants without `@Persisted`:
// boxes (see RealmProperty.swift), `let names = List<String>()`, sets, maps and `let owners =
// LinkingObjects(fromType: Club.self, property: "cups")`. Here is how property discovery finds
// them, and how collections that are constants are moved.
internal import ObjectStore

/// A type by which older classes declare a stored property: `let` and a value of this type.
protocol _ConstantProperty: SendableMetatype {
  /// The functions that move a value that lies at an offset in its object.
  static func codec(at offset: Int) -> _PropertyCodec
  /// Whether the value is stored too in a class that declares other properties by `@Persisted`.
  static var isStoredBesidePersisted: Bool { get }
  /// How the property is declared by a wrapper.
  ///
  /// - Parameter origin: of linking objects, the property that links.
  static func wrapped(_ name: String, origin: String?) -> String
  /// What no other property has.
  var _ownObject: AnyObject? { get }
}

extension _ConstantProperty {
  static var isStoredBesidePersisted: Bool { true }

  /// What no property but the one that lies here has.
  static func ownObject(at pointer: UnsafeRawPointer) -> AnyObject? {
    pointer.assumingMemoryBound(to: Self.self).pointee._ownObject
  }
}

extension _ConstantProperty where Self: AnyObject {
  var _ownObject: AnyObject? { self }
}

extension RealmProperty: _ConstantProperty {
  static func codec(at offset: Int) -> _PropertyCodec {
    .boxed(Value.self, at: offset) {
      $0.assumingMemoryBound(to: RealmProperty.self).pointee.box
    }
  }

  static func wrapped(_ name: String, origin: String?) -> String {
    "@Persisted var \(name): \(declaredName(of: Value.self))"
  }
}

extension RealmOptional: _ConstantProperty {
  static func codec(at offset: Int) -> _PropertyCodec {
    .boxed(Value?.self, at: offset) {
      $0.assumingMemoryBound(to: RealmOptional.self).pointee.box
    }
  }

  static func wrapped(_ name: String, origin: String?) -> String {
    "@Persisted var \(name): \(declaredName(of: Value?.self))"
  }
}

/// How a client writes a type.
func declaredName(of type: Any.Type) -> String {
  (type as? any OptionalProtocol.Type).map { "\(declaredName(of: $0._wrappedType))?" } ?? "\(type)"
}

/// A collection, which is an object that stays the same when it becomes managed.
protocol _ConstantCollection: _ConstantProperty, AnyObject, _Persistable {
  /// Replaces the elements by those of another one, managed or not.
  func _replaceContent(by other: Self)
}

extension _ConstantCollection {
  static var isStoredBesidePersisted: Bool { false }

  static func wrapped(_ name: String, origin: String?) -> String {
    "@Persisted var \(name): \(Self.self)"
  }

  static func codec(at offset: Int) -> _PropertyCodec {
    // The collection is a reference that lies in its object at the offset where discovery has found
    // it, and is never replaced: the property is a constant.
    let collection: @Sendable (UnsafeRawPointer) -> Self = {
      $0.assumingMemoryBound(to: Self.self).pointee
    }
    return _PropertyCodec(
      declaredType: Self.self, type: _rlmType, isOptional: _rlmOptional,
      collection: _rlmCollection, objectClass: _rlmObjectClass, keepsDefault: false,
      role: { _ in .plain },
      attach: { pointer, column in
        let object = Unmanaged<ObjectBase>.fromOpaque(pointer - offset).takeUnretainedValue()
        collection(pointer)._becomeManaged(object, column)
      },
      becomeManaged: { _, _, _ in }, managedImage: { _ in nil },
      store: { pointer, row, column in collection(pointer)._write(to: &row, column) },
      value: { pointer, _ in collection(pointer) },
      namedValue: { pointer, _ in collection(pointer) },
      setValue: { pointer, _, any in
        guard let value = Self._fromAny(any) else { return false }
        collection(pointer)._replaceContent(by: value)
        return true
      },
      accepts: { Self._accepts($0) },
      storeAny: { any, row, column in Self._storeAny(any, to: &row, column) },
      keyOfAny: { _ in nil }, originProperty: { _ in nil },
      withKey: { pointer, body in collection(pointer)._withPrimaryKey(body) })
  }
}

extension List: _ConstantCollection {
  func _replaceContent(by other: List) {
    if self != other { replaceAll(with: Array(other)) }
  }
}

extension MutableSet: _ConstantCollection {
  func _replaceContent(by other: MutableSet) {
    if self != other { replaceAll(with: Array(other)) }
  }
}

extension Map: _ConstantCollection {
  func _replaceContent(by other: Map) {
    if self != other { replaceAll(with: other) }
  }
}

extension LinkingObjects: _ConstantProperty {
  static var isStoredBesidePersisted: Bool { false }

  static func wrapped(_ name: String, origin: String?) -> String {
    "@Persisted(originProperty: \"\(origin ?? "")\") var \(name): "
      + "LinkingObjects<\(Element.className())>"
  }

  var _ownObject: AnyObject? { declaration }

  private var declaration: LinkingObjectsDeclaration? {
    if case .declared(let declaration) = storage { declaration } else { nil }
  }

  static func codec(at offset: Int) -> _PropertyCodec {
    let declaration: @Sendable (UnsafeRawPointer) -> LinkingObjectsDeclaration? = {
      $0.assumingMemoryBound(to: LinkingObjects.self).pointee.declaration
    }
    return _PropertyCodec(
      declaredType: LinkingObjects.self, type: _rlmType, isOptional: _rlmOptional,
      collection: _rlmCollection, objectClass: _rlmObjectClass, keepsDefault: false,
      role: { _ in .plain },
      attach: { pointer, property in
        let object = Unmanaged<ObjectBase>.fromOpaque(pointer - offset).takeUnretainedValue()
        declaration(pointer)?.cell = BacklinkCell.make(object, property)
      },
      becomeManaged: { _, _, _ in }, managedImage: { _ in nil }, store: { _, _, _ in },
      value: { pointer, _ in pointer.assumingMemoryBound(to: LinkingObjects.self).pointee },
      namedValue: { pointer, _ in pointer.assumingMemoryBound(to: LinkingObjects.self).pointee },
      setValue: { _, _, _ in stopForLinkingObjects() }, accepts: { $0 is LinkingObjects },
      storeAny: { _, _, _ in false }, keyOfAny: { _ in nil },
      originProperty: { declaration($0)?.property }, withKey: { _, body in body(.integer(nil)) })
  }
}
