// A tiny engine in memory with the harness's driver interface: every version is an array of rows. It
// is right by construction, or wrong in exactly one way, which proves the checkers end to end.
import Foundation
import Harness
import Platform

/// One way for an engine to be wrong.
enum ModelBug: String, CaseIterable, Sendable {
  /// A pin shows the newest version instead of its own.
  case pinMoves
  /// An un-refreshed session shows the newest version's rows at times.
  case sessionMoves
  /// Half of a transaction is published before the rest.
  case tornCommit
  /// A transaction's stamp is stored, but not the rest of the row.
  case halfRow
  /// One object of a batch is not stored.
  case droppedUpdate
  /// A kept object stays on the version at which it was taken.
  case staleHeldObject
  /// A refresh moves to an older version.
  case goesBack
  /// Two states have the same number.
  case numberTwice
  /// A commit is not visible to others when it returns.
  case lateVisibility
  /// A commit is not visible to its own session.
  case ownWriteHidden
  /// The walk over the file finds something.
  case leak
  /// A change of a balance is lost, and nothing else.
  case lostBalance
  /// An object that a transaction inserts is not stored.
  case droppedInsert
  /// A transaction is acknowledged, and the next one does not stand on it.
  case lostTransaction
  /// Two transactions of two threads run at once, on the same version.
  case noWriteLock
  /// A migration leaves an object out.
  case objectNotMigrated
  /// A migration forgets one object's new property.
  case labelNotMigrated
  /// The disk says no.
  case failingWrite
  /// A reference resolves to another object.
  case otherReference
  /// A reference resolves to an object as it was before.
  case staleReference
  /// A reference resolves to nothing.
  case lostReference

  /// The checker of readers-writer that has to find it with all others off.
  var invariant: Invariant? {
    switch self {
    case .pinMoves, .sessionMoves: .snapshotStability
    case .tornCommit, .halfRow, .droppedUpdate, .staleHeldObject: .atomicity
    case .goesBack, .numberTwice: .monotonicVersions
    case .lateVisibility, .ownWriteHidden: .readYourWrites
    case .leak: .spaceAccounting
    case .lostBalance: .serialOrder
    case .failingWrite, .lostTransaction, .noWriteLock, .droppedInsert, .objectNotMigrated,
      .labelNotMigrated, .otherReference, .staleReference, .lostReference:
      nil
    }
  }

  /// The checker of transfer that has to find it with all others off.
  var transferInvariant: Invariant? {
    switch self {
    case .lostTransaction, .noWriteLock: .serialOrder
    case .staleHeldObject: nil
    default: invariant
    }
  }

  /// The checker of actor-hops that has to find it with all others off.
  var actorInvariant: Invariant? {
    switch self {
    case .otherReference, .staleReference, .lostReference: .references
    case .goesBack, .numberTwice: .monotonicVersions
    case .lateVisibility, .ownWriteHidden: .readYourWrites
    case .pinMoves: .snapshotStability
    default: nil
    }
  }

  /// The checker of mixed, with all its operations, that has to find it with all others off.
  var mixedInvariant: Invariant? {
    switch self {
    case .lostTransaction, .noWriteLock: .serialOrder
    case .droppedInsert: .atomicity
    // Nothing moves between objects here, and one object is the whole transaction.
    case .tornCommit, .lostBalance, .staleHeldObject: nil
    // Seen by who has written it only.
    case .droppedUpdate: .readYourWrites
    default: invariant
    }
  }
}

/// One committed state.
final class ModelVersion: Sendable {
  let number: UInt64
  let rows: [Row]

  init(number: UInt64, rows: [Row]) {
    self.number = number
    self.rows = rows
  }
}

final class ModelEngine: EngineDriver {
  static let name = "model"

  struct State: Sendable {
    var versions = [ModelVersion(number: 1, rows: [])]
    var commits: UInt64 = 0
    var isWriting = false
  }

  let bug: ModelBug?
  let state = Monitor(State())

  init(bug: ModelBug? = nil) { self.bug = bug }

  var commits: UInt64 { state.withLock { $0.commits } }
  var newest: ModelVersion { state.withLock { $0.versions.last! } }

  func openSession() throws -> ModelSession { ModelSession(self) }

  func openSession(for actor: isolated any Actor) async throws -> ModelSession {
    ModelSession(self)
  }

  func statistics() throws -> EngineStatistics {
    var statistics = EngineStatistics()
    state.withLock { state in
      statistics.newestVersion = state.versions.last!.number
      statistics.commits = state.commits
      statistics.syncs = state.commits
      statistics.writtenBytes = state.commits * 100
      statistics.fileBytes = 4_096
    }
    return statistics
  }

  func checkInvariants() throws -> [String] {
    bug == .leak && newest.number > 30 ? ["block 7 is neither free nor reachable"] : []
  }

  func close() {}
  func deleteFiles() throws {}

  /// The new form has no score; a pin that shows it, shows another object.
  func migrate() throws {
    if bug == .failingWrite { throw ModelSession.WriteFailure() }
    state.withLock { state in
      let newest = state.versions.last!
      let rows = newest.rows.map { row in
        var row = row
        row.score = 0
        return row
      }
      state.versions.append(ModelVersion(number: newest.number + 1, rows: rows))
    }
    // Readers go on for a while.
    sleep(nanoseconds: 50_000_000)
  }

  func readMigrated(_ body: (MigratedRow) throws -> Void) throws {
    for row in newest.rows {
      if bug == .objectNotMigrated && row.id == 77 { continue }
      var migrated = MigratedRow()
      migrated.row = row
      if bug != .labelNotMigrated || row.id != 77 { migrated.label = MigratedRow.label(of: row) }
      try body(migrated)
    }
  }
}

struct ModelPin: EnginePin {
  let engine: ModelEngine
  let state: ModelVersion
  var version: UInt64 { state.number }

  func read(_ key: Int, into row: inout Row) -> Bool {
    let state = engine.bug == .pinMoves ? engine.newest : state
    guard state.rows.indices.contains(key) else { return false }
    row = state.rows[key]
    return true
  }

  func total() -> TableTotal {
    TableTotal((engine.bug == .pinMoves ? engine.newest : state).rows)
  }
}

extension TableTotal {
  init(_ rows: [Row]) {
    self.init()
    for row in rows { add(balance: row.balance, changes: row.changes, stamp: row.stamp) }
  }
}

final class ModelSession: EngineSession {
  struct Held {
    let key: Int
    let state: ModelVersion
  }

  private let engine: ModelEngine
  private var current: ModelVersion
  private var pending: [Row]?
  private var calls: UInt64 = 0
  private var refreshes: UInt64 = 0

  init(_ engine: ModelEngine) {
    self.engine = engine
    current = engine.newest
  }

  var version: UInt64 { current.number }

  func refresh() -> Bool {
    refreshes += 1
    let before = current
    current = engine.state.withLock { state in
      let isBack = engine.bug == .goesBack && refreshes % 20 == 0 && state.versions.count > 4
      return isBack ? state.versions[state.versions.count - 4] : state.versions.last!
    }
    if engine.bug == .lateVisibility {
      current = engine.state.withLock { $0.versions[max(0, $0.versions.count - 2)] }
    }
    return current !== before
  }

  private func rows() -> [Row] {
    calls += 1
    if let pending { return pending }
    return engine.bug == .sessionMoves && calls % 7 == 0 ? engine.newest.rows : current.rows
  }

  func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool {
    let rows = rows()
    guard rows.indices.contains(key) else { return false }
    row = rows[key]
    return true
  }

  func hold(_ key: Int) -> Held? { Held(key: key, state: current) }

  func read(_ held: Held, into row: inout Row) {
    row = (engine.bug == .staleHeldObject ? held.state : current).rows[held.key]
  }

  func scan(from position: Int, into rows: inout [Row]) -> Int {
    let all = self.rows()
    let count = max(0, min(rows.count, all.count - position))
    for offset in 0..<count { rows[offset] = all[position + offset] }
    return count
  }

  func total() -> TableTotal { TableTotal(rows()) }

  func pin() -> ModelPin { ModelPin(engine: engine, state: current) }

  struct WriteFailure: Error {}

  /// An object of a version; live when it is a reference.
  struct Parcel: Sendable {
    let key: Int
    let isFrozen: Bool
    let state: ModelVersion
  }

  func parcel(_ key: Int, isFrozen: Bool) -> Parcel? {
    Parcel(key: key, isFrozen: isFrozen, state: current)
  }

  func open(_ parcel: Parcel, into row: inout Row) -> Bool {
    if parcel.isFrozen {
      row = (engine.bug == .pinMoves ? engine.newest : parcel.state).rows[parcel.key]
      return true
    }
    if current.number < parcel.state.number { current = engine.newest }
    row = current.rows[parcel.key]
    calls += 1
    switch engine.bug {
    case .otherReference where calls % 13 == 0: row.id += 1
    case .staleReference where calls % 13 == 0: row.stamp -= 1
    case .lostReference where calls % 13 == 0: return false
    default: break
    }
    return true
  }

  func writeAsynchronously(
    _ actor: isolated any Actor, _ body: () throws -> Void
  ) async throws { try write(body) }

  func write(_ body: () throws -> Void) throws {
    let isLocking = engine.bug != .noWriteLock
    engine.state.wait(until: { !$0.isWriting || !isLocking }, then: { $0.isWriting = true })
    defer {
      pending = nil
      engine.state.withLock { $0.isWriting = false }
      engine.state.notifyAll()
    }
    let before = current
    let base = engine.newest
    current = base
    pending = base.rows
    if !isLocking { sleep(nanoseconds: 100_000) }
    do { try body() } catch {
      current = before
      throw error
    }
    if engine.bug == .failingWrite && base.number > 20 { throw WriteFailure() }
    if engine.bug == .tornCommit && base.number > 5 {
      // Others can see the first half for a moment.
      publishHalf(base)
    }
    var number = base.number + 1
    if engine.bug == .numberTwice && engine.commits % 9 == 8 { number = base.number }
    let isLost = engine.bug == .lostTransaction && number % 32 == 31
    let next = ModelVersion(number: number, rows: isLost ? base.rows : pending!)
    engine.state.withLock { state in
      state.versions.append(next)
      state.commits += 1
      if state.versions.count > 64 { state.versions.removeFirst(32) }
    }
    current = engine.bug == .ownWriteHidden && number > 20 ? base : next
  }

  private func publishHalf(_ base: ModelVersion) {
    var half = base.rows
    var stored = false
    for key in half.indices where half[key].stamp != pending![key].stamp {
      if !stored { half[key] = pending![key] }
      stored = true
    }
    engine.state.withLock { $0.versions.append(ModelVersion(number: base.number + 1, rows: half)) }
    sleep(nanoseconds: 2_000_000)
  }

  func insert(_ row: Row) {
    calls += 1
    if engine.bug == .droppedInsert && row.stamp > 0 && calls % 11 == 0 { return }
    pending!.append(row)
  }

  func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    guard pending!.indices.contains(key) else { return false }
    var row = pending![key]
    change(&row)
    calls += 1
    switch engine.bug {
    case .droppedUpdate where calls % 31 == 0: return true
    case .halfRow where calls % 31 == 0: pending![key].stamp = row.stamp
    case .lostBalance where calls % 31 == 0:
      row.balance = pending![key].balance
      pending![key] = row
    default: pending![key] = row
    }
    return true
  }
}

/// Asks for a stop when a time is over, or never.
struct TimedInterruption: Interruption {
  let deadline: UInt64
  init(afterNanoseconds: UInt64? = nil) {
    deadline = afterNanoseconds.map { MonotonicClock().nanoseconds() + $0 } ?? .max
  }
  func isRequested() -> Bool { MonotonicClock().nanoseconds() >= deadline }
}

/// Collects what a verb prints.
final class CollectedOutput: Sendable {
  private let texts = Monitor((output: "", errors: ""))
  var output: String { texts.withLock { $0.output } }
  var errors: String { texts.withLock { $0.errors } }

  func console(isTerminal: Bool = false) -> Console {
    Console(
      isTerminal: isTerminal, output: { text in self.texts.withLock { $0.output += text } },
      errors: { text in self.texts.withLock { $0.errors += text } })
  }
}
