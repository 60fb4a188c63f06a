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
