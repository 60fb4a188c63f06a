// The same program on threads of the machine, uncontrolled: what exploring is compared with.
internal import Dispatch

/// Runs programs as they would run anywhere.
package enum Stress {
  private static let failures = Mutex<[String]>([])
  /// One run at a time: threads of the machine do not tell whose failures theirs are.
  private static let turn = Mutex(())

  /// A failed check, or an error of a thread.
  static func note(_ text: String) { failures.withLock { $0.append(text) } }

  /// Runs a program again and again until a check fails or the time is over.
  ///
  /// A deadlock, which nothing ends, is the failure of a program that has no end in a second; its
  /// threads stay behind. They are its own, so that other programs find theirs.
  /// - Returns: runs and seconds to the failure, or `failure` nil.
  package static func run(
    _ program: @escaping Program, nanoseconds: UInt64,
    isInterrupted: () -> Bool = { false }
  ) -> (runs: Int, seconds: Double, failure: String?) {
    turn.lock()
    defer { turn.unlock() }
    failures.withLock { $0 = [] }
    let executor = StressThreads()
    defer { executor.stop() }
    let start = Explorer.nanoseconds()
    var runs = 0
    while Explorer.nanoseconds() - start < nanoseconds, !isInterrupted() {
      let ended = Dispatch.DispatchSemaphore(value: 0)
      Task.detached(executorPreference: executor) {
        do { try await program() } catch { note("the program throws \(words(of: error))") }
        ended.signal()
      }
      runs += 1
      if ended.wait(timeout: .now() + .seconds(1)) == .timedOut {
        return (runs, seconds(since: start), "does not end")
      }
      if let failure = failures.withLock({ $0.first }) {
        return (runs, seconds(since: start), failure)
      }
    }
    return (runs, seconds(since: start), nil)
  }

  private static func seconds(since start: UInt64) -> Double {
    Double(Explorer.nanoseconds() - start) / 1e9
  }
}

/// Threads that run the tasks of one program: one that never ends blocks these, and not the few
/// that the process has for the tasks of all.
private final class StressThreads: TaskExecutor {
  private static let count = 4

  private struct Inbox: Sendable {
    var jobs: [UnownedJob] = []
    var isStopped = false
  }

  private let inbox = Mutex(Inbox())
  /// As many as there are jobs, and one for each thread at the end.
  private let arrivals = Dispatch.DispatchSemaphore(value: 0)

  init() {
    for _ in 0..<Self.count { Thread.start { [self] in work() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    inbox.withLock { $0.jobs.append(job) }
    arrivals.signal()
  }

  /// Ends the threads that nothing blocks.
  func stop() {
    inbox.withLock { $0.isStopped = true }
    for _ in 0..<Self.count { arrivals.signal() }
  }

  private func work() {
    while true {
      arrivals.wait()
      let (job, isStopped) = inbox.withLock { inbox in
        (inbox.jobs.isEmpty ? nil : inbox.jobs.removeFirst(), inbox.isStopped)
      }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else if isStopped {
        return
      }
    }
  }
}
