// What is no number, among numbers: one value, at one place of every order, in one section.
import Foundation
import RealmSwift
import TestSupport
import Testing

private class Reading: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Double
  @Persisted var optional: Double?
  @Persisted var single: Float
  @Persisted(indexed: true) var date: Date
  @Persisted var decimal: Decimal128
  @Persisted var mixed: AnyRealmValue
  @Persisted var text: String
  @Persisted var numbers: List<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let values: [Double] = [3, .nan, 1, -.nan, 2, .nan, -.infinity, 3, 0]

@Suite(.ownThreads) struct NotANumberTests {
  private func readings(in realm: Realm) throws -> Results<Reading> {
    try realm.write {
      for (id, value) in values.enumerated() {
        let reading = Reading()
        reading.id = id
        reading.number = value
        reading.optional = id == 0 ? nil : value
        reading.single = Float(value)
        reading.date = Date(timeIntervalSinceReferenceDate: value)
        reading.decimal = Decimal128(floatLiteral: value)
        reading.mixed = .double(value)
        reading.text = id % 2 == 0 ? "\u{e9}" : "e\u{301}"
        realm.add(reading)
      }
    }
    return realm.objects(Reading.self)
  }

  private func readings() throws -> Results<Reading> {
    try readings(in: memoryRealm([Reading.self]))
  }

  /// Every element is in one section, and no section is empty.
  private func check<Key: Hashable>(
    _ sections: SectionedResults<Key, Reading>, count: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(sections.count == count, sourceLocation: sourceLocation)
    #expect(
      sections.flatMap { $0.map(\.id) }.sorted() == Array(values.indices),
      sourceLocation: sourceLocation)
    #expect(sections.allSatisfy { !$0.isEmpty }, sourceLocation: sourceLocation)
  }

  @Test func sections() throws {
    let readings = try readings()
    check(readings.sectioned(by: \.number), count: 6)
    check(readings.sectioned(by: \.optional), count: 7)
    check(readings.sectioned(by: \.single), count: 6)
    check(readings.sectioned(by: \.date), count: 6)
    check(readings.sectioned(by: \.decimal), count: 6)
    check(readings.sectioned(by: \.mixed), count: 6)
    check(readings.sectioned(by: { $0.number }), count: 6)
    check(readings.sectioned(by: { $0.optional }, ascending: false), count: 7)
    check(readings.sectioned(by: { $0.decimal }), count: 6)
    check(readings.sectioned(by: { $0.mixed }), count: 6)
    check(readings.sectioned(by: \.text), count: 2)
    check(readings.sectioned(by: { $0.text }, ascending: false), count: 2)
    let keys = readings.sectioned(by: { $0.number }).allKeys
    #expect(Array(keys.dropLast()) == [-.infinity, 0, 1, 2, 3] && keys.last?.isNaN == true)
    let section = try #require(readings.sectioned(by: \.number).last)
    #expect(section.map(\.id) == [1, 3, 5] && section.freeze().count == 3)
    let (first, second) = (readings.sectioned(by: \.text)[0], readings.sectioned(by: \.text)[1])
    #expect(first.count == 4 && second.count == 5)
  }

  @Test func ordersAgree() throws {
    let readings = try readings()
    for path in ["number", "date", "single"] {
      let sorted = Array(readings.sorted(byKeyPath: path).map(\.id))
      #expect(sorted == [6, 8, 2, 4, 0, 7, 1, 3, 5], "\(path)")
    }
    for path in ["number", "single", "date", "decimal", "mixed"] {
      #expect(readings.distinct(by: [path]).count == 6, "\(path)")
    }
    #expect(readings.distinct(by: ["optional"]).count == 7)
    #expect(readings.distinct(by: ["text"]).count == 2)
  }

  /// The least and the greatest are the first and the last of the order.
  @Test func extremesAreTheEndsOfTheOrder() throws {
    let readings = try readings()
    let (least, greatest): (Double?, Double?) = (
      readings.min(ofProperty: "number"), readings.max(ofProperty: "number")
    )
    #expect(least == -.infinity && greatest?.isNaN == true)
    let single: Float? = readings.max(of: \.single)
    #expect(single?.isNaN == true && readings.min(of: \.single) == -.infinity)
    let date: Date? = readings.max(of: \.date)
    #expect(date?.timeIntervalSinceReferenceDate.isNaN == true)
    // Among decimals, what is no number comes first.
    #expect(readings.sorted(byKeyPath: "decimal").first?.decimal.isNaN == true)
    let decimal: Decimal128? = readings.min(of: \.decimal)
    #expect(decimal?.isNaN == true && readings.max(of: \.decimal) == 3)
    // Mixed values are ordered as decimals.
    #expect(readings.sorted(byKeyPath: "mixed").first?.mixed.doubleValue?.isNaN == true)
    let mixed: AnyRealmValue? = readings.min(of: \.mixed)
    #expect(mixed?.doubleValue?.isNaN == true && readings.max(of: \.mixed) == .double(3))
    #expect(readings.filter("id > 0").max(of: \.optional)?.isNaN == true)
    for order in [values, values.reversed(), [.nan, 1], [1, .nan]] {
      let list = List<Double>()
      list.append(objectsIn: order)
      #expect(list.max()?.isNaN == true && list.min() == order.filter { !$0.isNaN }.min())
      let reading = readings[0]
      try readings.realm?.write { reading.numbers = list }
      #expect(reading.numbers.max()?.isNaN == true && reading.numbers.min() == list.min())
      let ofName = list.value(forKeyPath: "@max.self") as? Double
      #expect(ofName?.isNaN == true)
    }
  }

  @Test func observersOfSections() async {
    let watched = await WatchedRealm(memoryConfiguration([Reading.self]))
    await watched.run { watched in
      let sections = try self.readings(in: watched.realm).sectioned(by: \.number)
      watched.tokens.append(
        sections.observe { change in
          if case .update(_, let deletions, let insertions, _, let new, let gone) = change {
            watched.note("\(deletions) \(insertions) \(Array(new)) \(Array(gone))")
          }
        })
      watched.tokens.append(
        sections[5].observe { change in
          if case .update(let section, _, _, _, _, _) = change { watched.note("\(section.count)") }
        })
    }
    await watched.expectTold([])
    await watched.write { realm in
      realm.object(ofType: Reading.self, forPrimaryKey: 3)?.number = 2
    }
    await watched.expectTold(["[[5, 1]] [[3, 0]] [] []", "2"], afterCalls: 2)
    await watched.write { realm in
      realm.object(ofType: Reading.self, forPrimaryKey: 1)?.number = 2
      realm.object(ofType: Reading.self, forPrimaryKey: 5)?.number = 2
    }
    await watched.expectTold(["[[5, 0], [5, 1]] [[3, 0], [3, 3]] [] [5]", "0"], afterCalls: 4)
  }
}
