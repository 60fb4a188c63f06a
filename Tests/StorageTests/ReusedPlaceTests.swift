// A file that refers to a block twice, with every checksum right: when one of the references goes
// the block's place is used again. What is there then must not be read as the old block without a
// look, though that was verified once: its bytes are the inside of others, which whoever made the
// file may have chosen.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct ReusedPlaceTests {
  /// References of the root to leaves.
  private static let count = 40

  @Test(arguments: [nil, EncryptionTests.key])
  func whatLiesInAUsedPlaceIsVerifiedAnew(key: [UInt8]?) async {
    await withSeeds { random in
      let disk = SimulatedDisk()
      let store = try Store.open(
        StoreOptions(path: "/data/twice.realm", fileSystem: disk, encryptionKey: key))
      var root = BlockReference.none
      try change(store) { editor, old in
        root = editor.allocate(
          kind: BlockKind(rawValue: 0xa0), count: Self.count, payloadBytes: Self.count * 8)
        for index in 0..<Self.count { set(editor, root, index, length: 1200) }
        return root
      }
      let twice = try readSome(store)
      // They are given up, but the root goes on to refer to them.
      try change(store) { editor, old in
        for reference in twice { editor.free(reference) }
        return editor.mutable(old)
      }
      var found = 0
      for _ in 0..<60 where found < 3 {
        try change(store) { editor, old in
          let new = editor.mutable(old)
          for _ in 0..<4 {
            let index = Int.random(in: Self.count / 2..<Self.count, using: &random)
            editor.free(BlockHeader.reference(editor.pointer(new), index))
            set(editor, new, index, length: 16 * Int.random(in: 90...300, using: &random))
          }
          return new
        }
        let newest = try store.pinNewest()
        let leaves = (Self.count / 2..<Self.count).map {
          BlockHeader.reference(newest.reader.pointer(newest.root), $0)
        }
        for reference in twice {
          let isInside = leaves.contains { leaf in
            let length = BlockHeader.blockLength(newest.reader.pointer(leaf))
            return leaf.offset < reference.offset && reference.offset < leaf.offset + UInt64(length)
          }
          guard isInside else { continue }
          found += 1
          #expect(throws: StorageError.self) { try newest.reader.verify(reference) }
        }
      }
      #expect(found > 0, "no place was used again")
    }
  }

  /// Verifies some leaves, and keeps no pin.
  private func readSome(_ store: Store) throws -> [BlockReference] {
    let snapshot = try store.pinNewest()
    let leaves = (1..<Self.count / 2).map {
      BlockHeader.reference(snapshot.reader.pointer(snapshot.root), $0)
    }
    for reference in leaves { _ = snapshot.reader.pointer(reference) }
    return leaves
  }

  private func change(
    _ store: Store, _ body: (BlockEditor, BlockReference) -> BlockReference
  ) throws {
    let transaction = try store.beginWrite()
    transaction.root = body(transaction.editor, transaction.root)
    _ = try transaction.commit()
  }

  private func set(_ editor: BlockEditor, _ root: BlockReference, _ index: Int, length: Int) {
    let leaf = editor.allocate(
      kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: length)
    BlockHeader.setReference(editor.pointer(root), index, leaf)
  }
}
