// Asynchronous writes on queues and run loops: the block, the commit and the completion, each once,
// in order, where the Realm is confined.
import Dispatch
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct WriteAsyncTests {
  @Test func writesAndCompletes() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let done = Event()
    let log = Log()
    await shared.run { shared in
      let realm = shared.realm!
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      realm.writeAsync {
        #expect(realm.isInWriteTransaction)
        realm.add(Dog())
        log.add("block")
      } onComplete: { error in
        #expect(error == nil && realm.objects(Dog.self).count == 1)
        #expect(!realm.isPerformingAsynchronousWriteOperations)
        log.add("completion")
        done.happen()
      }
      #expect(realm.isPerformingAsynchronousWriteOperations)
      #expect(!realm.isInWriteTransaction && realm.isEmpty)
      log.add("returned")
    }
    await done.happened()
    #expect(log.all == ["returned", "block", "completion"])
    #expect(try openRealm(configuration).objects(Dog.self).count == 1)
  }

  @Test func blocksRunInOrder() async throws {
    let folder = TemporaryFolder()
    let shared = await QueueRealm(folder.configuration())
    let done = Event()
    let log = Log()
    await shared.run { shared in
      for number in 0..<20 {
        shared.realm.writeAsync {
          shared.realm.create(Dog.self, value: ["age": number])
          log.add("\(number)")
        } onComplete: { _ in
          log.add("\(number) done")
          done.happen()
        }
      }
    }
    await done.happened(20)
    #expect(log.all.filter { !$0.hasSuffix("done") } == (0..<20).map { "\($0)" })
    #expect(log.all.filter { $0.hasSuffix("done") } == (0..<20).map { "\($0) done" })
    // Without grouping each block runs after the commit before is durable.
    #expect(log.all.firstIndex(of: "0 done")! < log.all.firstIndex(of: "1")!)
  }

  @Test func groupsShareASync() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    // The Realms of a path share the store that is open already: this one's calls can be held.
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(
      StoreOptions(path: configuration.fileURL!.path, fileSystem: system))
    let shared = await QueueRealm(configuration)
    // The class is stored before anything is counted.
    await shared.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    let committed = Event()
    let done = Event()
    system.resetRecords()
    system.hold(.synchronize)
    await shared.run { shared in
      for number in 1...64 {
        shared.realm.beginAsyncWrite {
          shared.realm.create(Dog.self, value: ["age": number])
          shared.realm.commitAsyncWrite(allowGrouping: true) { error in
            #expect(error == nil)
            done.happen()
          }
          committed.happen()
        }
      }
    }
    // However fast the disk is, no group may keep the next commits waiting.
    await committed.happened(64)
    system.release(.synchronize)
    await done.happened(64)
    #expect(system.count(of: .synchronize) <= 2)
    await shared.run { shared in
      #expect(shared.realm.objects(Dog.self).map(\.age) == [3] + Array(1...64))
    }
    withExtendedLifetime(store) {}
  }

  @Test func beginWithoutCommitRollsBack() async throws {
    let shared = await QueueRealm(memoryConfiguration())
    let done = Event()
    await shared.run { shared in
      shared.realm.beginAsyncWrite { shared.realm.add(Dog()) }
      shared.realm.beginAsyncWrite {
        #expect(shared.realm.isEmpty)
        shared.realm.add(Dog())
        shared.realm.commitAsyncWrite(isGroupingAllowed: true)
        #expect(!shared.realm.isInWriteTransaction && !shared.realm.isEmpty)
        done.happen()
      }
    }
    await done.happened()
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
  }

  @Test func commitsOfSynchronousBegins() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let done = Event()
    await shared.run { shared in
      shared.realm.beginWrite()
      shared.realm.add(Dog())
      shared.realm.commitAsyncWrite { error in
        #expect(error == nil)
        done.happen()
      }
      // Seen here at once, and by the next transaction; not yet by others.
      #expect(shared.realm.objects(Dog.self).count == 1)
      #expect(shared.realm.isPerformingAsynchronousWriteOperations)
      try shared.realm.write { shared.realm.add(Dog()) }
    }
    await done.happened()
    #expect(try openRealm(configuration).objects(Dog.self).count == 2)
  }

  @Test func blocksThatEndTheTransactionThemselves() async throws {
    let folder = TemporaryFolder()
    let shared = await QueueRealm(folder.configuration())
    let log = Log()
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      realm.writeAsync {
        realm.create(Dog.self, value: ["name": "committed"])
        try! realm.commitWrite()
      } onComplete: {
        log.add("commit \($0 == nil)")
      }
      realm.writeAsync {
        realm.create(Dog.self, value: ["name": "async"])
        realm.commitAsyncWrite { log.add("inner \($0 == nil)") }
      } onComplete: {
        log.add("async \($0 == nil)")
      }
      realm.writeAsync {
        realm.create(Dog.self, value: ["name": "cancelled"])
        realm.cancelWrite()
      } onComplete: {
        log.add("cancel \($0 == nil)")
      }
      nonisolated(unsafe) var own: AsyncTransactionId = 0
      own = realm.writeAsync {
        realm.create(Dog.self, value: ["name": "cancelled by its number"])
        try! realm.cancelAsyncWrite(own)
        #expect(!realm.isInWriteTransaction)
      } onComplete: { _ in
        log.add("never")
      }
      realm.writeAsync {
      } onComplete: { _ in
        done.happen()
      }
    }
    await done.happened()
    // A transaction that is dropped waits for no disk, so it may end before the commits made
    // earlier.
    #expect(log.all.filter { $0 != "cancel true" } == ["commit true", "inner true", "async true"])
    #expect(log.all.contains("cancel true"))
    let names = await shared.run { shared in Array(shared.realm.objects(Dog.self).map(\.name)) }
    #expect(names == ["committed", "async"])
  }

  @Test func cancels() async throws {
    let folder = TemporaryFolder()
    let shared = await QueueRealm(folder.configuration())
    let log = Log()
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      let queued = realm.writeAsync {
        log.add("block of a cancelled write")
      } onComplete: { _ in
        log.add("completion of a cancelled write")
      }
      try realm.cancelAsyncWrite(queued)
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      try realm.cancelAsyncWrite(4711)
      realm.beginWrite()
      realm.add(Dog())
      let commit = realm.commitAsyncWrite { _ in log.add("completion of a commit") }
      try realm.cancelAsyncWrite(commit)
      realm.writeAsync {
      } onComplete: { _ in
        done.happen()
      }
    }
    await done.happened()
    #expect(log.all.isEmpty)
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
  }

  @Test func takesItsTurnAmongWriters() async {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let done = Event()
    let holder = await QueueRealm(configuration)
    await holder.run { $0.realm.beginWrite() }
    await shared.run { shared in
      shared.realm.writeAsync {
        #expect(shared.realm.objects(Dog.self).count == 1)
        shared.realm.add(Dog())
      } onComplete: { _ in
        done.happen()
      }
    }
    // The queue is free while the write waits.
    #expect(await shared.run { $0.realm.isEmpty })
    await holder.run { holder in
      holder.realm.add(Dog())
      try holder.realm.commitWrite()
    }
    await done.happened()
    await holder.run { holder in
      holder.realm.refresh()
      #expect(holder.realm.objects(Dog.self).count == 2)
    }
  }

  @Test func neverStarvesBehindSynchronousWriters() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let stop = Event()
    let writers = (0..<3).map { _ in
      startThread {
        let realm = try! Realm(configuration: configuration)
        while stop.times == 0 { try! realm.write { realm.add(Dog()) } }
      }
    }
    let done = Event()
    await shared.run { shared in
      for _ in 0..<10 {
        shared.realm.writeAsync {
        } onComplete: { _ in
          done.happen()
        }
      }
    }
    await done.happened(10)
    stop.happen()
    for writer in writers { writer.joinInTime() }
  }

  @Test func invalidateWaitsForCommitsAndDropsTheRest() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let log = Log()
    let committed = Event()
    let done = Event()
    await shared.run { shared in
      let realm = shared.realm!
      realm.beginWrite()
      realm.add(Dog())
      realm.commitAsyncWrite {
        log.add("commit \($0 == nil)")
        committed.happen()
      }
      realm.writeAsync {
        log.add("block")
      } onComplete: { error in
        log.add("write \((error as? Realm.Error)?.code == .fail)")
        done.happen()
      }
      realm.invalidate()
      // Durable now: everybody can see it.
      let count = DispatchQueue(label: "other").sync {
        try! Realm(configuration: configuration).objects(Dog.self).count
      }
      #expect(count == 1)
    }
    await done.happened()
    // The commit is durable, and its completion comes when the thread that made it so has told.
    await committed.happened()
    await shared.run { _ in }
    #expect(log.all.sorted() == ["commit true", "write true"])
  }

  @Test func aReleasedRealmFinishesFirst() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let queue = DispatchQueue(label: "short")
    let done = Event()
    await queue.run {
      let realm = try Realm(configuration: configuration, queue: queue)
      for _ in 0..<3 {
        realm.writeAsync { [realm] in
          realm.add(Dog())
        } onComplete: { error in
          #expect(error == nil)
          done.happen()
        }
      }
    }
    await done.happened(3)
    #expect(try openRealm(configuration).objects(Dog.self).count == 3)
  }

  @Test func aRunLoopRunsWrites() {
    let configuration = memoryConfiguration()
    onThread {
      nonisolated(unsafe) let realm = try! Realm(configuration: configuration)
      let loop = RunLoop.current
      nonisolated(unsafe) var isDone = false
      loop.perform {
        realm.writeAsync {
          realm.add(Dog())
        } onComplete: { error in
          #expect(error == nil)
          isDone = true
        }
      }
      runLoop { isDone }
      #expect(realm.objects(Dog.self).count == 1)
    }
  }

  /// A thread whose loop ends while its write waits keeps neither the Realm nor the queue of
  /// writers.
  @Test func aThreadThatEndsDropsItsWrites() {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (isHeld, mayEnd, log) = (Event(), Event(), Log())
    let holder = startThread("holder") {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isHeld.happen()
      mayEnd.wait()
      realm.cancelWrite()
    }
    isHeld.wait()
    onThread {
      nonisolated(unsafe) let realm = try! Realm(configuration: configuration)
      let loop = RunLoop.current
      nonisolated(unsafe) var isQueued = false
      loop.perform {
        realm.writeAsync {
          realm.add(Dog())
        } onComplete: { error in
          log.add("\((error as? Realm.Error)?.code == .fail) \(realm.isInWriteTransaction)")
        }
        isQueued = true
      }
      runLoop { isQueued }
    }
    #expect(eventually { log.all == ["true false"] })
    mayEnd.happen()
    holder.joinInTime()
    // Nobody has the file open any more.
    #expect(eventually { (try? Realm.deleteFiles(for: configuration)) == true })
  }

  /// A completion that tries again is told, too.
  @Test func aThreadThatEndsRefusesWrites() {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let (isHeld, mayEnd, log) = (Event(), Event(), Log())
    let holder = startThread("holder") {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isHeld.happen()
      mayEnd.wait()
      realm.cancelWrite()
    }
    isHeld.wait()
    onThread {
      nonisolated(unsafe) let realm = try! Realm(configuration: configuration)
      let loop = RunLoop.current
      nonisolated(unsafe) var isQueued = false
      loop.perform {
        realm.writeAsync {
          realm.add(Dog())
        } onComplete: { error in
          log.add("first \(error == nil)")
          realm.writeAsync {
            realm.add(Dog())
          } onComplete: { error in
            log.add("again \((error as? Realm.Error)?.code == .fail)")
          }
        }
        isQueued = true
      }
      runLoop { isQueued }
    }
    #expect(eventually { log.all == ["first false", "again true"] })
    mayEnd.happen()
    holder.joinInTime()
  }

  @Test @MainActor func theMainActorRunsWrites() async throws {
    let realm = try await Realm(configuration: memoryConfiguration())
    await withCheckedContinuation { continuation in
      realm.writeAsync {
        MainActor.assumeIsolated {}
        realm.add(Dog())
      } onComplete: { _ in
        continuation.resume()
      }
    }
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test func stops() async {
    let thread = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      onThread { try! memoryRealm().writeAsync {} }
    }
    expectStop(
      thread,
      "Cannot schedule async transaction. Make sure you are running from inside a run loop.")
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm().freeze()
      realm.beginAsyncWrite {}
    }
    expectStop(frozen, "Can't perform transactions on a frozen Realm")
    let commit = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let shared = await QueueRealm(memoryConfiguration())
      await shared.run { $0.realm.commitAsyncWrite() }
    }
    expectStop(commit, "Can't commit a non-existing write transaction")
  }
}
