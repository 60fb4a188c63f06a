// A list as the value of a property, and in coded form.
internal import ObjectStore

extension List: _Persistable {
  /// What the elements are.
  public static var _rlmType: PropertyType { Element._rlmType }
  /// Whether elements may be nil.
  public static var _rlmOptional: Bool { Element._isOptionalElement }
  /// A list.
  public static var _rlmCollection: _CollectionKind { .list }
  /// The class that elements lead to.
  public static var _rlmObjectClass: ObjectBase.Type? { Element._rlmObjectClass }
  /// An object's list is made once, and changed in place.
  public static var _keepsDefault: Bool { true }
  /// Empty.
  public static func _defaultValue() -> Self { Self() }
  /// The list of a managed object.
  @inlinable
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    unsafeDowncast(
      List(CollectionCell.make(object, column, Element._rlmObjectClass)), to: Self.self)
  }
  /// Replaces the content of a managed object's list.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: List) {
    let list = _get(object, column)
    if list == value { return }
    list.replaceAll(with: Array(value))
  }
  /// Writes the elements into a row.
  public func _write(to row: inout _RowWriter, _ column: Int) {
    row.setElements(column, self) { $0._writeElement(to: $1) }
  }
  /// The list.
  public var _anyValue: Any? { self }
  /// A list of the elements that an untyped value holds.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let list = instance(value, of: Self.self) { return list }
    guard let values = untypedElements(value) else { return nil }
    let list = Self()
    for value in values {
      guard let element = Element._elementFromAny(unwrapped(value)) else { return nil }
      list.append(element)
    }
    return list
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
  public static var _codec: _PropertyCodec { .make(List.self) }
  /// The list now shows what the file holds.
  public func _becomeManaged(_ object: ObjectBase, _ column: Int32) {
    becomeManaged(CollectionCell(object, column, Element._rlmObjectClass))
  }

  /// Replaces the content of an unmanaged list by that of another one.
  public func _takeContent(of other: List) -> Bool {
    if self !== other {
      storage = .unmanaged(Array(other))
      place = nil
    }
    return true
  }

  /// Replaces all elements.
  func replaceAll(with elements: [Element]) {
    if let place = nestedPlace { return replace(in: place, with: elements) { 0..<$0 } }
    guard let cell, Element._rlmType == .any else {
      removeAll()
      append(objectsIn: elements)
      return
    }
    let group = cell.requireWriting()
    cell.withKeptValues(
      elements, behind: { group.removeAllElements(cell.storedTable, cell.key, cell.column) }
    ) {
      group.listAppend(cell.storedTable, cell.key, cell.column, $0)
    }
    cell.changed()
  }
}

extension List: _UntypedElements {}

extension List: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension List: Decodable where Element: Decodable {
  /// Decodes a list, that belongs to no Realm, from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { append(try container.decode(Element.self)) }
  }
}
