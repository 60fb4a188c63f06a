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
}
