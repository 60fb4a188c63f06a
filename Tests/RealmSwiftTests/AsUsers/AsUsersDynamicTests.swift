// Objects by name, and values of every shape from which objects are made.
import Foundation
import RealmSwift
import TestSupport
import Testing

class HouseDog: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var age: Int?
  @Persisted var owner: HousePerson?
  @Persisted var tags: List<String>
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<HousePerson>
}
class HousePerson: Object {
  @Persisted(primaryKey: true) var id = ""
  @Persisted var name = ""
  @Persisted var dogs: List<HouseDog>
  @Persisted var byName: Map<String, HouseDog?>
  @Persisted var dogSet: MutableSet<HouseDog>
  @Persisted var best: HouseDog?
  @Persisted var home: HouseHome?
  @Persisted var homes: List<HouseHome>
  @Persisted var any: AnyRealmValue
  @Persisted var ints: List<Int>
  @Persisted var opts: List<Int?>
  @Persisted var date: Date?
  @Persisted var bin = Data([1])
  @Persisted var dec: Decimal128?
  @Persisted var uuid: UUID?
  @Persisted var f: Float = 1.5
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var i8: Int8 = 3
  @Persisted var i32: Int32?
}
class HouseHome: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var n: Int?
}
let houseClasses: [ObjectBase.Type] = [HouseDog.self, HousePerson.self, HouseHome.self]

@Suite(.ownThreads) struct AsUsersDynamicTests {
  @Test func objectsByName() throws {
    let realm = try memoryRealm(houseClasses)
    try realm.write {
      let p = realm.dynamicCreate(
        "HousePerson",
        value: [
          "id": "1", "name": "A", "dogs": [["_id": ObjectId.generate(), "name": "r"]],
          "home": ["street": "s"], "ints": [1, 2],
        ] as [String: Any])
      p["name"] = "B"
      #expect(p["name"] as? String == "B")
      p.name = "C"
      #expect(p.name as? String == "C")
      #expect((p["dogs"] as? List<DynamicObject>)?.count == 1)
      #expect(p.dynamicList("dogs")[0]["name"] as? String == "r")
      #expect((p["home"] as? HouseHome)?["street"] as? String == "s")
      #expect((p["ints"] as? List<Int>)?.count == 2)
      #expect((p.ints as? List<Int>)?.first == 1)
      p.dynamicList("dogs").append(
        realm.dynamicCreate("HouseDog", value: ["_id": ObjectId.generate(), "name": "q"]))
      p["best"] = p.dynamicList("dogs")[1]
      #expect((p.best as? HouseDog)?.name == "q")
      p["best"] = nil
      #expect(p["best"] == nil)
      p.date = Date(timeIntervalSince1970: 5)
      #expect(p["date"] as? Date == Date(timeIntervalSince1970: 5))
      (p["anyMap"] as? Map<String, AnyRealmValue>)?["a"] = .int(1)
    }
    let r = realm.dynamicObjects("HousePerson")
    #expect(r.count == 1)
    #expect(r.filter("name == 'C'").count == 1)
    #expect(r.sorted(byKeyPath: "name").first?["id"] as? String == "1")
    #expect(r.first!.objectSchema.className == "HousePerson")
    #expect(r.first!.objectSchema.properties.count == 19)
    #expect(
      realm.dynamicObject(ofType: "HousePerson", forPrimaryKey: "1")?["name"] as? String == "C")
    #expect(realm.dynamicObject(ofType: "HousePerson", forPrimaryKey: "2") == nil)
    try realm.write {
      realm.delete(r.first!.dynamicList("dogs"))
      realm.delete(r)
    }
    #expect(realm.objects(HousePerson.self).isEmpty)
    #expect(realm.objects(HouseDog.self).count == 0)
    try realm.write {
      _ = realm.dynamicCreate("HousePerson", value: ["id": "2"], update: .modified)
      realm.dynamicCreate("HousePerson", value: ["id": "2", "name": "Z"], update: .modified)
    }
    #expect(realm.objects(HousePerson.self).first?.name == "Z")
  }

  @Test func shapesOfValues() throws {
    let realm = try memoryRealm(houseClasses)
    try realm.write {
      let oid = ObjectId.generate()
      let p = realm.create(
        HousePerson.self,
        value: [
          "id": "1", "dogs": [["_id": oid, "name": "a"], ["_id": oid, "name": "b"]],
          "byName": ["x": ["_id": oid, "age": 5]], "dogSet": [["_id": oid]], "best": ["_id": oid],
          "any": ["_id": 1], "opts": [1, NSNull(), nil] as [Any?], "i8": 5, "i32": 7, "f": 2,
          "dec": 1.5, "uuid": UUID(), "date": NSDate(), "bin": NSData(),
          "anyMap": ["k": 1, "l": [1, 2], "m": ["z": NSNull()]],
        ] as [String: Any], update: .modified)
      #expect(realm.objects(HouseDog.self).count == 1)
      #expect(p.dogs.count == 2)
      #expect(p.dogs[0].name == "b")
      #expect(p.dogs[0].age == 5)
      #expect(p.byName["x"]??.name == "b")
      #expect(p.dogSet.count == 1)
      #expect(p.best == p.dogs[1])
      #expect(Array(p.opts) == [1, nil, nil])
      #expect(p.i8 == 5)
      #expect(p.i32 == 7)
      #expect(p.f == 2)
      #expect(p.dec == 1.5)
      #expect(p.anyMap["l"]?.listValue?.count == 2)
      #expect(p.anyMap["m"]?.dictionaryValue?["z"] == AnyRealmValue.none)
      #expect(p.any.dictionaryValue?["_id"] == .int(1))
      realm.create(
        HousePerson.self,
        value: [
          "id": "1", "dogs": [], "best": NSNull(), "byName": [:], "home": NSNull(), "i32": nil,
        ] as [String: Any?], update: .modified)
      #expect(p.dogs.count == 0)
      #expect(p.best == nil)
      #expect(p.byName.count == 0)
      #expect(p.i32 == nil)
      #expect(p.dogSet.count == 1)
      #expect(realm.objects(HouseDog.self).count == 1)
      realm.create(HousePerson.self, value: ["id": "1", "name": "N"] as NSDictionary, update: .all)
      #expect(p.name == "N")
      #expect(p.dogSet.count == 1)
      let un = HousePerson()
      un.id = "1"
      un.dogs.append(HouseDog(value: ["_id": oid, "name": "zz"]))
      realm.add(un, update: .modified)
      #expect(p.name == "")
      #expect(p.dogs[0].name == "zz")
      #expect(p.dogs[0].age == nil)
      #expect(p.dogSet.count == 0)
      #expect(un == p)
      let un2 = HousePerson()
      un2.id = "5"
      un2.best = p.dogs[0]
      realm.add(un2)
      #expect(un2.best == p.dogs[0])
      realm.create(HousePerson.self, value: ["9", "arr", [["_id": ObjectId.generate()]]] as [Any])
      #expect(realm.object(ofType: HousePerson.self, forPrimaryKey: "9")?.dogs.count == 1)
      realm.create(
        HouseDog.self, value: [ObjectId.generate(), "q", NSNull(), ["id": "77"]] as [Any])
      #expect(realm.object(ofType: HousePerson.self, forPrimaryKey: "77") != nil)
      let mirror = realm.create(HousePerson.self, value: p, update: .modified)
      #expect(mirror == p)

      let copy = HousePerson(
        value: [
          "id": "3", "dogs": p.dogs, "home": HouseHome(value: ["street": "h"]),
          "homes": [HouseHome()],
        ] as [String: Any])
      realm.add(copy)
      #expect(copy.dogs.count == 1)
      #expect(copy.dogs[0] == p.dogs[0])
      #expect(copy.home?.street == "h")
      let copy2 = realm.create(
        HousePerson.self,
        value: ["id": "4", "home": copy.home!, "homes": copy.homes] as [String: Any])
      #expect(copy2.home?.street == "h")
      #expect(!copy2.home!.isSameObject(as: copy.home))
      #expect(copy2.homes.count == 1)
    }
  }

  @Test func linkingObjectsBeforeAndAfterAdding() throws {
    let d = HouseDog()
    #expect(d.owners.count == 0)
    #expect(d.owners.first == nil)
    #expect(Array(d.owners) == [])
    #expect(d.owners.realm == nil)
    let realm = try memoryRealm(houseClasses)
    let p = HousePerson()
    p.id = "1"
    p.dogs.append(d)
    try realm.write { realm.add(p) }
    #expect(d.owners.count == 1)
    #expect(d.owners.filter("id == '1'").count == 1)
    #expect(d.owners.first?.id == "1")
    #expect(d.owners.index(of: p) == 0)
    #expect(d.owners[0] == p)
    #expect(d.owners.map(\.id) == ["1"])
    #expect(d.owners == d.owners)
    let f = d.freeze()
    #expect(f.owners.count == 1)
    #expect(f.owners.isFrozen)
    #expect(f.owners.first!.isFrozen)
    try realm.write { p.dogs.append(d) }
    #expect(d.owners.count == 2)
    try realm.write { p.dogs.removeAll() }
    #expect(d.owners.count == 0)
    #expect(f.owners.count == 1)
    var linking = d.owners
    linking = realm.objects(HouseDog.self)[0].owners
    #expect(linking.count == 0)
  }

}
