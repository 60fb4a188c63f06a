// The workloads of queues, frozen values, pins and references on the real engine, end to end, and
// the forbidden uses in processes of their own.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ThreadWorkloadTests {
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
      "grouped-commit --readers 1 --objects 500 --group 16 --in-flight 32",
      "grouped-commit --queues 2 --writers 1 --objects 500 --batch 3 --group 1",
      "grouped-commit --readers 1 --objects 500 --group 8 --rate 50/s --durability memory",
      "freeze-cache --readers 2 --objects 500 --pins 60 --churn 0.1 --pin-age 100ms "
        + "--durability memory",
      "queue-confined --queues 3 --objects 500 --attempts 6 "
        + "--mix read:30,update:20,insert:10,scan:20,read-modify-write:20 --scan-length 20",
      "reference-handoff --writers 2 --readers 2 --objects 500 --in-flight 32 --write-every 4 "
        + "--durability memory",
    ])
  func everyWorkloadRunsAndLeavesASoundFile(line: String) throws {
    var path = ""
    // Longer, when a busy machine gave some thread no turn.
    for factor in [1, 10, 100] {
      path = folder.path + "/kept-\(factor).realm"
      let result = try run(
        "\(line) --warmup \(100 * factor)ms --duration \(900 * factor)ms --interval 100ms "
          + "--keep-file --path \(path) --output \(folder.path)/out --overwrite "
          + "--seed \(testSeed())")
      #expect(result.code == .success, "\(result.errors)")
      let isEnough =
        try rows("invariants.csv").allSatisfy { Int($0["checks"]!)! > 0 }
        && rows("growth.csv").count > 5
      if isEnough { break }
    }
    for row in try rows("invariants.csv") {
      #expect(Int(row["checks"]!)! > 0, "\(row["invariant"]!) was never checked")
      #expect(row["violations"] == "0", "\(row)")
    }
    #expect(try rows("growth.csv").count > 5)
    let check = CollectedOutput()
    #expect(try RealmBench.dispatch(["check", path], console: check.console()) == .success)
  }

  @Test func growthTellsTheWayBack() throws {
    var growth: [[String: String]] = []
    func isSeenGrowing() -> Bool {
      growth.contains { Int($0["pins"]!)! >= 20 && Int($0["held_bytes"]!) ?? 0 > 0 }
    }
    // Longer, when a fast machine is done before anybody looks, or a busy one looks too late.
    for factor in [1, 10, 100] where !isSeenGrowing() {
      let result = try run(
        "pinned-growth --objects 2000 --pins 20 --pin-every 10 --ops \(600 * factor) "
          + "--durability memory --warmup 100ms --interval 50ms --output \(folder.path)/out "
          + "--overwrite --seed \(testSeed())")
      #expect(result.code == .success, "\(result.errors)")
      #expect(
        result.output.contains("bytes a commit over") && result.output.contains("short again"))
      growth = try rows("growth.csv")
    }
    #expect(isSeenGrowing())
    let walked = growth.compactMap { Int($0["walked_bytes"]!) }
    #expect(walked.count == 1 && walked[0] > 0)
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

  /// To find the place of the call in debug information takes a second, and nobody reads it.
  @Test func anAttemptLooksForNoPlaceInTheSources() throws {
    let path = folder.path + "/tool"
    try "#!/bin/sh\necho $REALM_NAMES_CALLS $SWIFT_BACKTRACE >&2\n"
      .write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let outcome = try ForbiddenUse.ofReferences[0].run(by: path)
    #expect(outcome.text == "0 enable=no\n")
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
      #expect(glance.fileBytes > 0 && (glance.liveVersions ?? 0) > 0)
      #expect(glance.liveBytes == nil && glance.commits == nil)
    }
    #expect(try driver.statistics().liveBytes! > 0)

    var during: [[String: String]] = []
    // More, when a fast machine is done before anybody looks, or a busy one looks too late.
    for objects in [60_000, 240_000, 960_000] where during.isEmpty {
      let result = try run(
        "migration-under-load --readers 1 --objects \(objects) --pins 2 --warmup 0s "
          + "--interval 20ms --durability memory --output \(folder.path)/out --overwrite")
      #expect(result.code == .success, "\(result.errors)")
      during = try rows("growth.csv").filter { $0["live_bytes"] == "" }
    }
    #expect(!during.isEmpty, "no row was written while the migration had the lock")
    for row in during {
      #expect(!row["resident_bytes"]!.isEmpty && !row["file_bytes"]!.isEmpty)
    }
  }
}
