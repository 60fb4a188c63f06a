// Realms of a process that has reached a limit of the system: an error or a slower way, never the
// end of the process.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

private class LimitedNote: Object {
  @Persisted var text = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct LimitTests {
  private let folder = TemporaryFolder()

  /// No thread can be started: what other threads would do is done by the caller.
  @Test func noThreadCanBeStarted() async {
    openFolderToAll()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      becomeNobody()
      onThread {
        do { try useWithoutThreads(path) } catch { Issue.record(error) }
      }
    }
  }

  /// Asynchronous commits are durable, and their completions called, by who makes them.
  @Test func asynchronousCommitsWithoutAThread() async {
    openFolderToAll()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      becomeNobody()
      let store = try Store.open(StoreOptions(path: "\(path)/commits.realm"))
      forbidThreads()
      let told = Monitor<[Int]>([])
      for number in 0..<5 {
        let transaction = try store.beginWrite()
        transaction.root = transaction.editor.allocate(
          kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 64)
        _ = try transaction.commitAsynchronously(awaitsMore: number < 4) { error in
          told.withLock { $0.append(error == nil ? number : -1) }
        }
        #expect(told.withLock { $0 } == Array(0...number))
      }
    }
  }

  /// Lets the user in whom the process becomes: the system's limits do not hold for root.
  private func openFolderToAll() {
    #expect(chmod(folder.path, 0o777) == 0)
  }

  /// The first block that a commit puts into the main queue needs no descriptor any more.
  @Test func noDescriptorForTheMainQueue() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let realm = try await MainActor.run {
        Carrier(value: try openRealm(configuration("main", path)))
      }
      setLimit(RLIMIT_NOFILE.rawValue, 0)
      onThread {
        do {
          let realm = try openRealm(configuration("main", path))
          try realm.write { realm.add(note(1)) }
        } catch {
          Issue.record(error)
        }
      }
      await MainActor.run {
        realm.value.refresh()
        #expect(realm.value.objects(LimitedNote.self).count == 1)
      }
    }
  }

  /// A transaction reserves address space; without it, it is an error.
  @Test func noAddressSpaceForATransaction() async throws {
    // Made here: who makes a file has had a transaction.
    try openRealm(configuration("space", folder.path)).invalidate()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let realm = try openRealm(configuration("space", path))
      var failure: (any Error)?
      // Another thread may give space back just then: of its stack, or of a new heap of malloc's.
      for _ in 0..<50 where failure == nil {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
          .split(separator: " ")[0]
        setLimit(RLIMIT_AS.rawValue, UInt64(pages)! * 4096 + (48 << 20))
        do {
          try realm.write {
            realm.deleteAll()
            realm.add(note(1))
          }
        } catch { failure = error }
        setLimit(RLIMIT_AS.rawValue, .max)
      }
      let code = (failure as? Realm.Error)?.code
      #expect(code == .addressSpaceExhausted, "\(String(describing: failure))")
      try realm.write {
        realm.deleteAll()
        realm.add(note(1))
      }
      #expect(realm.objects(LimitedNote.self).count == 1)
    }
  }

  /// A transaction that has begun does not end because there is no address space for its blocks.
  @Test func noAddressSpaceInATransaction() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let store = try Store.open(StoreOptions(path: "\(path)/blocks.realm"))
      let transaction = try store.beginWrite()
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ")[0]
      setLimit(RLIMIT_AS.rawValue, UInt64(pages)! * 4096 + (2 << 20))
      for _ in 0..<100 {
        transaction.root = transaction.editor.allocate(
          kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 64_000)
      }
      setLimit(RLIMIT_AS.rawValue, .max)
      _ = try transaction.commit()
      #expect(try !store.pinNewest().root.isNone)
    }
  }

  /// A file that may not be longer is a full disk; afterwards the Realm is usable.
  @Test func noFileMayBeLonger() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let realm = try openRealm(configuration("length", path))
      setLimit(RLIMIT_FSIZE.rawValue, 512 << 10)
      #expect {
        try realm.write { realm.add(note(4 << 20)) }
      } throws: { error in
        (error as? Realm.Error)?.code == .outOfDiskSpace && "\(error)".contains("RLIMIT_FSIZE")
      }
      #expect(throws: Realm.Error.self) {
        for number in 0..<1000 {
          try realm.write { realm.add(note(10_000 + number)) }
        }
      }
      try realm.write { realm.deleteAll() }
      try realm.write { realm.add(note(5)) }
      #expect(realm.objects(LimitedNote.self).count == 1)
    }
  }
}

private func configuration(_ name: String, _ folder: String) -> Realm.Configuration {
  Realm.Configuration(
    fileURL: URL(fileURLWithPath: "\(folder)/\(name).realm"), objectTypes: [LimitedNote.self])
}

private func note(_ length: Int) -> LimitedNote {
  LimitedNote(value: ["text": String(repeating: "x", count: length)])
}

/// What starts threads of the engine, by calls that wait.
private func useWithoutThreads(_ folder: String) throws {
  let realm = try openRealm(configuration("threads", folder))
  forbidThreads()
  for number in 1...3 { try realm.write { realm.add(note(number)) } }
  #expect(realm.objects(LimitedNote.self).count == 3)
  let copy = configuration("copy", folder)
  try realm.writeCopy(toFile: copy.fileURL!)
  #expect(try openRealm(copy).objects(LimitedNote.self).count == 3)
}

/// Opens without `await`, also in asynchronous functions, where Swift prefers the other form.
private func openRealm(_ configuration: Realm.Configuration) throws -> Realm {
  try Realm(configuration: configuration)
}

private func onThread(_ body: @escaping @Sendable () -> Void) {
  Thread.start(name: "other", body).joinInTime()
}

/// Brings a Realm out of the main actor, to be held.
private struct Carrier: @unchecked Sendable {
  // @unchecked: it is used on the main actor only.
  let value: Realm
}
