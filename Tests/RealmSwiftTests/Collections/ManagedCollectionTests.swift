// Collections of managed objects: their life, frozen and live forms, and what stops.
import Foundation
import RealmSwift
import TestSupport
import Testing

/// A kennel with content, managed by a Realm in memory.
private func filledKennel() throws -> (realm: Realm, kennel: Kennel) {
  let realm = try memoryRealm(kennelClasses)
  let kennel = try realm.write {
    realm.create(
      Kennel.self,
      value: [
        "id": 1, "hounds": [["name": "Rex", "age": 3], ["name": "Max", "age": 5]],
        "numbers": [1, 2, 3], "numberSet": [3, 1], "numberMap": ["a": 1, "b": 2],
        "boxes": [["size": 1], ["size": 2]], "boxMap": ["x": ["size": 9]],
      ])
  }
  return (realm, kennel)
}

@Suite(.ownThreads) struct ManagedCollectionTests {
  @Test func collectionsOfAnAddedObjectStayUsable() throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = Kennel(1)
    let (list, set, map) = (kennel.numbers, kennel.numberSet, kennel.numberMap)
    list.append(1)
    set.insert(2)
    map["c"] = 3
    try realm.write { realm.add(kennel) }
    #expect(list.realm == realm && set.realm == realm && map.realm == realm)
    #expect(list == kennel.numbers && set == kennel.numberSet && map == kennel.numberMap)
    try realm.write {
      list.append(10)
      set.insert(20)
      map["d"] = 30
    }
    #expect(Array(kennel.numbers) == [1, 10] && Array(kennel.numberSet) == [2, 20])
    #expect(kennel.numberMap.values == [3, 30])
  }

  @Test func endWithTheirObject() throws {
    let (realm, kennel) = try filledKennel()
    let (list, set, map) = (kennel.numbers, kennel.numberSet, kennel.numberMap)
    let frozen = list.freeze()
    #expect(!list.isInvalidated)
    try realm.write { realm.delete(kennel) }
    #expect(list.isInvalidated && set.isInvalidated && map.isInvalidated)
    #expect(Array(frozen) == [1, 2, 3] && !frozen.isInvalidated && frozen.thaw() == nil)
  }

  @Test func freezeAndThaw() throws {
    let (realm, kennel) = try filledKennel()
    let list = kennel.numbers.freeze()
    let set = kennel.numberSet.freeze()
    let map = kennel.numberMap.freeze()
    let hounds = kennel.hounds.freeze()
    let any = AnyRealmCollection(kennel.numbers).freeze()
    let names = kennel.hounds.projectTo.name.freeze()
    try realm.write {
      kennel.numbers.removeAll()
      kennel.numberSet.insert(7)
      kennel.numberMap["z"] = 26
      kennel.hounds[0].name = "Leo"
      kennel.hounds.removeLast()
    }
    #expect(Array(list) == [1, 2, 3] && Array(set) == [1, 3] && map.keys == ["a", "b"])
    #expect(hounds.map(\.name) == ["Rex", "Max"] && hounds[0].isFrozen)
    #expect(Array(any) == [1, 2, 3] && any.isFrozen && Array(names) == ["Rex", "Max"])
    #expect(list.isFrozen && set.isFrozen && map.isFrozen && !kennel.numbers.isFrozen)
    #expect(list.realm!.isFrozen && list.freeze() === list)
    #expect(list.thaw()! == kennel.numbers && set.thaw()! == kennel.numberSet)
    #expect(map.thaw()! == kennel.numberMap && any.thaw()!.isEmpty)
    #expect(Array(names.thaw()!) == ["Leo"] && names.thaw()!.realm == realm)
    #expect(kennel.numbers.thaw()! == kennel.numbers)
    let carried = Carried((list, set, map, hounds))
    onThread {
      #expect(Array(carried.value.0) == [1, 2, 3] && Array(carried.value.1) == [1, 3])
      #expect(carried.value.2["b"] == 2 && carried.value.3.first?.name == "Rex")
    }
  }

  @Test func deletedObjectsLeaveCollections() throws {
    let (realm, kennel) = try filledKennel()
    let rex = kennel.hounds[0]
    try realm.write {
      kennel.hounds.append(rex)
      kennel.houndSet.insert(rex)
      kennel.houndMap["rex"] = rex
      kennel.guardian = rex
      realm.delete(rex)
    }
    #expect(kennel.hounds.map(\.name) == ["Max"] && kennel.houndSet.isEmpty)
    #expect(kennel.houndMap["rex"] == .some(nil) && kennel.guardian == nil)
    try realm.write {
      for hound in kennel.hounds { realm.delete(hound) }
      #expect(kennel.hounds.isEmpty)
      kennel.hounds.append(objectsIn: (0..<600).map { Hound("\($0)") })
      kennel.hounds.append(objectsIn: Array(kennel.hounds.prefix(5)))
      for hound in kennel.hounds where hound.name != "7" { realm.delete(hound) }
      #expect(kennel.hounds.map(\.name) == ["7"])
      kennel.hounds.append(kennel.hounds[0])
      realm.delete(kennel.hounds)
    }
    #expect(kennel.hounds.isEmpty && realm.objects(Hound.self).isEmpty)
  }

  @Test func hidesTheKind() throws {
    let (realm, kennel) = try filledKennel()
    let hounds = [
      AnyRealmCollection(kennel.hounds), AnyRealmCollection(realm.objects(Hound.self)),
      AnyRealmCollection(AnyRealmCollection(kennel.hounds)),
    ]
    for any in hounds {
      #expect(any.count == 2 && any.map(\.name) == ["Rex", "Max"] && any.first?.name == "Rex")
      #expect(any.index(of: kennel.hounds[1]) == 1 && any.realm == realm && any[1].age == 5)
      #expect(any.value(forKeyPath: "@sum.age") as? Int == 8)
      #expect(any.filter("age > 3").map(\.name) == ["Max"])
    }
    #expect(hounds[0] == hounds[2] && hounds[0] != hounds[1])
    #expect(AnyRealmCollection(kennel.numberSet).map { $0 } == [1, 3])
  }

  @Test func projects() throws {
    let (realm, kennel) = try filledKennel()
    let names = kennel.hounds.projectTo.name
    #expect(Array(names) == ["Rex", "Max"] && names.index(of: "Max") == 1 && names.realm == realm)
    #expect(names.description.contains("[1] Max"))
    try realm.write { kennel.hounds[0].name = "Leo" }
    #expect(names[0] == "Leo" && names.count == 2)
  }

  @Test func aggregatesBothForms() throws {
    try withKennels { kennel in
      kennel.hounds.append(objectsIn: [Hound("Rex", 3), Hound("Max", 6)])
      kennel.hounds[0].weight = 2.5
      let hounds = kennel.hounds
      #expect(hounds.min(ofProperty: "age") == 3 && hounds.max(of: \.age) == 6)
      #expect(hounds.sum(of: \.age) == 9 && hounds.sum(ofProperty: "age") == 9)
      let average: Double? = hounds.average(ofProperty: "age")
      #expect(average == 4.5 && hounds.min(of: \.weight) == 2.5)
      kennel.numbers.append(objectsIn: [4, 1])
      #expect(kennel.numbers.min() == 1 && kennel.numbers.max() == 4 && kennel.numbers.sum() == 5)
      kennel.optionalNumbers.append(objectsIn: [nil, 2])
      #expect(kennel.optionalNumbers.sum() == 2 && kennel.optionalNumbers.max() == 2)
    }
  }

  // MARK: - Stops

  @Test func changesNeedATransaction() async {
    let outside = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try filledKennel().kennel.numbers.append(1)
    }
    expectStop(outside, "Cannot modify managed objects outside of a write transaction.")
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      let map = kennel.numberMap.freeze()
      try realm.write { map["a"] = 2 }
    }
    expectStop(
      frozen, "Attempting to modify a frozen object - call thaw on the Object instance first.")
    let deleted = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      let set = kennel.numberSet
      try realm.write {
        realm.delete(kennel)
        set.insert(1)
      }
    }
    expectStop(deleted, "Object has been deleted or invalidated.")
    let thread = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let carried = Carried(try filledKennel().kennel.numbers)
      onThread { _ = carried.value.count }
    }
    expectStop(thread, "Realm accessed from incorrect thread.")
  }

  @Test func foreignAndFrozenObjectsAreRefused() async {
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      let rex = kennel.hounds[0].freeze()
      try realm.write { kennel.hounds.append(rex) }
    }
    expectStop(frozen, "Cannot add a frozen object to a live collection: call thaw on it first.")
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      let other = try filledKennel().kennel.hounds[0]
      try realm.write { kennel.houndSet.insert(other) }
    }
    expectStop(foreign, "Object is already managed by another Realm. Use create instead")
    let box = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      try realm.write { kennel.boxes.append(kennel.boxes[0]) }
    }
    expectStop(box, "Cannot add an existing managed embedded object to a List.")
    let boxInMap = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, kennel) = try filledKennel()
      try realm.write { kennel.boxMap["y"] = kennel.boxes[0] }
    }
    expectStop(boxInMap, "Cannot add an existing managed embedded object to a Dictionary.")
  }
}
