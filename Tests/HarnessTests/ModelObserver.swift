// Observers of the model engine: a thread that compares each version with the one that it knows.
import Harness
import Platform

/// An observer that is right by construction, or wrong in one way.
final class ModelObserver: EngineObserver {
  private struct Content: ObservedContent {
    let version: UInt64
    let rows: [Row]
    var count: Int { rows.count }
    func read(_ position: Int, into row: inout Row) { row = rows[position] }

    init(_ state: ModelVersion, _ part: ObservedPart) {
      version = state.number
      let there = state.rows.filter { $0.id >= 0 }
      rows =
        switch part {
        case .all: there
        case .young: there.filter { $0.age < 50 }
        case .byScore: there.sorted { ($0.score, $0.id) < ($1.score, $1.id) }
        }
    }
  }

  private struct State: Sendable {
    var known: Content?
    var isEnded = false
    var calls = 0
  }

  private let engine: ModelEngine
  private let part: ObservedPart
  private let told: @Sendable (ObservedChange, any ObservedContent) -> Void
  /// The observer's place: one at a time is in it.
  private let state = Monitor(State())

  init(
    _ engine: ModelEngine, _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) {
    self.engine = engine
    self.part = part
    self.told = told
    let thread = Thread.start(name: "model observer") { [self] in
      while !state.withLock({ $0.isEnded }) {
        state.withLock { tell(&$0) }
        let known = state.withLock { $0.known?.version ?? 0 }
        _ = engine.state.wait(nanoseconds: 2_000_000) { $0.versions.last!.number > known }
      }
    }
    thread.detach()
  }

  func refresh(_ body: @escaping @Sendable (any ObservedContent) -> Void) {
    state.withLock { state in
      tell(&state)
      body(state.known!)
    }
  }

  func end() { state.withLock { $0.isEnded = true } }

  private func tell(_ state: inout State) {
    if state.isEnded && (engine.bug != .toldAfterEnd || state.known == nil) { return }
    let newest = engine.newest
    let content = Content(newest, part)
    guard let known = state.known else {
      var change = ObservedChange()
      change.isFirst = true
      state.known = content
      if engine.bug != .neverTold { told(change, content) }
      return
    }
    if content.version == known.version { return }
    var base = known
    if engine.bug == .lostCommitOfObserver, content.version > known.version + 1,
      let before = engine.state.withLock({ state in
        state.versions.last { $0.number + 1 == newest.number }
      })
    {
      base = Content(before, part)
    }
    state.known = content
    if engine.bug == .neverTold { return }
    var change = Self.difference(base, content)
    state.calls += 1
    if engine.bug == .droppedDeletion, state.calls % 5 == 0, !change.deletions.isEmpty {
      change.deletions.removeLast()
    }
    if engine.bug == .shiftedPosition, change.deletions.count >= 2 { change.deletions[1] += 1 }
    if change.deletions.isEmpty && change.insertions.isEmpty && change.modifications.isEmpty {
      return
    }
    told(change, content)
  }

  /// Objects with another score are taken out and put in again.
  private static func difference(_ old: Content, _ new: Content) -> ObservedChange {
    func places(_ content: Content) -> [Int: (position: Int, row: Row)] {
      Dictionary(
        uniqueKeysWithValues: content.rows.enumerated().map { ($1.id, ($0, $1)) })
    }
    let (before, after) = (places(old), places(new))
    var change = ObservedChange()
    for (position, row) in old.rows.enumerated() where after[row.id]?.row.score != row.score {
      change.deletions.append(position)
    }
    for (position, row) in new.rows.enumerated() {
      if let known = before[row.id]?.row, known.score == row.score {
        if known.digest != row.digest { change.modifications.append(position) }
      } else {
        change.insertions.append(position)
      }
    }
    return change
  }
}
