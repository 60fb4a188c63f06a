// Going through the objects of a query while further ones are still to be found, so that a loop
// that ends early does not wait for the rest.
internal import ObjectStore
internal import Storage

/// Goes through the objects that fulfilled a condition when it began; those deleted on the way are
/// left out.
final class FoundCursor: AccessorCursor {
  private let realm: ConfinedRealm
  private let table: TablePointer
  /// Keeps what the search reads, wherever the Realm goes on to.
  private let snapshot: Snapshot
  /// Is told all that was found.
  private let completion: ([Int64]) -> Void
  // Unchecked exclusivity: an iterator is used where its Realm may be used, by one call at a time.
  @exclusivity(unchecked) private var finder: MatchFinder
  @exclusivity(unchecked) private var keys: [Int64] = []
  @exclusivity(unchecked) private var position = 0
  @exclusivity(unchecked) private var accessor: ReusedAccessor

  init(
    _ realm: ConfinedRealm, _ table: TablePointer, _ finder: MatchFinder, _ snapshot: Snapshot,
    _ completion: @escaping ([Int64]) -> Void
  ) {
    self.realm = realm
    self.table = table
    self.finder = finder
    self.snapshot = snapshot
    self.completion = completion
    accessor = ReusedAccessor(table)
  }

  override func next() -> ObjectBase? { advance()?.takeUnretainedValue() }

  override func nextLent() -> Unmanaged<ObjectBase>? { advance() }

  private func advance() -> Unmanaged<ObjectBase>? {
    if _slowPath(!table.pointee.isOwnerHere) { realm.check() }
    while position < keys.count || find() {
      let key = ObjectKey(rawValue: keys[position])
      position &+= 1
      if let location = accessor.location(of: key, table) ?? locate(key) {
        return accessor.lent(realm, table, key, at: location)
      }
    }
    accessor.forget()
    return nil
  }

  /// Where an object is that does not lie with the one before it.
  @inline(never)
  private func locate(_ key: ObjectKey) -> RowLocation? {
    guard let reader = realm.reader(of: table), let location = reader.locate(key) else {
      return nil
    }
    reader.prefetch(location)
    if position &+ 4 < keys.count {
      let next = ObjectKey(rawValue: keys[position &+ 4])
      if location.neighbour(next, of: key) == nil { reader.prefetchCluster(next) }
    }
    return location
  }

  /// Finds some more; false when there are none.
  @inline(never)
  private func find() -> Bool {
    if finder.isDone { return false }
    // Each time as many again, so that a whole search has few steps.
    withExtendedLifetime(snapshot) { finder.find(max(16, keys.count * 2), into: &keys) }
    if finder.isDone { completion(keys) }
    return position < keys.count
  }
}
