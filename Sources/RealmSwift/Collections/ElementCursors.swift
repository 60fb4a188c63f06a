// The ways of going through collections that are no tables: arrays, stored elements, known keys.
internal import ObjectStore
internal import Storage

/// Goes through positions that are known to be there when iteration begins.
final class PositionCursor<Element>: ElementCursor<Element> {
  private let count: () -> Int
  private let element: (Int) -> Element
  private var position = 0
  private let end: Int

  /// - Parameters:
  ///   - count: the number of elements, which may shrink on the way.
  ///   - element: the element at a position below it.
  init(count: @escaping () -> Int, element: @escaping (Int) -> Element) {
    self.count = count
    self.element = element
    end = count()
  }

  override func next() -> Element? {
    guard position < min(end, count()) else { return nil }
    defer { position += 1 }
    return element(position)
  }
}

/// Goes through an array.
final class ArrayCursor<Element>: ElementCursor<Element> {
  private let elements: [Element]
  private var position = 0

  init(_ elements: [Element]) { self.elements = elements }

  override func next() -> Element? {
    guard position < elements.count else { return nil }
    defer { position += 1 }
    return elements[position]
  }
}

/// Goes through the elements of a managed list or set as they were when it began.
///
/// Packed values are copied out of their leaves ahead; in a transaction, whose leaves change, all of them.
final class StoredCursor<Element: RealmCollectionValue>: ElementCursor<Element> {
  private let realm: ConfinedRealm
  /// Keeps what the elements are read from; nil when all were copied.
  private let snapshot: Snapshot?
  private let end: Int
  private let isLink: Bool
  // Unchecked exclusivity: an iterator is used where its Realm may be used, by one call at a time.
  @exclusivity(unchecked) private var source: _ElementSource
  @exclusivity(unchecked) private var position = 0
  @exclusivity(unchecked) private var accessor: ReusedAccessor?
  /// Where values are copied to.
  private let window: UnsafeMutableBufferPointer<Int64>

  /// How many values are copied ahead.
  private static var windowLength: Int { 256 }

  /// - Precondition: in a transaction the elements are packed and not optional.
  private init(_ cell: CollectionCell, _ elements: ElementReader, isPacked: Bool) {
    realm = cell.realm
    let isWriting = realm.writing != nil
    snapshot = isWriting ? nil : realm.currentSnapshot()
    end = elements.count
    source = cell.source(elements)
    isLink = Element.self is ObjectBase.Type
    accessor = isLink ? source.target.map { ReusedAccessor($0) } : nil
    window = .allocate(
      capacity: !isPacked ? 0 : isWriting ? end : min(end, Self.windowLength))
    super.init()
    if isWriting { fill() }
  }

  deinit { window.deallocate() }

  /// The cursor that fits the elements.
  static func make(_ cell: CollectionCell, _ elements: ElementReader) -> ElementCursor<Element> {
    let isPacked = Element._rlmType.isPacked
    if cell.realm.writing != nil && (!isPacked || Element._rlmOptional) {
      let source = cell.source(elements)
      return ArrayCursor((0..<elements.count).map { Element._readElement(source, $0) })
    }
    return StoredCursor(cell, elements, isPacked: isPacked)
  }

  override func next() -> Element? {
    realm.check()
    while position < end {
      if position >= source.windowEnd, window.count > 0 { fill() }
      defer { position += 1 }
      if !isLink { return Element._readElement(source, position) }
      if let object = linked(ObjectKey(rawValue: source.integer(position))) {
        // Elements that are links are objects of this class.
        return unsafeBitCast(object, to: Element.self)
      }
    }
    accessor?.forget()
    return nil
  }

  private func fill() {
    let count = source.elements.copyIntegers(from: position, into: window)
    source.ahead = UnsafeBufferPointer(rebasing: window[..<count])
    source.aheadStart = position
  }

  /// The accessor of a link's target; nil when it was deleted since iteration began.
  private func linked(_ key: ObjectKey) -> ObjectBase? {
    let target = source.target.unsafelyUnwrapped
    guard let location = realm.reader(of: target)?.locate(key) else { return nil }
    return accessor?.object(realm, target, key, at: location)
  }
}

/// Goes through objects whose keys are known; those deleted on the way are left out.
final class KeyCursor<Element>: ElementCursor<Element> {
  private let keys: [ObjectKey]
  private let element: (ObjectKey) -> Element?
  private var position = 0

  init(keys: [ObjectKey], element: @escaping (ObjectKey) -> Element?) {
    self.keys = keys
    self.element = element
  }

  override func next() -> Element? {
    while position < keys.count {
      defer { position += 1 }
      if let element = element(keys[position]) { return element }
    }
    return nil
  }
}

extension PropertyType {
  /// Whether values are stored as integers.
  var isPacked: Bool {
    switch self {
    case .int, .bool, .date, .float, .double, .object: return true
    default: return false
    }
  }
}
