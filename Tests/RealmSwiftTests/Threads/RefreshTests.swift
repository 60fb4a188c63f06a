// Following newer versions by itself, where something drives the Realm, and opening with a
// callback.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct RefreshTests {
  /// Adds an object on another thread.
  private static func addElsewhere(_ configuration: Realm.Configuration) {
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Dog()) }
    }
  }

  @Test func queuesFollow() async {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    #expect(await shared.run { $0.realm.autorefresh })
    Self.addElsewhere(configuration)
    // The refresh is a block before this one.
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
    await shared.run { shared in
      Self.addElsewhere(configuration)
      // Never in the middle of a block.
      #expect(shared.realm.objects(Dog.self).count == 1)
    }
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 2)
  }

  /// What is read then is a version to follow from, as that before was.
  @Test func queuesFollowAfterInvalidation() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    await shared.run { shared in
      shared.realm.invalidate()
      #expect(shared.realm.isEmpty)
    }
    Self.addElsewhere(configuration)
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
  }

  @Test func notWhenTurnedOff() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    await shared.run { $0.realm.autorefresh = false }
    Self.addElsewhere(configuration)
    await shared.run { shared in
      #expect(!shared.realm.autorefresh && shared.realm.isEmpty)
      shared.realm.autorefresh = true
    }
    // What was missed comes when it is turned on.
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
  }

  @Test func notInsideATransaction() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    await shared.run { shared in
      shared.realm.beginWrite()
      shared.realm.add(Dog())
    }
    await shared.run { shared in
      #expect(shared.realm.isInWriteTransaction && shared.realm.objects(Dog.self).count == 1)
      try shared.realm.commitWrite()
    }
  }

  @Test @MainActor func theMainActorFollows() async throws {
    let configuration = memoryConfiguration()
    let realm = try await Realm(configuration: configuration)
    #expect(realm.autorefresh)
    await withCheckedContinuation { continuation in
      startThread {
        let other = try! Realm(configuration: configuration)
        try! other.write { other.add(Dog()) }
        DispatchQueue.main.async { continuation.resume() }
      }.detach()
    }
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test func threadsDoNot() throws {
    let configuration = memoryConfiguration()
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(!realm.autorefresh)
      Self.addElsewhere(configuration)
      #expect(realm.isEmpty && realm.refresh() && !realm.isEmpty)
      #expect(!realm.refresh())
    }
  }

  @Test func runLoopsFollow() {
    let configuration = memoryConfiguration()
    onThread {
      nonisolated(unsafe) var realm: Realm!
      let loop = RunLoop.current
      loop.perform { realm = try! Realm(configuration: configuration) }
      runLoop { realm != nil }
      #expect(realm.autorefresh)
      Self.addElsewhere(configuration)
      #expect(realm.isEmpty)
      runLoop { !realm.isEmpty }
    }
  }

  /// A thread opens its Realm first and starts its loop then; nobody asks for `autorefresh`.
  @Test func loopsThatStartLaterFollow() {
    let configuration = memoryConfiguration()
    onThread {
      nonisolated(unsafe) let realm = try! Realm(configuration: configuration)
      Self.addElsewhere(configuration)
      let loop = RunLoop.current
      nonisolated(unsafe) var hasRun = false
      loop.perform {
        // The loop is looked for now and then.
        for _ in 0..<16 { #expect(realm.objects(Dog.self).isEmpty) }
        hasRun = true
      }
      runLoop { hasRun && !realm.isEmpty }
    }
  }

  @Test func frozenRealmsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let frozen = try openRealm(memoryConfiguration()).freeze()
      guard !frozen.autorefresh else { return }
      frozen.autorefresh = true
    }
    expectStop(result, "Auto-refresh cannot be enabled for frozen Realms.")
  }
}

@Suite(.ownThreads) struct AsyncOpenTests {
  @Test func callsBackOnTheQueue() async {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let queue = DispatchQueue(label: "callback")
    let done = Event()
    Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
      let realm = try! result.get()
      #expect(try! Realm(configuration: configuration, queue: queue) == realm)
      try! realm.write { realm.add(Dog()) }
      done.happen()
    }
    await done.happened()
    #expect(done.times == 1)
  }

  @Test func tellsErrors() async {
    let folder = TemporaryFolder()
    let done = Event()
    Realm.asyncOpen(
      configuration: folder.configuration("missing/test.realm"),
      callbackQueue: DispatchQueue(label: "callback")
    ) { result in
      #expect(throws: Realm.Error.self) { _ = try result.get() }
      done.happen()
    }
    await done.happened()
  }

  @Test func canBeCancelled() async {
    let folder = TemporaryFolder()
    let queue = DispatchQueue(label: "callback")
    let calls = Event()
    queue.sync {
      let task = Realm.asyncOpen(configuration: folder.configuration(), callbackQueue: queue) {
        _ in calls.happen()
      }
      task.cancel()
    }
    let done = Event()
    Realm.asyncOpen(configuration: folder.configuration(), callbackQueue: queue) { _ in
      done.happen()
    }
    await done.happened()
    #expect(calls.times == 0)
  }
}
