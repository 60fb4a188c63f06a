// Paths are taken as they are typed. It began with `--output=~/x`, for which a folder named '~' was
// made before the run failed: somebody would have removed it in the way that one removes folders.
import Foundation
import Glibc
import Harness
import TestSupport
import Testing

@Suite(.serialized, .ownThreads) struct LiteralPathTests {
  private let folder: TemporaryFolder
  init() { folder = TemporaryFolder() }

  private func tool(_ words: [String]) throws -> (code: Int32, errors: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench")
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    var environment = ProcessInfo.processInfo.environment
    environment["HOME"] = folder.file("home")
    process.environment = environment
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.start()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  private static let run = [
    "run", "readers-writer", "--readers", "1", "--objects", "50", "--warmup", "0s", "--ops", "100",
    "--no-progress",
  ]

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name))
  }

  private static let names = [
    "~", "~root", "a b", "%7E", "#1?", "ü/日本", "file:/x", "--x", "a'b\"c\\d", "$HOME", "x/",
    "./y/../z",
  ]

  @Test(arguments: names)
  func everyNameIsTakenAsItIs(name: String) throws {
    _ = folder.makeFolder("home")
    _ = folder.makeFolder("y")
    let output = try tool(Self.run + ["--output=\(name)/out", "--history"])
    #expect(output.code == 0, "\(output.errors)")
    #expect(exists(name + "/out/run.json") && exists(name + "/out/history.jsonl"))
    let file = name + "/a.realm"
    let again = try tool(
      Self.run + ["--output=\(name)/out", "--overwrite", "--path=\(file)", "--keep-file"])
    #expect(again.code == 0 && exists(file), "\(again.errors)")
    #expect(!exists(name + "/out/history.jsonl"))
    #expect(try tool(["check", "--", file]).code == 0)
    #expect(try homeIsEmpty())
  }

  private func homeIsEmpty() throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: folder.file("home")) == []
  }

  @Test(arguments: ["~/x", "-x %20#?", "line\nfeed"])
  func everyVerbTakesNamesAsTheyAre(name: String) throws {
    _ = folder.makeFolder("home")
    for out in ["a", "b"] {
      let words = Self.run + ["--output=\(name)/\(out)", "--seed=\(out == "a" ? 1 : 2)"]
      #expect(try tool(words + ["--keep-file"]).code == 0)
    }
    let replicas = try tool(Self.run + ["--output=\(name)/c", "--replicas=2"])
    #expect(replicas.code == 0 && exists(name + "/c/replica-002/run.json"), "\(replicas.errors)")
    let behind: [String] =
      ["run"] + Array(Self.run.dropFirst(2))
      + ["--output=\(name)/d", "--replicas=2", "--", "readers-writer"]
    let others = try tool(behind)
    #expect(others.code == 0 && exists(name + "/d/replica-002/run.json"), "\(others.errors)")
    let file = name + "/a/data.realm"
    for verb in ["check", "inspect"] {
      let result = try tool([verb, "--", file])
      #expect(result.code == 0, "\(verb): \(result.errors)")
    }
    let explained = try tool(
      ["explain", "--", file, "BenchmarkObject", "TRUEPREDICATE"])
    #expect(explained.code == 0, "\(explained.errors)")
    #expect(try tool(["check", "--", name + "/a"]).code == 0, "it leads to the file")

    let compared = try tool([
      "compare", "--partial", "--output=\(name)/c.csv", "--write=json=\(name)/c.json", "--",
      name + "/a",
      name + "/b",
    ])
    #expect(compared.code == 0 && exists(name + "/c.csv"), "\(compared.errors)")
    #expect(exists(name + "/c.json"))
    let report = try tool(["report", "--output=\(name)/r.html", "--", name + "/a"])
    #expect(report.code == 0 && exists(name + "/r.html"), "\(report.errors)")
    let trend = try tool([
      "report", "--trend=\(name)/t", "--output=\(name)/t.html", "--", name + "/a",
    ])
    #expect(trend.code == 0 && exists(name + "/t/history.csv"), "\(trend.errors)")
    let merged = try tool([
      "merge", "--output=\(name)/m", "--quiet", "--", name + "/a", name + "/b",
    ])
    #expect(merged.code == 0 && exists(name + "/m/merge.json"), "\(merged.errors)")
    let plan = try tool([
      "plan", "--ask=write rate", "--from=\(name)/a", "--output=\(name)/p", "--quiet",
      "--partial",
    ])
    #expect([0, 4].contains(plan.code) && exists(name + "/p/plan.csv"), "\(plan.errors)")
    let hunt = try tool(["hunt", "--scenario=lost-update", "--output=\(name)/h", "--no-progress"])
    #expect(hunt.code == 3 && exists(name + "/h/hunt.csv"), "\(hunt.errors)")
    #expect(try tool(["replay", "--", name + "/h"]).code == 3)
    #expect(try homeIsEmpty(), "something went to the home folder")
  }

  @Test func whoMayHaveMeantTheHomeFolderIsTold() throws {
    let told = try tool(Self.run + ["--output=~/x"])
    #expect(told.code == 0 && told.errors.contains("'--output=~/x' is taken as it is"))
    #expect(told.errors.contains("\"$HOME/x\""))
    let file = try tool(Self.run + ["--output=file:///tmp/x"])
    #expect(file.code == 0 && file.errors.contains("a folder named 'file:'"))
    let quiet = try tool(Self.run + ["--output=~/y", "--quiet"])
    #expect(quiet.code == 0 && quiet.errors == "")
    let plain = try tool(Self.run + ["--output=a~b"])
    #expect(plain.code == 0 && !plain.errors.contains("as it is"))
  }

  @Test(arguments: [
    ("a/b-c_1.d", "a/b-c_1.d"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$HOME", "'$HOME'"),
    ("ü", "ü"), ("a;b", "'a;b'"), ("a*", "'a*'"), ("line\nfeed", "'line\nfeed'"),
  ])
  func pathsInCommandsToPasteAreQuoted(path: String, quoted: String) throws {
    #expect(LiteralPath.quoted(path) == quoted)
  }

  @Test func theCommandThatIsPrintedCanBePasted() throws {
    let output = CollectedOutput()
    let path = folder.file("it's a hunt")
    let code = try HuntVerb.run(
      ["--scenario", "lost-update", "--output", path, "--no-progress"], console: output.console(),
      interruption: { TimedInterruption() })
    #expect(code == .invariantViolated)
    let line = output.output.split(separator: "\n").last { $0.hasPrefix("realm-bench replay") }
    let command = try #require(line).dropFirst("realm-bench ".count)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let tool = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench").path
    process.arguments = ["-c", "exec '\(tool)' \(command)"]
    process.standardOutput = FileHandle.nullDevice
    try process.start()
    process.waitUntilExit()
    #expect(process.terminationStatus == 3)
  }

  @Test func whatCannotBeAPathIsRefused() throws {
    for verb in ["check", "inspect", "report", "merge", "replay"] {
      let words = verb == "merge" ? [verb, "", "-o", "x"] : [verb, ""]
      #expect(throws: UsageError.self) {
        try RealmBench.dispatch(words, console: CollectedOutput().console())
      }
    }
    for text in ["", "a\0b"] {
      #expect(throws: UsageError.self) { try LiteralPath.path(text, of: "--output") }
      #expect(throws: UsageError.self) {
        try RealmBench.dispatch(
          Self.run + ["--output", text], console: CollectedOutput().console())
      }
    }
    let long = String(repeating: "x", count: 300)
    let result = try tool(Self.run + ["--output", long])
    #expect(result.code == 64 && result.errors.contains("too long"))
  }

  /// Foundation makes arguments of texts only, so this goes by way of a shell.
  @Test func wordsThatAreNoTextAreRefused() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let tool = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("realm-bench").path
    process.arguments = [
      "-c", "exec '\(tool)' \(Self.run.joined(separator: " ")) --output \"$(printf 'a\\377b')\"",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    let errors = Pipe()
    process.standardError = errors
    try process.start()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64 && text.contains("is no UTF-8 text"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
