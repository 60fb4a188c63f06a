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

  /// The base of a pull request that adds a setting does not record it: its runs count as having
  /// the default, so that the gate compares them.
  @Test func settingsThatOneSideDoesNotRecordHaveTheirDefault() throws {
    let old = Self.results + "/readers-writer"
    let text = try String(contentsOfFile: old + "/run.json", encoding: .utf8)
    #expect(!text.contains("check_rate"))
    let code = { (settings: String) in
      try self.compare(old, withSettings: settings, in: text)
    }
    #expect(try code(#""check_rate" : 1"#).code == .success)
    let other = try code(#""check_rate" : 0.0625"#)
    #expect(other.code == .usage)
    #expect(other.errors.contains("check_rate is 1 (not recorded"), "\(other.errors)")
    // Nothing stands for what a run does not do without being asked.
    let refused = try code(#""rate_per_s" : 500"#)
    #expect(refused.code == .usage)
    #expect(refused.errors.contains("rate_per_s is not set and 500"), "\(refused.errors)")
    // What only a later version knows is named, not judged.
    let later = try code(#""colour_of_pages" : "blue""#)
    #expect(later.code == .success && later.errors.contains("'colour_of_pages'"), "\(later.errors)")
  }

  /// Compares a committed folder with a copy of it that records one setting more.
  private func compare(
    _ old: String, withSettings more: String, in text: String
  ) throws -> (code: ExitCode, errors: String) {
    let folder = TemporaryFolder()
    let copy = folder.path + "/copy"
    try FileManager.default.copyItem(atPath: old, toPath: copy)
    let changed = text.replacing("02:58:53Z", with: "03:58:53Z")
      .replacing("\"settings\" : {", with: "\"settings\" : {\n    \(more),")
    #expect(changed.contains(more))
    try changed.write(toFile: copy + "/run.json", atomically: true, encoding: .utf8)
    let output = CollectedOutput()
    do {
      let code = try CompareVerb.run(
        [old, copy, "--output", folder.path + "/compare.csv"], console: output.console(),
        interruption: { TimedInterruption() })
      return (code, output.errors + output.output)
    } catch {
      return (.usage, "\(error)")
    }
  }

  /// A setting that every run records by itself stands in the table of defaults, unless the first
  /// version recorded it, too.
  @Test func everyLaterSettingHasADefault() throws {
    let text = try String(
      contentsOfFile: Self.results + "/readers-writer/run.json", encoding: .utf8)
    func names(_ text: String) throws -> Set<String> {
      let all = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      return Set(try #require(all?["settings"] as? [String: Any]).keys)
    }
    var settings = RunSettings(.readersWriter)
    settings.pins = 10
    let today = try encodeJSON(["settings": SettingsRecord(settings, path: "p", output: "o")])
    let later = try names(today).subtracting(names(text))
    #expect(later == Set(UnrecordedSetting.defaults.keys), "\(later)")
  }
}
