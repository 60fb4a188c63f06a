// Which queries count as the same: what is found for one serves the other. Constants of every type
// can be compared, and different ones are not taken for each other.
import Foundation
import TestSupport
import Testing

@testable import RealmSwift

private class Priced: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var price: Decimal128
  @Persisted var value: AnyRealmValue
  @Persisted var owner: Priced?
  @Persisted var place: Quarter?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Quarter: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct QueryIdentityTests {
  private func filled() throws -> Realm {
    let realm = try memoryRealm([Priced.self, Quarter.self])
    try realm.write { for id in 0..<3 { realm.create(Priced.self, value: ["id": id]) } }
    return realm
  }

  private func identity(_ realm: Realm, _ format: String, _ constants: [Any]) -> QueryIdentity? {
    identity(
      realm.objects(Priced.self).filter(NSPredicate(format: format, argumentArray: constants)))
  }

  private func identity(_ results: Results<Priced>) -> QueryIdentity? {
    (results.source as? QuerySource<Priced>)?.makeIdentity()
  }

  /// Each of them is equal to itself alone.
  @Test func constantsOfEveryTypeAreKnown() throws {
    let realm = try filled()
    let objects = Array(realm.objects(Priced.self))
    let constants: [[Any]] = [
      [1], [2], [1 as UInt8], [UInt64.max], [true], [false], [1.0], [1.5], [Float(1.5)],
      [NSNumber(value: 1)], [NSNumber(value: 1.5)], [NSNumber(value: true)],
      [NSDecimalNumber(string: "1.75")], [Decimal(string: "1.5")!], [Decimal(string: "1.6")!],
      [Decimal128(value: 1)], [Decimal128(value: 2)], ["1"], ["e\u{301}"], ["\u{e9}"],
      [Date(timeIntervalSinceReferenceDate: 1)], [Date(timeIntervalSinceReferenceDate: 2)],
      [Data([1])], [Data([1, 0])], [UUID()], [UUID()], [ObjectId.generate()],
      [ObjectId.generate()], [objects[0]], [objects[1]], [NSNull()], [[1, 2]], [[1], [2]], [[]],
      [[objects[0]]], [[objects[0], objects[1]]],
    ]
    func identityOf(_ constants: [Any]) -> QueryIdentity? {
      identity(realm, constants[0] is [Any] ? "value IN %@" : "value == %@", constants)
    }
    for (position, one) in constants.enumerated() {
      let known = identityOf(one)
      #expect(known != nil, "\(one)")
      for (other, another) in constants.enumerated() {
        #expect((identityOf(another) == known) == (other == position), "\(one) and \(another)")
      }
    }
  }

  @Test func areasAreKnown() throws {
    let realm = try filled()
    func ofCircle(_ radius: Double) -> QueryIdentity? {
      let circle = GeoCircle(center: (1, 2), radiusInRadians: radius)!
      return identity(realm.objects(Priced.self).where { $0.place.geoWithin(circle) })
    }
    #expect(ofCircle(0.1) != nil && ofCircle(0.1) == ofCircle(0.1))
    #expect(ofCircle(0.1) != ofCircle(0.2))
  }

  /// It may be added later: then the query has other elements.
  @Test func anObjectOfNoRealmIsNotKnown() throws {
    let realm = try filled()
    #expect(identity(realm, "owner == %@", [Priced()]) == nil)
    let other = try filled().objects(Priced.self)[0]
    #expect(identity(realm, "owner == %@", [other]) == nil)
  }
}
