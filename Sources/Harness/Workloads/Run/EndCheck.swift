// The check of a run's end: of the whole table and file, on a thread of its own, which the run can
// leave to itself. What it looks at is the workload's to say.
internal import Platform

/// What has come of the check of the end.
struct EndCheck {
  private(set) var ledger = InvariantLedger()
  /// What has ended it early, other than the user.
  private(set) var error: (any Error)?
  /// Whether the user had enough meanwhile.
  private(set) var isInterrupted = false
  /// Who keeps the write lock that it waited for.
  private var keeper: String?
  /// Whether it was left to itself, and goes on.
  private var isLeft = false
  /// Whether it has ended early, because the user had enough.
  private var hasGivenUp = false
  private var nanoseconds: UInt64 = 0

  /// Checks, and waits for the end of that.
  ///
  /// The check is left to itself at once where others keep the write lock, and a while after the
  /// user has had enough, so that it can see that and end: then nobody uses the file any more, and
  /// it need not stay.
  ///
  /// - Parameter lock: what watches who keeps the write lock.
  static func run<Driver: EngineDriver>(
    _ settings: RunSettings, _ control: RunControl, _ interruption: any Interruption,
    _ lock: inout LockWatch<Driver>,
    _ check: @escaping @Sendable (inout InvariantLedger) throws -> Void
  ) -> EndCheck {
    let clock = MonotonicClock()
    let start = clock.nanoseconds()
    let found = Monitor<(ledger: InvariantLedger, error: (any Error)?)>((InvariantLedger(), nil))
    var end = EndCheck()
    var leavesAt: UInt64?
    let hasEnded = Aside.run("final check") {
      var ledger = InvariantLedger()
      var failure: (any Error)?
      do { try check(&ledger) } catch { failure = error }
      found.withLock { [ledger, failure] in $0 = (ledger, failure) }
    } isLeft: {
      let now = clock.nanoseconds()
      if let leavesAt { return now > leavesAt }
      end.keeper = lock.keeper(for: settings.patienceNanoseconds, at: now)
      if end.keeper != nil { return true }
      guard interruption.isRequested() else { return false }
      end.isInterrupted = true
      // What looks at one object after the other sees it; the engine's own walk goes on to its end.
      control.abort()
      leavesAt = now + RunControl.givingUpNanoseconds
      return false
    }
    end.isLeft = !hasEnded
    if hasEnded { (end.ledger, end.error) = found.withLock { $0 } }
    if end.error is RunControl.GivenUp { (end.error, end.hasGivenUp) = (nil, true) }
    end.nanoseconds = clock.nanoseconds() - start
    return end
  }

  /// Notes what the verdict has to say of it, apart from errors.
  func note(in outcome: inout RunOutcome) {
    outcome.keeper = keeper
    outcome.hasLeftCheck = hasGivenUp
    if isLeft {
      // It cannot be stopped; what was measured is kept without it.
      outcome.unended.append(RunOutcome.finalCheck)
    } else {
      outcome.threadNanoseconds += nanoseconds
    }
  }
}
