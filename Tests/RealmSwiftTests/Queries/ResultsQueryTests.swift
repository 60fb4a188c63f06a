// Results of queries as collections: order, distinct values, aggregates, and how they follow
// changes.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ResultsQueryTests {
  private func filled(_ count: Int, _ random: inout RandomGenerator) throws -> Realm {
    let realm = try memoryRealm([Thing.self])
    try realm.write { for id in 0..<count { realm.add(Thing.random(id, &random)) } }
    return realm
  }

  // MARK: - Order and distinct values

  @Test func sorts() async throws {
    await withSeeds(3) { random in
      let all = try filled(500, &random).objects(Thing.self)
      let things = Array(all)
      func check(_ results: Results<Thing>, _ isBefore: @escaping (Thing, Thing) -> Bool) {
        // Equal ones stay in the order of their keys.
        let expected = things.enumerated().sorted { left, right in
          if isBefore(left.element, right.element) { return true }
          return !isBefore(right.element, left.element) && left.offset < right.offset
        }
        #expect(Array(results.map(\.id)) == expected.map { $0.element.id })
      }
      check(all.sorted(byKeyPath: "int")) { $0.int < $1.int }
      check(all.sorted(byKeyPath: "int", ascending: false)) { $0.int > $1.int }
      check(all.sorted(by: \.string)) { isLess($0.string, $1.string) }
      check(all.sorted(by: \.date, ascending: false)) { $0.date > $1.date }
      check(all.sorted(byKeyPath: "bool")) { !$0.bool && $1.bool }
      check(all.sorted(byKeyPath: "data")) { $0.data.lexicographicallyPrecedes($1.data) }
      check(all.sorted(byKeyPath: "optInt")) { left, right in
        guard let second = right.optInt else { return false }
        return left.optInt.map { $0 < second } ?? true
      }
      check(all.sorted(byKeyPath: "optString", ascending: false)) { left, right in
        guard let first = left.optString else { return false }
        return right.optString.map { isLess($0, first) } ?? true
      }
      check(all.sorted(by: ["other", SortDescriptor(keyPath: "bool", ascending: false)])) {
        $0.other != $1.other ? $0.other < $1.other : $0.bool && !$1.bool
      }
      // A later order counts more than an earlier one.
      check(all.sorted(byKeyPath: "bool").sorted(byKeyPath: "other")) {
        $0.other != $1.other ? $0.other < $1.other : !$0.bool && $1.bool
      }
    }
  }

  @Test func distinctValues() async throws {
    await withSeeds(3) { random in
      let all = try filled(300, &random).objects(Thing.self)
      var seen = Set<[UInt8]>()
      let texts = all.filter { seen.insert(bytes($0.string)).inserted }
      #expect(Array(all.distinct(by: ["string"]).map(\.id)) == Array(texts.map(\.id)))
      var pairs = Set<[Int?]>()
      let expected = all.filter { pairs.insert([$0.other, $0.optInt]).inserted }
      #expect(
        Array(all.distinct(by: ["other", "optInt"]).map(\.id)) == Array(expected.map(\.id)))
      #expect(Set(all.distinct(by: [\Thing.bool]).map(\.bool)).count == 2)
      let sorted = all.sorted(byKeyPath: "other", ascending: false).distinct(by: ["other"])
      #expect(Array(sorted.map(\.other)) == Set(all.map(\.other)).sorted(by: >))
      #expect(sorted.where { $0.other > 0 }.allSatisfy { $0.other > 0 })
    }
  }

  // MARK: - Aggregates

  @Test func aggregates() async throws {
    await withSeeds(3) { random in
      let all = try filled(300, &random).objects(Thing.self)
      for things in [all, all.where { $0.other > 0 }, all.where { $0.other > 100 }] {
        let numbers = things.map { Int($0.small) }
        #expect(things.min(of: \.small).map { Int($0) } == numbers.min())
        #expect(things.max(ofProperty: "small") == numbers.max())
        #expect(things.sum(ofProperty: "small") == numbers.reduce(0, +))
        #expect(things.sum(of: \.other) == things.map(\.other).reduce(0, +))
        let mean: Double? = things.average(ofProperty: "small")
        #expect(
          mean == (numbers.isEmpty ? nil : Double(numbers.reduce(0, +)) / Double(numbers.count)))
        let known = things.compactMap(\.optInt)
        #expect(things.min(of: \.optInt) == known.min())
        #expect(things.max(of: \.optInt) == known.max())
        #expect(things.sum(of: \.optInt) == known.reduce(0, +))
        #expect(things.min(of: \.date) == things.map(\.date).min())
        #expect(things.max(of: \.optDate) == things.compactMap(\.optDate).max())
        #expect(things.sum(of: \.optDouble) == things.compactMap(\.optDouble).reduce(0, +))
      }
    }
  }

  // MARK: - Liveness

  @Test func followChanges() throws {
    let realm = try memoryRealm()
    let old = realm.objects(Dog.self).where { $0.age > 5 }.sorted(byKeyPath: "age")
    #expect(old.isEmpty && old.first == nil && old.last == nil)
    try realm.write {
      for age in [7, 3, 9] { realm.create(Dog.self, value: ["age": age]) }
      // Also inside of the transaction.
      #expect(old.map(\.age).elementsEqual([7, 9]))
      realm.objects(Dog.self).first!.age = 10
      #expect(old.map(\.age).elementsEqual([9, 10]))
    }
    #expect(old.first?.age == 9 && old.last?.age == 10 && old[1].age == 10)
    #expect(old.index(of: old[1]) == 1)
    realm.beginWrite()
    realm.delete(old[0])
    #expect(old.count == 1)
    realm.cancelWrite()
    #expect(old.count == 2)
  }

  @Test func followOtherThreads() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let old = realm.objects(Dog.self).where { $0.age > 5 }
    #expect(old.isEmpty)
    let carried = Carried(configuration)
    onThread {
      let realm = try! Realm(configuration: carried.value)
      try! realm.write { realm.add([Dog(value: ["age": 8]), Dog(value: ["age": 1])]) }
    }
    #expect(old.isEmpty)
    realm.refresh()
    #expect(old.map(\.age).elementsEqual([8]))
  }

  @Test func iterateAsTheyWere() throws {
    let realm = try memoryRealm()
    try realm.write {
      for age in 0..<10 { realm.create(Dog.self, value: ["age": age]) }
      let young = realm.objects(Dog.self).where { $0.age < 5 }
      var seen: [Int] = []
      for dog in young {
        seen.append(dog.age)
        // It leaves the results, the rest is visited all the same.
        dog.age += 100
        if seen.count == 2 { realm.delete(young[0]) }
      }
      #expect(seen == [0, 1, 3, 4])
      #expect(young.isEmpty)
    }
  }

  @Test func freezeAndThaw() throws {
    let realm = try memoryRealm()
    try realm.write { for age in 0..<6 { realm.create(Dog.self, value: ["age": age]) } }
    let old = realm.objects(Dog.self).where { $0.age > 3 }
    let frozen = old.freeze()
    try realm.write { realm.delete(old) }
    #expect(old.isEmpty && frozen.isFrozen && !old.isFrozen)
    #expect(frozen.map(\.age).elementsEqual([4, 5]))
    #expect(frozen.where { $0.age > 4 }.count == 1)
    #expect(frozen.thaw()?.isEmpty == true)
    let carried = Carried(frozen)
    onThread { #expect(carried.value.sorted(byKeyPath: "age", ascending: false)[0].age == 5) }
  }

  @Test func deleteAndSetValues() throws {
    let realm = try memoryRealm()
    try realm.write {
      for age in 0..<10 { realm.create(Dog.self, value: ["age": age]) }
      realm.objects(Dog.self).where { $0.age > 6 }.setValue(6, forKey: "age")
      #expect(realm.objects(Dog.self).where { $0.age == 6 }.count == 4)
      realm.delete(realm.objects(Dog.self).where { $0.age == 6 })
    }
    #expect(realm.objects(Dog.self).map(\.age).elementsEqual(0..<6))
    #expect(realm.objects(Dog.self).where { $0.age > 3 }.value(forKey: "age") as? [Int] == [4, 5])
    #expect(realm.objects(Dog.self).index(matching: "age == %@", 4) == 4)
    #expect(realm.objects(Dog.self).index(matching: { $0.age == 40 }) == nil)
  }

  @Test func descriptorsDescribeThemselves() {
    #expect(
      SortDescriptor(keyPath: "a").reversed() == SortDescriptor(keyPath: "a", ascending: false))
    #expect(SortDescriptor(keyPath: \Dog.age) == "age")
    #expect(
      String(describing: SortDescriptor(keyPath: "a"))
        == "SortDescriptor(keyPath: a, direction: ascending)")
  }
}
