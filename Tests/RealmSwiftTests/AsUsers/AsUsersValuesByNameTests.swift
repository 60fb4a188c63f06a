// Untyped values: which of them each type of property takes, in every place where they are given,
// and what is said of the others.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum AnythingGrade: Int, PersistableEnum {
  case one = 1
  case two
}

private class Anything: Object {
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var small: Int8
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var decimal: Decimal128
  @Persisted var oid: ObjectId
  @Persisted var uuid: UUID
  @Persisted var grade: AnythingGrade
  @Persisted var any: AnyRealmValue
  @Persisted var link: Anything?
  @Persisted var part: AnythingPart?
  @Persisted var maybe: Int?
  @Persisted var ints: List<Int>
  @Persisted var maybes: List<Int?>
  @Persisted var links: List<Anything>
  @Persisted var texts: MutableSet<String>
  @Persisted var counts: Map<String, Int>
  @Persisted var linkMap: Map<String, Anything?>
  @Persisted var parts: List<AnythingPart>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class AnythingPart: EmbeddedObject {
  @Persisted var number: Int
  @Persisted var text: String?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let anythingClasses: [ObjectBase.Type] = [Anything.self, AnythingPart.self]

/// The places where a value can be given.
enum GivingPlace: String, CaseIterable, Sendable {
  case setUnmanaged, initializer, setManaged, create

  fileprivate func give(_ value: Any, for key: String) throws {
    switch self {
    case .setUnmanaged: Anything()[key] = value
    case .initializer: _ = Anything(value: [key: value])
    case .setManaged:
      let realm = try memoryRealm(anythingClasses)
      try realm.write { realm.create(Anything.self)[key] = value }
    case .create:
      let realm = try memoryRealm(anythingClasses)
      try realm.write { _ = realm.create(Anything.self, value: [key: value]) }
    }
  }
}

/// Values that fit no property of the name, by what is said of them.
private func wrongValue(_ number: Int) -> (key: String, value: Any, message: String) {
  let values: [(String, Any, String)] = [
    ("bool", 1.1, "Invalid value '1.1' of type 'Double' for 'bool' property 'Anything.bool'."),
    ("bool", 2, "Invalid value '2' of type 'Int' for 'bool' property 'Anything.bool'."),
    ("int", 1.1, "Invalid value '1.1' of type 'Double' for 'int' property 'Anything.int'."),
    ("int", NSNull(), "Invalid value 'nil' for 'int' property 'Anything.int'."),
    ("small", 300, "Invalid value '300' of type 'Int' for 'int' property 'Anything.small'."),
    (
      "double", true, "Invalid value 'true' of type 'Bool' for 'double' property 'Anything.double'."
    ),
    ("maybe", "x", "Invalid value 'x' of type 'String' for 'int?' property 'Anything.maybe'."),
    ("link", AnythingPart(), "of type 'AnythingPart' for 'Anything?' property 'Anything.link'."),
    ("part", Anything(), "of type 'Anything' for 'AnythingPart?' property 'Anything.part'."),
    ("ints", ["x"], "for 'int' array property 'Anything.ints'."),
    ("links", [AnythingPart()], "for 'Anything' array property 'Anything.links'."),
    ("texts", [5], "for 'string' set property 'Anything.texts'."),
    ("counts", ["a": "x"], "for 'int' dictionary property 'Anything.counts'."),
    ("linkMap", ["a": 4], "for 'Anything?' dictionary property 'Anything.linkMap'."),
  ]
  return values[number]
}

@Suite(.ownThreads) struct AsUsersValuesByNameTests {
  @Test(arguments: GivingPlace.allCases) func valuesThatFit(place: GivingPlace) throws {
    let null = NSNull()
    let values: [(String, [Any])] = [
      ("bool", [true, 1, 0, NSNumber(value: true)]),
      ("int", [Int8(4), UInt8(4), UInt(4), 4.0, NSNumber(value: 5), NSNumber(value: 5.0)]),
      ("float", [1, 1.5, NSNumber(value: 2.5)]), ("double", [1, Float(2)]),
      ("string", ["a", NSString(string: "x")]), ("data", [Data(), NSData()]),
      ("date", [Date(), NSDate()]),
      ("decimal", [1, "1.5", 1.5, NSNumber(value: 3), Decimal128(3), Decimal(2)]),
      ("uuid", [UUID(), UUID().uuidString, NSUUID()]), ("oid", [ObjectId.generate()]),
      ("grade", [1, AnythingGrade.two]),
      ("any", [null, 5, ["a": [1, ["b": null]] as [Any]], Anything()]),
      ("link", [null, ["int": 3], [true, 3] as [Any], Anything()]),
      ("part", [null, ["number": 3], [3], AnythingPart()]),
      ("maybe", [null, Int?.none as Any, Int?.some(4) as Any]),
      ("ints", [[1, 2], null, NSArray(array: [1]), Set([1]), List<Int>(), [Any]()]),
      ("maybes", [[1, null] as [Any], [1, nil] as [Int?]]),
      ("links", [[Anything(), ["int": 3]] as [Any], null]),
      ("texts", [["a"], Set(["a"]), NSSet(array: ["q"]), null]),
      ("counts", [["a": 1], NSDictionary(dictionary: ["a": 1]), null]),
      ("linkMap", [["a": null, "b": Anything(), "c": ["int": 3]] as [String: Any]]),
      ("parts", [[["number": 3], AnythingPart(), [4]] as [Any]]),
    ]
    for (key, values) in values {
      for value in values { try place.give(value, for: key) }
    }
  }

  @Test(arguments: 0..<14) func valuesThatDoNotFitStop(number: Int) async throws {
    // Every place in turn: a stop ends its process.
    let place = GivingPlace.allCases[number % 4].rawValue
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [number = number as Int, place = place as String] in
      let (key, value, _) = wrongValue(number)
      try GivingPlace(rawValue: place)!.give(value, for: key)
    }
    expectStop(result, wrongValue(number).message)
  }
}
