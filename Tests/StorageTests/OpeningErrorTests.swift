// Opening what cannot be opened: a clear typed error each time, and not one byte of the file
// changed. Damage inside a file that opens is in DamageTests.swift, failing calls later on in
// FaultTests.swift.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

/// Real files for tests that open, change and compare them.
enum StoreFile {
  static func bytes(_ path: String) throws -> [UInt8] {
    let file = try LinuxFileSystem().open(path, [])
    return try file.read(Int(try file.length()), at: 0)
  }

  /// Writes a file anew and forgets its lock file.
  static func replace(_ path: String, _ bytes: [UInt8]) throws {
    let system = LinuxFileSystem()
    let file = try system.open(path, [.writable, .create])
    try file.setLength(0)
    if !bytes.isEmpty { try file.write(bytes: bytes, at: 0) }
    if system.exists(path + ".lock") { try system.remove(path + ".lock") }
  }

  /// A closed file with a few hundred blocks, and what is in it.
  static func make(_ path: String, commits: Int = 12) throws -> (
    bytes: [UInt8], content: [Int: [UInt8]]
  ) {
    var content: [Int: [UInt8]] = [:]
    do {
      let store = try Store.open(StoreOptions(path: path))
      for commit in 0..<commits {
        let transaction = try store.beginWrite()
        for slot in 0..<20 {
          let bytes = [UInt8](repeating: UInt8(commit * 20 + slot & 255), count: 100 + slot * 30)
          let slot = (commit * 7 + slot * 11) % 300
          content[slot] = bytes
          transaction.root = SlotTree.set(
            transaction.editor, transaction.root, slot: slot, bytes)
        }
        _ = try transaction.commit()
      }
      try store.runMaintenance()
    }
    return (try bytes(path), content)
  }

  /// Replaces the checksum of both header copies by the right one.
  static func sealHeaders(_ bytes: inout [UInt8]) {
    for copy in [0, 4096] {
      let sum = bytes.withUnsafeBytes { hash64($0.baseAddress! + copy, count: 248, seed: 0) }
      for index in 0..<8 {
        bytes[copy + 248 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index))
      }
    }
  }
}

@Suite(.ownThreads) struct OpeningErrorTests {
  /// Opens for writing and reading; both fail in the same way and leave the bytes alone.
  private func expectRefused(
    _ bytes: [UInt8], note: String = "", _ isExpected: (StorageError) -> Bool
  ) throws {
    let folder = TemporaryFolder()
    let path = folder.file("some.realm")
    for isReadOnly in [false, true] {
      try StoreFile.replace(path, bytes)
      do {
        _ = try Store.open(StoreOptions(path: path, isReadOnly: isReadOnly))
        Issue.record("opened: \(note), read-only \(isReadOnly)")
      } catch {
        #expect(isExpected(error), "\(note), read-only \(isReadOnly): \(error)")
        #expect("\(error)".contains(path), "\(error)")
      }
      #expect(try StoreFile.bytes(path) == bytes, "\(note), read-only \(isReadOnly)")
    }
  }

  private func isNoDatabase(_ error: StorageError) -> Bool {
    if case .notADatabase = error { true } else { false }
  }

  private func isUnsupported(_ error: StorageError) -> Bool {
    if case .unsupportedFormat = error { true } else { false }
  }

  @Test func randomBytes() async {
    await withSeeds(20) { random in
      for length in [1, 15, 16, 20, 63, 64, 200, 4096, 8192, 24_575, 24_576, 100_000] {
        let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
        try expectRefused(bytes, note: "\(length) bytes", isNoDatabase)
      }
    }
  }

  @Test func aFileOfText() throws {
    let line = Array("a line of some text file, no database at all\n".utf8)
    try expectRefused(Array([[UInt8]](repeating: line, count: 3000).joined()), isNoDatabase)
  }

  @Test func anSQLiteFile() throws {
    var bytes = Array("SQLite format 3\0".utf8) + [0x10, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 9]
    bytes += [UInt8](repeating: 0, count: 4096 * 8 - bytes.count)
    try expectRefused(bytes, isNoDatabase)
  }

  @Test func aVendorFile() throws {
    var bytes = [UInt8](repeating: 0, count: 4096)
    bytes.replaceSubrange(16..<24, with: Array("T-DB".utf8) + [24, 24, 0, 0])
    try expectRefused(bytes, isUnsupported)
    try expectRefused(Array(bytes.prefix(64)), isUnsupported)
  }

  @Test func anUnknownFormatVersion() throws {
    let folder = TemporaryFolder()
    var bytes = try StoreFile.make(folder.file("a.realm")).bytes
    for copy in [0, 4096] { bytes[copy + 8] = 200 }
    StoreFile.sealHeaders(&bytes)
    try expectRefused(bytes, isUnsupported)
  }

  @Test(arguments: [16, 19, 23])
  func anUnknownIncompatibleFlag(byte: Int) throws {
    let folder = TemporaryFolder()
    var bytes = try StoreFile.make(folder.file("a.realm")).bytes
    for copy in [0, 4096] { bytes[copy + byte] |= 0x40 }
    StoreFile.sealHeaders(&bytes)
    try expectRefused(bytes, isUnsupported)
  }

  @Test func aTruncatedFile() throws {
    let folder = TemporaryFolder()
    let bytes = try StoreFile.make(folder.file("a.realm")).bytes
    var lengths = [1, 63, 64, 255, 256, 4095, 4096, 4351, 4352, 8191, 8192, 9000, 16_384]
    lengths += [24_575, 24_576, 24_577, bytes.count / 2, bytes.count - 4096, bytes.count - 1]
    for length in lengths {
      try expectRefused(Array(bytes.prefix(length)), note: "cut at \(length) of \(bytes.count)") {
        if case .damaged = $0 { true } else { isNoDatabase($0) }
      }
    }
  }

  /// They are no part of any version: the file opens, and grows over them.
  @Test(arguments: [1, 16, 100, 4096, 5000]) func bytesThatSomeoneHasAppended(count: Int) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    var (bytes, content) = try StoreFile.make(path)
    bytes += [UInt8](repeating: 0xaa, count: count)
    try StoreFile.replace(path, bytes)
    let store = try Store.open(StoreOptions(path: path))
    for slot in 0..<40 {
      let transaction = try store.beginWrite()
      content[slot] = [UInt8](repeating: 7, count: 8000)
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, content[slot])
      _ = try transaction.commit()
    }
    let newest = try store.pinNewest()
    #expect(SlotTree.content(newest.reader, newest.root) == content)
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func anEmptyFileReadOnly() throws {
    let folder = TemporaryFolder()
    let path = folder.file("empty.realm")
    try StoreFile.replace(path, [])
    #expect {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: true))
    } throws: {
      isNoDatabase($0 as! StorageError)
    }
    #expect(try StoreFile.bytes(path) == [])
    #expect(!LinuxFileSystem().exists(path + ".lock"))
  }

  @Test func anEmptyFileBecomesARealm() throws {
    let folder = TemporaryFolder()
    let path = folder.file("empty.realm")
    try StoreFile.replace(path, [])
    let store = try Store.open(StoreOptions(path: path))
    #expect(try store.checkInvariants().findings == [])
  }

  @Test func aMissingFileReadOnly() {
    let folder = TemporaryFolder()
    let path = folder.file("missing.realm")
    #expect(throws: StorageError.fileNotFound(path: path)) {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: true))
    }
    #expect(!LinuxFileSystem().exists(path))
    #expect(!LinuxFileSystem().exists(path + ".lock"))
  }

  /// The kernel says of its own folders that no new file is found there.
  @Test func aFolderThatTakesNoFilesIsNotOnlyCalledMissing() {
    let error = #expect(throws: StorageError.self) {
      _ = try Store.open(StoreOptions(path: "/proc/new.realm"))
    }
    #expect(error?.description.contains("or takes no new files") == true, "\(error as Any)")
    #expect(error?.description.contains("choose another path") == true)
  }

  @Test(arguments: [false, true]) func aMissingParent(isReadOnly: Bool) {
    let folder = TemporaryFolder()
    let path = folder.file("no/such/folder.realm")
    #expect(throws: StorageError.parentMissing(path: path)) {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: isReadOnly))
    }
    #expect(!LinuxFileSystem().exists(folder.file("no")))
  }

  @Test(arguments: [false, true]) func aFileAsParent(isReadOnly: Bool) throws {
    let folder = TemporaryFolder()
    try StoreFile.replace(folder.file("file"), [1, 2, 3])
    #expect(throws: StorageError.self) {
      _ = try Store.open(StoreOptions(path: folder.file("file/a.realm"), isReadOnly: isReadOnly))
    }
    #expect(try StoreFile.bytes(folder.file("file")) == [1, 2, 3])
  }

  @Test(arguments: [false, true]) func aFolderInTheWay(isReadOnly: Bool) {
    let folder = TemporaryFolder()
    let path = folder.makeFolder("folder.realm")
    #expect(throws: StorageError.isDirectory(path: path)) {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: isReadOnly))
    }
    #expect(LinuxFileSystem().isDirectory(path))
  }

  /// By an injected error, as the tests may run as root, whom no mode stops.
  @Test(arguments: [EACCES, EPERM, EROFS]) func noPermission(code: Int32) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let bytes = try StoreFile.make(path).bytes
    for isReadOnly in [false, true] {
      let system = FaultFileSystem(LinuxFileSystem())
      system.failAll(.open, code: code)
      #expect {
        _ = try Store.open(
          StoreOptions(path: path, isReadOnly: isReadOnly, fileSystem: system))
      } throws: { error in
        if case .permissionDenied(path, _) = error as! StorageError { true } else { false }
      }
    }
    #expect(try StoreFile.bytes(path) == bytes)
  }

  /// With each number of free descriptors the opening fails for what it is, or succeeds.
  @Test func tooManyOpenFiles() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let path = folder.file("a.realm")
      _ = try StoreFile.make(path, commits: 1)
      var taken: [Int32] = []
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      precondition(setrlimit(__rlimit_resource_t(7), &limit) == 0)
      while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 {
        taken.append(descriptor)
      }
      var failures = 0
      for free in 0..<8 {
        do {
          let store = try Store.open(StoreOptions(path: path))
          let findings = try store.checkInvariants().findings
          precondition(findings == [])
        } catch {
          guard case .system(let cause) = error as? StorageError, cause.code == EMFILE else {
            throw error
          }
          failures = free + 1
        }
        close(taken.removeLast())
      }
      // The file and its lock file.
      precondition(failures == 2, "\(failures)")
    }
  }

  /// The real thing, where it can fail.
  @Test func noPermissionOfTheSystem() throws {
    guard geteuid() != 0 else { return }
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    _ = try StoreFile.make(path)
    chmod(path, 0)
    #expect {
      _ = try Store.open(StoreOptions(path: path))
    } throws: { error in
      if case .permissionDenied(path, _) = error as! StorageError { true } else { false }
    }
  }

  /// A lock file that may not be written stops writers; a reader reads one fixed version.
  @Test func noPermissionForTheLockFile() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let (bytes, content) = try StoreFile.make(path)
    for isReadOnly in [false, true] {
      let system = FaultFileSystem(LinuxFileSystem())
      system.inject(FileFault([.open], code: EACCES, pathSuffix: ".lock"))
      do {
        let store = try Store.open(
          StoreOptions(path: path, isReadOnly: isReadOnly, fileSystem: system))
        #expect(isReadOnly)
        let snapshot = try store.pinNewest()
        #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
      } catch {
        guard !isReadOnly, case .permissionDenied = error else { throw error }
      }
    }
    #expect(try StoreFile.bytes(path) == bytes)
  }

  /// A full disk while the file is made: nothing half made stays, and a later try succeeds.
  @Test(arguments: [ENOSPC, EDQUOT], [0, 100, 5000]) func aFullDiskAtCreation(
    code: Int32, written: Int
  ) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    for call in [FileCall.write, .setLength, .synchronize] {
      for number in 1...4 {
        let system = FaultFileSystem(LinuxFileSystem())
        system.inject(
          FileFault([call], code: code, skip: number - 1, times: 1, writtenBytes: written))
        do {
          _ = try Store.open(StoreOptions(path: path, fileSystem: system))
        } catch {
          guard case .diskFull = error else { throw error }
          // The next try finds nothing in its way.
          let store = try Store.open(StoreOptions(path: path))
          #expect(try store.checkInvariants().findings == [])
        }
        try StoreFile.replace(path, [])
      }
    }
  }

  /// A full disk in a commit: the commit is refused, the file keeps the version before.
  @Test(arguments: [FileCall.write, .setLength]) func aFullDiskInACommit(call: FileCall) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let content = try StoreFile.make(path).content
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(StoreOptions(path: path, fileSystem: system))
    func commit(_ bytes: [UInt8]) throws {
      let transaction = try store.beginWrite()
      for slot in 0..<300 {
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: slot, bytes)
      }
      _ = try transaction.commit()
    }
    system.inject(FileFault([call], code: ENOSPC, pathSuffix: ".realm"))
    #expect {
      try commit([UInt8](repeating: 1, count: 2000))
    } throws: { error in
      if case .diskFull = error as! StorageError { true } else { false }
    }
    let snapshot = try store.pinNewest()
    #expect(SlotTree.content(snapshot.reader, snapshot.root) == content)
    system.clearFaults()
    #expect(try store.checkInvariants().findings == [])
    try commit([9])
    let after = try store.pinNewest()
    #expect(SlotTree.content(after.reader, after.root).values.allSatisfy { $0 == [9] })
  }

  /// Opening with other settings than another user of the file in this process.
  @Test func otherSettings() throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.realm")
    let store = try Store.open(StoreOptions(path: path))
    for options in [
      StoreOptions(path: path, isReadOnly: true), StoreOptions(path: path, durability: .memory),
    ] {
      #expect {
        _ = try Store.open(options)
      } throws: { error in
        if case .alreadyOpen(path, _) = error as! StorageError { true } else { false }
      }
    }
    withExtendedLifetime(store) {}
  }
}
