// Conditions on the element at a position of a list.
import Foundation
import RealmSwift
import TestSupport
import Testing

class WalkDog: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var toys: List<WalkToy>
  @Persisted var tags: MutableSet<String>
}
class WalkToy: Object {
  @Persisted var name = ""
  @Persisted var prices: List<Double>
}
class WalkOwner: Object {
  @Persisted var name = ""
  @Persisted var dogs: List<WalkDog>
  @Persisted var best: WalkDog?
  @Persisted var ints: List<Int>
  @Persisted var optional: List<String?>
  @Persisted var any: AnyRealmValue
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, WalkDog?>
}
func walkRealm() throws -> Realm {
  let realm = try memoryRealm([WalkDog.self, WalkToy.self, WalkOwner.self])
  try realm.write {
    realm.create(
      WalkOwner.self,
      value: [
        "name": "a",
        "dogs": [
          ["id": 1, "name": "Rex", "toys": [["name": "ball", "prices": [1.5, 2.5]]]],
          ["id": 2, "name": "Max"],
        ],
        "ints": [1, 2, 3], "optional": ["x", nil] as [String?], "any": [1, "two", [3]] as [Any],
      ] as [String: Any])
    realm.create(
      WalkOwner.self,
      value: [
        "name": "b", "dogs": [["id": 3, "name": "Max"]], "ints": [5],
        "optional": [nil] as [String?], "any": ["k": 1],
      ] as [String: Any])
    realm.create(WalkOwner.self, value: ["name": "c"])
  }
  return realm
}

@Suite(.ownThreads) struct AsUsersListIndexTests {
  @Test func elementsByPosition() throws {
    let realm = try walkRealm()
    let owners = realm.objects(WalkOwner.self)
    func names(_ found: Results<WalkOwner>) -> [String] { found.map(\.name) }
    func finds(
      _ text: String, _ names: [String], sourceLocation: SourceLocation = #_sourceLocation,
      _ condition: @escaping (Query<WalkOwner>) -> Query<Bool>
    ) {
      #expect(Array(owners.where(condition).map(\.name)) == names, sourceLocation: sourceLocation)
      #expect(Array(owners.filter(text).map(\.name)) == names, sourceLocation: sourceLocation)
      let (written, arguments) = condition(Query<WalkOwner>._constructForTesting())
        ._constructPredicate()
      #expect(
        Array(owners.filter(NSPredicate(format: written, argumentArray: arguments)).map(\.name))
          == names, sourceLocation: sourceLocation)
    }
    finds("ints[0] == 1", ["a"]) { $0.ints[0] == 1 }
    finds("ints[0] > 0", ["a", "b"]) { $0.ints[0] > 0 }
    finds("ints[1] == 2", ["a"]) { $0.ints[1] == 2 }
    finds("ints[1] IN {2, 3}", ["a"]) { $0.ints[1].in([2, 3]) }
    finds("ints[0] BETWEEN {2, 9}", ["b"]) { $0.ints[0].contains(2...9) }
    finds("dogs[0].name == 'Rex'", ["a"]) { $0.dogs[0].name == "Rex" }
    finds("dogs[0].name BEGINSWITH[c] 'm'", ["b"]) {
      $0.dogs[0].name.starts(with: "m", options: .caseInsensitive)
    }
    finds("dogs[0].toys[0].prices[1] == 2.5", ["a"]) { $0.dogs[0].toys[0].prices[1] == 2.5 }
    finds("dogs[0].toys.@count == 1", ["a"]) { $0.dogs[0].toys.count == 1 }
    finds("ANY dogs[0].toys.name == 'ball'", ["a"]) { $0.dogs[0].toys.name == "ball" }
    finds("ANY dogs.toys[0].name == 'ball'", ["a"]) { $0.dogs.toys[0].name == "ball" }
    finds("optional[0] == nil", ["b", "c"]) { $0.optional[0] == nil }
    finds("#any[1] == 'two'", ["a"]) { $0.any[1] == .string("two") }
    #expect(names(owners.filter("ints[FIRST] == 5")) == ["b"])
    #expect(names(owners.filter("ints[LAST] == 3")) == ["a"])
    #expect(names(owners.filter("ints[last] == 5")) == ["b"])
    #expect(names(owners.filter("ints[SIZE] == 3")) == ["a"])
    #expect(names(owners.filter("dogs[LAST].name == 'Max'")) == ["a", "b"])
    #expect(names(owners.filter("dogs[SIZE] > 1")) == ["a"])
    #expect(names(owners.filter("#any[LAST][0] == 3")) == ["a"])
    #expect(names(owners.filter("#any[FIRST] == 1")) == ["a"])
    #expect(names(owners.filter("ints[%d] == %d", 0, 5)) == ["b"])
    #expect(names(owners.filter("best.toys[0].name == 'x'")) == [])
    #expect(names(owners.filter("dogs[0] == %@", owners[1].dogs[0])) == ["b"])
    let dog = owners[1].dogs[0]
    finds("dogs[0].id == 3", ["b"]) { $0.dogs[0] == dog }
    #expect(
      names(owners.filter("SUBQUERY(dogs, $d, $d.toys[0].name == 'ball').@count == 1")) == ["a"])
    #expect(names(owners.where { ($0.dogs.toys[0].name == "ball").count == 1 }) == ["a"])
    let following = owners.where { $0.dogs[0].name == "Rex" }
    #expect(following.count == 1)
    try realm.write { owners[0].dogs.swapAt(0, 1) }
    #expect(following.count == 0)
    try realm.write { owners[0].dogs[0].name = "Rex" }
    #expect(following.count == 1)
    #expect(owners[0].dogs.filter("toys[0].name = 'ball'").count == 1)
  }

  @Test func positionsThatMeanNothing() async {
    let setStop = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try walkRealm()
      _ = realm.objects(WalkOwner.self).filter("set[0] == 1").count
    }
    expectStop(setStop, "only lists and mixed values have elements by position")
    let linkStop = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try walkRealm()
      _ = realm.objects(WalkOwner.self).filter("best[0] == 1").count
    }
    expectStop(linkStop, "only lists and mixed values have elements by position")
    let negativeStop = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try walkRealm()
      _ = realm.objects(WalkOwner.self).where { $0.ints[-1] == 1 }.count
    }
    expectStop(negativeStop, "Cannot pass a negative value for 'index'.")
    let twiceStop = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try walkRealm()
      _ = realm.objects(WalkOwner.self).filter("ints[0][0] == 1").count
    }
    expectStop(twiceStop, "only lists and mixed values have elements by position")
  }
}
