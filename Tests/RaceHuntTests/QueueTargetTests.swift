// Queues that have another queue as their target: their work needs a turn there, too.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct QueueTargetTests {
  /// Adds one in two steps.
  private static func add(_ word: Atomic<Int>) { word.store(word.load() + 1) }

  private static func wait(_ group: DispatchGroup) { group.wait() }

  /// Two pieces of work that are sound if they never run at the same time.
  private static func program(
    _ queues: @escaping @Sendable () -> (DispatchQueue, DispatchQueue)
  ) -> Program {
    {
      let word = Atomic(0)
      let (first, second) = queues()
      let group = DispatchGroup()
      first.async(group: group) { add(word) }
      second.async(group: group) { add(word) }
      wait(group)
      check(word.load() == 2, "an update is lost")
    }
  }

  private static let soundPairs: [@Sendable () -> (DispatchQueue, DispatchQueue)] = [
    {
      let base = DispatchQueue(label: "base")
      return (DispatchQueue(label: "a", target: base), DispatchQueue(label: "b", target: base))
    },
    {
      let base = DispatchQueue(label: "base")
      let middle = DispatchQueue(label: "middle", target: base)
      return (DispatchQueue(label: "a", target: middle), base)
    },
    {
      let base = DispatchQueue(label: "base")
      let wide = DispatchQueue(label: "wide", attributes: .concurrent, target: base)
      return (wide, wide)
    },
    {
      let base = DispatchQueue(label: "base")
      let queue = DispatchQueue(label: "a", attributes: .initiallyInactive)
      queue.setTarget(queue: base)
      queue.activate()
      return (queue, base)
    },
    { (DispatchQueue(label: "a", target: .main), .main) },
  ]

  @Test(arguments: soundPairs.indices) func whatSharesASerialTargetRunsByTurns(
    number: Int
  ) throws {
    let program = Self.program(Self.soundPairs[number])
    let exploration = try explore(iterations: 1_000, program)
    #expect(exploration.schedules == 1_000 && exploration.distinct > 1)
  }

  private static let brokenPairs: [@Sendable () -> (DispatchQueue, DispatchQueue)] = [
    {
      let wide = DispatchQueue(label: "wide", attributes: .concurrent)
      return (DispatchQueue(label: "a", target: wide), DispatchQueue(label: "b", target: wide))
    },
    {
      let target = DispatchQueue.global()
      return (DispatchQueue(label: "a", target: target), DispatchQueue(label: "b", target: target))
    },
  ]

  @Test(arguments: brokenPairs.indices) func whatSharesAConcurrentTargetDoesNot(
    number: Int
  ) throws {
    let program = Self.program(Self.brokenPairs[number])
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 1_000, program) }
    #expect(found?.reason == "an update is lost")
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test func workIsOnTheTargetToo() throws {
    let exploration = try explore(iterations: 100) {
      let key = DispatchSpecificKey<Int>()
      let base = DispatchQueue(label: "base")
      base.setSpecific(key: key, value: 3)
      let queue = DispatchQueue(label: "a", target: base)
      queue.sync {
        dispatchPrecondition(condition: .onQueue(base))
        dispatchPrecondition(condition: .onQueue(queue))
        check(DispatchQueue.getSpecific(key: key) == 3, "the target's value is not found")
      }
      base.sync { dispatchPrecondition(condition: .notOnQueue(queue)) }
    }
    #expect(exploration.schedules == 100)
  }

  @Test func waitingForAQueueInItsTargetIsADeadlock() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 10) {
        let base = DispatchQueue(label: "base")
        let queue = DispatchQueue(label: "a", target: base)
        base.sync { queue.sync {} }
      }
    }
    #expect(found?.reason == "deadlock: program waits for a")
  }

  @Test func anActiveQueueKeepsItsTarget() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 10) {
        DispatchQueue(label: "a").setTarget(queue: DispatchQueue(label: "base"))
      }
    }
    #expect(found?.reason == "program sets a target of a, which is active")
  }

  @Test func threadsAreStartedOnceAndBeforeTheyAreWaitedFor() throws {
    let twice = #expect(throws: RaceFailure.self) {
      try explore(iterations: 10) {
        let thread = RaceHunt.Thread {}
        thread.start()
        thread.start()
        thread.join()
      }
    }
    #expect(twice?.reason == "program starts thread 1 a second time")
    let never = #expect(throws: RaceFailure.self) {
      try explore(iterations: 10) { RaceHunt.Thread {}.join() }
    }
    #expect(never?.reason == "program waits for a thread, which was not started")
  }
}
