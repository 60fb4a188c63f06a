// Actors that nobody holds any more while their Realms write: what they have queued is done on the
// actor, which goes afterwards; and what one writes in its `isolated deinit`.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ReleasedActorTests {
  /// Its blocks use the Realm only, so they do not keep the actor.
  private actor Importer {
    private let gone: Event

    init(_ gone: Event) { self.gone = gone }

    deinit { gone.happen() }

    func write(_ configuration: Realm.Configuration, _ log: Log, _ done: Event) async throws {
      let realm = try await Realm.open(configuration: configuration)
      for number in 0..<3 {
        realm.writeAsync {
          realm.create(Dog.self, value: ["age": number])
        } onComplete: { error in
          // Stops elsewhere than on the actor.
          log.add("\(number) \(error == nil) \(realm.objects(Dog.self).count)")
          done.happen()
        }
      }
    }

    /// Behind a transaction of its own, and in groups.
    func commit(_ configuration: Realm.Configuration, _ log: Log, _ done: Event) async throws {
      let realm = try await Realm.open(configuration: configuration)
      realm.beginWrite()
      for number in 1...3 {
        realm.beginAsyncWrite {
          realm.create(Dog.self, value: ["age": number])
          realm.commitAsyncWrite(allowGrouping: true) { error in
            log.add("\(number) \(error == nil) \(!realm.isInWriteTransaction)")
            done.happen()
          }
        }
      }
      realm.create(Dog.self, value: ["age": 0])
      realm.commitAsyncWrite(allowGrouping: true) { error in
        log.add("0 \(error == nil) \(!realm.isInWriteTransaction)")
        done.happen()
      }
    }

    /// Begins a transaction and never ends it.
    func forget(_ configuration: Realm.Configuration, _ log: Log, _ done: Event) async throws {
      let realm = try await Realm.open(configuration: configuration)
      realm.beginWrite()
      realm.add(Dog())
      realm.writeAsync {
        Issue.record("a block ran behind a transaction that was never ended")
      } onComplete: { error in
        log.add("\((error as? Realm.Error)?.code == .fail)")
        done.happen()
      }
    }
  }

  @Test func queuedBlocksAreRun() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, done, gone) = (Log(), Event(), Event())
    try await Importer(gone).write(configuration, log, done)
    await done.happened(3)
    #expect(log.all == ["0 true 1", "1 true 2", "2 true 3"])
    await gone.happened()
    #expect(try openRealm(configuration).objects(Dog.self).count == 3)
  }

  @Test func queuedBlocksThatWaitForAnotherWriter() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, done, gone) = (Log(), Event(), Event())
    let holder = await QueueRealm(configuration)
    await holder.run { $0.realm.beginWrite() }
    try await Importer(gone).write(configuration, log, done)
    #expect(gone.times == 0 && done.times == 0)
    await holder.run { $0.realm.cancelWrite() }
    await done.happened(3)
    #expect(log.all == ["0 true 1", "1 true 2", "2 true 3"])
    await gone.happened()
  }

  @Test func groupedCommitsAreCompleted() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, done, gone) = (Log(), Event(), Event())
    try await Importer(gone).commit(configuration, log, done)
    await done.happened(4)
    #expect(log.all == (0...3).map { "\($0) true true" })
    await gone.happened()
    #expect(try openRealm(configuration).objects(Dog.self).map(\.age) == [0, 1, 2, 3])
  }

  /// An actor is not kept for what waits for its own transaction: that has to be rolled back.
  @Test func aForgottenTransactionIsRolledBack() async throws {
    let configuration = memoryConfiguration()
    let watch = await QueueRealm(configuration)
    let (log, done, gone) = (Log(), Event(), Event())
    try await Importer(gone).forget(configuration, log, done)
    await gone.happened()
    await done.happened()
    #expect(log.all == ["true"])
    let count = await watch.run { watch in
      try watch.realm.write { watch.realm.add(Dog()) }
      return watch.realm.objects(Dog.self).count
    }
    #expect(count == 1)
  }

  // MARK: - In an isolated deinit

  private actor Leaving {
    private let log: Log
    private let gone: Event
    private let waits: Bool
    private var realm: Realm!

    init(
      _ configuration: Realm.Configuration, _ log: Log, _ gone: Event, waits: Bool = false
    ) async throws {
      self.log = log
      self.gone = gone
      self.waits = waits
      realm = try await Realm.open(configuration: configuration)
    }

    func ping() {}

    isolated deinit {
      let realm = self.realm!
      let log = self.log
      if waits { realm.beginWrite() }
      realm.writeAsync {
        realm.create(Dog.self, value: ["age": 1])
        log.add("first")
      } onComplete: { error in
        log.add("first \(error == nil)")
      }
      realm.beginAsyncWrite {
        realm.create(Dog.self, value: ["age": 2])
        log.add("rolled back")
      }
      if !waits {
        realm.beginWrite()
        realm.create(Dog.self, value: ["age": 3])
        realm.commitAsyncWrite { error in log.add("second \(error == nil)") }
        log.add("\(realm.objects(Dog.self).count) dogs")
      }
      log.add("busy \(realm.isPerformingAsynchronousWriteOperations)")
      if waits { realm.cancelWrite() }
      self.realm = nil
      gone.happen()
    }
  }

  @Test func anIsolatedDeinitWritesAtOnce() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, gone) = (Log(), Event())
    do {
      let leaving = try await Leaving(configuration, log, gone)
      await leaving.ping()
    }
    await gone.happened()
    #expect(
      log.all == ["first", "first true", "rolled back", "second true", "2 dogs", "busy false"])
    #expect(try openRealm(configuration).objects(Dog.self).map(\.age) == [1, 3])
  }

  /// What is queued behind a transaction is written when that ends.
  @Test func anIsolatedDeinitWritesBehindItsTransaction() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, gone) = (Log(), Event())
    do {
      let leaving = try await Leaving(configuration, log, gone, waits: true)
      await leaving.ping()
    }
    await gone.happened()
    #expect(log.all == ["busy true", "first", "first true", "rolled back"])
    #expect(try openRealm(configuration).objects(Dog.self).map(\.age) == [1])
  }

  /// Its completions write again, and it commits with a write waiting.
  private actor Chaining {
    private let log: Log
    private let gone: Event
    private var realm: Realm!

    init(_ configuration: Realm.Configuration, _ log: Log, _ gone: Event) async throws {
      self.log = log
      self.gone = gone
      realm = try await Realm.open(configuration: configuration)
    }

    func ping() {}

    isolated deinit {
      let realm = self.realm!
      let log = self.log
      realm.writeAsync {
        realm.add(Dog())
      } onComplete: { _ in
        realm.writeAsync {
          log.add("second")
        } onComplete: { _ in
          log.add("second done")
        }
        log.add("first done")
      }
      realm.beginWrite()
      realm.writeAsync { log.add("third") }
      realm.commitAsyncWrite { _ in log.add("commit done") }
      self.realm = nil
      gone.happen()
    }
  }

  /// Nothing that is queued runs inside of a completion, or before that of what it waited for.
  @Test func anIsolatedDeinitKeepsTheOrder() async throws {
    let folder = TemporaryFolder()
    let (log, gone) = (Log(), Event())
    do {
      let chaining = try await Chaining(folder.configuration(), log, gone)
      await chaining.ping()
    }
    await gone.happened()
    #expect(log.all == ["first done", "second", "second done", "commit done", "third"])
  }

  private actor Parting {
    private let log: Log
    private let gone: Event
    private var realm: Realm!

    init(_ configuration: Realm.Configuration, _ log: Log, _ gone: Event) async throws {
      self.log = log
      self.gone = gone
      realm = try await Realm.open(configuration: configuration)
    }

    isolated deinit {
      let realm = self.realm!
      let log = self.log
      realm.writeAsync {
        realm.add(Dog())
        log.add("block")
      } onComplete: { error in
        log.add("completion \(error == nil)")
      }
      self.realm = nil
      gone.happen()
    }
  }

  /// Lets go of another actor inside of its transaction.
  private actor Holder {
    private var parting: Parting?

    func write(_ configuration: Realm.Configuration, _ log: Log, _ gone: Event) async throws {
      parting = try await Parting(configuration, log, gone)
      let realm = try await Realm.open(configuration: configuration)
      realm.beginWrite()
      realm.add(Dog())
      parting = nil
      try realm.commitWrite()
    }
  }

  /// It runs inside of the transaction, which it waited for for ever, or on a thread beside it.
  @Test func anIsolatedDeinitInsideOfATransaction() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (log, gone) = (Log(), Event())
    let holder = Holder()
    try await holder.write(configuration, log, gone)
    await gone.happened()
    let isWritten = log.all == ["block", "completion true"]
    #expect(isWritten || log.all == ["completion false"])
    #expect(try openRealm(configuration).objects(Dog.self).count == (isWritten ? 2 : 1))
  }
}
