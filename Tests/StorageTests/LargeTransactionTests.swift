// Transactions so large that what they write early comes to the file by whole pieces.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct LargeTransactionTests {
  /// The second transaction is as large again, and goes where the first one's blocks lie no more.
  @Test(arguments: [nil, EncryptionTests.key])
  func whatIsWrittenByWholePiecesIsReadAgain(key: [UInt8]?) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let options = StoreOptions(path: path, encryptionKey: key)
    let slots = 900
    do {
      let store = try Store.open(options)
      for round in 0..<2 {
        let transaction = try store.beginWrite()
        for slot in 0..<slots {
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, Self.content(slot, round))
          if slot % SlotTree.fanOut == SlotTree.fanOut - 1 {
            SlotTree.seal(transaction, branchOf: slot)
          }
        }
        _ = try transaction.commit()
        #expect(try store.checkInvariants().findings == [])
        guard round == 0 else { continue }
        // Zeros under what follows are no bytes that reach the disk; what is too much of the last
        // piece is.
        let figures = try store.statistics()
        let piece: UInt64 = 2 << 20
        #expect(figures.liveBytes > 50 << 20)
        #expect(figures.writtenBytes < figures.liveBytes + piece + piece / 2)
        #expect(figures.fileBytes < figures.liveBytes + 2 * piece)
      }
    }
    let store = try Store.open(options)
    let snapshot = try store.pinNewest()
    let content = SlotTree.content(snapshot.reader, snapshot.root)
    #expect(content.count == slots)
    for (slot, bytes) in content { #expect(bytes == Self.content(slot, 1), "slot \(slot)") }
  }

  /// What a transaction has placed behind its mapping and then replaced was counted against the
  /// length of the mapping: a sound file was taken for one whose blocks are referred to twice.
  @Test func whatItReplacesMayBeMoreThanTheMapping() throws {
    let folder = TemporaryFolder()
    var options = StoreOptions(path: folder.file("a.realm"))
    options.mappingBytesMin = 4 << 20
    let store = try Store.open(options)
    let transaction = try store.beginWrite()
    let slots = 256
    for round in 0..<3 {
      for slot in 0..<slots {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, Self.content(slot, round))
        if slot % SlotTree.fanOut == SlotTree.fanOut - 1 {
          SlotTree.seal(transaction, branchOf: slot)
        }
      }
    }
    let snapshot = try transaction.commit()
    let content = SlotTree.content(snapshot.reader, snapshot.root)
    #expect(content.count == slots)
    for (slot, bytes) in content { #expect(bytes == Self.content(slot, 2), "slot \(slot)") }
    #expect(try store.checkInvariants().findings == [])
  }

  /// Behind the end of its mapping a transaction kept all blocks in memory until its commit.
  ///
  /// One of 2 GB took 979 MB. Here the mapping is of 4 MB, then of some tens, then of some
  /// hundreds.
  @Test(arguments: [nil, EncryptionTests.key])
  func memoryStaysFlatBehindTheMapping(key: [UInt8]?) throws {
    let folder = TemporaryFolder()
    var options = StoreOptions(path: folder.file("a.realm"), encryptionKey: key)
    options.mappingBytesMin = 4 << 20
    let store = try Store.open(options)
    let slots = 480
    // What was written and rolled back is not taken for what comes in its place.
    for round in 0..<3 {
      let transaction = try store.beginWrite()
      var most = 0
      for slot in 0..<slots {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, Self.content(slot, round))
        most = max(most, transaction.editor.provisionalBytes)
        guard slot % SlotTree.fanOut == SlotTree.fanOut - 1 else { continue }
        SlotTree.seal(transaction, branchOf: slot)
        // One that is in the file already is changed again.
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot / 2, Self.content(slot / 2, round))
      }
      let content = SlotTree.content(transaction.editor.reader, transaction.root)
      #expect(content.count == slots)
      for (slot, bytes) in content { #expect(bytes == Self.content(slot, round), "slot \(slot)") }
      #expect(most < 8 << 20, "\(most) bytes in memory")
      if round == 1 {
        transaction.cancel()
        continue
      }
      let snapshot = try transaction.commit()
      let committed = SlotTree.content(snapshot.reader, snapshot.root)
      for (slot, bytes) in committed { #expect(bytes == Self.content(slot, round), "slot \(slot)") }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// A disk that is full in the middle: until its commit throws, the transaction goes on reading
  /// what it has set.
  ///
  /// Blocks that the disk had no room for were read as empty ones.
  @Test(arguments: [nil, EncryptionTests.key])
  func theDiskIsFullInTheMiddle(key: [UInt8]?) throws {
    for skip in 0..<40 {
      let system = FaultFileSystem(SimulatedDisk())
      let store = try Store.open(
        StoreOptions(path: "/data/a.realm", fileSystem: system, encryptionKey: key))
      store.stopIdleWork()
      let first = try store.beginWrite()
      first.root = SlotTree.set(first.editor, first.root, slot: 3, [3])
      _ = try first.commit()
      let transaction = try store.beginWrite()
      // Some bytes of the write that fails are there.
      system.inject(
        FileFault(
          [.write, .setLength], code: ENOSPC, pathSuffix: ".realm", skip: skip,
          writtenBytes: skip % 3 * 1000, thread: .current))
      for slot in 0..<5 * SlotTree.fanOut {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot, Self.content(slot, 0))
        guard slot % SlotTree.fanOut == SlotTree.fanOut - 1 else { continue }
        SlotTree.seal(transaction, branchOf: slot)
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot / 2, Self.content(slot / 2, 0))
        let content = SlotTree.content(transaction.editor.reader, transaction.root)
        #expect(content.count == slot + 1)
        for (slot, bytes) in content { #expect(bytes == Self.content(slot, 0), "slot \(slot)") }
      }
      if system.struck.isEmpty {
        #expect(skip > 4, "nothing was written before the commit")
        transaction.cancel()
        break
      }
      #expect(skip < 39, "more writes than are tried")
      #expect(throws: StorageError.self) { try transaction.commit() }
      system.clearFaults()
      let last = try store.beginWrite()
      last.root = SlotTree.set(last.editor, last.root, slot: 4, [4])
      let snapshot = try last.commit()
      #expect(SlotTree.content(snapshot.reader, snapshot.root) == [3: [3], 4: [4]])
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// 54 MB in all.
  private static func content(_ slot: Int, _ round: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: slot + round), count: 60_000 + slot)
  }
}
