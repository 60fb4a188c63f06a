// That tables say where: also for calls that have the parameters of Foundation's and Dispatch's,
// and so none for the place. Tables named only their callers before, or nothing.
import RaceHunt
import TestSupport
import Testing

/// A lock that counts.
private final class CountingLock: NSLock, @unchecked Sendable {
  // @unchecked: the count is touched only by who has the lock.
  private(set) var count = 0
  override func lock() {
    super.lock()
    count += 1
  }
}

/// Keeps a call before it from being a closure's last one, which optimized code makes a jump.
@inline(never) private func ignore(_ result: some Any) { withExtendedLifetime(result) {} }

@Suite(.ownThreads) struct PlaceTests {
  /// The last column of the rows with this text, without the file, in the program's first schedule.
  private func lines(of text: String, _ program: @escaping Program) throws -> [Int] {
    let found = try #require(
      failure {
        try await program()
        check(false, "the table is wanted")
      })
    let rows = found.table.split(separator: "\n").filter { $0.contains(text) }
    return try rows.map { row in
      let place = row.split(separator: " ").last ?? ""
      #expect(place.hasPrefix("PlaceTests.swift:"), "\(row)")
      return try #require(Int(place.split(separator: ":").last ?? ""), "\(row)")
    }
  }

  @Test func locksOfFoundationHaveLines() throws {
    let here = #line
    let found = try lines(of: " locks ") {
      let (lock, recursive, condition) = (NSLock(), NSRecursiveLock(), NSCondition())
      lock.lock()
      lock.unlock()
      lock.withLock {}
      if recursive.try() { recursive.unlock() }
      recursive.withLock { recursive.withLock {} }
      condition.withLock { condition.signal() }
      if lock.lock(before: .distantFuture) { lock.unlock() }
    }
    #expect(found == [3, 5, 6, 7, 8, 9].map { here + $0 })
    let others = try lines(of: "s condition") {
      let lock = NSConditionLock(condition: 1)
      lock.name = "condition lock"
      lock.lock(whenCondition: 1)
      lock.unlock(withCondition: 2)
    }
    #expect(others == [15, 16].map { here + $0 })
    let signals = try lines(of: " notifies ") { NSCondition().signal() }
    #expect(signals == [19].map { here + $0 })
  }

  @Test func objectsOfDispatchHaveLines() throws {
    let here = #line
    let program: Program = {
      let (queue, group) = (DispatchQueue(label: "queue"), DispatchGroup())
      let semaphore = DispatchSemaphore(value: 0)
      group.enter()
      queue.async { ignore(group.leave()) }
      queue.asyncAfter(deadline: .now() + 1) { ignore(semaphore.signal()) }
      group.wait()
      semaphore.wait()
      queue.sync {}
      let item = DispatchWorkItem {}
      item.cancel()
      queue.async(execute: item)
      item.wait()
    }
    let expected = [
      " enters group 1 ": [4], " submits ": [5, 6, 12], " leaves group 1 ": [5], " signals ": [6],
      " passes ": [8], " its turn in ": [9, 9, 9], " stores is cancelled ": [11],
      " wakes up ": [7, 13],
    ]
    for (text, lines) in expected {
      let found = try self.lines(of: text, program)
      #expect(found == lines.map { here + $0 }, "\(text)")
    }
  }

  @Test func threadsHaveLines() throws {
    let here = #line
    let program: Program = {
      let thread = Thread {}
      thread.start()
      thread.cancel()
      Thread.sleep(forTimeInterval: 1)
      usleep(1)
      sched_yield()
      thread.join()
    }
    for (text, lines) in [
      " starts ": [3], " touches ": [4], " sleeps ": [5, 6], " yields ": [7], " joins ": [8],
    ] {
      let found = try self.lines(of: text, program)
      #expect(found == lines.map { here + $0 }, "\(text)")
    }
  }

  /// What a program makes of a lock is called, whichever way it is locked.
  @Test func subclassesOfLocksAreCalled() throws {
    try explore(iterations: 20) {
      let lock = CountingLock()
      lock.withLock {}
      (lock as NSLock).lock()
      lock.unlock()
      func lockOnce(_ other: some NSLocking) { other.withLock {} }
      lockOnce(lock)
      check(lock.count == 3, "locked \(lock.count) times")
    }
  }

  /// The lines are looked up when somebody reads the table, and that is the same each time.
  @Test func tablesOfReplaysAreTheSame() throws {
    let program: Program = {
      let (left, right) = (NSLock(), NSLock())
      let thread = Thread { left.withLock { right.withLock {} } }
      thread.start()
      right.withLock { left.withLock {} }
      thread.join()
    }
    let found = try #require(failure(program))
    let again = #expect(throws: RaceFailure.self) { try replay(found.schedule, program) }
    #expect(again?.table == found.table)
    #expect(found.description.contains("PlaceTests.swift:"))
  }
}
