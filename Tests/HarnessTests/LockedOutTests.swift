// Runs that nothing ends while another process keeps the write lock: phases of so many operations,
// a table that cannot be filled, a migration, the operations of a user's own workload, the final
// check. They end when their patience does, keep what they have, and say who has the lock.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct LockedOutTests {
  private let folder = TemporaryFolder()

  private static func executable(_ name: String) -> URL {
    Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent(name)
  }

  // MARK: - On the model

  /// A run whose lock somebody takes when the first phase begins, and keeps.
  private func lockedOut(
    _ workload: WorkloadKind, _ change: (inout RunSettings) -> Void
  ) -> (outcome: RunOutcome, settings: RunSettings) {
    var settings = RunSettings(workload)
    settings.readers = 1
    settings.threads = 2
    settings.writers = 2
    settings.objects = 200
    settings.batch = 2
    settings.pins = min(settings.pins, 2)
    settings.valueSize = ValueSize(minimum: 24, maximum: 24)
    settings.mix = OperationMix("update:100")!
    settings.warmupNanoseconds = 0
    settings.patienceNanoseconds = 300_000_000
    settings.seed = testSeed()
    change(&settings)
    let engine = ModelEngine()
    let run = settings.makeWorkload(engine)
    let control = run.shared.control
    let isOver = Monitor(false)
    let holder = Thread.start(name: "holder") {
      _ = eventually { control.epoch.phase != .load }
      engine.state.wait(until: { !$0.isWriting }) { state in
        state.isWriting = true
        state.foreignWait = ForeignWait(number: 7, writer: "process 'other' (12)")
      }
      _ = isOver.wait(nanoseconds: 120_000_000_000) { $0 }
      engine.state.withLock { state in
        state.isWriting = false
        state.foreignWait = nil
      }
      engine.state.notifyAll()
    }
    let outcome = WorkloadRun(
      run, settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    isOver.withLock { $0 = true }
    isOver.notifyAll()
    holder.joinInTime()
    return (outcome, settings)
  }

  @Test(arguments: [WorkloadKind.bulkLoad, .migration, .pinnedGrowth, .readersWriter, .mixed])
  func aPhaseOfOperationsEndsThoughTheLockIsNeverFree(_ workload: WorkloadKind) throws {
    let (outcome, settings) = lockedOut(workload) { settings in
      // Many more than are done before somebody has the lock.
      if workload == .bulkLoad { settings.objects = 2_000_000 }
      if workload != .bulkLoad && workload != .migration { settings.operations = 10_000_000 }
      if workload == .readersWriter { settings.readers = 0 }
      if workload == .migration { settings.warmupNanoseconds = 200_000_000 }
    }
    #expect(outcome.failure == nil && outcome.violation == nil && outcome.status == .complete)
    #expect(outcome.areKeptWaiting && !outcome.unended.isEmpty)
    #expect(outcome.keeper == "process 'other' (12)")
    let reasons = Verdict.reasons(settings: settings, outcome: outcome)
    #expect(
      reasons.contains {
        $0.contains("waited for the write lock") && $0.contains("process 'other' (12) has it")
      }, "\(reasons)")
    let missing = outcome.collector.totals.filter { $0.key.phase.isMeasured }.values.reduce(0) {
      $0 + $1.givenUp
    }
    #expect(missing > 0)
  }

  @Test func aWarmUpOfOperationsEndsThoughTheLockIsNeverFree() {
    let (outcome, _) = lockedOut(.mixed) { settings in
      settings.warmupOperations = 10_000_000
      settings.operations = 10
    }
    #expect(outcome.failure == nil && outcome.status == .complete && outcome.areKeptWaiting)
    #expect(outcome.phases.map(\.phase) == [.load, .warmup])
  }

  /// Somebody has the lock before anything is there.
  @Test(arguments: [WorkloadKind.readersWriter, .mixed])
  func aTableThatCannotBeFilledFailsTheRun(_ workload: WorkloadKind) {
    let engine = ModelEngine()
    engine.state.withLock { state in
      state.isWriting = true
      state.foreignWait = ForeignWait(number: 1, writer: "process 'other' (12)")
    }
    var settings = RunSettings(workload)
    settings.patienceNanoseconds = 100_000_000
    let outcome = WorkloadRun(
      settings.makeWorkload(engine), settings: settings, interruption: TimedInterruption(),
      progress: ProgressLine(CollectedOutput().console(), OutputChoices())
    ).run()
    #expect(outcome.status == .failed && outcome.unended == ["load"])
    #expect(
      outcome.failure
        == "loading the table: it has waited for the write lock for 100 ms, and process 'other' (12) "
        + "has it")
    engine.state.withLock { $0.isWriting = false }
    engine.state.notifyAll()
  }

  // MARK: - With a process that keeps the lock

  /// Takes the write lock of a file and keeps it until it is dropped.
  private final class Holder {
    private let process = Process()
    init(_ path: String) throws {
      process.executableURL = LockedOutTests.executable("CommittingProcess")
      process.arguments = [path, "hold", "memory"]
      process.standardOutput = FileHandle.nullDevice
      try process.start()
    }
    func end() {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    deinit { end() }
  }

  /// Runs a tool, and has another process take the lock once the run's file is there with rows.
  private func run(
    _ tool: String, _ line: String
  ) throws -> (code: Int32, errors: String) {
    let file = folder.file("errors")
    try "".write(toFile: file, atomically: false, encoding: .utf8)
    let process = Process()
    process.executableURL = Self.executable(tool)
    process.arguments =
      (line + " --path data.realm --output out --durability memory --interval 50ms --patience 2s")
      .split(separator: " ").map(String.init)
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try process.start()
    let growth = folder.file(line.contains("--processes") ? "out/process-001" : "out")
    #expect(
      eventually {
        let text = try? String(contentsOfFile: growth + "/growth.csv", encoding: .utf8)
        return (text?.split(separator: "\n").count ?? 0) > 3 || !process.isRunning
      })
    let holder = try Holder(folder.file("data.realm"))
    let hasEnded = eventually { !process.isRunning }
    holder.end()
    if !hasEnded { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    #expect(hasEnded)
    return (process.terminationStatus, try String(contentsOfFile: file, encoding: .utf8))
  }

  private func document() throws -> RunDocument {
    try RunDocument(path: folder.file("out/run.json"))
  }

  @Test func aUsersOwnOperationsAreNotWaitedFor() throws {
    let result = try run(
      "ShopBench", "run shop --objects 100 --warmup 0s --duration 2s --mix buy:100 --threads 2")
    #expect(result.code == 4, "\(result.errors)")
    let document = try document()
    #expect(document.status == "complete" && !document.verdict.isValid)
    #expect(document.unended == ["thread 1", "thread 2"] && document.keptWaiting == true)
    #expect(document.keeper?.hasPrefix("process 'CommittingProce") == true)
    #expect(result.errors.contains("waited for the write lock"), "\(result.errors)")
  }

  @Test func processesThatAreKeptWaitingEnd() throws {
    let result = try run(
      "realm-bench",
      "run readers-writer --objects 100 --readers 1 --warmup 0s --duration 2s --processes 2")
    #expect(result.code == 4, "\(result.errors)")
    let document = try document()
    #expect(document.status == "complete" && !document.verdict.isValid)
    #expect(document.unended?.contains("process 1, writer 1") == true)
    #expect(document.keeper?.hasPrefix("process 'CommittingProce") == true)
  }

  /// What was due in one of them is due in all of them, and nobody says that it went well.
  @Test func whatProcessesLeaveOutIsNotKnown() throws {
    let result = try run(
      "realm-bench",
      "run readers-writer --objects 100 --readers 1 --warmup 0s --duration 2s --rate 400/s "
        + "--processes 2 --threshold write.response_p99_ns<900000000000")
    #expect(result.code == 2, "\(result.errors)")
    let document = try document()
    let threshold = try #require(document.thresholds.first)
    #expect(threshold.value == nil && !threshold.isMet)
    let text = try String(contentsOfFile: folder.file("out/summary.csv"), encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    let row = try #require(table.first { $0[7] == "write" && $0[8] == "measure" })
    let cells = Dictionary(uniqueKeysWithValues: zip(table[0], row))
    #expect(cells["response_p99_ns"] == "" && cells["response_max_ns"] == "")
    let leftOut = try #require(document.leftOut?["write"])
    let due = Double(leftOut) + Double(cells["count"]!)!
    let measured = try #require(document.phases.first { $0.name == "measure" })
    #expect(abs(due - 400 * measured.elapsedS) < 40, "\(due) in \(measured.elapsedS) s")
    #expect(result.errors.contains("writer 1 of process "), "\(result.errors)")
  }

  /// Nothing but the check at the end wants the lock.
  @Test func aFinalCheckThatIsKeptWaitingCostsNoResults() throws {
    let output = CollectedOutput()
    let holder = Monitor<Holder?>(nil)
    let path = folder.file("data.realm")
    /// Takes the lock as soon as readers read.
    struct Taking: Interruption {
      let holder: Monitor<Holder?>
      let (path, growth): (String, String)
      func isRequested() -> Bool {
        let text = try? String(contentsOfFile: growth, encoding: .utf8)
        if (text?.split(separator: "\n").count ?? 0) > 2 {
          holder.withLock { if $0 == nil { $0 = try? Holder(path) } }
        }
        return false
      }
    }
    var surroundings = RunVerb.Surroundings(
      console: output.console(),
      interruption: {
        Taking(holder: holder, path: path, growth: folder.file("out/growth.csv"))
      }, makeDriver: { try RealmDriver(path: $0, durability: $1) })
    surroundings.patienceNanoseconds = 300_000_000
    let words =
      "readers-writer --objects 100 --readers 1 --writers 0 --warmup 0s --duration 1s --interval 50ms "
      + "--durability memory --path \(path) --output \(folder.file("out"))"
    let code = try RunVerb.run(words.split(separator: " ").map(String.init), surroundings)
    holder.withLock { $0?.end() }
    #expect(code == .inconclusive, "\(output.errors)")
    let document = try document()
    #expect(document.unended == [RunOutcome.finalCheck])
    #expect(
      document.verdict.reasons.contains {
        $0.hasPrefix("the final check had not ended: it waited for the write lock, and process ")
      }, "\(document.verdict.reasons)")
  }
}
