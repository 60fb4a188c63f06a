// What a workload is given to work with: settings, a Realm, random numbers, and the place where it
// says what has to hold.
internal import Harness
internal import Platform
public import RealmSwift

/// The settings of a run.
public struct WorkloadSettings: Sendable {
  /// `--threads`.
  public let threads: Int
  /// `--objects`; the default of workloads without that flag is 1.
  public let objects: Int
  /// What random numbers follow from.
  public let seed: UInt64
  private let own: [String: String]

  init(_ plan: RunPlan) {
    threads = plan.threads
    objects = plan.model.objects
    seed = plan.seed
    own = plan.own
  }

  /// The value of a flag of the workload's own.
  ///
  /// It is read from text each time: ask once, before the first operation.
  public subscript<Value>(_ flag: Flag<Value>) -> Value { flag.value(own[flag.name]) }
}

/// Random numbers that repeat with the seed of the run.
public struct WorkloadRandom: RandomNumberGenerator, Sendable {
  private var generator: RandomGenerator

  init(_ generator: RandomGenerator) { self.generator = generator }

  /// The next number.
  public mutating func next() -> UInt64 { generator.next() }
}

/// What a workload has at any time of its run: its settings, what its threads share, its checks.
public class WorkloadContext<W: Workload> {
  /// The settings of the run.
  public let settings: WorkloadSettings
  /// What `setUp` has returned.
  public let shared: W.Shared
  private let invariants: [W.Check: Invariant]
  private let clock = MonotonicClock()
  var ledger = InvariantLedger()
  /// Time that does not belong to the present operation.
  var untimedNanoseconds: UInt64 = 0
  /// What else belongs to it as little.
  var untimedWork = ThreadWork()
  private var isUntimed = false

  init(_ plan: RunPlan, shared: W.Shared) {
    settings = WorkloadSettings(plan)
    self.shared = shared
    invariants = OwnNames<W>.invariants.filter { plan.checks($0.value) }
  }

  /// Whether a check is made in this run, as `--invariants` has it: what only it needs can be left
  /// out where it is not.
  public func isMade(_ check: W.Check) -> Bool { invariants[check] != nil }

  /// Says that something has to hold.
  ///
  /// The condition is looked at only where the check is made; its time is counted as that of
  /// checking, not as the operation's. If it does not hold the run ends, with the exit code 3 and
  /// `violation.txt`.
  /// - Parameter witness: what shows that it does not hold, for whoever has to find out why.
  public func check(
    _ check: W.Check, _ condition: @autoclosure () throws -> Bool,
    _ witness: @autoclosure () -> String
  ) throws {
    try self.check(check) { try condition() ? nil : witness() }
  }

  /// The same for a longer check.
  /// - Parameter body: returns nil when all is well, else what shows that it is not.
  public func check(_ check: W.Check, _ body: () throws -> String?) throws {
    guard let invariant = invariants[check] else { return }
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    let witness = try body()
    let cost = clock.nanoseconds() - start
    if !isUntimed {
      untimedNanoseconds += cost
      untimedWork += .since(before)
    }
    guard let witness else { return ledger.count(invariant, cost: cost) }
    throw Violation(
      invariant, "It does not hold that \(Self.clause(check.summary)).", witness: [witness])
  }

  /// A sentence as the end of another one.
  private static func clause(_ summary: String) -> String {
    var clause = summary
    while clause.hasSuffix(".") { clause.removeLast() }
    let second = clause.dropFirst().first
    // A name keeps its capital letters.
    guard let first = clause.first, second?.isUppercase != true else { return clause }
    return first.lowercased() + clause.dropFirst()
  }

  /// Runs something whose time does not belong to the operation, such as the choice of an object.
  public func untimed<Result>(_ body: () throws -> Result) rethrows -> Result {
    if isUntimed { return try body() }
    isUntimed = true
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    defer {
      untimedNanoseconds += clock.nanoseconds() - start
      untimedWork += .since(before)
      isUntimed = false
    }
    return try body()
  }
}

/// What one thread of a workload works with; used on that thread.
public final class WorkloadThread<W: Workload>: WorkloadContext<W> {
  /// From 1 to `settings.threads`.
  public let number: Int
  /// The thread's own.
  public let realm: Realm
  /// The thread's own: the same for the same seed and number.
  public var random: WorkloadRandom

  init(_ plan: RunPlan, shared: W.Shared, number: Int, realm: Realm, random: RandomGenerator) {
    self.number = number
    self.realm = realm
    self.random = WorkloadRandom(random)
    super.init(plan, shared: shared)
  }
}

/// What the last check of a run works with.
public final class WorkloadEnd<W: Workload>: WorkloadContext<W> {}

/// What a workload fills its file with.
public final class WorkloadSetUp<W: Workload> {
  /// The settings of the run.
  public let settings: WorkloadSettings
  /// The same numbers for the same seed.
  public var random: WorkloadRandom
  private let isCancelledNow: () -> Bool
  private let progress: (Int) -> Void

  init(
    _ plan: RunPlan, random: RandomGenerator, isCancelled: @escaping () -> Bool,
    progress: @escaping (Int) -> Void
  ) {
    settings = WorkloadSettings(plan)
    self.random = WorkloadRandom(random)
    isCancelledNow = isCancelled
    self.progress = progress
  }

  /// Whether the user has enough: then what is half done may be left so.
  public var isCancelled: Bool { isCancelledNow() }

  /// Says how many objects there are so far, for whoever watches.
  public func made(_ objects: Int) { progress(objects) }
}
