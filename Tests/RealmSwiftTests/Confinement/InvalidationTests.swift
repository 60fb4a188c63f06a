// What a Realm shows after an invalidation: never less than before it.
import Foundation
import Glibc
import Platform
import RealmSwift
import Simulation
import Storage
import TestSupport
import Testing

/// What transactions change.
private final class Counter: Object {
  @Persisted var value: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct InvalidationTests {
  private let disk: FaultFileSystem
  private let configuration: Realm.Configuration

  init() throws {
    disk = FaultFileSystem(SimulatedDisk())
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: "/data/\(UUID().uuidString).realm"),
      objectTypes: [Counter.self])
    configuration.fileSystem = disk
    self.configuration = configuration
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.create(Counter.self) }
  }

  /// Commits on another thread, whose sync waits until `release`.
  private func commitElsewhere(_ value: Int) throws -> Platform.Thread {
    disk.hold(.synchronize)
    let configuration = configuration
    let thread = Platform.Thread.start(name: "other writer") {
      let realm = try! Realm(configuration: configuration)
      // It fails where the test wants that.
      try? realm.write { realm.objects(Counter.self).first!.value = value }
    }
    #expect(disk.wait(untilHeld: .synchronize, count: 1, nanoseconds: waitLimitNanoseconds))
    return thread
  }

  /// Releases the held sync when something has been read, or soon.
  private func releasing<Value>(_ read: () -> Value) -> Value {
    let hasRead = Monitor(false)
    let disk = disk
    let thread = Platform.Thread.start(name: "disk") {
      // Who goes back reads at once; who does not waits for the sync.
      _ = hasRead.wait(nanoseconds: 200_000_000) { $0 }
      disk.release(.synchronize)
    }
    let value = read()
    hasRead.withLock { $0 = true }
    hasRead.notifyAll()
    thread.join()
    return value
  }

  /// A transaction begins on the newest version, durable or not, and its Realm stays there when it
  /// is cancelled.
  @Test func doesNotGoBackToBeforeACancelledTransaction() throws {
    let realm = try Realm(configuration: configuration)
    let thread = try commitElsewhere(1)
    realm.beginWrite()
    #expect(realm.objects(Counter.self).first?.value == 1)
    realm.cancelWrite()
    realm.invalidate()
    #expect(releasing { realm.objects(Counter.self).first?.value } == 1)
    thread.join()
  }

  @Test func neitherWhenItIsRefreshed() throws {
    let realm = try Realm(configuration: configuration)
    let thread = try commitElsewhere(1)
    realm.beginWrite()
    realm.cancelWrite()
    realm.invalidate()
    releasing { _ = realm.refresh() }
    #expect(realm.objects(Counter.self).first?.value == 1)
    thread.join()
  }

  /// Blocks of a queue see what grouped commits have done before it is durable.
  @Test(arguments: [true, false])
  func doesNotGoBackToBeforeGroupedCommitsThatWait(isRefreshed: Bool) throws {
    let queue = DispatchQueue(label: "grouped commits")
    // Touched only by blocks of the queue, of which one runs at a time.
    nonisolated(unsafe) var realm: Realm!
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
    disk.hold(.synchronize)
    let committed = Monitor(0)
    queue.sync {
      for value in 1...3 {
        realm.beginAsyncWrite {
          realm.objects(Counter.self).first!.value = value
          realm.commitAsyncWrite(allowGrouping: true)
          committed.withLock { $0 += 1 }
          committed.notifyAll()
        }
      }
    }
    #expect(committed.wait(nanoseconds: waitLimitNanoseconds) { $0 == 3 })
    queue.sync {
      // Already the invalidation waits for commits that are not complete.
      let value = releasing {
        realm.invalidate()
        if isRefreshed { realm.refresh() }
        return realm.objects(Counter.self).first?.value
      }
      #expect(value == 3)
      realm = nil
    }
  }

  /// What cannot become durable is not waited for.
  @Test func goesBackWhenTheSyncFails() throws {
    let realm = try Realm(configuration: configuration)
    disk.inject(FileFault([.synchronize], code: EIO, skip: 0))
    let thread = try commitElsewhere(1)
    realm.beginWrite()
    #expect(realm.objects(Counter.self).first?.value == 1)
    realm.cancelWrite()
    realm.invalidate()
    disk.release(.synchronize)
    thread.join()
    #expect(realm.objects(Counter.self).first?.value == 0)
  }
}
