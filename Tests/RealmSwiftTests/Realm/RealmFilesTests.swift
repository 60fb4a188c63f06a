// Files that are asked for, removed, started from others and read without being written.
import Foundation
import Platform
import RealmSwift
import Simulation
import TestSupport
import Testing

/// The class of another version of a program.
private enum OtherDogs {
  final class Dog: Object {
    @Persisted var name: Int

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

@Suite(.ownThreads) struct RealmFilesTests {
  let folder = TemporaryFolder()

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name))
  }

  /// Makes a file with so many dogs.
  private func makeFile(_ name: String, dogs: Int = 1, schemaVersion: UInt64 = 0) throws {
    var configuration = folder.configuration(name, [Dog.self])
    configuration.schemaVersion = schemaVersion
    let realm = try Realm(configuration: configuration)
    try realm.write { for _ in 0..<dogs { realm.add(Dog()) } }
  }

  // MARK: - Existence and removal

  @Test func filesAreAskedFor() throws {
    let configuration = folder.configuration()
    #expect(!Realm.fileExists(for: configuration))
    _ = try Realm(configuration: configuration)
    #expect(Realm.fileExists(for: configuration))
    let memory = memoryConfiguration()
    let realm = try Realm(configuration: memory)
    #expect(!Realm.fileExists(for: memory))
    #expect(try !Realm.deleteFiles(for: memory))
    withExtendedLifetime(realm) {}
  }

  @Test func removesTheLockFileToo() throws {
    try makeFile("a.realm")
    #expect(exists("a.realm.lock"))
    #expect(try Realm.deleteFiles(for: folder.configuration("a.realm")))
    #expect(!exists("a.realm"))
    #expect(!exists("a.realm.lock"))
  }

  @Test func anotherProcessHasTheFile() async throws {
    let realm = try openRealm(folder.configuration())
    try realm.write { realm.add(Dog()) }
    // Keeps the file open, and may be used on whatever thread the test goes on.
    let frozen = realm.freeze()
    let path = folder.file("test.realm")
    await #expect(processExitsWith: .success) { [path = path as String] in
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self])
      do {
        try Realm.deleteFiles(for: configuration)
        Issue.record("it was deleted")
      } catch Realm.Error.alreadyOpen {}
      // Nor to start over.
      configuration.schemaVersion = 1
      configuration.deleteRealmIfMigrationNeeded = true
      do {
        _ = try Realm(configuration: configuration)
        Issue.record("it was opened")
      } catch Realm.Error.alreadyOpen {}
    }
    #expect(frozen.objects(Dog.self).count == 1)
  }

  // MARK: - Schema version

  @Test func theSchemaVersionIsRead() throws {
    let url = URL(fileURLWithPath: folder.file("a.realm"))
    #expect(errorCode { _ = try schemaVersionAtURL(url) } == .fileNotFound)
    #expect(!exists("a.realm") && !exists("a.realm.lock"))
    try makeFile("a.realm", schemaVersion: 17)
    #expect(try schemaVersionAtURL(url) == 17)
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.schemaVersion = 17
    do {
      let realm = try Realm(configuration: configuration)
      #expect(try schemaVersionAtURL(url) == 17)
      withExtendedLifetime(realm) {}
    }
    try Data(repeating: 5, count: 10_000).write(to: url)
    #expect(errorCode { _ = try schemaVersionAtURL(url) } == .invalidDatabase)
  }

  // MARK: - Reading only

  @Test func readingLeavesNothingBehind() throws {
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.readOnly = true
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .fileNotFound)
    #expect(!exists("a.realm") && !exists("a.realm.lock"))
    try makeFile("a.realm")
    try FileManager.default.removeItem(atPath: folder.file("a.realm.lock"))
    let bytes = try Data(contentsOf: configuration.fileURL!)
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).count == 1)
    }
    #expect(!exists("a.realm.lock"))
    #expect(try Data(contentsOf: configuration.fileURL!) == bytes)
  }

  @Test func aReadOnlyRealmIsNotWritten() async throws {
    try makeFile("a.realm")
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), readOnly: true, objectTypes: [Dog.self])
      try Realm(configuration: configuration).beginWrite()
    }
    expectStop(result, "Can't perform transactions on read-only Realms.")
  }

  // MARK: - Starting over

  @Test func startsOverWhenClassesHaveChanged() throws {
    enum Changed {
      class Dog: Object {
        @Persisted var name: Int
      }
    }
    try makeFile("a.realm")
    var configuration = folder.configuration("a.realm", [Changed.Dog.self])
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .schemaMismatch)
    configuration.deleteRealmIfMigrationNeeded = true
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.isEmpty)
      try realm.write { realm.create(Changed.Dog.self, value: [7]) }
    }
    // Nothing has changed since: the file stays.
    #expect(try Realm(configuration: configuration).objects(Changed.Dog.self).count == 1)
    // Neither by a class that is new.
    configuration.objectTypes = [Changed.Dog.self, Person.self]
    #expect(try Realm(configuration: configuration).objects(Changed.Dog.self).count == 1)
    configuration.schemaVersion = 1
    #expect(try Realm(configuration: configuration).isEmpty)
    configuration.schemaVersion = 0
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  /// An app and its extension after an update: one of them starts over, and the others use that.
  @Test func severalStartOverAtTheSameTime() throws {
    for round in 0..<10 {
      let name = "a\(round).realm"
      try makeFile(name)
      let threads = (0..<6).map { number in
        let system = FaultFileSystem(LinuxFileSystem(), process: UInt64(number % 3))
        let path = folder.file(name)
        return startThread("user \(number)") {
          do {
            var configuration = Realm.Configuration(
              fileURL: URL(fileURLWithPath: path), objectTypes: [OtherDogs.Dog.self])
            configuration.deleteRealmIfMigrationNeeded = true
            configuration.fileSystem = system
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(OtherDogs.Dog.self, value: [number]) }
          } catch { Issue.record("user \(number) in round \(round): \(error)") }
        }
      }
      for thread in threads { thread.joinInTime() }
      let configuration = folder.configuration(name, [OtherDogs.Dog.self])
      let names = try Realm(configuration: configuration).objects(OtherDogs.Dog.self).map(\.name)
      #expect(names.sorted() == Array(0..<6))
    }
  }

  @Test func doesNotStartOverUnderAnother() throws {
    enum Changed {
      class Dog: Object {
        @Persisted var name: Int
      }
    }
    try makeFile("a.realm")
    let held = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    var configuration = folder.configuration("a.realm", [Changed.Dog.self])
    configuration.deleteRealmIfMigrationNeeded = true
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .alreadyOpen)
    #expect(held.objects(Dog.self).count == 1)
  }

  // MARK: - Seeds

  @Test func startsWithASeed() throws {
    try makeFile("seed.realm", dogs: 5, schemaVersion: 3)
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.schemaVersion = 3
    configuration.seedFilePath = URL(fileURLWithPath: folder.file("seed.realm"))
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).count == 5)
      try realm.write { realm.add(Dog()) }
    }
    // Not again.
    #expect(try Realm(configuration: configuration).objects(Dog.self).count == 6)
    configuration.fileURL = configuration.seedFilePath
    #expect(try Realm(configuration: configuration).objects(Dog.self).count == 5)
  }

  @Test func aSeedMayBeInUse() throws {
    let seed = folder.configuration("seed.realm", [Dog.self])
    let used = try Realm(configuration: seed)
    try used.write { used.add(Dog()) }
    used.beginWrite()
    used.add(Dog())
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.seedFilePath = seed.fileURL
    #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
    used.cancelWrite()
  }

  @Test func aSeedHasToBeARealm() throws {
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.seedFilePath = URL(fileURLWithPath: folder.file("seed.realm"))
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .fileNotFound)
    try Data(repeating: 5, count: 10_000).write(to: configuration.seedFilePath!)
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .invalidDatabase)
    #expect(!exists("a.realm"))
    configuration.readOnly = true
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .invalidDatabase)
    #expect(!exists("a.realm"))
  }

  /// The setting was passed over, and the file was missed.
  @Test func aSeedMayOnlyBeRead() throws {
    try makeFile("seed.realm", dogs: 2)
    var configuration = folder.configuration("a.realm", [Dog.self])
    configuration.readOnly = true
    configuration.seedFilePath = URL(fileURLWithPath: folder.file("seed.realm"))
    #expect(try Realm(configuration: configuration).objects(Dog.self).count == 2)
    #expect(exists("a.realm"))
  }
}
