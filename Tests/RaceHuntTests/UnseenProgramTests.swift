// Programs that people write, once with a known mistake and once without: the mistake is found and
// repeated step by step, and the program without it never fails and is the same each time.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct UnseenProgramTests {
  static let programs = [
    DropInTests.Named("philosophers") { isBroken in { dine(isBroken: isBroken) } },
    DropInTests.Named("lock with upgrade") { isBroken in
      {
        let lock = UpgradableLock(isBroken: isBroken)
        let writers = Atomic(0)
        let threads = (0..<2).map { _ in
          Thread {
            lock.beginRead()
            guard lock.upgrade() else { return lock.endRead() }
            check(writers.add(1).oldValue == 0, "two write")
            writers.subtract(1)
            lock.endWrite()
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    DropInTests.Named("stack of slots") { isBroken in
      {
        let stack = SlotStack(isBroken: isBroken)
        let users = [Atomic(0), Atomic(0), Atomic(0)]
        let threads = [1, 2].map { turns in
          Thread {
            for _ in 0..<turns {
              let slots = (0..<turns).compactMap { _ in stack.pop() }
              for slot in slots {
                check(users[slot].add(1).oldValue == 0, "slot \(slot) has two users")
              }
              for slot in slots {
                users[slot].subtract(1)
                stack.push(slot)
              }
            }
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        var left: [Int] = []
        while left.count < 4, let slot = stack.pop() { left.append(slot) }
        check(left.sorted() == [0, 1, 2], "the stack has \(left)")
      }
    },
    DropInTests.Named("work stealing") { isBroken in
      {
        let queue = WorkQueue(isBroken: isBroken)
        let done = Mutex<[Int]>([])
        for item in 1...2 { queue.push(item) }
        let thief = Thread {
          for _ in 1...2 { if let item = queue.steal() { done.withLock { $0.append(item) } } }
        }
        thief.start()
        while let item = queue.pop() { done.withLock { $0.append(item) } }
        thief.join()
        let items = done.withLock { $0.sorted() }
        check(items == [1, 2], "done: \(items)")
      }
    },
    DropInTests.Named("double-checked locking") { isBroken in
      {
        let lazily = Lazily(isBroken: isBroken)
        let threads = (0..<2).map { _ in
          Thread { check(lazily.get() == 42, "a value that is not made") }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    DropInTests.Named("limited jobs") { isBroken in
      {
        let (sum, most) = runLimited(isBroken: isBroken)
        check(sum == 6, "the sum is \(sum)")
        check(most <= 2, "\(most) run at once")
      }
    },
    DropInTests.Named("cancelled wait for a semaphore") { isBroken in
      {
        let semaphore = CancellableSemaphore(0, isBroken: isBroken)
        let waiting = Task { if await semaphore.wait() { semaphore.signal() } }
        let thread = Thread { waiting.cancel() }
        thread.start()
        await waiting.value
        thread.join()
      }
    },
    DropInTests.Named("debounced") { isBroken in
      {
        let debouncer = await Debouncer(isBroken: isBroken)
        await debouncer.ask()
        await debouncer.ask()
        await debouncer.settle()
        let runs = await debouncer.runs
        check(runs == 1, "has run \(runs) times")
      }
    },
    DropInTests.Named("fastest server") { isBroken in
      {
        let connections = Connections()
        _ = try await fastest(connections, isBroken: isBroken)
        let open = await connections.open
        check(open == 0, "\(open) connections are open")
      }
    },
    DropInTests.Named("search screen") { isBroken in
      {
        let screen = await SearchScreen(isBroken: isBroken)
        let first = await screen.search("a")
        let second = await screen.search("ab")
        await first.value
        await second.value
        let shown = await screen.shown
        check(shown == "results for ab", "shows \(shown)")
      }
    },
    DropInTests.Named("sum of a stream") { isBroken in
      {
        let sum = await sumOfStream(isBroken: isBroken)
        check(sum == 6, "the sum is \(sum)")
      }
    },
    DropInTests.Named("callback") { isBroken in
      {
        let answer = await answerOfCallback(3, isBroken: isBroken)
        check(answer == 6, "the answer is \(answer)")
      }
    },
    DropInTests.Named("bank") { isBroken in
      {
        let bank = Bank(isBroken: isBroken)
        async let first: Void = bank.transfer(60)
        async let second: Void = bank.transfer(60)
        _ = await (first, second)
        let lowest = await bank.lowest
        check(lowest >= 0, "an account has \(lowest)")
      }
    },
  ]

  @Test(arguments: programs) func theMistakeIsFoundAndRepeated(named: DropInTests.Named) throws {
    try named.checkMistakeIsFound()
  }

  @Test(arguments: programs, ["random", "pct:3", "pos", "surw", "depth-first:1", "exhaustive"])
  func withoutItNothingIsFound(named: DropInTests.Named, strategy: String) throws {
    try named.checkItIsSound(by: strategy)
  }
}
