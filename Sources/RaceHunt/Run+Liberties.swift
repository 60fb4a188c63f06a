// What contracts leave open beside the order of steps: whom a signal wakes, that a wait ends and
// that a weak exchange fails for nothing. Each is a decision, 0 where nothing unusual happens, so
// that a smaller schedule is without it.

/// What of it happens in a run.
struct Liberties {
  fileprivate var random: Random
  /// Whether signals wake another one than who has waited longest, in a quarter of the schedules.
  fileprivate let wakesAny: Bool
  /// Whether something happens for nothing: in few schedules, as most programs are ready for it.
  fileprivate let actsForNothing: Bool
  /// One in so many times it happens; ever fewer of them, as programs try again.
  fileprivate var every = 2

  init(seed: UInt64) {
    random = Random(seed: seed ^ 0xF4EE)
    wakesAny = random.next(below: 4) == 0
    actsForNothing = random.next(below: 16) == 0
  }
}

extension Run {
  /// Whom a signal wakes, as a place among those who wait.
  func chosenWaiter(of condition: Resource) -> Int {
    let count = condition.waiters.count
    guard count > 1, liberties.wakesAny else { return 0 }
    return min(decide(proposing: liberties.random.next(below: count)), count - 1)
  }

  /// Whether the wait ends, or the exchange fails, that begins here.
  func happensForNothing() -> Bool {
    guard liberties.actsForNothing else { return false }
    let isProposed = liberties.random.next(below: liberties.every) == 0
    guard decide(proposing: isProposed ? 1 : 0) != 0 else { return false }
    liberties.every *= 2
    return true
  }
}
