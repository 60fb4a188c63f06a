// Threads, queues, frozen values and references as users combine them.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersThreadTests {
  @Test func aThreadsRealmInABlockThatTheThreadWaitsFor() {
    let configuration = userConfiguration()
    onThread {
      nonisolated(unsafe) let realm = try! Realm(configuration: configuration)
      // Such a block runs on the thread that waits for it.
      DispatchQueue(label: "any").sync {
        try! realm.write { realm.add(Chore(id: 1)) }
        #expect(try! Realm(configuration: configuration) == realm)
      }
      #expect(realm.objects(Chore.self).count == 1)
    }
  }

  @Test func aQueuesRealmOpenedInABlockThatIsWaitedFor() async {
    let configuration = userConfiguration()
    let queue = DispatchQueue(label: "serial")
    nonisolated(unsafe) var realm: Realm!
    queue.sync { realm = try! Realm(configuration: configuration, queue: queue) }
    await queue.run {
      try realm.write { realm.add(Chore(id: 1)) }
      let same = try Realm(configuration: configuration, queue: queue)
      #expect(same == realm)
      let unconfined = try Realm(configuration: configuration)
      #expect(unconfined != realm)
    }
    queue.sync {
      #expect(realm.objects(Chore.self).count == 1)
      realm = nil
    }
  }

  @Test func theSettingsMakeTheInstance() throws {
    var configuration = userConfiguration()
    let realm = try openRealm(configuration)
    let realm2 = try openRealm(configuration)
    #expect(realm == realm2)
    let other = Carried(realm)
    onThread { [configuration] in
      #expect(try! Realm(configuration: configuration) != other.value)
    }
    configuration.objectTypes = [Described.self]
    #expect(try openRealm(configuration) != realm)
    #expect(realm.configuration.inMemoryIdentifier == configuration.inMemoryIdentifier)
  }

  @Test func frozenRealmsAndObjectsOfOneVersionAreEqual() throws {
    let realm = try openRealm(userConfiguration())
    let owner = try realm.write { addOwner(realm, chores: 2) }
    let frozen = realm.freeze()
    #expect(frozen == realm.freeze() && frozen.freeze() == frozen)
    #expect(frozen != realm && frozen.isFrozen && !realm.isFrozen)
    #expect(owner.freeze() == owner.freeze() && owner.freeze() != owner)
    #expect(owner.freeze().realm == frozen)
    #expect(owner.freeze().freeze() == owner.freeze())
    #expect(owner.freeze().isSameObject(as: frozen.objects(HomeOwner.self).first))
    #expect(realm.thaw() == realm && owner.thaw() == owner && frozen.thaw() == realm)
    #expect(owner.freeze().chores.first?.isFrozen == true)
    #expect(owner.freeze().chores.first?.owners.first?.isFrozen == true)
    #expect(frozen.object(ofType: Chore.self, forPrimaryKey: 1)?.isFrozen == true)
    #expect(frozen.schema == realm.schema && frozen.configuration == realm.configuration)
    try realm.write { realm.deleteAll() }
    #expect(frozen.objects(Chore.self).count == 2 && realm.isEmpty && !frozen.isEmpty)
    #expect(owner.isInvalidated && frozen != realm.freeze())
    #expect(frozen.objects(HomeOwner.self).first!.thaw() == nil)
    #expect(frozen.objects(HomeOwner.self).first!.chores.thaw() == nil)
    #expect(frozen.objects(HomeOwner.self).first!.labels.thaw() == nil)
    #expect(frozen.objects(HomeOwner.self).first!.counts.thaw() == nil)
    #expect(frozen.objects(Chore.self).thaw()?.count == 0)
    #expect(frozen.objects(Chore.self).first!.owners.thaw() == nil)
    #expect(!frozen.refresh() && !frozen.isInWriteTransaction && !frozen.autorefresh)
    #expect(!frozen.isPerformingAsynchronousWriteOperations)
  }

  @Test func frozenResultsAreThawedIntoWhatTheyWere() throws {
    let realm = try openRealm(userConfiguration())
    try realm.write { addOwner(realm, chores: 5) }
    let found = realm.objects(Chore.self).where { $0.id > 1 }.sorted(by: \.id, ascending: false)
    let frozen = found.freeze()
    #expect(frozen.map(\.id) == [4, 3, 2])
    try realm.write {
      realm.add(Chore(id: 9))
      realm.delete(realm.object(ofType: Chore.self, forPrimaryKey: 3)!)
    }
    #expect(frozen.map(\.id) == [4, 3, 2] && found.map(\.id) == [9, 4, 2])
    #expect(frozen.thaw()?.map(\.id) == [9, 4, 2])
    #expect(frozen.filter("id > 3").map(\.id) == [4] && frozen.filter("id > 3").isFrozen)
    #expect(frozen.sorted(byKeyPath: "id").first?.id == 2 && frozen.max(ofProperty: "id") == 4)
    #expect(frozen[1].thaw() == nil && frozen[0].thaw()?.id == 4)
    #expect(frozen.index(of: frozen[2]) == 2 && frozen.last?.isFrozen == true)
  }

  @Test func frozenValuesAreReadByManyThreadsAndThawedOnEach() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("a.realm", userClasses)
    let realm = try openRealm(configuration)
    let owner = try realm.write { addOwner(realm, chores: 3) }
    let frozen = Carried(owner.freeze())
    try realm.write { owner.name = "later" }
    let threads = (0..<4).map { number in
      startThread {
        #expect(frozen.value.name == "Ada" && frozen.value.chores.map(\.id) == [0, 1, 2])
        let thawed = frozen.value.thaw()!
        let here = thawed.realm!
        #expect(!here.isFrozen && here == frozen.value.realm!.thaw())
        #expect(here == frozen.value.chores.thaw()!.realm!)
        try! here.write { thawed.chores.append(Chore(id: 10 + number)) }
        #expect(try! Realm(configuration: configuration) == here)
      }
    }
    for thread in threads { thread.joinInTime() }
    realm.refresh()
    #expect(owner.name == "later" && owner.chores.count == 7)
  }

  @Test func referencesAreResolvedWhereverTheyGo() throws {
    let configuration = userConfiguration()
    let realm = try openRealm(configuration)
    let owner = try realm.write { addOwner(realm, chores: 3) }
    let same = ThreadSafeReference(to: owner)
    #expect(!same.isInvalidated)
    #expect(realm.resolve(same) == owner)
    #expect(same.isInvalidated)
    // Made before a change, resolved after it.
    let old = ThreadSafeReference(to: owner)
    try realm.write { owner.name = "Bob" }
    #expect(realm.resolve(old)?.name == "Bob")
    let chores = ThreadSafeReference(to: owner.chores)
    let sorted = ThreadSafeReference(to: realm.objects(Chore.self).sorted(by: \.id))
    let gone = ThreadSafeReference(to: owner.chores[2])
    try realm.write { realm.delete(owner.chores[2]) }
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write {
        let chores = realm.resolve(chores)
        chores?.append(Chore(id: 5))
        #expect(chores?.realm == realm)
        #expect(realm.resolve(sorted)?.map(\.id) == [0, 1, 5])
        #expect(realm.resolve(gone) == nil)
      }
    }
    realm.refresh()
    #expect(owner.chores.map(\.id) == [0, 1, 5])
    // Of a frozen object.
    #expect(realm.resolve(ThreadSafeReference(to: owner.freeze())) == owner)
    // Deleted in the transaction that resolves it.
    let last = ThreadSafeReference(to: owner)
    try realm.write {
      realm.delete(owner)
      #expect(realm.resolve(last) == nil)
    }
  }

  @Test func wrappersOfEveryForm() throws {
    final class Box: @unchecked Sendable {
      @ThreadSafe var owner: HomeOwner?
      @ThreadSafe var chores: List<Chore>?
      init(_ owner: HomeOwner) {
        self.owner = owner
        _chores = ThreadSafe(wrappedValue: owner.chores)
      }
    }
    func rename(@ThreadSafe _ owner: HomeOwner?, to name: String) {
      // @ThreadSafe is a class: the wrapper goes, not the value.
      let wrapper = _owner
      onThread {
        guard let realm = wrapper.wrappedValue?.realm else { return }
        try! realm.write { wrapper.wrappedValue?.name = name }
      }
    }
    let realm = try openRealm(userConfiguration())
    let owner = try realm.write { addOwner(realm, chores: 1) }
    let box = Box(owner)
    #expect(box.owner == owner && box.chores?.count == 1)
    onThread {
      let realm = box.owner!.realm!
      try! realm.write {
        box.owner?.name = "box"
        box.chores?.append(Chore(id: 7))
        #expect(box.owner?.chores.count == 2)
      }
    }
    realm.refresh()
    #expect(owner.name == "box" && box.chores?.count == 2)
    rename(owner, to: "argument")
    realm.refresh()
    #expect(owner.name == "argument")
    rename(nil, to: "nobody")
    try realm.write { realm.delete(owner) }
    #expect(box.owner == nil && box.chores == nil)
    rename(box.owner, to: "nobody")
    box.owner = try realm.write { addOwner(realm, name: "second") }
    #expect(box.owner?.name == "second")
    box.owner = nil
    #expect(box.owner == nil)
  }

  @Test func anUnmanagedCopyIsFree() throws {
    let realm = try openRealm(userConfiguration())
    let owner = try realm.write {
      let owner = addOwner(realm, chores: 2)
      owner.home = HomeAddress(street: "Main")
      owner.counts["a"] = 1
      return owner
    }
    let copy = Carried(HomeOwner(value: owner))
    onThread {
      #expect(copy.value.realm == nil && copy.value.name == "Ada")
      #expect(copy.value.home?.street == "Main" && copy.value.chores.realm == nil)
      #expect(copy.value.counts["a"] == 1)
      copy.value.name = "changed"
      copy.value.chores.append(Chore(id: 3))
    }
    #expect(copy.value.name == "changed" && owner.name == "Ada" && owner.chores.count == 2)
  }

  @Test func refreshShowsWhatOthersWrote() throws {
    let configuration = userConfiguration()
    let realm = try openRealm(configuration)
    let chores = realm.objects(Chore.self)
    #expect(!realm.refresh())
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 1)) }
      try! realm.write { realm.add(Chore(id: 2)) }
    }
    #expect(chores.isEmpty && realm.refresh() && chores.count == 2 && !realm.refresh())
    realm.autorefresh = false
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 3)) }
    }
    #expect(chores.count == 2)
    try realm.write {
      #expect(chores.count == 3 && !realm.refresh())
      chores[0].title = "seen"
    }
    #expect(!realm.refresh() && !realm.autorefresh)
  }

  @Test func asynchronousWritesFromEverywhere() async {
    let shared = await QueueRealm(userConfiguration())
    let log = Log()
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      // Queued behind what this job still does itself.
      realm.writeAsync {
        log.add("first \(realm.objects(Chore.self).count)")
        realm.add(Chore(id: 1))
        // From inside of a block.
        realm.writeAsync {
          log.add("inner")
          realm.add(Chore(id: 3))
        } onComplete: { _ in
          log.add("inner done \(realm.isPerformingAsynchronousWriteOperations)")
          done.happen()
        }
      } onComplete: { error in
        log.add("first done \(error == nil)")
        // From inside of a completion.
        realm.beginAsyncWrite {
          log.add("begun \(realm.isInWriteTransaction)")
          realm.add(Chore(id: 4))
          realm.commitAsyncWrite { error in
            log.add("begun done \(error == nil)")
            done.happen()
          }
        }
      }
      try realm.write { realm.add(Chore(id: 0)) }
      log.add("synchronous")
    }
    await done.happened(2)
    let ids = await shared.run { Array($0.realm.objects(Chore.self).map(\.id)) }
    #expect(ids == [0, 1, 3, 4])
    #expect(log.all.first == "synchronous" && log.all.contains("first 1"))
    #expect(log.all.contains("first done true") && log.all.last?.hasPrefix("begun done") == true)
    #expect(await shared.run { !$0.realm.isPerformingAsynchronousWriteOperations })
  }

  @Test func asynchronousWritesThatEndInOtherWays() async {
    let shared = await QueueRealm(userConfiguration())
    let log = Log()
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      // Commits, and begins another transaction, which writeAsync then commits.
      realm.writeAsync {
        realm.add(Chore(id: 1))
        try! realm.commitWrite()
        realm.beginWrite()
        realm.add(Chore(id: 2))
      } onComplete: {
        log.add("two \($0 == nil)")
      }
      realm.writeAsync {
        realm.add(Chore(id: 3))
        realm.cancelWrite()
        realm.beginWrite()
        realm.add(Chore(id: 4))
      } onComplete: {
        log.add("other \($0 == nil)")
      }
      nonisolated(unsafe) var identifier: AsyncTransactionId = 0
      identifier = realm.beginAsyncWrite {
        realm.add(Chore(id: 5))
        try! realm.cancelAsyncWrite(identifier)
        #expect(!realm.isInWriteTransaction)
      }
      realm.beginAsyncWrite {
        realm.add(Chore(id: 6))
        let commit = realm.commitAsyncWrite { _ in log.add("never") }
        try! realm.cancelAsyncWrite(commit)
        try! realm.cancelAsyncWrite(commit)
      }
      realm.beginAsyncWrite {
        realm.add(Chore(id: 7))
        try! realm.commitWrite()
      }
      realm.beginAsyncWrite {
        realm.add(Chore(id: 8))
        realm.commitAsyncWrite(allowGrouping: true)
        realm.beginWrite()
        realm.add(Chore(id: 9))
        realm.commitAsyncWrite(allowGrouping: true) { _ in
          log.add("grouped")
          done.happen()
        }
      }
    }
    await done.happened()
    let ids = await shared.run { Array($0.realm.objects(Chore.self).map(\.id)) }
    #expect(ids == [1, 2, 4, 6, 7, 8, 9])
    #expect(log.all == ["two true", "other true", "grouped"])
  }

  @Test func unknownNumbersAreIgnored() async {
    let shared = await QueueRealm(userConfiguration())
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      try realm.cancelAsyncWrite(0)
      try realm.cancelAsyncWrite(.max)
      let identifier = realm.writeAsync {
      } onComplete: { _ in
        done.happen()
      }
      try realm.cancelAsyncWrite(identifier &+ 1)
    }
    await done.happened()
  }

  @Test func opensWithACallback() async {
    let configuration = userConfiguration()
    let queue = DispatchQueue(label: "callback")
    let done = Event()
    nonisolated(unsafe) var kept: Realm?
    let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
      switch result {
      case .success(let realm):
        dispatchPrecondition(condition: .onQueue(queue))
        try! realm.write { realm.add(Chore(id: 1)) }
        kept = realm
      case .failure(let error): Issue.record(error)
      }
      done.happen()
    }
    await done.happened()
    task.cancel()
    await queue.run {
      let realm = try Realm(configuration: configuration, queue: queue)
      #expect(realm == kept)
      #expect(kept?.objects(Chore.self).count == 1)
      kept = nil
    }
  }

  @Test func workInAnAutoreleasePool() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let count: Int = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let count = autoreleasepool {
          let realm = try! Realm(configuration: configuration)
          try! realm.write { realm.add(Dog()) }
          return realm.objects(Dog.self).count
        }
        continuation.resume(returning: count)
      }
    }
    #expect(count == 1)
    // Nothing is left open by it.
    #expect(try Realm.deleteFiles(for: configuration))
    do {
      try autoreleasepool { throw Realm.Error(.fail) }
      Issue.record("the error was lost")
    } catch {
      #expect((error as? Realm.Error)?.code == .fail)
    }
  }
}
