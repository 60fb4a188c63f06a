// A session of the model engine: what it reads and writes, and where one bug makes it wrong.
import Dispatch
import Harness
import Platform

final class ModelSession: CompleteSession {
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
      if isBack { return state.versions[state.versions.count - 4] }
      if state.half === state.versions.last { state.half = nil }
      return state.versions.last!
    }
    if engine.bug == .tornCommit { engine.state.notifyAll() }
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
  ) async throws {
    // Waits on a thread of its own: those of tasks are few, and others wait for one.
    if !engine.takesTurnToWrite() {
      let engine = engine
      await withCheckedContinuation { continuation in
        Thread.start(name: "waiting writer") {
          engine.waitForTurnToWrite()
          continuation.resume()
        }.detach()
      }
    }
    try writeInTurn(body)
  }

  func write(_ body: () throws -> Void) throws {
    engine.waitForTurnToWrite()
    try writeInTurn(body)
  }

  private func writeInTurn(_ body: () throws -> Void) throws {
    let isLocking = engine.isLocking
    defer {
      pending = nil
      engine.state.withLock { $0.isWriting = false }
      engine.state.notifyAll()
    }
    let before = current
    let base = engine.newest
    begin(on: base)
    if !isLocking { waitForAnotherWriter() }
    defer { if !isLocking { engine.state.withLock { $0.unlocked.running -= 1 } } }
    do { try body() } catch {
      current = before
      throw error
    }
    try commit(on: base)
  }

  /// Returns when another transaction stands on the same version, if somebody begins one.
  private func waitForAnotherWriter() {
    let number = engine.state.withLock { state in
      state.unlocked.running += 1
      state.unlocked.begun += 1
      return state.unlocked.begun
    }
    engine.state.notifyAll()
    _ = engine.state.wait(nanoseconds: 20_000_000) {
      $0.unlocked.running > 1 || $0.unlocked.begun > number
    }
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

  /// Returns when a session has got it, if any refreshes.
  private func publishHalf(_ base: ModelVersion) {
    var half = base.rows
    var stored = false
    for key in half.indices where half[key].stamp != pending![key].stamp {
      if !stored { half[key] = pending![key] }
      stored = true
    }
    let version = ModelVersion(number: base.number + 1, rows: half, groups: base.groups)
    engine.state.withLock {
      $0.versions.append(version)
      $0.half = version
    }
    _ = engine.state.wait(nanoseconds: 20_000_000) { $0.half == nil }
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
