// Changes of classes: what is done by itself, and what a migration block can do.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct MigrationTests {
  let folder = TemporaryFolder()

  /// Makes a file of the first form with some cats.
  private func makeCats(_ count: Int = 3) throws {
    let realm = try Realm(configuration: folder.configuration("a.realm", [CatForms.First.Cat.self]))
    try realm.write {
      var last: CatForms.First.Cat?
      for id in 0..<count {
        let cat = realm.create(
          CatForms.First.Cat.self,
          value: ["id": id, "name": "cat \(id)", "age": id * 2, "scores": [id, id + 1]])
        if id % 2 == 0 {
          cat.nick = "nick \(id)"
          cat.weight = Double(id) + 0.5
        }
        cat.friend = last
        last = cat
      }
    }
  }

  private func configuration(
    _ types: [ObjectBase.Type], version: UInt64 = 1, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    var configuration = folder.configuration("a.realm", types)
    configuration.schemaVersion = version
    configuration.migrationBlock = block
    return configuration
  }

  private func error(_ body: () throws -> Void) -> Realm.Error? {
    do {
      try body()
      return nil
    } catch {
      return error as? Realm.Error
    }
  }

  // MARK: - When the block runs

  @Test func aNewFileNeedsNoBlock() throws {
    let configuration = configuration([Dog.self], version: 5) { _, _ in
      Issue.record("the block ran")
    }
    _ = try Realm(configuration: configuration)
    #expect(try schemaVersionAtURL(configuration.fileURL!) == 5)
    // Nor does one of this version.
    _ = try Realm(configuration: configuration)
  }

  @Test func theBlockRunsOnceAVersion() throws {
    try makeCats()
    let calls = Monitor<[UInt64]>([])
    let configuration = configuration([CatForms.First.Cat.self], version: 3) { _, old in
      calls.withLock { $0.append(old) }
    }
    do { _ = try Realm(configuration: configuration) }
    do { _ = try Realm(configuration: configuration) }
    #expect(calls.withLock { $0 } == [0])
    var next = configuration
    next.schemaVersion = 4
    _ = try Realm(configuration: next)
    #expect(calls.withLock { $0 } == [0, 3])
    #expect(try schemaVersionAtURL(next.fileURL!) == 4)
  }

  @Test func aChangeNeedsANewerVersion() throws {
    try makeCats()
    let configuration = configuration([CatForms.Retyped.Cat.self], version: 0) { _, _ in
      Issue.record("the block ran")
    }
    let failure = error { _ = try Realm(configuration: configuration) }
    #expect(failure?.code == .schemaMismatch)
    #expect(failure?.fileURL == configuration.fileURL)
    #expect(
      failure?.localizedDescription == """
        Migration is required due to the following errors:
        - Property 'Cat.age' has been changed from 'int' to 'string'.
        - Property 'Cat.nick' has been made required.
        - Property 'Cat.weight' has been made required.
        """)
  }

  @Test func linesOfCollectionsAndLinks() throws {
    enum Before {
      class Target: Object {
        @Persisted var value: Int
      }
      class Holder: Object {
        @Persisted var link: Target?
        @Persisted var list: List<Target>
        @Persisted var numbers: List<Int>
        @Persisted var kept: List<Int>
      }
    }
    enum After {
      class Other: Object {
        @Persisted var value: Int
      }
      class Holder: Object {
        @Persisted var link: Other?
        @Persisted var list: List<Other>
        @Persisted var numbers: Int
        @Persisted var kept: List<Int?>
      }
    }
    do {
      _ = try Realm(
        configuration: configuration([Before.Target.self, Before.Holder.self], version: 0))
    }
    let failure = error {
      _ = try Realm(
        configuration: configuration([After.Other.self, After.Holder.self], version: 0))
    }
    #expect(
      failure?.localizedDescription == """
        Migration is required due to the following errors:
        - Property 'Holder.link' has been changed from '<Target>' to '<Other>'.
        - Property 'Holder.list' has been changed from 'array<Target>' to 'array<Other>'.
        - Property 'Holder.numbers' has been changed from 'array<int>' to 'int'.
        - Property 'Holder.kept' has been made optional.
        """)
  }

  // MARK: - Changes without a block

  @Test func addedPropertiesHaveTheirDefaults() throws {
    try makeCats()
    let realm = try Realm(configuration: configuration([CatForms.Added.Cat.self]))
    let cats = realm.objects(CatForms.Added.Cat.self)
    #expect(cats.map(\.name) == ["cat 0", "cat 1", "cat 2"])
    #expect(cats.map(\.age) == [0, 2, 4])
    #expect(cats.map(\.lives) == [9, 9, 9])
    #expect(cats.map(\.color) == ["", "", ""])
    #expect(cats.map(\.owner) == [nil, nil, nil])
    #expect(cats[2].friend?.id == 1)
    #expect(Array(cats[2].scores) == [2, 3])
    #expect(try realm.checkInvariants().findings == [])
    try realm.write { cats[0].lives = 8 }
    #expect(cats.map(\.lives) == [8, 9, 9])
  }

  @Test func removedPropertiesGo() throws {
    try makeCats()
    do {
      let realm = try Realm(configuration: configuration([CatForms.Removed.Cat.self]))
      #expect(realm.objects(CatForms.Removed.Cat.self).map(\.name) == ["cat 0", "cat 1", "cat 2"])
      #expect(realm.object(ofType: CatForms.Removed.Cat.self, forPrimaryKey: 1)?.name == "cat 1")
      #expect(try realm.checkInvariants().findings == [])
    }
    // Coming back, they are new.
    let realm = try Realm(configuration: configuration([CatForms.First.Cat.self], version: 2))
    let cats = realm.objects(CatForms.First.Cat.self)
    #expect(cats.map(\.age) == [0, 0, 0])
    #expect(cats.map(\.nick) == [nil, nil, nil])
    #expect(cats.allSatisfy { $0.friend == nil && $0.scores.isEmpty })
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func optionalAndRequiredKeepTheirValues() throws {
    try makeCats()
    do {
      let realm = try Realm(configuration: configuration([CatForms.Optionals.Cat.self]))
      let cats = realm.objects(CatForms.Optionals.Cat.self)
      #expect(cats.map(\.name) == ["cat 0", "cat 1", "cat 2"])
      #expect(cats.map(\.age) == [0, 2, 4])
      #expect(cats.map(\.nick) == ["nick 0", "", "nick 2"])
      #expect(cats.map(\.weight) == [0.5, 0, 2.5])
      try realm.write { cats[1].age = nil }
      #expect(cats[1].age == nil)
      #expect(try realm.checkInvariants().findings == [])
    }
    let realm = try Realm(configuration: configuration([CatForms.First.Cat.self], version: 2))
    let cats = realm.objects(CatForms.First.Cat.self)
    #expect(cats.map(\.age) == [0, 0, 4])
    #expect(cats.map(\.nick) == ["nick 0", "", "nick 2"])
  }

  @Test func anotherPrimaryKey() throws {
    try makeCats()
    let realm = try Realm(configuration: configuration([CatForms.OtherKey.Cat.self]))
    let found = realm.object(ofType: CatForms.OtherKey.Cat.self, forPrimaryKey: "cat 2")
    #expect(found?.id == 2)
    #expect(found?.friend?.name == "cat 1")
    try realm.write {
      realm.create(
        CatForms.OtherKey.Cat.self, value: ["name": "cat 1", "age": 77], update: .modified)
    }
    #expect(realm.objects(CatForms.OtherKey.Cat.self).map(\.age) == [0, 77, 4])
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func indexesChangeSilently() throws {
    enum With {
      class Dog: Object {
        @Persisted(indexed: true) var name: String
        @Persisted var age: Int
      }
    }
    enum Without {
      class Dog: Object {
        @Persisted var name: String
        @Persisted(indexed: true) var age: Int
      }
    }
    do {
      let realm = try Realm(configuration: configuration([Without.Dog.self], version: 0))
      try realm.write {
        for age in 0..<600 { realm.create(Without.Dog.self, value: ["dog \(age % 7)", age]) }
      }
    }
    let realm = try Realm(configuration: configuration([With.Dog.self], version: 0))
    #expect(realm.objects(With.Dog.self).count == 600)
    #expect(realm.schema["Dog"]?["name"]?.isIndexed == true)
    #expect(try realm.checkInvariants().findings == [])
    try realm.write { realm.objects(With.Dog.self)[3].name = "other" }
    #expect(try realm.checkInvariants().findings == [])
    // A Realm that is open keeps the index that another opening has made.
    onThread { [folder] in
      _ = try? Realm(configuration: folder.configuration("a.realm", [Without.Dog.self]))
    }
    try realm.write { realm.objects(With.Dog.self)[5].age = 1_000 }
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func removedClassesStayInTheFile() throws {
    try makeCats()
    do { _ = try Realm(configuration: configuration([Dog.self])) }
    let realm = try Realm(
      configuration: configuration([Dog.self, CatForms.First.Cat.self], version: 1))
    #expect(realm.objects(CatForms.First.Cat.self).count == 3)
  }

  // MARK: - Enumerating

  @Test func enumeratesOldAndNew() throws {
    try makeCats()
    let configuration = configuration([CatForms.Retyped.Cat.self]) { migration, oldVersion in
      #expect(oldVersion == 0)
      #expect(migration.oldSchema["Cat"]?["age"]?.type == .int)
      #expect(migration.newSchema["Cat"]?["age"]?.type == .string)
      var ids: [Int] = []
      migration.enumerateObjects(ofType: "Cat") { old, new in
        guard let old, let new else {
          Issue.record("an object is missing")
          return
        }
        ids.append(old["id"] as? Int ?? -1)
        #expect(new["age"] as? String == "")
        #expect(new["name"] as? String == old["name"] as? String)
        #expect(
          (old["friend"] as? MigrationObject)?["id"] as? Int
            == (ids.last == 0 ? nil : ids.last! - 1))
        #expect(
          (new.friend as? MigrationObject)?.id as? Int == (ids.last == 0 ? nil : ids.last! - 1))
        #expect((old["scores"] as? List<Int>).map { Array($0) } == [ids.last!, ids.last! + 1])
        new["age"] = "\(old["age"] as? Int ?? -1) years"
        #expect(new.age as? String == "\(ids.last! * 2) years")
        new.nick = old.nick ?? "none"
      }
      #expect(ids == [0, 1, 2])
      // There is no such class.
      migration.enumerateObjects(ofType: "Nothing") { _, _ in Issue.record("an object") }
    }
    let realm = try Realm(configuration: configuration)
    let cats = realm.objects(CatForms.Retyped.Cat.self)
    #expect(cats.map(\.age) == ["0 years", "2 years", "4 years"])
    #expect(cats.map(\.nick) == ["nick 0", "none", "nick 2"])
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func createsAndDeletes() throws {
    try makeCats()
    let configuration = configuration([CatForms.Added.Cat.self, Dog.self]) { migration, _ in
      var dogs = 0
      migration.enumerateObjects(ofType: "Cat") { old, new in
        let id = old!["id"] as! Int
        if id == 1 {
          migration.delete(new!)
          #expect(new!.isInvalidated)
          #expect(!old!.isInvalidated)
        } else {
          let dog = migration.create("Dog", value: ["name": "of \(id)"])
          #expect(dog["age"] as? Int == 3)
          dog["age"] = id
          dogs += 1
        }
      }
      #expect(dogs == 2)
      let made = migration.create("Cat", value: ["id": 50, "name": "new"])
      #expect(made["lives"] as? Int == 9)
      // Objects that are not there any more, or were not then, are left out.
      var ids: [Int] = []
      migration.enumerateObjects(ofType: "Cat") { _, new in ids.append(new!["id"] as! Int) }
      #expect(ids == [0, 2])
      var names: [String] = []
      migration.enumerateObjects(ofType: "Dog") { old, new in
        #expect(old == nil)
        names.append(new!.name as! String)
      }
      #expect(names == ["of 0", "of 2"])
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(CatForms.Added.Cat.self).map(\.id) == [0, 2, 50])
    #expect(realm.objects(CatForms.Added.Cat.self)[1].friend == nil)
    #expect(realm.objects(Dog.self).map(\.age) == [0, 2])
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func oldObjectsOfARemovedClassAreRead() throws {
    try makeCats()
    let configuration = configuration([Dog.self]) { migration, _ in
      migration.enumerateObjects(ofType: "Cat") { old, new in
        #expect(new == nil)
        migration.create("Dog", value: ["name": old!["name"]!])
      }
      #expect(migration.deleteData(forType: "Cat"))
      #expect(!migration.deleteData(forType: "Cat"))
      #expect(!migration.deleteData(forType: "Nothing"))
    }
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).map(\.name) == ["cat 0", "cat 1", "cat 2"])
      #expect(try realm.checkInvariants().findings == [])
    }
    // The class is gone.
    let again = self.configuration([CatForms.First.Cat.self])
    #expect(try Realm(configuration: again).objects(CatForms.First.Cat.self).isEmpty)
  }

  @Test func dataOfADeclaredClassIsDeleted() throws {
    try makeCats()
    let configuration = configuration([CatForms.First.Cat.self]) { migration, _ in
      #expect(migration.deleteData(forType: "Cat"))
      migration.enumerateObjects(ofType: "Cat") { _, _ in Issue.record("an object") }
      migration.create("Cat", value: ["id": 1])
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(CatForms.First.Cat.self).map(\.id) == [1])
  }

  // MARK: - Renaming

  @Test func renamedPropertiesKeepTheirValues() throws {
    try makeCats()
    let configuration = configuration([CatForms.Renamed.Cat.self]) { migration, _ in
      migration.renameProperty(onType: "Cat", from: "name", to: "title")
      migration.renameProperty(onType: "Cat", from: "age", to: "years")
      migration.enumerateObjects(ofType: "Cat") { old, new in
        #expect(new!["title"] as? String == old!["name"] as? String)
        new!["title"] = "\(new!.title as! String)!"
      }
    }
    let realm = try Realm(configuration: configuration)
    let cats = realm.objects(CatForms.Renamed.Cat.self)
    #expect(cats.map(\.title) == ["cat 0!", "cat 1!", "cat 2!"])
    #expect(cats.map(\.years) == [0, 2, 4])
    #expect(realm.schema["Cat"]?["years"]?.columnName == "stored_years")
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test(arguments: [
    ("Nothing", "a", "b", "Cannot rename properties for type 'Nothing' because it does not exist."),
    ("Dog", "a", "b", "Cannot rename properties for type 'Dog' because it does not exist."),
    ("Cat", "nothing", "title", "Cannot rename property 'Cat.nothing' because it does not exist."),
    ("Cat", "name", "nothing", "Renamed property 'Cat.nothing' does not exist."),
    ("Cat", "nick", "title", "the source property still exists."),
    ("Cat", "age", "title", "it would change from type 'int' to 'string'."),
  ])
  func refusesRenaming(_ type: String, _ from: String, _ to: String, _ message: String) async throws
  {
    try makeCats()
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String, type = type as String, from = from as String, to = to as String] in
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
          migrationBlock: { migration, _ in
            migration.renameProperty(onType: type, from: from, to: to)
          }, objectTypes: [CatForms.Renamed.Cat.self]))
    }
    expectStop(result, message)
    // The process ended inside of the migration.
    let realm = try openRealm(folder.configuration("a.realm", [CatForms.First.Cat.self]))
    #expect(realm.objects(CatForms.First.Cat.self).map(\.name) == ["cat 0", "cat 1", "cat 2"])
  }

  // MARK: - Keys

  @Test func keysCanBeChanged() throws {
    enum TextKey {
      class Cat: Object {
        @Persisted(primaryKey: true) var id: String
        @Persisted var name: String
      }
    }
    try makeCats()
    let configuration = configuration([TextKey.Cat.self]) { migration, _ in
      migration.enumerateObjects(ofType: "Cat") { old, new in
        new!["id"] = "key \(old!["id"]!)"
      }
      migration.create("Cat", value: ["id": "made", "name": "made"])
    }
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.object(ofType: TextKey.Cat.self, forPrimaryKey: "key 2")?.name == "cat 2")
      #expect(realm.object(ofType: TextKey.Cat.self, forPrimaryKey: "made")?.name == "made")
      #expect(try realm.checkInvariants().findings == [])
    }
    // Also without a change of the class.
    let again = self.configuration([TextKey.Cat.self], version: 2) { migration, _ in
      migration.enumerateObjects(ofType: "Cat") { _, new in new!["id"] = "\(new!.id!)!" }
    }
    let realm = try Realm(configuration: again)
    #expect(realm.object(ofType: TextKey.Cat.self, forPrimaryKey: "key 2!")?.name == "cat 2")
    #expect(realm.object(ofType: TextKey.Cat.self, forPrimaryKey: "key 2") == nil)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func equalKeysAreRefused() throws {
    enum ByAge {
      class Cat: Object {
        @Persisted var id: Int
        @Persisted var name: String
        @Persisted(primaryKey: true) var age: Int
      }
    }
    try makeCats()
    let configuration = configuration([ByAge.Cat.self]) { migration, _ in
      migration.enumerateObjects(ofType: "Cat") { _, new in new!["age"] = 7 }
    }
    let failure = error { _ = try Realm(configuration: configuration) }
    #expect(failure?.code == .fail)
    #expect(
      failure?.localizedDescription
        == "Primary key property 'Cat.age' has duplicate values after migration.")
    // Nothing has changed.
    let realm = try Realm(
      configuration: self.configuration([CatForms.First.Cat.self], version: 0))
    #expect(realm.objects(CatForms.First.Cat.self).map(\.age) == [0, 2, 4])
  }

  // MARK: - Stops and errors

  @Test func oldObjectsAreReadOnly() async throws {
    try makeCats()
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
          migrationBlock: { migration, _ in
            migration.enumerateObjects(ofType: "Cat") { old, _ in old!["age"] = 3 }
          }, objectTypes: [CatForms.First.Cat.self]))
    }
    expectStop(result, "Attempting to modify object outside of a write transaction")
  }

  @Test func unknownPropertiesStop() async throws {
    try makeCats()
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
          migrationBlock: { migration, _ in
            migration.enumerateObjects(ofType: "Cat") { _, new in _ = new!["age"] }
          }, objectTypes: [CatForms.Removed.Cat.self]))
    }
    expectStop(result, "Invalid property name 'age' for class 'Cat'.")
  }

  @Test func aKeptMigrationStopsAfterItsBlock() async throws {
    try makeCats()
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let kept = KeptMigration()
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
          migrationBlock: { migration, _ in kept.migration = migration },
          objectTypes: [CatForms.Removed.Cat.self]))
      withExtendedLifetime(realm) {
        kept.migration?.enumerateObjects(ofType: "Cat") { _, _ in }
      }
    }
    expectStop(result, "The migration has ended")
  }

  @Test func anOpenRealmIsNotMigrated() throws {
    try makeCats()
    let held = try Realm(configuration: configuration([CatForms.First.Cat.self], version: 0))
    let migrating = configuration([CatForms.Added.Cat.self])
    #expect(error { _ = try Realm(configuration: migrating) }?.code == .alreadyOpen)
    let failure = error { try Realm.performMigration(for: migrating) }
    #expect(failure?.code == .alreadyOpen)
    #expect(
      failure?.localizedDescription.contains("Cannot migrate Realms that are already open.") == true
    )
    #expect(held.objects(CatForms.First.Cat.self).count == 3)
  }

  @Test func frozenValuesKeepTheirClasses() throws {
    try makeCats()
    var frozen: Results<CatForms.First.Cat>?
    do {
      let realm = try Realm(configuration: configuration([CatForms.First.Cat.self], version: 0))
      frozen = realm.objects(CatForms.First.Cat.self).freeze()
    }
    let realm = try Realm(configuration: configuration([CatForms.Removed.Cat.self]))
    #expect(realm.objects(CatForms.Removed.Cat.self).count == 3)
    #expect(frozen!.map(\.age) == [0, 2, 4])
    #expect(frozen![2].friend?.nick == nil)
    #expect(Array(frozen![2].scores) == [2, 3])
  }

  @Test func performsAMigrationWithoutOpening() throws {
    try makeCats()
    let configuration = configuration([CatForms.Added.Cat.self])
    try Realm.performMigration(for: configuration)
    #expect(try schemaVersionAtURL(configuration.fileURL!) == 1)
    #expect(try Realm.deleteFiles(for: configuration))
  }

  // MARK: - Size

  @Test func aLargeTableIsMigrated() throws {
    enum Before {
      class Item: Object {
        @Persisted var number: Int
      }
    }
    enum After {
      class Item: Object {
        @Persisted var number: String
      }
    }
    do {
      let realm = try Realm(configuration: configuration([Before.Item.self], version: 0))
      try realm.write {
        for number in 0..<20_000 { realm.create(Before.Item.self, value: [number]) }
      }
    }
    let configuration = configuration([After.Item.self]) { migration, _ in
      migration.enumerateObjects(ofType: "Item") { old, new in
        new!["number"] = String(old!["number"] as! Int)
      }
    }
    let realm = try Realm(configuration: configuration)
    let items = realm.objects(After.Item.self)
    #expect(items.count == 20_000)
    #expect(items.enumerated().allSatisfy { $1.number == String($0) })
    #expect(try realm.checkInvariants().findings == [])
  }
}

/// Keeps what should not be kept.
private final class KeptMigration: @unchecked Sendable {
  // @unchecked: the block and the rest of the test run on one thread.
  var migration: Migration?
}
