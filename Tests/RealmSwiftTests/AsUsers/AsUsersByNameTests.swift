// Objects and values by name: linking objects of dynamic objects, dictionaries of properties,
// operators of key paths; extremes of mixed values.
import Foundation
import RealmSwift
import TestSupport
import Testing

private struct NamedSpot: CustomPersistable {
  var x: Int
  init(x: Int) { self.x = x }
  init(persistedValue: NamedSpotObject) { x = persistedValue.x }
  var persistableValue: NamedSpotObject { NamedSpotObject(value: ["x": x]) }
}

private class NamedSpotObject: EmbeddedObject {
  @Persisted var x: Int
}

private class NamedSpots: Object {
  @Persisted var one: NamedSpot?
  @Persisted var many: List<NamedSpot>
  @Persisted var named: Map<String, NamedSpot>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct AsUsersByNameTests {
  private let realm: Realm
  private let dog: DynamicObject

  init() throws {
    let realm = try memoryRealm(houseClasses)
    try realm.write {
      let rex = realm.create(
        HouseDog.self, value: ["name": "Rex", "tags": ["a", "b"]] as [String: Any])
      for (id, name) in [("1", "Ann"), ("2", "Bob")] {
        realm.create(
          HousePerson.self, value: ["id": id, "name": name, "dogs": [rex]] as [String: Any])
      }
    }
    self.realm = realm
    dog = realm.dynamicObjects("HouseDog")[0]
  }

  @Test func linkingObjectsOfDynamicObjects() throws {
    let owners = try #require(dog["owners"] as? LinkingObjects<DynamicObject>)
    #expect(owners.map { $0["name"] as? String } == ["Ann", "Bob"])
    #expect(owners.filter("name == 'Bob'").first?["id"] as? String == "2")
    #expect(owners.sorted(byKeyPath: "name", ascending: false).first?.name as? String == "Bob")
    #expect(owners == dog.owners as? LinkingObjects<DynamicObject>)
    #expect(owners.index(of: realm.dynamicObject(ofType: "HousePerson", forPrimaryKey: "2")!) == 1)
    #expect(dog.value(forKeyPath: "owners.@count") as? Int == 2)
    #expect(dog.value(forKeyPath: "owners.name") as? [String] == ["Ann", "Bob"])
    #expect(dog.objectSchema["owners"]?.type == .linkingObjects)
    #expect(dog.description.contains("name = Rex") && !dog.description.contains("owners"))
    let dogs = realm.dynamicObjects("HouseDog")
    #expect(dogs.filter("ANY owners.name == 'Ann' AND owners.@count == 2").count == 1)
    let frozen = dog.freeze()["owners"] as? LinkingObjects<DynamicObject>
    #expect(realm.resolve(ThreadSafeReference(to: owners)) == owners)
    try realm.write { realm.delete(owners) }
    #expect(owners.isEmpty && frozen?.count == 2 && frozen?.thaw() == owners)
    try realm.write { realm.delete(dog) }
    #expect(owners.isInvalidated)
  }

  @Test func linkingObjectsInMigrations() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("forms.realm"))
    do {
      let realm = try Realm(
        configuration: .init(fileURL: url, objectTypes: [Pack.self, Wolf.self]))
      try realm.write {
        _ = realm.create(Pack.self, value: ["name": "A", "wolves": [["x"]]] as [String: Any])
      }
    }
    let classes: [ObjectBase.Type] = [RenamedPack.self, LinkedWolf.self]
    let configuration = Realm.Configuration(
      fileURL: url, schemaVersion: 1,
      migrationBlock: { migration, _ in
        migration.renameProperty(onType: "Pack", from: "name", to: "title")
        migration.enumerateObjects(ofType: "Wolf") { old, new in
          let packs = new!["packs"] as! LinkingObjects<MigrationObject>
          new!["packName"] = packs.first?["title"]
          #expect(old!.objectSchema["packs"] == nil)
        }
      }, objectTypes: classes)
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(LinkedWolf.self).map(\.packName) == ["A"])
    #expect(realm.objects(LinkedWolf.self).first?.packs.first?.title == "A")
  }

  /// Whatever creation takes, assignment by name takes, where the class is known by name only.
  @Test func ownTypesOverEmbeddedObjects() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("spots.realm"))
    let classes: [ObjectBase.Type] = [NamedSpots.self, NamedSpotObject.self]
    func check(_ spots: NamedSpots, _ step: String) {
      #expect(spots.one?.x == 1, "\(step)")
      #expect(spots.many.map(\.x) == [2, 3], "\(step)")
      #expect(spots.named["a"]?.x == 4, "\(step)")
    }
    @Sendable func assign(_ set: (String, Any) -> Void) {
      set("one", NamedSpot(x: 1))
      set("many", [NamedSpot(x: 2), NamedSpot(x: 3)])
      set("named", ["a": NamedSpot(x: 4)])
    }
    do {
      let realm = try Realm(configuration: .init(fileURL: url, objectTypes: classes))
      try realm.write {
        realm.create(NamedSpots.self)
        let dynamic = realm.dynamicObjects("NamedSpots")[0]
        assign { dynamic[$0] = $1 }
        dynamic.setValue(NamedSpot(x: 1), forKey: "one")
      }
      check(realm.objects(NamedSpots.self)[0], "dynamic")
      try realm.write { realm.delete(realm.objects(NamedSpots.self)) }
      try realm.write { realm.create(NamedSpots.self) }
    }
    let configuration = Realm.Configuration(
      fileURL: url, schemaVersion: 1,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "NamedSpots") { _, new in assign { new![$0] = $1 } }
      }, objectTypes: classes)
    check(try Realm(configuration: configuration).objects(NamedSpots.self)[0], "migrated")
  }

  @Test func linkingObjectsAreNotSet() async {
    let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try memoryRealm(houseClasses)
      try realm.write { realm.dynamicCreate("HouseDog")["owners"] = nil }
    }
    expectStop(read, "Linking objects properties cannot be set")
  }

  @Test func dictionariesOfProperties() throws {
    let rex = realm.objects(HouseDog.self)[0]
    let names = rex.objectSchema.properties.map(\.name)
    let values = rex.dictionaryWithValues(forKeys: names)
    #expect(Set(values.keys) == Set(names) && values["name"] as? String == "Rex")
    #expect(values["age"] is NSNull && values["_id"] as? ObjectId == rex._id)
    try realm.write { rex.setValuesForKeys(["name": "Max", "age": 3, "tags": ["c"]]) }
    #expect(rex.name == "Max" && rex.age == 3 && Array(rex.tags) == ["c"])
    let plain = HouseDog()
    plain.setValuesForKeys(["name": "Plain", "age": NSNull()])
    #expect(plain.dictionaryWithValues(forKeys: ["name"]) as? [String: String] == ["name": "Plain"])
  }

  @Test func collectionsOfAllElementsTogether() throws {
    try realm.write { _ = realm.create(HouseDog.self, value: ["tags": ["b", "c"]]) }
    let dogs = realm.objects(HouseDog.self)
    let all = dogs.value(forKeyPath: "@unionOfArrays.tags")
    #expect(all as? [String] == ["a", "b", "b", "c"])
    let distinct = dogs.value(forKeyPath: "@distinctUnionOfArrays.tags")
    #expect(distinct as? [String] == ["a", "b", "c"])
  }

  @Test func identifiersOfFoundation() throws {
    let uuid = UUID()
    let people = realm.objects(HousePerson.self)
    try realm.write { people[0].setValue(uuid as NSUUID, forKey: "uuid") }
    #expect(people.filter("uuid == %@", uuid as NSUUID).map(\.name) == ["Ann"])
    #expect(people.filter("uuid IN %@", [uuid as NSUUID]).count == 1)
  }

  /// Dates count as numbers do, and come behind them; all else does not count.
  @Test func extremesOfMixedValues() throws {
    let dates = [1.0, 2.0].map { Date(timeIntervalSinceReferenceDate: $0) }
    let values: [AnyRealmValue] = [
      .none, .date(dates[1]), .string("z"), .date(dates[0]), .bool(true),
    ]
    let plain = List<AnyRealmValue>()
    plain.append(objectsIn: values)
    let people = realm.objects(HousePerson.self)
    try realm.write {
      people[0].anyMap.merge(values.enumerated().map { ("\($0.offset)", $0.element) }) { $1 }
      people[0].any = .date(dates[0])
      people[1].any = .double(.nan)
    }
    #expect(plain.min() == .date(dates[0]) && plain.max() == .date(dates[1]))
    #expect(people[0].anyMap.min() == .date(dates[0]) && people[0].anyMap.max() == plain.max())
    #expect(people.max(of: \.any) == .date(dates[0]))
    // What is no number comes before all numbers, as in an order.
    #expect(people.min(of: \.any)?.doubleValue?.isNaN == true)
    try realm.write { people[1].any = .int(5) }
    #expect(people.min(of: \.any) == .int(5) && people.max(of: \.any) == .date(dates[0]))
    #expect(people.sum(of: \.any) == .decimal128(5))
    plain.append(.int(7))
    #expect(plain.min() == .int(7) && plain.max() == .date(dates[1]))
  }
}

private class Pack: Object {
  @Persisted var name: String
  @Persisted var wolves: List<Wolf>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Wolf: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RenamedPack: Object {
  @Persisted var title: String
  @Persisted var wolves: List<LinkedWolf>
  override class func _realmObjectName() -> String? { "Pack" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class LinkedWolf: Object {
  @Persisted var name: String
  @Persisted var packName: String?
  @Persisted(originProperty: "wolves") var packs: LinkingObjects<RenamedPack>
  override class func _realmObjectName() -> String? { "Wolf" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
