// `IN` with many constants, and equalities of one path joined by OR: the same objects as when each
// constant is asked for by itself, for every type, with and without an index.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var int: Int?
  @Persisted(indexed: true) var indexedInt: Int
  @Persisted var double: Double
  @Persisted var optionalDouble: Double?
  @Persisted var float: Float
  @Persisted var bool: Bool?
  @Persisted var text: String?
  @Persisted(indexed: true) var indexedText: String
  @Persisted var data: Data
  @Persisted(indexed: true) var date: Date?
  @Persisted var decimal: Decimal128
  @Persisted var uuid: UUID
  @Persisted var mixed: AnyRealmValue
  @Persisted var friend: Item?
  @Persisted var texts: List<String>
  @Persisted var map: Map<String, Int>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct ManyConstantsTests {
  private static let uuids = (0..<40).map { _ in UUID() }

  private func text(_ number: Int) -> String {
    number % 7 == 0 ? "\(number)" : "https://example.org/\(number)"
  }

  private func filled(_ random: inout RandomGenerator) throws -> Results<Item> {
    let realm = try memoryRealm([Item.self])
    try realm.write {
      for id in 0..<150 {
        let item = Item()
        let number = Int.random(in: -20..<20, using: &random)
        item.id = id
        item.int = number == 3 ? nil : number
        item.indexedInt = number
        item.double = number == 5 ? .nan : number == 6 ? -0.0 : Double(number) / 2
        item.optionalDouble = number == 3 ? nil : Double(number) / 2
        item.float = Float(number) / 4
        item.bool = number % 3 == 0 ? nil : number % 2 == 0
        item.text = number == 7 ? nil : text(number)
        item.indexedText = text(number)
        item.data = Data(text(number).utf8)
        item.date = number == 8 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
        item.decimal = Decimal128(floatLiteral: Double(number) / 2)
        item.uuid = Self.uuids[number + 20]
        item.mixed = mixed(number)
        item.texts.append(objectsIn: [text(number), text(number + 1)])
        item.map["a"] = number
        item.map["b.c"] = number + 1
        realm.add(item)
        item.friend = id % 5 == 0 ? nil : realm.object(ofType: Item.self, forPrimaryKey: id / 2)
      }
    }
    return realm.objects(Item.self)
  }

  private func mixed(_ number: Int) -> AnyRealmValue {
    switch number % 8 {
    case 0: .none
    case 1, -1: .int(number)
    case 2, -2: .double(Double(number))
    case 3, -3: .string(text(number))
    case 4, -4: .decimal128(Decimal128(floatLiteral: Double(number)))
    case 5, -5: .float(Float(number) / 2)
    case 6, -6: .bool(number > 0)
    default: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    }
  }

  /// The objects for which one of the constants is found, each by itself.
  private func expected(_ items: Results<Item>, _ path: String, _ values: [Any]) -> Set<Int> {
    values.reduce(into: []) { $0.formUnion(items.filter("\(path) == %@", $1).map(\.id)) }
  }

  private func check(
    _ items: Results<Item>, _ path: String, _ values: [Any], quantifier: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let left = quantifier + path
    let wanted = expected(items, left, values)
    let found = items.filter(NSPredicate(format: "\(left) IN %@", argumentArray: [values]))
    #expect(Set(found.map(\.id)) == wanted, "\(left) IN", sourceLocation: sourceLocation)
    #expect(found.count == wanted.count, "\(left) IN count", sourceLocation: sourceLocation)
    #expect(
      items.filter(NSPredicate(format: "NOT \(left) IN %@", argumentArray: [values])).count
        == items.count - wanted.count,
      "NOT \(left) IN", sourceLocation: sourceLocation)
    let alternatives = values.map { _ in "\(left) == %@" }.joined(separator: " OR ")
    let joined = NSPredicate(format: alternatives, argumentArray: values)
    #expect(
      Set(items.filter(joined).map(\.id)) == wanted, "\(left) OR", sourceLocation: sourceLocation)
    #expect(
      Set(found.freeze().map(\.id)) == wanted, "\(left) frozen", sourceLocation: sourceLocation)
    for first in found.prefix(1) { #expect(found.first?.id == first.id) }
  }

  @Test func anyConstantsFindWhatEachFinds() async throws {
    await withSeeds(2) { random in
      let items = try filled(&random)
      for count in [1, 8, 9, 60] {
        let numbers = (0..<count).map { _ in Int.random(in: -30..<30, using: &random) }
        let halves = numbers.map { Double($0) / 2 }
        check(items, "id", numbers)
        check(items, "int", numbers.map { $0 % 9 == 0 ? NSNull() as Any : $0 })
        check(items, "indexedInt", numbers)
        check(items, "int", halves)
        check(items, "double", halves + [.nan, 0])
        check(items, "optionalDouble", halves.map { $0 as Any } + [NSNull()])
        check(items, "float", numbers.map { Float($0) / 4 })
        check(items, "bool", [true, NSNull()] + numbers.map { _ in true })
        check(items, "text", numbers.map { $0 % 11 == 0 ? NSNull() as Any : text($0) })
        check(items, "indexedText", numbers.map { text($0) })
        check(items, "data", numbers.map { Data(text($0).utf8) })
        check(items, "date", numbers.map { Date(timeIntervalSinceReferenceDate: Double($0)) })
        check(items, "decimal", halves.map { Decimal128(floatLiteral: $0) })
        check(items, "uuid", numbers.map { Self.uuids[abs($0)] })
        check(items, "mixed", numbers.map { $0 as Any } + halves + numbers.map { text($0) })
        check(
          items, "mixed", numbers.map { Decimal128(floatLiteral: Double($0)) as Any } + [true])
        check(items, "friend.int", numbers)
        check(items, "friend.indexedText", numbers.map { text($0) })
        check(items, "texts", numbers.map { text($0) }, quantifier: "ANY ")
        check(items, "map['a']", numbers)
        check(items, "map['b.c']", numbers)
        let friends = numbers.map { items[abs($0)] }
        check(items, "friend", friends.map { $0 as Any } + [NSNull()])
      }
    }
  }

  @Test func closuresAndFoldedTexts() throws {
    var random = RandomGenerator(seed: 5)
    let items = try filled(&random)
    let numbers = Array(0..<20)
    let texts = numbers.map { text($0) }
    let found = items.where { $0.indexedText.in(texts) }
    #expect(found.count == items.filter { texts.contains($0.indexedText) }.count)
    let upper = numbers.map { text($0).uppercased() }
    #expect(
      items.filter("text IN[c] %@", upper).count
        == items.filter { $0.text.map { upper.contains($0.uppercased()) } ?? false }.count)
    // Other paths, comparators and options stay by themselves.
    let parts = (0..<12).map { $0 % 2 == 0 ? "int == \($0)" : "indexedInt > \($0 + 8)" }
    let mixedUp: [Item] = items.filter { item in
      (0..<12).contains { $0 % 2 == 0 ? item.int == $0 : item.indexedInt > $0 + 8 }
    }
    #expect(items.filter(parts.joined(separator: " OR ")).count == mixedUp.count)
    let keys = (0..<20).map { "map['\($0 % 2 == 0 ? "\u{e9}" : "e\u{301}")'] == \($0)" }
      .joined(separator: " OR ")
    try items.realm?.write { items[0].map["e\u{301}"] = 4 }
    #expect(items.filter(keys).isEmpty)
    try items.realm?.write { items[0].map["e\u{301}"] = 5 }
    #expect(items.filter(keys).map(\.id) == [0])
  }
}
