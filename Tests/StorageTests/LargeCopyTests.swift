// Copies so long that they are written by pieces, on a thread of their own.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct LargeCopyTests {
  private static let slots = 160

  /// 9.6 MB in all: four whole pieces and a rest.
  private static func fill(_ store: Store) throws -> [Int: [UInt8]] {
    let transaction = try store.beginWrite()
    var content: [Int: [UInt8]] = [:]
    for slot in 0..<slots {
      let bytes = [UInt8](repeating: UInt8(slot), count: 60_000 + slot)
      content[slot] = bytes
      transaction.root = SlotTree.set(
        transaction.editor, transaction.root, slot: slot, bytes)
    }
    _ = try transaction.commit()
    return content
  }

  @Test(arguments: [nil, EncryptionTests.key])
  func aCopyOfManyPiecesIsWhole(key: [UInt8]?) throws {
    let folder = TemporaryFolder()
    let store = try Store.open(StoreOptions(path: folder.file("a.realm")))
    let content = try Self.fill(store)
    let copy = folder.file("copy.realm")
    try store.writeCopy(to: copy, encryptionKey: key)
    try HoleyStore.check(copy, content, key: key)
    #expect(try StoreFile.bytes(copy).count > 8 << 20)
  }

  /// Each write of a copy fails once: what can be written otherwise is, and else nothing is left.
  @Test(arguments: [EIO, ENOSPC, EINVAL])
  func aPieceThatCannotBeWritten(code: Int32) throws {
    let folder = TemporaryFolder()
    let system = FaultFileSystem(LinuxFileSystem())
    let store = try Store.open(StoreOptions(path: folder.file("a.realm"), fileSystem: system))
    let content = try Self.fill(store)
    let copy = folder.file("copy.realm")
    for piece in 0..<4 {
      system.inject(
        FileFault([.write], code: code, pathSuffix: ".unfinished", skip: piece, times: 1))
      do throws(StorageError) {
        try store.writeCopy(to: copy)
        #expect(code == EINVAL)
      } catch {
        switch error {
        case .diskFull: #expect(code == ENOSPC)
        default: #expect(code == EIO, "\(error)")
        }
      }
      system.clearFaults()
      #expect(!LinuxFileSystem().exists(copy + ".unfinished"), "piece \(piece)")
      if code == EINVAL {
        try HoleyStore.check(copy, content)
        try LinuxFileSystem().remove(copy)
      } else {
        #expect(!LinuxFileSystem().exists(copy), "piece \(piece)")
      }
    }
  }
}
