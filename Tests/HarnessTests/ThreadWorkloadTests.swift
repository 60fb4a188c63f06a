// The workloads of queues, frozen values, pins and references on the real engine, end to end, and the
// forbidden uses in processes of their own.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized) struct ThreadWorkloadTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private static var tool: String {
    Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent("realm-bench")
      .path
  }

  private func run(_ line: String) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try RunVerb.run(
      line.split(separator: " ").map(String.init),
      RunVerb.Surroundings(
        console: output.console(), interruption: { TimedInterruption() },
        makeDriver: { try RealmDriver(path: $0, durability: $1, tool: Self.tool) }))
    return (code, output.output, output.errors)
  }

  /// The rows of a CSV file, by column.
  private func rows(_ name: String) throws -> [[String: String]] {
    let text = try String(contentsOfFile: folder.path + "/out/\(name)", encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    return table.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(table[0], $0)) }
  }

  @Test(
    arguments: [
      "grouped-commit --readers 1 --objects 500 --group 16 --in-flight 32 --duration 900ms",
      "grouped-commit --queues 2 --writers 1 --objects 500 --batch 3 --group 1 --duration 900ms",
      "grouped-commit --readers 1 --objects 500 --group 8 --rate 50/s --durability memory "
        + "--duration 900ms",
      "freeze-cache --readers 2 --objects 500 --pins 60 --churn 0.1 --pin-age 100ms "
        + "--durability memory --duration 900ms",
      "queue-confined --queues 3 --objects 500 --attempts 6 --duration 900ms "
        + "--mix read:30,update:20,insert:10,scan:20,read-modify-write:20 --scan-length 20",
      "reference-handoff --writers 2 --readers 2 --objects 500 --in-flight 32 --write-every 4 "
        + "--durability memory --duration 900ms",
    ])
  func everyWorkloadRunsAndLeavesASoundFile(line: String) throws {
    let path = folder.path + "/kept.realm"
    let result = try run(
      "\(line) --warmup 100ms --interval 100ms --keep-file --path \(path) "
        + "--output \(folder.path)/out --seed \(testSeed())")
    #expect(result.code == .success, "\(result.errors)")
    for row in try rows("invariants.csv") {
      #expect(Int(row["checks"]!)! > 0, "\(row["invariant"]!) was never checked")
      #expect(row["violations"] == "0", "\(row)")
    }
    #expect(try rows("growth.csv").count > 5)
    let check = CollectedOutput()
    #expect(try RealmBench.dispatch(["check", path], console: check.console()) == .success)
  }

  @Test func growthTellsTheWayBack() throws {
    let result = try run(
      "pinned-growth --objects 2000 --pins 20 --pin-every 10 --ops 600 --durability memory "
        + "--warmup 100ms --interval 50ms --output \(folder.path)/out --seed \(testSeed())")
    #expect(result.code == .success, "\(result.errors)")
    #expect(result.output.contains("bytes a commit over") && result.output.contains("short again"))
    let growth = try rows("growth.csv")
    let walked = growth.compactMap { Int($0["walked_bytes"]!) }
    #expect(walked.count == 1 && walked[0] > 0)
    #expect(growth.contains { Int($0["pins"]!)! >= 20 && Int($0["held_bytes"]!) ?? 0 > 0 })
    // Those that were asked for, one that is let go meanwhile, and what a look at the file takes.
    let most = try #require(growth.compactMap { Int($0["pins"]!) }.max())
    #expect(most <= 23, "\(most) pins")
    #expect(growth.last?["phase"] == "recover" && Int(growth.last!["pins"]!)! <= 1)
    let recovered = try rows("summary.csv").filter { $0["phase"] == "recover" }
    #expect(recovered.map { $0["operation"] }.contains("recover"))
  }

  /// One use of every pair of owner and offender, with the words that name both.
  @Test(arguments: ForbiddenUse.Owner.allCases)
  func forbiddenUsesStop(_ owner: ForbiddenUse.Owner) throws {
    let uses = ForbiddenUse.places.filter {
      if case .place(owner, _, let action) = $0.kind { return action == .read || action == .begin }
      return false
    }
    #expect(uses.count >= 8)
    for use in uses + (owner == .main ? ForbiddenUse.ofFrozen + ForbiddenUse.ofReferences : []) {
      let outcome = try use.run(by: Self.tool)
      let violation = ForbiddenUseCheck.judge(outcome, of: use)
      #expect(violation == nil, "\(violation.map { "\($0)" } ?? "")")
    }
  }

  /// A process that only says so was not stopped.
  @Test func whatEndsByItselfWasNotStopped() {
    let use = ForbiddenUse.ofReferences[0]
    for (outcome, isFine) in [
      (ForbiddenUse.Outcome(isStopped: false, text: use.phrases[0]), false),
      (.init(isStopped: true, text: "Segmentation fault"), false),
      (.init(isStopped: true, text: use.phrases[0]), true),
    ] {
      #expect((ForbiddenUseCheck.judge(outcome, of: use) == nil) == isFine)
    }
  }

  @Test func growthGoesOnDuringALongTransaction() throws {
    let driver = try RealmDriver(path: folder.path + "/glance.realm", durability: .memory)
    let session = try driver.openSession()
    try session.write {
      session.setGroup(1, stamp: 0, members: [])
      let glance = try driver.glance()
      #expect(glance.fileBytes > 0 && glance.liveVersions > 0)
      #expect(glance.liveBytes == nil && glance.commits == nil)
    }
    #expect(try driver.statistics().liveBytes! > 0)

    let result = try run(
      "migration-under-load --readers 1 --objects 60000 --pins 2 --warmup 0s --interval 20ms "
        + "--durability memory --output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    let during = try rows("growth.csv").filter { $0["live_bytes"] == "" }
    #expect(!during.isEmpty, "no row was written while the migration had the lock")
    for row in during {
      #expect(!row["resident_bytes"]!.isEmpty && !row["file_bytes"]!.isEmpty)
    }
  }
}
