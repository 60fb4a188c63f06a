// Versions that a Realm stands on, or that a transaction builds on, and that are lost: the disk is
// full, or a sync fails.
import Foundation
import Glibc
import Platform
import RealmSwift
import Simulation
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct LostVersionTests {
  private let folder = TemporaryFolder()
  private let system = FaultFileSystem(LinuxFileSystem())
  private let configuration: Realm.Configuration
  /// The Realms of a path share the store that is open already.
  private let store: Store

  init() throws {
    configuration = folder.configuration("lost.realm")
    store = try Store.open(StoreOptions(path: folder.file("lost.realm"), fileSystem: system))
  }

  /// A Realm with one dog.
  private func makeRealm() async -> QueueRealm {
    let shared = await QueueRealm(configuration)
    await shared.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    return shared
  }

  /// The version under a transaction is lost between two blocks of its queue: the commit tells.
  @Test func anOpenTransactionGoesOnToItsEnd() async {
    let shared = await makeRealm()
    let failed = Event()
    system.failAll(.synchronize, code: EIO)
    system.hold(.synchronize)
    await shared.run { shared in
      let realm = shared.realm!
      realm.beginWrite()
      realm.create(Dog.self)
      realm.commitAsyncWrite { error in
        #expect(error is Realm.Error)
        #expect(realm.isInWriteTransaction)
        failed.happen()
      }
      realm.beginWrite()
      realm.create(Dog.self)
    }
    system.release(.synchronize)
    await failed.happened()
    await shared.run { shared in
      let realm = shared.realm!
      guard realm.isInWriteTransaction else {
        Issue.record("the transaction was cancelled")
        return
      }
      realm.create(Dog.self)
      #expect(realm.objects(Dog.self).count == 4)
      #expect(throws: Realm.Error.self) { try realm.commitWrite() }
      #expect(!realm.isInWriteTransaction)
      #expect(realm.objects(Dog.self).count == 1)
    }
  }

  /// The same when the transaction is cancelled: the Realm does not stay on what is lost.
  @Test func aCancelledTransactionStepsBack() async {
    let shared = await makeRealm()
    let failed = Event()
    system.failAll(.synchronize, code: EIO)
    system.hold(.synchronize)
    await shared.run { shared in
      let realm = shared.realm!
      realm.beginWrite()
      realm.create(Dog.self)
      realm.commitAsyncWrite { _ in failed.happen() }
      realm.beginWrite()
    }
    system.release(.synchronize)
    await failed.happened()
    await shared.run { shared in
      let realm = shared.realm!
      guard realm.isInWriteTransaction else {
        Issue.record("the transaction was cancelled")
        return
      }
      realm.cancelWrite()
      #expect(realm.objects(Dog.self).count == 1)
    }
  }

  /// A transaction that begins on an older version than the Realm has shown gives the same keys
  /// again.
  @Test func whatIsMadeInPlaceOfALostObjectIsAnotherOne() async {
    let shared = await makeRealm()
    let failed = Event()
    system.inject(FileFault([.write], code: ENOSPC, pathSuffix: "lost.realm", times: 1))
    await shared.run { shared in
      let realm = shared.realm!
      realm.beginWrite()
      let lost = realm.create(Dog.self, value: ["age": 1])
      realm.commitAsyncWrite { error in
        #expect((error as? Realm.Error)?.code == .outOfDiskSpace)
        failed.happen()
      }
      // Writes what is not written yet, or waits for who does, and finds that it is lost.
      realm.beginWrite()
      realm.create(Dog.self, value: ["age": 2])
      #expect(lost.isInvalidated)
      #expect(realm.objects(Dog.self).map(\.age) == [3, 2])
      realm.cancelWrite()
    }
    await failed.happened()
  }
}
