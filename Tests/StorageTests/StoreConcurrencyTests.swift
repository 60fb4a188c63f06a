// Many threads on one store: writers that build on each other, readers that pin and check, group
// commit with real syncs. Run under the thread sanitizer in CI.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct StoreConcurrencyTests {
  static func number(_ bytes: [UInt8]?) -> UInt64 {
    bytes.map { $0.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } } ?? 0
  }

  static func bytes(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number) { [UInt8]($0) } + [UInt8](repeating: 1, count: 100)
  }

  /// Who asks whether a file is in use waits for idle work to give way; if that waited for the
  /// transaction of who asks, both would wait for ever.
  @Test func idleWorkDoesNotWaitForATransaction() throws {
    let disk = SimulatedDisk()
    func options(_ durability: Durability) -> StoreOptions {
      StoreOptions(
        path: "/data/idle.realm", durability: durability,
        fileSystem: FaultFileSystem(disk, allowsUnpromptedWork: true))
    }
    let store = try Store.open(options(.full))
    func begin(_ slots: Range<Int>, _ bytes: [UInt8]?) throws -> WriteTransaction {
      let transaction = try store.beginWrite()
      for slot in slots {
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
      return transaction
    }
    // A file that has become too long is work for the idle thread.
    _ = try begin(0..<128, [UInt8](repeating: 1, count: 8_000)).commit()
    let length = try store.statistics().fileBytes
    for _ in 0..<3 { _ = try begin(1..<128, nil).commit() }
    let transaction = try begin(0..<1, [1])
    let clock = MonotonicClock()
    // Several times as long as the thread waits before it works.
    let end = clock.nanoseconds() + 300_000_000
    while clock.nanoseconds() < end {
      #expect(throws: StorageError.self) { try Store.open(options(.memory)) }
    }
    _ = try transaction.commit()
    // It has not given up.
    #expect(try eventually { try store.statistics().fileBytes < length / 2 }, "\(length)")
  }

  /// Each transaction adds one to its own slot and to the total: no update is lost, no snapshot
  /// shows half a transaction, versions never go back.
  @Test(arguments: [Durability.memory, .full])
  func incrementsAreNeitherLostNorTorn(durability: Durability) throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/threads.realm", durability: durability))
    let writers = 4
    let rounds = durability == .full ? 60 : 300
    let isDone = Atomic<Bool>(false)
    let checks = Atomic<Int>(0)
    let failures = Monitor<[String]>([])
    let threads = (0..<writers).map { writer in
      Thread.start(name: "writer-\(writer)") {
        for _ in 0..<rounds {
          do {
            let transaction = try store.beginWrite()
            let content = SlotTree.content(transaction.editor.reader, transaction.root)
            for slot in [0, 1 + writer] {
              transaction.root = SlotTree.set(
                transaction.editor, transaction.root, slot: slot,
                Self.bytes(Self.number(content[slot]) + 1))
            }
            let version = transaction.version
            let snapshot = try transaction.commit()
            if snapshot.version != version || store.newestVersion < version {
              failures.withLock { $0.append("version \(version) is not visible after commit") }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    let readers = (0..<2).map { reader in
      Thread.start(name: "reader-\(reader)") {
        var last = Version(0)
        // Once at least, even when the writers are done first.
        repeat {
          guard let snapshot = try? store.pinNewest() else { continue }
          if snapshot.version < last {
            failures.withLock { $0.append("\(snapshot.version) after \(last)") }
          }
          last = snapshot.version
          let content = SlotTree.content(snapshot.reader, snapshot.root)
          let parts = (1...writers).reduce(UInt64(0)) { $0 + Self.number(content[$1]) }
          if parts != Self.number(content[0]) {
            failures.withLock { $0.append("version \(last) is torn") }
          }
          checks.add(1, ordering: .relaxed)
        } while !isDone.load(ordering: .relaxed)
      }
    }
    for thread in threads { thread.joinInTime() }
    isDone.store(true, ordering: .relaxed)
    for thread in readers { thread.joinInTime() }
    #expect(failures.withLock { $0 } == [])
    #expect(checks.load(ordering: .relaxed) > 0)
    let snapshot = try store.pinNewest()
    let content = SlotTree.content(snapshot.reader, snapshot.root)
    #expect(Self.number(content[0]) == UInt64(writers * rounds))
    let statistics = try store.statistics()
    #expect(statistics.commits == UInt64(writers * rounds))
    #expect(try store.checkInvariants().findings == [])
  }

  /// Commits that come during a sync are made durable together by the next one.
  @Test func commitsThatWaitShareASync() throws {
    let files = FaultFileSystem(SimulatedDisk())
    let store = try Store.open(StoreOptions(path: "/data/shared.realm", fileSystem: files))
    let before = try store.statistics()
    func start(slot: Int) -> Thread {
      Thread.start(name: "committer") {
        do {
          let transaction = try store.beginWrite()
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, Self.bytes(UInt64(slot)))
          _ = try transaction.commit()
        } catch {
          Issue.record(error)
        }
      }
    }
    files.hold(.synchronize)
    var threads = [start(slot: 0)]
    files.waitUntilHeld(.synchronize)
    for slot in 1...8 { threads.append(start(slot: slot)) }
    #expect(try eventually { try store.statistics().commits == before.commits + 9 })
    files.release(.synchronize)
    for thread in threads { thread.joinInTime() }
    #expect(try store.statistics().syncs == before.syncs + 2)
  }

  /// Readers take and drop the newest version while it is replaced all the time: each has a living
  /// object.
  ///
  /// A retain that happens after the announcement is withdrawn crashes here.
  @Test func theNewestSnapshotIsAliveWhenTaken() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/newest.realm", durability: .memory))
    let isDone = Atomic<Bool>(false)
    let failures = Monitor<[String]>([])
    let readers = (0..<3).map { reader in
      Thread.start(name: "taker-\(reader)") {
        var last = Version(0)
        var root: BlockReference?
        while !isDone.load(ordering: .relaxed) {
          guard let snapshot = try? store.pinNewest() else { continue }
          // One version has one root: an object that was freed and made anew shows another.
          let isTorn = snapshot.version == last && root != nil && snapshot.root != root
          if snapshot.version < last || isTorn {
            failures.withLock { $0.append("\(snapshot.version) after \(last)") }
          }
          (last, root) = (snapshot.version, snapshot.root)
        }
      }
    }
    for value in 1...UInt64(6000) {
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: 0, Self.bytes(value))
      _ = try transaction.commit()
    }
    isDone.store(true, ordering: .relaxed)
    for thread in readers { thread.joinInTime() }
    #expect(failures.withLock { $0 } == [])
    let newest = try store.pinNewest()
    #expect(Self.number(SlotTree.content(newest.reader, newest.root)[0]) == 6000)
  }

  /// A limit on live versions is exact, its error is typed, and the data is untouched.
  @Test func tooManyVersionsAreRefused() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(
        path: folder.path + "/limit.realm", durability: .memory, maximumNumberOfActiveVersions: 4))
    func commit(_ value: UInt64) throws {
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: 0, Self.bytes(value))
      _ = try transaction.commit()
    }
    try commit(1)
    var pins: [Snapshot] = []
    for value in 2...3 {
      pins.append(try store.pinNewest())
      try commit(UInt64(value))
    }
    pins.append(try store.pinNewest())
    // Live: two old pins, the newest, and the one to be made: four.
    try commit(4)
    pins.append(try store.pinNewest())
    #expect(throws: StorageError.tooManyVersions(path: store.path, limit: 4, live: 5)) {
      try commit(5)
    }
    let snapshot = try store.pinNewest()
    #expect(Self.number(SlotTree.content(snapshot.reader, snapshot.root)[0]) == 4)
    pins = []
    try commit(6)
  }

  /// Writers are served in the order in which they came.
  @Test func theWriteLockIsFair() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/fair.realm", durability: .memory))
    let held = try store.beginWrite()
    let order = Monitor<[Int]>([])
    var threads: [Thread] = []
    for number in 0..<6 {
      threads.append(
        Thread.start(name: "queued-\(number)") {
          guard let transaction = try? store.beginWrite() else { return }
          order.withLock { $0.append(number) }
          transaction.cancel()
        })
      // The next one is started only when this one waits.
      store.waitForQueuedWriters(number + 1)
    }
    held.cancel()
    for thread in threads { thread.joinInTime() }
    #expect(order.withLock { $0 } == [0, 1, 2, 3, 4, 5])
  }

  /// An asynchronous waiter may have no thread to run on: a lock kept for it would be kept for
  /// ever.
  @Test func anOfferKeepsNobodyFromWriting() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/offered.realm", durability: .memory))
    let offers = Monitor(0)
    let offer = WriteOffer {
      offers.withLock { $0 += 1 }
      offers.notifyAll()
    }
    let held = try store.beginWrite()
    store.requestWrite(offer)
    held.cancel()
    offers.waitInTime(for: "an offer of the lock") { $0 > 0 }
    // Nobody takes it.
    let hasWritten = Monitor(false)
    let writer = Thread.start(name: "writer") {
      if let transaction = try? store.beginWrite() {
        transaction.cancel()
        hasWritten.withLock { $0 = true }
        hasWritten.notifyAll()
      }
    }
    #expect(hasWritten.wait(nanoseconds: waitLimitNanoseconds) { $0 })
    store.withdrawRequest(offer)
    writer.joinInTime()
  }
}
