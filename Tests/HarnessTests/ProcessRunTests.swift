// `run --processes N`: one result of all, invariants over all, and what becomes of it when
// processes are killed, stopped or told to end.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ProcessRunTests {
  private let folder = TemporaryFolder()

  /// The tool itself: built beside the tests.
  private static let tool = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("realm-bench").path

  private func run(
    _ line: String, interruption: any Interruption = TimedInterruption(),
    patienceNanoseconds: UInt64? = nil, tool: String = Self.tool
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    var surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { interruption },
      makeDriver: { try RealmDriver(path: $0, durability: $1) })
    surroundings.tool = tool
    surroundings.patienceNanoseconds = patienceNanoseconds
    let words = line.split(separator: " ").map(String.init)
    let code = try RunVerb.run(words, surroundings)
    return (code, output.output, output.errors)
  }

  private func rows(_ name: String) throws -> [[String: String]] {
    let text = try String(contentsOfFile: "\(folder.path)/out/\(name)", encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    return table.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(table[0], $0)) }
  }

  private static let load =
    "--objects 500 --batch 4 --durability memory --interval 100ms --warmup 0s"

  @Test(arguments: ["readers-writer", "transfer"])
  func processesAreJudgedAndCountedTogether(workload: String) throws {
    let out = folder.path + "/out"
    let result = try run(
      "\(workload) \(Self.load) --processes 3 --writers 1 --readers 0 --ops 301 --invariants full "
        + "--output \(out) --seed \(testSeed())")
    #expect(result.code == .success, "\(result.errors)")
    let write = try #require(
      try rows("summary.csv").first { $0["operation"] == "write" && $0["phase"] == "measure" })
    // All of them, none twice.
    #expect(write["count"] == "301" && write["threads"] == "3")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.transactions == 301 && document.settings.processes == 3)
    #expect(document.command.contains("--processes 3"))
    let histogram = try #require(
      LatencyHistogram(
        percentileText: try String(
          contentsOfFile: out + "/histograms/write.hgrm", encoding: .utf8)))
    #expect(histogram.count == 301)
    let checks = try rows("invariants.csv")
    #expect(checks.first { $0["invariant"] == "I7" }.flatMap { Int($0["checks"]!) }! > 0)
    #expect(checks.allSatisfy { $0["violations"] == "0" })
    // Those of the process that watches say nothing of the others.
    for column in ["syncs", "written_bytes", "resident_bytes"] {
      #expect(try rows("growth.csv").allSatisfy { $0[column] == "" }, "\(column)")
    }
    #expect(Set(try rows("samples.csv").map { $0["replica"]! }) == ["1", "2", "3"])
    // One run for all who read it.
    #expect(try MeasuredRun.all(in: out).count == 1)
    #expect(!FileManager.default.fileExists(atPath: out + "/processes.tmp"))
    #expect(!FileManager.default.fileExists(atPath: out + "/data.realm"))
  }

  /// Each of them reads the plan again, which asks for processes and judges the figures of all.
  @Test func aPlanMayAskForProcesses() throws {
    let plan = """
      {"workload": "readers-writer",
       "settings": {"processes": 2, "readers": 0, "objects": 500, "batch": 4, "ops": 300,
                    "durability": "memory", "interval": "100ms", "warmup": "0s"},
       "thresholds": ["write.count==300"]}
      """
    let path = folder.path + "/plan.json"
    try plan.write(toFile: path, atomically: true, encoding: .utf8)
    let out = folder.path + "/out"
    let result = try run("\(path) --output \(out)")
    #expect(result.code == .success, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.transactions == 300 && document.settings.processes == 2)
    #expect(document.thresholds.map(\.isMet) == [true])
    let member = try RunDocument(path: out + "/process-002/run.json")
    #expect(member.settings.processes == nil && member.thresholds.isEmpty)
  }

  /// The workload may stand behind a '--', and what is added for each process may not.
  @Test func growthTellsTheWarmUpFromTheMeasuredPhase() throws {
    // Longer, when a busy machine gave this process no turn.
    for factor in [1, 4, 16] {
      let result = try run(
        "--objects 500 --batch 4 --durability memory --interval 50ms --readers 0 --processes 2 "
          + "--warmup \(500 * factor)ms --duration \(500 * factor)ms --overwrite "
          + "--output \(folder.path)/out -- readers-writer")
      #expect(result.code == .success, "\(result.errors)")
      let phases = try rows("growth.csv").map { $0["phase"] ?? "" }
      #expect(phases.last == "measure" && phases == phases.sorted(by: >), "\(phases)")
      if phases.first == "warmup" { return }
    }
    Issue.record("no row is of the warm-up")
  }

  /// Samples are joined at the end, without another row of growth.
  @Test func noRowOfGrowthIsThereTwice() throws {
    let out = folder.path + "/out"
    let result = try run(
      "readers-writer --objects 500 --durability memory --interval 1h --warmup 0s --readers 0 "
        + "--ops 200 --processes 2 --output \(out)")
    #expect(result.code == .success, "\(result.errors)")
    #expect(try rows("growth.csv").count == 1)
    #expect(try !rows("samples.csv").isEmpty)
  }

  @Test func pinsOfAllProcessesStandInTheirGrowth() throws {
    let result = try run(
      "readers-writer \(Self.load) --processes 2 --writers 1 --readers 0 --pins 3 --pin-every 5 "
        + "--duration 2s --output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    let pins = try rows("growth.csv").map { try #require(Int($0["pins"] ?? "")) }
    #expect(pins.contains { $0 > 0 } && pins.allSatisfy { $0 <= 6 }, "\(pins)")
    // Who has ended keeps none.
    #expect(pins.last == 0)
  }

  @Test func whatALoadOfProcessesHasWrittenIsThatOfAll() throws {
    let result = try run(
      "bulk-load --processes 2 --objects 2000 --batch 100 --interval 100ms --durability memory "
        + "--output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    let line = try #require(
      result.output.split(separator: "\n").first { $0.hasPrefix("an object") })
    let written = line.split(separator: " ").dropLast().last.flatMap { Double($0) }
    #expect(written ?? 0 > 100, "\(line)")
    #expect(!result.output.contains("resident"))
  }

  @Test func historiesOfProcessesAreOne() throws {
    let out = folder.path + "/out"
    let result = try run(
      "readers-writer \(Self.load) --readers 1 --processes 2 --ops 4000 --history --output \(out)")
    #expect(result.code == .success, "\(result.errors)")
    let check = HistoryCheck.check(out + "/history.jsonl")
    #expect(check.damage == nil && check.violation == nil && check.writes > 0, "\(check)")
    let text = try String(contentsOfFile: out + "/history.jsonl", encoding: .utf8)
    // Sessions of both processes; which of them wrote depends on which thread was first.
    let processes = Set(
      text.matches(of: /"process":(\d+)/).compactMap { Int($0.output.1).map { $0 / 100_000 } })
    #expect(processes == [0, 1])
  }

  /// What a dead process had written stays, its number is used by the next one, the others go on.
  @Test func aKilledProcessIsToldAndTheRestIsKept() throws {
    let out = folder.path + "/out"
    let killer = KillingInterruption(out + "/process-002", signal: SIGKILL)
    let result = try run(
      "readers-writer \(Self.load) --readers 1 --writers 2 --processes 3 --duration 3s --output \(out) --keep-file",
      interruption: killer)
    #expect(killer.hasKilled)
    #expect(result.code == .failed, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.status == "failed" && document.violation == nil)
    #expect(document.failure?.contains("process 2 was ended by signal 9") == true)
    #expect(document.failure?.contains("process 1") != true)
    let write = try #require(try rows("summary.csv").first { $0["operation"] == "write" })
    #expect(Int(write["count"]!)! > 0)
    // Judged all the same: the whole table against all transactions.
    #expect(try rows("invariants.csv").first { $0["invariant"] == "I7" }!["checks"] != "0")
  }

  @Test func aKilledProcessOfALoadIsNoViolation() throws {
    let out = folder.path + "/out"
    let killer = KillingInterruption(out + "/process-002", signal: SIGKILL)
    // One of several hundred transactions at a time: it is killed long before the end.
    let result = try run(
      "bulk-load --objects 20000 --batch 20 --writers 1 --durability memory --interval 10ms "
        + "--processes 2 --output \(out)",
      interruption: killer)
    #expect(killer.hasKilled)
    #expect(result.code == .failed, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.violation == nil && document.status == "failed")
    #expect(document.failure?.contains("process 2 was ended by signal 9") == true)
    #expect(try rows("invariants.csv").first { $0["invariant"] == "I7" }!["checks"] != "0")
  }

  @Test func aProcessThatStandsStillFailsTheRun() throws {
    let out = folder.path + "/out"
    let killer = KillingInterruption(out + "/process-002", signal: SIGSTOP)
    let result = try run(
      "readers-writer --objects 500 --durability memory --interval 10ms --warmup 0s --readers 1 "
        + "--writers 0 --ops 400000 --processes 2 --output \(out)",
      interruption: killer, patienceNanoseconds: 300_000_000)
    #expect(killer.hasKilled)
    #expect(result.code == .failed, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.status == "failed")
    #expect(
      document.failure?.contains("process 2 stood still: somebody had stopped it") == true,
      "\(document.failure ?? "")")
    #expect(document.failure?.contains("process 1") != true)
  }

  /// The tool in a process of its own, of whose processes the one that writes to a folder is
  /// killed, once it has begun.
  private func killPart(_ line: String, writingTo part: String) throws -> (Int32, String, String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.tool)
    process.arguments = line.split(separator: " ").map(String.init)
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.start()
    while process.isRunning {
      if FileManager.default.fileExists(atPath: part),
        let number = KillingInterruption.process(writingTo: part)
      {
        kill(number, SIGKILL)
        break
      }
      usleep(5_000)
    }
    let told = output.fileHandleForReading.readDataToEndOfFile()
    let complained = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: told, as: UTF8.self),
      String(decoding: complained, as: UTF8.self)
    )
  }

  @Test func aKilledReplicaIsTold() throws {
    let out = folder.path + "/out"
    let (code, _, errors) = try killPart(
      "run readers-writer \(Self.load) --duration 1h --replicas 3 --no-progress --output \(out)",
      writingTo: out + "/replica-001")
    #expect(code == ExitCode.failed.rawValue, "\(errors)")
    #expect(
      errors.contains("replica 1 of 3 was ended by signal 9: 0 of 3 runs are whole"), "\(errors)")
  }

  @Test func aKilledShardOfAHuntIsToldAndNotCounted() throws {
    let out = folder.path + "/out"
    let (code, output, errors) = try killPart(
      "hunt --duration 2s --processes 2 --output \(out)", writingTo: out + "/shard-002")
    #expect(code == ExitCode.failed.rawValue, "\(errors)")
    #expect(errors.contains("shard 2 of 2 was ended by signal 9"), "\(errors)")
    #expect(output.contains("1 of 2 shards in "), "\(output)")
  }

  /// Processes that end before they look for signals made an interrupted run one that has failed.
  @Test func aUserMayHaveEnoughWhileProcessesBegin() throws {
    let (out, begun, program) = (
      folder.path + "/out", folder.path + "/begun", folder.path + "/program"
    )
    let text = "#!/bin/sh\ntouch '\(begun)'\nexec sleep 100\n"
    try text.write(toFile: program, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let result = try run(
      "readers-writer \(Self.load) --processes 2 --output \(out)",
      interruption: FileInterruption(path: begun), tool: program)
    #expect(result.code == .interrupted, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.status == "interrupted" && document.failure == nil)
  }

  @Test func aUserWhoHasEnoughKeepsWhatThereIs() throws {
    let out = folder.path + "/out"
    let result = try run(
      "readers-writer \(Self.load) --readers 1 --processes 2 --duration 1h --output \(out)",
      interruption: GrowthInterruption(out))
    #expect(result.code == .interrupted, "\(result.errors)")
    let document = try RunDocument(path: out + "/run.json")
    #expect(document.status == "interrupted")
    let write = try #require(try rows("summary.csv").first { $0["operation"] == "write" })
    #expect(Int(write["count"]!)! > 0)
  }

  @Test(arguments: [
    ("mixed --processes 2", "mixed keeps what it expects"),
    ("pinned-growth --processes 2", "readers-writer, transfer, bulk-load can"),
    ("transfer --processes 0", "--processes"),
    ("transfer --processes 5 --ops 4", "leaves some without an operation"),
    ("transfer --processes 2 --threshold syncs<5", "each process has its own"),
  ])
  func whatOneProcessAloneCanDoIsRefused(line: String, words: String) throws {
    let error = #expect(throws: UsageError.self) { try run(line + " --dry-run") }
    #expect(error?.message.contains(words) == true)
  }
}

/// Asks for a stop as soon as a file is there.
private struct FileInterruption: Interruption {
  let path: String
  func isRequested() -> Bool { FileManager.default.fileExists(atPath: path) }
}

/// Kills a process of a run as soon as it has measured something; never asks for an end.
private final class KillingInterruption: Interruption {
  private let folder: String
  private let signal: Int32
  private let killed = Monitor(false)
  var hasKilled: Bool { killed.withLock { $0 } }

  init(_ folder: String, signal: Int32) {
    self.folder = folder
    self.signal = signal
  }

  func isRequested() -> Bool {
    if hasKilled { return false }
    let text = try? String(contentsOfFile: folder + "/growth.csv", encoding: .utf8)
    guard let text, text.split(separator: "\n").count >= 3,
      let process = Self.process(writingTo: folder)
    else { return false }
    kill(process, signal)
    killed.withLock { $0 = true }
    return false
  }

  /// By its arguments: the folder is this test's own.
  static func process(writingTo folder: String) -> pid_t? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.first { process in
      let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return words.split(separator: 0).contains { $0.elementsEqual(folder.utf8) }
    }
  }
}

/// Asks for an end when the processes have measured something.
private struct GrowthInterruption: Interruption {
  private let folder: String
  init(_ folder: String) { self.folder = folder }

  func isRequested() -> Bool {
    (1...2).allSatisfy { number in
      let text = try? String(
        contentsOfFile: "\(folder)/process-00\(number)/growth.csv", encoding: .utf8)
      return (text?.split(separator: "\n").count ?? 0) >= 3
    }
  }
}
