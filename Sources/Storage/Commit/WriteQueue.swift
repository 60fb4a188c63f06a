// The fair write lock of one process: first come, first served among those who can run. In front of
// the lock that the process holds against other processes, which only the head of this queue
// touches.
//
// A blocked thread gets the lock handed over. An asynchronous waiter is *offered* it: the lock
// stays free until the waiter's own code runs and takes it, and a blocked thread behind it may go
// first. It must not be handed over, since the code may have no thread to run on: those that run
// tasks may all be blocked in here. Who was passed over often gets the lock kept free for a moment.
package import Platform

/// An asynchronous wait for the write lock.
package final class WriteOffer: Sendable {
  /// Says that the lock may be taken; called on any thread, and again after a take that failed.
  let offer: @Sendable () -> Void
  let place: PlaceNote
  /// It must not join the queue again; guarded by the queue.
  fileprivate let isWithdrawn = Atomic(false)

  package init(
    by place: PlaceNote = PlaceNote(.current), _ offer: @escaping @Sendable () -> Void
  ) {
    self.place = place
    self.offer = offer
  }
}

/// Threads and asynchronous waiters that want to write, in the order in which they came.
final class WriteQueue: Sendable {
  /// One waiting thread; woken by the one before it.
  final class Waiter: Sendable {
    enum Signal: Equatable {
      case wait
      /// The lock is the thread's.
      case served
      /// The thread may take the lock if it is still free after a moment.
      case deferred
      /// It has left the queue without the lock, which can never be its.
      case givenUp(holder: PlaceNote?)
    }
    fileprivate let signal = Monitor(Signal.wait)
    /// The same as `served`, for a thread that has not gone to sleep yet.
    private let served = Atomic(false)
    fileprivate let place: PlaceNote
    fileprivate let pool: TaskPool?

    fileprivate init(_ place: PlaceNote, _ pool: TaskPool?) {
      self.place = place
      self.pool = pool
    }

    fileprivate func send(_ new: Signal) {
      // Releasing: pairs with the load below; what the thread before has done is seen.
      if new == .served { served.store(true, ordering: .releasing) }
      signal.withLock { $0 = new }
      signal.notifyAll()
    }

    var isServed: Bool { served.load(ordering: .acquiring) }

    /// Waits for as long as a small transaction takes, without going to sleep.
    fileprivate func isServedSoon() -> Bool {
      for _ in 0..<WriteQueue.spinsMax {
        if isServed { return true }
        pauseProcessor()
      }
      return false
    }
  }

  /// Who has the lock.
  struct Hold: Sendable {
    /// Where that is known.
    let place: PlaceNote?
    /// The threads of which one has begun the transaction, if it was one that runs tasks.
    let pool: TaskPool?
    /// Counts those who have had the lock.
    let number: UInt64
  }

  /// A write that can never begin.
  struct GivenUp: Error {
    let holder: PlaceNote?
    let pool: TaskPool
  }

  private enum Entry {
    case thread(Waiter)
    case asynchronous(WriteOffer, isOffered: Bool, timesPassed: Int)

    var place: PlaceNote {
      switch self {
      case .thread(let waiter): waiter.place
      case .asynchronous(let offer, _, _): offer.place
      }
    }

    func isOffer(_ offer: WriteOffer) -> Bool {
      if case .asynchronous(let own, _, _) = self { return own === offer }
      return false
    }
  }

  private struct State {
    /// Nil when the lock is free.
    var hold: Hold?
    var holds: UInt64 = 0
    /// The hold for whose sake waits were given up; 0 for none.
    var deadHold: UInt64 = 0
    var entries: [Entry] = []
    var threads = 0
    /// The lock was left free for asynchronous waiters that had been passed over often.
    var isReserved = false

    var isHeld: Bool { hold != nil }

    mutating func give(to place: PlaceNote?, of pool: TaskPool?) {
      holds += 1
      hold = Hold(place: place, pool: pool, number: holds)
    }
  }

  /// Who has to be told what, after the lock on the state is let go.
  private struct Wakes {
    var offers: [WriteOffer] = []
    var thread: (waiter: Waiter, signal: Waiter.Signal)?

    func send() {
      thread.map { $0.waiter.send($0.signal) }
      for offer in offers { offer.offer() }
    }
  }

  /// Times that threads behind it may go first before an asynchronous waiter gets a reservation.
  private static let timesPassedMax = 4
  private static let reservationNanoseconds: UInt64 = 2_000_000
  /// Looks at a signal before a thread goes to sleep, some 20 us: a small transaction is over by
  /// then, and waking a thread takes longer than the transaction did.
  private static let spinsMax = 500
  /// Who waits for longer says so.
  private static let longWaitNanoseconds: UInt64 = 1_000_000_000
  /// The same where others were given up for the sake of the same transaction.
  private static let hopelessWaitNanoseconds: UInt64 = 20_000_000

  private let state = Monitor(State())
  /// Number of waiters, readable without the lock.
  private let waiting = Atomic<Int>(0)
  /// Those among them that are threads.
  private let waitingThreads = Atomic<Int>(0)

  /// Blocks until so many threads wait.
  ///
  /// For tests of the order in which they are served.
  func waitForWaiters(_ count: Int) {
    state.wait(until: { $0.threads >= count }, then: { _ in })
  }

  var hasWaiters: Bool { waiting.load(ordering: .relaxed) > 0 }

  /// How many threads wait; a hint.
  var waitingThreadCount: Int { waitingThreads.load(ordering: .relaxed) }

  /// Whether somebody waits who gets the lock as soon as it is free.
  var hasWaitingThreads: Bool { waitingThreads.load(ordering: .relaxed) > 0 }

  // MARK: - Threads

  /// Who has the lock; nil when it is free.
  var hold: Hold? { state.withLock { $0.hold } }

  /// Waits for its turn.
  ///
  /// - Parameter onLongWait: called once when it takes more than a second, with who has the lock
  ///   and who waits: the first few, and how many in all; once more, with how many threads run
  ///   tasks, when none of these is free for long, see `PoolProbe`.
  /// - Throws: when the wait could never end; see `BlockedPools`.
  func acquire(
    by place: PlaceNote,
    onLongWait: LongWaitReport
  ) throws(GivenUp) {
    let pool = TaskPool.current
    let (waiter, isHopeless): (Waiter?, Bool) = state.withLock { state in
      // An offer that was not taken yet is no reason to wait, unless the lock is kept free for it.
      let mustWait = PlantedBug.strictQueue.isActive && !state.entries.isEmpty
      if !state.isHeld, !state.isReserved, !mustWait {
        notePassing(&state, before: state.entries.endIndex)
        state.give(to: place, of: pool)
        return (nil, false)
      }
      let waiter = Waiter(place, pool)
      state.entries.append(.thread(waiter))
      state.threads += 1
      waiting.add(1, ordering: .relaxed)
      waitingThreads.add(1, ordering: .relaxed)
      return (waiter, state.hold.map { $0.number == state.deadHold } ?? false)
    }
    guard let waiter else { return }
    state.notifyAll()
    if waiter.isServedSoon() { return }
    let patience = isHopeless ? Self.hopelessWaitNanoseconds : Self.longWaitNanoseconds
    var isReported = isHopeless
    while true {
      // Each time anew: whoever lost a turn to somebody faster waits as at first.
      if !waiter.signal.wait(nanoseconds: patience, until: { $0 != .wait }) {
        if !isReported {
          isReported = true
          report(to: onLongWait, busyThreads: nil)
        }
        if let pool { watch(waiter, of: pool, isHopeless: isHopeless, onLongWait) }
      }
      switch waiter.signal.wait(until: { $0 != .wait }, then: { $0 }) {
      case .served: return
      case .givenUp(let holder): throw GivenUp(holder: holder, pool: pool!)
      case .wait, .deferred: break
      }
      let isServed = waiter.signal.wait(nanoseconds: Self.reservationNanoseconds) {
        $0 == .served
      }
      if isServed || claim(waiter) { return }
    }
  }

  /// Hears of a long wait.
  typealias LongWaitReport = (
    _ holder: PlaceNote?, _ waiters: [PlaceNote], _ waitersInAll: Int, _ busyThreads: Int?
  ) -> Void

  private func report(to onLongWait: LongWaitReport, busyThreads: Int?) {
    let (holder, waiters, count) = state.withLock { state in
      (
        state.hold?.place, state.entries.prefix(LongWait.waitersNamed).map(\.place),
        state.entries.count
      )
    }
    onLongWait(holder, waiters, count, busyThreads)
  }

  // MARK: - Waits that cannot end

  /// Waits for a signal, and looks from time to time whether one can come.
  private func watch(
    _ waiter: Waiter, of pool: TaskPool, isHopeless: Bool, _ onLongWait: LongWaitReport
  ) {
    let wait = BlockedTask(pool, self, waiter)
    BlockedPools.add(wait)
    defer { BlockedPools.remove(wait) }
    var found: BlockedPools.Deadlock?
    var times = 0
    var probe = PoolProbe()
    while true {
      let seen = BlockedPools.deadlock(of: wait)
      times = seen != nil && seen == found ? times + 1 : 1
      found = seen
      if let seen, times >= BlockedPools.looks { BlockedPools.end(seen) }
      if seen == nil, isFirst(waiter), probe.isHopeless(hold, pool) {
        report(to: onLongWait, busyThreads: pool.width)
      }
      let look =
        isHopeless
        ? Self.hopelessWaitNanoseconds : BlockedPools.lookNanoseconds.load(ordering: .relaxed)
      if waiter.signal.wait(nanoseconds: look, until: { $0 != .wait }) { return }
    }
  }

  /// Takes a thread out of the queue that can never be served; does nothing when the lock is
  /// another one's by now.
  func giveUp(_ waiter: Waiter, ifHeldBy number: UInt64) {
    let holder: PlaceNote?? = state.withLock { state in
      guard let hold = state.hold, hold.number == number,
        let index = index(of: waiter, in: state)
      else { return nil }
      removeThread(&state, at: index)
      state.deadHold = number
      return .some(hold.place)
    }
    if let holder { waiter.send(.givenUp(holder: holder)) }
  }

  /// Whether it is the first thread that waits; one of them is enough to look.
  private func isFirst(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      for case .thread(let first) in state.entries { return first === waiter }
      return false
    }
  }

  private func index(of waiter: Waiter, in state: State) -> Int? {
    state.entries.firstIndex {
      if case .thread(let other) = $0 { return other === waiter }
      return false
    }
  }

  /// Takes the lock when a reservation has run out; else the thread goes on waiting.
  private func claim(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      // Not in the queue any more: it was served meanwhile.
      guard let index = index(of: waiter, in: state) else { return true }
      if state.isHeld {
        waiter.signal.withLock { if $0 == .deferred { $0 = .wait } }
        return false
      }
      state.isReserved = false
      state.give(to: waiter.place, of: waiter.pool)
      notePassing(&state, before: index)
      removeThread(&state, at: index)
      return true
    }
  }

  /// Takes the lock if nobody holds it.
  ///
  /// - Parameter place: for those who wait meanwhile; nil for the moment that a look at something
  ///   takes.
  func tryAcquire(by place: PlaceNote? = nil) -> Bool {
    state.withLock { state in
      if state.isHeld || state.isReserved { return false }
      state.give(to: place, of: TaskPool.current)
      return true
    }
  }

  // MARK: - Asynchronous waiters

  /// Joins the queue; `offer` is called as soon as the lock may be taken.
  func request(_ offer: WriteOffer) {
    let wakes: Wakes = state.withLock { state in
      if offer.isWithdrawn.load(ordering: .relaxed) { return Wakes() }
      waiting.add(1, ordering: .relaxed)
      state.entries.append(.asynchronous(offer, isOffered: false, timesPassed: 0))
      return state.isHeld ? Wakes() : pass(&state)
    }
    wakes.send()
  }

  /// Takes the lock for a waiter if nobody holds it; otherwise it is offered again.
  ///
  /// - Returns: false also when the waiter has withdrawn.
  func take(_ offer: WriteOffer) -> Bool {
    defer { state.notifyAll() }
    let pool = TaskPool.current
    return state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.isOffer(offer) }) else { return false }
      if state.isHeld {
        if case .asynchronous(_, _, let times) = state.entries[index] {
          state.entries[index] = .asynchronous(offer, isOffered: false, timesPassed: times)
        }
        return false
      }
      state.give(to: offer.place, of: pool)
      state.isReserved = false
      state.entries.remove(at: index)
      waiting.subtract(1, ordering: .relaxed)
      return true
    }
  }

  /// Waits until a waiter has taken the lock or withdrawn, or the time is over.
  func waitUntilGone(_ offer: WriteOffer, nanoseconds: UInt64) {
    _ = state.wait(nanoseconds: nanoseconds) { state in
      !state.entries.contains { $0.isOffer(offer) }
    }
  }

  /// Leaves the queue, unless the waiter has taken the lock already.
  func withdraw(_ offer: WriteOffer) {
    defer { state.notifyAll() }
    let wakes: Wakes = state.withLock { state in
      offer.isWithdrawn.store(true, ordering: .relaxed)
      guard let index = state.entries.firstIndex(where: { $0.isOffer(offer) }) else {
        return Wakes()
      }
      state.entries.remove(at: index)
      waiting.subtract(1, ordering: .relaxed)
      if state.isHeld { return Wakes() }
      // It may have been the one for which the lock was kept free.
      state.isReserved = false
      return pass(&state)
    }
    wakes.send()
  }

  // MARK: - Handing on

  /// Hands the lock to the next thread in line, and offers it to the asynchronous waiters before
  /// it.
  func release() {
    let wakes: Wakes = state.withLock { state in
      state.hold = nil
      return pass(&state)
    }
    wakes.send()
  }

  /// With the lock free: who may have it now.
  private func pass(_ state: inout State) -> Wakes {
    var wakes = Wakes()
    var mustReserve = false
    var next: (index: Int, waiter: Waiter)?
    if PlantedBug.unfairLock.isActive { state.entries.reverse() }
    for index in state.entries.indices where next == nil {
      switch state.entries[index] {
      case .thread(let waiter): next = (index, waiter)
      case .asynchronous(let offer, let isOffered, let timesPassed):
        if timesPassed >= Self.timesPassedMax { mustReserve = true }
        if isOffered { continue }
        state.entries[index] = .asynchronous(offer, isOffered: true, timesPassed: timesPassed)
        #if PLANTED_BUGS
          if PlantedBug.lostWakeUp.strikes(everyCalls: 50) { continue }
        #endif
        wakes.offers.append(offer)
      }
      if PlantedBug.strictQueue.isActive, next == nil { return wakes }
    }
    guard let next else { return wakes }
    if mustReserve {
      state.isReserved = true
      wakes.thread = (next.waiter, .deferred)
      return wakes
    }
    notePassing(&state, before: next.index)
    removeThread(&state, at: next.index)
    state.give(to: next.waiter.place, of: next.waiter.pool)
    wakes.thread = (next.waiter, .served)
    return wakes
  }

  private func removeThread(_ state: inout State, at index: Int) {
    state.entries.remove(at: index)
    state.threads -= 1
    waiting.subtract(1, ordering: .relaxed)
    waitingThreads.subtract(1, ordering: .relaxed)
  }

  /// A thread goes before the asynchronous waiters that came earlier.
  private func notePassing(_ state: inout State, before end: Int) {
    for index in 0..<end {
      if case .asynchronous(let offer, let isOffered, let times) = state.entries[index] {
        // After a reservation that was not used the count begins anew: whoever it was for cannot
        // run.
        let passed = times >= Self.timesPassedMax ? 0 : times + 1
        state.entries[index] = .asynchronous(offer, isOffered: isOffered, timesPassed: passed)
      }
    }
  }
}
