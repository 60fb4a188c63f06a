// Writing and refreshing in actors: suspends for the lock, never runs the block outside of a
// transaction, rolls back on an error, honours cancellation.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsyncWriteTests {
  actor Counter {
    /// Optional, so that there is an actor before there is a Realm.
    private(set) var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    @discardableResult
    func add(_ age: Int) async throws -> Int {
      try await realm.asyncWrite {
        #expect(realm.isInWriteTransaction && realm.isPerformingAsynchronousWriteOperations)
        realm.create(Dog.self, value: ["age": age])
        return realm.objects(Dog.self).count
      }
    }

    func addBlocking() throws { try realm.write { _ = realm.create(Dog.self) } }

    func fail() async throws {
      struct Refused: Swift.Error {}
      do {
        try await realm.asyncWrite {
          realm.add(Dog())
          throw Refused()
        }
        Issue.record("nothing was thrown")
      } catch is Refused {
        #expect(!realm.isInWriteTransaction)
      }
    }

    func cancelInside() async throws {
      try await realm.asyncWrite {
        realm.add(Dog())
        realm.cancelWrite()
        #expect(realm.isPerformingAsynchronousWriteOperations)
      }
      try await realm.asyncWrite {
        realm.create(Dog.self, value: ["age": 1])
        realm.cancelWrite()
        realm.beginWrite()
        realm.create(Dog.self, value: ["age": 2])
      }
    }

    /// A transaction that goes on over suspensions.
    func addSlowly() async throws {
      realm.beginWrite()
      realm.add(Dog())
      for _ in 0..<5 { await Task.yield() }
      realm.add(Dog())
      try realm.commitWrite()
    }

    func commitAsynchronously() async -> Bool {
      await withCheckedContinuation { continuation in
        realm.beginWrite()
        realm.add(Dog())
        realm.commitAsyncWrite { continuation.resume(returning: $0 == nil) }
      }
    }

    var count: Int { realm.objects(Dog.self).count }
    var ages: [Int] { realm.objects(Dog.self).map(\.age) }
    var isBusy: Bool { realm.isPerformingAsynchronousWriteOperations }
    func refresh() -> Bool { realm.refresh() }
    func asyncRefresh() async -> Bool { await realm.asyncRefresh() }
    func setAutorefresh(_ value: Bool) { realm.autorefresh = value }
    func begin() { realm.beginWrite() }
    func cancel() { realm.cancelWrite() }
    func invalidate() { realm.invalidate() }
  }

  @Test func writes() async throws {
    let folder = TemporaryFolder()
    let counter = try await Counter(folder.configuration())
    #expect(try await counter.add(1) == 1)
    #expect(try await counter.add(2) == 2)
    #expect(await counter.ages == [1, 2])
    #expect(await !counter.isBusy)
    let other = try openRealm(folder.configuration())
    #expect(other.objects(Dog.self).count == 2)
  }

  @Test func rollsBackOnErrors() async throws {
    let counter = try await Counter(memoryConfiguration())
    try await counter.fail()
    #expect(await counter.count == 0)
    try await counter.cancelInside()
    #expect(await counter.ages == [2])
    #expect(await !counter.isBusy)
  }

  @Test func manyTasksOfManyActors() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        let counter = try await Counter(configuration)
        for number in 0..<10 { group.addTask { try await counter.add(number) } }
      }
      try await group.waitForAll()
    }
    #expect(try openRealm(configuration).objects(Dog.self).count == 40)
  }

  @Test func aTransactionGoesOnAfterSuspensions() async throws {
    let counter = try await Counter(memoryConfiguration())
    try await counter.addSlowly()
    #expect(await counter.count == 2)
    #expect(await counter.commitAsynchronously())
    #expect(await counter.count == 3)
  }

  /// A strict queue hangs here: the lock belongs to an actor whose block has no thread to start on,
  /// since synchronous writers block all threads that run tasks.
  ///
  /// In a process of its own, since other tests block these threads, too.
  @Test func synchronousWritersDoNotBlockTheQueue() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let configuration = folder.configuration()
      let isHeld = Event()
      let mayEnd = Event()
      let holder = startThread("holder") {
        let realm = try! Realm(configuration: configuration)
        realm.beginWrite()
        isHeld.happen()
        mayEnd.wait()
        realm.cancelWrite()
      }
      await isHeld.happened()
      let cores = ProcessInfo.processInfo.activeProcessorCount
      let waiting = try await Counter(configuration)
      var blocked: [Counter] = []
      for _ in 0..<cores { blocked.append(try await Counter(configuration)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await waiting.add(1) }
        #expect(await eventually { await waiting.isBusy })
        for counter in blocked { group.addTask { try await counter.addBlocking() } }
        // From a thread of its own: those for tasks are about to be blocked.
        let file = Carried(try openRealm(configuration).freeze())
        startThread {
          file.value.waitForQueuedWriters(cores)
          mayEnd.happen()
        }.detach()
        try await group.waitForAll()
      }
      holder.joinInTime()
      #expect(try openRealm(configuration).objects(Dog.self).count == cores + 1)
    }
  }

  @Test func cancelledTasksDoNotWrite() async throws {
    let counter = try await Counter(memoryConfiguration())
    let before = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await counter.add(1)
    }
    await #expect(throws: CancellationError.self) { try await before.value }
    await counter.begin()
    let waiting = Task { try await counter.add(2) }
    let behind = Task { try await counter.add(3) }
    #expect(await eventually { await counter.isBusy })
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await counter.cancel()
    // Another task's write is not affected.
    #expect(try await behind.value == 1)
    #expect(await counter.ages == [3])
  }

  @Test func invalidateEndsWaitingTasks() async throws {
    let counter = try await Counter(memoryConfiguration())
    await counter.begin()
    let waiting = Task { try await counter.add(2) }
    #expect(await eventually { await counter.isBusy })
    await counter.invalidate()
    await #expect(throws: Realm.Error.self) { try await waiting.value }
    #expect(try await counter.add(1) == 1)
  }

  @Test @MainActor func theMainActorWrites() async throws {
    let realm = try await Realm(configuration: memoryConfiguration())
    let dog = try await realm.asyncWrite { realm.create(Dog.self) }
    #expect(dog.age == 3)
    #expect(await !realm.asyncRefresh())
  }

  @Test func refreshes() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let counter = try await Counter(configuration)
    await counter.setAutorefresh(false)
    #expect(await !counter.asyncRefresh())
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Dog()) }
    }
    #expect(await counter.count == 0)
    let several = [0, 1, 2].map { _ in Task { await counter.asyncRefresh() } }
    var results: [Bool] = []
    for task in several { results.append(await task.value) }
    #expect(results.contains(true))
    #expect(await counter.count == 1)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await counter.asyncRefresh()
    }
    #expect(await !cancelled.value)
  }

  @Test func onlyForActors() async {
    let write = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      try await inMain(Carried(realm)) { try await $0.asyncWrite {} }
    }
    expectStop(
      write, "asyncWrite() can only be called on main thread or actor-isolated Realms")
    let refresh = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      try await inMain(Carried(realm)) { await $0.asyncRefresh() }
    }
    expectStop(
      refresh, "asyncRefresh() can only be called on main thread or actor-isolated Realms")
  }
}

/// Uses a Realm of another place in the main actor.
@MainActor private func inMain(
  _ realm: Carried<Realm>, _ body: @MainActor (Realm) async throws -> Void
) async throws { try await body(realm.value) }
