// What a run produced, before it is written to files.

/// One row of growth.csv.
package struct GrowthPoint: Sendable {
  package var phase: Phase
  package var elapsedSeconds: Double
  package var statistics: EngineStatistics
  package var objects: Int
  package var residentBytes: UInt64?
  package var allocatedBytes: UInt64?
  package var walkedBytes: UInt64?
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
}

/// Everything that a run measured.
package struct RunOutcome {
  package var status = RunStatus.complete
  package var violation: (violation: Violation, thread: String)?
  package var failure: String?
  package var phases: [PhaseOutcome] = []
  package var loadedObjects = 0
  /// Objects of the table at the end.
  package var objects = 0
  package var collector: Collector
  package var samples: [Sample] = []
  package var growth: [GrowthPoint] = []
  package var ledger = InvariantLedger()
  /// Wall time of all measuring threads and of the final check together.
  package var threadNanoseconds: UInt64 = 0
  package var pausedNanoseconds: UInt64 = 0
  package var transactions = 0

  package func phase(_ phase: Phase) -> PhaseOutcome? { phases.first { $0.phase == phase } }
}
