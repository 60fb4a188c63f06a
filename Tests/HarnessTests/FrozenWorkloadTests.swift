// The workloads freeze-cache, pinned-growth and reference-handoff on the model engine.
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct FrozenWorkloadTests {
  /// Runs a sound engine until everything was done and checked.
  private func soundOutcome(
    of workload: WorkloadKind, seconds: Double, _ operations: [Operation],
    _ change: (inout RunSettings) -> Void
  ) -> RunOutcome {
    outcome(
      of: workload, nil, seconds: seconds,
      until: { $0.hasDone(operations) && $0.hasChecked(workload.invariants) }, change)
  }

  private func expectSound(
    _ result: RunOutcome, _ workload: WorkloadKind, _ operations: [Operation],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())",
      sourceLocation: sourceLocation)
    #expect(result.failure == nil && result.status == .complete, sourceLocation: sourceLocation)
    for operation in operations {
      #expect(
        result.collector.total(.measure, operation)!.service.count > 0, "\(operation)",
        sourceLocation: sourceLocation)
    }
    for invariant in workload.invariants {
      #expect(
        result.ledger[invariant].checks > 0, "\(invariant.name) was never checked",
        sourceLocation: sourceLocation)
    }
  }

  private func expectFound(
    _ bug: ModelBug, _ invariant: Invariant, by workload: WorkloadKind,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    // What is only tried at the end needs a run that ends.
    let isAtEnd = [.notStopped, .stoppedByAccident, .lostBalance, .droppedUpdate].contains(bug)
    let result = outcome(of: workload, finding: bug, seconds: isAtEnd ? 0.3 : 10) {
      if workload == .pinnedGrowth {
        $0.pins = 20
        $0.pinEvery = 2
      }
      $0.cacheSize = 20
      $0.writeEvery = 2
      $0.churn = 0.1
      // Two objects at least, so that something moves between them.
      $0.batch = 4
      $0.refreshEvery = 1
      $0.invariants = [invariant]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())",
      sourceLocation: sourceLocation)
  }

  // MARK: - freeze-cache

  @Test(arguments: [Set(CachedKind.allCases), [.lists]])
  func cacheOfASoundEnginePasses(_ kinds: Set<CachedKind>) {
    let operations = [Operation.read, .refresh, .freeze, .write]
    let result = soundOutcome(of: .freezeCache, seconds: 0.6, operations) {
      $0.cacheSize = 50
      $0.cached = kinds
      $0.pinAgeNanoseconds = 50_000_000
      $0.warmupNanoseconds = 100_000_000
    }
    expectSound(result, .freezeCache, operations)
  }

  @Test(
    arguments: [
      (ModelBug.copyMoves, Invariant.frozenImmutability), (.copyOfAnother, .frozenImmutability),
      (.notStopped, .frozenImmutability), (.stoppedByAccident, .frozenImmutability),
      (.halfRow, .atomicity), (.goesBack, .monotonicVersions), (.lateVisibility, .readYourWrites),
      (.lostBalance, .serialOrder), (.leak, .spaceAccounting),
    ])
  func cacheFindsPlantedBugs(_ bug: ModelBug, _ invariant: Invariant) {
    expectFound(bug, invariant, by: .freezeCache)
  }

  // MARK: - reference-handoff

  @Test func handoffOfASoundEnginePasses() {
    let operations = [Operation.reference, .write, .resolve]
    let result = soundOutcome(of: .referenceHandoff, seconds: 0.8, operations) {
      $0.writers = 2
      $0.warmupNanoseconds = 100_000_000
    }
    expectSound(result, .referenceHandoff, operations)
  }

  @Test(
    arguments: [
      (ModelBug.referenceToNeighbour, Invariant.references), (.referenceToSuccessor, .references),
      (.referenceToNothing, .references), (.referenceTwice, .references),
      (.referenceBehind, .references), (.notStopped, .references),
      (.stoppedByAccident, .references), (.halfRow, .atomicity),
      (.ownWriteHidden, .readYourWrites), (.lostBalance, .serialOrder), (.leak, .spaceAccounting),
    ])
  func handoffFindsPlantedBugs(_ bug: ModelBug, _ invariant: Invariant) {
    expectFound(bug, invariant, by: .referenceHandoff)
  }

  @Test func everyReferenceOfTheBudgetIsTaken() {
    let result = outcome(of: .referenceHandoff, nil) { $0.operations = 500 }
    #expect(result.status == .complete)
    #expect(result.collector.total(.measure, .reference)!.service.count == 500)
    // One in 64 of a reader is released unresolved.
    #expect((440...500).contains(result.collector.total(.measure, .resolve)!.service.count))
  }

  // MARK: - pinned-growth

  @Test(arguments: ReleaseOrder.allCases, [nil, 400])
  func growthOfASoundEnginePasses(_ release: ReleaseOrder, operations: Int?) {
    let result = soundOutcome(of: .pinnedGrowth, seconds: 0.5, [.write]) {
      $0.pins = 20
      $0.pinEvery = 3
      $0.release = release
      $0.operations = operations
      $0.pinAgeNanoseconds = operations == nil ? 20_000_000 : nil
      $0.warmupNanoseconds = 50_000_000
    }
    expectSound(result, .pinnedGrowth, [.write])
    if let operations {
      #expect(result.collector.total(.measure, .write)!.service.count == operations)
    }
    #expect(result.collector.total(.recover, .recover)!.service.count == 1)
    #expect(result.growth.walkedBytes == 4_096)
    #expect(result.phases.map(\.phase) == [.load, .warmup, .measure, .recover])
  }

  @Test(
    arguments: [
      (ModelBug.pinMoves, Invariant.snapshotStability), (.ownWriteHidden, .readYourWrites),
      (.lostBalance, .serialOrder), (.leak, .spaceAccounting),
    ])
  func growthFindsPlantedBugs(_ bug: ModelBug, _ invariant: Invariant) {
    expectFound(bug, invariant, by: .pinnedGrowth)
  }

  // MARK: - queue-confined

  @Test func queuesOfASoundEnginePass() {
    let operations = [
      Operation.read, .update, .insert, .scan, .readModifyWrite, .refresh, .hop,
    ]
    let result = soundOutcome(of: .queueConfined, seconds: 0.6, operations) {
      $0.queues = 3
      $0.refreshEvery = 1
      $0.mix = OperationMix("read:30,update:20,insert:10,scan:20,read-modify-write:20")!
      $0.warmupNanoseconds = 100_000_000
    }
    expectSound(result, .queueConfined, operations)
  }

  @Test(
    arguments: [
      (ModelBug.notStopped, Invariant.confinement), (.stoppedByAccident, .confinement),
      (.halfRow, .atomicity), (.lostTransaction, .serialOrder), (.goesBack, .monotonicVersions),
      (.ownWriteHidden, .readYourWrites), (.leak, .spaceAccounting),
    ])
  func queuesFindPlantedBugs(_ bug: ModelBug, _ invariant: Invariant) {
    expectFound(bug, invariant, by: .queueConfined)
  }

  /// Every use that is told apart can be named, and every one of them is tried when there is time.
  @Test func forbiddenUsesAreAllTried() throws {
    #expect(Set(ForbiddenUse.all.map(\.name)).count == ForbiddenUse.all.count)
    for use in ForbiddenUse.all { #expect(ForbiddenUse(name: use.name) == use) }
    let shared = RunShared(
      driver: ModelEngine(),
      plan: RunPlan(
        model: ContentModel(
          seed: 1, objects: 1, batch: 1, valueSize: ValueSize(minimum: 0, maximum: 0))))
    var ledger = InvariantLedger()
    try FinalCheck.checkForbidden(ForbiddenUse.places, count: 10_000, shared, &ledger)
    #expect(ledger[.confinement].checks == UInt64(ForbiddenUse.places.count))
  }
}
