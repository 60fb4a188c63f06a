// What the life cycle of a run promises for each workload: budgets, schedules, failures.
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct WorkloadRunTests {
  @Test(arguments: WorkloadKind.allCases)
  func failingWriteEndsTheRun(_ workload: WorkloadKind) async {
    // Ends with the failure, however long actors wait for threads of other tests.
    let result = await onOwnThread {
      outcome(of: workload, .failingWrite, seconds: 600) {
        $0.batch = 2
        $0.threads = 1
        $0.queues = 1
        $0.writers = workload == .groupedCommit ? 0 : 1
        $0.pins = 0
      }
    }
    #expect(result.status == .failed && result.violation == nil)
    let threads =
      switch workload {
      case .readersWriter, .transfer, .bulkLoad, .freezeCache, .pinnedGrowth, .notifyStorm:
        ["writer 1"]
      // Readers write too.
      case .referenceHandoff: ["writer 1", "reader 1", "reader 2"]
      case .mixed: ["thread 1"]
      case .groupedCommit, .queueConfined: ["queue 1"]
      case .migration: ["migration"]
      case .actorHops: ["chain 1"]
      default: ["name the threads that fail first in '\(workload.rawValue)'"]
      }
    let failure = result.failure ?? "no failure"
    #expect(threads.contains { failure.contains($0) }, "\(failure)")
    let errors = Operation.allCases.reduce(0) {
      $0 + (result.collector.total(.measure, $1)?.errors ?? 0)
    }
    // Of a group every commit fails, and several threads may meet it.
    let isOne = workload != .groupedCommit && workload != .referenceHandoff
    #expect(isOne ? errors == 1 : errors >= 1)
  }

  @Test(arguments: [
    (WorkloadKind.readersWriter, [Operation.read, .write]), (.transfer, [.sum, .write]),
  ])
  func operationBudgetIsExact(_ workload: WorkloadKind, _ operations: [Operation]) {
    let result = outcome(of: workload, nil) {
      $0.operations = 1_000
      $0.warmupNanoseconds = 20_000_000
    }
    let counts = operations.map { result.collector.total(.measure, $0)?.service.count ?? 0 }
    #expect(counts.reduce(0, +) == 1_000)
    #expect(result.status == .complete)
  }

  @Test(arguments: [WorkloadKind.readersWriter, .transfer])
  func openLoopCountsEveryDueOperation(_ workload: WorkloadKind) {
    let result = outcome(of: workload, nil, seconds: 1) {
      $0.readers = 0
      $0.ratePerSecond = 200
    }
    let figures = result.collector.total(.measure, .write)!
    let due = Double(figures.service.count + figures.skipped)
    let expected = result.expectedDue(ratePerSecond: 200)
    #expect(abs(due - expected) < 3, "\(due) of \(expected) were due")
    #expect(figures.response!.count == figures.service.count)
    #expect(figures.generatorDelay!.count == figures.service.count)
    #expect(figures.response!.maximum >= figures.service.minimum)
  }

  @Test(arguments: [WorkloadKind.readersWriter, .transfer])
  func tooHighARateIsLateAndSkippedNotHidden(_ workload: WorkloadKind) {
    func isLate(_ result: RunOutcome) -> Bool {
      let figures = result.collector.total(.measure, .write)!
      return figures.late > 0 && figures.skipped > 0
    }
    let result = outcome(of: workload, nil, seconds: 0.5, until: isLate) {
      $0.readers = 0
      $0.ratePerSecond = 10_000_000
    }
    let figures = result.collector.total(.measure, .write)!
    #expect(isLate(result))
    #expect(figures.response!.maximum > 10 * figures.service.minimum)
  }
}
