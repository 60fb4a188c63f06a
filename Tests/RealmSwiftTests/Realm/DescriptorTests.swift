// Realms of a process that may open no further file descriptor.
import Foundation
import RealmSwift
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
}

/// Brings a Realm out of its queue, to be held.
private struct Carrier: @unchecked Sendable {
  // @unchecked: it is only held.
  let value: Realm
}
