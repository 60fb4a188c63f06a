// Realms of a process that may open no further file descriptor.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct DescriptorTests {
  /// Foundation makes the main thread's run loop before that of another thread, if there is room.
  @Test(arguments: 0...9) func aThreadOpensWhatIsOpenElsewhere(free: Int) async {
    await #expect(processExitsWith: .success) { [free] in
      let configuration = memoryConfiguration()
      let queue = DispatchQueue(label: "first")
      // On a queue: nobody has asked for a thread's run loop when the descriptors are gone.
      let first = try queue.sync {
        Carrier(value: try Realm(configuration: configuration, queue: queue))
      }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      // Descriptors are given from the lowest on.
      let next = dup(0)
      close(next)
      limit.rlim_cur = rlim_t(free == 0 ? 0 : Int(next) + free)
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

  /// What a Realm that is gone has left open is watched, and rolled back for who waits.
  @Test func aTransactionIsLeftOpen() async {
    await #expect(processExitsWith: .success) {
      let configuration = memoryConfiguration()
      let isWritten = DispatchSemaphore(value: 0)
      let isLeft = DispatchSemaphore(value: 0)
      let first = Carrier(value: try Realm(configuration: configuration))
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = 0
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let leaving = Thread {
        do { try Realm(configuration: configuration).beginWrite() } catch { Issue.record(error) }
        isLeft.signal()
        #expect(isWritten.wait(timeout: .now() + 60) == .success)
      }
      leaving.start()
      #expect(isLeft.wait(timeout: .now() + 60) == .success)
      onThread {
        do {
          let realm = try Realm(configuration: configuration)
          try realm.write { _ = realm.create(Dog.self) }
        } catch {
          Issue.record(error)
        }
      }
      isWritten.signal()
      withExtendedLifetime(first) {}
    }
  }
}

/// Brings a Realm out of its queue, to be held.
private struct Carrier: @unchecked Sendable {
  // @unchecked: it is only held.
  let value: Realm
}
