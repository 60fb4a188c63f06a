// The workload actor-hops: a sound model engine and the real one pass, and each way of being wrong
// is found by the checker that is there for it.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ActorHopsTests {
  private func outcome(
    _ bug: ModelBug?, seconds: Double,
    until isEnough: @escaping @Sendable (RunOutcome) -> Bool = { _ in true },
    _ change: @escaping @Sendable (inout RunSettings) -> Void
  ) async -> RunOutcome {
    await onOwnThread {
      HarnessTests.outcome(of: .actorHops, bug, seconds: seconds, until: isEnough) {
        $0.threads = 2
        $0.readers = 3
        $0.refreshEvery = 2
        change(&$0)
      }
    }
  }

  private func expectSound(_ result: RunOutcome) {
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.failure == nil)
    #expect(result.status == .complete)
    for operation in [Operation.chain, .hop, .write] {
      #expect(result.collector.total(.measure, operation)!.service.count > 0)
    }
    let found: [Invariant] = [.snapshotStability, .monotonicVersions, .readYourWrites, .references]
    for invariant in found {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
    }
  }

  @Test func soundEnginePasses() async {
    let result = await outcome(nil, seconds: 600) { $0.operations = 200 }
    expectSound(result)
    // Two hops a letter.
    let letters = result.collector.total(.measure, .chain)!.service.count
    #expect(result.collector.total(.measure, .hop)!.service.count == 2 * letters)
  }

  /// Behind the last actor of a chain comes the first one; who has the letter last writes.
  @Test(arguments: [1, 2, 7]) func lettersGoRoundAndRound(hops: Int) async {
    let result = await outcome(nil, seconds: 600) {
      $0.operations = 200
      $0.hops = hops
    }
    expectSound(result)
    let letters = result.collector.total(.measure, .chain)!.service.count
    #expect(result.collector.total(.measure, .hop)!.service.count == UInt64(hops) * letters)
  }

  @Test func lettersFollowASchedule() async {
    let result = await outcome(nil, seconds: 600) {
      $0.operations = 200
      $0.ratePerSecond = 2_000
    }
    expectSound(result)
    #expect(result.collector.total(.measure, .chain)!.response!.count > 0)
  }

  @Test func theRealEnginePasses() async throws {
    let folder = TemporaryFolder()
    var settings = RunSettings(.actorHops)
    settings.objects = 200
    settings.readers = 3
    settings.refreshEvery = 2
    settings.warmupNanoseconds = 0
    settings.operations = 200
    settings.seed = testSeed()
    let driver = try RealmDriver(path: folder.file("hops.realm"), durability: .full)
    let result = await onOwnThread { [settings] in
      WorkloadRun(
        settings.makeWorkload(driver), settings: settings, interruption: TimedInterruption(),
        progress: ProgressLine(CollectedOutput().console(), OutputChoices())
      ).run()
    }
    expectSound(result)
    #expect(result.transactions > 0)
  }

  @Test(arguments: ModelBug.allCases.filter { $0.actorInvariant != nil })
  func plantedBugIsFoundByItsChecker(_ bug: ModelBug) async {
    let invariant = bug.actorInvariant!
    let result = await outcome(bug, seconds: 10, until: { _ in false }) {
      $0.invariants = [invariant]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == invariant, "\(found.map { "\($0)" } ?? "nothing"), seed \(testSeed())")
  }
}
