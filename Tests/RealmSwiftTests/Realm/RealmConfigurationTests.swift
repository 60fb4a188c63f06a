// Settings as values, and the combinations that are refused.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmConfigurationTests {
  @Test func fileAndIdentifierReplaceEachOther() {
    var configuration = Realm.Configuration()
    #expect(configuration.fileURL?.lastPathComponent == "default.realm")
    configuration.inMemoryIdentifier = "memory"
    #expect(configuration.fileURL == nil)
    configuration.fileURL = URL(fileURLWithPath: "/tmp/a.realm")
    #expect(configuration.inMemoryIdentifier == nil)
    #expect(configuration.fileURL?.path == "/tmp/a.realm")
    configuration.inMemoryIdentifier = nil
    #expect(configuration.fileURL?.path == "/tmp/a.realm")
  }

  @Test func takesAllSettings() {
    let seed = URL(fileURLWithPath: "/tmp/seed.realm")
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: "/tmp/a.realm"), encryptionKey: Data(count: 64),
      schemaVersion: 3, migrationBlock: { _, _ in }, deleteRealmIfMigrationNeeded: true,
      shouldCompactOnLaunch: { total, used in total > 2 * used }, objectTypes: [Dog.self],
      seedFilePath: seed)
    #expect(configuration.encryptionKey == Data(count: 64))
    #expect(configuration.schemaVersion == 3)
    #expect(configuration.migrationBlock != nil)
    #expect(configuration.deleteRealmIfMigrationNeeded)
    #expect(configuration.shouldCompactOnLaunch?(30, 10) == true)
    #expect(configuration.shouldCompactOnLaunch?(20, 10) == false)
    #expect(configuration.objectTypes?.count == 1)
    #expect(configuration.seedFilePath == seed)
    #expect(!configuration.readOnly)
    #expect(configuration.syncConfiguration == nil)
  }

  /// A URL that is relative to a folder names the same file: it was opened as another Realm.
  @Test func oneFileIsOneRealmHoweverItsURLIsWritten() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [Dog.self])
    let realm = try Realm(configuration: configuration)
    configuration.fileURL = URL(
      fileURLWithPath: "a.realm", relativeTo: URL(fileURLWithPath: folder.path, isDirectory: true))
    #expect(configuration.fileURL?.path == realm.configuration.fileURL?.path)
    #expect(try Realm(configuration: configuration) == realm)
    configuration.inMemoryIdentifier = configuration.fileURL?.path
    #expect(configuration != realm.configuration)
  }

  @Test func isEqualByAllSettings() {
    let first = Realm.Configuration(inMemoryIdentifier: "a", objectTypes: [Person.self])
    func expectDifferent(
      _ name: String, _ change: (inout Realm.Configuration) -> Void
    ) {
      var second = first
      #expect(first == second)
      change(&second)
      #expect(first != second, "\(name)")
      let copy = second
      #expect(copy == second, "\(name)")
    }
    expectDifferent("fileURL") { $0.fileURL = URL(fileURLWithPath: "/tmp/a.realm") }
    expectDifferent("inMemoryIdentifier") { $0.inMemoryIdentifier = "b" }
    expectDifferent("encryptionKey") { $0.encryptionKey = Data(count: 64) }
    expectDifferent("readOnly") { $0.readOnly = true }
    expectDifferent("schemaVersion") { $0.schemaVersion = 2 }
    expectDifferent("migrationBlock") { $0.migrationBlock = { _, _ in } }
    expectDifferent("deleteRealmIfMigrationNeeded") { $0.deleteRealmIfMigrationNeeded = true }
    expectDifferent("shouldCompactOnLaunch") { $0.shouldCompactOnLaunch = { _, _ in true } }
    expectDifferent("objectTypes") { $0.objectTypes = [Dog.self] }
    expectDifferent("seedFilePath") { $0.seedFilePath = URL(fileURLWithPath: "/tmp/s.realm") }
    expectDifferent("maximumNumberOfActiveVersions") { $0.maximumNumberOfActiveVersions = 7 }
    expectDifferent("durability") { $0.durability = .memory }
    expectDifferent("syncConfiguration") { $0.syncConfiguration = SyncConfiguration() }
  }

  @Test func describesItself() {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: "a", schemaVersion: 4, objectTypes: [Person.self])
    let text = configuration.description
    #expect(text.hasPrefix("Realm.Configuration {\n\tfileURL = (null);\n"))
    #expect(text.contains("inMemoryIdentifier = a;"))
    #expect(text.contains("schemaVersion = 4;"))
    #expect(text.contains("objectTypes = [Person];"))
    #expect(text.contains("maximumNumberOfActiveVersions = (null);"))
    #expect(text.contains("encryptionKey = (null);"))
    configuration.encryptionKey = Data(repeating: 7, count: 64)
    configuration.migrationBlock = { _, _ in }
    #expect(configuration.description.contains("encryptionKey = (set);"))
    #expect(configuration.description.contains("migrationBlock = (set);"))
  }

  @Test func theDefaultIsReplacedAsAWhole() async {
    // In a process of its own: the default is global.
    await #expect(processExitsWith: .success) {
      #expect(Realm.Configuration.defaultConfiguration.inMemoryIdentifier == nil)
      var configuration = Realm.Configuration(inMemoryIdentifier: "default")
      configuration.objectTypes = [Dog.self]
      Realm.Configuration.defaultConfiguration = configuration
      configuration.objectTypes = nil
      #expect(Realm.Configuration.defaultConfiguration.objectTypes?.count == 1)
      let realm = try Realm()
      #expect(realm.configuration.inMemoryIdentifier == "default")
      #expect(realm.schema.objectSchema.map(\.className) == ["Dog"])
    }
  }

  @Test func aSynchronisedRealmIsRefused() {
    var configuration = memoryConfiguration()
    configuration.syncConfiguration = SyncConfiguration()
    let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
    #expect(error?.code == .invalidInput)
    #expect(error?.localizedDescription.contains("not supported") == true)
  }

  // MARK: - Stops

  @Test func needsAPlace() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Realm.Configuration(fileURL: nil)
    }
    expectStop(result, "A Realm Configuration must specify a path or an in-memory identifier.")
    let cleared = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Realm.Configuration()
      configuration.fileURL = nil
      _ = try Realm(configuration: configuration)
    }
    expectStop(cleared, "A Realm Configuration must specify a path or an in-memory identifier.")
  }

  /// Checks that no Realm can be opened with settings, in whatever order they were made.
  private func expectRefusal(
    _ configuration: Realm.Configuration, _ message: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: Realm.Error.self, sourceLocation: location) {
      _ = try Realm(configuration: configuration)
    }
    #expect(error?.code == .invalidInput, sourceLocation: location)
    #expect(error?.localizedDescription == message, sourceLocation: location)
    let again = #expect(throws: Realm.Error.self, sourceLocation: location) {
      try Realm.performMigration(for: configuration)
    }
    #expect(again?.code == .invalidInput, sourceLocation: location)
  }

  @Test func refusesDeletingAReadOnlyFile() {
    let message = "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set."
    expectRefusal(
      Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true), message)
    var configuration = Realm.Configuration(deleteRealmIfMigrationNeeded: true)
    configuration.readOnly = true
    expectRefusal(configuration, message)
  }

  @Test func refusesCompactingAReadOnlyFile() {
    let message = "Cannot set `shouldCompactOnLaunch` when `readOnly` is set."
    expectRefusal(
      Realm.Configuration(readOnly: true, shouldCompactOnLaunch: { _, _ in true }), message)
    var configuration = Realm.Configuration(shouldCompactOnLaunch: { _, _ in true })
    configuration.readOnly = true
    expectRefusal(configuration, message)
  }

  @Test func refusesAKeyOfAnotherLength() throws {
    let message = "Encryption key must be exactly 64 bytes long"
    expectRefusal(Realm.Configuration(encryptionKey: Data(count: 63)), message)
    var configuration = Realm.Configuration()
    configuration.encryptionKey = Data(count: 65)
    expectRefusal(configuration, message)
    let error = #expect(throws: Realm.Error.self) {
      _ = try schemaVersionAtURL(URL(fileURLWithPath: "/none"), encryptionKey: Data(count: 3))
    }
    #expect(error?.code == .invalidInput)
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
