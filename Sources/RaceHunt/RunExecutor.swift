// Where the jobs of tasks go: to the run whose executor the task prefers, or whose thread started
// it.
internal import CRaceHunt
internal import Glibc
internal import Synchronization

/// The executor that the tasks of a run prefer.
final class RunExecutor: TaskExecutor, @unchecked Sendable {
  // @unchecked: `run` is set once; what other threads bring lies in `inbox`.
  struct Arrival {
    let job: UnownedJob
    let prefersExecutor: Bool
  }

  private weak let run: Run?
  /// Jobs from threads that are not under control.
  private let inbox = Synchronization.Mutex<[Arrival]>([])
  private let hasArrivals = Synchronization.Atomic(false)

  init(_ run: Run) { self.run = run }

  func enqueue(_ job: consuming ExecutorJob) {
    receive(UnownedJob(job), prefersExecutor: true)
  }

  private func receive(_ job: UnownedJob, prefersExecutor: Bool) {
    if let worker = Worker.current, let current = worker.run, current === run {
      current.enqueue(job, prefersExecutor: prefersExecutor)
    } else {
      inbox.withLock { $0.append(Arrival(job: job, prefersExecutor: prefersExecutor)) }
      hasArrivals.store(true, ordering: .releasing)
    }
  }

  func takeArrivals() -> [Arrival] {
    guard hasArrivals.load(ordering: .relaxed), hasArrivals.exchange(false, ordering: .acquiring)
    else { return [] }
    return inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox
    }
  }

  /// Waits for something from outside; false when nothing came in the time.
  func waitForArrival(_ nanoseconds: UInt64) -> Bool {
    var waited: UInt64 = 0
    while !hasArrivals.load(ordering: .acquiring) {
      if waited >= nanoseconds { return false }
      usleep(500)
      waited += 500_000
    }
    return true
  }

  /// Takes the jobs of tasks without a preference that a controlled thread starts.
  ///
  /// Those of `Task {}` and `Task.detached` have none. Done once a process; false when this runtime
  /// has no such hook.
  static let takesUnstructuredTasks: Bool = {
    race_hunt_install { pointer in
      guard let run = Worker.current?.run, let pointer else { return 0 }
      // Sound: an UnownedJob is one pointer, and the hook hands over that of a job to run once.
      run.enqueue(unsafeBitCast(pointer, to: UnownedJob.self), prefersExecutor: false)
      return 1
    } != 0
  }()
}
