// Sets: reading, changing, forms; alike in objects with and without a Realm.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct MutableSetTests {
  @Test func holdsEachElementOnce() throws {
    try withKennels { kennel in
      let set = kennel.numberSet
      #expect(set.isEmpty && set.first == nil && !set.contains(1))
      for number in [3, 1, 2, 3, 1, -7, Int.max, Int.min] { set.insert(number) }
      #expect(set.count == 6 && Set(set) == [3, 1, 2, -7, Int.max, Int.min])
      #expect(set.contains(2) && set.contains(Int.min) && !set.contains(4))
      set.remove(2)
      set.remove(2)
      #expect(!set.contains(2) && set.count == 5)
      set.insert(objectsIn: [2, 2, 3])
      #expect(set.count == 6 && set.map { $0 }.count == 6)
      #expect(kennel.numberSet == set)
      set.removeAll()
      #expect(set.isEmpty)
    }
  }

  @Test(.enabled(if: managedCollectionsWork)) func managedSetsAreSorted() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      let kennel = realm.create(
        Kennel.self,
        value: [
          "numberSet": [5, -1, 3], "nameSet": ["b", "", "a", "ab"],
          "doubleSet": [1.5, -.infinity, -0.25], "optionalNumberSet": [2, nil, -2],
        ])
      #expect(Array(kennel.numberSet) == [-1, 3, 5])
      #expect(kennel.numberSet.first == -1 && kennel.numberSet.last == 5)
      #expect(Array(kennel.nameSet) == ["", "a", "ab", "b"])
      #expect(Array(kennel.doubleSet) == [-.infinity, -0.25, 1.5])
      #expect(Array(kennel.optionalNumberSet) == [nil, -2, 2])
    }
  }

  @Test func combines() throws {
    try withKennels { kennel in
      let set = kennel.numberSet
      let other = MutableSet<Int>()
      set.insert(objectsIn: [1, 2, 3])
      other.insert(objectsIn: [2, 3, 4])
      #expect(set.intersects(other) && !set.isSubset(of: other))
      set.formUnion(other)
      #expect(Set(set) == [1, 2, 3, 4] && other.isSubset(of: set))
      set.subtract(other)
      #expect(Set(set) == [1] && !set.intersects(other))
      set.formUnion(other)
      set.remove(3)
      other.formIntersection(set)
      #expect(Set(other) == [2, 4] && Set(set) == [1, 2, 4])
      set.formIntersection(set)
      set.subtract(set)
      #expect(set.isEmpty)
    }
  }

  @Test func holdsObjects() throws {
    try withKennels { kennel in
      let (rex, max) = (Hound("Rex", 3), Hound("Max", 5))
      kennel.houndSet.insert(rex)
      kennel.houndSet.insert(objectsIn: [max, rex])
      #expect(kennel.houndSet.count == 2)
      #expect(kennel.houndSet.contains(rex) && !kennel.houndSet.contains(Hound("Rex", 3)))
      #expect(Set(kennel.houndSet.map(\.name)) == ["Rex", "Max"])
      kennel.houndSet.remove(rex)
      #expect(kennel.houndSet.map(\.name) == ["Max"] && !rex.isInvalidated)
      #expect(kennel.houndSet.sum(ofProperty: "age") == 5)
    }
  }

  @Test func holdsOtherTypes() throws {
    try withKennels { kennel in
      kennel.nameSet.insert(objectsIn: ["Ä", "", String(repeating: "x", count: 3000), "Ä"])
      #expect(kennel.nameSet.count == 3 && kennel.nameSet.contains("Ä"))
      kennel.doubleSet.insert(objectsIn: [0.5, -0.5, 0.5])
      #expect(kennel.doubleSet.count == 2 && kennel.doubleSet.contains(-0.5))
      kennel.optionalNumberSet.insert(objectsIn: [nil, 1, nil])
      #expect(kennel.optionalNumberSet.count == 2 && kennel.optionalNumberSet.contains(nil))
      kennel.optionalNumberSet.remove(nil)
      #expect(!kennel.optionalNumberSet.contains(nil))
    }
  }

  @Test func assignsWholeSets() throws {
    try withKennels { kennel in
      let set = kennel.numberSet
      let other = MutableSet<Int>()
      other.insert(objectsIn: [1, 2])
      kennel.numberSet = other
      other.insert(3)
      #expect(Set(set) == [1, 2] && Set(kennel.numberSet) == [1, 2])
      kennel.setValue([7, 7, 8], forKey: "numberSet")
      #expect(Set(set) == [7, 8])
    }
  }

  @Test func showsElementsOfWhenIterationBegan() throws {
    try withKennels { kennel in
      kennel.numberSet.insert(objectsIn: 0..<300)
      var seen: Set<Int> = []
      for number in kennel.numberSet {
        seen.insert(number)
        kennel.numberSet.remove(number)
      }
      #expect(seen.count == 300 && kennel.numberSet.isEmpty)
    }
  }

  @Test func isCodableAndDescribesItself() throws {
    let set = MutableSet<String>()
    set.insert("a")
    let data = try JSONEncoder().encode(set)
    #expect(String(decoding: data, as: UTF8.self) == #"["a"]"#)
    #expect(Array(try JSONDecoder().decode(MutableSet<String>.self, from: data)) == ["a"])
    #expect(set.description.hasPrefix("MutableSet<string> <0x"))
  }

  @Test func positionsMeanNothing() async {
    let stopped = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = MutableSet<Int>().index(of: 1)
    }
    expectStop(stopped, "index(of:) is not available on MutableSet")
    let bounds = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = MutableSet<Int>()[0]
    }
    expectStop(bounds, "Index 0 is out of bounds (must be less than 0).")
  }
}
