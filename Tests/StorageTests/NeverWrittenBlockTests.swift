// Blocks of commits that have failed before they were written: nobody goes on taking their places
// for blocks. A look there through the map ends the process where a full disk has no room for them.
import Glibc
import Platform
import Simulation
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct NeverWrittenBlockTests {
  private static func commit(_ store: Store, _ number: UInt8, length: Int) throws {
    let transaction = try store.beginWrite()
    for slot in 0..<20 {
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: number, count: length))
    }
    _ = try transaction.commit()
  }

  /// Small ones are written with the commit, large ones before.
  @Test(arguments: [900, 60_000], [Durability.full, .memory])
  func aFailedCommitLeavesNone(length: Int, durability: Durability) throws {
    let folder = TemporaryFolder()
    let system = FaultFileSystem(LinuxFileSystem())
    var options = StoreOptions(path: folder.file("failed.realm"), fileSystem: system)
    options.durability = durability
    let store = try Store.open(options)
    try Self.commit(store, 1, length: length)
    func known() -> Set<UInt64> {
      let mapping = store.mapping
      let end = UInt64(mapping.mapping.length)
      return Set(stride(from: 8192, to: end, by: 16).filter { mapping.verified.isSet($0) })
    }
    let before = known()
    for writes in 1...3 {
      system.fail(.write, at: writes, code: ENOSPC)
      _ = try? Self.commit(store, 2, length: length)
      system.clearFaults()
      let snapshot = try store.pinNewest()
      let reached = Set(SlotTree.blocks(snapshot.reader, snapshot.root).map(\.0.offset))
      #expect(known().subtracting(before).isSubset(of: reached), "write \(writes) failed")
    }
    try Self.commit(store, 3, length: length)
  }

  /// What died long ago is looked for in the file, where it may never have been written.
  @Test(arguments: [false, true])
  func placesThatAreNotInTheFileEndNoWriter(isEncrypted: Bool) async {
    let folder = TemporaryFolder()
    await #expect(processExitsWith: .success) {
      [path = folder.file("short.realm") as String, isEncrypted] in
      let store =
        isEncrypted
        ? try DecryptedMemoryTests.open(path, limit: 1 << 30)
        : try Store.open(StoreOptions(path: path, fileSystem: LinuxFileSystem()))
      for number in 1...20 {
        try NeverWrittenBlockTests.commit(store, UInt8(number), length: 900)
      }
      let transaction = try store.beginWrite()
      let length = store.writer!.fileLength
      var kept = KeptRuns()
      kept.insert(Run(offset: 8192, length: length - 8192), death: store.newestVersion)
      precondition(truncate(path, 8192 + 4096) == 0)
      try store.keepWhatIsNeeded(kept, durable: Version(0))
      _ = Unmanaged.passRetained(transaction)
      exit(0)
    }
  }
}
