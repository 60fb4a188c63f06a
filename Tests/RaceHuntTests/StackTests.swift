// The stacks of threads: as large as elsewhere, and larger where the program asks.
import RaceHunt
import TestSupport
import Testing

/// Descends; each frame takes at least so many bytes of the stack.
@inline(never) private func descend(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { bytes in
    bytes[0] = UInt8(truncatingIfNeeded: depth)
    return depth == 0 ? 0 : descend(depth - 1) + Int(bytes[0] & 1)
  }
}

@Suite(.ownThreads) struct StackTests {
  @Test func theUsualStackIsThatOfTheMachine() async throws {
    await #expect(processExitsWith: .success) {
      try explore(iterations: 10) {
        let word = Atomic(0)
        // About six of eight mebibytes, in a thread and in a task.
        let thread = Thread.start { _ = word.add(descend(4_500)) }
        let task = Task { _ = word.add(descend(4_500)) }
        await task.value
        thread.join()
        check(word.load() == 4_500)
      }
    }
  }

  @Test func aLargerOneIsGiven() async throws {
    await #expect(processExitsWith: .success) {
      try explore(iterations: 10) {
        let word = Atomic(0)
        let thread = Thread { _ = word.add(descend(40_000)) }
        thread.stackSize = 64 << 20
        thread.start()
        Thread.start { _ = word.add(1) }.join()
        thread.join()
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, 64 << 20)
        var posix = pthread_t()
        let body: PosixBody = { word in
          Unmanaged<Atomic<Int>>.fromOpaque(word!).takeUnretainedValue().add(descend(40_000))
          return nil
        }
        pthread_create(&posix, attributes, body, Unmanaged.passUnretained(word).toOpaque())
        pthread_attr_destroy(attributes)
        pthread_join(posix, nil)
        check(word.load() == 40_001)
      }
    }
  }
}
