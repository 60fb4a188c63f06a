// Whether an index ever makes a query slower: the same query of two properties with the same
// values, of which one has an index, at several sizes. Each row is the time with the index divided
// by the time without, both measured by turns.
import Foundation
import Platform
import RealmSwift

/// An object with each value twice, once in a property with an index.
final class Catalogued: Object {
  @Persisted var number: Int
  @Persisted(indexed: true) var indexedNumber: Int
  @Persisted var level: Int
  @Persisted(indexed: true) var indexedLevel: Int
  @Persisted var maybe: Int?
  @Persisted(indexed: true) var indexedMaybe: Int?
  @Persisted var word: String
  @Persisted(indexed: true) var indexedWord: String
  @Persisted var address: String
  @Persisted(indexed: true) var indexedAddress: String
  @Persisted var state: String
  @Persisted(indexed: true) var indexedState: String
  @Persisted var date: Date
  @Persisted(indexed: true) var indexedDate: Date
  @Persisted var mark: UUID
  @Persisted(indexed: true) var indexedMark: UUID
  @Persisted var size: Int

  func fill(_ value: Int, of count: Int) {
    (number, indexedNumber) = (value, value)
    (level, indexedLevel) = (value % 10, value % 10)
    let maybe = value % 4 == 0 ? value : nil
    (self.maybe, indexedMaybe) = (maybe, maybe)
    (word, indexedWord) = (Self.word(value), Self.word(value))
    (address, indexedAddress) = (Self.address(value), Self.address(value))
    (state, indexedState) = ("state \(value % 10)", "state \(value % 10)")
    (date, indexedDate) = (Self.date(value), Self.date(value))
    (mark, indexedMark) = (Self.mark(value), Self.mark(value))
    size = (value &* 7_919) % count
  }

  static func word(_ value: Int) -> String { "\(value) word" }
  static func address(_ value: Int) -> String { "https://www.example.org/pages/\(value)" }
  static func date(_ value: Int) -> Date { Date(timeIntervalSince1970: Double(value) * 60) }
  static func mark(_ value: Int) -> UUID {
    let mixed = UInt64(bitPattern: Int64(value)) &* 0x9E37_79B9_7F4A_7C15
    return withUnsafeBytes(of: (mixed, mixed ^ 0xA5A5)) { $0.loadUnaligned(as: UUID.self) }
  }
}

/// A property that stands twice in the class, and its values.
private struct Pair: Sendable {
  let name: String
  let indexedName: String
  let value: @Sendable (Int) -> Any
}

private let pairs = [
  Pair(name: "number", indexedName: "indexedNumber") { $0 },
  Pair(name: "level", indexedName: "indexedLevel") { $0 % 10 },
  Pair(name: "maybe", indexedName: "indexedMaybe") { $0 },
  Pair(name: "word", indexedName: "indexedWord") { Catalogued.word($0) },
  Pair(name: "address", indexedName: "indexedAddress") { Catalogued.address($0) },
  Pair(name: "state", indexedName: "indexedState") { "state \($0 % 10)" },
  Pair(name: "date", indexedName: "indexedDate") { Catalogued.date($0) },
  Pair(name: "mark", indexedName: "indexedMark") { Catalogued.mark($0) },
]

/// A query of a property; nil where the size has too few objects for it.
private struct Question: Sendable {
  let name: String
  let predicate: @Sendable (_ property: String, _ pair: Pair, _ count: Int) -> NSPredicate?

  static let all: [Question] = [
    Question(name: "equal") {
      NSPredicate(format: "\($0) == %@", argumentArray: [$1.value($2 / 2)])
    },
    Question(name: "not-equal") {
      NSPredicate(format: "\($0) != %@", argumentArray: [$1.value($2 / 2)])
    },
    Question(name: "equal-and-more") {
      NSPredicate(
        format: "\($0) == %@ AND size < %@", argumentArray: [$1.value($2 / 2), $2 / 2])
    },
    Question(name: "null-or-low") { property, pair, _ in
      pair.name == "maybe" ? NSPredicate(format: "\(property) == nil OR \(property) < 100") : nil
    },
    Question(name: "begins") {
      guard $1.value(0) is String else { return nil }
      return NSPredicate(format: "\($0) BEGINSWITH %@", argumentArray: [$1.value($2 / 20)])
    },
    range("narrow", 100), range("middle", 10), range("wide", 2),
    among(3), among(30), among(300), among(3_000),
    alternatives(3), alternatives(30), alternatives(300),
    both(30), both(300),
  ]

  private static func range(_ name: String, _ part: Int) -> Question {
    Question(name: "range-\(name)") {
      let bounds = [$1.value($2 / 2), $1.value($2 / 2 + $2 / part)]
      if bounds[0] is UUID { return nil }
      return NSPredicate(format: "\($0) >= %@ AND \($0) < %@", argumentArray: bounds)
    }
  }

  private static func among(_ values: Int) -> Question {
    Question(name: "in-\(values)") { property, pair, count in
      if values > count { return nil }
      let list = (0..<values).map { pair.value($0 &* 31 % count) }
      return NSPredicate(format: "\(property) IN %@", argumentArray: [list])
    }
  }

  private static func alternatives(_ values: Int) -> Question {
    Question(name: "or-\(values)") { property, pair, count in
      if values > count { return nil }
      return NSCompoundPredicate(
        orPredicateWithSubpredicates: (0..<values).map {
          NSPredicate(format: "\(property) == %@", argumentArray: [pair.value($0 &* 31 % count)])
        })
    }
  }

  private static func both(_ values: Int) -> Question {
    Question(name: "or-pairs-\(values)") { property, pair, count in
      if values > count { return nil }
      return NSCompoundPredicate(
        orPredicateWithSubpredicates: (0..<values).map {
          NSPredicate(
            format: "\(property) == %@ AND size > %@",
            argumentArray: [pair.value($0 &* 31 % count), $0])
        })
    }
  }
}

private let actions: [(name: String, run: @Sendable (Results<Catalogued>) -> Int)] = [
  ("count", { $0.count }), ("first", { $0.first?.size ?? 0 }),
  ("each", { $0.reduce(0) { $0 &+ $1.size } }), ("sum", { $0.sum(of: \.size) }),
]

nonisolated(unsafe) private var sink = 0

/// Median time with the index divided by the one without; a call takes at most a few ms.
private func ratio(_ plain: () -> Int, _ indexed: () -> Int, rounds: Int) -> Double {
  let clock = MonotonicClock()
  func time(_ calls: Int, _ body: () -> Int) -> Double {
    let start = clock.nanoseconds()
    for _ in 0..<calls { sink &+= body() }
    return Double(clock.nanoseconds() - start) / Double(calls)
  }
  // The first call reads pages and makes what is kept.
  let first = max(time(1, plain), time(1, indexed))
  let calls = max(1, Int(200_000 / max(first, 1)))
  var samples: (plain: [Double], indexed: [Double]) = ([], [])
  for _ in 0..<rounds {
    samples.plain.append(time(calls, plain))
    samples.indexed.append(time(calls, indexed))
  }
  return samples.indexed.sorted()[rounds / 2] / samples.plain.sorted()[rounds / 2]
}

func indexRows(_ report: inout Report) throws {
  for count in [100, 1_000, 10_000, 100_000] {
    let names = Question.all.flatMap { question in
      pairs.compactMap { pair in
        question.predicate(pair.name, pair, count).map { _ in
          actions.map { "index-\(count)-\(pair.name)-\(question.name)-\($0.name)" }
        }
      }
    }.joined()
    guard report.wants(anyOf: Array(names)) else { continue }
    var settings = configuration("index-\(count).realm", .memory)
    settings.objectTypes = [Catalogued.self]
    let realm = try Realm(configuration: settings)
    var random = RandomGenerator(seed: 41)
    try realm.write {
      for _ in 0..<count {
        let object = Catalogued()
        object.fill(Int(random.next() % UInt64(count)), of: count)
        realm.add(object)
      }
    }
    let all = realm.objects(Catalogued.self)
    for pair in pairs {
      for question in Question.all {
        guard let plain = question.predicate(pair.name, pair, count),
          let indexed = question.predicate(pair.indexedName, pair, count)
        else { continue }
        for action in actions {
          let name = "index-\(count)-\(pair.name)-\(question.name)-\(action.name)"
          guard report.wants(name) else { continue }
          let value = ratio(
            { action.run(all.filter(plain)) }, { action.run(all.filter(indexed)) },
            rounds: isQuick ? 9 : 15)
          report.add(name, unit: "ratio", [value])
        }
      }
    }
    realm.invalidate()
  }
}
