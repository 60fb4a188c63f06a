// Verbs that look at a file take the key of an encrypted one, in the same form, and say the same
// where it is missing or another one.
import Foundation
import Harness
import RealmSwift
import TestSupport
import Testing

final class SealedItem: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
}

@Suite(.serialized, .ownThreads) struct EncryptedFileVerbTests {
  private let folder = TemporaryFolder()
  private static let key = Data((0..<64).map { UInt8($0) })
  private var path: String { folder.path + "/sealed.realm" }

  private func makeFile() throws {
    let realm = try Realm(
      configuration: .init(
        fileURL: URL(fileURLWithPath: path), encryptionKey: Self.key,
        objectTypes: [SealedItem.self]))
    try realm.write {
      for id in 0..<20 {
        let value: [String: Any] = ["id": id, "text": "\(id)"]
        realm.create(SealedItem.self, value: value)
      }
    }
  }

  private func keyFile(_ name: String, _ bytes: Data) throws -> [String] {
    let path = folder.file(name)
    try bytes.write(to: URL(fileURLWithPath: path))
    return ["--encryption-key", path]
  }

  /// Each verb with some flags behind its own words.
  private func looks(_ flags: [String]) throws -> [(verb: String, code: ExitCode, text: String)] {
    let verbs: [(any VerbDescription.Type, [String])] = [
      (CheckVerb.self, [path]), (InspectVerb.self, [path]),
      (InspectVerb.self, [path, "--profile"]),
      (ExplainVerb.self, [path, "SealedItem", "id == 3"]),
    ]
    return try verbs.map { verb, words in
      let output = CollectedOutput()
      let code = try verb.perform(words + flags, console: output.console())
      return (verb.name, code, output.output + output.errors)
    }
  }

  @Test func theKeyOpensTheFileForEachOfThem() throws {
    try makeFile()
    let digits = Self.key.map { String(format: "%02x", $0) }.joined()
    for flags in [try keyFile("key", Self.key), try keyFile("digits", Data((digits + "\n").utf8))] {
      for look in try looks(flags) {
        #expect(look.code == .success, "\(look)")
        #expect(look.text.contains("sealed.realm"), "\(look)")
      }
    }
  }

  @Test func aKeyThatIsMissingOrAnotherOneIsToldAlike() throws {
    try makeFile()
    for look in try looks([]) {
      #expect(look.code == .failed, "\(look)")
      #expect(look.text.contains("it is encrypted, and no key was given"), "\(look)")
    }
    for look in try looks(try keyFile("other", Data(Self.key.reversed()))) {
      #expect(look.code == .failed, "\(look)")
      #expect(look.text.contains("it is encrypted with another key"), "\(look)")
    }
  }

  @Test func aFileWithoutAKeyIsRefused() throws {
    try makeFile()
    let short = try keyFile("short", Data(count: 63))
    for (flags, words) in [
      (short, "has 63 bytes and is no key"),
      (["--encryption-key", folder.file("none")], "cannot read '\(folder.file("none"))'"),
    ] {
      let verbs: [(any VerbDescription.Type, [String])] = [
        (CheckVerb.self, [path]), (InspectVerb.self, [path]),
        (ExplainVerb.self, [path, "SealedItem", "id == 3"]),
      ]
      for (verb, arguments) in verbs {
        let error = #expect(throws: UsageError.self) {
          try verb.perform(arguments + flags, console: CollectedOutput().console())
        }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      }
    }
  }
}
