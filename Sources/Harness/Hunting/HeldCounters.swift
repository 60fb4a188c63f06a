// A version of counters that is held, perhaps for longer than the store that it came from.
internal import Platform
internal import RaceHunt
internal import Storage

/// A version that is held, and what it showed at first.
struct HeldCounters {
  let values: [UInt64]
  private let snapshot: Snapshot

  init(_ store: Store) throws {
    snapshot = try store.pinNewest()
    values = CounterTree.values(snapshot.reader, snapshot.root)
    CountingUser.judge(values)
  }

  func judge() {
    let again = CounterTree.values(snapshot.reader, snapshot.root)
    check(values == again, "\(snapshot.version) shows \(again) and has shown \(values)")
  }
}

extension CountingUser {
  /// Opens a file to write it, or only to read it, and closes it.
  ///
  /// - Parameter mayRead: false where others of the process write it: nobody may open it in another
  ///   way beside them.
  /// - Returns: the versions of it that are still held.
  func use(_ options: StoreOptions, mayRead: Bool = true) throws -> [HeldCounters] {
    if mayRead, random(below: 4) == 0 { return try read(options) }
    let store = try Store.open(options)
    for _ in 0..<1 + random(below: 2) { try commit(store) }
    return random(below: 3) == 0 ? [try HeldCounters(store)] : []
  }

  private func read(_ options: StoreOptions) throws -> [HeldCounters] {
    guard options.fileSystem.exists(options.path) else { return [] }
    var options = options
    options.isReadOnly = true
    let before = told.withLock { $0 }
    let held = try HeldCounters(try Store.open(options))
    told.withLock { told in
      told.judge(held.values, "who only reads", since: before)
      told.see(held.values, on: disk)
    }
    return [held]
  }
}
