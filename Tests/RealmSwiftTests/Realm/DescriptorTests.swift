// Realms of a process that may open no further file descriptor.
import Foundation
import RealmSwift
import Synchronization
import TestSupport
import Testing

@Suite(.ownThreads) struct DescriptorTests {
  @Test func aThreadOpensWhatIsOpenElsewhere() async {
    await #expect(processExitsWith: .success) {
      let configuration = memoryConfiguration()
      let queue = DispatchQueue(label: "first")
      // On a queue: nobody has asked for a thread's run loop when the descriptors are gone.
      let first = try queue.sync {
        Carrier(value: try Realm(configuration: configuration, queue: queue))
      }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = 0
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      onThread {
        do {
          #expect(try Realm(configuration: configuration).objects(Dog.self).isEmpty)
        } catch {
          Issue.record(error)
        }
      }
      withExtendedLifetime(first) {}
    }
  }

  /// The first wake-up of the main queue opened a descriptor, and ended the process without one.
  @Test func aCommitTellsAnObserverOfTheMainQueue() async {
    await #expect(processExitsWith: .success) {
      let configuration = memoryConfiguration()
      let (told, tell) = AsyncStream.makeStream(of: Int.self)
      let kept = Mutex<Carrier<NotificationToken>?>(nil)
      onThread {
        do {
          let realm = try Realm(configuration: configuration)
          let token = realm.objects(Dog.self).observe(on: .main) { change in
            if case .update(let dogs, _, _, _) = change { tell.yield(dogs.count) }
          }
          kept.withLock { $0 = Carrier(value: token) }
          var limit = rlimit()
          getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
          limit.rlim_cur = 0
          #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
          try realm.write { realm.add(Dog()) }
        } catch {
          Issue.record(error)
        }
      }
      let count = await told.first { _ in true }
      #expect(count == 1)
      withExtendedLifetime(kept) {}
    }
  }
}

/// Brings a Realm out of its queue, to be held.
private struct Carrier<Value>: @unchecked Sendable {
  // @unchecked: it is only held.
  let value: Value
}
