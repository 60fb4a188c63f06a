// Writing without system calls by a process that has the file to itself, and how it ends when
// others come.
internal import Platform
internal import Storage
internal import TestSupport
internal import Testing

@Suite(.ownThreads) struct CoordinationLoneWriterTests {
  let fixture = LockFixture()
  /// The bytes of LockLayout.swift.
  private let writeByte: Int64 = 16
  private let aloneByte: Int64 = 24

  @Test func aloneTheWriteByteIsNotLocked() throws {
    let lone = try fixture.open()
    try lone.acquireWriteLock()
    #expect(try fixture.isLocked(byte: aloneByte))
    #expect(try !fixture.isLocked(byte: writeByte))
    lone.releaseWriteLock()
    // Kept for the next transaction.
    #expect(try fixture.isLocked(byte: aloneByte))
    lone.close()
    #expect(try !fixture.isLocked(byte: aloneByte))
  }

  @Test func anIdleLoneWriterDoesNotHoldUpANewcomer() throws {
    let lone = try fixture.open()
    try lone.acquireWriteLock()
    lone.publishCommitted(version: Version(1), home: 0)
    lone.releaseWriteLock()
    let newcomer = try fixture.open()
    #expect(try newcomer.tryAcquireWriteLock())
    #expect(newcomer.wasHeldByAnother)
    #expect(try fixture.isLocked(byte: writeByte))
    #expect(try !lone.tryAcquireWriteLock())
    newcomer.releaseWriteLock()
    // It takes the common way now, and knows that somebody was there.
    try lone.acquireWriteLock()
    #expect(try fixture.isLocked(byte: writeByte))
    #expect(try !fixture.isLocked(byte: aloneByte))
    #expect(lone.wasHeldByAnother)
    lone.publishCommitted(version: Version(2), home: 0)
    lone.releaseWriteLock()
    newcomer.close()
    try lone.acquireWriteLock()
    #expect(try !fixture.isLocked(byte: writeByte))
    #expect(!lone.wasHeldByAnother)
    lone.releaseWriteLock()
  }

  @Test func aNewcomerWaitsForTheLoneWritersTransaction() throws {
    let lone = try fixture.open()
    try lone.acquireWriteLock()
    let newcomer = try fixture.open()
    #expect(try !newcomer.tryAcquireWriteLock())
    let isServed = Atomic<Bool>(false)
    let thread = Thread.start(name: "newcomer") {
      do { try newcomer.acquireWriteLock() } catch { Issue.record(error) }
      isServed.store(true, ordering: .sequentiallyConsistent)
    }
    try fixture.waitForTicket(1)
    #expect(lone.otherProcessesWait)
    let isServedEarly = isServed.load(ordering: .sequentiallyConsistent)
    #expect(!isServedEarly)
    lone.releaseWriteLock()
    thread.joinInTime()
    #expect(try !lone.tryAcquireWriteLock())
    newcomer.releaseWriteLock()
    try lone.acquireWriteLock()
    lone.releaseWriteLock()
  }

  @Test func theLockOfADeadLoneWriterIsFree() throws {
    let (lone, process) = try fixture.openMortal()
    try lone.acquireWriteLock()
    let newcomer = try fixture.open()
    let thread = Thread.start(name: "newcomer") {
      do { try newcomer.acquireWriteLock() } catch { Issue.record(error) }
    }
    try fixture.waitForTicket(1)
    process.kill()
    thread.joinInTime()
    #expect(newcomer.wasHeldByAnother)
    newcomer.releaseWriteLock()
    // Without waiting, too: the word of the dead is not believed.
    let third = try fixture.open()
    #expect(try third.tryAcquireWriteLock())
    third.releaseWriteLock()
  }

  /// Others come and go all the time, so that each writer is sometimes alone.
  @Test func comingAndGoingKeepsOneWriter() throws {
    let resident = try fixture.open()
    let turns = 400
    let inside = Atomic<Int>(0)
    let violations = Atomic<Int>(0)
    let writes = Atomic<UInt64>(0)
    @Sendable func write(_ opening: LockFile) throws {
      try opening.acquireWriteLock()
      if inside.add(1, ordering: .relaxed).oldValue != 0 { violations.add(1, ordering: .relaxed) }
      // Not atomic: a load and a store.
      opening.publishCommitted(version: opening.committed.version.next, home: 0)
      inside.subtract(1, ordering: .relaxed)
      opening.releaseWriteLock()
      writes.add(1, ordering: .relaxed)
    }
    let visitors = (0..<2).map { _ in
      Thread.start(name: "visitor") {
        do {
          for _ in 0..<turns {
            let opening = try fixture.open()
            try write(opening)
            opening.close()
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    let areGone = Atomic<Bool>(false)
    let writer = Thread.start(name: "resident") {
      do {
        // Once at least, even when the visitors are gone first.
        repeat { try write(resident) } while !areGone.load(ordering: .relaxed)
      } catch {
        Issue.record(error)
      }
    }
    visitors.forEach { $0.joinInTime() }
    areGone.store(true, ordering: .relaxed)
    writer.joinInTime()
    let found = (violations.load(ordering: .relaxed), writes.load(ordering: .relaxed))
    #expect(found.0 == 0)
    #expect(resident.committed.version == Version(found.1))
    #expect(found.1 > UInt64(2 * turns))
  }
}
