// A set as the value of a property, and in coded form.

extension MutableSet: _Persistable {
  /// What the elements are.
  public static var _rlmType: PropertyType { Element._rlmType }
  /// Whether elements may be nil.
  public static var _rlmOptional: Bool { Element._isOptionalElement }
  /// A set.
  public static var _rlmCollection: _CollectionKind { .set }
  /// The class that elements lead to.
  public static var _rlmObjectClass: ObjectBase.Type? { Element._rlmObjectClass }
  /// An object's set is made once, and changed in place.
  public static var _keepsDefault: Bool { true }
  /// Empty.
  public static func _defaultValue() -> Self { Self() }
  /// The set of a managed object.
  @inlinable
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    unsafeDowncast(
      MutableSet(CollectionCell.make(object, column, Element._rlmObjectClass)), to: Self.self)
  }
  /// Replaces the content of a managed object's set.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: MutableSet) {
    let set = _get(object, column)
    if set == value { return }
    set.replaceAll(with: Array(value))
  }
  /// Writes the elements into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    row.setElements(column, self) { $0._writeElement(to: $1) }
  }
  /// The set.
  public var _anyValue: Any? { self }
  /// A set of the elements that an untyped value holds.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let set = instance(value, of: Self.self) { return set }
    guard let values = untypedElements(value) else { return nil }
    let set = Self()
    for value in values {
      guard let element = Element._elementFromAny(unwrapped(value)) else { return nil }
      set.insert(element)
    }
    return set
  }
  /// Whether the value is a sequence of what can be elements.
  public static func _accepts(_ value: Any?) -> Bool {
    if instance(value, of: Self.self) != nil { return true }
    guard let values = untypedElements(value) else { return false }
    return values.allSatisfy { Element._acceptsElement(unwrapped($0)) }
  }
  /// Writes the elements that an untyped value holds into a row.
  public static func _storeAny(_ value: Any?, to row: inout _RowWriter, _ column: Int) -> Bool {
    guard let values = untypedElements(value) else { return false }
    row.setElements(column, values) { Element._writeAnyElement(unwrapped($0), to: $1) }
    return true
  }
  /// Not a key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(nil) }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(MutableSet.self) }
  /// The set now shows what the file holds.
  public func _becomeManaged(_ object: ObjectBase, _ column: Int32) {
    becomeManaged(CollectionCell(object, column, Element._rlmObjectClass))
  }

  /// Replaces the content of an unmanaged set by that of another one.
  public func _takeContent(of other: MutableSet) -> Bool {
    if self !== other {
      storage = .unmanaged(UniqueElements(other))
      place = nil
    }
    return true
  }

  /// Replaces all elements.
  func replaceAll(with elements: [Element]) {
    removeAll()
    insert(objectsIn: elements)
  }
}

extension MutableSet: _UntypedElements {}

extension MutableSet: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Decodes a set, that belongs to no Realm, from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { insert(try container.decode(Element.self)) }
  }
}
