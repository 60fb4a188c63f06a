// Several processes that open a file at the same time and write its header: what one of them has
// put there must not be overwritten by what another one has read before.
import Platform
import Simulation
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct HeaderRaceTests {
  private let disk = SimulatedDisk()
  private let path = "/data/a.realm"

  /// Opens the file in a process and stops it where it makes the file's name durable.
  ///
  /// Meanwhile another one begins a log and commits: no power cut may take back what it was told.
  private func keepsTheLog(of opening: @escaping @Sendable (StoreOptions) throws -> Void) throws {
    let (ours, theirs) = (FaultFileSystem(disk, process: 1), FaultFileSystem(disk, process: 2))
    ours.hold(.synchronizeFolder)
    let path = path
    let opener = Thread.start(name: "opener") {
      do { try opening(StoreOptions(path: path, fileSystem: ours)) } catch {
        Issue.record("\(error)")
      }
    }
    #expect(
      ours.wait(untilHeld: .synchronizeFolder, count: 1, nanoseconds: waitLimitNanoseconds))
    var options = StoreOptions(path: path, fileSystem: theirs)
    options.commitLog = .always
    let store = try Store.open(options)
    let first = try store.pinNewest()
    var content = SlotTree.content(first.reader, first.root)
    func write(_ slots: some Sequence<Int>, _ bytes: [UInt8]) throws {
      let transaction = try store.beginWrite()
      for slot in slots {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, bytes)
        content[slot] = bytes
      }
      _ = try transaction.commit()
    }
    // Commits go into the log when their blocks lie scattered.
    try write(0..<200, [UInt8](repeating: 1, count: 3_000))
    for round in 2..<200 where !store.isLogDirty {
      try write(
        stride(from: round % 9, to: 200, by: 9), [UInt8](repeating: UInt8(round), count: 3_000))
    }
    #expect(store.isLogDirty)
    let before = content
    ours.release(.synchronizeFolder)
    opener.joinInTime()
    var generator = RandomGenerator(seed: 11)
    for _ in 0..<50 { try check(disk.crashImage(random: &generator), before) }
    try write(stride(from: 3, to: 200, by: 11), [UInt8](repeating: 201, count: 3_000))
    let after = content
    for _ in 0..<50 { try check(disk.crashImage(random: &generator), after) }
    #expect(try store.checkInvariants().findings == [])
  }

  private func check(_ image: SimulatedDisk, _ content: [Int: [UInt8]]) throws {
    let store = try Store.open(StoreOptions(path: path, fileSystem: image))
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func whoMakesAFileKeepsTheLogOfWhoOpensIt() throws {
    try keepsTheLog { _ = try Store.open($0) }
  }

  @Test func whoOpensACompactedFileFirstKeepsTheLogOfOthers() throws {
    do { _ = try HoleyStore.fill(try Store.open(StoreOptions(path: path, fileSystem: disk))) }
    #expect(try Store.compact(StoreOptions(path: path, fileSystem: disk)))
    let image = disk.killImage()
    #expect(image.exists(path))
    try keepsTheLog { _ = try Store.compact($0) }
  }

  /// A copy has its name before it is durable: whoever opens it then waits.
  @Test func whoMakesACopyKeepsTheLogOfWhoOpensIt() throws {
    let source = try Store.open(StoreOptions(path: "/data/source.realm", fileSystem: disk))
    _ = try HoleyStore.fill(source)
    let system = FaultFileSystem(disk, process: 3)
    let other = try Store.open(StoreOptions(path: "/data/source.realm", fileSystem: system))
    system.hold(.synchronizeFolder)
    let path = path
    let copier = Thread.start(name: "copier") {
      do { try other.writeCopy(to: path) } catch { Issue.record("\(error)") }
    }
    #expect(
      system.wait(untilHeld: .synchronizeFolder, count: 1, nanoseconds: waitLimitNanoseconds))
    let opened = Monitor(false)
    let disk = disk
    let opener = Thread.start(name: "opener") {
      do {
        var options = StoreOptions(path: path, fileSystem: FaultFileSystem(disk, process: 4))
        options.commitLog = .always
        let store = try Store.open(options)
        opened.withLock { $0 = true }
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: 5, [1, 2, 3])
        _ = try transaction.commit()
      } catch { Issue.record("\(error)") }
    }
    #expect(opened.withLock { !$0 })
    system.release(.synchronizeFolder)
    copier.joinInTime()
    opener.joinInTime()
    var generator = RandomGenerator(seed: 12)
    for _ in 0..<20 {
      let image = disk.crashImage(random: &generator)
      let store = try Store.open(StoreOptions(path: path, fileSystem: image))
      let snapshot = try store.pinNewest()
      #expect(SlotTree.content(snapshot.reader, snapshot.root)[5] == [1, 2, 3])
    }
    #expect(!disk.exists(path + ".unfinished"))
  }

  // MARK: - With syncs or without

  private func open(
    _ system: FaultFileSystem, _ durability: Durability
  ) throws -> Store {
    try Store.open(StoreOptions(path: path, durability: durability, fileSystem: system))
  }

  private func commit(_ store: Store, _ slot: Int) throws {
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(
      transaction.editor, transaction.root, slot: slot, [UInt8(slot)])
    _ = try transaction.commit()
  }

  private func isRefused(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch StorageError.alreadyOpen { return true } catch { return false }
  }

  /// The first one has joined the others and has not come to mark the file.
  @Test func severalOpenAFileWithoutSyncsAtTheSameTime() throws {
    let systems = (1...3).map { FaultFileSystem(disk, process: $0) }
    systems[0].hold(.synchronizeFolder)
    let opened = Monitor<Store?>(nil)
    let path = path
    let first = systems[0]
    let opener = Thread.start(name: "opener") {
      do {
        let store = try Store.open(
          StoreOptions(path: path, durability: .memory, fileSystem: first))
        opened.withLock { $0 = store }
      } catch { Issue.record("\(error)") }
    }
    #expect(
      systems[0].wait(untilHeld: .synchronizeFolder, count: 1, nanoseconds: waitLimitNanoseconds))
    let second = try open(systems[1], .memory)
    try commit(second, 2)
    #expect(isRefused { _ = try open(systems[2], .full) })
    systems[0].release(.synchronizeFolder)
    opener.joinInTime()
    let store = try #require(opened.withLock { $0 })
    try commit(store, 1)
    #expect(SlotTree.content(try second.pinNewest().reader, try second.pinNewest().root).count == 2)
  }

  /// Who writes no more, but keeps a version, leaves the choice to the next ones.
  @Test(arguments: [Durability.full, .memory], [Durability.full, .memory])
  func pinsOfAnEndedStoreDoNotChooseForOthers(first: Durability, next: Durability) throws {
    let systems = (1...3).map { FaultFileSystem(disk, process: $0) }
    var store: Store? = try open(systems[0], first)
    try commit(store!, 1)
    let kept = try store!.pinNewest()
    store = nil
    let second = try open(systems[1], next)
    try commit(second, 2)
    #expect(isRefused { _ = try open(systems[2], next == .full ? .memory : .full) })
    let third = try open(systems[2], next)
    try commit(third, 3)
    #expect(try SlotTree.content(second.pinNewest().reader, second.pinNewest().root).count == 3)
    #expect(SlotTree.content(kept.reader, kept.root) == [1: [1]])
  }

  /// A reader neither chooses how the file is written nor cares how others do.
  @Test(arguments: [Durability.full, .memory], [Durability.full, .memory])
  func readersDoNotChooseForOthers(reading: Durability, writing: Durability) throws {
    let systems = (1...4).map { FaultFileSystem(disk, process: $0) }
    do { try commit(try open(systems[0], .full), 1) }
    func reader(_ system: FaultFileSystem) throws -> Store {
      try Store.open(
        StoreOptions(path: path, isReadOnly: true, durability: reading, fileSystem: system))
    }
    let readers = try [reader(systems[0]), reader(systems[1])]
    let writer = try open(systems[2], writing)
    try commit(writer, 2)
    #expect(isRefused { _ = try open(systems[3], writing == .full ? .memory : .full) })
    for store in try readers + [reader(systems[3])] {
      #expect(try SlotTree.content(store.pinNewest().reader, store.pinNewest().root).count == 2)
    }
  }

  /// The mark that syncs are left out must not go while somebody else relies on it.
  @Test func whoClosesAFileWithoutSyncsLeavesTheMarkToOthers() throws {
    let systems = (1...2).map { FaultFileSystem(disk, process: $0) }
    let closing = Monitor<Store?>(try open(systems[0], .memory))
    try commit(closing.withLock { $0! }, 1)
    systems[0].hold(.synchronize)
    systems[1].resetRecords()
    let closer = Thread.start(name: "closer") { closing.withLock { $0 = nil } }
    #expect(systems[0].wait(untilHeld: .synchronize, count: 1, nanoseconds: waitLimitNanoseconds))
    let opened = Monitor<Store?>(nil)
    let (path, theirs) = (path, systems[1])
    let opener = Thread.start(name: "opener") {
      do {
        let store = try Store.open(
          StoreOptions(path: path, durability: .memory, fileSystem: theirs))
        opened.withLock { $0 = store }
      } catch { Issue.record("\(error)") }
    }
    #expect(
      eventually {
        opened.withLock { $0 != nil }
          || theirs.records.contains {
            $0.call == .lockByte && $0.offset == UInt64(LockByte.write)
          }
      })
    systems[0].release(.synchronize)
    closer.joinInTime()
    opener.joinInTime()
    let store = try #require(opened.withLock { $0 })
    try commit(store, 2)
    #expect(throws: StorageError.self) {
      var generator = RandomGenerator(seed: 12)
      _ = try Store.open(
        StoreOptions(path: path, fileSystem: disk.crashImage(random: &generator)))
    }
  }

  /// A version that outlives its store does not say how others use the file.
  @Test(arguments: [1, 2]) func whoHasLeftOnlyPinsDecidesNothing(process: UInt64) throws {
    let systems = [1, process].map { FaultFileSystem(disk, process: $0) }
    func commitAndClose() throws -> Snapshot {
      let store = try open(systems[0], .memory)
      try commit(store, 1)
      return try store.pinNewest()
    }
    let snapshot = try commitAndClose()
    let store = try open(systems[1], .full)
    try commit(store, 2)
    #expect(SlotTree.content(snapshot.reader, snapshot.root).count == 1)
  }

  // MARK: - Deleted and made anew

  private func startDeleting(
    _ system: FaultFileSystem, only state: Store.FileState? = nil, expecting expected: Bool = true
  ) -> Thread {
    Thread.start(name: "deleter") { [path] in
      do {
        let isDeleted = try Store.deleteFiles(path: path, fileSystem: system, only: state)
        #expect(isDeleted == expected)
      } catch { Issue.record("\(error)") }
    }
  }

  /// Who deletes a file takes along what a kill has left of making it, which may be somebody's who
  /// makes it anew by then.
  @Test func aFileIsMadeAnewWhileTheOneOfBeforeIsBeingDeleted() throws {
    let systems = (1...2).map { FaultFileSystem(disk, process: $0) }
    try commit(open(systems[0], .full), 1)
    let left = try disk.open(path + ".unfinished", [.writable, .create])
    #expect(try left.length() == 0)
    systems[0].hold(.remove, pathSuffix: ".unfinished")
    systems[1].hold(.rename, pathSuffix: ".unfinished")
    let (path, deleting, making) = (path, systems[0], systems[1])
    let deleter = startDeleting(deleting)
    #expect(deleting.wait(untilHeld: .remove, count: 1, nanoseconds: waitLimitNanoseconds))
    let opener = Thread.start(name: "opener") {
      do {
        let store = try Store.open(StoreOptions(path: path, fileSystem: making))
        let snapshot = try store.pinNewest()
        #expect(snapshot.root.isNone)
      } catch { Issue.record("\(error)") }
    }
    #expect(making.wait(untilHeld: .rename, count: 1, nanoseconds: waitLimitNanoseconds))
    deleting.release(.remove)
    deleter.joinInTime()
    making.release(.rename)
    opener.joinInTime()
  }

  /// The lock file goes last: without it others use a new file, whose log would be deleted.
  @Test func theLockFileIsDeletedLast() throws {
    let systems = (1...2).map { FaultFileSystem(disk, process: $0) }
    try commit(open(systems[0], .full), 1)
    _ = try disk.open(path + ".log", [.writable, .create])
    systems[0].hold(.remove, pathSuffix: ".log")
    let (path, deleting, writing) = (path, systems[0], systems[1])
    let deleter = startDeleting(deleting)
    #expect(deleting.wait(untilHeld: .remove, count: 1, nanoseconds: waitLimitNanoseconds))
    let isOpen = Monitor(false)
    let opener = Thread.start(name: "opener") {
      do {
        let store = try Store.open(StoreOptions(path: path, fileSystem: writing))
        isOpen.withLock { $0 = true }
        isOpen.notifyAll()
        _ = try store.pinNewest()
      } catch { Issue.record("\(error)") }
    }
    // Long enough for an opening that nothing keeps.
    #expect(!isOpen.wait(nanoseconds: 100_000_000) { $0 })
    deleting.release(.remove)
    deleter.joinInTime()
    opener.joinInTime()
    #expect(isOpen.withLock { $0 })
  }

  /// Who wants to delete the file as it was once keeps nobody from opening it as it is.
  @Test func whoDeletesNothingIsInNobodysWay() throws {
    let systems = (1...2).map { FaultFileSystem(disk, process: $0) }
    let state = try {
      let store = try open(systems[0], .full)
      return store.fileState(try store.pinNewest().version)
    }()
    // The state is looked at twice, the second time with the file locked.
    let deleting = systems[0]
    deleting.hold(.lockByte, pathSuffix: ".lock")
    let deleter = startDeleting(deleting, only: state, expecting: false)
    #expect(deleting.wait(untilHeld: .lockByte, count: 1, nanoseconds: waitLimitNanoseconds))
    try commit(open(systems[1], .full), 1)
    deleting.resetRecords()
    deleting.release(.lockByte)
    deleter.joinInTime()
    // Who waits for the table finds the file free.
    let unlocked = deleting.records.filter { $0.call == .unlockByte && $0.path.hasSuffix(".lock") }
    #expect(unlocked.map(\.offset) == [LockByte.use, LockByte.table].map(UInt64.init))
    _ = try open(systems[1], .full)
  }
}
