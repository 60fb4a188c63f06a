// Classes that become embedded: each of their objects needs one owner from then on. Those that are
// in mixed values have none, and those that the block copies from the old object for several places
// are copied for each: one copy was used in all of them, which was then refused.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Garden: Object {
  @Persisted var shed: Shed?
  @Persisted var other: Shed?
  @Persisted var sheds: List<Shed>
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Shed: Object {
  @Persisted var size = 0
  @Persisted var inner: Shed?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class NewGarden: Object {
  @Persisted var shed: NewShed?
  @Persisted var other: NewShed?
  @Persisted var sheds: List<NewShed>
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Garden" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class NewShed: EmbeddedObject {
  @Persisted var size = 0
  @Persisted var inner: NewShed?
  override class func _realmObjectName() -> String? { "Shed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct BecomingEmbeddedTests {
  /// Fills a file, and opens it with the shed embedded.
  private static func convert(
    _ block: @escaping MigrationBlock, _ fill: (Garden, Shed) -> Void,
    _ check: (Realm) throws -> Void = { _ in }
  ) throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("garden.realm", [Garden.self, Shed.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let shed = realm.create(Shed.self, value: ["size": 3, "inner": ["size": 1]])
        fill(realm.create(Garden.self), shed)
      }
    }
    configuration.objectTypes = [NewGarden.self, NewShed.self]
    configuration.schemaVersion = 1
    configuration.migrationBlock = block
    try check(try Realm(configuration: configuration))
  }

  @Test func oldObjectsAreCopiedForEachPlace() throws {
    try Self.convert { migration, _ in
      migration.enumerateObjects(ofType: "Garden") { old, new in
        new!["other"] = old!["other"]
        new!["sheds"] = Array(old!.dynamicList("sheds"))
      }
    } _: { garden, shed in
      garden.shed = shed
      garden.other = shed
      garden.sheds.append(objectsIn: [shed, shed])
    } _: { realm in
      let garden = realm.objects(NewGarden.self)[0]
      try realm.write {
        garden.shed!.inner!.size = 7
        garden.sheds.removeFirst()
      }
      #expect(garden.other?.inner?.size == 1 && garden.sheds.first?.inner?.size == 1)
      #expect(realm.dynamicObjects("Shed").count == 6)
      try realm.write { realm.delete(garden) }
      #expect(realm.dynamicObjects("Shed").isEmpty)
      #expect(try realm.checkInvariants().findings == [])
    }
  }

  @Test func objectsInMixedValuesAreRefused() throws {
    let fills: [(Garden, Shed) -> Void] = [
      { $0.any = .object($1) }, { $0.any = .fromArray([.object($1)]) },
    ]
    for fill in fills {
      let error = #expect(throws: Realm.Error.self) {
        try Self.convert({ _, _ in }, fill)
      }
      #expect(
        error?.localizedDescription
          == "Cannot convert 'Shed' to embedded: At least one object is in a mixed value, which can "
          + "hold no embedded object. Take it out in the migration block.")
    }
    try Self.convert { migration, _ in
      migration.deleteData(forType: "Shed")
      migration.enumerateObjects(ofType: "Garden") { _, new in
        new!["any"] = nil
        new!["shed"] = ["size": 4]
      }
    } _: { garden, shed in
      garden.any = .object(shed)
    } _: { realm in
      #expect(realm.objects(NewGarden.self)[0].shed?.size == 4)
    }
  }

  @Test func aCircleOfOldObjectsStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.convert { migration, _ in
        migration.enumerateObjects(ofType: "Garden") { old, new in new!["other"] = old!["shed"] }
      } _: { garden, shed in
        shed.inner = shed
        garden.shed = shed
      }
    }
    expectStop(result, "An embedded object of class 'Shed' is inside of itself")
  }
}
