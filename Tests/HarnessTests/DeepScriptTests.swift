// The arguments of scripts/deep: what it does not know is refused before anything begins.
import Foundation
import TestSupport
import Testing

@Suite(.ownThreads) struct DeepScriptTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func deep(_ words: [String]) throws -> (code: Int32, output: String) {
    let process = Process()
    process.executableURL = Self.root.appendingPathComponent("scripts/deep")
    process.arguments = words
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.start()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test(arguments: [
    ["--all", "fuzz"], ["fuzz", "--all"], ["--everything"], ["../deep"], ["fuzz", "../deep"], [""],
    ["nothing"], ["."],
  ])
  func whatIsNoCheckIsRefusedBeforeTheFirst(_ words: [String]) throws {
    let (code, output) = try deep(words)
    #expect(code == 64 && !output.contains("== "), "\(output)")
  }

  @Test func withoutArgumentsTheyAreListed() throws {
    let (code, output) = try deep([])
    #expect(code == 0)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appendingPathComponent("scripts/checks").path)
    #expect(names.allSatisfy { output.contains($0) }, "\(output)")
    // Each with a sentence.
    #expect(!output.split(separator: "\n").contains { $0.hasSuffix(" s  ") }, "\(output)")
  }
}
