// Migrations whose rules hold only at their end: keys that differ, and one owner for each embedded
// object.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

/// No Realm gets these by default: several have one name.
private class Form: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Separate {
  class House: Form {
    @Persisted var door: Part?
    @Persisted var windows: List<Part>
    override class func _realmObjectName() -> String? { "House" }
  }
  class Part: Form {
    @Persisted(primaryKey: true) var number = 0
    override class func _realmObjectName() -> String? { "Part" }
  }
  static let types: [ObjectBase.Type] = [House.self, Part.self]
}

private enum Inside {
  class House: Form {
    @Persisted var door: Part?
    @Persisted var windows: List<Part>
    override class func _realmObjectName() -> String? { "House" }
  }
  class Part: EmbeddedObject {
    @Persisted var number = 0
    override class func _realmObjectName() -> String? { "Part" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  static let types: [ObjectBase.Type] = [House.self, Part.self]
}

private enum Alone {
  class House: Form {
    @Persisted var door: Part?
    override class func _realmObjectName() -> String? { "House" }
  }
  class Part: Form {
    @Persisted(primaryKey: true) var number = 0
    override class func _realmObjectName() -> String? { "Part" }
  }
  static let types: [ObjectBase.Type] = [House.self, Part.self]
}

@Suite(.ownThreads) struct AsUsersChangedFormTests {
  private let folder = TemporaryFolder()

  private func configuration(
    _ types: [ObjectBase.Type], _ version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    var configuration = folder.configuration("forms.realm", types)
    configuration.schemaVersion = version
    configuration.migrationBlock = block
    return configuration
  }

  /// A house with a door, two windows, and parts that belong to nobody.
  private func makeHouse(spareParts: Int = 0, sharesDoor: Bool = false) throws {
    let realm = try Realm(configuration: configuration(Separate.types))
    try realm.write {
      let house = realm.create(
        Separate.House.self, value: ["door": [1], "windows": [[2], [3]]] as [String: Any])
      for number in 0..<spareParts { realm.create(Separate.Part.self, value: [10 + number]) }
      if sharesDoor { house.windows.append(house.door!) }
    }
  }

  @Test func objectsBecomePartsOfTheirOwners() throws {
    try makeHouse()
    let realm = try Realm(configuration: configuration(Inside.types, 1))
    let house = realm.objects(Inside.House.self).first!
    #expect(house.door?.number == 1)
    #expect(house.windows.map(\.number) == [2, 3])
    try realm.write { house.windows.removeAll() }
    #expect(realm.dynamicObjects("Part").map { $0.number as? Int } == [1])
    #expect(try realm.checkInvariants().findings == [])
  }

  /// Such objects stayed, belonging to nobody or to two owners.
  @Test func objectsWithoutOneOwnerDoNot() throws {
    try makeHouse(spareParts: 1)
    let lost = error { _ = try Realm(configuration: configuration(Inside.types, 1)) }
    #expect(lost?.code == .fail)
    #expect(
      lost?.localizedDescription.contains("At least one object does not have a backlink") == true)
    // The block can see to it.
    let realm = try Realm(
      configuration: configuration(Inside.types, 1) { migration, _ in
        migration.enumerateObjects(ofType: "Part") { old, new in
          if old!["number"] as! Int >= 10 { migration.delete(new!) }
        }
      })
    #expect(realm.dynamicObjects("Part").count == 3)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func objectsOfTwoOwnersDoNotEither() throws {
    try makeHouse(sharesDoor: true)
    let shared = error { _ = try Realm(configuration: configuration(Inside.types, 1)) }
    #expect(
      shared?.localizedDescription.contains("At least one object does have multiple backlinks")
        == true)
    #expect(try schemaVersionAtURL(configuration([]).fileURL!) == 0)
    let realm = try Realm(
      configuration: configuration(Inside.types, 1) { migration, _ in
        migration.enumerateObjects(ofType: "House") { _, new in new!["door"] = nil }
      })
    #expect(realm.objects(Inside.House.self).first?.windows.map(\.number) == [2, 3, 1])
  }

  /// They went with the list that they had been in, though they stand for themselves by then.
  @Test func partsOutliveALinkThatGoesWhenTheyBecomeObjects() throws {
    do {
      let realm = try Realm(configuration: configuration(Inside.types))
      try realm.write {
        realm.create(
          Inside.House.self, value: ["door": [1], "windows": [[2], [3]]] as [String: Any])
      }
    }
    let realm = try Realm(configuration: configuration(Alone.types, 1))
    #expect(realm.objects(Alone.Part.self).map(\.number) == [1, 2, 3])
    #expect(realm.objects(Alone.House.self).first?.door?.number == 1)
    #expect(realm.object(ofType: Alone.Part.self, forPrimaryKey: 3) != nil)
    #expect(try realm.checkInvariants().findings == [])
  }

  /// The process stopped at the first key that another object still had.
  @Test func keysMoveOn() throws {
    try makeHouse(spareParts: 3)
    let realm = try Realm(
      configuration: configuration(Separate.types, 1) { migration, _ in
        migration.enumerateObjects(ofType: "Part") { old, new in
          new!["number"] = old!["number"] as! Int + 1
        }
      })
    let parts = realm.objects(Separate.Part.self)
    #expect(Set(parts.map(\.number)) == [2, 3, 4, 11, 12, 13])
    for part in parts {
      #expect(realm.object(ofType: Separate.Part.self, forPrimaryKey: part.number) == part)
    }
    #expect(realm.object(ofType: Separate.Part.self, forPrimaryKey: 1) == nil)
    try realm.write { realm.create(Separate.Part.self, value: [1]) }
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func keysThatAreEqualInTheEndAreAnError() throws {
    try makeHouse(spareParts: 3)
    let failure = error {
      _ = try Realm(
        configuration: configuration(Separate.types, 1) { migration, _ in
          migration.enumerateObjects(ofType: "Part") { _, new in new!["number"] = 1 }
        })
    }
    #expect(
      failure?.localizedDescription
        == "Primary key property 'Part.number' has duplicate values after migration.")
    // Nothing of it is in the file.
    let realm = try Realm(configuration: configuration(Separate.types))
    #expect(realm.objects(Separate.Part.self).map(\.number) == [1, 2, 3, 10, 11, 12])
    #expect(try realm.checkInvariants().findings == [])
  }

  private func error(_ body: () throws -> Void) -> Realm.Error? {
    do {
      try body()
      return nil
    } catch { return error as? Realm.Error }
  }
}
