// What a writer tells those who ask about the file's space while it has the write lock: noted when
// it leaves the lock and somebody has asked, so that nobody waits for the lock to learn it.
internal import Platform

/// The figures that were noted last, and whether somebody wants new ones.
package final class SpaceNotes: Sendable {
  /// What only the owner of the write lock knows.
  package struct Figures: Sendable {
    package var freeBytes: UInt64 = 0
    package var heldBytes: UInt64 = 0
    package var liveBytes: UInt64 = 0
    package var commits: UInt64 = 0

    package init() {}
  }

  private struct State: Sendable {
    var figures: Figures?
    var notes = 0
  }

  private let wanted = Atomic<Bool>(false)
  private let state = Monitor(State())

  init() {}

  /// Whether the writer that leaves the lock is to note its figures.
  ///
  /// Relaxed: one commit later is soon enough.
  var areWanted: Bool { wanted.load(ordering: .relaxed) }

  func note(_ figures: Figures) {
    wanted.store(false, ordering: .relaxed)
    state.withLock { state in
      state.figures = figures
      state.notes += 1
    }
    state.notifyAll()
  }

  /// Waits for the next figures; the last ones if none come within the time, nil if there are none.
  func next(withinNanoseconds nanoseconds: UInt64) -> Figures? {
    let before = state.withLock { $0.notes }
    wanted.store(true, ordering: .relaxed)
    _ = state.wait(nanoseconds: nanoseconds) { $0.notes != before }
    return state.withLock { $0.figures }
  }
}
