// Results and sections of values that a running transaction asks for again and again while it edits
// the collection: held and made anew, they are what a loop over the collection finds.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private class ValueBox: Object {
  @Persisted var numbers: List<Int?>
  @Persisted var texts: List<String>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PassingValuesTests {
  /// Results without their types, as texts.
  private struct Asked {
    let count: () -> Int
    let first: () -> String?
    let last: () -> String?
    let at: (Int) -> String
    let all: () -> [String]
    let sections: () -> [[String]]

    init<Element: RealmCollectionValue>(_ results: Results<Element>) {
      count = { results.count }
      first = { results.first.map { "\($0)" } }
      last = { results.last.map { "\($0)" } }
      at = { "\(results[$0])" }
      all = { results.map { "\($0)" } }
      let sectioned = results.sectioned { key("\($0)") }
      sections = { sectioned.map { $0.map { "\($0)" } } }
    }
  }

  private static func key(_ text: String) -> Int { text.utf8.reduce(0) { $0 + Int($1) } % 3 }

  private struct Shape {
    let name: String
    let make: (ValueBox) -> Asked
    let expected: (ValueBox) -> [String]
    /// The same in the order of sections.
    let inOrder: (ValueBox) -> [String]

    init<Element: RealmCollectionValue>(
      _ name: String, _ make: @escaping (ValueBox) -> Results<Element>,
      _ isBefore: @escaping (Element, Element) -> Bool,
      _ expected: @escaping (ValueBox) -> [Element]
    ) {
      self.name = name
      self.make = { Asked(make($0)) }
      self.expected = { expected($0).map { "\($0)" } }
      inOrder = { expected($0).sorted(by: isBefore).map { "\($0)" } }
    }
  }

  private static var shapes: [Shape] {
    let numbers: (Int?, Int?) -> Bool = { ($0 ?? .min) < ($1 ?? .min) }
    let texts: (String, String) -> Bool = { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return [
      Shape("numbers over 20", { $0.numbers.where { $0 > 20 } }, numbers) { box in
        box.numbers.filter { ($0 ?? 0) > 20 }
      },
      Shape("numbers in order", { $0.numbers.sorted() }, numbers) { box in
        box.numbers.sorted(by: numbers)
      },
      Shape("distinct numbers", { $0.numbers.distinct(by: ["self"]) }, numbers) { box in
        var seen: Set<Int?> = []
        return box.numbers.filter { seen.insert($0).inserted }
      },
      Shape(
        "numbers over 5, the greatest first",
        { box in box.numbers.where { $0 > 5 }.sorted(ascending: false) }, numbers
      ) { box in box.numbers.filter { ($0 ?? 0) > 5 }.sorted { $0! > $1! } },
      Shape("texts with a", { $0.texts.where { $0.contains("a") } }, texts) { box in
        box.texts.filter { $0.contains("a") }
      },
      Shape("texts in order", { $0.texts.sorted() }, texts) { box in
        box.texts.sorted(by: texts)
      },
      Shape("of the set", { $0.set.where { $0 < 900 } }, <) { box in
        box.set.filter { $0 < 900 }
      },
      Shape("of the map", { $0.map.where { $0 > 2.5 } }, <) { box in
        box.map.map(\.value).filter { $0 > 2.5 }
      },
    ]
  }

  @Test func followARunningTransaction() async {
    await withSeeds(2) { random in try Self.follow(&random) }
  }

  private static func follow(_ random: inout RandomGenerator) throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [ValueBox.self]))
    let box = ValueBox()
    try realm.write {
      realm.add(box)
      fill(box, &random)
    }
    let shapes = shapes
    for round in 0..<2 {
      let held = shapes.map { $0.make(box) }
      realm.beginWrite()
      for step in 0..<amount(600, debug: 60) {
        for _ in 0...random.next() % 3 { change(box, &random) }
        let shape = Int(random.next() % UInt64(shapes.count))
        let asked = random.next() % 3 == 0 ? shapes[shape].make(box) : held[shape]
        compare(
          asked, shapes[shape].expected(box), shapes[shape].inOrder(box), &random,
          Comment(rawValue: "\(shapes[shape].name) at step \(step) of round \(round)"))
      }
      if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      for (shape, asked) in zip(shapes, held) {
        #expect(asked.all() == shape.expected(box), "\(shape.name) after round \(round)")
      }
    }
  }

  private static func compare(
    _ asked: Asked, _ expected: [String], _ inOrder: [String], _ random: inout RandomGenerator,
    _ what: Comment
  ) {
    #expect(asked.first() == expected.first, what)
    #expect(asked.count() == expected.count, what)
    if asked.count() != expected.count || expected.isEmpty { return }
    #expect(asked.last() == expected.last, what)
    let position = Int(random.next() % UInt64(expected.count))
    #expect(asked.at(position) == expected[position], what)
    if random.next() % 4 == 0 { #expect(asked.all() == expected, what) }
    if random.next() % 2 == 0 {
      var keys: [Int] = []
      for text in inOrder where !keys.contains(key(text)) { keys.append(key(text)) }
      let sections = keys.map { wanted in inOrder.filter { key($0) == wanted } }
      #expect(asked.sections() == sections, what)
    }
  }

  private static func text(_ random: inout RandomGenerator) -> String {
    "\(["a", "b", "ab", "c"][Int(random.next() % 4)])\(random.next() % 500)"
  }

  private static func fill(_ box: ValueBox, _ random: inout RandomGenerator) {
    for index in 0..<1_300 {
      box.numbers.append(index % 9 == 0 ? nil : Int(random.next() % 60))
      box.texts.append(text(&random))
      box.set.insert(index)
      box.map["\(index)"] = Double(random.next() % 8)
    }
  }

  private static func change(_ box: ValueBox, _ random: inout RandomGenerator) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let numbers = box.numbers
    let texts = box.texts
    let place = [0, numbers.count - 1, numbers.count / 2, number(numbers.count)][number(4)]
    let other = number(texts.count)
    switch number(16) {
    case 0, 1: numbers.remove(at: place)
    case 2, 3: numbers.insert(number(5) == 0 ? nil : number(60), at: place)
    case 4: numbers[place] = number(60)
    case 5: numbers.move(from: place, to: number(numbers.count))
    case 6: numbers.append(objectsIn: [1, nil, number(60)])
    case 7: texts.remove(at: other)
    case 8: texts.insert(text(&random), at: other)
    case 9: texts[other] = text(&random)
    case 10: texts.swapAt(other, number(texts.count))
    case 11: box.set.insert(number(2_000))
    case 12: box.set.remove(number(1_300))
    case 13: box.map["\(number(2_000))"] = Double(number(8))
    case 14: box.map["\(number(1_300))"] = nil
    default:
      if number(30) == 0 { numbers.removeAll() }
      while numbers.count < 1_200 { numbers.append(number(60)) }
      while texts.count < 1_200 { texts.append(text(&random)) }
      while box.set.count < 1_200 { box.set.insert(number(2_000)) }
    }
  }
}
