// That nobody waits for ever for its turn while others spin.

/// How often a strand has let others go first.
struct Spins {
  /// Since time has passed.
  var all = 0
  /// Of these, since something was changed that strands share.
  var inVain = 0
  /// What the count of changes was then.
  var changeCount = 0
}

extension Run {
  /// So many of them, and nobody changes anything.
  private static let spinsInVain = 100
  /// So many, whatever is changed: who tries to take a lock changes it.
  private static let spinsMax = 2_000
  /// Seeds with this bit are those of schedules in which one may make many steps before the next
  /// one of another: 12,800 decisions instead of 100.
  private static let seedOfLongRuns: UInt64 = 1 << 33

  /// What the seed of a schedule has to have besides.
  static func seedOfLongRuns(_ schedule: Int) -> UInt64 {
    // In turn with the strategies of the portfolio, of which there are 16 and 32.
    schedule / 16 % 4 == 3 ? seedOfLongRuns : 0
  }

  /// Lets time pass when all who can go on wait for another one by looking again and again: that
  /// one may be asleep.
  ///
  /// - Returns: whether others can go on now.
  func passTimeForSpinners(_ current: Strand) -> Bool {
    if current.spins.changeCount != changeCount {
      (current.spins.changeCount, current.spins.inVain) = (changeCount, 0)
    }
    current.spins.all += 1
    current.spins.inVain += 1
    if deadlines.areNone { return false }
    let allSpin = ready.allSatisfy { number in
      let spins = strands[number].spins
      return spins.inVain >= Self.spinsInVain && spins.changeCount == changeCount
        || spins.all >= Self.spinsMax
    }
    guard allSpin else { return false }
    for strand in strands { strand.spins = Spins() }
    return passTime()
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
