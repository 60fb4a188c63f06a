// A collection of a Realm without its kind.

/// Any collection of a Realm: results, a list, a set, linking objects.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  /// Goes through the elements.
  public typealias Iterator = RLMIterator<Element>

  private let base: AnyCollection<Element>

  /// Hides the kind of a collection.
  public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element {
    self.base = (base as? AnyRealmCollection)?.base ?? ConcreteCollection(base)
  }

  private init(_ base: AnyCollection<Element>) { self.base = base }

  /// The Realm that the collection belongs to.
  public var realm: Realm? { base.realm }
  /// Whether the collection can no longer be used.
  public var isInvalidated: Bool { base.isInvalidated }
  /// Whether the collection never changes and may be used from any thread.
  public var isFrozen: Bool { base.isFrozen }
  /// Position of the first element.
  public var startIndex: Int { 0 }
  /// Position behind the last element.
  public var endIndex: Int { base.count }
  /// The number of elements.
  public var count: Int { base.count }
  /// Whether there is none.
  public var isEmpty: Bool { base.count == 0 }
  /// The first element.
  public var first: Element? { isEmpty ? nil : base.element(at: 0) }
  /// The last element.
  public var last: Element? {
    let count = base.count
    return count == 0 ? nil : base.element(at: count - 1)
  }
  /// The element at a position; stops when it is out of bounds.
  public subscript(position: Int) -> Element { base.element(at: position) }
  /// Goes through the elements.
  public func makeIterator() -> RLMIterator<Element> { base.makeIterator() }
  /// The position of an element; nil when it is not in here.
  public func index(of object: Element) -> Int? { base.position(of: object) }
  /// The collection as it is now, immutable and usable from any thread.
  public func freeze() -> AnyRealmCollection { AnyRealmCollection(base.frozen()) }
  /// The live form of a frozen collection; nil when what it hangs on was deleted.
  public func thaw() -> AnyRealmCollection? { base.thawed().map { AnyRealmCollection($0) } }
  /// Whether both hide the same collection.
  public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool {
    left.base.isEqual(to: right.base)
  }
  /// The hidden collection as a query.
  func makeBaseQuerySource() -> AnyObject { base.makeQuerySource() }
  /// What follows the hidden collection for an observer.
  func makeBaseTracker(_ keyPaths: [String]?) -> CollectionTracker { base.makeTracker(keyPaths) }
  /// The hidden collection's text.
  public var description: String { base.description }
}

@available(*, unavailable)
extension AnyRealmCollection: Sendable {}

extension AnyRealmCollection: _KeyPathReadable {}

extension AnyRealmCollection: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

/// What `AnyRealmCollection` asks of the collection that it hides.
private class AnyCollection<Element: RealmCollectionValue> {
  var realm: Realm? { fatalError("abstract") }
  var isInvalidated: Bool { fatalError("abstract") }
  var isFrozen: Bool { fatalError("abstract") }
  var count: Int { fatalError("abstract") }
  var description: String { fatalError("abstract") }
  func element(at position: Int) -> Element { fatalError("abstract") }
  func makeIterator() -> RLMIterator<Element> { fatalError("abstract") }
  func position(of element: Element) -> Int? { fatalError("abstract") }
  func frozen() -> AnyCollection { fatalError("abstract") }
  func thawed() -> AnyCollection? { fatalError("abstract") }
  func isEqual(to other: AnyCollection) -> Bool { fatalError("abstract") }
  func makeQuerySource() -> AnyObject { fatalError("abstract") }
  func makeTracker(_ keyPaths: [String]?) -> CollectionTracker { fatalError("abstract") }
}

private final class ConcreteCollection<Base: RealmCollection>: AnyCollection<Base.Element> {
  private let base: Base

  init(_ base: Base) { self.base = base }

  override var realm: Realm? { base.realm }
  override var isInvalidated: Bool { base.isInvalidated }
  override var isFrozen: Bool { base.isFrozen }
  override var count: Int { base.count }
  override var description: String { base.description }
  override func element(at position: Int) -> Base.Element { base[position] }
  override func makeIterator() -> RLMIterator<Base.Element> { base.makeIterator() }
  override func position(of element: Base.Element) -> Int? { base.index(of: element) }
  override func frozen() -> AnyCollection<Base.Element> { ConcreteCollection(base.freeze()) }
  override func thawed() -> AnyCollection<Base.Element>? {
    base.thaw().map { ConcreteCollection($0) }
  }
  override func makeQuerySource() -> AnyObject { base.querySource() }
  override func makeTracker(_ keyPaths: [String]?) -> CollectionTracker {
    .make(base, keyPaths: keyPaths)
  }
  override func isEqual(to other: AnyCollection<Base.Element>) -> Bool {
    (other as? ConcreteCollection).map { base == $0.base } ?? false
  }
}
