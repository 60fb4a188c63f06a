// What a program of actors must do, whatever the order of its steps: the state that a sequential
// execution of the same transactions would have, and what each task has been promised.
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
  // @unchecked: every call comes from a job of a stepped executor, hence from its thread. Unchecked
  // exclusivity, below: for the same reason, and no access runs foreign code.

  /// What a transaction is going to do.
  package enum Ending: Sendable {
    case commits, fails, cancels, commitsInside, cancelsAndBegins
  }

  /// How an asynchronous write has ended for its task.
  package enum Outcome: Sendable { case done, refused, cancelled, failed }

  /// Where a state is seen.
  package enum Place: Sendable, CustomStringConvertible {
    case actor(Int), write(Int), observer(Int)

    package var description: String {
      switch self {
      case .actor(let number): "actor \(number)"
      case .write(let entry): "\(entry)"
      case .observer(let observer): "the observer \(observer)"
      }
    }
  }

  private struct Write {
    let entry: Int
    let ending: Ending
    let wasCancelledBefore: Bool
    var runs = 0
    var completions = 0
    var isFinished = false
  }

  private struct Observer {
    let number: Int
    var knows: JournalState
  }

  /// What the file holds: every transaction begins on it.
  @exclusivity(unchecked) package private(set) var committed: JournalState
  /// Every state that the file has held, by the number of entries that it has more than the first;
  /// nil inside of a transaction.
  @exclusivity(unchecked) private var history: [JournalState?]
  private let startCount: Int
  /// Entries that everybody has to see.
  @exclusivity(unchecked) package private(set) var visibleCount: Int
  @exclusivity(unchecked) package private(set) var violations: [String] = []
  /// What has happened, in order.
  @exclusivity(unchecked) package private(set) var events: [ScheduleEvent] = []
  /// How many tasks were cancelled before their write.
  @exclusivity(unchecked) package private(set) var cancelledWrites = 0
  /// The transaction that is open now.
  @exclusivity(unchecked) private var running: Int?
  // Few of each: they are looked for one after the other.
  @exclusivity(unchecked) private var writes: [Write] = []
  @exclusivity(unchecked) private var observers: [Observer] = []

  package init(_ start: JournalState) {
    committed = start
    startCount = start.count
    visibleCount = start.count
    history = []
    history.reserveCapacity(32)
    history.append(start)
    writes.reserveCapacity(16)
    events.reserveCapacity(64)
  }

  package func note(_ event: ScheduleEvent) { events.append(event) }

  package func violate(_ text: String) {
    violations.append(text)
    note(.violation(text))
  }

  private func index(of entry: Int) -> Int? { writes.firstIndex { $0.entry == entry } }

  // MARK: - Writes

  package func request(_ entry: Int, _ ending: Ending, isCancelled: Bool) {
    note(.asks(entry, ending, isCancelled: isCancelled))
    if index(of: entry) != nil { violate("\(entry) asks twice") }
    writes.append(Write(entry: entry, ending: ending, wasCancelledBefore: isCancelled))
  }

  /// A transaction has begun, and shows this.
  package func begin(_ entry: Int, sees state: JournalState, isCancelled: Bool, isWriting: Bool) {
    note(.begins(entry))
    if !isWriting { violate("the block of \(entry) runs outside of a transaction") }
    if let running { violate("\(entry) begins inside the transaction of \(running)") }
    if isCancelled { violate("the block of \(entry) runs although its task was cancelled") }
    if state != committed {
      violate("\(entry) begins on \(state) instead of \(committed)")
    }
    guard let index = index(of: entry), !writes[index].isFinished else {
      return violate("the block of \(entry) runs after its end")
    }
    writes[index].runs += 1
    if writes[index].runs > 1 { violate("the block of \(entry) runs twice") }
    running = entry
  }

  /// The transaction goes on after a suspension.
  package func goOn(_ entry: Int, isWriting: Bool) {
    if running != entry || !isWriting { violate("\(entry) has lost its transaction") }
  }

  /// The block ends; its transaction is committed unless it fails or cancels.
  package func end(_ entry: Int, changes: [Int]) {
    note(.ends(entry))
    if running != entry { violate("\(entry) ends, but \(running ?? -1) is running") }
    running = nil
    for change in changes { committed.append(change) }
    while history.count < committed.count - startCount { history.append(nil) }
    // Nothing was changed: it is there.
    if history.count == committed.count - startCount { history.append(committed) }
  }

  /// The task, or the completion, hears how it ended.
  package func finish(_ entry: Int, _ outcome: Outcome, sees state: JournalState?) {
    note(.finishes(entry, outcome))
    guard let index = index(of: entry), !writes[index].isFinished else {
      return violate("\(entry) has ended twice")
    }
    writes[index].isFinished = true
    let write = writes[index]
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
    judge(state, by: .write(entry))
    visibleCount = max(visibleCount, state.count)
  }

  // MARK: - Blocks with a completion

  package func complete(_ entry: Int) {
    note(.completes(entry))
    guard let index = index(of: entry) else {
      return violate("\(entry) completes and was never asked for")
    }
    writes[index].completions += 1
    if writes[index].completions > 1 { violate("the completion of \(entry) is called twice") }
    if writes[index].runs == 0 { violate("\(entry) completes without its block") }
    if writes[index].isFinished { violate("\(entry) completes although it was dropped") }
  }

  /// Drops a queued block, or the completion of one that has run.
  package func drop(_ entry: Int) {
    note(.isDropped(entry))
    guard let index = index(of: entry) else {
      return violate("\(entry) is dropped and was never asked for")
    }
    if writes[index].completions == 0 { writes[index].isFinished = true }
  }

  /// After the last step.
  package func checkEnd() {
    if let running { violate("\(running) has never ended") }
    for write in writes where !write.isFinished {
      if write.completions != 1 || write.runs != 1 {
        violate("\(write.entry): \(write.runs) runs, \(write.completions) completions")
      }
    }
  }

  // MARK: - Observing

  /// An observer of the object has begun, which knows this state.
  package func observe(_ observer: Int, knows state: JournalState) {
    note(.observes(observer))
    observers.append(Observer(number: observer, knows: state))
  }

  /// An observer is told of a change.
  package func notify(_ observer: Int, _ state: JournalState?, isWriting: Bool) {
    guard let state else { return violate("the observer \(observer) is told of an error") }
    note(.hears(observer))
    if isWriting { violate("\(observer) hears of a change inside of a transaction") }
    guard let index = observers.firstIndex(where: { $0.number == observer }) else {
      return violate("\(observer) hears of a change after its end")
    }
    // The last entry of a transaction may have undone what an earlier one of it has done.
    let known = observers[index].knows
    if state.count <= known.count { violate("\(observer) hears of \(state) after \(known)") }
    judge(state, by: .observer(observer))
    observers[index].knows = state
  }

  /// After all notifications: what observers know is what there is.
  package func endObservers() {
    for observer in observers where observer.knows != committed {
      violate("\(observer.number) knows \(observer.knows) and was not told of \(committed)")
    }
    observers = []
  }

  // MARK: - Reading

  /// A Realm shows this after it was brought up to date at a time when `least` entries were
  /// visible.
  package func read(_ state: JournalState, least: Int, by place: Place) {
    note(.sees(place, more: state.count - least))
    if state.count < least { violate("\(place) sees \(state.count) entries, not \(least)") }
    judge(state, by: place)
  }

  /// What anybody sees is a state that the file has held, the newest or an older one.
  private func judge(_ state: JournalState, by place: Place) {
    if state.count > committed.count {
      violate("\(place) sees what is not committed: \(state)")
      return
    }
    let index = state.count - startCount
    if history.indices.contains(index), let held = history[index] {
      if state != held { violate("\(place) sees \(state) instead of \(held)") }
    } else {
      violate("\(place) sees a part of a transaction: \(state)")
    }
  }
}
