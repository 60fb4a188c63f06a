// References, @ThreadSafe and frozen forms of what the running transaction has made or changed.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class ChoreView: Projection<Chore> {
  @Projected(\Chore.title) var title
}

@Suite(.ownThreads) struct AsUsersPendingReferenceTests {
  private let configuration = userConfiguration()

  @Test func whatTheTransactionHasMade() throws {
    let realm = try openRealm(configuration)
    realm.beginWrite()
    let owner = addOwner(realm, chores: 3)
    owner.labels.insert("a")
    owner.counts["x"] = 1
    owner.home = HomeAddress(street: "s")
    owner.anything = .fromArray([.int(1), .int(2)])
    let object = ThreadSafeReference(to: owner)
    let embedded = ThreadSafeReference(to: owner.home!)
    let list = ThreadSafeReference(to: owner.chores)
    let set = ThreadSafeReference(to: owner.labels)
    let map = ThreadSafeReference(to: owner.counts)
    let results = ThreadSafeReference(to: owner.chores.where { $0.id > 0 })
    let all = ThreadSafeReference(to: realm.objects(Chore.self))
    let linking = ThreadSafeReference(to: owner.chores[0].owners)
    let projected = ThreadSafeReference(to: AnyRealmCollection(owner.chores))
    let sections = ThreadSafeReference(to: owner.chores.sectioned(by: \.title, ascending: true))
    let dynamic = ThreadSafeReference(to: realm.dynamicObjects("HomeOwner")[0])
    let nested = ThreadSafeReference(to: owner.anything.listValue!)
    let view = ThreadSafeReference(to: ChoreView(projecting: owner.chores[1]))
    #expect(!object.isInvalidated)
    try realm.commitWrite()
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(object)?.name == "Ada")
      #expect(realm.resolve(embedded)?.street == "s")
      #expect(realm.resolve(list)?.map(\.id) == [0, 1, 2])
      #expect(realm.resolve(set)?.contains("a") == true)
      #expect(realm.resolve(map)?["x"] == 1)
      #expect(realm.resolve(results)?.map(\.id) == [1, 2])
      #expect(realm.resolve(all)?.count == 3)
      #expect(realm.resolve(linking)?.first?.name == "Ada")
      #expect(realm.resolve(projected)?.count == 3)
      #expect(realm.resolve(sections)?.count == 3)
      #expect(realm.resolve(dynamic)?["name"] as? String == "Ada")
      #expect(realm.resolve(nested).map { Array($0) } == [.int(1), .int(2)])
      #expect(realm.resolve(view)?.title == "chore 1")
      #expect(object.isInvalidated && list.isInvalidated)
    }
  }

  /// Nobody else sees the transaction yet; its own Realm does.
  @Test func whileTheTransactionRuns() throws {
    let realm = try openRealm(configuration)
    realm.beginWrite()
    let chore = realm.create(Chore.self, value: [1, "one"])
    let own = ThreadSafeReference(to: chore)
    let others = ThreadSafeReference(to: chore)
    let list = ThreadSafeReference(to: realm.objects(Chore.self))
    #expect(realm.resolve(own)?.title == "one" && own.isInvalidated)
    #expect(realm.resolve(list)?.count == 1)
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(others) == nil && others.isInvalidated)
    }
    try realm.commitWrite()
  }

  @Test func whatIsRolledBackIsNotThere() throws {
    let realm = try openRealm(configuration)
    try realm.write { realm.add(Chore(id: 7, title: "before")) }
    realm.beginWrite()
    let owner = addOwner(realm, chores: 2)
    let before = realm.object(ofType: Chore.self, forPrimaryKey: 7)!
    before.title = "changed"
    let made = ThreadSafeReference(to: owner)
    let list = ThreadSafeReference(to: owner.chores)
    let there = ThreadSafeReference(to: before)
    let results = ThreadSafeReference(to: realm.objects(Chore.self))
    realm.cancelWrite()
    try realm.write { _ = addOwner(realm, chores: 1, name: "other") }
    #expect(realm.resolve(made) == nil && realm.resolve(list) == nil)
    #expect(realm.resolve(there)?.title == "before")
    #expect(realm.resolve(results)?.count == 2)
  }

  /// The state that the reference was made from is what the resolving Realm shows at least.
  @Test func theTargetAdvances() throws {
    let realm = try openRealm(configuration)
    try realm.write { realm.add(Chore(id: 1, title: "old")) }
    let step = Event(), made = Event()
    let reference = Monitor<ThreadSafeReference<Chore>?>(nil)
    let thread = startThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      let chore = realm.objects(Chore.self).first!
      #expect(chore.title == "old")
      step.happen()
      made.wait()
      let resolved = realm.resolve(reference.withLock { $0 }!)
      #expect(resolved?.title == "new" && chore.title == "new")
    }
    step.wait()
    try realm.write {
      let chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)!
      let early = ThreadSafeReference(to: chore)
      chore.title = "new"
      reference.withLock { $0 = early }
    }
    made.happen()
    thread.joinInTime()
  }

  @Test func whatIsDeletedMeanwhile() throws {
    let realm = try openRealm(configuration)
    realm.beginWrite()
    let chore = realm.create(Chore.self, value: [1, "one"])
    let deletedThere = ThreadSafeReference(to: chore)
    realm.delete(chore)
    try realm.commitWrite()
    #expect(realm.resolve(deletedThere) == nil)
    realm.beginWrite()
    let second = realm.create(Chore.self, value: [2, "two"])
    let deletedLater = ThreadSafeReference(to: second)
    try realm.commitWrite()
    try realm.write { realm.delete(second) }
    #expect(realm.resolve(deletedLater) == nil)
  }

  /// A Realm that was opened only to resolve shows just the version of the reference.
  @Test func aRealmThatWasOpenedToResolve() throws {
    let realm = try openRealm(configuration)
    let chore = try realm.write { realm.create(Chore.self, value: [1, "first"]) }
    let first = ThreadSafeReference(to: chore)
    let second = ThreadSafeReference(to: chore)
    let inside = Monitor<ThreadSafeReference<Chore>?>(nil)
    try realm.write {
      chore.title = "second"
      let reference = ThreadSafeReference(to: chore)
      inside.withLock { $0 = reference }
    }
    try realm.write { realm.delete(chore) }
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(first)?.title == "first")
      realm.refresh()
      #expect(realm.resolve(second) == nil)
    }
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      let resolved = realm.resolve(inside.withLock { $0 }!)
      #expect(resolved?.title == "second" && realm.objects(Chore.self).count == 1)
      #expect(realm.refresh() && resolved?.isInvalidated == true)
    }
  }

  @Test func aRealmThatHasRead() throws {
    let realm = try openRealm(configuration)
    let chore = try realm.write { realm.create(Chore.self, value: [1, "first"]) }
    let references = (0..<4).map { _ in ThreadSafeReference(to: chore) }
    try realm.write { chore.title = "second" }
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      #expect(realm.objects(Chore.self).count == 1)
      #expect(realm.resolve(references[0])?.title == "second")
    }
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      realm.refresh()
      #expect(realm.resolve(references[1])?.title == "second")
    }
    onThread { [configuration] in
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      #expect(realm.resolve(references[2])?.title == "second")
      realm.cancelWrite()
    }
    #expect(realm.resolve(references[3])?.title == "second")
  }

  @Test func wrappedInATransaction() throws {
    let realm = try openRealm(configuration)
    realm.beginWrite()
    let owner = addOwner(realm, chores: 2)
    @ThreadSafe var safe = owner
    @ThreadSafe var list = owner.chores
    #expect(safe?.name == "Ada" && list?.count == 2)
    let (safeWrapper, listWrapper) = (_safe, _list)
    onThread { #expect(safeWrapper.wrappedValue == nil && listWrapper.wrappedValue == nil) }
    try realm.commitWrite()
    onThread {
      #expect(safeWrapper.wrappedValue?.name == "Ada" && listWrapper.wrappedValue?.count == 2)
      try! safeWrapper.wrappedValue!.realm!.write { safeWrapper.wrappedValue?.name = "Bob" }
    }
    #expect(safe?.name == "Bob" || realm.refresh())
    #expect(safe?.name == "Bob")
    realm.beginWrite()
    safe = addOwner(realm, name: "gone")
    #expect(safe?.name == "gone")
    realm.cancelWrite()
    #expect(safe == nil)
    realm.beginWrite()
    list = owner.chores
    realm.delete(owner)
    #expect(list == nil)
    try realm.commitWrite()
    #expect(list == nil)
  }

  @Test func wrappedInAsynchronousWrites() async throws {
    let queue = await QueueRealm(configuration)
    let wrapper = Monitor<ThreadSafe<Chore>?>(nil)
    let isDone = Event()
    await queue.run { queue in
      queue.realm.writeAsync {
        let chore = queue.realm.create(Chore.self, value: [1, "one"])
        let wrapped = ThreadSafe(wrappedValue: chore)
        wrapper.withLock { $0 = wrapped }
      } onComplete: { _ in
        isDone.happen()
      }
    }
    await isDone.happened()
    await onThreadAsync { #expect(wrapper.withLock { $0 }?.wrappedValue?.title == "one") }
    await queue.run { $0.realm = nil }
  }

  @Test func freezingInATransaction() async throws {
    let realm = try openRealm(configuration)
    let chore = try realm.write { realm.create(Chore.self, value: [1, "before"]) }
    realm.beginWrite()
    chore.title = "after"
    // As it was when the transaction began.
    #expect(chore.freeze().title == "before" && realm.freeze().objects(Chore.self).count == 1)
    realm.cancelWrite()
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try openRealm(userConfiguration())
      realm.beginWrite()
      _ = realm.create(Chore.self, value: [1, "a"]).freeze()
    }
    expectStop(
      object, "Cannot freeze an object in the same write transaction as it was created in.")
  }
}
