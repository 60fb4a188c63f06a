// Places and areas on the globe, for queries. Degrees everywhere, on a sphere; what is inside of an
// area is decided in GeospatialArea.swift.

/// A place on the globe.
public struct GeoPoint: Hashable, Sendable {
  /// Degrees north of the equator.
  public let latitude: Double
  /// Degrees east of Greenwich.
  public let longitude: Double
  /// Height, which queries do not look at.
  public let altitude: Double

  /// Nil when the latitude is not in -90...90, the longitude not in -180...180, or the altitude is
  /// negative.
  public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude), altitude >= 0 else {
      return nil
    }
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  init?(_ degrees: (Double, Double)) { self.init(latitude: degrees.0, longitude: degrees.1) }
}

/// An area of the globe that queries can ask for: `GeoBox`, `GeoPolygon` or `GeoCircle`.
public protocol _Geospatial: Hashable, Sendable {}

/// The area between two meridians and two circles of latitude.
public struct GeoBox: _Geospatial {
  /// The corner in the south-west.
  public let bottomLeft: GeoPoint
  /// The corner in the north-east.
  public let topRight: GeoPoint

  /// The box of two corners.
  ///
  /// One whose east lies west of its west crosses the meridian of 180 degrees.
  public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
    self.bottomLeft = bottomLeft
    self.topRight = topRight
  }

  /// The box of two corners, latitude first; nil when one is no place.
  public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
    guard let bottomLeft = GeoPoint(bottomLeft), let topRight = GeoPoint(topRight) else {
      return nil
    }
    self.init(bottomLeft: bottomLeft, topRight: topRight)
  }
}

/// The area inside of a ring, without that inside of others.
///
/// Its edges are the shortest ways between their ends; it is smaller than half of the globe.
public struct GeoPolygon: _Geospatial {
  /// The ring around the area; the last place is the first one.
  public let outerRing: [GeoPoint]
  /// Rings around what does not count.
  public let holes: [[GeoPoint]]

  /// Nil when a ring has fewer than four places, its last one is not the first, edges cross or
  /// occur twice, a place comes back, or a hole is not inside of the outer ring or lies in another
  /// hole.
  public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
    for ring in [outerRing] + holes where ring.count < 4 || ring.first != ring.last { return nil }
    guard Self.boundAnArea(GeoRing(outerRing), holes.map { GeoRing($0) }) else { return nil }
    self.outerRing = outerRing
    self.holes = holes
  }

  /// Nil as above.
  @_disfavoredOverload
  public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) {
    self.init(outerRing: outerRing, holes: holes)
  }

  /// Places by latitude and longitude; nil too when one is none.
  public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
    self.init(outerRing: outerRing, holes: holes)
  }

  /// Places by latitude and longitude; nil too when one is none.
  public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]]) {
    func points(_ ring: [(Double, Double)]) -> [GeoPoint]? {
      let points = ring.compactMap { GeoPoint($0) }
      return points.count == ring.count ? points : nil
    }
    let rings = holes.compactMap { points($0) }
    guard let outer = points(outerRing), rings.count == holes.count else { return nil }
    self.init(outerRing: outer, holes: rings)
  }
}

extension GeoPolygon {
  /// Whether rings enclose one area with holes in it.
  private static func boundAnArea(_ outer: GeoRing, _ holes: [GeoRing]) -> Bool {
    guard outer.isSimple else { return false }
    for (index, hole) in holes.enumerated() {
      guard hole.isSimple, !outer.touches(hole), outer.contains(hole) else { return false }
      for other in holes[(index + 1)...]
      where hole.touches(other) || hole.contains(other) || other.contains(hole) { return false }
    }
    return true
  }
}

/// The area around a place.
public struct GeoCircle: _Geospatial {
  /// The place in the middle.
  public let center: GeoPoint
  /// How far it reaches, as an angle at the centre of the globe.
  public let radiusInRadians: Double

  /// Nil when the radius is negative.
  public init?(center: GeoPoint, radiusInRadians: Double) {
    guard radiusInRadians >= 0 else { return nil }
    self.center = center
    self.radiusInRadians = radiusInRadians
  }

  /// The circle around a place.
  public init(center: GeoPoint, radius: Distance) {
    self.center = center
    radiusInRadians = radius.asRadians()
  }

  /// Nil when there is no radius.
  @_disfavoredOverload
  public init?(center: GeoPoint, radius: Distance?) {
    guard let radius else { return nil }
    self.init(center: center, radius: radius)
  }

  /// The place by latitude and longitude; nil when it is none, or the radius is negative.
  public init?(center: (Double, Double), radiusInRadians: Double) {
    guard let center = GeoPoint(center) else { return nil }
    self.init(center: center, radiusInRadians: radiusInRadians)
  }

  /// The place by latitude and longitude; nil when it is none, or there is no radius.
  public init?(center: (Double, Double), radius: Distance?) {
    guard let center = GeoPoint(center), let radius else { return nil }
    self.init(center: center, radius: radius)
  }
}

/// A way along the globe.
public struct Distance: Hashable, Sendable {
  /// The angle at the centre of the globe in radians.
  public let radians: Double

  private static let radiusInKilometers = 6378.1
  private static let kilometersOfMile = 1.609344

  private init?(_ radians: Double) {
    guard radians >= 0 else { return nil }
    self.radians = radians
  }

  /// A number of kilometers; nil when it is negative.
  public static func kilometers(_ kilometers: Double) -> Distance? {
    Distance(kilometers / radiusInKilometers)
  }

  /// A number of miles; nil when it is negative.
  public static func miles(_ miles: Double) -> Distance? { kilometers(miles * kilometersOfMile) }

  /// An angle at the centre of the globe, in degrees; nil when it is negative.
  public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees * .pi / 180) }

  /// An angle at the centre of the globe, in radians; nil when it is negative.
  public static func radians(_ radians: Double) -> Distance? { Distance(radians) }

  /// The distance in kilometers.
  public func asKilometers() -> Double { radians * Self.radiusInKilometers }

  /// The distance in miles.
  public func asMiles() -> Double { asKilometers() / Self.kilometersOfMile }

  /// The angle at the centre of the globe in degrees.
  public func asDegrees() -> Double { radians * 180 / .pi }

  /// The angle at the centre of the globe in radians.
  public func asRadians() -> Double { radians }
}
