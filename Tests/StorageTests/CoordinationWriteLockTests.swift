// The write lock between processes: one holder, in the order of arrival, free when its holder dies.
internal import Glibc
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CoordinationWriteLockTests {
  let fixture = LockFixture()

  @Test func oneAtATime() throws {
    let first = try fixture.open()
    let second = try fixture.open()
    #expect(try first.tryAcquireWriteLock())
    #expect(first.wasHeldByAnother)
    #expect(try !second.tryAcquireWriteLock())
    first.publishCommitted(version: Version(1), home: 0)
    #expect(!first.wasHeldByAnother)
    first.releaseWriteLock()
    try first.acquireWriteLock()
    #expect(!first.wasHeldByAnother)
    first.releaseWriteLock()
    try second.acquireWriteLock()
    #expect(second.wasHeldByAnother)
    second.releaseWriteLock()
    try first.acquireWriteLock()
    #expect(first.wasHeldByAnother)
    first.releaseWriteLock()
    // A new opening is another one, though it gets the same slot.
    second.close()
    let third = try fixture.open()
    try third.acquireWriteLock()
    #expect(third.wasHeldByAnother)
    third.releaseWriteLock()
  }

  @Test func waitersAreCountedAndServedInOrder() throws {
    // A busy machine may keep a waiter from coming forward for long.
    LockFile.patienceNanoseconds.store(60_000_000_000, ordering: .relaxed)
    defer { LockFile.patienceNanoseconds.store(250_000_000, ordering: .relaxed) }
    let holder = try fixture.open()
    try holder.acquireWriteLock()
    #expect(!holder.otherProcessesWait)
    let order = Monitor<[Int]>([])
    var threads: [Thread] = []
    for number in 1...6 {
      let waiter = try fixture.open()
      threads.append(
        Thread.start(name: "waiter") {
          do {
            try waiter.acquireWriteLock()
          } catch {
            Issue.record(error)
            return
          }
          order.withLock { $0.append(number) }
          waiter.releaseWriteLock()
        })
      try fixture.waitForTicket(UInt64(number))
      #expect(holder.otherProcessesWait)
    }
    // The holder must not pass those who wait.
    holder.releaseWriteLock()
    try holder.acquireWriteLock()
    let served = order.withLock { $0 }
    #expect(served == [1, 2, 3, 4, 5, 6])
    #expect(!holder.otherProcessesWait)
    holder.releaseWriteLock()
    threads.forEach { $0.joinInTime() }
  }

  @Test func triesDoNotPassThoseWhoWait() throws {
    let holder = try fixture.open()
    let waiter = try fixture.open()
    let third = try fixture.open()
    try holder.acquireWriteLock()
    let isServed = Monitor(false)
    let mayRelease = Monitor(false)
    let thread = Thread.start(name: "waiter") {
      try? waiter.acquireWriteLock()
      isServed.withLock { $0 = true }
      isServed.notifyAll()
      mayRelease.waitInTime(for: "leave to release") { $0 }
      waiter.releaseWriteLock()
    }
    #expect(eventually { third.otherProcessesWait })
    #expect(try !third.tryAcquireWriteLock())
    holder.releaseWriteLock()
    isServed.waitInTime(for: "the lock") { $0 }
    #expect(try !third.tryAcquireWriteLock())
    mayRelease.withLock { $0 = true }
    mayRelease.notifyAll()
    thread.joinInTime()
    #expect(try third.tryAcquireWriteLock())
    third.releaseWriteLock()
  }

  @Test func theLockOfTheDeadIsFree() throws {
    let (holder, process) = try fixture.openMortal()
    let waiter = try fixture.open()
    try holder.acquireWriteLock()
    let thread = Thread.start(name: "waiter") {
      do { try waiter.acquireWriteLock() } catch { Issue.record(error) }
    }
    try fixture.waitForTicket(1)
    process.kill()
    thread.joinInTime()
    #expect(waiter.wasHeldByAnother)
    waiter.releaseWriteLock()
  }

  @Test func aDeadWaiterIsPassed() throws {
    let holder = try fixture.open()
    let (dead, process) = try fixture.openMortal()
    let waiter = try fixture.open()
    try holder.acquireWriteLock()
    let first = Thread.start(name: "dead") { try? dead.acquireWriteLock() }
    try fixture.waitForTicket(1)
    let second = Thread.start(name: "waiter") {
      do {
        try waiter.acquireWriteLock()
        waiter.releaseWriteLock()
      } catch {
        Issue.record(error)
      }
    }
    try fixture.waitForTicket(2)
    process.kill()
    holder.releaseWriteLock()
    second.joinInTime()
    first.joinInTime()
    // Nobody waits, once the dead are looked for.
    var state = ForeignPinState()
    _ = try holder.foreignPins(since: &state, reapNow: true)
    #expect(!holder.otherProcessesWait)
    #expect(try holder.tryAcquireWriteLock())
    holder.releaseWriteLock()
  }

  /// That nobody passes a waiter is `waitersAreCountedAndServedInOrder`; here, that all get on.
  @Test func manyExcludeEachOther() throws {
    let openings = try (0..<4).map { _ in try fixture.open() }
    let turns = 300
    let inside = Atomic<Int>(0)
    let violations = Atomic<Int>(0)
    // All of them queue before the first one goes.
    let holder = try fixture.open()
    try holder.acquireWriteLock()
    let threads = openings.map { opening in
      Thread.start(name: "writer") {
        do {
          for _ in 0..<turns {
            try opening.acquireWriteLock()
            let before = inside.add(1, ordering: .relaxed).oldValue
            if before != 0 { violations.add(1, ordering: .relaxed) }
            // Not atomic: a load and a store.
            let committed = opening.committed.version
            opening.publishCommitted(version: committed.next, home: 0)
            inside.subtract(1, ordering: .relaxed)
            opening.releaseWriteLock()
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    for ticket in 1...4 { try fixture.waitForTicket(UInt64(ticket)) }
    holder.releaseWriteLock()
    threads.forEach { $0.joinInTime() }
    #expect(violations.load(ordering: .relaxed) == 0)
    #expect(holder.committed.version == Version(UInt64(4 * turns)))
  }

  /// A lock that the system will not release is an error for who holds it, until it can be
  /// released; it used to stop the process.
  @Test func anUnlockThatFails() throws {
    let faults = FaultFileSystem(LinuxFileSystem(), process: 5)
    let first = try fixture.open(fileSystem: faults)
    let second = try fixture.open()
    try first.acquireWriteLock()
    faults.failAll(.unlockByte, code: ENOLCK)
    first.releaseWriteLock()
    #expect(throws: StorageError.self) { try first.tryAcquireWriteLock() }
    #expect(try !second.tryAcquireWriteLock())
    faults.clearFaults()
    #expect(try first.tryAcquireWriteLock())
    first.releaseWriteLock()
    #expect(try second.tryAcquireWriteLock())
    second.releaseWriteLock()
    // The end of the process, or of its file, releases what nothing else has.
    try first.acquireWriteLock()
    faults.failAll(.unlockByte, code: ENOLCK)
    first.releaseWriteLock()
    first.close()
  }
}
