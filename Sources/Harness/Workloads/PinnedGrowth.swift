// The workload pinned-growth: a writer changes a table while versions of it are pinned, by number,
// age, order of release and churn; then all pins go at once. What it answers: what the pins keep,
// by a walk and by the engine's own account, how much the file grows a commit, what commits cost
// meanwhile, and how many commits and seconds later the file is short again.
internal import Platform

extension WorkloadKind {
  package static let pinnedGrowth = WorkloadKind(PinnedGrowthDescription.self)
}

/// What the tool knows of pinned-growth before it runs.
package enum PinnedGrowthDescription: WorkloadDescription {
  package static let name = "pinned-growth"
  package static let summary =
    "what pinned versions cost in file, memory and time, and the way back"
  package static let help = """
    A writer changes --batch objects a transaction; every --pin-every-th version is pinned, --pins at
    most, of which the oldest, newest or a random one goes (--release), and those older than
    --pin-age. Then a walk tells what the pins can see ('walked_bytes' of growth.csv), all pins go, and
    commits go on until the file is as long as before the first pin, or within 1.1 times its live
    bytes (2 % and 128 KiB more count as that): phase 'recover', whose 'write' counts the commits and
    whose 'recover' is the time that took.

      realm-bench run pinned-growth --pins 100 --pin-every 200 --ops 20000 --durability memory
    """
  package static let flags = Flags.table.union(Flags.load).subtracting(["refresh-every"]).union([
    "writers", "batch", "pins", "pin-every", "pin-interval", "pin-age", "release",
  ])
  package static let scheduled: Set<Operation> = [.write]
  package static let recovers = true

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.batch = 1
    settings.pins = 100
    settings.pinEvery = 200
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    [.write, .recover]
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.writers) writers, \(grouped(settings.pins)) pins, one every \(settings.pinEvery), "
      + "\(settings.release.rawValue) goes first, \(grouped(settings.objects)) objects"
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNoWriter(settings)
  }

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> { PinnedGrowth(shared) }
}

/// Writers under pins, and the way back.
package struct PinnedGrowth<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>

  package init(_ shared: RunShared<Driver>) { self.shared = shared }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let shared = shared
    for number in 1...shared.plan.writers {
      let operations: [Operation] = number == 1 ? [.write, .recover] : [.write]
      threads.append(
        WorkerPlan("writer \(number)", operations: operations) { handover in
          try BatchWriter(
            number: number, shared: shared, handover: handover, recovery: Recovery(shared),
            change: .rewrite)
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
    if let engine = shared.driver as? any WalkingEngine {
      shared.note(walkedBytes: try engine.reachableBytes())
    }
    try FinalCheck.checkPins(shared, &ledger)
    start = clock.nanoseconds()
  }

  /// Whether the file is short again, or never will be.
  var isOver: Bool {
    get throws {
      let figures = try shared.driver.statistics()
      let live = figures.liveBytes ?? 0
      // The same load without pins may need more than that: it is no cost of theirs.
      let before = shared.fileBytesBefore ?? 0
      // 128 KiB are below what the engine thinks worth moving blocks for.
      if figures.fileBytes <= max(live + live / 10, before + before / 50) + 131_072 { return true }
      hasFailed = commits >= Self.commitsMax
      return hasFailed
    }
  }
}
