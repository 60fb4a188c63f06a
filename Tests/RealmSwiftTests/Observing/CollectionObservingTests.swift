// What observers of collections are told: which calls, with which positions.
import Dispatch
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct CollectionObservingTests {
  /// A Realm with a kennel of hounds A, B, C, which nobody observes yet.
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B", "C"]) }
    return watched
  }

  // MARK: - Calls

  @Test func theFirstCallComesLaterAndHoldsAllChangesBefore() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self))
      #expect(watched.calls.isEmpty)
      try watched.realm.write { watched.realm.delete(watched.realm.hound("B")) }
      // What began the transaction has made the call.
      #expect(watched.takeCalls() == ["initial 3"])
    }
    await watched.expectTold(["-[1] +[] ~[]"])
    await watched.run { $0.watch($0.realm.objects(Hound.self), "second ") }
    await watched.expectTold(["second initial 2"])
  }

  @Test func changesBeforeTheFirstCallMergeIntoIt() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.watch(watched.realm.objects(Hound.self))
      watched.writeElsewhere { $0.add(Hound("D")) }
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["initial 4"])
    }
    await watched.expectTold([])
  }

  @Test func ownWritesAreToldLater() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.objects(Hound.self)) }
    await watched.expectTold(["initial 3"])
    await watched.run { watched in
      try watched.realm.write {
        watched.realm.add(Hound("D"))
        watched.realm.hound("A").age = 9
      }
      #expect(watched.calls.isEmpty)
    }
    await watched.expectTold(["-[] +[3] ~[0]"])
    await watched.write { _ in }
    await watched.expectTold([])
  }

  @Test func severalCommitsAreOneCall() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.kennel.hounds) }
    await watched.expectTold(["initial 3"])
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.writeElsewhere { $0.kennel.hounds.remove(at: 0) }
      watched.writeElsewhere { $0.kennel.hounds.remove(at: 1) }
      watched.writeElsewhere { $0.kennel.hounds.insert(Hound("N"), at: 0) }
      watched.writeElsewhere { $0.hound("B").age = 7 }
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["-[0, 2] +[0] ~[1]"])
      // What comes and goes in between is not told.
      watched.writeElsewhere { $0.kennel.hounds.append(Hound("X")) }
      watched.writeElsewhere { $0.kennel.hounds.removeLast() }
      watched.realm.refresh()
      #expect(watched.takeCalls() == [])
    }
  }

  @Test func refreshAndTransactionsTellWhatIsOwed() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self))
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["initial 3"])
      watched.writeElsewhere { $0.add(Hound("D")) }
      watched.realm.beginWrite()
      #expect(watched.takeCalls() == ["-[] +[3] ~[]"])
      watched.realm.delete(watched.realm.hound("A"))
      try watched.realm.commitWrite()
      // Also when there is nothing newer.
      #expect(!watched.realm.refresh())
      #expect(watched.takeCalls() == ["-[0] +[] ~[]"])
    }
    await watched.expectTold([])
  }

  @Test func nothingIsToldInsideOfATransactionNorOfOneThatIsRolledBack() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.objects(Hound.self)) }
    _ = await watched.told()
    await watched.run { watched in
      watched.realm.beginWrite()
      watched.realm.add(Hound("D"))
    }
    await watched.run { watched in
      watched.realm.add(Hound("E"))
      #expect(!watched.realm.refresh())
      #expect(watched.calls.isEmpty)
      watched.realm.cancelWrite()
    }
    await watched.expectTold([])
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold(["-[] +[3] ~[]"])
  }

  @Test func commitsOfOthersAreToldWithTheRefresh() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.objects(Hound.self)) }
    _ = await watched.told()
    watched.writeElsewhere { $0.delete($0.hound("B")) }
    await watched.expectTold(["-[1] +[] ~[]"])
    await watched.run { $0.realm.autorefresh = false }
    watched.writeElsewhere { $0.delete($0.hound("A")) }
    watched.writeElsewhere { $0.add(Hound("D")) }
    await watched.expectTold([])
    await watched.run { $0.realm.refresh() }
    await watched.expectTold(["-[0] +[1] ~[]"])
    watched.writeElsewhere { $0.deleteAll() }
    await watched.expectTold([])
    await watched.run { $0.realm.autorefresh = true }
    await watched.expectTold(["-[0, 1] +[] ~[]"])
  }

  @Test func theSameValueIsAChange() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.objects(Hound.self)) }
    _ = await watched.told()
    await watched.write { $0.hound("B").age = 1 }
    await watched.expectTold(["-[] +[] ~[1]"])
    watched.writeElsewhere { $0.hound("C").name = "C" }
    await watched.expectTold(["-[] +[] ~[2]"])
  }

  @Test func whatIsShownIsWhatIsTold() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.objects(Hound.self).observe { [unowned watched] change in
          switch change {
          case .initial(let hounds): watched.note(hounds.map(\.name).joined())
          case .update(let hounds, let deletions, let insertions, _):
            #expect(hounds.realm == watched.realm)
            watched.note("\(deletions) \(insertions.map { hounds[$0].name })")
          case .error: watched.note("error")
          }
        })
    }
    await watched.expectTold(["ABC"])
    watched.writeElsewhere { realm in
      realm.delete(realm.hound("A"))
      realm.add(Hound("D"))
    }
    await watched.expectTold(["[0] [\"D\"]"])
  }

  // MARK: - Kinds

  @Test func everyKindOfCollection() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let realm = watched.realm!
      try realm.write {
        let kennel = realm.kennel
        kennel.houndSet.insert(objectsIn: kennel.hounds)
        kennel.numbers.append(objectsIn: [1, 2, 3])
        kennel.nameSet.insert(objectsIn: ["x", "z"])
      }
      watched.watch(realm.objects(Hound.self), "results ")
      watched.watch(realm.kennel.hounds, "list ")
      watched.watch(realm.kennel.houndSet, "set ")
      watched.watch(realm.hound("A").kennels, "linking ")
      watched.watch(AnyRealmCollection(realm.kennel.hounds), "any ")
      watched.watch(realm.kennel.numbers, "numbers ")
      watched.watch(realm.kennel.nameSet, "names ")
      watched.watch(realm.objects(Hound.self).where { $0.age > 0 }, "query ")
      watched.watch(
        realm.objects(Hound.self).sorted(byKeyPath: "name", ascending: false), "sorted ")
      watched.watch(realm.objects(Hound.self).distinct(by: ["age"]), "distinct ")
      watched.watch(realm.kennel.hounds.filter("age < 2"), "filter ")
      watched.tokens.append(
        realm.kennel.hounds.projectTo.name.observe { [unowned watched] in
          watched.note("projected " + text($0))
        })
    }
    await watched.expectTold([
      "results initial 3", "list initial 3", "set initial 3", "linking initial 1",
      "any initial 3", "numbers initial 3", "names initial 2", "query initial 2",
      "sorted initial 3", "distinct initial 3", "filter initial 2", "projected initial 3",
    ])
    await watched.write { realm in
      realm.hound("A").name = "AA"
      realm.kennel.hounds.remove(at: 2)
      realm.kennel.numbers[1] = 2
      realm.kennel.nameSet.insert("y")
    }
    await watched.expectTold([
      "results -[] +[] ~[0]", "list -[2] +[] ~[0]", "set -[] +[] ~[0]",
      "linking -[] +[] ~[0]", "any -[2] +[] ~[0]", "numbers -[] +[] ~[1]",
      "names -[] +[1] ~[]", "sorted -[] +[] ~[2]", "distinct -[] +[] ~[0]",
      "filter -[] +[] ~[0]", "projected -[2] +[] ~[0]",
    ])
    await watched.write { realm in
      realm.hound("AA").age = 5
      realm.kennel.hounds.move(from: 1, to: 0)
    }
    await watched.expectTold([
      "results -[] +[] ~[0]", "list -[1] +[0] ~[1]", "set -[] +[] ~[0]",
      "linking -[] +[] ~[0]", "any -[1] +[0] ~[1]", "query -[] +[0] ~[]",
      "sorted -[] +[] ~[2]", "distinct -[] +[] ~[0]", "filter -[0] +[] ~[]",
      "projected -[1] +[0] ~[]",
    ])
    await watched.write { $0.delete($0.hound("AA")) }
    await watched.expectTold([
      "results -[0] +[] ~[]", "list -[1] +[] ~[]", "set -[0] +[] ~[]",
      "linking -[0] +[] ~[]", "any -[1] +[] ~[]",
      "query -[0] +[] ~[]", "sorted -[2] +[] ~[]", "distinct -[0] +[] ~[]",
      "projected -[1] +[] ~[]",
    ])
  }

  @Test func aSortedElementThatMovesIsGoneAndNew() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self).sorted(byKeyPath: "age"))
    }
    _ = await watched.told()
    await watched.write { $0.hound("A").age = 8 }
    await watched.expectTold(["-[0] +[2] ~[]"])
  }

  @Test func aListThatIsDeletedLosesItsElementsAndIsOver() async {
    let watched = await Self.watched()
    await watched.run { $0.watch($0.realm.kennel.hounds) }
    _ = await watched.told()
    await watched.write { $0.delete($0.kennel) }
    await watched.expectTold(["-[0, 1, 2] +[] ~[]"])
    await watched.write { addKennel($0, hounds: ["D"]) }
    await watched.expectTold([])
  }

  @Test func aListThatIsDeletedBeforeTheFirstCallHasNone() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.watch(watched.realm.kennel.hounds)
      watched.writeElsewhere { $0.delete($0.kennel) }
      watched.realm.refresh()
      #expect(watched.takeCalls() == [])
    }
    await watched.expectTold([])
  }

  // MARK: - Key paths

  @Test func keyPathsSayWhichPropertiesCount() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let realm = watched.realm!
      try realm.write { realm.hound("A").friend = realm.hound("B") }
      let hounds = realm.objects(Hound.self)
      watched.watch(hounds, "nil ")
      watched.watch(hounds, "none ", keyPaths: [])
      watched.watch(hounds, "name ", keyPaths: ["name"])
      watched.watch(hounds, "friend.age ", keyPaths: ["friend.age"])
      watched.watch(hounds, "all of friend ", keyPaths: ["friend.*"])
      watched.tokens.append(
        hounds.observe(keyPaths: [\.age, \.friend?.name]) { [unowned watched] in
          watched.note("typed " + text($0))
        })
    }
    #expect(await watched.told().count == 6)
    await watched.write { $0.hound("B").age = 3 }
    await watched.expectTold([
      "nil -[] +[] ~[0, 1]", "friend.age -[] +[] ~[0]", "all of friend -[] +[] ~[0]",
      "typed -[] +[] ~[1]",
    ])
    await watched.write { $0.hound("B").name = "BB" }
    await watched.expectTold([
      "nil -[] +[] ~[0, 1]", "name -[] +[] ~[1]", "all of friend -[] +[] ~[0]",
      "typed -[] +[] ~[0]",
    ])
    await watched.write { $0.hound("C").friend = nil }
    await watched.expectTold([
      "nil -[] +[] ~[2]", "friend.age -[] +[] ~[2]", "all of friend -[] +[] ~[2]",
      "typed -[] +[] ~[2]",
    ])
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold([
      "nil -[] +[3] ~[]", "none -[] +[3] ~[]", "name -[] +[3] ~[]",
      "friend.age -[] +[3] ~[]", "all of friend -[] +[3] ~[]", "typed -[] +[3] ~[]",
    ])
  }

  @Test func keyPathsThroughCollections() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let kennels = watched.realm.objects(Kennel.self)
      watched.watch(kennels, "nil ")
      watched.watch(kennels, "hounds ", keyPaths: ["hounds"])
      watched.watch(kennels, "hounds.age ", keyPaths: ["hounds.age"])
    }
    _ = await watched.told()
    await watched.write { $0.hound("B").age = 3 }
    await watched.expectTold(["nil -[] +[] ~[0]", "hounds.age -[] +[] ~[0]"])
    await watched.write { $0.kennel.hounds.remove(at: 2) }
    await watched.expectTold([
      "nil -[] +[] ~[0]", "hounds -[] +[] ~[0]", "hounds.age -[] +[] ~[0]",
    ])
    await watched.write { $0.hound("C").age = 3 }
    await watched.expectTold([])
  }
}
