// The driver of realm-bench: RealmSwift through its public API, as a user would. The package hook
// for the version's number and the store's counters are the only things taken from below.
package import Dispatch
internal import Foundation
internal import Platform
package import RealmSwift
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

/// An object with a list, for workloads that copy lists or refer to them.
final class BenchmarkGroup: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var stamp: Int
  @Persisted var members: List<BenchmarkObject>
}

extension Realm {
  /// Adds up all objects, one after the other.
  func benchmarkTotal() -> TableTotal {
    var total = TableTotal()
    for object in objects(BenchmarkObject.self) {
      total.add(balance: object.balance, changes: object.changes, stamp: object.stamp)
    }
    return total
  }
}

/// RealmSwift on one file.
package final class RealmDriver: CompleteEngine {
  package static var name: String { "realm" }

  /// Opens the file.
  package let configuration: Realm.Configuration
  /// Kept for its counters: a store pins no version.
  ///
  /// Nil once it is closed.
  private let store: Monitor<Store?>
  /// The executable that tries forbidden uses.
  private let tool: String

  /// Makes the file, or opens it.
  ///
  /// - Parameters:
  ///   - tool: path of realm-bench, for processes of their own; nil = this process's.
  ///   - classes: what the file holds; nil = what the tool's workloads store.
  package init(
    path: String, durability: DurabilityClass, tool: String? = nil,
    classes: [ObjectBase.Type]? = nil
  ) throws {
    self.tool = tool ?? ForbiddenUse.ownExecutable
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path),
      objectTypes: classes ?? [BenchmarkObject.self, BenchmarkGroup.self])
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

  package func observe(
    _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) throws -> any EngineObserver {
    try RealmObserver(configuration, part, told)
  }

  package func openSession(for actor: isolated any Actor) async throws -> RealmSession {
    let realm = try await Realm.open(configuration: configuration, _isolation: actor)
    realm.autorefresh = false
    return RealmSession(realm)
  }

  package func openSession(on queue: DispatchQueue) throws -> RealmSession {
    RealmSession(try Realm(configuration: configuration, queue: queue))
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
    guard let store = store.withLock({ $0 }) else { return EngineStatistics() }
    // Long enough for any commit to end, short enough for an interval's row.
    let recent = try leavingOutFileCalls {
      try store.recentStatistics(withinNanoseconds: 50_000_000)
    }
    guard let figures = recent else { return try glance() }
    var statistics = Self.glance(figures)
    statistics.liveBytes = figures.liveBytes
    statistics.heldBytes = figures.heldBytes
    statistics.freeBytes = figures.freeBytes
    statistics.writtenBytes = figures.writtenBytes
    statistics.commits = figures.commits
    return statistics
  }

  package func glance() throws -> EngineStatistics {
    guard let store = store.withLock({ $0 }) else { return EngineStatistics() }
    return Self.glance(try leavingOutFileCalls { try store.glance() })
  }

  private static func glance(_ figures: StoreStatistics) -> EngineStatistics {
    var statistics = EngineStatistics()
    statistics.newestVersion = figures.newestVersion.rawValue
    statistics.oldestPinnedVersion = figures.oldestPinnedVersion.rawValue
    statistics.liveVersions = figures.liveVersions
    statistics.oldestPinAgeNanoseconds = figures.oldestPinAgeNanoseconds
    statistics.fileBytes = figures.fileBytes
    statistics.syncs = figures.syncs
    // Of the whole process, which has this file alone.
    statistics.fileCalls = fileCalls()
    return statistics
  }

  package func foreignWait() -> ForeignWait? {
    guard let store = store.withLock({ $0 }),
      let wait = try? leavingOutFileCalls({ try store.foreignWait() })
    else { return nil }
    return ForeignWait(number: wait.number, writer: wait.writer)
  }

  package var visibleVersion: UInt64 { store.withLock { $0 }?.newestVersion.rawValue ?? 0 }

  package func reachableBytes() throws -> UInt64 {
    try store.withLock { $0 }?.checkInvariants().visibleBytes ?? 0
  }

  package func attempt(_ use: ForbiddenUse) throws -> ForbiddenUse.Outcome {
    try use.run(by: tool)
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
package final class RealmSession: CompleteSession {
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

  package func write(_ body: () throws -> Void) throws {
    try InjectedSlowdown.lengthen { try realm.write(body) }
  }

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

  package func delete(_ key: Int) -> Bool {
    guard let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
      return false
    }
    realm.delete(object)
    return true
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

  package func replace(_ key: Int) -> Bool {
    guard read(key, .all, into: &scratch),
      let object = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key)
    else { return false }
    realm.delete(object)
    scratch.changes += 1
    insert(scratch)
    return true
  }

  package func setGroup(_ group: Int, stamp: Int, members: [Int]) {
    let object =
      realm.object(ofType: BenchmarkGroup.self, forPrimaryKey: group)
      ?? realm.create(BenchmarkGroup.self, value: ["id": group])
    object.stamp = stamp
    object.members.removeAll()
    for key in members {
      guard let member = realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key) else {
        continue
      }
      object.members.append(member)
    }
  }

  package func groupStamp(_ group: Int) -> Int? {
    realm.object(ofType: BenchmarkGroup.self, forPrimaryKey: group)?.stamp
  }

  // MARK: - What leaves the session

  package func copy(_ content: Content) -> RealmCopy? {
    switch content {
    case .object(let key):
      realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key).map {
        RealmCopy(.object($0.freeze()))
      }
    case .list(let group):
      realm.object(ofType: BenchmarkGroup.self, forPrimaryKey: group).map {
        RealmCopy(.list($0.members.freeze()))
      }
    case .results(let keys): RealmCopy(.results(results(keys).freeze()))
    }
  }

  package func reference(to content: Content) -> RealmReference? {
    switch content {
    case .object(let key):
      realm.object(ofType: BenchmarkObject.self, forPrimaryKey: key).map {
        RealmReference(.object(ThreadSafeReference(to: $0)))
      }
    case .list(let group):
      realm.object(ofType: BenchmarkGroup.self, forPrimaryKey: group).map {
        RealmReference(.list(ThreadSafeReference(to: $0.members)))
      }
    case .results(let keys): RealmReference(.results(ThreadSafeReference(to: results(keys))))
    }
  }

  private func results(_ keys: Range<Int>) -> Results<BenchmarkObject> {
    realm.objects(BenchmarkObject.self)
      .where { $0.id >= keys.lowerBound && $0.id < keys.upperBound }
      .sorted(by: \.id, ascending: true)
  }

  package func resolve(_ reference: RealmReference, into rows: inout [Row]) -> Bool {
    switch reference.value {
    case .object(let reference):
      guard let object = realm.resolve(reference) else { return false }
      CollectionOfOne(object).copy(into: &rows)
    case .list(let reference):
      guard let list = realm.resolve(reference) else { return false }
      list.copy(into: &rows)
    case .results(let reference):
      guard let results = realm.resolve(reference) else { return false }
      results.copy(into: &rows)
    }
    return true
  }

  // MARK: - Asynchronous writes

  package func requestWrite(_ body: @escaping () -> Void) { realm.beginAsyncWrite(body) }

  package func commitAsynchronously(
    allowsGrouping: Bool, _ completion: @escaping ((any Error)?) -> Void
  ) {
    realm.commitAsyncWrite(allowGrouping: allowsGrouping, completion)
  }
}

/// An object that is kept over refreshes; of the session's thread.
package struct HeldObject {
  let object: BenchmarkObject
}

/// An object on its way to another actor.
package struct RealmParcel: @unchecked Sendable {
  // @unchecked: a frozen object never changes; its type cannot be Sendable, since live ones are
  // not.
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
