// Programs that keep versions of data, a log and transactions, each wrong in one order of steps.
internal import RaceHunt

extension HuntScenario {
  static let versionScenarios = [
    HuntScenario("published-after-unlock", "gives the lock back before it shows the new version") {
      hasBug in
      {
        let newest = Atomic(0, name: "newest")
        let lock = Mutex(0, name: "last version")
        let writers = (1...2).map { number in
          Thread.start(name: "writer \(number)") {
            lock.lock()
            lock.value += 1
            let version = lock.value
            if !hasBug { newest.store(version) }
            lock.unlock()
            // Another one may have shown a newer version meanwhile.
            if hasBug { newest.store(version) }
          }
        }
        for writer in writers { writer.join() }
        let seen = newest.load()
        check(seen == 2, "the newest version is \(seen) after two commits")
      }
    },
    HuntScenario("head-in-two-reads", "reads a version's number and its root one after the other") {
      hasBug in
      {
        let (version, root) = (Atomic(1, name: "version"), Atomic(10, name: "root"))
        let writer = Thread.start(name: "writer") {
          for next in 2...3 {
            root.store(next * 10)
            version.store(next)
          }
        }
        let reader = Thread.start(name: "reader") {
          while true {
            let number = version.load()
            let seen = root.load()
            // The root is set first: it may be the next version's.
            if !hasBug && (version.load() != number || seen != number * 10) {
              Thread.yield()
              continue
            }
            check(seen == number * 10, "version \(number) has the root \(seen)")
            return
          }
        }
        writer.join()
        reader.join()
      }
    },
    HuntScenario("flag-set-too-late", "looks at the other's flag before it sets its own") {
      hasBug in
      {
        let wants = (0...1).map { Atomic(false, name: "\($0) wants") }
        let inside = Atomic(0, name: "inside")
        let threads = (0...1).map { number in
          Thread.start(name: "thread \(number)") {
            if !hasBug { wants[number].store(true) }
            let isFree = !wants[1 - number].load()
            // What a missing fence allows, spelled out.
            if hasBug { wants[number].store(true) }
            if isFree {
              let others = inside.add(1).oldValue
              check(others == 0, "both are inside")
              inside.add(-1)
            }
            wants[number].store(false)
          }
        }
        for thread in threads { thread.join() }
      }
    },
    HuntScenario("stolen-transaction", "a cancelled waiter is given the lock all the same") {
      hasBug in
      {
        // 0 waits, 1 was given the lock, 2 has given up.
        let state = Atomic(0, name: "waiter")
        let owners = Atomic(0, name: "owners")
        let releaser = Thread.start(name: "releaser") {
          if hasBug {
            if state.load() == 0 {
              state.store(1)
              return
            }
          } else if state.compareExchange(expected: 0, desired: 1).exchanged {
            return
          }
          owners.add(1)
        }
        let waiter = Thread.start(name: "waiter") {
          if hasBug {
            if state.load() == 0 {
              state.store(2)
              return
            }
          } else if state.compareExchange(expected: 0, desired: 2).exchanged {
            return
          }
          owners.add(1)
        }
        releaser.join()
        waiter.join()
        // Given to the waiter, or, when it has given up first, to the next one.
        check(owners.load() == 1, "\(owners.load()) own the transaction")
      }
    },
    HuntScenario("reference-resolved-twice", "two threads resolve a reference that is for one") {
      hasBug in
      {
        let state = Mutex(false, name: "is resolved")
        let results = Atomic(0, name: "results")
        let threads = (1...3).map { number in
          Thread.start(name: "resolver \(number)") {
            if hasBug {
              if state.withLock({ $0 }) { return }
              state.withLock { $0 = true }
            } else {
              let isFirst = state.withLock { isResolved in
                defer { isResolved = true }
                return !isResolved
              }
              if !isFirst { return }
            }
            results.add(1)
          }
        }
        for thread in threads { thread.join() }
        check(results.load() == 1, "resolved \(results.load()) times")
      }
    },
    HuntScenario("observer-after-end", "calls an observer that another thread has ended") {
      hasBug in
      {
        let observers = Mutex([1], name: "observers")
        let hasEnded = Atomic(false, name: "has ended")
        let calls = Mutex((), name: "calls")
        let notifier = Thread.start(name: "notifier") {
          if hasBug {
            let copy = observers.withLock { $0 }
            for _ in copy { check(!hasEnded.load(), "the observer is called after its end") }
          } else {
            calls.withLock { _ in
              for _ in observers.withLock({ $0 }) {
                check(!hasEnded.load(), "the observer is called after its end")
              }
            }
          }
        }
        let owner = Thread.start(name: "owner") {
          observers.withLock { $0 = [] }
          // The end waits for a call that goes on.
          if hasBug { hasEnded.store(true) } else { calls.withLock { _ in hasEnded.store(true) } }
        }
        notifier.join()
        owner.join()
      }
    },
    HuntScenario("unfair-queue", "who comes later is served first") { hasBug in
      {
        let waiting = Mutex<[Int]>([], name: "waiting")
        let tickets = Atomic(0, name: "tickets")
        let served = Mutex<[Int]>([], name: "served")
        let comers = (1...3).map { number in
          Thread.start(name: "comer \(number)") {
            waiting.withLock { $0.append(tickets.add(1).oldValue) }
          }
        }
        let server = Thread.start(name: "server") {
          var count = 0
          while count < 3 {
            let next = waiting.withLock { waiting -> Int? in
              if waiting.isEmpty { return nil }
              return hasBug ? waiting.removeLast() : waiting.removeFirst()
            }
            guard let next else {
              Thread.yield()
              continue
            }
            served.withLock { $0.append(next) }
            count += 1
          }
        }
        for comer in comers { comer.join() }
        server.join()
        let order = served.value
        // Overtaken by both others: it would starve behind more of them.
        check(
          order != [1, 2, 0] && order != [2, 1, 0], "the first comer is served last: \(order)")
      }
    },
    HuntScenario("hazard-slot-left", "leaves what it protects protected when it has to look again")
    {
      hasBug in
      {
        let newest = Atomic(1, name: "newest")
        let slots = (0..<2).map { Atomic(0, name: "slot \($0)") }
        let reader = Thread.start(name: "reader") {
          for slot in slots {
            let seen = newest.load()
            slot.store(seen)
            if newest.load() == seen {
              slot.store(0)
              return
            }
            // Goes on with the next slot.
            if !hasBug { slot.store(0) }
          }
        }
        newest.store(2)
        reader.join()
        let left = slots.map { $0.load() }
        check(left == [0, 0], "slots are left at \(left): nothing there is ever freed")
      }
    },
    HuntScenario("log-tail-over-a-gap", "shows the log up to an entry before which one is missing")
    {
      hasBug in
      {
        let entries = (0..<3).map { Atomic(0, name: "entry \($0)") }
        let (reserved, tail) = (Atomic(0, name: "reserved"), Atomic(0, name: "tail"))
        let writers = (1...2).map { number in
          Thread.start(name: "writer \(number)") {
            let position = reserved.add(1).oldValue
            entries[position].store(1)
            if hasBug {
              if tail.load() < position + 1 { tail.store(position + 1) }
            } else {
              while tail.load() < position { Thread.yield() }
              tail.store(position + 1)
            }
          }
        }
        let reader = Thread.start(name: "reader") {
          let end = tail.load()
          for position in 0..<end {
            check(entries[position].load() == 1, "entry \(position) of \(end) is not written")
          }
        }
        for writer in writers { writer.join() }
        reader.join()
      }
    },
    HuntScenario("follower-left-behind", "joins a group whose leader has counted already") {
      hasBug in
      {
        let group = Mutex<[Int]>([], name: "group")
        let isDone = (0..<3).map { Atomic(false, name: "\($0) is done") }
        let hasLeader = Atomic(false, name: "has a leader")
        let committers = (0..<3).map { number in
          Thread.start(name: "committer \(number)") {
            group.withLock { $0.append(number) }
            while !isDone[number].load() {
              if hasLeader.exchange(true) {
                if hasBug {
                  // There is a leader: it will do it. Or it has just looked for the last time.
                  return
                }
                Thread.yield()
                continue
              }
              let taken = group.withLock { group in
                defer { group = [] }
                return group
              }
              for member in taken { isDone[member].store(true) }
              hasLeader.store(false)
            }
          }
        }
        for committer in committers { committer.join() }
        for (number, done) in isDone.enumerated() {
          check(done.load(), "the commit of \(number) is never done")
        }
      }
    },
    HuntScenario("recycled-slot", "checks a slot's generation and uses it afterwards") { hasBug in
      {
        let generation = Atomic(1, name: "generation")
        let content = Atomic(100, name: "content")
        let user = Thread.start(name: "user") {
          let isOurs = generation.load() == 1
          let seen = content.load()
          let isStillOurs = hasBug ? isOurs : isOurs && generation.load() == 1
          if isStillOurs { check(seen == 100, "the slot of generation 1 holds \(seen)") }
        }
        generation.store(2)
        content.store(200)
        user.join()
      }
    },
    HuntScenario(
      "two-epochs-late", "announces the epoch in which it reads after it has looked at it"
    ) {
      hasBug in
      {
        let epoch = Atomic(2, name: "epoch")
        let announced = Atomic(0, name: "announced")
        let freedBefore = Atomic(0, name: "freed before")
        let reader = Thread.start(name: "reader") {
          while true {
            let current = epoch.load()
            announced.store(current)
            if !hasBug && epoch.load() != current { continue }
            check(freedBefore.load() <= current, "what epoch \(current) reads is freed")
            announced.store(0)
            return
          }
        }
        let collector = Thread.start(name: "collector") {
          for _ in 1...3 {
            let oldest = announced.load()
            let next = epoch.load() + 1
            if oldest != 0 && oldest < next - 1 { return }
            epoch.store(next)
            // Two epochs back nobody reads any more.
            let unread = announced.load()
            freedBefore.store(unread == 0 ? next - 1 : min(unread, next - 1))
          }
        }
        reader.join()
        collector.join()
      }
    },
  ]
}
