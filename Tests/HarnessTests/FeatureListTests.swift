// docs/features.md against the tests that it names: a row whose proof is gone or has another name proves
// nothing.
import Foundation
import Testing

@Suite struct FeatureListTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// All sources that a row may name.
  private static func sources() throws -> String {
    var text = ""
    for folder in ["Tests", "Examples/Sources", "scripts"] {
      let files = FileManager.default.enumerator(
        at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
      for case let file as URL in files! {
        let isScript = folder == "scripts"
        guard isScript || file.pathExtension == "swift" else { continue }
        text += try String(contentsOf: file, encoding: .utf8)
        text += "\n/* file \(file.lastPathComponent) */\n"
      }
    }
    return text
  }

  /// What is wrong with the proofs of a table: names that no source has, rows without any.
  static func findings(in document: String, sources: String) throws -> [String] {
    let name = /`([A-Za-z]+Tests)(?:\/([A-Za-z0-9_]+))?(?:\(\))?`/
    var findings: [String] = []
    var isTestTable = false
    for line in document.split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      guard line.hasPrefix("|"), cells.count >= 4 else {
        isTestTable = false
        continue
      }
      let proof = cells[cells.count - 2]
      if proof.trimmingCharacters(in: .whitespaces) == "test" {
        isTestTable = true
        continue
      }
      if isTestTable, !proof.contains("`"), !proof.contains("---") {
        findings.append("no proof: \(line)")
      }
      for match in proof.matches(of: name) {
        let suite = match.1
        let isThere = ["struct", "class", "enum", "extension"].contains {
          sources.contains("\($0) \(suite) ") || sources.contains("\($0) \(suite):")
        }
        if !isThere { findings.append("no suite \(suite)") }
        if let test = match.2, !sources.contains("func \(test)(") {
          findings.append("no test \(suite)/\(test)")
        }
      }
    }
    return findings
  }

  @Test func allNamedTestsExist() throws {
    let document = try String(
      contentsOf: Self.root.appendingPathComponent("docs/features.md"), encoding: .utf8)
    #expect(document.contains("`RealmOpeningTests/sameSettingsGiveTheSameInstance`"))
    #expect(try Self.findings(in: document, sources: Self.sources()) == [])
  }

  @Test func missingTestsAreFound() throws {
    let document = """
      | feature | test |
      |---|---|
      | a | `OneTests/there` |
      | b | `OneTests/gone`, `TwoTests` |
      | c | none |
      """
    #expect(
      try Self.findings(in: document, sources: "@Suite struct OneTests {\n  @Test func there() {}")
        == ["no test OneTests/gone", "no suite TwoTests", "no proof: | c | none |"])
  }
}
