// A walk that is put down and taken up again: on one version it reads every block once, on newer
// ones nothing that is sound is reported and what is damaged is found.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct VerifyingWalkTests {
  private static let key = [UInt8](repeating: 9, count: 64)

  private func makeStore(
    _ path: String, key: [UInt8]?, _ random: inout RandomGenerator
  ) throws -> Store {
    let store = try Store.open(StoreOptions(path: path, encryptionKey: key))
    // Idle work reads blocks, too: a flipped bit would end the process.
    store.stopIdleWork()
    for _ in 0..<10 { try commit(store, &random) }
    return store
  }

  private func commit(_ store: Store, _ random: inout RandomGenerator) throws {
    let transaction = try store.beginWrite()
    for _ in 0..<30 {
      let length = random.oneIn(4) ? 60_000 : Int.random(in: 0...3000, using: &random)
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: Int.random(in: 0..<300, using: &random),
        random.oneIn(6) ? nil : [UInt8](repeating: 5, count: length))
    }
    _ = try transaction.commit()
  }

  private func slice(
    _ walk: inout VerifyingWalk, _ snapshot: Snapshot, blocks: Int, _ found: inout [StorageError]
  ) -> Bool {
    var left = blocks
    return walk.advance(on: snapshot) { _ in
      left -= 1
      return left >= 0
    } report: {
      found.append($0)
    }
  }

  @Test(arguments: [nil, key]) func everyBlockIsReadOnce(key: [UInt8]?) async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let store = try makeStore(folder.file("walked.realm"), key: key, &random)
      let snapshot = try store.pinNewest()
      let blocks = try store.checkInvariants().blocks
      for _ in 0..<5 {
        var walk = VerifyingWalk()
        var found: [StorageError] = []
        while !slice(&walk, snapshot, blocks: .random(in: 1...20, using: &random), &found) {}
        #expect(walk.blocks == blocks)
        #expect(found.isEmpty, "\(found)")
      }
    }
  }

  /// Put down at any place, and taken up on a version with other branches.
  @Test(arguments: [nil, key]) func itGoesOnOnNewerVersions(key: [UInt8]?) async {
    await withSeeds(2) { random in
      let folder = TemporaryFolder()
      let store = try makeStore(folder.file("walked.realm"), key: key, &random)
      for _ in 0..<2 {
        var walk = VerifyingWalk()
        var found: [StorageError] = []
        while true {
          let snapshot = try store.pinNewest()
          if slice(&walk, snapshot, blocks: .random(in: 1...40, using: &random), &found) { break }
          try commit(store, &random)
        }
        #expect(found.isEmpty, "\(found)")
        #expect(walk.blocks > 0)
      }
    }
  }

  /// One bit of one block, with all of them verified before: through another descriptor.
  @Test(arguments: [nil, key]) func aFlippedBitIsFound(key: [UInt8]?) async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("walked.realm")
      let store = try makeStore(path, key: key, &random)
      let snapshot = try store.pinNewest()
      let content = SlotTree.content(snapshot.reader, snapshot.root)
      let file = try LinuxFileSystem().open(path, .writable)
      let overhead: UInt64 = key == nil ? 0 : 32
      let blocks = SlotTree.blocks(snapshot.reader, snapshot.root).map { block, _ in
        let length = BlockHeader.blockLength(snapshot.reader.pointer(block))
        return block.offset..<block.offset + UInt64(length) + overhead
      }
      for _ in 0..<60 {
        let block = blocks.randomElement(using: &random)!
        var place = UInt64.random(in: block, using: &random)
        // Two bytes of a sealed block say nothing: see FileCipher.
        if key != nil, (14..<16).contains(place - block.lowerBound) { place += 2 }
        let byte = try file.bytes(at: place, length: 1)
        try file.write(
          bytes: [byte[0] ^ UInt8(1) << UInt8.random(in: 0..<8, using: &random)], at: place)
        var walk = VerifyingWalk()
        var found: [StorageError] = []
        #expect(slice(&walk, snapshot, blocks: .max, &found))
        #expect(found.count == 1, "byte \(place) of \(block): \(found)")
        #expect(found.first.map { "\($0)".contains("\(block.lowerBound)") } == true, "\(found)")
        try file.write(bytes: byte, at: place)
      }
      let isSame = SlotTree.content(snapshot.reader, snapshot.root) == content
      #expect(isSame)
    }
  }

  /// What a mapping answers by the end of the process: a sector that cannot be read, a file cut
  /// short.
  @Test func whatCannotBeReadIsReported() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("walked.realm")
      do { _ = try makeStore(path, key: nil, &random) }
      let faults = FaultFileSystem(LinuxFileSystem())
      let store = try Store.open(StoreOptions(path: path, isReadOnly: true, fileSystem: faults))
      let snapshot = try store.pinNewest()
      let blocks = SlotTree.blocks(snapshot.reader, snapshot.root)
      faults.inject(FileFault([.read], code: 5, offsets: [blocks.last!.0.offset]))
      var walk = VerifyingWalk()
      var found: [StorageError] = []
      #expect(slice(&walk, snapshot, blocks: .max, &found))
      #expect(found.map { "\($0)".contains("cannot be read") } == [true], "\(found)")
      faults.clearFaults()
      let end = blocks.map(\.0.offset).max()!
      let file = try LinuxFileSystem().open(path, .writable)
      let length = try file.length()
      let rest = try file.bytes(at: end + 8, length: Int(length - end) - 8)
      try file.setLength(end + 8)
      found = []
      #expect(slice(&walk, snapshot, blocks: .max, &found))
      #expect(found.count == 1, "\(found)")
      try file.setLength(length)
      try file.write(bytes: rest, at: end + 8)
    }
  }
}
