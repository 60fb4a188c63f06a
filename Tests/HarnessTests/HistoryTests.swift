// Histories: their shape is the one that Jepsen's and elle's tools read, and a history that is
// wrong in one way is found out from its file alone.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct HistoryTests {
  private let folder = TemporaryFolder()

  private func run(
    _ line: String, bug: ModelBug? = nil
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let surroundings = RunVerb.Surroundings(
      console: output.console(), interruption: { TimedInterruption() },
      makeDriver: { _, _ in ModelEngine(bug: bug) })
    let words = line.split(separator: " ").map(String.init)
    return (try RunVerb.run(words, surroundings), output.output, output.errors)
  }

  private func lines(_ path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// The grammar of Jepsen's operations, with elle's micro-operations of registers: index, time,
  /// process, type, f, value; `[f, k, v]` with f of r and w; an invocation knows no value that it
  /// will read.
  private func checkGrammar(_ lines: [String]) throws -> (transactions: Int, writes: Int) {
    var open: [Int: [[String]]] = [:]
    var written: Set<String> = []
    var (transactions, writes) = (0, 0)
    for (number, line) in lines.enumerated() {
      let event = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let names = Set(event.keys).subtracting(["error"])
      #expect(names == ["index", "time", "process", "type", "f", "value"], "\(line)")
      #expect(event["index"] as? Int == number && event["f"] as? String == "txn")
      let process = try #require(event["process"] as? Int)
      let value = try #require(event["value"] as? [[Any]])
      #expect(!value.isEmpty)
      var shape: [[String]] = []
      for operation in value {
        #expect(operation.count == 3)
        let name = try #require(operation[0] as? String)
        let key = try #require(operation[1] as? Int)
        #expect(name == "r" || name == "w")
        shape.append([name, String(key)])
        let isNull = operation[2] is NSNull
        if name == "w" {
          #expect(!isNull && operation[2] is Int)
        } else if event["type"] as? String == "invoke" {
          #expect(isNull)
        }
        if name == "w", event["type"] as? String == "ok" {
          writes += 1
          #expect(written.insert("\(key) \(operation[2])").inserted, "written twice: \(line)")
        }
      }
      switch event["type"] as? String {
      case "invoke":
        #expect(open.updateValue(shape, forKey: process) == nil, "two at a time: \(line)")
      case "ok", "fail", "info":
        #expect(open.removeValue(forKey: process) == shape, "\(line)")
        transactions += 1
      default: Issue.record("another type: \(line)")
      }
    }
    #expect(open.isEmpty)
    return (transactions, writes)
  }

  @Test(arguments: [
    "readers-writer --readers 2 --writers 2 --objects 40 --batch 3",
    "transfer --readers 1 --writers 2 --objects 30",
    "mixed --threads 2 --objects 40 --mix read:40,update:20,insert:20,read-modify-write:20",
  ])
  func historiesHaveThePublishedShapeAndAreVerifiedAgain(_ workload: String) throws {
    let out = folder.path + "/out"
    let line = "\(workload) --value-size 16B --warmup 0s --ops 2000 --history --output \(out)"
    let (code, _, errors) = try run(line)
    #expect(code == .success, "\(errors)")
    let path = out + "/history.jsonl"
    let (transactions, writes) = try checkGrammar(lines(path))
    // Who gets how much of the operations of a mix is up to the machine, except for threads that do
    // all.
    #expect(transactions > 10 && (writes > 50 || !workload.hasPrefix("mixed")))
    #expect(!FileManager.default.fileExists(atPath: out + "/history"))
    let verdict = HistoryCheck.check(path)
    #expect(verdict.damage == nil && verdict.violation == nil, "\(verdict)")
    #expect(verdict.transactions == transactions && verdict.writes == writes)
    let output = CollectedOutput()
    #expect(try CheckVerb.perform([out], console: output.console()) == .success)
    #expect(output.output.contains("strictly serializable"))
    let json = CollectedOutput()
    _ = try CheckVerb.perform([out, "--format", "json"], console: json.console())
    #expect(json.output.contains("\"transactions\" : \(transactions)"))
    // The folder says that it has one.
    try FileManager.default.removeItem(atPath: path)
    let gone = CollectedOutput()
    #expect(try CheckVerb.perform([out], console: gone.console()) == .failed)
    #expect(gone.output.contains("no history: "), "\(gone.output)")
  }

  /// A history of a few transactions, each by a process of its own: begin and end, and what it did.
  private func history(_ transactions: [(Range<Int>, String, [MicroOperation])]) throws -> String {
    let parts = folder.path + "/parts"
    let log = try HistoryLog(folder: parts)
    var taken: [HistoryPart] = []
    for (time, outcome, operations) in transactions {
      let part = try log.takePart()
      part.invoke(at: UInt64(time.lowerBound), operations)
      if let outcome = HistoryOutcome(rawValue: outcome) {
        part.complete(outcome, at: UInt64(time.upperBound), operations)
      }
      taken.append(part)
    }
    for part in taken { log.giveBack(part) }
    let path = folder.path + "/history.jsonl"
    try HistoryMerge.join([parts], to: path)
    return path
  }

  private func w(_ key: Int, _ value: Int) -> MicroOperation {
    MicroOperation(isWrite: true, key: key, value: value)
  }

  private func r(_ key: Int, _ value: Int?) -> MicroOperation {
    MicroOperation(isWrite: false, key: key, value: value)
  }

  @Test func orderIsJudgedAndEachFaultIsFound() throws {
    let first = (0..<10, "ok", [r(1, nil), w(1, 1), w(2, 1)])
    let second = (20..<30, "ok", [r(2, 1), w(2, 2)])
    func verdict(_ more: [(Range<Int>, String, [MicroOperation])]) throws -> String? {
      let found = HistoryCheck.check(try history([first, second] + more))
      #expect(found.damage == nil, "\(found)")
      #expect(found.violation == nil || !found.witness.isEmpty)
      return found.violation
    }
    #expect(try verdict([]) == nil)
    // Old is right while the writer has not ended, and wrong behind its end.
    #expect(try verdict([(25..<40, "ok", [r(1, 1), r(2, 1)])]) == nil)
    #expect(try verdict([(25..<40, "ok", [r(1, 1), r(2, 2)])]) == nil)
    #expect(
      try verdict([(31..<40, "ok", [r(1, 1), r(2, 1)])])?.contains("no single snapshot") == true)
    // Half of a transaction.
    #expect(
      try verdict([(5..<40, "ok", [r(1, nil), r(2, 1)])])?.contains("no single snapshot") == true)
    #expect(try verdict([(31..<40, "ok", [r(1, 7)])])?.contains("nobody wrote") == true)
    #expect(
      try verdict([(0..<5, "fail", [w(9, 7)]), (31..<40, "ok", [r(9, 7)])])?
        .contains("of a transaction that failed") == true)
    // A lost update: both have read the same.
    #expect(
      try verdict([(21..<41, "ok", [r(2, 1), w(2, 3)])])?.contains("no single snapshot") == true)
    // What somebody has seen whose transaction has ended is there for all who come later, although
    // its writer goes on.
    let writer = (31..<100, "ok", [r(2, 2), w(2, 3)])
    #expect(try verdict([writer, (50..<60, "ok", [r(2, 2)])]) == nil)
    let seen = (40..<45, "ok", [r(2, 3)])
    #expect(try verdict([writer, seen, (50..<60, "ok", [r(2, 3)])]) == nil)
    #expect(
      try verdict([writer, seen, (50..<60, "ok", [r(2, 2)])])?.contains("no single snapshot")
        == true)
    // What is not known to have ended may have happened.
    #expect(try verdict([(31..<40, "none", [w(1, 3)]), (50..<60, "ok", [r(1, 3)])]) == nil)
    #expect(try verdict([(31..<40, "none", [w(1, 3)]), (50..<60, "ok", [r(1, 1)])]) == nil)
  }

  /// Zeros are what a crash of the machine may leave of a file that was not synced.
  @Test(arguments: ["", String(repeating: "\0", count: 5_000), "{\"index\":0"])
  func ofNothingNoOrderIsTold(_ text: String) throws {
    let path = folder.file("history.jsonl")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let output = CollectedOutput()
    #expect(try CheckVerb.perform([folder.path], console: output.console()) == .failed)
    #expect(output.output.contains("no history: it holds no transaction"), "\(output.output)")
  }

  /// It says how long the history was.
  @Test(arguments: ["", "[]", "{"])
  func aHistoryWhoseListIsDamagedIsNotCalledWhole(_ text: String) throws {
    let out = folder.path + "/out"
    let line = "readers-writer --readers 0 --objects 50 --warmup 0s --ops 100 --history"
    #expect(try run("\(line) --output \(out)").code == .success)
    try text.write(toFile: out + "/run.json", atomically: true, encoding: .utf8)
    let output = CollectedOutput()
    #expect(try CheckVerb.perform([out], console: output.console()) == .failed)
    #expect(output.output.contains("'run.json' cannot be read"), "\(output.output)")
    // Beside a history alone there is nothing that could contradict it.
    try FileManager.default.removeItem(atPath: out + "/run.json")
    #expect(try CheckVerb.perform([out], console: output.console()) == .success)
  }

  @Test func aViolationAndADamagedHistoryHaveTheirExitCodes() throws {
    let out = folder.path + "/out"
    let line = "transfer --objects 30 --warmup 0s --ops 500 --history --output \(out)"
    #expect(try run(line).code == .success)
    let path = out + "/history.jsonl"
    let sound = try String(contentsOfFile: path, encoding: .utf8)
    func check(_ text: String) throws -> ExitCode {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let output = CollectedOutput()
      return try CheckVerb.perform([out, "--format", "markdown"], console: output.console())
    }
    #expect(try check(sound) == .success)
    // A read of a number that nobody wrote.
    let lines = sound.split(separator: "\n").map(String.init)
    let number = try #require(
      lines.lastIndex { $0.contains("\"type\":\"ok\"") && $0.contains("[\"r\",") })
    var broken = lines
    let start = try #require(broken[number].range(of: "[\"r\","))
    let rest = broken[number][start.upperBound...]
    let comma = try #require(rest.firstIndex(of: ","))
    let end = try #require(rest[comma...].firstIndex(of: "]"))
    broken[number].replaceSubrange(rest.index(after: comma)..<end, with: "987654321")
    #expect(try check(broken.joined(separator: "\n") + "\n") == .invariantViolated)
    #expect(try check("no json\n") == .failed)
    // Sound in itself, and not what the run has written.
    #expect(try check("") == .failed)
    #expect(try check(lines.prefix(2).joined(separator: "\n") + "\n") == .failed)
    #expect(try check(lines.dropFirst().joined(separator: "\n") + "\n") == .failed)
    #expect(try check(lines.dropLast().joined(separator: "\n") + "\n") == .failed)
    #expect(throws: UsageError.self) {
      try CheckVerb.perform([folder.path], console: CollectedOutput().console())
    }
  }

  /// The checker judges what it is given: an engine that drops updates is found out by the file.
  ///
  /// One writer alone: readers would take a share of the operations that is chance. A transfer
  /// reads both accounts before it writes them, so the next one that meets an account with a
  /// dropped update has read too old a number.
  @Test func aPlantedBugIsFoundInTheFileWithChecksOff() throws {
    let out = folder.path + "/out"
    let line =
      "transfer --readers 0 --writers 1 --objects 30 --warmup 0s --ops 500 --invariants none "
      + "--history --output \(out)"
    for (bug, isFound) in [(nil, false), (ModelBug.droppedUpdate, true)] {
      #expect(try run(line + " --overwrite", bug: bug).code == .success)
      let verdict = HistoryCheck.check(out + "/history.jsonl")
      #expect(verdict.damage == nil)
      #expect((verdict.violation != nil) == isFound, "\(verdict)")
    }
  }

  @Test func longPassesTakeNoMemoryAndOtherWorkloadsRefuse() throws {
    #expect(throws: UsageError.self) { try run("notify-storm --history") }
    let out = folder.path + "/out"
    // The check at the end reads every object of one snapshot: more than are noted of one.
    let line =
      "readers-writer --readers 0 --writers 1 --objects 10000 --warmup 0s --ops 5 --history "
      + "--output \(out)"
    #expect(try run(line).code == .success)
    let longest = try lines(out + "/history.jsonl").map {
      $0.components(separatedBy: "[\"r\",").count - 1
    }.max()
    #expect(longest == RecordingSession<ModelSession>.readsMax)
  }

  /// A session that is opened while another one ends goes on with its parts.
  @Test func sessionsThatComeAndGoLeaveTimeInItsOrder() throws {
    let parts = folder.path + "/parts"
    let engine = OpeningEngine()
    let driver = RecordingDriver(engine, log: try HistoryLog(folder: parts))
    var first: RecordingSession<ModelSession>? = try driver.openSession()
    try first?.write { first?.insert(Self.row(0)) }
    engine.whileOpening = {
      try? first?.write { _ = first?.update(0, .all) { $0.stamp = 6 } }
      first = nil
    }
    var second: RecordingSession<ModelSession>? = try driver.openSession()
    #expect(first == nil)
    var row = Row()
    let isFound = second?.read(0, .all, into: &row)
    #expect(isFound == true && row.stamp == 6)
    second = nil
    let path = folder.path + "/history.jsonl"
    try HistoryMerge.join([parts], to: path)
    let verdict = HistoryCheck.check(path)
    #expect(verdict.damage == nil && verdict.violation == nil && verdict.writes == 2, "\(verdict)")
  }

  @Test func aHistoryThatCannotBeWrittenEndsTheRun() throws {
    // As on a full disk: the parts lead to a device that takes nothing.
    let parts = folder.makeFolder("parts")
    for number in 0..<8 {
      try FileManager.default.createSymbolicLink(
        atPath: "\(parts)/\(number).part", withDestinationPath: "/dev/full")
    }
    let log = try HistoryLog(folder: parts)
    let driver = RecordingDriver(ModelEngine(bug: nil), log: log)
    let session = try driver.openSession()
    try session.write { session.insert(Self.row(1)) }
    #expect(log.failure?.contains("No space left") == true)
    #expect(throws: (any Error).self) { try driver.statistics() }
  }

  private static func row(_ id: Int) -> Row {
    var row = ContentModel(
      seed: 1, objects: 10, batch: 1, valueSize: ValueSize(minimum: 4, maximum: 4), rule: .rewrite
    ).initialRow(id)
    row.stamp = 5
    return row
  }

  /// Nobody writes to it: whoever opened it would wait without end.
  @Test func aPipeIsNoHistory() throws {
    let line = "readers-writer --readers 0 --objects 50 --warmup 0s --ops 100 --history"
    for (name, seed) in [("a", 1), ("b", 2)] {
      #expect(try run("\(line) --seed \(seed) --output \(folder.file(name))").code == .success)
    }
    let history = folder.file("a/history.jsonl")
    try FileManager.default.removeItem(atPath: history)
    mkfifo(history, 0o600)
    let words = "is a device, pipe or socket"
    let damage = HistoryCheck.check(history).damage
    #expect(damage?.contains(words) == true)
    let output = CollectedOutput()
    let merge = [folder.file("a"), folder.file("b"), "-o", folder.file("joined")]
    #expect(try MergeVerb.perform(merge, console: output.console()) == .failed)
    #expect(output.errors.contains(words), "\(output.errors)")
  }

  // MARK: - Shards

  @Test func shardsDoOtherWorkOfOnePlanAndAreMerged() throws {
    var folders: [String] = []
    for shard in ["1/3", "2/3"] {
      let out = folder.path + "/shard-\(shard.prefix(1))"
      let line =
        "readers-writer --readers 0 --objects 50 --warmup 0s --ops 100 --shard \(shard) "
        + "--history --output \(out)"
      #expect(try run(line).code == .success)
      folders.append(out)
    }
    let first = try lines(folders[0] + "/history.jsonl").first { $0.contains("\"w\"") }
    let second = try lines(folders[1] + "/history.jsonl").first { $0.contains("\"w\"") }
    let keys = [first, second].map { $0?.components(separatedBy: "\"value\":").last }
    #expect(keys[0] != keys[1])
    #expect(try MeasuredRun(folder: folders[1]).document.command.contains("--shard 2/3"))
    let output = CollectedOutput()
    #expect(
      try MergeVerb.perform(
        folders + ["-o", folder.path + "/joined"], console: output.console()) == .success)
    #expect(output.errors.contains("shards are missing: 3/3"))
    #expect(!output.errors.contains("the same seed"))
    for wrong in ["0/3", "4/3", "1", "1/", "a/b", "1/2/3", "-1/2"] {
      #expect(throws: UsageError.self) { try run("transfer --shard \(wrong)") }
    }
  }
}

/// The model engine, which does something while a session is opened.
private final class OpeningEngine: EngineDriver, @unchecked Sendable {
  // @unchecked: the test uses it on one thread.
  static let name = "opening"
  private let base = ModelEngine(bug: nil)
  var whileOpening: () -> Void = {}

  func openSession() throws -> ModelSession {
    whileOpening()
    return try base.openSession()
  }

  func statistics() throws -> EngineStatistics { try base.statistics() }
  func glance() throws -> EngineStatistics { try base.glance() }
  func checkInvariants() throws -> [String] { try base.checkInvariants() }
  func close() {}
  func deleteFiles() throws {}
}
