// Copies of a store into a new file: whole, compact, of any version, and nothing left behind on
// failure.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// Stores with a few hundred slots that were overwritten and removed often enough to leave holes.
enum HoleyStore {
  static func fill(_ store: Store, commits: Int = 30) throws -> [Int: [UInt8]] {
    // It would close the holes whenever nothing is committed for 50 ms.
    store.stopIdleWork()
    var content: [Int: [UInt8]] = [:]
    for commit in 0..<commits {
      let transaction = try store.beginWrite()
      for step in 0..<20 {
        let slot = (commit * 37 + step * 11) % 400
        let isRemoval = (commit + step) % 4 == 3
        let bytes = [UInt8](repeating: UInt8((commit * 20 + step) & 255), count: 200 + step * 50)
        content[slot] = isRemoval ? nil : bytes
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, isRemoval ? nil : bytes)
      }
      _ = try transaction.commit()
    }
    return content
  }

  /// Opens a file and checks all of it.
  static func check(
    _ path: String, _ content: [Int: [UInt8]], _ system: any FileSystem = LinuxFileSystem(),
    key: [UInt8]? = nil
  ) throws {
    let store = try Store.open(
      StoreOptions(path: path, fileSystem: system, encryptionKey: key))
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }
}

@Suite(.ownThreads) struct CopyTests {
  @Test func aCopyIsWholeCompactAndUsable() throws {
    let folder = TemporaryFolder()
    let copy = folder.file("copy.realm")
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    var content = try HoleyStore.fill(store)
    try store.writeCopy(to: copy)
    try HoleyStore.check(copy, content)

    let old = try store.statistics()
    let length = UInt64(try StoreFile.bytes(copy).count)
    #expect(length < old.fileBytes)
    #expect(length <= old.liveBytes + 6 * 4096 + 4096)
    // It goes on living like any other file.
    do {
      let other = try Store.open(StoreOptions(path: copy))
      #expect(try other.pinNewest().version == store.pinNewest().version)
      content.merge(try HoleyStore.fill(other)) { $1 }
      #expect(try other.checkInvariants().findings == [])
    }
    let system = LinuxFileSystem()
    #expect(!system.exists(copy + ".unfinished"))
  }

  @Test func theVersionOfASnapshotIsCopied() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    let content = try HoleyStore.fill(store, commits: 5)
    let snapshot = try store.pinNewest()
    _ = try HoleyStore.fill(store, commits: 9)
    try store.writeCopy(to: folder.file("copy.realm"), of: snapshot)
    try HoleyStore.check(folder.file("copy.realm"), content)
  }

  @Test func aTransactionCopiesWhatItHasMade() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    var content = try HoleyStore.fill(store, commits: 5)
    let before = content
    let transaction = try store.beginWrite()
    for slot in 90..<130 {
      content[slot] = [7, UInt8(slot)]
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, content[slot])
    }
    try transaction.writeCopy(to: folder.file("copy.realm"))
    transaction.cancel()
    try HoleyStore.check(folder.file("copy.realm"), content)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == before)
  }

  @Test func emptyInMemoryAndReadOnlyStoresAreCopied() throws {
    let folder = TemporaryFolder()
    do {
      let empty = try Store.open(StoreOptions(path: folder.file("empty.realm")))
      try empty.writeCopy(to: folder.file("1.realm"))
    }
    try HoleyStore.check(folder.file("1.realm"), [:])
    do {
      let memory = try Store.open(StoreOptions(path: "", inMemoryIdentifier: folder.path))
      let content = try HoleyStore.fill(memory)
      try memory.writeCopy(to: folder.file("2.realm"))
      try HoleyStore.check(folder.file("2.realm"), content)
      let store = try Store.open(
        StoreOptions(path: folder.file("2.realm"), isReadOnly: true))
      try store.writeCopy(to: folder.file("3.realm"))
      try HoleyStore.check(folder.file("3.realm"), content)
    }
  }

  @Test func whatHasTheNameStays() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    _ = try HoleyStore.fill(store, commits: 3)
    let copy = folder.file("copy.realm")
    try StoreFile.replace(copy, [1, 2, 3])
    #expect(throws: StorageError.fileExists(path: copy)) { try store.writeCopy(to: copy) }
    #expect(try StoreFile.bytes(copy) == [1, 2, 3])
    #expect(throws: StorageError.fileExists(path: store.path)) {
      try store.writeCopy(to: store.path)
    }
    #expect(throws: StorageError.parentMissing(path: folder.file("no/copy.realm"))) {
      try store.writeCopy(to: folder.file("no/copy.realm"))
    }
    #expect(LinuxFileSystem().exists(copy + ".unfinished") == false)
  }

  /// Whoever gives a file the name while the copy is written keeps it.
  @Test func aNameTakenMeanwhileIsKept() throws {
    let folder = TemporaryFolder()
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(StoreOptions(path: folder.file("a.realm"), fileSystem: system))
    _ = try HoleyStore.fill(store, commits: 3)
    let copy = folder.file("copy.realm")
    system.hold(.rename)
    let thread = Thread.start(name: "copier") {
      #expect(throws: StorageError.fileExists(path: copy)) { try store.writeCopy(to: copy) }
    }
    system.waitUntilHeld(.rename)
    // Nor can two threads write the same copy.
    #expect(throws: StorageError.self) { try store.writeCopy(to: copy) }
    try StoreFile.replace(copy, [1, 2, 3])
    system.release(.rename)
    thread.joinInTime()
    #expect(try StoreFile.bytes(copy) == [1, 2, 3])
  }

  /// What a killed process has left is taken over.
  @Test func anUnfinishedCopyIsNoObstacle() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    let content = try HoleyStore.fill(store, commits: 3)
    let copy = folder.file("copy.realm")
    try StoreFile.replace(copy + ".unfinished", [UInt8](repeating: 9, count: 1 << 20))
    try store.writeCopy(to: copy)
    try HoleyStore.check(copy, content)
  }

  @Test func damageIsNotCopied() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var (bytes, _) = try StoreFile.make(path)
    let copy = folder.file("copy.realm")
    let damaged: BlockReference
    do {
      let store = try Store.open(StoreOptions(path: path))
      let snapshot = try store.pinNewest()
      let branch = BlockHeader.reference(snapshot.reader.pointer(snapshot.root), 0)
      let leaves = snapshot.reader.pointer(branch)
      damaged = (0..<BlockHeader.count(leaves)).map { BlockHeader.reference(leaves, $0) }
        .first { !$0.isNone }!
    }
    bytes[Int(damaged.offset) + 20] ^= 1
    try StoreFile.replace(path, bytes)
    let store = try Store.open(StoreOptions(path: path))
    let error = #expect(throws: StorageError.self) { try store.writeCopy(to: copy) }
    guard case .damaged(_, let block, _, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(block == damaged.offset)
    #expect(!LinuxFileSystem().exists(copy))
    #expect(!LinuxFileSystem().exists(copy + ".unfinished"))
  }

  /// Naming a copy needs its lock file for a moment: one that is there may be anybody's.
  @Test func aFileOfTheLockFilesNameStays() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    _ = try HoleyStore.fill(store, commits: 2)
    let copy = folder.file("copy.realm")
    let notes = Array("not a lock file".utf8)
    try StoreFile.replace(copy + ".lock", notes)
    try store.writeCopy(to: copy)
    #expect(try StoreFile.bytes(copy + ".lock") == notes)
    try store.writeCopy(to: folder.file("other.realm"))
    #expect(!LinuxFileSystem().exists(folder.file("other.realm.lock")))
  }

  /// Every call of a copy fails once, and it leaves nothing.
  @Test func everyFailingCallLeavesNothingBehind() throws {
    let folder = TemporaryFolder()
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(StoreOptions(path: folder.file("a.realm"), fileSystem: system))
    let content = try HoleyStore.fill(store, commits: 4)
    let copy = folder.file("copy.realm")
    system.resetRecords()
    try store.writeCopy(to: copy)
    // Who cannot lock an unfinished copy must not remove it: it may be another thread's.
    let faulty = Set(FileCall.allCases).subtracting([.lockByte])
    let calls = system.records.count { faulty.contains($0.call) }
    #expect(calls > 10)
    for (number, call) in (0..<calls).flatMap({ [($0, EIO), ($0, ENOSPC)] }) {
      try? LinuxFileSystem().remove(copy)
      system.inject(FileFault(faulty, code: call, skip: number, times: 1))
      do throws(StorageError) {
        try store.writeCopy(to: copy)
      } catch {
        switch error {
        case .diskFull: #expect(call == ENOSPC)
        case .system, .damaged, .addressSpaceExhausted: break
        default: Issue.record("call \(number): \(error)")
        }
        #expect(!LinuxFileSystem().exists(copy), "call \(number)")
        #expect(!LinuxFileSystem().exists(copy + ".unfinished"), "call \(number)")
      }
      system.clearFaults()
      if LinuxFileSystem().exists(copy) { try HoleyStore.check(copy, content) }
    }
    #expect(try store.checkInvariants().findings == [])
  }
}
