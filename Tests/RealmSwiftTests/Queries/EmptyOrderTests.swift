// Orders by no property, and distinct elements by none: all elements, as they are.
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct EmptyOrderTests {
  private let none: [SortDescriptor] = []

  @Test func ofAllKindsOfCollections() throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = try realm.write {
      let kennel = addKennel(realm, hounds: ["B", "A", "C"])
      kennel.numbers.append(objectsIn: [3, 1, 2])
      kennel.houndSet.insert(objectsIn: kennel.hounds)
      for hound in kennel.hounds { kennel.houndMap[hound.name] = hound }
      return kennel
    }
    let hounds = realm.objects(Hound.self)
    #expect(Array(hounds.sorted(by: none).map(\.name)) == ["B", "A", "C"])
    #expect(hounds.sorted(by: none).count == 3 && hounds.sorted(by: none).last?.name == "C")
    #expect(Array(kennel.hounds.sorted(by: none).map(\.name)) == ["B", "A", "C"])
    #expect(Array(kennel.numbers.sorted(by: none)) == [3, 1, 2])
    #expect(kennel.houndSet.sorted(by: none).count == 3)
    #expect(Array(kennel.houndMap.sorted(by: none)).count == 3)
    #expect(Array(kennel.houndMap.distinct(by: [String]())).count == 3)
  }

  @Test func withOtherOrders() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write { _ = addKennel(realm, hounds: ["B", "A", "C"]) }
    let hounds = realm.objects(Hound.self)
    let sorted = hounds.sorted(byKeyPath: "name")
    #expect(Array(sorted.sorted(by: none).map(\.name)) == ["A", "B", "C"])
    #expect(Array(sorted.sorted(by: none).freeze().map(\.name)) == ["A", "B", "C"])
    let filtered = hounds.where { $0.age > 0 }.sorted(by: none)
    #expect(Array(filtered.map(\.name)) == ["A", "C"])
    let distinct = hounds.distinct(by: ["friend.name"]).sorted(by: none)
    #expect(Array(distinct.map(\.name)) == ["B"])
  }
}
