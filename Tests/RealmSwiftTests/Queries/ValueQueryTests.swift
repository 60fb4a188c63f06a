// Queries on decimals, identifiers, enums and the client's own types, and on indexed properties.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// Every type that can be indexed.
class Indexed: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var int: Int
  @Persisted(indexed: true) var optInt: Int?
  @Persisted(indexed: true) var string: String
  @Persisted(indexed: true) var optString: String?
  @Persisted(indexed: true) var bool: Bool
  @Persisted(indexed: true) var date: Date
  @Persisted(indexed: true) var uuid: UUID
}

/// Types of the client's.
class Weather: Object {
  @Persisted(primaryKey: true) var place: String
  @Persisted var warmth: Celsius
  @Persisted var night: Celsius?
}

@Suite(.ownThreads) struct ValueQueryTests {
  @Test func decimals() throws {
    let realm = try memoryRealm([Price.self])
    let amounts: [Decimal128] = ["1.10", "1.1", "-3", "1e20", "NaN", "0"]
    try realm.write {
      for (id, amount) in amounts.enumerated() {
        realm.create(
          Price.self,
          value: ["id": id, "amount": amount, "discount": id % 2 == 0 ? amount : nil]
            as [String: Any?]
        )
      }
    }
    let prices = realm.objects(Price.self)
    #expect(prices.where { $0.amount == 1.1 }.map(\.id).elementsEqual([0, 1]))
    #expect(prices.where { $0.amount > 0 }.map(\.id).elementsEqual([0, 1, 3]))
    #expect(prices.where { $0.amount.contains(-3...0) }.map(\.id).elementsEqual([2, 5]))
    #expect(prices.filter("amount < %@", Decimal128(2)).map(\.id).elementsEqual([0, 1, 2, 5]))
    #expect(prices.filter("amount == 1.1").map(\.id).elementsEqual([0, 1]))
    #expect(prices.where { $0.discount == nil }.map(\.id).elementsEqual([1, 3, 5]))
    #expect(prices.where { $0.discount != 1.1 }.count == 5)
    #expect(prices.where { $0.id < 3 }.sum(of: \.amount) == "-0.8")
    #expect(prices.where { $0.id < 3 }.min(of: \.amount) == -3)
    #expect(
      prices.where { $0.id < 3 }.sorted(by: \.amount).map(\.id).elementsEqual([2, 0, 1]))
    let mean: Decimal128? = prices.where { $0.id < 2 }.average(of: \.amount)
    #expect(mean == 1.1)
  }

  @Test func identifiers() throws {
    let realm = try memoryRealm([Note.self, Device.self])
    let ids = (0..<20).map { _ in ObjectId.generate() }
    let uuids = (0..<20).map { _ in UUID() }
    try realm.write {
      for (index, id) in ids.enumerated() {
        realm.create(
          Note.self,
          value: ["id": id, "text": "\(index)", "author": index < 5 ? nil : ids[index % 3]]
            as [String: Any?])
        realm.create(
          Device.self, value: ["id": uuids[index], "name": "\(index)", "group": uuids[index % 2]])
      }
    }
    let notes = realm.objects(Note.self)
    #expect(notes.where { $0.id == ids[3] }.map(\.text).elementsEqual(["3"]))
    #expect(notes.where { $0.id != ids[3] }.count == 19)
    #expect(notes.where { $0.author == nil }.count == 5)
    #expect(notes.where { $0.author == ids[1] }.count == 5)
    #expect(notes.where { $0.author != ids[1] }.count == 15)
    #expect(notes.where { $0.author.in([ids[0], nil]) }.count == 10)
    #expect(notes.filter("id IN %@", [ids[0], ids[4]]).count == 2)
    #expect(notes.where { $0.id >= ids[10] }.count == ids.count { $0 >= ids[10] })
    let devices = realm.objects(Device.self)
    #expect(devices.where { $0.id == uuids[7] }.first?.name == "7")
    #expect(devices.filter("group == %@", uuids[1]).count == 10)
    #expect(devices.where { $0.group.in([uuids[0]]) && $0.id != uuids[0] }.count == 9)
  }

  @Test func enums() throws {
    let realm = try memoryRealm([Card.self, Deck.self])
    try realm.write {
      for suit in Suit.allCases {
        let card = realm.create(Card.self, value: ["suit": suit])
        card.level = suit == .hearts ? .high : .low
        card.optionalSuit = suit == .hearts ? nil : suit
      }
      let deck = realm.create(Deck.self)
      deck.suits.append(.clubs)
      deck.suits.append(.hearts)
    }
    let cards = realm.objects(Card.self)
    #expect(cards.where { $0.suit == .hearts }.map(\.suit).elementsEqual([.hearts]))
    #expect(cards.where { $0.suit != .hearts }.count == 2)
    #expect(cards.where { $0.suit.in([.hearts, .clubs]) }.count == 2)
    #expect(cards.where { $0.level > .low }.map(\.suit).elementsEqual([.hearts]))
    #expect(cards.where { $0.level.rawValue == 100 }.count == 1)
    #expect(
      cards.where { $0.suit.rawValue.contains("e") }.map(\.suit).elementsEqual([.spades, .hearts]))
    #expect(cards.where { $0.optionalSuit == nil }.count == 1)
    #expect(cards.where { $0.optionalSuit == .spades }.count == 1)
    #expect(cards.where { $0.optionalSuit.rawValue.starts(with: "sp") }.count == 1)
    #expect(cards.filter("suit == %@", Suit.clubs).count == 1)
    #expect(cards.filter("suit == 'hearts' AND level == 100").count == 1)
    let decks = realm.objects(Deck.self)
    #expect(decks.where { $0.suits.contains(.clubs) }.count == 1)
    #expect(decks.where { $0.suits.contains(.spades) }.isEmpty)
    #expect(decks[0].suits.where { $0 == .hearts }.count == 1)
    let query = Query<Card>._constructForTesting()
    let (text, arguments) = (query.suit == .hearts)._constructPredicate()
    #expect(text == "(suit == %@)" && arguments as? [String] == ["hearts"])
  }

  @Test func ownTypes() throws {
    let realm = try memoryRealm([Weather.self])
    try realm.write {
      for degrees in 0..<5 {
        let weather = realm.create(Weather.self, value: ["place": "\(degrees)"])
        weather.warmth = Celsius(degrees: Double(degrees))
        weather.night = degrees < 2 ? nil : Celsius(degrees: Double(-degrees))
      }
    }
    let all = realm.objects(Weather.self)
    #expect(all.where { $0.warmth == Celsius(degrees: 3) }.map(\.place).elementsEqual(["3"]))
    #expect(all.where { $0.warmth > Celsius(degrees: 3) }.map(\.place).elementsEqual(["4"]))
    #expect(all.where { $0.warmth.persistableValue < 2 }.count == 2)
    #expect(all.where { $0.night == nil }.count == 2)
    #expect(all.where { $0.night == Celsius(degrees: -3) }.count == 1)
    #expect(all.where { $0.night.persistableValue < -2 }.count == 2)
    #expect(all.where { $0.warmth.in([Celsius(degrees: 1), Celsius(degrees: 9)]) }.count == 1)
  }

  // MARK: - Indexes

  private static let cases: [QueryCase<Indexed>] = [
    QueryCase("id == 7", [], { $0.id == 7 }, { $0.id == 7 }),
    QueryCase(
      "id IN {7, 900, 3, 7}", [], { $0.id.in([7, 900, 3, 7]) }, { [7, 3].contains($0.id) }),
    QueryCase("int == 3", [], { $0.int == 3 }, { $0.int == 3 }),
    QueryCase("int == 3.5", [], { $0.int == 3 && $0.int == 4 }, { _ in false }),
    QueryCase("int < -48", [], { $0.int < -48 }, { $0.int < -48 }),
    QueryCase("int >= 48", [], { $0.int >= 48 }, { $0.int >= 48 }),
    QueryCase("int BETWEEN {3, 4}", [], { $0.int.contains(3...4) }, { (3...4) ~= $0.int }),
    QueryCase("int != 3", [], { $0.int != 3 }, { $0.int != 3 }),
    QueryCase(
      "int == 3 OR int == 4", [], { $0.int == 3 || $0.int == 4 }, { [3, 4].contains($0.int) }),
    QueryCase(
      "int == 3 OR id > 5", [], { $0.int == 3 || $0.id > 5 }, { $0.int == 3 || $0.id > 5 }),
    QueryCase(
      "int > 40 AND optInt == nil", [], { $0.int > 40 && $0.optInt == nil },
      { $0.int > 40 && $0.optInt == nil }),
    QueryCase("optInt == nil", [], { $0.optInt == nil }, { $0.optInt == nil }),
    QueryCase("optInt == 5", [], { $0.optInt == 5 }, { $0.optInt == 5 }),
    QueryCase(
      "optInt IN {5, nil}", [], { $0.optInt.in([5, nil]) }, { $0.optInt == 5 || $0.optInt == nil }),
    QueryCase("optInt <= -40", [], { $0.optInt <= -40 }, { ($0.optInt ?? 0) <= -40 }),
    QueryCase("string == 'word 12'", [], { $0.string == "word 12" }, { $0.string == "word 12" }),
    QueryCase(
      "string ==[c] 'WORD 12'", [], { $0.string.equals("WORD 12", options: .caseInsensitive) },
      { $0.string == "word 12" }),
    QueryCase("string == ''", [], { $0.string == "" }, { $0.string.isEmpty }),
    QueryCase(
      "string < 'word 11'", [], { $0.string < "word 11" }, { isLess($0.string, "word 11") }),
    QueryCase(
      "optString IN {'word 3', nil}", [], { $0.optString.in(["word 3", nil]) },
      { $0.optString == "word 3" || $0.optString == nil }),
    QueryCase("bool == true", [], { $0.bool }, { $0.bool }),
    QueryCase(
      "date == %@", [Date(timeIntervalSinceReferenceDate: 3)],
      { $0.date == Date(timeIntervalSinceReferenceDate: 3) },
      { $0.date == Date(timeIntervalSinceReferenceDate: 3) }),
    QueryCase(
      "date < %@", [Date(timeIntervalSinceReferenceDate: -40.5)],
      { $0.date < Date(timeIntervalSinceReferenceDate: -40.5) },
      { $0.date < Date(timeIntervalSinceReferenceDate: -40.5) }),
    QueryCase(
      "uuid == %@", [UUID(uuidString: "00000000-0000-0000-0000-000000000003")!],
      { $0.uuid == UUID(uuidString: "00000000-0000-0000-0000-000000000003")! },
      { $0.uuid == UUID(uuidString: "00000000-0000-0000-0000-000000000003")! }),
  ]

  @Test func indexedProperties() async throws {
    await withSeeds(3) { random in
      let realm = try memoryRealm([Indexed.self])
      func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
      func fill(_ object: Indexed) {
        object.int = number(100) - 50
        object.optInt = number(4) == 0 ? nil : number(100) - 50
        object.string = number(20) == 0 ? "" : "word \(number(40))"
        object.optString = number(4) == 0 ? nil : "word \(number(10))"
        object.bool = number(30) == 0
        object.date = Date(timeIntervalSinceReferenceDate: Double(number(100) - 50))
        object.uuid = UUID(uuidString: "00000000-0000-0000-0000-00000000000\(number(10))")!
      }
      let all = realm.objects(Indexed.self)
      for _ in 0..<4 {
        try realm.write {
          for id in 0..<400 {
            let object = realm.create(Indexed.self, value: ["id": id], update: .modified)
            if number(2) == 0 { fill(object) }
          }
          for object in all where number(10) == 0 { realm.delete(object) }
        }
        for item in Self.cases {
          let expected = Array(all.filter(item.plain).map(\.id))
          #expect(Array(all.where(item.typed).map(\.id)) == expected, "where: \(item.format)")
          let predicate = NSPredicate(format: item.format, argumentArray: item.arguments)
          #expect(Array(all.filter(predicate).map(\.id)) == expected, "filter: \(item.format)")
        }
      }
    }
  }
}

/// A value of any type.
class MixedBox: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue
  @Persisted var values: List<AnyRealmValue>
  @Persisted var byKey: Map<String, AnyRealmValue>
}

@Suite(.ownThreads) struct MixedQueryTests {
  private func filled() throws -> Realm {
    let realm = try memoryRealm([MixedBox.self, Dog.self])
    let values: [AnyRealmValue] = [
      .none, .int(1), .double(1.0), .float(2.5), .bool(true), .string("one"), .string("Two"),
      .data(Data([1])), .date(Date(timeIntervalSinceReferenceDate: 1)), .decimal128(1),
      .fromArray([.int(1), .string("x")]), .fromArray([.fromArray([.int(7)])]),
    ]
    try realm.write {
      for (id, value) in values.enumerated() {
        let box = realm.create(MixedBox.self, value: ["id": id])
        box.value = value
        box.values.append(value)
        box.values.append(.int(id))
        box.byKey["a"] = value
        box.byKey["b"] = .fromDictionary(["c": value])
      }
      realm.create(MixedBox.self, value: ["id": 100]).value = .object(Dog(value: ["age": 8]))
    }
    return realm
  }

  @Test func mixedValues() throws {
    let boxes = try filled().objects(MixedBox.self)
    func ids(_ condition: (Query<MixedBox>) -> Query<Bool>) -> [Int] {
      Array(boxes.where(condition).map(\.id))
    }
    #expect(ids { $0.value == .none } == [0])
    #expect(ids { $0.value != .none }.count == 12)
    #expect(ids { $0.value == .int(1) } == [1, 2, 9])
    #expect(ids { $0.value == .decimal128(1) } == [1, 2, 9])
    #expect(ids { $0.value > .int(1) } == [3])
    #expect(ids { $0.value == .bool(true) } == [4])
    #expect(ids { $0.value == .string("one") } == [5])
    #expect(ids { $0.value.contains(.string("w")) } == [6])
    #expect(ids { $0.value.starts(with: .string("t"), options: .caseInsensitive) } == [6])
    #expect(ids { $0.value == .data(Data([1])) } == [7])
    #expect(ids { $0.value < .date(Date(timeIntervalSinceReferenceDate: 2)) } == [8])
    #expect(ids { $0.value.in([.string("one"), .bool(true)]) } == [4, 5])
    #expect(boxes.filter("value == 'Two'").map(\.id).elementsEqual([6]))
    #expect(boxes.filter("value == %@", 2.5).map(\.id).elementsEqual([3]))
  }

  @Test func valuesInside() throws {
    let boxes = try filled().objects(MixedBox.self)
    func ids(_ condition: (Query<MixedBox>) -> Query<Bool>) -> [Int] {
      Array(boxes.where(condition).map(\.id))
    }
    #expect(ids { $0.value[0] == .int(1) } == [10])
    #expect(ids { $0.value[1] == .string("x") } == [10])
    #expect(ids { $0.value[1] == .string("y") } == [])
    #expect(ids { $0.value[0][0] == .int(7) } == [11])
    #expect(ids { $0.value.any == .string("x") } == [10])
    #expect(ids { $0.value[.any][0] == .int(7) } == [11])
    #expect(boxes.filter("value[0] == 1").map(\.id).elementsEqual([10]))
    #expect(boxes.filter("ANY value[*] == 'x'").map(\.id).elementsEqual([10]))
  }

  /// Mixed values that are elements of lists and maps.
  @Test func valuesInsideOfElements() throws {
    let boxes = try filled().objects(MixedBox.self)
    func ids(_ condition: (Query<MixedBox>) -> Query<Bool>) -> [Int] {
      Array(boxes.where(condition).map(\.id))
    }
    #expect(ids { $0.values[0][1] == .string("x") } == [10])
    #expect(ids { $0.values[0][0][0] == .int(7) } == [11])
    #expect(ids { $0.byKey["a"][0] == .int(1) } == [10])
    #expect(ids { $0.byKey["a"][0][0] == .int(7) } == [11])
    #expect(ids { $0.byKey["a"].any == .string("x") } == [10])
    #expect(ids { $0.byKey["b"]["c"] == .string("one") } == [5])
    #expect(ids { $0.byKey["b"]["c"][1] == .string("x") } == [10])
    #expect(ids { $0.byKey.values[0] == .int(1) } == [10])
    #expect(ids { $0.byKey.values["c"] == .bool(true) } == [4])
    #expect(ids { $0.byKey.values["c"][.any] == .string("x") } == [10])
    for format in ["values[0][1] == 'x'", "byKey['a'][1] == 'x'", "byKey['b']['c'][1] == 'x'"] {
      #expect(boxes.filter(format).map(\.id).elementsEqual([10]), "\(format)")
    }
  }

  /// Sorts of values do not mix, and what is not a number does not upset the rest.
  @Test func sortsOfValuesStandTogether() throws {
    let realm = try filled()
    try realm.write {
      for (id, value) in [Double.nan, -3, 70].enumerated() {
        realm.create(MixedBox.self, value: ["id": 200 + id]).value = .double(value)
      }
    }
    let sorted = realm.objects(MixedBox.self).sorted(by: ["value", "id"])
    #expect(sorted.map(\.id).prefix(14) == [0, 4, 200, 201, 1, 2, 9, 3, 202, 6, 5, 7, 8, 100])
    let descending = realm.objects(MixedBox.self).sorted(byKeyPath: "value", ascending: false)
    #expect(descending.last?.id == 0 && descending[3].id == 8)
  }

  /// The same number in any form is one value; the same bytes of other types are not.
  @Test func distinctByValue() throws {
    let realm = try memoryRealm([MixedBox.self, Dog.self])
    let values: [AnyRealmValue] = [
      .string("ab"), .data(Data("ab".utf8)), .int(1), .double(1), .decimal128("1.0"),
      .decimal128("1.00"), .double(0), .double(-0.0), .double(3),
      .date(Date(timeIntervalSinceReferenceDate: 3)), .bool(true), .none, .none,
    ]
    try realm.write {
      for (id, value) in values.enumerated() {
        realm.create(MixedBox.self, value: ["id": id]).value = value
      }
    }
    let distinct = realm.objects(MixedBox.self).distinct(by: ["value"])
    #expect(Array(distinct.map(\.id)) == [0, 1, 2, 6, 8, 9, 10, 11])
  }

  @Test func linksAndLists() throws {
    let realm = try filled()
    let boxes = realm.objects(MixedBox.self)
    let dog = realm.objects(Dog.self)[0]
    #expect(boxes.where { $0.value == .object(dog) }.map(\.id).elementsEqual([100]))
    #expect(boxes.filter("value == %@", dog).map(\.id).elementsEqual([100]))
    #expect(boxes.where { $0.values.contains(.string("one")) }.map(\.id).elementsEqual([5]))
    #expect(boxes.where { $0.values == .int(3) }.map(\.id).elementsEqual([3]))
    #expect(boxes.filter("ANY values > 10").map(\.id).elementsEqual([11]))
  }
}
