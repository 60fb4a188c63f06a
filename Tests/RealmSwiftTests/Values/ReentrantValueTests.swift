// Custom types whose getter uses the Realm while a value of theirs is being written: what it does
// takes effect, and the write goes on.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

/// Does something whenever it is asked for what is stored.
private struct Meddling: CustomPersistable, Hashable {
  let value: Int
  let meddle: (() -> Void)?

  init(_ value: Int, _ meddle: (() -> Void)? = nil) {
    self.value = value
    self.meddle = meddle
  }

  init(persistedValue: Int) { self.init(persistedValue) }

  var persistableValue: Int {
    meddle?()
    return value
  }

  static func == (left: Meddling, right: Meddling) -> Bool { left.value == right.value }
  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

private class Meddled: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first: Int
  @Persisted var value = Meddling(0)
  @Persisted var optional: Meddling?
  @Persisted var last: Int
  @Persisted var list: List<Meddling>
  @Persisted var set: MutableSet<Meddling>
  @Persisted var map: Map<String, Meddling>
  @Persisted var mixed: AnyRealmValue
  @Persisted var link: Meddled?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct ReentrantValueTests {
  let realm: Realm
  init() throws { realm = try memoryRealm([Meddled.self]) }

  /// Enough new objects to split every leaf and branch near those that are being written.
  private func createMany(_ first: Int) {
    for id in first..<first + 300 {
      // A set in memory asks for what is stored, too, and so this may run twice.
      realm.create(
        Meddled.self, value: ["id": id, "first": id, "value": id, "list": [id, id]],
        update: .modified)
    }
  }

  /// Fills a number of objects; the first of them is looked at.
  private func fill() throws -> Meddled {
    try realm.write {
      for id in 0..<100 { realm.create(Meddled.self, value: ["id": id, "value": id]) }
    }
    return realm.objects(Meddled.self)[0]
  }

  private func check() throws { #expect(try realm.checkInvariants().findings == []) }

  @Test func properties() throws {
    let object = try fill()
    try realm.write {
      object.value = Meddling(7) { createMany(1_000) }
      object.optional = Meddling(8) {
        object.value = Meddling(9)
        realm.delete(realm.objects(Meddled.self).where { $0.id >= 50 && $0.id < 1_100 })
      }
    }
    #expect(object.value.value == 9 && object.optional?.value == 8)
    #expect(realm.objects(Meddled.self).count == 50 + 200)
    try check()
  }

  @Test func addedObjects() throws {
    _ = try fill()
    try realm.write {
      let added = Meddled(value: ["id": 500, "first": 1, "last": 2])
      added.value = Meddling(3) { createMany(1_000) }
      let inner = Meddled(value: ["id": 501])
      inner.value = Meddling(4) { createMany(2_000) }
      added.list.append(objectsIn: [Meddling(5) { createMany(3_000) }, Meddling(6)])
      added.map["a"] = Meddling(7) { createMany(4_000) }
      added.set.insert(Meddling(8) { createMany(5_000) })
      added.link = inner
      added.mixed = .object(inner)
      realm.add(added)
      #expect(added.first == 1 && added.value.value == 3 && added.last == 2)
      #expect(added.link?.value.value == 4 && added.list.map(\.value) == [5, 6])
      #expect(added.map["a"]?.value == 7 && added.set.first?.value == 8)
    }
    #expect(realm.objects(Meddled.self).count == 102 + 5 * 300)
    try check()
  }

  @Test func updatedObjects() throws {
    let object = try fill()
    try realm.write {
      let update = Meddled(value: ["id": 0, "first": 1, "last": 2])
      update.value = Meddling(3) {
        createMany(1_000)
        object.last = 77
      }
      realm.add(update, update: .modified)
    }
    #expect(object.first == 1 && object.value.value == 3 && object.last == 2)
    try check()
  }

  @Test func collections() throws {
    let object = try fill()
    let (list, map, set) = (object.list, object.map, object.set)
    try realm.write {
      list.append(Meddling(1) { list.append(Meddling(2)) })
      #expect(list.map(\.value) == [2, 1])
      list.insert(Meddling(3) { list.append(objectsIn: (10..<400).map { Meddling($0) }) }, at: 0)
      #expect(list.count == 393 && list[0].value == 3 && list[1].value == 2)
      list[1] = Meddling(4) { createMany(1_000) }
      list.removeAll()
      list.append(objectsIn: [
        Meddling(1), Meddling(2) { list.append(Meddling(5)) }, Meddling(3) { createMany(2_000) },
      ])
      #expect(list.map(\.value).sorted() == [1, 2, 3, 5])
      map["a"] = Meddling(1) { for number in 0..<300 { map["b\(number)"] = Meddling(number) } }
      #expect(map.count == 301 && map["a"]?.value == 1)
      set.insert(Meddling(1) { for number in 2..<300 { set.insert(Meddling(number)) } })
      #expect(set.count == 299)
    }
    try check()
  }

  @Test func insideMixedValues() throws {
    let object = try fill()
    try realm.write {
      object.mixed = .fromArray([.int(1), .fromArray([.int(2)])])
      let inner = object.mixed.listValue![1].listValue!
      let added = Meddled(value: ["id": 500])
      added.value = Meddling(3) {
        createMany(1_000)
        inner.append(.int(4))
      }
      inner.append(.object(added))
      // The object gets its values when the list has it: what its getter adds comes behind.
      #expect(inner.count == 3 && inner[0] == .int(2) && inner[2] == .int(4))
      #expect(inner[1].object(Meddled.self)?.value.value == 3)
    }
    try check()
  }

  /// The transaction that a value was to be written in has ended.
  @Test func endingTheTransactionStops() async {
    let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try memoryRealm([Meddled.self])
      try realm.write {
        let object = realm.create(Meddled.self, value: ["id": 1])
        object.value = Meddling(7) { realm.cancelWrite() }
      }
    }
    // It was made in that transaction.
    expectStop(property, "Object has been deleted or invalidated.")
  }
}
