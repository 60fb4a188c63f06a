// The tasks of one run of a program, so that its steps can cancel them.
package import RealmSwift

/// The tasks of a program; used by one thread, that of the schedule.
package final class TaskList: @unchecked Sendable {
  // @unchecked: every call comes from the stage or from a job of its executor, hence from one
  // thread. Unchecked exclusivity: for the same reason, and what foreign code could come back here
  // is called with copies.
  @exclusivity(unchecked) private var tasks: [Task<Void, Never>] = []
  @exclusivity(unchecked) private var hasEnded: [Bool]
  @exclusivity(unchecked) private var tokens: [NotificationToken] = []

  package init(count: Int) {
    tasks.reserveCapacity(count)
    hasEnded = Array(repeating: false, count: count)
  }

  package func add(_ task: Task<Void, Never>) { tasks.append(task) }
  package func keep(_ token: NotificationToken) { tokens.append(token) }

  package func dropTokens() {
    let dropped = tokens
    tokens = []
    for token in dropped { token.invalidate() }
  }

  package func end(_ number: Int) { hasEnded[number] = true }

  /// Nothing is done to a task that has not been made.
  package func cancel(_ number: Int) {
    let task = tasks.indices.contains(number) ? tasks[number] : nil
    task?.cancel()
  }

  package var unfinished: [Int] { tasks.indices.filter { !hasEnded[$0] } }
}
