// An engine of connections in memory, and a wrapper that breaks any engine of connections in one
// way, to prove that the checkers judge other engines, too.
import Harness
import Platform
import TestSupport

/// One way of being wrong.
enum ConnectionBug: CaseIterable {
  /// A snapshot becomes the newest version between two reads.
  case snapshotMoves
  /// Some changes are forgotten.
  case droppedStore
  /// A transaction is undone though it is said to be committed.
  case lostCommit
  /// What is free is counted wrongly.
  case lostPage

  var invariants: Set<Invariant> {
    switch self {
    // Whoever comes first: a read again, a part of a later transaction, or a total of two versions.
    case .snapshotMoves: [.snapshotStability, .atomicity, .monotonicVersions]
    case .droppedStore: [.atomicity, .serialOrder, .readYourWrites]
    case .lostCommit: [.atomicity, .serialOrder, .readYourWrites, .monotonicVersions]
    case .lostPage: [.spaceAccounting]
    }
  }
}

/// An engine with one bug, or none.
struct BrokenEngine<Base: ConnectionEngine>: ConnectionEngine {
  static var name: String { Base.name }
  let base: Base
  let bug: ConnectionBug?

  func openConnection() throws -> BrokenConnection<Base.Connection> {
    BrokenConnection(try base.openConnection(), bug)
  }
  var files: [String] { base.files }
  func space() throws -> (live: UInt64?, free: UInt64?) { try base.space() }
  func readVersions() throws -> (oldest: UInt64, count: Int)? { try base.readVersions() }
  func findings() throws -> [String] {
    try base.findings() + (bug == .lostPage ? ["page 7 is nowhere"] : [])
  }
  var counts: (syncs: UInt64, bytes: UInt64) { base.counts }
  func afterCommit(_ connection: BrokenConnection<Base.Connection>, pins: Int) throws {
    try base.afterCommit(connection.base, pins: pins)
  }
  func close() { base.close() }
}

final class BrokenConnection<Base: EngineConnection>: EngineConnection {
  let base: Base
  private let bug: ConnectionBug?
  private var reads = 0
  private var stores = 0
  private var commits = 0
  private var isWriting = false

  init(_ base: Base, _ bug: ConnectionBug?) {
    self.base = base
    self.bug = bug
  }

  private func move() throws {
    reads += 1
    guard bug == .snapshotMoves, !isWriting, reads % 7 == 0 else { return }
    base.endReading()
    _ = try base.beginReading()
  }

  func beginReading() throws -> UInt64 { try base.beginReading() }
  func endReading() { base.endReading() }
  func beginWriting() throws {
    try base.beginWriting()
    isWriting = true
  }
  func commit() throws -> UInt64 {
    isWriting = false
    commits += 1
    guard bug == .lostCommit, commits % 20 == 0 else { return try base.commit() }
    base.rollBack()
    try base.beginWriting()
    // Something has to be in it, or it would make no version.
    var row = Row()
    if try base.read(0, .all, into: &row) { try base.store(row, .all) }
    return try base.commit()
  }
  func rollBack() {
    isWriting = false
    base.rollBack()
  }
  func read(_ key: Int, _ parts: RowParts, into row: inout Row) throws -> Bool {
    try move()
    return try base.read(key, parts, into: &row)
  }
  func scan(from key: Int, into rows: inout [Row]) throws -> Int {
    try move()
    return try base.scan(from: key, into: &rows)
  }
  func total() throws -> TableTotal {
    try move()
    return try base.total()
  }
  func insert(_ row: Row) throws { try base.insert(row) }
  func store(_ row: Row, _ parts: RowParts) throws {
    stores += 1
    if bug == .droppedStore && stores % 31 == 0 { return }
    try base.store(row, parts)
  }
  func delete(_ key: Int) throws -> Bool { try base.delete(key) }
}

/// Versions of a table in memory.
final class MemoryEngine: ConnectionEngine {
  static var name: String { "memory" }

  struct Failure: Error, CustomStringConvertible {
    let description = "the disk has gone"
  }

  struct Version {
    var number: UInt64 = 1
    var rows: [Int: Row] = [:]
  }

  let newest = Monitor(Version())
  /// Reads from this version on fail.
  let failsFrom: UInt64

  init(failsFrom: UInt64 = .max) { self.failsFrom = failsFrom }

  func openConnection() throws -> MemoryConnection { MemoryConnection(self) }
  var files: [String] { [] }
  func space() throws -> (live: UInt64?, free: UInt64?) { (0, 0) }
  func findings() throws -> [String] { [] }
  var counts: (syncs: UInt64, bytes: UInt64) { (0, 0) }
  func close() {}
}

final class MemoryConnection: EngineConnection {
  private let engine: MemoryEngine
  private var version = MemoryEngine.Version()
  private var isReading = false
  private var isWriting = false

  init(_ engine: MemoryEngine) { self.engine = engine }

  func beginReading() throws -> UInt64 {
    precondition(!isReading && !isWriting, "one transaction at a time")
    isReading = true
    version = engine.newest.withLock { $0 }
    return version.number
  }
  func endReading() { isReading = false }
  func beginWriting() throws {
    precondition(!isReading && !isWriting, "one transaction at a time")
    isWriting = true
    version = engine.newest.withLock { $0 }
  }
  func commit() throws -> UInt64 {
    isWriting = false
    version.number += 1
    engine.newest.withLock { [version] in $0 = version }
    return version.number
  }
  func rollBack() { isWriting = false }

  private func check() throws {
    precondition(isReading || isWriting, "a read belongs into a transaction")
    if !isWriting && version.number >= engine.failsFrom { throw MemoryEngine.Failure() }
  }
  func read(_ key: Int, _ parts: RowParts, into row: inout Row) throws -> Bool {
    try check()
    guard let found = version.rows[key] else { return false }
    row = found
    return true
  }
  func scan(from key: Int, into rows: inout [Row]) throws -> Int {
    try check()
    var count = 0
    while count < rows.count, let row = version.rows[key + count] {
      rows[count] = row
      count += 1
    }
    return count
  }
  func total() throws -> TableTotal {
    try check()
    var total = TableTotal()
    for key in version.rows.keys.sorted() {
      let row = version.rows[key]!
      total.add(balance: row.balance, changes: row.changes, stamp: row.stamp)
    }
    return total
  }
  func insert(_ row: Row) throws { version.rows[row.id] = row }
  func store(_ row: Row, _ parts: RowParts) throws {
    guard var stored = version.rows[row.id] else { return }
    stored.stamp = row.stamp
    if parts != .account { stored.payload = row.payload }
    switch parts {
    case .all: (stored.age, stored.score, stored.balance) = (row.age, row.score, row.balance)
    case .account: (stored.balance, stored.changes) = (row.balance, row.changes)
    case .record: stored.changes = row.changes
    case .payload: break
    }
    version.rows[row.id] = stored
  }
  func delete(_ key: Int) throws -> Bool { version.rows.removeValue(forKey: key) != nil }
}

/// Runs a workload on an engine of connections, small and short.
func outcome<Engine: ConnectionEngine>(
  of workload: WorkloadKind, on engine: Engine, seconds: Double = 0.5,
  _ change: (inout RunSettings) -> Void = { _ in }
) throws -> RunOutcome {
  var settings = RunSettings(workload)
  settings.readers = 2
  settings.writers = 2
  settings.threads = 3
  settings.objects = 200
  settings.batch = 4
  settings.valueSize = ValueSize(minimum: 0, maximum: 3_000)
  settings.warmupNanoseconds = 0
  settings.durationNanoseconds = UInt64(seconds * 1e9)
  settings.intervalNanoseconds = 50_000_000
  settings.pins = 6
  settings.pinEvery = 3
  settings.seed = testSeed()
  change(&settings)
  let output = CollectedOutput()
  let driver = try ConnectionDriver(engine)
  defer { driver.close() }
  return WorkloadRun(
    settings.makeWorkload(driver), settings: settings, interruption: TimedInterruption(),
    progress: ProgressLine(output.console(), OutputChoices())
  ).run()
}
