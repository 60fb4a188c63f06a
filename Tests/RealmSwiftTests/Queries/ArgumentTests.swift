// What a condition can be given to compare with: Foundation's classes, Swift's other types of texts
// and numbers, and numbers that a property of another type cannot hold.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class AskedWith: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var mixed: AnyRealmValue
  @Persisted var text: String
  @Persisted var data: Data
  @Persisted var int: Int
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var decimal: Decimal128
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct ArgumentTests {
  private func realm(_ objects: [AskedWith]) throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [AskedWith.self]))
    try realm.write { for object in objects { realm.create(AskedWith.self, value: object) } }
    return realm
  }

  /// The identifiers of the objects that a format finds, in a Realm and without one.
  private func ids(
    _ format: String, _ argument: Any, _ objects: [AskedWith], _ realm: Realm
  ) -> (managed: [Int], plain: [Int]) {
    let predicate = NSPredicate(format: format, argumentArray: [argument])
    return (
      realm.objects(AskedWith.self).filter(predicate).map { $0.id }.sorted(),
      objects.filter { predicate.evaluate(with: $0) }.map { $0.id }
    )
  }

  @Test func foundationsAndSwiftsOtherTypes() throws {
    let data = Data([1, 2])
    let values: [AnyRealmValue] = [
      .string("five"), .data(data), .int(5), .double(2.5), .decimal128("2.5"), .none,
    ]
    let objects = values.enumerated().map { id, value in
      AskedWith(
        value: [
          "id": id, "mixed": value, "text": id == 0 ? "five" : "", "data": id == 1 ? data : Data(),
          "double": id == 3 ? 2.5 : 0, "decimal": id == 4 ? 2.5 : 0, "float": id == 3 ? 2.5 : 0,
        ] as [String: Any])
    }
    let realm = try realm(objects)
    let arguments: [(Any, mixed: [Int], property: String, Int)] = [
      (NSString(string: "five"), [0], "text", 0),
      (NSMutableString(string: "five"), [0], "text", 0),
      ("fives".dropLast(), [0], "text", 0),
      (NSData(data: data), [1], "data", 1),
      (NSMutableData(data: data), [1], "data", 1),
      (CGFloat(2.5), [3, 4], "double", 3), (CGFloat(2.5), [3, 4], "decimal", 4),
      (Float16(2.5), [3, 4], "float", 3), (Float16(2.5), [3, 4], "decimal", 4),
      (Decimal(2.5), [3, 4], "double", 3), (Decimal(2.5), [3, 4], "decimal", 4),
      (NSDecimalNumber(string: "2.5"), [3, 4], "double", 3),
      (NSNumber(value: 2.5), [3, 4], "decimal", 4),
    ]
    for (argument, mixed, property, id) in arguments {
      for (format, expected) in [
        ("mixed == %@", mixed), ("%@ == mixed", mixed), ("\(property) == %@", [id]),
      ] {
        let found = ids(format, argument, objects, realm)
        #expect(found.managed == expected, "\(format), \(type(of: argument))")
        #expect(found.plain == expected, "\(format), \(type(of: argument)), plain")
      }
      for (format, expected) in [("mixed IN %@", mixed), ("\(property) IN %@", [id])] {
        let found = ids(format, [argument], objects, realm)
        #expect(found.managed == expected, "\(format), \(type(of: argument))")
        #expect(found.plain == expected, "\(format), \(type(of: argument)), plain")
      }
    }
    for argument in [NSString(string: "iv"), "iv".dropFirst(0)] as [Any] {
      #expect(ids("mixed CONTAINS %@", argument, objects, realm).managed == [0])
    }
  }

  /// As Xcode proposes it on Apple's systems.
  @Test func argumentsOfFoundationsVariadicForm() throws {
    let date = Date(timeIntervalSince1970: 5)
    let objects = (0..<3).map { AskedWith(value: ["id": $0, "int": $0, "text": "t\($0)"]) }
    objects[1].mixed = .date(date)
    objects[2].mixed = .uuid(UUID(uuidString: "00000000-0000-0000-0000-000000000001")!)
    let realm = try realm(objects)
    let uuid = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
    let arguments: [(String, any CVarArg, [Int])] = [
      ("mixed == %@", date as any CVarArg, [1]),
      ("mixed == %@", date as NSDate as any CVarArg, [1]),
      ("mixed == %@", uuid as any CVarArg, [2]), ("int IN %@", [0, 2] as any CVarArg, [0, 2]),
      ("int IN %@", Set([1]) as any CVarArg, [1]),
      ("int == %@", NSNumber(value: 2) as any CVarArg, [2]),
      ("text == %@", "t1" as any CVarArg, [1]), ("int == %@", Decimal(1) as any CVarArg, [1]),
      ("int IN %@", NSArray(array: [2]) as any CVarArg, [2]),
    ]
    for (format, argument, expected) in arguments {
      let predicate = NSPredicate(format: format, argument)
      let found = realm.objects(AskedWith.self).filter(predicate).map { $0.id }.sorted()
      #expect(found == expected, "\(format), \(type(of: argument))")
    }
    let object = realm.objects(AskedWith.self)[0]
    #expect(realm.objects(AskedWith.self).filter("SELF == %@", object as any CVarArg).count == 1)
    #expect(String(format: "%@ %d", uuid as any CVarArg, 7) == "\(uuid) 7")
  }

  /// What stands behind IN: the values of a dictionary, too, and of a mixed value's collection.
  @Test func collections() throws {
    let objects = (0..<4).map { AskedWith(value: ["id": $0, "int": $0, "mixed": $0]) }
    let realm = try realm(objects)
    let (map, list, mixed) = (Map<String, Int?>(), List<Int>(), List<AnyRealmValue>())
    map["a"] = 1
    map["b"] = 2
    map["none"] = .some(nil)
    list.append(objectsIn: [1, 2])
    mixed.append(objectsIn: [.int(1), .int(2)])
    let entries = Map<String, AnyRealmValue>()
    entries["a"] = .int(1)
    entries["b"] = .int(2)
    let arguments: [Any] = [
      map, list, mixed, AnyRealmValue.list(mixed), AnyRealmValue.dictionary(entries),
      ["a": 1, "b": 2], [1: 1, 2: 2.0], NSDictionary(dictionary: ["a": 1, "b": 2]), Set([1, 2]),
      NSOrderedSet(array: [1, 2]), 1...2, [0, 1, 2].dropFirst(), [1, nil, 2] as [Int?],
    ]
    for argument in arguments {
      for format in ["int IN %@", "mixed IN %@"] {
        let found = ids(format, argument, objects, realm)
        #expect(found.managed == [1, 2], "\(format), \(type(of: argument))")
        #expect(found.plain == [1, 2], "\(format), \(type(of: argument)), plain")
      }
    }
  }

  /// No number is rounded to one that the property can have, neither alone nor among many.
  @Test func numbersThatAPropertyCannotHold() throws {
    let numbers: [Double] = [0, 0x1p53, 0x1p63, .infinity, .nan, 0.1]
    let objects = numbers.enumerated().map { id, number in
      AskedWith(
        value: [
          "id": id, "mixed": -1, "double": number, "float": Float(number),
          "int": id == 2 ? Int.max : id == 4 ? -1 : id,
        ] as [String: Any])
    }
    let realm = try realm(objects)
    let many = (100..<120).map { $0 as Any }
    let tenth = Decimal128("0.1000000000000000055511151231257827")
    let cases: [(String, Any, [Int])] = [
      ("double == %@", (1 << 53) + 1, []), ("double < %@", (1 << 53) + 1, [0, 1, 5]),
      ("double > %@", Int.max, [2, 3]), ("double <= %@", Int.max, [0, 1, 5]),
      ("double IN %@", many + [(1 << 53) + 1], []), ("double IN %@", many + [1 << 53], [1]),
      ("double == %@", Decimal128("9223372036854775807"), []),
      ("double > %@", Decimal128("9223372036854775807"), [2, 3]),
      ("double == %@", tenth, []), ("double < %@", tenth, [0, 5]),
      ("double IN %@", many + [tenth, Decimal128("9223372036854775808")], [2]),
      ("double == %@", Decimal128("NaN"), []), ("double != %@", Decimal128("NaN"), Array(0..<6)),
      ("double BETWEEN %@", [Decimal128("0.05"), tenth] as [Any], [5]),
      ("int == %@", Decimal128("NaN"), []), ("int < %@", Decimal128("1E400"), Array(0..<6)),
      ("int == %@", Decimal128("0.1000000000000000055511151231257827"), []),
      ("int == %@", NSNumber(value: UInt64.max), []),
      ("mixed == %@", NSNumber(value: UInt64.max), []),
      ("int IN %@", many + [tenth, 3], [3]),
      ("int >= %@", Decimal128("9223372036854775806.5"), [2]),
      ("float == %@", Decimal128("NaN"), []), ("float == %@", tenth, [5]),
      ("float == %@", 1e300, []), ("float != %@", 1e300, Array(0..<6)),
      ("float > %@", 1e39, [3]), ("float < %@", 1e39, [0, 1, 2, 5]),
      ("float IN %@", many + [1e300], []), ("float IN %@", [1e300, Double.infinity], [3]),
    ]
    for (format, argument, expected) in cases {
      let found = ids(format, argument, objects, realm)
      #expect(found.managed == expected, "\(format)")
      if format.hasPrefix("float") { #expect(found.plain == expected, "\(format), plain") }
    }
  }
}
