// Realms of serial queues, of the main place, and of actors: one instance each, and every use
// elsewhere stops.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct QueueConfinementTests {
  @Test func aQueueHasOneInstance() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    let isSame = await shared.run { shared in
      try Realm(configuration: configuration, queue: shared.queue) == shared.realm
    }
    #expect(isSame)
    let isOther = await shared.run { shared in
      try Realm(configuration: configuration) != shared.realm
    }
    #expect(isOther)
  }

  @Test func aRealmOfAQueueWorksOnWhateverThread() async {
    let shared = await QueueRealm(memoryConfiguration())
    await shared.run { shared in
      try shared.realm.write { shared.realm.add(Dog()) }
    }
    // Many blocks, many workers.
    for age in 0..<50 {
      await shared.run { shared in
        let dog = shared.realm.objects(Dog.self).first!
        try shared.realm.write { dog.age = age }
        #expect(dog.age == age)
      }
    }
    // Also when another thread waits for the block.
    shared.queue.sync { #expect(shared.realm.objects(Dog.self).count == 1) }
  }

  @Test func aQueueThatHandsItsBlocksToTheRealmsQueueMayUseIt() async {
    let shared = await QueueRealm(memoryConfiguration())
    let inner = DispatchQueue(label: "inner", target: shared.queue)
    #expect(await inner.run { shared.realm.isEmpty })
  }

  /// Where nobody can tell whether a queue is serial it is tried.
  @Test func queuesOfUnknownWidth() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      hidesQueueWidths.store(true, ordering: .relaxed)
      let shared = await QueueRealm(memoryConfiguration())
      await shared.run { shared in try shared.realm.write { _ = shared.realm.create(Dog.self) } }
      // A try may miss it: where all threads are busy, or there is one only, no other block runs
      // meanwhile.
      for _ in 0..<2_000 {
        let queue = DispatchQueue(label: "many at once", attributes: .concurrent)
        await queue.run { _ = try Realm(configuration: memoryConfiguration(), queue: queue) }
      }
    }
    expectStop(result, "Invalid queue 'many at once': Realms can only be confined to serial")
  }

  @Test func otherQueuesStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let shared = await QueueRealm(memoryConfiguration())
      DispatchQueue(label: "offending queue").sync { _ = shared.realm.isEmpty }
    }
    expectStop(result, "Realm accessed from incorrect thread.")
    expectStop(result, "It belongs to the queue 'realm queue'")
    expectStop(result, "was used on the queue 'offending queue'")
  }

  @Test func objectsOfAQueueStopElsewhere() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let shared = await QueueRealm(memoryConfiguration())
      let dog = await shared.run { shared in
        try shared.realm.write { Carried(shared.realm.create(Dog.self)) }
      }
      await shared.run { _ in _ = dog.value.age }
      onThread("offender") { _ = dog.value.age }
    }
    expectStop(result, "Realm accessed from incorrect thread.")
    expectStop(result, "was used on the thread 'offender'")
  }

  @Test func aWrongQueueStops() async {
    let elsewhere = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(configuration: memoryConfiguration(), queue: DispatchQueue(label: "other"))
    }
    expectStop(elsewhere, "Realm opened from incorrect dispatch queue.")
    let concurrent = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = DispatchQueue(label: "wide", attributes: .concurrent)
      try queue.sync { _ = try Realm(configuration: memoryConfiguration(), queue: queue) }
    }
    expectStop(concurrent, "Invalid queue 'wide'")
    let global = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try DispatchQueue.global().sync {
        _ = try Realm(configuration: memoryConfiguration(), queue: .global())
      }
    }
    expectStop(global, "Realms can only be confined to serial queues or the main queue.")
  }

  @Test func aBlockWithoutQueueLeavesNothingOpen() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    await shared.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    await DispatchQueue(label: "block").run {
      let inner = try Realm(configuration: configuration)
      try inner.write { inner.objects(Dog.self).first!.age = 9 }
    }
    await shared.run { shared in
      shared.realm.refresh()
      let versions = try shared.realm.activeVersions()
      #expect(versions.count == 1)
    }
  }
}

@Suite(.ownThreads) struct MainConfinementTests {
  @Test @MainActor func mainActorMainQueueAndMainThreadAreOne() async throws {
    let configuration = memoryConfiguration()
    let realm = try openRealm(configuration)
    let carried = Carried(realm)
    let isSame = await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        let inQueue = try! Realm(configuration: configuration)
        let named = try! Realm(configuration: configuration, queue: .main)
        continuation.resume(returning: inQueue == carried.value && named == inQueue)
      }
    }
    #expect(isSame)
    // After an await, perhaps on another thread.
    #expect(realm.isEmpty)
    #expect(try openRealm(configuration) == realm)
    #expect(try await Realm(configuration: configuration) == realm)
    #expect(try await Realm.open(configuration: configuration) == realm)
    #expect(try await Realm(configuration: configuration, actor: MainActor.shared) == realm)
  }

  @Test func theMainRealmStopsElsewhere() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = await MainActor.run { Carried(try! memoryRealm()) }
      onThread("offender") { _ = realm.value.isEmpty }
    }
    expectStop(result, "It belongs to the main thread and was used on the thread 'offender'")
  }
}

@Suite(.ownThreads) struct ActorConfinementTests {
  @globalActor actor Background: GlobalActor {
    static let shared = Background()
  }

  /// Owns a Realm that it opens itself.
  actor Kennel {
    /// Optional, so that there is an actor before there is a Realm.
    private(set) var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func add(_ name: String) throws {
      try realm.write { _ = realm.create(Dog.self, value: ["name": name]) }
    }

    func names() -> [String] { realm.objects(Dog.self).map(\.name) }

    func isSame(_ configuration: Realm.Configuration) async throws -> Bool {
      let byActor = try await Realm(configuration: configuration, actor: self)
      let byIsolation = try await Realm.open(configuration: configuration)
      return byActor == realm && byIsolation == realm
    }

    var carried: Carried<Realm> { Carried(realm) }

    func use(_ realm: Carried<Realm>) { _ = realm.value.isEmpty }
  }

  @Test func anActorOwnsItsRealm() async throws {
    let configuration = memoryConfiguration()
    let kennel = try await Kennel(configuration)
    for number in 0..<20 { try await kennel.add("\(number)") }
    #expect(await kennel.names().count == 20)
    #expect(try await kennel.isSame(configuration))
    let other = try await Kennel(configuration)
    #expect(await other.names().count == 20)
    #expect(await other.carried.value != kennel.carried.value)
  }

  @Background private func addInBackground(_ configuration: Realm.Configuration) async throws -> Int
  {
    let realm = try await Realm.open(configuration: configuration)
    try realm.write { realm.add(Dog()) }
    await Task.yield()
    return realm.objects(Dog.self).count
  }

  @Test func aGlobalActorHasARealm() async throws {
    let configuration = memoryConfiguration()
    // Keeps the content between the calls.
    let kennel = try await Kennel(configuration)
    #expect(try await addInBackground(configuration) == 1)
    #expect(try await addInBackground(configuration) == 2)
    try await kennel.add("Rex")
  }

  @Test func otherActorsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let configuration = memoryConfiguration()
      let first = try await Kennel(configuration)
      let second = try await Kennel(configuration)
      await second.use(first.carried)
    }
    expectStop(result, "Realm accessed from incorrect thread.")
    expectStop(result, "It belongs to the actor Kennel and was used on the actor Kennel")
  }

  @Test func aThreadRealmStopsInAnActor() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let configuration = memoryConfiguration()
      let kennel = try await Kennel(configuration)
      await onThreadAsync { Carried(try! Realm(configuration: configuration)) }.useIn(kennel)
    }
    expectStop(result, "was used on the actor Kennel")
  }

  /// An actor that has a Realm can go: the Realm does not keep it.
  @Test func aRealmDoesNotKeepItsActor() async throws {
    weak var gone: Kennel?
    do {
      let kennel = try await Kennel(memoryConfiguration())
      gone = kennel
      try await kennel.add("Rex")
    }
    // A thread that has just left the actor may hold it for a moment.
    let isGone = await eventually(yielding: { gone == nil })
    #expect(isGone)
  }

  @Test func opensWhatCannotBeOpened() async throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("missing/test.realm")
    await #expect(throws: Realm.Error.self) { _ = try await Kennel(configuration) }
    configuration = folder.configuration()
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await Kennel(configuration)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }
}

/// Runs a body on a thread of its own and suspends until it is done.
func onThreadAsync<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: body()) }.detach()
  }
}

extension Carried where Value == Realm {
  fileprivate func useIn(_ kennel: ActorConfinementTests.Kennel) async { await kennel.use(self) }
}
