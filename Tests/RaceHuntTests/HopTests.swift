// Who comes to an actor first: a task, or what it has just started or resumed.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct HopTests {
  private actor Log {
    private(set) var numbers: [Int] = []
    func add(_ number: Int) { numbers.append(number) }
  }

  /// Each adds 2 itself, and has somebody else add 1.
  private static let programs: [(name: String, body: @Sendable (Log) async -> Void)] = [
    (
      "a task",
      { log in
        let task = Task { await log.add(1) }
        await log.add(2)
        await task.value
      }
    ),
    (
      "a detached task",
      { log in
        let task = Task.detached { await log.add(1) }
        await log.add(2)
        await task.value
      }
    ),
    (
      "async let",
      { log in
        async let other: Void = log.add(1)
        await log.add(2)
        await other
      }
    ),
    (
      "a task of a group",
      { log in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await log.add(1) }
          await log.add(2)
        }
      }
    ),
    (
      "a resumed task",
      { log in
        let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let task = Task {
          await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
          }
          await log.add(1)
        }
        while waiting.withLock({ $0 }) == nil { await Task.yield() }
        waiting.withLock { $0 }?.resume()
        await log.add(2)
        await task.value
      }
    ),
  ]

  @Test(arguments: programs.indices, [[1, 2], [2, 1]]) func bothMayComeFirst(
    number: Int, order: [Int]
  ) throws {
    let program: Program = {
      let log = Log()
      await Self.programs[number].body(log)
      let numbers = await log.numbers
      check(numbers != order, "it is this order")
    }
    let found = #expect(throws: RaceFailure.self, "\(Self.programs[number].name)") {
      try explore(iterations: 1_000, program)
    }
    #expect(found?.reason == "it is this order")
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test(arguments: [Strategy.exhaustive, .depthFirst(preemptions: 1), .randomWalk, .uniform])
  func everyStrategyHasBothOrders(strategy: Strategy) throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 1_000, strategy: strategy) {
        let log = Log()
        let task = Task { await log.add(1) }
        await log.add(2)
        await task.value
        let numbers = await log.numbers
        check(numbers == [2, 1], "the task is first")
      }
    }
    #expect(found?.reason == "the task is first")
  }

  /// Nobody is there who could come first.
  @Test func hopsOfOneTaskAreInOrder() throws {
    let exploration = try explore(iterations: 100) {
      let log = Log()
      await log.add(1)
      await log.add(2)
      let numbers = await log.numbers
      check(numbers == [1, 2], "they are \(numbers)")
    }
    #expect(exploration.points == 0)
  }
}
