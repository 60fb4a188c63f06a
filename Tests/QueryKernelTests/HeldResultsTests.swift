// Results that are held through changes, compared with the same ones made anew.
import Dispatch
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite(.ownThreads) struct HeldResultsTests {
  private typealias Make = @Sendable (Realm) -> Results<Entry>

  /// Queries of many shapes.
  private static let shapes: [Make] = [
    { $0.objects(Entry.self).where { $0.small > 0 } },
    { $0.objects(Entry.self).sorted(byKeyPath: "small") },
    { $0.objects(Entry.self).sorted(byKeyPath: "text", ascending: false) },
    { $0.objects(Entry.self).where { $0.optInt > -1 }.sorted(byKeyPath: "double") },
    {
      $0.objects(Entry.self).sorted(by: [
        RealmSwift.SortDescriptor(keyPath: "bool", ascending: false),
        RealmSwift.SortDescriptor(keyPath: "optText"),
      ])
    },
    { $0.objects(Entry.self).where { $0.place.number > -2 } },
    { $0.objects(Entry.self).sorted(byKeyPath: "place.number") },
    { $0.objects(Entry.self).sorted(byKeyPath: "place.region.name") },
    { $0.objects(Entry.self).where { $0.friends.small > 4 } },
    { $0.objects(Entry.self).filter("friends.@count > 1").sorted(byKeyPath: "wide") },
    { $0.objects(Entry.self).distinct(by: ["optInt"]) },
    { $0.objects(Entry.self).sorted(byKeyPath: "float").distinct(by: ["small", "bool"]) },
    {
      $0.objects(Entry.self).sorted(byKeyPath: "text").distinct(by: ["optInt", "small"])
        .sorted(byKeyPath: "bool")
    },
    { $0.objects(Entry.self).where { $0.small > -3 }.distinct(by: ["place.number"]) },
    { $0.objects(Entry.self).sorted(byKeyPath: "decimal", ascending: false) },
    { $0.objects(Entry.self).sorted(byKeyPath: "mixed") },
    { $0.objects(Place.self)[2].entries.sorted(byKeyPath: "small") },
    { $0.objects(Entry.self).first!.friends.where { $0.bool == true } },
    { $0.objects(Entry.self).where { $0.text.contains("item", options: .caseInsensitive) } },
  ]

  init() { distinctFindingsMax.store(2, ordering: .relaxed) }

  /// A random change.
  private static func change(_ realm: Realm, _ next: inout Int, _ random: inout RandomGenerator) {
    let all = realm.objects(Entry.self)
    let places = Array(realm.objects(Place.self))
    func any() -> Entry { all[1 + Int(random.next() % UInt64(all.count - 1))] }
    switch random.next() % 12 {
    case 0:
      realm.add(Entry.random(next, &random, places: places))
      next += 1
    case 1: realm.delete(any())
    case 2: any().small = Int(random.next() % 12) - 6
    case 3: any().text = texts[Int(random.next() % UInt64(texts.count))]
    case 4: any().optInt = random.next() % 2 == 0 ? nil : Int(random.next() % 5)
    case 5: any().place = random.next() % 3 == 0 ? nil : places[Int(random.next() % 20)]
    case 6: places[Int(random.next() % 20)].number = Int(random.next() % 7) - 3
    case 7: places[Int(random.next() % 20)].name = texts[Int(random.next() % UInt64(texts.count))]
    case 8: places[1 + Int(random.next() % 19)].region = places[0]
    case 9: any().friends.append(any())
    case 10: all.first!.friends.append(any())
    default: any().change(&random, places: places)
    }
  }

  private static func check(
    _ held: [Results<Entry>], _ realm: Realm, _ what: String, _ random: inout RandomGenerator
  ) {
    for (index, results) in held.enumerated() where random.next() % 3 > 0 {
      // By a condition that was never asked before: nothing is known of it.
      let expected = shapes[index](realm).filter("id != %@", -1 - Int(random.next() >> 2)).ids
      let comment = Comment(rawValue: "shape \(index) \(what)")
      switch random.next() % 4 {
      case 0: #expect(results.count == expected.count, comment)
      case 1: #expect(results.first?.id == expected.first, comment)
      case 2 where !realm.isInWriteTransaction:
        #expect(results.freeze().ids == expected, comment)
      default: break
      }
      #expect(results.ids == expected, comment)
    }
  }

  @Test func heldResultsEqualFreshOnes() async {
    await withSeeds(amount(3, debug: 1)) { random in
      let realm = try filledRealm(1_600, &random)
      let held = Self.shapes.map { $0(realm) }
      let seed = random.next()
      var next = 10_000
      Self.check(held, realm, "at first", &random)
      for round in 0..<30 {
        switch random.next() % 5 {
        case 0, 1:
          try realm.write {
            for _ in 0...random.next() % 3 { Self.change(realm, &next, &random) }
            if random.next() % 2 == 0 { Self.check(held, realm, "in a transaction", &random) }
          }
        case 2:
          let (first, seed) = (next, seed &+ UInt64(round))
          next += 100
          try inAnotherRealm(of: realm) { other in
            var (next, random) = (first, RandomGenerator(seed: seed))
            for _ in 0...random.next() % 3 {
              try other.write { Self.change(other, &next, &random) }
            }
          }
          if random.next() % 2 == 0 {
            realm.refresh()
          } else {
            try realm.write { Self.change(realm, &next, &random) }
          }
        case 3:
          realm.beginWrite()
          Self.change(realm, &next, &random)
          Self.check(held, realm, "before it is rolled back", &random)
          realm.cancelWrite()
        default:
          // Nothing that most depend on.
          try realm.write { realm.objects(Entry.self)[5].numbers.append(round) }
        }
        Self.check(held, realm, "in round \(round)", &random)
        let frozen = held.map { $0.freeze() }
        let expected = frozen.map { Array($0.ids) }
        try realm.write { Self.change(realm, &next, &random) }
        for (index, results) in frozen.enumerated() {
          #expect(results.ids == expected[index])
          #expect(results.count == expected[index].count)
        }
      }
    }
  }

  @Test func largeChangesAreFollowedToo() async {
    await withSeeds(amount(2, debug: 1)) { random in
      let realm = try filledRealm(2_000, &random)
      let held = Self.shapes.map { $0(realm) }
      var next = 10_000
      for round in 0..<6 {
        Self.check(held, realm, "before round \(round)", &random)
        try realm.write {
          for entry in realm.objects(Entry.self) where random.next() % 3 == 0 {
            entry.small = Int(random.next() % 12) - 6
          }
          if round == 2 {
            for _ in 0..<300 {
              realm.add(Entry.random(next, &random))
              next += 1
            }
          }
          if round == 4 { realm.delete(realm.objects(Entry.self).where { $0.id > 200 }) }
        }
        Self.check(held, realm, "in round \(round)", &random)
      }
    }
  }

  @Test func resultsOfAVersionThatWasPassedPinNothing() async {
    await withSeeds { random in
      let realm = try filledRealm(3_000, &random)
      let held = Self.shapes.map { $0(realm) }
      for results in held { _ = results.ids }
      for round in 0..<20 { try realm.write { realm.objects(Entry.self)[9].small = round } }
      weak var gone: AnyObject?
      do {
        let results = realm.objects(Entry.self).sorted(byKeyPath: "double")
        _ = results[2_000]
        gone = results.source
      }
      // What follows the Realm keeps no query.
      #expect(gone == nil)
    }
  }

  @Test func frozenResultsAreUsedByManyThreads() async {
    await withSeeds { random in
      let realm = try filledRealm(6_000, &random)
      let results = realm.objects(Entry.self).where { $0.small > 0 }.sorted(byKeyPath: "text")
      let expected = results.freeze().ids
      for frozen in [
        results.freeze(),
        realm.freeze().objects(Entry.self).where { $0.small > 0 }.sorted(byKeyPath: "text"),
      ] {
        let ids = expected
        nonisolated(unsafe) let shared = frozen
        DispatchQueue.concurrentPerform(iterations: 4) { index in
          #expect(shared[index].id == ids[index])
          #expect(shared.count == ids.count)
          #expect(shared.ids == ids)
        }
      }
    }
  }
}
