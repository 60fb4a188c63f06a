// One file, one lock: by whatever names processes come to a file, and whatever became of its lock
// file, they never write to it without knowing of each other. With real second processes and real
// links.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct LockDomainTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("data.realm") }

  /// A further opening of the file, which neither the engine nor the kernel takes for the first
  /// one.
  private func openAsAnotherProcess(_ path: String) throws(StorageError) -> Store {
    try Store.open(
      StoreOptions(path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7)))
  }

  private func commit(_ store: Store, slot: Int) throws {
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(
      transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 3, count: 50))
    _ = try transaction.commit()
  }

  private func slots(_ store: Store) throws -> Set<Int> {
    let snapshot = try store.pinNewest()
    return Set(SlotTree.content(snapshot.reader, snapshot.root).keys)
  }

  private func expectRefused(
    _ path: String, naming words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      _ = try openAsAnotherProcess(path)
      Issue.record("opened", sourceLocation: sourceLocation)
    } catch {
      guard case .alreadyOpen = error else {
        Issue.record(error, sourceLocation: sourceLocation)
        return
      }
      #expect("\(error)".contains(words), "\(error)", sourceLocation: sourceLocation)
    }
  }

  // MARK: - Names

  /// A symbolic link leads to the lock file of the file itself: both see each other's commits.
  @Test func aSymbolicLinkSharesTheLockFile() throws {
    let store = try Store.open(StoreOptions(path: path))
    try commit(store, slot: 1)
    for (name, target) in [("absolute", path), ("relative", "data.realm"), ("chain", "relative")] {
      #expect(symlink(target, folder.file(name)) == 0)
      let other = try openAsAnotherProcess(folder.file(name))
      try commit(other, slot: 2)
      try commit(store, slot: 3)
      #expect(try slots(other) == [1, 2, 3])
      #expect(!LinuxFileSystem().exists(folder.file(name) + ".lock"))
    }
    #expect(try slots(store) == [1, 2, 3])
  }

  /// A link to nothing yet: the file is made where it leads.
  @Test func aSymbolicLinkToNothing() throws {
    #expect(symlink("data.realm", folder.file("link")) == 0)
    let store = try Store.open(StoreOptions(path: folder.file("link")))
    try commit(store, slot: 1)
    #expect(try slots(openAsAnotherProcess(path)) == [1])
    #expect(LinuxFileSystem().exists(path + ".lock"))
  }

  @Test func aCircleOfLinks() throws {
    #expect(symlink("b", folder.file("a")) == 0)
    #expect(symlink("a", folder.file("b")) == 0)
    #expect(throws: StorageError.self) {
      _ = try Store.open(StoreOptions(path: folder.file("a")))
    }
  }

  /// Compacting by a link replaces the file, not the link.
  @Test func aSymbolicLinkStaysOne() throws {
    do {
      let store = try Store.open(StoreOptions(path: path))
      for slot in 0..<50 { try commit(store, slot: slot) }
    }
    let link = folder.file("link")
    #expect(symlink(path, link) == 0)
    #expect(try Store.compact(StoreOptions(path: link)))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    #expect(try slots(Store.open(StoreOptions(path: path))).count == 50)
  }

  @Test func aHardLinkIsRefusedWhileTheFileIsOpen() throws {
    var store: Store? = try Store.open(StoreOptions(path: path))
    try commit(store!, slot: 1)
    let second = folder.file("second.realm")
    #expect(link(path, second) == 0)
    expectRefused(second, naming: "hard link")
    try commit(store!, slot: 2)
    // One after the other is fine, in both directions.
    store = nil
    do {
      let other = try openAsAnotherProcess(second)
      try commit(other, slot: 3)
      #expect(throws: StorageError.self) { _ = try Store.open(StoreOptions(path: path)) }
    }
    store = try Store.open(StoreOptions(path: path))
    #expect(try slots(store!) == [1, 2, 3])
    #expect(try store!.checkInvariants().findings == [])
    // Nor is the name deleted under who has it open by the other one.
    #expect(throws: StorageError.self) {
      _ = try Store.deleteFiles(
        path: second, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7))
    }
  }

  /// The same with a process of its own, which holds the file by the first name.
  @Test func aHardLinkIsRefusedAmongRealProcesses() throws {
    let other = try ProcessDeathTests.Child(path, "hold")
    _ = other.read(lines: 1)
    let second = folder.file("second.realm")
    #expect(link(path, second) == 0)
    expectRefused(second, naming: "hard link")
    _ = other.kill(after: 0)
    // The kernel has freed what the dead process had.
    try commit(try openAsAnotherProcess(second), slot: 1)
  }

  /// The folder gets another name, and a new file is made at the old path: two files, each with
  /// its own lock file.
  @Test func aFolderRenamedInUse() throws {
    let (first, second) = (folder.file("first"), folder.file("second"))
    try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true)
    let clock = ManualClock()
    let store = try Store.open(StoreOptions(path: first + "/data.realm", clock: clock))
    try commit(store, slot: 1)
    #expect(rename(first, second) == 0)
    clock.advance(nanoseconds: 2_000_000)
    try commit(store, slot: 2)
    let other = try openAsAnotherProcess(second + "/data.realm")
    try commit(other, slot: 3)
    try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true)
    let new = try openAsAnotherProcess(first + "/data.realm")
    try commit(new, slot: 9)
    clock.advance(nanoseconds: 2_000_000)
    try commit(store, slot: 4)
    #expect(try slots(other) == [1, 2, 3, 4])
    #expect(try slots(store) == [1, 2, 3, 4])
    #expect(try slots(new) == [9])
  }

  // MARK: - Lock files that go

  /// Two processes write to a file whose lock file is deleted under one of them: found by an
  /// attack, four transactions were acknowledged, two were there.
  @Test(arguments: [false, true]) func aLockFileDeletedInUse(isReplaced: Bool) throws {
    let clock = ManualClock()
    var store: Store? = try Store.open(StoreOptions(path: path, clock: clock))
    try commit(store!, slot: 1)
    if isReplaced {
      let other = folder.file("other.realm")
      do { _ = try Store.open(StoreOptions(path: other)) }
      #expect(rename(other + ".lock", path + ".lock") == 0)
    } else {
      #expect(unlink(path + ".lock") == 0)
    }
    expectRefused(path, naming: "deleted or replaced")
    clock.advance(nanoseconds: 2_000_000)
    do {
      try commit(store!, slot: 2)
      Issue.record("committed")
    } catch let error as StorageError {
      guard case .incompatibleLockFile(path + ".lock", let reason) = error else { throw error }
      #expect(reason.contains("deleted or replaced while the Realm was open"))
    }
    // It goes on reading, and nobody deletes the file under it.
    #expect(try slots(store!) == [1])
    #expect(throws: StorageError.self) {
      _ = try Store.deleteFiles(
        path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7))
    }
    #expect(try Store.isOpenAnywhere(path: path, fileSystem: LinuxFileSystem()))
    store = nil
    let again = try openAsAnotherProcess(path)
    try commit(again, slot: 3)
    #expect(try slots(again) == [1, 3])
    #expect(try again.checkInvariants().findings == [])
  }

  /// A real process writes as fast as it can while its lock file is deleted; what it has
  /// acknowledged is there, and nobody else wrote meanwhile.
  @Test func aLockFileDeletedUnderAWriter() throws {
    let errors = Pipe()
    let writer = try ProcessDeathTests.Child(path, errors: errors)
    var lines = writer.read(lines: 10)
    #expect(unlink(path + ".lock") == 0)
    // It stops by itself, with an error.
    lines += writer.read(lines: .max)
    writer.process.waitUntilExit()
    #expect(writer.process.terminationStatus != 0)
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(message.contains("deleted or replaced"), "\(message)")
    let store = try Store.open(StoreOptions(path: path))
    #expect(try ProcessDeathTests.number(store.pinNewest()) == ProcessDeathTests.lastNumber(lines))
    #expect(try store.checkInvariants().findings == [])
  }

  // MARK: - Lock files that are something else

  private func expectLockRefused(
    _ words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      _ = try Store.open(StoreOptions(path: path))
      Issue.record("opened", sourceLocation: sourceLocation)
    } catch {
      guard case .incompatibleLockFile(path + ".lock", let reason) = error else {
        Issue.record(error, sourceLocation: sourceLocation)
        return
      }
      #expect(reason.contains(words), "\(reason)", sourceLocation: sourceLocation)
    }
  }

  /// It destroyed the database when it was a link to the data file.
  @Test func aLockFileThatIsALink() throws {
    let (bytes, _) = try StoreFile.make(path)
    try LinuxFileSystem().remove(path + ".lock")
    #expect(symlink(path, path + ".lock") == 0)
    expectLockRefused("symbolic link")
    #expect(try StoreFile.bytes(path) == bytes)
    #expect(unlink(path + ".lock") == 0)
    #expect(link(path, path + ".lock") == 0)
    expectLockRefused("the Realm file itself")
    #expect(try StoreFile.bytes(path) == bytes)
    #expect(unlink(path + ".lock") == 0)
    #expect(symlink(folder.file("nothing"), path + ".lock") == 0)
    expectLockRefused("symbolic link")
    #expect(!LinuxFileSystem().exists(folder.file("nothing")))
  }

  @Test(arguments: [1, 8, 300, 20_480, 300_000]) func aLockFileOfSomebodyElse(length: Int) throws {
    _ = try StoreFile.make(path)
    try LinuxFileSystem().remove(path + ".lock")
    for isLate in [false, true] {
      var bytes = [UInt8](repeating: isLate ? 0 : 0x41, count: length)
      bytes[length - 1] = 0x42
      let file = try LinuxFileSystem().open(path + ".lock", [.writable, .create])
      try file.setLength(0)
      try file.write(bytes: bytes, at: 0)
      expectLockRefused("something else")
      #expect(try StoreFile.bytes(path + ".lock") == bytes)
    }
  }

  @Test func aLockFileThatIsNoFile() throws {
    _ = try StoreFile.make(path)
    try LinuxFileSystem().remove(path + ".lock")
    #expect(mkfifo(path + ".lock", 0o666) == 0)
    expectLockRefused("no regular file")
    #expect(unlink(path + ".lock") == 0)
    #expect(mkdir(path + ".lock", 0o777) == 0)
    #expect(throws: StorageError.isDirectory(path: path + ".lock")) {
      _ = try Store.open(StoreOptions(path: path))
    }
    #expect(rmdir(path + ".lock") == 0)
    try bindSocket(path + ".lock")
    expectLockRefused("no regular file")
    #expect(unlink(path + ".lock") == 0)
    // The administrator may make a device.
    guard geteuid() == 0, mknod(path + ".lock", S_IFCHR | 0o666, dev_t(1 << 8 | 3)) == 0 else {
      return
    }
    expectLockRefused("no regular file")
  }

  /// The same under the name of the Realm itself.
  @Test func aRealmThatIsNoFile() throws {
    func expectRefused(sourceLocation: SourceLocation = #_sourceLocation) {
      for isReadOnly in [false, true] {
        do {
          _ = try Store.open(StoreOptions(path: path, isReadOnly: isReadOnly))
          Issue.record("opened", sourceLocation: sourceLocation)
        } catch {
          #expect("\(error)".contains(path), "\(error)", sourceLocation: sourceLocation)
        }
      }
    }
    #expect(mkfifo(path, 0o666) == 0)
    expectRefused()
    #expect(unlink(path) == 0)
    #expect(mkdir(path, 0o777) == 0)
    expectRefused()
    #expect(rmdir(path) == 0)
    try bindSocket(path)
    expectRefused()
    #expect(unlink(path) == 0)
    for device in ["/dev/null", "/dev/zero", "/dev/full"] {
      #expect(symlink(device, path) == 0)
      do {
        _ = try Store.open(StoreOptions(path: path))
        Issue.record("opened \(device)")
      } catch {
        #expect("\(error)".contains(device), "\(error)")
      }
      #expect(unlink(path) == 0)
      #expect(!LinuxFileSystem().exists(device + ".lock"))
    }
  }

  private func bindSocket(_ path: String) throws {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try #require(bytes.count < 108)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(code == 0)
  }

  /// Killed, or cut off, while it made a new lock file: that is taken over.
  @Test(arguments: [0, 3, 8, 4096, 20_480]) func aLockFileThatWasBeingMade(length: Int) throws {
    let (_, content) = try StoreFile.make(path)
    for magicLength in [0, 1, 8] where magicLength <= length {
      try LinuxFileSystem().remove(path + ".lock")
      let file = try LinuxFileSystem().open(path + ".lock", [.writable, .create])
      try file.setLength(UInt64(length))
      try file.write(bytes: Array("realmlck".utf8.prefix(magicLength)), at: 0)
      let store = try Store.open(StoreOptions(path: path))
      let snapshot = try store.pinNewest()
      #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    }
  }

  /// The lock file of another Realm under this one's name: nobody has it open, it begins anew.
  @Test func aLockFileThatWasCopied() throws {
    _ = try StoreFile.make(path, commits: 12)
    let other = folder.file("other.realm")
    let content = try StoreFile.make(other, commits: 2).content
    try LinuxFileSystem().remove(other + ".lock")
    try FileManager.default.copyItem(atPath: path + ".lock", toPath: other + ".lock")
    let store = try Store.open(StoreOptions(path: other))
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
  }

  /// A copy of the file in its place while somebody has the file open: two files, one lock file.
  @Test func anotherFileInItsPlaceWhileOpen() throws {
    let store = try Store.open(StoreOptions(path: path))
    try commit(store, slot: 1)
    try FileManager.default.copyItem(atPath: path, toPath: folder.file("copy"))
    #expect(rename(folder.file("copy"), path) == 0)
    #expect(throws: StorageError.self) { _ = try openAsAnotherProcess(path) }
    withExtendedLifetime(store) {}
  }
}
