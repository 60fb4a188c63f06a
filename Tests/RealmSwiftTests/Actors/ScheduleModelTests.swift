// The model that judges programs of actors: it tells what was committed from what never was.
import ActorSchedules
import TestSupport
import Testing

@Suite(.ownThreads) struct ScheduleModelTests {
  /// A model with two transactions: one of one entry, one of two.
  private static func model() -> (ScheduleModel, first: JournalState) {
    let model = ScheduleModel(JournalState())
    var first = JournalState()
    for (entry, changes) in [(1, [1]), (2, [2, 3])] {
      model.request(entry, .commits, isCancelled: false)
      model.begin(entry, sees: model.committed, isCancelled: false, isWriting: true)
      model.end(entry, changes: changes)
      if entry == 1 { first = model.committed }
    }
    return (model, first)
  }

  @Test func olderStatesMayBeSeen() {
    let (model, first) = Self.model()
    for state in [JournalState(), first, model.committed] {
      model.read(state, least: 0, by: .actor(0))
    }
    model.observe(1, knows: JournalState())
    model.notify(1, first, isWriting: false)
    model.notify(1, model.committed, isWriting: false)
    #expect(model.violations.isEmpty, "\(model.violations)")
  }

  /// Other content of an older state, a part of a transaction, and more than there is.
  @Test(
    arguments: [
      (JournalState(count: 1, digest: 7), "instead of"),
      (JournalState(count: 2, digest: 33), "a part of a transaction"),
      (JournalState(count: 4, digest: 1), "what is not committed"),
    ])
  func whatNeverWasIsAViolation(_ state: JournalState, words: String) {
    let (model, _) = Self.model()
    model.read(state, least: 0, by: .actor(0))
    model.observe(1, knows: JournalState())
    model.notify(1, state, isWriting: false)
    #expect(model.violations.count == 2)
    #expect(model.violations.allSatisfy { $0.contains(words) }, "\(model.violations)")
  }
}
