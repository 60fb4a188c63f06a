// Lists, sets and maps of every type through dynamic objects, and by name from objects of a class.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Hall: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var guests: List<Guest>
  @Persisted var staff: MutableSet<Guest>
  @Persisted var seats: Map<String, Guest?>
  @Persisted var lamps: List<Lamp>
  @Persisted var numbers: MutableSet<Int>
  @Persisted var texts: MutableSet<String?>
  @Persisted var prices: Map<String, Double>
  @Persisted var notes: Map<String, String?>
  @Persisted var mixed: AnyRealmValue
  @Persisted var mixedList: List<AnyRealmValue>
  @Persisted var mixedSet: MutableSet<AnyRealmValue>
  @Persisted var mixedMap: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Guest: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Lamp: EmbeddedObject {
  @Persisted var watts: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DynamicCollectionTests {
  private func realm() throws -> Realm { try memoryRealm([Hall.self, Guest.self, Lamp.self]) }

  @Test func setsAndMapsOfValues() throws {
    let realm = try realm()
    try realm.write {
      let hall = realm.dynamicCreate(
        "Hall", value: ["id": 1, "numbers": [3, 1], "prices": ["a": 1.5]] as [String: Any])
      let numbers = try #require(hall["numbers"] as? MutableSet<Int>)
      numbers.insert(2)
      #expect(Set(numbers) == [1, 2, 3])
      let prices = try #require(hall.prices as? Map<String, Double>)
      prices["b"] = 2
      #expect(prices.keys == ["a", "b"])
      hall["texts"] = ["x", nil] as [String?]
      hall["notes"] = ["n": NSNull(), "m": "text"] as [String: Any]
    }
    let hall = realm.objects(Hall.self)[0]
    #expect(hall.numbers.contains(2) && hall.prices["b"] == 2)
    #expect(hall.texts.contains(nil) && hall.texts.count == 2)
    #expect(hall.notes["m"] == "text" && hall.notes["n"] == .some(nil))
  }

  @Test func mixedValues() throws {
    let realm = try realm()
    try realm.write {
      let hall = realm.dynamicCreate("Hall", value: ["id": 1])
      hall["mixed"] = ["a": [1, "b"]] as [String: Any]
      hall["mixedList"] = [1, "two"] as [Any]
      (hall.mixedSet as? MutableSet<AnyRealmValue>)?.insert(.int(5))
      (hall.mixedMap as? Map<String, AnyRealmValue>)?["k"] = .bool(true)
      let map = try #require(hall["mixed"] as? Map<String, AnyRealmValue>)
      map["a"]?.listValue?.append(.none)
    }
    let hall = realm.objects(Hall.self)[0]
    #expect(hall.mixed == .fromDictionary(["a": .fromArray([.int(1), .string("b"), .none])]))
    #expect(Array(hall.mixedList) == [.int(1), .string("two")])
    #expect(hall.mixedSet.contains(.int(5)) && hall.mixedMap["k"] == .bool(true))
  }

  @Test func objectsInCollections() throws {
    let realm = try realm()
    try realm.write {
      let hall = realm.dynamicCreate("Hall", value: ["id": 1])
      let ann = realm.dynamicCreate("Guest", value: ["name": "Ann"])
      let bob = realm.create(Guest.self, value: ["name": "Bob"])
      (hall["staff"] as? MutableSet<DynamicObject>)?.insert(ann)
      (hall["seats"] as? Map<String, DynamicObject?>)?["A1"] = ann
      hall["guests"] = [bob, ["name": "Cid"], ann] as [Any]
      hall["lamps"] = [["watts": 40], ["watts": 60]]
      hall["seats"] = ["A2": bob, "A3": ["name": "Dan"], "A4": NSNull()] as [String: Any]
    }
    let hall = realm.objects(Hall.self)[0]
    #expect(hall.guests.map(\.name) == ["Bob", "Cid", "Ann"])
    #expect(hall.staff.map(\.name) == ["Ann"])
    #expect(hall.seats.keys == ["A2", "A3", "A4"] && hall.seats["A4"] == .some(nil))
    #expect(hall.seats["A3"]??.name == "Dan" && hall.lamps.map(\.watts) == [40, 60])
    #expect(realm.objects(Guest.self).count == 4)
    try realm.write { realm.dynamicObjects("Hall")[0]["lamps"] = [["watts": 1]] }
    #expect(hall.lamps.map(\.watts) == [1])
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func byNameFromObjectsOfAClass() throws {
    let realm = try realm()
    let hall = try realm.write {
      realm.create(
        Hall.self,
        value: ["id": 1, "guests": [["name": "Ann"]], "seats": ["A": ["name": "Bob"]]]
          as [String: Any])
    }
    let guests = hall.dynamicList("guests")
    #expect(guests.map { $0["name"] as! String } == ["Ann"] && guests.realm == realm)
    let seats: Map<String, DynamicObject?> = hall.dynamicMap("seats")
    #expect(seats["A"]??["name"] as? String == "Bob")
    try realm.write {
      guests.append(realm.dynamicCreate("Guest", value: ["name": "Eve"]))
      hall.dynamicMutableSet("staff").insert(guests[0])
      guests[0]["name"] = "Anna"
    }
    #expect(hall.guests.map(\.name) == ["Anna", "Eve"] && hall.staff.first?.name == "Anna")
    #expect(realm.dynamicObjects("Hall")[0].dynamicList("guests").count == 2)
    #expect(hall.freeze().dynamicList("guests").isFrozen)
  }

  @Test func keyValueCoding() throws {
    let realm = try realm()
    let hall = try realm.write {
      realm.create(
        Hall.self,
        value: [
          "id": 1, "guests": [["name": "Ann"], ["name": "Bob"]], "prices": ["a": 1, "b": 3],
        ]
          as [String: Any])
    }
    let dynamic = realm.dynamicObjects("Hall")[0]
    #expect(dynamic.value(forKeyPath: "guests.name") as? [String] == ["Ann", "Bob"])
    #expect(dynamic.value(forKeyPath: "prices.@sum.self") as? Double == 4)
    #expect(hall.value(forKeyPath: "prices.b") as? Double == 3)
    try realm.write {
      hall.guests.setValue("Zoë", forKey: "name")
      hall.prices.setValue(7, forKey: "a")
      dynamic.setValue([9], forKey: "numbers")
    }
    #expect(hall.guests.map(\.name) == ["Zoë", "Zoë"] && hall.prices["a"] == 7)
    #expect(hall.numbers.contains(9))
  }

  @Test func stops() async {
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try DynamicCollectionTests().realm()
      let hall = try realm.write { realm.create(Hall.self, value: ["id": 1]) }
      _ = hall.dynamicList("rooms")
    }
    expectStop(unknown, "Invalid property name 'rooms' for class 'Hall'.")
    let other = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try DynamicCollectionTests().realm()
      let hall = try realm.write { realm.create(Hall.self, value: ["id": 1]) }
      _ = hall.dynamicList("staff")
    }
    expectStop(other, "Property 'Hall.staff' is no List of objects.")
    let value = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try DynamicCollectionTests().realm()
      try realm.write { realm.dynamicCreate("Hall", value: ["id": 1])["guests"] = [3] }
    }
    expectStop(value, "'Hall.guests'")
    let embedded = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try DynamicCollectionTests().realm()
      try realm.write { _ = realm.dynamicCreate("Lamp") }
    }
    expectStop(embedded, "Embedded objects cannot be created directly")
  }
}
