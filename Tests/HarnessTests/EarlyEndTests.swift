// A verb that is ended before its time, or whose text nobody takes any more: what it has measured
// stands in its files, and it says so.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct EarlyEndTests {
  private let folder = TemporaryFolder()

  private static var tool: String {
    Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent("realm-bench")
      .path
  }

  /// A process of the tool, or of a shell that starts it.
  private final class Child {
    let process = Process()
    /// A file: a pipe could be held open by the child of another test.
    private let errors: String

    init(_ executable: String, _ arguments: [String], in folder: String) throws {
      process.executableURL = URL(fileURLWithPath: executable)
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      process.standardOutput = FileHandle.nullDevice
      errors = "\(folder)/errors-\(UUID().uuidString)"
      try "".write(toFile: errors, atomically: false, encoding: .utf8)
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
      process.standardError = file
      try process.start()
      try file.close()
    }

    deinit { if process.isRunning { kill(SIGKILL) } }

    var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    func kill(_ signal: Int32) { Glibc.kill(process.processIdentifier, signal) }

    /// The code with which it ends; -1 for a signal, or when it does not end.
    func code() -> Int32 {
      #expect(eventually { !process.isRunning }, "\(process.arguments ?? []) does not end")
      guard !process.isRunning, process.terminationReason == .exit else { return -1 }
      return process.terminationStatus
    }
  }

  /// With the signals as a terminal leaves them, whatever the process of the tests ignores: started
  /// by `nohup` it ignores SIGHUP.
  private func tool(_ line: String) throws -> Child {
    try Child(
      "/usr/bin/env",
      ["--default-signal", Self.tool] + line.split(separator: " ").map(String.init),
      in: folder.path)
  }

  /// In a shell, where `$tool` is the tool and `$run` a short run without its folder.
  private func shell(_ script: String) throws -> Child {
    let run = "\(Self.tool) run \(Self.load) --duration 200ms"
    return try Child(
      "/bin/sh", ["-c", "tool='\(Self.tool)'; run='\(run)'; \(script)"], in: folder.path)
  }

  private static let load =
    "readers-writer --readers 1 --objects 100 --value-size 16B --warmup 0s --interval 20ms "
    + "--durability memory --invariants none"

  private func text(_ name: String) -> String? {
    try? String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
  }

  private func lines(_ name: String) -> Int { text(name)?.split(separator: "\n").count ?? 0 }

  private func status(_ results: String) -> String {
    (try? MeasuredRun(folder: "\(folder.path)/\(results)").document.status) ?? "none"
  }

  // MARK: - Signals

  @Test(arguments: [SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM])
  func everySignalThatEndsARunKeepsItsResults(signal: Int32) throws {
    let run = try tool("run \(Self.load) --duration 1h --output out")
    #expect(eventually { lines("out/growth.csv") > 3 })
    run.kill(signal)
    // To the process and to its group, as a shell and a kernel do: one wish.
    run.kill(signal)
    #expect(run.code() == ExitCode.interrupted.rawValue, "\(run.errorText)")
    #expect(status("out") == "interrupted" && lines("out/summary.csv") > 2)
    #expect(!run.errorText.contains("Thread 0"))
  }

  /// It reads a long file first, and has not begun to look for signals: they wait until it does.
  @Test func aSignalInTheFirstMomentsIsHeardLater() throws {
    let (accepted, program) = (folder.path + "/accepted", folder.path + "/program")
    try String(repeating: "# nothing\n", count: 400_000)
      .write(toFile: accepted, atomically: true, encoding: .utf8)
    try "#!/bin/sh\nsleep 0.3\nexit 1\n"
      .write(toFile: program, atomically: true, encoding: .utf8)
    chmod(program, 0o755)
    let compare = try tool(
      "compare --executables \(program) \(program) --accepted \(accepted) -- readers-writer")
    let status = "/proc/\(compare.process.processIdentifier)/status"
    // By then it ignores what would end it for what it writes; nothing else has happened.
    #expect(
      eventually {
        let line = (try? String(contentsOfFile: status, encoding: .utf8))?
          .split(separator: "\n").first { $0.hasPrefix("SigIgn:") }
        let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        return mask & 1 << UInt64(SIGXFSZ - 1) != 0
      })
    compare.kill(SIGTERM)
    #expect(compare.code() == ExitCode.interrupted.rawValue, "\(compare.errorText)")
  }

  @Test func verbsThatLookForSignalsHearThemFromTheStart() {
    let hearing = Verbs.all.filter { $0.hearsSignals(["--executables", "--continuous"]) }
    #expect(
      hearing.map { $0.name }.sorted() == ["check", "compare", "doctor", "hunt", "plan", "run"])
    #expect(!CompareVerb.hearsSignals(["a", "b"]) && !CheckVerb.hearsSignals(["a"]))
  }

  /// As by `nohup`, or as a job in the background of a script.
  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT])
  func whoIgnoresASignalFromTheStartGoesOn(signal: Int32) throws {
    let run = try shell(
      "trap '' \(signal); exec $tool run \(Self.load) --duration 1h --output out")
    #expect(eventually { lines("out/growth.csv") > 3 })
    run.kill(signal)
    let seen = lines("out/growth.csv")
    #expect(eventually { lines("out/growth.csv") > seen + 5 })
    #expect(run.process.isRunning && status("out") == "failed")
    run.kill(SIGTERM)
    #expect(run.code() == ExitCode.interrupted.rawValue)
  }

  /// A program that notes that it was told to end, and does not end before its parent.
  private func stubbornProgram() throws -> String {
    let path = folder.path + "/stubborn"
    try """
    #!/bin/sh
    parent=$PPID
    trap 'touch \(folder.path)/told' TERM
    touch \(folder.path)/began
    while kill -0 $parent 2>/dev/null; do sleep 0.05; done
    """.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.path + "/" + name)
  }

  @Test func childrenAreToldToEndAndASecondSignalEndsAtOnce() throws {
    let program = try stubbornProgram()
    let compare = try tool("compare --executables \(program) \(program) -- readers-writer")
    #expect(eventually { exists("began") })
    compare.kill(SIGINT)
    #expect(eventually { exists("told") })
    #expect(compare.process.isRunning)
    #expect(
      eventually {
        compare.kill(SIGINT)
        return !compare.process.isRunning
      })
    #expect(compare.process.terminationReason == .uncaughtSignal)
  }

  @Test func aHungProgramDoesNotOutliveASecondSignal() throws {
    let program = folder.path + "/hung"
    try "#!/bin/sh\ntrap 'touch \(folder.path)/told' TERM\necho $$ > \(folder.path)/began\n"
      .appending("while :; do sleep 0.05; done\n")
      .write(toFile: program, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let compare = try tool("compare --executables \(program) \(program) -- readers-writer")
    #expect(eventually { text("began")?.hasSuffix("\n") == true })
    let hung = try #require(text("began").flatMap { pid_t($0.dropLast()) })
    compare.kill(SIGINT)
    #expect(eventually { exists("told") })
    #expect(
      eventually {
        compare.kill(SIGINT)
        return !compare.process.isRunning
      })
    // Who has no parent left may stay as one that nobody has asked for its end.
    #expect(
      eventually {
        let stat = try? String(contentsOfFile: "/proc/\(hung)/stat", encoding: .utf8)
        return stat?.contains(") Z ") ?? true
      })
    kill(hung, SIGKILL)
  }

  @Test func interruptedReplicasAreKeptAndMarked() throws {
    let line = "run \(Self.load) --replicas 3 --output out"
    let run = try shell("exec $tool \(line) --ops 2000")
    #expect(run.code() == 0, "\(run.errorText)")
    #expect(lines("out/summary.csv") > 9)
    let interrupted = try tool(
      "\(line) --duration 1h".replacing("--output out", with: "--output part"))
    #expect(eventually { lines("part/replica-001/growth.csv") > 3 })
    interrupted.kill(SIGTERM)
    #expect(interrupted.code() == ExitCode.interrupted.rawValue)
    #expect(interrupted.errorText.contains("0 of 3 runs are whole"))
    #expect(status("part/replica-001") == "interrupted" && !exists("part/replica-002"))
  }

  @Test func childrenOfAProcessThatIsGoneEndAndKeepWhatTheyHave() throws {
    let run = try tool("run \(Self.load) --replicas 2 --output out --duration 1h")
    #expect(eventually { lines("out/replica-001/growth.csv") > 3 })
    run.kill(SIGKILL)
    #expect(eventually { status("out/replica-001") == "interrupted" })
  }

  /// Processes that have this test's folder in their command line.
  private var processes: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { process in
      let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return String(decoding: words, as: UTF8.self).contains(folder.path + "/")
    }
  }

  private static let together =
    "run \(load) --processes 2 --duration 1h".replacing("--invariants none", with: "")

  @Test(arguments: [SIGHUP, SIGINT, SIGTERM])
  func aSignalEndsAllProcessesOfARunAndKeepsTheirResults(signal: Int32) throws {
    let run = try tool("\(Self.together) --output \(folder.path)/out")
    #expect(eventually { (1...2).allSatisfy { lines("out/process-00\($0)/growth.csv") > 3 } })
    run.kill(signal)
    #expect(run.code() == ExitCode.interrupted.rawValue, "\(run.errorText)")
    #expect(status("out") == "interrupted" && lines("out/summary.csv") > 2)
    #expect(processes.isEmpty, "\(processes)")
  }

  @Test func processesOfARunThatIsGoneEnd() throws {
    let run = try tool("\(Self.together) --output \(folder.path)/out")
    #expect(eventually { (1...2).allSatisfy { lines("out/process-00\($0)/growth.csv") > 3 } })
    run.kill(SIGKILL)
    #expect(eventually { processes.isEmpty }, "\(processes)")
    #expect(
      status("out/process-001") == "interrupted" && status("out/process-002") == "interrupted")
    #expect(status("out") == "failed")
  }

  /// Another process has stopped one of them, or the whole run.
  @Test func aStoppedProcessEndsWithTheOthers() throws {
    let run = try tool("\(Self.together) --output \(folder.path)/out")
    #expect(eventually { (1...2).allSatisfy { lines("out/process-00\($0)/growth.csv") > 3 } })
    for process in processes where process != run.process.processIdentifier {
      Glibc.kill(process, SIGSTOP)
    }
    run.kill(SIGINT)
    #expect(run.code() == ExitCode.interrupted.rawValue, "\(run.errorText)")
    #expect(processes.isEmpty && status("out/process-002") == "interrupted")
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func backgroundProcessesEndWithTheirRun(signal: Int32) throws {
    let plan = """
      { "workload": "readers-writer", "settings": {"readers": 1, "objects": 100, "warmup": "0s",
        "duration": "1h", "interval": "20ms", "durability": "memory"},
        "background": [{"kind": "pins", "processes": 2}, {"kind": "reader"}],
        "faults": [{"kind": "stop", "process": "reader", "at": "1ms"}] }
      """
    try plan.write(toFile: folder.path + "/plan.json", atomically: true, encoding: .utf8)
    let run = try tool("run \(folder.path)/plan.json --output \(folder.path)/out")
    #expect(eventually { lines("out/growth.csv") > 3 && processes.count == 4 })
    run.kill(signal)
    #expect(run.code() == (signal == SIGTERM ? ExitCode.interrupted.rawValue : -1))
    #expect(eventually { processes.isEmpty }, "\(processes)")
  }

  /// A comparison that is interrupted has the blocks before.
  @Test func interruptedComparisonsAndPlansKeepWhatHasEnded() throws {
    let compare = try tool(
      "compare --executables \(Self.tool) \(Self.tool) --budget 1h -- \(Self.load) --ops 2000")
    #expect(eventually { compare.errorText.contains("block 2:") })
    compare.kill(SIGTERM)
    #expect(compare.code() == ExitCode.interrupted.rawValue)
    #expect(compare.errorText.contains("compared is what was measured until then"))
    #expect(text("compare.csv")?.contains("read,service_p50_ns") == true)

    // What a plan has made before it was interrupted answers another one.
    let run = "\(Self.load) --ops 4000 --output plan/experiments"
    try FileManager.default.createDirectory(
      atPath: folder.path + "/plan/experiments/003", withIntermediateDirectories: true)
    #expect(try tool("run \(run)/001").code() == 0)
    let second = try tool("run \(run)/002".replacing("--ops 4000", with: "--duration 1h"))
    #expect(eventually { lines("plan/experiments/002/growth.csv") > 3 })
    second.kill(SIGHUP)
    #expect(second.code() == ExitCode.interrupted.rawValue)
    let plan = try Child(
      Self.tool,
      [
        "plan", "--from", "plan", "--partial", "--output", "again", "--ask",
        "write rate at objects=100 durability=memory",
      ],
      in: folder.path)
    _ = plan.code()
    #expect(plan.errorText.contains("plan/experiments/002' is interrupted: left out"))
    #expect(text("again/plan.csv")?.contains("answer") == true, "\(plan.errorText)")
  }

  // MARK: - Streams

  @Test(arguments: [
    "list", "list --format json", "--version", "", "help run", "run --help", "completion man",
    "doctor --duration 100ms", "check --help",
  ])
  func whatCannotBeShownEndsWithOne(line: String) throws {
    for target in ["> /dev/full", ">&-", "2>&1 >&-"] {
      let child = try shell("$tool \(line) \(target)")
      #expect(child.code() == ExitCode.failed.rawValue, "\(line) \(target)")
      if !target.contains("2>") {
        #expect(child.errorText.contains("standard output took no more"), "\(child.errorText)")
      }
    }
    let piped = try shell("{ $tool \(line); echo $? > code; } | true")
    #expect(piped.code() == 0)
    // `true` may be slow enough to have taken all of a short text.
    #expect(eventually { text("code") != nil })
    #expect(["0\n", "1\n"].contains(text("code")))
    // Who reads no further needs no warning.
    #expect(!piped.errorText.contains("took no more"), "\(piped.errorText)")
  }

  @Test(arguments: ["> /dev/full", ">&-", ">&- 2>&-", ">&- 2>&- <&-", "2>&-", "2> /dev/full"])
  func aStreamThatTakesNoMoreCostsNoFile(target: String) throws {
    let run = try shell("$run --output out --keep-file \(target)")
    #expect(run.code() == ExitCode.failed.rawValue)
    #expect(status("out") == "complete" && lines("out/summary.csv") > 3)
    #expect(exists("out/histograms/read.hgrm") && lines("out/growth.csv") > 2)
    if !target.contains("2>") { #expect(run.errorText.contains("the results are in out")) }
    // No text went into a file that got the number of a closed stream.
    #expect(try tool("check out/data.realm").code() == 0)
  }

  @Test func aReaderThatGoesAwayCostsNoFile() throws {
    let run = try shell("{ $run --output out; echo $? > code; } 2>&1 | head -n 1")
    #expect(run.code() == 0)
    #expect(eventually { text("code") == "1\n" })
    #expect(status("out") == "complete" && lines("out/summary.csv") > 3)
    let replicas = try shell("$run --replicas 2 --output all > /dev/full")
    #expect(replicas.code() == ExitCode.failed.rawValue)
    #expect(status("all/replica-002") == "complete" && lines("all/summary.csv") > 6)
  }

  @Test func aLossIsToldOnceAndOnlySuccessBecomesAFailure() {
    for (given, expected) in [
      (ExitCode.success, ExitCode.failed), (.inconclusive, .failed),
      (.thresholdMissed, .thresholdMissed), (.interrupted, .interrupted), (.usage, .usage),
    ] {
      let errors = CollectedOutput()
      let console = errors.consoleWithFullOutput()
      #expect(console.end(with: given) == given)
      console.print("a")
      console.print("b")
      console.keeps("there")
      #expect(console.losses.count == 1)
      #expect(console.end(with: given) == expected)
      #expect(errors.errors.contains("No space left on device); the results are in there\n"))
    }
  }

  // MARK: - Files

  /// Does something to the folder of a run, once.
  private struct Meddling: Interruption {
    let body: @Sendable () -> Void
    let isDone = Monitor(false)
    func isRequested() -> Bool {
      isDone.withLock { isDone in
        if !isDone { body() }
        isDone = true
      }
      return false
    }
  }

  private func run(
    _ more: String, meddling: @escaping @Sendable () -> Void
  ) throws -> (code: ExitCode, output: CollectedOutput) {
    let output = CollectedOutput()
    let interruption = Meddling(body: meddling)
    let words = "\(Self.load) --ops 3000 --output \(folder.path)/out \(more)"
    let code = try output.run(words, until: { interruption }) { _, _ in ModelEngine(bug: nil) }
    return (code, output)
  }

  @Test func whatCannotBeWrittenIsShown() throws {
    let path = folder.path + "/out"
    let (code, output) = try run("") { try? FileManager.default.removeItem(atPath: path) }
    #expect(code == .failed)
    #expect(output.output.contains("operation") && output.output.contains("read "))
    #expect(output.errors.contains("error: cannot write"))
  }

  /// A user who has enough as soon as the final check waits.
  private struct StopInCheck: Interruption {
    let engine: ModelEngine
    func isRequested() -> Bool { engine.checks.withLock { $0.waiting > 0 } }
  }

  /// The final check of a large file takes long; what was measured does not wait for it.
  @Test func anInterruptedFinalCheckCostsNoResults() throws {
    let (engine, output) = (ModelEngine(bug: nil), CollectedOutput())
    engine.checks.withLock { $0.isHeld = true }
    let words =
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 2000 "
      + "--output \(folder.path)/out"
    let code = try output.run(words, until: { StopInCheck(engine: engine) }) { _, _ in engine }
    engine.checks.withLock { $0.isHeld = false }
    engine.checks.notifyAll()
    #expect(code == .interrupted && output.output.contains("the final check had not ended"))
    #expect(status("out") == "interrupted" && lines("out/summary.csv") > 3)
    // Who still uses the file must not lose it.
    #expect(try MeasuredRun(folder: folder.path + "/out").document.realmFile != nil)
  }

  /// What looks at one object after the other ends soon, so that nobody uses the file any more.
  @Test func aFileIsRemovedWhenTheFinalCheckIsInterrupted() throws {
    struct Stop: Interruption {
      let output: CollectedOutput
      func isRequested() -> Bool { output.errors.contains("checking the whole table") }
    }
    let output = CollectedOutput()
    let words =
      "readers-writer --readers 1 --objects 60000 --value-size 16B --warmup 0s --ops 200 "
      + "--durability memory --output \(folder.path)/out"
    let code = try output.run(words, until: { Stop(output: output) }) {
      try RealmDriver(path: $0, durability: $1)
    }
    #expect(code == .interrupted && output.output.contains("the final check had not ended"))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out")
    #expect(!files.contains { $0.hasPrefix("data.realm") }, "\(files)")
    #expect(try MeasuredRun(folder: folder.path + "/out").document.realmFile == nil)
  }

  /// A file that is still in use when the process ends is named, and changes later than the list
  /// is written: it is in the way of nobody.
  @Test func aFileThatHasToStayIsNamedAndReplaced() throws {
    let (engine, output) = (ModelEngine(bug: nil), CollectedOutput())
    engine.checks.withLock { $0.isHeld = true }
    let file = folder.path + "/out/data.realm"
    let words = "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200"
      .split(separator: " ").map(String.init)
    let code = try RunVerb.run(
      words + ["--output", folder.path + "/out"],
      RunVerb.Surroundings(
        console: output.console(), interruption: { StopInCheck(engine: engine) },
        makeDriver: { path, _ in
          #expect(FileManager.default.createFile(atPath: path, contents: nil))
          return engine
        }))
    #expect(code == .interrupted)
    #expect(output.errors.contains("the Realm file stays, because it was still in use"))
    #expect(output.errors.contains(file), "\(output.errors)")
    engine.checks.withLock { $0.isHeld = false }
    engine.checks.notifyAll()
    let start: [UInt8] = [0x89, 0x4f, 0x42, 0x4a, 0x44, 0x42, 0x0a, 0x1a]
    try Data(start + [UInt8](repeating: 0, count: 5_000)).write(
      to: URL(fileURLWithPath: file))
    try Data("rm-log01".utf8).write(to: URL(fileURLWithPath: file + ".log"))
    let again = try RunVerb.run(
      words + ["--output", folder.path + "/out", "--overwrite"],
      RunVerb.Surroundings(
        console: output.console(), interruption: { TimedInterruption() },
        makeDriver: { _, _ in ModelEngine(bug: nil) }))
    #expect(again == .success || again == .inconclusive, "\(output.errors)")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  /// One file that cannot be written makes the run no valid one, and costs no other file.
  @Test func aFileThatCannotBeWrittenMarksTheRun() throws {
    let path = folder.path + "/out/summary.csv"
    let (code, output) = try run("") {
      try? FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
      _ = FileManager.default.createFile(atPath: path + "/taken", contents: nil)
    }
    #expect(code == .failed)
    #expect(output.errors.contains("cannot write summary.csv in"), "\(output.errors)")
    #expect(output.output.contains("operation"))
    let document = try RunDocument(path: folder.path + "/out/run.json")
    #expect(document.status == "failed" && !document.verdict.isValid)
    #expect(document.failure?.contains("cannot write summary.csv") == true)
    #expect(document.verdict.reasons.first?.contains("cannot write summary.csv") == true)
    #expect(lines("out/invariants.csv") > 0 && lines("out/histograms/read.hgrm") > 3)
  }

  @Test func aHistoryThatCannotBeJoinedLosesNothingElse() throws {
    let path = folder.path + "/out/history.jsonl"
    let (code, output) = try run("--history") {
      try? FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
      _ = FileManager.default.createFile(atPath: path + "/taken", contents: nil)
    }
    #expect(code == .failed)
    #expect(output.errors.contains("cannot join the history"), "\(output.errors)")
    #expect(output.output.contains("verdict") && lines("out/summary.csv") > 2)
    let document = try MeasuredRun(folder: folder.path + "/out").document
    #expect(document.status == "complete")
    #expect(document.failure?.contains("cannot join the history") == true)
    let parts = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out/history")
    #expect(!parts.isEmpty)
  }
}
