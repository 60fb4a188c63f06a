// Objects of classes that a Realm does not hold, which the mixed values of its objects link to.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class ForeignBox: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ForeignCat: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var friend: ForeignCat?
  @Persisted var kittens: List<ForeignCat>
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum RenamedForeign {
  /// Has the name in Swift of the other class, and another one in the file.
  class ForeignCat: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    override class func _realmObjectName() -> String? { "ForeignHound" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

@Suite(.ownThreads) struct ForeignClassTests {
  let folder = TemporaryFolder()

  private func opened(_ types: [ObjectBase.Type]) throws -> Realm {
    try Realm(configuration: folder.configuration("a.realm", types))
  }

  /// A file with a box that holds a cat, which has a friend.
  private func makeFile() throws {
    let realm = try opened([ForeignBox.self, ForeignCat.self])
    try realm.write {
      let friend = realm.create(ForeignCat.self, value: ["id": 2, "name": "Kit"])
      let cat = realm.create(
        ForeignCat.self,
        value: ["id": 1, "name": "Tom", "friend": friend, "kittens": [friend]] as [String: Any])
      cat.any = .object(friend)
      let box = realm.create(ForeignBox.self, value: ["id": 1])
      box.any = .object(cat)
      box.anys.append(.object(friend))
      box.anys.append(.fromArray([.object(cat)]))
    }
  }

  /// They were read as none, and none was written when they were copied.
  @Test func linksAreReadAndKept() throws {
    try makeFile()
    let realm = try opened([ForeignBox.self])
    let box = try #require(realm.objects(ForeignBox.self).first)
    let cat = try #require(box.any.dynamicObject)
    #expect(cat["name"] as? String == "Tom" && cat.objectSchema.className == "ForeignCat")
    #expect((cat["friend"] as? DynamicObject)?["name"] as? String == "Kit")
    #expect(cat.dynamicList("kittens").map { $0["name"] as? String } == ["Kit"])
    #expect((cat["any"] as? DynamicObject)?["id"] as? Int == 2)
    #expect(box.any == .object(cat) && box.any.object(DynamicObject.self) == cat)
    #expect(box.anys[0].dynamicObject?["name"] as? String == "Kit")
    #expect(box.anys[1].listValue?.first?.dynamicObject == cat)
    #expect(box.description.contains("Tom"))
    let copy = try realm.write {
      let copy = realm.create(ForeignBox.self, value: ["id": 2])
      copy.any = box.any
      copy.anys.append(objectsIn: box.anys)
      realm.create(ForeignBox.self, value: ["id": 3, "any": box.any] as [String: Any])
      return copy
    }
    #expect(copy.any.dynamicObject == cat && copy.anys[0].dynamicObject?["id"] as? Int == 2)
    let third = try #require(realm.object(ofType: ForeignBox.self, forPrimaryKey: 3))
    #expect(third.any.dynamicObject == cat)
    #expect(realm.objects(ForeignBox.self).filter("#any == %@", cat).count == 3)
    // In another file it is an object of the class.
    let other = try memoryRealm([ForeignBox.self, ForeignCat.self])
    try other.write { other.create(ForeignBox.self, value: third) }
    #expect(other.object(ofType: ForeignCat.self, forPrimaryKey: 1)?.friend?.name == "Kit")
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func theyAreChangedAndDeletedByName() throws {
    try makeFile()
    let realm = try opened([ForeignBox.self])
    let whole = try opened([ForeignBox.self, ForeignCat.self])
    let box = try #require(realm.objects(ForeignBox.self).first)
    let cat = try #require(box.any.dynamicObject)
    try realm.write { cat["name"] = "Tim" }
    whole.refresh()
    let typed = try #require(whole.object(ofType: ForeignCat.self, forPrimaryKey: 1))
    #expect(typed.name == "Tim" && cat["name"] as? String == "Tim")
    try whole.write { typed.name = "Tam" }
    realm.refresh()
    #expect(cat["name"] as? String == "Tam")
    try realm.write {
      realm.delete(cat)
      #expect(cat.isInvalidated && box.any == .none)
    }
    whole.refresh()
    #expect(typed.isInvalidated)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func frozenAndThawed() throws {
    try makeFile()
    let realm = try opened([ForeignBox.self])
    let box = try #require(realm.objects(ForeignBox.self).first)
    let cat = try #require(box.any.dynamicObject)
    let (frozenBox, frozenCat) = (Carried(box.freeze()), Carried(cat.freeze()))
    onThread {
      #expect(frozenBox.value.any.dynamicObject?["name"] as? String == "Tom")
      #expect(frozenBox.value.any.dynamicObject == frozenCat.value)
      #expect(frozenCat.value.thaw()?["name"] as? String == "Tom")
    }
    #expect(frozenCat.value.thaw() == cat)
    #expect(frozenBox.value.any.dynamicObject?.thaw() == cat)
  }

  /// The objects that are copied are of another Realm, which stopped the process.
  @Test func theyAreCopiedFromFrozenObjects() throws {
    try makeFile()
    let realm = try opened([ForeignBox.self])
    let box = try #require(realm.objects(ForeignBox.self).first)
    let cat = try #require(box.any.dynamicObject)
    let frozen = box.freeze()
    try realm.write {
      box.any = .none
      box.anys.removeAll()
      realm.create(ForeignBox.self, value: frozen, update: .modified)
      realm.create(ForeignBox.self, value: ["id": 2, "any": frozen.any] as [String: Any])
    }
    #expect(box.any.dynamicObject == cat && box.anys.count == 2)
    #expect(box.anys[0].dynamicObject?["name"] as? String == "Kit")
    #expect(box.anys[1].listValue?.first?.dynamicObject == cat)
    let second = realm.object(ofType: ForeignBox.self, forPrimaryKey: 2)
    #expect(second?.any.dynamicObject == cat)
    // Another file has neither the class nor the objects.
    let other = try memoryRealm([ForeignBox.self])
    let copy = try other.write { other.create(ForeignBox.self, value: frozen) }
    #expect(copy.any == .none && copy.anys.count == 2 && copy.anys[0] == .none)
    #expect(copy.anys[1] == .fromArray([.none]))
    // Nor is a deleted one there.
    try realm.write {
      realm.delete(cat)
      realm.create(ForeignBox.self, value: frozen, update: .all)
    }
    #expect(box.any == .none && box.anys[0].dynamicObject?["name"] as? String == "Kit")
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func anotherClassHasTheirNameInSwift() throws {
    try makeFile()
    let realm = try opened([ForeignBox.self, RenamedForeign.ForeignCat.self])
    let hound = try realm.write {
      realm.create(
        RenamedForeign.ForeignCat.self, value: ["id": 9, "name": "Rex"] as [String: Any])
    }
    let dynamic = realm.dynamicObjects("ForeignHound")[0]
    #expect(dynamic["name"] as? String == "Rex")
    let box = try #require(realm.objects(ForeignBox.self).first)
    let cat = try #require(box.any.dynamicObject)
    #expect(cat["name"] as? String == "Tom" && cat.objectSchema.className == "ForeignCat")
    #expect((cat["friend"] as? DynamicObject)?["name"] as? String == "Kit")
    // Accessors by name go on to follow those by class.
    try realm.write { hound.name = "Rox" }
    #expect(dynamic["name"] as? String == "Rox")
    try realm.write { realm.delete(hound) }
    #expect(dynamic.isInvalidated && !cat.isInvalidated)
  }

  /// The Realm was opened before the file had the class.
  @Test func classesThatComeLater() throws {
    let realm = try opened([ForeignBox.self])
    let box = try realm.write { realm.create(ForeignBox.self, value: ["id": 1]) }
    let whole = try opened([ForeignBox.self, ForeignCat.self])
    try whole.write {
      let cat = whole.create(ForeignCat.self, value: ["id": 1, "name": "Tom"])
      whole.object(ofType: ForeignBox.self, forPrimaryKey: 1)?.any = .object(cat)
    }
    realm.refresh()
    let cat = try #require(box.any.dynamicObject)
    #expect(cat["name"] as? String == "Tom")
    // A further class changes nothing for the objects that there are.
    let wider = try opened([ForeignBox.self, ForeignCat.self, Dog.self])
    try wider.write { wider.add(Dog()) }
    realm.refresh()
    #expect(cat["name"] as? String == "Tom" && box.any.dynamicObject == cat)
  }

  @Test func theyAreNotSearched() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let tests = ForeignClassTests()
      try tests.makeFile()
      let realm = try tests.opened([ForeignBox.self])
      let cat = realm.objects(ForeignBox.self).first?.any.dynamicObject
      _ = cat?.dynamicList("kittens").filter("name == 'Kit'").count
    }
    expectStop(result, "Objects of class 'ForeignCat' cannot be searched")
  }
}
