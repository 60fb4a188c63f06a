// Value types as elements of managed lists, and links and embedded objects inside of values.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ValueElementTests {
  @Test func enums() throws {
    let folder = TemporaryFolder()
    try onEachOpening(folder.configuration("decks.realm", [Deck.self])) { realm in
      try realm.write {
        let deck = Deck(value: ["suits": ["spades", Suit.clubs], "optionalLevels": [1, NSNull()]])
        realm.add(deck)
        deck.suits.append(.hearts)
        deck.optionalLevels.append(.high)
      }
    } second: { realm in
      let deck = try #require(realm.objects(Deck.self).first)
      #expect(
        Array(deck.suits) == [.spades, .clubs, .hearts] && deck.suits.index(of: .hearts) == 2)
      #expect(Array(deck.optionalLevels) == [.low, nil, .high])
    }
  }

  @Test func identifiersAndDecimals() throws {
    let folder = TemporaryFolder()
    let ids = (0..<300).map { _ in ObjectId.generate() }
    let uuids = (0..<300).map { _ in UUID() }
    let amounts: [Decimal128?] = ["1.50", nil, .max, "-0"]
    try onEachOpening(folder.configuration("lists.realm", [Ledger.self])) { realm in
      try realm.write {
        let ledger = realm.create(Ledger.self, value: ["ids": ids, "amounts": amounts])
        for uuid in uuids { ledger.uuids.append(uuid) }
      }
    } second: { realm in
      let ledger = try #require(realm.objects(Ledger.self).first)
      #expect(Array(ledger.ids) == ids && Array(ledger.uuids) == uuids)
      #expect(ledger.amounts.map { $0?.stringValue } == amounts.map { $0?.stringValue })
      #expect(ledger.ids.index(of: ids[200]) == 200 && ledger.uuids.index(of: UUID()) == nil)
    }
  }

  @Test func customTypesAndEmbeddedObjects() throws {
    let folder = TemporaryFolder()
    let types: [ObjectBase.Type] = [Site.self, StoredPosition.self]
    try onEachOpening(folder.configuration("sites.realm", types)) { realm in
      let site = Site(value: ["history": [1.5], "hosts": [NSNull(), "c"]])
      site.position = Position(latitude: 5, longitude: 6)
      try realm.write {
        realm.add(site)
        site.history.append(Celsius(degrees: 2))
        site.target = Position(latitude: 7, longitude: 8)
        realm.create(Site.self, value: ["position": ["latitude": 1, "longitude": 2]])
      }
    } second: { realm in
      let site = try #require(realm.objects(Site.self).first)
      #expect(
        site.history.map(\.degrees) == [1.5, 2] && site.hosts.map { $0?.host } == [nil, "c"])
      #expect(site.position == Position(latitude: 5, longitude: 6))
      #expect(site.target == Position(latitude: 7, longitude: 8))
      #expect(realm.objects(Site.self).last?.position == Position(latitude: 1, longitude: 2))
      try realm.write {
        site.position = Position(latitude: 9, longitude: 9)
        site.target = nil
      }
      #expect(site.position == Position(latitude: 9, longitude: 9) && site.target == nil)
    }
  }

  @Test func anyValues() throws {
    let folder = TemporaryFolder()
    let values: [AnyRealmValue] = [
      .int(1), .none, .string("a"), .fromArray([.bool(true), .none]), .decimal128(2.5),
    ]
    try onEachOpening(folder.configuration("any.realm", [ValueBox.self])) { realm in
      try realm.write {
        let box = realm.create(ValueBox.self, value: ["values": [1, NSNull()]])
        for value in values.dropFirst(2) { box.values.append(value) }
      }
    } second: { realm in
      let box = try #require(realm.objects(ValueBox.self).first)
      #expect(Array(box.values) == values)
      #expect(box.values.index(of: .string("a")) == 2 && box.values.index(of: .none) == 1)
      #expect(box.values.index(of: .string("b")) == nil)
    }
  }

  @Test func anyValuesLinkToObjects() throws {
    let folder = TemporaryFolder()
    let types: [ObjectBase.Type] = [ValueBox.self, Dog.self]
    try onEachOpening(folder.configuration("any.realm", types)) { realm in
      try realm.write {
        let box = ValueBox()
        box.value = .object(Dog(value: ["name": "added with the box"]))
        realm.add(box)
        box.label = .object(Dog(value: ["name": "set"]))
        box.values.append(.object(Dog(value: ["name": "element"])))
        box.started = .fromArray([.int(1), .object(Dog(value: ["name": "nested"]))])
      }
      #expect(realm.objects(Dog.self).count == 4)
    } second: { realm in
      let box = try #require(realm.objects(ValueBox.self).first)
      #expect(box.value.object(Dog.self)?.name == "added with the box")
      let dog = try #require(box.label.object(Dog.self))
      #expect(dog.name == "set" && dog.realm == realm)
      #expect(box.values[0].object(Dog.self)?.name == "element")
      #expect(box.values.index(of: box.values[0]) == 0)
      #expect(box.started.listValue?[1].object(Dog.self)?.name == "nested")
      #expect(box.freeze().label.object(Dog.self)?.isFrozen == true)

      let copy = try memoryRealm(types)
      try copy.write { _ = copy.create(ValueBox.self, value: box) }
      #expect(copy.objects(ValueBox.self).first?.label.object(Dog.self)?.name == "set")

      try realm.write { realm.delete(realm.objects(Dog.self)) }
      #expect(box.value == .none && box.label == .none && box.values[0] == .none)
      #expect(box.started == .fromArray([.int(1), .none]))
    }
  }

  @Test func anAnyValueOfAClassThatIsNotStoredStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([ValueBox.self])
      try realm.write { _ = realm.create(ValueBox.self, value: ["value": Dog()]) }
    }
    expectStop(result, "Object type 'Dog' is not managed by the Realm.")
  }
}

/// The client's own type in collections, stored in objects of its own.
private class Route: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var stops: List<Position>
  @Persisted var places: Map<String, Position?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct CustomElementTests {
  private let here = Position(latitude: 1, longitude: 2)
  private let there = Position(latitude: 3, longitude: 4)

  @Test func listsOfValuesStoredAsObjects() throws {
    let folder = TemporaryFolder()
    let types: [ObjectBase.Type] = [Route.self, StoredPosition.self]
    try onEachOpening(folder.configuration("routes.realm", types)) { realm in
      try realm.write {
        let route = Route(value: ["id": 1])
        route.stops.append(here)
        realm.add(route)
        route.stops.append(objectsIn: [there, here])
        route.stops[2] = Position(latitude: 5, longitude: 6)
        route.places["a"] = there
        realm.create(
          Route.self,
          value: [
            "id": 2, "stops": [here, ["latitude": 7, "longitude": 8]], "places": ["x": here],
          ]
            as [String: Any])
      }
    } second: { realm in
      let route = try #require(realm.object(ofType: Route.self, forPrimaryKey: 1))
      #expect(Array(route.stops) == [here, there, Position(latitude: 5, longitude: 6)])
      #expect(route.stops.index(of: there) == 1 && route.stops.first == here)
      #expect(route.places["a"] == there && route.places["b"] == nil)
      #expect(route.stops.filter("latitude > 2").map(\.latitude) == [3, 5])
      #expect(
        Array(route.stops.filter("latitude > 2")) == [there, Position(latitude: 5, longitude: 6)])
      #expect(route.stops.sorted(byKeyPath: "latitude", ascending: false).first?.latitude == 5)
      #expect(route.stops.freeze().last?.latitude == 5)
      let other = try #require(realm.object(ofType: Route.self, forPrimaryKey: 2))
      #expect(Array(other.stops) == [here, Position(latitude: 7, longitude: 8)])
      #expect(other.places["x"] == here)
      try realm.write {
        route.stops.remove(at: 0)
        route.places["a"] = nil
        other.stops.append(objectsIn: route.stops)
      }
      #expect(route.stops.count == 2 && other.stops.count == 4)
      #expect(Array(Route(value: other).stops) == Array(other.stops))
      #expect(realm.schema["StoredPosition"]?.isEmbedded == true)
      #expect(try realm.checkInvariants().findings == [])
    }
  }
}
