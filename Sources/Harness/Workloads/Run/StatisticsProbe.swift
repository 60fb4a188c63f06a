// Asks the engine for its counters without ever making the coordinator wait for a long transaction,
// such as a migration: the question is put by a thread of its own, and who asks gets less when it
// takes long.
internal import Platform

/// The counters of an engine, within a time.
final class StatisticsProbe<Driver: EngineDriver>: Sendable {
  private struct State: Sendable {
    var isAsked = false
    var isBusy = false
    var isEnded = false
    /// The system had no thread to give.
    var isAlone = false
    var answer: Result<EngineStatistics, any Error>?
  }

  private let driver: Driver
  private let state = Monitor(State())

  init(_ driver: Driver) { self.driver = driver }

  /// Starts the thread, which ends after `end`.
  ///
  /// Where the system has none to give, answers are what is there at any time.
  func start() {
    let (driver, state) = (driver, state)
    let thread = Thread.startIfPossible(name: "statistics") {
      while true {
        let isEnded = state.wait(until: { $0.isAsked || $0.isEnded }) { state in
          state.isAsked = false
          state.isBusy = !state.isEnded
          return state.isEnded
        }
        if isEnded { return }
        let answer = Result { try driver.statistics() }
        state.withLock { state in
          state.answer = answer
          state.isBusy = false
        }
        state.notifyAll()
      }
    }
    thread?.detach()
    if thread == nil { state.withLock { $0.isAlone = true } }
  }

  /// Lets the thread end; it may be in its last question for as long as a transaction runs.
  func end() {
    state.withLock { $0.isEnded = true }
    state.notifyAll()
  }

  /// All counters if they come within the time, else those that are there at any time.
  func statistics(withinNanoseconds nanoseconds: UInt64) throws -> EngineStatistics {
    if state.withLock({ $0.isAlone }) { return try driver.glance() }
    state.withLock { state in
      state.answer = nil
      // A question that is still open is answered with numbers of its end: they are new enough.
      if !state.isBusy { state.isAsked = true }
    }
    state.notifyAll()
    let clock = MonotonicClock()
    let deadline = clock.nanoseconds() + nanoseconds
    var lock = LockWatch(driver)
    while true {
      let now = clock.nanoseconds()
      // Who keeps the write lock for so long may keep it for ever.
      guard now < deadline, lock.keeper(for: RunControl.graceNanoseconds, at: now) == nil else {
        return try driver.glance()
      }
      let isAnswered = state.wait(nanoseconds: min(deadline - now, 100_000_000)) {
        $0.answer != nil
      }
      if isAnswered, let answer = state.withLock({ $0.answer }) { return try answer.get() }
    }
  }
}
