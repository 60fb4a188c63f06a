// The gate says of every row what it has judged: what cannot be judged is no pass, input that says
// nothing is refused, and every form of the output says the same.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct GateTests {
  private let folder: TemporaryFolder
  private let runs: FigureFolders
  init() {
    folder = TemporaryFolder()
    runs = FigureFolders(folder: folder)
  }

  private static let read = ["service_p50_ns": "1000", "service_p99_ns": "3000"]
  private static let write = ["service_p50_ns": "5000", "syncs_per_commit": "1"]
  private static let usual = ["read": read, "write": write]

  private func compare(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      ["--output", folder.file("compare.csv")] + words, console: output.console(),
      interruption: { TimedInterruption() })
    return (code, output.output, output.errors)
  }

  private func refusal(_ words: [String]) -> String {
    do {
      return "not refused: \(try compare(words).code)"
    } catch {
      return (error as? UsageError)?.message ?? "\(error)"
    }
  }

  /// The words that compare some runs of each side.
  private func sides(
    _ name: String, baseline: [[String: [String: String]]], candidate: [[String: [String: String]]]
  ) throws -> [String] {
    var words: [String] = []
    for (side, all) in [baseline, candidate].enumerated() {
      for (number, figures) in all.enumerated() {
        let path = try runs.make("\(name)-\(side)-\(number)", figures)
        if number == 0 {
          words.insert(path, at: side)
        } else {
          words += [side == 0 ? "--baseline" : "--candidate", path]
        }
      }
    }
    return words
  }

  private func rows(_ words: [String]) throws -> [String: [String: Any]] {
    let json = try JSONSerialization.jsonObject(
      with: Data(try compare(words + ["--format", "json"]).output.utf8))
    let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: rows.map { ("\($0["row"] ?? "").\($0["metric"] ?? "")", $0) })
  }

  // MARK: - What cannot be judged

  /// A row that had gone from the candidate was left out, and the gate passed.
  @Test func rowsThatOneSideLacksAreToldAndUndecided() throws {
    for isGone in [true, false] {
      let whole = [Self.usual, Self.usual]
      let part = [["write": Self.write], ["write": Self.write]]
      let words = try sides(
        "lacks-\(isGone)", baseline: isGone ? whole : part, candidate: isGone ? part : whole)
      let told =
        isGone
        ? "not measured in 0 of 2 baseline and 2 of 2 candidate runs"
        : "not measured in 2 of 2 baseline and 0 of 2 candidate runs"
      for format in ComparisonFormat.withVerdicts {
        let result = try compare(words + ["--format", format.rawValue])
        #expect(result.code == .success)
        #expect(result.output.contains(told), "\(format)")
        #expect(result.errors.contains("warning: cannot tell for read.service_p50_ns"))
        #expect(
          try compare(words + ["--strict", "--format", format.rawValue]).code == .inconclusive)
      }
    }
  }

  /// Filling the file takes milliseconds, and its rate kept a gate from being decided.
  @Test func theTimeOfFillingTheFileDecidesWhereNothingElseIsTimed() throws {
    let load = ["phase": "load", "rate_per_s": "900000", "syncs_per_commit": "1"]
    let both = Self.usual.merging(["insert": load]) { $1 }
    let steady = try rows(try sides("steady", baseline: [both, both], candidate: [both, both]))
    func decides(_ rows: [String: [String: Any]], _ name: String) -> Bool? {
      rows[name].map { $0["gate"] as? String == "yes" }
    }
    #expect(decides(steady, "load.insert.rate_per_s") == false)
    #expect(decides(steady, "load.insert.syncs_per_commit") == true)
    #expect(decides(steady, "read.service_p50_ns") == true)
    let alone = try rows(
      try sides("alone", baseline: [["insert": load]], candidate: [["insert": load]]))
    #expect(decides(alone, "load.insert.rate_per_s") == true)
  }

  /// A skipped test is no failure, so whoever reads only the file saw a pass.
  @Test func undecidedRowsFailInJUnitOnlyWhenStrict() throws {
    let words = try sides("junit", baseline: [Self.usual], candidate: [Self.usual])
    let lenient = try compare(words + ["--format", "junit"]).output
    #expect(lenient.contains("failures=\"0\" skipped=\"2\"") && lenient.contains("<skipped"))
    #expect(lenient.contains("errors=\"0\"") && !lenient.contains("<error"))
    let strict = try compare(words + ["--format", "junit", "--strict"])
    #expect(strict.code == .inconclusive)
    #expect(strict.output.contains("failures=\"2\" skipped=\"0\""))
    #expect(strict.output.contains("<failure message=\"cannot tell: one run a side"))
    #expect(!strict.output.contains("<skipped"))
    let json = try compare(words + ["--format", "json", "--strict"]).output
    #expect(json.contains("\"exit_code\" : 4") && json.contains("\"strict\" : true"))
  }

  @Test func nothingToCompareIsRefused() throws {
    let one = try runs.make("one", Self.usual)
    let empty = try runs.make("empty", [:])
    #expect(refusal([one, empty]).contains("has nothing to compare"))
    try FileManager.default.removeItem(atPath: empty + "/summary.csv")
    #expect(refusal([one, empty]).contains("has nothing to compare"))
    // Percentiles far out alone decide nothing.
    let tails = try sides(
      "tails", baseline: [["read": ["service_p99_ns": "9"]]],
      candidate: [["read": ["service_p99_ns": "9"]]])
    #expect(refusal(tails).contains("nothing to judge"))
    #expect(try compare(tails + ["--max-regression", "read.service_p99_ns=5%"]).code == .success)
  }

  @Test func damagedTablesAreRefused() throws {
    let (one, two) = (try runs.make("one", Self.usual), try runs.make("two", Self.usual))
    let file = two + "/summary.csv"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try String(text.dropLast(10)).write(toFile: file, atomically: true, encoding: .utf8)
    #expect(refusal([one, two]).contains("summary.csv' is damaged: line 3 has"))
  }

  /// Which of two figures is the run's nobody knows.
  @Test func rowsAndColumnsThatAreThereTwiceAreRefused() throws {
    let (one, two) = (try runs.make("one", Self.usual), try runs.make("two", Self.usual))
    let file = two + "/summary.csv"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let lines = text.split(separator: "\n").map(String.init)
    try (text + lines[1] + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let row = refusal([one, two])
    #expect(row.contains("summary.csv' is damaged: the row of '"), "\(row)")
    #expect(row.contains("' is there twice"), "\(row)")
    let wide = lines.enumerated().map { number, line in line + (number == 0 ? ",count\n" : ",7\n") }
    try wide.joined().write(toFile: file, atomically: true, encoding: .utf8)
    #expect(refusal([one, two]).contains("is damaged: it has the column 'count' twice"))
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(refusal([one, two]).hasPrefix("not refused"))
  }

  /// However right they look: run.json knows how its run has left them.
  @Test(arguments: ["summary.csv", "growth.csv", "samples.csv", "histograms/read.hgrm"])
  func tablesThatWereEditedAreRefused(name: String) throws {
    let paths = try ["one", "two"].map { side in
      let path = folder.file(side)
      try runOnModel(
        "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 "
          + "--output \(path)")
      return path
    }
    let file = paths[1] + "/" + name
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let digit = try #require(text.lastIndex { $0.isNumber })
    let edited =
      text[..<digit] + (text[digit] == "1" ? "2" : "1") + text[text.index(after: digit)...]
    try edited.write(toFile: file, atomically: true, encoding: .utf8)
    let words = "'\(file)' is not as its run has written it"
    #expect(refusal(paths).contains(words))
    let console = CollectedOutput().console()
    let readers: [() throws -> ExitCode] = [
      { try ReportVerb.run([paths[1], "-o", folder.file("x.html")], console: console) },
      { try MergeVerb.perform([paths[1], "-o", folder.file("joined")], console: console) },
      {
        try PlanVerb.run(
          ["--from", paths[1], "--ask", "read rate at readers=1"], console: console,
          executable: "/nonexistent", interruption: { TimedInterruption() })
      },
    ]
    for reader in readers {
      do {
        Issue.record("not refused: \(try reader())")
      } catch {
        let message = (error as? UsageError)?.message ?? "\(error)"
        #expect(message.contains(words), "\(message)")
      }
    }
  }

  /// What a comparison does not need may be thrown away; a table that it needs may not.
  @Test func tablesThatAreMissingAreRefused() throws {
    let path = folder.file("one")
    try runOnModel(
      "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200 "
        + "--output \(path)")
    let manager = FileManager.default
    try manager.removeItem(atPath: path + "/samples.csv")
    try manager.removeItem(atPath: path + "/histograms")
    #expect(!refusal([path, path]).contains("missing"))
    try manager.removeItem(atPath: path + "/growth.csv")
    #expect(refusal([path, path]).contains("growth.csv' is missing, which run.json lists"))
  }

  /// There is no ratio to 0, and rows with one were left out: the first sync of a commit was none.
  @Test func countersThatAreZeroAreJudged() throws {
    func write(_ syncs: String) -> [String: [String: String]] {
      ["write": ["service_p50_ns": "5000", "syncs_per_commit": syncs]]
    }
    let name = "write.syncs_per_commit"
    let cases: [([String], [String], String)] = [
      (["0", "0"], ["0", "0"], "same"), (["0", "0"], ["1", "1"], "worse"),
      (["1", "1"], ["0", "0"], "better"), (["0", "1"], ["1", "1"], "cannot-tell"),
      (["0", "0"], ["1", "1.2"], "cannot-tell"),
    ]
    for (number, (before, after, verdict)) in cases.enumerated() {
      let words = try sides(
        "zero-\(number)", baseline: before.map(write), candidate: after.map(write))
      #expect(try rows(words)[name]?["verdict"] as? String == verdict, "\(before) and \(after)")
      for format in ComparisonFormat.withVerdicts {
        let output = try compare(words + ["--format", format.rawValue]).output
          .replacing(folder.path, with: "")
        #expect(!output.contains("inf") && !output.lowercased().contains("nan,"), "\(output)")
      }
      #expect(try compare(words).code == (verdict == "worse" ? .thresholdMissed : .success))
    }
  }

  @Test func growthDecidesWhereASideGrows() throws {
    func make(_ name: String, _ bytes: [String]) throws -> String {
      try runs.make(
        name, Self.usual,
        growth: bytes.enumerated().map { number, bytes in
          ["commits": String(100 * (number + 1)), "file_bytes": bytes, "objects": "50"]
        })
    }
    func words(_ name: String, _ before: [[String]], _ after: [[String]]) throws -> [String] {
      let (a, b) = (
        try before.enumerated().map { try make("\(name)-a\($0)", $1) },
        try after.enumerated().map { try make("\(name)-b\($0)", $1) }
      )
      return [a[0], b[0]] + a.dropFirst().flatMap { ["--baseline", $0] }
        + b.dropFirst().flatMap { ["--candidate", $0] }
    }
    let (steady, grown) = (["4096", "4096"], ["4096", "8192"])
    let row = "file.growth_bytes_per_commit"
    let begun = try rows(try words("begun", [steady, steady], [grown, grown]))[row]
    #expect(begun?["verdict"] as? String == "worse" && begun?["gate"] as? String == "yes")
    let chance = try rows(try words("chance", [steady, grown], [grown, steady]))[row]
    #expect(chance?["verdict"] as? String == "cannot-tell" && chance?["gate"] as? String == "no")
  }

  @Test func rowsBeyondTwelveAreNamed() throws {
    let operations = [
      "read", "write", "sum", "update", "scan", "read-modify-write", "migrate", "chain", "durable",
      "resolve", "notify", "reference", "insert", "recover",
    ]
    let figures = Dictionary(
      uniqueKeysWithValues: operations.map { ($0, ["service_p50_ns": "1000"]) })
    let words = try sides(
      "many", baseline: [figures, figures], candidate: [figures, figures])
    for format in ComparisonFormat.withVerdicts {
      let output = try compare(words + ["--format", format.rawValue]).output
      #expect(
        output.contains("shown, but not judged: update.service_p50_ns, write.service_p50_ns"),
        "\(format): \(output)")
    }
    let named = try compare(words + ["--max-regression", "write.service_p50_ns=2%"])
    #expect(!named.output.contains(", write.service_p50_ns (name those"))
  }

  // MARK: - What says nothing

  @Test func otherEnginesAreOtherWork() throws {
    let one = try runs.make("one", Self.usual)
    let other = try runs.make("other", Self.usual) { $0.engine = "sqlite" }
    #expect(refusal([one, other]).contains("did different work: engine is realm and sqlite"))
    let debug = try runs.make("release", Self.usual) { $0.environment.build = "other" }
    #expect(refusal([one, debug]).contains("build is"))
  }

  @Test func runsThatSayLittleAreRefusedUnlessTold() throws {
    let good = try runs.make("good", Self.usual)
    let second = try runs.make("second", Self.usual)
    let bad = [
      "is not valid (too slow)": try runs.make("invalid", Self.usual) {
        $0.verdict.isValid = false
        $0.verdict.reasons = ["too slow"]
      },
      "is a smoke run (--quick)": try runs.make("quick", Self.usual) { $0.settings.quick = true },
      "is interrupted": try runs.make("interrupted", Self.usual) { $0.status = "interrupted" },
      "is failed": try runs.make("failed", Self.usual) { $0.status = "failed" },
      "is running": try runs.make("running", Self.usual) { $0.status = "running" },
    ]
    for (reason, path) in bad {
      for words in [[good, path], [path, good], [good, second, "--candidate", path]] {
        let message = refusal(words)
        #expect(message.contains(reason) && message.contains("--partial"), "\(reason): \(message)")
      }
      let mark = reason.replacing(" (too slow)", with: ": too slow")
      for format in ComparisonFormat.withVerdicts {
        let result = try compare([good, path, "--partial", "--format", format.rawValue])
        #expect(result.code == .success && result.output.contains(mark), "\(format): \(reason)")
      }
    }
    #expect(
      refusal(["--executables", good, good, "--partial", "--", "readers-writer"])
        .contains("contradict each other"))
  }

  /// A process that was killed leaves some of the replicas, each of them whole.
  @Test func replicasThatAreNotAllThereAreRefusedUnlessTold() throws {
    let good = try runs.make("good", Self.usual)
    let part = folder.makeFolder("part")
    _ = try runs.make("part/replica-001", Self.usual)
    let manifest = """
      {"schema_version": 1, "tool_version": "0.1.0", "run_id": "x", "status": "running"}
      """
    try manifest.write(toFile: part + "/manifest.json", atomically: true, encoding: .utf8)
    #expect(refusal([good, part]).contains("the results in '\(part)' are running"))
    #expect(try compare([good, part, "--partial"]).code == .success)
  }

  /// A run against itself is always the same, and given twice it says that there is no noise.
  @Test func theSameRunTwiceIsRefused() throws {
    let (one, two) = (try runs.make("one", Self.usual), try runs.make("two", Self.usual))
    #expect(refusal([one, one]).contains("are the same run"))
    #expect(refusal([one, two, "--baseline", one]).contains("are the same run"))
    #expect(refusal([one, two, "--candidate", "\(two)/."]).contains("are the same run"))
  }

  @Test func machinesThatDifferAreNamed() throws {
    let one = try runs.make("one", Self.usual)
    let other = try runs.make("other", Self.usual) {
      $0.environment.cgroupCpuLimitCores = 0.5
      $0.environment.allocator = "another"
    }
    let told = try compare([one, other]).output
    #expect(told.contains("limit of processors is") && told.contains("at most 0.50 cores"))
    #expect(told.contains("allocator is another and"))
    let twin = try runs.make("twin", Self.usual) { $0.environment.hostName = "elsewhere" }
    #expect(try compare([one, twin]).output.contains("of 2 hosts that look alike"))
    let memory = try runs.make("memory", Self.usual) { $0.environment.fileSystem = "tmpfs" }
    #expect(try compare([one, memory]).output.contains("lay in memory (tmpfs)"))
  }

  /// What fails soon makes times look better.
  @Test func operationsThatFailedAreTold() throws {
    let one = try runs.make("one", Self.usual)
    let failing = try runs.make(
      "failing", ["read": Self.read, "write": Self.write.merging(["errors": "7"]) { $1 }])
    let told = "'\(failing)' has operations that failed, and whose times count: 7 of 'write'"
    #expect(try compare([one, failing]).output.contains(told))
  }

  // MARK: - What the user says

  @Test func acceptancesThatDoNothingAreTold() throws {
    let slow = ["read": ["service_p50_ns": "1300"], "write": Self.write]
    let words = try sides(
      "accept", baseline: [Self.usual, Self.usual], candidate: [slow, slow])
    let row = "read.service_p50_ns"
    let write = "write.service_p50_ns"
    #expect(
      refusal(words + ["--accept", "read.service_p51_ns", "--reason", "x"])
        .contains("--accept: no run has the row 'read.service_p51_ns'; did you mean '\(row)'"))
    #expect(refusal(words + ["--accept", row, "--reason", "  "]).contains("needs a reason"))
    #expect(refusal(words + ["--accept", row]).contains("there are 1 and 0"))
    #expect(
      refusal(words + ["--accept", row, "--reason", "a", "--accept", row, "--reason", "b"])
        .contains("is accepted twice"))
    let stale = try compare(
      words + ["--accept", write, "--reason", "once", "--accept", row, "--reason", "now"])
    #expect(stale.code == .success)
    #expect(
      stale.output.contains(
        "the acceptance of '\(write)' (once) is not needed any more: the row is same"))
    let file = folder.file("accepted")
    func accept(_ text: String) throws {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    // A file may be for several plans: a row that this one has not is no error.
    try accept("\(row): now\r\nscan.service_p50_ns: of another plan\n")
    let filed = try compare(words + ["--accepted", file])
    #expect(filed.code == .success)
    #expect(
      filed.output.contains("'scan.service_p50_ns' in '\(file)' (of another plan) does nothing"))
    for (text, told) in [
      ("\(row):  \n", "line 1 of '\(file)': '\(row)' needs a reason"),
      ("# x\n: x\n", "line 2 of '\(file)' is not 'ROW: REASON'"),
      ("\(row): a\n\(row): b\n", "line 2 of '\(file)': '\(row)' is accepted twice"),
    ] {
      try accept(text)
      #expect(refusal(words + ["--accepted", file]).contains(told), "\(text)")
    }
  }

  @Test func tolerancesAreSharesAndGivenOnce() throws {
    let words = try sides(
      "shares", baseline: [Self.usual, Self.usual], candidate: [Self.usual, Self.usual])
    func refused(_ texts: String...) -> String {
      refusal(words + texts.flatMap { ["--max-regression", $0] })
    }
    let row = "read.service_p99_ns"
    #expect(refused("\(row)=5%", "\(row)=6%").contains("'\(row)' is given twice"))
    #expect(refused("5%", "6%").contains("the share of all rows is given twice"))
    for wrong in ["\(row)=-5%", "\(row)=1000%", "nan%", "\(row)=inf%", "%", "\(row)=1e1%"] {
      #expect(refused(wrong).contains("is no share by which a row may get worse"), "\(wrong)")
    }
    for wrong in ["\(row)=5", "\(row)", "=5%"] {
      #expect(refused(wrong).contains("is not of the form"), "\(wrong)")
    }
    // A phase may have the sign in its name.
    #expect(refused("a=b=5%").contains("no run has the row 'a=b'"))
    #expect(refused("red.service_p99_ns=5%").contains("did you mean '\(row)'"))
    #expect(try compare(words + ["--max-regression", "\(row)=150%"]).code == .success)
    #expect(try compare(words + ["--max-regression", "\(row)=0%"]).code == .success)
  }

  // MARK: - Forms

  @Test func textOfUsersIsNoMarkup() throws {
    let slow = ["read": ["service_p50_ns": "1300"], "write": Self.write]
    let words = try sides(
      "markup", baseline: [Self.usual, Self.usual], candidate: [slow, slow])
    let accepted =
      words + ["--accept", "read.service_p50_ns", "--reason", "a|b <i> \"c\" & \u{1}\n* d"]
    let markdown = try compare(accepted + ["--format", "markdown"]).output
    #expect(markdown.contains("accepted: a\\|b &lt;i&gt; \"c\" &amp; \u{1} \\* d"))
    let xml = try compare(accepted + ["--format", "junit"]).output
    #expect(xml.contains("accepted: a|b &lt;i&gt; &quot;c&quot; &amp;"))
    #expect(!xml.contains("\u{1}") && !xml.contains("<i>"))
  }

  /// Two runs that have little in common know no bounds: those were texts, as "inf".
  @Test func numbersAreNumbersOrMissing() throws {
    func read(_ p50: String) -> [String: [String: String]] { ["read": ["service_p50_ns": p50]] }
    let words = try sides(
      "wild", baseline: [read("1"), read("900000000")], candidate: [read("5"), read("3000000")])
    let row = try #require(try rows(words)["read.service_p50_ns"])
    for (name, value) in row where !["row", "metric", "verdict", "gate", "reason"].contains(name) {
      #expect(value is NSNumber, "\(name) is \(value)")
    }
    #expect(row["verdict"] as? String == "cannot-tell")
    let action = try compare(words + ["--format", "github-action-benchmark"]).output
    let entries = try #require(
      try JSONSerialization.jsonObject(with: Data(action.utf8)) as? [[String: Any]])
    let last = try #require(entries.last)
    #expect(last["name"] as? String == "gate rows of which nobody can tell")
    #expect(last["value"] as? Int == 1)
  }

  // MARK: - Executables

  /// A program that takes the place of realm-bench, and notes where its results go.
  private func program(_ name: String, _ prepared: String) throws -> String {
    let path = folder.file(name)
    try """
    #!/usr/bin/env bash
    while [ $# -gt 0 ]; do
      if [ "$1" = --output ]; then output=$2; fi
      shift
    done
    echo "$output" >>'\(folder.file("places"))'
    cp -r '\(prepared)' "$output"
    """.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  /// A program that does the same for some runs, and ends in another way then.
  private func mortalProgram(
    _ name: String, _ prepared: String, runs: Int, then end: String
  ) throws -> String {
    let path = try program(name, prepared)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let count = "echo run >>'\(path).runs'; [ $(wc -l <'\(path).runs') -gt \(runs) ] && { \(end); }"
    try text.replacing("cp -r", with: count + "\ncp -r")
      .write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  /// An hour of blocks is not lost with one run.
  @Test(arguments: [
    ("kill -9 $$", ExitCode.failed, "was ended by signal 9"),
    (
      "cp -r '%' \"$output\"; exit 2", .thresholdMissed,
      "'read.count>1000000000' does not hold, it is "
    ),
  ]) func blocksAreKeptWhenARunDies(end: String, code: ExitCode, words: String) throws {
    let prepared = try runs.make("prepared", Self.usual)
    let missing = try runs.make("missing", Self.usual, plan: "--threshold read.count>1000000000")
    let base = try program("base", prepared)
    let mortal = try mortalProgram(
      "mortal", prepared, runs: 3, then: end.replacing("%", with: missing))
    let result = try compare([
      "--write", "runs=\(folder.file("blocks.csv"))", "--write",
      "junit=\(folder.file("gate.xml"))", "--executables", base, mortal, "--", "readers-writer",
    ])
    #expect(result.code == code && result.errors.contains(words), "\(result)")
    // Who reads that file alone saw a pass.
    let xml = try String(contentsOfFile: folder.file("gate.xml"), encoding: .utf8)
    #expect(
      xml.contains("errors=\"1\"") && xml.contains("name=\"compare\"><error message="), "\(xml)")
    #expect(result.output.contains("ended after 3 blocks"), "\(result.output)")
    #expect(result.output.contains("ended before it was decided"))
    let blocks = try String(contentsOfFile: folder.file("blocks.csv"), encoding: .utf8)
    #expect(blocks.contains("\n2,candidate,") && !blocks.contains("\n3,"), "\(blocks)")
    #expect(FileManager.default.fileExists(atPath: folder.file("compare.csv")))
    // Where none is whole there is nothing to keep.
    let first = try mortalProgram("first", prepared, runs: 0, then: "kill -9 $$")
    let none = try compare(["--executables", base, first, "--", "readers-writer"])
    #expect(none.code == .failed && none.output.isEmpty)
  }

  @Test func whatAKilledCompareHasLeftIsRemoved() throws {
    let left = folder.file("compare-blocks")
    let manager = FileManager.default
    try manager.createDirectory(atPath: left, withIntermediateDirectories: true)
    let load = "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --ops 200"
    for side in 0...1 { try runOnModel("\(load) --output \(left)/0-\(side)") }
    let mine = folder.file("compare-blocks-2")
    try runOnModel("\(load) --output \(mine)")
    let base = try program("base", try runs.make("prepared", Self.usual))
    let words = ["--blocks", "6", "--executables", base, base, "--", "readers-writer"]
    #expect(try compare(words).code == .success)
    // A folder of that name that is none of blocks is somebody's.
    #expect(!manager.fileExists(atPath: left) && manager.fileExists(atPath: mine + "/run.json"))
  }

  /// A number of blocks took ten minutes at most, whatever it was.
  @Test func blocksThatAreAskedForEndByTheirNumberOrTheBudgetThatIsGiven() throws {
    #expect(CompareVerb.usualBudget(hasCount: true) == .max)
    #expect(CompareVerb.usualBudget(hasCount: false) == 600_000_000_000)
    let base = try program("base", try runs.make("prepared", Self.usual))
    let words = ["--blocks", "7", "--executables", base, base, "--", "readers-writer"]
    let all = try compare(words)
    #expect(all.code == .success && all.errors.contains("block 7: "), "\(all.errors)")
    #expect(!all.errors.contains("block 8: "))
    let few = try compare(["--budget", "1ms"] + words + ["--ops", "1", "--warmup-ops", "1"])
    #expect(few.output.contains("7 were asked for: give --budget "), "\(few.output)")
    let none = refusal(["--budget", "0s"] + words)
    #expect(none == "--budget is 0; leave it out for all of --blocks")
  }

  @Test func blocksLieBesideTheResultsAndTooFewDecideNothing() throws {
    let base = try program("base", try runs.make("prepared", Self.usual))
    let slow = try program(
      "slow", try runs.make("slower", ["read": ["service_p50_ns": "2000"], "write": Self.write]))
    let words = ["--executables", base, slow, "--", "readers-writer"]
    // Nobody knows how long a block takes that ends by its operations: one is run.
    let few = try compare(
      ["--budget", "1ms", "--strict"] + words + ["--ops", "1", "--warmup-ops", "1"])
    #expect(few.code == .inconclusive)
    #expect(few.output.contains("read.service_p50_ns: only 1 of at least 6 blocks"))
    let whole = try compare(words)
    #expect(whole.code == .thresholdMissed)
    #expect(whole.errors.contains("files of the runs: in '\(folder.path)', on "))
    #expect(whole.output.contains("files of the runs: in '\(folder.path)', on "))
    let places = try String(contentsOfFile: folder.file("places"), encoding: .utf8)
    #expect(
      places.split(separator: "\n").allSatisfy { $0.hasPrefix(folder.file("compare-blocks") + "/") }
    )
    #expect(!FileManager.default.fileExists(atPath: folder.file("compare-blocks")))
    #expect(
      refusal(["--accept", "red.service_p50_ns", "--reason", "x"] + words)
        .contains("--accept: no run has the row"))
    let empty = try program("empty", try runs.make("nothing", [:]))
    #expect(
      refusal(["--executables", empty, empty, "--", "readers-writer"])
        .contains("has nothing to compare"))
  }
}
