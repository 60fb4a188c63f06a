// The objects that link to an object: read from what the file keeps for each link, never stored.
internal import ObjectStore

/// The objects of a class that link to an object by one of their properties.
///
/// Of an object that belongs to no Realm there are none.
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection {
  /// Goes through the objects.
  public typealias Iterator = RLMIterator<Element>

  @frozen @usableFromInline
  enum Storage {
    /// As a class declares them.
    case declared(LinkingObjectsDeclaration)
    case managed(BacklinkCell)
  }

  @usableFromInline let storage: Storage

  /// Declares the objects of a class that link here by a property.
  public init(fromType: Element.Type, property: String) {
    storage = .declared(LinkingObjectsDeclaration(property))
  }

  @usableFromInline
  init(_ cell: BacklinkCell) { storage = .managed(cell) }

  /// Where the objects come from; nil of an object that belongs to no Realm.
  @usableFromInline var cell: BacklinkCell? {
    switch storage {
    case .declared(let declaration): return declaration.cell
    case .managed(let cell): return cell
    }
  }

  /// The objects as results.
  var source: BacklinkSource<Element>? { cell.map { BacklinkSource($0) } }

  /// The property of the other class that links here.
  public var _originProperty: String {
    switch storage {
    case .declared(let declaration): return declaration.property
    case .managed(let cell): return cell.property
    }
  }

  /// The Realm that the objects belong to.
  public var realm: Realm? { cell.map { Realm($0.realm) } }
  /// Whether the object that is linked to is gone, or the Realm was invalidated.
  public var isInvalidated: Bool { cell?.isOver ?? false }
  /// Whether the objects never change and may be used from any thread.
  public var isFrozen: Bool { cell?.realm.isFrozen ?? false }
  /// Position of the first object.
  public var startIndex: Int { 0 }
  /// Position behind the last object.
  public var endIndex: Int { count }
  /// The number of links; an object that links twice counts twice.
  public var count: Int { cell?.backlinks()?.count ?? 0 }
  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }
  /// The first object.
  public var first: Element? {
    isEmpty ? KeyPathRecording.element(of: Element.self, in: self) : self[0]
  }
  /// The last object.
  public var last: Element? {
    let count = count
    return count == 0 ? nil : self[count - 1]
  }
  /// The object at a position; stops when it is out of bounds.
  public subscript(position: Int) -> Element {
    guard let cell else {
      if let element = KeyPathRecording.element(of: Element.self, in: self) { return element }
      checkBounds(position, 0)
      fatalError("unreachable: nothing is below 0")
    }
    return unsafeDowncast(cell.object(at: position), to: Element.self)
  }
  /// Goes through the objects.
  @inlinable
  public func makeIterator() -> RLMIterator<Element> {
    guard let cell else { return RLMIterator(ArrayCursor([])) }
    return RLMIterator(cell.makeCursor())
  }
  /// The position of an object; nil when it is not among them.
  public func index(of object: Element) -> Int? { cell?.position(of: object) }

  /// The objects as they are now, immutable and usable from any thread.
  public func freeze() -> LinkingObjects {
    guard let source else { misuse(.ownership, "Unmanaged linking objects cannot be frozen.") }
    return LinkingObjects((source.frozen() as! BacklinkSource<Element>).cell)
  }
  /// The live form of frozen ones; nil when the object that is linked to was deleted.
  public func thaw() -> LinkingObjects? {
    guard let source else { misuse(.ownership, "Unmanaged linking objects cannot be thawed.") }
    return source.thawed().map { LinkingObjects(($0 as! BacklinkSource<Element>).cell) }
  }
  /// Whether both show the same objects.
  public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
    guard let first = left.cell, let second = right.cell else { return false }
    return first.isSame(as: second)
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

/// Linking objects as a class declares them.
///
/// A class of its own: older classes declare them as a constant, which becomes managed with its
/// object, and the memory of a constant must not be written.
@usableFromInline
final class LinkingObjectsDeclaration {
  /// The property of the other class that links here.
  let property: String
  // Unchecked exclusivity: set once, when the object becomes managed.
  /// Where the objects come from; nil while the object belongs to no Realm.
  @exclusivity(unchecked) @usableFromInline var cell: BacklinkCell?

  init(_ property: String) { self.property = property }
}

/// Lets untyped code see which property links here.
protocol _LinkingObjects {
  var _originProperty: String { get }
}

extension LinkingObjects: _LinkingObjects {}

/// Stops: who links to an object cannot be set.
func stopForLinkingObjects() -> Never {
  misuse(
    .argument, "Linking objects properties cannot be set: they follow the links to an object.")
}

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
    LinkingObjects(BacklinkCell.make(object, column))
  }
  /// Stops: who links here cannot be set.
  public static func _set(_ object: ObjectBase, _ column: Int32, _ value: LinkingObjects) {
    stopForLinkingObjects()
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
