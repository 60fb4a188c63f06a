// Who observes the objects that link to an object hears of those that come and go, not of others in
// the same list.
import RealmSwift
import TestSupport
import Testing

/// A mixed value that is observed.
private class MixedDiary: Object {
  @Persisted var entry: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct LinkedAnewTests {
  /// Two hounds of a kennel and one of none, each of them observed.
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { realm in
      addKennel(realm, hounds: ["A", "B"])
      realm.add(Hound("C"))
    }
    await watched.run { watched in
      for name in ["A", "B", "C"] {
        watched.watch(watched.realm.hound(name), "\(name) ", keyPaths: ["kennels"])
      }
      watched.watch(watched.realm.objects(Hound.self), "all ", keyPaths: ["kennels.name"])
    }
    await watched.expectTold(["all initial 3"])
    return watched
  }

  @Test func othersOfTheListAreNotTold() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.hounds.append($0.hound("C")) }
    await watched.expectTold(["C kennels nil>nil", "all -[] +[] ~[2]"])
    await watched.write { $0.kennel.hounds.remove(at: 1) }
    await watched.expectTold(["B kennels nil>nil", "all -[] +[] ~[1]"])
    await watched.write { $0.kennel.name = "K" }
    await watched.expectTold(["all -[] +[] ~[0, 2]"])
    await watched.write { $0.delete($0.kennel) }
    await watched.expectTold(["A kennels nil>nil", "C kennels nil>nil", "all -[] +[] ~[0, 2]"])
  }

  @Test func linkedAnewInOneTransaction() async {
    let watched = await Self.watched()
    await watched.write { realm in
      let hounds = realm.kennel.hounds
      hounds.move(from: 0, to: 1)
      let first = hounds[0]
      hounds[0] = first
      hounds.removeLast()
      hounds.append(realm.hound("A"))
    }
    await watched.expectTold([])
  }

  @Test func linkedAnewInALaterTransaction() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.writeElsewhere { $0.kennel.hounds.remove(at: 0) }
      watched.writeElsewhere { $0.kennel.hounds.append($0.hound("A")) }
      watched.realm.refresh()
      #expect(watched.takeCalls() == [])
      watched.writeElsewhere { $0.kennel.hounds.removeLast() }
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["A kennels nil>nil", "all -[] +[] ~[0]"])
    }
  }

  @Test func linkedTwiceAndUnlinkedOnce() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.hounds.append($0.hound("A")) }
    await watched.expectTold(["A kennels nil>nil", "all -[] +[] ~[0]"])
    await watched.write { $0.kennel.hounds.remove(at: 0) }
    await watched.expectTold(["A kennels nil>nil", "all -[] +[] ~[0]"])
    await watched.write { realm in
      realm.kennel.hounds.append(realm.hound("C"))
      realm.kennel.hounds.removeLast()
    }
    await watched.expectTold([])
  }

  /// What one observer does with an old value is nothing to the others.
  @Test func oldValuesThatAClientEnds() async {
    let watched = await WatchedRealm(memoryConfiguration([MixedDiary.self]))
    await watched.write { realm in
      realm.create(MixedDiary.self).entry = .fromArray([.int(1), .int(2)])
    }
    await watched.run { watched in
      let diary = watched.realm.objects(MixedDiary.self).first!
      for _ in 0..<2 {
        watched.tokens.append(
          diary.observe { [unowned watched] (change: ObjectChange<MixedDiary>) in
            guard case .change(_, let properties) = change else { return }
            let old = properties[0].oldValue
            let list = old as? List<AnyRealmValue> ?? (old as? AnyRealmValue)?.listValue
            watched.note("\(list?.count ?? -1)")
            list?.realm?.invalidate()
          })
      }
    }
    watched.writeElsewhere { $0.objects(MixedDiary.self).first!.entry = .int(3) }
    await watched.expectTold(["2", "2"], afterCalls: 2)
  }
}
