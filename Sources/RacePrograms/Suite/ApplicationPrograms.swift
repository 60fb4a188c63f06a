// The suite's bugs of real programs and libraries, cut down to the threads and steps that matter.
internal import RaceHunt

extension SuiteProgram {
  static let applicationPrograms = [
    SuiteProgram("CB.stringbuffer-jdk1.4", "appends from a buffer that shrinks meanwhile") {
      let lock = Lock("source")
      let length = Variable(5, "length")
      let eraser = Thread.start(name: "eraser") {
        lock.lock()
        length.write(0)
        lock.unlock()
      }
      lock.lock()
      let expected = length.read()
      lock.unlock()
      // Each call is atomic, both together are not.
      lock.lock()
      let available = length.read()
      check(expected <= available, "\(expected) characters are read of \(available)")
      lock.unlock()
      eraser.join()
    },
    SuiteProgram("CB.aget-bug2", "the signal handler saves less than was written") {
      let written = Variable(0, "written")
      let saved = Variable(-1, "saved")
      let lock = Lock("written")
      let hasFinished = Variable(0, "has finished")
      let workers = (1...2).map { number in
        Thread.start(name: "worker \(number)") {
          for _ in 1...2 {
            lock.lock()
            written.change(by: 10)
            lock.unlock()
          }
        }
      }
      let handler = Thread.start(name: "handler") {
        saved.write(written.read())
        hasFinished.write(1)
      }
      for worker in workers { worker.join() }
      handler.join()
      check(saved.read() == written.read(), "\(saved.read()) of \(written.read()) are saved")
    },
    SuiteProgram("CB.pbzip2-0.9.4", "the queue is destroyed while a consumer goes on") {
      let isDestroyed = Variable(0, "is destroyed")
      let (lock, isDone) = (Lock("queue"), Variable(0, "is done"))
      let consumers = (1...2).map { number in
        Thread.start(name: "consumer \(number)") {
          for _ in 1...3 {
            check(isDestroyed.read() == 0, "consumer \(number) uses a queue that is destroyed")
            lock.lock()
            let ends = isDone.read() == 1
            lock.unlock()
            if ends { return }
          }
        }
      }
      lock.lock()
      isDone.write(1)
      lock.unlock()
      // The consumers are not waited for.
      isDestroyed.write(1)
      for consumer in consumers { consumer.join() }
    },
    SuiteProgram("inspect.boundedBuffer", "one signal for two kinds of waiters wakes the wrong one")
    {
      let lock = Lock("buffer")
      let hasChanged = Signal("has changed")
      let count = Variable(0, "count")
      @Sendable func change(by operand: Int, while blocked: Int) {
        for _ in 1...2 {
          lock.lock()
          while count.read() == blocked { lock.wait(for: hasChanged) }
          count.change(by: operand)
          hasChanged.notifyOne()
          lock.unlock()
        }
      }
      runThreads([
        ("producer 1", { change(by: 1, while: 1) }), ("producer 2", { change(by: 1, while: 1) }),
        ("consumer 1", { change(by: -1, while: 0) }), ("consumer 2", { change(by: -1, while: 0) }),
      ])
    },
    SuiteProgram("inspect.ctrace-test", "a level of tracing is set while it is looked up") {
      let (level, units) = (Variable(0, "level"), Variable(0, "units"))
      runThreads([
        (
          "setter",
          {
            level.write(1)
            units.write(4)
          }
        ),
        (
          "tracer",
          {
            if level.read() == 1 { check(units.read() == 4, "the level is on without units") }
          }
        ),
      ])
    },
    SuiteProgram("inspect.qsort_mt", "a worker that becomes idle is given work without a signal") {
      // A pool of workers: who has work to share looks for an idle one without its lock.
      let states = (0..<3).map { Variable(0, "state \($0)") }
      let locks = (0..<3).map { Lock("worker \($0)") }
      let signals = (0..<3).map { Signal("work for \($0)") }
      let left = Variable(3, "pieces left")
      let (idle, working, ended) = (0, 1, 2)
      @Sendable func share() {
        for other in 0..<3 where states[other].read() == idle {
          locks[other].lock()
          states[other].write(working)
          signals[other].notifyOne()
          locks[other].unlock()
          return
        }
      }
      states[0].write(working)
      runThreads(3, "worker") { number in
        let own = number - 1
        while true {
          locks[own].lock()
          while states[own].read() == idle { locks[own].wait(for: signals[own]) }
          let ends = states[own].read() == ended
          locks[own].unlock()
          if ends { return }
          if left.addAtomically(-1) > 1 {
            share()
            // Not under the lock: work that was given meanwhile is forgotten.
            states[own].write(idle)
          } else {
            for other in 0..<3 {
              locks[other].lock()
              states[other].write(ended)
              signals[other].notifyAll()
              locks[other].unlock()
            }
          }
        }
      }
    },
    SuiteProgram("radbench.bug4", "a lock is made twice by two first users") {
      let made = Variable(0, "locks made")
      let current = Variable(0, "lock")
      let users = Mutex<[Int: Int]>([:], name: "users of locks")
      runThreads(3, "user") { _ in
        if current.read() == 0 { current.write(made.addAtomically(1) + 1) }
        let own = current.read()
        let count = users.withLock { users in
          users[own, default: 0] += 1
          return users.filter { $0.value > 0 }.count
        }
        check(count == 1, "\(count) locks are held at once")
        users.withLock { $0[own]! -= 1 }
      }
    },
    SuiteProgram("radbench.bug6", "a wake-up between look and wait is lost") {
      let lock = Lock("monitor")
      let isReady = Variable(0, "is ready")
      let becomesReady = Signal("becomes ready")
      runThreads([
        (
          "waiter",
          {
            if isReady.read() == 1 { return }
            lock.lock()
            lock.wait(for: becomesReady)
            lock.unlock()
          }
        ),
        (
          "waker",
          {
            isReady.write(1)
            lock.lock()
            becomesReady.notifyAll()
            lock.unlock()
          }
        ),
      ])
    },
    barrierMissed("splash2.barnes", workers: 2), barrierMissed("splash2.fft", workers: 3),
    barrierMissed("splash2.lu", workers: 4),
    SuiteProgram("parsec.ferret", "the last stage ends before the stage before it has sent all") {
      let stage = Channel<Int>(capacity: 2, name: "stage")
      let (sent, received) = (Variable(0, "sent"), Variable(0, "received"))
      let senders = (1...3).map { number in
        Thread.start(name: "sender \(number)") {
          if stage.send(number) { sent.addAtomically(1) }
          // The first that is ready takes itself for the last one.
          if sent.read() >= 2 { stage.close() }
        }
      }
      while stage.receive() != nil { received.addAtomically(1) }
      for sender in senders { sender.join() }
      check(received.read() == 3, "\(received.read()) of 3 have come through")
    },
    SuiteProgram("parsec.streamcluster", "a barrier that is used again lets one through too soon") {
      let lock = Lock("barrier")
      let isOpen = Signal("is open")
      let count = Variable(0, "count")
      let rounds = (1...2).map { Variable(0, "round \($0)") }
      runThreads(2, "worker") { _ in
        for round in 0..<2 {
          rounds[round].addAtomically(1)
          lock.lock()
          count.change(by: 1)
          if count.read() == 2 {
            count.write(0)
            isOpen.notifyAll()
          } else {
            // Whoever is woken finds the count of the next round.
            while count.read() != 0 { lock.wait(for: isOpen) }
          }
          lock.unlock()
          check(rounds[round].read() == 2, "round \(round + 1) ends before all are there")
        }
      }
    },
    SuiteProgram("misc.safestack", "two threads take the same element") {
      let stack = SafeStack()
      runThreads(3, "thread") { number in
        for _ in 1...2 {
          var taken = stack.pop()
          while taken < 0 {
            Thread.yield()
            taken = stack.pop()
          }
          stack.values[taken].write(number)
          let seen = stack.values[taken].read()
          check(seen == number, "element \(taken) is taken by \(number) and \(seen)")
          stack.push(taken)
        }
      }
    },
  ]

  /// The main thread does not wait for its workers.
  private static func barrierMissed(_ name: String, workers: Int) -> SuiteProgram {
    SuiteProgram(name, "results are looked at before all workers have ended") {
      let results = Variable(0, "results")
      let lock = Lock("results")
      let threads = (1...workers).map { number in
        Thread.start(name: "worker \(number)") {
          lock.lock()
          results.change(by: 1)
          lock.unlock()
        }
      }
      check(results.read() == workers, "\(results.read()) of \(workers) results are there")
      for thread in threads { thread.join() }
    }
  }
}

/// A stack without locks whose elements hand their successor over by an exchange: five switches at
/// the right places between three threads break it.
private final class SafeStack: Sendable {
  let values = (0..<3).map { Variable(0, "value \($0)") }
  private let nexts = (0..<3).map { Variable($0 == 2 ? -1 : $0 + 1, "next \($0)") }
  private let head = Variable(0, "head")
  private let count = Variable(3, "count")

  func pop() -> Int {
    while count.read() > 1 {
      let first = head.read()
      let next = nexts[first].exchange(-1)
      if next < 0 { continue }
      if head.compareExchange(first, next) {
        count.addAtomically(-1)
        return first
      }
      nexts[first].exchange(next)
    }
    return -1
  }

  func push(_ element: Int) {
    while true {
      let first = head.read()
      nexts[element].write(first)
      if head.compareExchange(first, element) { break }
    }
    count.addAtomically(1)
  }
}
