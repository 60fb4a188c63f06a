// Observers as clients write them: what they do when they are called, and where they observe.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ClientObservingPlacesTests {
  // MARK: - In callbacks

  /// What the interface has shown already is not told to it again.
  @Test func aCallbackWritesWithoutBeingTold() async {
    let watched = await WatchedRealm.kennel()
    await watched.run { watched in
      let token = watched.watch(watched.realm.objects(Hound.self), "other ")
      _ = token
      watched.tokens.append(
        watched.realm.kennel.hounds.observe { [unowned watched] change in
          watched.note(text(change))
          guard case .update(let hounds, _, let insertions, _) = change,
            let first = insertions.first
          else { return }
          try! watched.realm.write(withoutNotifying: [watched.tokens[1]]) {
            hounds[first].weight = 1
          }
        })
    }
    await watched.expectTold(["other initial 4", "initial 4"])
    await watched.write { $0.kennel.hounds.append(Hound("E")) }
    await watched.expectTold(
      ["other -[] +[4] ~[]", "-[] +[4] ~[]", "other -[] +[] ~[4]"], afterCalls: 5)
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["other -[] +[] ~[0]", "-[] +[] ~[0]"])
  }

  /// A copy of what is shown stays as it was.
  @Test func frozenInTheCallback() async {
    let watched = await WatchedRealm.kennel()
    let shown = Monitor<[Results<Hound>]>([])
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.objects(Hound.self).sorted(byKeyPath: "name").observe { change in
          switch change {
          case .initial(let hounds), .update(let hounds, _, _, _):
            nonisolated(unsafe) let frozen = hounds.freeze()
            shown.withLock { $0.append(frozen) }
          case .error: break
          }
        })
      watched.realm.refresh()
    }
    await watched.write { $0.delete($0.hound("B")) }
    await watched.write { $0.add(Hound("E")) }
    await watched.run { $0.realm.refresh() }
    let names = shown.withLock { $0.map { Array($0.map(\.name)).joined() } }
    #expect(names == ["ABCD", "ACD", "ACDE"])
  }

  @Test func theRealmsObserverEndsItself() async {
    let watched = await WatchedRealm.kennel()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.observe { [unowned watched] notification, realm in
          watched.note("\(notification) \(realm.objects(Hound.self).count)")
          watched.tokens[0].invalidate()
        })
    }
    await watched.write { $0.add(Hound("E")) }
    await watched.expectTold(["didChange 5"])
    await watched.write { $0.add(Hound("F")) }
    await watched.expectTold([])
  }

  // MARK: - Places

  /// What a running transaction of the place has changed may be rolled back.
  @Test(arguments: [true, false])
  func observingWhereATransactionIsOpen(commits: Bool) async {
    let source = await WatchedRealm.kennel()
    let configuration = source.configuration
    let place = await WatchedRealm(configuration)
    let told = Event()
    await place.run { place in
      place.realm.beginWrite()
      place.realm.delete(place.realm.hound("A"))
      place.realm.hound("B").age = 7
    }
    await source.run { source in
      let queue = place.queue
      source.tokens = [
        source.realm.hound("A").observe(on: queue) { (change: ObjectChange<Hound>) in
          place.note("A " + text(change))
          told.happen()
        },
        source.realm.hound("B").observe(on: queue) { (change: ObjectChange<Hound>) in
          place.note("B " + text(change))
          told.happen()
        },
        source.realm.objects(Hound.self).observe(on: queue) { change in
          place.note(text(change))
          told.happen()
        },
      ]
    }
    await place.run { place in
      #expect(place.calls.isEmpty)
      if commits { try place.realm.commitWrite() } else { place.realm.cancelWrite() }
      #expect(place.calls.isEmpty)
    }
    await told.happened(commits ? 3 : 1)
    #expect(
      await place.told().sorted()
        == (commits ? ["A deleted", "B age nil>7", "initial 3"] : ["initial 4"]))
    await place.write { $0.hound("B").name = "BB" }
    await told.happened(commits ? 5 : 3)
    #expect(
      await place.told().sorted()
        == ["-[] +[] ~[\(commits ? 0 : 1)]", "B name nil>BB"])
    await source.run { $0.tokens = [] }
  }

  /// The same where the transaction ends with everything else.
  @Test func observingWhereATransactionIsInvalidated() async {
    let source = await WatchedRealm.kennel()
    let place = await WatchedRealm(source.configuration)
    let told = Event()
    await place.run { place in
      place.realm.beginWrite()
      place.realm.delete(place.realm.hound("A"))
    }
    await source.run { source in
      source.tokens = [
        source.realm.objects(Hound.self).observe(on: place.queue) { change in
          place.note(text(change))
          told.happen()
        },
        source.realm.objects(Hound.self).observe(on: place.queue) { _ in
          Issue.record("was ended before it began")
        },
      ]
      source.tokens.removeLast()
    }
    await place.run { $0.realm.invalidate() }
    await told.happened()
    #expect(await place.told() == ["initial 4"])
    await source.run { $0.tokens = [] }
  }

  /// Keeps its token, as a view model does.
  @MainActor final class Model {
    private(set) var names: [String] = []
    private var token: NotificationToken?
    let told = Event()

    init(_ realm: Realm) {
      token = realm.objects(Hound.self).observe { [weak self] change in
        guard let self else { return }
        switch change {
        case .initial(let hounds): names = hounds.map(\.name)
        case .update(let hounds, let deletions, let insertions, let modifications):
          for position in deletions.reversed() { names.remove(at: position) }
          for position in insertions { names.insert(hounds[position].name, at: position) }
          for position in modifications { names[position] = hounds[position].name }
        case .error: break
        }
        told.happen()
      }
    }
  }

  @Test @MainActor func aViewModel() async throws {
    let realm = try await Realm(configuration: memoryConfiguration(kennelClasses))
    try await realm.asyncWrite { addKennel(realm, hounds: ["A", "B"]) }
    var model: Model? = Model(realm)
    let told = model!.told
    await told.happened()
    #expect(model?.names == ["A", "B"])
    try await realm.asyncWrite {
      realm.delete(realm.hound("A"))
      realm.hound("B").name = "BB"
      realm.add(Hound("C"))
    }
    await told.happened(2)
    #expect(model?.names == ["BB", "C"])
    weak let gone = model
    model = nil
    #expect(gone == nil)
    try await realm.asyncWrite { realm.add(Hound("D")) }
    await realm.asyncRefresh()
    #expect(told.times == 2)
  }

  /// The changes of a collection as an asynchronous sequence, which clients like to make of it.
  @MainActor private func changes(
    _ realm: Realm
  ) -> AsyncStream<[String]> {
    AsyncStream { continuation in
      let token = realm.objects(Hound.self).observe { change in
        switch change {
        case .initial(let hounds), .update(let hounds, _, _, _):
          continuation.yield(hounds.map(\.name))
        case .error: continuation.finish()
        }
      }
      continuation.onTermination = { _ in token.invalidate() }
    }
  }

  @Test @MainActor func anAsynchronousSequence() async throws {
    let realm = try await Realm(configuration: memoryConfiguration(kennelClasses))
    let changes = changes(realm)
    let writer = Task {
      for name in ["A", "B", "C"] {
        try await realm.asyncWrite { realm.add(Hound(name)) }
      }
    }
    for await names in changes where names.count == 3 {
      #expect(names == ["A", "B", "C"])
      break
    }
    try await writer.value
  }

  /// Ends itself at its second call.
  actor Counter {
    private var token: NotificationToken?
    private(set) var calls: [String] = []
    let told = Event()

    func observe(
      _ reference: ThreadSafeReference<Results<Hound>>, _ configuration: Realm.Configuration
    )
      async throws
    {
      let realm = try await Realm.open(configuration: configuration)
      let hounds = realm.resolve(reference)!
      token = await hounds.observe(on: self) { counter, change in counter.note(text(change)) }
    }

    private func note(_ call: String) {
      calls.append(call)
      if calls.count == 2 { token = nil }
      told.happen()
    }
  }

  @Test @MainActor func anActorEndsItsObservation() async throws {
    let configuration = memoryConfiguration(kennelClasses)
    let realm = try await Realm(configuration: configuration)
    let counter = Counter()
    try await counter.observe(
      ThreadSafeReference(to: realm.objects(Hound.self).where { $0.age >= 0 }), configuration)
    await counter.told.happened()
    for name in ["A", "B", "C"] {
      try await realm.asyncWrite { realm.add(Hound(name)) }
    }
    await counter.told.happened(2)
    try await realm.asyncWrite { realm.add(Hound("D")) }
    let calls = await counter.calls
    #expect(calls.count == 2 && calls[0] == "initial 0")
  }

  /// `asyncRefresh` tells before it returns.
  @Test @MainActor func refreshingTells() async throws {
    let configuration = memoryConfiguration(kennelClasses)
    let realm = try await Realm(configuration: configuration)
    realm.autorefresh = false
    let log = Log()
    let token = realm.objects(Hound.self).observe { log.add(text($0)) }
    realm.refresh()
    await Task.detached {
      onThread {
        let other = try! openRealm(configuration)
        try! other.write { other.add(Hound("A")) }
        try! other.write { other.add(Hound("B")) }
      }
    }.value
    #expect(log.all == ["initial 0"])
    #expect(await realm.asyncRefresh())
    #expect(log.all == ["initial 0", "-[] +[0, 1] ~[]"])
    #expect(await !realm.asyncRefresh())
    token.invalidate()
  }
}
