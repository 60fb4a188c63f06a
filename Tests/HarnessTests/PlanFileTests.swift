// Plan files: what they say is done, what is wrong is told with its line and field.
import Foundation
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct PlanFileTests {
  private let folder = TemporaryFolder()

  private func write(_ text: String) throws -> String {
    let path = folder.path + "/plan.json"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func refusal(_ text: String, _ flags: String = "") throws -> String {
    let path = try write(text)
    do {
      _ = try run([path] + flags.split(separator: " ").map(String.init))
      return ""
    } catch let error as UsageError {
      return error.message.replacing(path + ":", with: "")
    }
  }

  private func run(
    _ words: [String], commits: UInt64 = .max
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    return (try RunVerb.run(words, surroundings), output.output, output.errors)
  }

  private static let plan = """
    {
      "workload": "readers-writer",
      "description": "a calm, a climb, and a storm without readers",
      "settings": {
        "readers": 2, "writers": 2, "objects": 100, "value-size": "16B", "warmup": "0s",
        "interval": "20ms", "seed": 7
      },
      "phases": [
        {"name": "calm", "duration": "100ms", "rate": "400/s", "readers": 1},
        {"name": "climb", "duration": "200ms", "rate": "200/s..2000/s"},
        {"name": "storm", "duration": "100ms", "rate": "1000/s", "readers": 0, "writers": 1}
      ],
      "thresholds": ["write.service_p50_ns<9000000000"]
    }
    """

  /// Of each phase its own figure: what holds in one may be missed in another.
  @Test func thresholdsAreThoseOfTheirPhases() throws {
    for (threshold, isMet) in [
      ("calm.write.target_rate_per_s==400", true), ("storm.write.target_rate_per_s==400", false),
      ("storm.write.target_rate_per_s==1000", true), ("storm.write.count>0", true),
    ] {
      let plan = Self.plan.replacing("write.service_p50_ns<9000000000", with: threshold)
      let out = folder.path + "/\(threshold.count)-\(isMet)"
      let (code, output, _) = try run([try write(plan), "--output", out, "--overwrite"])
      #expect(code == (isMet ? .success : .thresholdMissed), "\(threshold): \(output)")
      #expect(output.contains("\(threshold): \(isMet ? "met" : "MISSED")"))
    }
  }

  /// Names of phases may hold dots and signs, and all phases together have a name, too.
  @Test func thresholdsNameAnyPhase() throws {
    for (number, (threshold, isMet)) in [
      ("v1.2.write.target_rate_per_s==400", true), ("a<b.write.target_rate_per_s>=1000", true),
      ("a<b.write.target_rate_per_s<1000", false), ("measure.write.count>0", true),
    ].enumerated() {
      let plan = Self.plan.replacing("write.service_p50_ns<9000000000", with: threshold)
        .replacing("\"calm\"", with: "\"v1.2\"").replacing("\"storm\"", with: "\"a<b\"")
      let (code, output, errors) = try run([
        try write(plan), "--output", folder.path + "/\(number)",
      ])
      #expect(code == (isMet ? .success : .thresholdMissed), "\(threshold): \(output) \(errors)")
    }
  }

  @Test func phasesHaveRowsOfTheirOwnAndTheirSum() throws {
    let out = folder.path + "/out"
    let (code, output, _) = try run([try write(Self.plan), "--output", out])
    #expect(code == .success, "\(output)")
    let text = try String(contentsOfFile: out + "/summary.csv", encoding: .utf8)
    let rows = try #require(CSVTable.parse(text)).dropFirst()
    let columns = ResultSchema.summaryColumns
    func cell(_ phase: String, _ operation: String, _ column: String) -> Double? {
      let row = rows.first { $0[8] == phase && $0[7] == operation }
      return row.flatMap { Double($0[columns.firstIndex(of: column)!]) }
    }
    func due(_ phase: String) -> Double {
      (cell(phase, "write", "count") ?? 0) + (cell(phase, "write", "skipped") ?? 0)
    }
    // Due by the schedules, whether a busy machine came to them or not: a tenth of a second at 400,
    // two tenths at 1,100 in the mean, a tenth at 1,000; phases end up to some intervals late.
    #expect(due("calm") >= 38 && due("climb") >= 200 && due("storm") >= 95)
    #expect(cell("calm", "write", "target_rate_per_s") == 400)
    #expect(cell("climb", "write", "target_rate_per_s") == 1_100)
    // Those that work in the phase, not all that the run has.
    #expect(cell("calm", "read", "threads") == 1 && cell("climb", "read", "threads") == 2)
    #expect(cell("storm", "write", "threads") == 1 && cell("calm", "write", "threads") == 2)
    let sum = ["calm", "climb", "storm"].compactMap { cell($0, "write", "count") }.reduce(0, +)
    #expect(cell("measure", "write", "count") == sum)
    #expect(cell("climb", "read", "count") ?? 0 > 0)
    // Nobody reads in the storm: at most what began before it.
    #expect(cell("storm", "read", "count") ?? 0 <= 2)
    // What was counted between two phases belongs to one of them.
    let phases = try MeasuredRun(folder: out).document.phases
    func syncs(_ name: String) -> UInt64 { phases.first { $0.name == name }?.syncs ?? 0 }
    #expect(syncs("calm") + syncs("climb") + syncs("storm") == syncs("measure"))
    #expect(syncs("measure") > 0)
    let kept = try String(contentsOfFile: out + "/plan.json", encoding: .utf8)
    #expect(kept == Self.plan)
    let growth = try String(contentsOfFile: out + "/growth.csv", encoding: .utf8)
    #expect(growth.contains(",climb,"))
    #expect(try MeasuredRun(folder: out).rows.keys.contains { $0.name == "climb.write" })
  }

  @Test func aRampClimbsEvenly() {
    var schedule = ArrivalSchedule(
      .fixed, ratePerSecond: 100, start: 0, offset: 0, random: RandomGenerator(seed: 1),
      ramp: (to: 900, nanoseconds: 10_000_000_000))
    var counts = Array(repeating: 0, count: 12)
    while schedule.due < 12_000_000_000 {
      counts[Int(schedule.due / 1_000_000_000)] += 1
      schedule.advance()
    }
    for second in 0..<10 {
      let expected = 140 + 80 * second
      #expect(abs(counts[second] - expected) <= 4, "second \(second): \(counts[second])")
    }
    // Behind its end it stays.
    #expect(abs(counts[11] - 900) <= 2)
  }

  /// What the command line says in the place of the plan is in the command, although it is usual.
  @Test(arguments: [
    (checked, "--pins 0 --check-rate 0.03125 --invariants all"), (checked, "--invariants full"),
    (checked, "--invariants none"), (checked, "--ops 5 --warmup-ops 2"),
    (#""pins": 5, "processes": 2"#, "--readers 0 --processes 1"),
    (#""invariants": "full""#, "--check-rate 0.5"),
  ])
  func theCommandReplacesWhatThePlanSays(_ settings: String, _ flags: String) throws {
    let path = try write(#"{"workload": "readers-writer", "settings": {\#(settings)}}"#)
    let more = ["--dry-run", "--output", folder.path + "/out"]
    let first = try run([path] + flags.split(separator: " ").map(String.init) + more).output
    struct Resolved: Decodable { var command: String }
    let command = try JSONDecoder().decode(Resolved.self, from: Data(first.utf8)).command
    let again = try run(command.split(separator: " ").dropFirst(2).map(String.init) + more).output
    #expect(again == first)
    if flags.hasPrefix("--pins 0") {
      #expect(command.contains("--pins 0 ") && command.contains("--invariants all"))
    }
  }

  private static let checked =
    #""pins": 5, "invariants": "I1,I2", "processes": 2, "check_rate": "1/2", "warmup": "1s""#

  /// A value that is written like the plan is a value.
  @Test func theNameOfThePlanMayStandTwice() throws {
    let path = try write(Self.plan)
    let (code, output, _) = try run([path, "--output", path, "--dry-run"])
    #expect(code == .success && output.contains("plan.json"))
  }

  @Test func stepsEndByOperationsAndFlagsReplaceSettings() throws {
    let plan = """
      {"workload": "transfer",
       "settings": {"objects": 50, "warmup": "0s", "readers": 0, "seed": 3, "duration": "1h"},
       "phases": [{"name": "a", "ops": 40}, {"name": "b", "ops": 60}]}
      """
    let refused = try refusal(plan)
    #expect(refused.hasPrefix("2: settings.duration: the phases of the plan say this"))
    let path = try write(plan.replacing(", \"duration\": \"1h\"", with: ""))
    let out = folder.path + "/out"
    #expect(try run([path, "--output", out, "--seed", "9", "--interval", "20ms"]).code == .success)
    let run = try MeasuredRun(folder: out)
    #expect(run.document.seed == 9)
    func count(_ name: String) -> Double? { run.rows.first { $0.key.name == name }?.value["count"] }
    #expect(count("a.write") == 40 && count("b.write") == 60 && count("write") == 100)
  }

  @Test func dryRunPrintsTheResolvedPlanAndStartsNothing() throws {
    let out = folder.path + "/out"
    let (code, output, _) = try run(
      [try write(Self.plan), "--dry-run", "--output", out, "--objects", "77"])
    #expect(code == .success && !FileManager.default.fileExists(atPath: out))
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    let settings = try #require(read["settings"] as? [String: Any])
    #expect(settings["objects"] as? Int == 77 && settings["seed"] as? Int == 7)
    #expect(settings["duration_ns"] == nil)
    let script = try #require(settings["script"] as? [String: Any])
    let steps = try #require(script["steps"] as? [[String: Any]])
    #expect(steps.map { $0["name"] as? String } == ["calm", "climb", "storm"])
    #expect((steps[1]["rate"] as? [String: Any])?["to_per_s"] as? Double == 2_000)
  }

  /// Each of them is a time that can be; together they are more nanoseconds than can be counted.
  private static let longPhases: String = {
    let phases = (1...20).map { #"{"name": "p\#($0)", "duration": "11000d"}"# }
    let faults = #"[{"kind": "kill", "process": "pins", "at": "1s"}]"#
    return #"{"workload": "transfer", "background": [{"kind": "pins"}], "faults": \#(faults),"#
      + #" "phases": ["# + "\n" + phases.joined(separator: ",\n") + "]}"
  }()

  private static let refusals: [(text: String, message: String)] = [
    ("", "1: the plan ends too early"),
    ("[]", "1: a plan needs an object, not a list"),
    ("{\n  \"workload\": \"readers-writer\",\n}", "3: expected a name in quotes, found '}'"),
    ("{\"workload\": \"readers-writer\"} 1", "1: something follows the end of the plan"),
    ("{\n}", "1: workload: is missing; it names what runs"),
    ("{\"workload\": 3}", "1: workload: needs a text, not a number"),
    (
      "{\n\"workload\": \"reader-writer\"}",
      "2: workload: no workload 'reader-writer'; did you mean 'readers-writer'?"
    ),
    (
      "{\"workload\": \"transfer\", \"workload\": \"transfer\"}", "1: 'workload' is there twice"
    ),
    (
      "{\"workload\": \"transfer\",\n \"setting\": {}}",
      "2: setting: no such field; did you mean 'settings'?"
    ),
    (
      "{\"workload\": \"transfer\",\n\"settings\":\n {\"writer\": 2}}",
      "3: settings.writer: no such setting; did you mean 'writers'?"
    ),
    (
      "{\"workload\": \"transfer\", \"settings\": {\"replicas\": 3}}",
      "1: settings.replicas: no such setting"
    ),
    (
      "{\"workload\": \"transfer\", \"settings\": {\n\"read-keys\": \"latest\"}}",
      "2: settings.read-keys: the workload transfer does not use this"
    ),
    (
      "{\"workload\": \"transfer\", \"settings\": {\n\n\"duration\": 30}}",
      "3: settings.duration: '30' has no unit; write a duration such as 30s or 500ms"
    ),
    (
      "{\"workload\": \"transfer\", \"settings\": {\"strict\": 1}}",
      "1: settings.strict: needs true or false, not a number"
    ),
    (
      "{\"workload\": \"transfer\", \"settings\": {\"seed\": [1]}}",
      "1: settings.seed: needs a text or a number, not a list"
    ),
    (
      "{\"workload\": \"transfer\",\n\"phases\": [{\"duration\": \"1s\"}]}",
      "2: phases[0].name: is missing; rows of the results carry it"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [\n{\"name\": \"a\", \"duration\": \"1s\"},\n"
        + "{\"name\": \"a\", \"duration\": \"1s\"}]}",
      "3: phases[1].name: 'a' is there twice"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [{\"name\": \"a\"}]}",
      "1: phases[0].duration: give either duration or ops"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [{\"name\": \"a\", \"duration\": \"1\"}]}",
      "1: phases[0].duration: '1' has no unit; write a duration such as 30s or 500ms"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [{\"name\": \"a\", \"duration\": \"1s\", "
        + "\"rate\": \"5/s..\"}]}",
      "1: phases[0].rate"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [\n"
        + "{\"name\": \"a\", \"duration\": \"1s\", \"rate\": \"5/s\"},\n"
        + "{\"name\": \"b\", \"duration\": \"1s\"}]}",
      "3: phases[1].rate: either all phases have one, or none"
    ),
    (
      "{\"workload\": \"bulk-load\", \"phases\": [{\"name\": \"a\", \"duration\": \"1s\"}]}",
      "1: phases: the workload bulk-load has one measured phase (others: "
        + "readers-writer, transfer, mixed)"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [\n{\"kind\": \"pin\"}]}",
      "2: background[0].kind: 'pin' is not one of pins, reader, cache, observer, compaction; "
        + "did you mean 'pins'?"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [{\"kind\": \"pins\"},\n{\"kind\": \"pins\"}]}",
      "2: background[1].name: 'pins' is there twice; give each a name"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [{\"kind\": \"reader\", \"name\": \"slow\"}],"
        + "\"faults\": [\n{\"kind\": \"stop\", \"process\": \"slw\", \"at\": \"1s\"}]}",
      "2: faults[0].process: no background load is called 'slw'; did you mean 'slow'?"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [{\"kind\": \"reader\"}], "
        + "\"phases\": [{\"name\": \"a\", \"duration\": \"1s\"}], "
        + "\"faults\": [{\"kind\": \"kill\", \"process\": \"reader\", \"at\": \"1s\"}]}",
      "1: faults[0].at: the phases are over by then"
    ),
    (
      "{\"workload\": \"transfer\",\n\"thresholds\": [\"writ.count>1\"]}", "2: thresholds: "
    ),
    (
      "{\"workload\": \"transfer\", \"thresholds\": \"x\"}",
      "1: thresholds: needs a list, not a text"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [{\"name\": \"storm\", \"duration\": \"1s\"}],\n"
        + "\"thresholds\": [\"strom.write.count>1\"]}",
      "2: thresholds: --threshold 'strom.write.count>1': 'strom' is no phase of this run; "
        + "did you mean 'storm'?"
    ),
    (
      "{\"workload\": \"transfer\", \"thresholds\": [\"storm.write.count>1\"]}",
      "1: thresholds: --threshold 'storm.write.count>1': 'storm' is no phase of this run, which "
        + "has no plan with phases"
    ),
    (
      "{\"workload\": \"readers-writer\", \"phases\": [{\"name\": \"a\", \"ops\": 5, "
        + "\"read_rate\": \"5/s..9/s\"}]}",
      "1: phases[0].read_rate: a ramp needs a duration, not ops"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [\n{\"kind\": \"observer\",\n"
        + "\"count\": 3}]}",
      "3: background[0].count: means nothing to 'observer'; leave it out"
    ),
    (
      "{\"workload\": \"transfer\", \"background\": [\n"
        + "{\"kind\": \"observer\", \"every\": \"1s\"}]}",
      "2: background[0].every: means nothing to 'observer'; leave it out"
    ),
    (
      "{\"workload\": \"transfer\", "
        + "\"background\": [{\"kind\": \"compaction\", \"count\": 3}]}",
      "1: background[0].count: means nothing to 'compaction'; leave it out"
    ),
    (
      "{\"workload\": \"transfer\", \"phases\": [{\"name\": \"idle\", \"duration\": \"1s\", "
        + "\"writers\": 0}],\n\"thresholds\": [\"idle.write.service_p50_ns<5\"]}",
      "2: thresholds: --threshold 'idle.write.service_p50_ns<5': no thread does 'write' in the phase "
        + "'idle', so 'service_p50_ns' stays empty"
    ),
    ("{\"a\": \"\\u+123\"}", "1: \\u needs four hexadecimal digits"),
    (longPhases, "3: phases[1].duration: all phases so far are too long together"),
    ("{\"a\": \"x\ny\"}", "1: a text ends at the end of its line: a quote is missing"),
    ("{\"a\": 01}", "1: a number is not written that way"),
    ("{\"a\": tru}", "1: expected a value, found 't'"),
    ("{\"a\": \"\\u12\"}", "1: \\u needs four hexadecimal digits"),
    (String(repeating: "[", count: 100), "1: nested more than 64 deep"),
  ]

  @Test(arguments: refusals.indices)
  func whatIsWrongIsToldWithLineAndField(_ number: Int) throws {
    let found = try refusal(Self.refusals[number].text)
    #expect(found.hasPrefix(Self.refusals[number].message), "found: \(found)")
  }

  @Test func anEmptyNameIsToldAsThat() throws {
    let phases = #"{"workload": "transfer", "phases": [{"name": "", "duration": "1s"}]}"#
    #expect(try refusal(phases).contains("is empty"))
    #expect(
      try refusal(#"{"workload": ""}"#)
        == "1: workload: is empty; write at least one letter, or leave it out")
  }

  @Test func runsOfOnePlanFileAreTheSameWork() throws {
    let plan = try write(Self.plan)
    let outs = ["a", "b", "c"].map { folder.path + "/" + $0 }
    for out in outs[..<2] { _ = try run([plan, "--output", out]) }
    let other = try write(Self.plan.replacing("200/s..2000/s", with: "200/s..1000/s"))
    _ = try run([other, "--output", outs[2]])
    func merge(_ folders: [String]) -> String {
      let output = CollectedOutput()
      let words = folders + ["--partial", "-o", folder.path + "/merged"]
      do {
        _ = try MergeVerb.perform(words, console: output.console())
        return ""
      } catch {
        return (error as? UsageError)?.message ?? "\(error)"
      }
    }
    let refusal = merge([outs[0], outs[2]])
    #expect(refusal.contains("'\(outs[0])' and '\(outs[2])' did different work: "), "\(refusal)")
    #expect(refusal.hasSuffix(": phases[2].rate.to_per_s is 2000 and 1000"), "\(refusal)")
    let shorter = try write(
      #"{"workload": "readers-writer", "settings": {"readers": 2, "writers": 2, "objects": 100,"#
        + #""value-size": "16B", "warmup": "0s"}, "phases": [{"name": "calm", "duration": "50ms"}]}"#
    )
    let short = folder.path + "/short"
    _ = try run([shorter, "--output", short])
    #expect(merge([outs[0], short]).contains("number of phases is 3 and 1"))
    #expect(merge([outs[0], outs[1]]) == "")
  }

  @Test func filesThatAreNoPlansAreRefused() throws {
    #expect(throws: UsageError.self) { try run([folder.path + "/missing.json"]) }
    #expect(throws: UsageError.self) { try run([try write(Self.plan), "second"]) }
    #expect(throws: UsageError.self) { try run([try write(Self.plan), "--reader", "3"]) }
    let path = folder.path + "/binary.json"
    try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: path))
    #expect(throws: UsageError.self) { try run([path]) }
  }

  @Test func jsonIsReadAsOthersReadIt() throws {
    let text = "{\"a\": [1, -2.5e3, true, null, \"x\\n\\u00e9\\ud83d\\ude00\\/\"], \"b\": {}}"
    guard case .object(let members) = try LocatedJSON.parse(text).value,
      case .array(let elements) = members[0].value.value,
      case .string(let string) = elements[4].value, case .number(let number) = elements[1].value
    else {
      Issue.record("another structure")
      return
    }
    #expect(string == "x\né😀/" && number == "-2.5e3")
  }

  // MARK: - Background load

  /// The tool itself: built beside the tests.
  private static let tool = Bundle.main.executableURL!.deletingLastPathComponent()
    .appendingPathComponent("realm-bench").path

  @Test func backgroundProcessesUseTheFileAndFaultsHitThem() throws {
    let plan = """
      {
        "workload": "readers-writer",
        "settings": {"readers": 1, "objects": 500, "warmup": "0s", "durability": "memory",
                     "interval": "50ms"},
        "phases": [{"name": "all", "duration": "1500ms", "rate": "500/s"}],
        "background": [
          {"kind": "pins", "name": "holders", "processes": 2, "count": 3, "every": "20ms"},
          {"kind": "reader", "name": "lagging", "every": "5ms"},
          {"kind": "cache", "count": 50}, {"kind": "observer"},
          {"kind": "compaction", "every": "200ms"}
        ],
        "faults": [
          {"kind": "stop", "process": "lagging", "at": "100ms", "for": "300ms"},
          {"kind": "kill", "process": "holders", "at": "600ms"}
        ]
      }
      """
    let out = folder.path + "/out"
    let output = CollectedOutput()
    var surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { TimedInterruption() },
      makeDriver: { try RealmDriver(path: $0, durability: $1) })
    surroundings.tool = Self.tool
    let code = try RunVerb.run([try write(plan), "--output", out], surroundings)
    #expect(code == .success, "\(output.errors)")
    let text = try String(contentsOfFile: out + "/events.csv", encoding: .utf8)
    let rows = try #require(CSVTable.parse(text)).dropFirst()
    let events = rows.map { "\($0[6]) \($0[7]) \($0[8])" }
    #expect(
      events == ["lagging 1 stop", "lagging 1 resume", "holders 1 kill", "holders 2 kill"])
    #expect(try Double(#require(rows.last)[5])! >= 0.6)
    // Nobody is left, and neither is a copy.
    let left = try FileManager.default.contentsOfDirectory(atPath: out)
    #expect(!left.contains { $0.contains(".realm") }, "\(left)")
  }

  @Test func aBackgroundProcessThatDoesNotStartFailsTheRun() throws {
    let plan = """
      {"workload": "readers-writer", "settings": {"objects": 50, "warmup": "0s"},
       "phases": [{"name": "all", "duration": "1h"}], "background": [{"kind": "reader"}]}
      """
    let output = CollectedOutput()
    var surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: nil) })
    // The model engine makes no file; and there may be no tool.
    surroundings.tool = Self.tool
    let path = try write(plan)
    #expect(try RunVerb.run([path, "--output", folder.path + "/a"], surroundings) == .failed)
    #expect(output.errors.contains("did not start"))
    surroundings.tool = folder.path + "/nothing"
    #expect(try RunVerb.run([path, "--output", folder.path + "/b"], surroundings) == .failed)
    #expect(output.errors.contains("cannot be started"))
  }
}
