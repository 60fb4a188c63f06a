// `isInvalidated` of everything after its owner was deleted, and which message comes first on a
// wrong thread.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersInvalidationTests {
  private let realm: Realm

  init() throws { realm = try openRealm(userConfiguration()) }

  private struct Values {
    let owner: HomeOwner
    let chore: Chore
    let home: HomeAddress
    let homeInList: HomeAddress
    let confined: [(name: String, value: any ThreadConfined)]
    let results: [any ThreadConfined]
  }

  private func make() throws -> Values {
    let owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.first = owner.chores[0]
      owner.labels.insert("a")
      owner.counts["a"] = 1
      owner.byName["a"] = owner.chores[0]
      owner.home = HomeAddress(street: "a")
      owner.homes.append(HomeAddress(street: "b"))
      owner.anything = .fromDictionary([
        "list": .fromArray([.int(1), .fromDictionary(["deep": .int(2)])])
      ])
      return owner
    }
    let nested = owner.anything.dictionaryValue!
    let nestedList = nested["list"]!.listValue!
    let dynamic = realm.dynamicObjects("HomeOwner")[0]
    return Values(
      owner: owner, chore: owner.chores[0], home: owner.home!, homeInList: owner.homes[0],
      confined: [
        ("object", owner), ("embedded", owner.home!), ("embedded in list", owner.homes[0]),
        ("list", owner.chores), ("embedded list", owner.homes), ("set", owner.labels),
        ("map", owner.counts), ("map of links", owner.byName), ("nested map", nested),
        ("nested list", nestedList), ("deeply nested", nestedList[1].dictionaryValue!),
        ("any collection", AnyRealmCollection(owner.chores)), ("dynamic", dynamic),
        ("dynamic list", dynamic.dynamicList("chores")),
        ("list by name", dynamic["chores"] as! List<DynamicObject>),
        ("set by name", dynamic["labels"] as! MutableSet<String>),
        ("map by name", dynamic["counts"] as! Map<String, Int>),
      ],
      results: [
        realm.objects(HomeOwner.self), owner.chores.where { $0.id > 0 },
        owner.chores.sorted(byKeyPath: "id"), AnyRealmCollection(realm.objects(Chore.self)),
      ])
  }

  @Test func afterTheOwnerWasDeleted() throws {
    let values = try make()
    for (name, value) in values.confined { #expect(!value.isInvalidated, "\(name)") }
    try realm.write {
      realm.delete(values.owner)
      for (name, value) in values.confined { #expect(value.isInvalidated, "\(name) inside") }
    }
    for (name, value) in values.confined {
      #expect(value.isInvalidated, "\(name)")
      #expect(value.realm != nil || value is HomeOwner, "\(name)")
    }
    #expect(!values.chore.isInvalidated && values.chore.owners.isEmpty)
    for results in values.results { #expect(!results.isInvalidated) }
  }

  @Test func afterItWasRolledBack() throws {
    realm.beginWrite()
    let owner = addOwner(realm, chores: 1)
    owner.home = HomeAddress(street: "a")
    owner.anything = .fromArray([.int(1)])
    let values: [any ThreadConfined] = [
      owner, owner.home!, owner.chores, owner.chores[0], owner.labels, owner.counts, owner.homes,
      owner.anything.listValue!, owner.chores[0].owners,
    ]
    realm.cancelWrite()
    for value in values { #expect(value.isInvalidated, "\(type(of: value))") }
  }

  @Test func afterADeletionIsRolledBack() throws {
    let values = try make()
    realm.beginWrite()
    realm.delete(values.owner)
    realm.cancelWrite()
    for (name, value) in values.confined { #expect(!value.isInvalidated, "\(name)") }
    #expect(values.home.street == "a" && values.owner.chores.count == 2)
  }

  @Test func afterTheRealmWasInvalidated() throws {
    let values = try make()
    let linking = values.chore.owners
    realm.invalidate()
    for (name, value) in values.confined { #expect(value.isInvalidated, "\(name)") }
    for results in values.results { #expect(results.isInvalidated) }
    #expect(linking.isInvalidated && values.chore.isInvalidated)
  }

  @Test func afterAllWasDeleted() throws {
    let values = try make()
    try realm.write { realm.deleteAll() }
    for (name, value) in values.confined { #expect(value.isInvalidated, "\(name)") }
    #expect(values.chore.isInvalidated && values.chore.owners.isInvalidated == true)
  }

  @Test func embeddedObjectsThatWereReplaced() throws {
    let values = try make()
    try realm.write {
      values.owner.home = HomeAddress(street: "c")
      values.owner.homes.removeAll()
    }
    #expect(values.home.isInvalidated && values.homeInList.isInvalidated)
    let home = values.owner.home!
    try realm.write { values.owner.home = nil }
    #expect(home.isInvalidated && !values.owner.homes.isInvalidated)
  }

  @Test func whatIsFrozenStays() throws {
    let values = try make()
    let frozen = values.confined.map { $0.value.freeze() }
    try realm.write { realm.delete(values.owner) }
    for value in frozen { #expect(!value.isInvalidated && value.isFrozen) }
    for value in frozen { #expect((value.thaw() as Any?) == nil) }
  }

  @Test func unmanagedValues() {
    let owner = HomeOwner()
    let values: [any ThreadConfined] = [
      owner, owner.chores, owner.labels, owner.counts, HomeAddress(), List<Int>(),
      Map<String, Int>(), MutableSet<Int>(), Chore().owners,
    ]
    for value in values { #expect(!value.isInvalidated && value.realm == nil && !value.isFrozen) }
  }

  @Test func sectionsAndProjections() throws {
    let values = try make()
    let sections = values.owner.chores.sectioned(by: \.title, ascending: true)
    let section = sections[0]
    let names = Array(values.owner.chores.map(\.title))
    let projected = values.owner.chores.projectTo.title
    #expect(!sections.isInvalidated && !section.isInvalidated && !projected.isInvalidated)
    try realm.write { realm.delete(values.owner) }
    #expect(projected.isInvalidated && names.count == 2)
    _ = sections.isInvalidated
    _ = section.isInvalidated
  }

  // MARK: - Wrong threads

  enum WrongUse: String, CaseIterable, Sendable {
    case unknownProperty, badValue, deletedObject, deletedList, outOfBounds, outsideOfTransaction
    case otherTransaction, unknownClass, freezing, thawingSelf, reference, wrapping, adding,
      deleting
    case badKeyPath, badQuery, tokens, primaryKey, nestedMap, linkingObjects, isInvalidated
    case sections, mapValue, setInsert, observing, realmObserving, isEmpty, description, deleteAll
    case dynamicUnknown, queryOfList, noPrimaryKey, isInWriteTransaction
  }

  private static func use(
    _ use: WrongUse, _ realm: Realm, _ owner: HomeOwner, _ gone: HomeOwner, _ goneList: List<Chore>,
    _ nested: Map<String, AnyRealmValue>, _ linking: LinkingObjects<Chore>?,
    _ sections: SectionedResults<String, Chore>, _ chores: List<Chore>
  ) {
    switch use {
    case .unknownProperty: _ = owner["nope"]
    case .badValue: owner["name"] = 5
    case .deletedObject: _ = gone.name
    case .deletedList: _ = goneList.count
    case .outOfBounds: _ = chores[100]
    case .outsideOfTransaction: owner.name = "x"
    case .otherTransaction: realm.beginWrite()
    case .unknownClass: _ = realm.objects(Person.self)
    case .freezing: _ = owner.freeze()
    case .thawingSelf: _ = owner.thaw()
    case .reference: _ = ThreadSafeReference(to: gone)
    case .wrapping: _ = ThreadSafe(wrappedValue: gone)
    case .adding: realm.add(Person())
    case .deleting: realm.delete(HomeOwner())
    case .badKeyPath: _ = chores.sorted(byKeyPath: "nope")
    case .badQuery: _ = chores.filter("nope == 1")
    case .tokens: realm.cancelWrite()
    case .primaryKey: owner._id = ObjectId()
    case .nestedMap: _ = nested["x"]
    case .linkingObjects: _ = chores.first
    case .isInvalidated: _ = owner.isInvalidated
    case .sections: _ = sections.count
    case .mapValue: _ = owner.counts
    case .setInsert: owner.labels.insert("x")
    case .observing: _ = chores.observe { _ in }
    case .realmObserving: _ = realm.observe { _, _ in }
    case .isEmpty: _ = realm.isEmpty
    case .description: _ = owner.description
    case .deleteAll: realm.deleteAll()
    case .dynamicUnknown: _ = realm.dynamicObjects("Nope")
    case .queryOfList: _ = chores.where { $0.id > 0 }.count
    case .noPrimaryKey: _ = realm.object(ofType: Described.self, forPrimaryKey: 1)
    case .isInWriteTransaction: _ = realm.isInWriteTransaction
    }
  }

  @Test(arguments: WrongUse.allCases)
  func theMessageForThreadsComesFirst(_ use: WrongUse) async {
    let name = use.rawValue
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      let realm = try openRealm(userConfiguration())
      let (owner, gone) = try realm.write { (addOwner(realm, chores: 1), addOwner(realm)) }
      let goneList = gone.chores
      try realm.write {
        owner.anything = .fromDictionary(["x": .int(1)])
        realm.delete(gone)
      }
      let sections = owner.chores.sectioned(by: \.title, ascending: true)
      let all = Carried(
        (
          realm, owner, gone, goneList, owner.anything.dictionaryValue!, sections, owner.chores
        ))
      onThread {
        let (realm, owner, gone, goneList, nested, sections, chores) = all.value
        AsUsersInvalidationTests.use(
          WrongUse(rawValue: name)!, realm, owner, gone, goneList, nested, nil, sections, chores)
      }
    }
    expectStop(result, "Realm accessed from incorrect thread.")
  }
}
