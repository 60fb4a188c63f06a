// To-one links, linking objects, embedded objects and graphs, through the API.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct LinkTests {
  @Test func linksLeadToObjects() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      let kennel = Kennel(1)
      realm.add(kennel)
      #expect(kennel.guardian == nil)
      let rex = Hound("Rex")
      kennel.guardian = rex
      #expect(rex.realm == realm && kennel.guardian!.isSameObject(as: rex))
      kennel.guardian = Hound("Max")
      #expect(kennel.guardian?.name == "Max" && !rex.isInvalidated)
      kennel.guardian = nil
      #expect(kennel.guardian == nil && realm.objects(Hound.self).count == 2)
      kennel.guardian = rex
      rex.friend = rex
      #expect(kennel.value(forKeyPath: "guardian.friend.name") as? String == "Rex")
      realm.delete(rex)
      #expect(kennel.guardian == nil)
    }
  }

  @Test func linkingObjectsFollowTheLinks() throws {
    let realm = try memoryRealm(kennelClasses)
    let rex = Hound("Rex")
    #expect(rex.kennels.isEmpty)
    try realm.write {
      let kennels = (0..<4).map { Kennel($0) }
      realm.add(kennels)
      for kennel in kennels { kennel.hounds.append(rex) }
      kennels[2].hounds.append(rex)
      kennels[1].guardian = rex
    }
    // An object that links twice counts twice.
    #expect(rex.kennels.map(\.id) == [0, 1, 2, 2, 3] && rex.guarded.map(\.id) == [1])
    let frozen = rex.kennels.freeze()
    try realm.write {
      realm.delete(rex.kennels[0])
      rex.kennels[0].hounds.removeAll()
      rex.guarded[0].guardian = nil
    }
    #expect(rex.kennels.map(\.id) == [2, 2, 3] && rex.guarded.isEmpty)
    #expect(frozen.map(\.id) == [0, 1, 2, 2, 3] && frozen.thaw()!.count == 3)
    let linking = rex.kennels
    try realm.write { realm.delete(rex) }
    #expect(linking.isInvalidated && realm.objects(Kennel.self).allSatisfy { $0.hounds.isEmpty })
  }

  /// Closures are lent an object; whoever keeps it keeps that one.
  @Test(arguments: [0, 1, 15, 16, 17, 300])
  func closuresSeeWhatALoopSees(_ count: Int) throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = Kennel(0)
    try realm.write {
      realm.add(kennel)
      let hub = Hound("hub")
      kennel.guardian = hub
      kennel.hounds.append(objectsIn: (0..<count).map { Hound("\($0)", $0) })
      for hound in kennel.hounds { hound.friend = hub }
    }
    func expectAges<Hounds: RealmCollection>(of hounds: Hounds) where Hounds.Element == Hound {
      var looped: [Int] = []
      for hound in hounds { looped.append(hound.age) }
      #expect(looped == Array(0..<count))
      var seen: [Int] = []
      hounds.forEach { seen.append($0.age) }
      #expect(seen == looped)
      let sum: Int = hounds.reduce(0) { $0 + $1.age }
      #expect(sum == looped.reduce(0, +))
      let kept = hounds.reduce(into: [Hound]()) { $0.append($1) }
      #expect(kept.map(\.age) == looped)
      #expect(Set(kept.map { ObjectIdentifier($0) }).count == count)
    }
    expectAges(of: kennel.hounds)
    expectAges(of: kennel.guardian!.admirers)
    expectAges(of: kennel.hounds.freeze())
    let sum: Int = kennel.hounds.reduce(0) { $0 + $1.age }
    #expect(sum == count * (count - 1) / 2)
    let frozen = kennel.guardian!.admirers.freeze()
    let frozenAges: [Int] = frozen.reduce(into: []) { $0.append($1.age) }
    #expect(frozenAges == Array(0..<count))
    // What a closure deletes is not shown later.
    try realm.write {
      kennel.hounds.forEach { if $0.age % 2 == 0 { realm.delete($0) } }
      kennel.guardian!.admirers.forEach { $0.age += 1 }
    }
    let left: [Int] = kennel.hounds.map(\.age)
    #expect(left == Array(stride(from: 2, through: count, by: 2)))
    let alone = List<Hound>()
    alone.append(Hound("", 7))
    let seven: Int = alone.reduce(0) { $0 + $1.age }
    #expect(seven == 7)
  }

  /// Keys of few links are copied at once, those of many by the leaf; some lie in other clusters.
  @Test func manyObjectsLink() async throws {
    await withSeeds(3) { random in
      let realm = try memoryRealm(kennelClasses)
      let hounds = (0..<1000).map { Hound("\($0)") }
      let kennels = (0..<600).map { Kennel($0) }
      var links: [Int: [Int]] = [:]
      try realm.write {
        realm.add(hounds)
        realm.add(kennels)
        for (number, count) in [0, 1, 15, 16, 17, 40, 300, 900].enumerated() {
          for _ in 0..<count {
            let kennel = Int(random.next() % 600)
            kennels[kennel].hounds.append(hounds[number])
            links[number, default: []].append(kennel)
          }
        }
      }
      func check(_ deleted: Set<Int> = []) {
        for number in 0..<8 {
          let expected = (links[number] ?? []).sorted().filter { !deleted.contains($0) }
          let linking = hounds[number].kennels
          #expect(linking.map(\.id) == expected && linking.count == expected.count)
          if !realm.isInWriteTransaction { #expect(linking.freeze().map(\.id) == expected) }
          for (position, id) in expected.enumerated() where position % 50 == 0 {
            #expect(linking[position].id == id)
            #expect(linking.index(of: linking[position]) == expected.firstIndex(of: id))
          }
        }
        #expect(hounds[0].kennels.index(of: kennels[599]) == nil)
      }
      check()
      var deleted = Set<Int>()
      try realm.write {
        // Those deleted on the way are left out.
        var seen: [Int] = []
        for kennel in hounds[7].kennels {
          seen.append(kennel.id)
          let next = kennel.id + 1
          if next < 600, random.oneIn(9), deleted.insert(next).inserted {
            realm.delete(realm.objects(Kennel.self).where { $0.id == next })
          }
        }
        #expect(seen.allSatisfy { links[7]!.contains($0) } && seen == seen.sorted())
        check(deleted)
      }
      check(deleted)
      let linking = hounds[7].kennels
      realm.invalidate()
      #expect(linking.isInvalidated && hounds[7].isInvalidated)
    }
  }

  /// A list in any order, longer than what is copied ahead, while objects of it are deleted.
  @Test func listsOfLinksInAnyOrder() async throws {
    await withSeeds(3) { random in
      let realm = try memoryRealm(kennelClasses)
      let hounds = (0..<3000).map { Hound("\($0)") }
      let order = (0..<2000).map { _ in Int(random.next() % 3000) }
      let kennel = Kennel(1)
      try realm.write {
        realm.add(hounds)
        realm.add(kennel)
        kennel.hounds.append(objectsIn: order.map { hounds[$0] })
      }
      let names = order.map(String.init)
      #expect(kennel.hounds.map(\.name) == names)
      #expect(kennel.hounds.freeze().map(\.name) == names)
      var read: [String] = []
      var gone = Set<String>()
      for (position, hound) in kennel.hounds.enumerated() {
        read.append(hound.name)
        if position % 300 == 7 {
          let doomed = names[min(position + 1 + Int(random.next() % 600), names.count - 1)]
          try realm.write { realm.delete(realm.objects(Hound.self).where { $0.name == doomed }) }
          gone.insert(doomed)
        }
      }
      #expect(Set(names).subtracting(read).isSubset(of: gone))
      #expect(kennel.hounds.map(\.name) == names.filter { !gone.contains($0) })
    }
  }

  @Test func cyclesAndLongChainsAreAdded() throws {
    let realm = try memoryRealm(kennelClasses)
    let (a, b) = (Hound("a"), Hound("b"))
    a.friend = b
    b.friend = a
    let count = 100_000
    var first: Hound?
    for number in 0..<count {
      let hound = Hound("", number)
      hound.friend = first
      first = hound
    }
    try realm.write {
      realm.add(a)
      realm.add(first!)
    }
    #expect(a.friend!.isSameObject(as: b) && b.friend!.friend!.isSameObject(as: b))
    #expect(realm.objects(Hound.self).count == count + 2)
    // Copied to another Realm, from a frozen object.
    let other = try memoryRealm(kennelClasses)
    let frozen = first!.freeze()
    try other.write { other.create(Hound.self, value: frozen) }
    #expect(other.objects(Hound.self).count == count)
    #expect(other.objects(Hound.self).first?.age == count - 1)
    // Swift releases a chain of unmanaged objects one inside the other: taken apart here.
    while let hound = first {
      first = nil
      if hound.realm == nil { hound.friend = nil }
    }
  }

  @Test func createUpdatesByKey() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      realm.create(
        Kennel.self,
        value: [
          "id": 1, "name": "North", "guardian": ["name": "Rex", "friend": ["name": "Max"]],
          "numbers": [1, 2, 3], "numberSet": [1, 2], "numberMap": ["a": 1],
          "mainBox": ["size": 3, "drawers": [["size": 1]]],
        ])
    }
    let kennel = realm.object(ofType: Kennel.self, forPrimaryKey: 1)!
    #expect(kennel.guardian?.friend?.name == "Max" && kennel.mainBox?.drawers[0].size == 1)
    for update in [Realm.UpdatePolicy.modified, .all] {
      try realm.write {
        realm.create(
          Kennel.self,
          value: ["id": 1, "numbers": [1, 5], "numberSet": [2, 9], "numberMap": ["b": 2]],
          update: update)
      }
      // What is not given stays.
      #expect(kennel.name == "North" && kennel.guardian?.name == "Rex")
      #expect(Array(kennel.numbers) == [1, 5] && Array(kennel.numberSet) == [2, 9])
      #expect(kennel.numberMap.keys == ["b"] && kennel.mainBox?.size == 3)
      try realm.write {
        realm.create(
          Kennel.self,
          value: ["id": 1, "numbers": [1, 2, 3], "numberSet": [1], "numberMap": ["a": 1]],
          update: update)
      }
      #expect(Array(kennel.numbers) == [1, 2, 3] && kennel.numberMap.values == [1])
    }
    // A whole object, of another Realm and frozen, with everything that it holds.
    let other = try memoryRealm(kennelClasses)
    try other.write { other.create(Kennel.self, value: kennel.freeze(), update: .modified) }
    try other.write { other.create(Kennel.self, value: kennel, update: .modified) }
    let copy = other.object(ofType: Kennel.self, forPrimaryKey: 1)!
    #expect(copy.guardian?.friend?.name == "Max" && Array(copy.numbers) == [1, 2, 3])
    #expect(copy.mainBox?.drawers.first?.size == 1 && other.objects(Kennel.self).count == 1)
  }

  @Test func unmanagedCopiesPinNothing() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      realm.create(
        Kennel.self,
        value: ["id": 1, "numbers": [1, 2], "boxes": [["size": 4]], "mainBox": ["size": 5]])
    }
    let kennel = realm.object(ofType: Kennel.self, forPrimaryKey: 1)!
    let copy = Carried(Kennel(value: kennel))
    onThread {
      #expect(copy.value.realm == nil && copy.value.numbers.realm == nil)
      #expect(Array(copy.value.numbers) == [1, 2] && copy.value.mainBox?.size == 5)
      #expect(copy.value.boxes[0].realm == nil && copy.value.boxes[0].size == 4)
    }
  }

  @Test func foreignObjectsInAGraphAreRefused() async {
    let stopped = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm(kennelClasses)
      let other = try memoryRealm(kennelClasses)
      let rex = Hound("Rex")
      try other.write { other.add(rex) }
      let kennel = Kennel(1)
      kennel.hounds.append(rex)
      try realm.write { realm.add(kennel) }
    }
    expectStop(stopped, "Object is already managed by another Realm. Use create instead")
  }
}

@Suite(.ownThreads) struct EmbeddedObjectTests {
  @Test func liveAndDieWithTheLink() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      let kennel = Kennel(1)
      kennel.mainBox = Box(1)
      kennel.mainBox!.inner = Box(2)
      realm.add(kennel)
      let (outer, inner) = (kennel.mainBox!, kennel.mainBox!.inner!)
      #expect(outer.size == 1 && inner.size == 2 && inner.realm == realm)
      kennel.mainBox = Box(3)
      #expect(outer.isInvalidated && inner.isInvalidated && kennel.mainBox?.size == 3)
      kennel.boxes.append(objectsIn: [Box(4), Box(5), Box(6)])
      let boxes = Array(kennel.boxes)
      kennel.boxes.swapAt(0, 2)
      kennel.boxes.move(from: 1, to: 0)
      #expect(kennel.boxes.map(\.size) == [5, 6, 4] && boxes.allSatisfy { !$0.isInvalidated })
      kennel.boxes.remove(at: 0)
      #expect(boxes.map(\.isInvalidated) == [false, true, false])
      kennel.boxes[0] = Box(7)
      #expect(boxes.map(\.isInvalidated) == [false, true, true])
      kennel.boxMap["a"] = Box(8)
      let inMap = kennel.boxMap["a"]!!
      kennel.boxMap["a"] = nil
      #expect(inMap.isInvalidated)
      let last = kennel.mainBox!
      realm.delete(kennel)
      #expect(last.isInvalidated && boxes[0].isInvalidated)
    }
  }

  @Test func deepNestsGoAtOnce() throws {
    let realm = try memoryRealm(kennelClasses)
    try realm.write {
      let kennel = Kennel(1)
      realm.add(kennel)
      kennel.mainBox = Box(0)
      var box = kennel.mainBox!
      for depth in 1..<20_000 {
        box.inner = Box(depth)
        box = box.inner!
      }
      kennel.mainBox = nil
      #expect(box.isInvalidated)
    }
  }

  @Test func anObjectIsEmbeddedOnce() async {
    let stopped = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm(kennelClasses)
      let (first, second) = (Kennel(1), Kennel(2))
      first.mainBox = Box(1)
      try realm.write {
        realm.add([first, second])
        second.mainBox = first.mainBox
      }
    }
    expectStop(stopped, "Can't set link to existing managed embedded object")
  }

  @Test func anEmbeddedObjectIsSetWhereItIs() throws {
    let realm = try memoryRealm(kennelClasses)
    let kennel = Kennel(1)
    kennel.mainBox = Box(1)
    try realm.write {
      realm.add(kennel)
      let box = kennel.mainBox
      kennel.mainBox = box
      #expect(box?.isInvalidated == false && kennel.mainBox?.isSameObject(as: box) == true)
    }
  }

  @Test func anObjectOfAnotherClassIsNoLink() async {
    let stopped = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm(kennelClasses)
      try realm.write { _ = realm.create(Kennel.self, value: ["mainBox": Kennel(2)]) }
    }
    expectStop(stopped, "of type 'Kennel' for 'Box?' property 'Kennel.mainBox'")
  }
}
