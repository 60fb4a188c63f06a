// Random transactions, pins and reopenings of a whole store, compared with a dictionary a version.
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct StoreModelTests {
  /// One random history; every live version is compared with its model after each step.
  @Test(arguments: seedsInTurn(1...8))
  func everyVersionKeepsItsContent(offset: UInt64) async {
    await withSeeds(first: offset) { random in
      let folder = TemporaryFolder()
      let path = folder.path + "/model.realm"
      var store: Store? = try Store.open(StoreOptions(path: path, durability: .memory))
      var model: [Int: [UInt8]] = [:]
      var pins: [(snapshot: Snapshot, content: [Int: [UInt8]])] = []
      for step in 0..<150 {
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
          // Reopen: pins go, content stays.
          pins = []
          store = nil
          store = try Store.open(StoreOptions(path: path, durability: .memory))
        case 1, 2, 3:
          if pins.count == 12 { pins.remove(at: Int.random(in: 0..<12, using: &random)) }
          pins.append((try store!.pinNewest(), model))
        case 4, 5:
          if pins.count > 0 { pins.remove(at: Int.random(in: 0..<pins.count, using: &random)) }
        case 6:
          try store!.runMaintenance()
        case 7:
          let transaction = try store!.beginWrite()
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: 0, [1, 2, 3])
          transaction.cancel()
        default:
          let transaction = try store!.beginWrite()
          let isLarge = Int.random(in: 0..<20, using: &random) == 0
          for _ in 0..<Int.random(in: 1...(isLarge ? 600 : 6), using: &random) {
            let slot = Int.random(in: 0..<SlotTree.fanOut * SlotTree.fanOut, using: &random)
            let isRemoval = Int.random(in: 0..<5, using: &random) == 0
            let length = Int.random(in: 0..<(isLarge ? 6000 : 900), using: &random)
            let bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
            model[slot] = isRemoval ? nil : bytes
            transaction.root = SlotTree.set(
              transaction.editor, transaction.root, slot: slot, isRemoval ? nil : bytes)
          }
          let version = transaction.version
          let snapshot = try transaction.commit()
          #expect(snapshot.version == version)
        }
        if step % 10 == 0 {
          for pin in pins {
            #expect(
              SlotTree.content(pin.snapshot.reader, pin.snapshot.root) == pin.content,
              "version \(pin.snapshot.version) at step \(step)")
          }
          let check = try store!.checkInvariants()
          #expect(check.findings == [], "step \(step)")
        }
        let newest = try store!.pinNewest()
        #expect(SlotTree.content(newest.reader, newest.root) == model, "step \(step)")
      }
    }
  }

  /// The file returns to its live size when pins go.
  @Test func fileShrinksAfterPinsGo() async {
    await withSeeds(first: 20) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/pins.realm", durability: .memory))
      var pins: [Snapshot] = []
      for step in 0..<600 {
        let transaction = try store.beginWrite()
        let slot = Int.random(in: 0..<SlotTree.fanOut * SlotTree.fanOut, using: &random)
        let bytes = [UInt8](repeating: UInt8(step & 255), count: 700)
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
        _ = try transaction.commit()
        if step % 2 == 0 { pins.append(try store.pinNewest()) }
      }
      let before = try store.statistics()
      #expect(before.pins > 200)
      pins = []
      try store.runMaintenance()
      let after = try store.statistics()
      // What the newest durable record vouches for waits for the next commit.
      #expect(after.heldBytes < 64 << 10)
      #expect(
        Double(after.fileBytes) <= 1.1 * Double(after.liveBytes) + 200_000,
        "\(after.fileBytes) bytes for \(after.liveBytes)")
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// The same without a pause: commits that change something everywhere shorten the file by
  /// themselves.
  ///
  /// Their deltas fill a log block long before it is due by their number. The journal lay at the
  /// end of the file then and was never written anew, so the file stayed ten times as long as its
  /// content.
  @Test func fileShrinksUnderCommitsAfterPinsGo() async {
    await withSeeds(first: 22) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/busy.realm", durability: .memory))
      store.stopIdleWork()
      func commit(_ count: Int, _ body: () throws -> Void = {}) throws {
        for step in 0..<count {
          let transaction = try store.beginWrite()
          for _ in 0..<12 {
            transaction.root = SlotTree.set(
              transaction.editor, transaction.root,
              slot: Int.random(in: 0..<SlotTree.fanOut * SlotTree.fanOut, using: &random),
              [UInt8](repeating: UInt8(step & 255), count: 700))
          }
          _ = try transaction.commit()
          try body()
        }
      }
      try commit(200)
      var pins: [Snapshot] = []
      try commit(400) { pins.append(try store.pinNewest()) }
      let before = try store.statistics()
      #expect(before.fileBytes > 4 * before.liveBytes)
      pins = []
      try commit(600)
      let after = try store.statistics()
      #expect(
        Double(after.fileBytes) <= 1.25 * Double(after.liveBytes) + 200_000,
        "\(after.fileBytes) bytes for \(after.liveBytes)")
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Transactions that are written while they run use what space there is, in whatever parts.
  @Test func largeTransactionsFillSmallHoles() async {
    await withSeeds(first: 23) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/large.realm", durability: .memory))
      store.stopIdleWork()
      let slots = SlotTree.fanOut * SlotTree.fanOut
      func commit(_ changed: [Int]) throws {
        let transaction = try store.beginWrite()
        for slot in changed {
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot,
            [UInt8](repeating: UInt8(slot & 255), count: 4000))
        }
        _ = try transaction.commit()
      }
      try commit(Array(0..<slots))
      for _ in 0..<40 {
        try commit((0..<slots).shuffled(using: &random).suffix(300))
      }
      let after = try store.statistics()
      // The content, what one transaction replaces, and the usual slack.
      #expect(
        Double(after.fileBytes) <= 1.6 * Double(after.liveBytes),
        "\(after.fileBytes) bytes for \(after.liveBytes)")
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// A file under one old pin stops growing once it is warm.
  @Test func onePinDoesNotGrowTheFile() async {
    await withSeeds(first: 21) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/one.realm", durability: .memory))
      // It would make the file shorter whenever the test does not go on for 50 ms.
      store.stopIdleWork()
      func commit(_ count: Int) throws {
        for step in 0..<count {
          let transaction = try store.beginWrite()
          let slot = Int.random(in: 0..<128, using: &random)
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot,
            [UInt8](repeating: UInt8(step & 255), count: 300))
          _ = try transaction.commit()
        }
      }
      try commit(800)
      let pin = try store.pinNewest()
      try commit(800)
      let warm = try store.statistics().fileBytes
      try commit(800)
      #expect(try store.statistics().fileBytes <= warm + 64 << 10)
      withExtendedLifetime(pin) {}
    }
  }

  /// Idle work leaves real zeros behind the data, ready for the next growth, and does so once.
  @Test func idleWorkZeroesAhead() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/zeros.realm"
    let store = try Store.open(StoreOptions(path: path))
    let transaction = try store.beginWrite()
    for slot in 0..<200 {
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 9, count: 2000))
    }
    _ = try transaction.commit()
    try store.runMaintenance()
    let first = try store.statistics()
    #expect(first.freeBytes >= 64 << 10)
    let file = try LinuxFileSystem().open(path, [])
    let tail = try file.read(4096, at: first.fileBytes - 4096)
    #expect(tail == [UInt8](repeating: 0, count: 4096))
    try store.runMaintenance()
    #expect(try store.statistics().fileBytes == first.fileBytes)
    #expect(try store.checkInvariants().findings == [])
  }

  /// One large transaction and nothing after it.
  ///
  /// The file stayed longer than its content, by up to a chunk of 4 MB, until the next write began:
  /// idle work only looked at the threshold that the commit had begun with. Now it starts when the
  /// file is too long.
  @Test(.timeLimit(.minutes(10))) func idleWorkCutsAfterOneLargeCommit() throws {
    let folder = TemporaryFolder()
    let files = FaultFileSystem(LinuxFileSystem(), allowsUnpromptedWork: true)
    let path = folder.path + "/large.realm"
    let store = try Store.open(StoreOptions(path: path, fileSystem: files))
    let transaction = try store.beginWrite()
    let slots = SlotTree.fanOut * SlotTree.fanOut
    for slot in 0..<slots {
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 9, count: 6_000))
    }
    _ = try transaction.commit()
    files.hold(.setLength)
    let cuts = { files.records.filter { $0.call == .setLength && $0.path == path } }
    let grown = try #require(cuts().map(\.offset).max())
    try #require(Double(grown) > 1.2 * Double(slots * 6_000))
    // Idle work may have come before the hold.
    if cuts().last!.offset == grown { files.waitUntilHeld(.setLength) }
    files.release(.setLength)
    #expect(Double(cuts().last!.offset) <= 1.08 * Double(slots * 6_000) + 200_000)
  }
}
