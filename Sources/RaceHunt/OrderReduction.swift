// Dynamic partial order reduction: all schedules that differ in the order of steps that conflict,
// and few of those that do not.
//
// After each schedule it is looked for pairs of steps that conflict and that nothing has kept in
// their order; where the first of them was chosen, the strand of the second is tried later.

/// Goes through the schedules of a program, one after the other.
protocol Enumeration: Chooser {
  /// Goes to the next schedule.
  func advance()
  var isExhausted: Bool { get }
  /// Whether there were choices that it has not varied.
  var isCut: Bool { get }
}

extension Enumeration {
  /// Only the orders of steps are gone through.
  func passTime(at decision: Int, proposed: Int) -> Int { 0 }
}

/// What a step does with what strands share, by numbers that are the same in all schedules that
/// begin alike.
private struct Access {
  enum Kind { case none, lock, hold, read, write, unknown }

  let kind: Kind
  let object: Int
  /// Whether it may go to an actor, or come from one: to which, the runtime does not tell.
  var isTask: Bool
  /// Locks that the strand gives back before its next point.
  var released: [Int] = []
  /// What the strand changes before its next point, beside that.
  var changed: [Int] = []

  init(_ strand: Strand) {
    isTask = strand.kind != .thread && strand.kind != .queue
    switch strand.pending {
    case .begins, .joins: (kind, object) = (.none, -1)
    case .unknown: (kind, object) = (.unknown, -1)
    case .locks(let mutex): (kind, object) = (.lock, mutex.number)
    case .holds(let mutex): (kind, object) = (.hold, mutex.number)
    case .accesses(let resource, let writes):
      (kind, object) = (
        writes ? .write : .read,
        resource.kind == .code ? Resource.codeWords : resource.number
      )
    }
  }

  /// Whether the order of both may matter.
  ///
  /// Who waits for a lock cannot come before it is given back: that order is fixed.
  func conflicts(with other: Access) -> Bool {
    if isTask && other.isTask || kind == .unknown || other.kind == .unknown { return true }
    if object != -1 && object == other.object {
      switch (kind, other.kind) {
      case (.read, .read), (.lock, .hold), (.hold, .lock): break
      default: return true
      }
    }
    if changed.contains(where: { $0 == other.object || other.changed.contains($0) })
      || other.changed.contains(object)
    {
      return true
    }
    return kind == .write && other.released.contains(object)
      || other.kind == .write && released.contains(other.object)
  }
}

/// All schedules up to the order of steps that do not conflict.
final class OrderReduction: Enumeration {
  /// A decision on the way of the current schedule.
  private struct Node {
    let enabled: [Int]
    var chosen: Int
    /// Whom to try here.
    var wanted: Set<Int>
    var done: Set<Int> = []
  }

  /// A step of the current schedule.
  private struct Step {
    let strand: Int
    var access: Access
    /// The decision that has led to it; nil when there was no choice.
    let node: Int?
    /// How many strands there were before it.
    let strandCount: Int
    /// Whose end it has waited for.
    let joined: Int?
    /// The step that has woken the strand from its rest.
    let cause: Int?
  }

  private var path: [Node] = []
  private var steps: [Step] = []
  private var depth = 0
  private var decided: Int?
  private var isStepOpen = false
  private var strands: [Strand] = []
  private(set) var isExhausted = false
  private(set) var isCut = false
  /// Decisions and steps behind these are not varied: a program without end has too many.
  private static let depthMax = 1_000
  private static let stepsMax = 4_000

  func begin() {
    steps = []
    depth = 0
    decided = nil
    isStepOpen = false
  }

  func choose(_ situation: Situation) -> Int {
    completeStep()
    if situation.isCut { isCut = true }
    if depth < path.count {
      let node = path[depth]
      decided = depth
      depth += 1
      // A program that is not the same twice is noticed by those who compare.
      return situation.ready.contains(node.chosen) ? node.chosen : situation.usual
    }
    if depth >= Self.depthMax {
      isCut = true
      return situation.usual
    }
    let enabled = situation.candidates
    let chosen = enabled.contains(situation.usual) ? situation.usual : enabled[0]
    path.append(Node(enabled: enabled, chosen: chosen, wanted: [chosen]))
    decided = depth
    depth += 1
    return chosen
  }

  func follow(_ strand: Strand, among strands: [Strand]) {
    completeStep()
    self.strands = strands
    var joined: Int?
    if case .joins(let other) = strand.pending { joined = other.number }
    if steps.count < Self.stepsMax {
      steps.append(
        Step(
          strand: strand.number, access: Access(strand), node: decided,
          strandCount: strands.count, joined: joined, cause: strand.cause))
      isStepOpen = true
    } else {
      isCut = true
    }
    decided = nil
  }

  /// The last step has come to its end: what it has given back is known.
  private func completeStep() {
    guard isStepOpen, let last = steps.indices.last else { return }
    isStepOpen = false
    let number = steps[last].strand
    steps[last].access.released = strands[number].released
    steps[last].access.changed = strands[number].changed
  }

  // MARK: - The next schedule

  func advance() {
    completeStep()
    path.removeSubrange(min(depth, path.count)...)
    addReversals()
    while var last = path.popLast() {
      last.done.insert(last.chosen)
      let next = last.wanted.subtracting(last.done).min()
      if let next {
        last.chosen = next
        path.append(last)
        return
      }
    }
    isExhausted = true
  }

  /// Finds the steps of the schedule whose order could have been the other one.
  private func addReversals() {
    // Threads may resume tasks, and which, the runtime does not tell: then all orders matter.
    let hasTasks = strands.contains { strand in
      strand.number > 0 && strand.kind != .thread && strand.kind != .queue
    }
    if hasTasks { for step in steps.indices { steps[step].access.isTask = true } }
    // Of each strand: how many of the steps of each other one have come surely before.
    var clocks: [[Int]] = []
    // Of each step: the clock of its strand behind it.
    var behind: [[Int]] = []
    var last: [Int: Int] = [:]
    func clock(_ strand: Int, before step: Int) -> [Int] {
      while clocks.count <= strand { clocks.append([]) }
      if last[strand] == nil, strand < strands.count, let parent = strands[strand].parent {
        // It comes behind the step that has started it.
        let start = steps[..<step].lastIndex { $0.strand == parent && $0.strandCount <= strand }
        if let start { clocks[strand] = behind[start] }
      }
      return clocks[strand]
    }
    for (number, step) in steps.enumerated() {
      var known = clock(step.strand, before: number)
      if let joined = step.joined, let end = last[joined] { Self.join(&known, behind[end]) }
      if let cause = step.cause, cause < number { Self.join(&known, behind[cause]) }
      addReversal(of: step.strand, step.access, before: number, known)
      for earlier in 0..<number
      where steps[earlier].strand != step.strand
        && steps[earlier].access.conflicts(with: step.access)
      { Self.join(&known, behind[earlier]) }
      while known.count <= step.strand { known.append(-1) }
      known[step.strand] = number
      clocks[step.strand] = known
      behind.append(known)
      last[step.strand] = number
    }
    // Those who have not come to their next step, because they wait, might have come first.
    for strand in strands where !strand.hasEnded && strand.pending.isShared {
      var access = Access(strand)
      access.isTask = access.isTask || hasTasks
      addReversal(
        of: strand.number, access, before: steps.count,
        clock(strand.number, before: steps.count))
    }
  }

  /// - Parameter known: the last step of each strand that surely comes before.
  private func addReversal(of strand: Int, _ access: Access, before number: Int, _ known: [Int]) {
    for earlier in stride(from: number - 1, through: 0, by: -1) {
      let other = steps[earlier]
      if other.strand == strand || !other.access.conflicts(with: access) { continue }
      if other.strand < known.count && known[other.strand] >= earlier { continue }
      guard let node = other.node else { return }
      if path[node].enabled.contains(strand) {
        path[node].wanted.insert(strand)
      } else {
        path[node].wanted.formUnion(path[node].enabled)
      }
      return
    }
  }

  private static func join(_ known: inout [Int], _ other: [Int]) {
    while known.count < other.count { known.append(-1) }
    for (strand, step) in other.enumerated() where step > known[strand] { known[strand] = step }
  }
}
