// Files of a user's that have names as runs give them: --overwrite takes them for its own neither
// in a folder whose run was killed, nor where a list is missing, or says what it does not know.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Harness

@Suite(.serialized, .ownThreads) struct ForeignFileTests {
  private let folder = TemporaryFolder()

  private static let bare =
    "readers-writer --readers 1 --objects 50 --value-size 16B --warmup 0s --interval 20ms "

  @discardableResult
  private func run(_ more: String, isInterrupted: Bool = false) throws -> ExitCode {
    let engine = ModelEngine(bug: nil)
    let surroundings = RunVerb.Surroundings(
      console: CollectedOutput().console(),
      interruption: { CommitInterruption(engine: engine, commits: isInterrupted ? 20 : .max) },
      makeDriver: { _, _ in engine })
    let words = (Self.bare + more).split(separator: " ").map(String.init)
    return try RunVerb.run(words + ["--output", out], surroundings)
  }

  private var out: String { folder.file("out") }

  /// Tries to replace the folder, which holds a file of the user's, and expects to be refused.
  private func expectRefusal(
    of name: String, _ words: String = "", text: String = "mine",
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let path = folder.file("out/" + name)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    let error = #expect(throws: UsageError.self, sourceLocation: location) {
      try run("--ops 20 --overwrite")
    }
    #expect(
      error?.message.contains("'\(name)'\(words)") == true, "\(error?.message ?? "")",
      sourceLocation: location)
    #expect(textOfFile(path) == text, sourceLocation: location)
    unlink(path)
  }

  /// A folder as a run leaves it that is killed.
  private func makeKilledRun() throws {
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments =
      ["run"] + Self.bare.split(separator: " ").map(String.init)
      + ["--duration", "1h", "--output", out]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.start()
    #expect(
      eventually {
        (textOfFile(folder.file("out/growth.csv"))?.split(separator: "\n").count ?? 0) > 2
      })
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test func aKilledRunOwnsOnlyWhatItCouldWrite() throws {
    try makeKilledRun()
    for name in ["plan.json", "history.jsonl", "hunt.csv", "plan.html", "bundle.json"] {
      try expectRefusal(of: name)
    }
    // What it could have written begins otherwise.
    for name in [
      "data.realm.log", "summary.csv", "violation.txt", "histograms/write.hgrm",
      "summary.csv.partial",
    ] {
      try expectRefusal(of: name)
    }
    let header = ResultSchema.summaryColumns.joined(separator: ",")
    try (header + "\n").write(
      toFile: out + "/summary.csv", atomically: false, encoding: .utf8)
    #expect(try run("--ops 20 --seed 2 --overwrite") == .success)
    #expect(try MeasuredRun(folder: out).document.seed == 2)
  }

  /// As versions wrote it that had no list.
  @Test func aFolderWithoutAListOwnsWhatLooksAsItsOwn() throws {
    try run("--ops 20 --seed 1")
    var document = try RunDocument(path: out + "/run.json")
    document.files = nil
    try document.json().write(toFile: out + "/run.json", atomically: false, encoding: .utf8)
    for name in ["plan.json", "history.jsonl", "merge.json", "plan.csv"] {
      try expectRefusal(of: name, text: "{\"workload\": \"mine\"}")
    }
    for name in ["violation.txt", "compare.csv", "histograms/read-response.hgrm", "data.realm"] {
      try expectRefusal(of: name)
    }
    #expect(try run("--ops 20 --seed 2 --overwrite") == .success)
  }

  @Test func aListThatIsNotTheToolsNamesNothing() throws {
    try run("--ops 20 --seed 1")
    let path = out + "/run.json"
    var document = try RunDocument(path: path)
    let files = try #require(document.files)
    // Without an entry of its own nobody sees that it was changed.
    document.files = files.filter { $0.name != "run.json" } + [ListedFile(name: "victim.txt")]
    try document.json().write(toFile: path, atomically: false, encoding: .utf8)
    let error = #expect(throws: UsageError.self) { try run("--ops 20 --overwrite") }
    #expect(error?.message.contains("'run.json', which has been changed since") == true)
    // As if the tool had listed it: only what an engine has beside its file goes without a hash.
    document.files =
      files.filter { $0.name != "run.json" }
      + [
        ListedFile(name: "victim.txt"), ListedFile(name: "mine/"),
        ListedFile(name: "run.json", hash: ListedFile.ownHash),
      ]
    try FileList.sealed(try document.json())
      .write(toFile: path, atomically: false, encoding: .utf8)
    try expectRefusal(of: "victim.txt", ", which has been changed since")
    _ = folder.makeFolder("out/mine")
    let other = #expect(throws: UsageError.self) { try run("--ops 20 --overwrite") }
    #expect(other?.message.contains("the folder 'mine'") == true)
  }

  /// An accent joins with whatever stands before it, also with the '/' of a path.
  @Test func aNameThatBeginsWithAnAccentIsTheUsers() throws {
    try run("--ops 20 --seed 1")
    #expect(try run("--duration 1h --overwrite", isInterrupted: true) == .interrupted)
    let names = try FileManager.default.contentsOfDirectory(atPath: out)
    let inner = try #require(names.first { $0.hasPrefix("unfinished-") })
    let mine = inner + "/\u{301}run.json"
    try "mine".write(toFile: folder.file("out/" + mine), atomically: false, encoding: .utf8)
    #expect(throws: UsageError.self) { try run("--ops 20 --overwrite") }
    #expect(textOfFile(folder.file("out/" + mine)) == "mine")
    unlink(folder.file("out/" + mine))
    #expect(!KnownNames.isPart("replica-1\u{301}") && KnownNames.isPart("replica-1"))
    #expect(FolderContents.topName(of: "histograms/\u{301}a") == "histograms")
    #expect(FileCalls.overlap(out, out + "/\u{301}x"))
    #expect(try run("--ops 20 --seed 2 --overwrite") == .success)
  }

  // MARK: - When the place refuses

  /// A folder that something is mounted on cannot be moved.
  @Test(.enabled(if: ToolInShell.canMount))
  func earlierResultsAreWholeWhenOneOfThemCannotBeMoved() throws {
    let run = "$tool run \(Self.bare) --ops 20 --output out"
    let result = try ToolInShell(folder).run(
      """
      \(run) --seed 1 || exit 98
      cp -r out before
      mount --bind out/histograms out/histograms || exit 99
      \(run) --seed 2 --overwrite
      """, in: true)
    #expect(result.code == ExitCode.failed.rawValue, "\(result.errors)")
    #expect(
      result.errors.contains("'out/histograms' cannot be moved: Device or resource busy"),
      "\(result.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: out).sorted()
    let inner = try #require(names.first { $0.hasPrefix("unfinished-") })
    #expect(result.errors.contains("the results stay in 'out/\(inner)'"), "\(result.errors)")
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.file("before"))
    #expect(names.filter { $0 != inner } == before.sorted())
    for name in before where !RealmFilePath.isFolder(folder.file("before/" + name)) {
      #expect(textOfFile(folder.file("before/" + name)) == textOfFile(out + "/" + name))
    }
    let document = try MeasuredRun(folder: out + "/" + inner).document
    #expect(document.seed == 2 && document.settings.output == "out/" + inner)
    #expect(try self.run("--ops 20 --seed 3 --overwrite") == .success)
  }
}
