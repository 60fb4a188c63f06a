// The strategies by name.

/// How the next schedule is made.
public enum Strategy: Sendable, Equatable, CustomStringConvertible {
  /// At each point each strand that can go on is as likely as the others.
  case randomWalk
  /// Probabilistic concurrency testing: random priorities, which change at `depth` - 1 random
  /// points.
  case pct(depth: Int)
  /// Partial order sampling: random priorities of steps, drawn anew where steps conflict.
  case partialOrder
  /// A random walk in which all orders of the steps are about equally likely.
  case uniform
  /// Selectively uniform random walk: all orders of the steps on one lock, word or channel, another
  /// one in each schedule, are about equally likely.
  case selectivelyUniform
  /// All schedules with at most so many preemptions, for small programs; ends by itself.
  case depthFirst(preemptions: Int)
  /// All schedules that differ in the order of steps that conflict (dynamic partial order
  /// reduction), for small programs; ends by itself.
  case exhaustive
  /// The random strategies in turn: a bug that one of them hardly finds, another one finds soon.
  case portfolio

  /// The name: `random`, `pct:3`, `pos`, `uniform`, `surw`, `depth-first:2`, `exhaustive`,
  /// `portfolio`.
  public var description: String {
    switch self {
    case .randomWalk: "random"
    case .pct(let depth): "pct:\(depth)"
    case .partialOrder: "pos"
    case .uniform: "uniform"
    case .selectivelyUniform: "surw"
    case .depthFirst(let preemptions): "depth-first:\(preemptions)"
    case .exhaustive: "exhaustive"
    case .portfolio: "portfolio"
    }
  }

  /// The strategy with this name; nil without one.
  ///
  /// `pct` alone is `pct:3`, `depth-first` has 2 preemptions.
  public init?(_ name: String) {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    let number = parts.count == 2 ? Int(parts[1]) : nil
    if parts.count > 2 || parts.count == 2 && number == nil { return nil }
    switch (parts.first, number) {
    case ("random", nil): self = .randomWalk
    case ("pos", nil): self = .partialOrder
    case ("uniform", nil): self = .uniform
    case ("surw", nil): self = .selectivelyUniform
    case ("exhaustive", nil): self = .exhaustive
    case ("portfolio", nil): self = .portfolio
    case ("pct", let depth): self = .pct(depth: depth ?? 3)
    case ("depth-first", let count): self = .depthFirst(preemptions: count ?? 2)
    default: return nil
    }
    if misfit != nil { return nil }
  }

  /// Whether it goes through all schedules, rather than draw them.
  var isEnumeration: Bool {
    switch self {
    case .depthFirst, .exhaustive: true
    default: false
    }
  }

  /// What to give in place of a number that means nothing; nil when it does.
  var misfit: String? {
    switch self {
    case .pct(let depth) where !(1...100).contains(depth): "give a depth from 1 to 100"
    case .depthFirst(let count) where !(0...100).contains(count): "give 0 to 100 preemptions"
    default: nil
    }
  }
}

/// Makes the choosers of an exploration.
final class ChooserSource {
  private let strategy: Strategy
  private let seed: UInt64
  let profile = Profile()
  /// What goes through all schedules; nil of a strategy that draws them.
  private let enumeration: (any Enumeration)?
  private var hasBegun = false

  init(_ strategy: Strategy, seed: UInt64) {
    self.strategy = strategy
    self.seed = seed
    enumeration =
      switch strategy {
      case .depthFirst(let preemptions): DepthFirst(preemptions: preemptions)
      case .exhaustive: OrderReduction()
      default: nil
      }
  }

  /// The chooser of a schedule; nil when there are no more.
  func next(schedule: Int) -> (any Chooser)? {
    let random = Random(seed: seed, schedule: schedule)
    switch strategy {
    case .randomWalk: return RandomWalk(random)
    case .partialOrder: return PartialOrderWalk(random)
    case .uniform: return UniformWalk(random, profile)
    case .selectivelyUniform:
      return SelectiveWalk(random, profile, others: schedule % 2 == 0 ? .atRandom : .byPriority)
    case .pct(let depth): return PriorityWalk(random, depth: depth, profile)
    case .depthFirst, .exhaustive:
      guard let enumeration else { return nil }
      if hasBegun { enumeration.advance() }
      hasBegun = true
      return enumeration.isExhausted ? nil : enumeration
    case .portfolio:
      return Self.portfolio(schedule, random, profile)
    }
  }

  /// Most choose among the orders of the steps on one thing, which find soonest what others hardly
  /// find.
  ///
  /// The first one is for programs that fail in almost all schedules, and for what a selective walk
  /// has to learn before; the others each find something that it does not.
  private static func portfolio(
    _ schedule: Int, _ random: Random, _ profile: Profile
  ) -> any Chooser {
    switch schedule % 16 {
    case 0: RandomWalk(random)
    case 1: SelectiveWalk(random, profile, resources: 2)
    case 5, 11: UniformWalk(random, profile)
    case 13: PartialOrderWalk(random)
    case 15:
      schedule % 32 == 15
        ? SelectiveWalk(random, profile, others: .atRandom)
        : PriorityWalk(random, depth: 2 + schedule / 32 % 3, profile)
    default: SelectiveWalk(random, profile)
    }
  }

  /// Whether these were all schedules that there are for the strategy.
  var isExhaustive: Bool {
    guard let enumeration else { return false }
    return enumeration.isExhausted && !enumeration.isCut
  }
}
