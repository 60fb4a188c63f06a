// The protocol that all collections of a Realm share.
public import Foundation

/// A collection whose elements are in a Realm.
///
/// It is live: it shows the Realm's current version. Elements are made when they are asked for.
public protocol RealmCollection<Element>: RandomAccessCollection, LazyCollectionProtocol,
  CustomStringConvertible, _ObservedCollection, Equatable
where
  Element: RealmCollectionValue, Index == Int, Indices == Range<Int>,
  Iterator == RLMIterator<Element>, _Change == RealmCollectionChange<Self>, _Observed == Element
{
  /// The type of the elements, by its name of old.
  typealias ElementType = Element
  /// The number of elements.
  var count: Int { get }
  /// The first element.
  var first: Element? { get }
  /// The last element.
  var last: Element? { get }
  /// The position of an element; nil when it is not in here.
  func index(of object: Element) -> Int?
}

extension RealmCollection {
  /// The next position; whether there is an element is not looked at.
  @inlinable
  public func index(after position: Int) -> Int { position + 1 }

  /// The position before; whether there is an element is not looked at.
  @inlinable
  public func index(before position: Int) -> Int { position - 1 }

  /// The elements at positions; stops when one is out of bounds.
  public func objects(at indexes: IndexSet) -> [Element] {
    if let last = indexes.last, last >= count {
      misuse(.bounds, "Indexes for collection are out of bounds.")
    }
    return indexes.map { self[$0] }
  }
}

extension List {
  /// Whether the other is a list that is equal by `==`.
  public func isEqual(_ object: Any?) -> Bool { (object as? List).map { self == $0 } ?? false }
}

extension MutableSet {
  /// Whether the other is a set that is equal by `==`.
  public func isEqual(_ object: Any?) -> Bool {
    (object as? MutableSet).map { self == $0 } ?? false
  }
}

extension Map {
  /// Whether the other is a map that is equal by `==`.
  public func isEqual(_ object: Any?) -> Bool { (object as? Map).map { self == $0 } ?? false }
}

/// Goes through the elements of a collection.
///
/// It shows the elements that were there when it began; objects that are deleted meanwhile are left
/// out.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  @frozen @usableFromInline
  enum Cursor {
    /// Goes through values of a list or set.
    case stored(StoredCursor)
    /// Goes through objects of the Realm.
    case objects(AccessorCursor)
    /// Goes through all else.
    case elements(ElementCursor<Element>)
  }

  // Of values that are copied ahead: where they are, what is there, and where it ends.
  @usableFromInline var source: _ElementSource?
  @usableFromInline var position: Int
  @usableFromInline var windowEnd: Int
  @usableFromInline let cursor: Cursor
  /// The cursor of objects, which `cursor` keeps: to use it without counting references.
  @usableFromInline let objects: Unmanaged<AccessorCursor>?

  // Everything is set once: fields with values of their own were copied and released again at each
  // loop.
  @inlinable
  init(_ cursor: Cursor, objects: Unmanaged<AccessorCursor>?) {
    source = nil
    position = -1
    windowEnd = 0
    self.cursor = cursor
    self.objects = objects
  }

  @inlinable
  init(_ objects: AccessorCursor) {
    self.init(.objects(objects), objects: .passUnretained(objects))
  }

  @inlinable
  init(_ stored: StoredCursor) { self.init(.stored(stored), objects: nil) }

  @usableFromInline
  init(_ elements: ElementCursor<Element>) { self.init(.elements(elements), objects: nil) }

  /// The next element.
  @inlinable
  public mutating func next() -> Element? {
    position &+= 1
    if position < windowEnd {
      return Element._readElement(source.unsafelyUnwrapped, position)
    }
    if let objects {
      let object = objects._withUnsafeGuaranteedRef { $0.next() }
      // The cursor was made by a collection of this element class.
      return object.map { unsafeBitCast($0, to: Element.self) }
    }
    switch cursor {
    case .stored(let stored):
      guard let filled = stored.fill(from: position) else { return nil }
      source = filled
      windowEnd = filled.windowEnd
      return Element._readElement(filled, position)
    case .elements(let elements): return elements.next()
    case .objects: return nil
    }
  }
}

extension RLMIterator where Element: ObjectBase {
  /// Runs `body` on each object that is left.
  ///
  /// They are lent to it: counting a reference for each, up and down, takes longer than all else.
  @inlinable
  mutating func forEachLeft(_ body: (Element) throws -> Void) rethrows {
    guard let objects else {
      while let element = next() { try body(element) }
      return
    }
    while let object = objects._withUnsafeGuaranteedRef({ $0.nextLent() }) {
      // The cursor was made by a collection of this class.
      try Unmanaged<Element>.fromOpaque(object.toOpaque())._withUnsafeGuaranteedRef(body)
    }
  }
}

// MARK: - Objects, one after the other

extension RealmCollection where Element: ObjectBase {
  /// Runs a closure on each object, in order.
  @inlinable
  public func forEach(_ body: (Element) throws -> Void) rethrows {
    var iterator = makeIterator()
    try iterator.forEachLeft(body)
  }

  /// Combines the objects, in order, into one value.
  @inlinable
  public func reduce<Combined>(
    _ initialResult: Combined, _ nextPartialResult: (Combined, Element) throws -> Combined
  ) rethrows -> Combined {
    var combined = initialResult
    try forEach { combined = try nextPartialResult(combined, $0) }
    return combined
  }

  /// The same, by changing the value.
  @inlinable
  public func reduce<Combined>(
    into initialResult: Combined, _ update: (inout Combined, Element) throws -> Void
  ) rethrows -> Combined {
    var combined = initialResult
    try forEach { try update(&combined, $0) }
    return combined
  }
}

// MARK: - Other cursors

/// A position in a collection that is no table.
@usableFromInline
class ElementCursor<Element> {
  /// The next element.
  @usableFromInline
  func next() -> Element? { nil }
}

/// Stops when a position is not below the count.
@usableFromInline
func checkBounds(_ position: Int, _ count: Int) {
  if position < 0 { misuse(.bounds, "Cannot pass a negative value for 'index'.") }
  if position >= count {
    misuse(.bounds, "Index \(position) is out of bounds (must be less than \(count)).")
  }
}
