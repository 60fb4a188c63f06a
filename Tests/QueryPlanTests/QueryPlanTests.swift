// Whatever way a search goes, it finds what plain Swift finds: random conditions on random objects,
// each way forced, in every form that a Realm has and through everything that asks for a part of
// the objects.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

// One after the other: which way searches go is set for the whole process.
@Suite(.serialized, .ownThreads) struct QueryPlanTests {
  private func filled(_ count: Int, _ random: inout RandomGenerator) throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "plans-\(UUID().uuidString)", objectTypes: [PlanItem.self, Holder.self])
    )
    var holders: [Holder] = []
    try realm.write {
      for id in 0..<count / 5 {
        let holder = Holder()
        holder.id = id
        holder.age = random.number(12)
        if random.number(3) > 0 { holder.rank = random.number(5) }
        holder.name = texts[random.number(texts.count)]
        if random.number(3) > 0, !holders.isEmpty {
          holder.boss = holders[random.number(holders.count)]
        }
        realm.add(holder)
        holders.append(holder)
      }
      for id in 0..<count { realm.add(PlanItem.random(id, holders, &random)) }
    }
    try realm.write { try change(realm, &random) }
    return realm
  }

  /// Changes and deletes some objects in the running transaction.
  private func change(_ realm: Realm, _ random: inout RandomGenerator) throws {
    for holder in Array(realm.objects(Holder.self)) where random.number(8) == 0 {
      if random.number(3) == 0 { realm.delete(holder) } else { holder.age = random.number(12) }
    }
    let holders = Array(realm.objects(Holder.self))
    for item in Array(realm.objects(PlanItem.self)) where random.number(6) == 0 {
      if random.number(3) == 0 { realm.delete(item) } else { item.change(holders, &random) }
    }
    let next = (realm.objects(PlanItem.self).max(of: \.id) ?? 0) + 1
    for id in next..<next + 20 { realm.add(PlanItem.random(id, holders, &random)) }
  }

  /// Asks for parts of the objects, in an order that is never the same.
  private func check(
    _ all: Results<PlanItem>, _ condition: Condition, _ what: String,
    _ random: inout RandomGenerator
  ) {
    let expected = Array(all.filter(condition.plain).map(\.id))
    let shown = "\(what), \(PlanChoice.current): \(condition.format) \(condition.arguments)"
    func make() -> Results<PlanItem> {
      random.number(2) == 0
        ? all.where(condition.typed)
        : all.filter(NSPredicate(format: condition.format, argumentArray: condition.arguments))
    }
    #expect(make().count == expected.count, "count \(shown)")
    #expect(make().isEmpty == expected.isEmpty, "isEmpty \(shown)")
    #expect(make().first?.id == expected.first, "first \(shown)")
    #expect(Array(make().map(\.id)) == expected, "each \(shown)")
    #expect(make().prefix(3).map(\.id) == Array(expected.prefix(3)), "prefix \(shown)")
    let held = make()
    for position in 0..<min(expected.count, random.number(90)) {
      #expect(held[position].id == expected[position], "[\(position)] \(shown)")
    }
    #expect(held.count == expected.count, "held \(shown)")
    #expect(held.last?.id == expected.last, "last \(shown)")
    for item in all where item.id % 37 == 0 {
      #expect(make().contains(item) == expected.contains(item.id), "contains \(shown)")
      #expect(make().index(of: item) == expected.firstIndex(of: item.id), "index \(shown)")
    }
    #expect(all.index(matching: condition.typed) == all.firstIndex(where: condition.plain))
    #expect(
      make().index(matching: { $0.plain > 2 })
        == make().firstIndex { $0.plain > 2 }, "index in \(shown)")
    #expect(make().sum(of: \.plain) == make().map(\.plain).reduce(0, +), "sum \(shown)")
    #expect(make().max(of: \.number) == make().map(\.number).max(), "max \(shown)")
    #expect(all.min(of: \.number) == all.map(\.number).min())
    #expect(all.max(of: \.optNumber) == all.compactMap(\.optNumber).max())
    #expect(all.min(of: \.optNumber) == all.compactMap(\.optNumber).min())
    #expect(all.max(of: \.date) == all.map(\.date).max())
    #expect(all.min(of: \.date) == all.map(\.date).min())
    let last = make().sorted(byKeyPath: "id", ascending: false)
    #expect(last.first?.id == expected.last, "sorted \(shown)")
    #expect(last.isEmpty == expected.isEmpty)
  }

  private func checkEachWay(
    _ realm: Realm, _ what: String, _ count: Int, _ random: inout RandomGenerator
  ) {
    let all = realm.objects(PlanItem.self)
    let holders = Array(realm.objects(Holder.self))
    for _ in 0..<count {
      let condition = Condition.random(random.number(4), holders, &random)
      for choice in [PlanChoice.byCost, .scan, .index] {
        PlanChoice.with(choice) { check(all, condition, what, &random) }
      }
    }
  }

  @Test func everyWayFindsTheSame() async throws {
    await withSeeds(amount(2, debug: 1)) { random in
      for size in [0, 3, 300, 1_100] {
        let realm = try filled(size, &random)
        checkEachWay(realm, "\(size) live", size == 0 ? 10 : amount(30, debug: 15), &random)
        checkEachWay(realm.freeze(), "\(size) frozen", 10, &random)
        realm.beginWrite()
        try change(realm, &random)
        checkEachWay(realm, "\(size) in a transaction", amount(15, debug: 8), &random)
        realm.cancelWrite()
        checkEachWay(realm, "\(size) rolled back", 5, &random)
      }
    }
  }

  @Test func heldResultsGoOn() async throws {
    await withSeeds(3) { random in
      let realm = try filled(600, &random)
      let all = realm.objects(PlanItem.self)
      let conditions = (0..<20).map { _ in
        Condition.random(2, [], &random)
      }
      let held = conditions.map { all.where($0.typed) }
      for _ in 0..<6 {
        for (results, condition) in zip(held, conditions) {
          let expected = Array(all.filter(condition.plain).map(\.id))
          #expect(results.first?.id == expected.first, "\(condition.format)")
          #expect(results.count == expected.count, "\(condition.format)")
          #expect(Array(results.map(\.id)) == expected, "\(condition.format)")
        }
        try realm.write { try change(realm, &random) }
      }
    }
  }

  @Test func loopsSeeWhatFulfilledTheConditionWhenTheyBegan() async throws {
    await withSeeds(2) { random in
      let realm = try filled(1_000, &random)
      let expected = Array(realm.objects(PlanItem.self).filter { $0.plain < 3 }.map(\.id))
      var seen: [Int] = []
      for item in realm.objects(PlanItem.self).where({ $0.plain < 3 }) {
        seen.append(item.id)
        try realm.write { item.plain = 5 }
      }
      #expect(seen == expected)
      #expect(realm.objects(PlanItem.self).where { $0.plain < 3 }.isEmpty)
      try realm.write {
        seen = []
        for item in realm.objects(PlanItem.self).where({ $0.plain == 5 }) {
          seen.append(item.id)
          item.plain = 1
        }
      }
      #expect(seen.count >= expected.count)
      #expect(realm.objects(PlanItem.self).where { $0.plain == 5 }.isEmpty)
      // Objects that are deleted on the way are left out.
      var left = 0
      let some = realm.objects(PlanItem.self).where { $0.plain == 1 }
      let count = some.count
      for item in realm.objects(PlanItem.self).where({ $0.plain == 1 }) {
        left += 1
        guard let next = some.first(where: { $0.id > item.id }) else { continue }
        try realm.write { realm.delete(next) }
      }
      #expect(left == (count + 1) / 2)
    }
  }

  @Test func listsAndLinkingObjects() async throws {
    await withSeeds(2) { random in
      let realm = try filled(400, &random)
      for holder in realm.objects(Holder.self).prefix(20) {
        let condition = Condition.random(1, Array(realm.objects(Holder.self)), &random)
        let expected = Array(holder.items.filter(condition.plain).map(\.id))
        let found = holder.items.where(condition.typed)
        #expect(found.first?.id == expected.first)
        #expect(found.isEmpty == expected.isEmpty)
        #expect(Array(found.map(\.id)) == expected)
        #expect(
          holder.items.where(condition.typed).prefix(2).map(\.id) == Array(expected.prefix(2)))
      }
      for item in realm.objects(PlanItem.self).prefix(20) {
        let expected = Array(item.holders.filter { $0.age > 5 }.map(\.id))
        #expect(item.holders.where { $0.age > 5 }.first?.id == expected.first)
        #expect(item.holders.where { $0.age > 5 }.count == expected.count)
      }
    }
  }
}
