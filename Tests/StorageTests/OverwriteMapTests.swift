// Writing through a map: only what a call has written before, and only where that cannot fail.
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite(.ownThreads) struct OverwriteMapTests {
  private let page = pageLength

  private func bytes(_ value: UInt8, _ count: Int) -> [UInt8] {
    Array(repeating: value, count: count)
  }

  private func overwrite(_ map: OverwriteMap, _ content: [UInt8], at offset: Int) -> Bool {
    content.withUnsafeBytes { map.write($0, at: UInt64(offset)) }
  }

  private func content(_ file: any File, _ range: Range<Int>) throws -> [UInt8] {
    var result = [UInt8](repeating: 0, count: range.count)
    let count = try result.withUnsafeMutableBytes {
      try file.read(into: $0, at: UInt64(range.lowerBound))
    }
    return Array(result.prefix(count))
  }

  @Test func onlyPagesThatACallHasWritten() throws {
    let folder = TemporaryFolder()
    let file = try LinuxFileSystem().open(folder.file("a"), [.writable, .create])
    try file.setLength(UInt64(8 * page))
    guard let map = OverwriteMap(file, length: 64 * page) else {
      // The tests run on a file system that gives changed pages new places.
      return
    }
    #expect(!overwrite(map, bytes(1, 10), at: 0))
    try bytes(2, page).withUnsafeBytes { try file.write($0, at: UInt64(page)) }
    map.didWrite(page, at: UInt64(page))
    #expect(overwrite(map, bytes(3, 10), at: page + 5))
    #expect(
      try content(file, page..<page + 20) == bytes(2, 5) + bytes(3, 10) + bytes(2, 5))
    #expect(!overwrite(map, bytes(4, 10), at: 2 * page - 5), "it ends in another page")
    #expect(!overwrite(map, bytes(4, 10), at: page - 5), "it begins in another page")
    map.didWrite(2, at: UInt64(2 * page - 1))
    #expect(overwrite(map, bytes(5, 10), at: 2 * page - 5))
    map.forget()
    #expect(!overwrite(map, bytes(6, 10), at: page))
    #expect(try content(file, 2 * page - 5..<2 * page + 5) == bytes(5, 10))
  }

  @Test func notBehindTheMapNorMuchAtOnce() throws {
    let file = try LinuxFileSystem().openInMemory(name: "overwriting")
    let length = 40 * page
    try file.setLength(UInt64(length))
    let map = try #require(OverwriteMap(file, length: length))
    map.didWrite(length + page, at: 0)
    #expect(overwrite(map, bytes(1, page), at: length - page))
    #expect(!overwrite(map, bytes(1, page), at: length - page + 1))
    #expect(!overwrite(map, bytes(1, 65 << 10), at: 0))
  }

  @Test func aSimulatedDiskSeesEachWrite() throws {
    let file = try SimulatedDisk().open("/a", [.writable, .create])
    #expect(OverwriteMap(file, length: page) == nil)
  }

  /// What was written through the map is in the file for whoever opens it next.
  @Test func commitsAreInTheFile() throws {
    let folder = TemporaryFolder()
    let options = StoreOptions(path: folder.file("a.realm"), durability: .memory)
    for round in 0..<3 {
      let store = try Store.open(options)
      for number in 0..<50 {
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: number, [UInt8(round), UInt8(number)])
        _ = try transaction.commit()
      }
      #expect(try store.checkInvariants().findings == [])
      let snapshot = try Store.open(options).pinNewest()
      let content = SlotTree.content(snapshot.reader, snapshot.root)
      #expect(content.count == 50 && content[49] == [UInt8(round), 49])
    }
  }

  @Test func moreIsCoveredWhenTheFileOutgrowsTheMap() throws {
    let file = try LinuxFileSystem().openInMemory(name: "outgrown")
    try file.setLength(UInt64(8 * page))
    let map = try #require(OverwriteMap(file, length: 2 * page))
    map.didWrite(6 * page, at: 0)
    #expect(overwrite(map, bytes(1, 10), at: page))
    #expect(!overwrite(map, bytes(2, 10), at: 4 * page))
    map.cover(8 * page)
    #expect(overwrite(map, bytes(3, 10), at: 4 * page) && overwrite(map, bytes(4, 5), at: page))
    #expect(try content(file, page..<page + 10) == bytes(4, 5) + bytes(1, 5))
    #expect(try content(file, 4 * page..<4 * page + 10) == bytes(3, 10))
  }

  /// What another process has cut off in between may have no place on the disk any more.
  @Test func pagesOfAnotherProcessAreForgotten() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let systems = (1...2).map {
      FaultFileSystem(LinuxFileSystem(), process: $0, overwritesInPlace: true)
    }
    let stores = try systems.map {
      try Store.open(StoreOptions(path: path, durability: .memory, fileSystem: $0))
    }
    /// Commits, and tells how many bytes were written by calls, and how many in all.
    func commit(_ process: Int) throws -> (byCalls: Int, all: Int) {
      let before = try stores[process].statistics().writtenBytes
      systems[process].resetRecords()
      let transaction = try stores[process].beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: process, bytes(UInt8(process), 2000))
      _ = try transaction.commit()
      let calls = systems[process].records.filter { $0.call == .write && $0.path == path }
      return (
        calls.reduce(0) { $0 + $1.count },
        Int(try stores[process].statistics().writtenBytes - before)
      )
    }
    let probe = try LinuxFileSystem().open(folder.file("probe"), [.writable, .create])
    guard OverwriteMap(probe, length: page) != nil else { return }
    for round in 0..<5 {
      let isWarm = try eventually { try commit(0).byCalls == 0 }
      #expect(isWarm, "nothing is stored through the map")
      _ = try commit(1)
      let written = try commit(0)
      #expect(written.byCalls == written.all, "round \(round)")
    }
    for store in stores { #expect(try store.checkInvariants().findings == []) }
  }
}
