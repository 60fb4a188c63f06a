// Compaction by a new file: who may use it, what other names the old one has, and folders in which
// no file can be replaced.
import Glibc
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct ReplacedFileTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("data.realm") }

  private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status
  }

  private func mode(_ path: String) throws -> UInt32 { try status(path).st_mode & 0o777 }

  /// A file that has more than its content.
  private func makeLongFile() throws -> StoreOptions {
    let options = StoreOptions(path: path)
    let store = try Store.open(options)
    store.stopIdleWork()
    for slots in [0..<200, 0..<190] {
      let transaction = try store.beginWrite()
      for slot in slots {
        transaction.root = SlotTree.set(
          transaction.editor, transaction.root, slot: slot,
          slots.count == 200 ? [UInt8](repeating: 1, count: 5000) : nil)
      }
      _ = try transaction.commit()
    }
    return options
  }

  private func check(_ options: StoreOptions) throws {
    let store = try Store.open(options)
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root).keys.sorted() == Array(190..<200))
  }

  /// A file that only its owner could read was readable for everybody after its compaction.
  @Test(arguments: [0o600, 0o640, 0o666] as [UInt32])
  func permissionsStay(permissions: UInt32) throws {
    let options = try makeLongFile()
    try #require(chmod(path, permissions) == 0)
    let number = try status(path).st_ino
    #expect(try Store.compact(options))
    #expect(try status(path).st_ino != number, "the file was not replaced")
    #expect(try mode(path) == permissions)
    let copy = folder.file("copy.realm")
    try Store.open(options).writeCopy(to: copy)
    let mask = umask(0)
    umask(mask)
    #expect(try mode(copy) == permissions & ~mask)
    try check(options)
  }

  /// A copy of a file that may not be written can be.
  @Test func aCopyCanBeWritten() throws {
    var options = try makeLongFile()
    try #require(chmod(path, 0o444) == 0)
    options.isReadOnly = true
    let copy = folder.file("copy.realm")
    try Store.open(options).writeCopy(to: copy)
    #expect(try mode(copy) == 0o644)
  }

  /// The other name went on leading to the old file, which nobody wrote any more.
  @Test func allNamesOfAFileStayItsNames() throws {
    let options = try makeLongFile()
    let other = folder.file("other.realm")
    try #require(link(path, other) == 0)
    #expect(try Store.compact(options))
    #expect(try status(path).st_ino == status(other).st_ino)
    try check(options)
  }

  /// A file that is a mount point, as in containers, or whose folder may not be written: it opens,
  /// and is compacted in its place.
  @Test(arguments: [EBUSY, EACCES, EROFS]) func whatCannotBeReplaced(code: Int32) throws {
    _ = try makeLongFile()
    let system = FaultFileSystem(LinuxFileSystem())
    system.failAll(.rename, code: code)
    var options = StoreOptions(path: path, fileSystem: system)
    options.shouldCompact = { _, _ in true }
    do {
      let store = try Store.open(options)
      let snapshot = try store.pinNewest()
      #expect(SlotTree.content(snapshot.reader, snapshot.root).count == 10)
    }
    #expect(!system.struck.isEmpty)
    options.shouldCompact = nil
    let before = try status(path)
    #expect(try Store.compact(options))
    let after = try status(path)
    #expect(after.st_ino == before.st_ino && after.st_size < before.st_size)
    try check(options)
  }
}
