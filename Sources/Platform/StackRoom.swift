// What is left of the calling thread's stack, and how deep it is in calls that count themselves.

/// The room on the calling thread's stack.
package enum StackRoom {
  /// What a few more calls, and the report of a mistake, need.
  private static let bytesMin = 128 << 10

  /// Whether a few more calls might not fit.
  package static var isLow: Bool { shim_stack_left() < bytesMin }
}

/// How many calls inside of each other the calling thread has counted.
package enum NestingDepth {
  /// Counts one more; returns how many there are.
  package static func enter() -> Int { Int(shim_enter_nesting()) }

  /// Ends the last one.
  package static func leave() { shim_leave_nesting() }
}
