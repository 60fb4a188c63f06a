// Results and sections of a list, set, map, of linking objects and of a list inside of a mixed
// value, whose owner is deleted: they are empty from then on, also for their observers.
import Dispatch
import Foundation
import RealmSwift
import Synchronization
import TestSupport
import Testing

@MainActor @Suite(.ownThreads) struct AsUsersGoneOwnerTests {
  private let realm: Realm
  private let owner: HomeOwner

  init() throws {
    realm = try memoryRealm(userClasses)
    let realm = realm
    owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.labels.insert(objectsIn: ["a", "b"])
      owner.counts["a"] = 3
      owner.byName["a"] = owner.chores[0]
      owner.anything = .fromArray([.int(1), .int(2)])
      return owner
    }
  }

  private func results() -> [(name: String, AnyRealmCollection<Chore>)] {
    let chores = owner.chores
    return [
      ("chosen", AnyRealmCollection(chores.filter("id >= 0"))),
      ("in order", AnyRealmCollection(chores.sorted(byKeyPath: "id", ascending: false))),
      ("distinct", AnyRealmCollection(chores.distinct(by: ["title"]))),
      (
        "all of it",
        AnyRealmCollection(
          chores.where { $0.id >= 0 }.distinct(by: ["title"]).sorted(byKeyPath: "title"))
      ),
    ]
  }

  @Test(arguments: [false, true])
  func objects(areFoundBefore: Bool) throws {
    let results = results()
    if areFoundBefore { for (_, chores) in results { #expect(chores.count == 2) } }
    try realm.write { realm.delete(owner) }
    for (name, chores) in results {
      #expect(!chores.isInvalidated, "\(name)")
      #expect(chores.isEmpty && chores.count == 0 && Array(chores).isEmpty, "\(name)")
      #expect(chores.first == nil && chores.last == nil, "\(name)")
      #expect(chores.index(matching: "id == 0") == nil, "\(name)")
      let ids: Int = chores.sum(ofProperty: "id")
      #expect(ids == 0 && chores.max(ofProperty: "id") as Int? == nil, "\(name)")
      #expect(chores.filter("id == 0").sorted(byKeyPath: "title").isEmpty, "\(name)")
      #expect(chores.sectioned(by: \.title, ascending: true).isEmpty, "\(name)")
      let frozen = chores.freeze()
      #expect(frozen.isFrozen && frozen.isEmpty && frozen.thaw()?.isEmpty == true, "\(name)")
      try realm.write {
        chores.setValue("other", forKey: "title")
        realm.delete(chores)
      }
    }
    #expect(realm.objects(Chore.self).count == 2)
  }

  @Test(arguments: [false, true])
  func values(areFoundBefore: Bool) throws {
    let labels = owner.labels.sorted(ascending: false)
    let counts = owner.counts.filter("SELF > 1")
    let links = owner.byName.filter("id == 0")
    let numbers = owner.anything.listValue!.filter("SELF > 0")
    let owners = owner.chores[0].owners.filter("name == 'Ada'")
    if areFoundBefore {
      #expect(labels.count == 2 && counts.count == 1 && links.count == 1 && numbers.count == 2)
      #expect(owners.count == 1)
    }
    try realm.write {
      realm.delete(owner.chores)
      realm.delete(owner)
    }
    #expect(labels.isEmpty && Array(labels) == [] && labels.max() == nil)
    #expect(counts.isEmpty && counts.sum() == 0)
    #expect(links.isEmpty && numbers.isEmpty && Array(numbers) == [])
    #expect(owners.isEmpty && owners.first == nil)
    #expect(labels.freeze().isEmpty && numbers.freeze().isEmpty && owners.freeze().isEmpty)
  }

  @Test func afterTheMixedValueIsAnotherOne() throws {
    let numbers = owner.anything.listValue!.sorted(ascending: false)
    #expect(numbers.count == 2)
    try realm.write { owner.anything = .none }
    #expect(numbers.isEmpty)
  }

  @Test func aDeletionThatIsRolledBack() throws {
    let results = results()
    realm.beginWrite()
    realm.delete(owner)
    for (name, chores) in results { #expect(chores.isEmpty, "\(name)") }
    realm.cancelWrite()
    for (name, chores) in results { #expect(chores.count == 2, "\(name)") }
  }

  // MARK: - Observers

  private final class Calls {
    var all: [String] = []
    func take() -> [String] {
      defer { all = [] }
      return all
    }

    /// What is told, and how many elements the observer sees.
    func note<C: RealmCollection>(_ name: String, _ change: RealmCollectionChange<C>) {
      switch change {
      case .initial(let elements): all.append("\(name) initial \(Array(elements).count)")
      case .update(let elements, let deletions, let insertions, let modifications):
        all.append(
          "\(name) \(deletions) \(insertions) \(modifications) \(Array(elements).count)")
      case .error: all.append("error")
      }
    }

    func note<S: RealmSectionedResult>(_ name: String, _ change: SectionedResultsChange<S>) {
      switch change {
      case .initial(let sections): all.append("\(name) initial \(sections.count)")
      case .update(let sections, let deletions, _, _, _, let gone):
        all.append("\(name) \(deletions.count) -\(Array(gone)) \(sections.count)")
      }
    }
  }

  @Test func observersSeeNothing() throws {
    let calls = Calls()
    var tokens: [NotificationToken] = []
    for (name, chores) in results() { tokens.append(chores.observe { calls.note(name, $0) }) }
    let labels = owner.labels.sorted(ascending: true)
    tokens.append(labels.observe { calls.note("labels", $0) })
    let numbers = owner.anything.listValue!.filter("SELF > 1")
    tokens.append(numbers.observe { calls.note("numbers", $0) })
    realm.refresh()
    #expect(calls.take().allSatisfy { $0.contains("initial") })
    try realm.write { realm.delete(owner) }
    realm.refresh()
    #expect(
      calls.take() == [
        "chosen [0, 1] [] [] 0", "in order [0, 1] [] [] 0", "distinct [0, 1] [] [] 0",
        "all of it [0, 1] [] [] 0", "labels [0, 1] [] [] 0", "numbers [0] [] [] 0",
      ])
    try realm.write { realm.deleteAll() }
    realm.refresh()
    #expect(calls.take() == [])
    for token in tokens { token.invalidate() }
  }

  @Test func sectionsAreGone() throws {
    let calls = Calls()
    let ordered = owner.chores.sectioned(by: \.title, ascending: true)
    let byBlock = owner.chores.sectioned(
      by: { $0.id % 2 }, sortDescriptors: [SortDescriptor(keyPath: "id")])
    let owners = owner.chores[0].owners.sectioned(by: \.name, ascending: true)
    let tokens = [
      ordered.observe { calls.note("ordered", $0) }, ordered[1].observe { calls.note("one", $0) },
      byBlock.observe { calls.note("by block", $0) }, owners.observe { calls.note("owners", $0) },
    ]
    realm.refresh()
    #expect(
      calls.take() == [
        "ordered initial 2", "one initial 1", "by block initial 2", "owners initial 1",
      ])
    try realm.write {
      realm.delete(owner.chores)
      realm.delete(owner)
    }
    realm.refresh()
    #expect(
      calls.take() == [
        "ordered 2 -[0, 1] 0", "one 1 -[1] 0", "by block 2 -[0, 1] 0", "owners 1 -[0] 0",
      ])
    #expect(ordered.isEmpty && ordered.allKeys.isEmpty && byBlock.isEmpty && owners.isEmpty)
    for token in tokens { token.invalidate() }
  }

  @Test func anObserverThatBeginsAfterwards() throws {
    let calls = Calls()
    let results = results()
    let sections = owner.chores.sectioned(by: \.title, ascending: true)
    try realm.write { realm.delete(owner) }
    var tokens = results.map { name, chores in chores.observe { calls.note(name, $0) } }
    tokens.append(sections.observe { calls.note("sections", $0) })
    realm.refresh()
    #expect(calls.take() == results.map { "\($0.name) initial 0" } + ["sections initial 0"])
    try realm.write { addOwner(realm, name: "Bob").chores.append(Chore(id: 7)) }
    realm.refresh()
    #expect(calls.take() == [])
    for token in tokens { token.invalidate() }
  }

  /// The observation goes to the queue, and the owner is deleted on the way.
  @Test func anObserverOnAQueueThatComesAfterTheDeletion() throws {
    let queue = DispatchQueue(label: "observers")
    let calls = Mutex<[String]>([])
    queue.suspend()
    var tokens = results().map { name, chores in
      chores.observe(on: queue) { @Sendable change in
        if case .initial(let chores) = change {
          calls.withLock { $0.append("\(name) \(chores.count) \(chores.isInvalidated)") }
        } else {
          calls.withLock { $0.append("\(name) \(change)") }
        }
      }
    }
    let sections = owner.chores.sectioned(by: \.title, ascending: true)
    tokens.append(
      sections.observe(on: queue) { @Sendable change in
        if case .initial(let sections) = change {
          calls.withLock { $0.append("sections \(sections.count)") }
        }
      })
    try realm.write { realm.delete(owner) }
    queue.resume()
    #expect(eventually { calls.withLock { $0.count } == 5 })
    #expect(
      calls.withLock(\.self) == [
        "chosen 0 false", "in order 0 false", "distinct 0 false", "all of it 0 false", "sections 0",
      ])
    try realm.write { addOwner(realm, name: "Bob").chores.append(Chore(id: 7)) }
    queue.sync {}
    #expect(calls.withLock(\.count) == 5)
    for token in tokens { token.invalidate() }
  }

  // MARK: - What stops

  enum Use: String, CaseIterable, Sendable { case list, set, map, links, nested, linking, sum }

  @Test(arguments: Use.allCases)
  func newResultsOfWhatIsGoneStop(_ use: Use) async {
    let name = use.rawValue
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      let realm = try openRealm(userConfiguration())
      let owner = try realm.write {
        let owner = addOwner(realm, chores: 1)
        owner.anything = .fromArray([.int(1)])
        return owner
      }
      let (chores, labels, counts, links) = (owner.chores, owner.labels, owner.counts, owner.byName)
      let (nested, linking) = (owner.anything.listValue!, owner.chores[0].owners)
      try realm.write {
        realm.delete(chores)
        realm.delete(owner)
      }
      switch Use(rawValue: name)! {
      case .list: _ = chores.filter("id == 0")
      case .set: _ = labels.sorted(ascending: true)
      case .map: _ = counts.filter("SELF == 0")
      case .links: _ = links.sorted(byKeyPath: "id")
      case .nested: _ = nested.filter("SELF == 0")
      case .linking: _ = linking.filter("name == 'Ada'")
      case .sum: _ = chores.sum(ofProperty: "id") as Int
      }
    }
    expectStop(result, "Object has been deleted or invalidated.")
  }
}
