// Where observers are called: queues, run loops, the main actor, actors.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ObservingPlaceTests {
  private static func configuration() -> Realm.Configuration {
    memoryConfiguration(kennelClasses)
  }

  private static func write(
    _ configuration: Realm.Configuration, _ body: @escaping @Sendable (Realm) -> Void
  ) {
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { body(realm) }
    }
  }

  // MARK: - Queues

  @Test func observingOnAQueue() async {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B"]) }
    let queue = DispatchQueue(label: "observing")
    let log = Log()
    let told = Event()
    let isWeighed = Event()
    await watched.run { watched in
      watched.tokens = [
        watched.realm.kennel.hounds.observe(on: queue) { change in
          dispatchPrecondition(condition: .onQueue(queue))
          log.add(text(change))
          told.happen()
        },
        watched.realm.objects(Hound.self).observe(keyPaths: [\.age], on: queue) { change in
          log.add("ages " + text(change))
          told.happen()
        },
        watched.realm.hound("A").observe(on: queue) { (change: ObjectChange<Hound>) in
          // It belongs to the queue: it can be read there, and written.
          if case .change(let hound, _) = change {
            #expect(hound.age == 7)
            let realm = hound.realm!
            let here = try! Realm(configuration: realm.configuration, queue: queue)
            #expect(here == realm)
            if hound.weight == nil { try! realm.write { hound.weight = 1 } }
          }
          log.add("object " + text(change))
          told.happen()
          if log.all.last == "object weight nil>1.0" { isWeighed.happen() }
        },
      ]
    }
    await told.happened(2)
    #expect(log.all == ["initial 2", "ages initial 2"])
    await watched.write { $0.hound("A").age = 7 }
    await isWeighed.happened()
    // The queue's Realm was refreshed for the first change, and has made the second one itself.
    let objects = log.all.filter { $0.hasPrefix("object") }
    #expect(objects == ["object age 0>7", "object weight nil>1.0"])
    #expect(log.all.filter { $0.hasPrefix("ages") }.last == "ages -[] +[] ~[0]")
    await watched.run { $0.tokens = [] }
    await watched.write { $0.hound("A").age = 8 }
    queue.sync {}
    #expect(told.times == log.all.count && !log.all.contains("object age 7>8"))
  }

  @Test func changesOnTheWayToTheQueueAreNotLost() async {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B"]) }
    let queue = DispatchQueue(label: "observing")
    let log = Log()
    queue.suspend()
    await watched.run { watched in
      for name in ["A", "B"] {
        watched.tokens.append(
          watched.realm.hound(name).observe(on: queue) { (change: ObjectChange<Hound>) in
            log.add(text(change))
          })
      }
      watched.tokens.append(
        watched.realm.kennel.hounds.observe(on: queue) { log.add(text($0)) })
      watched.tokens.append(
        watched.realm.objects(Hound.self).observe(on: queue) { _ in Issue.record("ended") })
      watched.tokens.removeLast()
      try watched.realm.write {
        // The same value, which only the record of the transaction tells.
        watched.realm.hound("A").age = 0
        watched.realm.delete(watched.realm.hound("B"))
        watched.realm.delete(watched.realm.kennel)
      }
    }
    queue.resume()
    queue.sync {}
    // The calls that are owed come in a job behind.
    queue.sync {}
    #expect(log.all.sorted() == ["age 0>0", "deleted"])
  }

  @Test func aThreadWithoutALoopCanObserveOnAQueue() async {
    let configuration = Self.configuration()
    let queue = DispatchQueue(label: "observing")
    let log = Log()
    let told = Event()
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { addKennel(realm, hounds: ["A"]) }
      let token = realm.objects(Hound.self).observe(on: queue) {
        log.add(text($0))
        told.happen()
      }
      told.wait()
      try! realm.write { realm.add(Hound("B")) }
      told.wait(2)
      token.invalidate()
    }
    #expect(log.all == ["initial 1", "-[] +[1] ~[]"])
  }

  @Test func theMainQueue() async {
    let watched = await WatchedRealm()
    let told = Event()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.objects(Hound.self).observe(on: .main) { _ in
          dispatchPrecondition(condition: .onQueue(.main))
          told.happen()
        })
    }
    await told.happened()
    await watched.write { $0.add(Hound()) }
    await told.happened(2)
  }

  // MARK: - Run loops

  @Test func runLoops() {
    let configuration = Self.configuration()
    onThread {
      nonisolated(unsafe) var realm: Realm!
      nonisolated(unsafe) var calls: [String] = []
      nonisolated(unsafe) var token: NotificationToken?
      let loop = RunLoop.current
      loop.perform {
        realm = try! Realm(configuration: configuration)
        token = realm.objects(Hound.self).observe { calls.append(text($0)) }
      }
      runLoop { !calls.isEmpty }
      #expect(calls == ["initial 0"])
      Self.write(configuration) { $0.add(Hound("A")) }
      runLoop { calls.count == 2 }
      try! realm.write { realm.delete(realm.hound("A")) }
      #expect(calls.count == 2)
      runLoop { calls.count == 3 }
      #expect(calls == ["initial 0", "-[] +[0] ~[]", "-[0] +[] ~[]"])
      token?.invalidate()
    }
  }

  // MARK: - The main actor and actors

  /// Notes what it is told on the main actor.
  @MainActor final class Screen {
    var calls: [String] = []
    func show(_ call: String) { calls.append(call) }
  }

  @Test @MainActor func theMainActor() async throws {
    let configuration = Self.configuration()
    let realm = try await Realm(configuration: configuration)
    let screen = Screen()
    let told = Event()
    let token = realm.objects(Hound.self).observe { change in
      screen.show(text(change))
      told.happen()
    }
    await told.happened()
    try await realm.asyncWrite { realm.add(Hound("A")) }
    await told.happened(2)
    await withCheckedContinuation { continuation in
      startThread {
        Self.write(configuration) { $0.delete($0.hound("A")) }
        DispatchQueue.main.async { continuation.resume() }
      }.detach()
    }
    #expect(screen.calls == ["initial 0", "-[] +[0] ~[]", "-[0] +[] ~[]"])
    token.invalidate()
    try await realm.asyncWrite { realm.add(Hound("B")) }
    #expect(screen.calls.count == 3)
  }

  /// Has a Realm of its own.
  actor Keeper {
    private(set) var realm: Realm!
    private(set) var calls: [String] = []
    private var tokens: [NotificationToken] = []
    let told = Event()

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func note(_ call: String) {
      calls.append(call)
      told.happen()
    }

    /// On itself, with the plain form and with the actor's.
    func observe() async {
      tokens.append(
        realm.objects(Hound.self).observe { [unowned self] in note("here " + text($0)) })
      tokens.append(
        await realm.objects(Hound.self).observe(on: self) { keeper, change in
          keeper.note("actor " + text(change))
        })
      tokens.append(
        await realm.objects(Hound.self).observe(keyPaths: [\.name], on: self) { keeper, change in
          keeper.note("names " + text(change))
        })
      tokens.append(
        await realm.kennel.numberMap.observe(on: self) { $0.note("map " + text($1)) })
      tokens.append(
        await realm.kennel.observe(keyPaths: [\Kennel.name], on: self) {
          (keeper, change: ObjectChange<Kennel>) in keeper.note("object " + text(change))
        })
    }

    func write(_ body: @Sendable (Realm) -> Void) async throws {
      try await realm.asyncWrite { body(realm) }
    }

    func setAutorefresh(_ value: Bool) { realm.autorefresh = value }
    func refresh() async -> [String] {
      await realm.asyncRefresh()
      return take()
    }
    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  @Test func anActorsOwnRealm() async throws {
    let configuration = Self.configuration()
    let keeper = try await Keeper(configuration)
    try await keeper.write { addKennel($0, hounds: ["A"]) }
    await keeper.observe()
    await keeper.told.happened(4)
    #expect(
      await Set(keeper.take()) == [
        "here initial 1", "actor initial 1", "names initial 1", "map initial 0",
      ])
    try await keeper.write { $0.hound("A").age = 1 }
    await keeper.told.happened(6)
    #expect(await keeper.take() == ["here -[] +[] ~[0]", "actor -[] +[] ~[0]"])
    Self.write(configuration) { realm in
      realm.hound("A").name = "AA"
      realm.kennel.name = "K"
      realm.kennel.numberMap["x"] = 1
    }
    await keeper.told.happened(11)
    #expect(
      await keeper.take() == [
        "here -[] +[] ~[0]", "actor -[] +[] ~[0]", "names -[] +[] ~[0]",
        "map -[] +[\"x\"] ~[]", "object name >K",
      ])
    // Nothing of others until it is refreshed; then one call.
    await keeper.setAutorefresh(false)
    Self.write(configuration) { $0.add(Hound("B")) }
    Self.write(configuration) { $0.add(Hound("C")) }
    #expect(await keeper.take() == [])
    #expect(
      await keeper.refresh() == [
        "here -[] +[1, 2] ~[]", "actor -[] +[1, 2] ~[]", "names -[] +[1, 2] ~[]",
      ])
  }

  /// Has no Realm; observes those of others.
  actor Listener {
    var calls: [String] = []
    let told = Event()
    func note(_ call: String) {
      preconditionIsolated()
      calls.append(call)
      told.happen()
    }
  }

  @Test @MainActor func observingOnAnotherActor() async throws {
    let configuration = Self.configuration()
    let realm = try await Realm(configuration: configuration)
    try await realm.asyncWrite { addKennel(realm, hounds: ["A", "B"]) }
    let listener = Listener()
    var tokens: [NotificationToken] = []
    tokens.append(
      await realm.kennel.hounds.observe(on: listener) { listener, change in
        listener.note(text(change))
      })
    tokens.append(
      await realm.hound("A").observe(on: listener) { (listener, change: ObjectChange<Hound>) in
        if case .change(let hound, _) = change {
          // It is the actor's, and can be read and written there.
          let realm = hound.realm!
          #expect(realm.objects(Hound.self).count == 2)
          if hound.weight == nil { try! realm.write { hound.weight = 3 } }
        }
        listener.note("object " + text(change))
      })
    await listener.told.happened()
    try await realm.asyncWrite { realm.hound("A").age = 5 }
    await listener.told.happened(5)
    #expect(await listener.calls.prefix(3) == ["initial 2", "-[] +[] ~[0]", "object age 0>5"])
    #expect(
      await Set(listener.calls.dropFirst(3)) == ["-[] +[] ~[0]", "object weight nil>3.0"])
    await realm.asyncRefresh()
    #expect(realm.hound("A").weight == 3)
    tokens = []
    try await realm.asyncWrite { realm.hound("A").age = 6 }
    #expect(await listener.calls.count == 5)
  }

  @Test func aCancelledTaskObservesNothing() async throws {
    let keeper = try await Keeper(Self.configuration())
    let listener = Listener()
    let task = Task {
      await withUnsafeContinuation { continuation in
        withUnsafeCurrentTask { $0?.cancel() }
        continuation.resume()
      }
      #expect(Task.isCancelled)
      return await keeper.observeOnce(on: listener)
    }
    let token = await task.value
    try await keeper.write { $0.add(Hound()) }
    #expect(await listener.calls.isEmpty)
    token.invalidate()
  }

  @Test func anActorMayGoBeforeItsTokens() async throws {
    let configuration = Self.configuration()
    let keeper = try await Keeper(configuration)
    var listener: Listener? = Listener()
    weak let gone = listener
    let told = listener!.told
    let token = await keeper.observeOnce(on: listener!)
    await told.happened()
    listener = nil
    // Jobs that were queued hold it for a moment.
    let isGone = await eventually(yielding: { gone == nil })
    #expect(isGone)
    Self.write(configuration) { $0.add(Hound()) }
    try await keeper.write { $0.add(Hound()) }
    #expect(told.times == 1)
    token.invalidate()
  }
}

extension ObservingPlaceTests.Keeper {
  func observeOnce(on listener: ObservingPlaceTests.Listener) async -> NotificationToken {
    await realm.objects(Hound.self).observe(on: listener) { listener, change in
      listener.note(text(change))
    }
  }
}
