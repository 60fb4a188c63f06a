// `compare`: verdicts from known figures, refusals, forms, exit codes; and that unchanged figures
// are hardly ever called worse.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct ComparisonTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  /// Makes a results folder with these figures in its summary.
  private func makeRun(
    _ name: String, readNanoseconds: Double = 1_000, syncs: Double = 1, plan: String = "",
    status: String = "complete"
  ) throws -> String {
    let read = [
      "service_p50_ns": String(readNanoseconds), "service_p99_ns": String(readNanoseconds * 3),
    ]
    let write = ["service_p50_ns": "5000", "syncs_per_commit": String(syncs)]
    return try FigureFolders(folder: folder).make(
      name, ["read": read, "write": write], plan: plan
    ) { $0.status = status }
  }

  private func compare(_ words: [String]) throws -> (code: ExitCode, output: String, errors: String)
  {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--output", folder.path + "/compare.csv"] + words, console: output.console(),
      interruption: { TimedInterruption() })
    return (code, output.output, output.errors)
  }

  /// Two sides of some runs, with a little noise.
  private func sides(
    factor: Double, syncs: Double = 1, runs: Int = 5
  ) throws -> [String] {
    var random = RandomGenerator(seed: testSeed())
    var words: [String] = []
    for side in 0..<2 {
      for run in 0..<runs {
        let noise = 1 + Double(random.next(upperBound: UInt64(100))) / 100_000
        let path = try makeRun(
          "\(factor)-\(side)-\(run)", readNanoseconds: 1_000 * noise * (side == 1 ? factor : 1),
          syncs: side == 1 ? syncs : 1)
        if run == 0 {
          words.insert(path, at: side)
        } else {
          words += [side == 0 ? "--baseline" : "--candidate", path]
        }
      }
    }
    return words
  }

  @Test(arguments: [(1.0, "same"), (1.3, "worse"), (0.7, "better")])
  func knownChangesAreCalledByTheirName(factor: Double, verdict: String) throws {
    let result = try compare(try sides(factor: factor) + ["--format", "json"])
    #expect(result.code == (verdict == "worse" ? .thresholdMissed : .success))
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let rows = try #require(json?["rows"] as? [[String: Any]])
    let read = try #require(
      rows.first { $0["row"] as? String == "read" && $0["metric"] as? String == "service_p50_ns" })
    #expect(read["verdict"] as? String == verdict)
    #expect(read["low"] is NSNumber && read["noise_floor"] is NSNumber)
    let table = try String(contentsOfFile: folder.path + "/compare.csv", encoding: .utf8)
    #expect(CSVTable.parse(table)?.first == ComparisonOutput.columns)
  }

  @Test func countersThatNeverVaryAreExact() throws {
    let result = try compare(try sides(factor: 1, syncs: 1.03))
    #expect(result.code == .thresholdMissed)
    #expect(result.output.contains("Worse: write.syncs_per_commit"))
  }

  @Test func oneRunASideTellsNothing() throws {
    let words = try sides(factor: 1.5, runs: 1)
    #expect(try compare(words).code == .success)
    let strict = try compare(words + ["--strict"])
    #expect(strict.code == .inconclusive)
    #expect(strict.errors.contains("cannot tell for") && strict.output.contains("--replicas 5"))
  }

  @Test func knownRegressionsAreAccepted() throws {
    let words = try sides(factor: 1.3)
    let row = "read.service_p50_ns"
    let result = try compare(words + ["--accept", row, "--reason", "checksums came"])
    #expect(result.code == .success)
    #expect(result.output.contains("worse (accepted)") && result.output.contains("checksums came"))
    let file = folder.path + "/accepted"
    try "# known\n\(row): checksums came\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try compare(words + ["--accepted", file]).code == .success)
    let wide = try compare(words + ["--max-regression", "\(row)=50%"])
    #expect(wide.code == .success)
  }

  /// They had to be typed into the file that reviewers see.
  @Test func anAcceptanceIsWrittenWhereReviewersSeeIt() throws {
    let words = try sides(factor: 1.3)
    let row = "read.service_p50_ns"
    let file = folder.path + "/accepted"
    let accepting = ["--accept", row, "--reason", "checksums came", "--accepted", file]
    let result = try compare(words + accepting)
    #expect(result.code == .success)
    #expect(result.errors.contains("added to '\(file)': \(row): checksums came"))
    #expect(textOfFile(file) == "\(row): checksums came\n")
    #expect(try compare(words + ["--accepted", file]).code == .success)
    #expect(throws: UsageError.self) { try compare(words + accepting) }
    // The last line of a file may lack its end; what is of no use is not added.
    try "# known".write(toFile: file, atomically: true, encoding: .utf8)
    let more = ["--accept", "write.service_p50_ns", "--reason", "not needed"]
    #expect(try compare(words + accepting + more).code == .success)
    #expect(textOfFile(file) == "# known\n\(row): checksums came\n")
    let once = try compare(words + ["--accept", row, "--reason", "checksums came"])
    #expect(once.errors.contains("accepted this time"))
  }

  /// What a setting costs could not be asked: all that differs was refused.
  @Test func aSettingMayDifferOnPurpose() throws {
    func side(_ name: String, _ plan: String, _ read: Double) throws -> [String] {
      try (0..<6).map {
        try makeRun("\(name)-\($0)", readNanoseconds: read + Double($0), plan: plan)
      }
    }
    let without = try side("without", "--invariants none", 1_000)
    let with = try side("with", "--invariants all", 1_300)
    let words =
      [without[0], with[0]] + without.dropFirst().flatMap { ["--baseline", $0] }
      + with.dropFirst().flatMap { ["--candidate", $0] }
    let result = try compare(words + ["--across", "invariants"])
    #expect(result.code == .thresholdMissed)
    #expect(result.output.contains("Worse: read.service_p50_ns"), "\(result.output)")
    #expect(result.output.contains("the sides differ on purpose: invariants is none and I1,"))
    for (wrong, reason) in [
      ([], "what differs on purpose is named by --across"),
      (["--across", "batch"], "'batch' does not differ between the sides"),
      (["--across", "invariant"], "did you mean 'invariants'"),
      (["--across", "engine"], "shows engines side by side"),
      (["--across", "workload"], "figures of different work are never compared"),
    ] {
      let error = #expect(throws: UsageError.self) { try compare(words + wrong) }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
    let more = try makeRun("more", plan: "--invariants all --batch 7")
    let error = #expect(throws: UsageError.self) {
      try compare([without[0], more, "--across", "invariants"])
    }
    #expect(error?.message.contains("differ in more than --across says: batch is") == true)
  }

  /// Percentiles far out are shown; they decide only where the user says so.
  @Test func tailsGateOnlyWhenNamed() throws {
    let words = try sides(factor: 1.3) + ["--accept", "read.service_p50_ns", "--reason", "known"]
    #expect(try compare(words).code == .success)
    let named = try compare(words + ["--max-regression", "read.service_p99_ns=10%"])
    #expect(named.code == .thresholdMissed)
  }

  @Test func differentWorkIsRefusedWithWhatDiffers() throws {
    let first = try makeRun("first")
    let other = try makeRun("other", plan: "--invariants none")
    let partial = try makeRun("partial", status: "interrupted")
    for (path, text) in [
      (other, "invariants is"), (partial, "interrupted"), (folder.path, "no results folder"),
    ] {
      #expect {
        try compare([first, path])
      } throws: { error in
        (error as? UsageError)?.message.contains(text) == true
      }
    }
    #expect(try compare([folder.path + "/nothing", first]).code == .baselineMissing)
    #expect {
      try compare([first, try makeRun("second"), "--max-regression", "read.service_p51_ns=3%"])
    } throws: { error in
      (error as? UsageError)?.message.contains("did you mean 'read.service_p50_ns'") == true
    }
  }

  @Test func formsAreWhatOtherToolsRead() throws {
    let words = try sides(factor: 1.3)
    let xml = try compare(words + ["--format", "junit"]).output
    #expect(
      xml.contains("<testsuite name=\"realm-bench compare\" tests=") && xml.contains("<failure"))
    #expect(
      try compare(words + ["--format", "markdown"]).output.contains("| read.service_p50_ns |"))
    let action = try compare(words + ["--format", "github-action-benchmark"]).output
    let entries = try JSONSerialization.jsonObject(with: Data(action.utf8)) as? [[String: Any]]
    #expect(entries?.contains { $0["name"] as? String == "read.service_p50_ns" } == true)
    #expect(entries?.allSatisfy { $0["value"] is NSNumber && $0["unit"] is String } == true)
    // One comparison in several forms.
    let file = folder.path + "/gate.xml"
    _ = try compare(words + ["--write", "junit=\(file)"])
    #expect(try String(contentsOfFile: file, encoding: .utf8) == xml)
    #expect(throws: UsageError.self) { try compare(words + ["--write", "junti=\(file)"]) }
  }

  // MARK: - Executables

  /// A program that takes the place of realm-bench: it copies a results folder and scales one
  /// figure.
  ///
  /// - Parameters:
  ///   - inBatches: what it is with `--batch 10`.
  ///   - work: what it does before.
  private func program(
    _ name: String, prepared: String, nanoseconds: Int, inBatches: Int? = nil, work: String = ":"
  ) throws -> String {
    let path = folder.path + "/" + name
    let text = """
      #!/usr/bin/env bash
      case " $* " in
        *" --batch 10 "*) nanoseconds=\(inBatches ?? nanoseconds) ;;
        *) nanoseconds=\(nanoseconds) ;;
      esac
      \(work)
      while [ $# -gt 0 ]; do
        if [ "$1" = --output ]; then output=$2; fi
        shift
      done
      cp -r '\(prepared)' "$output"
      sed -i "s/READ/$((nanoseconds + RANDOM % 4))/; s/WRITE/$((1000 + RANDOM))/" "$output/summary.csv"
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  /// A results folder for `program`.
  private func prepared() throws -> String {
    let prepared = try makeRun("prepared", readNanoseconds: 77_777)
    let summary = try String(contentsOfFile: prepared + "/summary.csv", encoding: .utf8)
    try summary.replacing("77777.0", with: "READ")
      .write(toFile: prepared + "/summary.csv", atomically: true, encoding: .utf8)
    return prepared
  }

  /// One run after the other was met by other seconds of a busy machine.
  @Test func twoRunsTakeTurns() throws {
    let steps = folder.path + "/steps"
    let words = (1...2).map { side in
      "for step in {1..20000}; do echo \(side); done >>'\(steps)'"
    }
    let prepared = try prepared()
    let programs = try [0, 1].map {
      try program("side\($0)", prepared: prepared, nanoseconds: 10_000, work: words[$0])
    }
    let result = try compare(
      ["--executables"] + programs + ["--turns", "5ms", "--blocks", "6", "--", "readers-writer"])
    #expect(result.code == .success, "\(result.errors)")
    let lines = try #require(textOfFile(steps)).split(separator: "\n")
    let switches = zip(lines, lines.dropFirst()).count { $0 != $1 }
    #expect(lines.count == 6 * 2 * 20_000)
    // One after the other there are 11 at most, at once tens of thousands on two processors.
    #expect((24..<6 * 2_000).contains(switches), "\(switches)")
    for (flags, plan, reason) in [
      (["--turns", "5ms", "--duet"], ["readers-writer"], "a duet has a core for each side"),
      (["--turns", "5us"], ["readers-writer"], "from 1ms to 1s"),
      (["--turns", "5ms"], ["readers-writer", "--rate", "5/s"], "--rate goes by the clock"),
      (["--turns", "5ms"], ["plan.json"], "takes no plan file"),
    ] {
      let error = #expect(throws: UsageError.self) {
        try compare(["--executables"] + programs + flags + ["--"] + plan)
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }

  @Test func theCandidateMayHaveFlagsOfItsOwn() throws {
    let prepared = try prepared()
    let tool = try program("tool", prepared: prepared, nanoseconds: 10_000, inBatches: 12_000)
    func run(_ flags: String, _ plan: [String]) throws -> ExitCode {
      try compare(
        ["--executables", tool, tool, "--candidate-flags", flags, "--", "readers-writer"] + plan
      ).code
    }
    #expect(try run("--batch 10", []) == .thresholdMissed)
    // Instead of the plan's.
    #expect(try run("--batch 10", ["--batch", "2"]) == .thresholdMissed)
    #expect(try run("--batch 2", ["--batch", "10"]) == .success)
    #expect(try run("--batch=2", ["--batch=2"]) == .success)
    for words in [
      ["--candidate-flags", "--batch 2", tool, tool],
      ["--executables", tool, tool, "--duet", "--candidate-flags", "--batch 2"],
      ["--executables", tool, tool, "--across", "batch"],
    ] {
      #expect(throws: UsageError.self) { try compare(words + ["--", "readers-writer"]) }
    }
  }

  @Test func executablesAreRunByTurnsUntilItIsDecided() throws {
    let prepared = try prepared()
    let base = try program("base", prepared: prepared, nanoseconds: 10_000)
    let same = try program("same", prepared: prepared, nanoseconds: 10_000)
    let slow = try program("slow", prepared: prepared, nanoseconds: 10_500)
    func run(_ candidate: String) throws -> (code: ExitCode, output: String, errors: String) {
      try compare(["--executables", base, candidate, "--", "readers-writer", "--quick"])
    }
    let equal = try run(same)
    #expect(equal.code == .success && equal.output.contains("same"))
    let slower = try run(slow)
    #expect(slower.code == .thresholdMissed)
    #expect(slower.output.contains("Worse: read.service_p50_ns"))
    #expect(slower.errors.contains("block 11: 0 gate rows undecided"))
    #expect(throws: UsageError.self) {
      try compare(["--executables", base, "/nonexistent", "--", "readers-writer"])
    }
    #expect(throws: UsageError.self) {
      try compare(["--executables", base, same, "--", "readers-writer", "--output", "x"])
    }
    for flags in ["--output x", "--nothing"] {
      #expect(throws: UsageError.self) {
        try compare([
          "--executables", base, same, "--candidate-flags", flags + " --help", "--",
          "readers-writer",
        ])
      }
    }
    for engines in [["--engine", "realm,sqlite"], ["--engine=realm,sqlite"]] {
      #expect {
        try compare(["--executables", base, same, "--", "readers-writer"] + engines)
      } throws: { error in
        (error as? UsageError)?.message.contains("--engine takes one engine only") == true
      }
    }
    // Both at once: only what cannot take the other's core or disk.
    for (plan, reason) in [
      ("readers-writer", "work of one thread"), ("readers-writer --readers 0", "does not sync"),
      ("notify-storm --durability memory", "work of one thread"), ("nothing", "no workload"),
    ] {
      #expect {
        try compare(
          ["--executables", base, same, "--duet", "--"]
            + plan.split(separator: " ").map(String.init))
      } throws: { error in
        let message = (error as? UsageError)?.message ?? ""
        return message.contains(reason) || message.contains("needs two cores")
      }
    }
    let plan = ["readers-writer", "--readers", "1", "--writers", "0"]
    let duet = ["--executables", base, slow, "--duet", "--"] + plan
    if Processors.allowed.count >= 2,
      FileManager.default.isExecutableFile(atPath: "/usr/bin/taskset")
    {
      #expect(try compare(duet).code == .thresholdMissed)
    }
  }

  /// They were always 0 and 1, also where this process may not use these.
  @Test func aDuetUsesProcessorsThatItMay() {
    #expect(PairedBlocks.duetCores(ofBlock: 0, allowed: [2, 3, 7]) == [2, 3])
    #expect(PairedBlocks.duetCores(ofBlock: 1, allowed: [2, 3, 7]) == [3, 2])
    #expect(PairedBlocks.duetCores(ofBlock: 2, allowed: []) == [0, 1])
  }

  /// Nobody can tell of a row that varies much; the answer is known all the same.
  @Test func aRegressionEndsTheGateUnlessEveryRowIsWanted() throws {
    let prepared = try makeRun("prepared", readNanoseconds: 77_777)
    let summary = try String(contentsOfFile: prepared + "/summary.csv", encoding: .utf8)
    try summary.replacing("77777.0", with: "READ").replacing(",5000", with: ",WRITE")
      .write(toFile: prepared + "/summary.csv", atomically: true, encoding: .utf8)
    let base = try program("base", prepared: prepared, nanoseconds: 10_000)
    let slow = try program("slow", prepared: prepared, nanoseconds: 10_500)
    let words = [
      "--budget", "4s", "--executables", base, slow, "--", "readers-writer", "--ops", "1",
      "--warmup-ops", "1",
    ]
    let early = try compare(words)
    #expect(early.code == .thresholdMissed)
    #expect(
      early.output.contains("ended with the first regression, after 11 blocks; --every-row"),
      "\(early)")
    // What the end has left open is no failure of its own.
    let strict = try compare(["--strict", "--format", "junit"] + words)
    #expect(strict.output.contains("failures=\"1\" skipped=\"1\""), "\(strict.output)")
    let whole = try compare(["--every-row"] + words)
    #expect(whole.code == .thresholdMissed)
    #expect(whole.errors.contains("block 12: 1 gate rows undecided"), "\(whole.errors)")
    // What is accepted ends nothing.
    let accepted = try compare(
      ["--accept", "read.service_p50_ns", "--reason", "known"] + words)
    #expect(accepted.code == .success)
    #expect(accepted.errors.contains("block 12: 1 gate rows undecided"))
    #expect(throws: UsageError.self) { try compare(["--every-row", base, slow]) }
  }

  /// Another program, or an old one, may end well without having done anything.
  @Test func anExecutableThatLeavesNoResultsIsNamed() throws {
    let base = try program("base", prepared: try makeRun("prepared"), nanoseconds: 10_000)
    let result = try compare(["--executables", "/bin/true", base, "--", "readers-writer"])
    #expect(result.code == .failed, "\(result)")
    #expect(result.errors.contains("'/bin/true run readers-writer' has left no results"))
  }

  @Test func aBudgetIsAtMostAndSaysWhatItWouldTake() throws {
    let prepared = try makeRun("prepared")
    let base = try program("base", prepared: prepared, nanoseconds: 10_000)
    func compare(_ words: String) throws -> String {
      do {
        let words = ["--executables", base, base] + words.split(separator: " ").map(String.init)
        let result = try self.compare(words)
        return result.output + result.errors
      } catch {
        return (error as? UsageError)?.message ?? "\(error)"
      }
    }
    #expect(try compare("--budget 0s -- mixed") == "--budget is 0; leave it out for 10m")
    let short = try compare("--budget 3s -- readers-writer --warmup 2s --duration 10s")
    #expect(short.contains("takes: 24s") && short.contains("at least 159s"), "\(short)")
    // By operations it may take any time: one block is made, and says how long it took.
    let one = try compare("--budget 1ns -- readers-writer --ops 10 --warmup-ops 1")
    #expect(one.contains("was over after 1 block of up to "), "\(one)")
    #expect(one.contains("fewer than 6 decide nothing"), "\(one)")
  }

  // MARK: - Statistics

  @Test func studentsQuantilesAreThoseOfTables() {
    for (share, degrees, value) in [
      (0.975, 1.0, 12.7062), (0.975, 4, 2.7764), (0.995, 10, 3.1693), (0.9995, 8, 5.0413),
      (0.975, 1e6, 1.95997),
    ] {
      #expect(abs(LogRatio.studentQuantile(share, degrees: degrees) - value) < 1e-3)
    }
  }

  /// A normal variable, by the sum of twelve uniform ones.
  private func noise(_ random: inout RandomGenerator) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
  }

  /// Deviations of one block: as usual; with a few blocks that something has disturbed; around two
  /// values, of which a process has one or the other.
  private enum Noise: CaseIterable { case normal, disturbed, twoValues }

  private func deviation(_ kind: Noise, _ random: inout RandomGenerator) -> Double {
    switch kind {
    case .normal: noise(&random) * 0.02
    case .disturbed:
      noise(&random) * (Double.random(in: 0..<1, using: &random) < 0.15 ? 0.2 : 0.02)
    case .twoValues: (Bool.random(using: &random) ? 0.03 : -0.03) + noise(&random) * 0.004
    }
  }

  @Test(arguments: Noise.allCases)
  private func noChangeIsHardlyEverCalledWorse(kind: Noise) {
    var random = RandomGenerator(seed: testSeed())
    var alarms = 0
    var misses = 0
    let gates = kind == .normal ? 300 : 100
    for _ in 0..<gates {
      var (unchanged, slower): ([Double], [Double]) = ([], [])
      var wasWorse = false
      var wasFound = false
      for _ in 0..<(kind == .normal ? 60 : 90) {
        unchanged.append(deviation(kind, &random))
        slower.append(log(1.05) + deviation(kind, &random))
        guard unchanged.count >= LogRatio.blocksNeeded(error: 0.005) else { continue }
        // Looked at after each block, as the gate does.
        let interval = LogRatio.paired(unchanged, error: 0.005)!
        wasWorse = wasWorse || Comparison.verdict(interval, tolerance: 0.0) == .worse
        let found = LogRatio.paired(slower, error: 0.005)!
        wasFound = wasFound || Comparison.verdict(found, tolerance: 0.02) == .worse
      }
      alarms += wasWorse ? 1 : 0
      misses += wasFound ? 0 : 1
    }
    // One in 200 is expected at most.
    #expect(alarms <= 8, "\(alarms) false alarms of \(gates)")
    #expect(misses <= 6, "\(misses) of \(gates) changes of 5 % were not found")
  }

  /// What it is for: with some disturbed blocks it tells more than their mean; and of figures that
  /// are mostly the same it is the mean.
  @Test func disturbedBlocksHardlyMoveTheEstimate() {
    var random = RandomGenerator(seed: testSeed())
    let blocks = (0..<200).map { _ in deviation(.disturbed, &random) }
    let mean = blocks.reduce(0, +) / 200
    let variance = blocks.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 199
    let robust = RobustMean(of: blocks)
    #expect(robust.deviation < 0.6 * variance.squareRoot())
    #expect(abs(robust.center) < 0.012, "\(robust)")
    let counters = (0..<100).map { $0 % 10 == 0 ? 1.0 : 0 }
    #expect(abs(RobustMean(of: counters).center - 0.1) < 1e-12)
    #expect(RobustMean(of: Array(repeating: 3.0, count: 50)).deviation == 0)
    let few = RobustMean(of: Array(blocks.prefix(20)))
    #expect(few.center == blocks.prefix(20).reduce(0, +) / 20)
  }
}
