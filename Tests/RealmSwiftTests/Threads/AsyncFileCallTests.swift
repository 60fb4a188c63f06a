// Asynchronous writes and the disk: which threads call it, and what is told and shown when it
// fails.
import Dispatch
import Foundation
import Glibc
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

/// A Realm file whose calls are recorded and can fail: the Realms of the test share its store.
private final class WatchedFile: Sendable {
  let folder = TemporaryFolder()
  let system = FaultFileSystem(LinuxFileSystem())
  let configuration: Realm.Configuration
  private let store: Store
  /// The threads on which the Realm was used.
  private let users = Monitor<Set<ThreadToken>>([])

  init() throws {
    configuration = folder.configuration("watched.realm")
    store = try Store.open(
      StoreOptions(path: folder.file("watched.realm"), fileSystem: system))
  }

  func noteUser() { users.withLock { _ = $0.insert(.current) } }

  /// Calls since the first `count` ones by threads on which the Realm was used, but those that only
  /// ask the kernel's table of locks.
  func calls(after count: Int) -> [String] {
    let users = users.withLock { $0 }
    return system.records.dropFirst(count).filter {
      users.contains($0.thread) && $0.call != .isByteLocked
    }
    .map { "\($0.call) of \($0.path)" }
  }
}

/// An actor with a Realm of its own.
private actor WatchedKeeper {
  private var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm.open(configuration: configuration)
  }

  func add(_ file: WatchedFile, _ age: Int) async throws {
    file.noteUser()
    try await realm.asyncWrite {
      file.noteUser()
      _ = realm.create(Dog.self, value: ["age": age])
    }
    file.noteUser()
  }
}

@Suite(.ownThreads) struct AsyncFileCallTests {
  @Test func writeAsyncMakesNoCallOnItsQueue() async throws {
    let file = try WatchedFile()
    let shared = await QueueRealm(file.configuration)
    let done = Event()
    await shared.run { $0.realm.writeAsync({}, onComplete: { _ in done.happen() }) }
    await done.happened()
    let before = file.system.records.count
    await shared.run { shared in
      file.noteUser()
      for number in 0..<60 {
        shared.realm.writeAsync {
          file.noteUser()
          shared.realm.create(Dog.self, value: ["age": number])
        } onComplete: { error in
          file.noteUser()
          #expect(error == nil)
          done.happen()
        }
        shared.realm.beginAsyncWrite {
          file.noteUser()
          shared.realm.create(Dog.self, value: ["age": number])
          shared.realm.commitAsyncWrite(allowGrouping: true) { error in
            file.noteUser()
            #expect(error == nil)
            done.happen()
          }
        }
      }
    }
    await done.happened(121)
    #expect(file.calls(after: before) == [])
    #expect(file.system.records.dropFirst(before).contains { $0.call == .synchronize })
    #expect(await shared.run { $0.realm.objects(Dog.self).count } == 120)
  }

  @Test func asyncWriteMakesNoCallOnItsActor() async throws {
    let file = try WatchedFile()
    let keeper = try await WatchedKeeper(file.configuration)
    try await keeper.add(file, 0)
    let before = file.system.records.count
    for number in 1..<30 { try await keeper.add(file, number) }
    #expect(file.calls(after: before) == [])
    #expect(try openRealm(file.configuration).objects(Dog.self).count == 30)
  }

  /// One full disk: the commit and those that build on it fail, in order, and the Realm goes on.
  @Test func afterAFailedWriteTheRealmGoesOn() async throws {
    let file = try WatchedFile()
    let shared = await QueueRealm(file.configuration)
    let done = Event()
    let log = Log()
    await shared.run { $0.realm.writeAsync({}, onComplete: { _ in done.happen() }) }
    await done.happened()
    file.system.inject(FileFault([.write], code: ENOSPC, pathSuffix: "watched.realm", times: 1))
    file.system.hold(.write)
    let committed = Event()
    await shared.run { shared in
      let realm = shared.realm!
      for number in 0..<5 {
        realm.beginAsyncWrite {
          realm.create(Dog.self, value: ["age": number])
          realm.commitAsyncWrite(allowGrouping: true) { error in
            let code = (error as? Realm.Error)?.code
            log.add("\(number) \(code == .outOfDiskSpace)")
            #expect(realm.objects(Dog.self).isEmpty)
            done.happen()
          }
          committed.happen()
        }
      }
    }
    await committed.happened(5)
    file.system.release(.write)
    await done.happened(6)
    #expect(log.all == (0..<5).map { "\($0) true" })
    await shared.run { shared in
      shared.realm.writeAsync {
        shared.realm.create(Dog.self, value: ["age": 7])
      } onComplete: { error in
        #expect(error == nil)
        done.happen()
      }
    }
    await done.happened(7)
    #expect(await shared.run { $0.realm.objects(Dog.self).map(\.age) } == [7])
    #expect(try openRealm(file.configuration).checkInvariants().findings == [])
  }

  /// After a failed sync everybody hears of it once and in order, Realms leave the lost versions,
  /// references to them give nil, and what was durable can be read.
  @Test func afterAFailedSyncTheRealmIsRead() async throws {
    let file = try WatchedFile()
    let shared = await QueueRealm(file.configuration)
    let done = Event()
    let log = Log()
    await shared.run { shared in
      try shared.realm.write { _ = shared.realm.create(Dog.self, value: ["age": 1]) }
    }
    // Decided when a call begins, so it strikes the first one too.
    file.system.failAll(.synchronize, code: EIO)
    file.system.hold(.synchronize)
    let references = await shared.run { shared in
      let realm = shared.realm!
      var references: [ThreadSafeReference<Dog>] = []
      for number in 2..<5 {
        realm.beginWrite()
        let dog = realm.create(Dog.self, value: ["age": number])
        realm.commitAsyncWrite { error in
          log.add("\(number) \(error is Realm.Error) \(dog.isInvalidated)")
          #expect(realm.objects(Dog.self).map(\.age) == [1])
          done.happen()
        }
        references.append(ThreadSafeReference(to: dog))
        #expect(dog.freeze().age == number)
      }
      return references
    }
    let frozen = await shared.run { Frozen($0.realm.objects(Dog.self).freeze()) }
    file.system.release(.synchronize)
    await done.happened(3)
    #expect(log.all == ["2 true true", "3 true true", "4 true true"])
    // What was frozen stays as it was.
    #expect(frozen.value.map(\.age) == [1, 2, 3, 4])
    let realm = try openRealm(file.configuration)
    #expect(realm.objects(Dog.self).map(\.age) == [1])
    for reference in references { #expect(realm.resolve(reference) == nil) }
    #expect(frozen.value.last!.thaw() == nil)
    #expect(throws: Realm.Error.self) { try realm.write { realm.deleteAll() } }
    await shared.run { shared in
      shared.realm.writeAsync {
        Issue.record("the block of a write that cannot begin")
      } onComplete: { error in
        #expect(error != nil)
        done.happen()
      }
    }
    await done.happened(4)
    #expect(done.times == 4)
  }
}
