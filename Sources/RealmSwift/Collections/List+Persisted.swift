// A list as the value of a property.
internal import Foundation

extension List: _Persistable {
  /// What the elements are.
  public static var _rlmType: PropertyType { Element._rlmType }
  /// Whether elements may be nil.
  public static var _rlmOptional: Bool { Element._rlmOptional }
  /// A list.
  public static var _rlmCollection: _CollectionKind { .list }
  /// The class that elements lead to.
  public static var _rlmObjectClass: ObjectBase.Type? { Element._rlmObjectClass }
  /// An object's list is made once, and changed in place.
  public static var _keepsDefault: Bool { true }
  /// Empty.
  public static func _defaultValue() -> Self { Self() }
  /// The list of a managed object.
  public static func _get(_ object: ObjectBase, _ column: Int32) -> Self {
    object.requireReadable()
    return unsafeDowncast(
      List(CollectionCell(object, column, Element._rlmObjectClass)), to: Self.self)
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
  /// The list that an untyped value is, or whose elements it holds.
  public static func _fromAny(_ value: Any?) -> Self? {
    if let list = value as? Self { return list }
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
    if value is Self { return true }
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
    storage = .managed(CollectionCell(object, column, Element._rlmObjectClass))
  }

  /// Replaces all elements.
  func replaceAll(with elements: [Element]) {
    removeAll()
    for element in elements { append(element) }
  }
}

/// The elements of an untyped collection; none for nil, nil when it is no collection.
func untypedElements(_ value: Any?) -> [Any?]? {
  switch value {
  case nil: return []
  case let values as [Any]: return values
  case let values as NSArray: return values.map { $0 }
  case let values as any _UntypedElements: return values._untypedElements
  case let values as Set<AnyHashable>: return values.map { $0.base }
  default: return nil
  }
}

/// A collection whose elements untyped code can see.
protocol _UntypedElements {
  var _untypedElements: [Any?] { get }
}

extension List: _UntypedElements {
  var _untypedElements: [Any?] { map { $0._anyElement } }
}

extension RealmCollectionValue {
  /// Whether an untyped value can be an element.
  static func _acceptsElement(_ value: Any?) -> Bool {
    guard let objectClass = _rlmObjectClass else { return _elementFromAny(value) != nil }
    guard let value else { return _rlmOptional }
    if let object = value as? ObjectBase, type(of: object) == objectClass { return true }
    return InputValues.canHold(value)
  }

  /// Gives what an untyped value stands for to a managed collection.
  static func _writeAnyElement(_ value: Any?, to sink: _ElementSink) {
    if let objectClass = _rlmObjectClass, let value {
      sink.link(from: value, objectClass)
    } else if let element = _elementFromAny(value) {
      element._writeElement(to: sink)
    } else {
      misuse(
        .argument,
        "Invalid value '\(value.map { "\($0)" } ?? "nil")' for a collection of '\(_rlmType)'.")
    }
  }
}
