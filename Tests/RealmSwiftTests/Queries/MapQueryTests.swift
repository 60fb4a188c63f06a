// Queries on maps and sets: on objects that have some, and on their own values.
import Foundation
import RealmSwift
import TestSupport
import Testing

/// Has maps and a set.
class Shelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var prices: Map<String, Int>
  @Persisted var notes: Map<String, String?>
  @Persisted var amounts: Map<String, Decimal128>
  @Persisted var pets: Map<String, Pet?>
  @Persisted var tags: MutableSet<String>
}

@Suite(.ownThreads) struct MapQueryTests {
  /// Four shelves with as many entries as their id.
  private func shelves() throws -> Results<Shelf> {
    let realm = try memoryRealm([Shelf.self, Pet.self, Keeper.self])
    try realm.write {
      for id in 0..<4 {
        let shelf = realm.create(Shelf.self, value: ["id": id])
        for index in 0..<id {
          shelf.prices["k\(index)"] = index * 10
          shelf.notes["n\(index)"] = index == 1 ? .some(nil) : "Note \(index)"
          shelf.amounts["a\(index)"] = Decimal128(integerLiteral: Int64(index))
        }
        for pet in 0...id {
          shelf.pets["p\(pet)"] =
            id == 0
            ? nil
            : realm.create(
              Pet.self, value: ["id": id * 10 + pet, "age": id - pet, "name": "Pet \(pet)"])
        }
        shelf.tags.insert("t\(id)")
      }
    }
    return realm.objects(Shelf.self)
  }

  private func ids(_ results: Results<Shelf>) -> [Int] { Array(results.map(\.id)) }

  @Test func entriesOfObjects() throws {
    let shelves = try shelves()
    #expect(ids(shelves.where { $0.prices["k1"] == 10 }) == [2, 3])
    #expect(ids(shelves.where { $0.prices["k1"] > 10 }) == [])
    #expect(ids(shelves.where { $0.prices["k1"].in([9, 10]) && $0.prices.count < 3 }) == [2])
    #expect(
      ids(shelves.where { $0.notes["n0"].starts(with: "note", options: .caseInsensitive) })
        == [1, 2, 3])
    #expect(ids(shelves.where { $0.notes["n1"] == nil }) == [0, 1, 2, 3])
    #expect(ids(shelves.where { $0.prices.keys == "k2" }) == [3])
    #expect(ids(shelves.where { $0.prices.keys.starts(with: "k") }) == [1, 2, 3])
    #expect(ids(shelves.where { $0.prices.keys.like("?1") }) == [2, 3])
    #expect(ids(shelves.where { $0.prices.values > 10 }) == [3])
    #expect(ids(shelves.where { $0.notes.values == nil }) == [2, 3])
    #expect(ids(shelves.where { $0.notes.values.contains("2") }) == [3])
    #expect(ids(shelves.where { $0.prices.contains(20) }) == [3])
    #expect(ids(shelves.where { $0.prices.containsAny(in: [10, 20]) }) == [2, 3])
    #expect(ids(shelves.where { $0.prices == 10 }) == [2, 3])
    #expect(ids(shelves.where { $0.prices >= 20 }) == [3])
    #expect(ids(shelves.where { $0.prices.count == 2 }) == [2])
    #expect(ids(shelves.where { $0.prices.sum == 30 }) == [3])
    #expect(ids(shelves.where { $0.prices.avg == 5 }) == [2])
    #expect(ids(shelves.where { $0.prices.max < 20 && $0.prices.min == 0 }) == [1, 2])
    #expect(ids(shelves.where { $0.prices.contains(0...10) }) == [1, 2])
    #expect(ids(shelves.where { $0.prices.contains(0..<10) }) == [1])
    #expect(ids(shelves.where { $0.amounts["a2"] == 2 }) == [3])
    #expect(ids(shelves.where { $0.tags.contains("t1") }) == [1])
    #expect(ids(shelves.where { $0.tags.containsAny(in: ["t1", "t3"]) }) == [1, 3])
  }

  @Test func objectsInMaps() throws {
    let shelves = try shelves()
    #expect(ids(shelves.where { $0.pets.age == 2 }) == [2, 3])
    #expect(ids(shelves.where { $0.pets.name.ends(with: "3") }) == [3])
    #expect(
      ids(shelves.where { ($0.pets.age >= 1 && $0.pets.name == "Pet 1").count == 1 })
        == [2, 3])
    let pet = try #require(shelves[2].pets["p1"] ?? nil)
    #expect(ids(shelves.where { $0.pets["p1"] == pet }) == [2])
    #expect(ids(shelves.where { $0.pets.contains(pet) }) == [2])
    #expect(ids(shelves.where { $0.pets.age.sum == 6 }) == [3])
  }

  @Test func textForms() throws {
    let shelves = try shelves()
    #expect(ids(shelves.filter("prices['k0'] == 0 AND prices.@count > 2")) == [3])
    #expect(ids(shelves.filter("prices[%@] == %d", "k1", 10)) == [2, 3])
    #expect(ids(shelves.filter("ANY prices.@allKeys == 'k1'")) == [2, 3])
    #expect(ids(shelves.filter("ANY prices.@allValues > 10")) == [3])
    #expect(ids(shelves.filter("ALL prices < 20 AND prices.@count > 0")) == [1, 2])
    #expect(ids(shelves.filter("NONE prices.@allKeys BEGINSWITH 'k'")) == [0])
    #expect(ids(shelves.filter("prices.@sum == 30 OR prices.@max == 10")) == [2, 3])
    #expect(ids(shelves.filter("SUBQUERY(pets, $p, $p.age > 1).@count == 2")) == [3])
    #expect(ids(shelves.filter("pets.@max.age == 3 OR pets['p0'].age == 1")) == [1, 3])
    #expect(ids(shelves.filter("'t2' IN tags")) == [2])

    func text(_ query: (Query<Shelf>) -> Query<Bool>) -> String {
      query(Query<Shelf>._constructForTesting())._constructPredicate().0
    }
    #expect(text { $0.prices["k1"] == 10 } == "(prices[%@] == %@)")
    #expect(text { $0.prices.keys == "k1" } == "(ANY prices.@allKeys == %@)")
    #expect(text { $0.prices.values > 1 } == "(ANY prices.@allValues > %@)")
    #expect(text { $0.prices.contains(1) } == "(%@ IN prices)")
    #expect(text { $0.prices.avg > 1 } == "(prices.@avg > %@)")
    #expect(text { $0.pets.age == 1 } == "(ANY pets.age == %@)")
  }

  @Test func valuesOfOneMap() throws {
    let shelf = try shelves()[3]
    #expect(Array(shelf.prices.where { $0 > 0 }) == [10, 20])
    #expect(Array(shelf.prices.filter("SELF < 15")) == [0, 10])
    #expect(Array(shelf.prices.filter(NSPredicate(format: "self == %@", 20))) == [20])
    #expect(Array(shelf.prices.sorted(ascending: false)) == [20, 10, 0])
    #expect(Array(shelf.notes.where { $0 == nil }) == [nil])
    #expect(Array(shelf.notes.sorted()) == [nil, "Note 0", "Note 2"])
    #expect(shelf.pets.where { $0.age > 1 }.compactMap { $0?.age } == [3, 2])
    #expect(shelf.pets.filter("name ENDSWITH '1'").count == 1)
    #expect(shelf.pets.sorted(byKeyPath: "age").map { $0!.age } == [0, 1, 2, 3])
    #expect(shelf.pets.sorted(by: \.age, ascending: false).map { $0!.age } == [3, 2, 1, 0])
    #expect(shelf.pets.distinct(by: [\.age]).count == 4)
  }

  @Test func aggregatesOfOneMap() throws {
    let shelf = try shelves()[3]
    #expect(shelf.prices.sum() == 30 && shelf.prices.max() == 20 && shelf.prices.min() == 0)
    #expect(shelf.prices.average() == 10)
    #expect(shelf.amounts.average() == Decimal128(1) && shelf.amounts.sum() == 3)
    #expect(shelf.pets.sum(of: \.age) == 6 && shelf.pets.max(of: \.age) == 3)
    #expect(shelf.pets.min(ofProperty: "age") == 0)
    let mean: Double? = shelf.pets.average(ofProperty: "age")
    #expect(mean == 1.5)
    let plain = Map<String, Pet?>()
    plain["a"] = Pet(value: ["age": 4])
    plain["b"] = Pet(value: ["age": 6])
    #expect(plain.sum(of: \.age) == 10 && plain.average(of: \.age) == 5.0)
  }

  @Test func resultsFollowTheMap() throws {
    let shelf = try shelves()[3]
    let realm = try #require(shelf.realm)
    let dear = shelf.prices.where { $0 >= 20 }
    let old = shelf.pets.where { $0.age >= 2 }
    #expect(dear.count == 1 && old.count == 2)
    let frozen = old.freeze()
    try realm.write {
      shelf.prices["z"] = 99
      realm.delete(try #require(shelf.pets["p0"] ?? nil))
    }
    #expect(Array(dear) == [20, 99] && old.count == 1 && frozen.count == 2)
    #expect(frozen.thaw()?.count == 1)
    try realm.write { shelf.prices.removeAll() }
    #expect(dear.isEmpty)
  }

  @Test func keyPathsBehindSubscriptsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Shelf.self, Pet.self, Keeper.self])
      _ = realm.objects(Shelf.self).where { $0.pets["p"].age == 2 }
    }
    expectStop(result, "Cannot apply key path to Map subscripts.")
  }

  @Test func subqueriesOfSubscriptsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Shelf.self, Pet.self, Keeper.self])
      _ = realm.objects(Shelf.self).where { ($0.prices["p"] == 2).count == 1 }
    }
    expectStop(result, "Subqueries do not support map subscripts.")
  }

  @Test func unmanagedMapsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Map<String, Int>().where { $0 > 1 } }
    expectStop(result, "This method may only be called on managed collections.")
  }
}
