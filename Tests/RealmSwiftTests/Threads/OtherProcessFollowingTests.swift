// Automatic refresh when another process commits: without polling, by one thread for all files.
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct OtherProcessFollowingTests {
  /// Another process, as this one sees it: a store of its own on the same file.
  private static func openElsewhere(_ folder: TemporaryFolder) throws -> Store {
    try Store.open(
      StoreOptions(
        path: folder.file("followed.realm"),
        fileSystem: FaultFileSystem(LinuxFileSystem(), process: 7)))
  }

  @Test func queuesFollowOtherProcesses() async throws {
    let folder = TemporaryFolder()
    let shared = await QueueRealm(folder.configuration("followed.realm"))
    await shared.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    let other = try Self.openElsewhere(folder)
    for _ in 0..<5 {
      let transaction = try other.beginWrite()
      transaction.root = transaction.editor.mutable(transaction.root)
      let version = try transaction.commit().version.rawValue
      // Nothing here asks for it.
      #expect(await eventually { await shared.run({ $0.realm.currentVersion }) >= version })
    }
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 1)
  }

  @Test func thoseWhoDoNotFollowAreNotTold() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("followed.realm")
    // Does not follow by itself: nothing runs the loop of this thread.
    var realm: Realm? = try openRealm(configuration)
    try realm!.write { realm!.add(Dog()) }
    let system = FaultFileSystem(LinuxFileSystem(), process: 7)
    let other = try Store.open(
      StoreOptions(path: folder.file("followed.realm"), fileSystem: system))
    func commit() throws -> Int {
      system.resetRecords()
      let transaction = try other.beginWrite()
      transaction.root = transaction.editor.mutable(transaction.root)
      _ = try transaction.commit()
      return system.records.count { $0.call == .write && $0.path.hasSuffix(".lock") }
    }
    #expect(try commit() == 0)
    var shared: QueueRealm? = await QueueRealm(configuration)
    #expect(try commit() == 1)
    await shared!.run { $0.realm = nil }
    shared = nil
    // The file goes on being followed until nobody here has it open.
    realm = nil
    // What was told last may still be on its way to the queue, and keeps the file open until then.
    #expect(try eventually { try commit() == 0 })
  }
}
