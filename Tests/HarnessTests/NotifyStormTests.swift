// The workload notify-storm on the model engine and on the real one: what observers are told is
// exact, and each way of telling them something else is found.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct NotifyStormTests {
  private func outcome(
    _ bug: ModelBug?, seconds: Double, until isEnough: (RunOutcome) -> Bool,
    _ change: (inout RunSettings) -> Void
  ) -> RunOutcome {
    HarnessTests.outcome(of: .notifyStorm, bug, seconds: seconds, until: isEnough) {
      $0.readers = 0
      $0.observers = 3
      $0.batch = 6
      change(&$0)
    }
  }

  @Test func soundEnginePasses() {
    let result = outcome(
      nil, seconds: 0.6,
      until: {
        $0.hasDone([.notify, .write]) && $0.hasChecked(WorkloadKind.notifyStorm.invariants)
      }
    ) { $0.warmupNanoseconds = 100_000_000 }
    #expect(result.violation == nil, "\(result.violation.map { "\($0)" } ?? ""), \(testSeed())")
    #expect(result.status == .complete, "\(result.failure ?? "")")
    for operation in [Operation.notify, .write] {
      #expect(result.collector.total(.measure, operation)!.service.count > 0)
    }
    for invariant in WorkloadKind.notifyStorm.invariants {
      #expect(result.ledger[invariant].checks > 0, "\(invariant.name) was never checked")
      #expect(result.ledger[invariant].violations == 0)
    }
  }

  /// How soon observers are told is measured whatever is checked.
  @Test func withoutChecksTheTimesAreMeasuredAllTheSame() {
    let result = outcome(nil, seconds: 0.4, until: { $0.hasDone([.notify, .write]) }) {
      $0.invariants = []
    }
    #expect(result.status == .complete, "\(result.failure ?? "")")
    #expect(result.collector.total(.measure, .notify)?.service.count ?? 0 > 0)
    #expect(result.ledger[.exactChanges].checks == 0)
  }

  @Test func theBeginOfACommitIsThatOfNoOther() {
    let commits = CommitBegins()
    #expect(commits.time(of: 0) == nil && commits.time(of: 5) == nil)
    commits.note(5)
    let first = commits.time(of: 5)
    #expect(first != nil && first! <= MonotonicClock().nanoseconds())
    #expect(commits.time(of: 5 + CommitBegins.count) == nil)
    commits.note(5 + CommitBegins.count)
    #expect(commits.time(of: 5) == nil)
    #expect(commits.time(of: 5 + CommitBegins.count)! >= first!)
  }

  @Test(arguments: ModelBug.ofObservers)
  func plantedBugIsFound(_ bug: ModelBug) {
    // Without a call an observation lasts as long as the run.
    let result = outcome(bug, seconds: bug == .neverTold ? 0.3 : 10, until: { _ in false }) {
      $0.invariants = [.exactChanges]
    }
    let found = result.violation?.violation
    #expect(
      found?.invariant == .exactChanges, "\(found.map { "\($0)" } ?? "nothing"), \(testSeed())")
  }

  @Test func theEnginePasses() throws {
    // Longer, when a busy machine gave no observer a turn.
    for seconds in [1, 10, 100] {
      let folder = TemporaryFolder()
      let output = CollectedOutput()
      let code = try RunVerb.run(
        "notify-storm --observers 3 --writers 2 --objects 300 --batch 8 --duration \(seconds)s "
          .appending("--warmup 0s --durability memory --quiet --seed \(testSeed()) ")
          .appending("--output \(folder.path)/out")
          .split(separator: " ").map(String.init),
        RunVerb.Surroundings(
          console: output.console(), interruption: { TimedInterruption() },
          makeDriver: { try RealmDriver(path: $0, durability: $1) }))
      #expect(code == .success, "\(output.errors)")
      let text = try String(contentsOfFile: folder.path + "/out/invariants.csv", encoding: .utf8)
      let row = try #require(CSVTable.parse(text)?.first { $0.contains("I8") })
      #expect(row[7] == "0")
      if Int(row[6])! > 0 { return }
    }
    Issue.record("no change was ever checked")
  }
}

/// What the checker of observers finds, call by call.
@Suite(.ownThreads) struct ObservedCopyTests {
  private struct Content: ObservedContent {
    var version: UInt64 { 7 }
    let ids: [Int]
    var stamps: [Int: Int] = [:]
    var count: Int { ids.count }
    func read(_ position: Int, into row: inout Row) {
      row.id = ids[position]
      row.stamp = stamps[row.id] ?? 0
    }
  }

  private static func change(
    _ deletions: [Int] = [], _ insertions: [Int] = [], _ modifications: [Int] = [],
    isFirst: Bool = false
  ) -> ObservedChange {
    var change = ObservedChange()
    change.isFirst = isFirst
    change.deletions = deletions
    change.insertions = insertions
    change.modifications = modifications
    return change
  }

  private static func copy(_ ids: [Int]) -> ObservedCopy {
    var copy = ObservedCopy()
    #expect(copy.apply(change(isFirst: true), Content(ids: ids), place: "test") == nil)
    return copy
  }

  @Test func exactChangesPass() {
    var copy = Self.copy([1, 2, 3, 4])
    let content = Content(ids: [9, 2, 4, 8], stamps: [4: 5])
    #expect(copy.apply(Self.change([0, 2], [0, 3], [2]), content, place: "test") == nil)
    #expect(copy.newestStamp == 5)
    var row = Row()
    let newest = [Self.change([0, 2], [0, 3], [2]), Self.change([0, 2], [0, 9])].map {
      $0.newestStamp(in: content, reading: &row)
    }
    #expect(newest == [5, 0])
    #expect(copy.compare(content, place: "test") == nil)
  }

  @Test(
    arguments: [
      // A deletion too few, too many, one beside; an insertion beside; a modification not told.
      ([0], [0, 3], [2]), ([0, 2, 3], [0, 3], [2]), ([0, 1], [0, 3], [2]), ([0, 2], [1, 3], [2]),
      ([0, 2], [0, 3], []), ([2, 0], [0, 3], [2]), ([0, 2], [0, 4], [2]), ([0, 2], [0, 3], [-1]),
      ([0, 2], [0, 3], [4]), ([0, 4], [0, 3], [2]),
    ] as [([Int], [Int], [Int])])
  func otherChangesDoNot(_ told: ([Int], [Int], [Int])) {
    var copy = Self.copy([1, 2, 3, 4])
    let content = Content(ids: [9, 2, 4, 8], stamps: [4: 5])
    let violation = copy.apply(Self.change(told.0, told.1, told.2), content, place: "test")
    #expect(violation?.invariant == .exactChanges)
    #expect(violation?.witness.first == "test, version 7")
  }

  @Test func firstCallsComeOnce() {
    var copy = Self.copy([1])
    #expect(copy.apply(Self.change(isFirst: true), Content(ids: [1]), place: "test") != nil)
    var silent = ObservedCopy()
    #expect(silent.compare(Content(ids: []), place: "test") != nil)
    var fresh = ObservedCopy()
    #expect(fresh.apply(Self.change([], [0]), Content(ids: [1]), place: "test") != nil)
  }
}
