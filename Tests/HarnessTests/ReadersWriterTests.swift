// The workload end to end on the model engine: a sound engine passes, and each way of being wrong
// is found by the checker that is there for it.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ReadersWriterTests {
  private func outcome(
    _ bug: ModelBug?, seconds: Double = 5, _ change: (inout RunSettings) -> Void = { _ in }
  ) -> RunOutcome {
    HarnessTests.outcome(of: .readersWriter, bug, seconds: seconds, change)
  }

  @Test func soundEnginePasses() throws {
    let operations = [Operation.read, .refresh, .write]
    let result = HarnessTests.outcome(
      of: .readersWriter, nil, seconds: 0.8,
      until: {
        $0.hasDone(operations, in: [.warmup, .measure]) && $0.hasChecked(Invariant.ofSnapshots)
          && $0.growth.count >= 5 && $0.sampleCount > 20
      }
    ) {
      $0.writers = 2
      $0.warmupNanoseconds = 100_000_000
      $0.pins = 5
      $0.pinEvery = 3
    }
    #expect(result.violation == nil, "seed \(testSeed())")
    #expect(result.failure == nil)
    #expect(result.status == .complete)
    #expect(result.phases.map(\.phase) == [.load, .warmup, .measure])
    for operation in operations {
      #expect(result.collector.total(.measure, operation)!.service.count > 0)
      #expect(result.collector.total(.warmup, operation)!.service.count > 0)
    }
    for invariant in Invariant.ofSnapshots {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
      #expect(result.ledger[invariant].violations == 0)
    }
    #expect(result.growth.count >= 5 && result.sampleCount > 20)
    // Every write of both phases is counted, and no other.
    let writes = [Phase.warmup, .measure].reduce(0) {
      $0 + result.collector.total($1, .write)!.service.count
    }
    #expect(Int(writes) == result.transactions)
  }

  @Test(arguments: ModelBug.allCases.filter { $0.invariant != nil })
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug) {
    let invariant = bug.invariant!
    // The replay looks at the end only.
    let result = HarnessTests.outcome(
      of: .readersWriter, finding: bug, seconds: invariant == .serialOrder ? 0.5 : 10
    ) {
      $0.pins = 3
      $0.pinEvery = 2
      $0.invariants = [invariant]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())")
    #expect(result.status == .failed)
    #expect(result.ledger[invariant].violations == 1)
  }

  @Test(arguments: ModelBug.allCases.filter { $0.invariant != nil })
  func plantedBugIsFoundBySomeChecker(_ bug: ModelBug) {
    let result = HarnessTests.outcome(of: .readersWriter, finding: bug, seconds: 10) {
      $0.pins = 3
      $0.pinEvery = 2
    }
    #expect(result.violation != nil, "seed \(testSeed())")
  }

  @Test func withoutInvariantsNothingIsChecked() {
    let result = outcome(.halfRow, seconds: 0.2) { $0.invariants = [] }
    #expect(result.violation == nil)
    #expect(Invariant.allCases.allSatisfy { result.ledger[$0].checks == 0 })
  }

  @Test func readersAloneRun() {
    let result = HarnessTests.outcome(
      of: .readersWriter, nil, seconds: 0.2, until: { $0.hasDone([.read]) }
    ) {
      $0.writers = 0
      $0.readKeys = .latest
    }
    #expect(result.violation == nil && result.transactions == 0)
    #expect(result.collector.total(.measure, .read)!.service.count > 0)
  }
}
