// What failures say: where a hang is, which rows a table has, and what a schedule does not fit.
import RaceHunt
import TestSupport
import Testing

/// A lock of the machine, which no schedule sees.
private final class Outside: @unchecked Sendable {
  // @unchecked: the lock itself is made for threads.
  let lock = Foundation.NSLock()
}

@Suite(.ownThreads) struct ReportTests {
  @Test func aHangSaysWhereItIs() throws {
    var settings = Explorer.Settings()
    settings.patience = 2_000_000_000
    settings.strategy = .depthFirst(preemptions: 2)
    let explorer = Explorer(
      {
        let (outside, word) = (Outside(), Atomic(0, name: "word"))
        let holder = Thread.start(name: "holder") {
          outside.lock.lock()
          word.store(1)
          outside.lock.unlock()
        }
        let other = Thread.start(name: "other") {
          outside.lock.lock()
          outside.lock.unlock()
        }
        holder.join()
        other.join()
      }, settings)
    let found = #expect(throws: RaceFailure.self) { try explorer.explore() }
    #expect(found?.kind == .hang)
    #expect(found?.reason.hasPrefix("hangs: other has not come to a point for 2.0 s") == true)
    #expect(found?.table.contains("starts holder") == true, "\(found?.description ?? "")")
    #expect(found?.schedule.isEmpty == false)
  }

  @Test func theTableShowsTheTurnsOfTheSchedule() throws {
    let found = try #require(
      failure(iterations: 3_000) {
        let word = Atomic(0, name: "word")
        let threads = (0..<30).map { number in
          Thread.start(name: "worker number \(number)") {
            if number > 27 { word.store(word.load() + 1) } else { word.add(1) }
          }
        }
        for thread in threads { thread.join() }
        check(word.load() == 30, "two\nlines")
      })
    #expect(found.reason == "two\nlines")
    #expect(found.table.contains("stores word"), "\(found)")
    #expect(found.table.contains("FAILS: two / lines"))
    #expect(found.table.split(separator: "\n").allSatisfy { $0.count < 300 }, "\(found)")
  }

  @Test func whatIsNotUnderControlIsNamedAtTheEnd() throws {
    let found = try #require(
      failure {
        let word = Atomic(0, name: "word")
        let thread = Foundation.Thread { word.store(1) }
        thread.start()
        while !thread.isFinished { Glibc.usleep(100) }
        check(word.load() == 0, "the word is set")
      })
    #expect(found.reason == "the word is set")
    #expect(found.description.contains("not under control: another thread uses an Atomic at"))
  }

  /// Its users do not know what it calls.
  @Test func foundationsOperationQueuesAreNamedAtTheEnd() throws {
    @Sendable func operate() {
      let queue = Foundation.OperationQueue()
      queue.addOperation {}
      queue.waitUntilAllOperationsAreFinished()
    }
    let found = try #require(
      failure {
        operate()
        check(false, "it fails")
      })
    #expect(
      found.description.contains(
        "not under control: the program calls dispatch_async, as OperationQueue does"))
  }

  @Test func aStuckTaskIsMadeSmallerAndNamed() throws {
    let found = try #require(
      failure(strategy: .randomWalk) {
        let isSet = Atomic(false, name: "is set")
        let threads = (0..<4).map { _ in Thread.start { isSet.store(isSet.load()) } }
        for thread in threads { thread.join() }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      })
    #expect(found.kind == .stuckTask)
    #expect(found.turns == 0, "\(found)")
    #expect(found.reason.contains("program is at step"), "\(found)")
  }

  @Test func aNotificationOfOnesOwnIsNotLost() throws {
    let found = try #require(
      failure {
        let condition = NSCondition()
        let waiter = Thread.start(name: "waiter") {
          condition.lock()
          condition.broadcast()
          condition.wait()
          condition.unlock()
        }
        waiter.join()
      })
    #expect(found.kind == .deadlock, "\(found)")
  }

  @Test(arguments: ["7439611e:1>9", "7439611e:5000>1"])
  func aScheduleThatDoesNotFitFails(schedule: String) throws {
    let found = #expect(throws: RaceFailure.self) {
      try replay(schedule) {
        let word = Atomic(0)
        let threads = (0..<2).map { _ in Thread.start { word.add(1) } }
        for thread in threads { thread.join() }
      }
    }
    #expect(found?.reason.hasPrefix("the schedule does not fit: ") == true)
  }

  @Test func timesOfTheCalendarAreVirtual() throws {
    try explore(iterations: 50) {
      let semaphore = DispatchSemaphore(value: 0)
      let (queue, group) = (DispatchQueue(label: "queue"), DispatchGroup())
      queue.asyncAfter(wallDeadline: .now() + 1_000) { semaphore.signal() }
      check(semaphore.wait(wallTimeout: .now() + 2_000) == .success)
      group.enter()
      check(group.wait(wallTimeout: .now() + 1_000) == .timedOut)
      group.leave()
      _ = (queue.qos, DispatchTime.now().rawValue)
    }
  }
}
