// The workload bulk-load on the model engine: all objects are there, once, whatever the threads.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct BulkLoadTests {
  private func outcome(
    _ bug: ModelBug?, _ change: (inout RunSettings) -> Void = { _ in }
  ) -> RunOutcome {
    HarnessTests.outcome(of: .bulkLoad, bug) {
      $0.objects = 1_234
      $0.batch = 10
      change(&$0)
    }
  }

  @Test(arguments: [1, 3])
  func everyObjectIsInserted(writers: Int) throws {
    let result = outcome(nil) { $0.writers = writers }
    #expect(result.violation == nil && result.failure == nil && result.status == .complete)
    #expect(result.transactions == 124)
    #expect(result.collector.total(.measure, .write)!.service.count == 124)
    #expect(result.objects == 1_234 && result.growth.last!.objects == 1_234)
    for invariant in WorkloadKind.bulkLoad.invariants {
      // The walk between commits comes after half a second; the one at the end always.
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
    }
    #expect(result.ledger[.serialOrder].checks == 1_234)
  }

  @Test(
    arguments: [
      (ModelBug.droppedInsert, Invariant.atomicity), (.lostTransaction, .serialOrder),
      (.droppedInsert, .readYourWrites), (.lostTransaction, .atomicity),
      (.ownWriteHidden, .readYourWrites), (.numberTwice, .monotonicVersions),
      (.leak, .spaceAccounting),
    ])
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug, _ invariant: Invariant) {
    let result = outcome(bug) {
      $0.batch = 2
      $0.invariants = [invariant]
    }
    #expect(
      result.violation?.violation.invariant == invariant, "\(bug), seed \(testSeed())")
  }
}
