// Sets: each element once, in the file sorted by what is stored. Here is what a set is and how its
// elements are read; changes are in MutableSet+Editing.swift, its place as a property's value in
// MutableSet+Persisted.swift.
public import Foundation
internal import ObjectStore
internal import Platform

/// A set of values or objects.
///
/// As a property's value it belongs to its object: it is managed when the object is. By itself, or
/// in an object that belongs to no Realm, it is a plain set in memory. Elements have positions, but
/// the client has no say in them: those of a managed set are sorted by what is stored for them,
/// which is the order of the values, but for decimal numbers and values of any type.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
  /// Goes through the elements.
  public typealias Iterator = RLMIterator<Element>

  @frozen @usableFromInline
  enum Storage {
    case unmanaged(UniqueElements<Element>)
    case managed(CollectionCell)
  }

  // Unchecked exclusivity: a managed set is touched only where its Realm may be used; an unmanaged
  // one is a plain value that the client guards.
  @exclusivity(unchecked) @usableFromInline var storage: Storage
  /// The place of a managed set, which `storage` owns: to use it without counting references.
  @exclusivity(unchecked) @usableFromInline var place: Unmanaged<CollectionCell>?

  /// An empty set that belongs to no Realm.
  public init() { storage = .unmanaged(UniqueElements()) }

  @inlinable
  init(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  deinit {
    // As of a list.
    guard Element._holdsReferences else { return }
    var elements = takeElements()
    LooseValues.release(&elements)
  }

  @inline(never)
  private func takeElements() -> [Element] {
    guard case .unmanaged(let unique) = storage else { return [] }
    storage = .unmanaged(UniqueElements())
    return unique.all
  }

  /// The set now shows what is at a place in the file.
  func becomeManaged(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  /// The place of a managed set.
  var cell: CollectionCell? {
    if case .managed(let cell) = storage { return cell }
    return nil
  }

  // MARK: - Reading

  /// The Realm that the set belongs to.
  public var realm: Realm? { cell.map { Realm($0.realm) } }
  /// Whether the set's object is gone, or the Realm was invalidated.
  public var isInvalidated: Bool { cell?.isInvalidated ?? false }
  /// Whether the set never changes and may be used from any thread.
  public var isFrozen: Bool { cell?.realm.isFrozen ?? false }
  /// Position of the first element.
  public var startIndex: Int { 0 }
  /// Position behind the last element.
  public var endIndex: Int { count }

  /// The number of elements.
  public var count: Int {
    switch storage {
    case .unmanaged(let elements): return elements.all.count
    case .managed(let cell): return cell.requireElements().count
    }
  }

  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }

  /// The first element.
  public var first: Element? {
    isEmpty ? KeyPathRecording.element(of: Element.self, in: self) : self[0]
  }

  /// The last element.
  public var last: Element? {
    let count = count
    return count == 0 ? nil : self[count - 1]
  }

  /// The element at a position; stops when it is out of bounds.
  ///
  /// - Complexity: O(log n).
  public subscript(position: Int) -> Element {
    switch storage {
    case .unmanaged(let elements):
      if elements.all.isEmpty, let element = KeyPathRecording.element(of: Element.self, in: self) {
        return element
      }
      checkBounds(position, elements.all.count)
      return elements.all[position]
    case .managed(let cell):
      return Element._readElement(cell.requireSource(position), position)
    }
  }

  /// Goes through the elements that are in the set now.
  public func makeIterator() -> RLMIterator<Element> {
    switch storage {
    case .unmanaged(let elements): return RLMIterator(ArrayCursor(elements.all))
    case .managed(let cell): return RLMIterator(cell)
    }
  }

  /// Stops: positions in a set mean nothing.
  public func index(of object: Element) -> Int? {
    misuse(.argument, "index(of:) is not available on MutableSet")
  }

  /// Stops: positions in a set mean nothing.
  public func index(matching predicate: NSPredicate) -> Int? { stopForIndex() }

  /// Stops: positions in a set mean nothing.
  public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
    stopForIndex()
  }

  /// Stops: positions in a set mean nothing.
  public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
    stopForIndex()
  }

  private func stopForIndex() -> Never {
    misuse(.argument, "index(matching:) is not available on MutableSet")
  }

  /// Whether an element is in the set.
  ///
  /// - Complexity: O(log n) in a managed set.
  @inlinable
  public func contains(_ object: Element) -> Bool {
    if let place, let integer = object._packedElement {
      return place._withUnsafeGuaranteedRef { $0.contains(integer) }
    }
    return containsElement(object)
  }

  @usableFromInline
  func containsElement(_ object: Element) -> Bool {
    switch storage {
    case .unmanaged(let elements): return elements.position(of: object) != nil
    case .managed(let cell):
      var isFound = false
      let elements = cell.requireElements()
      cell.withKnownValue(object) { value in
        if case .bytes(let bytes) = value {
          // A mixed value may have two forms.
          isFound = isFound || cell.sortedPosition(of: bytes, in: elements) != nil
        } else {
          isFound = elements.position(of: value, sorted: true) != nil
        }
      }
      return isFound
    }
  }

  // MARK: - Key-value coding

  /// The values of a property of all elements, as a `Set`; see `RealmCollection`.
  public func value(forKey key: String) -> Any? {
    key.hasPrefix("@") ? applyOperator(of: key) : Self.set(values(forKeyPath: key, whole: true))
  }

  /// The values at the end of a path of property names from each element, as a `Set`, or what an
  /// operator makes of them; see `RealmCollection`.
  public func value(forKeyPath keyPath: String) -> Any? { _value(forKeyPath: keyPath) }

  func _value(forKeyPath keyPath: String) -> Any? {
    keyPath.hasPrefix("@")
      ? applyOperator(of: keyPath) : Self.set(values(forKeyPath: keyPath, whole: false))
  }

  private static func set(_ values: [Any?]) -> Set<AnyHashable> {
    Set(values.compactMap { $0 as? AnyHashable })
  }

  /// Whether every element is in another set too.
  public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
    allSatisfy { possibleSuperset.contains($0) }
  }

  /// Whether an element is in another set too.
  public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
    contains { otherSet.contains($0) }
  }

  // MARK: - Forms

  /// The set as it is now, immutable and usable from any thread.
  public func freeze() -> Self {
    guard let cell else { misuse(.ownership, "Unmanaged sets cannot be frozen.") }
    return cell.realm.isFrozen ? self : unsafeDowncast(MutableSet(cell.frozen()), to: Self.self)
  }

  /// The live form of a frozen set; nil when its object was deleted.
  public func thaw() -> Self? {
    guard let cell else { misuse(.ownership, "Unmanaged sets cannot be thawed.") }
    if !cell.realm.isFrozen { return self }
    return cell.thawed().map { unsafeDowncast(MutableSet($0), to: Self.self) }
  }

  /// Whether both are the same set, or belong to no Realm and have equal elements.
  public static func == (left: MutableSet, right: MutableSet) -> Bool {
    if left === right { return true }
    if case (.unmanaged(let first), .unmanaged(let second)) = (left.storage, right.storage) {
      return first.all.count == second.all.count
        && first.all.allSatisfy { second.position(of: $0) != nil }
    }
    guard let first = left.cell, let second = right.cell else { return false }
    return first.isSame(as: second)
  }

  /// The type, and the first hundred elements.
  public var description: String {
    CollectionDescription.text(
      of: self, kind: "MutableSet", CollectionDescription.name(Element.self), self)
  }
}

@available(*, unavailable)
extension MutableSet: Sendable {}
