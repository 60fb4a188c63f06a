// Objects with a property of each sort, random ones among them with many equal values, and what
// plain Swift makes of their order.
import Dispatch
import Foundation
import Platform
import RealmSwift

enum Kind: Int, PersistableEnum {
  case first = -2
  case second = 0
  case third = 7
}

/// What entries link to.
class Place: Object {
  @Persisted var number: Int?
  @Persisted var name: String
  @Persisted var region: Place?
  @Persisted(originProperty: "place") var entries: LinkingObjects<Entry>
}

/// An object with a property of each sort.
class Entry: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var small: Int
  @Persisted var wide: Int
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var date: Date
  @Persisted var text: String
  @Persisted var data: Data
  @Persisted var uuid: UUID
  @Persisted var objectId: ObjectId
  @Persisted var decimal: Decimal128
  @Persisted var kind: Kind
  @Persisted var mixed: AnyRealmValue
  @Persisted var optInt: Int?
  @Persisted var optBool: Bool?
  @Persisted var optDouble: Double?
  @Persisted var optDate: Date?
  @Persisted var optText: String?
  @Persisted var optUuid: UUID?
  @Persisted var place: Place?
  @Persisted var friends: List<Entry>
  @Persisted var numbers: List<Int>
  @Persisted var words: List<String?>
}

/// Texts that differ behind their eighth byte, in length only, in bytes with the top bit, and long
/// ones.
let texts: [String] = {
  let long = String(repeating: "long text ", count: 180)
  return [
    "", "a", "a\0", "a\0\0", "A", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abcdefgi",
    "article-0001",
    "article-0002", "article-0002x", "article-01", "Äpfel", "äpfel", "e\u{301}", "é", "E", "straße",
    "STRASSE", "日本", "日", "x*y", "İstanbul", "ﬁn", "zebra", long, long + "a", long + "b",
    String(long.dropLast()),
  ]
}()

extension Entry {
  static func random(_ id: Int, _ random: inout RandomGenerator, places: [Place] = []) -> Entry {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let entry = Entry()
    entry.id = id
    entry.change(&random, places: places)
    for _ in 0..<number(4) { entry.numbers.append(number(9) - 4) }
    for _ in 0..<number(4) {
      entry.words.append(number(4) == 0 ? nil : texts[number(texts.count)])
    }
    return entry
  }

  /// Other values.
  func change(_ random: inout RandomGenerator, places: [Place]) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    func text() -> String {
      number(3) == 0
        ? "item-\(number(3))-" + String(number(100_000), radix: 7) : texts[number(texts.count)]
    }
    func id() -> UUID {
      var bytes = UUID().uuid
      bytes.0 = UInt8(number(2) * 200)
      bytes.8 = UInt8(number(3))
      (bytes.1, bytes.2, bytes.3, bytes.4, bytes.5) = (0, 0, 0, 0, 0)
      (bytes.6, bytes.7, bytes.9, bytes.10, bytes.11) = (0, 0, 0, 0, 0)
      (bytes.12, bytes.13, bytes.14, bytes.15) = (0, 0, 0, UInt8(number(2)))
      return UUID(uuid: bytes)
    }
    bool = number(2) == 0
    small = number(12) - 6
    wide =
      number(8) == 0 ? [Int.max, .min, 0, -1][number(4)] : Int(truncatingIfNeeded: random.next())
    float = number(20) == 0 ? .infinity : Float(number(40)) / 8 - 2
    double =
      number(3) == 0
      ? [-Double.infinity, .infinity, -0.0, 0, .leastNonzeroMagnitude, -1.5][number(6)]
      : Double(number(1 << 40)) / 1e6 - 3e5
    date = Date(timeIntervalSinceReferenceDate: Double(number(50)) / 4 - 3)
    self.text = text()
    data = Data((0..<number(12)).map { _ in UInt8(number(3) * 100) })
    uuid = id()
    objectId = try! ObjectId(string: String(format: "%024x", number(30) * 0x1_0000_0001))
    decimal =
      number(2) == 0
      ? Decimal128(value: number(9) - 4) : try! Decimal128(string: "\(number(99)).\(number(99))")
    kind = [.first, .second, .third][number(3)]
    switch number(6) {
    case 0: mixed = .none
    case 1: mixed = .int(number(9) - 4)
    case 2: mixed = .string(text())
    case 3: mixed = .double(Double(number(9)) / 2 - 2)
    case 4: mixed = .bool(number(2) == 0)
    default: mixed = .date(Date(timeIntervalSinceReferenceDate: Double(number(5))))
    }
    optInt = number(3) == 0 ? nil : number(8) - 3
    optBool = number(3) == 0 ? nil : number(2) == 0
    optDouble = number(3) == 0 ? nil : Double(number(9)) / 2 - 2
    optDate = number(3) == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number(6)))
    optText = number(3) == 0 ? nil : text()
    optUuid = number(3) == 0 ? nil : id()
    place = places.isEmpty || number(4) == 0 ? nil : places[number(places.count)]
  }

  static func makePlaces(_ count: Int, _ random: inout RandomGenerator) -> [Place] {
    var places: [Place] = []
    for index in 0..<count {
      let place = Place()
      if random.next() % 3 > 0 { place.number = Int(random.next() % 7) - 3 }
      place.name = texts[Int(random.next() % UInt64(texts.count))]
      if index > 0, random.next() % 2 == 0 {
        place.region = places[Int(random.next() % UInt64(index))]
      }
      places.append(place)
    }
    return places
  }
}

/// A Realm in memory with random entries, some of which were deleted again.
func filledRealm(_ count: Int, _ random: inout RandomGenerator, deletes: Bool = true) throws
  -> Realm
{
  let realm = try Realm(
    configuration: Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [Entry.self, Place.self]))
  let made = Entry.makePlaces(20, &random)
  try realm.write {
    realm.add(made)
    let places = Array(realm.objects(Place.self))
    for id in 0..<count { realm.add(Entry.random(id, &random, places: places)) }
    if deletes {
      for entry in Array(realm.objects(Entry.self)) where random.next() % 16 == 0 {
        realm.delete(entry)
      }
    }
  }
  return realm
}

// MARK: - Plain Swift

/// A property to sort by, and how plain Swift compares two objects by it: negative, 0 or positive.
struct SortCase: Sendable {
  let path: String
  let order: @Sendable (Entry, Entry) -> Int

  static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left > right ? 1 : 0
  }

  static func compareBytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
  }

  /// Nil comes first.
  static func compare<Value>(
    _ left: Value?, _ right: Value?, _ order: (Value, Value) -> Int
  ) -> Int {
    guard let left else { return right == nil ? 0 : -1 }
    guard let right else { return 1 }
    return order(left, right)
  }

  static func value<Value: Comparable & SendableMetatype>(
    _ path: String, _ value: @escaping @Sendable (Entry) -> Value
  ) -> SortCase {
    SortCase(path: path) { compare(value($0), value($1)) }
  }

  static func optional<Value: Comparable & SendableMetatype>(
    _ path: String, _ value: @escaping @Sendable (Entry) -> Value?
  ) -> SortCase {
    SortCase(path: path) { compare(value($0), value($1), compare) }
  }

  static func bytes(
    _ path: String, _ value: @escaping @Sendable (Entry) -> [UInt8]?
  ) -> SortCase {
    SortCase(path: path) { compare(value($0), value($1), compareBytes) }
  }

  static let all: [SortCase] = [
    value("bool") { $0.bool ? 1 : 0 }, value("small") { $0.small }, value("wide") { $0.wide },
    value("float") { $0.float }, value("double") { $0.double }, value("date") { $0.date },
    bytes("text") { Array($0.text.utf8) }, bytes("data") { Array($0.data) },
    bytes("uuid") { bytes(of: $0.uuid) }, bytes("objectId") { Array($0.objectId.stringValue.utf8) },
    value("decimal") { $0.decimal }, value("kind") { $0.kind.rawValue },
    optional("optInt") { $0.optInt }, optional("optBool") { $0.optBool.map { $0 ? 1 : 0 } },
    optional("optDouble") { $0.optDouble }, optional("optDate") { $0.optDate },
    bytes("optText") { $0.optText.map { Array($0.utf8) } },
    bytes("optUuid") { $0.optUuid.map { bytes(of: $0) } },
    optional("place.number") { $0.place?.number },
    bytes("place.name") { $0.place.map { Array($0.name.utf8) } },
    optional("place.region.number") { $0.place?.region?.number },
    bytes("place.region.name") { ($0.place?.region).map { Array($0.name.utf8) } },
  ]

  static func bytes(of id: UUID) -> [UInt8] { withUnsafeBytes(of: id.uuid) { Array($0) } }

  /// What plain Swift makes of some paths' order; equal elements stay in theirs.
  static func sorted(_ entries: [Entry], _ keys: [(key: SortCase, isAscending: Bool)]) -> [Entry] {
    entries.enumerated().sorted { left, right in
      for (key, isAscending) in keys {
        let order = key.order(left.element, right.element)
        if order != 0 { return (order < 0) == isAscending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}

/// Runs `body` with another Realm of the same file, on a queue of its own.
func inAnotherRealm(of realm: Realm, _ body: (Realm) throws -> Void) throws {
  let configuration = realm.configuration
  let queue = DispatchQueue(label: "another Realm")
  try queue.sync { try body(Realm(configuration: configuration, queue: queue)) }
}

extension Sequence where Element == Entry {
  /// The primary keys, in order.
  var ids: [Int] {
    var ids: [Int] = []
    for entry in self { ids.append(entry.id) }
    return ids
  }
}
