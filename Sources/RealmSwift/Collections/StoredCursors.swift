// Going through the elements of managed lists and sets, and through objects that link. The cursors
// are of no generic type: an iterator asks for a position or an object and its element type makes
// of it what it is.
internal import Glibc
internal import ObjectStore
internal import Storage

/// How many integers are copied out of their leaves ahead.
private let windowLength = 256

/// Room for few keys, which takes no memory of its own: getting that takes longer than to look the
/// keys up.
private struct FewKeys {
  static let capacity = 16
  private var keys = InlineArray<16, Int64>(repeating: 0)

  /// - Precondition: the position is below the capacity.
  @inline(__always)
  subscript(position: Int) -> Int64 { keys[unchecked: position] }

  /// Has the keys written by `body`.
  @inline(__always)
  mutating func fill(_ body: (UnsafeMutableBufferPointer<Int64>) -> Int) -> Int {
    var span = keys.mutableSpan
    return span.withUnsafeMutableBufferPointer { body($0) }
  }
}

extension UnsafeMutableBufferPointer<Int64> {
  /// Memory for keys, from `malloc`: to the runtime's own functions they would be more than
  /// aligned.
  fileprivate static func allocate(keys count: Int) -> UnsafeMutableBufferPointer {
    if count == 0 { return UnsafeMutableBufferPointer(start: nil, count: 0) }
    let memory = malloc(count * MemoryLayout<Int64>.stride)!
    return UnsafeMutableBufferPointer(
      start: memory.bindMemory(to: Int64.self, capacity: count), count: count)
  }
}

/// Goes through the values of a managed list or set as they were when it began.
///
/// Packed values are copied out of their leaves ahead; in a transaction, whose leaves change, all
/// of them.
@usableFromInline
final class StoredCursor {
  private let realm: ConfinedRealm
  /// Keeps what the elements are read from; nil when all were copied.
  private let snapshot: Snapshot?
  private let end: Int
  /// Where values are copied to; empty when they are no integers.
  private let window: UnsafeMutableBufferPointer<Int64>
  // Unchecked exclusivity: an iterator is used where its Realm may be used, by one call at a time.
  @exclusivity(unchecked) private var source: _ElementSource

  /// - Precondition: in a transaction the elements are packed.
  init(_ cell: CollectionCell, _ elements: ElementReader, isPacked: Bool) {
    realm = cell.realm
    let isWriting = realm.writing != nil
    snapshot = isWriting ? nil : realm.currentSnapshot()
    end = elements.count
    source = cell.source(elements)
    window = .allocate(capacity: !isPacked ? 0 : isWriting ? end : min(end, windowLength))
    if isWriting { copy(from: 0) }
  }

  deinit { window.deallocate() }

  /// What the element at a position is read from, with those behind it copied ahead; nil behind the
  /// last.
  @usableFromInline
  func fill(from position: Int) -> _ElementSource? {
    realm.check()
    if position >= end { return nil }
    if !window.isEmpty, position >= source.windowEnd { copy(from: position) }
    return source
  }

  private func copy(from position: Int) {
    let count = source.elements.copyIntegers(from: position, into: window)
    source.ahead = UnsafeBufferPointer(rebasing: window[..<count])
    source.aheadStart = position
  }
}

/// Goes through objects whose keys are known or in a list; those deleted on the way are left out.
final class LinkCursor: AccessorCursor {
  private let realm: ConfinedRealm
  private let target: TablePointer
  /// What keys are read from, from `taken` on; nil when all are in the window.
  private let elements: ElementReader?
  /// Keeps it.
  private let snapshot: Snapshot?
  // Unchecked exclusivity: as in StoredCursor.
  @exclusivity(unchecked) private var window: UnsafeMutableBufferPointer<Int64>
  /// Gives the keys behind the window; nil when there are none.
  @exclusivity(unchecked) private var more: (() -> [Int64])?
  /// The window, if it is one of few keys.
  private let few: FewKeys
  private let isFew: Bool
  @exclusivity(unchecked) private var position = 0
  /// Keys in the window.
  @exclusivity(unchecked) private var count: Int
  /// Keys that were taken from `elements`.
  @exclusivity(unchecked) private var taken = 0
  @exclusivity(unchecked) private var accessor: ReusedAccessor

  /// The objects that a list or set links to, as it is now.
  init(_ cell: CollectionCell, _ elements: ElementReader, _ target: TablePointer) {
    realm = cell.realm
    self.target = target
    accessor = ReusedAccessor(target)
    // The leaves of a transaction change: all keys are copied at once.
    let isWhole = elements.count <= windowLength || realm.group != nil
    isFew = elements.count <= FewKeys.capacity
    window = .allocate(keys: isFew ? 0 : isWhole ? elements.count : windowLength)
    self.elements = isWhole ? nil : elements
    snapshot = isWhole ? nil : realm.currentSnapshot()
    var few = FewKeys()
    count =
      isFew
      ? few.fill { elements.copyIntegers(from: 0, into: $0) }
      : elements.copyIntegers(from: 0, into: window)
    self.few = few
    taken = count
  }

  /// The objects that link to one.
  init(_ realm: ConfinedRealm, _ target: TablePointer, _ links: Backlinks?) {
    self.realm = realm
    self.target = target
    accessor = ReusedAccessor(target)
    elements = nil
    snapshot = nil
    var few = FewKeys()
    let found = few.fill { links?.copyKeys(into: $0) ?? 0 }
    self.few = few
    // If they fill it there may be more.
    isFew = found < FewKeys.capacity
    window = .allocate(keys: isFew ? 0 : links!.count)
    count = isFew ? found : links!.copyKeys(into: window)
  }

  /// The objects of some keys.
  ///
  /// - Parameter then: gives the keys behind these, when they are asked for.
  init(
    _ realm: ConfinedRealm, _ target: TablePointer, keys: [Int64], then: (() -> [Int64])? = nil
  ) {
    more = then
    self.realm = realm
    self.target = target
    elements = nil
    snapshot = nil
    few = FewKeys()
    isFew = false
    window = .allocate(keys: keys.count)
    count = window.initialize(fromContentsOf: keys)
    accessor = ReusedAccessor(target)
  }

  deinit { free(window.baseAddress) }

  override func next() -> ObjectBase? { advance()?.takeUnretainedValue() }

  override func nextLent() -> Unmanaged<ObjectBase>? { advance() }

  @inline(__always)
  private func advance() -> Unmanaged<ObjectBase>? {
    if _slowPath(!target.pointee.isOwnerHere) { realm.check() }
    while position < count || fill() {
      let key = key(position)
      position &+= 1
      if let location = accessor.location(of: key, target) ?? locate(key) {
        return accessor.lent(realm, target, key, at: location)
      }
    }
    accessor.forget()
    return nil
  }

  /// A key in the window.
  @inline(__always)
  private func key(_ position: Int) -> ObjectKey {
    // Below `count`, which the window holds.
    ObjectKey(rawValue: isFew ? few[position] : window[position])
  }

  /// Where an object is that does not lie with the one before it.
  @inline(never)
  private func locate(_ key: ObjectKey) -> RowLocation? {
    if _slowPath(target.pointee.isStale) { realm.renewReader(of: target) }
    guard let reader = target.pointee.reader, let location = reader.locate(key) else { return nil }
    reader.prefetch(location)
    // The objects behind it come from memory while this one is used: first their clusters, then
    // what is in them. Most often objects that are linked together were made together: then they
    // share a cluster.
    let far = position &+ 5
    if far < count {
      let next = self.key(far)
      if location.neighbour(next, of: key) == nil { reader.prefetchCluster(next) }
    }
    let near = position &+ 2
    if near < count {
      let next = self.key(near)
      if location.neighbour(next, of: key) == nil, let next = reader.locate(next) {
        reader.prefetch(next)
      }
    }
    return location
  }

  private func fill() -> Bool {
    if let more {
      self.more = nil
      let keys = more()
      free(window.baseAddress)
      window = .allocate(keys: keys.count)
      count = window.initialize(fromContentsOf: keys)
      position = 0
      return count > 0
    }
    guard let elements, taken < elements.count else { return false }
    count = elements.copyIntegers(from: taken, into: window)
    taken += count
    position = 0
    return count > 0
  }
}

extension RLMIterator {
  /// Goes through the elements that are in a list or set now.
  @inlinable
  init(_ cell: CollectionCell) {
    if Element.self is ObjectBase.Type {
      self.init(cell.makeLinkCursor())
    } else if let cursor = cell.makeStoredCursor() {
      self.init(cursor)
    } else {
      self.init(CopyCursor(cell.copyElements()))
    }
  }
}

extension CollectionCell {
  @usableFromInline
  func makeLinkCursor() -> AccessorCursor {
    // What was found for one loop is rarely used again.
    let elements: ElementReader
    if _fastPath(hasContent) {
      elements = requireElements()
    } else {
      let (reader, location) = requireRow()
      elements = reader.elements(location, column)
    }
    let target = table.pointee.withRealm {
      $0.targetTable(of: objectClass.unsafelyUnwrapped, table, column)
    }
    return LinkCursor(self, elements, target)
  }

  /// A cursor of values; nil when they have to be copied: in a transaction, unless they are
  /// integers, and own types that are stored as objects, which may be deleted on the way.
  @usableFromInline
  func makeStoredCursor() -> StoredCursor? {
    let elements = requireElements()
    let isPacked = storedTable.isPacked(column)
    if objectClass != nil { return nil }
    if realm.writing != nil && (!isPacked || storedTable.isOptional(column)) { return nil }
    return StoredCursor(self, elements, isPacked: isPacked)
  }

  /// All elements.
  @usableFromInline
  func copyElements<Element: RealmCollectionValue>() -> [Element] {
    let source = source(requireElements())
    return (0..<source.elements.count).map { Element._readElement(source, $0) }
  }
}
