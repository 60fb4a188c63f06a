// What every measuring thread has that works with a session from its first to its last operation.
// What it does with it is in the files of the workloads.
internal import Platform

/// A thread with a session of its own; made and used on it.
package class SessionThread<Driver: EngineDriver>: Worker {
  final let shared: RunShared<Driver>
  final let place: String
  final let clock = MonotonicClock()
  final let model: ContentModel
  final let session: Driver.Session
  final var random: RandomGenerator
  final var pace: ThreadPace
  final var watch: SessionWatch<Driver>
  final var row = Row()
  package final var ledger = InvariantLedger()
  package var pausedNanoseconds: UInt64 { 0 }
  private let openedAfter: SessionWatch<Driver>.Acknowledged

  /// - Parameters:
  ///   - place: names it in what it finds, as in `reader 1`.
  ///   - thread: draws from the random numbers of this thread.
  init(
    _ place: String, thread: Int, _ shared: RunShared<Driver>, _ handover: Handover,
    openLoad: ThreadPace.OpenLoad? = nil, member: ThreadPace.Member? = nil
  ) throws {
    self.shared = shared
    self.place = place
    model = shared.plan.model
    random = shared.random(thread: thread)
    watch = SessionWatch(shared)
    openedAfter = watch.acknowledged()
    session = try shared.driver.openSession()
    pace = ThreadPace(
      control: shared.control, handover: handover, openLoad: openLoad, member: member,
      arrivals: shared.plan.arrivals, random: random.split())
  }

  package func run() throws { fatalError("abstract") }

  /// Waits for the first phase, and checks what the session saw when it was opened.
  final func begin() throws {
    pace.waitForStart()
    try watch.moved(
      session, since: openedAfter, place: "\(place), opened", readingWith: &random,
      readsObject: true, &ledger)
  }

  /// Moves the session to the newest version, and checks where it is then.
  ///
  /// - Parameter figure: the place of the operation in the thread's plan.
  final func refresh(recordedAs figure: Int, readsObject: Bool) throws {
    let acknowledged = watch.acknowledged()
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    _ = session.refresh()
    record(figure, since: start, before)
    try watch.moved(
      session, since: acknowledged, place: place, readingWith: &random, readsObject: readsObject,
      &ledger)
  }

  /// Records an operation that ends now, which the calling thread has done.
  ///
  /// - Parameter before: what that had done when it began.
  final func record(_ figure: Int, since start: UInt64, _ before: ThreadWork) {
    pace.measurements.figures[figure].record(clock.nanoseconds() - start, .since(before))
  }
}
