// Places inside of boxes, circles and polygons on the globe.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Coordinates: EmbeddedObject {
  @Persisted private var type = "Point"
  @Persisted private var coordinates: List<Double>

  convenience init(_ latitude: Double, _ longitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Town: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var place: Coordinates?
  @Persisted var mayor: Mayor?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Stop: Object {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Trip: Object {
  @Persisted var name = ""
  @Persisted var start: Stop?
  @Persisted var stops: List<Stop>
  @Persisted var places: List<Coordinates>
  @Persisted var byName: Map<String, Coordinates?>
  @Persisted var before: Trip?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Mayor: EmbeddedObject {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct GeospatialTests {
  private func towns() throws -> Results<Town> {
    let realm = try memoryRealm([Town.self, Coordinates.self, Mayor.self])
    let places: [String: (Double, Double)?] = [
      "Berlin": (52.52, 13.405), "Paris": (48.8566, 2.3522), "Quito": (-0.1807, -78.4678),
      "Suva": (-18.1248, 178.4501), "Apia": (-13.8507, -171.7514), "Alert": (82.5, -62.3),
      "Nowhere": nil,
    ]
    try realm.write {
      for (name, place) in places {
        let town = realm.create(Town.self, value: ["name": name])
        town.place = place.map { Coordinates($0.0, $0.1) }
      }
    }
    return realm.objects(Town.self).sorted(byKeyPath: "name")
  }

  private func names(_ towns: Results<Town>) -> [String] { towns.map(\.name) }

  @Test func circles() throws {
    let towns = try towns()
    // Berlin and Paris are 878 km apart.
    let berlin = try #require(GeoPoint(latitude: 52.52, longitude: 13.405))
    let far = try #require(GeoCircle(center: berlin, radius: .kilometers(890)))
    let near = GeoCircle(center: berlin, radius: Distance.kilometers(870)!)
    #expect(names(towns.where { $0.place.geoWithin(far) }) == ["Berlin", "Paris"])
    #expect(names(towns.where { $0.place.geoWithin(near) }) == ["Berlin"])
    #expect(names(towns.where { !$0.place.geoWithin(far) && $0.name < "C" }) == ["Alert", "Apia"])
    // Over the meridian of 180 degrees.
    let fiji = try #require(GeoCircle(center: (-18, 179), radius: .miles(800)))
    #expect(names(towns.where { $0.place.geoWithin(fiji) }) == ["Apia", "Suva"])
    let all = try #require(GeoCircle(center: (0, 0), radiusInRadians: 4))
    #expect(towns.where { $0.place.geoWithin(all) }.count == 6)
    #expect(towns.filter("place IN %@", near).count == 1)
    #expect(towns.filter("NOT place IN %@ AND name != 'Nowhere'", near).count == 5)
  }

  @Test func boxes() throws {
    let towns = try towns()
    let europe = try #require(GeoBox(bottomLeft: (35, -10), topRight: (60, 30)))
    #expect(names(towns.where { $0.place.geoWithin(europe) }) == ["Berlin", "Paris"])
    let pacific = try #require(GeoBox(bottomLeft: (-30, 170), topRight: (0, -170)))
    #expect(names(towns.where { $0.place.geoWithin(pacific) }) == ["Apia", "Suva"])
    #expect(names(towns.filter("place GEOWITHIN %@", europe)) == ["Berlin", "Paris"])
  }

  @Test func polygons() throws {
    let towns = try towns()
    let ring = [(60.0, -10.0), (35.0, -10.0), (35.0, 30.0), (60.0, 30.0), (60.0, -10.0)]
    let hole = [(54.0, 12.0), (51.0, 12.0), (51.0, 15.0), (54.0, 15.0), (54.0, 12.0)]
    let europe = try #require(GeoPolygon(outerRing: ring))
    #expect(names(towns.where { $0.place.geoWithin(europe) }) == ["Berlin", "Paris"])
    let reversed = try #require(GeoPolygon(outerRing: ring.reversed()))
    #expect(names(towns.where { $0.place.geoWithin(reversed) }) == ["Berlin", "Paris"])
    let pierced = try #require(GeoPolygon(outerRing: ring, holes: hole))
    #expect(names(towns.where { $0.place.geoWithin(pierced) }) == ["Paris"])
    let other = hole.map { ($0.0 - 8, $0.1) }
    #expect(GeoPolygon(outerRing: ring, holes: [hole, other])?.holes.count == 2)
    let pole = try #require(
      GeoPolygon(outerRing: [(70, 0), (70, 120), (70, -120), (70, 0)]))
    #expect(names(towns.where { $0.place.geoWithin(pole) }) == ["Alert"])
    // The other side of the globe is not inside.
    let small = try #require(
      GeoPolygon(outerRing: [(-54, -168), (-51, -168), (-51, -165), (-54, -165), (-54, -168)]))
    #expect(towns.where { $0.place.geoWithin(small) }.isEmpty)
  }

  /// What lay more than a quarter of the globe from the sum of the corners was missed.
  @Test func cornersMayLieMoreOnOneSide() throws {
    let realm = try memoryRealm([Town.self, Coordinates.self, Mayor.self])
    try realm.write {
      for longitude in [-75.0, 0, 70, 79, 81, 100, 180] {
        realm.create(Town.self, value: ["name": "\(Int(longitude))"]).place =
          Coordinates(0, longitude)
      }
    }
    let ring = [
      (-20.0, -80.0), (-20, 80), (20, 80), (20, -80), (12, -81), (4, -80), (-4, -81), (-12, -80),
      (-20, -80),
    ]
    for ring in [ring, ring.reversed()] {
      let area = try #require(GeoPolygon(outerRing: ring))
      let inside = realm.objects(Town.self).where { $0.place.geoWithin(area) }
      #expect(Set(names(inside)) == ["-75", "0", "70", "79"])
    }
    let hole = [(-1.0, 69.0), (-1, 71), (1, 71), (1, 69), (-1, 69)]
    let pierced = try #require(GeoPolygon(outerRing: ring, holes: hole))
    let inside = realm.objects(Town.self).where { $0.place.geoWithin(pierced) }
    #expect(Set(names(inside)) == ["-75", "0", "79"])
  }

  /// Corners along one meridian lie on one line, and rounding said that its ways cross.
  @Test func severalCornersMayLieOnOneMeridian() {
    for longitude in stride(from: -170.0, through: 170, by: 7) {
      let latitudes = stride(from: -75.0, through: 75, by: 25)
      let ring =
        latitudes.map { ($0, longitude) } + latitudes.reversed().map { ($0, longitude + 7) }
      #expect(GeoPolygon(outerRing: ring + [ring[0]]) != nil, "\(longitude)")
    }
  }

  @Test func text() {
    let box = GeoBox(bottomLeft: (0, 0), topRight: (1, 1))!
    let query = Query<Town>._constructForTesting().place.geoWithin(box)
    let (text, arguments) = query._constructPredicate()
    #expect(text == "(place IN %@)" && arguments.first as? GeoBox == box)
  }

  @Test func values() {
    #expect(GeoPoint(latitude: 91, longitude: 0) == nil)
    #expect(GeoPoint(latitude: 0, longitude: -181) == nil)
    #expect(GeoPoint(latitude: 0, longitude: .nan) == nil)
    #expect(GeoPoint(latitude: 1, longitude: 2, altitude: -1) == nil)
    #expect(GeoPoint(latitude: 1, longitude: 2, altitude: 3)?.altitude == 3)
    #expect(GeoBox(bottomLeft: (0, 0), topRight: (0, 200)) == nil)
    #expect(GeoCircle(center: (0, 0), radiusInRadians: -1) == nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 0)]) == nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (1, 1), (2, 0), (1, 0)]) == nil)
    #expect(Distance.kilometers(-1) == nil)
    #expect(abs(Distance.miles(1)!.asKilometers() - 1.609344) < 1e-9)
    #expect(abs(Distance.degrees(180)!.asRadians() - .pi) < 1e-12)
    #expect(abs(Distance.radians(.pi)!.asDegrees() - 180) < 1e-9)
    #expect(abs(Distance.kilometers(6378.1)!.asRadians() - 1) < 1e-12)
  }

  @Test func whatIsNoPlaceStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let box = GeoBox(bottomLeft: (0, 0), topRight: (1, 1))!
      _ = try GeospatialTests().towns().where { $0.mayor.geoWithin(box) }
    }
    expectStop(result, "'mayor' cannot be used in a geoWithin query")
  }

  @Test func ringsThatBoundNoArea() {
    let square = [(0.0, 0.0), (0, 9), (9, 9), (9, 0), (0, 0)]
    func hole(_ from: Double, _ to: Double) -> [(Double, Double)] {
      [(from, from), (from, to), (to, to), (to, from), (from, from)]
    }
    #expect(GeoPolygon(outerRing: square, holes: hole(1, 2), hole(3, 4)) != nil)
    // A place twice in a row is one corner.
    #expect(GeoPolygon(outerRing: [(0, 0), (0, 0), (0, 1), (1, 1), (0, 0)]) != nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 1), (1, 0), (0, 0)]) == nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (0, 1), (1, 1), (0, 1), (0, 0)]) == nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (0, 0), (0, 1), (0, 0)]) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(11, 12)) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(1, 12)) == nil)
    #expect(GeoPolygon(outerRing: square, holes: square) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(1, 5), hole(2, 3)) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(2, 3), hole(1, 5)) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(1, 5), hole(2, 7)) == nil)
    #expect(GeoPolygon(outerRing: square, holes: hole(1, 2), hole(1, 2)) == nil)
  }

  @Test func placesOfEveryDeclaration() throws {
    let realm = try memoryRealm([Trip.self, Stop.self, Coordinates.self])
    try realm.write {
      let near = realm.create(Stop.self, value: ["coordinates": [1.0, 1.0]])
      let a = realm.create(Trip.self, value: ["name": "a"])
      a.start = near
      a.stops.append(near)
      a.places.append(objectsIn: [Coordinates(50, 50), Coordinates(1, 1)])
      a.byName["x"] = Coordinates(1, 1)
      let b = realm.create(Trip.self, value: ["name": "b"])
      b.before = a
      b.places.append(Coordinates(50, 50))
    }
    func expect(_ names: String, _ condition: (Query<Trip>) -> Query<Bool>) {
      #expect(realm.objects(Trip.self).where(condition).map(\.name).joined() == names)
    }
    let box = try #require(GeoBox(bottomLeft: (0, 0), topRight: (2, 2)))
    func expectEach<Shape: _Geospatial>(_ shape: Shape) {
      expect("a") { $0.start.geoWithin(shape) }
      expect("a") { $0.stops.geoWithin(shape) }
      expect("a") { $0.places.geoWithin(shape) }
      expect("a") { $0.byName.geoWithin(shape) }
      expect("b") { $0.before.start.geoWithin(shape) }
      expect("b") { !$0.places.geoWithin(shape) }
    }
    expectEach(box)
    expectEach(try #require(GeoCircle(center: (1, 1), radius: .kilometers(10))))
    let shapes: [any _Geospatial] = [box]
    for shape in shapes { expectEach(shape) }
  }
}
