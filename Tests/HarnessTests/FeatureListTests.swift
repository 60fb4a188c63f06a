// docs/features.md against the tests that it names: a row whose proof is gone or has another name
// proves nothing.
import Foundation
import TestSupport
import Testing

@Suite(.ownThreads) struct FeatureListTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The names of all suites and functions of the tests.
  private static func names() throws -> Set<String> {
    var names: Set<String> = []
    let files = FileManager.default.enumerator(
      at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
    for case let file as URL in files! where file.pathExtension == "swift" {
      names.formUnion(try declared(in: String(contentsOf: file, encoding: .utf8)))
    }
    return names
  }

  /// What a source declares.
  private static func declared(in source: String) throws -> Set<String> {
    let declaration = try NSRegularExpression(
      pattern: #"\b(?:func|struct|class|enum|extension) +([A-Za-z0-9_]+)"#)
    let text = source as NSString
    let matches = declaration.matches(
      in: source, range: NSRange(location: 0, length: text.length))
    return Set(matches.map { text.substring(with: $0.range(at: 1)) })
  }

  /// What is wrong with the proofs of a table: names that no source has, rows without any.
  static func findings(in document: String, names: Set<String>) throws -> [String] {
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
        if !names.contains(String(match.1)) { findings.append("no suite \(match.1)") }
        if let test = match.2, !names.contains(String(test)) {
          findings.append("no test \(match.1)/\(test)")
        }
      }
    }
    return findings
  }

  @Test func allNamedTestsExist() throws {
    let document = try String(
      contentsOf: Self.root.appendingPathComponent("docs/features.md"), encoding: .utf8)
    #expect(document.contains("`RealmOpeningTests/sameSettingsGiveTheSameInstance`"))
    #expect(try Self.findings(in: document, names: Self.names()) == [])
  }

  @Test func missingTestsAreFound() throws {
    let document = """
      | feature | test |
      |---|---|
      | a | `OneTests/there` |
      | b | `OneTests/gone`, `TwoTests` |
      | c | none |
      """
    let source = "@Suite(.ownThreads) struct OneTests {\n  @Test func there() {}"
    #expect(
      try Self.findings(in: document, names: Self.declared(in: source))
        == ["no test OneTests/gone", "no suite TwoTests", "no proof: | c | none |"])
  }
}
