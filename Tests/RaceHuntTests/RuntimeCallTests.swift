// Others may go on before a task is cancelled, before it looks whether it is, and before a stream
// gets a value.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct RuntimeCallTests {
  /// Programs in which something comes in between that has to.
  private static let programs: [(name: String, program: Program)] = [
    (
      "a task works before it is cancelled",
      {
        let works = Atomic(false)
        let task = Task.detached { if !Task.isCancelled { works.store(true) } }
        task.cancel()
        await task.value
        check(!works.load(), "works")
      }
    ),
    (
      "it is cancelled behind its first step",
      {
        let (step, works) = (Atomic(0), Atomic(false))
        let task = Task {
          step.store(1)
          do { try Task.checkCancellation() } catch { works.store(true) }
        }
        let isBegun = step.load() == 1
        task.cancel()
        await task.value
        check(!(isBegun && works.load()), "works")
      }
    ),
    (
      "a child works before its group is cancelled",
      {
        let works = Atomic(false)
        await withTaskGroup(of: Void.self) { group in
          group.addTask { if !Task.isCancelled { works.store(true) } }
          group.cancelAll()
        }
        check(!works.load(), "works")
      }
    ),
    (
      "the handler runs in the middle of the work",
      {
        let order = Mutex<[Int]>([])
        let task = Task.detached {
          await withTaskCancellationHandler {
            order.withLock { $0.append(1) }
            order.withLock { $0.append(3) }
          } onCancel: {
            order.withLock { $0.append(2) }
          }
        }
        task.cancel()
        await task.value
        check(order.withLock { $0 } != [1, 2, 3], "works")
      }
    ),
    (
      "two consumers of a stream get one value each",
      {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let counts = (0..<2).map { _ in
          Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
          }
        }
        continuation.yield(1)
        continuation.yield(2)
        continuation.finish()
        let seen = [await counts[0].value, await counts[1].value]
        check(seen != [1, 1], "works")
      }
    ),
    (
      "a value is replaced before the consumer comes for it",
      {
        let (stream, continuation) = AsyncStream<Int>.makeStream(
          bufferingPolicy: .bufferingNewest(1))
        continuation.yield(1)
        let task = Task { _ = continuation.yield(2) }
        var iterator = stream.makeAsyncIterator()
        let first = await iterator.next()
        await task.value
        check(first == 1, "works")
      }
    ),
    (
      "a stream that may fail ends before the consumer comes for its second value",
      {
        let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream(
          bufferingPolicy: .bufferingOldest(1))
        continuation.yield(1)
        let task = Task {
          continuation.yield(2)
          continuation.finish()
        }
        var count = 0
        for try await _ in stream { count += 1 }
        await task.value
        check(count == 2, "works")
      }
    ),
  ]

  @Test(arguments: programs.indices) func othersComeInBetween(_ number: Int) throws {
    let (name, program) = Self.programs[number]
    for strategy in [Strategy.portfolio, .randomWalk, .exhaustive] {
      let found = #expect(throws: RaceFailure.self, "\(name), \(strategy)") {
        try explore(iterations: 5_000, strategy: strategy, program)
      }
      #expect(found?.reason == "works", "\(name), \(strategy)")
      guard let found else { continue }
      let again = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
      #expect(again?.table == found.table)
    }
  }

  @Test func theTableNamesTheCall() throws {
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 100, Self.programs[0].program)
    }
    #expect(found?.table.contains("calls Task.cancel") == true)
    #expect(found?.table.contains("calls Task.isCancelled") == true)
  }

  @Test func theTableNamesTheLineThatAwaitsAStream() throws {
    #if arch(x86_64)
      let line = #line + 4
      let program: Program = {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        continuation.yield(1)
        for await _ in stream { break }
        check(false, "the end")
      }
      let found = #expect(throws: RaceFailure.self) { try explore(iterations: 10, program) }
      let rows = found?.table.split(separator: "\n").filter { $0.contains("AsyncStream next") }
      #expect(rows?.count == 1)
      #expect(rows?.first?.contains("RuntimeCallTests.swift:\(line)") == true, "\(rows ?? [])")
    #endif
  }
}
