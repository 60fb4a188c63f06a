// Compaction in its two forms, the question asked at opening, and questions about closed files.
internal import Glibc
internal import Platform
import Simulation
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CompactionTests {
  /// A closed file with holes.
  private static func makeFile(
    _ path: String, _ system: any FileSystem = LinuxFileSystem()
  ) throws -> [Int: [UInt8]] {
    let store = try Store.open(StoreOptions(path: path, fileSystem: system))
    return try HoleyStore.fill(store)
  }

  private static func length(_ path: String) throws -> Int { try StoreFile.bytes(path).count }

  @Test func aClosedFileIsReplaced() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let before = try Self.length(path)
    let identifier = try StoreFile.bytes(path)[32..<56]
    #expect(try Store.compact(StoreOptions(path: path)))
    #expect(try Self.length(path) < before)
    #expect(try StoreFile.bytes(path)[32..<56] != identifier)
    try HoleyStore.check(path, content)
    // The lock file is the new file's.
    let store = try Store.open(StoreOptions(path: path))
    _ = try HoleyStore.fill(store, commits: 3)
    #expect(try store.checkInvariants().findings == [])
    #expect(!LinuxFileSystem().exists(path + ".unfinished"))
  }

  @Test func aStoreInUseStaysItsFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let store = try Store.open(StoreOptions(path: path))
    let content = try HoleyStore.fill(store)
    let identifier = try StoreFile.bytes(path)[32..<56]
    #expect(try Store.compact(StoreOptions(path: path)))
    #expect(try StoreFile.bytes(path)[32..<56] == identifier)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func pinsStopIt() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    func fill(_ byte: UInt8?) throws {
      let transaction = try store.beginWrite()
      for slot in 0..<400 {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot,
          byte.map { [UInt8](repeating: $0, count: 3000) })
      }
      _ = try transaction.commit()
    }
    try fill(1)
    var pin: Snapshot? = try store.pinNewest()
    try fill(nil)
    #expect(try store.compact() == false)
    #expect(SlotTree.content(pin!.reader, pin!.root).count == 400)
    pin = nil
    #expect(try store.compact())
    #expect(try store.statistics().fileBytes < 400_000)
  }

  @Test func anotherProcessKeepsTheFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let other = FaultFileSystem(LinuxFileSystem(), process: 1)
    let store = try Store.open(StoreOptions(path: path, fileSystem: other))
    let identifier = try StoreFile.bytes(path)[32..<56]
    _ = try Store.compact(StoreOptions(path: path))
    #expect(try StoreFile.bytes(path)[32..<56] == identifier)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }

  /// Whoever has opened the old file but not joined its lock file opens the new one instead.
  @Test func whoComesDuringTheReplacementGetsTheNewFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let identifier = try StoreFile.bytes(path)[32..<56]
    let system = FaultFileSystem(LinuxFileSystem())
    system.hold(.mapShared)
    let thread = Thread.start(name: "newcomer") {
      do { try HoleyStore.check(path, content, system) } catch { Issue.record(error) }
    }
    system.waitUntilHeld(.mapShared)
    let child = try ProcessDeathTests.Child(path, "compact")
    _ = child.read(lines: 1)
    #expect(try StoreFile.bytes(path)[32..<56] != identifier)
    system.release(.mapShared)
    thread.joinInTime()
    _ = child.kill(after: 0)
  }

  // MARK: - At opening

  @Test func openingAsksWithTheSizes() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let length = try Self.length(path)
    let asked = Monitor<[[Int]]>([])
    func options(_ answer: Bool) -> StoreOptions {
      StoreOptions(
        path: path,
        shouldCompact: { total, used in
          asked.withLock { $0.append([total, used]) }
          return answer
        })
    }
    do {
      let store = try Store.open(options(false))
      #expect(try store.statistics().fileBytes == UInt64(length))
      // The second opener is not asked.
      let second = try Store.open(options(true))
      #expect(second === store)
    }
    let sizes = asked.withLock { $0 }
    #expect(sizes.count == 1 && sizes[0][0] == length)
    #expect(sizes[0][1] > 10_000 && sizes[0][1] < length)

    let store = try Store.open(options(true))
    #expect(asked.withLock { $0.count } == 2)
    let statistics = try store.statistics()
    #expect(statistics.fileBytes <= UInt64(sizes[0][1] + 4096))
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }

  /// Found by `realm-bench hunt --scenario store-compaction`.
  @Test(arguments: [false, true])
  func whatAProcessWroteBeforeTheReplacementIsInTheNewFile(writesEarly: Bool) throws {
    let disk = SimulatedDisk()
    let path = "/data/a.realm"
    var content = try Self.makeFile(path, disk)
    let news = (1...6).map { ($0, [UInt8](repeating: UInt8($0), count: 700)) }
    for (slot, bytes) in news { content[slot] = bytes }
    @Sendable func write(_ store: Store) throws {
      for (slot, bytes) in news {
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, bytes)
        _ = try transaction.commit()
      }
    }
    let (ours, theirs) = (FaultFileSystem(disk, process: 1), FaultFileSystem(disk, process: 2))
    // Opened at the question, before the file can be replaced.
    let opened = Monitor<Store?>(nil)
    let opener = Thread.start(name: "opener") {
      do {
        let store = try Store.open(
          StoreOptions(
            path: path, fileSystem: ours,
            shouldCompact: { _, _ in
              do {
                var options = StoreOptions(path: path, fileSystem: theirs)
                options.commitLog = .always
                let other = try Store.open(options)
                if writesEarly { try write(other) }
                opened.withLock { $0 = other }
              } catch { Issue.record("\(error)") }
              // It comes as far as to the lock under which files are replaced.
              ours.hold(.lockByte, pathSuffix: ".lock")
              return true
            }))
        #expect(try store.statistics().fileBytes < 500_000)
      } catch { Issue.record("\(error)") }
    }
    #expect(ours.wait(untilHeld: .lockByte, count: 1, nanoseconds: waitLimitNanoseconds))
    do {
      let store = try #require(
        opened.withLock { opened in
          defer { opened = nil }
          return opened
        })
      if !writesEarly { try write(store) }
    }
    let written = disk.operationCount
    ours.release(.lockByte)
    opener.joinInTime()
    try HoleyStore.check(path, content, disk)
    // A power cut may bring the old file back, without a log.
    var generator = RandomGenerator(seed: 7)
    for operation in written...disk.operationCount {
      let image = disk.crashImage(cutAfterOperation: operation, random: &generator)
      try HoleyStore.check(path, content, image)
    }
  }

  @Test func onlyTheFirstOpenerOfAllProcessesIsAsked() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    _ = try Self.makeFile(path)
    let other = FaultFileSystem(LinuxFileSystem(), process: 1)
    let store = try Store.open(StoreOptions(path: path, fileSystem: other))
    _ = try Store.open(
      StoreOptions(
        path: path,
        shouldCompact: { _, _ in
          Issue.record("asked although it is open")
          return true
        }))
    withExtendedLifetime(store) {}
  }

  /// The question may open the file itself; then it has other users.
  @Test func whoOpensItMeanwhileKeepsTheFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let inside = Monitor<Store?>(nil)
    let store = try Store.open(
      StoreOptions(
        path: path,
        shouldCompact: { _, _ in
          let store = try? Store.open(StoreOptions(path: path))
          inside.withLock { $0 = store }
          return true
        }))
    #expect(inside.withLock { $0 } === store)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
  }

  @Test func aNewFileIsNotCompacted() throws {
    let folder = TemporaryFolder()
    _ = try Store.open(
      StoreOptions(
        path: folder.file("a.realm"),
        shouldCompact: { _, _ in
          Issue.record("asked about an empty file")
          return true
        }))
  }

  @Test func aFullDiskDoesNotKeepItFromOpening() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let system = FaultFileSystem(LinuxFileSystem())
    system.inject(FileFault([.write], code: ENOSPC, pathSuffix: ".unfinished"))
    let store = try Store.open(
      StoreOptions(path: path, fileSystem: system, shouldCompact: { _, _ in true }))
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(!LinuxFileSystem().exists(path + ".unfinished"))
  }

  /// Every call of a compaction fails once: the old file or the new one, and it opens.
  @Test func everyFailingCallLeavesAWholeFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let image = try StoreFile.bytes(path)
    let recorder = FaultFileSystem(LinuxFileSystem())
    _ = try Store.compact(StoreOptions(path: path, fileSystem: recorder))
    let faulty: Set<FileCall> = [
      .open, .write, .setLength, .synchronize, .rename, .synchronizeFolder,
    ]
    let calls = recorder.records.count { faulty.contains($0.call) }
    #expect(calls > 10)
    for number in 0..<calls {
      try StoreFile.replace(path, image)
      let system = FaultFileSystem(LinuxFileSystem())
      system.inject(FileFault(faulty, code: EIO, skip: number, times: 1))
      do throws(StorageError) {
        _ = try Store.compact(StoreOptions(path: path, fileSystem: system))
      } catch {
        #expect(!LinuxFileSystem().exists(path + ".unfinished"), "call \(number)")
      }
      try HoleyStore.check(path, content)
    }
  }

  // MARK: - Closed files

  @Test func closedFilesAnswer() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let system = LinuxFileSystem()
    #expect(!Store.fileExists(path: path, fileSystem: system))
    #expect(!Store.fileExists(path: folder.path, fileSystem: system))
    #expect(try !Store.isOpenAnywhere(path: path, fileSystem: system))
    #expect(throws: StorageError.fileNotFound(path: path)) {
      try Store.withNewestVersion(path: path, fileSystem: system) { _ in }
    }
    let content = try Self.makeFile(path)
    #expect(Store.fileExists(path: path, fileSystem: system))
    #expect(try !Store.isOpenAnywhere(path: path, fileSystem: system))
    let image = try StoreFile.bytes(path)
    let read = try Store.withNewestVersion(path: path, fileSystem: system) {
      SlotTree.content($0.reader, $0.root)
    }
    #expect(read == content)
    #expect(try StoreFile.bytes(path) == image)
    #expect(try !Store.isOpenAnywhere(path: path, fileSystem: system))
    // With any settings, and nobody else's settings depend on it.
    let store = try Store.open(StoreOptions(path: path, durability: .memory))
    let again = try Store.withNewestVersion(path: path, fileSystem: system) {
      SlotTree.content($0.reader, $0.root)
    }
    #expect(again == content)
    #expect(try Store.isOpenAnywhere(path: path, fileSystem: system))
    withExtendedLifetime(store) {}
  }

  @Test func anOpenFileIsNotDeleted() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    _ = try Self.makeFile(path)
    let system = LinuxFileSystem()
    do {
      let other = FaultFileSystem(system, process: 1)
      let store = try Store.open(StoreOptions(path: path, fileSystem: other))
      #expect(!Store.isOpen(path: path, fileSystem: system))
      #expect(try Store.isOpenAnywhere(path: path, fileSystem: system))
      #expect(throws: StorageError.self) { try Store.deleteFiles(path: path, fileSystem: system) }
      withExtendedLifetime(store) {}
    }
    try StoreFile.replace(path + ".unfinished", [1])
    #expect(try Store.deleteFiles(path: path, fileSystem: system))
    #expect(!system.exists(path) && !system.exists(path + ".unfinished"))
  }

  /// Whoever starts over deletes what it has seen, not what somebody else has made of it since.
  @Test func onlyTheFileThatWasSeenIsDeleted() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let system = LinuxFileSystem()
    func seen() throws -> Store.FileState {
      let store = try Store.open(StoreOptions(path: path))
      return store.fileState(try store.pinNewest().version)
    }
    func write() throws {
      let transaction = try Store.open(StoreOptions(path: path)).beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: 1, [1, 2, 3])
      _ = try transaction.commit()
    }
    let empty = try seen()
    try write()
    #expect(try !Store.deleteFiles(path: path, fileSystem: system, only: empty))
    #expect(system.exists(path))
    let written = try seen()
    #expect(try Store.deleteFiles(path: path, fileSystem: system, only: written))
    #expect(!system.exists(path))
    #expect(try !Store.deleteFiles(path: path, fileSystem: system, only: written))
    // Another file of the same version.
    try write()
    #expect(try seen() != written)
    #expect(try !Store.deleteFiles(path: path, fileSystem: system, only: written))
    #expect(system.exists(path))
  }
}
