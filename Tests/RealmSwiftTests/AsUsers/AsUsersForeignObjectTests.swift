// Objects that are in no Realm, or in another one, as values of queries: they match nothing.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersForeignObjectTests {
  private let realm: Realm
  private let other: Realm
  private let owner: HomeOwner

  init() throws {
    let realm = try memoryRealm(userClasses)
    let other = try memoryRealm(userClasses)
    owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.first = owner.chores[0]
      owner.byName["a"] = owner.chores[0]
      owner.anything = .object(owner.chores[0])
      realm.add(HomeOwner(name: "without"))
      return owner
    }
    try other.write { _ = addOwner(other, chores: 2) }
    (self.realm, self.other) = (realm, other)
  }

  private var foreign: [Chore] { [Chore(id: 0), other.objects(Chore.self)[0]] }

  @Test func queriesInSwift() {
    let owners = realm.objects(HomeOwner.self)
    for chore in foreign {
      #expect(owners.where { $0.first == chore }.isEmpty)
      #expect(owners.where { $0.first != chore }.count == 2)
      #expect(owners.where { !($0.first == chore) }.count == 2)
      #expect(owners.where { $0.chores.contains(chore) }.isEmpty)
      #expect(owners.where { $0.chores.containsAny(in: [chore]) }.isEmpty)
      #expect(owners.where { $0.chores == chore }.isEmpty)
      #expect(owners.where { $0.byName == chore }.isEmpty)
      #expect(owners.where { $0.byName["a"] == chore }.isEmpty)
      #expect(owners.where { $0.first.in([chore]) }.isEmpty)
      #expect(owners.where { $0.first.in([chore, owner.first]) }.count == 1)
      #expect(owners.where { $0.first == chore || $0.name == "Ada" }.count == 1)
      #expect(owners.where { $0.anything == .object(chore) }.isEmpty)
      #expect(owners.where { $0.anything != .object(chore) }.count == 2)
      #expect(owners.where { $0.anything.in([.object(chore)]) }.isEmpty)
      #expect(owner.chores.index(of: chore) == nil && !owner.chores.contains(chore))
      #expect(realm.objects(Chore.self).index(of: chore) == nil)
      #expect(owner.chores.filter("SELF == %@", chore).isEmpty)
    }
  }

  @Test func predicates() {
    let owners = realm.objects(HomeOwner.self)
    for chore in foreign {
      #expect(owners.filter("first == %@", chore).isEmpty)
      #expect(owners.filter("first != %@", chore).count == 2)
      #expect(owners.filter("%@ IN chores", chore).isEmpty)
      #expect(owners.filter("ANY chores == %@", chore).isEmpty)
      #expect(owners.filter("NONE chores == %@", chore).count == 2)
      #expect(owners.filter("ANY chores IN %@", [chore]).isEmpty)
      #expect(owners.filter("first IN %@", [chore, owner.first!]).count == 1)
      #expect(owners.filter("anything == %@", chore).isEmpty)
      #expect(owners.filter("SUBQUERY(chores, $c, $c == %@).@count > 0", chore).isEmpty)
      #expect(realm.objects(Chore.self).filter("ANY owners == %@", HomeOwner(name: "x")).isEmpty)
      #expect(owners.index(matching: "first == %@", chore) == nil)
      #expect(owners.filter("first == %@", chore).sorted(byKeyPath: "name").isEmpty)
    }
  }

  /// Such a query goes on finding nothing, and others go on beside it, when objects come and go.
  @Test func liveResults() throws {
    let chore = Chore(id: 9)
    let found = realm.objects(HomeOwner.self).where { $0.first == chore }
    let without = realm.objects(HomeOwner.self).where { $0.first != chore }
    #expect(found.isEmpty && without.count == 2)
    try realm.write {
      realm.add(chore)
      owner.first = chore
    }
    #expect(found.isEmpty && without.count == 2)
    #expect(realm.objects(HomeOwner.self).where { $0.first == chore }.count == 1)
  }

  @Test func objectsOfTheSameFile() throws {
    let configuration = realm.configuration
    let chore = Carried(owner.chores[0].freeze())
    let own = try #require(owner.chores.first)
    #expect(realm.objects(HomeOwner.self).where { $0.first == chore.value }.count == 1)
    #expect(realm.objects(HomeOwner.self).where { $0.first == own }.count == 1)
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(realm.objects(HomeOwner.self).where { $0.first == chore.value }.count == 1)
    }
    #expect(other.objects(HomeOwner.self).where { $0.first == own }.isEmpty)
  }
}
