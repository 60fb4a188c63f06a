// The workload grouped-commit on the model engine: a sound engine passes, and each way of being
// wrong with completions is found by the checker that is there for it.
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct GroupedCommitTests {
  private func outcome(
    _ bug: ModelBug?, seconds: Double = 10, until isEnough: (RunOutcome) -> Bool = { _ in true },
    _ change: (inout RunSettings) -> Void
  ) -> RunOutcome {
    HarnessTests.outcome(of: .groupedCommit, bug, seconds: seconds, until: isEnough) {
      $0.readers = 1
      $0.group = 8
      $0.inFlight = 16
      // Silence is waited for only where a completion never comes.
      $0.patienceNanoseconds = bug == .lostCompletion ? 500_000_000 : 600_000_000_000
      change(&$0)
    }
  }

  @Test(arguments: [(1, 8, 16, 0), (2, 1, 1, 1), (2, 16, 16, 0)])
  func soundEnginePasses(queues: Int, group: Int, inFlight: Int, writers: Int) {
    let operations = [
      Operation.burst, .request, .begin, .accept, .durable, .read, .refresh,
    ]
    let result = outcome(
      nil, seconds: 0.6,
      until: {
        $0.hasDone(operations) && $0.hasChecked(WorkloadKind.groupedCommit.invariants)
      }
    ) {
      $0.queues = queues
      $0.group = group
      $0.inFlight = inFlight
      $0.writers = writers
      $0.warmupNanoseconds = 100_000_000
    }
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.failure == nil && result.status == .complete)
    for operation in operations {
      #expect(result.collector.total(.measure, operation)!.service.count > 0, "\(operation)")
    }
    for invariant in WorkloadKind.groupedCommit.invariants {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
    }
  }

  @Test(
    arguments: [
      (ModelBug.doubleCompletion, Invariant.completion), (.lostCompletion, .completion),
      (.swappedCompletions, .completion), (.earlyCompletion, .durablePrefix),
      (.ownWriteHidden, .completion), (.droppedUpdate, .serialOrder),
      (.tornCommit, .atomicity), (.goesBack, .monotonicVersions), (.numberTwice, .completion),
      (.leak, .spaceAccounting), (.lostBalance, .serialOrder),
    ])
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug, _ invariant: Invariant) {
    let isAtEnd = bug == .droppedUpdate || bug == .lostBalance
    let result = outcome(bug, seconds: isAtEnd ? 0.5 : 10, until: { _ in false }) {
      $0.batch = 4
      $0.invariants = [invariant]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())")
  }

  /// Each commit counts against --ops, whatever the size of the groups.
  @Test func operationBudgetIsExact() {
    let result = outcome(nil) {
      $0.readers = 0
      $0.queues = 2
      $0.operations = 1_001
    }
    #expect(result.collector.total(.measure, .durable)!.service.count == 1_001)
    #expect(result.collector.total(.measure, .burst)!.service.count >= 126)
    #expect(result.transactions == 1_001)
  }

  @Test func openLoopCountsBursts() {
    let result = outcome(nil, seconds: 1) {
      $0.readers = 0
      $0.ratePerSecond = 100
    }
    let bursts = result.collector.total(.measure, .burst)!
    let due = Double(bursts.service.count + bursts.skipped)
    #expect(abs(due - result.expectedDue(ratePerSecond: 100)) < 3, "\(due) were due")
    #expect(bursts.response!.count == bursts.service.count)
    #expect(result.collector.total(.measure, .durable)!.response == nil)
  }
}
