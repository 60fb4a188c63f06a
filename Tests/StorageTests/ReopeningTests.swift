// A file that is opened again soon after it was closed: the map of the last opening is used again,
// and shows nothing of what the file was then.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct ReopeningTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "reopening-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("a.realm").path)
  }

  private func content(_ path: String) throws -> [Int: [UInt8]] {
    let store = try Store.open(StoreOptions(path: path))
    #expect(try store.checkInvariants().findings == [])
    let snapshot = try store.pinNewest()
    return SlotTree.content(snapshot.reader, snapshot.root)
  }

  /// Address ranges of this process that are backed by a file of the name.
  private func maps(of path: String) throws -> Int {
    try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
      .split(separator: "\n").count { $0.contains(path) }
  }

  @Test func showsWhatWasWrittenMeanwhile() throws {
    try withFile { path in
      var (bytes, expected) = try StoreFile.make(path, commits: 3)
      #expect(try content(path) == expected)
      for round in 0..<20 {
        let slot = round * 13
        expected[slot] = [UInt8](repeating: UInt8(round), count: 500 + round * 100)
        do {
          let store = try Store.open(StoreOptions(path: path))
          let transaction = try store.beginWrite()
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, expected[slot]!)
          _ = try transaction.commit()
        }
        #expect(try content(path) == expected)
      }
      // In place, as `cp` does: the same file, and an older content of another length.
      let old = bytes
      bytes = try StoreFile.bytes(path)
      try StoreFile.replace(path, old)
      #expect(try content(path) != expected)
      try StoreFile.replace(path, bytes)
      #expect(try content(path) == expected)
    }
  }

  /// What was verified before the file was closed is verified again.
  @Test func findsDamageOfMeanwhile() throws {
    try withFile { path in
      let (bytes, expected) = try StoreFile.make(path)
      #expect(try content(path) == expected)
      let root: BlockReference
      do {
        let store = try Store.open(StoreOptions(path: path))
        let snapshot = try store.pinNewest()
        _ = SlotTree.content(snapshot.reader, snapshot.root)
        root = snapshot.root
      }
      let file = try LinuxFileSystem().open(path, [.writable])
      let place = Int(root.offset) + BlockHeader.length
      try file.write(bytes: [bytes[place] ^ 1], at: UInt64(place))
      #expect(throws: StorageError.self) { try Store.open(StoreOptions(path: path)) }
      try file.write(bytes: [bytes[place]], at: UInt64(place))
      #expect(try content(path) == expected)
    }
  }

  /// A file of the same name is another one.
  @Test func anotherFileOfTheNameIsShown() throws {
    try withFile { path in
      let (_, expected) = try StoreFile.make(path)
      let other = path + "-2"
      let (_, few) = try StoreFile.make(other, commits: 2)
      #expect(try content(path) == expected)
      try FileManager.default.removeItem(atPath: path + ".lock")
      #expect(rename(other, path) == 0)
      #expect(try content(path) == few)
    }
  }

  @Test func encryptedFilesAreDecryptedAnew() throws {
    try withFile { path in
      let key = [UInt8](repeating: 7, count: 64)
      for round in 0..<3 {
        let store = try Store.open(StoreOptions(path: path, encryptionKey: key))
        let before = try store.pinNewest()
        if round > 0 {
          #expect(
            SlotTree.content(before.reader, before.root)[5]
              == [UInt8](repeating: UInt8(round - 1), count: 300))
        }
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: 5,
          [UInt8](repeating: UInt8(round), count: 300))
        _ = try transaction.commit()
      }
      let wrong = [UInt8](repeating: 8, count: 64)
      #expect(throws: StorageError.self) {
        try Store.open(StoreOptions(path: path, encryptionKey: wrong))
      }
    }
  }

  /// A map that is kept would keep the file's space on the disk.
  @Test func deletedFilesLeaveNoMap() throws {
    try withFile { path in
      _ = try StoreFile.make(path, commits: 1)
      #expect(try Store.deleteFiles(path: path, fileSystem: LinuxFileSystem()))
      // The thread that lets go of what is kept may have it in its hands.
      let isGone = try eventually { try maps(of: path) == 0 }
      #expect(isGone)
    }
  }
}
