// What `explain` says of queries, and that formats which were read before mean what they did.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ExplanationTests {
  private func filled() throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "explained-\(UUID().uuidString)",
        objectTypes: [PlanItem.self, Holder.self]))
    try realm.write {
      let holders = (0..<10).map { realm.create(Holder.self, value: ["id": $0, "age": $0]) }
      for id in 0..<3_000 {
        realm.create(
          PlanItem.self,
          value: ["id": id, "number": id % 1_000, "plain": id % 7, "owner": holders[id % 10]])
      }
    }
    return realm
  }

  @Test func saysWhichWayIsTaken() throws {
    let realm = try filled()
    let all = realm.objects(PlanItem.self)
    let indexed = all.where { $0.number == 3 }.explain()
    #expect(indexed.contains("index on number, 1 values"), "\(indexed)")
    #expect(indexed.contains("taken: the keys, nothing else is asked"), "\(indexed)")
    #expect(indexed.contains("count: 3, known without a search"), "\(indexed)")
    let scanned = all.where { $0.plain == 3 }.explain()
    #expect(scanned.contains("taken: the scan") && scanned.contains("plain =="), "\(scanned)")
    #expect(scanned.contains("looked at 3000 in"), "\(scanned)")
    let key = all.filter("id == 5 AND plain == 1").explain()
    #expect(key.contains("primary key, 1 found") && key.contains("found 0 objects"), "\(key)")
    let owner = realm.objects(Holder.self)[4]
    let links = all.where { $0.owner == owner }.explain()
    #expect(links.contains("backlinks by owner of 1 objects"), "\(links)")
    #expect(links.contains("found 300 objects"), "\(links)")
    let related = all.where { $0.owner.rank == nil }.sorted(byKeyPath: "id").explain()
    #expect(related.contains("owner leads to a Holder"), "\(related)")
    #expect(related.contains("then: sorted"), "\(related)")
    #expect(all.explain() == "3000 elements, known without a search")
    #expect(owner.items.where { $0.plain == 1 }.explain().contains("elements of a collection"))
    #expect(
      realm.freeze().objects(PlanItem.self).where { $0.number == 3 }.explain().contains("index"))
  }

  /// A number of another type is looked up as an integer is, and compared exactly.
  @Test func wholeNumbersOfOtherTypesAreLookedUp() throws {
    let all = try filled().objects(PlanItem.self)
    let key = all.filter("id == %@", NSNumber(value: 42)).explain()
    #expect(key.contains("primary key, 1 found"), "\(key)")
    let indexed = all.filter("number == %f", 3.0).explain()
    #expect(indexed.contains("index on number, 1 values"), "\(indexed)")
    let numbers = [NSNumber(value: 1), NSNumber(value: 2)]
    let cases: [(String, Any, Int)] = [
      ("id == %@", NSNumber(value: 42), 1), ("id == %@", 42.5, 0), ("id IN %@", numbers, 2),
      ("number IN %@", numbers, 6), ("number >= %@", 17.5, 2_946), ("number < %@", 17.5, 54),
      ("number == %@", 17.5, 0), ("number != %@", 17.5, 3_000), ("number > %@", -1e30, 3_000),
      ("plain < %@", 2.5, 1_287), ("plain <= %@", 2.5, 1_287), ("NOT plain < %@", 2.5, 1_713),
      ("plain > %@", 1e30, 0), ("plain < %@", 1e30, 3_000), ("plain > %@", -0.5, 3_000),
      ("plain < %@", -Double.infinity, 0), ("plain == %@", Double.nan, 0),
      ("optNumber < %@", 1e30, 0),
    ]
    for (format, argument, count) in cases {
      #expect(all.filter(format, argument).count == count, "\(format) \(argument)")
    }
  }

  /// Suites run side by side: a way that one test forces is not taken by the searches of another.
  @Test func aForcedWayIsThatOfOneTask() {
    for choice in [PlanChoice.scan, .index] {
      PlanChoice.with(choice) {
        #expect(PlanChoice.current == choice)
        let elsewhere = Monitor<PlanChoice?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Thread {
          elsewhere.withLock { $0 = PlanChoice.current }
          isDone.signal()
        }.start()
        isDone.wait()
        #expect(elsewhere.withLock { $0 } == .byCost)
      }
      #expect(PlanChoice.current == .byCost)
    }
  }

  @Test func formatsReadBeforeTakeNewArguments() throws {
    let realm = try filled()
    let all = realm.objects(PlanItem.self)
    for round in 0..<3 {
      #expect(all.filter("number == %@ AND plain < %d", 3 + round, 7).count == 3)
      #expect(all.filter("number IN %@", [1, 2, 3 + round]).count == 9)
      #expect(all.filter("number IN {%@, %@}", 1, 2 + round).count == 6)
      #expect(all.filter("number BETWEEN %@", [10, 12 + round]).count == 9 + 3 * round)
      #expect(all.filter("number BETWEEN {%@, %@}", 10, 12 + round).count == 9 + 3 * round)
      #expect(
        all.filter("%K == %@", round == 1 ? "plain" : "id", 6).count == (round == 1 ? 428 : 1))
      #expect(
        all.filter("optNumber == %@", round == 0 ? NSNull() : 5).count == (round == 0 ? 3_000 : 0))
      #expect(all.filter("%@ == number", 3 + round).count == 3)
      #expect(all.filter("SUBQUERY(holders, $h, $h.age == %@).@count == %@", 1, 0).count == 3_000)
      #expect(all.filter("NOT (number == %@ OR plain == 1)", 0).count == 2_568)
    }
  }
}
