// What a run produced, before it is written to files.

/// One row of growth.csv.
package struct GrowthPoint: Sendable {
  package var phase: Phase
  package var elapsedSeconds: Double
  package var statistics: EngineStatistics
  /// Frozen versions or values that the workload keeps on purpose.
  package var pins: Int
  package var objects: Int
  /// Transactions that the workload has begun.
  package var transactions = 0
  package var residentBytes: UInt64?
  package var allocatedBytes: UInt64?
  package var walkedBytes: UInt64?
}

/// What is remembered of the growth of a run; the rows themselves go to growth.csv as they come.
package struct GrowthSeries: Sendable {
  package private(set) var count = 0
  package private(set) var last: GrowthPoint?
  package private(set) var peakResidentBytes: UInt64?
  /// What the last walk over all live versions found.
  package private(set) var walkedBytes: UInt64?

  package init() {}

  package mutating func append(_ point: GrowthPoint) {
    count += 1
    last = point
    peakResidentBytes = [peakResidentBytes, point.residentBytes].compactMap(\.self).max()
    walkedBytes = point.walkedBytes ?? walkedBytes
  }
}

/// Something that the run did to a background process, or that happened to one.
package struct RunEvent: Equatable, Sendable {
  /// Since the begin of the measured phase.
  package var elapsedSeconds: Double
  package var process: String
  package var number: Int
  package var event: String
}

/// How a run ended.
package enum RunStatus: String, Sendable {
  case complete
  case interrupted
  case failed
}

/// One phase's length and what the engine counted in it.
package struct PhaseOutcome: Sendable {
  package var phase: Phase
  /// When it began, by the run's clock.
  package var start: UInt64
  package var elapsedSeconds: Double
  package var before: EngineStatistics
  package var after: EngineStatistics

  /// By how much a counter has grown; nil when it was not known at one end.
  func difference(_ counter: KeyPath<EngineStatistics, UInt64?>) -> UInt64? {
    guard let before = before[keyPath: counter], let after = after[keyPath: counter] else {
      return nil
    }
    return after - min(before, after)
  }

  var commits: UInt64? { difference(\.commits) }

  /// The time that an operation's count is of: to the end of the last one that was due in the
  /// phase, if it was waited for.
  package func elapsedSeconds(of figures: OperationMeasurements) -> Double {
    max(elapsedSeconds, Double(figures.lastEnd - min(start, figures.lastEnd)) / 1e9)
  }
}

/// Everything that a run measured.
package struct RunOutcome {
  package var status = RunStatus.complete
  /// Threads that did not end in time, and may still use the file.
  package var unended: [String] = []
  package static let finalCheck = "the final check"
  /// Whether the final check has ended before its end, because the user had enough.
  package var hasLeftCheck = false
  /// Whether they wait for the write lock, which others held after the end.
  package var areKeptWaiting = false
  /// Which process has it, where the engine tells.
  package var keeper: String?
  package var violation: (violation: Violation, thread: String)?
  package var failure: String?
  package var phases: [PhaseOutcome] = []
  package var loadedObjects = 0
  /// Objects of the table at the end.
  package var objects = 0
  package var collector: Collector
  package var sampleCount = 0
  /// Rates of the measured phase by interval, for the judgement whether they settled.
  package var rates: [Operation: [Double]] = [:]
  package var growth = GrowthSeries()
  package var ledger = InvariantLedger()
  /// Wall time of all measuring threads and of the final check together.
  package var threadNanoseconds: UInt64 = 0
  package var pausedNanoseconds: UInt64 = 0
  package var transactions = 0
  /// Measuring threads that have something to do at any time: no schedule, nothing to be told.
  package var busyThreads = 0
  /// By operation: how many of the threads that do it in a closed loop never finished one.
  package var idleThreads: [Operation: Int] = [:]
  /// What happened to background processes.
  package var events: [RunEvent] = []
  /// What processes that did the work say against their own figures.
  package var reasonsOfProcesses: [String] = []
  /// And what has to be known to read them.
  package var cautionsOfProcesses: [String] = []
  /// The longest time of the measured phase in which the process was given no turn: somebody had
  /// stopped it, or the machine was busy with something else.
  package var longestStandstill: UInt64 = 0
  /// What else the machine did meanwhile.
  package var disturbance: MachineDisturbance?

  package func phase(_ phase: Phase) -> PhaseOutcome? { phases.first { $0.phase == phase } }

  /// Whether the end was checked, and nothing that was to be measured was only waited for.
  ///
  /// Of a run that is otherwise whole nobody could say that all is well.
  var isChecked: Bool {
    unended.isEmpty
      && collector.totals.allSatisfy { key, figures in
        key.phase != .measure || figures.service.count > 0
          || (figures.givenUp == 0 && figures.leftOut?.count ?? 0 == 0)
      }
  }
}
