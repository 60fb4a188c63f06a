// Asynchronous commits: no call to the file on the caller's thread, reading what nobody has written
// yet, and what is lost when it cannot be written.
import Glibc
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct DeferredCommitTests {
  /// A store whose asynchronous commits are noted as they are told.
  private final class Fixture: Sendable {
    let disk = SimulatedDisk()
    let system: FaultFileSystem
    let store: Store
    private let told = Monitor<[(version: Version, failure: StorageError?)]>([])

    init(key: [UInt8]? = nil, durability: Durability = .full) throws {
      system = FaultFileSystem(disk)
      store = try Store.open(
        StoreOptions(
          path: "/data/deferred.realm", durability: durability, fileSystem: system,
          encryptionKey: key))
    }

    /// Sets slots in a transaction begun by an offer.
    @discardableResult
    func commit(_ slots: [Int: [UInt8]?]) throws -> Snapshot {
      let transaction = try beginWithoutWaiting(store)
      for (slot, bytes) in slots.sorted(by: { $0.key < $1.key }) {
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
      let version = transaction.version
      return try transaction.commitAsynchronously(awaitsMore: false) { [told] failure in
        told.withLock { $0.append((version, failure)) }
        told.notifyAll()
      }
    }

    /// A commit whose group is held in a call, so that what follows is unwritten.
    func commitHeld(in call: FileCall) throws {
      system.hold(call)
      try commit([1: [1]])
      system.waitUntilHeld(call)
    }

    /// Waits for so many completions.
    func told(_ count: Int) -> [(version: Version, failure: StorageError?)] {
      #expect(told.wait(nanoseconds: waitLimitNanoseconds) { $0.count >= count })
      return told.withLock { $0 }
    }

    var calls: [FileCallRecord] { system.records.filter { $0.thread == .current } }

    func newest() throws -> [Int: [UInt8]] {
      let snapshot = try store.pinNewest()
      return SlotTree.content(snapshot.reader, snapshot.root)
    }
  }

  private static func content(_ snapshot: Snapshot) -> [Int: [UInt8]] {
    SlotTree.content(snapshot.reader, snapshot.root)
  }

  private static let key = [UInt8](0..<64)

  /// Growth, pins that come and go, and a file that gets shorter included.
  @Test(arguments: [nil, key]) func theCallerMakesNoCallToTheFile(key: [UInt8]?) async throws {
    await withSeeds(2) { random in
      let fixture = try Fixture(key: key)
      try fixture.commit([0: [1]])
      _ = fixture.told(1)
      // Pages are touched for the first time, and the lock between processes is taken, once.
      let before = fixture.calls.count
      var model: [Int: [UInt8]] = [0: [1]]
      var pins: [(Snapshot, [Int: [UInt8]])] = []
      for step in 1...200 {
        var changes: [Int: [UInt8]?] = [:]
        let isRemoval = step % 50 > 40
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          let slot = Int.random(in: 0..<400, using: &random)
          let length = Int.random(in: 0..<3000, using: &random)
          changes[slot] = .some(isRemoval ? nil : [UInt8](repeating: UInt8(step), count: length))
        }
        let snapshot = try fixture.commit(changes)
        model.merge(changes.compactMapValues { $0 }) { $1 }
        for case (let slot, nil) in changes { model[slot] = nil }
        #expect(Self.content(snapshot) == model, "step \(step)")
        if random.oneIn(10) { pins.append((snapshot, model)) }
        if random.oneIn(20), !pins.isEmpty { pins.removeFirst() }
      }
      // The kernel's table of locks is asked for readers without a lock file; no disk is.
      let calls = fixture.calls.dropFirst(before).map(\.call).filter { $0 != .isByteLocked }
      #expect(calls == [], "on the caller's thread")
      _ = fixture.told(201)
      for (snapshot, content) in pins { #expect(Self.content(snapshot) == content) }
      #expect(try fixture.newest() == model)
      #expect(try fixture.store.checkInvariants().findings == [])
      #expect(fixture.told(201).map(\.version) == fixture.told(201).map(\.version).sorted())
    }
  }

  @Test(arguments: [nil, key]) func unwrittenVersionsAreReadAndBuiltOn(key: [UInt8]?) throws {
    let fixture = try Fixture(key: key)
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    fixture.system.hold(.write)
    var pins: [Snapshot] = []
    for number in 1...20 { pins.append(try fixture.commit([number: [UInt8(number)]])) }
    for (index, pin) in pins.enumerated() {
      #expect(Self.content(pin).count == index + 2)
      #expect(Self.content(pin)[index + 1] == [UInt8(index + 1)])
    }
    // Not durable, so nobody else sees it.
    #expect(try fixture.newest() == [0: [0]])
    fixture.system.release(.write)
    #expect(fixture.told(21).allSatisfy { $0.failure == nil })
    #expect(try fixture.newest().count == 21)
    for (index, pin) in pins.enumerated() {
      #expect(Self.content(pin).count == index + 2)
      #expect(Self.content(pin.settled) == Self.content(pin))
    }
    #expect(try fixture.store.checkInvariants().findings == [])
  }

  /// A writer that waits for its turn anyway writes what it builds on, and need not wait for the
  /// sync of the group before.
  @Test func aSynchronousWriterWritesWhatItBuildsOn() throws {
    let fixture = try Fixture()
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    try fixture.commitHeld(in: .synchronize)
    try fixture.commit([2: [2]])
    try fixture.commit([3: [3]])
    let before = fixture.calls.count { $0.call == .write }
    let transaction = try fixture.store.beginWrite()
    #expect(fixture.calls.count { $0.call == .write } > before)
    #expect(Self.content(transaction.base).count == 4)
    transaction.cancel()
    fixture.system.release(.synchronize)
    #expect(fixture.told(4).allSatisfy { $0.failure == nil })
    #expect(try fixture.newest().count == 4)
  }

  @Test func groupsShareTheirRecordAndSync() throws {
    let fixture = try Fixture()
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    try fixture.commitHeld(in: .synchronize)
    let syncs = fixture.system.count(of: .synchronize)
    let writes = fixture.system.count(of: .write)
    for number in 2...65 { try fixture.commit([number: [UInt8](repeating: 7, count: 100)]) }
    fixture.system.release(.synchronize)
    _ = fixture.told(66)
    #expect(fixture.system.count(of: .synchronize) - syncs <= 2)
    // A record for each commit would be 64 writes, without the blocks.
    #expect(fixture.system.count(of: .write) - writes < 64)
  }

  /// What cannot be written is lost, with all that builds on it; everything else goes on.
  @Test(arguments: [nil, key], [ENOSPC, EIO]) func lostVersions(key: [UInt8]?, code: Int32) throws {
    let fixture = try Fixture(key: key)
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    // One group waits in its sync; what follows is in the next one.
    try fixture.commitHeld(in: .synchronize)
    let lost = try (2...9).map {
      try fixture.commit([$0: [UInt8](repeating: UInt8($0), count: 20)])
    }
    fixture.system.inject(FileFault([.write], code: code, skip: 1, times: 1, writtenBytes: 10))
    fixture.system.release(.synchronize)
    let told = fixture.told(10)
    #expect(told.map(\.version) == told.map(\.version).sorted())
    #expect(told[..<2].allSatisfy { $0.failure == nil })
    // The first write after the sync may have held all of one commit.
    #expect(told[3...].allSatisfy { $0.failure != nil })
    let kept = 2 + told[2...].prefix { $0.failure == nil }.count
    for (index, snapshot) in lost.enumerated() {
      #expect(fixture.store.isLost(snapshot.version) == (index + 2 >= kept))
    }
    // The file is as if they had never been, and takes their space for others.
    #expect(try fixture.newest().count == kept)
    let next = try fixture.commit([20: [20]])
    #expect(next.version > lost.last!.version)
    for number in 21...60 { try fixture.commit([number: [UInt8](repeating: 9, count: 500)]) }
    #expect(fixture.told(51)[10...].allSatisfy { $0.failure == nil })
    #expect(try fixture.newest().count == kept + 41)
    #expect(try fixture.store.checkInvariants().findings == [])
    // Who holds one goes on reading it.
    for (index, snapshot) in lost.enumerated() {
      #expect(Self.content(snapshot).count == index + 3)
      #expect(Self.content(snapshot)[index + 2] == [UInt8](repeating: UInt8(index + 2), count: 20))
    }
  }

  /// A transaction that is open when its base is lost cannot be committed; the next one can.
  @Test(arguments: [false, true]) func anOpenTransactionOnALostVersion(isAsynchronous: Bool) throws
  {
    let fixture = try Fixture()
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    // The first write is struck, and waits before it fails.
    fixture.system.inject(FileFault([.write], code: ENOSPC, times: 1))
    fixture.system.hold(.write)
    try fixture.commit([1: [1]])
    let transaction = try beginWithoutWaiting(fixture.store)
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 2, [2])
    fixture.system.release(.write)
    #expect(fixture.told(2)[1].failure != nil)
    #expect(throws: StorageError.self) {
      if isAsynchronous {
        _ = try transaction.commitAsynchronously(awaitsMore: false) { _ in }
      } else {
        _ = try transaction.commit()
      }
    }
    try fixture.commit([3: [3]])
    #expect(fixture.told(3)[2].failure == nil)
    #expect(try fixture.newest() == [0: [0], 3: [3]])
    #expect(try fixture.store.checkInvariants().findings == [])
  }

  /// The group that builds on one that cannot be written is lost with it, whoever writes.
  @Test func lossesReachTheGroupBehind() throws {
    let fixture = try Fixture()
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    fixture.system.inject(FileFault([.write], code: ENOSPC, times: 1))
    try fixture.commitHeld(in: .write)
    for number in 2...5 { try fixture.commit([number: [UInt8(number)]]) }
    fixture.system.release(.write)
    #expect(fixture.told(6)[1...].allSatisfy { $0.failure != nil })
    #expect(try fixture.newest() == [0: [0]])
    #expect(try fixture.store.checkInvariants().findings == [])
  }

  @Test func aFailedSyncLosesWhatIsUnwrittenToo() throws {
    let fixture = try Fixture()
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    try fixture.commitHeld(in: .synchronize)
    let pins = try (2...9).map { try fixture.commit([$0: [UInt8($0)]]) }
    fixture.system.failAll(.synchronize, code: EIO)
    fixture.system.release(.synchronize)
    let told = fixture.told(10)
    #expect(told.map(\.version) == told.map(\.version).sorted())
    #expect(told[2...].allSatisfy { $0.failure != nil })
    for (index, pin) in pins.enumerated() {
      #expect(fixture.store.isLost(pin.version))
      #expect(Self.content(pin).count == index + 3)
    }
    #expect {
      _ = try beginWithoutWaiting(fixture.store)
    } throws: { error in
      if case .previousSyncFailure = error as? StorageError { true } else { false }
    }
  }

  /// Also of what a blocking writer has made durable while those before are still being told.
  @Test func completionsComeInCommitOrder() throws {
    let store = try Fixture().store
    let order = Monitor<[Int]>([])
    let isTold = Monitor(false)
    let mayGoOn = Monitor(false)
    func commit(_ number: Int, changes: Bool = true) throws {
      let transaction = try beginWithoutWaiting(store)
      if changes {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: number, [UInt8(number)])
      }
      _ = try transaction.commitAsynchronously(awaitsMore: false) { failure in
        #expect(failure == nil)
        if number == 1 {
          isTold.withLock { $0 = true }
          isTold.notifyAll()
          #expect(mayGoOn.wait(nanoseconds: waitLimitNanoseconds) { $0 })
        }
        order.withLock { $0.append(number) }
        order.notifyAll()
      }
    }
    try commit(1)
    #expect(isTold.wait(nanoseconds: waitLimitNanoseconds) { $0 })
    try commit(2)
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 3, [3])
    let snapshot = try transaction.commit()
    #expect(store.newestVersion == snapshot.version)
    try commit(4, changes: false)
    #expect(order.withLock { $0 } == [])
    mayGoOn.withLock { $0 = true }
    mayGoOn.notifyAll()
    #expect(order.wait(nanoseconds: waitLimitNanoseconds) { $0.count == 3 })
    #expect(order.withLock { $0 } == [1, 2, 4])
  }

  /// What is dropped must not keep the lock from other processes, which learn of the failure.
  @Test func aFailedSyncLetsOtherProcessesGoOn() throws {
    let fixture = try Fixture()
    let other = try Store.open(
      StoreOptions(
        path: "/data/deferred.realm", fileSystem: FaultFileSystem(fixture.disk, process: 2)))
    try fixture.commit([0: [0]])
    _ = fixture.told(1)
    // The sync that is in flight fails, while a commit behind it is in no file yet.
    fixture.system.failAll(.synchronize, code: EIO)
    try fixture.commitHeld(in: .synchronize)
    try fixture.commit([2: [2]])
    fixture.system.release(.synchronize)
    #expect(fixture.told(3)[1...].allSatisfy { $0.failure != nil })
    #expect(throws: StorageError.self) { try other.beginWrite().cancel() }
  }

  @Test func whoIsToldMayOpenTheFileWithOtherSettings() throws {
    let system = FaultFileSystem(SimulatedDisk())
    for round in 0..<200 {
      let told = Monitor(false)
      func commitAndClose() throws {
        let store = try Store.open(
          StoreOptions(
            path: "/data/settings.realm", durability: round % 2 == 0 ? .full : .memory,
            fileSystem: system))
        let transaction = try beginWithoutWaiting(store)
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: 1, [UInt8(round)])
        _ = try transaction.commitAsynchronously(awaitsMore: false) { _ in
          told.withLock { $0 = true }
          told.notifyAll()
        }
      }
      try commitAndClose()
      #expect(told.wait(nanoseconds: waitLimitNanoseconds) { $0 })
    }
  }

  /// Nobody holds a store any more that is being closed, but it is not yet gone.
  @Test func whoOpensAFileThatIsBeingClosedWaits() throws {
    let system = FaultFileSystem(SimulatedDisk())
    @Sendable func open(_ durability: Durability) throws -> Store {
      try Store.open(
        StoreOptions(path: "/data/closing.realm", durability: durability, fileSystem: system))
    }
    @Sendable func commitAndClose() throws {
      let transaction = try open(.memory).beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 1, [1])
      _ = try transaction.commit()
      // Closing a file without syncs ends with one.
      system.hold(.synchronize)
    }
    let closing = Thread.start(name: "closing") { try! commitAndClose() }
    system.waitUntilHeld(.synchronize)
    system.resetRecords()
    let opened = Monitor<Result<Int, any Error>?>(nil)
    let opening = Thread.start(name: "opening") {
      let result = Result { Self.content(try open(.full).pinNewest()).count }
      opened.withLock { $0 = result }
    }
    #expect(eventually { system.records.contains { $0.call == .open } })
    system.release(.synchronize)
    closing.joinInTime()
    opening.joinInTime()
    #expect(try opened.withLock { try $0?.get() } == 1)
  }

  /// A file without syncs shows asynchronous commits as soon as they are written.
  @Test func filesWithoutSyncs() throws {
    let fixture = try Fixture(durability: .memory)
    for number in 0..<50 {
      try fixture.commit([number: [UInt8(number)]])
      if number % 7 == 0 {
        let transaction = try fixture.store.beginWrite()
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 100, [1])
        _ = try transaction.commit()
        #expect(try fixture.newest().count == number + 2)
      }
    }
    #expect(fixture.told(50).allSatisfy { $0.failure == nil })
    #expect(try fixture.newest().count == 51)
    #expect(try fixture.store.checkInvariants().findings == [])
  }

  /// Another process gets the lock when everything is written, and finds it.
  @Test func anotherProcessFindsEverything() throws {
    let disk = SimulatedDisk()
    let stores = try (1...2).map { number in
      try Store.open(
        StoreOptions(
          path: "/data/shared.realm", fileSystem: FaultFileSystem(disk, process: number)))
    }
    let done = Monitor(0)
    for number in 0..<40 {
      for store in stores {
        let transaction = try beginWithoutWaiting(store)
        // Each builds on the other's last.
        let content = Self.content(transaction.base)
        let value = content[0]?.first ?? 0
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: 0, [value + 1])
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: number + 1, [value])
        _ = try transaction.commitAsynchronously(awaitsMore: false) { failure in
          #expect(failure == nil)
          done.withLock { $0 += 1 }
          done.notifyAll()
        }
      }
    }
    #expect(done.wait(nanoseconds: waitLimitNanoseconds) { $0 == 80 })
    for store in stores {
      let newest = try store.pinNewest()
      #expect(Self.content(newest)[0] == [80])
      #expect(try store.checkInvariants().findings == [])
    }
  }
}
