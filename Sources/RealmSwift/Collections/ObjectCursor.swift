// Goes through the objects of a table by key. The accessor handed out last is aimed at the next
// object when nobody else holds it, which is what a plain `for` loop gives; cursors of links do the
// same.
internal import ObjectStore

/// Goes through objects of one class of a Realm.
@usableFromInline
class AccessorCursor {
  /// The next accessor; the cursor keeps it alive until the next call.
  @usableFromInline
  func nextLent() -> Unmanaged<ObjectBase>? { fatalError("abstract") }

  /// The next object.
  @usableFromInline
  func next() -> ObjectBase? { fatalError("abstract") }
}

/// A position in a table, and the accessor given out for it.
final class ObjectCursor: AccessorCursor {
  private let realm: ConfinedRealm
  private let table: TablePointer
  /// The last key when iteration began: objects added since are not visited.
  private let end: ObjectKey
  // Unchecked exclusivity: an iterator is used where its Realm may be used, by one call at a time.
  @exclusivity(unchecked) private var key: ObjectKey?
  @exclusivity(unchecked) private var accessor: ReusedAccessor

  init(_ realm: ConfinedRealm, _ table: TablePointer, _ reader: TableReader?) {
    self.realm = realm
    self.table = table
    let count = reader?.count ?? 0
    end = count == 0 ? ObjectKey(rawValue: -1) : reader!.key(at: count - 1)
    accessor = ReusedAccessor(table)
  }

  override func next() -> ObjectBase? { advance()?.takeUnretainedValue() }

  override func nextLent() -> Unmanaged<ObjectBase>? { advance() }

  @inline(__always)
  private func advance() -> Unmanaged<ObjectBase>? {
    if _slowPath(!table.pointee.isOwnerHere) { realm.check() }
    if let key {
      let next = ObjectKey(rawValue: key.rawValue &+ 1)
      if next <= end, let location = accessor.location(of: next, table) {
        self.key = next
        return accessor.lent(realm, table, next, at: location)
      }
    }
    guard let reader = realm.reader(of: table), let (next, location) = following(reader) else {
      accessor.forget()
      return nil
    }
    if next.rawValue & 255 == 0 { reader.prefetchCluster(behind: next) }
    key = next
    return accessor.lent(realm, table, next, at: location)
  }
}

extension ObjectCursor {
  /// The next object and its place: most often that of the next key.
  @inline(__always)
  private func following(_ reader: TableReader) -> (ObjectKey, RowLocation)? {
    if let key {
      let next = ObjectKey(rawValue: key.rawValue + 1)
      if next <= end, let location = reader.locate(next) { return (next, location) }
    }
    guard let next = reader.nextKey(after: key), next <= end, let location = reader.locate(next)
    else { return nil }
    return (next, location)
  }
}

/// The accessor that an iteration gave out last, for use again.
struct ReusedAccessor {
  private var current: ObjectBase?
  private let canReuse: Bool

  init(_ table: TablePointer) { canReuse = table.pointee.image != nil }

  /// Where an object is, if it lies with the one that the iteration gave out last.
  ///
  /// Nil says nothing.
  @inline(__always)
  func location(of key: ObjectKey, _ table: TablePointer) -> RowLocation? {
    guard let current else { return nil }
    return Unmanaged.passUnretained(current)._withUnsafeGuaranteedRef { last in
      guard last._generation == table.pointee.generation else { return nil }
      return last._location?.neighbour(key, of: last._key)
    }
  }

  /// The accessor of a row: the last one, if nobody else holds it, or a new one.
  ///
  /// This keeps it alive until the next call.
  @inline(__always)
  mutating func lent(
    _ realm: ConfinedRealm, _ table: TablePointer, _ key: ObjectKey, at location: RowLocation
  ) -> Unmanaged<ObjectBase> {
    if canReuse, let current, isHeldOnce(current) {
      let object = Unmanaged.passUnretained(current)
      object._withUnsafeGuaranteedRef {
        $0.aim(at: key, location, generation: table.pointee.generation, epoch: table.pointee.epoch)
      }
      return object
    }
    let object = realm.accessor(table, key, at: location)
    current = object
    return Unmanaged.passUnretained(object)
  }

  /// Lets the accessor go.
  mutating func forget() { current = nil }
}

/// Whether an object has one strong reference and no other, weak ones included.
///
/// The word behind an object's type holds its counts; so it has a fixed value, and a weak reference
/// replaces it by a pointer to a side table. Any doubt counts as no.
@inline(__always)
private func isHeldOnce(_ object: ObjectBase) -> Bool {
  Unmanaged.passUnretained(object)._withUnsafeGuaranteedRef { object in
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
      .load(fromByteOffset: 8, as: UInt64.self) == 3
  }
}
