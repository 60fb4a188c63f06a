// Structures that stand in many programs, once with a mistake and once without: found, repeated
// step by step, and clean and the same twice without it.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct PatternProgramTests {
  static let programs = threadPrograms + queuePrograms + taskPrograms + streamPrograms

  static let threadPrograms = [
    DropInTests.Named("sequence lock") { isBroken in
      {
        let lock = SequenceLock(isBroken: isBroken)
        let writer = Thread { lock.write(1) }
        writer.start()
        let seen = lock.read()
        check(seen[0] == seen[1], "read: \(seen)")
        writer.join()
      }
    },
    DropInTests.Named("ticket lock") { isBroken in
      {
        let lock = TicketLock(isBroken: isBroken)
        let inside = Atomic(0)
        let threads = (1...2).map { _ in
          Thread {
            lock.withLock {
              check(inside.add(1).oldValue == 0, "two are inside")
              inside.subtract(1)
            }
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    DropInTests.Named("stack with hazard pointers") { isBroken in
      {
        let stack = HazardStack(isBroken: isBroken)
        for value in 1...2 { stack.push(value) }
        let taken = Mutex<[Int]>([])
        let threads = (0..<2).map { number in
          Thread { if let value = stack.pop(number) { taken.withLock { $0.append(value) } } }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        let values = taken.withLock { $0.sorted() }
        check(values == [1, 2], "taken: \(values)")
      }
    },
    DropInTests.Named("ring with numbers") { isBroken in
      {
        let ring = NumberedRing(capacity: 2, isBroken: isBroken)
        let senders = (1...3).map { value in
          Thread { while !ring.send(value) { Thread.yield() } }
        }
        for sender in senders { sender.start() }
        var seen: [Int] = []
        while seen.count < 3 {
          if let value = ring.receive() { seen.append(value) } else { Thread.yield() }
        }
        for sender in senders { sender.join() }
        check(seen.sorted() == [1, 2, 3], "received \(seen)")
      }
    },
    DropInTests.Named("threads that steal work") { isBroken in
      {
        let pool = StealingPool(2, isBroken: isBroken)
        pool.start()
        let (group, done) = (DispatchGroup(), Atomic(0))
        for number in [0, 0, 1] {
          group.enter()
          pool.add(to: number) {
            done.add(1)
            group.leave()
          }
        }
        group.wait()
        pool.stop()
        check(done.load() == 3, "\(done.load()) of 3 are done")
      }
    },
    DropInTests.Named("settings made when asked for") { isBroken in
      {
        let settings = SharedSettings(isBroken: isBroken)
        let seen = Mutex<[SharedSettings.Settings]>([])
        let threads = (1...2).map { _ in
          Thread {
            let mine = settings.get()
            seen.withLock { $0.append(mine) }
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        let isOne = seen.withLock { $0[0] === $0[1] }
        check(isOne, "there are two")
      }
    },
    DropInTests.Named("handle of one owner") { isBroken in
      {
        let handle = SharedHandle(isBroken: isBroken)
        let closed = Atomic(0)
        let threads = (1...2).map { _ in Thread { if handle.close() { closed.add(1) } } }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        check(closed.load() == 1, "closed \(closed.load()) times")
      }
    },
    DropInTests.Named("cache that keeps nothing alive") { isBroken in
      {
        let cache = WeakCache(isBroken: isBroken)
        let owner = Mutex<WeakCache.Picture?>(WeakCache.Picture())
        owner.withLock { cache.keep($0!) }
        let thread = Thread { owner.withLock { $0 = nil } }
        thread.start()
        let (isThere, picture) = cache.look()
        check(!isThere || picture != nil, "it was there and is not")
        thread.join()
      }
    },
    DropInTests.Named("values by thread") { isBroken in
      {
        let shared = Atomic(0)
        let threads = (1...2).map { number in
          Thread {
            let mine = Thread.current.threadDictionary
            mine["number"] = number
            shared.store(number)
            Thread.yield()
            let seen = isBroken ? shared.load() : mine["number"] as? Int
            check(seen == number, "thread \(number) finds \(String(describing: seen))")
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    DropInTests.Named("announcement") { isBroken in
      {
        let announcement = Announcement(isBroken: isBroken)
        let thread = Thread { announcement.announce() }
        thread.start()
        announcement.wait()
        thread.join()
      }
    },
  ]

  static let queuePrograms = [
    DropInTests.Named("impatient client") { isBroken in
      {
        let client = ImpatientClient(isBroken: isBroken)
        for number in 1...2 {
          let answer = client.ask(number)
          check(answer == nil || answer == number, "\(number) is answered by \(answer ?? 0)")
        }
      }
    },
    DropInTests.Named("counter of a queue") { isBroken in
      {
        let counter = QueueCounter(DispatchQueue(label: "counter"), isBroken: isBroken)
        DispatchQueue.concurrentPerform(iterations: 2) { _ in counter.add() }
        let task = Task { counter.add() }
        await task.value
        check(counter.value == 3, "counted \(counter.value) of 3")
      }
    },
    DropInTests.Named("counter of the main queue") { isBroken in
      {
        let counter = QueueCounter(.main, isBroken: isBroken)
        let thread = Thread { counter.add() }
        thread.start()
        await Task { @MainActor in counter.add() }.value
        while !thread.isFinished { try await Task.sleep(for: .seconds(1)) }
        let count = await MainActor.run { counter.value }
        check(count == 2, "counted \(count) of 2")
      }
    },
    DropInTests.Named("work that is called off") { isBroken in
      { check(lateWork(isBroken: isBroken), "it was called off and done") }
    },
    DropInTests.Named("observer in a queue") { isBroken in
      {
        let (center, seen) = (NotificationCenter(), Atomic(0))
        let queue = OperationQueue()
        let name = Notification.Name("change")
        let token = center.addObserver(forName: name, object: nil, queue: queue) { _ in
          if isBroken { seen.store(seen.load() + 1) } else { seen.add(1) }
        }
        let thread = Thread { center.post(name: name, object: nil) }
        thread.start()
        center.post(name: name, object: nil)
        // Who posts waits for those who observe.
        check(seen.load() >= 1, "nobody has seen it")
        thread.join()
        center.removeObserver(token)
        check(seen.load() == 2, "seen \(seen.load()) times")
      }
    },
  ]

  static let taskPrograms = [
    DropInTests.Named("tasks unless cancelled") { isBroken in
      {
        let (asked, done) = await asksAndDeeds(isBroken: isBroken)
        check(asked == done, "asked for \(asked), and \(done) are done")
      }
    },
    DropInTests.Named("meter with pauses") { isBroken in
      {
        let meter = Meter(isBroken: isBroken)
        async let first: Void = meter.add()
        async let second: Void = meter.add()
        _ = await (first, second)
        let count = await meter.count
        check(count == 2, "counted \(count) of 2")
      }
    },
    DropInTests.Named("raised priority") { isBroken in
      {
        let noted = await notedPriority(isBroken: isBroken)
        check(noted >= TaskPriority.high.rawValue, "noted is \(noted)")
      }
    },
    DropInTests.Named("children that begin at once") { isBroken in
      {
        let sum = await immediateSum(isBroken: isBroken)
        check(sum == 2, "the sum is \(sum)")
      }
    },
    DropInTests.Named("handover") { isBroken in
      {
        let handover = Handover<Int>(isBroken: isBroken)
        let sender = Task { for value in 1...2 { await handover.send(value) } }
        let first = await handover.receive()
        check(first == 1, "received \(first ?? 0)")
        await handover.close()
        await sender.value
      }
    },
    DropInTests.Named("pool of connections") { isBroken in
      {
        let pool = ConnectionPool([0], isBroken: isBroken)
        let users = Atomic(0)
        await withTaskGroup(of: Void.self) { group in
          for _ in 1...3 {
            group.addTask {
              await pool.with { connection in
                check(users.add(1).oldValue == 0, "connection \(connection) has two users")
                await Task.yield()
                users.subtract(1)
              }
            }
          }
        }
      }
    },
    DropInTests.Named("pace") { isBroken in
      {
        let pace = PaceMaker(isBroken: isBroken)
        let took = try await ContinuousClock().measure {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...3 { group.addTask { try await pace.wait() } }
            try await group.waitForAll()
          }
        }
        check(took >= .milliseconds(200), "three pass in \(took)")
      }
    },
    DropInTests.Named("download that is stopped") { isBroken in
      {
        let download = StoppableDownload(isBroken: isBroken)
        let task = download.start()
        let thread = Thread { download.stop() }
        thread.start()
        let isStopped = await task.value
        check(isStopped, "it was not stopped")
        thread.join()
      }
    },
    DropInTests.Named("throttle") { isBroken in
      {
        let throttle = await Throttle(isBroken: isBroken)
        async let first: Void = throttle.ask(1)
        async let second: Void = throttle.ask(1)
        _ = await (first, second)
        let done = await throttle.done
        check(done.count == 2, "done: \(done)")
      }
    },
    DropInTests.Named("names of tasks") { isBroken in
      {
        let seen = Mutex<[String]>([])
        let tasks = ["one", "two"].map { name in
          Task(name: name) {
            await Task.yield()
            seen.withLock { $0.append(Task.name ?? "none") }
          }
        }
        for task in tasks { await task.value }
        let names = seen.withLock { isBroken ? $0 : $0.sorted() }
        check(names == ["one", "two"], "the names are \(names)")
      }
    },
  ]

  static let streamPrograms = [
    DropInTests.Named("observed degrees") { isBroken in
      {
        let seen = await observedDegrees(upTo: 2)
        // The mistake: who observes need not see each value.
        let isRight = isBroken ? seen == [0, 1, 2] : seen.last == 2 && seen == seen.sorted()
        check(isRight, "seen: \(seen)")
      }
    },
    DropInTests.Named("merged sequences") { isBroken in
      {
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        let producer = Task {
          input.yield(10)
          await Task.yield()
          input.yield(20)
          input.finish()
        }
        var seen: [Int] = []
        for await value in Merged(first: Countdown(start: 2), second: stream, isBroken: isBroken) {
          seen.append(value)
        }
        await producer.value
        check(seen.sorted() == [1, 2, 10, 20], "seen: \(seen)")
      }
    },
    DropInTests.Named("even values of a stream") { isBroken in
      {
        let seen = await evenValues(isBroken: isBroken)
        check(seen == [20, 40], "seen: \(seen)")
      }
    },
  ]

  @Test(arguments: programs) func theMistakeIsFoundAndRepeated(named: DropInTests.Named) throws {
    try named.checkMistakeIsFound()
  }

  @Test(arguments: programs, ["portfolio", "random", "pct:3", "depth-first:1"])
  func withoutItNothingIsFound(named: DropInTests.Named, strategy: String) throws {
    try named.checkItIsSound(by: strategy)
  }
}
