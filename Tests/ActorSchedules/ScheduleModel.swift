// What a program of actors must do, whatever the order of its steps: the state that a sequential execution
// of the same transactions would have, and what each task has been promised.
internal import Platform

/// The content of the file: every transaction adds one entry, which changes both numbers.
package struct JournalState: Equatable, Sendable {
  package var count = 0
  package var digest = 0

  package init() {}

  package init(count: Int, digest: Int) {
    self.count = count
    self.digest = digest
  }

  package mutating func append(_ entry: Int) {
    count += 1
    digest = digest &* 31 &+ entry
  }
}

/// Judges one schedule while it runs; used by one thread, that of the schedule.
package final class ScheduleModel: @unchecked Sendable {
  // @unchecked: every call comes from a job of a stepped executor, hence from its thread.

  /// What a transaction is going to do.
  package enum Ending: Sendable {
    case commits, fails, cancels, commitsInside, cancelsAndBegins
  }

  /// How an asynchronous write has ended for its task.
  package enum Outcome: Sendable { case done, refused, cancelled, failed }

  private struct Write {
    let ending: Ending
    let wasCancelledBefore: Bool
    var runs = 0
    var completions = 0
    var isFinished = false
  }

  /// What the file holds: every transaction begins on it.
  package private(set) var committed: JournalState
  /// Every state that the file has held, by its number of entries.
  private var history: [Int: JournalState]
  /// Entries that everybody has to see.
  package private(set) var visibleCount: Int
  package private(set) var violations: [String] = []
  /// What has happened, in order; made to text only when it is asked for.
  package private(set) var events: [@Sendable () -> String] = []
  /// How many tasks were cancelled before their write.
  package private(set) var cancelledWrites = 0
  /// The transaction that is open now.
  private var running: Int?
  private var writes: [Int: Write] = [:]
  private var observers: [Int: JournalState] = [:]

  package init(_ start: JournalState) {
    committed = start
    history = [start.count: start]
    visibleCount = start.count
  }

  package func note(_ line: @escaping @Sendable @autoclosure () -> String) { events.append(line) }

  package func violate(_ text: String) {
    violations.append(text)
    note("VIOLATION: \(text)")
  }

  // MARK: - Writes

  package func request(_ entry: Int, _ ending: Ending, isCancelled: Bool) {
    note("\(entry) asks, \(ending)\(isCancelled ? ", cancelled" : "")")
    writes[entry] = Write(ending: ending, wasCancelledBefore: isCancelled)
  }

  /// A transaction has begun, and shows this.
  package func begin(_ entry: Int, sees state: JournalState, isCancelled: Bool, isWriting: Bool) {
    note("\(entry) begins")
    if !isWriting { violate("the block of \(entry) runs outside of a transaction") }
    if let running { violate("\(entry) begins inside the transaction of \(running)") }
    if isCancelled { violate("the block of \(entry) runs although its task was cancelled") }
    if state != committed {
      violate("\(entry) begins on \(state) instead of \(committed)")
    }
    guard writes[entry]?.isFinished == false else {
      return violate("the block of \(entry) runs after its end")
    }
    writes[entry]!.runs += 1
    if writes[entry]!.runs > 1 { violate("the block of \(entry) runs twice") }
    running = entry
  }

  /// The transaction goes on after a suspension.
  package func goOn(_ entry: Int, isWriting: Bool) {
    if running != entry || !isWriting { violate("\(entry) has lost its transaction") }
  }

  /// The block ends; its transaction is committed unless it fails or cancels.
  package func end(_ entry: Int, changes: [Int]) {
    note("\(entry) ends")
    if running != entry { violate("\(entry) ends, but \(running ?? -1) is running") }
    running = nil
    for change in changes { committed.append(change) }
    history[committed.count] = committed
  }

  /// The task, or the completion, hears how it ended.
  package func finish(_ entry: Int, _ outcome: Outcome, sees state: JournalState?) {
    note("\(entry) \(outcome)")
    guard var write = writes[entry], !write.isFinished else {
      return violate("\(entry) has ended twice")
    }
    write.isFinished = true
    writes[entry] = write
    if outcome == .cancelled { cancelledWrites += 1 }
    let isExpected =
      switch outcome {
      case .done: write.runs == 1 && write.ending != .fails && !write.wasCancelledBefore
      case .refused: write.runs == 1 && write.ending == .fails
      case .cancelled: write.runs == 0
      case .failed: false
      }
    if !isExpected {
      violate("\(entry), which \(write.ending), has ended as \(outcome) after \(write.runs) runs")
    }
    guard let state, outcome == .done else { return }
    // Others may have written since, but nothing is taken back.
    judge(state, by: "\(entry)")
    visibleCount = max(visibleCount, state.count)
  }

  // MARK: - Blocks with a completion

  package func complete(_ entry: Int) {
    note("\(entry) completes")
    writes[entry]!.completions += 1
    if writes[entry]!.completions > 1 { violate("the completion of \(entry) is called twice") }
    if writes[entry]!.runs == 0 { violate("\(entry) completes without its block") }
    if writes[entry]!.isFinished { violate("\(entry) completes although it was dropped") }
  }

  /// Drops a queued block, or the completion of one that has run.
  package func drop(_ entry: Int) {
    note("\(entry) dropped")
    if writes[entry]!.completions == 0 { writes[entry]!.isFinished = true }
  }

  /// After the last step.
  package func checkEnd() {
    if let running { violate("\(running) has never ended") }
    for (entry, write) in writes.sorted(by: { $0.key < $1.key }) where !write.isFinished {
      if write.completions != 1 || write.runs != 1 {
        violate("\(entry): \(write.runs) runs, \(write.completions) completions")
      }
    }
  }

  // MARK: - Observing

  /// An observer of the object has begun, which knows this state.
  package func observe(_ observer: Int, knows state: JournalState) {
    note("\(observer) observes")
    observers[observer] = state
  }

  /// An observer is told of a change.
  package func notify(_ observer: Int, _ state: JournalState?, isWriting: Bool) {
    guard let state else { return violate("the observer \(observer) is told of an error") }
    note("\(observer) hears of a change")
    if isWriting { violate("\(observer) hears of a change inside of a transaction") }
    guard let known = observers[observer] else {
      return violate("\(observer) hears of a change after its end")
    }
    // The last entry of a transaction may have undone what an earlier one of it has done.
    if state.count <= known.count { violate("\(observer) hears of \(state) after \(known)") }
    judge(state, by: "the observer \(observer)")
    observers[observer] = state
  }

  /// After all notifications: what observers know is what there is.
  package func endObservers() {
    for (observer, state) in observers.sorted(by: { $0.key < $1.key }) where state != committed {
      violate("\(observer) knows \(state) and was not told of \(committed)")
    }
    observers = [:]
  }

  // MARK: - Reading

  /// A Realm shows this after it was brought up to date at a time when `least` entries were visible.
  package func read(_ state: JournalState, least: Int, by place: String) {
    note("\(place) sees \(state.count - least)")
    if state.count < least { violate("\(place) sees \(state.count) entries, not \(least)") }
    judge(state, by: place)
  }

  /// What anybody sees is a state that the file has held, the newest or an older one.
  private func judge(_ state: JournalState, by place: String) {
    if state.count > committed.count {
      violate("\(place) sees what is not committed: \(state)")
    } else if let held = history[state.count] {
      if state != held { violate("\(place) sees \(state) instead of \(held)") }
    } else {
      violate("\(place) sees a part of a transaction: \(state)")
    }
  }
}
