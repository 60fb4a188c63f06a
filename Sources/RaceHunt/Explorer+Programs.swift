// A smaller program that fails in the same way: one whose random numbers are smaller. What a
// program makes from its seed (how many threads and operations, which ones, and what goes wrong) it
// draws by `random(below:)`; with smaller numbers it has fewer threads and operations.

/// Random numbers of a program that are not those of its seed.
struct Draws: Sendable, Equatable {
  /// By how many were drawn before; a number that is too large for its place is the largest there.
  var given: [Int: Int] = [:]

  /// More of them are not looked at.
  static let drawnMax = 4_096
}

extension Explorer {
  /// How long a smaller program is looked for, in nanoseconds.
  private static let programTime: UInt64 = 3_000_000_000
  /// How many schedules of a smaller program are tried.
  private static let schedulesMax = 40
  /// How many of the first numbers are made smaller: they say most of what the program is.
  private static let drawsMax = 64

  /// The same failure in a smaller program; the same run where none is found.
  func withSmallerDraws(_ run: Run) -> Run {
    guard settings.shrinksProgram, !run.hasWaitedOutside, let kind = run.violation?.kind else {
      return run
    }
    var best = run
    let end = Self.nanoseconds() + Self.programTime
    var isBetter = true
    while isBetter {
      isBetter = false
      var index = 0
      // There may be fewer numbers with each smaller program.
      while index < min(best.drawn.count, Self.drawsMax) {
        for value in Set([0, best.drawn[index] / 2]).sorted() where value < best.drawn[index] {
          if Self.nanoseconds() >= end { return best }
          var draws = best.draws
          draws.given[index] = value
          if let found = failing(draws, like: best, kind, before: end) {
            best = found
            isBetter = true
            break
          }
        }
        index += 1
      }
    }
    return best
  }

  /// A run of another program that fails in the same way, and again when it is repeated.
  private func failing(
    _ draws: Draws, like run: Run, _ kind: Violation.Kind, before end: UInt64
  ) -> Run? {
    let source = ChooserSource(.portfolio, seed: settings.seed)
    for attempt in -1..<Self.schedulesMax {
      if Self.nanoseconds() >= end { return nil }
      // First as it was: most decisions may be the same.
      let chooser: (any Chooser)? =
        attempt < 0 ? ReplayChooser(run.schedule.turns) : source.next(schedule: attempt)
      guard let chooser else { return nil }
      let schedule = Schedule(seed: run.seed, draws: draws, turns: [])
      guard let tried = execute(rerun(schedule, chooser)) else { return nil }
      if attempt >= 0 { source.profile.learn(tried) }
      guard tried.violation?.kind == kind, tried.strands.count <= run.strands.count else {
        continue
      }
      guard let again = execute(rerun(tried.schedule)), again.violation?.kind == kind,
        again.digest == tried.digest
      else { return nil }
      return again
    }
    return nil
  }
}
