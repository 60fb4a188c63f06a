// Client code that has to compile: queries, schema and migration; see ClientSurface.swift. Queries
// are run, in both forms.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ClientSurfaceTests {
  @Test func everyQueryHasAMeaning() throws {
    let realm = try memoryRealm([
      ClientSurface.Owner.self, ClientSurface.Animal.self, ClientSurface.Home.self,
    ])
    try realm.write {
      let keeper = realm.create(
        ClientSurface.Owner.self,
        value: [
          "ints": [1, 2], "dogs": [["name": "x", "age": 2]], "set": ["a"], "map": ["a": 1],
          "wrap": "a", "address": ["city": "x"], "any": ["a": [1]], "dec": 2,
        ] as [String: Any])
      keeper.best = keeper.dogs[0]
      keeper.dogMap["a"] = keeper.dogs[0]
      realm.create(ClientSurface.Owner.self)
    }
    let keeper = realm.objects(ClientSurface.Owner.self)[0]
    ClientSurface.queries(realm, keeper.dogs[0], keeper)
  }
}

extension ClientSurface {
  static func queries(_ realm: Realm, _ d: Animal, _ p: Owner) {
    let ps = realm.objects(Owner.self)
    func check(_ condition: (Query<Owner>) -> Query<Bool>) {
      let found = Array(ps.where(condition))
      let (text, arguments) = condition(Query<Owner>._constructForTesting())._constructPredicate()
      let again = ps.filter(NSPredicate(format: text, argumentArray: arguments))
      #expect(Array(again) == found, "\(text)")
    }
    check { $0.name == "a" }
    check { $0.name != "a" }
    check { $0.five < 1 }
    check { $0.five >= 1 && $0.f > 1.5 || !($0.five == 2) }
    check { $0.name < "b" }
    check { $0.date > Date() }
    check { $0.five.in([1, 2]) }
    check { $0.five.contains(1..<5) }
    check { $0.five.contains(1...5) }
    check { $0.name.contains("a") }
    check { $0.name.contains("a", options: [.caseInsensitive, .diacriticInsensitive]) }
    check { $0.name.starts(with: "a") }
    check { $0.name.ends(with: "a", options: .caseInsensitive) }
    check { $0.name.equals("a", options: .caseInsensitive) }
    check { $0.name.notEquals("a") }
    check { $0.name.like("a*", caseInsensitive: true) }
    check { $0.name.like("a*") }
    check { $0.name == $0.best.name }
    check { $0.name.contains($0.best.name) }
    check { $0.data.contains(Data()) }
    check { $0.ints.contains(1) }
    check { $0.ints.containsAny(in: [1]) }
    check { $0.ints.count > 1 }
    check { $0.ints.min == 1 }
    check { $0.ints.max == 1 }
    check { $0.ints.avg == 1 }
    check { $0.ints.sum == 1 }
    check { $0.ints > 1 }
    check { $0.dogs.age > 1 }
    check { $0.dogs.age.sum > 1 }
    check { $0.dogs.contains(d) }
    check { ($0.dogs.age > 1 && $0.dogs.name == "x").count > 1 }
    check { $0.best == d }
    check { $0.best == nil }
    check { $0.best.name == "x" }
    check { $0.best != nil }
    check { $0.map.keys == "a" }
    check { $0.map.values > 1 }
    check { $0.map["a"] == 1 }
    check { $0.any == .int(1) }
    check { $0.any[0] == .int(1) }
    check { $0.any["a"][0] == .int(1) }
    check { $0.any.any == .int(1) }
    check { $0.any > .int(1) }
    check { $0.any == .string("a") }
    check { $0.mood == .good }
    check { $0.rank == .low }
    check { $0.rank > .low }
    check { $0.mood.rawValue == "good" }
    check { $0.mood.rawValue.starts(with: "g") }
    check { $0.rank.rawValue > 1 }
    check { $0.mood.in([.good]) }
    check { $0.rank.in([.low, .high]) }
    check { $0.wrap == Wrap(persistedValue: "a") }
    check { $0.wrap.persistableValue == "a" }
    check { $0.fail.persistableValue > 1 }
    check { $0.fail == nil }
    check { $0.address.city == "x" }
    check { $0.addresses.city == "x" }
    check { $0.moods.contains(.good) }
    check { $0.set.contains("a") }
    check { $0.set == "a" }
    check { $0.dogMap.age > 1 }
    check { $0.dogMap["a"] == d }
    check { $0.dogMap.count > 1 }
    check { $0.dogMap.keys.contains("a") }
    check { $0.dogMap.values == d }
    check { $0.data == nil }
    check { $0.dec > 1 }
    check { $0.oid == nil }
    check { $0.id == UUID() }
    check { $0.i16 > 3 }
    check { $0.i8 == 2 }
    check { $0.id.in([UUID()]) }
    check { $0.i16.in([1, nil]) }
    check { $0.oid.in([ObjectId()]) }
    check { $0.address.owners.name == "x" }
    check { $0.best.owners.name == "a" }
    check { $0.address != nil }
    check { $0.best.age == $0.five }
    check { $0.best.age > $0.five }
    check { $0.optInts == nil }
    check { $0.optInts.contains(nil) }
    check { $0.moods == .good }
    check { $0.dogs.name.contains("a") }
    check { $0.dogs.name.starts(with: "a") }
    check { $0.dogs.age.contains(1...5) }
    check { $0.dogs.age.in([1]) }
    check { $0.dogs.owners.name == "x" }
    check { $0.dogs.owners.count > 1 }
    check { $0.wraps.contains(Wrap(persistedValue: "x")) }
    check { $0.name == "a" && ($0.five == 1 || $0.five == 2) }
    check { q in q.address.geoWithin(GeoBox(bottomLeft: (0, 0), topRight: (1, 1))!) }
    let (s, a) = Query<Owner>._constructForTesting().name._constructPredicate()
    _ = (s, a)
    let pred: (Query<Owner>) -> Query<Bool> = { $0.five == 1 }
    check(pred)
    _ = GeoPoint(latitude: 1, longitude: 2)!
    _ = GeoPoint(latitude: 1, longitude: 2, altitude: 3)
    _ = GeoCircle(center: (1, 2), radius: .kilometers(1)!)
    _ = GeoCircle(center: (1, 2), radius: .kilometers(1))
    _ = GeoCircle(center: (1, 2), radiusInRadians: 0.2)!
    _ = GeoCircle(center: GeoPoint(latitude: 1, longitude: 2)!, radius: .miles(2)!)
    _ = GeoCircle(center: GeoPoint(latitude: 1, longitude: 2)!, radiusInRadians: 0.2)!
    _ = GeoBox(
      bottomLeft: GeoPoint(latitude: 1, longitude: 2)!,
      topRight: GeoPoint(latitude: 1, longitude: 2)!)
    _ = GeoPolygon(outerRing: [GeoPoint(latitude: 1, longitude: 2)!])
    _ = GeoPolygon(outerRing: [(1, 2), (2, 3)])
    _ = GeoPolygon(outerRing: [(1, 2)], holes: [(1, 2)], [(1, 2)])
    _ = GeoPolygon(outerRing: [], holes: [[GeoPoint(latitude: 1, longitude: 2)!]])
  }
  static func schema(_ realm: Realm) {
    let s: Schema = realm.schema
    for o: ObjectSchema in s.objectSchema {
      _ = o.className
      _ = o.objectClass
      _ = o.isEmbedded
      _ = o.primaryKeyProperty
      for p: Property in o.properties {
        _ = p.name
        _ = p.columnName
        let t: PropertyType = p.type
        _ = t
        _ = p.isArray
        _ = p.isSet
        _ = p.isMap
        _ = p.isIndexed
        _ = p.isOptional
        _ = p.objectClassName
      }
      _ = o["x"]
      _ = o.description
      _ = o == o
    }
    _ = s["A"]
    _ = s == s
    _ = s.description
    let t: [PropertyType] = [
      .int, .bool, .string, .data, .date, .float, .double, .object, .linkingObjects, .any,
      .objectId, .decimal128, .UUID,
    ]

    _ = t.map(\.rawValue)
    let sd = SortDescriptor(keyPath: "a")
    _ = sd.reversed()
    _ = SortDescriptor(keyPath: \Owner.name, ascending: false)
    let l: RealmSwift.SortDescriptor = "name"
    _ = l == sd
    _ = sd.keyPath
    _ = sd.ascending
    let b: MigrationBlock = { m, v in
      _ = m.oldSchema
      _ = m.newSchema
      m.enumerateObjects(ofType: Owner.className()) { o, n in n!["name"] = o!["name"] }
      m.enumerateObjects(ofType: "Owner") { (old: MigrationObject?, new: MigrationObject?) in
        _ = (old, new)
      }
      m.create("Owner", value: [:])
      let x = m.create("Owner")
      m.delete(x)
      _ = m.deleteData(forType: "Owner")
      m.renameProperty(onType: "Owner", from: "a", to: "b")
      _ = v
    }

    _ = b
    var c = Realm.Configuration()
    c.migrationBlock = b
    c.schemaVersion = 1
    c.objectTypes = [Owner.self, Animal.self, Home.self]
    c.shouldCompactOnLaunch = { a, b in a > b }
    c.deleteRealmIfMigrationNeeded = true
    c.inMemoryIdentifier = "x"
    c.fileURL = URL(fileURLWithPath: "x")
    c.encryptionKey = nil
    c.readOnly = false
    c.seedFilePath = nil
    c.maximumNumberOfActiveVersions = 3
    Realm.Configuration.defaultConfiguration = c
    _ = c.description
    _ = c == c
  }
}
