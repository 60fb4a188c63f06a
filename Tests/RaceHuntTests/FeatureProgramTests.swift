// Programs that use what Swift, Foundation and Dispatch have for threads and tasks, once with a
// mistake and once without: found, repeated step by step, and clean and the same twice without it.
import RaceHunt
import TestSupport
import Testing

@Suite(.ownThreads) struct FeatureProgramTests {
  static let programs = taskPrograms + lockPrograms

  static let taskPrograms = [
    DropInTests.Named("sensor with listeners") { isBroken in
      {
        let sensor = Sensor(isBroken: isBroken)
        let values = sensor.values()
        let listener = Task {
          for await value in values where value == 2 { return }
        }
        sensor.send(1)
        await Task.yield()
        sensor.send(2)
        await listener.value
        // Who cancels the other one ends its stream.
        let other = Task { for await _ in sensor.values() {} }
        other.cancel()
        await other.value
        let count = sensor.listenerCount
        check(count <= 1, "\(count) are listened for")
      }
    },
    DropInTests.Named("all files or none") { isBroken in
      {
        let archive = Archive()
        do { try await download(["good", "bad"], into: archive, isBroken: isBroken) } catch {}
        let files = await archive.files
        check(files.isEmpty, "the archive has \(files)")
      }
    },
    DropInTests.Named("picture cache") { isBroken in
      {
        let cache = PictureCache(isBroken: isBroken)
        async let first = cache.picture("cat")
        async let second = cache.picture("cat")
        let both = await [first, second]
        check(both == [3, 3], "the pictures are \(both)")
        let loads = await cache.loads
        check(loads == 1, "loaded \(loads) times")
      }
    },
    DropInTests.Named("requests in a log") { isBroken in
      {
        let log = await logRequests(isBroken: isBroken)
        check(log == [1, 2], "the log has \(log)")
      }
    },
    DropInTests.Named("work with a timeout") { isBroken in
      {
        let running = Atomic(0)
        do {
          _ = try await withTimeout(.milliseconds(10), isBroken: isBroken) {
            running.add(1)
            defer { running.subtract(1) }
            try await Task.sleep(for: .milliseconds(5 + 10 * random(below: 2)))
            return 1
          }
        } catch {}
        check(running.load() == 0, "the work goes on after the answer")
      }
    },
    DropInTests.Named("shop of a global actor") { isBroken in
      {
        let shop = Shop(isBroken: isBroken)
        let buyers = (1...2).map { _ in Task.detached { await shop.buy() } }
        var sold = 0
        for buyer in buyers where await buyer.value { sold += 1 }
        check(sold == 1, "sold \(sold) of 1")
      }
    },
    DropInTests.Named("actor in a thread") { isBroken in
      {
        let executor = ThreadExecutor()
        let thread = Thread { executor.run() }
        thread.start()
        let counted = await count(CountingActor(executor), isBroken: isBroken)
        check(counted == 2, "counted \(counted) of 2")
        executor.stop()
        thread.join()
      }
    },
    DropInTests.Named("actor in a queue") { isBroken in
      {
        let counted = await count(CountingActor(QueueExecutor()), isBroken: isBroken)
        check(counted == 2, "counted \(counted) of 2")
      }
    },
    DropInTests.Named("poller of the main actor") { isBroken in
      {
        let poller = await Poller(isBroken: isBroken)
        await poller.start()
        try await Task.sleep(for: .milliseconds(2_500))
        let seen = await poller.stop()
        await poller.settle()
        let polls = await poller.polls
        check(polls == seen, "\(polls - seen) polls after the stop")
      }
    },
    DropInTests.Named("stream that fails") { isBroken in
      {
        let seen = await lastValues(isBroken: isBroken)
        check(seen == [1, 2, -1], "seen: \(seen)")
      }
    },
    DropInTests.Named("discarding group") { isBroken in
      {
        let (open, most) = (Atomic(0), Atomic(0))
        let gate = CancellableSemaphore(1, isBroken: false)
        await withDiscardingTaskGroup { group in
          for _ in 1...3 {
            group.addTask(priority: .background) {
              let isIn = isBroken ? true : await gate.wait()
              most.max(open.add(1).newValue)
              await Task.yield()
              open.subtract(1)
              if isIn && !isBroken { gate.signal() }
            }
          }
        }
        check(most.load() == 1, "\(most.load()) at once")
      }
    },
  ]

  static let lockPrograms = [
    DropInTests.Named("histogram with barriers") { isBroken in
      {
        let histogram = Histogram(isBroken: isBroken)
        histogram.add()
        histogram.add()
        let seen = histogram.read()
        check(seen[0] == seen[1], "the counts are \(seen)")
        let both = DispatchQueue.global(qos: .userInitiated).sync { histogram.read() }
        check(both[0] == both[1], "the counts are \(both)")
      }
    },
    DropInTests.Named("latch") { isBroken in
      {
        let latch = Latch(2, isBroken: isBroken)
        for _ in 1...2 { Thread.detachNewThread { latch.arrive() } }
        latch.wait()
      }
    },
    DropInTests.Named("folders with recursive locks") { isBroken in
      {
        let (one, two) = (Folder(1, files: 1), Folder(2, files: 1))
        DispatchQueue.concurrentPerform(iterations: 2) { number in
          if number == 0 {
            one.move(to: two, isBroken: isBroken)
          } else {
            two.move(to: one, isBroken: isBroken)
          }
        }
        check(one.count + two.count == 2, "\(one.count) and \(two.count) files")
      }
    },
    DropInTests.Named("lock for readers and writers") { isBroken in
      {
        let lock = FairLock(isBroken: isBroken)
        let (a, b) = (Atomic(0), Atomic(0))
        let threads =
          (1...2).map { _ in
            Thread {
              let (first, second) = lock.read { (a.load(), b.load()) }
              check(first == second, "read \(first) and \(second)")
            }
          } + [
            Thread {
              lock.write {
                a.store(1)
                b.store(1)
              }
            }
          ]
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
      }
    },
    DropInTests.Named("ring of weak orders") { isBroken in
      {
        let ring = Ring(isBroken: isBroken)
        let sender = Thread { for value in 1...3 { while !ring.send(value) { sched_yield() } } }
        sender.start()
        var seen: [Int] = []
        while seen.count < 3 {
          if let value = ring.receive() { seen.append(value) } else { sched_yield() }
        }
        sender.join()
        check(seen == [1, 2, 3], "received \(seen)")
      }
    },
    DropInTests.Named("free list with a count") { isBroken in
      {
        let list = FreeList(isBroken: isBroken)
        let users = (0...3).map { _ in Atomic(0) }
        let threads = [1, 2].map { turns in
          Thread {
            let slots = (0..<turns).map { _ in list.take() }
            for slot in slots where slot > 0 {
              check(users[slot].exchange(1) == 0, "slot \(slot) is taken twice")
            }
            for slot in slots where slot > 0 {
              users[slot].store(0)
              list.give(slot)
            }
          }
        }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        var left: [Int] = []
        while left.count < 4, case let slot = list.take(), slot > 0 { left.append(slot) }
        check(left.sorted() == [1, 2, 3], "left are \(left)")
      }
    },
    DropInTests.Named("lock if available") { isBroken in
      {
        let counter = LazyCounter(isBroken: isBroken)
        let threads = (1...3).map { _ in Thread { counter.add() } }
        for thread in threads { thread.start() }
        for thread in threads { thread.join() }
        check(counter.total == 3, "counted \(counter.total) of 3")
      }
    },
    DropInTests.Named("pump") { isBroken in
      {
        let pump = Pump(isBroken: isBroken)
        pump.start()
        pump.put()
        pump.end()
        let done = pump.done.load()
        check(done == 1, "\(done) of 1 are done")
      }
    },
    DropInTests.Named("saver") { isBroken in
      {
        let saver = Saver(isBroken: isBroken)
        saver.ask()
        saver.ask()
        let count = saver.count(after: 200)
        check(count == 1, "saved \(count) times")
      }
    },
  ]

  @Test(arguments: programs) func theMistakeIsFoundAndRepeated(named: DropInTests.Named) throws {
    try named.checkMistakeIsFound()
  }

  @Test(arguments: programs, ["random", "pct:3", "pos", "uniform", "surw", "depth-first:1"])
  func withoutItNothingIsFound(named: DropInTests.Named, strategy: String) throws {
    try named.checkItIsSound(by: strategy)
  }
}
