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

  init(_ random: Random, _ profile: Profile) {
    self.random = random
    self.profile = profile
  }

  func begin() { remaining = Remaining(profile.steps) }

  func choose(_ situation: Situation) -> Int {
    let candidates = situation.candidates
    // One that is expected to have ended, and has not, has a step more.
    var weights = candidates.map { max(remaining.of($0), 1) }
    let started = situation.strands.count
    if started < remaining.steps.count {
      for (position, strand) in candidates.enumerated() {
        for other in started..<remaining.steps.count where profile.isAncestor(strand, of: other) {
          weights[position] += remaining.of(other)
        }
      }
    }
    var drawn = random.nextFraction() * weights.reduce(0, +)
    for (position, weight) in weights.enumerated() {
      drawn -= weight
      if drawn < 0 { return candidates[position] }
    }
    return candidates.last!
  }

  func follow(_ strand: Strand, among strands: [Strand]) { remaining.count(strand.number) }
}

/// Selectively uniform random walk.
///
/// In each schedule one of the things that strands share, drawn anew, is the interesting one. The
/// orders of the steps on it are about equally likely, however many other steps lie between: the
/// strand that takes the next such step is drawn by how many of them it has left, and the others
/// wait before theirs. All other steps are taken in the order of random priorities.
final class SelectiveWalk: Chooser {
  private var random: Random
  private let profile: Profile
  private let resources: Int
  private var selected: Set<UInt64> = []
  private var remaining = Remaining([])
  private var priorities: [UInt64] = []
  private var intended: Int?

  /// - Parameter resources: how many things are interesting.
  init(_ random: Random, _ profile: Profile, resources: Int = 1) {
    self.random = random
    self.profile = profile
    self.resources = resources
  }

  func begin() {
    let keys = profile.sharedKeys
    var steps: [Double] = []
    for _ in 0..<min(resources, keys.count) {
      let key = keys[random.next(below: keys.count)]
      guard selected.insert(key).inserted else { continue }
      for (strand, count) in (profile.stepsByKey[key] ?? []).enumerated() {
        if strand < steps.count { steps[strand] += count } else { steps.append(count) }
      }
    }
    remaining = Remaining(steps)
  }

  private func isInteresting(_ strand: Strand) -> Bool {
    strand.pending.resource.map { selected.contains($0.key) } ?? false
  }

  func choose(_ situation: Situation) -> Int {
    while priorities.count < situation.strands.count { priorities.append(random.next()) }
    let strands = situation.strands
    if situation.isYield, let current = situation.current { priorities[current] >>= 8 }
    let ready = situation.candidates
    if intended == nil { intended = remaining.draw(&random, strands) }
    let target = intended ?? -1
    let free = ready.filter { strand in
      strand == target || !isInteresting(strands[strand])
        || target >= strands.count && profile.isAncestor(strand, of: target)
    }
    if let chosen = free.max(by: { priorities[$0] < priorities[$1] }) { return chosen }
    // The one that is meant cannot come to its step before one of these has made its own.
    let weights = ready.map { max(remaining.of($0), 0.5) }
    var drawn = random.nextFraction() * weights.reduce(0, +)
    for (position, weight) in weights.enumerated() {
      drawn -= weight
      if drawn < 0 { return ready[position] }
    }
    return ready.last!
  }

  func follow(_ strand: Strand, among strands: [Strand]) {
    guard isInteresting(strand) else { return }
    remaining.count(strand.number)
    intended = nil
  }
}
