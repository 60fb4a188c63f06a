// Programs whose threads wait for each other: latches, permits, shutdowns, timers, registries.
internal import RaceHunt

extension HuntScenario {
  static let coordinationScenarios = [
    HuntScenario("latch-in-two-steps", "counts down and looks in two steps") { hasBug in
      {
        let left = Atomic(2, name: "left")
        let openings = Atomic(0, name: "openings")
        let workers = (1...2).map { number in
          Thread.start(name: "worker \(number)") {
            if hasBug {
              left.add(-1)
              // Both may see that none is left.
              if left.load() == 0 { openings.add(1) }
            } else if left.add(-1).oldValue == 1 {
              openings.add(1)
            }
          }
        }
        for worker in workers { worker.join() }
        check(openings.load() == 1, "the latch is opened \(openings.load()) times")
      }
    },
    HuntScenario("permits-as-a-flag", "two permits given at once are one") { hasBug in
      {
        let permits = Mutex(0, name: "permits")
        let hasPermits = Condition(name: "has permits")
        let takers = (1...2).map { number in
          Thread.start(name: "taker \(number)") {
            permits.lock()
            while permits.value == 0 { hasPermits.wait(permits) }
            permits.value -= 1
            permits.unlock()
          }
        }
        let givers = (1...2).map { number in
          Thread.start(name: "giver \(number)") {
            permits.lock()
            if hasBug { permits.value = 1 } else { permits.value += 1 }
            permits.unlock()
            hasPermits.notifyOne()
          }
        }
        for thread in takers + givers { thread.join() }
      }
    },
    HuntScenario("one-signal-two-kinds", "wakes one of those who wait for different things") {
      hasBug in
      {
        let buffer = Mutex(0, name: "buffer")
        let hasChanged = Condition(name: "has changed")
        @Sendable func notify() {
          if hasBug { hasChanged.notifyOne() } else { hasChanged.notifyAll() }
        }
        let producers = (1...2).map { number in
          Thread.start(name: "producer \(number)") {
            buffer.lock()
            while buffer.value == 1 { hasChanged.wait(buffer) }
            buffer.value = 1
            notify()
            buffer.unlock()
          }
        }
        let consumers = (1...2).map { number in
          Thread.start(name: "consumer \(number)") {
            buffer.lock()
            while buffer.value == 0 { hasChanged.wait(buffer) }
            buffer.value = 0
            notify()
            buffer.unlock()
          }
        }
        for thread in producers + consumers { thread.join() }
      }
    },
    HuntScenario("submitted-at-shutdown", "takes a job after the workers have looked a last time") {
      hasBug in
      {
        let isOpen = Atomic(true, name: "is open")
        let jobs = Mutex((isOpen: true, count: 0), name: "jobs")
        let done = Atomic(0, name: "done")
        let submitter = Thread.start(name: "submitter") { () in
          let isTaken: Bool
          if hasBug {
            isTaken = isOpen.load()
            if isTaken { jobs.withLock { $0.count += 1 } }
          } else {
            isTaken = jobs.withLock { jobs in
              if jobs.isOpen { jobs.count += 1 }
              return jobs.isOpen
            }
          }
          if !isTaken { done.add(1) }
        }
        let worker = Thread.start(name: "worker") {
          isOpen.store(false)
          let taken = jobs.withLock { jobs in
            jobs.isOpen = false
            defer { jobs.count = 0 }
            return jobs.count
          }
          done.add(taken)
        }
        submitter.join()
        worker.join()
        check(done.load() == 1, "a job that was taken is not run")
      }
    },
    HuntScenario("once-too-early", "comes back from 'once' while another thread is still in it") {
      hasBug in
      {
        let state = Atomic(0, name: "state")
        let value = Atomic(0, name: "value")
        let threads = (1...2).map { number in
          Thread.start(name: "user \(number)") {
            if state.compareExchange(expected: 0, desired: 1).exchanged {
              value.store(7)
              state.store(2)
            } else if !hasBug {
              while state.load() != 2 { Thread.yield() }
            }
            let seen = value.load()
            check(seen == 7, "user \(number) sees \(seen) behind 'once'")
          }
        }
        for thread in threads { thread.join() }
      }
    },
    HuntScenario("timer-after-cancel", "the timer fires after its cancellation has come back") {
      hasBug in
      {
        let isCancelled = Mutex(false, name: "is cancelled")
        let hasReturned = Atomic(false, name: "cancel has returned")
        let timer = Thread.start(name: "timer") {
          if hasBug {
            if isCancelled.withLock({ $0 }) { return }
            check(!hasReturned.load(), "fires after the cancellation")
          } else {
            isCancelled.withLock { isCancelled in
              if !isCancelled { check(!hasReturned.load(), "fires after the cancellation") }
            }
          }
        }
        isCancelled.withLock { $0 = true }
        hasReturned.store(true)
        timer.join()
      }
    },
    HuntScenario("closed-while-opening", "gives out what its last user is about to close") {
      hasBug in
      {
        let users = Mutex(1, name: "users")
        let isClosed = Atomic(false, name: "is closed")
        let closer = Thread.start(name: "closer") {
          if hasBug {
            let isLast = users.withLock { users in
              users -= 1
              return users == 0
            }
            // Between both somebody may have come.
            if isLast { isClosed.store(true) }
          } else {
            users.withLock { users in
              users -= 1
              if users == 0 { isClosed.store(true) }
            }
          }
        }
        let opener = Thread.start(name: "opener") {
          let isOpen = users.withLock { users in
            if isClosed.load() { return false }
            users += 1
            return true
          }
          if isOpen { check(!isClosed.load(), "what was just opened is closed") }
        }
        closer.join()
        opener.join()
      }
    },
    HuntScenario("reader-slips-in", "counts itself as a reader after it has looked for a writer") {
      hasBug in
      {
        let (readers, isWriting) = (Atomic(0, name: "readers"), Atomic(false, name: "is writing"))
        let (x, y) = (Atomic(0, name: "x"), Atomic(0, name: "y"))
        let reader = Thread.start(name: "reader") {
          while true {
            if hasBug {
              if isWriting.load() {
                Thread.yield()
                continue
              }
              readers.add(1)
            } else {
              readers.add(1)
              if isWriting.load() {
                readers.add(-1)
                Thread.yield()
                continue
              }
            }
            let seen = (x.load(), y.load())
            check(seen.0 == seen.1, "reads \(seen) while it is written")
            readers.add(-1)
            return
          }
        }
        isWriting.store(true)
        while readers.load() > 0 { Thread.yield() }
        x.store(1)
        y.store(1)
        isWriting.store(false)
        reader.join()
      }
    },
    HuntScenario("made-twice", "two threads make what a cache should hold once") { hasBug in
      {
        let cache = Mutex<Int?>(nil, name: "cache")
        let made = Atomic(0, name: "made")
        let users = (1...2).map { number in
          Thread.start(name: "user \(number)") {
            if hasBug {
              if cache.withLock({ $0 }) != nil { return }
              let value = made.add(1).oldValue
              cache.withLock { $0 = value }
            } else {
              cache.withLock { cache in if cache == nil { cache = made.add(1).oldValue } }
            }
          }
        }
        for user in users { user.join() }
        check(made.load() == 1, "made \(made.load()) times")
      }
    },
    HuntScenario("sum-of-moving-parts", "adds up accounts one by one while money moves") {
      hasBug in
      {
        let accounts = (0..<3).map { Mutex(100, name: "account \($0)") }
        let whole = Mutex((), name: "all accounts")
        let mover = Thread.start(name: "mover") {
          whole.withLock { _ in
            accounts[0].withLock { $0 -= 50 }
            accounts[2].withLock { $0 += 50 }
          }
        }
        let auditor = Thread.start(name: "auditor") {
          if !hasBug { whole.lock() }
          let sum = accounts.reduce(0) { $0 + $1.withLock { $0 } }
          if !hasBug { whole.unlock() }
          check(sum == 300, "the accounts hold \(sum), not 300")
        }
        mover.join()
        auditor.join()
      }
    },
    HuntScenario("removed-neighbours", "takes two neighbours out of a list without marking them") {
      hasBug in
      {
        // 0 is the head, 4 the end.
        let nexts = (0...3).map { Atomic($0 + 1, name: "next of \($0)") }
        let lock = Mutex((), name: "list")
        @Sendable func remove(_ node: Int) {
          if !hasBug { lock.lock() }
          var before = 0
          // Read once a step: what was looked at is what is gone to.
          var next = nexts[before].load()
          while next != node && next != 4 {
            before = next
            next = nexts[before].load()
          }
          let after = nexts[node].load()
          _ = nexts[before].compareExchange(expected: node, desired: after)
          if !hasBug { lock.unlock() }
        }
        let first = Thread.start(name: "first") { remove(1) }
        let second = Thread.start(name: "second") { remove(2) }
        first.join()
        second.join()
        var left: [Int] = []
        var node = nexts[0].load()
        while node != 4 {
          left.append(node)
          node = nexts[node].load()
        }
        check(left == [3], "left in the list: \(left)")
      }
    },
    HuntScenario(
      "switched-under-a-reader", "reads the head of the old file and the body of the new"
    ) {
      hasBug in
      {
        let current = Atomic(0, name: "current file")
        let heads = [Atomic(1, name: "head of 0"), Atomic(0, name: "head of 1")]
        let bodies = [Atomic(1, name: "body of 0"), Atomic(0, name: "body of 1")]
        let compactor = Thread.start(name: "compactor") {
          heads[1].store(2)
          bodies[1].store(2)
          current.store(1)
        }
        let reader = Thread.start(name: "reader") {
          let file = current.load()
          let head = heads[file].load()
          let body = bodies[hasBug ? current.load() : file].load()
          check(head == body, "head \(head) and body \(body) are of two files")
        }
        compactor.join()
        reader.join()
      }
    },
  ]
}
