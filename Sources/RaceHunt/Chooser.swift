// Who goes on: the strategies. Each draws from the seed of its schedule, so that a schedule's
// choices follow from seed and number; what it has learned from the schedules before is in
// `Profile`.

/// A decision to make.
struct Situation {
  /// The strand that is at a point; nil when it cannot go on.
  let current: Int?
  /// Who goes on in the plain order.
  let usual: Int
  /// Who can go on, by number; more than one.
  let ready: [Int]
  /// How many decisions came before.
  let decision: Int
  /// The current strand lets others go first, or has gone on for so long that it may wait for them.
  let isYield: Bool
  /// It does so again, and nobody else has made a step since: one of them has to.
  let isSpinning: Bool
  /// Some are no choice although nobody has said that they may wait: the program is long.
  let isCut: Bool
  /// All strands, by number.
  let strands: [Strand]

  /// Who can go on and does not spin.
  var candidates: [Int] {
    guard isSpinning, let current, ready.count > 1 else { return ready }
    return ready.filter { $0 != current }
  }
}

/// Makes the decisions of a schedule.
protocol Chooser: AnyObject {
  func begin()
  func choose(_ situation: Situation) -> Int
  /// The strand goes on, whether it was chosen or nobody else could.
  func follow(_ strand: Strand, among strands: [Strand])
  /// The strand could go on for very long, and was not chosen: others may wait for it.
  func favour(_ strand: Int)
  /// How far time passes: 0 as little as it must; `proposed` is drawn from the schedule's seed.
  func passTime(at decision: Int, proposed: Int) -> Int
}

extension Chooser {
  func passTime(at decision: Int, proposed: Int) -> Int { proposed }
  func favour(_ strand: Int) {}
  func follow(_ strand: Strand, among strands: [Strand]) {}
}

/// Follows a list of turns.
final class ReplayChooser: Chooser {
  private let turns: [Schedule.Turn]
  private var position = 0
  /// Turns that could be taken behind those of the list.
  private(set) var alternatives: [Schedule.Turn] = []
  /// Why a turn of the list could not be taken.
  private(set) var misfit: String?

  init(_ turns: [Schedule.Turn]) { self.turns = turns }

  func begin() {
    position = 0
    alternatives = []
  }

  func choose(_ situation: Situation) -> Int {
    if situation.decision > turns.last?.decision ?? -1, alternatives.count < 400 {
      for strand in situation.ready where strand != situation.usual {
        alternatives.append(.init(decision: situation.decision, strand: strand))
      }
    }
    if let strand = turn(at: situation.decision) {
      if situation.ready.contains(strand) { return strand }
      misfit = misfit ?? "thread or task \(strand) cannot go on at decision \(situation.decision)"
    }
    return situation.usual
  }

  func passTime(at decision: Int, proposed: Int) -> Int { turn(at: decision) ?? 0 }

  private func turn(at decision: Int) -> Int? {
    while position < turns.count, turns[position].decision < decision { position += 1 }
    guard position < turns.count, turns[position].decision == decision else { return nil }
    return turns[position].strand
  }
}

/// Each strand that can go on is as likely as the others.
final class RandomWalk: Chooser {
  private var random: Random

  init(_ random: Random) { self.random = random }

  func begin() {}
  func choose(_ situation: Situation) -> Int {
    situation.ready[random.next(below: situation.ready.count)]
  }
}

/// Probabilistic concurrency testing.
///
/// The strand with the highest of random priorities goes on, and at `depth` - 1 random decisions
/// the running one falls behind all others. Finds a bug that needs `depth` orderings with a
/// probability of at least 1 / (strands * decisions ^ (depth - 1)).
final class PriorityWalk: Chooser {
  private var random: Random
  private let depth: Int
  private let profile: Profile
  private var priorities: [Int64] = []
  private var changes: Set<Int> = []
  private var lowest: Int64 = 0

  init(_ random: Random, depth: Int, _ profile: Profile) {
    self.random = random
    self.depth = depth
    self.profile = profile
  }

  func begin() {
    for _ in 1..<max(depth, 1) { changes.insert(random.next(below: profile.decisions)) }
  }

  func choose(_ situation: Situation) -> Int {
    while priorities.count < situation.strands.count {
      priorities.append(1 + Int64(random.next() >> 2))
    }
    // Who spins waits for the others, whatever its priority.
    if let current = situation.current,
      situation.isSpinning || changes.contains(situation.decision)
    {
      lowest -= 1
      priorities[current] = lowest
    }
    return situation.ready.max { priorities[$0] < priorities[$1] }!
  }

  func favour(_ strand: Int) {
    if strand < priorities.count { priorities[strand] = .max }
  }
}

/// All schedules with at most so many preemptions, one after the other.
final class DepthFirst: Enumeration {
  private struct Choice {
    var options: [Int]
    var next = 0
    /// Preemptions before it.
    let preemptions: Int
    let current: Int?
  }

  private let preemptions: Int
  private var path: [Choice] = []
  private var depth = 0
  private var used = 0
  private(set) var isExhausted = false
  private(set) var isCut = false

  init(preemptions: Int) { self.preemptions = preemptions }

  func begin() {
    depth = 0
    used = 0
  }

  func choose(_ situation: Situation) -> Int {
    if situation.isCut { isCut = true }
    if depth == path.count {
      // Decisions that lie behind are not varied: a program without end has too many.
      if depth >= 1_000 {
        isCut = true
        return situation.usual
      }
      var options = [situation.usual]
      let isFree = situation.current == nil || situation.isYield
      if isFree || used < preemptions {
        options += situation.ready.filter { $0 != situation.usual }
      }
      path.append(
        Choice(
          options: options, preemptions: used, current: isFree ? nil : situation.current))
    }
    let choice = path[depth]
    depth += 1
    let chosen = choice.options[choice.next]
    if let current = choice.current, current != chosen { used += 1 }
    // A program that is not the same twice is noticed by those who compare.
    return situation.ready.contains(chosen) ? chosen : situation.usual
  }

  /// Goes to the next schedule.
  func advance() {
    path.removeSubrange(min(depth, path.count)...)
    while var last = path.popLast() {
      last.next += 1
      if last.next < last.options.count {
        path.append(last)
        return
      }
    }
    isExhausted = true
  }
}
