// Embedded objects as values that objects are created from: each place that is given one gets a
// copy of its own. A copy was once remembered and used again, so that two owners held one object;
// when the first was deleted, the other one led to nothing.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Hatch: EmbeddedObject {
  @Persisted var width = 0
  @Persisted var flap: Hatch?
  @Persisted var into: House?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class House: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var front: Hatch?
  @Persisted var back: Hatch?
  @Persisted var doors: List<Hatch>
  @Persisted var named: Map<String, Hatch?>
  @Persisted var neighbours: List<House>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct EmbeddedCopyTests {
  /// How many doors the houses hold.
  private func doors(of realm: Realm) -> Int {
    func count(_ door: Hatch?) -> Int { door.map { 1 + count($0.flap) } ?? 0 }
    return realm.objects(House.self).reduce(0) { sum, house in
      sum + count(house.front) + count(house.back) + house.doors.reduce(0) { $0 + count($1) }
        + house.named.values.reduce(0) { $0 + count($1) }
    }
  }

  /// A house to whose every place the same door is given.
  private func values(_ id: Int, _ door: Any) -> [String: Any] {
    [
      "id": id, "front": door, "back": door, "doors": [door, door],
      "named": ["a": door, "b": door],
    ]
  }

  /// Makes a house of a door, looks whether it has six of its own, and deletes it.
  private func check(_ realm: Realm, _ update: Realm.UpdatePolicy, _ door: Any) throws {
    let others = doors(of: realm)
    try realm.write {
      let house = realm.create(House.self, value: values(9, door), update: update)
      #expect(house.doors[1].flap?.width == 6 && house.named["b"]??.flap?.width == 6)
    }
    #expect(realm.dynamicObjects("Hatch").count == others + 12)
    #expect(doors(of: realm) == others + 12)
    try realm.write {
      let house = realm.object(ofType: House.self, forPrimaryKey: 9)!
      house.front = nil
      house.doors.removeFirst()
      #expect(house.back?.flap?.width == 6 && house.doors[0].flap?.width == 6)
      realm.delete(house)
    }
    #expect(realm.dynamicObjects("Hatch").count == others)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test(arguments: [Realm.UpdatePolicy.error, .modified, .all])
  func eachPlaceGetsItsOwn(_ update: Realm.UpdatePolicy) throws {
    let classes = [House.self, Hatch.self] as [ObjectBase.Type]
    let realm = try memoryRealm(classes)
    let other = try memoryRealm(classes)
    let given: [String: Any] = ["id": 1, "front": ["width": 5, "flap": ["width": 6]]]
    for realm in [realm, other] { try realm.write { _ = realm.create(House.self, value: given) } }
    try check(realm, update, realm.objects(House.self)[0].front!)
    try check(realm, update, realm.dynamicObjects("Hatch")[0])
    try check(realm, update, other.objects(House.self)[0].front!)
    try check(realm, update, other.freeze().objects(House.self)[0].front!)
    try check(realm, update, Hatch(value: ["width": 5, "flap": ["width": 6]] as [String: Any]))
  }

  @Test func aWayBackByAnObjectOfItsOwnIsNoCircle() throws {
    let realm = try memoryRealm([House.self, Hatch.self])
    let house = House()
    house.front = Hatch(value: ["into": house])
    house.neighbours.append(house)
    try realm.write {
      let made = realm.create(House.self, value: house)
      #expect(made.front?.into == made && made.neighbours[0] == made)
    }
    #expect(realm.dynamicObjects("Hatch").count == 1 && realm.objects(House.self).count == 1)
  }

  @Test func aDoorInsideOfItselfStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([House.self, Hatch.self])
      let door = Hatch()
      door.flap = Hatch(value: ["flap": door])
      try realm.write { _ = realm.create(House.self, value: ["front": door]) }
    }
    expectStop(
      result,
      "An embedded object of class 'Hatch' is inside of itself, and it can have one owner. Link to an "
        + "object that is not embedded instead.")
  }
}
