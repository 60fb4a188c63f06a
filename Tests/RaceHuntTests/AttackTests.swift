// Programs that are hard on the explorer: crashes, very many steps, many threads, an early end.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct AttackTests {
  @Test func aCrashTellsItsSchedule() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try explore(iterations: 500) {
        let word = Atomic(0, name: "word")
        let threads = (1...2).map { number in
          Thread.start(name: "adder \(number)") { word.store(word.load() + 1) }
        }
        for thread in threads { thread.join() }
        precondition(word.load() == 2, "an update is lost")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("RaceHunt: the program crashes"), "\(text)")
    #expect(text.contains("| adder 1"))
    let schedule = try #require(
      text.split(separator: "\"").first { $0.contains(":") && $0.allSatisfy { !$0.isWhitespace } })
    // The schedule that is told is one in which the update is lost.
    let repeated = #expect(throws: RaceFailure.self) {
      try replay(String(schedule)) {
        let word = Atomic(0, name: "word")
        let threads = (1...2).map { number in
          Thread.start(name: "adder \(number)") { word.store(word.load() + 1) }
        }
        for thread in threads { thread.join() }
        check(word.load() == 2, "an update is lost")
      }
    }
    #expect(repeated?.reason == "an update is lost")
  }

  /// Also where the program has only the names of Foundation and Dispatch.
  @Test func aCrashInAQueueTellsItsSchedule() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try explore(iterations: 500) {
        let lock = NSLock()
        let word = Atomic(0, name: "word")
        let queue = DispatchQueue(label: "adders", attributes: .concurrent)
        let group = DispatchGroup()
        for _ in 1...2 {
          queue.async(group: group) {
            let seen = lock.withLock { word.load(ordering: .relaxed) }
            precondition(seen == 0 || word.load(ordering: .relaxed) == 1, "an update is lost")
            lock.withLock { word.store(seen + 1, ordering: .relaxed) }
            if seen == 0 { word.store(0, ordering: .relaxed) }
          }
        }
        group.wait()
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("RaceHunt: the program crashes"), "\(text)")
    #expect(text.contains("| adders"), "\(text)")
    #expect(text.contains("try replay(\""), "\(text)")
  }

  @Test func aStackThatIsUsedUpTellsItsSchedule() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try explore(iterations: 1) {
        @Sendable func descend(_ depth: Int) -> Int {
          depth == .max ? 0 : descend(depth + 1) &+ random(below: 2)
        }
        let word = Atomic(0, name: "word")
        Thread.start(name: "deep") { word.store(descend(0)) }.join()
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("RaceHunt: the program crashes"), "\(text)")
  }

  /// The failing schedule has thousands of switches; the one that is shown has not, and it does not
  /// take for ever to find it.
  @Test func aLongProgramIsShrunk() throws {
    let program: Program = {
      let (count, seen) = (Atomic(0, name: "count"), Atomic(0, name: "seen"))
      let threads = (1...2).map { number in
        Thread.start(name: "thread \(number)") {
          seen.store(seen.load() + 1)
          for _ in 0..<10_000 { count.add(1) }
        }
      }
      for thread in threads { thread.join() }
      check(seen.load() == 2, "an update is lost")
    }
    let found = #expect(throws: RaceFailure.self) {
      try explore(iterations: 200, strategy: .randomWalk, steps: 1_000_000, program)
    }
    #expect(found?.reason == "an update is lost")
    #expect((found?.turns ?? .max) < 10)
    let repeated = #expect(throws: RaceFailure.self) {
      try replay(found?.schedule ?? "", steps: 1_000_000, program)
    }
    #expect(repeated?.reason == "an update is lost")
  }

  @Test func fiftyThreadsMeet() throws {
    let found = try #require(
      failure(iterations: 200) {
        let count = Atomic(0, name: "count")
        let threads = (1...50).map { number in
          Thread.start(name: "thread \(number)") { count.store(count.load() + 1) }
        }
        for thread in threads { thread.join() }
        check(count.load() == 50, "updates are lost")
      })
    #expect(found.turns <= 3, "\(found.turns) turns")
  }

  @Test func threadsMayGoOnAfterTheProgram() throws {
    let ended = Mutex(0)
    let result = try explore(iterations: 100) {
      let word = Atomic(0, name: "word")
      _ = Thread.start(name: "left alone") {
        for _ in 0..<5 { word.add(1) }
        ended.withLock { $0 += 1 }
      }
    }
    // A schedule in a hundred is run twice.
    #expect(ended.withLock { $0 } >= result.schedules)
  }

  /// Those who spin must not keep the one from going on that they wait for, whatever its priority.
  @Test(arguments: ["random", "pct", "pos", "uniform", "surw", "portfolio"])
  func whatSpinningThreadsWaitForGoesOn(name: String) throws {
    let strategy = try #require(Strategy(name))
    try explore(iterations: 400, strategy: strategy) {
      let lock = Atomic(false, name: "lock")
      let count = Atomic(0, name: "count")
      let threads = (1...3).map { number in
        Thread.start(name: "thread \(number)") {
          while lock.exchange(true) { Thread.yield() }
          count.add(1)
          lock.store(false)
        }
      }
      for thread in threads { thread.join() }
    }
  }

  /// Two that wait for a third one by looking again in turn, without a yield: the third one may
  /// have the least priority, and was never chosen.
  @Test(arguments: ["pct", "surw", "portfolio"])
  func whoIsWaitedForByTwoThatSpinInTurnGoesOn(name: String) throws {
    let strategy = try #require(Strategy(name))
    try explore(iterations: 1_500, strategy: strategy) {
      let (turn, isDone) = (Atomic(0), Atomic(false))
      let spinners = (0..<2).map { number in
        Thread.start {
          while !isDone.load() {
            if turn.load() == number { turn.store(1 - number) }
          }
        }
      }
      let third = Thread.start {
        let own = Atomic(0)
        for _ in 1...10 { own.add(1) }
        isDone.store(true)
      }
      for thread in spinners + [third] { thread.join() }
    }
  }
}
