// The suite's programs of a few lines: assertions that hold in most schedules, deadlocks.
internal import RaceHunt

extension SuiteProgram {
  static let smallPrograms =
    [
      SuiteProgram("CS.account_bad", "the balance is checked with the withdrawal counted twice") {
        let lock = Lock("account")
        let balance = Variable(10, "balance")
        let (isDeposited, isWithdrawn) = (Variable(0, "is deposited"), Variable(0, "is withdrawn"))
        runThreads([
          (
            "deposit",
            {
              lock.lock()
              balance.change(by: 5)
              isDeposited.write(1)
              lock.unlock()
            }
          ),
          (
            "withdraw",
            {
              lock.lock()
              balance.change(by: -3)
              isWithdrawn.write(1)
              lock.unlock()
            }
          ),
          (
            "checker",
            {
              lock.lock()
              if isDeposited.read() == 1 && isWithdrawn.read() == 1 {
                let seen = balance.read()
                check(seen == 10 + 5 - 3 - 3, "the balance is \(seen)")
              }
              lock.unlock()
            }
          ),
        ])
      },
      SuiteProgram("CS.arithmetic_prog_bad", "a sum handed from thread to thread is off by one") {
        let channel = Channel<Int>(capacity: 1, name: "numbers")
        let total = Variable(0, "total")
        runThreads([
          ("producer", { for number in 1...4 { channel.send(number) } }),
          (
            "consumer",
            {
              for _ in 1...4 {
                let number = channel.receive()!
                total.change(by: number)
              }
            }
          ),
        ])
        check(total.read() == 4 * 5 / 2 - 1, "the total is \(total.read())")
      },
      SuiteProgram("CS.bluetooth_driver_bad", "a device is used after the driver has stopped") {
        let isStopping = Variable(0, "is stopping")
        let isStopped = Variable(0, "is stopped")
        let pending = Variable(1, "pending calls")
        let stopEvent = Variable(0, "stop event")
        @Sendable func release() {
          pending.addAtomically(-1)
          if pending.read() == 0 { stopEvent.write(1) }
        }
        let stopper = Thread.start(name: "stopper") {
          isStopping.write(1)
          release()
          if stopEvent.read() == 1 { isStopped.write(1) }
        }
        if isStopping.read() == 0 {
          // Between both: the whole stop.
          pending.addAtomically(1)
          check(isStopped.read() == 0, "the device is used after the stop")
          release()
        }
        stopper.join()
      },
      SuiteProgram("CS.carter01_bad", "the first of each kind takes a lock that others free") {
        let (counts, resource) = (Lock("counts"), Lock("resource"))
        let (readers, writers) = (Variable(0, "readers"), Variable(0, "writers"))
        @Sendable func use(_ count: Variable) {
          counts.lock()
          count.change(by: 1)
          if count.read() == 1 { resource.lock() }
          counts.unlock()
          counts.lock()
          count.change(by: -1)
          if count.read() == 0 { resource.unlock() }
          counts.unlock()
        }
        runThreads([
          ("reader", { use(readers) }), ("writer", { use(writers) }),
          (
            "third",
            {
              counts.lock(); counts.unlock()
            }
          ),
          (
            "fourth",
            {
              counts.lock(); counts.unlock()
            }
          ),
        ])
      },
      SuiteProgram("CS.circular_buffer_bad", "a receiver counts rounds in which it gets nothing") {
        let lock = Lock("buffer")
        let slots = (0..<4).map { Variable(0, "slot \($0)") }
        let (first, next) = (Variable(0, "first"), Variable(0, "next"))
        let (sends, receives) = (Variable(1, "may send"), Variable(0, "may receive"))
        runThreads([
          (
            "sender",
            {
              for number in 1...3 {
                lock.lock()
                if sends.read() == 1 {
                  slots[next.read() % 4].write(number)
                  next.change(by: 1)
                  sends.write(0)
                  receives.write(1)
                }
                lock.unlock()
              }
            }
          ),
          (
            "receiver",
            {
              for number in 1...3 {
                lock.lock()
                if receives.read() == 1 {
                  let seen = slots[first.read() % 4].read()
                  check(seen == number, "received \(seen) in round \(number)")
                  first.change(by: 1)
                  receives.write(0)
                  sends.write(1)
                }
                lock.unlock()
              }
            }
          ),
        ])
      },
      SuiteProgram("CS.deadlock01_bad", "two locks are taken in two orders") {
        let (first, second) = (Lock("first"), Lock("second"))
        let counter = Variable(1, "counter")
        runThreads([
          (
            "adder",
            {
              first.lock()
              second.lock()
              counter.change(by: 1)
              second.unlock()
              first.unlock()
            }
          ),
          (
            "taker",
            {
              second.lock()
              first.lock()
              counter.change(by: -1)
              first.unlock()
              second.unlock()
            }
          ),
        ])
      },
    ] + (2...7).map(diningPhilosophers) + [
      SuiteProgram("CS.fsbench_bad", "the last of 27 threads finds none of 26 blocks free") {
        let (inodes, blocks) = (32, 26)
        let isBusy = (0..<blocks).map { Mutex(false, name: "block \($0)") }
        runThreads(27, "thread") { number in
          var block = (number % inodes) * 2 % blocks
          for _ in 0..<blocks {
            let isTaken = isBusy[block].withLock { busy in
              defer { busy = true }
              return !busy
            }
            if isTaken { return }
            block = (block + 1) % blocks
          }
          check(false, "no block is left for thread \(number)")
        }
      },
      SuiteProgram("CS.lazy01_bad", "the third thread assumes that it comes before the others") {
        let lock = Lock("lock")
        let sum = Variable(0, "sum")
        runThreads(3, "thread") { number in
          lock.lock()
          if number < 3 {
            sum.change(by: number)
          } else {
            check(sum.read() < 3, "the sum is \(sum.read())")
          }
          lock.unlock()
        }
      },
      SuiteProgram("CS.queue_bad", "the reader expects the rounds of the writer") {
        let lock = Lock("queue")
        let stored = Mutex<[Int]>([], name: "stored")
        let (enqueues, dequeues) = (Variable(1, "may enqueue"), Variable(0, "may dequeue"))
        runThreads([
          (
            "writer",
            {
              for number in 1...4 {
                lock.lock()
                if enqueues.read() == 1 {
                  stored.withLock { $0.append(number) }
                  enqueues.write(0)
                  dequeues.write(1)
                }
                lock.unlock()
              }
            }
          ),
          (
            "reader",
            {
              for number in 1...4 {
                lock.lock()
                if dequeues.read() == 1 {
                  let seen = stored.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
                  check(seen == number, "dequeued \(seen) in round \(number)")
                  dequeues.write(0)
                  enqueues.write(1)
                }
                lock.unlock()
              }
            }
          ),
        ])
      },
      SuiteProgram("CS.stack_bad", "a flag says for ever that something is on the stack") {
        let lock = Lock("stack")
        let count = Variable(0, "count")
        let hasAny = Variable(0, "has any")
        runThreads([
          (
            "pusher",
            {
              for _ in 1...10 {
                lock.lock()
                count.change(by: 1)
                hasAny.write(1)
                lock.unlock()
              }
            }
          ),
          (
            "popper",
            {
              for _ in 1...10 {
                lock.lock()
                if hasAny.read() == 1 {
                  let seen = count.read()
                  check(seen > 0, "the stack is empty")
                  count.write(seen - 1)
                }
                lock.unlock()
              }
            }
          ),
        ])
      },
      SuiteProgram("CS.token_ring_bad", "who looks at all numbers sees the ring half turned") {
        let lock = Lock("ring")
        let numbers = [1, 2, 1].enumerated().map { Variable($1, "number \($0 + 1)") }
        let turns = Variable(0, "turns")
        @Sendable func locked(_ body: @Sendable () -> Void) {
          lock.lock()
          body()
          lock.unlock()
        }
        @Sendable func turn(_ body: @Sendable () -> Void) {
          locked {
            body()
            turns.change(by: 1)
          }
        }
        runThreads([
          ("first", { turn { numbers[0].write((numbers[2].read() + 1) % 4) } }),
          ("second", { turn { numbers[1].write(numbers[0].read()) } }),
          ("third", { turn { numbers[2].write(numbers[1].read()) } }),
          (
            "checker",
            {
              locked {
                guard turns.read() == 3 else { return }
                let seen = numbers.map { $0.read() }
                check(seen[0] == seen[1] && seen[1] == seen[2], "the ring holds \(seen)")
              }
            }
          ),
        ])
      },
    ]

  private static func diningPhilosophers(_ count: Int) -> SuiteProgram {
    SuiteProgram("CS.din_phil\(count)_sat", "\(count) philosophers take the left fork first") {
      let forks = (0..<count).map { Lock("fork \($0)") }
      runThreads(count, "philosopher") { number in
        let (left, right) = (number - 1, number % count)
        forks[left].lock()
        forks[right].lock()
        forks[right].unlock()
        forks[left].unlock()
      }
    }
  }
}
