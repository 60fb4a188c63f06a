// Observers as clients write them, case by case: what an application does to its objects, and what
// its observers hear of it.
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

let couponClasses = kennelClasses + [Coupon.self]

extension WatchedRealm {
  /// A kennel of four hounds.
  static func kennel() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B", "C", "D"]) }
    return watched
  }

  /// So many coupons, ranked by their numbers.
  static func coupons(_ count: Int) async -> WatchedRealm {
    let watched = await WatchedRealm(memoryConfiguration(couponClasses))
    await watched.write { realm in
      for id in 0..<count { realm.add(Coupon(id, "T\(id)", rank: id)) }
    }
    return watched
  }
}

@Suite(.ownThreads) struct ClientObservingTests {
  // MARK: - Lists

  @Test func everyEditOfAList() async {
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
    await watched.write { $0.kennel.hounds.append($0.hound("A")) }
    await watched.run { $0.watch($0.realm.kennel.hounds) }
    await watched.expectTold(["initial 5"])
    await watched.write { $0.hound("A").age = 9 }
    await watched.expectTold(["-[] +[] ~[0, 4]"])
    await watched.write { $0.delete($0.hound("A")) }
    await watched.expectTold(["-[0, 4] +[] ~[]"])
  }

  @Test func embeddedObjectsInAList() async {
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.coupons(10)
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
    let watched = await WatchedRealm.coupons(6)
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
    let watched = await WatchedRealm.coupons(4)
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
    let watched = await WatchedRealm.coupons(3)
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
    let watched = await WatchedRealm.coupons(200)
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.coupons(2)
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
    let watched = await WatchedRealm.kennel()
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
    let watched = await WatchedRealm.kennel()
    await watched.write { $0.hound("A").friend = $0.hound("B") }
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self), "* ", keyPaths: ["*"])
      watched.watch(watched.realm.hound("A"), "friend.* ", keyPaths: ["friend.*"])
    }
    await watched.expectTold(["* initial 4"])
    await watched.write { $0.hound("B").age = 1 }
    await watched.expectTold(["* -[] +[] ~[1]", "friend.* friend nil>B"])
  }
}
