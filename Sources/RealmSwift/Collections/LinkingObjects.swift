// The objects that link to an object: read from what the file keeps for each link, never stored.
internal import ObjectStore

/// The objects of a class that link to an object by one of their properties.
///
/// Of an object that belongs to no Realm there are none.
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection {
  /// Goes through the objects.
  public typealias Iterator = RLMIterator<Element>

  private let property: String
  @usableFromInline let source: BacklinkSource<Element>?

  /// Declares the objects of a class that link here by a property.
  public init(fromType: Element.Type, property: String) {
    self.property = property
    source = nil
  }

  @usableFromInline
  init(_ source: BacklinkSource<Element>, property: String) {
    self.source = source
    self.property = property
  }

  /// The property of the other class that links here.
  public var _originProperty: String { property }

  /// The Realm that the objects belong to.
  public var realm: Realm? { source.map { Realm($0.realm) } }
  /// Whether the object that is linked to is gone, or the Realm was invalidated.
  public var isInvalidated: Bool { source?.isOver ?? false }
  /// Whether the objects never change and may be used from any thread.
  public var isFrozen: Bool { source?.realm.isFrozen ?? false }
  /// Position of the first object.
  public var startIndex: Int { 0 }
  /// Position behind the last object.
  public var endIndex: Int { count }
  /// The number of links; an object that links twice counts twice.
  public var count: Int { source?.count ?? 0 }
  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }
  /// The first object.
  public var first: Element? { isEmpty ? nil : self[0] }
  /// The last object.
  public var last: Element? {
    let count = count
    return count == 0 ? nil : self[count - 1]
  }
  /// The object at a position; stops when it is out of bounds.
  public subscript(position: Int) -> Element {
    guard let source else {
      checkBounds(position, 0)
      fatalError("unreachable: nothing is below 0")
    }
    return source.element(at: position)
  }
  /// Goes through the objects.
  public func makeIterator() -> RLMIterator<Element> {
    source?.makeIterator() ?? RLMIterator(ElementCursor())
  }
  /// The position of an object; nil when it is not among them.
  public func index(of object: Element) -> Int? { source?.position(of: object) }

  /// The objects as they are now, immutable and usable from any thread.
  public func freeze() -> LinkingObjects {
    guard let source else { misuse(.ownership, "Unmanaged linking objects cannot be frozen.") }
    return LinkingObjects(source.frozen() as! BacklinkSource<Element>, property: property)
  }
  /// The live form of frozen ones; nil when the object that is linked to was deleted.
  public func thaw() -> LinkingObjects? {
    guard let source else { misuse(.ownership, "Unmanaged linking objects cannot be thawed.") }
    return source.thawed().map {
      LinkingObjects($0 as! BacklinkSource<Element>, property: property)
    }
  }
  /// Whether both show the same objects.
  public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
    guard let first = left.source, let second = right.source else { return false }
    return left.property == right.property && first.isEqual(to: second)
  }
  /// The class, and the first hundred objects.
  public var description: String {
    guard let source else { return "LinkingObjects<\(Element.className())> ()" }
    return CollectionDescription.text(
      of: self, kind: "LinkingObjects", Element.className(), source)
  }
}

@available(*, unavailable)
extension LinkingObjects: Sendable {}

/// Lets untyped code see which property links here.
protocol _LinkingObjects {
  var _originProperty: String { get }
}

extension LinkingObjects: _LinkingObjects {}

extension LinkingObjects: _Persistable {
  /// Objects that link here.
  public static var _rlmType: PropertyType { .linkingObjects }
  /// Never nil.
  public static var _rlmOptional: Bool { false }
  /// The class that links here.
  public static var _rlmObjectClass: ObjectBase.Type? { Element.self }
  /// None.
  public static func _defaultValue() -> LinkingObjects {
    LinkingObjects(fromType: Element.self, property: "")
  }
  /// The objects that link to a managed object; `column` is the property's position.
  @inlinable
  public static func _get(_ object: ObjectBase, _ column: Int32) -> LinkingObjects {
    let origin = linkOrigin(object, column)
    return LinkingObjects(BacklinkSource<Element>(object, origin), property: origin.property)
  }
  /// Stops: who links here cannot be set.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: LinkingObjects) {
    misuse(
      .argument, "Linking objects properties cannot be set: they follow the links to an object.")
  }
  /// Nothing is stored.
  public func _write(to row: inout _RowWriter, _ column: Int) {}
  /// The objects.
  public var _anyValue: Any? { self }
  /// No value can be set.
  public static func _fromAny(_ value: Any?) -> LinkingObjects? { value as? LinkingObjects }
  /// Not a key.
  public var _primaryKeyValue: _PrimaryKeyValue { .integer(nil) }
  /// The functions that move values of this type.
  public static var _codec: _PropertyCodec { .make(LinkingObjects.self) }
}

extension LinkingObjects: Encodable where Element: Encodable {
  /// Encodes the objects as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for object in self { try container.encode(object) }
  }
}

extension Persisted {
  /// Objects that link here by a property of their class.
  public init<Element>(originProperty: String) where Value == LinkingObjects<Element> {
    self.init(wrappedValue: LinkingObjects(fromType: Element.self, property: originProperty))
  }
}

/// Where the links of linking objects come from.
@usableFromInline
struct LinkOrigin {
  /// The class's position among those of the Realm.
  let index: Int
  let column: Int
  /// The property that links.
  @usableFromInline let property: String
}

/// Where the links come from that a property shows; stops when the other class has no such property.
@usableFromInline
func linkOrigin(_ object: ObjectBase, _ property: Int32) -> LinkOrigin {
  let binding = object._table.unsafelyUnwrapped.pointee.binding
  if let origin = binding.origins[Int(property)] { return origin }
  let declared = binding.schema.properties[Int(property)]
  let other = object._realm.unsafelyUnwrapped.requireTable(of: declared.codec.objectClass!)
  misuse(
    .schema,
    "Property '\(other.pointee.binding.schema.name).\(declared.originProperty!)' declared as origin "
      + "of linking objects property does not exist.")
}

/// The objects of one class that link to an object.
@usableFromInline
final class BacklinkSource<Element: ObjectBase & RealmCollectionValue>: ResultsSource<Element> {
  /// The object that is linked to.
  private let table: TablePointer
  private let key: ObjectKey
  /// Where the links come from.
  private let origin: TablePointer
  private let column: Int

  @usableFromInline
  convenience init(_ object: ObjectBase, _ origin: LinkOrigin) {
    let realm = object._realm.unsafelyUnwrapped
    self.init(
      realm, object._table.unsafelyUnwrapped, object._key, realm.table(atIndex: origin.index),
      origin.column)
  }

  private init(
    _ realm: ConfinedRealm, _ table: TablePointer, _ key: ObjectKey, _ origin: TablePointer,
    _ column: Int
  ) {
    self.table = table
    self.key = key
    self.origin = origin
    self.column = column
    super.init(realm)
  }

  override var typeName: String { Element.className() }

  /// Whether the object that is linked to is gone.
  var isOver: Bool { isInvalidated || realm.reader(of: table)?.locate(key) == nil }

  private func backlinks() -> Backlinks? {
    check()
    guard let target = realm.reader(of: table), target.locate(key) != nil else {
      misuse(.invalidated, "Object has been deleted or invalidated.")
    }
    return realm.reader(of: origin)?
      .backlinks(column, key, in: table.pointee.binding.table!)
  }

  override var count: Int { backlinks()?.count ?? 0 }

  override func element(at position: Int) -> Element {
    let backlinks = backlinks()
    checkBounds(position, backlinks?.count ?? 0)
    guard let object = realm.accessor(origin, backlinks!.key(at: position)) else {
      misuse(.storage, "A link comes from an object that does not exist: the file is damaged.")
    }
    return unsafeDowncast(object, to: Element.self)
  }

  private func keys() -> [Int64] {
    var keys: [Int64] = []
    keys.reserveCapacity(16)
    backlinks()?.forEach {
      keys.append($0.rawValue)
      return true
    }
    return keys
  }

  override func position(of element: Element) -> Int? {
    guard element._realm === realm, element._table == origin else { return nil }
    return keys().firstIndex(of: element._key.rawValue)
  }

  override func makeIterator() -> RLMIterator<Element> {
    RLMIterator(LinkCursor(realm, origin, keys: keys()))
  }

  override func moved(to realm: ConfinedRealm) -> ResultsSource<Element>? {
    let table = realm.table(table.pointee.binding)
    guard realm.reader(of: table)?.locate(key) != nil else { return nil }
    return BacklinkSource(realm, table, key, realm.table(origin.pointee.binding), column)
  }

  override func makeQueryOrigin() -> any QueryOrigin {
    check()
    return KeysOrigin(
      source: self, objects: origin, column: column, linked: (table, key)
    ) { [self] in
      keys().map { ObjectKey(rawValue: $0) }
    }
  }

  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    BacklinkTracker(
      realm, to: key, of: table, from: origin, column,
      keys().map { ObjectKey(rawValue: $0) }, keyPaths)
  }

  override var owner: (table: TablePointer, key: ObjectKey)? { (table, key) }

  override func isEqual(to other: ResultsSource<Element>) -> Bool {
    guard let other = other as? BacklinkSource else { return false }
    return realm === other.realm && table == other.table && key == other.key
      && origin == other.origin && column == other.column
  }
}
