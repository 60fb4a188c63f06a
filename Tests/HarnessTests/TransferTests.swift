// The workload transfer on the model engine: a sound engine passes, and each way of being wrong is
// found by the checker that is there for it.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct TransferTests {
  @Test(arguments: [2, 6])
  func soundEnginePasses(batch: Int) throws {
    let operations = [Operation.sum, .refresh, .freeze, .write]
    let result = outcome(
      of: .transfer, nil, seconds: 0.6,
      until: {
        $0.hasDone(operations, in: [.warmup, .measure]) && $0.hasChecked(Invariant.ofSnapshots)
      }
    ) {
      $0.batch = batch
      $0.warmupNanoseconds = 100_000_000
      $0.pins = 5
      $0.pinEvery = 3
    }
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.failure == nil)
    #expect(result.status == .complete)
    for operation in operations {
      #expect(result.collector.total(.measure, operation)!.service.count > 0)
      #expect(result.collector.total(.warmup, operation)!.service.count > 0)
    }
    for invariant in Invariant.ofSnapshots {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
      #expect(result.ledger[invariant].violations == 0)
    }
  }

  @Test(arguments: ModelBug.allCases.filter { $0.transferInvariant != nil })
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug) {
    let invariant = bug.transferInvariant!
    let result = outcome(of: .transfer, finding: bug, seconds: 10) {
      $0.pins = 3
      $0.pinEvery = 2
      $0.invariants = [invariant]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())")
    #expect(result.ledger[invariant].violations == 1)
  }

  /// Accounts are overdrawn only as far as the owner's other account covers it.
  @Test func noOwnerIsOverdrawn() throws {
    let engine = ModelEngine()
    var settings = RunSettings(.transfer)
    settings.objects = 11
    // One writer alone: a reader would take its share of the operations, and how many are left for
    // transfers would be chance.
    settings.readers = 0
    settings.warmupNanoseconds = 0
    settings.operations = 5_000
    let output = CollectedOutput()
    let result = WorkloadRun(
      settings.makeWorkload(engine), settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(output.console(), OutputChoices())
    ).run()
    #expect(result.status == .complete)
    let balances = engine.newest.rows.map(\.balance)
    #expect(balances.reduce(0, +) == 11_000)
    #expect(balances.contains { $0 < 0 }, "no account was overdrawn: the rule was not tried")
    for owner in 0..<5 { #expect(balances[2 * owner] + balances[2 * owner + 1] >= 0) }
    #expect(balances[10] >= 0)
    #expect(engine.newest.rows.reduce(0) { $0 + $1.changes } == 2 * result.transactions)
  }
}
