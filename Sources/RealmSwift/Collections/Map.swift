// Maps: values with keys that are texts, in the file sorted by key. Here is what a map is and how
// its entries are read; changes are in Map+Editing.swift, its place as a property's value in
// Map+Persisted.swift.
internal import ObjectStore
internal import Platform
internal import Storage

/// A map from texts to values or objects.
///
/// As a property's value it belongs to its object: it is managed when the object is. By itself, or
/// in an object that belongs to no Realm, it is a plain map in memory. Keys are in the order of
/// their bytes. Objects as values are optional: the value of a deleted one is nil.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection, Equatable {
  /// A key and its value.
  public typealias Element = SingleMapEntry<Key, Value>
  /// Goes through the entries.
  public typealias Iterator = RLMMapIterator<SingleMapEntry<Key, Value>>

  @frozen @usableFromInline
  enum Storage {
    case unmanaged([StoredText: Value])
    case managed(CollectionCell)
    /// Inside of a managed mixed value.
    case nested(MixedPlace)
  }

  // Unchecked exclusivity: a managed map is touched only where its Realm may be used; an unmanaged
  // one is a plain value that the client guards.
  @exclusivity(unchecked) @usableFromInline var storage: Storage
  /// The place of a managed map, which `storage` owns: to use it without counting references.
  @exclusivity(unchecked) @usableFromInline var place: Unmanaged<CollectionCell>?

  /// An empty map that belongs to no Realm.
  public init() { storage = .unmanaged([:]) }

  @inlinable
  init(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  deinit {
    // As of a list.
    guard Value._holdsReferences else { return }
    var values = takeValues()
    LooseValues.release(&values)
  }

  @inline(never)
  private func takeValues() -> [Value] {
    guard case .unmanaged(let entries) = storage else { return [] }
    storage = .unmanaged([:])
    return Array(entries.values)
  }

  /// The map now shows what is at a place in the file.
  func becomeManaged(_ cell: CollectionCell) {
    storage = .managed(cell)
    place = .passUnretained(cell)
  }

  init(_ place: MixedPlace) { storage = .nested(place) }

  /// The place of a managed map that is a property's value.
  var cell: CollectionCell? {
    if case .managed(let cell) = storage { return cell }
    return nil
  }

  /// The place of a managed map that is inside of a mixed value.
  var nestedPlace: MixedPlace? {
    if case .nested(let place) = storage { return place }
    return nil
  }

  /// What a managed map is part of.
  private var owner: CollectionCell? { cell ?? nestedPlace?.cell }

  // MARK: - Reading

  /// The Realm that the map belongs to.
  public var realm: Realm? { owner.map { Realm($0.realm) } }
  /// Whether the map's object is gone, or the Realm was invalidated.
  public var isInvalidated: Bool {
    cell?.isInvalidated ?? nestedPlace?.isInvalidated(.dictionary) ?? false
  }
  /// Whether the map never changes and may be used from any thread.
  public var isFrozen: Bool { owner?.realm.isFrozen ?? false }

  /// The number of entries.
  public var count: Int {
    switch storage {
    case .unmanaged(let entries): return entries.count
    case .managed(let cell): return cell.requireKeys().count
    case .nested(let place): return place.count(.dictionary)
    }
  }

  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }

  /// The keys.
  public var keys: [Key] {
    switch storage {
    case .unmanaged(let entries): return entries.sorted.map { Key(_text: $0.key.text) }
    case .managed(let cell): return cell.requireKeys().texts.map { Key(_text: $0) }
    case .nested(let place): return place.entries().map { Key(_text: $0.key) }
    }
  }

  /// The values, in the order of `keys`.
  public var values: [Value] {
    switch storage {
    case .unmanaged(let entries): return entries.sorted.map(\.value)
    case .managed(let cell):
      let values = cell.requireValues()
      let source = cell.source(values)
      return (0..<values.count).map { Value._readElement(source, $0) }
    case .nested(let place): return place.entries().map { $0.value as! Value }
    }
  }

  /// The value of a key, nil when there is none; setting nil removes the key.
  ///
  /// - Complexity: O(log n) in a managed map.
  public subscript(key: Key) -> Value? {
    @inlinable
    get {
      guard let place else { return unmanagedValue(key) }
      return place._withUnsafeGuaranteedRef { cell in
        let position = cell.position(ofKey: key._text)
        return position < 0 ? nil : Value._readElement(cell.valueSource, position)
      }
    }
    @inlinable
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
    }
  }

  @usableFromInline
  func unmanagedValue(_ key: Key) -> Value? {
    if case .nested(let place) = storage {
      return place.value(ofKey: key._text).map { $0 as! Value }
    }
    guard case .unmanaged(let entries) = storage else { return nil }
    if entries.isEmpty { return KeyPathRecording.element(of: Value.self, in: self) }
    return entries[StoredText(key._text)]
  }

  /// The value of a key; nil when there is none.
  public func object(forKey key: Key) -> Value? { self[key] }

  /// The value of a key without its type; nil when there is none.
  public func object(forKey key: AnyObject) -> AnyObject? {
    (key as? Key).flatMap { self[$0]?._anyElement }.map { $0 as AnyObject }
  }

  /// The value of a key, or a default when there is none.
  public subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
    get { self[key] ?? defaultValue() }
    set { updateValue(newValue, forKey: key) }
  }

  /// Goes through the entries that are in the map now.
  public func makeIterator() -> RLMMapIterator<SingleMapEntry<Key, Value>> {
    RLMMapIterator(makeCursor { SingleMapEntry(key: $0, value: $1) })
  }

  /// The entries as pairs.
  public func asKeyValueSequence() -> MapKeyValueSequence<Key, Value> { MapKeyValueSequence(self) }

  /// Goes through the entries in a form of the caller's.
  func makeCursor<Entry>(_ entry: @escaping (Key, Value) -> Entry) -> ElementCursor<Entry> {
    switch storage {
    case .unmanaged(let entries):
      return ArrayCursor(entries.sorted.map { entry(Key(_text: $0.key.text), $0.value) })
    case .managed(let cell):
      // Own types that are stored as objects are copied: the objects may be deleted on the way.
      if cell.realm.writing != nil || cell.objectClass != nil && !Value.isObject {
        let (keys, values) = (keys, values)
        return PositionCursor(count: { keys.count }) { entry(keys[$0], values[$0].unlessDeleted) }
      }
      let keys = cell.requireKeys()
      let source = cell.source(cell.requireValues())
      return EntryCursor(cell.realm, keys.count) { position, isLeft in
        var source = source
        source.isLeft = isLeft
        return entry(Key(_text: keys.text(at: position)), Value._readElement(source, position))
      }
    case .nested(let place):
      return ArrayCursor(place.entries().map { entry(Key(_text: $0.key), $0.value as! Value) })
    }
  }

  /// Whether an entry fulfils a condition.
  public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows
    -> Bool
  {
    for (key, value) in asKeyValueSequence() where try predicate(key, value) { return true }
    return false
  }

  // MARK: - Forms

  /// The map as it is now, immutable and usable from any thread.
  public func freeze() -> Self {
    if let place = nestedPlace {
      return place.cell.realm.isFrozen ? self : unsafeDowncast(Map(place.frozen()), to: Self.self)
    }
    guard let cell else { misuse(.ownership, "Unmanaged maps cannot be frozen.") }
    return cell.realm.isFrozen ? self : unsafeDowncast(Map(cell.frozen()), to: Self.self)
  }

  /// The live form of a frozen map; nil when its object was deleted.
  public func thaw() -> Self? {
    if let place = nestedPlace {
      if !place.cell.realm.isFrozen { return self }
      return place.thawed(.dictionary).map { unsafeDowncast(Map($0), to: Self.self) }
    }
    guard let cell else { misuse(.ownership, "Unmanaged maps cannot be thawed.") }
    if !cell.realm.isFrozen { return self }
    return cell.thawed().map { unsafeDowncast(Map($0), to: Self.self) }
  }

  /// Whether both are the same map, or belong to no Realm and have equal entries.
  public static func == (left: Map, right: Map) -> Bool {
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

  /// The type, and the first hundred entries.
  public var description: String {
    CollectionDescription.text(
      of: prefix(100), count: count, "Map<string, \(CollectionDescription.name(Value.self))>", self
    ) { "[\($1.key._text)]: " + ObjectDescription.text(of: $1.value._anyElement) }
  }
}

@available(*, unavailable)
extension Map: Sendable {}

extension Dictionary where Key == StoredText {
  /// The entries in the order of a managed map.
  var sorted: [(key: StoredText, value: Value)] { sorted { $0.key.precedes($1.key) } }
}

extension Dictionary where Key == StoredText, Value: RealmCollectionValue {
  /// Whether a file has the same entries for both.
  fileprivate func isIdentical(to other: Self) -> Bool {
    count == other.count && allSatisfy { other[$0.key]?._identity == $0.value._identity }
  }
}

/// Goes through the entries of a managed map as they were when it began.
private final class EntryCursor<Entry>: ElementCursor<Entry> {
  private let realm: ConfinedRealm
  /// Keeps what the entries are read from.
  private let snapshot: Snapshot
  private let end: Int
  private let entry: (_ position: Int, _ isLeft: Bool) -> Entry
  private var position = 0

  /// - Parameter entry: makes an entry; it is told whether the Realm has left the version since.
  init(
    _ realm: ConfinedRealm, _ count: Int,
    _ entry: @escaping (_ position: Int, _ isLeft: Bool) -> Entry
  ) {
    self.realm = realm
    snapshot = realm.currentSnapshot()
    end = count
    self.entry = entry
  }

  override func next() -> Entry? {
    realm.check()
    guard position < end else { return nil }
    defer { position += 1 }
    return entry(position, realm.writing != nil || realm.snapshot !== snapshot)
  }
}

extension CollectionCell {
  /// The position of a key; -1 without such a key.
  @usableFromInline
  func position(ofKey key: String) -> Int {
    let keys = requireKeys()
    return key._withBytes { sortedPosition(of: $0, in: keys) } ?? -1
  }

  /// What values are read from.
  @usableFromInline
  var valueSource: _ElementSource { source(requireValues()) }

  /// Sets the value of a key to an integer.
  @usableFromInline
  func set(_ integer: Int64, forKey key: String) {
    key._withBytes { key in
      changeInPlace { _ = $0.mapSet($1, self.key, column, key, .integer(integer)) }
    }
  }
}

extension ElementReader {
  /// A key of a map.
  func text(at position: Int) -> String {
    withBytes(at: position) { $0.map { String(_bytes: $0) } ?? "" }
  }

  /// The keys of a map.
  var texts: [String] { (0..<count).map { text(at: $0) } }
}
