// That nobody waits for ever for its turn while others spin.

/// How often a strand has let others go first.
struct Spins {
  /// Since something was changed that strands share.
  var inVain = 0

  init() {}

  init(changeCount: Int, lockCount: Int) {
    (self.changeCount, self.lockCount) = (changeCount, lockCount)
  }

  /// What the counts of changes and of locks were then.
  var (changeCount, lockCount) = (0, 0)
}

extension Run {
  /// So many of them, and nobody changes anything.
  private static let spinsInVain = 100
  /// The same where locks were taken, under which something may have been changed.
  private static let spinsWithLocks = 2_000
  /// Seeds with this bit are those of schedules in which one may make many steps before the next
  /// one of another.
  static let seedOfLongRuns: UInt64 = 1 << 33
  /// Who has gone on for so many decisions may wait for one of the others.
  static let loneDecisions = 100
  /// The same in those schedules, at first.
  static let loneDecisionsOfLongRuns = 12_800

  /// Whether a schedule is one of those: a quarter, of each strategy that the portfolio takes in
  /// turn, of which there are 16.
  static func hasLongRuns(_ schedule: Int) -> Bool { schedule / 16 % 4 == 3 }

  /// Lets time pass when all who can go on wait for another one by looking again and again: that
  /// one may be asleep.
  ///
  /// - Returns: whether others can go on now.
  func passTimeForSpinners(_ current: Strand) -> Bool {
    if current.spins.changeCount != changeCount {
      current.spins = Spins(changeCount: changeCount, lockCount: lockCount)
    }
    current.spins.inVain += 1
    if deadlines.areNone { return false }
    let allSpin = ready.allSatisfy { number in
      let spins = strands[number].spins
      let enough = spins.lockCount == lockCount ? Self.spinsInVain : Self.spinsWithLocks
      return spins.changeCount == changeCount && spins.inVain >= enough
    }
    guard allSpin else { return false }
    for strand in strands { strand.spins.inVain = 0 }
    return passTime()
  }

  /// The step that follows may change what strands share.
  func noteChange(_ pending: Pending) {
    switch pending {
    case .locks: lockCount += 1
    case .accesses(let resource, writes: true) where resource.kind != .atomic: changeCount += 1
    default: break
    }
  }

  /// Others may spin in turn and wait for one that has the least priority: it gets the highest.
  func lookForStarving() {
    for number in ready {
      let strand = strands[number]
      strand.looks = strand.stepsSeen == strand.steps ? strand.looks + 1 : 0
      strand.stepsSeen = strand.steps
      if strand.looks > min(limits.points, 10_000) / 512 {
        strand.looks = 0
        chooser.favour(number)
      }
    }
  }
}
