// The queue of one grouped writer: asks for transactions, makes their changes, commits them, and
// checks what the engine calls back (I4, I6, I12). All in blocks of the queue, but for what
// `Traffic` holds.
internal import Dispatch
package import Platform

/// When the steps of one commit were.
package struct CommitTimes: Sendable {
  package var requested: UInt64 = 0
  /// The request had returned.
  package var returned: UInt64 = 0
  package var began: UInt64 = 0
  /// The call that commits.
  package var committed: UInt64 = 0
  package var accepted: UInt64 = 0
  package var durable: UInt64 = 0
  package var hasFailed = false
}

/// Commits that were requested together.
package struct BurstTimes: Sendable {
  package let turn: ThreadPace.Turn
  package var requested: UInt64
  package var durable: UInt64 = 0
}

/// A queue with a session, and the commits that are on their way.
package final class CommitDesk<Driver: QueueEngine>: @unchecked Sendable {
  // @unchecked: `state` is touched by blocks of `queue` only, the rest is Sendable.
  private final class State {
    var session: Driver.Session?
    var watch: SessionWatch<Driver>
    var random: RandomGenerator
    var ledger = InvariantLedger()
    var order = CompletionCheck()
    var requests = 0
    /// The newest commit.
    var newest: Int?
    var newestVersion: UInt64 = 0

    init(_ shared: RunShared<Driver>, _ random: RandomGenerator) {
      watch = SessionWatch(shared)
      self.random = random
    }
  }

  /// A burst that is on its way; touched by blocks of the queue only.
  private final class Burst {
    var times: BurstTimes
    var left: Int
    init(_ times: BurstTimes, _ left: Int) {
      self.times = times
      self.left = left
    }
  }

  /// What the queue tells the thread.
  package struct Ended: Sendable {
    package var commits: [CommitTimes] = []
    package var bursts: [BurstTimes] = []
    package var failure: (any Error)?
  }

  private struct Traffic: Sendable {
    var onTheirWay = 0
    var awaited = 0
    var ended = Ended()
  }

  private let shared: RunShared<Driver>
  private let place: String
  private let queue: DispatchQueue
  private let clock = MonotonicClock()
  private let traffic = Monitor(Traffic())
  private let state: State

  package init(_ shared: RunShared<Driver>, place: String, random: RandomGenerator) throws {
    self.shared = shared
    self.place = place
    let queue = DispatchQueue(label: place)
    self.queue = queue
    let state = State(shared, random)
    self.state = state
    try queue.sync { state.session = try shared.driver.openSession(on: queue) }
  }

  // MARK: - Called by the thread

  /// Asks for `count` transactions.
  package func request(_ count: Int, _ turn: ThreadPace.Turn) {
    traffic.withLock { $0.onTheirWay += count }
    queue.async { [self] in
      let burst = Burst(BurstTimes(turn: turn, requested: clock.nanoseconds()), count)
      for _ in 0..<count { request(in: burst) }
    }
  }

  /// Waits until at most `count` commits are on their way; gives what has ended since the last
  /// call.
  package func wait(untilAtMost count: Int) throws -> Ended {
    traffic.withLock { $0.awaited = count }
    while true {
      let before = traffic.withLock { $0.onTheirWay }
      let isDone = traffic.wait(nanoseconds: shared.plan.patienceNanoseconds) {
        $0.onTheirWay <= count || $0.ended.failure != nil
      }
      let (left, ended) = traffic.withLock { traffic in
        defer { if isDone { traffic.ended = Ended() } }
        return (traffic.onTheirWay, traffic.ended)
      }
      if isDone { return ended }
      // Nobody waits for it any more.
      if shared.control.hasAbandonedWaits { throw RunControl.GivenUp() }
      // Slow is not stuck.
      if left == before {
        throw CompletionCheck.silence(
          left, seconds: Double(shared.plan.patienceNanoseconds) / 1e9, place: place)
      }
    }
  }

  /// Lets go of the session; what was checked.
  package func close() -> InvariantLedger {
    // A block that hangs would keep the queue for ever.
    let isClosed = Monitor<InvariantLedger?>(nil)
    queue.async { [self] in
      state.session = nil
      let ledger = state.ledger
      isClosed.withLock { $0 = ledger }
      isClosed.notifyAll()
    }
    _ = isClosed.wait(nanoseconds: shared.plan.patienceNanoseconds) { $0 != nil }
    return isClosed.withLock { $0 } ?? InvariantLedger()
  }

  // MARK: - Blocks of the queue

  private func request(in burst: Burst) {
    guard let session = state.session else { return }
    let number = state.requests
    state.requests += 1
    let commit = Commit(number)
    commit.times.requested = clock.nanoseconds()
    session.requestWrite { [self] in run(commit, burst, session) }
    commit.times.returned = clock.nanoseconds()
  }

  /// One commit; touched by blocks of the queue only.
  private final class Commit {
    let number: Int
    var times = CommitTimes()
    var transaction = 0
    var version: UInt64 = 0
    init(_ number: Int) { self.number = number }
  }

  /// The body of a transaction.
  private func run(_ commit: Commit, _ burst: Burst, _ session: Driver.Session) {
    commit.times.began = clock.nanoseconds()
    if shared.control.hasAbandonedWaits {
      // Whoever has got the lock lets go of it.
      session.commitAsynchronously(allowsGrouping: false) { _ in }
      return
    }
    guarded {
      if shared.plan.checks(.completion), let violation = state.order.began(commit.number, place) {
        throw violation
      }
      let transaction = shared.versions.nextTransaction()
      commit.transaction = transaction
      try checkBase(session, transaction)
      let model = shared.plan.model
      try ReadersWriter<Driver>.rewrite(session, model.batch(of: transaction), model)
    }
    commit.times.committed = clock.nanoseconds()
    session.commitAsynchronously(allowsGrouping: shared.plan.group > 1) { [self] error in
      complete(commit, burst, error)
    }
    commit.times.accepted = clock.nanoseconds()
    commit.version = session.version
    // One that has failed leaves the session where it was; the completion tells why.
    guard commit.version > state.newestVersion else { return }
    state.newestVersion = commit.version
    state.newest = commit.transaction
    guard commit.number & 7 == 0 else { return }
    guarded {
      let batch = shared.plan.model.batch(of: commit.transaction)
      let key = batch.key(Int(state.random.next(upperBound: UInt64(batch.count))))
      try state.watch.accepted(
        session, commit.transaction, key: key, place: place, &state.ledger)
    }
  }

  /// I4: a transaction builds on the commits before it, durable or not.
  private func checkBase(_ session: Driver.Session, _ transaction: Int) throws {
    guard shared.plan.checks(.readYourWrites), let newest = state.newest, transaction & 7 == 0
    else { return }
    let start = clock.nanoseconds()
    var row = Row()
    let key = shared.plan.model.batch(of: newest).key(0)
    guard session.read(key, into: &row) else {
      throw AtomicityCheck.missing(key, version: session.version)
    }
    if let violation = ReadYourWritesCheck.contains(
      row, acknowledged: newest, version: session.version,
      place: "asynchronous transaction of \(place)")
    {
      throw violation
    }
    state.ledger.count(.readYourWrites, cost: clock.nanoseconds() - start)
  }

  private func complete(_ commit: Commit, _ burst: Burst, _ error: (any Error)?) {
    commit.times.durable = clock.nanoseconds()
    commit.times.hasFailed = error != nil
    burst.left -= 1
    burst.times.durable = commit.times.durable
    let isLast = burst.left == 0
    var failure: (any Error)?
    do { try checkCompletion(commit, error) } catch { failure = error }
    let (times, burstTimes) = (commit.times, burst.times)
    let isAwaited = traffic.withLock { traffic in
      traffic.onTheirWay -= 1
      traffic.ended.commits.append(times)
      if isLast { traffic.ended.bursts.append(burstTimes) }
      if traffic.ended.failure == nil { traffic.ended.failure = failure }
      return traffic.onTheirWay <= traffic.awaited || failure != nil
    }
    if isAwaited { traffic.notifyAll() }
  }

  private func checkCompletion(_ commit: Commit, _ error: (any Error)?) throws {
    let start = clock.nanoseconds()
    if shared.plan.checks(.completion) {
      state.ledger.count(.completion)
      if let violation = state.order.completed(commit.number, place) { throw violation }
    }
    if let error { throw error }
    if shared.plan.checks(.completion),
      let violation = state.order.committed(commit.number, version: commit.version, place)
    {
      throw violation
    }
    if shared.plan.checks(.durablePrefix) {
      state.ledger.count(.durablePrefix)
      if let violation = DurablePrefixCheck.judge(
        commit.version, visible: shared.driver.visibleVersion, place: place)
      {
        throw violation
      }
    }
    try state.watch.acknowledge(commit.version, commit.transaction)
    state.ledger.count(.completion, checks: 0, cost: clock.nanoseconds() - start)
  }

  /// Keeps the first thing that goes wrong, for the thread to throw.
  private func guarded(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      traffic.withLock { if $0.ended.failure == nil { $0.ended.failure = error } }
      traffic.notifyAll()
    }
  }
}
