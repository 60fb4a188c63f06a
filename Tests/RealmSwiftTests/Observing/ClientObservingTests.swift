// Observers as clients write them, case by case: what an application does to its objects, and what its
// observers hear of it.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// Has a key and values of any kind.
class Coupon: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var title: String
  @Persisted var rank: Int
  @Persisted var note: AnyRealmValue
  @Persisted var price: Decimal128

  convenience init(_ id: Int, _ title: String, rank: Int = 0) {
    self.init()
    self.id = id
    self.title = title
    self.rank = rank
  }
}

/// A view of a hound.
class HoundView: Projection<Hound> {
  @Projected(\Hound.name) var name
}

private let couponClasses = kennelClasses + [Coupon.self]

@Suite struct ClientObservingTests {
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B", "C", "D"]) }
    return watched
  }

  private static func coupons(_ count: Int) async -> WatchedRealm {
    let watched = await WatchedRealm(memoryConfiguration(couponClasses))
    await watched.write { realm in
      for id in 0..<count { realm.add(Coupon(id, "T\(id)", rank: id)) }
    }
    return watched
  }

  // MARK: - Lists

  @Test func everyEditOfAList() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.numbers.append(objectsIn: [0, 1, 2, 3, 4]) }
    await watched.run { $0.watch($0.realm.kennel.numbers) }
    await watched.expectTold(["initial 5"])
    await watched.write { $0.kennel.numbers.swapAt(1, 3) }
    #expect(await watched.told().count == 1)
    await watched.write { $0.kennel.numbers.move(from: 0, to: 4) }
    await watched.expectTold(["-[0] +[4] ~[]"])
    await watched.write { $0.kennel.numbers.move(fromOffsets: IndexSet([0, 1]), toOffset: 5) }
    await watched.expectTold(["-[0, 1] +[3, 4] ~[]"])
    await watched.write { $0.kennel.numbers.replaceSubrange(1..<3, with: [7, 8, 9]) }
    await watched.expectTold(["-[1, 2] +[1, 2, 3] ~[]"])
    await watched.write { $0.kennel.numbers.remove(atOffsets: IndexSet([0, 5])) }
    await watched.expectTold(["-[0, 5] +[] ~[]"])
    await watched.write { $0.kennel.numbers[0] += 1 }
    await watched.expectTold(["-[] +[] ~[0]"])
    await watched.write { realm in
      realm.kennel.numbers.removeAll()
      realm.kennel.numbers.append(objectsIn: [5, 6])
    }
    await watched.expectTold(["-[0, 1, 2, 3] +[0, 1] ~[]"])
    await watched.write { $0.kennel.numbers.insert(contentsOf: [1, 2], at: 1) }
    await watched.expectTold(["-[] +[1, 2] ~[]"])
    // Nothing is left of what comes and goes.
    await watched.write { realm in
      realm.kennel.numbers.append(1)
      realm.kennel.numbers.removeLast()
    }
    await watched.expectTold([])
  }

  @Test func anObjectThatIsInAListTwice() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.hounds.append($0.hound("A")) }
    await watched.run { $0.watch($0.realm.kennel.hounds) }
    await watched.expectTold(["initial 5"])
    await watched.write { $0.hound("A").age = 9 }
    await watched.expectTold(["-[] +[] ~[0, 4]"])
    await watched.write { $0.delete($0.hound("A")) }
    await watched.expectTold(["-[0, 4] +[] ~[]"])
  }

  @Test func embeddedObjectsInAList() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.boxes.append(objectsIn: [Box(1), Box(2), Box(3)]) }
    await watched.run { watched in
      watched.watch(watched.realm.kennel.boxes)
      watched.watch(watched.realm.kennel.boxes, "size ", keyPaths: ["size"])
      watched.watch(watched.realm.kennel.boxes[2], "last ")
    }
    await watched.expectTold(["initial 3", "size initial 3"])
    await watched.write { $0.kennel.boxes[1].inner = Box(9) }
    await watched.expectTold(["-[] +[] ~[1]"])
    await watched.write { $0.kennel.boxes[1].inner!.size = 8 }
    await watched.expectTold(["-[] +[] ~[1]"])
    await watched.write { $0.kennel.boxes[2].size = 4 }
    await watched.expectTold(["-[] +[] ~[2]", "size -[] +[] ~[2]", "last size nil>4"])
    // Taken out of the list it is gone.
    await watched.write { $0.kennel.boxes.remove(at: 2) }
    await watched.expectTold(["-[2] +[] ~[]", "size -[2] +[] ~[]", "last deleted"])
    await watched.write { $0.kennel.boxes[0] = Box(7) }
    #expect(await watched.told().count == 2)
  }

  @Test func aListMadeInTheTransactionBefore() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      let kennel = try watched.realm.write { addKennel(watched.realm, hounds: ["A"]) }
      watched.watch(kennel.hounds)
      try watched.realm.write { kennel.hounds.append(Hound("B")) }
    }
    await watched.expectTold(["initial 1", "-[] +[1] ~[]"])
  }

  // MARK: - Sets and maps

  @Test func setsOfValuesAndObjects() async {
    let watched = await Self.watched()
    await watched.write { realm in
      realm.kennel.nameSet.insert(objectsIn: ["b", "d"])
      realm.kennel.houndSet.insert(objectsIn: realm.kennel.hounds)
    }
    await watched.run { watched in
      watched.watch(watched.realm.kennel.nameSet, "names ")
      watched.watch(watched.realm.kennel.houndSet, "hounds ")
    }
    await watched.expectTold(["names initial 2", "hounds initial 4"])
    await watched.write { realm in
      realm.kennel.nameSet.insert("a")
      realm.kennel.nameSet.remove("d")
      // There already.
      realm.kennel.nameSet.insert("b")
      realm.hound("B").age = 5
    }
    await watched.expectTold(["names -[1] +[0] ~[]", "hounds -[] +[] ~[1]"])
    await watched.write { $0.kennel.nameSet.removeAll() }
    await watched.expectTold(["names -[0, 1] +[] ~[]"])
    await watched.write { $0.delete($0.hound("C")) }
    await watched.expectTold(["hounds -[2] +[] ~[]"])
  }

  @Test func mapsOfEmbeddedObjects() async {
    let watched = await Self.watched()
    await watched.write { $0.kennel.boxMap["a"] = Box(1) }
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.kennel.boxMap.observe { [unowned watched] in watched.note(text($0)) })
    }
    await watched.expectTold(["initial 1"])
    await watched.write { $0.kennel.boxMap["a"]!!.size = 2 }
    await watched.expectTold(["-[] +[] ~[\"a\"]"])
    await watched.write { realm in
      realm.kennel.boxMap["b"] = Box(3)
      realm.kennel.boxMap["a"] = Box(4)
    }
    await watched.expectTold(["-[] +[\"b\"] ~[\"a\"]"])
    await watched.write { $0.kennel.boxMap.removeObject(for: "a") }
    await watched.expectTold(["-[\"a\"] +[] ~[]"])
  }

  @Test func linkingObjectsWithKeyPaths() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.hound("A").kennels)
      watched.watch(watched.realm.hound("A").kennels, "name ", keyPaths: ["name"])
      watched.watch(watched.realm.objects(Hound.self), "back ", keyPaths: ["kennels.name"])
    }
    await watched.expectTold(["initial 1", "name initial 1", "back initial 4"])
    await watched.write { $0.kennel.numbers.append(1) }
    await watched.expectTold(["-[] +[] ~[0]"])
    await watched.write { $0.kennel.name = "K" }
    await watched.expectTold([
      "-[] +[] ~[0]", "name -[] +[] ~[0]", "back -[] +[] ~[0, 1, 2, 3]",
    ])
    await watched.write { realm in
      let other = Kennel(2)
      realm.add(other)
      other.hounds.append(objectsIn: [realm.hound("A"), realm.hound("A")])
    }
    await watched.expectTold([
      "-[] +[1, 2] ~[]", "name -[] +[1, 2] ~[]", "back -[] +[] ~[0]",
    ])
  }

  // MARK: - Results

  @Test func queriesOverLinks() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let hounds = watched.realm.objects(Hound.self)
      watched.watch(hounds.where { $0.friend.age > 3 }, "friend ")
      watched.watch(hounds.filter("kennels.@count > 1"), "kennels ")
      watched.watch(hounds.filter("ANY admirers.name == 'A'"), "admired ")
    }
    await watched.expectTold(["friend initial 0", "kennels initial 0", "admired initial 0"])
    await watched.write { $0.hound("A").friend = $0.hound("B") }
    await watched.expectTold(["admired -[] +[0] ~[]"])
    await watched.write { $0.hound("B").age = 4 }
    await watched.expectTold(["friend -[] +[0] ~[]", "admired -[] +[] ~[0]"])
    await watched.write { realm in
      let other = Kennel(2)
      realm.add(other)
      other.hounds.append(realm.hound("C"))
    }
    await watched.expectTold(["kennels -[] +[0] ~[]"])
    await watched.write { $0.hound("A").friend = nil }
    await watched.expectTold(["friend -[0] +[] ~[]", "admired -[0] +[] ~[]"])
  }

  /// Deletions, insertions, moves and changes of several commits are one call.
  @Test func sortedResultsOverManyCommits() async {
    let watched = await Self.coupons(10)
    await watched.run { watched in
      watched.realm.autorefresh = false
      let sorted = watched.realm.objects(Coupon.self).sorted(byKeyPath: "rank")
      var copy: [String] = []
      watched.tokens.append(
        sorted.observe { [unowned watched] change in
          switch change {
          case .initial(let coupons): copy = coupons.map(\.title)
          case .update(let coupons, let deletions, let insertions, let modifications):
            for position in deletions.reversed() { copy.remove(at: position) }
            for position in insertions { copy.insert(coupons[position].title, at: position) }
            for position in modifications { copy[position] = coupons[position].title }
            #expect(copy == coupons.map(\.title))
            watched.note(text(change))
          case .error: watched.note("error")
          }
        })
      watched.realm.refresh()
      #expect(copy.count == 10)
      func coupon(_ realm: Realm, _ id: Int) -> Coupon {
        realm.object(ofType: Coupon.self, forPrimaryKey: id)!
      }
      watched.writeElsewhere { $0.delete($0.object(ofType: Coupon.self, forPrimaryKey: 1)!) }
      watched.writeElsewhere { $0.object(ofType: Coupon.self, forPrimaryKey: 3)!.rank = 100 }
      watched.writeElsewhere { $0.add(Coupon(20, "new", rank: -1)) }
      watched.writeElsewhere { $0.object(ofType: Coupon.self, forPrimaryKey: 5)!.title = "five" }
      watched.writeElsewhere { $0.delete($0.object(ofType: Coupon.self, forPrimaryKey: 0)!) }
      watched.writeElsewhere { $0.object(ofType: Coupon.self, forPrimaryKey: 3)!.rank = 3 }
      watched.realm.refresh()
      // Moved away and back again: it is only changed.
      #expect(watched.takeCalls() == ["-[0, 1] +[0] ~[2, 4]"])
    }
  }

  @Test func distinctResults() async {
    let watched = await Self.coupons(6)
    await watched.write { realm in
      for coupon in realm.objects(Coupon.self) { coupon.rank = coupon.id % 2 }
    }
    await watched.run { watched in
      watched.watch(watched.realm.objects(Coupon.self).distinct(by: ["rank"]))
    }
    await watched.expectTold(["initial 2"])
    await watched.write { $0.object(ofType: Coupon.self, forPrimaryKey: 4)!.rank = 7 }
    await watched.expectTold(["-[] +[2] ~[]"])
    // Another object stands for the value now.
    await watched.write { $0.delete($0.object(ofType: Coupon.self, forPrimaryKey: 0)!) }
    await watched.expectTold(["-[0] +[1] ~[]"])
  }

  @Test func sortedByValuesThatNeedNotBeComparable() async {
    let watched = await Self.coupons(4)
    await watched.run { watched in
      watched.watch(watched.realm.objects(Coupon.self).sorted(byKeyPath: "price"), "price ")
      watched.watch(watched.realm.objects(Coupon.self).sorted(byKeyPath: "note"), "note ")
    }
    await watched.expectTold(["price initial 4", "note initial 4"])
    await watched.write { $0.object(ofType: Coupon.self, forPrimaryKey: 0)!.price = 5 }
    await watched.expectTold(["price -[0] +[3] ~[]", "note -[] +[] ~[0]"])
    await watched.write { $0.object(ofType: Coupon.self, forPrimaryKey: 2)!.note = .string("x") }
    await watched.expectTold(["price -[] +[] ~[1]", "note -[2] +[3] ~[]"])
  }

  @Test func upserts() async {
    let watched = await Self.coupons(3)
    await watched.run { $0.watch($0.realm.objects(Coupon.self)) }
    await watched.expectTold(["initial 3"])
    // Only what differs is written.
    await watched.write { $0.add(Coupon(1, "T1", rank: 1), update: .modified) }
    await watched.expectTold([])
    await watched.write { $0.add(Coupon(1, "other", rank: 1), update: .modified) }
    await watched.expectTold(["-[] +[] ~[1]"])
    await watched.write { $0.add(Coupon(1, "other", rank: 1), update: .all) }
    await watched.expectTold(["-[] +[] ~[1]"])
    await watched.write { realm in
      realm.create(Coupon.self, value: ["id": 7, "title": "T7"], update: .modified)
      realm.create(Coupon.self, value: ["id": 0, "rank": 5], update: .modified)
    }
    await watched.expectTold(["-[] +[3] ~[0]"])
    // The same key, but another object.
    await watched.write { realm in
      realm.delete(realm.object(ofType: Coupon.self, forPrimaryKey: 0)!)
      realm.add(Coupon(0, "T0"))
    }
    await watched.expectTold(["-[0] +[3] ~[]"])
  }

  @Test func bulkChanges() async {
    let watched = await Self.coupons(200)
    await watched.run { watched in
      let coupons = watched.realm.objects(Coupon.self)
      watched.watch(coupons)
      watched.watch(coupons.where { $0.rank < 100 }, "filtered ")
    }
    await watched.expectTold(["initial 200", "filtered initial 100"])
    await watched.write { $0.objects(Coupon.self).setValue("same", forKey: "title") }
    let all = Array(0..<200)
    await watched.expectTold(["-[] +[] ~\(all)", "filtered -[] +[] ~\(Array(0..<100))"])
    await watched.write { realm in
      realm.delete(Array(realm.objects(Coupon.self)).filter { $0.rank % 2 == 0 })
    }
    let even = all.filter { $0 % 2 == 0 }
    await watched.expectTold(["-\(even) +[] ~[]", "filtered -\(even.prefix(50)) +[] ~[]"])
    await watched.write { realm in
      for id in 1_000..<2_000 { realm.add(Coupon(id, "N", rank: id % 200)) }
    }
    await watched.expectTold([
      "-[] +\(Array(100..<1_100)) ~[]", "filtered -[] +\(Array(50..<550)) ~[]",
    ])
    await watched.write { $0.deleteAll() }
    await watched.expectTold([
      "-\(Array(0..<1_100)) +[] ~[]", "filtered -\(Array(0..<550)) +[] ~[]",
    ])
    await watched.write { $0.add(Coupon(1, "again")) }
    await watched.expectTold(["-[] +[0] ~[]", "filtered -[] +[0] ~[]"])
  }

  @Test func projectionsAndDynamicObjects() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(HoundView.self), "views ")
      watched.watch(watched.realm.dynamicObjects("Hound"), "dynamic ")
    }
    await watched.expectTold(["views initial 4", "dynamic initial 4"])
    await watched.write { realm in
      realm.hound("B").name = "BB"
      realm.delete(realm.hound("A"))
    }
    await watched.expectTold(["views -[0] +[] ~[0]", "dynamic -[0] +[] ~[0]"])
  }

  // MARK: - Objects

  @Test func valuesOfAnyKind() async {
    let watched = await Self.coupons(2)
    await watched.run { watched in
      let coupon = watched.realm.object(ofType: Coupon.self, forPrimaryKey: 0)!
      watched.tokens.append(
        coupon.observe { [unowned watched] (change: ObjectChange<Coupon>) in
          if case .change(_, let properties) = change {
            watched.note(properties.map(\.name).joined(separator: " "))
          }
        })
      watched.watch(watched.realm.objects(Coupon.self), "all ")
    }
    await watched.expectTold(["all initial 2"])
    func write(_ body: @escaping @Sendable (Coupon) -> Void) async {
      await watched.write { body($0.object(ofType: Coupon.self, forPrimaryKey: 0)!) }
    }
    await write { $0.note = .fromArray([.int(1), .string("x")]) }
    await watched.expectTold(["all -[] +[] ~[0]", "note"].sorted(by: >))
    // Inside of the value.
    await write { $0.note.listValue!.append(.bool(true)) }
    await watched.expectTold(["note", "all -[] +[] ~[0]"])
    await write { $0.note.listValue![0] = .fromDictionary(["k": .int(1)]) }
    await watched.expectTold(["note", "all -[] +[] ~[0]"])
    await write { $0.note.listValue![0].dictionaryValue!["k"] = AnyRealmValue.none }
    await watched.expectTold(["note", "all -[] +[] ~[0]"])
    await write { coupon in
      coupon.note = .object(coupon.realm!.object(ofType: Coupon.self, forPrimaryKey: 1)!)
    }
    await watched.expectTold(["note", "all -[] +[] ~[0]"])
    // Over the link in the value.
    await watched.write { $0.object(ofType: Coupon.self, forPrimaryKey: 1)!.rank = 8 }
    await watched.expectTold(["all -[] +[] ~[0, 1]"])
  }

  @Test func collectionsOfAnObject() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.kennel.observe { [unowned watched] (change: ObjectChange<Kennel>) in
          switch change {
          case .change(_, let properties):
            watched.note(properties.map(\.name).joined(separator: " "))
          case .deleted: watched.note("deleted")
          case .error: watched.note("error")
          }
        })
    }
    await watched.write { $0.kennel.numberMap["x"] = 1 }
    await watched.expectTold(["numberMap"])
    await watched.write { realm in
      realm.kennel.houndSet.insert(realm.hound("A"))
      realm.kennel.names.append("n")
    }
    await watched.expectTold(["names houndSet"])
    // An element that changes is not the object's change.
    await watched.write { $0.hound("A").age = 5 }
    await watched.expectTold([])
    await watched.write { $0.kennel.mainBox = Box(1) }
    await watched.expectTold(["mainBox"])
    await watched.write { $0.kennel.mainBox!.size = 2 }
    await watched.expectTold([])
    await watched.write { $0.delete($0.hound("B")) }
    await watched.expectTold(["hounds"])
  }

  @Test func wildcards() async {
    let watched = await Self.watched()
    await watched.write { $0.hound("A").friend = $0.hound("B") }
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self), "* ", keyPaths: ["*"])
      watched.watch(watched.realm.hound("A"), "friend.* ", keyPaths: ["friend.*"])
    }
    await watched.expectTold(["* initial 4"])
    await watched.write { $0.hound("B").age = 1 }
    await watched.expectTold(["* -[] +[] ~[1]", "friend.* friend nil>nil"])
  }

  // MARK: - In callbacks

  /// What the interface has shown already is not told to it again.
  @Test func aCallbackWritesWithoutBeingTold() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let token = watched.watch(watched.realm.objects(Hound.self), "other ")
      _ = token
      watched.tokens.append(
        watched.realm.kennel.hounds.observe { [unowned watched] change in
          watched.note(text(change))
          guard case .update(let hounds, _, let insertions, _) = change,
            let first = insertions.first
          else { return }
          try! watched.realm.write(withoutNotifying: [watched.tokens[1]]) {
            hounds[first].weight = 1
          }
        })
    }
    await watched.expectTold(["other initial 4", "initial 4"])
    await watched.write { $0.kennel.hounds.append(Hound("E")) }
    await watched.expectTold(
      ["other -[] +[4] ~[]", "-[] +[4] ~[]", "other -[] +[] ~[4]"], afterCalls: 5)
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["other -[] +[] ~[0]", "-[] +[] ~[0]"])
  }

  /// A copy of what is shown stays as it was.
  @Test func frozenInTheCallback() async {
    let watched = await Self.watched()
    let shown = Monitor<[Results<Hound>]>([])
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.objects(Hound.self).sorted(byKeyPath: "name").observe { change in
          switch change {
          case .initial(let hounds), .update(let hounds, _, _, _):
            nonisolated(unsafe) let frozen = hounds.freeze()
            shown.withLock { $0.append(frozen) }
          case .error: break
          }
        })
      watched.realm.refresh()
    }
    await watched.write { $0.delete($0.hound("B")) }
    await watched.write { $0.add(Hound("E")) }
    await watched.run { $0.realm.refresh() }
    let names = shown.withLock { $0.map { Array($0.map(\.name)).joined() } }
    #expect(names == ["ABCD", "ACD", "ACDE"])
  }

  @Test func theRealmsObserverEndsItself() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.observe { [unowned watched] notification, realm in
          watched.note("\(notification) \(realm.objects(Hound.self).count)")
          watched.tokens[0].invalidate()
        })
    }
    await watched.write { $0.add(Hound("E")) }
    await watched.expectTold(["didChange 5"])
    await watched.write { $0.add(Hound("F")) }
    await watched.expectTold([])
  }

  // MARK: - Places

  /// What a running transaction of the place has changed may be rolled back.
  @Test(arguments: [true, false])
  func observingWhereATransactionIsOpen(commits: Bool) async {
    let source = await Self.watched()
    let configuration = source.configuration
    let place = await WatchedRealm(configuration)
    let told = Event()
    await place.run { place in
      place.realm.beginWrite()
      place.realm.delete(place.realm.hound("A"))
      place.realm.hound("B").age = 7
    }
    await source.run { source in
      let queue = place.queue
      source.tokens = [
        source.realm.hound("A").observe(on: queue) { (change: ObjectChange<Hound>) in
          place.note("A " + text(change))
          told.happen()
        },
        source.realm.hound("B").observe(on: queue) { (change: ObjectChange<Hound>) in
          place.note("B " + text(change))
          told.happen()
        },
        source.realm.objects(Hound.self).observe(on: queue) { change in
          place.note(text(change))
          told.happen()
        },
      ]
    }
    await place.run { place in
      #expect(place.calls.isEmpty)
      if commits { try place.realm.commitWrite() } else { place.realm.cancelWrite() }
      #expect(place.calls.isEmpty)
    }
    await told.happened(commits ? 3 : 1)
    #expect(
      await place.told().sorted()
        == (commits ? ["A deleted", "B age nil>7", "initial 3"] : ["initial 4"]))
    await place.write { $0.hound("B").name = "BB" }
    await told.happened(commits ? 5 : 3)
    #expect(
      await place.told().sorted()
        == ["-[] +[] ~[\(commits ? 0 : 1)]", "B name nil>BB"])
    await source.run { $0.tokens = [] }
  }

  /// The same where the transaction ends with everything else.
  @Test func observingWhereATransactionIsInvalidated() async {
    let source = await Self.watched()
    let place = await WatchedRealm(source.configuration)
    let told = Event()
    await place.run { place in
      place.realm.beginWrite()
      place.realm.delete(place.realm.hound("A"))
    }
    await source.run { source in
      source.tokens = [
        source.realm.objects(Hound.self).observe(on: place.queue) { change in
          place.note(text(change))
          told.happen()
        },
        source.realm.objects(Hound.self).observe(on: place.queue) { _ in
          Issue.record("was ended before it began")
        },
      ]
      source.tokens.removeLast()
    }
    await place.run { $0.realm.invalidate() }
    await told.happened()
    #expect(await place.told() == ["initial 4"])
    await source.run { $0.tokens = [] }
  }

  /// Keeps its token, as a view model does.
  @MainActor final class Model {
    private(set) var names: [String] = []
    private var token: NotificationToken?
    let told = Event()

    init(_ realm: Realm) {
      token = realm.objects(Hound.self).observe { [weak self] change in
        guard let self else { return }
        switch change {
        case .initial(let hounds): names = hounds.map(\.name)
        case .update(let hounds, let deletions, let insertions, let modifications):
          for position in deletions.reversed() { names.remove(at: position) }
          for position in insertions { names.insert(hounds[position].name, at: position) }
          for position in modifications { names[position] = hounds[position].name }
        case .error: break
        }
        told.happen()
      }
    }
  }

  @Test @MainActor func aViewModel() async throws {
    let realm = try await Realm(configuration: memoryConfiguration(kennelClasses))
    try await realm.asyncWrite { addKennel(realm, hounds: ["A", "B"]) }
    var model: Model? = Model(realm)
    let told = model!.told
    await told.happened()
    #expect(model?.names == ["A", "B"])
    try await realm.asyncWrite {
      realm.delete(realm.hound("A"))
      realm.hound("B").name = "BB"
      realm.add(Hound("C"))
    }
    await told.happened(2)
    #expect(model?.names == ["BB", "C"])
    weak let gone = model
    model = nil
    #expect(gone == nil)
    try await realm.asyncWrite { realm.add(Hound("D")) }
    await realm.asyncRefresh()
    #expect(told.times == 2)
  }

  /// The changes of a collection as an asynchronous sequence, which clients like to make of it.
  @MainActor private func changes(
    _ realm: Realm
  ) -> AsyncStream<[String]> {
    AsyncStream { continuation in
      let token = realm.objects(Hound.self).observe { change in
        switch change {
        case .initial(let hounds), .update(let hounds, _, _, _):
          continuation.yield(hounds.map(\.name))
        case .error: continuation.finish()
        }
      }
      continuation.onTermination = { _ in token.invalidate() }
    }
  }

  @Test @MainActor func anAsynchronousSequence() async throws {
    let realm = try await Realm(configuration: memoryConfiguration(kennelClasses))
    let changes = changes(realm)
    let writer = Task {
      for name in ["A", "B", "C"] {
        try await realm.asyncWrite { realm.add(Hound(name)) }
      }
    }
    for await names in changes where names.count == 3 {
      #expect(names == ["A", "B", "C"])
      break
    }
    try await writer.value
  }

  /// Ends itself at its second call.
  actor Counter {
    private var token: NotificationToken?
    private(set) var calls: [String] = []
    let told = Event()

    func observe(
      _ reference: ThreadSafeReference<Results<Hound>>, _ configuration: Realm.Configuration
    )
      async throws
    {
      let realm = try await Realm.open(configuration: configuration)
      let hounds = realm.resolve(reference)!
      token = await hounds.observe(on: self) { counter, change in counter.note(text(change)) }
    }

    private func note(_ call: String) {
      calls.append(call)
      if calls.count == 2 { token = nil }
      told.happen()
    }
  }

  @Test @MainActor func anActorEndsItsObservation() async throws {
    let configuration = memoryConfiguration(kennelClasses)
    let realm = try await Realm(configuration: configuration)
    let counter = Counter()
    try await counter.observe(
      ThreadSafeReference(to: realm.objects(Hound.self).where { $0.age >= 0 }), configuration)
    await counter.told.happened()
    for name in ["A", "B", "C"] {
      try await realm.asyncWrite { realm.add(Hound(name)) }
    }
    await counter.told.happened(2)
    try await realm.asyncWrite { realm.add(Hound("D")) }
    let calls = await counter.calls
    #expect(calls.count == 2 && calls[0] == "initial 0")
  }

  /// `asyncRefresh` tells before it returns.
  @Test @MainActor func refreshingTells() async throws {
    let configuration = memoryConfiguration(kennelClasses)
    let realm = try await Realm(configuration: configuration)
    realm.autorefresh = false
    let log = Log()
    let token = realm.objects(Hound.self).observe { log.add(text($0)) }
    realm.refresh()
    await Task.detached {
      onThread {
        let other = try! openRealm(configuration)
        try! other.write { other.add(Hound("A")) }
        try! other.write { other.add(Hound("B")) }
      }
    }.value
    #expect(log.all == ["initial 0"])
    #expect(await realm.asyncRefresh())
    #expect(log.all == ["initial 0", "-[] +[0, 1] ~[]"])
    #expect(await !realm.asyncRefresh())
    token.invalidate()
  }
}
