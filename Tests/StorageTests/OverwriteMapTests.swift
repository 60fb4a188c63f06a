// Writing through a map: only what a call has written before, and only where that cannot fail.
import Platform
import TestSupport
import Testing

@testable import Storage

@Suite struct OverwriteMapTests {
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
}
