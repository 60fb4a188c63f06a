// Runs tasks and actors one job at a time, in an order that its caller picks: a race between actors
// becomes a list of numbers that can be drawn from a seed and repeated.
internal import Platform

/// Runs the jobs of tasks that prefer it, and of the default actors that these tasks call.
///
/// Start tasks with `Task(executorPreference:)`; child tasks inherit the preference. Nothing runs
/// but inside of `run`.
package final class SteppedExecutor: TaskExecutor, @unchecked Sendable {
  // @unchecked: `ready` is touched only by the thread whose token is in `runner`, which is set
  // while that thread is inside of `run`. Unchecked exclusivity: for the same reason; no job runs
  // during an access.

  /// The thread that is inside of `run`; 0 for none.
  private let runner = Atomic<UInt64>(0)
  /// Jobs that can run, in the order in which they became able to.
  @exclusivity(unchecked) private var ready: [UnownedJob] = []
  /// Jobs that have come from other threads, or while none runs jobs.
  private let arrived = Monitor<[UnownedJob]>([])
  private let hasArrived = Atomic(false)

  package init() { ready.reserveCapacity(16) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Relaxed: a thread finds its own token, or not, whatever others do.
    if runner.load(ordering: .relaxed) == ThreadToken.current.rawValue {
      ready.append(job)
    } else {
      arrived.withLock { $0.append(job) }
      hasArrived.store(true, ordering: .releasing)
    }
  }

  /// Runs jobs on the calling thread until there is none.
  ///
  /// - Parameter choose: picks one of so many jobs that can run, given the number of the step.
  /// - Returns: the number of steps.
  package func run(choose: (_ step: Int, _ count: Int) -> Int) -> Int {
    runner.store(ThreadToken.current.rawValue, ordering: .relaxed)
    defer { runner.store(0, ordering: .relaxed) }
    var step = 0
    while true {
      collect()
      if ready.isEmpty { return step }
      // What the caller does there, a cancellation perhaps, may add jobs behind.
      let job = take(choose(step, ready.count))
      job.runSynchronously(on: asUnownedTaskExecutor())
      step += 1
    }
  }

  private func take(_ index: Int) -> UnownedJob {
    let job = ready[index]
    for later in index + 1..<ready.count { ready[later - 1] = ready[later] }
    ready.removeLast()
    return job
  }

  private func collect() {
    guard hasArrived.load(ordering: .relaxed),
      hasArrived.exchange(false, ordering: .acquiringAndReleasing)
    else { return }
    arrived.withLock { arrived in
      ready.append(contentsOf: arrived)
      arrived.removeAll(keepingCapacity: true)
    }
  }
}
