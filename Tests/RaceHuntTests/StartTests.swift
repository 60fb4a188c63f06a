// What is started may begin before its starter goes on: it finds what is not yet made.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct StartTests {
  /// Plain memory, which no point tells of.
  private final class Box: @unchecked Sendable {
    // @unchecked: one thread of an explored program runs at a time.
    var value = 0
  }

  /// Each sets the box behind the start of the one that looks at it, or before.
  private static let programs: [(name: String, body: @Sendable (_ isBroken: Bool) -> Void)] = [
    (
      "a thread",
      { isBroken in
        let box = Box()
        if !isBroken { box.value = 1 }
        let thread = Thread.start { check(box.value == 1, "not yet made") }
        box.value = 1
        thread.join()
      }
    ),
    (
      "work of a queue",
      { isBroken in
        let box = Box()
        let queue = DispatchQueue(label: "queue")
        if !isBroken { box.value = 1 }
        queue.async { check(box.value == 1, "not yet made") }
        box.value = 1
        queue.sync {}
      }
    ),
    (
      "a thread that knows itself",
      { isBroken in
        let box = Box()
        let ended = Mutex(false)
        let thread = Thread {
          check(Thread.current.isExecuting && box.value == 1, "not yet made")
          ended.withLock { $0 = true }
        }
        if !isBroken { box.value = 1 }
        thread.start()
        box.value = 1
        thread.join()
        check(ended.withLock { $0 }, "it has ended")
      }
    ),
  ]

  @Test(arguments: StartTests.programs.indices) func whatIsMadeTooLateIsFound(_ number: Int) throws
  {
    let body = Self.programs[number].body
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 200) { body(true) } }
    #expect(found?.reason == "not yet made")
    let again = #expect(throws: RaceFailure.self) {
      try replay(found!.schedule) { body(true) }
    }
    #expect(again?.table == found?.table)
  }

  @Test(arguments: StartTests.programs.indices) func whatIsMadeBeforeIsSound(_ number: Int) throws {
    let body = Self.programs[number].body
    let exploration = try explore(iterations: 500) { body(false) }
    #expect(exploration.schedules == 500)
  }
}
