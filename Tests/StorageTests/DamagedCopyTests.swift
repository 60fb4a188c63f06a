// Damage is never copied under a fresh checksum: whoever changes a block verifies what it copies.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct DamagedCopyTests {
  @Test func changingADamagedBlockStops() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("damaged.realm")
    _ = try StoreFile.make(path)
    let leaf: BlockReference = try {
      let store = try Store.open(StoreOptions(path: path))
      let snapshot = try store.pinNewest()
      let root = snapshot.reader.pointer(snapshot.root)
      return BlockHeader.reference(snapshot.reader.pointer(BlockHeader.reference(root, 0)), 7)
    }()
    // The last byte that is not its length.
    let file = try LinuxFileSystem().open(path, [.writable])
    let place = leaf.offset + UInt64(BlockHeader.length) + 4
    try file.write(bytes: [try file.read(1, at: place)[0] ^ 1], at: place)
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let store = try Store.open(StoreOptions(path: path))
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 7, [1, 2, 3])
      _ = try transaction.commit()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("damaged.realm"), "\(text)")
    #expect(text.contains("\(leaf.offset)"), "\(text)")
  }
}
