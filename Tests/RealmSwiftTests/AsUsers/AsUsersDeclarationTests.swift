// Classes as the documentation declares them: enumerations, own types, inheritance, other names.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersDeclarationTests {
  @Test func createdInEveryForm() throws {
    let realm = try memoryRealm(parkClasses)
    let dog = ParkDog()
    dog.name = "Rex"
    dog.age = 10
    try! realm.write { realm.add(dog) }
    let myDog = ParkDog(value: ["name": "Pluto", "age": 3] as [String: Any])
    #expect(myDog.name == "Pluto")
    #expect(myDog.age == 3)
    let d2 = ParkDog(value: ["Fido", 5] as [Any])
    #expect(d2.name == "Fido")
    #expect(d2.age == 5)
    let p = ParkPerson(
      value: ["id": 5, "name": "Ann", "dogs": [["name": "A"], ParkDog(value: ["name": "B"])]]
        as [String: Any])
    #expect(p.dogs.count == 2)
    try realm.write { realm.add(p) }
    #expect(p.dogs[0].owners.count == 1)
    #expect(p.dogs[0].owners[0].id == 5)
    let myPerson = ParkPerson(
      value: ["id": 1, "name": "Jane", "dogs": [["Buster", 5], ["Buddy", 6]]] as [String: Any])
    #expect(myPerson.dogs.map(\.name).joined() == "BusterBuddy")
    try realm.write { realm.add(myPerson, update: .modified) }
    try realm.write {
      let person = realm.create(
        ParkPerson.self, value: ["id": 1234, "name": "Andy"] as [String: Any], update: .all)
      person.email = "x"
    }
    try realm.write {
      realm.create(
        ParkPerson.self,
        value: ["id": 1234, "birthDate": Date(timeIntervalSince1970: 1)] as [String: Any],
        update: .modified)
    }
    let andy = realm.object(ofType: ParkPerson.self, forPrimaryKey: 1234)!
    #expect(andy.name == "Andy")
    #expect(andy.email == "x")
    #expect(andy.birthDate == Date(timeIntervalSince1970: 1))
    #expect(realm.objects(ParkPerson.self).where { $0.email != nil }.count == 1)
    #expect(realm.objects(ParkDog.self).sorted().map(\.age) == [0, 0, 5, 6, 10])
    #expect(realm.objects(ParkDog.self).max()?.name == "Rex")
    #expect([dog, p.dogs[0]].max()!.name == "Rex")
    func rename(_ n: inout any ParkNameable) { n.name = "Z" }
    var nameable: any ParkNameable = dog
    try realm.write { rename(&nameable) }
    #expect(dog.name == "Z")
    func update<T: Object & ParkNameable>(_ object: T, realm: Realm) throws {
      try realm.write {
        var o = object
        o.name = "Q"
      }
    }
    try update(dog, realm: realm)
    #expect(dog.name == "Q")
  }

  @Test func enums() throws {
    let realm = try memoryRealm(parkClasses)
    let e = ParkEnums()
    #expect(e.level == .low)
    #expect(e.small == .b)
    #expect(e.small2 == nil)
    #expect(e.dbl == .one)
    #expect(e.flt == .half)
    e.level = .high
    try realm.write { realm.add(e) }
    #expect(realm.object(ofType: ParkEnums.self, forPrimaryKey: ParkLevel.high)?.small == .b)
    #expect(realm.object(ofType: ParkEnums.self, forPrimaryKey: 10)?.small == .b)
    #expect(realm.objects(ParkEnums.self).where { $0.small == .b }.count == 1)
    #expect(
      realm.objects(ParkEnums.self).where { $0.small.in([.a, .b]) && $0.dbl >= .half }.count == 1)
    #expect(realm.objects(ParkEnums.self).filter("small == %@", ParkSmall.b).count == 1)
    #expect(realm.objects(ParkEnums.self).filter("small == %@", ParkSmall.b.rawValue).count == 1)
    #expect(realm.objects(ParkEnums.self).filter("level IN %@", [ParkLevel.high, .low]).count == 1)
    #expect(realm.objects(ParkEnums.self).sorted(by: \.small).count == 1)
    #expect(realm.objects(ParkEnums.self).distinct(by: [\.small]).count == 1)
    let t = ParkTask(
      value: [
        "name": "x", "status": "inProgress", "history": ["complete", ParkStatus.notStarted],
        "optHistory": [nil, "complete"] as [String?], "byDay": ["mon": "complete"],
      ] as [String: Any])
    #expect(t.status == .inProgress)
    #expect(Array(t.history) == [.complete, .notStarted])
    #expect(Array(t.optHistory) == [nil, .complete])
    #expect(t.byDay["mon"] == .complete)
    try realm.write {
      realm.add(t)
      t.statusSet.insert(.complete)
      t.byDayOpt["a"] = .some(nil)
      t.optionalTaskStatusEnum = .complete
    }
    #expect(realm.objects(ParkTask.self).where { $0.history.contains(.complete) }.count == 1)
    #expect(realm.objects(ParkTask.self).where { $0.statusSet.contains(.complete) }.count == 1)
    #expect(realm.objects(ParkTask.self).where { $0.byDay["mon"] == .complete }.count == 1)
    #expect(
      realm.objects(ParkTask.self).where { $0.optionalTaskStatusEnum == .complete }.count == 1)
    #expect(realm.objects(ParkTask.self).where { $0.optionalTaskStatusEnum != nil }.count == 1)
    #expect(realm.objects(ParkTask.self).where { $0.status.rawValue.contains("Prog") }.count == 1)
    #expect(realm.objects(ParkTask.self).filter("status = 'inProgress'").count == 1)
    #expect(realm.objects(ParkTask.self).filter("ANY history = 'complete'").count == 1)
    #expect(t.history.sorted().map(\.rawValue) == ["complete", "notStarted"])
    #expect(t.history.index(of: .notStarted) == 1)
    #expect(ParkStatus.allCases.count == 3)
    #expect(t["status"] as? ParkStatus == .inProgress)
    #expect(t.value(forKey: "status") as? ParkStatus == .inProgress)
    try realm.write { t.setValue("complete", forKey: "status") }
    #expect(t.status == .complete)
    try realm.write { t.setValue(ParkStatus.notStarted, forKey: "status") }
    #expect(t.status == .notStarted)
  }

  @Test func inheritance() throws {
    let realm = try memoryRealm(parkClasses)
    let v = ParkVIPCustomer()
    v.name = "x"
    v.tags.append(objectsIn: ["a", "b"])
    try realm.write {
      realm.add(v)
      v.touch()
    }
    #expect(v.level == 2)
    #expect(v.fullTag == "a,b")
    #expect(realm.objects(ParkCustomer.self).count == 0)
    #expect(realm.objects(ParkBaseEntity.self).count == 0)
    #expect(realm.objects(ParkVIPCustomer.self).first?.id == v.id)
    let c = ParkCustomer(value: v)
    #expect(c.name == "x")
    #expect(c.id == v.id)
    #expect(Array(c.tags) == ["a", "b"])
    try realm.write { realm.add(c, update: .modified) }
    #expect(realm.objects(ParkCustomer.self).count == 1)
    #expect(
      realm.schema["ParkVIPCustomer"]!.properties.map(\.name) == [
        "id", "createdAt", "updatedAt", "name", "tags", "level",
      ])
    #expect(!realm.schema.objectSchema.isEmpty)
    try realm.write { realm.create(ParkVIPCustomer.self, value: c, update: .modified) }
    #expect(v.level == 2)
  }

  @Test func custom() throws {
    let realm = try memoryRealm(parkClasses)
    let c = ParkCustom()
    #expect(c.duration == ParkDuration(seconds: 1))
    #expect(c.url == nil)
    c.url = URL(string: "https://x.org")
    c.coordinate = ParkCoordinate(latitude: 1, longitude: 2)
    c.coordinates.append(ParkCoordinate(latitude: 3, longitude: 4))
    c.durations["a"] = ParkDuration(seconds: 7)
    c.urls.append(nil)
    c.urls.append(URL(string: "http://a"))
    try realm.write { realm.add(c) }
    let r = realm.objects(ParkCustom.self)[0]
    #expect(r.url?.host == "x.org")
    #expect(r.coordinate.longitude == 2)
    #expect(r.coordinates[0].latitude == 3)
    #expect(r.durations["a"]?.seconds == 7)
    #expect(Array(r.urls) == [nil, URL(string: "http://a")])
    #expect(
      realm.objects(ParkCustom.self).where { $0.url == URL(string: "https://x.org") }.count == 1)
    #expect(
      realm.objects(ParkCustom.self).where { $0.duration > ParkDuration(seconds: 0.5) }.count == 1)
    #expect(
      realm.objects(ParkCustom.self).where {
        $0.coordinate == ParkCoordinate(latitude: 1, longitude: 2)
      }.count == 1)
    #expect(
      realm.objects(ParkCustom.self).where { $0.coordinate.persistableValue.latitude == 1 }.count
        == 1)

    #expect(realm.objects(ParkCustom.self).where { $0.optDuration == nil }.count == 1)
    #expect(realm.objects(ParkCustom.self).filter("coordinate.latitude == 1").count == 1)
    try realm.write {
      r.optCoordinate = r.coordinate
      r.coordinate.latitude = 9
    }
    #expect(r.coordinate.latitude == 9)
    #expect(r.optCoordinate?.latitude == 1)
    try realm.write {
      r.optCoordinate = nil
      r.coordinates[0].latitude = 11
      r.durations["a"]?.seconds += 1
    }
    #expect(r.optCoordinate == nil)
    #expect(r.coordinates[0].latitude == 11)
    #expect(r.durations["a"]!.seconds == 8)
  }

  @Test func renamed() throws {
    let realm = try memoryRealm(parkClasses)
    try realm.write {
      realm.create(ParkPersonName.self, value: ["firstName": "A", "lastName": "B"])
    }
    let p = realm.objects(ParkPersonName.self).filter("firstName == 'A'").first!
    #expect(
      realm.objects(ParkPersonName.self).where { $0.lastName == "B" && $0.count == 3 }.count == 1)
    #expect(realm.objects(ParkPersonName.self).sorted(byKeyPath: "lastName").count == 1)
    #expect(p["firstName"] as? String == "A")
    let s = realm.schema.objectSchema.first { $0.className == "people" }!
    #expect(s["firstName"]?.columnName == "first_name")
    #expect(s["firstName"]?.name == "firstName")
    #expect(s["lastName"]!.isIndexed)
    #expect(realm.dynamicObjects("people").count == 1)
  }

}
