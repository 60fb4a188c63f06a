// The client's own types as properties, elements and keys.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Letterbox: Object {
  @Persisted var address: Address
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct CustomPersistableTests {
  private let types: [ObjectBase.Type] = [Sensor.self]

  @Test func unmanaged() {
    let sensor = Sensor()
    #expect(sensor.temperature.degrees == 0 && sensor.limit == nil)
    #expect(sensor.address.host == "localhost" && sensor.fallback == nil)
    let id = sensor.id
    #expect(sensor.id == id && Sensor().id != id)
    sensor.temperature = Celsius(degrees: 20)
    #expect(sensor.temperature == Celsius(degrees: 20))
    #expect(Set([Celsius(degrees: 1), Celsius(degrees: 1), Celsius(degrees: 2)]).count == 2)
  }

  @Test func unmanagedObjects() {
    let site = Site()
    #expect(site.position == Position(latitude: 0, longitude: 0) && site.target == nil)
    site.target = Position(latitude: 1, longitude: 2)
    #expect(site.target == Position(latitude: 1, longitude: 2))
    #expect(site.target != Position(latitude: 1, longitude: 3))
    #expect(Set([Position(latitude: 1, longitude: 2), site.target!]).count == 1)
    let made = Site(value: ["position": ["latitude": 1, "longitude": 2]])
    #expect(made.position == Position(latitude: 1, longitude: 2))
  }

  @Test func unmanagedLists() {
    let site = Site(value: ["history": [1.5, Celsius(degrees: 2)], "hosts": [NSNull(), "c"]])
    #expect(site.history.map(\.degrees) == [1.5, 2])
    #expect(site.hosts.map { $0?.host } == [nil, "c"])
  }

  @Test func managed() throws {
    let folder = TemporaryFolder()
    let sensor = Sensor()
    let id = sensor.id
    try onEachOpening(folder.configuration("sensors.realm", types)) { realm in
      try realm.write {
        realm.add(sensor)
        sensor.temperature = Celsius(degrees: 21.5)
        sensor.limit = Celsius(degrees: 40)
        sensor.address = Address(persistedValue: "a.example")!
        sensor.fallback = Address(persistedValue: "b.example")
      }
      #expect(sensor.id == id)
    } second: { realm in
      let sensor = try #require(realm.object(ofType: Sensor.self, forPrimaryKey: id))
      #expect(sensor.temperature.degrees == 21.5 && sensor.limit?.degrees == 40)
      #expect(sensor.address.host == "a.example" && sensor.fallback?.host == "b.example")
      #expect(realm.object(ofType: Sensor.self, forPrimaryKey: id.uuid)?.id == id)
      try realm.write {
        sensor.limit = nil
        sensor.fallback = nil
      }
      #expect(sensor.limit == nil && sensor.fallback == nil)
      #expect(realm.isEmpty == false)
    }
  }

  @Test func untypedValues() throws {
    let realm = try memoryRealm(types)
    let uuid = UUID()
    let sensor = try realm.write {
      realm.create(
        Sensor.self,
        value: [
          "id": uuid, "temperature": 3, "limit": Celsius(degrees: 9), "address": "host",
        ] as [String: Any])
    }
    #expect(sensor.id.uuid == uuid && sensor.temperature.degrees == 3)
    #expect(sensor.limit?.degrees == 9 && sensor.address.host == "host")
    #expect((sensor.value(forKey: "temperature") as? Celsius)?.degrees == 3)
    try realm.write {
      sensor.setValue(4.5, forKey: "temperature")
      sensor.setValue(nil, forKey: "limit")
      sensor.setValue(Address(persistedValue: "d"), forKey: "fallback")
    }
    #expect(sensor.temperature.degrees == 4.5 && sensor.limit == nil)
    #expect(sensor.fallback?.host == "d")
    let copy = Sensor(value: sensor)
    #expect(copy.temperature.degrees == 4.5)
    #expect(sensor.objectSchema["id"]?.type == .UUID)
    #expect(sensor.objectSchema["address"]?.isIndexed == true)
  }

  @Test func anOptionalReadsNilWhereTheStoredValueIsNoValue() throws {
    let folder = TemporaryFolder()
    try onEachOpening(folder.configuration("raw.realm", [RawSensor.self])) {
      realm in
      try realm.write {
        _ = realm.create(
          RawSensor.self, value: ["id": UUID(), "address": "good", "fallback": "no host"])
      }
    } second: { _ in
    }
    let realm = try Realm(configuration: folder.configuration("raw.realm", types))
    let sensor = try #require(realm.objects(Sensor.self).first)
    #expect(sensor.address.host == "good" && sensor.fallback == nil)
  }

  @Test func aStoredValueThatIsNoValueStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      let raw = folder.configuration("raw.realm", [RawSensor.self])
      try onEachOpening(raw) { realm in
        try realm.write {
          _ = realm.create(RawSensor.self, value: ["id": UUID(), "address": "no host"])
        }
      } second: { _ in
        let own = folder.configuration("raw.realm", [Sensor.self])
        _ = try Realm(configuration: own).objects(Sensor.self).first!.address
      }
    }
    expectStop(
      result,
      "Failed to convert persisted value 'no host' to type 'Address' in a non-optional context.")
  }

  @Test func anUntypedValueThatIsNoValueStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Sensor(value: ["address": "no host"])
    }
    expectStop(result, "Could not convert value 'no host' to type 'Address'.")
    let optional = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Sensor().setValue("", forKey: "fallback")
    }
    expectStop(optional, "Could not convert value '' to type 'Address'.")
  }

  @Test func aDefaultThatIsNoValueStops() async {
    let message =
      "A property of type 'Address' has no default: the default of what is stored for it stands for "
      + "no value of the type. Declare one, as in `@Persisted var name = Address(...)`, or make the "
      + "property optional."
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Letterbox().address }
    expectStop(unmanaged, message)
    let created = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Letterbox.self])
      try realm.write { _ = realm.create(Letterbox.self) }
    }
    expectStop(created, message)
  }
}
