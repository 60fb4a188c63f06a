// That a stream may end before its handler for that is set.
import RaceHunt
import Synchronization
import TestSupport
import Testing

/// What no point tells of: a word of the machine's.
private final class Plain: Sendable {
  let word = Synchronization.Atomic(0)
}

@Suite(.ownThreads) struct StreamHandlerTests {
  @Test func aStreamMayEndBeforeItsHandlerIsSet() throws {
    #if arch(x86_64)
      let found = failure {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let ended = Plain()
        let task = Task { continuation.finish() }
        continuation.onTermination = { _ in ended.word.store(1, ordering: .relaxed) }
        for await _ in stream {}
        await task.value
        check(ended.word.load(ordering: .relaxed) == 1, "nobody was told")
      }
      #expect(found?.reason == "nobody was told")
    #endif
  }
}
