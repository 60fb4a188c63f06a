// Objects as users declare, make and change them.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersObjectTests {
  private let realm: Realm

  init() throws { realm = try openRealm(userConfiguration()) }

  @Test func classesHaveTheirOwnTextAndEquality() throws {
    let ada = Described(name: "Ada")
    #expect("\(ada)" == "Described(Ada)")
    #expect(ada == Described(name: "Ada") && ada != Described(name: "Bob"))
    #expect(Set([ada, Described(name: "Ada"), Described(name: "Bob")]).count == 2)
    try realm.write { realm.add(ada) }
    #expect(realm.objects(Described.self).first!.description == "Described(Ada)")
    #expect(realm.objects(Described.self).first! == ada)
    #expect(realm.objects(Described.self).first!.label == "transient")
    #expect(realm.objects(Described.self).description.contains("[0] Described(Ada)"))
    let home = DescribedHome()
    home.street = "Main"
    #expect(String(describing: home) == "at Main")
    #expect(home.hash == home.hash && home.isEqual(home) && !home.isEqual(nil))
  }

  @Test func frozenAndThawedByTheRealm() throws {
    let owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.home = HomeAddress(street: "Main")
      return owner
    }
    let home = realm.freeze(owner.home!)
    #expect(home.isFrozen && home.street == "Main")
    #expect(realm.thaw(home)?.isFrozen == false)
    #expect(realm.thaw(realm.freeze(owner)) == owner)
    #expect(realm.freeze(owner.chores).isFrozen)
    #expect(realm.freeze(owner.labels).isFrozen)
    #expect(realm.freeze(realm.objects(Chore.self)).count == 2)
    #expect(realm.thaw(realm.freeze(owner.chores)) == owner.chores)
    #expect(realm.freeze(owner.chores[0].owners).first?.isFrozen == true)
    let frozen: ObjectBase = realm.freeze(owner as ObjectBase)
    #expect(frozen.isFrozen)
  }

  @Test func writesReturnWhatTheirBlockReturns() throws {
    let count: Int = try realm.write {
      for id in 0..<3 { realm.add(Chore(id: id)) }
      return realm.objects(Chore.self).count
    }
    #expect(count == 3)
    let chore = try realm.write { realm.create(Chore.self, value: ["id": 7]) }
    #expect(chore.id == 7 && chore.title == "" && chore.priority == nil)
    let (first, second) = try realm.write { (realm.objects(Chore.self)[0], "text") }
    #expect(first.id == 0 && second == "text")
    let nothing: Void = try realm.write {}
    #expect(nothing == ())
    let optional = try realm.write { realm.object(ofType: Chore.self, forPrimaryKey: 99) }
    #expect(optional == nil)
    func generic<Value>(_ body: (Realm) throws -> Value) throws -> Value {
      try realm.write { try body(realm) }
    }
    #expect(try generic { $0.objects(Chore.self).count } == 4)
  }

  @Test func createsFromEverything() throws {
    try realm.write {
      let a = realm.create(
        HomeOwner.self,
        value: [
          "name": "Ada", "chores": [["id": 1, "title": "a"], ["id": 2]], "first": ["id": 4],
          "labels": ["x", "y", "x"], "counts": ["one": 1], "byName": ["a": ["id": 3]],
          "home": ["street": "Main"], "homes": [["street": "A"], HomeAddress(street: "B")],
          "anything": 5,
        ])
      #expect(a.chores.map(\.id) == [1, 2])
      #expect(a.first?.id == 4 && a.labels.count == 2 && a.counts["one"] == 1)
      #expect(a.byName["a"]??.id == 3 && a.home?.street == "Main" && a.home?.city == "Zürich")
      #expect(a.homes.map(\.street) == ["A", "B"])
      #expect(a.anything == .int(5))
    }
    #expect(realm.objects(Chore.self).count == 4)
    try realm.write {
      let b = realm.create(Chore.self, value: [10, "from an array", "complete", 3] as [Any])
      #expect(b.id == 10 && b.title == "from an array" && b.status == .complete && b.priority == 3)
      let c = realm.create(
        Chore.self, value: ["id": 10, "status": TaskStatus.inProgress], update: .modified)
      #expect(c.isSameObject(as: b) && b.status == .inProgress && b.title == "from an array")
      realm.create(Chore.self, value: ["id": 10, "priority": NSNull()], update: .modified)
      #expect(b.priority == nil)
      realm.create(Chore.self, value: ["id": 10, "priority": nil] as [String: Any?], update: .all)
      #expect(b.title == "from an array")
      realm.create(Chore.self, value: Chore(id: 10), update: .all)
      #expect(b.title == "chore" && b.status == .pending)
      realm.create(Chore.self, value: Chore(id: 11))
    }
    #expect(realm.objects(Chore.self).count == 6)
    let unmanaged = HomeOwner(value: [
      "name": "Bob", "chores": [Chore(id: 20)], "first": Chore(id: 21),
    ])
    #expect(unmanaged.chores.count == 1 && unmanaged.first?.id == 21)
    try realm.write { realm.add(unmanaged) }
    #expect(realm.object(ofType: Chore.self, forPrimaryKey: 21) == unmanaged.first)
  }

  @Test func linksAreFollowedAndBroken() throws {
    let owner = try realm.write { addOwner(realm, chores: 3) }
    #expect(owner.first?.title == nil)
    #expect((owner.first?.owners.count ?? -1) == -1)
    try realm.write { owner.first = owner.chores[1] }
    #expect(owner.first?.owners.first?.first?.owners.first?.name == "Ada")
    try realm.write { realm.delete(owner.first!) }
    #expect(owner.first == nil && owner.chores.map(\.id) == [0, 2])
    try realm.write {
      owner.byName["x"] = owner.chores[0]
      owner.byName["y"] = .some(nil)
    }
    #expect(owner.byName.count == 2 && owner.byName["x"]??.id == 0)
    try realm.write { realm.delete(owner.chores[0]) }
    #expect(owner.byName.keys.sorted() == ["x", "y"])
    #expect(owner.byName["x"]! == nil)
    try realm.write { owner.byName["x"] = nil }
    #expect(owner.byName.keys == ["y"])
    try realm.write {
      owner.anything = .object(owner.chores[0])
    }
    #expect(owner.anything.object(Chore.self)?.id == 2)
    try realm.write { realm.delete(realm.objects(Chore.self)) }
    #expect(owner.anything == .none && owner.chores.isEmpty)
  }

  @Test func deletedObjectsSayThatTheyAre() throws {
    let owner = try realm.write { addOwner(realm, chores: 2) }
    let (chore, list, results) = (owner.chores[0], owner.chores, realm.objects(Chore.self))
    let owners = chore.owners
    try realm.write { realm.delete(chore) }
    #expect(chore.isInvalidated && !owner.isInvalidated && !list.isInvalidated)
    #expect(chore.realm == nil || chore.realm == realm)
    #expect(owners.isInvalidated)
    #expect("\(chore)".contains("invalid"))
    try realm.write { realm.delete(owner) }
    #expect(list.isInvalidated && !results.isInvalidated && results.count == 1)
    realm.invalidate()
    #expect(results.isInvalidated && owner.isInvalidated)
    #expect(realm.objects(Chore.self).count == 1)
  }

  @Test func objectsOfARolledBackTransactionAreInvalid() throws {
    struct Stop: Error {}
    var kept: Chore?
    let unmanaged = Chore(id: 1)
    #expect(throws: Stop.self) {
      try realm.write {
        kept = realm.create(Chore.self, value: ["id": 2])
        realm.add(unmanaged)
        throw Stop()
      }
    }
    #expect(kept?.isInvalidated == true && unmanaged.isInvalidated)
    #expect(realm.isEmpty && !realm.isInWriteTransaction)
    try realm.write { realm.add(Chore(id: 1)) }
    #expect(realm.objects(Chore.self).count == 1)
  }

  @Test func sameObjects() throws {
    let chore = try realm.write { realm.create(Chore.self, value: ["id": 1]) }
    let again = realm.object(ofType: Chore.self, forPrimaryKey: 1)!
    #expect(chore == again && chore.isSameObject(as: again) && chore.hashValue == again.hashValue)
    #expect(Set([chore, again]).count == 1 && [chore].contains(again))
    #expect(!chore.isSameObject(as: nil) && chore != chore.freeze())
    let described = try realm.write { realm.create(Described.self, value: ["name": "x"]) }
    let second = realm.objects(Described.self).first!
    #expect(described.isSameObject(as: second))
    #expect(!Chore(id: 1).isSameObject(as: Chore(id: 1)))
  }

  @Test func identifiersAreStable() throws {
    let owner = try realm.write { addOwner(realm) }
    let again = realm.objects(HomeOwner.self).first!
    #expect(owner.id == again.id && owner.freeze().id == owner.id)
    let other = try realm.write { addOwner(realm) }
    #expect(owner.id != other.id)
    let identifier: UInt64 = HomeOwner().id
    #expect(identifier != owner.id)
  }

  @Test func valuesByName() throws {
    let owner = try realm.write { addOwner(realm, chores: 2) }
    #expect(owner["name"] as? String == "Ada")
    #expect(owner.value(forKey: "name") as? String == "Ada")
    #expect((owner["chores"] as? List<Chore>)?.count == 2)
    #expect(owner.value(forKeyPath: "chores.@count") as? Int == 2)
    #expect(owner.chores.value(forKey: "title") as? [String] == ["chore 0", "chore 1"])
    try realm.write {
      owner["name"] = "Bob"
      owner.setValue(["z"], forKey: "labels")
      realm.objects(Chore.self).setValue(5, forKey: "priority")
      owner.chores.setValue("same", forKey: "title")
      owner.chores[0].setValue(nil, forKey: "priority")
      owner["first"] = owner.chores[1]
      owner.setValue("through a link", forKeyPath: "first.title")
    }
    #expect(owner.name == "Bob" && Array(owner.labels) == ["z"])
    #expect(owner.chores.map(\.priority) == [nil, 5])
    #expect(owner.chores.map(\.title) == ["same", "through a link"])
    try realm.write { owner["first"] = nil }
    #expect(owner.first == nil)
  }

  @Test func inheritedByEveryRealm() throws {
    let types: [Object.Type] = [HomeOwner.self, Chore.self]
    for type in types {
      #expect(realm.objects(type).isEmpty)
      #expect(realm.schema[type.className()]?.className == type.className())
    }
    let chore: Object = try realm.write { realm.create(types[1], value: ["id": 4]) }
    #expect(chore is Chore && chore.objectSchema.primaryKeyProperty?.name == "id")
    #expect(realm.object(ofType: types[1], forPrimaryKey: 4) == chore)
    #expect(realm.objects(types[1]).first is Chore)
    try realm.write { realm.delete(chore) }
    #expect(realm.objects(types[1]).isEmpty)
  }
}
