// The workload migration-under-load: what is held stays as it was, and what comes out is what went
// in.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct MigratingTests {
  private func outcome(
    _ bug: ModelBug?, until isEnough: (RunOutcome) -> Bool = { _ in true },
    _ change: (inout RunSettings) -> Void
  ) -> RunOutcome {
    HarnessTests.outcome(of: .migration, bug, seconds: 5, until: isEnough) {
      $0.warmupNanoseconds = 50_000_000
      change(&$0)
    }
  }

  @Test func soundEnginePasses() throws {
    let result = outcome(
      nil,
      until: {
        $0.hasDone([.read], in: [.warmup, .measure])
          && $0.hasChecked(WorkloadKind.migration.invariants)
      }
    ) { _ in }
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.failure == nil && result.status == .complete)
    #expect(result.transactions == 8)
    #expect(result.collector.total(.measure, .migrate)!.service.count == 1)
    for phase in [Phase.warmup, .measure] {
      #expect(result.collector.total(phase, .read)!.service.count > 0, "\(phase)")
    }
    for invariant in WorkloadKind.migration.invariants {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
    }
  }

  @Test(
    arguments: [
      (ModelBug.pinMoves, Invariant.snapshotStability), (.pinMoves, .atomicity),
      (.objectNotMigrated, .atomicity), (.objectNotMigrated, .serialOrder),
      (.labelNotMigrated, .serialOrder), (.lostBalance, .serialOrder), (.leak, .spaceAccounting),
    ])
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug, _ invariant: Invariant) {
    let result = outcome(bug, until: { _ in false }) {
      $0.pins = 40
      $0.invariants = [invariant]
    }
    #expect(result.violation?.violation.invariant == invariant, "\(bug), seed \(testSeed())")
  }

  @Test func withoutReadersAndPinsItMigratesToo() {
    let result = outcome(nil) {
      $0.readers = 0
      $0.pins = 0
    }
    #expect(result.status == .complete && result.transactions == 0)
    #expect(result.collector.total(.measure, .migrate)!.service.count == 1)
  }
}
