// Virtual time: when it passes, and who goes on then. In every other schedule it passes only when
// nobody can go on, and then to the next time that somebody waits for. In the others a step may
// take a while, as on a machine that others use: who waits for a time near by may come before it,
// and at the same time as who waits for another one near by. Where the program's author wants it,
// a wait with a limit of time may end in vain at any step: on a machine that stands still for a
// while no limit is long enough. Sleeps stay as long as they are: many programs rely on one, and
// have no way on for the other case.

/// What waits for a time.
struct Deadlines {
  /// What is to happen later.
  struct Timer {
    let time: UInt64
    let fire: () -> Void
  }

  /// Of sleeping tasks and of queues, first those that were there first.
  var timers: [Timer] = []
  /// How many strands wait until a time, and have not gone on.
  var waiters = 0
  /// How often a time that nobody need wait for has come since the program has ended.
  var late = 0
  /// Whether time may pass while somebody can go on.
  var areUncertain = false
  /// Whether waits with a limit of time, however long, may end in vain meanwhile.
  var comeEarly = false
  /// One in so many steps takes a while; ever fewer of them, or who looks again and again, after a
  /// short time each, would do most of the steps.
  var delayEvery = 8

  var areNone: Bool { timers.isEmpty && waiters == 0 }
}

extension Run {
  /// Seeds with this bit are those of schedules in which timeouts may come early.
  static let seedOfEarlyTimeouts: UInt64 = 1 << 32
  /// For so long, in nanoseconds, a step may take.
  private static let delayMax: UInt64 = 10_000_000
  /// So many times near by are told apart.
  private static let timesMax = 8

  /// The times that are waited for, each once, in order.
  private func times() -> [UInt64] {
    var times = deadlines.timers.map(\.time)
    for strand in strands { if case .blocked(_, let until?) = strand.state { times.append(until) } }
    times.sort()
    return times.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// The next of them; without an array, as each decision asks for it.
  private var nextTime: UInt64? {
    var next = deadlines.timers.reduce(UInt64.max) { min($0, $1.time) }
    for strand in strands {
      if case .blocked(_, let until?) = strand.state { next = min(next, until) }
    }
    return next == .max ? nil : next
  }

  /// Lets go on who waits for a time that has come.
  ///
  /// - Parameter mayPass: whether it may come while the step that follows is on its way.
  func wakeWhoIsDue(mayPass: Bool) {
    guard let next = nextTime else { return }
    if next <= now {
      wake(until: now)
    } else if mayPass, next - now <= Self.delayMax || deadlines.comeEarly && isTimeout(next) {
      let mayBeLong = deadlines.areUncertain || next - now > Self.delayMax
      let isLong = mayBeLong && timeRandom.next(below: deadlines.delayEvery) == 0
      guard decide(proposing: isLong ? 1 : 0) != 0 else { return }
      deadlines.delayEvery *= 2
      wake(until: next)
    }
  }

  /// Whether all who wait until that time wait for something, too.
  private func isTimeout(_ time: UInt64) -> Bool {
    if deadlines.timers.contains(where: { $0.time == time }) { return false }
    return strands.allSatisfy { strand in
      if case .blocked(.time, let until?) = strand.state { return until != time }
      return true
    }
  }

  /// Goes to the next time that somebody waits for, or to one soon after it, for which who comes
  /// first is late; false when there is none.
  func passTime() -> Bool {
    let times = times()
    guard let next = times.first else { return false }
    // Tasks that sleep again and again need not end with the program, nor need threads that nobody
    // joins.
    if hasProgramEnded, !isAwaited(next) { deadlines.late += 1 }
    if deadlines.late > 100 { return false }
    let near = times.prefix { $0 - next <= Self.delayMax }.prefix(Self.timesMax)
    var chosen = 0
    if near.count > 1 {
      chosen = decide(
        proposing: deadlines.areUncertain ? timeRandom.next(below: near.count) : 0)
    }
    wake(until: near[min(chosen, near.count - 1)])
    return true
  }

  /// All who wait for a time until then can go on: who does is the strategy's choice.
  private func wake(until time: UInt64) {
    now = max(now, time)
    for strand in strands {
      guard case .blocked(let waiting, let until?) = strand.state, until <= time else { continue }
      waiting.resource?.waiters.removeAll { $0 === strand }
      strand.hasTimedOut = true
      strand.state = .ready
    }
    let due = deadlines.timers.filter { $0.time <= time }
    if due.isEmpty { return }
    deadlines.timers.removeAll { $0.time <= time }
    // The sort is stable in time only: those that were there first come first.
    for timer in due.enumerated().sorted(by: {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }) { timer.element.fire() }
  }
}
