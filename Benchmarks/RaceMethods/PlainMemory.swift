// Programs whose bug lies in plain memory: no order of steps shows what the processor, or whoever
// gives memory out again, does with it.
internal import RaceHunt
internal import RacePrograms

/// Memory without any protection, so that the compiler lets threads share it.
private final class Plain: @unchecked Sendable {
  // @unchecked, and unsound on purpose: these are the bugs that the methods look for.
  var value = 0
}

extension HuntScenario {
  static let plainMemory = [
    HuntScenario("plain-counter", "two threads add to one property without a lock") { _ in
      {
        let counter = Plain()
        let threads = (1...2).map { _ in
          Thread.start { for _ in 0..<1_000 { counter.value += 1 } }
        }
        for thread in threads { thread.join() }
        check(counter.value == 2_000, "the counter is \(counter.value), not 2000")
      }
    },
    HuntScenario("published-unordered", "shows a value by a flag without an order") { _ in
      {
        let message = Plain()
        let isThere = Atomic(false, name: "is there")
        let reader = Thread.start {
          guard isThere.load(ordering: .relaxed) else { return }
          check(message.value == 42, "the reader sees \(message.value)")
        }
        message.value = 42
        isThere.store(true, ordering: .relaxed)
        reader.join()
      }
    },
    HuntScenario("freed-too-early", "frees a buffer that a reader has just found open") { _ in
      {
        let buffer = UnsafeMutablePointer<Int>.allocate(capacity: 8)
        buffer.initialize(repeating: 42, count: 8)
        let address = UInt(bitPattern: buffer)
        let isOpen = Atomic(true, name: "is open")
        let reads = Atomic(0, name: "reads")
        let reader = Thread.start {
          guard isOpen.load() else { return }
          reads.add(1)
          let found = UnsafePointer<Int>(bitPattern: address)?[1]
          check(found == 42, "the reader sees \(found ?? 0) in freed memory")
        }
        isOpen.store(false)
        buffer.deallocate()
        reader.join()
      }
    },
    HuntScenario("sound", "two threads add to one property under a lock") { _ in
      {
        let counter = Plain()
        let lock = Mutex(())
        let threads = (1...2).map { _ in
          Thread.start { for _ in 0..<100 { lock.withLock { _ in counter.value += 1 } } }
        }
        for thread in threads { thread.join() }
        check(counter.value == 200, "the counter is \(counter.value), not 200")
      }
    },
  ]
}
