// Results folders that earlier versions wrote, as they are committed in results/: later versions
// read them.
import Foundation
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct EarlierResultsTests {
  private static let results = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("results").path

  private static var folders: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []).sorted()
      .map { results + "/" + $0 }
      .filter { FileManager.default.fileExists(atPath: $0 + "/run.json") }
  }

  @Test func everyCommittedFolderIsReadAndReported() throws {
    #expect(Self.folders.count >= 6)
    let folder = TemporaryFolder()
    for path in Self.folders {
      let run = try MeasuredRun(folder: path)
      #expect(run.document.status == "complete" && !run.rows.isEmpty, "\(path)")
      let page = folder.path + "/\((path as NSString).lastPathComponent).html"
      let console = CollectedOutput()
      #expect(try ReportVerb.run([path, "-o", page], console: console.console()) == .success)
    }
  }

  /// The first one knows nothing of disturbance, limits or later settings: it is compared all the
  /// same.
  @Test func theOldestOneIsComparedWithItsCopy() throws {
    let folder = TemporaryFolder()
    let old = Self.results + "/readers-writer"
    let text = try String(contentsOfFile: old + "/run.json", encoding: .utf8)
    #expect(!text.contains("disturbance"))
    // The same run twice is refused: this one began later.
    let copy = folder.path + "/copy"
    try FileManager.default.copyItem(atPath: old, toPath: copy)
    try text.replacing("02:58:53Z", with: "03:58:53Z")
      .write(toFile: copy + "/run.json", atomically: true, encoding: .utf8)
    let output = CollectedOutput()
    let code = try CompareVerb.run(
      [old, copy, "--output", folder.path + "/compare.csv"], console: output.console(),
      interruption: { TimedInterruption() })
    #expect(code == .success)
    let run = try MeasuredRun(folder: old)
    #expect(run.rows.contains { $0.key.name == "read" && ($0.value["count"] ?? 0) > 0 })
    #expect(run.growth != nil && run.document.settings.shard == nil)
  }
}
