// A disk that loses one write, or shows a page as it was before, and somebody who puts one back:
// what is opened then is a version with its content, or an error that names file and block; never a
// mixture of versions. The same with tables: ObjectStoreTests/StaleObjectsTests.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct StaleBlockTests {
  /// How images ended.
  struct Outcomes: CustomStringConvertible {
    var right = 0
    var errors = 0

    var description: String { "\(right) right, \(errors) errors" }
  }

  /// The content of a version, as readers verify it.
  private static func read(_ snapshot: Snapshot) throws(StorageError) -> [Int: [UInt8]] {
    if let damage = SlotTree.damage(snapshot.reader, snapshot.root) { throw damage }
    return SlotTree.content(snapshot.reader, snapshot.root)
  }

  /// Opens a file that an attack has made, reads it, and writes to it.
  private static func attack(
    _ history: CrashHistory, _ content: [UInt8], _ outcomes: inout Outcomes, _ note: String
  ) throws {
    CrashPoints.note()
    let disk = try SimulatedDisk.holding(content, path: CrashHistory.path)
    do throws(StorageError) {
      let store = try history.open(disk)
      let snapshot = try store.pinNewest()
      let content = try read(snapshot)
      let isRight = history.isExpected(content, of: snapshot.version)
      #expect(isRight, "\(note): version \(snapshot.version) has another content")
      // Space that is in use is never taken for free either.
      for round in 0..<3 {
        let transaction = try store.beginWrite()
        transaction.root = try set(transaction, slot: 399 - round)
        _ = try transaction.commit()
      }
      let later = try read(try store.pinNewest())
      let isKept = later.filter { $0.key < 397 } == content.filter { $0.key < 397 }
      #expect(isKept, "\(note): writing to version \(snapshot.version) changed other content")
      outcomes.right += 1
    } catch {
      outcomes.errors += 1
      switch error {
      case .damaged(let path, _, _, _): #expect(path == CrashHistory.path, "\(note): \(error)")
      case .notADatabase: break
      default: Issue.record("\(note): \(error)")
      }
    }
  }

  /// As `SlotTree.set`, with errors instead of stops.
  private static func set(
    _ transaction: WriteTransaction, slot: Int
  ) throws(StorageError) -> BlockReference {
    let reader = transaction.editor.reader
    if let damage = SlotTree.damage(reader, transaction.root) { throw damage }
    return SlotTree.set(transaction.editor, transaction.root, slot: slot, [1, 2, 3])
  }

  private static func makeHistory(
    _ isEncrypted: Bool, commits: Int, _ random: inout RandomGenerator
  ) throws -> CrashHistory {
    let history = CrashHistory(key: isEncrypted ? EncryptionTests.key : nil)
    let store = try history.openFirst()
    for commit in 0..<commits {
      if commit == commits / 2 { try history.removeMost(store, &random) }
      try history.commitRandom(store, &random)
    }
    // Without the mark of a clean close: that alone would tell of a lost record.
    return history
  }

  @Test(arguments: [false, true], CrashPoints.rounds)
  func oneLostWriteAtATime(isEncrypted: Bool, round: Int) async {
    await CrashPoints.run(isEncrypted ? 62 : 60, round: round) { random in
      let history = try Self.makeHistory(isEncrypted, commits: 24, &random)
      let file = WrittenFile(history.disk.operations, path: CrashHistory.path)
      var outcomes = Outcomes()
      for write in file.writes {
        try Self.attack(history, file.content(without: write), &outcomes, "without write \(write)")
      }
      #expect(outcomes.right > 0 && outcomes.errors > 0, "\(outcomes)")
    }
  }

  @Test(arguments: [false, true], CrashPoints.rounds)
  func onePageRolledBackAtATime(isEncrypted: Bool, round: Int) async {
    await CrashPoints.run(isEncrypted ? 64 : 66, round: round) { random in
      let history = try Self.makeHistory(isEncrypted, commits: 16, &random)
      let file = WrittenFile(history.disk.operations, path: CrashHistory.path)
      let content = file.content()
      var outcomes = Outcomes()
      for page in file.formerPages() {
        var image = content
        image.replaceSubrange(page.offset..<page.offset + page.bytes.count, with: page.bytes)
        try Self.attack(history, image, &outcomes, "page \(page.offset) rolled back")
      }
      #expect(outcomes.right > 0 && outcomes.errors > 0, "\(outcomes)")
    }
  }

  /// The guarantee that BirthTag states: of births near each other none share a tag.
  @Test func nearBirthsHaveDifferentTags() {
    var nearest = UInt64.max
    for distance in 1..<1_000_000 as Range<UInt64> {
      let product = distance &* 0x9e37_79b9_7f4a_7c15
      nearest = min(nearest, product, 0 &- product)
    }
    // Tags are the upper 23 bits, of which 0 and 1 are one.
    #expect(nearest >= 2 << 41)
  }

  @Test(arguments: [1, 2, 77, 1 << 20, 1 << 46] as [UInt64])
  func referencesExpectOneBirth(birth: UInt64) {
    let reference = BlockReference(offset: 48 << 20, BirthTag(Version(birth)))
    #expect(reference.offset == 48 << 20 && !reference.isProvisional && !reference.isNone)
    #expect(reference.expects(Version(birth)))
    for other in 1...100 as ClosedRange<UInt64> {
      #expect(!reference.expects(Version(birth + other)))
      #expect(BlockReference(anyAt: 48 << 20).expects(Version(other)))
    }
    let last = BlockReference(offset: BlockReference.offsetEnd - 16, BirthTag(Version(birth)))
    #expect(last.offset == BlockReference.offsetEnd - 16 && last.expects(Version(birth)))
    #expect(BlockReference(provisional: 7).offset >= BlockReference.offsetEnd)
  }
}
