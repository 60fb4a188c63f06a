// Readers that have no lock file or may not write it, while others write: what they read is there
// until they close, whatever the writers do. An attack ended 41 of 42 runs of such readers by a
// signal, a false damage or wrong data.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.serialized, .ownThreads) struct ReaderWithoutLockFileTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("data.realm") }

  private static let processes = Atomic<UInt64>(8)

  /// Opens read-only as another process, which may not write the lock file.
  private func openReader(
    _ base: any FileSystem = LinuxFileSystem(), path: String? = nil
  ) throws -> Store {
    let system = FaultFileSystem(
      base, process: Self.processes.add(1, ordering: .relaxed).newValue)
    system.inject(FileFault([.open], code: EACCES, pathSuffix: ".lock"))
    return try Store.open(
      StoreOptions(path: path ?? self.path, isReadOnly: true, fileSystem: system))
  }

  private func commit(_ store: Store, _ random: inout RandomGenerator, slots: Range<Int>) throws {
    let transaction = try store.beginWrite()
    for _ in 0..<20 {
      let slot = Int.random(in: slots, using: &random)
      let bytes = [UInt8](
        repeating: .random(in: 0...255, using: &random),
        count: .random(in: 0...3000, using: &random))
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
    }
    _ = try transaction.commit()
  }

  private func content(_ store: Store) throws -> [Int: [UInt8]] {
    let snapshot = try store.pinNewest()
    return SlotTree.content(snapshot.reader, snapshot.root)
  }

  /// Readers come and go at random moments; each sees its version until it goes, read anew each
  /// time.
  @Test(arguments: [Durability.full, .memory])
  func versionsStayWhatTheyWere(durability: Durability) async {
    await withSeeds(3) { random in
      let disk = SimulatedDisk()
      let path = "/data/unpinned.realm"
      let store = try Store.open(
        StoreOptions(path: path, durability: durability, fileSystem: disk))
      var readers: [(store: Store, content: [Int: [UInt8]])] = []
      for turn in 0..<150 {
        try commit(store, &random, slots: 0..<200)
        if random.oneIn(5) {
          let reader = try openReader(disk, path: path)
          let newest = try content(store)
          let isNewest = try content(reader) == newest
          #expect(isNewest, "turn \(turn)")
          readers.append((reader, newest))
        }
        if random.oneIn(6), !readers.isEmpty {
          readers.remove(at: Int.random(in: readers.indices, using: &random))
        }
        for (reader, content) in readers where random.oneIn(3) {
          let snapshot = try reader.pinNewest()
          // Past the page bits that say what was verified before.
          #expect(SlotTree.damage(snapshot.reader, snapshot.root) == nil, "turn \(turn)")
          let isSame = SlotTree.content(snapshot.reader, snapshot.root) == content
          #expect(isSame, "turn \(turn)")
        }
        if random.oneIn(10) { try store.runMaintenance() }
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// The same under two processes that write by turns, so fast that each looks for such readers
  /// only now and then.
  ///
  /// A reader that nobody has found yet may see what has died since the last look.
  @Test func versionsStayWhatTheyWereBetweenTwoLooks() async {
    await withSeeds(3) { random in
      let disk = SimulatedDisk()
      let path = "/data/unpinned.realm"
      let clock = ManualClock(nanoseconds: 1_000_000)
      let writers = try (0..<2).map {
        try Store.open(
          StoreOptions(
            path: path, fileSystem: FaultFileSystem(disk, process: UInt64($0)), clock: clock))
      }
      /// Afterwards nobody stands on an old version.
      func commitByOne() throws {
        clock.advance(nanoseconds: .random(in: 1_000...10_000, using: &random))
        try commit(writers.randomElement(using: &random)!, &random, slots: 0..<100)
        for writer in writers { _ = try writer.pinNewest() }
      }
      for turn in 0..<15 {
        // Both find that nobody reads, and do not look again for a while.
        for _ in 0..<6 { try commitByOne() }
        let seen = try content(writers[0])
        let reader = try openReader(disk, path: path)
        for _ in 0..<8 {
          try commitByOne()
          let snapshot = try reader.pinNewest()
          #expect(SlotTree.damage(snapshot.reader, snapshot.root) == nil, "turn \(turn)")
          let isSame = SlotTree.content(snapshot.reader, snapshot.root) == seen
          #expect(isSame, "turn \(turn)")
        }
      }
      for writer in writers { #expect(try writer.checkInvariants().findings == []) }
    }
  }

  /// What such a reader does not see is used again; what it has seen is, once it has gone.
  @Test func spaceIsHeldOnlyAsLongAsItIsSeen() throws {
    var random = RandomGenerator(seed: testSeed())
    let store = try Store.open(StoreOptions(path: path))
    for _ in 0..<50 { try commit(store, &random, slots: 0..<100) }
    var reader: Store? = try openReader()
    let version = reader!.newestVersion
    for _ in 0..<50 { try commit(store, &random, slots: 0..<100) }
    let held = try store.statistics()
    #expect(held.oldestPinnedVersion == version)
    for _ in 0..<200 { try commit(store, &random, slots: 0..<100) }
    #expect(try store.statistics().fileBytes < 2 * held.fileBytes)
    #expect(try Store.isOpenAnywhere(path: path, fileSystem: LinuxFileSystem()))
    #expect(reader!.newestVersion == version)
    reader = nil
    try commit(store, &random, slots: 0..<100)
    #expect(try store.statistics().liveVersions == 1)
    #expect(try store.checkInvariants().findings == [])
  }

  /// The reader comes first, and the lock file with the writer.
  @Test func aWriterThatComesLaterFindsTheReader() throws {
    var random = RandomGenerator(seed: testSeed())
    let before = try StoreFile.make(path).content
    try LinuxFileSystem().remove(path + ".lock")
    let reader = try Store.open(
      StoreOptions(
        path: path, isReadOnly: true, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 9)))
    #expect(!LinuxFileSystem().exists(path + ".lock"))
    #expect(throws: StorageError.self) {
      _ = try Store.deleteFiles(path: path, fileSystem: LinuxFileSystem())
    }
    let store = try Store.open(StoreOptions(path: path))
    for _ in 0..<100 { try commit(store, &random, slots: 0..<300) }
    try store.runMaintenance()
    let snapshot = try reader.pinNewest()
    #expect(SlotTree.damage(snapshot.reader, snapshot.root) == nil)
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == before)
  }

  /// Nothing can be locked: no pin, so no reading.
  @Test func withoutAnyLockThereIsAnError() throws {
    _ = try StoreFile.make(path)
    let system = FaultFileSystem(LinuxFileSystem(), process: 9)
    system.inject(FileFault([.open], code: EROFS, pathSuffix: ".lock"))
    system.inject(FileFault([.lockByte], code: ENOLCK))
    do {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: true, fileSystem: system))
      Issue.record("opened")
    } catch {
      guard case .incompatibleLockFile = error else { throw error }
      #expect("\(error)".contains("cannot protect what it reads"), "\(error)")
    }
  }

  /// Real processes: one commits as fast as it can, this one reads again and again without a lock
  /// file.
  @Test(arguments: [true, false]) func underARealWriter(syncs: Bool) throws {
    let writer =
      syncs
      ? try ProcessDeathTests.Child(path, "\(Int.max)")
      : try ProcessDeathTests.Child(path, "\(Int.max)", "memory")
    // It must not wait for who reads what it prints.
    let drain = Thread.start(name: "drain") { _ = writer.read(lines: .max) }
    try #require(eventually { LinuxFileSystem().exists(path) })
    try #require(
      try eventually { try Store.isOpenAnywhere(path: path, fileSystem: LinuxFileSystem()) })
    var numbers: Set<UInt64> = []
    var readers: [(store: Store, number: UInt64)] = []
    for turn in 0..<40 {
      let store = try openReader()
      let number = try #require(ProcessDeathTests.number(store.pinNewest()), "turn \(turn)")
      numbers.insert(number)
      readers.append((store, number))
      // Each stays for four turns, in which the writer goes on.
      if readers.count > 4 { readers.removeFirst() }
      for (store, number) in readers {
        let snapshot = try store.pinNewest()
        #expect(ProcessDeathTests.number(snapshot) == number, "turn \(turn)")
        #expect(SlotTree.damage(snapshot.reader, snapshot.root) == nil, "turn \(turn)")
      }
    }
    #expect(numbers.count > 5, "the writer stood still")
    kill(writer.process.processIdentifier, SIGKILL)
    writer.process.waitUntilExit()
    drain.joinInTime()
    #expect(try Store.open(StoreOptions(path: path)).checkInvariants().findings == [])
  }
}
