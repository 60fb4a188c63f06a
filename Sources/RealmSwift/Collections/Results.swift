// Results: the objects that a Realm was asked for. For now those of one class; queries become further
// sources behind the same struct.
internal import ObjectStore

/// The objects of a class, always as of the Realm's current version.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  /// Goes through the objects.
  public typealias Iterator = RLMIterator<Element>

  let source: TableResults

  init(_ source: TableResults) { self.source = source }

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
  public var isEmpty: Bool { source.count == 0 }

  /// The first object.
  public var first: Element? { source.isEmpty ? nil : element(source.object(at: 0)) }

  /// The last object.
  public var last: Element? {
    let count = source.count
    return count == 0 ? nil : element(source.object(at: count - 1))
  }

  /// The object at a position; stops when it is out of bounds.
  ///
  /// - Complexity: O(log n).
  public subscript(position: Int) -> Element { element(source.object(at: position)) }

  /// Goes through the objects.
  public func makeIterator() -> RLMIterator<Element> { RLMIterator(source.makeCursor()) }

  /// The position of an object; nil when it is not among them.
  ///
  /// - Complexity: O(log n).
  public func index(of object: Element) -> Int? {
    (object as? ObjectBase).flatMap { source.position(of: $0) }
  }

  /// The objects as they are now, immutable and usable from any thread.
  ///
  /// - Complexity: O(1).
  public func freeze() -> Results { Results(source.frozen()) }

  /// The live form of frozen results, for the calling thread.
  public func thaw() -> Results? { Results(source.thawed()) }

  /// Whether both show the same objects of the same Realm.
  public static func == (left: Results, right: Results) -> Bool {
    left.source.realm === right.source.realm && left.source.table == right.source.table
  }

  /// The class, and the first hundred objects.
  public var description: String {
    var text = "Results<\(source.className)> <\(source.address)> ("
    for (index, object) in self.prefix(100).enumerated() {
      guard let object = object as? ObjectBase else { continue }
      text += "\(index == 0 ? "" : ",")\n\t[\(index)] "
      text += ObjectDescription.text(of: object, depth: 1)
    }
    let rest = count - 100
    if rest > 0 { text += "\n\t... \(rest) objects skipped." }
    return text + "\n)"
  }

  private func element(_ object: ObjectBase) -> Element {
    // The source was made for this element class.
    unsafeBitCast(object, to: Element.self)
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

/// All objects of one class in one Realm.
final class TableResults {
  let realm: ConfinedRealm
  let table: TablePointer
  private let epoch: UInt32

  init(_ realm: ConfinedRealm, _ table: TablePointer) {
    self.realm = realm
    self.table = table
    epoch = realm.epoch
  }

  var className: String { table.pointee.binding.schema.name }
  var address: String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(self).hashValue), radix: 16)
  }

  var isInvalidated: Bool {
    if realm.isFrozen { return realm.isInvalidatedFrozen }
    realm.check()
    return epoch != realm.epoch
  }

  /// A reader of the table; stops on a wrong thread and after an invalidation.
  private func reader() -> TableReader? {
    realm.check()
    if epoch != realm.epoch {
      misuse(.invalidated, "Access to invalidated Results objects")
    }
    return realm.reader(of: table)
  }

  var count: Int { reader()?.count ?? 0 }
  var isEmpty: Bool { count == 0 }

  func object(at position: Int) -> ObjectBase {
    let reader = reader()
    let count = reader?.count ?? 0
    if position < 0 { misuse(.bounds, "Cannot pass a negative value for 'index'.") }
    guard position < count, let reader else {
      misuse(.bounds, "Index \(position) is out of bounds (must be less than \(count)).")
    }
    let key = reader.key(at: position)
    return realm.accessor(table, key, at: reader.locate(key)!)
  }

  func position(of object: ObjectBase) -> Int? {
    let reader = reader()
    guard object._realm === realm, object._table == table else { return nil }
    return reader?.position(of: object._key)
  }

  func makeCursor() -> ObjectCursor { ObjectCursor(realm, table, reader()) }

  func frozen() -> TableResults {
    if realm.isFrozen { return self }
    _ = reader()
    let frozen = realm.frozen()
    return TableResults(frozen, frozen.table(table.pointee.binding))
  }

  func thawed() -> TableResults {
    realm.check()
    guard realm.isFrozen else { return self }
    let live = ConfinedRealm.thawOrStop(realm)
    return TableResults(live, live.table(table.pointee.binding))
  }
}
