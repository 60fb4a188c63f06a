// Transactions that nobody holds: `try Realm().beginWrite()` and `try Realm().create(...)` in one
// place.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersOpenTransactionTests {
  private let configuration = userConfiguration()
  /// Keeps the file in memory.
  private let watch: Carried<Realm>

  init() throws {
    let configuration = configuration
    nonisolated(unsafe) var frozen: Realm!
    onThread { frozen = try! Realm(configuration: configuration).freeze() }
    watch = Carried(frozen)
  }

  /// How many chores others see.
  private var committed: Int {
    let configuration = configuration
    nonisolated(unsafe) var count = 0
    onThread { count = try! Realm(configuration: configuration).objects(Chore.self).count }
    return count
  }

  @Test func oneTransactionWithoutAReference() throws {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      #expect(try! Realm(configuration: configuration).isInWriteTransaction)
      try! Realm(configuration: configuration).create(Chore.self, value: [1, "one"])
      try! Realm(configuration: configuration).add(Chore(id: 2))
      #expect(try! Realm(configuration: configuration).objects(Chore.self).count == 2)
      try! Realm(configuration: configuration).commitWrite()
      #expect(try! !Realm(configuration: configuration).isInWriteTransaction)
      #expect(try! Realm(configuration: configuration).objects(Chore.self).count == 2)
    }
    #expect(committed == 2)
  }

  @Test func itIsCancelled() throws {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      try! Realm(configuration: configuration).add(Chore(id: 1))
      try! Realm(configuration: configuration).cancelWrite()
      #expect(try! Realm(configuration: configuration).isEmpty)
      try! Realm(configuration: configuration).write {
        try! Realm(configuration: configuration).add(Chore(id: 2))
      }
      try! Realm(configuration: configuration).beginWrite()
      try! Realm(configuration: configuration).invalidate()
      #expect(try! !Realm(configuration: configuration).isInWriteTransaction)
    }
    #expect(committed == 1)
  }

  @Test func inATestsOwnTask() throws {
    try openRealm(configuration).beginWrite()
    try openRealm(configuration).add(Chore(id: 1))
    let chore = try #require(try openRealm(configuration).objects(Chore.self).first)
    chore.title = "changed"
    try openRealm(configuration).commitWrite()
    #expect(chore.title == "changed" && committed == 1)
  }

  /// What the transaction was begun with, and all that belongs to it, is there afterwards.
  @Test func objectsGoOn() throws {
    let configuration = configuration
    onThread {
      let chore = Chore(id: 1)
      try! Realm(configuration: configuration).beginWrite()
      try! Realm(configuration: configuration).add(chore)
      #expect(chore.realm?.isInWriteTransaction == true)
      chore.title = "one"
      try! chore.realm!.commitWrite()
      #expect(try! Realm(configuration: configuration) == chore.realm)
    }
    #expect(committed == 1)
  }

  @Test func aThreadThatEndsEndsIt() throws {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      try! Realm(configuration: configuration).add(Chore(id: 1))
    }
    // Nobody has the lock any more.
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
    #expect(committed == 1)
  }

  @Test func anotherThreadWaits() throws {
    let configuration = configuration
    let (begun, isDone) = (Event(), Event())
    let thread = startThread {
      try! Realm(configuration: configuration).beginWrite()
      begun.happen()
      // The other one waits meanwhile.
      try! Realm(configuration: configuration).waitForQueuedWriters(1)
      #expect(isDone.times == 0)
      try! Realm(configuration: configuration).add(Chore(id: 1))
      try! Realm(configuration: configuration).commitWrite()
    }
    begun.wait()
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write {
        isDone.happen()
        #expect(realm.objects(Chore.self).count == 1)
        realm.add(Chore(id: 2))
      }
    }
    thread.joinInTime()
    #expect(committed == 2)
  }

  @Test func aTaskThatEndsEndsIt() async throws {
    let configuration = configuration
    await Task.detached {
      try! openRealm(configuration).beginWrite()
      try! openRealm(configuration).add(Chore(id: 1))
    }.value
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
    let count = await onThreadAsync {
      try! Realm(configuration: configuration).objects(Chore.self).count
    }
    #expect(count == 1)
  }

  /// Whether a task whose handle is held has ended cannot be told; who waits gets the lock
  /// nevertheless.
  @Test func aTaskThatIsHeld() async throws {
    let configuration = configuration
    let task = Task.detached { try! openRealm(configuration).beginWrite() }
    await task.value
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
    withExtendedLifetime(task) {}
  }

  @Test func aBlockOfAGlobalQueue() async throws {
    let configuration = configuration
    let begun = Event()
    DispatchQueue.global().async {
      try! Realm(configuration: configuration).beginWrite()
      begun.happen()
    }
    await begun.happened()
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
  }

  @Test func blocksOfOneQueue() async throws {
    let configuration = configuration
    var queue: DispatchQueue? = DispatchQueue(label: "open transaction")
    for step in 0..<4 {
      await queue!.run { [queue = queue!] in
        switch step {
        case 0: try Realm(configuration: configuration, queue: queue).beginWrite()
        case 3: try Realm(configuration: configuration, queue: queue).commitWrite()
        default:
          let realm = try Realm(configuration: configuration, queue: queue)
          #expect(realm.isInWriteTransaction)
          realm.add(Chore(id: step))
        }
      }
    }
    await queue!.run { [queue = queue!] in
      try Realm(configuration: configuration, queue: queue).beginWrite()
    }
    queue = nil
    // The queue is gone, and with it the transaction.
    let count = await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 9)) }
      return realm.objects(Chore.self).count
    }
    #expect(count == 3)
  }

  @MainActor @Test func onTheMainActor() async throws {
    try openRealm(configuration).beginWrite()
    try openRealm(configuration).add(Chore(id: 1))
    await Task.yield()
    #expect(try openRealm(configuration).isInWriteTransaction)
    try openRealm(configuration).commitWrite()
    let configuration = configuration
    let task = Task { @MainActor in try openRealm(configuration).beginWrite() }
    try await task.value
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
  }

  actor Keeper {
    func begin(_ configuration: Realm.Configuration) async throws {
      try await Realm.open(configuration: configuration).beginWrite()
    }
    func add(_ configuration: Realm.Configuration) async throws {
      try await Realm.open(configuration: configuration).add(Chore(id: 1))
    }
    func commit(_ configuration: Realm.Configuration) async throws {
      try await Realm.open(configuration: configuration).commitWrite()
    }
  }

  @Test func inAnActor() async throws {
    let keeper = Keeper()
    try await keeper.begin(configuration)
    try await keeper.add(configuration)
    try await keeper.commit(configuration)
    let configuration = configuration
    let count = await onThreadAsync {
      try! Realm(configuration: configuration).objects(Chore.self).count
    }
    #expect(count == 1)
    // An actor that is gone leaves no transaction behind.
    var another: Keeper? = Keeper()
    try await another?.begin(configuration)
    another = nil
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 2)) }
    }
  }

  /// A Realm of other settings would wait for what its own thread has left, for ever.
  @Test func anotherRealmOfTheSameThread() throws {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      var other = configuration
      other.objectTypes = [Described.self]
      let realm = try! Realm(configuration: other)
      try! realm.write { realm.add(Described(name: "a")) }
    }
    #expect(committed == 0)
  }

  @Test func writesQueuedBehindIt() async throws {
    let queue = DispatchQueue(label: "open transaction")
    let configuration = configuration
    let isDone = Event()
    await queue.run {
      let realm = try Realm(configuration: configuration, queue: queue)
      realm.beginWrite()
      realm.writeAsync {
        try! Realm(configuration: configuration, queue: queue).add(Chore(id: 2))
      } onComplete: {
        #expect($0 == nil)
        isDone.happen()
      }
    }
    await queue.run {
      let realm = try Realm(configuration: configuration, queue: queue)
      realm.add(Chore(id: 1))
      try realm.commitWrite()
    }
    await isDone.happened()
    let count = await onThreadAsync {
      try! Realm(configuration: configuration).objects(Chore.self).count
    }
    #expect(count == 2)
  }

  @Test func onlyTheSettingsOfTheTransaction() throws {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      let frozen = try! Realm(configuration: configuration).freeze()
      #expect(frozen.objects(Chore.self).isEmpty && frozen.isFrozen)
      let thawed = frozen.thaw()
      #expect(thawed.isInWriteTransaction)
      thawed.cancelWrite()
    }
  }
}
