// What a run does before its threads begin, on a thread of its own: the table is filled. That may
// have to wait for the write lock, which others may keep, and a user may have enough meanwhile;
// then the thread is left to itself.
internal import Platform

/// Something that is done beside the coordinator, which can leave it there.
enum Aside {
  /// Runs a body on a thread of its own until it ends or `isLeft` says so, which is asked all the
  /// time; false when it was left.
  ///
  /// Where the system has no thread to give, it is done here, and cannot be left.
  static func run(
    _ name: String, _ body: @escaping @Sendable () -> Void, isLeft: () -> Bool
  ) -> Bool {
    let isDone = Monitor(false)
    let thread = Thread.startIfPossible(name: name) {
      body()
      isDone.withLock { $0 = true }
      isDone.notifyAll()
    }
    guard let thread else {
      body()
      return true
    }
    while !isDone.wait(nanoseconds: 20_000_000, until: { $0 }) {
      if isLeft() {
        thread.detach()
        return false
      }
    }
    thread.join()
    return true
  }
}

/// The filling of the table.
struct SetUp<Driver: EngineDriver> {
  /// How it ended.
  enum End {
    case whole
    /// The user had enough.
    case interrupted
    /// The user had enough, and it does not end.
    case left
    case failed(String)
    /// It waits for others, and does not end.
    case stuck(String)
  }

  private struct State: Sendable {
    var loaded = 0
    var isCancelled = false
    var failure: String?
  }

  let workload: any Workload<Driver>
  let settings: RunSettings
  let interruption: any Interruption
  let progress: ProgressLine
  private let clock = MonotonicClock()

  init(
    _ workload: any Workload<Driver>, _ settings: RunSettings, _ interruption: any Interruption,
    _ progress: ProgressLine
  ) {
    self.workload = workload
    self.settings = settings
    self.interruption = interruption
    self.progress = progress
  }

  /// Fills the table.
  /// - Parameter loaded: how many objects it has then.
  func run(_ lock: inout LockWatch<Driver>, loaded: inout Int) -> End {
    let state = Monitor(State())
    let workload = workload
    var givesUpAt: UInt64?
    var end = End.whole
    let hasEnded = Aside.run("load") {
      do {
        let version = try workload.load(
          isCancelled: { state.withLock { $0.isCancelled } },
          progress: { count in state.withLock { $0.loaded = count } })
        // Transaction 0: whoever opens the file now has to see at least the load.
        if let version {
          workload.shared.versions.acknowledge(version: version, transaction: 0)
        }
      } catch {
        let text = error.explanation
        state.withLock { $0.failure = text }
      }
    } isLeft: {
      let now = clock.nanoseconds()
      loaded = state.withLock { $0.loaded }
      progress.show(
        "load", fraction: Double(loaded) / Double(settings.objects), "\(grouped(loaded)) objects")
      if let givesUpAt { return now > givesUpAt }
      if interruption.isRequested() {
        end = .interrupted
        state.withLock { $0.isCancelled = true }
        givesUpAt = now + RunControl.endingNanoseconds
      } else if let complaint = lock.complaint(after: settings.patienceNanoseconds, at: now) {
        end = .stuck(complaint)
        return true
      }
      return false
    }
    guard hasEnded else {
      if case .stuck = end { return end }
      return .left
    }
    loaded = state.withLock { $0.loaded }
    if let failure = state.withLock({ $0.failure }) { return .failed(failure) }
    return end
  }
}
