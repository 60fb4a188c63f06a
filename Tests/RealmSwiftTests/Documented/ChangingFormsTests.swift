// Migrations as the documentation shows them: combined fields, split fields, new links, other keys.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private enum Old {
  class Client: Object {
    override class func _realmObjectName() -> String? { "Client" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: String
    @Persisted var last: String
    @Persisted var city: String?
    @Persisted var age: Int
    @Persisted var scores: List<Int>
    @Persisted var boss: Client?
  }

  class Junk: Object {
    override class func _realmObjectName() -> String? { "Junk" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var text: String
  }
}

private enum New {
  class Town: Object {
    override class func _realmObjectName() -> String? { "Town" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var name: String
    @Persisted(originProperty: "town") var clients: LinkingObjects<Client>
  }

  class Client: Object {
    override class func _realmObjectName() -> String? { "Client" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: String
    @Persisted var fullName: String
    @Persisted var years: Int
    @Persisted var town: Town?
    @Persisted var scores: List<Double>
    @Persisted var chief: Client?
    @Persisted var isNew = true
  }
}

@Suite(.ownThreads) struct ChangingFormsTests {
  /// Objects of a class that is new go on being enumerated when the block removes another one.
  @Test func removingAClassWhileNewObjectsAreEnumerated() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("forms.realm", [Old.Junk.self])
    do { _ = try Realm(configuration: configuration) }
    configuration.objectTypes = [New.Town.self, New.Client.self]
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      for name in ["a", "b", "c"] { migration.create("Town", value: ["name": name]) }
      var names: [String] = []
      migration.enumerateObjects(ofType: "Town") { old, new in
        #expect(old == nil)
        names.append(new!["name"] as! String)
        if names.count == 1 { #expect(migration.deleteData(forType: "Junk")) }
      }
      #expect(names == ["a", "b", "c"])
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(New.Town.self).count == 3)
  }

  @Test func everythingAtOnce() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("forms.realm", [Old.Client.self, Old.Junk.self])
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        var boss: Old.Client?
        for id in 0..<600 {
          let client = realm.create(
            Old.Client.self,
            value: [
              "id": id, "first": "F\(id)", "last": "L", "age": id % 90, "scores": [id, id + 1],
            ] as [String: Any])
          client.city = id % 3 == 0 ? nil : "C\(id % 3)"
          client.boss = boss
          if id % 10 == 0 { boss = client }
        }
        realm.create(Old.Junk.self, value: ["text": "x"])
      }
    }
    configuration.objectTypes = [New.Client.self, New.Town.self]
    configuration.schemaVersion = 3
    configuration.migrationBlock = { migration, version in
      guard version < 3 else { return }
      migration.renameProperty(onType: "Client", from: "age", to: "years")
      migration.renameProperty(onType: "Client", from: "boss", to: "chief")
      var towns: [String: MigrationObject] = [:]
      migration.enumerateObjects(ofType: "Client") { old, new in
        guard let old, let new else { return }
        if old["id"] as! Int % 100 == 99 {
          migration.delete(new)
          return
        }
        new["id"] = "id-\(old["id"] as! Int)"
        new["fullName"] = "\(old["first"]!) \(old["last"]!)"
        if let city = old["city"] as? String {
          let town = towns[city] ?? migration.create("Town", value: ["name": city])
          towns[city] = town
          new["town"] = town
        }
        new["scores"] = Array((old["scores"] as! List<Int>).map { Double($0) / 2 })
        // Changes tables, while the objects of one are being gone through.
        if old["id"] as! Int == 0 { #expect(migration.deleteData(forType: "Junk")) }
      }
      #expect(!migration.deleteData(forType: "Junk") && !migration.deleteData(forType: "Nothing"))
    }
    let realm = try Realm(configuration: configuration)
    let clients = realm.objects(New.Client.self)
    #expect(clients.count == 594 && realm.objects(New.Town.self).count == 2)
    let client = try #require(realm.object(ofType: New.Client.self, forPrimaryKey: "id-25"))
    #expect(client.fullName == "F25 L" && client.years == 25 && client.town?.name == "C1")
    #expect(Array(client.scores) == [12.5, 13] && client.isNew && client.chief?.id == "id-20")
    #expect(realm.objects(New.Town.self).reduce(0) { $0 + $1.clients.count } == 396)
    #expect(try realm.checkInvariants().findings == [])
    #expect(try schemaVersionAtURL(configuration.fileURL!) == 3)
  }

  @Test func versionsStepByStep() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("steps.realm", [Old.Junk.self])
    let first = configuration
    try autoreleasepool {
      let realm = try Realm(configuration: first)
      try realm.write { _ = realm.create(Old.Junk.self, value: ["text": "a"]) }
    }
    for version in 1...3 as ClosedRange<UInt64> {
      configuration.schemaVersion = version
      configuration.migrationBlock = { migration, old in
        #expect(old == version - 1)
        migration.enumerateObjects(ofType: "Junk") { old, new in
          new!["text"] = (old!["text"] as! String) + "\(version)"
        }
      }
      let current = configuration
      try autoreleasepool {
        let realm = try Realm(configuration: current)
        #expect(realm.objects(Old.Junk.self).count == 1)
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Old.Junk.self)[0].text == "a123")
  }

}
