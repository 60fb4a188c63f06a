// Settings as values, and the combinations that are refused.
import Foundation
import RealmSwift
import Testing

@Suite struct RealmConfigurationTests {
  @Test func fileAndIdentifierReplaceEachOther() {
    var configuration = Realm.Configuration()
    #expect(configuration.fileURL?.lastPathComponent == "default.realm")
    configuration.inMemoryIdentifier = "memory"
    #expect(configuration.fileURL == nil)
    configuration.fileURL = URL(fileURLWithPath: "/tmp/a.realm")
    #expect(configuration.inMemoryIdentifier == nil)
    #expect(configuration.fileURL?.path == "/tmp/a.realm")
  }

  @Test func isEqualByAllSettings() {
    let first = Realm.Configuration(inMemoryIdentifier: "a", objectTypes: [Person.self])
    var second = first
    #expect(first == second)
    second.schemaVersion = 2
    #expect(first != second)
    second = first
    second.objectTypes = [Dog.self]
    #expect(first != second)
    second = first
    second.durability = .memory
    #expect(first != second)
    second = first
    second.maximumNumberOfActiveVersions = 7
    #expect(first != second)
    second = first
    second.readOnly = true
    #expect(first != second)
    second = first
    second.deleteRealmIfMigrationNeeded = true
    #expect(first != second)
  }

  @Test func describesItself() {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "a", schemaVersion: 4, objectTypes: [Person.self])
    let text = configuration.description
    #expect(text.contains("inMemoryIdentifier = a;"))
    #expect(text.contains("schemaVersion = 4;"))
    #expect(text.contains("objectTypes = [Person];"))
    #expect(text.contains("maximumNumberOfActiveVersions = (null);"))
  }

  @Test func needsAPlace() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Realm.Configuration(fileURL: nil)
    }
    expectStop(result, "A Realm Configuration must specify a path or an in-memory identifier.")
  }

  @Test func refusesDeletingAReadOnlyFile() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true)
    }
    expectStop(result, "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
    let mirror = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Realm.Configuration(deleteRealmIfMigrationNeeded: true)
      configuration.readOnly = true
    }
    expectStop(mirror, "Cannot set `readOnly` when `deleteRealmIfMigrationNeeded` is set.")
  }

  @Test func refusesForeignClasses() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Realm.Configuration(objectTypes: [ObjectBase.self])
    }
    expectStop(result, "Can't add non-Object type 'ObjectBase' to a schema.")
  }
}
