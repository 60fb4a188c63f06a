// Programs of actors run step by step in orders drawn from seeds, and judged by a sequential model.
// REALM_ACTOR_SCHEDULES sets how many; REALM_SEED repeats one.
import ActorSchedules
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite struct ActorScheduleTests {
  private func stage(_ actors: Int = 3) async throws -> ScheduleStage {
    try await ScheduleStage(actors: actors, memoryConfiguration([Journal.self]))
  }

  /// How many schedules a test runs unless the long form is asked for.
  private func count(_ standard: Int) -> Int {
    ProcessInfo.processInfo.environment["REALM_ACTOR_SCHEDULES"].flatMap { Int($0) } ?? standard
  }

  private func check(_ result: ScheduleStage.Result, _ text: @autoclosure () -> String) -> Bool {
    if result.violations.isEmpty { return true }
    Issue.record(
      """
      \(result.violations.joined(separator: "\n"))
      \(text())
      \(result.trace.joined(separator: "\n"))
      """)
    return false
  }

  /// Two programs that differ only in their order never end differently from some sequential order.
  @Test func programsAreSerial() async throws {
    let count = count(1_000)
    let stages = [try await stage(), try await stage(1)]
    await onThreadAsync {
      let first = testSeed()
      let seeds = first == 1 ? 1...UInt64(count) : first...first
      let clock = ContinuousClock()
      let start = clock.now
      var steps = 0
      for seed in seeds {
        var random = RandomGenerator(seed: seed)
        let stage = stages[Int(seed % 4 == 0 ? 1 : 0)]
        let program = ScheduleProgram(actors: seed % 4 == 0 ? 1 : 3, &random)
        let result = stage.run(program, seed: seed)
        steps += result.steps
        guard check(result, "repeat by REALM_SEED=\(seed): \(program)") else { return }
      }
      if count >= 10_000 {
        let seconds = (clock.now - start) / .seconds(1)
        print("\(count) schedules, \(steps) steps, \(Int(Double(count) / seconds)) schedules/s")
      }
    }
  }

  /// A task that writes is cancelled before each step of a schedule, one schedule for each.
  @Test func cancelledAtEachPoint() async throws {
    let count = count(1_000)
    let stage = try await stage()
    await onThreadAsync {
      var random = RandomGenerator(seed: testSeed())
      var schedules = 0
      var cancelled = 0
      while schedules < count {
        let seed = random.next()
        let program = Self.writers(&random)
        let whole = stage.run(program, seed: seed)
        guard check(whole, "\(program), seed \(seed)") else { return }
        for task in program.tasks.indices {
          // Beyond the last step nothing is cancelled any more.
          for step in 0..<whole.steps {
            let result = stage.run(program, seed: seed, cancellation: (task, step))
            guard check(result, "\(program), seed \(seed), task \(task) at step \(step)") else {
              return
            }
            schedules += 1
            if result.trace.contains(where: { $0.hasSuffix(" cancelled") }) { cancelled += 1 }
          }
        }
      }
      // Neither all nor none of the writes were too late to be cancelled.
      #expect(cancelled > 0 && cancelled < schedules)
    }
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

  /// Programs with observers are replayed in the long form only.
  @Test func aSeedIsReplayedExactly() async throws {
    let hasObservers = count(0) > 0
    let stages = [try await stage(), try await stage()]
    await onThreadAsync {
      var traces: Set<[String]> = []
      for seed in 1...200 as ClosedRange<UInt64> {
        var random = RandomGenerator(seed: seed)
        var program = ScheduleProgram(actors: 3, &random)
        if !hasObservers { program = program.withoutObservers }
        let result = stages[0].run(program, seed: seed)
        let other = stages[1].run(program, seed: seed)
        #expect(result.trace == other.trace && result.steps == other.steps, "seed \(seed)")
        traces.insert(result.trace)
      }
      #expect(traces.count > 150)
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
