// Bad input of every verb, given to the tool itself: refused before anything starts, in one line
// that says what was wrong and what there is instead, and nothing is written.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct BadInputTests {
  private let folder = TemporaryFolder()

  /// Runs the tool; words are parted by spaces, those in single quotes may hold some.
  private func tool(_ line: String) throws -> (code: Int32, output: String, errors: String) {
    let parts = line.split(separator: "'", omittingEmptySubsequences: false)
    var words: [String] = []
    for (number, part) in parts.enumerated() {
      if number % 2 == 1 {
        words.append(String(part))
      } else {
        words += part.split(separator: " ").map(String.init)
      }
    }
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments = words
    let place = folder.file("work")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    process.currentDirectoryURL = URL(fileURLWithPath: place)
    let files = ["output", "errors"].map(folder.file)
    for file in files { try "".write(toFile: file, atomically: false, encoding: .utf8) }
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try process.start()
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return (process.terminationStatus, texts[0], texts[1])
  }

  private func expectRefusal(_ line: String, _ words: String, code: ExitCode = .usage) throws {
    let result = try tool(line)
    #expect(result.code == code.rawValue, "\(result)")
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == 1 && result.errors.contains(words), "\(result.errors)")
    #expect(result.output.isEmpty, "\(result.output)")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("work"))
    #expect(left.isEmpty, "\(left)")
  }

  @Test(arguments: [
    ("runn", "did you mean 'run'?"), ("rport", "did you mean 'report'?"),
    ("RUN readers-writer", "did you mean 'run'?"), ("man", "completion man"),
    ("readers-writer", "run readers-writer"), ("plan.json", "run plan.json"),
    ("app.realm", "check app.realm"), ("--readers 2", "a verb comes first"),
    ("help foo", "no verb 'foo'"), ("background", "started by runs only"),
    ("list workload", "did you mean 'workloads'?"), ("list foo", "one of workloads, scenarios"),
    ("list workloads bugs", "list takes one of"), ("list --format xml", "one of text, json"),
    ("doctor x", "a folder is given by --path"), ("doctor --path nowhere", "is no folder"),
    ("completion", "needs one of bash, zsh, fish, man"),
    ("completion fsh", "did you mean 'fish'?"), ("completion man x", "needs one of"),
    ("explain f", "FILE.realm CLASS PREDICATE"),
    ("explain f A b c", "put the predicate into quotes"),
    ("inspect", "the path of one Realm file"), ("inspect a b", "the path of one Realm file"),
    ("inspect a --profile=x", "takes no value"), ("inspect .", "is a folder without Realm files"),
    ("check", "needs the path"), ("check .", "is a folder without Realm files"),
    ("check /dev/null", "is a device, pipe or socket"),
    ("check x --encryption-key nowhere", "cannot read 'nowhere': No such file or directory"),
    ("replay", "needs the folder of one failure"), ("replay a b", "needs the folder of one"),
    ("replay nowhere", "holds no bundle.json"), ("replay x --until y", "--until needs a whole"),
    ("hunt x", "a program is named by --scenario"), ("hunt --duration 5", "has no unit"),
    ("hunt --strategy sufw", "did you mean 'surw'?"), ("hunt --strategy what", "(random, pct, pos"),
    ("hunt --scenario what", "list scenarios"), ("hunt --scenario transfr", "'transfer'?"),
    ("hunt --processes 0", "between 1 and 256"), ("hunt --processes 100000", "between 1 and 256"),
    ("hunt --shard 5/2", "K from 1 to N"), ("hunt --shard 1//3", "K from 1 to N"),
    ("hunt --shard +1/3", "K from 1 to N"),
    ("hunt --replay-corpus --seed 3", "--replay-corpus and --seed contradict each other"),
    ("compare --resample x --strict", "--strict and --resample contradict each other"),
    ("hunt --sanitizer what", "scripts/hunt"),
    ("hunt --bugs --scenario x", "contradict each other"),
    ("merge", "needs results folders"), ("merge a", "-o FOLDER"), ("merge a b -o c", "no run.json"),
    ("merge . . -o c", "lie in one another"),
    ("report nowhere", "no results folder 'nowhere'"), ("report .", "has no run.json"),
    ("report --trend x", "has no history yet"),
    ("report --overwite x", "did you mean '--overwrite'?"),
    ("plan x", "goes after --ask"), ("plan --ask what", "no figure that can be planned"),
    ("plan --ask 'file siz at pins=3'", "did you mean 'file size'?"),
    ("plan --ask 'file size at pin=3'", "did you mean 'pins'?"),
    ("plan --ask 'file size at pins=3'", "it takes age and rate"),
    ("plan --ask 'p99 at load=150%'", "no share such as 70%"),
    ("plan --ask 'largest rate with write.response_p99<5'", "has no unit"),
    ("plan --ask 'readers at 50k'", "is no question"),
    ("plan --ask 'file size at objects=5' --budget 5", "--budget: '5' has no unit"),
    ("plan --ask 'file size at objects=5' --budget 0s", "--budget is 0"),
    ("plan --ask 'file size at objects=5' --from nowhere", "no results folder 'nowhere'"),
    ("compare", "needs two results folders"), ("compare a b c", "more of a side go after"),
    ("compare . .", "has no run.json"), ("compare --executables a b", "-- WORKLOAD"),
    ("compare --executables a b -- readers-writer", "'a' is no executable file"),
    ("compare --executables . b -- readers-writer", "'.' is a folder"),
    ("compare --executables a b -- mixed --keep-file", "--keep-file is not for the runs it makes"),
    ("hunt --replay-corpus --output x", "--replay-corpus and --output contradict each other"),
    ("hunt --replay-corpus --overwrite", "--replay-corpus and --overwrite contradict each other"),
    ("report . -o \(String(repeating: "r", count: 250))", "the name is too long: it has 250 bytes"),
    ("compare a b --max-regression 10", "is not of the form"),
    ("compare a b --accept row", "one of each a row"),
    ("compare a b --duet", "without --executables"),
    ("compare a b --format xm", "one of text, json, markdown, junit"),
    ("compare a b --write junit=nowhere/x", "create it first"),
    ("compare --resample nowhere", "cannot be read"), ("compare a b --strct", "'--strict'?"),
  ])
  func isRefused(_ line: String, _ words: String) throws { try expectRefusal(line, words) }

  /// Words after `run`.
  @Test(arguments: [
    ("", "run needs a workload"), ("mixd", "did you mean 'mixed'?"),
    ("readers_writer", "did you mean 'readers-writer'?"), ("nowhere.json", "cannot be read"),
    ("transfer mixed", "also got 'mixed'"), ("transfer --readers", "needs a value: N"),
    ("transfer --readers x", "a whole number"), ("transfer --readers 99999", "between 0 and 1024"),
    ("transfer --readers 0 --writers 0", "nothing to run"),
    ("transfer -x", "unknown flag '-x'; see"),
    ("transfer --duration 10", "has no unit"), ("transfer --duration 0s", "--duration is 0"),
    ("transfer --ops 1 --duration 1s", "contradict each other"),
    ("transfer --rate 100", "did you mean 100/s?"), ("transfer --rate 0/s", "a rate above 0"),
    ("transfer --durabilty full", "did you mean '--durability'?"),
    ("transfer --durability ful", "did you mean 'full'?"),
    ("transfer --seed x", "a whole number from 0 to 2^64-1"),
    ("transfer --shard 3/2", "K from 1 to N"),
    ("transfer --engine sqlit", "did you mean 'sqlite'?"),
    ("transfer --engine realm,realm", "named twice"),
    ("transfer --replicas 0", "between 1 and 1000"),
    ("transfer --path \(String(repeating: "p", count: 250))", "the name is too long"),
    ("transfer --path \(String(repeating: "p", count: 300))", "the name is too long"),
    ("transfer --output \(String(repeating: "o", count: 300))", "the name is too long"),
    (
      "transfer --output \(String(repeating: "o/", count: 2_000))",
      "--output: the path is too long"
    ),
    (
      "transfer --output \(String(repeating: "o", count: 300))/x", "a name in the path is too long"
    ),
    ("transfer --save-baseline -x", "'-x' is no name for a baseline"),
    ("transfer --processors 0,0", "0 is named twice"),
    ("transfer --replicas 2 --path x.realm", "needs a file of its own"),
    ("mixed --processes 2", "readers-writer, transfer, bulk-load can"),
    ("transfer --processes 4 --ops 2", "leaves some without an operation"),
    ("transfer --processes 4 --ops 9 --warmup-ops 2", "--warmup-ops 2 leaves some without"),
    (
      "bulk-load --processes 4 --objects 20 --batch 10", "in transactions of --batch 10 leaves some"
    ),
    ("transfer --invariants I99", "is not checked by this workload"),
    ("transfer --threshold what", "is not of the form"),
    ("transfer --threshold 'write.response_p99_ns<5'", "give --rate, or use a service_ column"),
    ("transfer --threshold 'wrte.count<5'", "did you mean 'write'?"),
    ("transfer --threshold 'write.service_p50_ns<5ms'", "the number in the column's unit"),
    ("transfer --threshold 'write.count<\(String(repeating: "9", count: 400))'", "not of the form"),
    (
      "transfer --processes 2 --threshold 'write.system_calls_per_commit<5'",
      "with --processes 'system_calls_per_commit' stays empty"
    ),
    (
      "actor-hops --threshold 'write.allocations_per_operation<5'",
      "'write' is not done by one thread from its begin to its end"
    ),
    ("transfer --threshold 'file_byte<5'", "did you mean 'file_bytes'?"),
    ("readers-writer --read-keys zipf", "zipf:0.99"), ("mixed --mix G", "neither A to F"),
    ("transfer --output", "needs a value: DIR"), ("transfer --path nowhere/x", "create it first"),
    ("transfer --path .", "is a folder"), ("transfer --save-baseline ../x", "is no name"),
    ("readers-writer --value-size 100kb", "write 100KiB, or 100000B"),
    ("transfer --quiet=yes", "takes no value"), ("transfer --interval 1ms", "at least 10ms"),
    ("transfer --color blue", "one of auto, always, never"),
    ("transfer --hops 3", "does not use this flag"), ("actor-hops --hops 0", "--hops"),
    ("transfer --allocator jemaloc", "did you mean 'jemalloc'?"),
  ])
  func aRunIsRefused(_ line: String, _ words: String) throws {
    try expectRefusal("run " + line, words)
  }

  @Test func aBaselineThatIsNotThereHasACodeOfItsOwn() throws {
    try expectRefusal("run transfer --baseline nothing", "no baseline", code: .baselineMissing)
    try expectRefusal("compare a b", "no baseline 'a'", code: .baselineMissing)
  }

  /// What stands behind `"workload": "readers-writer",` in a plan, or another workload's.
  @Test(arguments: [
    (#""setings": {}"#, "did you mean 'settings'?"),
    (#""settings": {"reeders": 2}"#, "did you mean 'readers'?"),
    (#""settings": {"duration": 5}"#, "settings.duration: '5' has no unit"),
    (#""settings": {"readers": 2,}"#, "expected a name in quotes"),
    (#""phases": [{"duration": "5s"}]"#, "phases[0].name: is missing"),
    (#""phases": [{"name": "a"}]"#, "give either duration or ops"),
    (
      #""phases": [{"name": "a", "ops": 5, "readers": 0, "writers": 0}]"#,
      "none works in this phase"
    ),
    (#""phases": [{"name": "a", "duration": "5s", "readers": 9}]"#, "settings.readers is 4"),
    (
      #""phases": [{"name": "a", "duration": "5s", "readers": 0, "read_rate": "9/s"}]"#,
      "phases[0].read_rate: needs a reader"
    ),
    (
      #""settings": {"writers": 0}, "phases": [{"name": "a", "duration": "5s", "rate": "9/s"}]"#,
      "phases[0].rate: needs a writer"
    ),
    (#""background": [{"kind": "pinz"}]"#, "did you mean 'pins'?"),
    (
      #""background": [{"kind": "pins"}], "faults": [{"kind": "stop", "process": "pin", "at": "1s"}]"#,
      "did you mean 'pins'?"
    ),
    (
      #""background": [{"kind": "pins"}], "faults": [{"kind": "stop", "process": "pins", "at": "1h"}]"#,
      "faults[0].at: the run is over by then: it lasts 10s"
    ),
    (
      #""background": [{"kind": "pins"}], "faults": [{"kind": "kill", "process": "pins", "at": "1s"}, "#
        + #"{"kind": "stop", "process": "pins", "at": "2s"}]"#,
      "faults[1].at: 'pins' is killed before, at 1s"
    ),
    (#""workload": "mixed""#, "is there twice"),
  ])
  func aPlanIsRefusedWithLineAndField(_ rest: String, _ words: String) throws {
    let path = folder.file("plan.json")
    try "{\"workload\": \"readers-writer\",\n\(rest)}".write(
      toFile: path, atomically: true, encoding: .utf8)
    try expectRefusal("run \(path)", words)
    #expect(try String(contentsOfFile: folder.file("errors"), encoding: .utf8).contains(":2: "))
  }

  /// Steps of a workload that has no readers, or no schedule for them.
  @Test(arguments: [
    ("mixed", "readers", "0"), ("mixed", "read_rate", "\"9/s\""),
    ("transfer", "read_rate", "\"9/s\""),
  ])
  func aPhaseHasOnlyWhatItsWorkloadUses(_ workload: String, _ field: String, _ value: String) throws
  {
    let path = folder.file("plan.json")
    let phase = "{\"name\": \"a\", \"duration\": \"1s\", \"\(field)\": \(value)}"
    try "{\"workload\": \"\(workload)\", \"phases\": [\(phase)]}".write(
      toFile: path, atomically: true, encoding: .utf8)
    try expectRefusal(
      "run \(path)", "phases[0].\(field): the workload \(workload) does not use this")
  }
}
