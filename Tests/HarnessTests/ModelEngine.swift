// A tiny engine in memory with the harness's driver interface: every version is an array of rows.
// It is right by construction, or wrong in exactly one way, which proves the checkers end to end.
import Dispatch
import Harness
import Platform

/// One committed state.
final class ModelVersion: Sendable {
  struct Group: Sendable {
    let stamp: Int
    let members: [Int]
  }

  let number: UInt64
  let rows: [Row]
  let groups: [Int: Group]

  init(number: UInt64, rows: [Row], groups: [Int: Group] = [:]) {
    self.number = number
    self.rows = rows
    self.groups = groups
  }

  /// The objects of some content; nil when it is not there.
  func rows(of content: Content) -> [Row]? {
    switch content {
    case .object(let key): rows.indices.contains(key) ? [rows[key]] : nil
    case .list(let group): groups[group]?.members.map { rows[$0] }
    case .results(let keys): Array(rows[keys.clamped(to: rows.indices)])
    }
  }
}

final class ModelEngine: CompleteEngine {
  static let name = "model"

  struct State: Sendable {
    var versions = [ModelVersion(number: 1, rows: [])]
    var commits: UInt64 = 0
    var isWriting = false
    /// Told as long as somebody else has the lock.
    var foreignWait: ForeignWait?
    /// Transactions without a lock: those that run, and those that have begun since the engine was
    /// made.
    var unlocked = (running: 0, begun: 0)
    /// Half of a transaction, until somebody has got it.
    var half: ModelVersion?
    var pinReads = 0
  }

  let bug: ModelBug?
  let state = Monitor(State())
  /// Checks of the whole structure wait while it is held; and how many do.
  let checks = Monitor((isHeld: false, waiting: 0))

  init(bug: ModelBug? = nil) { self.bug = bug }

  var commits: UInt64 { state.withLock { $0.commits } }
  var newest: ModelVersion { state.withLock { $0.versions.last! } }

  func openSession() throws -> ModelSession { ModelSession(self) }
  func openSession(on queue: DispatchQueue) throws -> ModelSession { ModelSession(self, queue) }
  func glance() throws -> EngineStatistics { try statistics() }
  func foreignWait() -> ForeignWait? { state.withLock { $0.foreignWait } }
  func reachableBytes() throws -> UInt64 { 4_096 }

  var visibleVersion: UInt64 { bug == .earlyCompletion ? newest.number - 1 : newest.number }

  func attempt(_ use: ForbiddenUse) throws -> ForbiddenUse.Outcome {
    ForbiddenUse.Outcome(
      isStopped: bug != .notStopped,
      text: bug == .stoppedByAccident ? "Segmentation fault" : use.phrases.joined(separator: " "))
  }

  /// Whether a transaction waits until no other one runs.
  var isLocking: Bool { bug != .noWriteLock }

  func waitForTurnToWrite() {
    state.wait(until: { !$0.isWriting || !isLocking }, then: { $0.isWriting = true })
  }

  /// False when another transaction runs.
  func takesTurnToWrite() -> Bool {
    state.withLock { state in
      if state.isWriting && isLocking { return false }
      state.isWriting = true
      return true
    }
  }

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
      statistics.liveBytes = 4_096
    }
    return statistics
  }

  func checkInvariants() throws -> [String] {
    checks.withLock { $0.waiting += 1 }
    checks.wait(until: { !$0.isHeld }, then: { $0.waiting -= 1 })
    return found
  }

  private var found: [String] {
    bug == .leak && newest.number > 30 ? ["block 7 is neither free nor reachable"] : []
  }

  func close() {}
  func deleteFiles() throws {}

  func observe(
    _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) throws -> any EngineObserver {
    ModelObserver(self, part, told)
  }

  /// The new form has no score; a pin that shows it, shows another object.
  func migrate() throws {
    if bug == .failingWrite { throw ModelSession.WriteFailure() }
    let readsBefore = state.wait(until: { !$0.isWriting }) { state in
      let newest = state.versions.last!
      let rows = newest.rows.map { row in
        var row = row
        row.score = 0
        return row
      }
      state.versions.append(ModelVersion(number: newest.number + 1, rows: rows))
      return state.pinReads
    }
    // Readers, if there are any, read on.
    _ = state.wait(nanoseconds: 500_000_000) { $0.pinReads >= readsBefore + 256 }
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
    engine.state.withLock { $0.pinReads += 1 }
    engine.state.notifyAll()
    let state = engine.bug == .pinMoves ? engine.newest : state
    guard state.rows.indices.contains(key) else { return false }
    row = state.rows[key]
    return true
  }

  func total() -> TableTotal {
    TableTotal((engine.bug == .pinMoves ? engine.newest : state).rows)
  }
}

struct ModelCopy: EngineCopy {
  let engine: ModelEngine
  let state: ModelVersion
  let content: Content
  var version: UInt64 { state.number }

  func read(into rows: inout [Row]) {
    let state = engine.bug == .copyMoves ? engine.newest : state
    rows = state.rows(of: content) ?? []
  }
}

final class ModelReference: EngineReference {
  let state: ModelVersion
  let content: Content
  private let resolved = Monitor(false)
  var isResolved: Bool { resolved.withLock { $0 } }

  init(_ state: ModelVersion, _ content: Content) {
    self.state = state
    self.content = content
  }

  func resolve() { resolved.withLock { $0 = true } }
}

extension TableTotal {
  init(_ rows: [Row]) {
    self.init()
    for row in rows { add(balance: row.balance, changes: row.changes, stamp: row.stamp) }
  }
}

/// Asks for the end of a run after so many commits of all phases.
struct CommitInterruption: Interruption {
  let engine: ModelEngine
  let commits: UInt64
  func isRequested() -> Bool { engine.commits >= commits }
}
