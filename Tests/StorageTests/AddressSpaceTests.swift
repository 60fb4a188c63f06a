// Files that are long for the address space that the process may have.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct AddressSpaceTests {
  /// Limits the process to so much more than it has now.
  private static func limit(to more: UInt64) throws {
    let pages = try String(
      decoding: readAll("/proc/self/statm").prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    let bytes = UInt64(pages)! * UInt64(pageLength) + more
    var limits = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
  }

  private static func readAll(_ path: String) throws -> [UInt8] {
    let descriptor = Glibc.open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// Makes a file with one commit, and as many zeros behind it.
  private static func makeFile(_ path: String, length: Int) throws {
    do {
      let store = try Store.open(StoreOptions(path: path))
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 0, [1])
      _ = try transaction.commit()
    }
    precondition(truncate(path, length) == 0)
  }

  /// Eight times the file did not fit, so that it did not open at all.
  @Test func aLongFileOpensUnderALimit() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("long.realm")
    try Self.makeFile(path, length: 20 << 30)
    await #expect(processExitsWith: .success) { [path = path as String] in
      try AddressSpaceTests.limit(to: 24 << 30)
      let store = try Store.open(StoreOptions(path: path))
      let snapshot = try store.pinNewest()
      precondition(SlotTree.content(snapshot.reader, snapshot.root)[0] == [1])
      let transaction = try store.beginWrite()
      transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 1, [2])
      _ = try transaction.commit()
    }
  }

  @Test func aLimitThatIsTooLowIsNamed() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("long.realm")
    try Self.makeFile(path, length: 20 << 30)
    await #expect(processExitsWith: .success) { [path = path as String] in
      try AddressSpaceTests.limit(to: 8 << 30)
      do throws(StorageError) {
        _ = try Store.open(StoreOptions(path: path))
        fatalError("the file was opened")
      } catch {
        guard case .addressSpaceExhausted(path, let bytes) = error else { fatalError("\(error)") }
        precondition(bytes >= 20 << 30)
        precondition("\(error)".contains("ulimit -v"))
      }
    }
  }
}
