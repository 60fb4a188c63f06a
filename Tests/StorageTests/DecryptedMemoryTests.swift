// The memory of decrypted blocks: a version that comes when too much was decrypted begins without
// them, and the memory goes with the last reader of the versions before.
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct DecryptedMemoryTests {
  private static let slots = 200

  static func open(_ path: String, limit: Int, process: UInt64 = 0) throws -> Store {
    var options = StoreOptions(
      path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: process),
      encryptionKey: EncryptionTests.key)
    options.decryptedBytesMax = limit
    return try Store.open(options)
  }

  /// Puts one number into some slots, and into the first.
  private static func commit(
    _ store: Store, _ number: UInt8, slots: [Int], length: Int = 60_000
  ) throws {
    let transaction = try store.beginWrite()
    for slot in [0] + slots {
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: number, count: length))
    }
    _ = try transaction.commit()
  }

  /// Memory of the process that no file is behind.
  private static func anonymousBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    return Int(line.filter(\.isNumber))! << 10
  }

  /// Reads every block of the newest version, and copies none: the heap keeps what was copied.
  private static func readAll(_ store: Store) throws {
    let snapshot = try store.pinNewest()
    #expect(SlotTree.blocks(snapshot.reader, snapshot.root).count > slots)
  }

  /// In a process of its own, whose memory nobody else uses.
  @Test func memoryIsGivenBackByTheNextVersion() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("large.realm")
    do {
      try Self.commit(
        try Self.open(path, limit: 1 << 30), 1, slots: Array(0..<Self.slots))
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try DecryptedMemoryTests.open(path, limit: 2 << 20)
      let before = try DecryptedMemoryTests.anonymousBytes()
      for round in 0..<5 {
        try DecryptedMemoryTests.readAll(store)
        let full = try DecryptedMemoryTests.anonymousBytes()
        precondition(full - before > 10 << 20, "round \(round): \(full - before) bytes")
        try DecryptedMemoryTests.commit(store, UInt8(round), slots: [7])
        let after = try DecryptedMemoryTests.anonymousBytes()
        precondition(after - before < 6 << 20, "round \(round): \(after - before) bytes kept")
      }
    }
  }

  /// What was taken since a version is read from a journal that no pin keeps.
  ///
  /// The writer may cut the file behind it meanwhile.
  @Test func aJournalThatIsGoneEndsNoReader() async {
    let folder = TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file("cut.realm") as String] in
      let writer = try DecryptedMemoryTests.open(path, limit: 1 << 30)
      try DecryptedMemoryTests.commit(writer, 0, slots: Array(0..<20), length: 900)
      let reader = try DecryptedMemoryTests.open(path, limit: 1 << 30, process: 7)
      _ = SlotTree.content(try reader.pinNewest().reader, try reader.pinNewest().root)
      for number in 1...200 {
        try DecryptedMemoryTests.commit(writer, UInt8(number), slots: [number % 20], length: 900)
      }
      let record = try #require(try reader.recordSearch.records().first).record
      let log = record.spaceLog
      precondition(!log.isNone, "the record has all of its journal itself")
      precondition(truncate(path, Int(log.offset) & ~4095) == 0)
      try reader.forgetReused(record)
    }
  }

  /// Readers of old and new versions while every version begins anew, in two processes.
  @Test func contentIsRightWhileMemoryGoes() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let path = folder.file("busy.realm")
      let stores = try [
        Self.open(path, limit: 100_000), Self.open(path, limit: 50_000, process: 7),
      ]
      try Self.commit(stores[0], 0, slots: Array(0..<Self.slots), length: 900)
      let isOver = Atomic(false)
      let readers = stores.map { store in
        Thread.start(name: "reader") {
          do {
            var old: [(snapshot: Snapshot, content: [Int: [UInt8]])] = []
            while !isOver.load(ordering: .relaxed) {
              let snapshot = try store.pinNewest()
              let content = SlotTree.content(snapshot.reader, snapshot.root)
              #expect(content.count == Self.slots)
              #expect(content.values.allSatisfy { Set($0).count <= 1 })
              old.append((snapshot, content))
              if old.count > 4 { old.removeFirst() }
              for (snapshot, content) in old {
                let isSame = SlotTree.content(snapshot.reader, snapshot.root) == content
                #expect(isSame, "version \(snapshot.version)")
              }
            }
          } catch {
            Issue.record(error)
          }
        }
      }
      for number in 1...amount(400, debug: 120) {
        let slots = (0..<10).map { _ in Int.random(in: 0..<Self.slots, using: &random) }
        try Self.commit(
          stores.randomElement(using: &random)!, UInt8(number & 255), slots: slots,
          length: .random(in: 100...2000, using: &random))
      }
      isOver.store(true, ordering: .relaxed)
      for reader in readers { reader.joinInTime() }
      for store in stores { #expect(try store.checkInvariants().findings == []) }
    }
  }
}
