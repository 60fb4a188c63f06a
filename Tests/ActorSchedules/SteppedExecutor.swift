// Runs tasks and actors one job at a time, in an order that its caller picks: a race between actors becomes
// a list of numbers that can be drawn from a seed and repeated.
internal import Platform

/// Runs the jobs of tasks that prefer it, and of the default actors that these tasks call.
///
/// Start tasks with `Task(executorPreference:)`; child tasks inherit the preference. Nothing runs but
/// inside of `run`.
package final class SteppedExecutor: TaskExecutor {
  /// Jobs that can run, in the order in which they became able to.
  private let arrived = Monitor<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    arrived.withLock { $0.append(job) }
  }

  /// Runs jobs on the calling thread until there is none.
  ///
  /// - Parameter choose: picks one of so many jobs that can run, given the number of the step.
  /// - Returns: the number of steps.
  package func run(choose: (_ step: Int, _ count: Int) -> Int) -> Int {
    var ready: [UnownedJob] = []
    var step = 0
    while true {
      collect(&ready)
      if ready.isEmpty { return step }
      let index = choose(step, ready.count)
      // What the caller did in between, a cancellation perhaps, may have added jobs.
      let job = ready.remove(at: index)
      job.runSynchronously(on: asUnownedTaskExecutor())
      step += 1
    }
  }

  private func collect(_ ready: inout [UnownedJob]) {
    arrived.withLock { arrived in
      ready.append(contentsOf: arrived)
      arrived.removeAll(keepingCapacity: true)
    }
  }
}
