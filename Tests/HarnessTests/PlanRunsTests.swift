// Which runs `plan` takes, and what it makes of them: those of several processes, of another
// machine, of a debug build or a disturbed machine, of few readers; those that it makes itself, and
// one that dies or never ends.
import Foundation
import TestSupport
import Testing

@testable import Harness

@Suite(.serialized, .ownThreads) struct PlanRunsTests {
  private let folder: TemporaryFolder
  private let lawful: LawfulRuns
  init() {
    folder = TemporaryFolder()
    lawful = LawfulRuns(folder.path)
  }

  /// Its curve is worked out more quickly than that of a queue.
  private static let timeQuestion = "readers at 50k reads/s each on 1 cores objects=20k"

  private func run(
    _ name: String, _ change: (inout RunDocument) -> Void = { _ in }
  ) throws -> String {
    try lawful.makeRun(
      name, objects: 20_000, batch: 10, pins: 10, every: 40, change: change)
  }

  private func ask(
    _ question: String, from runs: [String], _ more: [String] = []
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = "\(folder.path)/plan-\(UInt64.random(in: 0 ..< .max))"
    return try lawful.plan(["--ask", question, "--output", output] + more + ["--from"] + runs)
  }

  // MARK: - Processes

  @Test func readersAndWritersOfSeveralProcessesAreAllCounted() throws {
    let path = try run("processes") { document in
      document.settings.processes = 3
      document.environment.cores = 64
    }
    let observation = try PlanObservation(try MeasuredRun(folder: path))
    #expect(observation.setting.readers == 3 && observation.setting.writers == 3)
    // Each keeps pins of its own transactions, which are numbered over the file.
    #expect(observation.setting.pins == 30 && observation.setting.pinEvery == 40)
    #expect(observation.busyReaders == 3)
  }

  // MARK: - Cores and machines

  @Test func moreReadersThanRunsHadAreExtrapolated() throws {
    let runs = [
      try run("two") { document in
        document.settings.readers = 2
        document.settings.writers = 0
        document.environment.cores = 64
      }
    ]
    let far = try ask("readers at 50k reads/s each on 8 cores objects=20k", from: runs)
    #expect(far.code == .inconclusive)
    #expect(
      far.output.contains("readers with a core each 8 is 4.0 times beyond"), "\(far.output)")
    let near = try ask("readers at 50k reads/s each on 2 cores objects=20k", from: runs)
    #expect(near.code == .success, "\(near.output)")
  }

  @Test func coresAreThoseThatAContainerAndTheListLeave() throws {
    let path = try run("limited") { document in
      document.environment.cores = 64
      document.environment.cgroupCpuLimitCores = 2.5
    }
    #expect(try PlanObservation(try MeasuredRun(folder: path)).cores == 2.5)
    let listed = try run("listed") { document in
      document.environment.cores = 64
      document.settings.processors = "0-3,6"
    }
    #expect(try PlanObservation(try MeasuredRun(folder: listed)).cores == 5)
    #expect(Processors.count(in: "0-3,6") == 5 && Processors.count(in: "x") == nil)
    #expect(Processors.text(of: 2) == "2" && Processors.text(of: 2.5) == "2.50")
  }

  @Test func runsOfAnotherMachineAreAnsweredForThatOne() throws {
    let other = try run("other") { document in
      document.environment.cpu = "Another Processor"
      document.environment.cores = 64
      document.environment.rawSyncP50Ns = 777_000
    }
    let alone = try ask(Self.timeQuestion, from: [other], ["--format", "json"])
    #expect(alone.errors.contains("a run of --from is of another machine (Another Processor, 64"))
    #expect(alone.errors.contains("the answers are of that one"), "\(alone.errors)")
    #expect(alone.code == .success, "\(alone.output)")
    let told = try JSONSerialization.jsonObject(with: Data(alone.output.utf8)) as? [String: Any]
    let machine = try #require(told?["machine"] as? [String: Any])
    #expect(machine["cores"] as? Int == 64)
    #expect(machine["sync_nanoseconds"] as? Int == 777_000)
    #expect(machine["memory_bytes_per_second"] == nil)
    // Together with runs of this one, times are of neither; a file is the same everywhere.
    let both = [other, try run("here")]
    let times = try ask(Self.timeQuestion, from: both)
    #expect(times.code == .inconclusive && times.output.contains("the runs are of 2 machines"))
    #expect(times.errors.contains("times of one say little about another"))
    let file = try ask("live bytes at objects=20k", from: both)
    #expect(file.code == .success, "\(file.output) \(file.errors)")
  }

  // MARK: - Disks

  /// A transaction takes 100 us, 40 of which are the sync of the run's disk, whatever one takes
  /// now.
  @Test func anotherDiskChangesTheTimeOfTheSyncs() throws {
    let path = try lawful.makeRun(
      "synced", objects: 20_000, batch: 10, pins: 10, every: 40, syncs: 1
    ) { document in
      document.settings.durability = "full"
      document.environment.rawSyncP50Ns = 40_000
    }
    let found = try ask(
      "write rate at objects=20k sync=20us", from: [path], ["--ask", "write rate at objects=20k"])
    #expect(found.output.contains("write.rate_per_s 12,5"), "\(found.output)")
    let note = try #require(
      found.output.firstMatch(of: /do ([0-9,]+) instead of ([0-9,]+) commits/))
    #expect(note.1.hasPrefix("12,5") && note.2.hasPrefix("10,0"), "\(found.output)")
    #expect(found.output.contains("a raw write and sync takes 40.00 us of the mean commit's"))
  }

  // MARK: - Runs that say little

  @Test func runsWhoseTimesSayLittleAreRefusedOrMarked() throws {
    let changes: [(words: String, change: (inout RunDocument) -> Void)] = [
      ("a debug build", { $0.environment.build = "debug" }),
      ("a smoke run (--quick)", { $0.settings.quick = true }),
      (
        "the hypervisor took 30.0 %",
        { document in
          document.disturbance = MachineDisturbance()
          document.disturbance?.stealPercent = 30
        }
      ),
      ("holds a run that is interrupted", { $0.status = "interrupted" }),
    ]
    for (number, (words, change)) in changes.enumerated() {
      let path = try run("doubtful-\(number)", change)
      let error = #expect(throws: UsageError.self) {
        try ask(Self.timeQuestion, from: [path])
      }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("--partial") == true)
    }
    let path = folder.file("doubtful-0")
    let marked = try ask(
      Self.timeQuestion, from: [path],
      ["--partial", "--ask", "live bytes at objects=20k"])
    #expect(marked.code == .inconclusive)
    let words = "not vouched for: 1 of 1 runs say little about times: a debug build"
    // A file is the same however long it took.
    #expect(marked.output.components(separatedBy: words).count == 2, "\(marked.output)")
    let cut = try ask(Self.timeQuestion, from: [folder.file("doubtful-3")], ["--partial"])
    #expect(cut.output.contains("say little about times: the run is interrupted"), "\(cut.output)")
    #expect(cut.errors.contains("doubtful-3' is interrupted: its figures are partial"))
    #expect(throws: UsageError.self) { try lawful.plan(["--partial", "--ask", "write rate"]) }
  }

  @Test func aRunThatHangsEndsThePlan() throws {
    let program = folder.file("hanging")
    try "#!/bin/sh\nexec tail -f /dev/null\n".write(
      toFile: program, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let runs = PlanRuns(
      executable: program, folder: folder.path, budgetNanoseconds: 1_000_000,
      spareNanoseconds: 50_000_000, seed: 1, interruption: TimedInterruption(),
      progress: { _ in })
    let experiment = PlanExperiment(setting: PlanSetting(), length: .seconds(1))
    let error = #expect(throws: ExecutableFailure.self) {
      try runs.run(experiment, for: "experiment")
    }
    #expect(error?.code == .failed && error?.message.contains("it hangs") == true)
  }

  // MARK: - Runs that are made

  /// A program that takes the place of realm-bench: every run has the results of one prepared
  /// folder.
  ///
  /// - Parameter count: how many runs end as they should; the next one dies.
  private func program(
    _ name: String, of prepared: String, dyingAfter count: Int = 1_000
  ) throws -> String {
    let path = folder.file(name)
    let text = """
      #!/usr/bin/env bash
      while [ $# -gt 0 ]; do
        if [ "$1" = --output ]; then output=$2; fi
        shift
      done
      echo >>'\(path).count'
      number=$(wc -l <'\(path).count')
      [ "$number" -le \(count) ] || exit 1
      mkdir -p "$(dirname "$output")" && cp -r '\(prepared)' "$output"
      # No two runs are the same, which would be refused.
      printf '%*s' "$number" '' >>"$output/run.json"
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  /// How many runs a program was started for.
  private func runs(of program: String) throws -> Int {
    try String(contentsOfFile: program + ".count", encoding: .utf8).count
  }

  @Test func runsAreMadeFittedAndChecked() throws {
    let prepared = try run("prepared")
    let question = ["--ask", "file size at pins=10 pin-every=40 objects=20k"]
    let budget = question + ["--budget", "20s", "--output"]
    let sound = try program("sound", of: prepared)
    let result = try lawful.plan(budget + [folder.file("made")], executable: sound)
    #expect(result.code == .success, "\(result.output) \(result.errors)")
    #expect(result.output.contains("checked by a run") && result.output.contains("error "))
    let table = try lawful.rows("made")
    let check = try #require(table.first { $0["kind"] == "check" })
    #expect(check["command"]?.hasPrefix("realm-bench run readers-writer") == true)
    #expect(check["error_percent"].flatMap(Double.init) != nil)
    #expect(table.filter { $0["kind"] == "experiment" }.count > 3)
    // What was made can be used again, without new runs.
    let again = try lawful.plan(
      question + ["--from", folder.file("made"), "--output", folder.file("again")])
    #expect(again.code == .success && again.output.contains("not checked by a run"))
    // A run that dies after the last answer costs none of them: the last one is the check.
    let mortal = try program("mortal", of: prepared, dyingAfter: try runs(of: sound) - 1)
    let cut = try lawful.plan(budget + [folder.file("cut")], executable: mortal)
    #expect(cut.code == .failed && cut.errors.contains("ended with 1"), "\(cut.errors)")
    #expect(cut.output.contains("not checked by a run"), "\(cut.output)")
    #expect(cut.output.contains("warning: a run failed: "), "\(cut.output)")
    #expect(try lawful.rows("cut").contains { $0["kind"] == "answer" })
    let failing = try lawful.plan(
      ["--budget", "1s", "--output", folder.file("failed")], executable: "/bin/false")
    #expect(failing.code == .failed && failing.errors.contains("ended with 1"))
  }

  /// Twenty of them take many minutes: those before a death were lost, or looked like all.
  @Test func validationsBeforeADeathAreKeptAndMarked() throws {
    let prepared = try run("prepared")
    let words = ["--validate", "--settings", "2", "--budget", "2m", "--format", "json", "--output"]
    let sound = try program("sound", of: prepared)
    let whole = try lawful.plan(words + [folder.file("whole")], executable: sound)
    #expect([.success, .inconclusive].contains(whole.code), "\(whole.errors)")
    #expect(!whole.output.contains("\"failure\"") && !whole.output.contains("a run failed"))
    let mortal = try program("mortal", of: prepared, dyingAfter: try runs(of: sound) - 1)
    let cut = try lawful.plan(words + [folder.file("cut")], executable: mortal)
    #expect(cut.code == .failed && cut.errors.contains("ended with 1"), "\(cut.errors)")
    func validations(_ name: String) throws -> Int {
      try lawful.rows(name).filter { $0["kind"] == "validation" }.count
    }
    let (kept, all) = (try validations("cut"), try validations("whole"))
    #expect(kept > 0 && kept <= all, "\(kept) of \(all)")
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(cut.output.utf8)) as? [String: Any])
    #expect((json["failure"] as? String)?.contains("ended with 1") == true, "\(cut.output)")
    let warnings = try #require(json["warnings"] as? [String])
    #expect(warnings.contains { $0.hasPrefix("a run failed: ") }, "\(warnings)")
    let page = try String(contentsOfFile: folder.file("cut/plan.html"), encoding: .utf8)
    #expect(page.contains("<p class=\"bad\">a run failed: "))
  }

  // MARK: - What answers say

  /// Only standard error told of it, and JSON.
  @Test func everyFormOfAnInterruptedPlanSaysSo() throws {
    var result = PlanResult(machine: MachineCosts(of: []))
    result.isInterrupted = true
    let forms = try OutputFormat.allCases.map { try PlanOutput(result, folder: "x").render($0) }
    for form in forms + [PlanPage(result).html()] {
      #expect(form.contains("interrupted: the answers are from what was measured"), "\(form)")
    }
  }

  private func answer(_ question: String, _ estimate: PlanEstimate, unit: String) throws
    -> PlanAnswer
  {
    PlanAnswer(
      question: try PlanQuestion(question), name: "figure", unit: unit, estimate: estimate,
      method: "none", readable: { String($0) })
  }

  @Test func aRangeThatTellsNothingIsNotVouchedFor() throws {
    let time = "p99 at load=70%"
    let useless = try answer(time, PlanEstimate(1e8, low: 52e6, high: 16e9), unit: "ns")
    #expect(!useless.isVouched && useless.doubts[0].contains("wider than ten times"))
    #expect(try answer(time, PlanEstimate(1e8, low: 52e6, high: 4e8), unit: "ns").isVouched)
    let rate = try answer(
      "largest rate with write.response_p99<5ms", PlanEstimate(90, low: 0, high: 100), unit: "1/s")
    #expect(!rate.isVouched)
    let readers = "readers at 50k reads/s each on 8 cores"
    #expect(try answer(readers, PlanEstimate(3, low: 0, high: 8), unit: "1").isVouched)
    #expect(try !answer(readers, PlanEstimate(30, low: 0, high: 80), unit: "1").isVouched)
  }

  @Test func whatASearchHasFoundIsNoRangeOfResults() throws {
    var found = try answer(
      "largest rate with write.response_p99<5ms", PlanEstimate(95, low: 95, high: 99), unit: "1/s")
    found.isBracket = true
    var result = PlanResult(machine: MachineCosts(of: []))
    result.answers = [found]
    let text = try PlanOutput(result, folder: "x").render(.text)
    #expect(text.contains("figure 95.0: a run kept the limit there, one at 99.0 did not"))
    #expect(!text.contains("9 of 10"))
  }

  @Test func aDryRunIsJSONWhereThatIsAskedFor() throws {
    let dry = try lawful.plan([
      "--ask", "write rate at batch=10", "--budget", "10s", "--dry-run", "--format", "json",
    ])
    let told = try JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any]
    let questions = try #require(told?["questions"] as? [[String: Any]])
    #expect(questions.first?["question"] as? String == "write rate at batch=10")
    let commands = try #require(questions.first?["commands"] as? [String])
    #expect(commands.count == 3 && commands[0].hasPrefix("realm-bench run readers-writer"))
    #expect(commands[1].hasSuffix("# and a --rate: 40% of what a closed loop does"), "\(commands)")
  }
}
