// The driver of realm-bench: RealmSwift through its public API, as a user would. The package hook for
// the version's number and the store's counters are the only things taken from below.
internal import Foundation
internal import Platform
internal import RealmSwift
internal import Storage

/// The object of the workloads: what an application might store, and what the checks need.
final class BenchmarkObject: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var payload: Data
  /// Moved between objects; the table's total never changes.
  @Persisted var balance: Int
  /// How often a transfer, or another read-modify-write, has changed the object.
  @Persisted var changes: Int
  /// Number of the transaction that wrote the object last.
  @Persisted var stamp: Int

  @inline(__always)
  func copy(_ parts: RowParts, into row: inout Row) {
    row.id = id
    if parts == .all {
      row.name = name
      row.age = age
      row.score = score
      row.payload = payload
    }
    row.balance = balance
    row.changes = changes
    row.stamp = stamp
  }
}

extension Realm {
  /// Adds up all objects, one after the other.
  fileprivate func benchmarkTotal() -> TableTotal {
    var total = TableTotal()
    for object in objects(BenchmarkObject.self) {
      total.add(balance: object.balance, changes: object.changes, stamp: object.stamp)
    }
    return total
  }
}

/// RealmSwift on one file.
package final class RealmDriver: EngineDriver {
  package static var name: String { "realm" }

  private let configuration: Realm.Configuration
  /// Kept for its counters: a store pins no version.
  ///
  /// Nil once it is closed.
  private let store: Monitor<Store?>

  /// Makes the file, or opens it.
  package init(path: String, durability: DurabilityClass) throws {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [BenchmarkObject.self])
    configuration.durability = durability == .full ? .full : .memory
    self.configuration = configuration
    // The Realm comes first: it says what is wrong with a file in the words of Realm.Error.
    let realm = try Realm(configuration: configuration)
    store = Monitor(
      try Store.open(
        StoreOptions(
          path: URL(fileURLWithPath: path).path,
          durability: durability == .full ? .full : .memory)))
    _ = realm
  }

  package func openSession() throws -> RealmSession {
    RealmSession(try Realm(configuration: configuration))
  }

  package func openSession(for actor: isolated any Actor) async throws -> RealmSession {
    let realm = try await Realm.open(configuration: configuration, _isolation: actor)
    realm.autorefresh = false
    return RealmSession(realm)
  }

  package func migrate() throws { _ = try Realm(configuration: migratedConfiguration) }

  package func readMigrated(_ body: (MigratedRow) throws -> Void) throws {
    let realm = try Realm(configuration: migratedConfiguration)
    var migrated = MigratedRow()
    for object in realm.objects(MigratedObject.self) {
      object.copy(into: &migrated)
      try body(migrated)
    }
  }

  private var migratedConfiguration: Realm.Configuration {
    var migrated = configuration
    migrated.objectTypes = [MigratedObject.self]
    migrated.schemaVersion = 1
    migrated.migrationBlock = { migration, _ in MigratedObject.migrate(migration) }
    return migrated
  }

  package func statistics() throws -> EngineStatistics {
    guard let figures = try store.withLock({ $0 })?.statistics() else { return EngineStatistics() }
    var statistics = EngineStatistics()
    statistics.newestVersion = figures.newestVersion.rawValue
    statistics.oldestPinnedVersion = figures.oldestPinnedVersion.rawValue
    statistics.liveVersions = figures.liveVersions
    statistics.pins = figures.pins
    statistics.oldestPinAgeNanoseconds = figures.oldestPinAgeNanoseconds
    statistics.fileBytes = figures.fileBytes
    statistics.liveBytes = figures.liveBytes
    statistics.heldBytes = figures.heldBytes
    statistics.freeBytes = figures.freeBytes
    statistics.writtenBytes = figures.writtenBytes
    statistics.commits = figures.commits
    statistics.syncs = figures.syncs
    return statistics
  }

  package func checkInvariants() throws -> [String] {
    try store.withLock({ $0 })?.checkInvariants().findings ?? []
  }

  package func close() {
    // Dropped outside of the lock: the last user of a store closes its file.
    _ = store.withLock { store in
      defer { store = nil }
      return store
    }
    // The store's own thread may be at work for a moment longer, and be the one that closes.
    guard let path = configuration.fileURL?.path else { return }
    let clock = MonotonicClock()
    let deadline = clock.nanoseconds() + 5_000_000_000
    while Store.isOpen(path: path, fileSystem: LinuxFileSystem()), clock.nanoseconds() < deadline {
      sleep(nanoseconds: 1_000_000)
    }
  }

  package func deleteFiles() throws { _ = try Realm.deleteFiles(for: configuration) }
}

/// A Realm of one thread.
package final class RealmSession: EngineSession {
  private let realm: Realm
  /// Reused from write to write, so that its payload keeps its memory.
  private var scratch = Row()

  init(_ realm: Realm) { self.realm = realm }

  package var version: UInt64 { realm.currentVersion }

  package func refresh() -> Bool { realm.refresh() }

  package func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool {
    guard let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
      return false
    }
    object.copy(parts, into: &row)
    return true
  }

  package func hold(_ key: Int) -> HeldObject? {
    realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key).map(HeldObject.init)
  }

  package func read(_ held: HeldObject, into row: inout Row) { held.object.copy(.all, into: &row) }

  package func scan(from position: Int, into rows: inout [Row]) -> Int {
    let objects = realm.objects(BenchmarkObject.self)
    let count = max(0, min(rows.count, objects.count - position))
    for offset in 0..<count { objects[position + offset].copy(.all, into: &rows[offset]) }
    return count
  }

  package func total() -> TableTotal { realm.benchmarkTotal() }

  package func pin() -> RealmPin { RealmPin(realm.freeze()) }

  package func write(_ body: () throws -> Void) throws { try realm.write(body) }

  package func writeAsynchronously(
    _ actor: isolated any Actor, _ body: () throws -> Void
  ) async throws {
    try await realm.asyncWrite(_isolation: actor, body)
  }

  package func parcel(_ key: Int, isFrozen: Bool) -> RealmParcel? {
    realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key).map { object in
      isFrozen ? .frozen(object.freeze()) : .reference(ThreadSafeReference(to: object))
    }
  }

  package func open(_ parcel: RealmParcel, into row: inout Row) -> Bool {
    switch parcel.content {
    case .frozen(let object): object.copy(.all, into: &row)
    case .reference(let reference):
      guard let object = realm.resolve(reference) else { return false }
      object.copy(.all, into: &row)
    }
    return true
  }

  package func insert(_ row: Row) {
    let object = BenchmarkObject()
    object.id = row.id
    object.name = row.name
    object.age = row.age
    object.score = row.score
    object.payload = row.payload
    object.balance = row.balance
    object.changes = row.changes
    object.stamp = row.stamp
    realm.add(object)
  }

  package func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    guard let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
      return false
    }
    object.copy(parts == .record ? .all : .account, into: &scratch)
    change(&scratch)
    switch parts {
    case .all:
      object.age = scratch.age
      object.score = scratch.score
      object.payload = scratch.payload
      object.balance = scratch.balance
    case .account:
      object.balance = scratch.balance
      object.changes = scratch.changes
    case .payload:
      object.payload = scratch.payload
    case .record:
      object.payload = scratch.payload
      object.changes = scratch.changes
    }
    object.stamp = scratch.stamp
    return true
  }
}

/// An object that is kept over refreshes; of the session's thread.
package struct HeldObject {
  let object: BenchmarkObject
}

/// An object on its way to another actor.
package struct RealmParcel: @unchecked Sendable {
  // @unchecked: a frozen object never changes; its type cannot be Sendable, since live ones are not.
  fileprivate enum Content {
    case reference(ThreadSafeReference<BenchmarkObject>)
    case frozen(BenchmarkObject)
  }

  fileprivate let content: Content

  fileprivate static func reference(
    _ reference: ThreadSafeReference<BenchmarkObject>
  ) -> RealmParcel { RealmParcel(content: .reference(reference)) }

  fileprivate static func frozen(_ object: BenchmarkObject) -> RealmParcel {
    RealmParcel(content: .frozen(object))
  }
}

/// A frozen Realm, which any thread may use.
package struct RealmPin: EnginePin, @unchecked Sendable {
  // @unchecked: a frozen Realm never changes; Realm itself cannot be Sendable, since live ones are not.
  private let realm: Realm

  init(_ realm: Realm) {
    precondition(realm.isFrozen, "only a frozen Realm may leave its thread")
    self.realm = realm
  }

  package var version: UInt64 { realm.currentVersion }

  package func read(_ key: Int, into row: inout Row) -> Bool {
    guard let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
      return false
    }
    object.copy(.all, into: &row)
    return true
  }

  package func total() -> TableTotal { realm.benchmarkTotal() }
}
