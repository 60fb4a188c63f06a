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

  /// 256 threads that wait for the same transaction wrote a line each, every one with all names.
  @Test func manyWaitsAreOneLineASecond() throws {
    var log = LongWaitLog()
    let names = (1...3).map { "thread 'writer \($0)'" }
    let wait = LongWait(path: "a.realm", holder: "thread 'x'", waiters: names, waitersInAll: 256)
    let second: UInt64 = 1_000_000_000
    let said = log.line(for: wait, at: 5 * second)
    let first = try #require(said)
    #expect(first.contains("belongs to thread 'x'; waiting: thread 'writer 1'"))
    #expect(first.contains("and 253 more.") && !first.contains("other such waits"))
    for number in 1..<256 {
      let more = log.line(for: wait, at: 5 * second + UInt64(number) * 1_000)
      #expect(more == nil)
    }
    let tooEarly = log.line(for: wait, at: 6 * second - 1)
    #expect(tooEarly == nil)
    let later = log.line(for: wait, at: 6 * second)
    let next = try #require(later)
    #expect(next.contains("Nothing was said of 256 other such waits"))
    let alone = LongWait(path: "a.realm", holder: nil, waiters: ["queue 'q'"], waitersInAll: 1)
    let latest = log.line(for: alone, at: 8 * second)
    let last = try #require(latest)
    #expect(last.contains("belongs to nobody yet; waiting: queue 'q'. Do not"))
  }

  /// That no thread is free is said at once, whatever was said before.
  @Test func busyThreadsAreNamed() throws {
    var log = LongWaitLog()
    let wait = LongWait(path: "a.realm", holder: "actor 'A'", waiters: [], waitersInAll: 3)
    _ = log.line(for: wait, at: 1_000_000_000)
    let busy = LongWait(
      path: "a.realm", holder: "actor 'A'", waiters: [], waitersInAll: 3, busyThreads: 4)
    let said = log.line(for: busy, at: 1_000_000_001)
    let line = try #require(said)
    #expect(line.contains("None of the 4 threads that run tasks has been free"))
    #expect(line.contains("'a.realm' belongs to actor 'A'") && line.contains("waiting for it: 3."))
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
