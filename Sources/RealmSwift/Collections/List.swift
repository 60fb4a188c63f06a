// Lists: elements in the order that the client gives them. Here is what a list is and how its
// elements are read and changed one by one; the wider operations are in List+Editing.swift, its
// place as a property's value in List+Persisted.swift.
internal import ObjectStore
internal import Platform

/// A list of values or objects.
///
/// As a property's value it belongs to its object: it is managed when the object is. By itself, or
/// in an object that belongs to no Realm, it is a plain list in memory.
public final class List<Element: RealmCollectionValue>: RealmCollection {
  /// Goes through the elements.
  public typealias Iterator = RLMIterator<Element>

  @frozen @usableFromInline
  enum Storage {
    case unmanaged([Element])
    case managed(CollectionCell)
    /// Inside of a managed mixed value.
    case nested(MixedPlace)
  }

  // Unchecked exclusivity: a managed list is touched only where its Realm may be used; an unmanaged
  // one is a plain value that the client guards.
  @exclusivity(unchecked) @usableFromInline var storage: Storage
  /// The place of a managed list, which `storage` owns: to use it without counting references.
  @exclusivity(unchecked) @usableFromInline var place: Unmanaged<CollectionCell>?

  /// An empty list that belongs to no Realm.
  @inlinable
  public init() { storage = .unmanaged([]) }

  @inlinable
  init(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  deinit {
    // Objects and mixed values may be links of long chains, of which only one list knows each.
    guard Element._holdsReferences else { return }
    var elements = takeElements()
    LooseValues.release(&elements)
  }

  // Apart from `deinit`: the frame of that one would hold them a second time.
  @inline(never)
  private func takeElements() -> [Element] {
    guard case .unmanaged(let elements) = storage else { return [] }
    storage = .unmanaged([])
    return elements
  }

  /// The list now shows what is at a place in the file.
  func becomeManaged(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  init(_ place: MixedPlace) { storage = .nested(place) }

  /// The place of a managed list that is a property's value.
  var cell: CollectionCell? {
    if case .managed(let cell) = storage { return cell }
    return nil
  }

  /// The place of a managed list that is inside of a mixed value.
  var nestedPlace: MixedPlace? {
    if case .nested(let place) = storage { return place }
    return nil
  }

  /// What a managed list is part of.
  private var owner: CollectionCell? { cell ?? nestedPlace?.cell }

  // MARK: - Reading

  /// The Realm that the list belongs to.
  public var realm: Realm? { owner.map { Realm($0.realm) } }
  /// Whether the list's object is gone, or the Realm was invalidated.
  public var isInvalidated: Bool {
    cell?.isInvalidated ?? nestedPlace?.isInvalidated(.list) ?? false
  }
  /// Whether the list never changes and may be used from any thread.
  public var isFrozen: Bool { owner?.realm.isFrozen ?? false }
  /// Position of the first element.
  public var startIndex: Int { 0 }
  /// Position behind the last element.
  public var endIndex: Int { count }

  /// The number of elements.
  public var count: Int {
    switch storage {
    case .unmanaged(let elements): return elements.count
    case .managed(let cell): return cell.requireElements().count
    case .nested(let place): return place.count(.list)
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
    return count == 0 ? KeyPathRecording.element(of: Element.self, in: self) : self[count - 1]
  }

  /// The element at a position; stops when it is out of bounds.
  ///
  /// - Complexity: O(log n).
  public subscript(position: Int) -> Element {
    @inlinable
    get {
      guard let place else { return unmanagedElement(position) }
      return place._withUnsafeGuaranteedRef {
        Element._readElement($0.requireSource(position), position)
      }
    }
    set { replace(index: position, object: newValue) }
  }

  @usableFromInline
  func unmanagedElement(_ position: Int) -> Element {
    if case .nested(let place) = storage { return place.value(at: position) as! Element }
    guard case .unmanaged(let elements) = storage else { fatalError("a managed list") }
    if elements.isEmpty, let element = KeyPathRecording.element(of: Element.self, in: self) {
      return element
    }
    checkBounds(position, elements.count)
    return elements[position]
  }

  @usableFromInline
  func nestedElements(_ place: MixedPlace) -> [Element] { place.values() as! [Element] }

  /// Goes through the elements that are in the list now.
  @inlinable
  public func makeIterator() -> RLMIterator<Element> {
    if let place { return place._withUnsafeGuaranteedRef { RLMIterator($0) } }
    switch storage {
    case .unmanaged(let elements): return RLMIterator(ArrayCursor(elements))
    case .managed(let cell): return RLMIterator(cell)
    case .nested(let place): return RLMIterator(ArrayCursor(nestedElements(place)))
    }
  }

  /// The first position of an element; nil when it is not in here.
  ///
  /// - Complexity: O(n).
  public func index(of object: Element) -> Int? {
    switch storage {
    case .unmanaged(let elements): return elements.firstIndex(identicalTo: object)
    case .managed(let cell):
      // What is equal in several stored forms is compared as values.
      if Element._rlmType == .decimal128 || Element.self is any _CustomPersistable.Type
        || Element._rlmType == .any && (object as? AnyRealmValue)?.hasSeveralForms == true
      {
        return firstIndex(identicalTo: object)
      }
      var found: Int?
      let elements = cell.requireElements()
      cell.withKnownValue(object) { found = elements.position(of: $0, sorted: false) }
      return found
    case .nested(let place):
      return (place.values() as! [Element]).firstIndex(identicalTo: object)
    }
  }

  // MARK: - Changing

  /// Runs `body` on the elements of an unmanaged list; nobody else holds them meanwhile, who would
  /// be a reason to copy them.
  func edit(_ body: (inout [Element]) -> Void) {
    guard case .unmanaged(var elements) = storage else { return }
    storage = .unmanaged([])
    body(&elements)
    storage = .unmanaged(elements)
  }

  /// Replaces elements of a list inside of a mixed value; `range` says which ones of how many.
  func replace(
    in place: MixedPlace, with elements: [Element], _ range: (_ count: Int) -> Range<Int>
  ) {
    // Only lists of mixed values are inside of one.
    place.replaceElements(with: elements as! [AnyRealmValue], range)
  }

  /// Adds an element at the end.
  ///
  /// Of a managed list only inside a transaction; here and below. An object that belongs to no
  /// Realm is added to the list's.
  @inlinable
  public func append(_ object: Element) {
    if let place {
      place._withUnsafeGuaranteedRef { cell in
        if let integer = object._packedElement {
          cell.append(integer)
        } else {
          append(object, to: cell)
        }
      }
    } else if case .unmanaged(var elements) = storage {
      storage = .unmanaged([])
      elements.append(object)
      storage = .unmanaged(elements)
    } else {
      appendNested(object)
    }
  }

  @usableFromInline
  func appendNested(_ object: Element) {
    if case .nested(let place) = storage { replace(in: place, with: [object]) { $0..<$0 } }
  }

  @usableFromInline
  func append(_ object: Element, to cell: CollectionCell) {
    let group = cell.requireWriting()
    cell.withValue(object) { group.listAppend(cell.storedTable, cell.key, cell.column, $0) }
    cell.changed()
  }

  /// Puts an element at a position; stops when it is behind the end.
  @inlinable
  public func insert(_ object: Element, at index: Int) {
    if let place, let integer = object._packedElement {
      place._withUnsafeGuaranteedRef { $0.insert(integer, at: index) }
    } else {
      insert(contentsOf: CollectionOfOne(object), at: index)
    }
  }

  /// Replaces the element at a position; stops when it is out of bounds.
  @inlinable
  public func replace(index: Int, object: Element) {
    if let place, let integer = object._packedElement {
      place._withUnsafeGuaranteedRef { $0.replace(index, integer) }
    } else {
      replace(index, with: object)
    }
  }

  @usableFromInline
  func replace(_ index: Int, with object: Element) {
    switch storage {
    case .unmanaged(var elements):
      checkBounds(index, elements.count)
      storage = .unmanaged([])
      elements[index] = object
      storage = .unmanaged(elements)
    case .managed(let cell):
      let group = cell.requireWriting()
      checkBounds(index, cell.requireElements().count)
      cell.withValue(object) {
        group.listSet(cell.storedTable, cell.key, cell.column, at: index, $0)
      }
      cell.changed()
    case .nested(let place):
      replace(in: place, with: [object]) { count in
        checkBounds(index, count)
        return index..<index + 1
      }
    }
  }

  /// Removes the element at a position; stops when it is out of bounds.
  ///
  /// An object stays in the Realm, an embedded one is deleted; here and below.
  public func remove(at index: Int) {
    checkBounds(index, count)
    removeSubrange(index..<index + 1)
  }

  /// Removes all elements.
  public func removeAll() {
    switch storage {
    case .unmanaged: storage = .unmanaged([])
    case .managed(let cell):
      let group = cell.requireWriting()
      group.removeAllElements(cell.storedTable, cell.key, cell.column)
      cell.changed()
    case .nested(let place): replace(in: place, with: []) { 0..<$0 }
    }
  }

  // MARK: - Forms

  /// The list as it is now, immutable and usable from any thread.
  public func freeze() -> Self {
    if let place = nestedPlace {
      return place.cell.realm.isFrozen ? self : unsafeDowncast(List(place.frozen()), to: Self.self)
    }
    guard let cell else { misuse(.ownership, "Unmanaged lists cannot be frozen.") }
    return cell.realm.isFrozen ? self : unsafeDowncast(List(cell.frozen()), to: Self.self)
  }

  /// The live form of a frozen list; nil when its object was deleted.
  public func thaw() -> Self? {
    if let place = nestedPlace {
      if !place.cell.realm.isFrozen { return self }
      return place.thawed(.list).map { unsafeDowncast(List($0), to: Self.self) }
    }
    guard let cell else { misuse(.ownership, "Unmanaged lists cannot be thawed.") }
    if !cell.realm.isFrozen { return self }
    return cell.thawed().map { unsafeDowncast(List($0), to: Self.self) }
  }

  /// Whether both are the same list, or belong to no Realm and have equal elements.
  public static func == (left: List, right: List) -> Bool {
    if left === right { return true }
    if case (.unmanaged(let first), .unmanaged(let second)) = (left.storage, right.storage) {
      return first.isIdentical(to: second)
    }
    if let first = left.nestedPlace, let second = right.nestedPlace {
      return first.isSame(as: second)
    }
    guard let first = left.cell, let second = right.cell else { return false }
    return first.isSame(as: second)
  }

  /// The type, and the first hundred elements.
  public var description: String {
    CollectionDescription.text(
      of: self, kind: "List", CollectionDescription.name(Element.self), self)
  }
}

@available(*, unavailable)
extension List: Sendable {}

// The standard library asks these before it looks at one element after the other.
extension List {
  /// Whether an element is in here, by what a file tells values apart by.
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    Element.hasEqualityOfFile ? nil : index(of: element) != nil
  }

  /// The first position of an element, in the same way.
  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    Element.hasEqualityOfFile ? nil : .some(index(of: element))
  }
}
