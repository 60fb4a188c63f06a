// The workload pinned-growth: a writer changes a table while versions of it are pinned, by number, age,
// order of release and churn; then all pins go at once. What it answers: what the pins keep, by a walk and
// by the engine's own account, how much the file grows a commit, what commits cost meanwhile, and how
// many commits and seconds later the file is short again.
internal import Platform

/// Writers under pins, and the way back.
package struct PinnedGrowth<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let (shared, model) = (shared, shared.plan.model)
    for number in 1...shared.plan.writers {
      let operations: [Operation] = number == 1 ? [.write, .recover] : [.write]
      threads.append(
        WorkerPlan("writer \(number)", operations: operations) { handover in
          try BatchWriter(
            number: number, shared: shared, handover: handover, recovery: Recovery(shared)
          ) { session, batch, _ in
            try ReadersWriter<Driver>.rewrite(session, batch, model)
          }
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    try ReadersWriter(shared).checkEnd(&ledger)
  }
}

/// The time after the pins have gone; used by one thread.
package final class Recovery<Driver: EngineDriver> {
  /// More commits than these mean that the file does not get shorter.
  private static var commitsMax: Int { 2_000 }

  private let shared: RunShared<Driver>
  private let clock = MonotonicClock()
  private var start: UInt64 = 0
  /// Commits since the pins have gone.
  var commits = 0
  private(set) var hasFailed = false

  init(_ shared: RunShared<Driver>) { self.shared = shared }

  var hasBegun: Bool { start > 0 }
  var elapsedNanoseconds: UInt64 { clock.nanoseconds() - start }

  /// Walks over all live versions, reads every pin again and lets all of them go.
  func begin(_ ledger: inout InvariantLedger) throws {
    shared.note(walkedBytes: try shared.driver.reachableBytes())
    try FinalCheck.checkPins(shared, &ledger)
    start = clock.nanoseconds()
  }

  /// Whether the file is short again, or never will be.
  var isOver: Bool {
    get throws {
      let figures = try shared.driver.statistics()
      let live = figures.liveBytes ?? 0
      // 128 KiB are below what the engine thinks worth moving blocks for.
      if figures.fileBytes <= live + live / 10 + 131_072 { return true }
      hasFailed = commits >= Self.commitsMax
      return hasFailed
    }
  }
}
