// Results: what a Realm, or one of its collections, was asked for. Where it comes from is the
// source's matter.

/// Objects or values that a Realm was asked for, always as of the Realm's current version.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  /// Goes through the objects.
  public typealias Iterator = RLMIterator<Element>

  let source: ResultsSource<Element>

  init(_ source: ResultsSource<Element>) { self.source = source }

  /// The Realm that was asked.
  public var realm: Realm? { Realm(source.realm) }

  /// Whether the Realm was invalidated since.
  public var isInvalidated: Bool { source.isInvalidated }

  /// Whether the results never change and may be used from any thread.
  public var isFrozen: Bool { source.realm.isFrozen }

  /// Position of the first object.
  public var startIndex: Int { 0 }

  /// Position behind the last object.
  public var endIndex: Int { source.count }

  /// The number of objects.
  ///
  /// - Complexity: O(1).
  public var count: Int { source.count }

  /// Whether there is none.
  ///
  /// Of a query: a search that ends at the first object.
  public var isEmpty: Bool { source.isEmpty }

  /// The first object.
  ///
  /// Of a query that is not sorted: a search that ends there.
  public var first: Element? { source.first }

  /// The last object.
  public var last: Element? {
    let count = source.count
    return count == 0 ? nil : source.element(at: count - 1)
  }

  /// The object at a position; stops when it is out of bounds.
  ///
  /// - Complexity: O(log n).
  public subscript(position: Int) -> Element { source.element(at: position) }

  /// Goes through the objects.
  public func makeIterator() -> RLMIterator<Element> { source.makeIterator() }

  /// The first objects, no more than so many.
  ///
  /// Of a query that is not sorted: a search that ends at the last one wanted.
  public func prefix(_ maxLength: Int) -> Slice<Results> {
    precondition(maxLength >= 0, "Can't take a prefix of negative length from a collection")
    return Slice(base: self, bounds: 0..<source.count(upTo: maxLength))
  }

  /// Whether an object is among them, for `contains`; nil when only a look at all of them tells.
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    source.contains(element) ?? (Element.hasEqualityOfFile ? nil : index(of: element) != nil)
  }

  /// The position of an object; nil when it is not among them.
  ///
  /// - Complexity: O(log n).
  public func index(of object: Element) -> Int? {
    // Values that are stored as objects are compared as values.
    if Element._rlmType == .object, !Element.isObject, !(Element.self is any _AnyProjection.Type) {
      return firstIndex(of: object)
    }
    return source.position(of: object)
  }

  /// The objects as they are now, immutable and usable from any thread.
  ///
  /// - Complexity: O(1).
  public func freeze() -> Results { Results(source.frozen()) }

  /// The live form of frozen results, for the calling thread.
  public func thaw() -> Results? { source.thawed().map { Results($0) } }

  /// Whether both show the same objects of the same Realm.
  public static func == (left: Results, right: Results) -> Bool {
    left.source.isEqual(to: right.source)
  }

  /// The class, and the first hundred objects.
  public var description: String {
    CollectionDescription.text(of: self, kind: "Results", source.typeName, source)
  }
}

@available(*, unavailable)
extension Results: Sendable {}

extension Results: Encodable where Element: Encodable {
  /// Encodes the objects as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for object in self { try container.encode(object) }
  }
}
