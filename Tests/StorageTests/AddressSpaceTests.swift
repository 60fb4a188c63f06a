// Files that are long for the address space that the process may have.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct AddressSpaceTests {
  /// Bytes of address space that the process has now.
  private static func used() throws -> UInt64 {
    let pages = try String(
      decoding: readAll("/proc/self/statm").prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    return UInt64(pages)! * UInt64(pageLength)
  }

  /// A thousand small files that are open at once fit into 38 bits of address space, of the 39 that
  /// a process of a small machine has, also after each was written.
  @Test func aThousandSmallFilesFitIntoASmallAddressSpace() async throws {
    let folder = TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      func open(_ number: Int) throws -> Store {
        let store = try Store.open(StoreOptions(path: "\(path)/\(number).realm"))
        let transaction = try store.beginWrite()
        transaction.root = SlotTree.set(transaction.editor, transaction.root, slot: 0, [1])
        _ = try transaction.commit()
        return store
      }
      // What is there once, whatever the number of files.
      let first = try open(0)
      let before = try AddressSpaceTests.used()
      let count = 40
      let stores = try (1...count).map(open)
      let each = (try AddressSpaceTests.used() - before) / UInt64(count)
      precondition(each * 1_000 < 1 << 38, "\(each) bytes for each open file")
      withExtendedLifetime((first, stores)) {}
    }
  }

  /// Limits the process to so much more than it has now.
  private static func limit(to more: UInt64) throws {
    let bytes = try used() + more
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
