// New files: whole or not there, whatever interrupts their making and whoever makes them at the
// same time; and what is not new is never taken for it. CrashTests cut the power while a file is
// made.
internal import Foundation
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CreationTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("new.realm") }

  private func expectRefused(
    _ words: String, isReadOnly: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try StoreFile.bytes(path)
    do {
      _ = try Store.open(StoreOptions(path: path, isReadOnly: isReadOnly))
      Issue.record("opened", sourceLocation: sourceLocation)
    } catch {
      guard case .notADatabase = error else { throw error }
      #expect("\(error)".contains(words), "\(error)", sourceLocation: sourceLocation)
    }
    #expect(try StoreFile.bytes(path) == before, sourceLocation: sourceLocation)
  }

  /// Each change of the disk while a file is made is the last one of the process: a file of that
  /// name opens, and the next one is made where there is none.
  @Test func killedAtAnyChange() throws {
    var deaths = 0
    for change in 0... {
      let system = MortalFileSystem()
      system.die(beforeChange: change)
      let path = folder.file("\(change).realm")
      _ = try? Store.open(StoreOptions(path: path, fileSystem: system))
      if LinuxFileSystem().exists(path) {
        _ = try Store.open(StoreOptions(path: path, isReadOnly: true)).pinNewest()
      }
      let store = try Store.open(StoreOptions(path: path))
      #expect(try store.checkInvariants().findings == [])
      #expect(!LinuxFileSystem().exists(path + ".unfinished"))
      if !system.isDead { break }
      deaths += 1
    }
    #expect(deaths >= 3)
  }

  /// Power cuts while it is made leave no file of that name, or one that opens also to who only
  /// reads.
  @Test func aPowerCutLeavesAFileThatOpensOrNone() async {
    await withSeeds(3) { random in
      let disk = SimulatedDisk()
      let path = "/data/new.realm"
      do { _ = try Store.open(StoreOptions(path: path, fileSystem: disk)) }
      for operation in 0...disk.operationCount {
        for kind in PowerCut.allCases {
          let image = disk.crashImage(cutAfterOperation: operation, kind, random: &random)
          guard image.exists(path) else { continue }
          let reader = try Store.open(
            StoreOptions(path: path, isReadOnly: true, fileSystem: image))
          #expect(try reader.pinNewest().root.isNone, "cut \(operation), \(kind)")
        }
      }
    }
  }

  /// Many at once, each as a process of its own: all end up on one file.
  @Test(arguments: [false, true]) func manyAtOnce(isEmptyThere: Bool) throws {
    for round in 0..<10 {
      let path = folder.file("\(round).realm")
      if isEmptyThere { try StoreFile.replace(path, []) }
      let failures = Monitor<[String]>([])
      let stores = Monitor<[Store]>([])
      let threads = (1...6).map { number in
        Thread.start(name: "maker") {
          do {
            let system = FaultFileSystem(LinuxFileSystem(), process: UInt64(number))
            let store = try Store.open(StoreOptions(path: path, fileSystem: system))
            let transaction = try store.beginWrite()
            transaction.root = SlotTree.set(
              transaction.editor, transaction.root, slot: number, [UInt8](repeating: 1, count: 9))
            _ = try transaction.commit()
            stores.withLock { $0.append(store) }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      threads.forEach { $0.joinInTime() }
      #expect(failures.withLock { $0 } == [])
      for store in stores.withLock({ $0 }) {
        let snapshot = try store.pinNewest()
        #expect(Set(SlotTree.content(snapshot.reader, snapshot.root).keys) == Set(1...6))
      }
      #expect(!LinuxFileSystem().exists(path + ".unfinished"))
    }
  }

  /// An empty file that nobody has used becomes a Realm, and keeps who may read it.
  @Test func anEmptyFileKeepsItsPermissions() throws {
    try StoreFile.replace(path, [])
    chmod(path, 0o640)
    _ = try Store.open(StoreOptions(path: path))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o640)
  }

  /// Cut to nothing by somebody else: it opened as a new, empty Realm.
  @Test(arguments: [false, true]) func aUsedFileThatIsEmptyNow(isKilled: Bool) throws {
    if isKilled {
      let child = try ProcessDeathTests.Child(path)
      _ = child.kill(after: 3)
    } else {
      _ = try StoreFile.make(path)
    }
    try LinuxFileSystem().open(path, .writable).setLength(0)
    try expectRefused("held version")
    try expectRefused("it is empty", isReadOnly: true)
    // What the message says to do.
    try LinuxFileSystem().remove(path)
    try LinuxFileSystem().remove(path + ".lock")
    #expect(try Store.open(StoreOptions(path: path)).pinNewest().root.isNone)
  }

  @Test(arguments: [1, 4096, 8192, 24_576, 100_000]) func aFileOfZeros(length: Int) throws {
    for bytes in [[UInt8](repeating: 0, count: length), [0]] {
      try StoreFile.replace(path, bytes)
      for isReadOnly in [false, true] where bytes.count >= 64 {
        try expectRefused("nothing but zeros", isReadOnly: isReadOnly)
      }
      try expectRefused("not a Realm file")
    }
  }

  /// A link in the place of the file that is written first is not followed.
  @Test func aLinkAsUnfinishedFile() throws {
    try StoreFile.replace(folder.file("other"), [1, 2, 3])
    #expect(symlink(folder.file("other"), path + ".unfinished") == 0)
    #expect(throws: StorageError.self) { _ = try Store.open(StoreOptions(path: path)) }
    #expect(try StoreFile.bytes(folder.file("other")) == [1, 2, 3])
  }
}
