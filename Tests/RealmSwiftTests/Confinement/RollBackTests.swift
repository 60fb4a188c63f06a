// What a transaction has added is gone for good once it was rolled back, although the keys of its
// objects are given again.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class Berth: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var neighbour: Berth?
  @Persisted var others: List<Berth>
  @Persisted var depths: Map<String, Int>
  @Persisted var notes: AnyRealmValue
  @Persisted(originProperty: "neighbour") var neighbours: LinkingObjects<Berth>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OlderBerth: Object {
  let depth = RealmProperty<Int?>()

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private struct Cancelled: Error {}

@Suite(.ownThreads) struct RollBackTests {
  private func made(_ id: Int, in realm: Realm) -> Berth {
    let berth = Berth(value: ["id": id, "name": "berth \(id)"])
    realm.add(berth)
    berth.neighbour = berth
    berth.others.append(berth)
    berth.depths["low"] = id
    berth.notes = .fromArray([.int(id)])
    return berth
  }

  /// Another object has the key, which was added here or by another thread.
  @Test(arguments: [false, true]) func nothingOfTheObjectComesBack(byAnotherThread: Bool) throws {
    let configuration = memoryConfiguration([Berth.self])
    let realm = try Realm(configuration: configuration)
    realm.beginWrite()
    let berth = made(1, in: realm)
    let (others, depths, neighbours) = (berth.others, berth.depths, berth.neighbours)
    let (notes, found) = (try #require(berth.notes.listValue), berth.others.where { $0.id > 0 })
    let byName = try #require(
      realm.dynamicObject(ofType: "Berth", forPrimaryKey: 1) as DynamicObject?)
    realm.cancelWrite()
    func expectGone(sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(
        berth.isInvalidated && others.isInvalidated && depths.isInvalidated && notes.isInvalidated
          && neighbours.isInvalidated && byName.isInvalidated, sourceLocation: sourceLocation)
      #expect(found.isEmpty, sourceLocation: sourceLocation)
    }
    expectGone()
    if byAnotherThread {
      Thread.start(name: "other") {
        do {
          let realm = try openRealm(configuration)
          try realm.write { _ = made(2, in: realm) }
        } catch { Issue.record(error) }
      }.joinInTime()
      realm.refresh()
    } else {
      try realm.write { _ = made(2, in: realm) }
    }
    expectGone()
    let all = realm.objects(Berth.self)
    let other = try #require(all.first)
    #expect(other.name == "berth 2" && other.depths["low"] == 2 && other.others.count == 1)
    #expect(!berth.isSameObject(as: other) && berth != other)
    #expect(all.index(of: berth) == nil && !all.contains(berth) && all.index(of: other) == 0)
    #expect(all.filter("id > 0").index(of: berth) == nil)
    #expect(all.where { $0.neighbour == berth }.isEmpty)
    #expect(all.where { $0.neighbour == other }.count == 1)
    #expect(other.neighbours.index(of: berth) == nil && other.others.index(of: berth) == nil)
    // Also within the next transaction, before and after it has added something.
    try realm.write {
      expectGone()
      let third = made(3, in: realm)
      expectGone()
      third.name = "third"
    }
    #expect(all.map(\.name) == ["berth 2", "third"])
  }

  /// A new object has not been located yet.
  @Test func objectsThatAreMadeLaterAreThere() throws {
    let realm = try memoryRealm([Berth.self])
    for id in 0..<3 {
      try? realm.write {
        _ = made(id, in: realm)
        throw Cancelled()
      }
      try realm.write {
        let created = realm.create(Berth.self, value: ["id": 10 + id, "name": "created"])
        created.depths["low"] = 3
        #expect(created.name == "created" && !created.isInvalidated)
        let added = Berth(value: ["id": 20 + id, "others": [created]])
        realm.add(added)
        #expect(added.id == 20 + id && added.others.first == created && created.depths.count == 1)
      }
    }
    #expect(realm.objects(Berth.self).count == 6)
  }

  @Test func theObjectIsNotDeletedInPlaceOfAnother() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([Berth.self])
      let berth = Berth(value: ["id": 1])
      try? realm.write {
        realm.add(berth)
        throw Cancelled()
      }
      try realm.write {
        realm.add(Berth(value: ["id": 2]))
        realm.delete(berth)
      }
    }
    expectStop(result, "Object has been deleted or invalidated.")
  }

  @Test func boxesOfAnObjectThatIsGone() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm([OlderBerth.self])
      realm.beginWrite()
      var berth: OlderBerth? = realm.create(OlderBerth.self)
      let depth = try #require(berth?.depth)
      depth.value = 3
      berth = nil
      #expect(depth.value == 3)
      realm.cancelWrite()
      try realm.write { realm.create(OlderBerth.self).depth.value = 4 }
      print(depth.value ?? 0)
    }
    expectStop(result, "Object has been deleted or invalidated.")
  }

  /// Objects of many transactions, each kept with what is to be seen of it.
  @Test func randomTransactions() async {
    await withSeeds(amount(40, debug: 8)) { random in
      let configuration = memoryConfiguration([Berth.self])
      let realm = try openRealm(configuration)
      var kept: [(berth: Berth, id: Int, isThere: Bool)] = []
      var next = 1
      for _ in 0..<200 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          // Another Realm of the thread gives keys, too.
          let other = try openRealm(configuration.widened)
          try other.write { other.add(Berth(value: ["id": next, "name": "berth \(next)"])) }
          next += 1
          realm.refresh()
          if let berth = realm.objects(Berth.self).last, Bool.random(using: &random) {
            kept.append((berth, berth.id, true))
          }
        case 1 where kept.contains(where: \.isThere):
          let there = kept.indices.filter { kept[$0].isThere }
          let id = kept[there[Int.random(in: 0..<there.count, using: &random)]].id
          let berth = try #require(realm.object(ofType: Berth.self, forPrimaryKey: id))
          try realm.write { realm.delete(berth) }
          for index in there where kept[index].id == id { kept[index].isThere = false }
        default:
          let isCancelled = Int.random(in: 0..<3, using: &random) > 0
          realm.beginWrite()
          for _ in 0..<Int.random(in: 0..<4, using: &random) {
            let berth = Berth(value: ["id": next, "name": "berth \(next)"])
            realm.add(berth)
            kept.append((berth, next, !isCancelled))
            next += 1
          }
          if isCancelled { realm.cancelWrite() } else { try realm.commitWrite() }
        }
        // Most are not asked after each step: what is known of their place grows old.
        for entry in kept where Int.random(in: 0..<3, using: &random) == 0 {
          #expect(entry.berth.isInvalidated == !entry.isThere, "\(entry.id)")
          if entry.isThere, !entry.berth.isInvalidated {
            #expect(entry.berth.name == "berth \(entry.id)")
          }
        }
        if kept.count > 60 { kept.removeFirst(20) }
      }
    }
  }
}

extension Realm.Configuration {
  /// The same file with other classes, which is another Realm of the thread.
  fileprivate var widened: Realm.Configuration {
    var other = self
    other.objectTypes = [Berth.self, OlderBerth.self]
    return other
  }
}
