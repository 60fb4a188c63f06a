// Encrypted Realms, through the public API.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct EncryptionConfigurationTests {
  let folder = TemporaryFolder()
  private let key = Data((0..<64).map { UInt8($0) })
  private let otherKey = Data((0..<64).map { UInt8($0 + 1) })

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.file(name)) }

  private func configuration(_ name: String, _ key: Data?) -> Realm.Configuration {
    var configuration = folder.configuration(name, [Dog.self])
    configuration.encryptionKey = key
    return configuration
  }

  private func makeFile(_ name: String = "a.realm") throws {
    let realm = try Realm(configuration: configuration(name, key))
    try realm.write { realm.create(Dog.self, value: ["name": "a very secret name"]) }
  }

  private func error(_ body: () throws -> Void) -> Realm.Error? {
    do {
      try body()
      return nil
    } catch {
      return error as? Realm.Error
    }
  }

  @Test func isReadWithItsKeyOnly() throws {
    try makeFile()
    let bytes = try Data(contentsOf: url("a.realm"))
    #expect(bytes.range(of: Data("secret".utf8)) == nil)
    #expect(
      error { _ = try Realm(configuration: configuration("a.realm", otherKey)) }?.code
        == .invalidDatabase)
    #expect(
      error { _ = try Realm(configuration: configuration("a.realm", nil)) }?.code
        == .invalidDatabase)
    let realm = try Realm(configuration: configuration("a.realm", key))
    #expect(realm.objects(Dog.self).first?.name == "a very secret name")
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func aPlainFileTakesNoKey() throws {
    do { _ = try Realm(configuration: configuration("a.realm", nil)) }
    #expect(
      error { _ = try Realm(configuration: configuration("a.realm", key)) }?.code
        == .invalidDatabase)
  }

  @Test func oneKeyAtATime() throws {
    try makeFile()
    let realm = try Realm(configuration: configuration("a.realm", key))
    let failure = error { _ = try Realm(configuration: configuration("a.realm", otherKey)) }
    #expect(failure?.code == .alreadyOpen)
    #expect(
      failure?.localizedDescription.contains("already opened with different encryption key")
        == true)
    withExtendedLifetime(realm) {}
  }

  @Test func theSchemaVersionNeedsTheKey() throws {
    try makeFile()
    #expect(try schemaVersionAtURL(url("a.realm"), encryptionKey: key) == 0)
    #expect(error { _ = try schemaVersionAtURL(url("a.realm")) }?.code == .invalidDatabase)
  }

  @Test func copiesHaveTheirOwnKey() throws {
    try makeFile()
    do {
      let realm = try Realm(configuration: configuration("a.realm", key))
      try realm.writeCopy(toFile: url("b.realm"), encryptionKey: otherKey)
      try realm.writeCopy(toFile: url("plain.realm"))
    }
    for (name, key) in [("b.realm", otherKey), ("plain.realm", nil)] {
      let realm = try Realm(configuration: configuration(name, key))
      #expect(realm.objects(Dog.self).first?.name == "a very secret name")
    }
  }

  @Test func aSeedIsEncryptedToo() throws {
    try makeFile("seed.realm")
    var configuration = configuration("a.realm", key)
    configuration.seedFilePath = url("seed.realm")
    #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
    let other = self.configuration("b.realm", otherKey)
    var wrong = other
    wrong.seedFilePath = url("seed.realm")
    #expect(error { _ = try Realm(configuration: wrong) }?.code == .invalidDatabase)
    #expect(!Realm.fileExists(for: wrong))
  }

  @Test func isMigratedAndCompacted() throws {
    enum Changed {
      class Dog: Object {
        @Persisted var name: String
      }
    }
    try makeFile()
    var configuration = configuration("a.realm", key)
    configuration.objectTypes = [Changed.Dog.self]
    configuration.schemaVersion = 1
    #expect(
      try Realm(configuration: configuration).objects(Changed.Dog.self).first?.name
        == "a very secret name")
    #expect(try Realm.compact(configuration: configuration))
    #expect(try Realm(configuration: configuration).objects(Changed.Dog.self).count == 1)
  }
}
