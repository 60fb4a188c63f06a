// The fair write lock of one process: first come, first served among those who can run. In front of the
// lock that the process holds against other processes, which only the head of this queue touches.
//
// A blocked thread gets the lock handed over. An asynchronous waiter is *offered* it: the lock stays free
// until the waiter's own code runs and takes it, and a blocked thread behind it may go first. It must
// not be handed over, since the code may have no thread to run on: those that run tasks may all be
// blocked in here. Who was passed over often gets the lock kept free for a moment.
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
  private final class Waiter: Sendable {
    enum Signal {
      case wait
      /// The lock is the thread's.
      case served
      /// The thread may take the lock if it is still free after a moment.
      case deferred
    }
    let signal = Monitor(Signal.wait)
    /// The same as `served`, for a thread that has not gone to sleep yet.
    private let isServed = Atomic(false)
    let place: PlaceNote

    init(_ place: PlaceNote) { self.place = place }

    func send(_ new: Signal) {
      // Releasing: pairs with the load below; what the thread before has done is seen.
      if new == .served { isServed.store(true, ordering: .releasing) }
      signal.withLock { $0 = new }
      signal.notifyAll()
    }

    /// Waits for as long as a small transaction takes, without going to sleep.
    func isServedSoon() -> Bool {
      for _ in 0..<WriteQueue.spinsMax {
        if isServed.load(ordering: .acquiring) { return true }
        pauseProcessor()
      }
      return false
    }
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
    var isHeld = false
    /// Who has the lock, where that is known.
    var holder: PlaceNote?
    var entries: [Entry] = []
    var threads = 0
    /// The lock was left free for asynchronous waiters that had been passed over often.
    var isReserved = false
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
  /// Looks at a signal before a thread goes to sleep, some 20 us: a small transaction is over by then,
  /// and waking a thread takes longer than the transaction did.
  private static let spinsMax = 500
  /// Who waits for longer says so.
  private static let longWaitNanoseconds: UInt64 = 1_000_000_000

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

  /// Whether somebody waits who gets the lock as soon as it is free.
  var hasWaitingThreads: Bool { waitingThreads.load(ordering: .relaxed) > 0 }

  // MARK: - Threads

  /// Waits for its turn.
  ///
  /// - Parameter onLongWait: called once when it takes more than a second, with who has the lock and who waits.
  func acquire(
    by place: PlaceNote, onLongWait: (_ holder: PlaceNote?, _ waiters: [PlaceNote]) -> Void
  ) {
    let waiter: Waiter? = state.withLock { state in
      // An offer that was not taken yet is no reason to wait, unless the lock is kept free for it.
      let mustWait = PlantedBug.strictQueue.isActive && !state.entries.isEmpty
      if !state.isHeld, !state.isReserved, !mustWait {
        notePassing(&state, before: state.entries.endIndex)
        state.isHeld = true
        state.holder = place
        return nil
      }
      let waiter = Waiter(place)
      state.entries.append(.thread(waiter))
      state.threads += 1
      waiting.add(1, ordering: .relaxed)
      waitingThreads.add(1, ordering: .relaxed)
      return waiter
    }
    guard let waiter else { return }
    state.notifyAll()
    if waiter.isServedSoon() { return }
    if !waiter.signal.wait(nanoseconds: Self.longWaitNanoseconds, until: { $0 != .wait }) {
      let (holder, waiters) = state.withLock { state in
        (state.isHeld ? state.holder : nil, state.entries.map(\.place))
      }
      onLongWait(holder, waiters)
    }
    while true {
      let signal = waiter.signal.wait(until: { $0 != .wait }, then: { $0 })
      if signal == .served { return }
      let isServed = waiter.signal.wait(nanoseconds: Self.reservationNanoseconds) {
        $0 == .served
      }
      if isServed || claim(waiter) { return }
    }
  }

  /// Takes the lock when a reservation has run out; else the thread goes on waiting.
  private func claim(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      let index = state.entries.firstIndex {
        if case .thread(let other) = $0 { return other === waiter }
        return false
      }
      // Not in the queue any more: it was served meanwhile.
      guard let index else { return true }
      if state.isHeld {
        waiter.signal.withLock { if $0 == .deferred { $0 = .wait } }
        return false
      }
      state.isReserved = false
      state.isHeld = true
      state.holder = waiter.place
      notePassing(&state, before: index)
      removeThread(&state, at: index)
      return true
    }
  }

  /// Takes the lock if nobody holds it.
  ///
  /// - Parameter place: for those who wait meanwhile; nil for the moment that a look at something takes.
  func tryAcquire(by place: PlaceNote? = nil) -> Bool {
    state.withLock { state in
      if state.isHeld || state.isReserved { return false }
      state.isHeld = true
      state.holder = place
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
    return state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.isOffer(offer) }) else { return false }
      if state.isHeld {
        if case .asynchronous(_, _, let times) = state.entries[index] {
          state.entries[index] = .asynchronous(offer, isOffered: false, timesPassed: times)
        }
        return false
      }
      state.isHeld = true
      state.holder = offer.place
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

  /// Hands the lock to the next thread in line, and offers it to the asynchronous waiters before it.
  func release() {
    let wakes: Wakes = state.withLock { state in
      state.isHeld = false
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
    state.isHeld = true
    state.holder = next.waiter.place
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
        // After a reservation that was not used the count begins anew: whoever it was for cannot run.
        let passed = times >= Self.timesPassedMax ? 0 : times + 1
        state.entries[index] = .asynchronous(offer, isOffered: isOffered, timesPassed: passed)
      }
    }
  }
}
