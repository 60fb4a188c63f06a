// Completion scripts and the man page say what the parser knows: they are made from its tables.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct CompletionTests {
  private let folder = TemporaryFolder()

  private func completion(_ words: [String]) throws -> String {
    let output = CollectedOutput()
    #expect(try CompletionVerb.perform(words, console: output.console()) == .success)
    return output.output
  }

  private func shell(_ program: String, _ arguments: [String]) throws -> (code: Int32, text: String)
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.start()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  /// What bash offers for the last of these words.
  private func offered(_ words: [String]) throws -> Set<String> {
    let path = folder.path + "/completion.bash"
    try completion(["bash"]).write(toFile: path, atomically: true, encoding: .utf8)
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    let (code, text) = try shell(
      "bash",
      [
        "-c",
        "set -e; source \(path); COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); "
          + "_realm_bench || true; printf '%s\\n' \"${COMPREPLY[@]}\"",
      ])
    #expect(code == 0, "\(text)")
    return Set(text.split(separator: "\n").map(String.init))
  }

  @Test func bashOffersVerbsWorkloadsFlagsAndTheirValues() throws {
    let verbs = try offered(["realm-bench", ""])
    for verb in Help.verbs { #expect(verbs.contains(verb)) }
    #expect(try offered(["realm-bench", "run", "pin"]) == ["pinned-growth"])
    #expect(
      try offered(["realm-bench", "run", "mixed", "--dur"]) == ["--duration", "--durability"])
    #expect(
      try offered(["realm-bench", "run", "mixed", "--durability", ""]) == ["full", "memory"])
    #expect(try offered(["realm-bench", "check", "--f"]) == ["--format"])
  }

  @Test func everyVerbAndFlagIsInEachForm() throws {
    let forms = try ["bash", "zsh", "fish", "man"].map { ($0, try completion([$0])) }
    for (shell, text) in forms {
      let plain = text.replacing("\\-", with: "-")
      for verb in Verbs.all {
        #expect(plain.contains(verb.name), "\(shell): \(verb.name)")
        for flag in verb.flags {
          let form = shell == "fish" ? "-l \(flag.name)" : "--\(flag.name)"
          #expect(plain.contains(form), "\(shell): \(verb.name) \(form)")
        }
      }
    }
  }

  @Test func theManPageIsOne() throws {
    let page = try completion(["man"])
    for section in ["NAME", "SYNOPSIS", "VERBS", "WORKLOADS", "EXIT STATUS"] {
      #expect(page.contains(".SH \(section)"))
    }
    // No line of text is taken for a request.
    let requests: Set = [".TH", ".SH", ".SS", ".B", ".br", ".nf", ".fi", ".TP"]
    for line in page.split(separator: "\n") where line.hasPrefix(".") {
      #expect(requests.contains(String(line.split(separator: " ")[0])), "\(line)")
    }
  }

  @Test func badInputIsRefused() {
    for words in [[], ["bash", "zsh"], ["tcsh"], ["bsh"], ["bash", "--x"]] {
      #expect(throws: UsageError.self, "\(words)") { try completion(words) }
    }
  }

  @Test func everyVerbHasAHelpWithItsFlags() throws {
    for verb in Verbs.all {
      let output = CollectedOutput()
      #expect(
        try RealmBench.dispatch([verb.name, "--help"], console: output.console()) == .success)
      #expect(output.output.contains("realm-bench \(verb.name)"), "\(verb.name)")
      #expect(output.output.contains("--help"))
      let same = CollectedOutput()
      _ = try RealmBench.dispatch(["help", verb.name], console: same.console())
      #expect(same.output == output.output)
    }
    let overview = CollectedOutput()
    _ = try RealmBench.dispatch([], console: overview.console())
    for line in overview.output.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
  }
}
