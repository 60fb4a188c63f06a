// A file, or its lock file, that somebody else makes shorter while it is open: whoever touches what
// is gone stops with words that name the file, not by a plain SIGBUS, and nobody commits on top of
// blocks that are gone.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct FileCutTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("cut.realm") }

  /// Reads a block that nobody has read yet, behind the end that the file has by then.
  private static func readWhatIsGone(
    key: [UInt8]?, in folder: TemporaryFolder, isRead: Bool = false
  ) throws {
    let path = folder.file("cut.realm")
    var store: Store? = try Store.open(StoreOptions(path: path, encryptionKey: key))
    let transaction = try store!.beginWrite()
    for slot in 0..<300 {
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 7, count: 900))
    }
    _ = try transaction.commit()
    store = nil
    // As another process, which knows nothing yet of what was written.
    let reader = try Store.open(
      StoreOptions(
        path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7), encryptionKey: key))
    let snapshot = try reader.pinNewest()
    if isRead { _ = SlotTree.content(snapshot.reader, snapshot.root) }
    try LinuxFileSystem().open(path, .writable).setLength(24_576)
    _ = SlotTree.content(snapshot.reader, snapshot.root)
  }

  private func expectStop(
    _ result: ExitTest.Result?, naming file: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let words = "\(file)' is damaged: byte "
    #expect(text.contains(words), "\(text)", sourceLocation: sourceLocation)
    #expect(
      text.contains("somebody has cut the file to"), "\(text)", sourceLocation: sourceLocation)
  }

  @Test func aReaderStopsByTheNameOfTheFile() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try FileCutTests.readWhatIsGone(key: nil, in: TemporaryFolder())
    }
    expectStop(result, naming: "cut.realm")
  }

  @Test func aReaderOfAnEncryptedFileStopsByItsName() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try FileCutTests.readWhatIsGone(key: (0..<64).map { $0 }, in: TemporaryFolder())
    }
    expectStop(result, naming: "cut.realm")
  }

  /// Also what was verified before.
  @Test func aReaderOfKnownBlocksStopsByTheNameOfTheFile() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try FileCutTests.readWhatIsGone(key: nil, in: TemporaryFolder(), isRead: true)
    }
    expectStop(result, naming: "cut.realm")
  }

  @Test func aLockFileThatIsCutStopsByItsName() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      let path = folder.file("cut.realm")
      let store = try Store.open(StoreOptions(path: path))
      try LinuxFileSystem().open(path + ".lock", .writable).setLength(0)
      _ = try store.beginWrite()
    }
    expectStop(result, naming: "cut.realm.lock")
  }

  /// A signal that is not about a map of ours goes where it went before.
  @Test func anotherMapIsNotNamed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = TemporaryFolder()
      let store = try Store.open(StoreOptions(path: folder.file("cut.realm")))
      let name = folder.file("foreign")
      let file = open(name, O_RDWR | O_CREAT, 0o600)
      let map = mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0)!
      print(map.load(as: UInt8.self))
      withExtendedLifetime(store) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!text.contains("is damaged"), "\(text)")
  }

  // MARK: - Writers

  private func commit(_ store: Store, slot: Int, length: Int = 3000) throws {
    let transaction = try store.beginWrite()
    transaction.root = SlotTree.set(
      transaction.editor, transaction.root, slot: slot, [UInt8](repeating: 3, count: length))
    _ = try transaction.commit()
  }

  private func expectRefused(
    _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      try body()
      Issue.record("committed", sourceLocation: sourceLocation)
    } catch {
      #expect(
        "\(error)".contains("'\(path)' is damaged")
          && "\(error)".contains("somebody has cut the file"),
        "\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [Durability.full, .memory])
  func aWriterDoesNotBuildOnWhatIsGone(durability: Durability) throws {
    let clock = ManualClock()
    let store = try Store.open(
      StoreOptions(
        path: path, durability: durability, fileSystem: FaultFileSystem(LinuxFileSystem()),
        clock: clock))
    for slot in 0..<60 { try commit(store, slot: slot) }
    let file = try LinuxFileSystem().open(path, .writable)
    try file.setLength(try file.length() - 8192)
    clock.advance(nanoseconds: 2_000_000)
    expectRefused { try commit(store, slot: 1) }
    expectRefused { try commit(store, slot: 2) }
  }

  /// The cut comes while another process has written last.
  @Test func aWriterThatTakesOverDoesNotBuildOnWhatIsGone() throws {
    let store = try Store.open(
      StoreOptions(path: path, fileSystem: FaultFileSystem(LinuxFileSystem())))
    try commit(store, slot: 1)
    let other = try Store.open(
      StoreOptions(path: path, fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7)))
    for slot in 0..<60 { try commit(other, slot: slot) }
    let file = try LinuxFileSystem().open(path, .writable)
    try file.setLength(try file.length() - 8192)
    expectRefused { try commit(store, slot: 1) }
  }

  /// Longer is nobody's business: what is behind the end is free.
  @Test func aWriterGoesOnInAFileThatIsLonger() throws {
    let clock = ManualClock()
    let store = try Store.open(
      StoreOptions(path: path, fileSystem: FaultFileSystem(LinuxFileSystem()), clock: clock))
    try commit(store, slot: 1)
    let file = try LinuxFileSystem().open(path, .writable)
    try file.setLength(try file.length() + 12_345)
    clock.advance(nanoseconds: 2_000_000)
    try commit(store, slot: 2)
    let snapshot = try store.pinNewest()
    #expect(Set(SlotTree.content(snapshot.reader, snapshot.root).keys) == [1, 2])
  }
}
