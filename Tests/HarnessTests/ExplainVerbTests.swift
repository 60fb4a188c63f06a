// `explain`: the way of a query on a file whose classes the tool does not know.
import Foundation
import Harness
import Platform
import RealmSwift
import TestSupport
import Testing

final class ExplainedItem: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var number: Int
  @Persisted var plain: Int
  @Persisted var parent: ExplainedItem?
  @Persisted var text: String
  @Persisted var data: Data?
  @Persisted var children: List<ExplainedItem>
}

@Suite(.ownThreads) struct ExplainVerbTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.path + "/items.realm" }

  private func makeFile() throws {
    try autoreleasedRealm { realm in
      try realm.write {
        for id in 0..<3_000 {
          realm.create(ExplainedItem.self, value: ["id": id, "number": id % 500, "plain": id % 7])
        }
      }
    }
  }

  private func autoreleasedRealm(_ body: (Realm) throws -> Void) throws {
    try body(
      Realm(
        configuration: .init(
          fileURL: URL(fileURLWithPath: path), objectTypes: [ExplainedItem.self])))
  }

  private func explain(
    _ words: [String]
  ) throws -> (code: ExitCode, output: String, errors: String) {
    let output = CollectedOutput()
    let code = try ExplainVerb.run(words, console: output.console())
    return (code, output.output, output.errors)
  }

  private struct Read: Decodable {
    var found: Int?
    var looked_at: Int?
    var steps: [String]
    var search_ns: UInt64?
    var result_ns: UInt64
  }

  private func json(_ predicate: String, _ more: [String] = []) throws -> Read {
    let words = [path, "ExplainedItem", predicate, "--format", "json"] + more
    return try JSONDecoder().decode(Read.self, from: Data(try explain(words).output.utf8))
  }

  @Test func tellsIndexScanAndWhatWasLookedAt() throws {
    try makeFile()
    let indexed = try json("number == 3")
    #expect(indexed.found == 6 && indexed.looked_at == 6)
    #expect(indexed.steps.contains { $0.contains("index on number") })
    let scanned = try json("plain == 3", ["--sort", "-id", "--repetitions", "2"])
    #expect(scanned.looked_at == 3_000 && scanned.search_ns ?? 0 > 0)
    #expect(scanned.steps.contains("then: sorted"))
    let all = try json("TRUEPREDICATE")
    #expect(all.found == nil || all.found == 3_000)
    let text = try explain([path, "ExplainedItem", "id == 17 AND plain == 3"])
    #expect(text.code == .success && text.output.contains("primary key"))
    #expect(text.output.contains("shortest of 3"))
    let markdown = try explain([path, "ExplainedItem", "plain == 3", "--format=markdown"])
    #expect(markdown.output.contains("| search |"))
  }

  /// The file stays as it is, and may be in use and in the middle of a transaction.
  @Test func readsAFileInUse() throws {
    try makeFile()
    try autoreleasedRealm { realm in
      realm.beginWrite()
      defer { realm.cancelWrite() }
      realm.create(ExplainedItem.self, value: ["id": 9_999, "number": 3])
      let found = try json("number == 3").found
      #expect(found == 6)
    }
  }

  @Test func badInputIsRefused() throws {
    try makeFile()
    let item = "ExplainedItem"
    for words in [
      [], [path], [path, item], [path, item, "id", "==", "3"], [path, "ExplainedItm", "id == 3"],
      [path, item, "id == 3", "--repetitions", "0"], [path, item, "id == 3", "--format", "xml"],
      [path, item, "id == 3", "--srt", "id"], ["/dev/null", item, "id == 3"],
      ["", item, "id == 3"],
    ] {
      #expect(throws: UsageError.self, "\(words)") { try explain(words) }
    }
    do {
      _ = try explain([path, "ExplainedItm", "id == 3"])
    } catch let error as UsageError {
      #expect(error.message.contains("did you mean 'ExplainedItem'?"))
    }
    let missing = try explain([folder.path + "/missing.realm", item, "id == 3"])
    #expect(missing.code == .failed && missing.errors.contains("cannot open"))
    try "no realm".write(toFile: folder.path + "/text", atomically: true, encoding: .utf8)
    #expect(try explain([folder.path + "/text", item, "id == 3"]).code == .failed)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing.realm"))
  }

  @Test func profilesTellSizesAndNoValues() throws {
    try autoreleasedRealm { realm in
      try realm.write {
        for id in 0..<200 {
          let value: [String: Any?] = [
            "id": id, "text": String(repeating: "secret", count: id % 10 + 1),
            "data": id % 4 == 0 ? nil : Data(count: id),
          ]
          let item = realm.create(ExplainedItem.self, value: value)
          if id > 0 {
            item.children.append(objectsIn: realm.objects(ExplainedItem.self).prefix(id % 5))
          }
        }
      }
    }
    func inspect(_ format: String) throws -> String {
      let output = CollectedOutput()
      let words = [path, "--profile", "--format", format]
      #expect(try InspectVerb.perform(words, console: output.console()) == .success)
      return output.output
    }
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(try inspect("json").utf8)) as? [String: Any])
    let classes = try #require(read["classes"] as? [[String: Any]])
    let item = try #require(classes.first { $0["name"] as? String == "ExplainedItem" })
    #expect(item["objects"] as? Int == 200 && item["sampled"] as? Int == 200)
    let key = try #require(item["primary_key"] as? [String: Any])
    #expect(key["name"] as? String == "id" && key["density"] as? Double == 1)
    let properties = try #require(item["properties"] as? [[String: Any]])
    func sizes(_ name: String) -> [String: Any]? {
      properties.first { $0["name"] as? String == name }?["sizes"] as? [String: Any]
    }
    #expect(sizes("text")?["minimum"] as? Int == 6 && sizes("text")?["maximum"] as? Int == 60)
    #expect(sizes("data")?["missing"] as? Int == 50 && sizes("data")?["maximum"] as? Int == 199)
    #expect(sizes("children")?["maximum"] as? Int == 4)
    #expect(sizes("number") == nil)
    let command = try #require(item["command"] as? String)
    let size = "percentiles:7B..137B..241B..258B..259B"
    #expect(command.contains("--objects 200 --value-size \(size)"), "\(command)")
    // A run takes it as it stands, and its command repeats it.
    let words = try #require(command.components(separatedBy: "readers-writer ").last)
    let flags = try FlagValues(words.split(separator: " ").map(String.init), known: RunFlags.known)
    let (settings, _) = try RunFlags.settings(flags)
    #expect(settings.objects == 200 && settings.command.contains("--value-size \(size)"))
    // Evenly spread, and never more than so many.
    #expect(try FileProfile(path: path, samplesMax: 150).classes.map(\.sampled).max() == 100)
    for format in ["json", "text", "markdown"] {
      let text = try inspect(format)
      #expect(!text.contains("secret"))
      if format == "text" {
        #expect(text.contains("primary key id, int, 1.000 objects a number from the least"))
      }
    }
  }

  /// A predicate that cannot be read would stop the process: the tool ends with 64 and its reason.
  @Test func aPredicateThatIsNotUnderstoodEndsWith64() async {
    await #expect(processExitsWith: .exitCode(64)) {
      let tests = ExplainVerbTests()
      try tests.makeFile()
      _ = try ExplainVerb.perform(
        [tests.path, "ExplainedItem", "number =="], console: CollectedOutput().console())
    }
    await #expect(processExitsWith: .exitCode(64)) {
      let tests = ExplainVerbTests()
      try tests.makeFile()
      _ = try ExplainVerb.perform(
        [tests.path, "ExplainedItem", "nothing == 3"], console: CollectedOutput().console())
    }
    await #expect(processExitsWith: .exitCode(64)) {
      let tests = ExplainVerbTests()
      try tests.makeFile()
      _ = try ExplainVerb.perform(
        [tests.path, "ExplainedItem", "id == 3", "--sort", "nothing"],
        console: CollectedOutput().console())
    }
  }
}
