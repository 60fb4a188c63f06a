// Opening, sharing, reopening and deleting Realms.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmOpeningTests {
  let folder = TemporaryFolder()

  @Test func sameSettingsGiveTheSameInstance() throws {
    let configuration = folder.configuration()
    let first = try Realm(configuration: configuration)
    let second = try Realm(configuration: configuration)
    #expect(first == second)
    #expect(first.configuration == configuration)
    let other = Carried(configuration)
    let kept = Carried(first)
    onThread {
      let elsewhere = try? Realm(configuration: other.value)
      #expect(elsewhere != nil)
      #expect(elsewhere != kept.value)
    }
  }

  @Test func aRealmThatNobodyHoldsIsGone() throws {
    let configuration = folder.configuration()
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Dog()) }
    }
    // Only a closed file can be deleted.
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(!Realm.fileExists(for: configuration))
    #expect(try !Realm.deleteFiles(for: configuration))
  }

  @Test func anObjectKeepsItsRealmOpen() throws {
    let configuration = folder.configuration()
    var dog: Dog? = Dog()
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(dog!) }
    }
    #expect(dog?.realm != nil)
    #expect(dog?.name == "Rex")
    #expect(errorCode { try Realm.deleteFiles(for: configuration) } == .alreadyOpen)
    dog = nil
    #expect(try Realm.deleteFiles(for: configuration))
  }

  @Test func contentSurvivesReopening() throws {
    let configuration = folder.configuration()
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.isEmpty)
      try realm.write {
        for id in 0..<1000 { realm.create(Person.self, value: [id, "name \(id)", id % 100]) }
      }
      #expect(!realm.isEmpty)
    }
    let realm = try Realm(configuration: configuration)
    let people = realm.objects(Person.self)
    #expect(people.count == 1000)
    #expect(people.map(\.id) == Array(0..<1000))
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 577)?.name == "name 577")
  }

  @Test func inMemoryRealmsAreSharedByName() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    let other = Carried(configuration)
    onThread {
      let elsewhere = try? Realm(configuration: other.value)
      #expect(elsewhere?.objects(Dog.self).count == 1)
    }
    #expect(try memoryRealm().objects(Dog.self).isEmpty)
  }

  @Test func newClassesAreAddedSilently() throws {
    let first = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    try first.write { first.add(Dog()) }
    let second = try Realm(configuration: folder.configuration("a.realm", [Dog.self, Person.self]))
    try second.write { second.create(Person.self, value: [1]) }
    #expect(second.objects(Dog.self).count == 1)
    #expect(first.refresh())
    #expect(first.objects(Dog.self).count == 1)
    try first.write { first.add(Dog()) }
    second.refresh()
    #expect(second.objects(Dog.self).count == 2 && second.objects(Person.self).count == 1)
  }

  // MARK: - Errors

  @Test func missingFiles() throws {
    var configuration = folder.configuration("missing.realm")
    configuration.readOnly = true
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .fileNotFound)
    let noFolder = folder.configuration("no/folder/a.realm")
    #expect(errorCode { _ = try Realm(configuration: noFolder) } == .fileNotFound)
    do {
      _ = try Realm(configuration: noFolder)
    } catch let error as Realm.Error {
      #expect(error.fileURL?.path == noFolder.fileURL?.path)
    }
  }

  @Test func aFolderInTheWay() throws {
    _ = folder.makeFolder("folder.realm")
    let configuration = folder.configuration("folder.realm")
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .fileAccess)
  }

  @Test func garbageIsLeftAlone() throws {
    let url = URL(fileURLWithPath: folder.file("garbage.realm"))
    let bytes = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try bytes.write(to: url)
    let configuration = folder.configuration("garbage.realm")
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .invalidDatabase)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test func otherReadPermissions() throws {
    var configuration = folder.configuration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    configuration.readOnly = true
    do {
      _ = try Realm(configuration: configuration)
      Issue.record("it opened")
    } catch Realm.Error.alreadyOpen {
      // As it should.
    } catch {
      Issue.record("\(error)")
    }
    do {
      _ = try Realm(configuration: configuration)
    } catch {
      #expect(error.localizedDescription.contains("already opened with different read permissions"))
    }
    withExtendedLifetime(realm) {}
  }

  @Test func readOnlyReads() throws {
    var configuration = folder.configuration("a.realm", [Dog.self])
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Dog()) }
    }
    // A class that the file does not know is empty.
    configuration.objectTypes = [Dog.self, Person.self]
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Dog.self).first?.name == "Rex")
    #expect(realm.objects(Person.self).isEmpty)
    #expect(realm.objects(Person.self).first == nil)
    #expect(Array(realm.objects(Person.self)).isEmpty)
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 1) == nil)
  }

  /// Nothing has to be changed for it, and a file that is only read cannot be migrated.
  @Test func readOnlyNeedsNoOtherProperties() throws {
    enum Before {
      class ReadCat: Object {
        @Persisted var age: Int
        @Persisted var nicknames: List<String>
        @Persisted var name: String
        @Persisted var friend: ReadCat?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
      }
    }
    enum After {
      class ReadCat: Object {
        @Persisted(indexed: true) var name: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
      }
    }
    enum Other {
      class ReadCat: Object {
        @Persisted var name: String
        @Persisted var weight: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
      }
    }
    do {
      let realm = try Realm(configuration: folder.configuration("a.realm", [Before.ReadCat.self]))
      try realm.write {
        realm.create(Before.ReadCat.self, value: ["age": 3, "name": "Tom"] as [String: Any])
      }
    }
    var configuration = folder.configuration("a.realm", [After.ReadCat.self])
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .schemaMismatch)
    configuration.readOnly = true
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(After.ReadCat.self).map(\.name) == ["Tom"])
      #expect(realm.objects(After.ReadCat.self).where { $0.name == "Tom" }.count == 1)
      #expect(realm.dynamicObjects("ReadCat")[0]["name"] as? String == "Tom")
      #expect(realm.objects(After.ReadCat.self).freeze().first?.name == "Tom")
    }
    // What the file lacks cannot be read.
    configuration.objectTypes = [Other.ReadCat.self]
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .schemaMismatch)
  }

  @Test func aChangedClassNeedsAMigration() throws {
    enum Before {
      class Cat: Object {
        @Persisted var name: String
        @Persisted var age: Int
        @Persisted var gone: Int
        @Persisted(primaryKey: true) var id: Int
      }
    }
    enum After {
      class Cat: Object {
        @Persisted var name: String?
        @Persisted var age: Double
        @Persisted var new: Int
        @Persisted(primaryKey: true) var code: Int
      }
    }
    do { _ = try Realm(configuration: folder.configuration("a.realm", [Before.Cat.self])) }
    do {
      _ = try Realm(configuration: folder.configuration("a.realm", [After.Cat.self]))
      Issue.record("it opened")
    } catch Realm.Error.schemaMismatch {
      // As it should.
    }
    do {
      _ = try Realm(configuration: folder.configuration("a.realm", [After.Cat.self]))
    } catch {
      let text = error.localizedDescription
      #expect(text.contains("Migration is required due to the following errors:"))
      #expect(text.contains("Property 'Cat.name' has been made optional."))
      #expect(text.contains("Property 'Cat.age' has been changed from 'int' to 'double'."))
      #expect(text.contains("Property 'Cat.gone' has been removed."))
      #expect(text.contains("Property 'Cat.new' has been added."))
      #expect(text.contains("Primary Key for class 'Cat' has changed from 'id' to 'code'."))
    }
    // The file still opens as it was.
    _ = try Realm(configuration: folder.configuration("a.realm", [Before.Cat.self]))
  }

  @Test func anOlderSchemaVersionIsRefused() throws {
    var configuration = folder.configuration()
    configuration.schemaVersion = 3
    do { _ = try Realm(configuration: configuration) }
    configuration.schemaVersion = 2
    #expect(errorCode { _ = try Realm(configuration: configuration) } == .schemaMismatch)
    configuration.schemaVersion = 3
    #expect(errorCode { _ = try Realm(configuration: configuration) } == nil)
  }
}
