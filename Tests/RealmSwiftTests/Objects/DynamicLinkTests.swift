// What dynamic objects must not do with links. They have no class of their own in Swift, so that
// rules which ask for the class passed them by: an embedded object got a second owner, which the
// file showed as damage when the first one let it go, and an object of another class was taken for
// the element whose key it had.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Ship: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var mast: Mast?
  @Persisted var spare: Mast?
  @Persisted var masts: List<Mast>
  @Persisted var named: Map<String, Mast?>
  @Persisted var fleet: MutableSet<Ship>
  @Persisted var line: List<Ship>
  @Persisted var berths: Map<String, Ship?>
  @Persisted var cargo: AnyRealmValue
  @Persisted var freight: List<AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Mast: EmbeddedObject {
  @Persisted var height: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Harbour: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Buoy: Object {
  @Persisted var next: Buoy?
  @Persisted var near: List<Buoy>
  @Persisted var sign: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DynamicLinkTests {
  /// A Realm with a ship of one mast and a harbour, whose keys are equal; runs `body` in a
  /// transaction.
  private static func sail(_ body: (Realm, DynamicObject) throws -> Void) throws {
    let realm = try memoryRealm([Ship.self, Mast.self, Harbour.self])
    try realm.write {
      realm.create(Ship.self, value: ["id": 1, "mast": ["height": 9]] as [String: Any])
      realm.create(Harbour.self, value: ["name": "Kiel"])
      try body(realm, realm.dynamicObjects("Ship")[0])
    }
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func embeddedObjectsKeepTheirOwner() async {
    let list = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, ship in
        ship.dynamicList("masts").append(realm.dynamicObjects("Mast")[0])
      }
    }
    expectStop(list, "Cannot add an existing managed embedded object to a List.")
    let map = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, ship in
        let named: Map<String, DynamicObject?> = ship.dynamicMap("named")
        named["main"] = realm.dynamicObjects("Mast")[0]
      }
    }
    expectStop(map, "Cannot add an existing managed embedded object to a Dictionary.")
    let property = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, ship in ship["spare"] = realm.dynamicObjects("Mast")[0] }
    }
    expectStop(property, "Can't set link to existing managed embedded object")
    let elements = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, ship in ship["masts"] = [realm.dynamicObjects("Mast")[0]] }
    }
    expectStop(elements, "Can't set link to existing managed embedded object")
  }

  @Test func whatIsThereAlreadyCanBeSet() throws {
    try Self.sail { realm, ship in
      ship["masts"] = [["height": 1], ["height": 2]]
      ship["named"] = ["main": ["height": 3], "none": NSNull()] as [String: Any]
      ship["mast"] = ship["mast"]
      ship["mast"] = realm.dynamicObjects("Mast")[0]
      ship["masts"] = ship["masts"]
      ship["masts"] = Array(ship.dynamicList("masts"))
      ship["named"] = ship["named"]
      let typed = realm.objects(Ship.self)[0]
      #expect(typed.mast?.height == 9 && typed.masts.map(\.height) == [1, 2])
      #expect(typed.named["main"]??.height == 3 && typed.named["none"] == .some(nil))
      #expect(realm.dynamicObjects("Mast").count == 4)
      // A list of a class that is not embedded is set to what it holds, too.
      ship["line"] = [ship, ship]
      ship["line"] = ship["line"]
      #expect(typed.line.count == 2)
    }
  }

  @Test func embeddedObjectsAreNotMixedValues() async {
    let message =
      "An embedded object of class 'Mast' cannot be in a mixed value: it lives inside of its one "
      + "owner. Store a dictionary of its values instead."
    let value = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, _ in
        realm.objects(Ship.self)[0].cargo = .object(realm.dynamicObjects("Mast")[0])
      }
    }
    expectStop(value, message)
    let inside = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, _ in
        realm.objects(Ship.self)[0].freight.append(
          .fromArray([.object(realm.dynamicObjects("Mast")[0])]))
      }
    }
    expectStop(inside, message)
    let created = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, _ in
        realm.create(
          Ship.self, value: ["id": 2, "cargo": realm.dynamicObjects("Mast")[0]] as [String: Any])
      }
    }
    expectStop(created, message)
  }

  @Test func otherClassesAreNotPutIntoMaps() async {
    let map = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.sail { realm, ship in
        let berths: Map<String, DynamicObject?> = ship.dynamicMap("berths")
        berths["A"] = realm.dynamicObjects("Harbour")[0]
      }
    }
    expectStop(map, "An object of class 'Harbour' cannot be linked where 'Ship' is expected.")
  }

  @Test func otherClassesAreNotFound() throws {
    try Self.sail { realm, ship in
      let harbour = realm.dynamicObjects("Harbour")[0]
      let fleet = ship.dynamicMutableSet("fleet")
      let line = ship.dynamicList("line")
      fleet.insert(ship)
      line.append(ship)
      #expect(!fleet.contains(harbour) && line.index(of: harbour) == nil)
      fleet.remove(harbour)
      #expect(fleet.count == 1 && fleet.contains(ship) && line.index(of: ship) == 0)
      fleet.remove(ship)
      #expect(fleet.isEmpty)
    }
  }

  @Test func dynamicObjectsOfOtherRealms() async throws {
    let other = try memoryRealm([Ship.self, Mast.self, Harbour.self])
    try other.write {
      other.create(Ship.self, value: ["id": 7, "mast": ["height": 5]] as [String: Any])
    }
    try Self.sail { realm, _ in
      let copied = realm.create(
        Ship.self, value: ["id": 2, "cargo": other.dynamicObjects("Ship")[0]] as [String: Any])
      #expect(copied.cargo.object(Ship.self)?.mast?.height == 5)
      #expect(copied.cargo.object(Ship.self)?.realm == realm)
    }
    let assigned = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let other = try memoryRealm([Harbour.self])
      try other.write { _ = other.create(Harbour.self) }
      try Self.sail { realm, _ in
        realm.objects(Ship.self)[0].cargo = .object(other.dynamicObjects("Harbour")[0])
      }
    }
    expectStop(assigned, "Object is already managed by another Realm. Use create instead")
    let appended = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let other = try memoryRealm([Ship.self, Mast.self])
      try other.write { _ = other.create(Ship.self) }
      try Self.sail { _, ship in ship.dynamicList("line").append(other.dynamicObjects("Ship")[0]) }
    }
    expectStop(appended, "Object is already managed by another Realm. Use create instead")
  }

  /// A link of a dynamic object is an object of its class, an element of a list is a dynamic one:
  /// both are one object, which is copied once.
  @Test func circlesAreCopiedOnce() throws {
    let other = try memoryRealm([Buoy.self, Ship.self, Mast.self])
    try other.write {
      let first = other.create(Buoy.self)
      let second = other.create(Buoy.self, value: ["next": first])
      first.next = second
      first.near.append(objectsIn: [first, second, first])
      first.sign = .object(second)
      let ship = other.create(Ship.self, value: ["id": 7])
      ship.line.append(objectsIn: [ship, ship])
      ship.cargo = .object(ship)
    }
    let realm = try memoryRealm([Buoy.self, Ship.self, Mast.self])
    try realm.write {
      let first = realm.create(Buoy.self, value: other.dynamicObjects("Buoy")[0])
      #expect(realm.objects(Buoy.self).count == 2)
      #expect(first.next?.next?.isSameObject(as: first) == true)
      #expect(first.near.map { $0.isSameObject(as: first) } == [true, false, true])
      #expect(first.sign.object(Buoy.self)?.isSameObject(as: first.next) == true)
      // With a primary key the second copy would stop.
      let ship = realm.create(Ship.self, value: other.dynamicObjects("Ship")[0])
      #expect(ship.line.count == 2 && ship.cargo.object(Ship.self) == ship)
      // By whatever accessor both are reached.
      realm.delete(realm.objects(Buoy.self))
      let mixed: [Any] = [other.objects(Buoy.self)[0], other.dynamicObjects("Buoy")[1]]
      realm.create(Buoy.self, value: ["near": mixed])
      #expect(realm.objects(Buoy.self).count == 3)
    }
  }
}
