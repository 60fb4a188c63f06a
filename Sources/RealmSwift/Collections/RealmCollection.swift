// The protocol that all collections of a Realm share.
public import Foundation

/// A collection whose elements are in a Realm.
///
/// It is live: it shows the Realm's current version. Elements are made when they are asked for.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol,
  CustomStringConvertible, ThreadConfined, Equatable
where
  Element: RealmCollectionValue, Index == Int, Indices == Range<Int>,
  Iterator == RLMIterator<Element>
{
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
  /// The elements at positions; stops when one is out of bounds.
  public func objects(at indexes: IndexSet) -> [Element] {
    if let last = indexes.last, last >= count {
      misuse(.bounds, "Indexes for collection are out of bounds.")
    }
    return indexes.map { self[$0] }
  }
}

/// Goes through the elements of a collection.
///
/// It shows the elements that were there when it began; objects that are deleted meanwhile are left out.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  // Of values that are copied ahead: where they are, what is there, and where it ends.
  @usableFromInline var source: _ElementSource?
  @usableFromInline var position = -1
  @usableFromInline var windowEnd = 0
  // One of these is there.
  /// Goes through values of a list or set.
  @usableFromInline var stored: StoredCursor?
  /// Goes through objects that are linked to, or link.
  @usableFromInline var links: LinkCursor?
  /// The same, which `links` keeps: to use it without counting references.
  @usableFromInline var linksInUse: Unmanaged<LinkCursor>?
  /// Goes through a table.
  @usableFromInline var cursor: ObjectCursor?
  /// Goes through all else.
  @usableFromInline var elements: ElementCursor<Element>?

  init(_ cursor: ObjectCursor) { self.cursor = cursor }

  @inlinable
  init(_ links: LinkCursor) {
    self.links = links
    linksInUse = .passUnretained(links)
  }

  @inlinable
  init(_ stored: StoredCursor) { self.stored = stored }

  @usableFromInline
  init(_ elements: ElementCursor<Element>) { self.elements = elements }

  /// The next element.
  @inlinable
  public mutating func next() -> Element? {
    position &+= 1
    if position < windowEnd {
      return Element._readElement(source.unsafelyUnwrapped, position)
    }
    // The cursors were made by a collection of this element class.
    if let linksInUse {
      return linksInUse._withUnsafeGuaranteedRef { $0.next() }
        .map { unsafeBitCast($0, to: Element.self) }
    }
    if let stored {
      guard let filled = stored.fill(from: position) else { return nil }
      source = filled
      windowEnd = filled.windowEnd
      return Element._readElement(filled, position)
    }
    guard let object = cursor?.next() else { return elements?.next() }
    // This cursor was, too.
    return unsafeBitCast(object, to: Element.self)
  }
}

extension RLMIterator where Element: ObjectBase {
  /// Runs `body` on each object that is left.
  ///
  /// Objects of a table are lent to it: counting a reference for each, up and down, takes longer than all else.
  @inlinable
  mutating func forEachLeft(_ body: (Element) throws -> Void) rethrows {
    if cursor == nil {
      while let element = next() { try body(element) }
      return
    }
    while let object = cursor!.nextLent() {
      // The cursor was made by a collection of this class.
      try Unmanaged<Element>.fromOpaque(object.toOpaque())._withUnsafeGuaranteedRef(body)
    }
  }
}

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
