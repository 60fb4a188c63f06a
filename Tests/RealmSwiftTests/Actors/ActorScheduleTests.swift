// Programs of actors run step by step in orders drawn from seeds, and judged by a sequential model.
// REALM_ACTOR_SCHEDULES sets how many; REALM_SEED repeats one.
import ActorSchedules
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

// Not `.ownThreads`, whose executor would run the first jobs of the stage's actors out of turn:
// what blocks here is on threads of its own already.
@Suite struct ActorScheduleTests {
  private func stage(_ actors: Int = 3) async throws -> ScheduleStage {
    try await ScheduleStage(actors: actors, memoryConfiguration([Journal.self]))
  }

  /// How many schedules a test runs unless the long form is asked for.
  private func count(_ standard: Int) -> Int {
    ProcessInfo.processInfo.environment["REALM_ACTOR_SCHEDULES"].flatMap { Int($0) } ?? standard
  }

  private func check(
    _ result: ScheduleStage.Result, seed: UInt64, _ program: ScheduleProgram, repeatBy: String,
    cancelled: String = ""
  ) -> Bool {
    if result.violations.isEmpty { return true }
    Issue.record(
      """
      \(result.violations.joined(separator: "\n"))
      repeat by: \(repeatBy)
      \(program), seed \(seed)\(cancelled)
      \(result.trace.joined(separator: "\n"))
      """)
    return false
  }

  /// The command that repeats a seed, by the seed, for threads that belong to no test.
  private func repeatCommands() -> @Sendable (UInt64) -> String {
    let command = repeatCommand(0)
    return { command.replacing("REALM_SEED=0", with: "REALM_SEED=\($0)") }
  }

  /// Runs a body on the seeds, in the long form on as many threads as there are processors, each
  /// with its stages and its share of `count`; the sum of what it returns.
  private func onThreads(
    _ count: Int,
    _ body:
      @escaping @Sendable (
        _ seeds: StrideThrough<UInt64>, [ScheduleStage], _ enough: Int
      ) -> Schedules
  ) async throws -> Schedules {
    let seeds = testSeeds(count)
    let threads = min(
      count < 10_000 ? 1 : ProcessInfo.processInfo.activeProcessorCount, seeds.count)
    let clock = ContinuousClock()
    let start = clock.now
    let sum = try await withThrowingTaskGroup(of: Schedules.self) { group in
      for thread in 0..<UInt64(threads) {
        let stages = [try await stage(), try await stage(1)]
        let part = stride(from: seeds.lowerBound + thread, through: seeds.upperBound, by: threads)
        group.addTask { await onThreadAsync { body(part, stages, count / threads) } }
      }
      return try await group.reduce(into: Schedules()) { $0.add($1) }
    }
    if count >= 10_000 {
      let rate = Double(sum.schedules) / ((clock.now - start) / .seconds(1))
      print("\(sum.schedules) schedules, \(sum.steps) steps, \(Int(rate)) schedules/s")
    }
    return sum
  }

  /// What was run.
  private struct Schedules {
    var schedules = 0
    var steps = 0
    /// Schedules in which a task was cancelled before its write.
    var cancelled = 0

    mutating func add(_ other: Schedules) {
      schedules += other.schedules
      steps += other.steps
      cancelled += other.cancelled
    }

    mutating func add(_ result: ScheduleStage.Result) {
      schedules += 1
      steps += result.steps
      if result.cancelledWrites > 0 { cancelled += 1 }
    }
  }

  /// Two programs that differ only in their order never end differently from some sequential order.
  @Test func programsAreSerial() async throws {
    let repeatBy = repeatCommands()
    _ = try await onThreads(count(1_000)) { seeds, stages, _ in
      var sum = Schedules()
      for seed in seeds {
        var random = RandomGenerator(seed: seed)
        let stage = stages[Int(seed % 4 == 0 ? 1 : 0)]
        let program = ScheduleProgram(actors: seed % 4 == 0 ? 1 : 3, &random)
        let result = stage.run(program, seed: seed)
        sum.add(result)
        guard check(result, seed: seed, program, repeatBy: repeatBy(seed)) else { break }
      }
      return sum
    }
  }

  /// A task that writes is cancelled before each step of a schedule, one schedule for each.
  @Test func cancelledAtEachPoint() async throws {
    let repeatBy = repeatCommands()
    let sum = try await onThreads(count(1_000)) { seeds, stages, enough in
      var sum = Schedules()
      for seed in seeds where sum.schedules < enough {
        var random = RandomGenerator(seed: seed)
        let program = Self.writers(&random)
        let whole = stages[0].run(program, seed: seed)
        guard check(whole, seed: seed, program, repeatBy: repeatBy(seed)) else { return sum }
        for task in program.tasks.indices {
          // Beyond the last step nothing is cancelled any more.
          for step in 0..<whole.steps {
            let result = stages[0].run(program, seed: seed, cancellation: (task, step))
            sum.add(result)
            guard
              check(
                result, seed: seed, program, repeatBy: repeatBy(seed),
                cancelled: ", task \(task) cancelled at step \(step)")
            else { return sum }
          }
        }
      }
      return sum
    }
    // Neither all nor none of the writes were too late to be cancelled.
    #expect(sum.cancelled > 0 && sum.cancelled < sum.schedules)
  }

  /// Tasks that write at the same time, some on the same actor, one of them over suspensions.
  private static func writers(_ random: inout RandomGenerator) -> ScheduleProgram {
    let endings: [ScheduleModel.Ending] = [.commits, .commits, .commits, .fails, .cancels]
    var tasks: [[ScheduleProgram.Step]] = []
    for _ in 0..<3 {
      let ending = endings[Int(random.next(upperBound: UInt64(endings.count)))]
      tasks.append([.write(actor: Int(random.next(upperBound: UInt64(2))), ending)])
    }
    if random.oneIn(2) {
      tasks.append([.long(actor: Int(random.next(upperBound: UInt64(2))), suspensions: 2)])
    }
    if random.oneIn(2) { tasks.append([.refresh(actor: 0), .write(actor: 1, .commits)]) }
    return ScheduleProgram(actors: 2, tasks: tasks)
  }

  @Test func aSeedIsReplayedExactly() async throws {
    let stages = [try await stage(), try await stage()]
    await onThreadAsync {
      var traces: Set<[String]> = []
      for seed in 1...200 as ClosedRange<UInt64> {
        var random = RandomGenerator(seed: seed)
        let program = ScheduleProgram(actors: 3, &random)
        let result = stages[0].run(program, seed: seed)
        let other = stages[1].run(program, seed: seed)
        #expect(result.trace == other.trace && result.steps == other.steps, "seed \(seed)")
        traces.insert(result.trace)
      }
      #expect(traces.count > 150)
    }
  }

  /// A failure is repeated by its seed alone, on a stage that has run nothing before.
  @Test func aSeedNeedsNothingBeforeIt() async throws {
    let used = try await stage()
    var traces: [[String]] = []
    for seed in 1...100 as ClosedRange<UInt64> {
      traces.append(await Self.trace(seed, used))
    }
    for seed in [2, 17, 50, 99, 100] {
      let fresh = try await stage()
      #expect(await Self.trace(UInt64(seed), fresh) == traces[seed - 1], "seed \(seed)")
    }
  }

  private static func trace(_ seed: UInt64, _ stage: ScheduleStage) async -> [String] {
    await onThreadAsync {
      var random = RandomGenerator(seed: seed)
      let program = ScheduleProgram(actors: 3, &random)
      return stage.run(program, seed: seed).trace
    }
  }

  /// One program in many orders: the order is what the seed decides.
  @Test func seedsGiveDifferentOrders() async throws {
    let stage = try await stage()
    await onThreadAsync {
      let write = ScheduleProgram.Step.write(actor: 0, .commits)
      let program = ScheduleProgram(
        actors: 2, tasks: [[write], [write], [.write(actor: 1, .commits)]])
      let traces = (1...200 as ClosedRange<UInt64>).map { stage.run(program, seed: $0).trace }
      // The six orders of three writes, at least.
      #expect(Set(traces).count >= 6)
    }
  }
}
