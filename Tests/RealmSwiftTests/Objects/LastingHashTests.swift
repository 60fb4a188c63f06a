// Objects in sets and dictionaries of Swift's: found there before and after they are added, in
// every form that is equal, and when they are gone.
import Foundation
import RealmSwift
import TestSupport
import Testing

private final class HashedByNumber: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class HashedByText: Object {
  @Persisted(primaryKey: true) var id: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class HashedByMaybe: Object {
  @Persisted(primaryKey: true) var id: String?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class HashedByUUID: Object {
  @Persisted(primaryKey: true) var id: UUID
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class HashedByEnum: Object {
  @Persisted(primaryKey: true) var id: Level
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class HashedByInstance: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct LastingHashTests {
  /// The hash was that of the instance, and another one from the adding on.
  private func expectFound<T: Object>(
    _ object: T, hasKey: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var pending: Set<T> = [object]
    let names = [object: "x"]
    let hash = object.hash
    let realm = try memoryRealm([T.self])
    try realm.write { realm.add(object) }
    #expect(pending.contains(object) && names[object] == "x", sourceLocation: sourceLocation)
    let isNew = pending.insert(object).inserted
    #expect(object.hash == hash && !isNew, sourceLocation: sourceLocation)
    let again = try #require(realm.objects(T.self).first)
    let (frozen, other) = (object.freeze(), again.freeze())
    #expect(frozen == other && frozen.hash == other.hash, sourceLocation: sourceLocation)
    if hasKey {
      let thawed = try #require(frozen.thaw())
      #expect(again == object && thawed == object, sourceLocation: sourceLocation)
      #expect(pending.contains(again) && pending.contains(thawed), sourceLocation: sourceLocation)
      #expect(again.hash == hash && frozen.hash == hash, sourceLocation: sourceLocation)
    }
    try realm.write { realm.delete(object) }
    #expect(object.isInvalidated && names[object] == "x", sourceLocation: sourceLocation)
    let removed = pending.remove(object)
    #expect(removed === object, sourceLocation: sourceLocation)
    // By now it is known.
    #expect(again.hash == hash || !hasKey, sourceLocation: sourceLocation)
  }

  @Test func addedObjectsAreFoundAgain() throws {
    try expectFound(HashedByNumber(value: ["id": 7]))
    try expectFound(HashedByNumber())
    try expectFound(HashedByText(value: ["id": "a text of more than fifteen bytes"]))
    try expectFound(HashedByText())
    try expectFound(HashedByMaybe())
    try expectFound(HashedByMaybe(value: ["id": ""]))
    try expectFound(HashedByUUID())
    try expectFound(HashedByEnum(value: ["id": 100]))
    try expectFound(HashedByInstance(), hasKey: false)
  }

  /// Their rows, which have the keys, are gone before the hash is asked for again.
  @Test func whatIsGoneIsFound() throws {
    let realm = try memoryRealm([HashedByNumber.self, HashedByText.self])
    let (first, second) = (HashedByNumber(value: [1, "a"]), HashedByNumber(value: [2, "b"]))
    let text = HashedByText(value: ["id": "c"])
    let all: Set<Object> = [first, second, text]
    realm.beginWrite()
    realm.add([first, second])
    realm.add(text)
    realm.cancelWrite()
    #expect(all.contains(first) && all.contains(second) && all.contains(text))
    let third = HashedByNumber(value: [3, "d"])
    let those: Set = [third]
    try realm.write { realm.add(third) }
    realm.invalidate()
    #expect(those.contains(third))
  }

  @Test func equalKeysAreNotEqualObjects() throws {
    let (first, second) = (HashedByNumber(value: [1, "a"]), HashedByNumber(value: [1, "b"]))
    #expect(Set([first, second]).count == 2 && first != second)
    // The key may still be set.
    let later = HashedByNumber()
    later.id = 5
    let realm = try memoryRealm([HashedByNumber.self])
    try realm.write { realm.add([first, later]) }
    let found = realm.objects(HashedByNumber.self)
    #expect(Set(found) == [first, later])
    // Of another Realm it is another object.
    let other = try memoryRealm([HashedByNumber.self])
    let copy = try other.write { other.create(HashedByNumber.self, value: first) }
    #expect(copy != first && Set([copy, first]).count == 2)
    // Objects that are lent one after the other do not keep each other's.
    var hashes: Set<Int> = []
    for object in found { hashes.insert(object.hash) }
    #expect(hashes == [first.hash, later.hash])
  }

  @Test func dynamicObjects() throws {
    let realm = try memoryRealm([HashedByText.self])
    try realm.write { realm.create(HashedByText.self, value: ["id": "a"]) }
    let name = HashedByText.className()
    let dynamic = try #require(realm.dynamicObject(ofType: name, forPrimaryKey: "a"))
    let again = realm.dynamicObjects(name)[0]
    let all: Set = [dynamic]
    #expect(dynamic == again && all.contains(again))
    #expect(dynamic.freeze().hash == dynamic.hash)
    try realm.write { realm.delete(again) }
    #expect(all.contains(dynamic) && all.contains(again))
  }

  /// Nobody has asked for the hash of the accessor that is deleted.
  @Test func whatIsDeletedThroughAnotherAccessorIsFound() throws {
    let realm = try memoryRealm([HashedByNumber.self])
    try realm.write {
      for id in 1...4 { realm.create(HashedByNumber.self, value: [id, "n"] as [Any]) }
    }
    func object(_ id: Int) throws -> HashedByNumber {
      try #require(realm.object(ofType: HashedByNumber.self, forPrimaryKey: id))
    }
    var selected = try Set((1...3).map { try object($0) })
    let others = try (1...3).map { try object($0) }
    try realm.write {
      realm.delete(others[0])
      realm.delete(others[1...])
    }
    for other in others {
      let removed = selected.remove(other)
      #expect(removed != nil && removed !== other)
    }
    #expect(selected.isEmpty)
    // What is first asked for its hash while it is deleted, and is there again afterwards.
    let (last, again) = try (object(4), object(4))
    realm.beginWrite()
    realm.deleteAll()
    let all: Set = [last]
    realm.cancelWrite()
    #expect(!last.isInvalidated && all.contains(last) && all.contains(again))
  }
}
