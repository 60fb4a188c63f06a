// A copy of the file put back in its place: what the lock file knows of the file that was there
// before does not judge the copy, though both are one file to the system.
internal import Foundation
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct BackupTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("data.realm") }

  private func commit(slots: Range<Int>, key: [UInt8]? = nil) throws {
    let store = try Store.open(options(key))
    for slot in slots {
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 3, count: 50))
      _ = try transaction.commit()
    }
  }

  private func options(_ key: [UInt8]?) -> StoreOptions {
    StoreOptions(path: path, encryptionKey: key)
  }

  private func slots(_ key: [UInt8]? = nil) throws -> Set<Int> {
    let store = try Store.open(options(key))
    let snapshot = try store.pinNewest()
    #expect(try store.checkInvariants().findings == [])
    return Set(SlotTree.content(snapshot.reader, snapshot.root).keys)
  }

  /// As `cp` does it: the file keeps its inode.
  private func putBack(_ bytes: [UInt8]) throws {
    let file = try LinuxFileSystem().open(path, .writable)
    try file.setLength(0)
    try file.write(bytes: bytes, at: 0)
  }

  /// Found by an attack: called damaged until the lock file was deleted.
  @Test(arguments: [nil, [UInt8](repeating: 7, count: 64)])
  func aBackupIsCopiedOverTheClosedFile(key: [UInt8]?) throws {
    try commit(slots: 0..<3, key: key)
    let early = try StoreFile.bytes(path)
    try commit(slots: 3..<40, key: key)
    let late = try StoreFile.bytes(path)
    try putBack(early)
    #expect(try slots(key) == Set(0..<3))
    // The history goes on from there, and other copies come and go.
    try commit(slots: 50..<52, key: key)
    #expect(try slots(key) == [0, 1, 2, 50, 51])
    let other = try StoreFile.bytes(path)
    try putBack(late)
    #expect(try slots(key) == Set(0..<40))
    try putBack(other)
    #expect(try slots(key) == [0, 1, 2, 50, 51])
    try putBack(early)
    try commit(slots: 60..<61, key: key)
    #expect(try slots(key) == [0, 1, 2, 60])
  }

  /// A reader comes first: the head that it finds is not believed either.
  @Test func aBackupIsReadFirst() throws {
    try commit(slots: 0..<3)
    let early = try StoreFile.bytes(path)
    try commit(slots: 3..<40)
    try putBack(early)
    do {
      var options = options(nil)
      options.isReadOnly = true
      let reader = try Store.open(options)
      let snapshot = try reader.pinNewest()
      #expect(SlotTree.content(snapshot.reader, snapshot.root).count == 3)
    }
    try commit(slots: 50..<51)
    #expect(try slots() == [0, 1, 2, 50])
  }

  /// A file that is only older than its lock file, with no clean close between, may also have lost
  /// what was acknowledged: refused, with the words what to do.
  @Test func aBackupAfterAKill() throws {
    try commit(slots: 0..<3)
    let child = try ProcessDeathTests.Child(folder.file("killed.realm"))
    _ = child.read(lines: 3)
    _ = child.kill(after: 0)
    let killed = folder.file("killed.realm")
    let early = try StoreFile.bytes(killed)
    let second = try ProcessDeathTests.Child(killed)
    _ = second.kill(after: 10)
    let file = try LinuxFileSystem().open(killed, .writable)
    try file.setLength(0)
    try file.write(bytes: early, at: 0)
    do {
      _ = try Store.open(StoreOptions(path: killed))
      Issue.record("opened")
    } catch {
      guard case .damaged = error else { throw error }
      #expect("\(error)".contains("remove that lock file"), "\(error)")
    }
    try LinuxFileSystem().remove(killed + ".lock")
    let store = try Store.open(StoreOptions(path: killed))
    #expect(try store.checkInvariants().findings == [])
  }
}
