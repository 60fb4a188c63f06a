// Exit codes that users script against; they only grow.

/// How `realm-bench` ends.
package enum ExitCode: Int32, Sendable {
  case success = 0
  /// The run failed: file, disk or engine error; for `check`: cannot be opened, foreign or damaged.
  case failed = 1
  /// A regression, or a threshold missed.
  case thresholdMissed = 2
  case invariantViolated = 3
  /// Not steady, generator saturated, too few samples; under --strict.
  case inconclusive = 4
  case baselineMissing = 5
  case usage = 64
  case internalError = 70
  case interrupted = 130
}
