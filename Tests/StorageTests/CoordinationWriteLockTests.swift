// The write lock between processes: one holder, in the order of arrival, free when its holder dies.
internal import Glibc
internal import Platform
internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite struct CoordinationWriteLockTests {
  let fixture = LockFixture()

  @Test func oneAtATime() throws {
    let first = try fixture.open()
    let second = try fixture.open()
    #expect(try first.tryAcquireWriteLock())
    #expect(first.wasHeldByAnother)
    #expect(try !second.tryAcquireWriteLock())
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
    threads.forEach { $0.join() }
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
      mayRelease.wait(until: { $0 }, then: { _ in })
      waiter.releaseWriteLock()
    }
    while !third.otherProcessesWait { sched_yield() }
    #expect(try !third.tryAcquireWriteLock())
    holder.releaseWriteLock()
    isServed.wait(until: { $0 }, then: { _ in })
    #expect(try !third.tryAcquireWriteLock())
    mayRelease.withLock { $0 = true }
    mayRelease.notifyAll()
    thread.join()
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
    thread.join()
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
    second.join()
    first.join()
    // Nobody waits, once the dead are looked for.
    var state = ForeignPinState()
    _ = try holder.foreignPins(since: &state, reapNow: true)
    #expect(!holder.otherProcessesWait)
    #expect(try holder.tryAcquireWriteLock())
    holder.releaseWriteLock()
  }

  @Test func manyShareItFairly() throws {
    let openings = try (0..<4).map { _ in try fixture.open() }
    let total = 2000
    let inside = Atomic<Int>(0)
    let done = Atomic<Int>(0)
    let shares = Monitor<[Int]>([])
    // All of them queue before the first one goes.
    let holder = try fixture.open()
    try holder.acquireWriteLock()
    let threads = openings.map { opening in
      Thread.start(name: "writer") {
        var share = 0
        do {
          while done.load(ordering: .relaxed) < total {
            try opening.acquireWriteLock()
            let before = inside.add(1, ordering: .relaxed).oldValue
            if before != 0 { Issue.record("two writers at once") }
            share += 1
            done.add(1, ordering: .relaxed)
            inside.subtract(1, ordering: .relaxed)
            opening.releaseWriteLock()
          }
        } catch {
          Issue.record(error)
        }
        let final = share
        shares.withLock { $0.append(final) }
      }
    }
    for ticket in 1...4 { try fixture.waitForTicket(UInt64(ticket)) }
    holder.releaseWriteLock()
    threads.forEach { $0.join() }
    let final = shares.withLock { $0 }
    #expect(final.min()! > total / 8, "shares \(final)")
  }
}
