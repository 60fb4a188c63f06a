// The tool on the real engine: a short run end to end, `check` and `inspect` of what it leaves, and
// of files that are not what they should be.
import Foundation
import Glibc
import Harness
import Platform
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct RealmDriverTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private func tool(_ line: String) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let words = line.split(separator: " ").map(String.init)
    let code: ExitCode
    if words.first == "run" {
      code = try RunVerb.run(
        Array(words.dropFirst()),
        RunVerb.Surroundings(
          console: output.console(), interruption: { TimedInterruption() },
          makeDriver: { try RealmDriver(path: $0, durability: $1) }))
    } else {
      code = try RealmBench.dispatch(words, console: output.console())
    }
    return (code, output.output, output.errors)
  }

  private func runAndKeep(_ more: String = "") throws -> String {
    try runAndKeep(
      line:
        "readers-writer --readers 2 --writers 2 --objects 2000 --batch 4 --pins 6 --pin-every 3 "
        + more)
  }

  /// Runs until every invariant was checked: for longer, when a busy machine gave some thread no
  /// turn.
  private func runAndKeep(line: String) throws -> String {
    var path = ""
    for factor in [1, 10, 100] {
      path = folder.path + "/kept-\(factor).realm"
      let result = try tool(
        "run \(line) --warmup \(100 * factor)ms --duration \(900 * factor)ms --interval 100ms "
          + "--keep-file --path \(path) --output \(folder.path)/out --overwrite "
          + "--seed \(testSeed())")
      #expect(result.code == .success, "\(result.errors)")
      if try invariants().allSatisfy({ Int($0[6])! > 0 }) { break }
    }
    return path
  }

  /// The rows of invariants.csv.
  private func invariants() throws -> [[String]] {
    let text = try String(contentsOfFile: folder.path + "/out/invariants.csv", encoding: .utf8)
    return Array(try #require(CSVTable.parse(text)).dropFirst())
  }

  @Test(arguments: ["full", "memory"])
  func runsAndLeavesASoundFile(durability: String) throws {
    let path = try runAndKeep("--durability \(durability)")
    let rows = try invariants()
    #expect(rows.map { $0[5] } == Invariant.ofSnapshots.map(\.name))
    for row in rows {
      #expect(Int(row[6])! > 0, "\(row[5]) was never checked")
      #expect(row[7] == "0", "\(row[5]): \(row[8])")
    }
    let check = try tool("check \(path)")
    #expect(check.code == .success, "\(check.output)")
    #expect(check.output.contains("sound") && check.output.contains("2,000 objects"))
    let inspection = try tool("inspect \(path) --format json")
    #expect(inspection.code == .success, "\(inspection.errors)")
    #expect(inspection.output.contains("\"objects\" : 2000"))
    let listing = try tool("inspect \(path)").output
    #expect(listing.contains("primary key") && listing.contains(", retains "))
  }

  @Test(
    arguments: [
      "transfer --readers 2 --writers 3 --objects 300 --batch 4 --pins 6 --pin-every 3",
      "transfer --readers 2 --writers 1 --objects 300 --rate 300/s --durability memory",
      "mixed --threads 3 --objects 500 --scan-length 20 "
        + "--mix read:30,update:20,insert:10,scan:20,read-modify-write:20",
      "mixed --mix D --threads 2 --objects 500 --durability memory --rate 2000/s",
    ])
  func everyWorkloadRunsAndLeavesASoundFile(line: String) throws {
    let path = try runAndKeep(line: line)
    for row in try invariants() {
      #expect(Int(row[6])! > 0, "\(row[5]) was never checked")
      #expect(row[7] == "0", "\(row[5]): \(row[8])")
    }
    #expect(try tool("check \(path)").code == .success)
  }

  /// Nobody but the pins that are asked for holds versions for longer than a transaction.
  @Test func asManyVersionsLiveAsPinsAreAskedFor() throws {
    let result = try tool(
      "run readers-writer --readers 0 --writers 1 --objects 500 --batch 4 --pins 5 --pin-every 3 "
        + "--ops 3000 --durability memory --interval 10ms --output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    let text = try String(contentsOfFile: folder.path + "/out/growth.csv", encoding: .utf8)
    let table = try #require(CSVTable.parse(text))
    let columns = ["phase", "pins", "live_versions"].map { table[0].firstIndex(of: $0)! }
    let rows = table.dropFirst().filter { $0[columns[0]] == "measure" }
    #expect(rows.contains { $0[columns[1]] == "5" })
    // The newest version, the one that is being made, and the base of what makes it.
    for row in rows {
      #expect(Int(row[columns[2]])! <= Int(row[columns[1]])! + 4, "\(row)")
    }
  }

  @Test(arguments: [1, 2])
  func bulkLoadLeavesASoundFile(writers: Int) throws {
    let path = folder.path + "/loaded.realm"
    let result = try tool(
      "run bulk-load --writers \(writers) --objects 5001 --batch 500 --keep-file --path \(path) "
        + "--output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    #expect(result.output.contains("bytes of the file"))
    let check = try tool("check \(path)")
    #expect(check.code == .success && check.output.contains("5,001 objects"), "\(check.output)")
  }

  @Test func migrationUnderLoadLeavesASoundFile() throws {
    let path = folder.path + "/migrated.realm"
    let result = try tool(
      "run migration-under-load --readers 2 --objects 5000 --pins 5 --warmup 100ms --keep-file "
        + "--path \(path) --output \(folder.path)/out")
    #expect(result.code == .success, "\(result.errors)")
    #expect(result.output.contains("migrate") && result.output.contains("all hold"))
    let inspection = try tool("inspect \(path)").output
    #expect(inspection.contains("label") && !inspection.contains("score"), "\(inspection)")
    let check = try tool("check \(path)")
    #expect(check.code == .success && check.output.contains("5,000 objects"), "\(check.output)")
  }

  @Test func flippedBitIsFound() throws {
    let path = try runAndKeep()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // One bit in 64 bytes behind the headers and record homes: no live block there is without one.
    for offset in stride(from: 24_576, to: bytes.count, by: 64) {
      bytes[offset] ^= 4
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    try? FileManager.default.removeItem(atPath: path + ".lock")
    let check = try tool("check \(path)")
    #expect(check.code == .failed, "\(check.output)")
    #expect(check.output.contains("damaged"))
  }

  @Test func foreignAndMissingFilesAreRefusedUntouched() throws {
    let path = folder.path + "/foreign.realm"
    let bytes = Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try tool("check \(path)").code == .failed)
    #expect(try tool("inspect \(path)").code == .failed)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    #expect(try tool("check \(folder.path)/missing.realm").code == .failed)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing.realm"))
  }

  @Test func failingToOpenEndsWithOne() throws {
    let result = try tool(
      "run readers-writer --duration 1s --path /proc/no.realm --output \(folder.path)/out")
    #expect(result.code == .failed)
    #expect(result.errors.contains("error: cannot open '/proc/no.realm'"))
    // Who reads the folder later learns the same, and not that a process was killed.
    let document = try RunDocument(path: folder.path + "/out/run.json")
    #expect(document.status == "failed" && document.realmFile == nil)
    #expect(document.failure?.hasPrefix("cannot open '/proc/no.realm': ") == true)
    #expect(document.verdict.reasons.contains { $0.contains("cannot open '/proc/no.realm'") })
  }

  @Test(
    arguments: [
      "hunt x", "replay x", "replay", "runs", "check", "inspect",
      "inspect a b", "check --deep x",
    ])
  func refusesWhatIsNotThere(line: String) {
    #expect(throws: UsageError.self) { try tool(line) }
  }

  #if !PLANTED_BUGS
    @Test func bugsAreNotListedInAnOrdinaryBuild() {
      #expect(throws: UsageError.self) { try tool("list bugs") }
    }
  #endif

  @Test func whatIsNoFileIsRefused() throws {
    for verb in ["check", "inspect"] {
      #expect(
        throws: UsageError(
          "\(verb): '/dev/null' is a device, pipe or socket, no file; give it a copy as a file")
      ) {
        try tool("\(verb) /dev/null")
      }
      // Nobody writes to it: whoever opened it would wait without end.
      let pipe = folder.file("pipe-\(verb)")
      mkfifo(pipe, 0o600)
      #expect(throws: UsageError.self) { try tool("\(verb) \(pipe)") }
      let link = folder.file("link-\(verb)")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: pipe)
      #expect(throws: UsageError.self) { try tool("\(verb) \(link)") }
      #expect(throws: UsageError("\(verb) needs the path of a file, not an empty one")) {
        try RealmBench.dispatch([verb, ""], console: CollectedOutput().console())
      }
    }
    #expect(
      throws: UsageError("--path: '/' is a folder; give the path of a file that the run makes")
    ) {
      try tool("run readers-writer --ops 1 --path / --output \(folder.path)/out")
    }
  }

  @Test func foldersAreNotChecked() throws {
    #expect(throws: UsageError.self) { try tool("check \(folder.path)") }
    try "{}".write(toFile: folder.path + "/run.json", atomically: true, encoding: .utf8)
    #expect(
      throws: UsageError(
        "check: '\(folder.path)' is a results folder without its Realm file: runs remove it unless "
          + "they have --keep-file, or fail; then it is '\(folder.path)/data.realm'")
    ) {
      try tool("check \(folder.path)")
    }
  }

  @Test func helpShowsOnlyWhatWorks() throws {
    let help = try tool("")
    #expect(help.code == .success)
    #expect(help.output.contains("realm-bench run readers-writer --quick"))
    #expect(try tool("run readers-writer --help").output.contains("--refresh-every"))
    #expect(try tool("run transfer --help").output.contains("The total never"))
    #expect(try !tool("run transfer --help").output.contains("--read-keys"))
    #expect(try tool("run mixed --help").output.contains("(zipf:0.99; latest with --mix D)"))
    #expect(throws: UsageError.self) { try tool("run nothing --help") }
    #expect(try tool("check --help").code == .success)
    #expect(try tool("--version").output.hasPrefix("realm-bench "))
  }
}
