// The queue for the write lock between processes, which keeps the order in which they came. It
// decides nothing: whoever locks the write byte writes.
//
// A waiter draws a ticket, shows it in its slot and announces itself by a bit. The one with the
// lowest ticket comes forward: it tries the write byte whenever the lock was given up, and from
// time to time, as the dead give up nothing. The others look whether it does. When the lock stays
// free and the first one does not take it, it is dead, or it was stopped (a signal, a debugger, a
// freezer): another waiter takes the ticket out of its slot, and with it its turn. It notices when
// it goes on, and draws a new ticket.
package import Platform

extension LockFile {
  /// Draws tickets until the lock is this process's.
  @inline(never)
  func queueForWriteLock(
    _ table: LockTable, _ onLongWait: (String) -> Void
  ) throws(StorageError) {
    let own = table.slot(slot) + SlotWord.ticket
    defer {
      own.pointee.store(0, ordering: .sequentiallyConsistent)
      words[HeaderWord.waiting].bitwiseAnd(~ownBit, ordering: .sequentiallyConsistent)
      // On an error the others need not wait for it; else they wait for the lock.
      if !isWriter { wakeFirstWaiter(table) }
    }
    var patience = Patience(now: queueClock.nanoseconds())
    while true {
      // After the announcements, and before the attempt: what is given up from here on changes it.
      let ticket = announce(own)
      let seen = words[HeaderWord.handOvers].load(ordering: .sequentiallyConsistent)
      let first = firstWaiter(before: ticket, table)
      if first == nil, try tryBytes(table) { return }
      if let first, try mustPass(first, seen, &patience, table) {
        pass(first, table)
        continue
      }
      let now = queueClock.nanoseconds()
      if let writer = try patience.longWait(now, { () throws(StorageError) in try writer(table) }) {
        onLongWait(writer)
      }
      waitForChange(
        of: words + HeaderWord.handOvers, from: seen, nanoseconds: patience.interval(now),
        bits: Self.bit(of: slot))
    }
  }

  /// By what the process of a slot is woken; two of them share a bit.
  private static func bit(of slot: Int) -> UInt32 { 1 << UInt32(slot % 32) }

  /// Shows the ticket, or a new one when it was passed by.
  private func announce(_ own: LockWord) -> UInt64 {
    var ticket = own.pointee.load(ordering: .sequentiallyConsistent)
    if ticket == 0 {
      // Relaxed: a number without a meaning for other memory.
      ticket = words[HeaderWord.nextTicket].addWrapping(1, ordering: .relaxed).oldValue
      own.pointee.store(ticket, ordering: .sequentiallyConsistent)
    }
    // Each time: who passed the last ticket by takes the bit away a moment later.
    if words[HeaderWord.waiting].load(ordering: .sequentiallyConsistent) & ownBit == 0 {
      words[HeaderWord.waiting].bitwiseOr(ownBit, ordering: .sequentiallyConsistent)
    }
    return ticket
  }

  /// Another waiter whose turn it is.
  private struct Waiter: Equatable {
    let slot: Int
    let ticket: UInt64
  }

  /// The waiter with the lowest ticket, if that is below the own one.
  private func firstWaiter(before ticket: UInt64, _ table: LockTable) -> Waiter? {
    var first: Waiter?
    for slot in SlotSet(bits: waitingSlots) {
      let other = (table.slot(slot) + SlotWord.ticket).pointee.load(
        ordering: .sequentiallyConsistent)
      if other != 0, other < first?.ticket ?? ticket { first = Waiter(slot: slot, ticket: other) }
    }
    return first
  }

  /// Whether the first waiter is dead, or has left a free lock lying for long.
  private func mustPass(
    _ first: Waiter, _ seen: UInt64, _ patience: inout Patience, _ table: LockTable
  ) throws(StorageError) -> Bool {
    if try !table.isAlive(first.slot) { return true }
    guard try isWriteLockFree(table) else {
      patience.isTaken()
      return false
    }
    return patience.isFree(for: first.ticket, seen, now: queueClock.nanoseconds())
  }

  private func pass(_ first: Waiter, _ table: LockTable) {
    let (isPassed, _) = (table.slot(first.slot) + SlotWord.ticket).pointee.compareExchange(
      expected: first.ticket, desired: 0, ordering: .acquiringAndReleasing)
    guard isPassed else { return }
    words[HeaderWord.waiting].bitwiseAnd(
      ~(1 << UInt64(first.slot)), ordering: .sequentiallyConsistent)
    wakeFirstWaiter(table)
  }

  /// Tells the first of those who wait that the lock was given up, or that it is the first now.
  func wakeFirstWaiter(_ table: LockTable) {
    // Sequentially consistent: who announces itself later finds what was given up.
    guard waitingSlots != 0 else { return }
    words[HeaderWord.handOvers].addWrapping(1, ordering: .sequentiallyConsistent)
    // Others look by themselves, now and then, whether it comes.
    let bits = firstWaiter(before: .max, table).map { Self.bit(of: $0.slot) } ?? .max
    wake(waitingFor: words + HeaderWord.handOvers, bits: bits)
  }

  // MARK: - For people

  /// Which other process has the write lock, as in `process 'server' (412), which is stopped`; nil
  /// when none has it.
  package func writerDescription() throws(StorageError) -> String? {
    // Relaxed: for a text. Any thread may ask, while another one of this process has the lock.
    let isOwn = words[HeaderWord.writer].load(ordering: .relaxed) == UInt64(slot) + 1
    guard let table, !isOwn, try !isWriteLockFree(table) else { return nil }
    return try writer(table)
  }

  private func writer(_ table: LockTable) throws(StorageError) -> String {
    // Relaxed: a text.
    let slot = Int(clamping: words[HeaderWord.writer].load(ordering: .relaxed)) - 1
    guard (0..<LockLayout.slotCount).contains(slot), try table.isAlive(slot) else {
      return "another process"
    }
    return describe(slot, table)
  }

  /// The processes that wait for the write lock, in order.
  package func waiterDescriptions() -> [String] {
    guard let table else { return [] }
    let waiters = SlotSet(bits: waitingSlots).map { slot in
      Waiter(
        slot: slot,
        ticket: (table.slot(slot) + SlotWord.ticket).pointee.load(ordering: .relaxed))
    }
    return waiters.filter { $0.ticket != 0 }.sorted { $0.ticket < $1.ticket }
      .map { describe($0.slot, table) }
  }

  private func describe(_ slot: Int, _ table: LockTable) -> String {
    describeProcess((table.slot(slot) + SlotWord.process).pointee.load(ordering: .relaxed))
  }
}

/// What a waiter has seen so far, and for how long.
private struct Patience {
  /// Between two looks for what nobody tells of: a death, a stop.
  private static let intervalNanoseconds: UInt64 = 10_000_000
  private static let laterIntervalNanoseconds: UInt64 = 50_000_000
  private static let longWaitNanoseconds: UInt64 = 2_000_000_000

  private let start: UInt64
  /// The lock is free for this ticket, since then, and was not given up meanwhile.
  private var free: (ticket: UInt64, handOvers: UInt64, since: UInt64)?
  private var isReported = false

  init(now: UInt64) { start = now }

  mutating func isTaken() { free = nil }

  /// Whether the lock has been free for long for the same ticket.
  mutating func isFree(for ticket: UInt64, _ handOvers: UInt64, now: UInt64) -> Bool {
    guard let free, free.ticket == ticket, free.handOvers == handOvers else {
      self.free = (ticket, handOvers, now)
      return false
    }
    return now &- free.since > LockFile.patienceNanoseconds.load(ordering: .relaxed)
  }

  /// Once, after a long wait.
  mutating func longWait(
    _ now: UInt64, _ writer: () throws(StorageError) -> String
  ) throws(StorageError) -> String? {
    guard !isReported, free == nil, now &- start > Self.longWaitNanoseconds else { return nil }
    isReported = true
    return try writer()
  }

  func interval(_ now: UInt64) -> UInt64 {
    // A death is to be noticed soon, but a long transaction is no reason to look a hundred times a
    // second.
    now &- start < 1_000_000_000 ? Self.intervalNanoseconds : Self.laterIntervalNanoseconds
  }
}

extension LockFile {
  /// For how long the lock may lie free before the first waiter is passed by.
  ///
  /// Longer where tests insist on the order.
  package static let patienceNanoseconds = Atomic<UInt64>(250_000_000)

  /// Real time, whatever clock the pins have.
  private var queueClock: MonotonicClock { MonotonicClock() }
}
