// Tasks that begin before their starter goes on, and what streams are told.
import RaceHunt
import Synchronization
import TestSupport
import Testing

/// What no point tells of: a word of the machine's.
private final class Plain: Sendable {
  let word = Synchronization.Atomic(0)
}

@Suite(.ownThreads) struct TaskStartTests {
  @Test func aTaskMayBeginBeforeItsStarterGoesOn() throws {
    let found = failure {
      let plain = Plain()
      let task = Task { plain.word.store(1, ordering: .relaxed) }
      check(plain.word.load(ordering: .relaxed) == 0, "the task comes first")
      await task.value
    }
    #expect(found?.reason == "the task comes first")
    let child = failure {
      let plain = Plain()
      await withTaskGroup(of: Void.self) { group in
        group.addTask { plain.word.store(1, ordering: .relaxed) }
        check(plain.word.load(ordering: .relaxed) == 0, "the task comes first")
      }
    }
    #expect(child?.reason == "the task comes first")
  }

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
