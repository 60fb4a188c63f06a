// Results that a running transaction asks for again and again while it changes what they look at:
// held and made anew each time, they are what a look at all objects gives.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite(.ownThreads) struct PassingResultsTests {
  private typealias Make = @Sendable (Realm) -> Results<Entry>

  private static let shapes: [Make] = [
    { $0.objects(Entry.self).where { $0.bool == true } },
    { $0.objects(Entry.self).where { $0.small > 0 && $0.text != "a" } },
    { $0.objects(Entry.self).where { $0.text.contains("item") } },
    { $0.objects(Entry.self).filter("ANY numbers > 2") },
    { $0.objects(Entry.self).sorted(byKeyPath: "small") },
    { $0.objects(Entry.self).sorted(byKeyPath: "text", ascending: false) },
    { $0.objects(Entry.self).where { $0.bool == true }.sorted(byKeyPath: "double") },
    {
      $0.objects(Entry.self).sorted(by: [
        RealmSwift.SortDescriptor(keyPath: "optInt", ascending: false),
        RealmSwift.SortDescriptor(keyPath: "optText"),
      ])
    },
    { $0.objects(Entry.self).sorted(byKeyPath: "mixed") },
    { $0.objects(Entry.self).where { $0.place.number > 0 } },
    { $0.objects(Entry.self).sorted(byKeyPath: "place.number") },
    {
      $0.objects(Entry.self).where { $0.bool == true && $0.place.number < 3 }
        .sorted(byKeyPath: "place.number", ascending: false)
    },
    { realm in
      let place = realm.objects(Place.self).first!
      return realm.objects(Entry.self).where { $0.place == place && $0.bool == true }
    },
    {
      let places = Array($0.objects(Place.self).prefix(3))
      return $0.objects(Entry.self).filter("place IN %@ AND small < %@", places, 3 as UInt8)
    },
    { $0.objects(Entry.self).where { $0.decimal > Decimal128(value: 0) } },
    { $0.objects(Entry.self).filter("small > %@", NSNumber(value: 1.5)) },
    { $0.objects(Entry.self).distinct(by: ["place.number", "bool"]) },
    { $0.objects(Entry.self).distinct(by: ["small"]) },
    { $0.objects(Entry.self).distinct(by: ["text", "bool"]) },
    { $0.objects(Entry.self).where { $0.small > -3 }.distinct(by: ["optInt"]) },
    { $0.objects(Entry.self).sorted(byKeyPath: "double").distinct(by: ["text", "small"]) },
    { $0.objects(Entry.self).distinct(by: ["id"]).sorted(byKeyPath: "text", ascending: false) },
    {
      $0.objects(Entry.self).sorted(byKeyPath: "text").distinct(by: ["small", "optInt"])
        .sorted(byKeyPath: "bool")
    },
    { $0.objects(Entry.self).distinct(by: ["text", "optInt"]).distinct(by: ["optInt"]) },
  ]

  init() { distinctFindingsMax.store(2, ordering: .relaxed) }

  /// A look at all objects, by a condition that was never asked before.
  private static func truth(_ shape: Int, _ realm: Realm, _ asked: inout Int) -> [Int] {
    asked += 1
    return shapes[shape](realm).filter("id != %@", -asked).ids
  }

  private static func change(
    _ realm: Realm, _ held: [Results<Entry>], _ next: inout Int, _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = realm.objects(Entry.self)
    let places = Array(realm.objects(Place.self))
    let results = held[number(held.count)]
    // Most often what the results show is changed.
    let entry =
      number(4) > 0 && !results.isEmpty
      ? (number(2) == 0 ? results.first! : results[number(results.count)]) : all[number(all.count)]
    // Then what links lead to is not what it was.
    if number(12) == 0 { places[number(places.count)].number = number(7) - 3 }
    switch number(9) {
    case 0:
      realm.add(Entry.random(next, &random, places: places))
      next += 1
    case 1, 2: realm.delete(entry)
    case 3: entry.bool.toggle()
    case 4: entry.small = number(12) - 6
    case 5: entry.text = texts[number(texts.count)]
    case 6: entry.numbers.append(number(9) - 4)
    case 7: realm.delete(Array(all[number(all.count - 4)...].prefix(number(4))))
    default: entry.change(&random, places: places)
    }
  }

  @Test(arguments: seedsInTurn(1...3))
  func resultsFollowARunningTransaction(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let realm = try filledRealm(1_400, &random)
      var (next, asked) = (10_000, 0)
      for round in 0..<3 {
        let held = Self.shapes.map { $0(realm) }
        if round == 1 { for results in held { _ = results.count } }
        realm.beginWrite()
        for _ in 0..<amount(150, debug: 30) {
          for _ in 0...random.next() % 2 { Self.change(realm, held, &next, &random) }
          let shape = Int(random.next() % UInt64(Self.shapes.count))
          let results = random.next() % 2 == 0 ? held[shape] : Self.shapes[shape](realm)
          let expected = Self.truth(shape, realm, &asked)
          let what = Comment(rawValue: "shape \(shape) in round \(round)")
          #expect(results.count == expected.count, what)
          #expect(results.isEmpty == expected.isEmpty, what)
          #expect(results.first?.id == expected.first, what)
          if expected.isEmpty { continue }
          let position = Int(random.next() % UInt64(expected.count))
          #expect(results[position].id == expected[position], what)
          #expect(results.last?.id == expected.last, what)
          #expect(results.index(of: results[position]) == position, what)
          if random.next() % 4 == 0 { #expect(results.ids == expected, what) }
        }
        if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
        for (shape, results) in held.enumerated() {
          #expect(results.ids == Self.truth(shape, realm, &asked), "shape \(shape) afterwards")
        }
      }
    }
  }

  @Test func aWorkQueueIsEmptiedByItsFirst() throws {
    var random = RandomGenerator(seed: 3)
    let realm = try filledRealm(3_000, &random)
    let open = realm.objects(Entry.self).where { $0.bool == true }
    let expected = open.ids
    var taken: [Int] = []
    try realm.write {
      while let first = open.first {
        taken.append(first.id)
        first.bool = false
      }
    }
    #expect(taken == expected)
    #expect(open.isEmpty)
  }

  @Test func sortedResultsAreDeletedFromTheirEnd() throws {
    var random = RandomGenerator(seed: 4)
    let realm = try filledRealm(2_500, &random)
    let expected = realm.objects(Entry.self).sorted(byKeyPath: "text").ids
    var taken: [Int] = []
    try realm.write {
      while let last = realm.objects(Entry.self).sorted(byKeyPath: "text").last {
        taken.append(last.id)
        realm.delete(last)
      }
    }
    #expect(taken == Array(expected.reversed()))
    #expect(realm.objects(Entry.self).isEmpty)
  }

  /// Also of results that are asked for the places of so many that a table of all is made.
  @Test func placesOfAllElements() throws {
    var random = RandomGenerator(seed: 9)
    let realm = try filledRealm(1_300, &random)
    let sorted = realm.objects(Entry.self).sorted(byKeyPath: "text")
    #expect(sorted.count > 1_024)
    for forms in [sorted, sorted.freeze()] {
      for (place, entry) in forms.enumerated() { #expect(forms.index(of: entry) == place) }
    }
    let (first, last) = (sorted[0], sorted[sorted.count - 1])
    try realm.write {
      last.text = ""
      #expect(sorted.index(of: last) == sorted.ids.firstIndex(of: last.id))
      realm.delete(first)
    }
    for (place, entry) in sorted.enumerated() { #expect(sorted.index(of: entry) == place) }
  }

  @Test func chunksAreAnOrderedSequence() async {
    await withSeeds(3) { random in
      var truth = (0..<3_000).map { Int64($0 * 3) }
      var chunks = OrderedChunks(truth)
      for step in 0..<6_000 {
        let key = Int64(random.next() % 10_000)
        // First it shrinks to nothing, then it grows.
        if step < 3_000 ? random.next() % 8 > 0 : random.next() % 8 == 0 {
          let gone =
            step < 3_000 && !truth.isEmpty ? truth[Int(random.next() % UInt64(truth.count))] : key
          chunks.remove(gone) { $0 < gone }
          truth.removeAll { $0 == gone }
        } else if step >= 3_000 || random.next() % 4 == 0 {
          chunks.insert(key) { $0 < key }
          if !truth.contains(key) {
            truth.insert(key, at: truth.firstIndex { $0 > key } ?? truth.count)
          }
        }
        #expect(chunks.count == truth.count && chunks.first == truth.first)
        if truth.isEmpty { continue }
        let position = Int(random.next() % UInt64(truth.count))
        #expect(chunks[position] == truth[position])
        let wanted = truth[position]
        #expect(chunks.position(of: wanted) { $0 < wanted } == position)
        if step % 500 == 0 { #expect(chunks.all == truth) }
      }
      #expect(chunks.all == truth)
    }
  }
}
