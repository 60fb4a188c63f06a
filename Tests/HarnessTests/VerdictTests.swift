// What a verdict says of a stall: the figures of a closed loop hide it, and those of an open one
// blame the generator for what something else has done.
internal import Testing

@testable internal import Harness

@Suite struct VerdictTests {
  private static let milliseconds: UInt64 = 1_000_000

  /// A measured phase of some operations of 1 ms each, and one of another length.
  private func outcome(
    seconds: Double, longest: UInt64, of operation: Operation, delays: [UInt64] = []
  ) -> RunOutcome {
    let openLoop: Set<Operation> = delays.isEmpty ? [] : [.write]
    var outcome = RunOutcome(collector: Collector(openLoop: openLoop))
    let measurements = Measurements([.read, .write], openLoop: openLoop)
    measurements.phase = .measure
    for figures in measurements.figures {
      figures.service.record(Self.milliseconds, times: 2_000)
    }
    let figures = measurements.figures(of: operation)!
    figures.service.record(longest)
    for delay in delays {
      measurements.figures[1].response?.record(delay)
      measurements.figures[1].generatorDelay?.record(delay)
    }
    outcome.collector.absorb(measurements)
    outcome.phases = [
      PhaseOutcome(
        phase: .measure, start: 0, elapsedSeconds: seconds, before: EngineStatistics(),
        after: EngineStatistics())
    ]
    return outcome
  }

  private func settings(rate: Double? = nil) -> RunSettings {
    var settings = RunSettings(.readersWriter)
    settings.ratePerSecond = rate
    return settings
  }

  private func cautions(_ outcome: RunOutcome, of workload: WorkloadKind? = nil) -> [String] {
    Verdict.cautions(
      settings: workload.map { RunSettings($0) } ?? settings(), outcome: outcome)
  }

  @Test func whatTheMachineDidBesidesIsJudgedAsByDoctor() {
    func found(
      _ change: (inout MachineDisturbance) -> Void
    ) -> (reasons: [String], cautions: [String]) {
      var disturbed = outcome(seconds: 1.5, longest: Self.milliseconds, of: .write)
      var disturbance = MachineDisturbance()
      change(&disturbance)
      disturbed.disturbance = disturbance
      func isOfTheMachine(_ text: String) -> Bool {
        ["hypervisor", "other processes", "container", "waited for a processor"].contains {
          text.contains($0)
        }
      }
      return (
        Verdict.reasons(settings: settings(), outcome: disturbed).filter(isOfTheMachine),
        cautions(disturbed).filter(isOfTheMachine)
      )
    }
    #expect(found { $0.throttledPercent = 0 }.cautions.isEmpty)
    let few = found { $0.throttledPercent = 2 }
    #expect(few.reasons.isEmpty && few.cautions.count == 1 && few.cautions[0].contains("2.0 %"))
    let many = found { $0.throttledPercent = 40 }
    #expect(many.reasons.count == 1 && many.cautions.isEmpty)
    #expect(many.reasons.first?.contains("stopped all threads in 40.0 % of its periods") == true)
    #expect(found { $0.stealPercent = 3 }.cautions.count == 1)
    #expect(found { $0.othersPercent = 10 }.cautions.count == 1)
    #expect(found { $0.processorPressurePercent = 30 }.cautions.count == 1)
    let both = found {
      $0.stealPercent = 12
      $0.othersPercent = 60
    }
    #expect(both.reasons.count == 2 && both.cautions.isEmpty)
  }

  @Test func anOperationThatTookMostOfThePhaseIsNamed() {
    let found = cautions(
      outcome(seconds: 1.5, longest: 1_200 * Self.milliseconds, of: .write))
    #expect(
      found.contains {
        $0.hasPrefix("the longest 'write' took 1.20 s of the measured phase of 1.5 s")
      }, "\(found)")
    // It is no reason against the run: its figures are what they say.
    let reasons = Verdict.reasons(
      settings: settings(),
      outcome: outcome(seconds: 1.5, longest: 1_200 * Self.milliseconds, of: .write))
    #expect(!reasons.contains { $0.contains("longest") }, "\(reasons)")
  }

  @Test func aTenthOfThePhaseIsNoStall() {
    func isNamed(_ milliseconds: UInt64, of seconds: Double) -> Bool {
      cautions(outcome(seconds: seconds, longest: milliseconds * Self.milliseconds, of: .read))
        .contains { $0.contains("the longest 'read'") }
    }
    #expect(isNamed(1_100, of: 10) && !isNamed(990, of: 10))
    // Nothing is said of a phase in which any pause is long.
    #expect(isNamed(60, of: 0.2) && !isNamed(40, of: 0.2))
  }

  @Test func aProcessThatStoodStillIsNamed() {
    var stopped = outcome(seconds: 4, longest: Self.milliseconds, of: .read)
    #expect(!cautions(stopped).contains { $0.contains(Verdict.standstill) })
    stopped.longestStandstill = 3_000 * Self.milliseconds
    let found = cautions(stopped)
    #expect(
      found.contains { $0.hasPrefix("the process stood still for 3.00 s of the measured phase") },
      "\(found)")
    stopped.longestStandstill = 0
    stopped.cautionsOfProcesses = ["process 2: \(Verdict.standstill) for 3 s"]
    #expect(cautions(stopped).contains { $0.hasPrefix("process 2: ") })
  }

  /// Fewer readers, or a lower rate, would change nothing.
  @Test func lateStartsBehindAStallAreNotTheGenerators() {
    let late = [UInt64](repeating: 400 * Self.milliseconds, count: 40)
    let delays = [UInt64](repeating: 0, count: 960) + late
    func reasons(longest milliseconds: UInt64) -> [String] {
      Verdict.reasons(
        settings: settings(rate: 500),
        outcome: outcome(
          seconds: 2, longest: milliseconds * Self.milliseconds, of: .write, delays: delays)
      ).filter { $0.contains(Verdict.lateStarts) }
    }
    let stalled = reasons(longest: 1_500)
    #expect(stalled.count == 1 && !stalled[0].contains("lower --rate"), "\(stalled)")
    #expect(stalled[0].contains("after a stall: the longest 'write' took 1.50 s"), "\(stalled)")
    // Without one, it was too slow.
    let saturated = reasons(longest: 1)
    #expect(saturated.count == 1 && saturated[0].hasPrefix("load generator saturated: "))
  }
}
