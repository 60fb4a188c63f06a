// The list of live versions: whose they are, and what the file keeps for each.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct VersionListTests {
  private static func commit(_ store: Store, _ length: Int) throws {
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(
      transaction.editor, transaction.root, slot: 0, [UInt8](repeating: 1, count: length))
    _ = try transaction.commit()
  }

  @Test func ofAllProcessesWithWhatTheyRetain() throws {
    let disk = SimulatedDisk()
    let stores = try [1, 2].map { process in
      // With commits that follow each other within 50 us, deaths are judged later.
      try Store.open(
        StoreOptions(
          path: "/versions.realm", fileSystem: FaultFileSystem(disk, process: UInt64(process)),
          clock: ManualClock(nanoseconds: 1 << 40)))
    }
    try Self.commit(stores[0], 3000)
    let own = try stores[0].pinNewest()
    try Self.commit(stores[0], 5000)
    let foreign = try stores[1].pinNewest()
    try Self.commit(stores[0], 7000)
    // What the last commit replaced is judged by the next one.
    let versions = try stores[0].statistics(countsRetained: true).versions
    #expect(versions.map(\.version) == [own.version, foreign.version, stores[0].newestVersion])
    // 3,000 bytes are kept for the first alone, 5,000 for the second.
    let retained = versions.map { $0.retainedBytes ?? 0 }
    #expect(retained[0] >= 3000 && retained[0] < 5000)
    #expect(retained[1] >= 5000 && retained[1] < 7000)
    #expect(retained[2] == 0)
    #expect(versions[0].owner.contains("thread"))
    #expect(versions[0].ageNanoseconds != nil)
    #expect(versions[1].owner.contains("process '"))
    #expect(versions[1].owner.contains("(\(processIdentifier)), "))
    #expect(versions[1].owner.contains("thread"))
    #expect(versions[1].ageNanoseconds != nil)
    withExtendedLifetime((own, foreign)) {}
  }

  /// Who asks need not write, nor wait for who does.
  @Test func withoutTheWriteLock() throws {
    let folder = TemporaryFolder()
    let path = folder.file("versions.realm")
    let child = try ProcessDeathTests.Child(path, "1")
    child.process.waitUntilExit()
    let holder = try ProcessDeathTests.Child(path, "hold")
    _ = holder.read(lines: 1)
    let reader = try Store.open(StoreOptions(path: path, isReadOnly: true))
    let newest = try reader.statistics(countsRetained: true).versions.last!
    #expect(newest.version == reader.newestVersion)
    #expect(
      newest.owner.contains("; process 'CommittingProce' (\(holder.process.processIdentifier))"))
    #expect(newest.owner.contains("main thread"))
    #expect(newest.ageNanoseconds != nil)
    #expect(newest.retainedBytes == nil)
    kill(holder.process.processIdentifier, SIGKILL)
    holder.process.waitUntilExit()
    let alone = try reader.statistics().versions.last!
    #expect(!alone.owner.contains("CommittingProce"))
  }
}
