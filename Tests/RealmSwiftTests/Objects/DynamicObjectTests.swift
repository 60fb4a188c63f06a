// Objects by the name of their class, beside those of the class itself.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Owner: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age = 30
  @Persisted var pet: Puppet?
  @Persisted var pets: List<Puppet>
  @Persisted var numbers: List<Int>
  @Persisted var texts: List<String?>
  @Persisted var id: ObjectId?
  @Persisted var price: Decimal128
  @Persisted var tag: UUID?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Puppet: Object {
  @Persisted var kind: String
  override class func propertiesMapping() -> [String: String] { ["kind": "stored_kind"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DynamicObjectTests {
  private func realm() throws -> Realm { try memoryRealm([Owner.self, Puppet.self]) }

  /// As in a migration, which has the names of the file.
  @Test func propertiesHaveTheirStoredNamesToo() throws {
    let realm = try realm()
    try realm.write {
      let first = realm.dynamicCreate("Puppet", value: ["stored_kind": "cat"])
      #expect(first["kind"] as? String == "cat" && first["stored_kind"] as? String == "cat")
      first["stored_kind"] = "dog"
      let both = realm.dynamicCreate(
        "Puppet", value: ["kind": "fox", "stored_kind": "owl"] as NSDictionary)
      #expect(both["kind"] as? String == "fox")
      // A name of the class comes first.
      realm.create(Puppet.self, value: ["stored_kind": "cat", "kind": "hen"])
    }
    #expect(realm.objects(Puppet.self).map(\.kind) == ["dog", "fox", "hen"])
  }

  /// The first dynamic object of a Realm may come from another one's frozen form.
  @Test func aThawedOneSeesChangesOfTheClass() throws {
    let configuration = memoryConfiguration([Owner.self, Puppet.self])
    let realm = try Realm(configuration: configuration)
    try realm.write { _ = realm.create(Owner.self, value: ["name": "Ann", "age": 1]) }
    let frozen = Frozen(
      try #require(realm.dynamicObject(ofType: "Owner", forPrimaryKey: "Ann")).freeze())
    onThread {
      let thawed = frozen.value.thaw()!
      let other = try! Realm(configuration: configuration)
      let ann = other.object(ofType: Owner.self, forPrimaryKey: "Ann")!
      try! other.write {
        #expect(thawed["age"] as? Int == 1)
        for number in 0..<300 { other.create(Owner.self, value: ["name": "\(number)"]) }
        ann.age = 5
        #expect(thawed["age"] as? Int == 5)
        other.delete(ann)
        #expect(thawed.isInvalidated)
      }
    }
  }

  @Test func readsAndWritesByName() throws {
    let realm = try realm()
    let date = UUID()
    try realm.write {
      let owner = realm.dynamicCreate("Owner", value: ["name": "Ann"])
      #expect(owner["name"] as? String == "Ann")
      #expect(owner["age"] as? Int == 30)
      #expect(owner["pet"] == nil)
      #expect(owner.pet == nil)
      owner["age"] = 31
      owner.tag = date
      owner.setValue(Decimal128(12), forKey: "price")
      #expect(owner.age as? Int == 31)
    }
    let typed = realm.object(ofType: Owner.self, forPrimaryKey: "Ann")
    #expect(typed?.age == 31)
    #expect(typed?.tag == date)
    #expect(typed?.price == 12)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func bothFormsSeeEachOthersChanges() throws {
    let realm = try realm()
    try realm.write {
      let typed = realm.create(Owner.self, value: ["name": "Ann"])
      let dynamic = realm.dynamicObjects("Owner")[0]
      #expect(dynamic["age"] as? Int == 30)
      typed.age = 1
      #expect(dynamic["age"] as? Int == 1)
      dynamic["age"] = 2
      #expect(typed.age == 2)
      for index in 0..<300 { realm.create(Owner.self, value: ["name": "other \(index)"]) }
      #expect(dynamic["age"] as? Int == 2)
      typed.age = 3
      #expect(dynamic["age"] as? Int == 3)
      #expect(dynamic.isSameObject(as: typed))
      #expect(typed.isSameObject(as: dynamic))
      #expect(!typed.isSameObject(as: realm.dynamicObjects("Owner")[1]))
      realm.delete(typed)
      #expect(dynamic.isInvalidated)
    }
  }

  @Test func linksAndCollections() throws {
    let realm = try realm()
    try realm.write {
      let owner = realm.dynamicCreate(
        "Owner",
        value: [
          "name": "Ann", "pet": ["kind": "cat"], "numbers": [1, 2], "texts": ["a", nil] as [Any?],
        ])
      // Of its class in Swift.
      let pet = owner["pet"] as? Puppet
      #expect(pet?.kind == "cat")
      #expect((owner["numbers"] as? List<Int>).map { Array($0) } == [1, 2])
      #expect((owner.texts as? List<String?>).map { Array($0) } == ["a", nil])
      let pets = owner["pets"] as? List<DynamicObject>
      #expect(pets?.isEmpty == true)
      pets?.append(realm.dynamicObjects("Puppet")[0])
      pets?.append(realm.dynamicCreate("Puppet", value: ["kind": "dog"]))
      #expect(pets?.map { $0["kind"] as! String } == ["cat", "dog"])
      owner["pet"] = pets?[1]
      #expect((owner["pet"] as? Puppet)?.kind == "dog")
      owner["pet"] = ["kind": "bird"]
    }
    let typed = realm.objects(Owner.self)[0]
    #expect(typed.pets.map(\.kind) == ["cat", "dog"])
    #expect(typed.pet?.kind == "bird")
    try realm.write { realm.dynamicObjects("Owner")[0]["pet"] = typed.pets[0] }
    #expect(typed.pet?.kind == "cat")
    try realm.write { realm.dynamicObjects("Owner")[0]["pet"] = nil }
    #expect(typed.pet == nil)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func areFound() throws {
    let realm = try realm()
    try realm.write {
      for name in ["Ann", "Bob"] { realm.create(Owner.self, value: ["name": name]) }
    }
    let owners = realm.dynamicObjects("Owner")
    #expect(owners.count == 2)
    #expect(owners.map { $0["name"] as! String } == ["Ann", "Bob"])
    #expect(owners.value(forKey: "name") as? [String] == ["Ann", "Bob"])
    #expect(realm.dynamicObject(ofType: "Owner", forPrimaryKey: "Bob")?["age"] as? Int == 30)
    #expect(realm.dynamicObject(ofType: "Owner", forPrimaryKey: "Cid") == nil)
    #expect(owners.description.hasPrefix("Results<Owner> <0x"))
    #expect(owners[0].description.hasPrefix("Owner {\n\tname = Ann;\n\tage = 30;"))
    #expect(owners[0].objectSchema.className == "Owner")
    #expect(owners[0].objectSchema["pets"]?.objectClassName == "Puppet")
  }

  @Test func areFrozenAndThawed() throws {
    let realm = try realm()
    try realm.write { realm.create(Owner.self, value: ["name": "Ann"]) }
    let frozen = realm.dynamicObjects("Owner").freeze()
    try realm.write { realm.dynamicObjects("Owner")[0].age = 50 }
    #expect(frozen[0]["age"] as? Int == 30)
    #expect(frozen[0].thaw()?["age"] as? Int == 50)
    #expect(frozen.thaw()?.first?["age"] as? Int == 50)
    let carried = Carried(frozen)
    onThread { #expect(carried.value[0]["age"] as? Int == 30) }
    #expect(realm.freeze().dynamicObjects("Owner")[0]["age"] as? Int == 50)
  }

  @Test func updatesByKey() throws {
    let realm = try realm()
    try realm.write {
      realm.dynamicCreate("Owner", value: ["name": "Ann", "age": 1])
      realm.dynamicCreate("Owner", value: ["name": "Ann", "age": 2], update: .modified)
    }
    #expect(realm.objects(Owner.self).map(\.age) == [2])
  }

  @Test func copyIntoAClass() throws {
    let realm = try realm()
    let other = try self.realm()
    try realm.write {
      realm.dynamicCreate("Owner", value: ["name": "Ann", "pet": ["kind": "cat"]])
    }
    try other.write { other.create(Owner.self, value: realm.dynamicObjects("Owner")[0]) }
    #expect(other.objects(Owner.self)[0].pet?.kind == "cat")
  }

  // MARK: - Stops

  @Test func misuseStops() async {
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try memoryRealm([Dog.self]).dynamicObjects("Cat") }
    expectStop(unknown, "Object type 'Cat' is not managed by the Realm.")
    let property = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Dog.self])
      try realm.write { _ = realm.dynamicCreate("Dog")["nothing"] }
    }
    expectStop(property, "Invalid property name 'nothing' for class 'Dog'.")
    let outside = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Dog.self])
      try realm.write { realm.add(Dog()) }
      realm.dynamicObjects("Dog")[0]["age"] = 3
    }
    expectStop(outside, "Attempting to modify object outside of a write transaction")
    let type = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Dog.self])
      try realm.write { realm.dynamicCreate("Dog")["age"] = "three" }
    }
    expectStop(type, "Invalid value 'three' of type 'String' for 'int' property 'Dog.age'.")
    let alone = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = DynamicObject()["age"] }
    expectStop(alone, "Invalid property name 'age' for class 'DynamicObject'.")
  }

  @Test func objectsOfOtherClassesAreNotLinked() async {
    let link = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Owner.self, Puppet.self])
      try realm.write {
        let owner = realm.dynamicCreate("Owner", value: ["name": "Ann"])
        owner["pet"] = owner
      }
    }
    expectStop(link, "property 'Owner.pet'")
    let list = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Owner.self, Puppet.self])
      try realm.write {
        let owner = realm.dynamicCreate("Owner", value: ["name": "Ann"])
        (owner["pets"] as! List<DynamicObject>).append(owner)
      }
    }
    expectStop(list, "An object of class 'Owner' cannot be linked where 'Puppet' is expected.")
  }
}
