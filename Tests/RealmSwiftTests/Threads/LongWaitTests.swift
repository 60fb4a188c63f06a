// What the log says when somebody waits long for the write lock.
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct LongWaitTests {
  @Test func longWaitsAreReported() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("waited.realm")
    let holder = await QueueRealm(configuration)
    await holder.run { $0.realm.beginWrite() }
    let reports = Log()
    let isReported = Event()
    LongWait.setObserver { wait in
      guard wait.path.hasSuffix("waited.realm") else { return }
      reports.add(([wait.holder ?? "nobody"] + wait.waiters).joined(separator: ", "))
      isReported.happen()
    }
    // Longer than what the kernel keeps of a name.
    let waiter = startThread("waiter with a long name") {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Dog()) }
    }
    await isReported.happened()
    await holder.run { $0.realm.cancelWrite() }
    waiter.joinInTime()
    #expect(reports.all.count == 1)
    #expect(reports.all[0].hasPrefix("queue 'realm queue', "))
    #expect(reports.all[0].contains("thread 'waiter with a long name'"))
    #expect(try openRealm(configuration).objects(Dog.self).count == 1)
  }

  @Test func versionsNameTheirQueue() async throws {
    let folder = TemporaryFolder()
    let shared = await QueueRealm(folder.configuration())
    await shared.run { shared in
      try shared.realm.write { shared.realm.add(Dog()) }
      let versions = try shared.realm.activeVersions()
      #expect(versions.last?.owner == "queue 'realm queue'")
    }
  }
}
