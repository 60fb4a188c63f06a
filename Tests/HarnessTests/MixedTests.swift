// The workload mixed on the model engine: proportions, keys, schedule, and each way of being wrong
// found by the checker that is there for it.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct MixedTests {
  private static let everything = "read:30,update:20,insert:10,scan:20,read-modify-write:20"

  private func outcome(
    _ bug: ModelBug?, seconds: Double = 5, mix: String = everything,
    until isEnough: (RunOutcome) -> Bool = { _ in true },
    _ change: (inout RunSettings) -> Void
  ) -> RunOutcome {
    HarnessTests.outcome(of: .mixed, bug, seconds: seconds, until: isEnough) {
      $0.mix = OperationMix(mix)!
      $0.threads = 2
      $0.scanLength = 10
      change(&$0)
    }
  }

  @Test(arguments: ["A", "B", "C", "D", "E", "F", everything])
  func soundEnginePassesInItsProportions(mix: String) throws {
    let result = outcome(nil, mix: mix) {
      $0.operations = 5_000
      $0.readKeys = $0.mix.defaultKeys
      $0.warmupNanoseconds = 20_000_000
    }
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.status == .complete, "\(result.failure ?? "")")
    var sum = 0
    for (operation, percent) in OperationMix(mix)!.shares {
      let count = Int(result.collector.total(.measure, operation)!.service.count)
      sum += count
      // Six standard deviations of 5,000 draws at most.
      #expect(abs(count - 50 * percent) < 220, "\(operation) \(count), seed \(testSeed())")
    }
    #expect(sum == 5_000)
    let writes = OperationMix.operations.filter(\.commits).reduce(0) { sum, operation in
      sum
        + [Phase.warmup, .measure].reduce(0) {
          $0 + Int(result.collector.total($1, operation)?.service.count ?? 0)
        }
    }
    #expect(writes == result.transactions)
  }

  @Test func everyInvariantIsChecked() {
    let result = outcome(
      nil, seconds: 0.8, until: { $0.hasChecked(Invariant.ofSnapshots) && $0.objects > 200 }
    ) { _ in }
    for invariant in Invariant.ofSnapshots {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
    }
    #expect(result.objects > 200 && result.growth.last!.objects <= result.objects)
  }

  @Test(arguments: ModelBug.allCases.filter { $0.mixedInvariant != nil })
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug) {
    let invariant = bug.mixedInvariant!
    // A lost insertion would be missed as an object first, and a snapshot has to last for a while.
    let mix = bug == .droppedInsert ? Self.everything : "read:60,update:20,read-modify-write:20"
    let result = outcome(bug, seconds: 10, mix: mix, until: { _ in false }) {
      $0.invariants = [invariant]
      $0.readKeys = .latest
      $0.refreshEvery = 8
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())")
  }

  @Test func everyOperationFollowsTheSchedule() {
    let result = outcome(nil, seconds: 1, until: { $0.hasDone(OperationMix.operations) }) {
      $0.ratePerSecond = 400
    }
    var due: UInt64 = 0
    for operation in OperationMix.operations {
      let figures = result.collector.total(.measure, operation)!
      due += figures.service.count + figures.skipped
      #expect(figures.response!.count == figures.service.count)
      // The response holds the refresh before a read too.
      #expect(figures.response!.maximum >= figures.service.minimum)
    }
    let expected = result.expectedDue(ratePerSecond: 400, threads: 2)
    #expect(abs(Double(due) - expected) < 5, "\(due) of \(expected) were due")
    #expect(result.collector.total(.measure, .refresh)!.response == nil)
  }

  /// A refresh comes after so many reads, whatever was written between them: once each write began
  /// the count anew, and half of the operations being writes, there was none at all.
  @Test(arguments: [WorkloadKind.mixed, .queueConfined])
  func writesBetweenReadsDoNotPutOffARefresh(_ workload: WorkloadKind) {
    let result = HarnessTests.outcome(of: workload, nil, seconds: 600) {
      $0.mix = OperationMix("A")!
      ($0.threads, $0.queues) = (1, 1)
      ($0.refreshEvery, $0.operations) = (16, 1_600)
    }
    #expect(result.status == .complete, "\(result.failure ?? "")")
    let reads = result.collector.total(.measure, .read)!.service.count
    #expect(result.collector.total(.measure, .refresh)!.service.count == reads / 16)
  }

  @Test func tooHighARateIsSkippedInProportion() {
    let result = outcome(
      nil, seconds: 0.3, mix: "A", until: { $0.hasDone([.read, .update]) }
    ) { $0.ratePerSecond = 10_000_000 }
    let skipped = [Operation.read, .update].map {
      Double(result.collector.total(.measure, $0)!.skipped)
    }
    #expect(skipped[0] > 1_000 && abs(skipped[0] / skipped[1] - 1) < 0.01)
  }

  // MARK: - Mixes

  @Test func mixesAreLettersOrSharesThatAddUp() throws {
    #expect(OperationMix("F")!.shares.map(\.operation) == [.read, .readModifyWrite])
    #expect(OperationMix("D")!.defaultKeys == .latest)
    #expect(OperationMix("A")!.defaultKeys == .zipf(exponent: 0.99))
    #expect(OperationMix("update:30,read:70")! == OperationMix("read:70,update:30")!)
    for text in ["", "G", "a", "read:99", "read:100,update:0", "read:50,read:50", "write:100"] {
      #expect(OperationMix(text) == nil, "\(text)")
    }
  }

  @Test func drawsFollowTheShares() {
    let seed = testSeed()
    var random = RandomGenerator(seed: seed)
    let mix = OperationMix(Self.everything)!
    var counts = [Int](repeating: 0, count: mix.shares.count)
    for _ in 0..<100_000 { counts[mix.next(&random)] += 1 }
    for (count, share) in zip(counts, mix.shares) {
      #expect(abs(count - 1_000 * share.percent) < 1_000, "seed \(seed)")
    }
  }

  @Test func keysOfAGrowingTableStayInRange() {
    let seed = testSeed()
    let model = ContentModel(
      seed: 5, objects: 1_000, batch: 1, valueSize: ValueSize(minimum: 0, maximum: 0))
    for distribution in [
      KeyDistribution.uniform, .zipf(exponent: 0.99), .latest, .hotspot(part: 0.1, share: 0.9),
    ] {
      var random = RandomGenerator(seed: seed)
      let keys = KeyGenerator(distribution, model: model)
      var newest = 0
      for objects in stride(from: 1_000, to: 31_000, by: 3) {
        let key = keys.next(&random, objects: objects)
        #expect((0..<objects).contains(key), "seed \(seed), \(distribution)")
        if key == objects - 1 { newest += 1 }
      }
      if distribution == .latest { #expect(newest > 500, "seed \(seed)") }
    }
  }
}
