// The list of the versions that a process keeps alive.
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct SnapshotTableTests {
  /// Threads that adopt a version at the same time make a snapshot each; the name of its keeper
  /// used to be lost with the first one, and where it stood in another one.
  @Test func theKeeperIsToldByEachOfSeveralPins() throws {
    let table = SnapshotTable(lockFile: .makePrivate())
    let file = try LinuxFileSystem().openInMemory(name: "table")
    try file.setLength(4096)
    func pin() throws -> Snapshot {
      table.makeSnapshot(
        Version(7), root: .none,
        mapping: try ReadMapping(
          file: file, length: 4096, fileLength: 4096, salt: 0, cipher: nil), createdAt: 0,
        owner: nil)
    }
    var pins = try (0..<3).map { _ in try pin() }
    #expect(table.count == 1 && table.entries[Version(7)]?.count == 3)
    #expect(table.keepers.isEmpty)
    let place = PlaceNote(name: "somebody")
    pins[1].note(frozenBy: place)
    #expect(table.keepers == [Version(7): place])
    pins.removeFirst()
    #expect(table.keepers == [Version(7): place])
    pins.removeLast()
    #expect(table.keepers == [Version(7): place] && table.entries[Version(7)]?.count == 1)
    pins = []
    #expect(table.count == 0 && table.keepers.isEmpty)
    var added: [Version] = []
    var removed: [Version] = []
    table.drain(&added, &removed)
    #expect(added == Array(repeating: Version(7), count: 3) && removed == added)
  }

  /// In a process that only reads nobody asks what has come and gone: each version that it moved to
  /// left 16 bytes behind.
  @Test func whatNobodyAsksForIsForgotten() async throws {
    let file = try LinuxFileSystem().openInMemory(name: "table")
    try file.setLength(4096)
    await withSeeds(4) { random in
      let table = SnapshotTable(lockFile: .makePrivate())
      let mapping = try ReadMapping(
        file: file, length: 4096, fileLength: 4096, salt: 0, cipher: nil)
      var pins: [Snapshot] = []
      var counted: [Version: Int] = [:]
      var added: [Version] = []
      var removed: [Version] = []
      for turn in 1...20_000 {
        let version = Version(UInt64(turn - Int.random(in: 0..<3, using: &random) + 3))
        pins.append(
          table.makeSnapshot(version, root: .none, mapping: mapping, createdAt: 0, owner: nil))
        while pins.count > (turn % 5000 < 2500 ? 3 : 100) {
          pins.remove(at: Int.random(in: pins.indices, using: &random))
        }
        #expect(table.untoldCount < 4 * 1024)
        // Seldom, so that most of it was forgotten.
        guard random.oneIn(7000) || turn == 20_000 else { continue }
        table.drain(&added, &removed)
        for version in added { counted[version, default: 0] += 1 }
        for version in removed { counted[version, default: 0] -= 1 }
        counted = counted.filter { $0.value != 0 }
        let expected = Dictionary(pins.map { ($0.version, 1) }, uniquingKeysWith: +)
        #expect(counted == expected, "turn \(turn)")
      }
    }
  }
}
