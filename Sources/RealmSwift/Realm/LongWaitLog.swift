// What the log says of long waits for a write transaction: one line a second in all, however many
// threads wait.
package import Storage

/// Turns news of long waits into lines.
package struct LongWaitLog {
  private static let pauseNanoseconds: UInt64 = 1_000_000_000

  /// When the last line was made.
  private var last: UInt64?
  private var leftOut = 0

  package init() {}

  /// The line for a wait; nil when there was one less than a second ago.
  package mutating func line(for wait: LongWait, at now: UInt64) -> String? {
    // Said once, and more than a long wait.
    if let threads = wait.busyThreads {
      return
        "None of the \(threads) threads that run tasks has been free for seconds. The write "
        + "transaction of '\(wait.path)' belongs to \(wait.holder ?? "nobody yet"), which needs one "
        + "of them to go on if it is suspended; waiting for it: \(wait.waitersInAll). If the other "
        + "threads wait for something that one of these waits keeps from happening, nobody goes on "
        + "ever. Do not keep transactions open across suspensions, do not block threads that run "
        + "tasks (semaphores, sync), and use asyncWrite in tasks."
    }
    if let last, now &- last < Self.pauseNanoseconds {
      leftOut += 1
      return nil
    }
    last = now
    let more = wait.waitersInAll - wait.waiters.count
    let waiters = wait.waiters.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    let others =
      leftOut > 0 ? " (Nothing was said of \(leftOut) other such waits since the last line.)" : ""
    leftOut = 0
    return
      "A write transaction of '\(wait.path)' has been waited for for more than a second. It belongs to "
      + "\(wait.holder ?? "nobody yet"); waiting: \(waiters). Do not keep transactions open across "
      + "suspensions, and use asyncWrite in tasks.\(others)"
  }
}
