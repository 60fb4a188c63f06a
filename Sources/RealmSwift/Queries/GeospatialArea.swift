// Which objects lie inside of an area: the condition behind `geoWithin`. A place in the file is an
// object with two properties, as in GeoJSON: `type`, which is "Point", and `coordinates`, longitude
// first.
internal import Foundation
internal import ObjectStore

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
  /// Whether the place lies inside of an area.
  ///
  /// The object, embedded or not, needs a property `type`, a text that is "Point", and a property
  /// `coordinates`, a list of numbers: longitude, latitude, and maybe altitude.
  public func geoWithin(_ area: some _Geospatial) -> Query<Bool> { compared(.geoWithin, area) }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// Whether any of the places lies inside of an area.
  public func geoWithin(_ area: some _Geospatial) -> Query<Bool> { compared(.geoWithin, area) }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: ObjectBase {
  /// Whether any of the places lies inside of an area.
  public func geoWithin(_ area: some _Geospatial) -> Query<Bool> { compared(.geoWithin, area) }
}

/// Asks places that are linked whether they lie inside of an area.
struct AreaTest {
  private let area: GeoArea
  private let typeColumn: Int
  private let coordinatesColumn: Int

  /// Nil when objects of the class are no places.
  init?(_ area: GeoArea, _ binding: TableBinding) {
    guard let type = Self.column("type", binding, .string, .none),
      let coordinates = Self.column("coordinates", binding, .double, .list)
    else { return nil }
    self.area = area
    typeColumn = type
    coordinatesColumn = coordinates
  }

  private static func column(
    _ name: String, _ binding: TableBinding, _ type: PropertyType, _ kind: _CollectionKind
  ) -> Int? {
    guard
      let position = binding.schema.properties.firstIndex(where: {
        $0.columnName == name && $0.codec.type == type && $0.codec.collection == kind
      })
    else { return nil }
    return binding.columns[position]
  }

  /// Whether a link leads to a place inside of the area.
  func matches(_ value: PlanValue, _ readers: PlanReaders) -> Bool {
    guard case .link(let table, let key) = value, let reader = readers[table],
      let location = reader.locate(key),
      reader.withBytes(location, typeColumn, { $0?.elementsEqual("Point".utf8) ?? false })
    else { return false }
    let coordinates = reader.elements(location, coordinatesColumn)
    guard coordinates.count >= 2 else { return false }
    let longitude = Double(_packed: coordinates.integer(at: 0))
    let latitude = Double(_packed: coordinates.integer(at: 1))
    return GeoPoint(latitude: latitude, longitude: longitude).map { area.contains($0) } ?? false
  }
}

/// An area in the form that is fast to ask.
enum GeoArea {
  case box(GeoBox)
  case circle(GeoDirection, radius: Double)
  case polygon(GeoRing, holes: [GeoRing])

  /// Nil for what is no area.
  init?(_ value: Any?) {
    switch value {
    case let box as GeoBox: self = .box(box)
    case let circle as GeoCircle:
      self = .circle(GeoDirection(circle.center), radius: circle.radiusInRadians)
    case let polygon as GeoPolygon:
      self = .polygon(GeoRing(polygon.outerRing), holes: polygon.holes.map { GeoRing($0) })
    default: return nil
    }
  }

  func contains(_ point: GeoPoint) -> Bool {
    switch self {
    case .box(let box):
      let (west, east) = (box.bottomLeft.longitude, box.topRight.longitude)
      let isBetween =
        west <= east
        ? (west...east).contains(point.longitude)
        : point.longitude >= west || point.longitude <= east
      return isBetween && point.latitude >= box.bottomLeft.latitude
        && point.latitude <= box.topRight.latitude
    case .circle(let center, let radius):
      return center.angle(to: GeoDirection(point)) <= radius
    case .polygon(let outer, let holes):
      let direction = GeoDirection(point)
      return outer.contains(direction) && !holes.contains { $0.contains(direction) }
    }
  }
}

/// A place as a vector of length one from the centre of the globe.
struct GeoDirection: Equatable {
  var x: Double
  var y: Double
  var z: Double

  init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  init(_ point: GeoPoint) {
    let (latitude, longitude) = (point.latitude * .pi / 180, point.longitude * .pi / 180)
    self.init(
      x: cos(latitude) * cos(longitude), y: cos(latitude) * sin(longitude), z: sin(latitude))
  }

  func dot(_ other: GeoDirection) -> Double { x * other.x + y * other.y + z * other.z }

  func cross(_ other: GeoDirection) -> GeoDirection {
    GeoDirection(
      x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
  }

  /// Exact for small angles too, which the cosine is not.
  func angle(to other: GeoDirection) -> Double {
    let normal = cross(other)
    return atan2(normal.dot(normal).squareRoot(), dot(other))
  }
}

extension GeoDirection {
  /// The area of the triangle of shortest ways, on a globe of radius one; negative where it lies to
  /// the right of them (van Oosterom and Strackee, 1983).
  fileprivate static func area(
    _ first: GeoDirection, _ second: GeoDirection, _ third: GeoDirection
  ) -> Double {
    2
      * atan2(
        first.dot(second.cross(third)),
        1 + first.dot(second) + second.dot(third) + third.dot(first))
  }
}

/// A ring of shortest ways.
struct GeoRing {
  private let corners: [GeoDirection]
  /// Whether what it encloses, the smaller part of the globe, lies to the left of its ways.
  private let turnsLeft: Bool

  init(_ points: [GeoPoint]) {
    let corners = points.map { GeoDirection($0) }
    self.corners = corners
    var area = 0.0
    if let first = corners.first {
      for (from, to) in zip(corners.dropFirst(), corners.dropFirst(2)) {
        area += GeoDirection.area(first, from, to)
      }
    }
    // Known up to the whole globe: of the two parts the smaller one is meant.
    area = area.remainder(dividingBy: 4 * .pi)
    turnsLeft = area >= 0
  }

  /// Whether a place lies inside: seen from there, the ring goes all the way around.
  func contains(_ point: GeoDirection) -> Bool {
    var turned = 0.0
    for (from, to) in zip(corners, corners.dropFirst()) {
      // The angle between the planes through the point and each end.
      let (first, second) = (point.cross(from), point.cross(to))
      turned += atan2(first.cross(second).dot(point), first.dot(second))
    }
    // Seen from the opposite place of the globe it goes around the other way.
    return (turnsLeft ? turned : -turned) > .pi
  }
}

// MARK: - Rings that bound an area

extension GeoRing {
  /// Whether no two edges cross or are the same, and no corner comes back, but for several in a
  /// row.
  var isSimple: Bool {
    let edges = self.edges
    guard edges.count >= 3 else { return false }
    for (index, edge) in edges.enumerated() {
      for other in edges[(index + 1)...]
      where edge.from == other.from || edge.isSame(as: other) || edge.crosses(other) {
        return false
      }
    }
    return true
  }

  /// Whether an edge of this ring crosses, or is, one of another ring.
  func touches(_ other: GeoRing) -> Bool {
    edges.contains { edge in
      other.edges.contains { edge.isSame(as: $0) || edge.crosses($0) }
    }
  }

  /// Whether another ring, which does not touch this one, lies inside.
  func contains(_ other: GeoRing) -> Bool {
    // A corner that both have says nothing.
    other.corners.first { !corners.contains($0) }.map { contains($0) } ?? false
  }

  /// The ways from corner to corner, without those of no length.
  private var edges: [Edge] {
    zip(corners, corners.dropFirst()).filter { $0 != $1 }.map { Edge(from: $0, to: $1) }
  }

  private struct Edge {
    /// What the distance of a place on a way from that way may come to by rounding, times the way's
    /// length: several corners along one meridian lie on one line.
    private static let rounding = 5e-16

    let from: GeoDirection
    let to: GeoDirection

    func isSame(as other: Edge) -> Bool {
      (from == other.from && to == other.to) || (from == other.to && to == other.from)
    }

    /// Whether the two meet between their ends: each has its ends on both sides of the other.
    func crosses(_ other: Edge) -> Bool {
      // At a common end they meet, but rounding may say that they cross.
      if from == other.from || from == other.to || to == other.from || to == other.to {
        return false
      }
      let normal = from.cross(to)
      let (start, end) = (normal.dot(other.from), normal.dot(other.to))
      guard start * end < 0, min(abs(start), abs(end)) > Self.rounding else { return false }
      let otherNormal = other.from.cross(other.to)
      let (ownStart, ownEnd) = (otherNormal.dot(from), otherNormal.dot(to))
      // The last: on one half of the globe.
      return ownStart * ownEnd < 0 && start * ownEnd > 0
        && min(abs(ownStart), abs(ownEnd)) > Self.rounding
    }
  }
}
