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
}
