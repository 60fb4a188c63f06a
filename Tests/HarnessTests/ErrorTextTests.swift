// Errors as the user of the tool reads them.
internal import Foundation
internal import RealmSwift
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite(.ownThreads) struct ErrorTextTests {
  @Test func anErrorOfARealmIsToldByItsDescription() throws {
    let folder = TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.path + "/missing/a.realm"), objectTypes: [])
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: configuration)
    }
    let told = try #require(error).explanation
    #expect(told.contains("missing"))
    #expect(!told.contains("Domain="))
  }

  @Test func anErrorOfFoundationIsToldByItsCause() throws {
    let folder = TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    let error = #expect(throws: (any Error).self) {
      try FileManager.default.createDirectory(
        atPath: folder.file("file/inside"), withIntermediateDirectories: false)
    }
    let told = try #require(error).explanation
    #expect(!told.contains("Domain=") && !told.isEmpty)
  }

  @Test func errorsOfTheToolAreToldByTheirWords() {
    let told: [(any Error, String)] = [
      (UsageError("a"), "a"), (ResultsError("b"), "b"),
      (ExecutableFailure(message: "c", code: .failed), "c"),
      (Baselines.Missing(message: "d"), "d"), (HuntBundle.Unusable(message: "e"), "e"),
      (LocatedJSON.SyntaxError(line: 7, message: "f"), "line 7: f"),
      (CompanionFailure(description: "g"), "g"), (EngineFailure("h"), "h"),
    ]
    for (error, words) in told { #expect(error.explanation == words) }
    let encoding = #expect(throws: EncodingError.self) { try JSONEncoder().encode([Double.nan]) }
    #expect(encoding?.explanation == "it holds a value that JSON cannot hold")
  }

  /// Fields are named as the document has them, and a number that does not fit is not called no
  /// JSON.
  @Test(arguments: [
    ("[]", "it is no object with named fields"), ("7", "it is no object with named fields"),
    (#"{"raw_sync": 1}"#, "the field 'schema_version' is missing"),
    (#"{"schema_version": "1"}"#, "the field 'schema_version' has another type"),
    (#"{"schema_version": -1}"#, "it is not JSON, or holds a number that no such document has"),
    ("{", "it is not JSON, or holds a number that no such document has"),
  ])
  func aDocumentIsToldInItsOwnWords(_ text: String, _ words: String) throws {
    struct Document: Decodable { var schemaVersion: UInt64 }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let error = #expect(throws: DecodingError.self) {
      _ = try decoder.decode(Document.self, from: Data(text.utf8))
    }
    #expect(error?.explanation == words)
  }

  /// An error of the tool that is no `ErrorInWords` would be printed as the Swift value that it is.
  @Test func noErrorOfTheToolIsWithoutWords() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/Harness").standardizedFileURL
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    let declaration = #/(?:struct|enum|class|extension) +([\w.]+) *:([^{]*)/#
    var found: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: declaration) {
        let protocols = Set(
          match.2.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        if protocols.contains("ErrorInWords") { found.insert(String(match.1)) }
        let others: Set = ["Error", "LocalizedError", "CustomNSError"]
        #expect(
          protocols.isDisjoint(with: others),
          "\(match.1) in \(file.lastPathComponent) has to be an ErrorInWords")
      }
    }
    #expect(found.isSuperset(of: ["UsageError", "ExecutableFailure", "Missing"]))
  }

  @Test func anErrorOfAWorkloadOfTheUsersOwnIsToldByItsDescription() {
    struct Described: LocalizedError { let errorDescription: String? = "the shop is closed" }
    #expect(Described().explanation == "the shop is closed")
    struct Simple: Error {}
    #expect(Simple().explanation == "Simple()")
  }
}
