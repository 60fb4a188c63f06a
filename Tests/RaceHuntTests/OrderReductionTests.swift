// Leaving out schedules that differ only in the order of steps without a conflict must leave out
// nothing that a program can come to.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct OrderReductionTests {
  /// A thread's steps, as numbers that say what to do with which word or lock.
  private typealias Plan = [[Int]]

  /// A small program: threads of a few steps with two words and two locks, by its seed.
  private static func plan(_ seed: UInt64) -> Plan {
    var generator = RandomNumbers(seed)
    // Few enough steps for all orders: those with locks count twice.
    let (threads, most, kinds) = [(2, 3, 9), (3, 2, 6), (3, 1, 9)][generator.next(below: 3)]
    return (0..<threads).map { _ in
      (0..<1 + generator.next(below: most)).map { _ in generator.next(below: kinds) }
    }
  }

  private struct RandomNumbers {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next(below bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state >> 33) % bound
    }
  }

  /// What the program has come to in all schedules: what each thread has seen, and the words.
  private func outcomes(
    _ plan: Plan, _ strategy: Strategy
  ) throws -> (outcomes: Set<[Int]>, result: Exploration) {
    let seen = Mutex<Set<[Int]>>([])
    let result = try explore(iterations: 200_000, strategy: strategy) {
      let words = (0..<2).map { Atomic(0, name: "word \($0)") }
      let locks = (0..<2).map { Mutex(0, name: "lock \($0)") }
      let logs = plan.map { _ in Mutex([Int]()) }
      let threads = plan.indices.map { number in
        Thread.start(name: "thread \(number)") {
          var log: [Int] = []
          for (position, step) in plan[number].enumerated() {
            let value = 10 * number + position + 1
            switch step {
            case 0, 1: log.append(words[step].load())
            case 2, 3: words[step - 2].store(value)
            case 4, 5: log.append(words[step - 4].add(100).oldValue)
            case 6, 7:
              locks[step - 6].lock()
              words[0].store(value)
              log.append(locks[step - 6].value)
              locks[step - 6].value = value
              locks[step - 6].unlock()
            default:
              if locks[0].tryLock() {
                log.append(1)
                words[1].store(value)
                locks[0].unlock()
              } else {
                log.append(0)
              }
            }
          }
          logs[number].value = log
        }
      }
      for thread in threads { thread.join() }
      let values = words.map { $0.load() } + locks.map(\.value)
      seen.value.insert(logs.flatMap { $0.value + [-1] } + values)
    }
    return (seen.value, result)
  }

  @Test(arguments: seedsInTurn(1...40))
  func nothingIsLeftOut(seed: UInt64) throws {
    let plan = Self.plan(seed)
    let all = try outcomes(plan, .depthFirst(preemptions: 100))
    try #require(all.result.isExhaustive, "seed \(seed): \(plan)")
    let reduced = try outcomes(plan, .exhaustive)
    #expect(reduced.result.isExhaustive, "seed \(seed): \(plan)")
    #expect(reduced.outcomes == all.outcomes, "seed \(seed): \(plan)")
    #expect(reduced.result.schedules <= all.result.schedules, "seed \(seed): \(plan)")
  }

  @Test func stepsWithoutConflictsHaveOneOrder() throws {
    let result = try explore(iterations: 10_000, strategy: .exhaustive) {
      let threads = (1...4).map { number in
        Thread.start(name: "thread \(number)") {
          let own = Atomic(0, name: "word \(number)")
          for _ in 1...3 { own.add(1) }
        }
      }
      for thread in threads { thread.join() }
    }
    #expect(result.isExhaustive)
    #expect(result.schedules == 1)
  }

  @Test func deadlocksAreFound() throws {
    let found = try #require(
      failure(strategy: .exhaustive) {
        let locks = (0..<3).map { Mutex(0, name: "fork \($0)") }
        let threads = (0..<3).map { number in
          Thread.start(name: "philosopher \(number)") {
            locks[number].withLock { _ in locks[(number + 1) % 3].withLock { $0 += 1 } }
          }
        }
        for thread in threads { thread.join() }
      })
    #expect(found.kind == .deadlock)
  }

  @Test func lostWakeUpsAreFound() throws {
    let found = try #require(
      failure(strategy: .exhaustive) {
        let isReady = Atomic(false, name: "is ready")
        let lock = Mutex(0, name: "lock")
        let becomesReady = Condition(name: "becomes ready")
        let waiter = Thread.start(name: "waiter") {
          if isReady.load() { return }
          lock.lock()
          becomesReady.wait(lock)
          lock.unlock()
        }
        isReady.store(true)
        becomesReady.notifyAll()
        waiter.join()
      })
    #expect(found.kind == .lostWakeUp)
  }

  @Test func ordersOfActorsAreFound() throws {
    actor Register {
      var value = 0
      func set(_ new: Int) { value = new }
    }
    let found = try #require(
      failure(strategy: .exhaustive) {
        let register = Register()
        await withTaskGroup(of: Void.self) { group in
          for _ in 1...2 {
            group.addTask {
              let value = await register.value
              await register.set(value + 1)
            }
          }
        }
        let value = await register.value
        check(value == 2, "an update is lost")
      })
    #expect(found.reason == "an update is lost")
  }
}
