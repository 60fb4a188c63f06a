// A tiny engine in memory with the harness's driver interface: every version is an array of rows. It
// is right by construction, or wrong in exactly one way, which proves the checkers end to end.
import Dispatch
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
  /// A completion is called twice.
  case doubleCompletion
  /// A completion is never called.
  case lostCompletion
  /// Completions come in another order than commits.
  case swappedCompletions
  /// A completion is called before others can see the commit.
  case earlyCompletion
  /// A frozen value shows the newest version.
  case copyMoves
  /// A frozen value is of another version than its source.
  case copyOfAnother
  /// A reference is resolved to the object behind its own.
  case referenceToNeighbour
  /// A reference is resolved to the object that has taken the place of its own.
  case referenceToSuccessor
  /// A reference is resolved to nil at times.
  case referenceToNothing
  /// A reference can be resolved again.
  case referenceTwice
  /// A reference does not move the session that resolves it.
  case referenceBehind
  /// What is forbidden goes through.
  case notStopped
  /// What is forbidden stops without saying why.
  case stoppedByAccident
  /// A deletion is left out of what an observer is told.
  case droppedDeletion
  /// After two deletions a position is told that is one too large.
  case shiftedPosition
  /// Of several commits that are told at once, only the last one is.
  case lostCommitOfObserver
  /// An observer is called after its end.
  case toldAfterEnd
  /// An observer is never called.
  case neverTold

  /// Found by the observers of notify-storm.
  static let ofObservers: [ModelBug] = [
    .droppedDeletion, .shiftedPosition, .lostCommitOfObserver, .toldAfterEnd, .neverTold,
  ]

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
      .labelNotMigrated, .otherReference, .staleReference, .lostReference,
      .doubleCompletion, .lostCompletion, .swappedCompletions,
      .earlyCompletion, .copyMoves, .copyOfAnother, .referenceToNeighbour, .referenceToSuccessor,
      .referenceToNothing, .referenceTwice, .referenceBehind, .notStopped, .stoppedByAccident,
      .droppedDeletion, .shiftedPosition, .lostCommitOfObserver, .toldAfterEnd,
      .neverTold:
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
  func openSession(on queue: DispatchQueue) throws -> ModelSession { ModelSession(self, queue) }
  func glance() throws -> EngineStatistics { try statistics() }
  func reachableBytes() throws -> UInt64 { 4_096 }

  var visibleVersion: UInt64 { bug == .earlyCompletion ? newest.number - 1 : newest.number }

  func attempt(_ use: ForbiddenUse) throws -> ForbiddenUse.Outcome {
    ForbiddenUse.Outcome(
      isStopped: bug != .notStopped,
      text: bug == .stoppedByAccident ? "Segmentation fault" : use.phrases.joined(separator: " "))
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
  private let queue: DispatchQueue?
  private var pendingGroups: [Int: ModelVersion.Group] = [:]
  private var completions: UInt64 = 0
  private var held: (() -> Void)?

  init(_ engine: ModelEngine, _ queue: DispatchQueue? = nil) {
    self.engine = engine
    self.queue = queue
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
    guard rows.indices.contains(key), rows[key].id >= 0 else { return false }
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
    begin(on: base)
    if !isLocking { sleep(nanoseconds: 100_000) }
    do { try body() } catch {
      current = before
      throw error
    }
    try commit(on: base)
  }

  private func begin(on base: ModelVersion) {
    current = base
    pending = base.rows
    pendingGroups = base.groups
  }

  private func commit(on base: ModelVersion) throws {
    if engine.bug == .failingWrite && base.number > 20 { throw WriteFailure() }
    if engine.bug == .tornCommit && base.number > 5 {
      // Others can see the first half for a moment.
      publishHalf(base)
    }
    var number = base.number + 1
    if engine.bug == .numberTwice && engine.commits % 9 == 8 { number = base.number }
    let isLost = engine.bug == .lostTransaction && number % 32 == 31
    let next = ModelVersion(
      number: number, rows: isLost ? base.rows : pending!, groups: pendingGroups)
    engine.state.withLock { state in
      state.versions.append(next)
      state.commits += 1
      if state.versions.count > 64 { state.versions.removeFirst(32) }
    }
    current = engine.bug == .ownWriteHidden && number > 20 ? base : next
  }

  // MARK: - Asynchronous writes

  func requestWrite(_ body: @escaping () -> Void) {
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) let session = self
    queue!.async { session.run(body) }
  }

  private func run(_ body: () -> Void) {
    engine.state.wait(until: { !$0.isWriting }, then: { $0.isWriting = true })
    begin(on: engine.newest)
    body()
    pending = nil
    engine.state.withLock { $0.isWriting = false }
    engine.state.notifyAll()
  }

  func commitAsynchronously(
    allowsGrouping: Bool, _ completion: @escaping ((any Error)?) -> Void
  ) {
    var failure: (any Error)?
    do { try commit(on: current) } catch { failure = error }
    completions += 1
    let number = completions
    nonisolated(unsafe) let call = { completion(failure) }
    nonisolated(unsafe) let earlier = held
    held = nil
    switch engine.bug {
    case .lostCompletion where number % 50 == 0: break
    case .swappedCompletions where number % 50 == 0: held = call
    default:
      let isTwice = engine.bug == .doubleCompletion && number % 50 == 0
      queue!.async {
        call()
        earlier?()
        if isTwice { call() }
      }
    }
  }

  // MARK: - What leaves the session

  func copy(_ content: Content) -> ModelCopy? {
    let state = engine.bug == .copyOfAnother ? engine.newest : current
    return state.rows(of: content) == nil
      ? nil : ModelCopy(engine: engine, state: state, content: content)
  }

  func reference(to content: Content) -> ModelReference? {
    current.rows(of: content) == nil ? nil : ModelReference(current, content)
  }

  func resolve(_ reference: ModelReference, into rows: inout [Row]) -> Bool {
    calls += 1
    if engine.bug != .referenceTwice { reference.resolve() }
    if pending == nil && engine.bug != .referenceBehind
      && current.number < reference.state.number
    {
      current = reference.state
    }
    if engine.bug == .referenceToNothing && calls % 31 == 0 { return false }
    guard case .object(let key) = reference.content else {
      rows = current.rows(of: reference.content) ?? []
      return true
    }
    let isNeighbour = engine.bug == .referenceToNeighbour && calls % 31 == 0
    rows = [current.rows[isNeighbour ? (key + 1) % current.rows.count : key]]
    return isNeighbour || engine.bug == .referenceToSuccessor
      || rows[0].changes == reference.state.rows[key].changes
  }

  private func publishHalf(_ base: ModelVersion) {
    var half = base.rows
    var stored = false
    for key in half.indices where half[key].stamp != pending![key].stamp {
      if !stored { half[key] = pending![key] }
      stored = true
    }
    engine.state.withLock {
      $0.versions.append(ModelVersion(number: base.number + 1, rows: half, groups: base.groups))
    }
    sleep(nanoseconds: 2_000_000)
  }

  func insert(_ row: Row) {
    calls += 1
    if engine.bug == .droppedInsert && row.stamp > 0 && calls % 11 == 0 { return }
    if row.id < pending!.count { pending![row.id] = row } else { pending!.append(row) }
  }

  /// The place of a deleted object stays, so that keys are positions.
  func delete(_ key: Int) -> Bool {
    guard pending!.indices.contains(key), pending![key].id >= 0 else { return false }
    pending![key].id = -1
    return true
  }

  func replace(_ key: Int) -> Bool {
    guard pending!.indices.contains(key) else { return false }
    pending![key].changes += 1
    return true
  }

  func setGroup(_ group: Int, stamp: Int, members: [Int]) {
    pendingGroups[group] = ModelVersion.Group(stamp: stamp, members: members)
  }

  func groupStamp(_ group: Int) -> Int? {
    (pending == nil ? current.groups : pendingGroups)[group]?.stamp
  }

  func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    guard pending!.indices.contains(key), pending![key].id >= 0 else { return false }
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
