// An engine whose sessions note what they do and see. Two processes of the history a session: one
// of its write transactions, one of its snapshots, each of which is a read-only transaction from
// the moment the session moved to it to the last read there. What frozen copies show is not noted:
// they are older on purpose.
internal import Platform

/// An engine that notes a history.
package final class RecordingDriver<Base: EngineDriver>: EngineDriver {
  package typealias Session = RecordingSession<Base.Session>

  package static var name: String { Base.name }

  private let base: Base
  private let log: HistoryLog

  package init(_ base: Base, log: HistoryLog) {
    self.base = base
    self.log = log
  }

  package func openSession() throws -> Session { try Session(log) { try base.openSession() } }
  package func statistics() throws -> EngineStatistics {
    // Asked at each interval: a history that cannot be written ends the run.
    if let failure = log.failure { throw ResultsError(failure) }
    return try base.statistics()
  }
  package func glance() throws -> EngineStatistics { try base.glance() }
  package var failure: (any Error)? { base.failure }
  package func foreignWait() -> ForeignWait? { base.foreignWait() }
  package func checkInvariants() throws -> [String] { try base.checkInvariants() }
  package func close() { base.close() }
  package func deleteFiles() throws { try base.deleteFiles() }
}

/// A session that notes what it does.
package final class RecordingSession<Base: EngineSession>: EngineSession {
  package typealias Pin = Base.Pin
  package typealias Held = Base.Held

  /// Reads of one snapshot beyond these are not noted, so that a pass over a table takes no memory.
  package static var readsMax: Int { 4_096 }

  private let base: Base
  private let log: HistoryLog
  private let writes: HistoryPart
  private let reads: HistoryPart
  private let clock = MonotonicClock()
  private var seen: [MicroOperation] = []
  /// When the session moved to its snapshot, at the latest.
  private var movedAt: UInt64
  /// The operations of the running transaction.
  private var running: [MicroOperation]?

  init(_ log: HistoryLog, _ open: () throws -> Base) throws {
    self.log = log
    // First: what another session has noted in a part before it gave that back is earlier then than
    // anything of this one.
    writes = try log.takePart()
    reads = try log.takePart()
    movedAt = clock.nanoseconds()
    base = try open()
  }

  deinit {
    endSnapshot()
    log.giveBack(writes)
    log.giveBack(reads)
  }

  // MARK: - What is noted

  private func note(_ row: Row) {
    let operation = MicroOperation(
      isWrite: false, key: row.id, value: row.stamp == 0 ? nil : row.stamp)
    if running != nil {
      running!.append(operation)
    } else if seen.count < Self.readsMax {
      seen.append(operation)
    }
  }

  /// Notes the reads of the snapshot as a transaction.
  private func endSnapshot() {
    guard !seen.isEmpty else { return }
    reads.invoke(at: movedAt, seen)
    reads.complete(.ok, at: clock.nanoseconds(), seen)
    seen.removeAll(keepingCapacity: true)
  }

  package var version: UInt64 { base.version }

  package func refresh() -> Bool {
    endSnapshot()
    movedAt = clock.nanoseconds()
    return base.refresh()
  }

  package func write(_ body: () throws -> Void) throws {
    endSnapshot()
    let start = clock.nanoseconds()
    var operations: [MicroOperation] = []
    var hasFailed = false
    do {
      try base.write {
        running = []
        defer { running = nil }
        do {
          try body()
        } catch {
          hasFailed = true
          operations = running ?? []
          throw error
        }
        operations = running ?? []
        // The session sees this transaction and none that comes after it.
        movedAt = clock.nanoseconds()
        guard operations.contains(where: { $0.value != nil || !$0.isWrite }) else { return }
        writes.invoke(at: start, operations)
        // Whatever happens to this process from here on, the history knows what it was about to do.
        writes.flush()
      }
    } catch {
      if hasFailed && !operations.isEmpty { writes.invoke(at: start, operations) }
      if !operations.isEmpty {
        writes.complete(
          hasFailed ? .fail : .info, at: clock.nanoseconds(), operations, error: "\(error)")
      }
      throw error
    }
    guard operations.contains(where: { $0.value != nil || !$0.isWrite }) else { return }
    writes.complete(.ok, at: clock.nanoseconds(), operations)
  }

  package func read(_ key: Int, _ parts: RowParts, into row: inout Row) -> Bool {
    let isFound = base.read(key, parts, into: &row)
    if isFound { note(row) }
    return isFound
  }

  package func read(_ held: Held, into row: inout Row) {
    base.read(held, into: &row)
    note(row)
  }

  package func scan(from position: Int, into rows: inout [Row]) -> Int {
    let found = base.scan(from: position, into: &rows)
    for row in rows.prefix(found) { note(row) }
    return found
  }

  package func insert(_ row: Row) {
    base.insert(row)
    noteWrite(row.id, row.stamp)
  }

  package func update(_ key: Int, _ parts: RowParts, _ change: (inout Row) -> Void) -> Bool {
    var stamps: (before: Int, after: Int)?
    let isFound = base.update(key, parts) { row in
      let before = row.stamp
      change(&row)
      stamps = (before, row.stamp)
    }
    if let stamps {
      running?.append(
        MicroOperation(isWrite: false, key: key, value: stamps.before == 0 ? nil : stamps.before))
      noteWrite(key, stamps.after)
    }
    return isFound
  }

  private func noteWrite(_ key: Int, _ stamp: Int) {
    running?.append(MicroOperation(isWrite: true, key: key, value: stamp == 0 ? nil : stamp))
  }

  // MARK: - What is handed on

  package func hold(_ key: Int) -> Held? { base.hold(key) }
  package func total() -> TableTotal { base.total() }
  package func pin() -> Pin { base.pin() }
  package func delete(_ key: Int) -> Bool { base.delete(key) }
}
