// Blocks that the engine moves down on its own account, one of them damaged: nobody has asked for
// it, so it stops nobody. The rest is moved, written and read.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct MovingDamageTests {
  private static let slots = 4 * SlotTree.fanOut

  private static func leaf(_ snapshot: Snapshot, _ slot: Int) -> BlockReference {
    let (reader, fanOut) = (snapshot.reader, SlotTree.fanOut)
    let branch = BlockHeader.reference(reader.pointer(snapshot.root), slot / fanOut)
    return BlockHeader.reference(reader.pointer(branch), slot % fanOut)
  }

  private static func set(
    _ store: Store, _ slots: some Sequence<Int>, _ bytes: [UInt8]?
  ) throws -> Snapshot {
    let transaction = try store.beginWrite()
    for slot in slots {
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
    }
    return try transaction.commit()
  }

  /// Makes a closed file that is far too long, with all that is left at its end.
  ///
  /// - Returns: where each slot that is left has its bytes.
  private func makeFile(_ options: StoreOptions) throws -> [Int: UInt64] {
    let store = try Store.open(options)
    _ = try Self.set(store, 0..<Self.slots, [UInt8](repeating: 1, count: 8_000))
    let left = (0..<Self.slots).filter { $0 % 8 == 7 }
    let snapshot = try Self.set(store, (0..<Self.slots).filter { $0 % 8 != 7 }, nil)
    return Dictionary(uniqueKeysWithValues: left.map { ($0, Self.leaf(snapshot, $0).offset) })
  }

  @Test(arguments: [nil, [UInt8](repeating: 9, count: 64)])
  func damageStopsNobodyWhoDoesNotReadIt(key: [UInt8]?) async {
    await withSeeds(20) { random in
      let options = StoreOptions(
        path: "/data/moved.realm", fileSystem: SimulatedDisk(), encryptionKey: key)
      let places = try makeFile(options)
      let (damaged, start) = places.sorted { $0.key < $1.key }.randomElement(using: &random)!
      let file = try options.fileSystem.open(options.path, .writable)
      let place = start + .random(in: 100..<7_000, using: &random)
      let byte = try file.bytes(at: place, length: 1)
      try file.write(bytes: [byte[0] ^ 1 << UInt8.random(in: 0..<8, using: &random)], at: place)

      let store = try Store.open(options)
      let before = try store.statistics().fileBytes
      var content = places.mapValues { _ in [UInt8](repeating: 1, count: 8_000) }
      // Ordinary commits move some blocks, idle work the rest.
      for round in 0..<12 {
        let slot = 8 * Int.random(in: 0..<Self.slots / 8, using: &random)
        content[slot] = [UInt8](repeating: UInt8(round), count: 50)
        _ = try Self.set(store, [slot], content[slot])
        if random.oneIn(4) { try store.runMaintenance() }
      }
      try store.runMaintenance()
      try check(store, content, places, damaged)
      // Once it is mended, it is moved like the others, if not by the first pass.
      try file.write(bytes: byte, at: place)
      _ = try Self.set(store, [0], nil)
      var passes = 0
      while try store.statistics().fileBytes >= before / 2, passes < 16 {
        try store.runMaintenance()
        passes += 1
      }
      #expect(try store.statistics().fileBytes < before / 2)
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Everything but the damaged slot is as it was written, and was moved if it lay high.
  private func check(
    _ store: Store, _ content: [Int: [UInt8]], _ places: [Int: UInt64], _ damaged: Int
  ) throws {
    let snapshot = try store.pinNewest()
    for (slot, bytes) in content where slot != damaged {
      let isSame = SlotTree.bytes(snapshot.reader.pointer(Self.leaf(snapshot, slot))) == bytes
      #expect(isSame, "slot \(slot)")
    }
    // It is as it was and where it was.
    #expect(Self.leaf(snapshot, damaged).offset == places[damaged])
    #expect(throws: StorageError.self) {
      try snapshot.reader.verify(Self.leaf(snapshot, damaged))
    }
    let moved = content.keys.filter { places[$0] != nil && $0 != damaged }
      .filter { Self.leaf(snapshot, $0).offset != places[$0] }
    #expect(moved.count > places.count / 2)
  }
}
