// Encrypted files: what is in them, who can open them, what happens to changed bytes, and processes
// that share one. Crashes are in CrashEncryptionTests.swift.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct EncryptionTests {
  static let key = [UInt8](0..<64)
  static let otherKey = [UInt8](1..<65)

  private static func options(
    _ path: String, key: [UInt8]? = key, _ system: any FileSystem = LinuxFileSystem()
  ) -> StoreOptions {
    StoreOptions(path: path, fileSystem: system, encryptionKey: key)
  }

  /// A closed encrypted file.
  private static func makeFile(_ path: String, commits: Int = 12) throws -> [Int: [UInt8]] {
    try HoleyStore.fill(try Store.open(options(path)), commits: commits)
  }

  @Test func whatWasWrittenIsReadAgain() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var content: [Int: [UInt8]] = [:]
    for round in 0..<4 {
      let store = try Store.open(Self.options(path))
      content.merge(try HoleyStore.fill(store)) { $1 }
      // Without the slots that the later rounds remove again.
      let snapshot = try store.pinNewest()
      content = SlotTree.content(snapshot.reader, snapshot.root)
      #expect(content.count > 50)
      if round % 2 == 1 { try store.runMaintenance() }
      #expect(try store.checkInvariants().findings == [])
    }
    try HoleyStore.check(path, content, key: Self.key)
  }

  /// Larger than a megabyte, so that blocks are written before the commit.
  @Test func largeTransactionsAreEncrypted() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var content: [Int: [UInt8]] = [:]
    do {
      let store = try Store.open(Self.options(path))
      for round in 0..<3 {
        let transaction = try store.beginWrite()
        for slot in 0..<150 {
          content[slot] = [UInt8](repeating: UInt8(slot + round), count: 20_000)
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, content[slot])
          if slot % 10 == 9 {
            // What was placed early is read in the same transaction.
            let branch = BlockHeader.reference(
              transaction.editor.reader.pointer(transaction.root), slot / 32)
            BlockHeader.setReference(
              transaction.editor.pointer(transaction.root), slot / 32,
              transaction.editor.seal(branch))
          }
        }
        #expect(SlotTree.content(transaction.editor.reader, transaction.root) == content)
        _ = try transaction.commit()
      }
      #expect(try store.checkInvariants().findings == [])
    }
    try HoleyStore.check(path, content, key: Self.key)
  }

  @Test func theFileHasNoPlainText() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let secret = Array("a secret that nobody may find".utf8)
    do {
      let store = try Store.open(Self.options(path))
      for slot in 0..<50 {
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, secret)
        _ = try transaction.commit()
      }
    }
    func holds(_ bytes: [UInt8]) -> Bool {
      bytes.indices.dropLast(8).contains {
        bytes[$0] == secret[0] && bytes[$0 + 1..<$0 + 8].elementsEqual(secret[1..<8])
      }
    }
    #expect(holds([1, 2] + secret))
    #expect(try !holds(StoreFile.bytes(path)))
  }

  @Test func onlyTheKeyOpensIt() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    let image = try StoreFile.bytes(path)
    for key in [Self.otherKey, nil] {
      let error = #expect(throws: StorageError.self) {
        try Store.open(Self.options(path, key: key))
      }
      guard case .notADatabase(_, let reason) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.contains(key == nil ? "no key was given" : "another key"))
      #expect(throws: StorageError.self) {
        try Store.withNewestVersion(
          path: path, encryptionKey: key, fileSystem: LinuxFileSystem()
        ) { _ in }
      }
      #expect(try StoreFile.bytes(path) == image)
    }
    try HoleyStore.check(path, content, key: Self.key)

    let plain = folder.file("plain.realm")
    _ = try StoreFile.make(plain)
    let error = #expect(throws: StorageError.self) { try Store.open(Self.options(plain)) }
    guard case .notADatabase(_, let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("is not encrypted"))
  }

  @Test func anOpenFileKeepsItsKey() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let store = try Store.open(Self.options(path))
    #expect(try Store.open(Self.options(path)) === store)
    for key in [Self.otherKey, nil] {
      #expect(
        throws: StorageError.alreadyOpen(path: path, reason: "with different encryption key")
      ) { try Store.open(Self.options(path, key: key)) }
    }
  }

  /// A block that claims to be longer than it is was decrypted over those behind it, which had been
  /// verified.
  ///
  /// Readers of sound blocks found garbage in them.
  @Test func aDamagedBlockLeavesTheOthersAsTheyWere() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    _ = try Self.makeFile(path)
    let store = try Store.open(Self.options(path))
    store.stopIdleWork()
    let snapshot = try store.pinNewest()
    let reader = snapshot.reader
    let root = reader.pointer(snapshot.root)
    let branches = (0..<BlockHeader.count(root)).map { BlockHeader.reference(root, $0) }
    let leaves = branches.filter { !$0.isNone }.flatMap { branch in
      let block = reader.pointer(branch)
      return (0..<BlockHeader.count(block)).map { BlockHeader.reference(block, $0) }
    }.filter { !$0.isNone }.sorted { $0.offset < $1.offset }
    let file = try LinuxFileSystem().open(path, [.writable])
    var attacks = 0
    for index in stride(from: 0, to: leaves.count - 1, by: 2) {
      let (victim, sound) = (leaves[index], leaves[index + 1])
      guard sound.offset - victim.offset < 8192 else { continue }
      attacks += 1
      try reader.verify(sound)
      let before = SlotTree.bytes(reader.pointer(sound))
      // Length in units of 16 bytes.
      try file.write(bytes: [0, 4], at: victim.offset + 12)
      #expect(throws: StorageError.self) { try reader.verify(victim) }
      #expect(SlotTree.bytes(reader.pointer(sound)) == before, "\(sound) behind \(victim)")
    }
    #expect(attacks > 5)
  }

  /// No byte of a block, record or key check can be changed unnoticed.
  @Test func changedBytesAreNoticed() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("a.realm")
      let content = try Self.makeFile(path, commits: 6)
      let image = try StoreFile.bytes(path)
      var noticed = 0
      for _ in 0..<150 {
        var bytes = image
        // The end of a file is free space most often.
        let position = Int.random(in: 160..<image.count * 3 / 4, using: &random)
        bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try StoreFile.replace(path, bytes)
        do throws(StorageError) {
          let store = try Store.open(Self.options(path))
          let snapshot = try store.pinNewest()
          if let error = SlotTree.damage(snapshot.reader, snapshot.root) { throw error }
          #expect(SlotTree.content(snapshot.reader, snapshot.root) == content, "\(position)")
          if !(try store.checkInvariants().findings.isEmpty) { noticed += 1 }
        } catch {
          noticed += 1
          switch error {
          case .damaged, .notADatabase: break
          default: Issue.record("byte \(position): \(error)")
          }
        }
      }
      #expect(noticed > 10)
    }
  }

  /// A block that is sound, but in another block's place.
  @Test func blocksCannotBeExchanged() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var leaves: [BlockReference] = []
    do {
      let store = try Store.open(Self.options(path))
      let transaction = try store.beginWrite()
      for slot in 0..<2 {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot,
          [UInt8](repeating: UInt8(slot), count: 100))
      }
      let snapshot = try transaction.commit()
      let branch = snapshot.reader.pointer(
        BlockHeader.reference(snapshot.reader.pointer(snapshot.root), 0))
      leaves = [BlockHeader.reference(branch, 0), BlockHeader.reference(branch, 1)]
    }
    var bytes = try StoreFile.bytes(path)
    for offset in 0..<32 + 128 {
      bytes.swapAt(Int(leaves[0].offset) + offset, Int(leaves[1].offset) + offset)
    }
    try StoreFile.replace(path, bytes)
    // The record vouches for the bytes; a newer one would not.
    #expect(throws: StorageError.self) {
      let store = try Store.open(Self.options(path))
      let snapshot = try store.pinNewest()
      if let error = SlotTree.damage(snapshot.reader, snapshot.root) { throw error }
    }
  }

  /// The same bytes at the same place never look the same, and no nonce comes twice.
  @Test func noncesDoNotRepeat() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var seen: [[UInt8]: (BlockReference, Version)] = [:]
    for _ in 0..<6 {
      let store = try Store.open(Self.options(path))
      for _ in 0..<10 {
        let transaction = try store.beginWrite()
        for slot in 0..<20 {
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, [1, 2, 3])
        }
        let snapshot = try transaction.commit()
        let bytes = try StoreFile.bytes(path)
        for (reference, birth) in SlotTree.blocks(snapshot.reader, snapshot.root) {
          let start = Int(reference.offset)
          let nonce = Array(bytes[start..<start + 12])
          let known = seen.updateValue((reference, birth), forKey: nonce)
          #expect(known == nil || known! == (reference, birth))
        }
      }
    }
    #expect(seen.count > 20 * 60)
  }

  @Test func copiesHaveTheirOwnKey() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path)
    do {
      let store = try Store.open(Self.options(path))
      try store.writeCopy(to: folder.file("plain.realm"))
      try store.writeCopy(to: folder.file("other.realm"), encryptionKey: Self.otherKey)
    }
    try HoleyStore.check(folder.file("plain.realm"), content)
    try HoleyStore.check(folder.file("other.realm"), content, key: Self.otherKey)
    do {
      let plain = try Store.open(StoreOptions(path: folder.file("plain.realm")))
      try plain.writeCopy(to: folder.file("again.realm"), encryptionKey: Self.key)
    }
    try HoleyStore.check(folder.file("again.realm"), content, key: Self.key)
    let before = try StoreFile.bytes(path).count
    #expect(try Store.compact(Self.options(path)))
    #expect(try StoreFile.bytes(path).count < before)
    try HoleyStore.check(path, content, key: Self.key)
    let read = try Store.withNewestVersion(
      path: path, encryptionKey: Self.key, fileSystem: LinuxFileSystem()
    ) { SlotTree.content($0.reader, $0.root) }
    #expect(read == content)
  }

  @Test func memoryNeedsNoKey() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: "", inMemoryIdentifier: folder.path, encryptionKey: Self.key))
    let content = try HoleyStore.fill(store, commits: 3)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
  }

  /// A file that outgrows its map, with old versions that are read through the old one.
  @Test func outgrownMapsAreRead() throws {
    let folder = TemporaryFolder()
    let system = FaultFileSystem(LinuxFileSystem(), leastMapping: 1 << 17)
    let path = folder.file("a.realm")
    let store = try Store.open(Self.options(path, system))
    var pins: [(Snapshot, [Int: [UInt8]])] = []
    var content: [Int: [UInt8]] = [:]
    for round in 0..<40 {
      let transaction = try store.beginWrite()
      for step in 0..<10 {
        let slot = round * 10 + step
        content[slot] = [UInt8](repeating: UInt8(slot & 255), count: 4000)
        content[step] = [UInt8(round)]
        for slot in [slot, step] {
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, content[slot])
        }
      }
      let snapshot = try transaction.commit()
      if round % 7 == 0 { pins.append((snapshot, content)) }
      for (snapshot, content) in pins {
        #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
      }
    }
    #expect(try store.checkInvariants().findings == [])
  }

  /// Two processes write and read in turn, with pins: neither takes a block that it has decrypted
  /// for the one that the other has put in its place.
  ///
  /// - Parameter rarity: how rarely a process looks: often, what was taken stands in the record;
  ///   else in the journal; else, after a checkpoint, nowhere.
  @Test(arguments: [3, 60, 400]) func processesSeeWhatOthersWrite(rarity: UInt64) async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("a.realm")
      let stores = try (1...3).map { process in
        try Store.open(
          Self.options(path, FaultFileSystem(LinuxFileSystem(), process: UInt64(process))))
      }
      var content: [Int: [UInt8]] = [:]
      var pins: [(Snapshot, [Int: [UInt8]])] = []
      for round in 0..<500 {
        // One writes most often, so that others miss much.
        let store = random.oneIn(rarity) ? stores.randomElement(using: &random)! : stores[0]
        if random.oneIn(30) { try store.runMaintenance() }
        let transaction = try store.beginWrite()
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let slot = Int.random(in: 0..<60, using: &random)
          let length = Int.random(in: 0..<600, using: &random)
          content[slot] = [UInt8](
            repeating: UInt8.random(in: 0...255, using: &random), count: length)
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, content[slot])
        }
        // Given back, and taken by another process perhaps.
        if random.oneIn(10) {
          transaction.cancel()
          let snapshot = try store.pinNewest()
          content = SlotTree.content(snapshot.reader, snapshot.root)
        } else {
          _ = try transaction.commit()
        }
        // Not always all of them, so that versions are skipped.
        for store in stores where random.oneIn(rarity) {
          let snapshot = try store.pinNewest()
          #expect(SlotTree.content(snapshot.reader, snapshot.root) == content, "round \(round)")
          if random.oneIn(4) { pins.append((snapshot, content)) }
        }
        while pins.count > 5 { pins.remove(at: Int.random(in: 0..<5, using: &random)) }
        for (snapshot, content) in pins {
          #expect(SlotTree.content(snapshot.reader, snapshot.root) == content, "round \(round)")
        }
      }
      for store in stores { #expect(try store.checkInvariants().findings == []) }
    }
  }

  /// Threads that touch the same blocks first at the same time.
  @Test func threadsReadTogether() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try Self.makeFile(path, commits: 20)
    for _ in 0..<5 {
      let store = try Store.open(Self.options(path))
      let snapshot = try store.pinNewest()
      let threads = (0..<4).map { _ in
        Thread.start(name: "reader") {
          #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
        }
      }
      for thread in threads { thread.joinInTime() }
    }
  }
}
