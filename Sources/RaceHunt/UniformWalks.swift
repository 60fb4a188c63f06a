// Random walks in which all orders of steps are about equally likely, which they are not in a plain
// one: there the strand with few steps comes early in almost all schedules.

/// Steps that strands have still to make, as far as the schedules before tell.
private struct Remaining {
  private(set) var steps: [Double] = []

  init(_ steps: [Double]) { self.steps = steps }

  mutating func count(_ strand: Int) {
    while steps.count <= strand { steps.append(0) }
    steps[strand] -= 1
  }

  func of(_ strand: Int) -> Double { strand < steps.count ? max(steps[strand], 0) : 0 }

  /// A strand, as likely as it has steps left; nil when no steps are expected.
  ///
  /// Strands that have ended have none, and those that are not started yet count.
  func draw(_ random: inout Random, _ strands: [Strand]) -> Int? {
    var total = 0.0
    for strand in steps.indices where strand >= strands.count || !strands[strand].hasEnded {
      total += max(steps[strand], 0)
    }
    if total <= 0 { return nil }
    var drawn = random.nextFraction() * total
    var last: Int?
    for strand in steps.indices where strand >= strands.count || !strands[strand].hasEnded {
      if steps[strand] <= 0 { continue }
      last = strand
      drawn -= steps[strand]
      if drawn < 0 { break }
    }
    return last
  }
}

/// Uniform random walk: a strand is as likely as the steps that it, and those that it will start,
/// have still to make.
final class UniformWalk: Chooser {
  private var random: Random
  private let profile: Profile
  private var remaining = Remaining([])
  private var weights: [Double] = []

  init(_ random: Random, _ profile: Profile) {
    self.random = random
    self.profile = profile
  }

  func begin() { remaining = Remaining(profile.steps) }

  func choose(_ situation: Situation) -> Int {
    let candidates = situation.candidates
    // One that is expected to have ended, and has not, has a step more.
    weights.removeAll(keepingCapacity: true)
    for strand in candidates { weights.append(max(remaining.of(strand), 1)) }
    let started = situation.strands.count
    if started < remaining.steps.count { addUnstarted(from: started, candidates) }
    var drawn = random.nextFraction() * weights.reduce(0, +)
    for (position, weight) in weights.enumerated() {
      drawn -= weight
      if drawn < 0 { return candidates[position] }
    }
    return candidates.last!
  }

  /// The steps of a strand that is to be started count for those who lead to its start.
  private func addUnstarted(from started: Int, _ candidates: [Int]) {
    for other in started..<remaining.steps.count {
      var ancestor = profile.parent(of: other)
      while let strand = ancestor {
        if let position = candidates.firstIndex(of: strand) {
          weights[position] += remaining.of(other)
        }
        ancestor = profile.parent(of: strand)
      }
    }
  }

  func follow(_ strand: Strand, among strands: [Strand]) { remaining.count(strand.number) }
}

/// Selectively uniform random walk.
///
/// In each schedule one of the things that strands share, drawn anew, is the interesting one. The
/// orders of the steps on it are about equally likely, however many other steps lie between: the
/// strand that takes the next such step is drawn by how many of them it has left, and the others
/// wait before theirs.
final class SelectiveWalk: Chooser {
  /// In which order all other steps are taken.
  enum Others {
    /// Of random priorities of the strands: a bug behind a long way of one of them is found.
    case byPriority
    /// A random walk: a bug that also needs switches between steps on something else is found.
    case atRandom
  }

  private var random: Random
  private let profile: Profile
  private let resources: Int
  private let others: Others
  private var selected: [UInt64] = []
  private var remaining = Remaining([])
  private var priorities: [UInt64] = []
  private var intended: Int?
  private var free: [Int] = []

  /// - Parameter resources: how many things are interesting.
  init(_ random: Random, _ profile: Profile, resources: Int = 1, others: Others = .byPriority) {
    self.random = random
    self.profile = profile
    self.resources = resources
    self.others = others
  }

  func begin() {
    var steps: [Double] = []
    for _ in 0..<min(resources, profile.sharedKeys.count) {
      guard let key = profile.drawKey(&random), !selected.contains(key) else { continue }
      selected.append(key)
      for (strand, count) in (profile.stepsByKey[key] ?? []).enumerated() {
        if strand < steps.count { steps[strand] += count } else { steps.append(count) }
      }
    }
    remaining = Remaining(steps)
  }

  private func isInteresting(_ strand: Strand) -> Bool {
    guard let key = strand.stepKey else { return false }
    return selected.contains(key)
  }

  func choose(_ situation: Situation) -> Int {
    while priorities.count < situation.strands.count { priorities.append(random.next()) }
    let strands = situation.strands
    if situation.isYield, let current = situation.current { priorities[current] >>= 8 }
    let ready = situation.candidates
    if intended == nil { intended = remaining.draw(&random, strands) }
    let target = intended ?? -1
    free.removeAll(keepingCapacity: true)
    for strand in ready
    where strand == target || !isInteresting(strands[strand])
      || target >= strands.count && profile.isAncestor(strand, of: target)
    { free.append(strand) }
    if !free.isEmpty {
      return switch others {
      case .byPriority: free.max { priorities[$0] < priorities[$1] }!
      case .atRandom: free[random.next(below: free.count)]
      }
    }
    // The one that is meant cannot come to its step before one of these has made its own.
    let weights = ready.map { max(remaining.of($0), 0.5) }
    var drawn = random.nextFraction() * weights.reduce(0, +)
    for (position, weight) in weights.enumerated() {
      drawn -= weight
      if drawn < 0 { return ready[position] }
    }
    return ready.last!
  }

  func favour(_ strand: Int) {
    if strand < priorities.count { priorities[strand] = .max }
  }

  func follow(_ strand: Strand, among strands: [Strand]) {
    guard isInteresting(strand) else { return }
    remaining.count(strand.number)
    intended = nil
  }
}
