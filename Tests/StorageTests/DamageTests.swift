// One flipped bit, anywhere in a small file: the complete check finds it if it lies in a live
// block, and opening and reading give the newest version, a typed error or a stop that names file,
// block and version; never an older version, never something else.
//
// Every bit with REALM_ALL_BITS=1, as scripts/nightly sets it, and of live blocks in release builds
// too; else a part of them that the seed picks.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// A small closed file with every kind of owner, and who owns which bytes.
private struct SmallFile {
  static let path = "/data/damage.realm"

  let disk = SimulatedDisk()
  let file: any File
  private(set) var content: [Int: [UInt8]] = [:]
  private(set) var version = Version(0)
  private(set) var parts: [(run: Run, owner: String)] = []

  init() throws {
    do {
      let store = try Store.open(StoreOptions(path: Self.path, fileSystem: disk))
      // Enough commits for blocks of the space journal.
      for commit in 0..<20 {
        let transaction = try store.beginWrite()
        for slot in [commit % 4, 40 + commit % 3] {
          let bytes = [UInt8](repeating: UInt8(commit), count: 30 + 7 * slot)
          content[slot] = bytes
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, bytes)
        }
        version = try transaction.commit().version
      }
      let check = try store.checkInvariants()
      #expect(check.findings == [])
      parts = check.parts
    }
    file = try disk.open(Self.path, [.writable])
  }

  func runs(_ owner: String) -> [Run] { parts.filter { $0.owner == owner }.map(\.run) }

  /// The first bytes of each home, as many as any record here has.
  var recordHomes: [Run] { runs("record home") }

  /// Flips one bit, runs `body` and flips it back.
  func withFlip<Result>(_ bit: UInt64, _ body: () throws -> Result) throws -> Result {
    let byte = try file.read(1, at: bit / 8)
    try file.write(bytes: [byte[0] ^ 1 << UInt8(bit % 8)], at: bit / 8)
    defer { try? file.write(bytes: byte, at: bit / 8) }
    return try body()
  }

  func open(isReadOnly: Bool) throws(StorageError) -> Store {
    try Store.open(StoreOptions(path: Self.path, isReadOnly: isReadOnly, fileSystem: disk))
  }

  /// As a restart of the machine does.
  func forgetLockFile() {
    if disk.exists(Self.path + ".lock") { try? disk.remove(Self.path + ".lock") }
  }
}

@Suite(.ownThreads) struct DamageTests {
  #if DEBUG
    private static let isRelease = false
  #else
    private static let isRelease = true
  #endif

  /// All bits of some runs, or about `count` of them.
  private func bits(
    _ runs: [Run], about count: Int, allInRelease: Bool = false, _ random: inout RandomGenerator
  ) -> [UInt64] {
    let all = runs.flatMap { $0.offset * 8..<$0.end * 8 }
    let picksAll = getenv("REALM_ALL_BITS") != nil || (allInRelease && Self.isRelease)
    if picksAll || all.count <= count { return all }
    return (0..<count).map { _ in all.randomElement(using: &random)! }
  }

  private func isTyped(_ error: StorageError) -> Bool {
    guard "\(error)".contains(SmallFile.path) else { return false }
    return switch error {
    case .damaged, .notADatabase, .unsupportedFormat: true
    default: false
    }
  }

  @Test func theCheckFindsEveryFlipInALiveBlock() async {
    await withSeeds { random in
      let small = try SmallFile()
      let live = small.runs("reachable")
      #expect(live.count > 8)
      let store = try small.open(isReadOnly: true)
      #expect(try store.checkInvariants().findings == [])
      for bit in bits(live, about: 6000, allInRelease: true, &random) {
        let findings = try small.withFlip(bit) { try store.checkInvariants().findings }
        #expect(!findings.isEmpty, "bit \(bit % 8) of byte \(bit / 8)")
        #expect(findings.allSatisfy { $0.contains(SmallFile.path) })
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// The journal is read by whoever writes first.
  @Test func everyFlipInTheSpaceJournalIsATypedError() async {
    await withSeeds { random in
      let small = try SmallFile()
      let journal = small.runs("space journal")
      #expect(!journal.isEmpty)
      for bit in bits(journal, about: 600, &random) {
        try small.withFlip(bit) {
          let store = try small.open(isReadOnly: false)
          let newest = try store.pinNewest()
          #expect(SlotTree.content(newest.reader, newest.root) == small.content)
          #expect {
            _ = try store.beginWrite()
          } throws: { error in
            guard case .damaged(_, let block, _, _) = error as? StorageError else { return false }
            return journal.contains { $0.offset <= block && block < $0.end }
          }
        }
      }
    }
  }

  /// Opens the damaged file and reads all of it by ways that throw.
  ///
  /// - Returns: whether it opened.
  private func openAndRead(_ small: SmallFile, _ note: String) throws -> Bool {
    do {
      let store = try small.open(isReadOnly: true)
      let newest = try store.pinNewest()
      #expect(newest.version == small.version, "\(note): an older version")
      let isSound = try store.checkInvariants().findings.isEmpty
      if isSound {
        let isEqual = SlotTree.content(newest.reader, newest.root) == small.content
        #expect(isEqual, "\(note): another content")
      }
      return true
    } catch {
      #expect(isTyped(error), "\(note): \(error)")
      return false
    }
  }

  /// Every part of the file, with what this boot knows of it and without.
  @Test(arguments: [true, false]) func aFlipNeverShowsAnOlderVersion(
    hasLockFile: Bool
  ) async {
    await withSeeds { random in
      let small = try SmallFile()
      // In this order: what opens in spite of the flip, then what need not.
      let headers = [Run(offset: 0, length: 256), Run(offset: 4096, length: 256)]
      let harmless = headers + small.runs("free").filter { $0.offset >= 8192 }
      for bit in bits(harmless, about: 1000, &random) {
        try small.withFlip(bit) {
          if !hasLockFile { small.forgetLockFile() }
          let note = "bit \(bit % 8) of byte \(bit / 8)"
          let opens = try openAndRead(small, note)
          #expect(opens, "\(note) is in nothing that counts")
        }
      }
      let needed = small.runs("reachable") + small.runs("space journal") + small.recordHomes
      for bit in bits(needed, about: 2000, &random) {
        try small.withFlip(bit) {
          if !hasLockFile { small.forgetLockFile() }
          _ = try openAndRead(small, "bit \(bit % 8) of byte \(bit / 8)")
        }
      }
    }
  }

  /// The record of the newest version has no copy: without it the file does not open.
  @Test(arguments: [true, false]) func everyFlipInTheNewestRecordIsATypedError(
    hasLockFile: Bool
  ) async {
    await withSeeds { random in
      let small = try SmallFile()
      // The home whose record names the version, at 24 in it.
      let home = try #require(
        small.recordHomes.first { home in
          let bytes = try small.file.read(8, at: home.offset + 24)
          return bytes.withUnsafeBytes { $0.value(UInt64.self, at: 0) } == small.version.rawValue
        })
      let length = try small.file.read(4, at: home.offset + 16)
        .withUnsafeBytes { $0.value(UInt32.self, at: 0) }
      let record = Run(offset: home.offset, length: UInt64(length))
      for bit in bits([record], about: 500, &random) {
        try small.withFlip(bit) {
          if !hasLockFile { small.forgetLockFile() }
          let note = "bit \(bit % 8) of byte \(bit / 8 - home.offset) of \(length)"
          let opens = try openAndRead(small, note)
          #expect(!opens, "\(note) was passed over")
        }
      }
    }
  }

  /// After a power cut a commit that nobody was told of may have left its record: `check` says so.
  @Test func aRecordThatWasPassedOverIsReported() async {
    await withSeeds { random in
      let disk = SimulatedDisk()
      let system = FaultFileSystem(disk)
      let options = StoreOptions(path: SmallFile.path, fileSystem: system)
      let store = try Store.open(options)
      system.hold(.synchronize)
      let committer = Thread.start(name: "committer") {
        do {
          let transaction = try store.beginWrite()
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: 1, [UInt8](repeating: 1, count: 3000))
          _ = try transaction.commit()
        } catch {
          Issue.record(error)
        }
      }
      system.waitUntilHeld(.synchronize)
      var reported = 0
      for _ in 0..<40 {
        let image = disk.crashImage(.picksWrites, random: &random)
        let check = try Store.open(StoreOptions(path: SmallFile.path, fileSystem: image))
          .checkInvariants()
        #expect(check.findings == [])
        if check.notes.isEmpty { continue }
        reported += 1
        #expect(check.version == Version(1) && check.notes.count == 1, "\(check.notes)")
      }
      #expect(reported > 2)
      system.release(.synchronize)
      committer.joinInTime()
      #expect(try store.checkInvariants().notes == [])
    }
  }

  // MARK: - Where nothing can be thrown

  /// Damages a leaf of a real file: its reference, and the store.
  private static func damageLeaf(
    touchFirst: Bool, in folder: TemporaryFolder
  ) throws -> (store: Store, snapshot: Snapshot, leaf: BlockReference) {
    let path = folder.file("stop.realm")
    _ = try StoreFile.make(path, commits: 2)
    let store = try Store.open(StoreOptions(path: path))
    let snapshot = try store.pinNewest()
    let branch = BlockHeader.reference(snapshot.reader.pointer(snapshot.root), 0)
    let leaf = BlockHeader.reference(snapshot.reader.pointer(branch), 0)
    if touchFirst { _ = snapshot.reader.pointer(leaf) }
    let file = try LinuxFileSystem().open(path, [.writable])
    let byte = try file.read(1, at: leaf.offset + 30)
    try file.write(bytes: [byte[0] ^ 4], at: leaf.offset + 30)
    return (store, snapshot, leaf)
  }

  private func expectStop(
    _ result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let isComplete = /stop\.realm' is damaged: block \d+ of version \d+: its checksum/
    #expect(text.contains(isComplete), "\(text)", sourceLocation: sourceLocation)
  }

  @Test func aGetterStopsAtDamage() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let damaged = try DamageTests.damageLeaf(touchFirst: false, in: TemporaryFolder())
      _ = damaged.snapshot.reader.pointer(damaged.leaf)
    }
    expectStop(result)
  }

  /// A copy would get a fresh checksum, so it is made of verified bytes only: also of a block that
  /// was sound when it was read first.
  @Test func damageIsNotCopied() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let damaged = try DamageTests.damageLeaf(touchFirst: true, in: folder)
      let transaction = try damaged.store.beginWrite()
      _ = transaction.editor.mutable(damaged.leaf)
    }
    expectStop(result)
  }
}
