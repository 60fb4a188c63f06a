// How these tests start processes by Foundation: one at a time. The tool has `StartedProcess`.
import Foundation

extension Process {
  private static let starting = NSLock()

  /// Runs the process while no other one is being started.
  ///
  /// Foundation hears of the end of a child by a handle. A child that is started at the same moment
  /// inherits it, and the end of the first is not known before that of the second: so it was of 2
  /// in 1,285, where another thread started children too.
  func start() throws { try Self.starting.withLock { try run() } }
}
