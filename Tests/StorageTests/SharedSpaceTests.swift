// The space of a file that several processes write by turns.
import Platform
import Simulation
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct SharedSpaceTests {
  private let disk = SimulatedDisk()

  private func open(_ process: UInt64, _ durability: Durability = .full) throws -> Store {
    try Store.open(
      StoreOptions(
        path: "/data/a.realm", durability: durability,
        fileSystem: FaultFileSystem(disk, process: process)))
  }

  private func commit(_ store: Store, _ slots: Range<Int>, _ bytes: [UInt8]?) throws {
    let transaction = try store.beginWrite()
    for slot in slots {
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
    }
    _ = try transaction.commit()
  }

  /// Each commit plans to cut the file when it is durable, and the next transaction does it: also
  /// that of another process, else the file of two that write by turns stays long for ever.
  @Test(arguments: [Durability.full, .memory])
  func theFileOfTwoThatWriteByTurnsBecomesShort(durability: Durability) throws {
    try becomesShort(try [1, 2].map { try open($0, durability) })
  }

  @Test func theFileOfFiveThatWriteByTurnsBecomesShort() throws {
    try becomesShort(try (1...5).map { try open($0) })
  }

  private func becomesShort(_ stores: [Store]) throws {
    let bytes = [UInt8](repeating: 1, count: 3_000)
    // Below, so that what is written later lies there.
    try commit(stores[0], 0..<50, bytes)
    try commit(stores[0], 100..<400, bytes)
    try commit(stores[0], 0..<50, nil)
    for slot in 0..<4 { try commit(stores[0], slot..<slot + 1, [1]) }
    let long = try stores[0].statistics().fileBytes
    try commit(stores[0], 100..<400, nil)
    for round in 0..<20 {
      try commit(stores[round % stores.count], round..<round + 1, [UInt8(round)])
    }
    let short = try stores[0].statistics().fileBytes
    #expect(long > 900_000 && short < 500_000, "\(long) bytes have become \(short)")
    for store in stores { #expect(try store.checkInvariants().findings == []) }
    let content = try stores.last!.pinNewest()
    #expect(SlotTree.content(content.reader, content.root).count == 20)
  }

  /// The one that has planned the cut has gone before it came to it.
  @Test func whoIsLeftCutsTheFile() throws {
    let second = try open(2)
    func deleteMuch() throws -> UInt64 {
      let first = try open(1)
      let bytes = [UInt8](repeating: 1, count: 3_000)
      try commit(first, 0..<50, bytes)
      try commit(first, 100..<400, bytes)
      try commit(first, 0..<50, nil)
      for slot in 0..<4 { try commit(first, slot..<slot + 1, [1]) }
      let long = try first.statistics().fileBytes
      try commit(first, 100..<400, nil)
      for slot in 0..<4 { try commit(first, slot..<slot + 1, [2]) }
      return long
    }
    let long = try deleteMuch()
    for slot in 0..<4 { try commit(second, slot..<slot + 1, [3]) }
    let short = try second.statistics().fileBytes
    #expect(long > 900_000 && short < 500_000, "\(long) bytes have become \(short)")
    #expect(try second.checkInvariants().findings == [])
  }

  /// Who writes by turns with others, in processes or threads, stands on the version before.
  ///
  /// A single old block at the end would keep all of the file for ever.
  @Test(arguments: [(1, 2), (1, 4), (2, 1), (3, 1), (5, 1)])
  func oldBlocksMoveDownAlthoughOthersStandOnTheVersionBefore(
    processes: Int, threads: Int
  ) throws {
    let stores = try (1...UInt64(processes)).map { try open($0) }
    let long = try withOldBlocksAtTheEnd(stores[0])
    var standing: [Snapshot?] = Array(repeating: nil, count: processes * threads)
    for round in 0..<40 {
      let store = stores[round % processes]
      try commit(store, round..<round + 1, [UInt8(round)])
      standing[round % standing.count] = try store.pinNewest()
    }
    let short = try stores[0].statistics().fileBytes
    #expect(long > 900_000 && short < 300_000, "\(long) bytes have become \(short)")
    for store in stores { #expect(try store.checkInvariants().findings == []) }
  }

  /// What moves for those who move on costs little where somebody stays behind.
  @Test func aPinThatStaysCostsLittle() throws {
    let stores = try (1...2).map { try open($0) }
    let long = try withOldBlocksAtTheEnd(stores[0])
    let small = [UInt8](repeating: 2, count: 900)
    for slot in 600..<700 { try commit(stores[0], slot..<slot + 1, small) }
    let pin = try stores[1].pinNewest()
    for round in 0..<200 {
      try commit(stores[0], round % 40..<round % 40 + 1, [UInt8(round)])
      if round % 50 == 0 { try stores[0].runMaintenance() }
      #expect(try stores[0].statistics().fileBytes <= long)
    }
    #expect(SlotTree.content(pin.reader, pin.root).count == 110)
    #expect(try stores[0].checkInvariants().findings == [])
  }

  /// Another process deletes what a version sees together with what lies behind it, and cuts the
  /// file there.
  ///
  /// The process that holds the version knows the two as one dead run, of which the end is gone,
  /// and must keep the rest.
  @Test(arguments: [true, false])
  func aHeldVersionStaysWhatItWasWhenTheFileIsCutBehindIt(isOpenBefore: Bool) throws {
    var first: Store? = isOpenBefore ? try open(1) : nil
    let second = try open(2)
    let bytes = [UInt8](repeating: 1, count: 3_000)
    if let first { try commit(first, 0..<1, [1]) }
    try commit(second, 400..<430, bytes)
    try commit(second, 50..<60, bytes)
    // Room for what is written last. What lies behind the others is taken again by what comes next.
    try commit(second, 400..<430, nil)
    for _ in 0..<4 { try commit(second, 1..<2, [2]) }
    let held = try (first ?? second).pinNewest()
    try commit(second, 100..<400, bytes)
    try commit(second, 50..<400, nil)
    for slot in 0..<20 { try commit(second, slot..<slot + 1, [2]) }
    #expect(try second.statistics().fileBytes < 300_000)
    if !isOpenBefore { first = try open(1) }
    for slot in 0..<20 {
      try commit(first!, slot..<slot + 1, Array(repeating: 3, count: 3_000))
      #expect(SlotTree.damage(held.reader, held.root) == nil, "commit \(slot)")
    }
    #expect(SlotTree.content(held.reader, held.root).count == (isOpenBefore ? 12 : 11))
    for store in [first!, second] { #expect(try store.checkInvariants().findings == []) }
  }

  /// - Returns: the length of a file of which nearly all is free, below blocks that nobody changes.
  private func withOldBlocksAtTheEnd(_ store: Store) throws -> UInt64 {
    let bytes = [UInt8](repeating: 1, count: 3_000)
    try commit(store, 100..<400, bytes)
    try commit(store, 500..<510, bytes)
    let long = try store.statistics().fileBytes
    try commit(store, 100..<400, nil)
    return long
  }
}
