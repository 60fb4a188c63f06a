// Sums, means, extremes and counts of whole columns, which are made a leaf at a time, against plain
// Swift: to the last bit, whatever the width of the values, with nulls, gaps of deleted objects,
// and chosen objects.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// A class with a column of each packed type.
final class Amount: Object {
  @Persisted var int: Int
  @Persisted var narrow: Int8
  @Persisted var optInt: Int?
  @Persisted var double: Double
  @Persisted var optDouble: Double?
  @Persisted var float: Float
  @Persisted var date: Date
  @Persisted var optDate: Date?
  @Persisted(indexed: true) var group: Int
  @Persisted var name: String
  @Persisted var optName: String?
  @Persisted var unset: Int
  @Persisted var optUnset: Int?
  @Persisted var numbers: List<Int>
  @Persisted var optNumbers: List<Double?>
}

@Suite(.ownThreads) struct AggregateTests {
  /// More than two clusters of objects, of which some were deleted.
  private func filled(_ random: inout RandomGenerator) throws -> Realm {
    let realm = try memoryRealm([Amount.self])
    let bits = Int(random.next() % 65)
    func integer() -> Int {
      let value = bits == 0 ? 0 : Int(bitPattern: UInt(random.next() >> UInt64(64 - bits)))
      return random.next() % 2 == 0 ? value : 0 &- value
    }
    func number() -> Double {
      [0.1, -0.0, 1e300, -1e300, .nan, .infinity, 3][Int(random.next() % 7)]
        * Double(random.next() % 5)
    }
    try realm.write {
      for _ in 0..<700 {
        let amount = Amount()
        amount.int = integer()
        amount.narrow = Int8(truncatingIfNeeded: integer())
        amount.optInt = random.oneIn(3) ? nil : integer()
        amount.double = Double(random.next() % 1000) / 7
        amount.optDouble = random.oneIn(4) ? nil : number()
        amount.float = Float(random.next() % 100) / 3
        amount.date = Date(timeIntervalSinceReferenceDate: Double(random.next() % 1000) / 8)
        amount.optDate = random.oneIn(2) ? nil : amount.date
        amount.group = Int(random.next() % 50)
        amount.name = ["", "a", "ab", "b", "ba", "日本"][Int(random.next() % 6)]
        amount.optName = random.oneIn(3) ? nil : amount.name
        realm.add(amount)
      }
      let doomed = Array(realm.objects(Amount.self)).filter { _ in random.oneIn(5) }
      realm.delete(doomed)
    }
    return realm
  }

  /// The smallest by `<`, the first of equal ones; what is no number only where nothing else is.
  private func least(_ values: [Double]) -> Double? {
    values.filter { !$0.isNaN }.reduce(nil) { best, value in
      best.map { value < $0 ? value : $0 } ?? value
    } ?? values.first
  }

  /// The largest, the first of equal ones; what is no number comes behind all numbers.
  private func greatest(_ values: [Double]) -> Double? {
    values.first { $0.isNaN }
      ?? values.reduce(nil) { best, value in best.map { value > $0 ? value : $0 } ?? value }
  }

  private func expectAggregates(_ amounts: Results<Amount>) {
    let all = Array(amounts)
    func bits(_ value: Double?) -> UInt64? { value.map { $0.isNaN ? 0 : $0.bitPattern } }
    func mean(_ values: [Double]) -> Double? {
      values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }
    func expectIntegers(_ name: String, _ values: [Int]) {
      let sum: Int = amounts.sum(ofProperty: name)
      let (least, greatest): (Int?, Int?) = (
        amounts.min(ofProperty: name), amounts.max(ofProperty: name)
      )
      let average: Double? = amounts.average(ofProperty: name)
      #expect(sum == values.reduce(0, &+), "\(name)")
      #expect(least == values.min() && greatest == values.max(), "\(name)")
      #expect(bits(average) == bits(mean(values.map { Double($0) })), "\(name)")
    }
    func expectNumbers(_ name: String, _ values: [Double]) {
      let sum: Double = amounts.sum(ofProperty: name)
      let (least, greatest): (Double?, Double?) = (
        amounts.min(ofProperty: name), amounts.max(ofProperty: name)
      )
      let average: Double? = amounts.average(ofProperty: name)
      #expect(bits(sum) == bits(values.reduce(0, +)), "\(name)")
      #expect(bits(least) == bits(self.least(values)), "\(name)")
      #expect(bits(greatest) == bits(self.greatest(values)), "\(name)")
      #expect(bits(average) == bits(mean(values)), "\(name)")
    }
    expectIntegers("int", all.map(\.int))
    expectIntegers("narrow", all.map { Int($0.narrow) })
    expectIntegers("optInt", all.compactMap(\.optInt))
    expectIntegers("unset", all.map(\.unset))
    expectIntegers("optUnset", all.compactMap(\.optUnset))
    expectNumbers("double", all.map(\.double))
    expectNumbers("optDouble", all.compactMap(\.optDouble))
    expectNumbers("float", all.map { Double($0.float) })
    #expect(amounts.sum(of: \.float) == Float(all.reduce(0.0) { $0 + Double($1.float) }))
    #expect(amounts.min(of: \.date) == all.map(\.date).min())
    #expect(amounts.max(of: \.date) == all.map(\.date).max())
    #expect(amounts.min(of: \.optDate) == all.compactMap(\.optDate).min())
    #expect(amounts.max(of: \.optDate) == all.compactMap(\.optDate).max())
  }

  @Test func ofColumnsAreThoseOfTheirValues() async throws {
    await withSeeds(6) { random in
      let realm = try filled(&random)
      let all = realm.objects(Amount.self)
      let some = all.where { $0.narrow > 0 && $0.name.starts(with: "a") }
      for amounts in [
        all, some, all.where { $0.optInt == nil }, all.where { $0.group == 7 },
        all.where { $0.int == 12_345 }, all.where { $0.name == "b" || $0.double > 70 },
        all.distinct(by: ["name"]),
      ] {
        expectAggregates(amounts)
        expectAggregates(amounts.freeze())
      }
      realm.beginWrite()
      for (position, amount) in all.enumerated() where position % 9 == 0 { amount.int = 12_345 }
      realm.delete(all.first!)
      expectAggregates(all)
      expectAggregates(some)
      expectAggregates(all.where { $0.int == 12_345 })
      realm.cancelWrite()
      expectAggregates(all)
    }
  }

  @Test func ofNoObject() throws {
    let realm = try memoryRealm([Amount.self])
    expectAggregates(realm.objects(Amount.self))
    try realm.write { realm.create(Amount.self) }
    // All values are defaults: there is no leaf.
    expectAggregates(realm.objects(Amount.self))
    #expect(realm.objects(Amount.self).where { $0.unset == 0 }.count == 1)
    #expect(realm.objects(Amount.self).where { $0.optUnset == nil }.count == 1)
    #expect(realm.objects(Amount.self).where { $0.name == "" }.count == 1)
    #expect(realm.objects(Amount.self).where { $0.optName == "" }.isEmpty)
  }

  @Test func ofElements() async throws {
    await withSeeds(4) { random in
      let realm = try memoryRealm([Amount.self])
      let count = Int(random.next() % 2000)
      let numbers = (0..<count).map { _ in Int(random.next() % 100_000) - 50_000 }
      let optional = numbers.map { $0 % 3 == 0 ? nil : Double($0) / 7 }
      let amount = try realm.write {
        let amount = realm.create(Amount.self)
        amount.numbers.append(objectsIn: numbers)
        amount.optNumbers.append(objectsIn: optional)
        return amount
      }
      #expect(amount.numbers.sum() == numbers.reduce(0, +))
      #expect(amount.numbers.min() == numbers.min() && amount.numbers.max() == numbers.max())
      let mean: Double? = amount.numbers.average()
      #expect(
        mean == (count == 0 ? nil : numbers.reduce(0) { $0 + Double($1) } / Double(count)))
      let known = optional.compactMap { $0 }
      #expect(amount.optNumbers.sum() == known.reduce(0, +))
      #expect(amount.optNumbers.min() == known.min() && amount.optNumbers.max() == known.max())
      let few = amount.numbers.where { $0 > 100 }
      #expect(few.sum() == numbers.filter { $0 > 100 }.reduce(0, +))
    }
  }

  @Test func countsAreThoseOfTheObjects() async throws {
    await withSeeds(4) { random in
      let realm = try filled(&random)
      let all = realm.objects(Amount.self)
      let cases: [(String, (Amount) -> Bool)] = [
        ("narrow > 3", { $0.narrow > 3 }), ("narrow == 0", { $0.narrow == 0 }),
        ("int != 0", { $0.int != 0 }), ("int >= 0", { $0.int >= 0 }),
        ("optInt == nil", { $0.optInt == nil }), ("optInt != 0", { $0.optInt != 0 }),
        ("optInt < 5", { $0.optInt.map { $0 < 5 } ?? false }), ("unset == 0", { _ in true }),
        ("unset > 0", { _ in false }), ("optUnset != 1", { _ in true }),
        ("double < 50", { $0.double < 50 }), ("optDouble != 3", { $0.optDouble != 3 }),
        ("float >= 7", { $0.float >= 7 }),
        ("NOT narrow > 3 || double < 50", { !($0.narrow > 3) || $0.double < 50 }),
        ("name BEGINSWITH 'a'", { $0.name.utf8.starts(with: "a".utf8) }),
        ("name ENDSWITH 'a'", { $0.name.hasSuffix("a") }),
        ("name CONTAINS 'b'", { $0.name.contains("b") }),
        ("name == 'ab'", { $0.name == "ab" }), ("name != 'ab'", { $0.name != "ab" }),
        ("optName != 'ab'", { $0.optName != "ab" }), ("optName == ''", { $0.optName == "" }),
        ("optName BEGINSWITH ''", { $0.optName != nil }),
        (
          "optName BEGINSWITH 'b' && narrow > 3",
          {
            ($0.optName ?? "").hasPrefix("b") && $0.narrow > 3
          }
        ),
        ("group < 10", { $0.group < 10 }),
      ]
      for (format, plain) in cases {
        let found = all.filter(format)
        let expected = Array(all).filter(plain)
        // Counted before they are found, and again afterwards.
        #expect(found.count == expected.count, "\(format)")
        #expect(found.elementsEqual(expected) { $0.isSameObject(as: $1) }, "\(format)")
        #expect(found.count == expected.count, "\(format)")
        #expect(found.sorted(byKeyPath: "name").count == expected.count, "\(format)")
      }
      let found = all.filter("narrow == 3")
      let before = found.count
      try realm.write { realm.create(Amount.self, value: ["narrow": 3]) }
      #expect(found.count == before + 1)
      #expect(all.sorted(byKeyPath: "name").count == all.count)
      #expect(all.distinct(by: ["name"]).count == Set(all.map(\.name)).count)
    }
  }
}
