// Partial order sampling: schedules that differ only in the order of steps that have nothing to do
// with each other are not told apart.

/// Each step that waits to be made has a random priority, and the highest goes first.
///
/// Steps that conflict with the one that was made get new priorities, so that what comes next of
/// them does not follow from what came before.
final class PartialOrderWalk: Chooser {
  private var random: Random
  /// Of the step before which a strand stands; nil of one that was not looked at yet.
  private var priorities: [UInt64?] = []

  init(_ random: Random) { self.random = random }

  func begin() {}

  func choose(_ situation: Situation) -> Int {
    let candidates = situation.candidates
    while priorities.count < situation.strands.count { priorities.append(nil) }
    for strand in candidates where priorities[strand] == nil { priorities[strand] = random.next() }
    return candidates.max { priorities[$0]! < priorities[$1]! }!
  }

  func follow(_ strand: Strand, among strands: [Strand]) {
    if strand.number < priorities.count { priorities[strand.number] = nil }
    for other in strands where other !== strand && other.number < priorities.count {
      if other.pending.conflicts(with: strand.pending) { priorities[other.number] = nil }
    }
  }
}
