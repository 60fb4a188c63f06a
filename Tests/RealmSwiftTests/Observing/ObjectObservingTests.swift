// What observers of objects are told: names of properties, old and new values.
import Dispatch
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ObjectObservingTests {
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B", "C"]) }
    return watched
  }

  @Test func ownChangesComeWithoutOldValues() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.hound("A")) }
    await watched.expectTold([])
    await watched.run { watched in
      try watched.realm.write { watched.realm.hound("A").age = 4 }
      #expect(watched.calls.isEmpty)
    }
    await watched.expectTold(["age nil>4"])
  }

  @Test func changesOfOthersComeWithBothValues() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.hound("A")) }
    watched.writeElsewhere { realm in
      let hound = realm.hound("A")
      hound.weight = 2.5
      hound.name = "AA"
    }
    // In the order of the class.
    await watched.expectTold(["name A>AA weight nil>2.5"])
    watched.writeElsewhere { $0.hound("AA").weight = nil }
    await watched.expectTold(["weight 2.5>nil"])
    // The same value is a change.
    watched.writeElsewhere { $0.hound("AA").age = 0 }
    await watched.expectTold(["age 0>0"])
    // Of other objects nothing is told.
    watched.writeElsewhere { $0.hound("B").age = 9 }
    await watched.expectTold([])
  }

  @Test func severalCommitsAreOneCall() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.watch(watched.realm.hound("A"))
      watched.writeElsewhere { $0.hound("A").age = 1 }
      watched.writeElsewhere { $0.hound("A").age = 2 }
      watched.writeElsewhere { $0.hound("A").name = "AA" }
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["name A>AA age 0>2"])
    }
  }

  @Test func changesBeforeAndAfterTheBeginning() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.hound("A"), "first ")
      try watched.realm.write { watched.realm.hound("A").age = 1 }
      // Knows the newer version already.
      watched.watch(watched.realm.hound("A"), "second ")
    }
    await watched.expectTold(["first age nil>1"])
    watched.writeElsewhere { $0.hound("A").age = 2 }
    await watched.expectTold(["first age 1>2", "second age 1>2"])
  }

  @Test func linksAndCollections() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.kennel.observe { [unowned watched] (change: ObjectChange<Kennel>) in
          guard case .change(let kennel, let properties) = change else { return }
          for property in properties {
            let old =
              (property.oldValue as? Hound)?.name ?? "\(String(describing: property.oldValue))"
            let new = property.newValue.map { ($0 as? Hound)?.name ?? "\($0)" } ?? "nil"
            watched.note("\(property.name) \(old) \(new)")
          }
          #expect(kennel.realm == watched.realm)
        })
    }
    watched.writeElsewhere { $0.kennel.guardian = $0.hound("A") }
    await watched.expectTold(["guardian nil A"])
    watched.writeElsewhere { realm in
      realm.kennel.guardian = realm.hound("B")
      realm.kennel.hounds.removeLast()
      realm.hound("A").name = "now"
    }
    // The object that was linked to, as it is now.
    await watched.expectTold(["guardian now B", "hounds nil nil"])
    // What is linked to does not count, only the link.
    watched.writeElsewhere { $0.hound("B").age = 11 }
    await watched.expectTold([])
    watched.writeElsewhere { $0.delete($0.hound("B")) }
    await watched.expectTold(["guardian nil nil", "hounds nil nil"])
  }

  @Test func deletionIsTheLastCall() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.hound("A")) }
    watched.writeElsewhere { realm in
      realm.hound("A").age = 5
      realm.delete(realm.hound("A"))
      realm.add(Hound("A"))
    }
    await watched.expectTold(["deleted"])
    watched.writeElsewhere { $0.hound("A").age = 6 }
    await watched.expectTold([])
    await watched.run { $0.watch($0.realm.hound("B")) }
    await watched.write { $0.deleteAll() }
    await watched.expectTold(["deleted"])
  }

  @Test func keyPathsSayWhichPropertiesCount() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let realm = watched.realm!
      try realm.write { realm.hound("A").friend = realm.hound("B") }
      let hound = realm.hound("A")
      watched.watch(hound, "nil ")
      watched.watch(hound, "none ", keyPaths: [])
      watched.watch(hound, "age ", keyPaths: ["age"])
      watched.watch(hound, "friend.age ", keyPaths: ["friend.age"])
      watched.tokens.append(
        hound.observe(keyPaths: [\Hound.name, \Hound.friend?.name]) { [unowned watched] in
          watched.note("typed " + text($0))
        })
    }
    _ = await watched.told()
    await watched.write { $0.hound("A").age = 4 }
    await watched.expectTold(["nil age nil>4", "none age nil>4", "age age nil>4"])
    await watched.write { $0.hound("A").name = "AA" }
    await watched.expectTold(["nil name nil>AA", "none name nil>AA", "typed name nil>AA"])
    await watched.write { $0.hound("B").age = 5 }
    await watched.expectTold(["friend.age friend nil>B"])
    await watched.write { $0.hound("B").name = "BB" }
    await watched.expectTold(["typed friend nil>BB"])
    await watched.write { $0.delete($0.hound("AA")) }
    await watched.expectTold([
      "nil deleted", "none deleted", "age deleted", "friend.age deleted", "typed deleted",
    ])
  }

  /// Who links to an object is no column of it.
  @Test func linksToTheObject() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.hound("A"), keyPaths: ["kennels"])
      watched.watch(watched.realm.hound("A"), "age ", keyPaths: ["age"])
    }
    _ = await watched.told()
    watched.writeElsewhere { realm in
      let other = Kennel(2)
      realm.add(other)
      other.hounds.append(realm.hound("A"))
    }
    await watched.expectTold(["kennels nil>nil"])
  }

  @Test func manyObserversOfOneObjectAndManyObjects() async {
    let watched = await WatchedRealm()
    await watched.write { realm in for number in 0..<100 { realm.add(Hound("\(number)")) } }
    await watched.run { watched in
      for (number, hound) in watched.realm.objects(Hound.self).enumerated() {
        watched.watch(hound, "\(number) ")
        if number == 5 { watched.watch(hound, "5 again ") }
      }
    }
    await watched.write { realm in
      realm.hound("5").age = 1
      realm.hound("77").age = 1
    }
    await watched.expectTold(["5 age nil>1", "5 again age nil>1", "77 age nil>1"])
    await watched.run { watched in
      watched.tokens[5].invalidate()
      try watched.realm.write { watched.realm.delete(watched.realm.hound("5")) }
    }
    await watched.expectTold(["5 again deleted"])
    await watched.write { $0.deleteAll() }
    #expect(await watched.told().count == 99)
  }

  @Test func embeddedObjects() async {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0).mainBox = Box(1) }
    await watched.run { $0.watch($0.realm.kennel.mainBox!) }
    watched.writeElsewhere { $0.kennel.mainBox!.size = 2 }
    await watched.expectTold(["size 1>2"])
    watched.writeElsewhere { $0.kennel.mainBox = nil }
    await watched.expectTold(["deleted"])
  }

  @Test func theBlockSaysWhichType() async {
    let watched = await Self.watched()
    await watched.run { watched in
      // Without a type the object is one of the common superclass.
      watched.tokens.append(
        watched.realm.hound("A").observe { [unowned watched] change in
          if case .change(let object, _) = change { watched.note("\(object["name"] ?? "")") }
        })
      watched.tokens.append(
        watched.realm.hound("A").observe { [unowned watched] (change: ObjectChange<Hound>) in
          if case .change(let hound, _) = change { watched.note(hound.name) }
        })
    }
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["A", "A"])
  }
}
