// The first objects of a condition that an index tells: a look at the first rows comes before
// anybody thinks about the index, and what is found behind them goes on where that look ended.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class Entry: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var number: Int?
  @Persisted(indexed: true) var text: String
  @Persisted var note: String?
  @Persisted var data: Data
  @Persisted var size: Double
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  convenience init(_ id: Int, _ values: Int, _ random: inout RandomGenerator) {
    self.init()
    self.id = id
    number = random.number(9) == 0 ? nil : random.number(values)
    text = "https://example.org/\(random.number(values))"
    note = random.number(9) == 0 ? nil : "note \(random.number(values))"
    data = Data("\(random.number(values))".utf8)
    size = random.number(9) == 0 ? .nan : Double(random.number(values))
  }
}

@Suite(.ownThreads) struct FirstObjectsTests {
  private typealias Condition = (format: String, arguments: [Any], holds: (Entry) -> Bool)

  private func conditions(_ values: Int, _ random: inout RandomGenerator) -> [Condition] {
    let number = random.number(values)
    let several = 2 + random.number(40)
    let numbers = (0..<several).map { _ in random.number(values + 20) }
    let texts = numbers.map { "https://example.org/\($0)" }
    let (low, high) = ("note \(number)", "note \(min(9, number + 3))")
    func precedes(_ left: String, _ right: String) -> Bool {
      left.utf8.lexicographicallyPrecedes(right.utf8)
    }
    let bytes = Data("\(number)".utf8)
    return [
      ("number IN %@", [numbers], { $0.number.map(numbers.contains) ?? false }),
      ("text IN %@", [texts], { texts.contains($0.text) }),
      (
        "number IN %@ AND size < %@", [numbers, number],
        { ($0.number.map(numbers.contains) ?? false) && $0.size < Double(number) }
      ),
      (
        "number >= %@ AND number < %@", [number, number + 3],
        { $0.number.map { number..<number + 3 ~= $0 } ?? false }
      ),
      (
        "number < %@ AND number <= %@", [number + 2, number],
        { $0.number.map { $0 <= number } ?? false }
      ),
      ("number == nil OR number < %@", [number], { $0.number.map { $0 < number } ?? true }),
      (
        "text >= %@ AND text < %@", [texts[0], texts[1]],
        { !precedes($0.text, texts[0]) && precedes($0.text, texts[1]) }
      ),
      ("note < %@", [low], { $0.note.map { precedes($0, low) } ?? false }),
      ("note <= %@", [low], { $0.note.map { !precedes(low, $0) } ?? false }),
      ("note > %@", [low], { $0.note.map { precedes(low, $0) } ?? false }),
      ("note >= %@", [low], { $0.note.map { !precedes($0, low) } ?? false }),
      (
        "note BETWEEN %@", [[low, high]],
        { $0.note.map { !precedes($0, low) && !precedes(high, $0) } ?? false }
      ),
      ("NOT note < %@", [low], { !($0.note.map { precedes($0, low) } ?? false) }),
      ("data > %@", [bytes], { bytes.lexicographicallyPrecedes($0.data) }),
      ("data <= %@", [bytes], { !bytes.lexicographicallyPrecedes($0.data) }),
      (
        "size IN %@", [numbers.prefix(5).map(Double.init)],
        { numbers.prefix(5).map(Double.init).contains($0.size) }
      ),
      (
        "note IN %@", [["note 1", "note \(number)", NSNull()]],
        { $0.note == nil || $0.note == "note 1" || $0.note == "note \(number)" }
      ),
      (
        "number IN %@", [[number, NSNull(), number + 1]],
        { $0.number.map { $0 == number || $0 == number + 1 } ?? true }
      ),
    ]
  }

  private func check(
    _ entries: Results<Entry>, _ condition: Condition, _ choice: PlanChoice, _ wanted: Int
  ) {
    let all: [Int] = entries.filter(condition.holds).map { $0.id }
    let predicate = NSPredicate(format: condition.format, argumentArray: condition.arguments)
    func found() -> Results<Entry> { entries.filter(predicate) }
    let what = "\(predicate) of \(entries.count), \(choice)"
    PlanChoice.with(choice) {
      #expect(found().first?.id == all.first, "first, \(what)")
      #expect(found().isEmpty == all.isEmpty, "empty, \(what)")
      #expect(found().count == all.count, "count, \(what)")
      #expect(Array(found().map(\.id)) == all, "all, \(what)")
      // One element after the other, each of which may go on with the search of those before.
      let some = found()
      for position in 0..<min(wanted, all.count) {
        #expect(some[position].id == all[position], "element \(position), \(what)")
      }
      #expect(some.last?.id == all.last, "last, \(what)")
    }
  }

  private func openRealm() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Entry.self]))
  }

  @Test func theFirstAreThoseOfPlainSwift() async {
    await withSeeds(amount(24, debug: 8)) { random in
      let realm = try openRealm()
      let count = [0, 1, 100, 255, 256, 257, 1_500, 3_000][random.number(8)]
      let values = [3, 50, 3_000][random.number(3)]
      try realm.write {
        for id in 0..<count { realm.add(Entry(id, values, &random)) }
        // What is left is first found late, or in clusters with few rows.
        let kept = 1 + random.number(10)
        realm.delete(
          realm.objects(Entry.self).filter { $0.id < count / 3 && $0.id % kept != 0 })
      }
      let entries = realm.objects(Entry.self)
      for condition in conditions(values, &random) {
        for choice in [PlanChoice.byCost, .scan, .index] {
          check(entries, condition, choice, 1 + random.number(100))
        }
      }
    }
  }

  /// What lies at the end of many objects is found by the index, once the first were looked at.
  @Test func whatLiesFarBehindIsFound() throws {
    let realm = try openRealm()
    var random = RandomGenerator(seed: 5)
    try realm.write {
      for id in 0..<2_000 {
        let entry = Entry(id, 100, &random)
        entry.number = id < 1_990 ? 0 : id
        realm.add(entry)
      }
    }
    let found = realm.objects(Entry.self).filter("number IN %@", Array(1_900..<1_995))
    #expect(found.first?.id == 1_990)
    #expect(found.count == 5)
    #expect(Array(found.map(\.id)) == Array(1_990..<1_995))
  }

  /// Each of the first objects as the only one that fits, around the end of the first look.
  @Test func noneIsPassedOver() throws {
    let realm = try openRealm()
    try realm.write {
      for id in 0..<600 {
        let entry = Entry()
        (entry.id, entry.number, entry.text) = (id, id, "text \(id)")
        realm.add(entry)
      }
    }
    let entries = realm.objects(Entry.self)
    let others = Array(10_000..<10_020)
    for id in 0..<600 {
      let numbers = entries.filter("number IN %@", others + [id])
      let texts = entries.filter("text IN %@", others.map { "text \($0)" } + ["text \(id)"])
      let range = entries.filter("number >= %@ AND number < %@", id, id + 1)
      for found in [numbers, texts, range] { #expect(found.first?.id == id) }
    }
  }

  @Test func theLeastNumbersAreConstantsLikeOthers() throws {
    let realm = try openRealm()
    let numbers = (0..<20).map { Int.min + $0 }
    try realm.write {
      for (id, number) in numbers.enumerated() {
        let entry = Entry()
        (entry.id, entry.number, entry.size) = (id, number, Double(id))
        realm.add(entry)
      }
    }
    let entries = realm.objects(Entry.self)
    for skipped in 0..<10 {
      let wanted = Array(numbers[skipped..<skipped + 10])
      #expect(Array(entries.filter("number IN %@", wanted).map(\.number)) == wanted)
    }
  }
}
