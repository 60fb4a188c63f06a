// What somebody else writes to a lock file: each of its words with each kind of garbage, while
// nobody has the file open, while one has, and while two have. Nobody stops, what was committed
// stays, and without the lock file the Realm opens with all of it.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct GarbageInLockFileTests {
  /// Words of the header, of the first two slots, and of the first pins of the first slot.
  private static let words =
    Array(0..<48) + Array(512 + 8..<512 + 32) + Array(544 + 8..<544 + 32) + Array(2560..<2564)

  private static func garbage(_ random: inout RandomGenerator) -> [UInt64] {
    let all: [UInt64] = [
      0, 1, .max, 1 << 63, 1 << 63 | 0x7fff_ffff, 1 << 55 | 250, 300 << 8 | 9, 5 << 8 | 250,
      0x4141_4141_4141_4141, random.next(), random.next() >> 32, 1 << 30,
    ]
    return Array(all.shuffled(using: &random).prefix(amount(all.count, debug: 3)))
  }

  private static func set(_ word: Int, _ value: UInt64, _ path: String) throws {
    let file = try LinuxFileSystem().open(path + ".lock", .writable)
    guard try file.length() >= UInt64(word + 1) * 8 else { return }
    try withUnsafeBytes(of: value) { buffer throws(SystemError) in
      try file.write(buffer, at: UInt64(word * 8))
    }
  }

  /// Runs what may end in an error that can be reported, and in nothing else.
  private static func attempt(_ body: () throws -> Void) throws {
    do { try body() } catch is StorageError {}
  }

  private static func content(_ store: Store) throws -> [Int: [UInt8]] {
    let snapshot = try store.pinNewest()
    return SlotTree.content(snapshot.reader, snapshot.root)
  }

  /// What was acknowledged, and what an error left open.
  private struct Expected {
    var content: [Int: [UInt8]]
    var open: [Int: [UInt8]] = [:]

    func allows(_ found: [Int: [UInt8]]) -> Bool {
      Set(content.keys).union(found.keys).allSatisfy { slot in
        found[slot] == content[slot] || open[slot] != nil && found[slot] == open[slot]
      }
    }
  }

  private static func commit(_ store: Store, _ slot: Int, _ expected: inout Expected) throws {
    let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: slot), count: 60)
    try attempt {
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      expected.open[slot] = bytes
      _ = try transaction.commit()
      expected.content[slot] = bytes
    }
  }

  private static func expectWhole(
    _ path: String, _ expected: Expected, _ note: String
  ) throws {
    unlink(path + ".lock")
    do {
      let store = try Store.open(StoreOptions(path: path))
      let found = try content(store)
      #expect(expected.allows(found), "\(note)")
      #expect(try store.checkInvariants().findings == [], "\(note)")
    } catch {
      Issue.record("\(note), without its lock file: \(error)")
    }
  }

  @Test func inALockFileThatNobodyUses() async {
    await withSeeds(1) { random in
      let folder = TemporaryFolder()
      let path = folder.file("data.realm")
      let (bytes, content) = try StoreFile.make(path, commits: 2)
      for word in Self.words {
        for value in Self.garbage(&random) {
          let note = "word \(word) is \(value)"
          try StoreFile.replace(path, bytes)
          do { _ = try Store.open(StoreOptions(path: path)) }
          try Self.set(word, value, path)
          var expected = Expected(content: content)
          try Self.attempt {
            let store = try Store.open(StoreOptions(path: path))
            let found = try Self.content(store)
            #expect(found == content, "\(note)")
            try Self.commit(store, 250, &expected)
          }
          try Self.expectWhole(path, expected, note)
        }
      }
    }
  }

  @Test(arguments: [1, 2]) func inALockFileInUse(processes: Int) async {
    await withSeeds(1) { random in
      let folder = TemporaryFolder()
      let path = folder.file("data.realm")
      let (bytes, content) = try StoreFile.make(path, commits: 2)
      for word in Self.words {
        for value in Self.garbage(&random) {
          let note = "word \(word) is \(value)"
          try StoreFile.replace(path, bytes)
          var expected = Expected(content: content)
          do {
            let stores = try (0..<processes).map { number in
              try Store.open(
                StoreOptions(
                  path: path,
                  fileSystem: FaultFileSystem(LinuxFileSystem(), process: UInt64(number + 1))))
            }
            for store in stores { try Self.commit(store, 251, &expected) }
            try Self.set(word, value, path)
            for turn in 0..<2 {
              for store in stores {
                try Self.attempt {
                  let found = try Self.content(store)
                  #expect(expected.allows(found), "\(note)")
                }
                try Self.commit(store, 252 + turn, &expected)
                try Self.attempt { _ = try store.statistics() }
              }
            }
            try Self.attempt {
              _ = try Store.open(
                StoreOptions(
                  path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 9)))
            }
          }
          try Self.expectWhole(path, expected, note)
        }
      }
    }
  }
}
