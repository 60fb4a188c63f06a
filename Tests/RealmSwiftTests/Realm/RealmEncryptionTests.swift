// Encrypted Realms. What is in their files is tested in StorageTests/EncryptionTests.swift.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmEncryptionTests {
  let folder = TemporaryFolder()
  private static let key = Data((0..<64).map { UInt8($0) })
  private static let otherKey = Data((1..<65).map { UInt8($0) })

  private func configuration(_ name: String, key: Data? = key) -> Realm.Configuration {
    var configuration = folder.configuration(name, [Person.self, Dog.self])
    configuration.encryptionKey = key
    return configuration
  }

  private func fill(_ name: String) throws {
    let realm = try Realm(configuration: configuration(name))
    try realm.write {
      for number in 0..<2_000 {
        let person = Person()
        person.id = number
        person.name = "person number \(number)"
        person.payload = Data(repeating: UInt8(number & 255), count: number)
        realm.add(person)
      }
    }
    try realm.write {
      for person in realm.objects(Person.self) where person.id % 3 == 0 { person.age = person.id }
    }
  }

  private func check(_ configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Person.self).count == 2_000)
    for person in realm.objects(Person.self) {
      #expect(person.name == "person number \(person.id)")
      #expect(person.payload == Data(repeating: UInt8(person.id & 255), count: person.id))
      #expect(person.age == (person.id % 3 == 0 ? person.id : 0))
    }
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func contentSurvivesReopening() throws {
    try fill("a.realm")
    try check(configuration("a.realm"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("a.realm")))
    #expect(bytes.range(of: Data("person number".utf8)) == nil)
    #expect(bytes.range(of: Data("payload".utf8)) == nil)
  }

  @Test func onlyTheKeyOpensIt() throws {
    try fill("a.realm")
    for key in [Self.otherKey, nil] {
      #expect(
        errorCode { _ = try Realm(configuration: configuration("a.realm", key: key)) }
          == .invalidDatabase)
    }
    #expect(try schemaVersionAtURL(configuration("a.realm").fileURL!, encryptionKey: Self.key) == 0)
    #expect(
      errorCode { _ = try schemaVersionAtURL(configuration("a.realm").fileURL!) }
        == .invalidDatabase)
    _ = try Realm(configuration: configuration("plain.realm", key: nil))
    #expect(
      errorCode { _ = try Realm(configuration: configuration("plain.realm")) } == .invalidDatabase)
    try check(configuration("a.realm"))
  }

  @Test func anOpenRealmKeepsItsKey() throws {
    let realm = try Realm(configuration: configuration("a.realm"))
    for key in [Self.otherKey, nil] {
      #expect(
        errorCode { _ = try Realm(configuration: configuration("a.realm", key: key)) }
          == .alreadyOpen)
    }
    withExtendedLifetime(realm) {}
  }

  @Test func copiesHaveTheirOwnKey() throws {
    try fill("a.realm")
    do {
      let realm = try Realm(configuration: configuration("a.realm"))
      try realm.writeCopy(toFile: configuration("plain.realm").fileURL!)
      try realm.writeCopy(
        toFile: configuration("other.realm").fileURL!, encryptionKey: Self.otherKey)
    }
    try check(configuration("plain.realm", key: nil))
    try check(configuration("other.realm", key: Self.otherKey))
    #expect(try Realm.compact(configuration: configuration("a.realm")))
    try check(configuration("a.realm"))
  }
}
