// Whether a run's figures can be believed, and why not.

/// Judges a run.
package enum Verdict {
  /// Starts later than this, though due and free, are the generator's fault.
  package static let generatorDelayNanosecondsMax: UInt64 = 1_000_000

  /// Reasons against the run; empty = valid.
  package static func reasons(settings: RunSettings, outcome: RunOutcome) -> [String] {
    var reasons: [String] = []
    if let found = outcome.violation {
      reasons.append("invariant \(found.violation.invariant.name) was violated")
    }
    if let failure = outcome.failure { reasons.append(RunDocument.failed(failure)) }
    if outcome.status == .interrupted { reasons.append("interrupted") }
    let threads = outcome.unended.filter { $0 != RunOutcome.finalCheck }
    if !threads.isEmpty { reasons.append(unended(threads, outcome) + crowd(outcome, settings)) }
    if outcome.unended.contains(RunOutcome.finalCheck) || outcome.hasLeftCheck {
      reasons.append(
        "\(RunOutcome.finalCheck) had not ended"
          + (outcome.keeper.map { ": it waited for the write lock, and \($0) has it" } ?? ""))
    }
    reasons += outcome.reasonsOfProcesses
    if BuildFacts.isDebug { reasons.append("debug build: figures say nothing about speed") }
    reasons += Self.reasons(outcome.disturbance)
    for operation in settings.operationsMeasured {
      if operation == .recover {
        // An interrupted run has not come to that.
        if outcome.status != .interrupted,
          outcome.collector.total(.recover, .recover)?.errors ?? 1 > 0
        {
          reasons.append("the file did not get short after the pins had gone")
        }
        continue
      }
      let figures = outcome.collector.total(.measure, operation)
      if figures.map({ $0.service.count == 0 }) ?? true {
        reasons.append("no '\(operation.rawValue)' was measured" + crowd(outcome, settings))
      }
      guard let figures else { continue }
      if figures.givenUp > 0 {
        reasons.append(
          "\(figures.givenUp) '\(operation.rawValue)' that had begun were given up after the end, "
            + "having waited up to \(readableDuration(figures.givenUpLongest)): the longest times "
            + "are not known"
            + crowd(outcome, settings))
      }
      if let idle = outcome.idleThreads[operation], figures.service.count > 0 {
        reasons.append(
          "of \(settings.threads(of: operation)) threads that do '\(operation.rawValue)' \(idle) never "
            + "finished one" + crowd(outcome, settings))
      }
      if let reason = leftOut(figures, operation) { reasons.append(reason) }
      if let reason = saturation(figures, operation, stalls(settings, outcome).first, outcome) {
        reasons.append(reason)
      }
      let needed = Percentile.p99.samplesNeeded
      if figures.service.count > 0 && figures.service.count < needed
        && settings.workload.facts.isSteady
      {
        reasons.append(
          "too few samples: \(figures.service.count) of '\(operation.rawValue)', "
            + "p99 needs \(needed)")
      }
      if settings.workload.facts.isSteady,
        let reason = drift(operation, outcome.rates[operation] ?? [])
      {
        reasons.append(reason)
      }
    }
    return reasons
  }

  /// What is said of threads that did not end.
  private static func unended(_ threads: [String], _ outcome: RunOutcome) -> String {
    let named = threads.prefix(4).map(readable).joined(separator: ", ")
    let names =
      threads.count <= 4 ? named : "\(threads.count) threads (\(named) and others)"
    let missing =
      outcome.collector.totals.values.contains(where: \.isTruncated)
      ? "what they had not handed over by then is missing, and " : ""
    guard outcome.areKeptWaiting else {
      return "\(names) did not end in time: what was not handed over by then is missing"
    }
    return "\(names) did not end in time: they waited for the write lock until the run was over, "
      + "and \(outcome.keeper.map { $0 + " has" } ?? "others have") it; \(missing)the table and "
      + "the file were not checked at the end"
  }

  /// As in `writer 1 of process 2`, of `process 2, writer 1`.
  private static func readable(_ thread: String) -> String {
    let parts = thread.split(separator: ", ", maxSplits: 1)
    return parts.count == 2 ? "\(parts[1]) of \(parts[0])" : thread
  }

  /// What is known of threads that get no turn: writers wait for each other, and for a processor
  /// behind all readers.
  private static func crowd(_ outcome: RunOutcome, _ settings: RunSettings) -> String {
    let processors = settings.processors
    guard Double(outcome.busyThreads) > 8 * processors else { return "" }
    return
      "; \(outcome.busyThreads) threads share \(Processors.text(of: processors)) processors, and readers "
      + "leave none to the writers: use fewer, or --read-rate"
  }

  /// More of the machine's time than this in the hands of others makes figures unreliable.
  package static let stealPercentMax = 5.0
  package static let othersPercentMax = 20.0
  /// The same of the stretches of time in which the container's limit stopped the run's threads.
  package static let throttledPercentMax = 5.0
  /// More than these have to be known to read figures; `doctor` cautions at the same.
  package static let stealPercentNoted = 1.0
  package static let othersPercentNoted = 5.0
  package static let pressurePercentNoted = 10.0

  /// Why the machine makes all times of a run unreliable.
  static func reasons(_ disturbance: MachineDisturbance?) -> [String] {
    var reasons: [String] = []
    func look(_ percent: Double?, _ most: Double, _ words: (String) -> String) {
      guard let percent, percent > most else { return }
      reasons.append(words("\(decimal(percent, places: 1)) %"))
    }
    look(disturbance?.stealPercent, stealPercentMax) {
      "the hypervisor took \($0) of the processors' time; run again on a quieter host"
    }
    look(disturbance?.othersPercent, othersPercentMax) {
      "other processes took \($0) of the processors' time; end them and run again"
    }
    look(disturbance?.throttledPercent, throttledPercentMax) {
      "the container's limit of processors stopped all threads in \($0) of its periods; use fewer "
        + "threads, or give whole processors"
    }
    return reasons
  }

  /// What the machine did besides that has to be known; of what is a reason nothing more is said.
  private static func cautions(
    _ disturbance: MachineDisturbance?, isCrowded: Bool
  ) -> [String] {
    var parts: [String] = []
    func look(_ percent: Double?, _ noted: Double, _ most: Double, _ words: (String) -> String) {
      guard let percent, percent > noted, percent <= most else { return }
      parts.append(words("\(decimal(percent, places: 1)) %"))
    }
    look(disturbance?.stealPercent, stealPercentNoted, stealPercentMax) {
      "the hypervisor took \($0) of the processors' time"
    }
    look(disturbance?.othersPercent, othersPercentNoted, othersPercentMax) {
      "other processes took \($0) of the processors' time"
    }
    look(disturbance?.throttledPercent, 0, throttledPercentMax) {
      "the container's limit of processors stopped all threads in \($0) of its periods"
    }
    // More threads than processors wait for each other: that is said already.
    if !isCrowded {
      look(disturbance?.processorPressurePercent, pressurePercentNoted, .infinity) {
        "some process waited for a processor \($0) of the time"
      }
    }
    return parts.isEmpty
      ? [] : [parts.joined(separator: "; ") + ": repeat with --replicas and compare"]
  }

  /// What has to be known to read figures that are not wrong.
  package static func cautions(settings: RunSettings, outcome: RunOutcome) -> [String] {
    var cautions: [String] = []
    let cores = settings.processors
    let threads = outcome.busyThreads
    if Double(threads) > cores {
      let switches = outcome.disturbance?.involuntarySwitchesPerS.map {
        " (\(grouped(Int($0))) involuntary switches a second)"
      }
      cautions.append(
        "\(threads) threads share \(Processors.text(of: cores)) processors\(switches ?? ""): from p99 on, latencies "
          + "are mostly the wait for a processor")
    }
    cautions += Self.cautions(outcome.disturbance, isCrowded: Double(threads) > cores)
    for operation in settings.operationsMeasured {
      guard let skipped = outcome.collector.total(.warmup, operation)?.skipped, skipped > 0 else {
        continue
      }
      cautions.append(
        "\(grouped(Int(skipped))) '\(operation.rawValue)' that were due in the warm-up were not done: "
          + "the measured phase did not wait for them")
    }
    cautions += stalls(settings, outcome).map {
      "\($0.words): service times and rates are of the rest of it"
    }
    cautions += outcome.cautionsOfProcesses
    return cautions + settings.operationsMeasured.compactMap { overtime(of: $0, outcome) }
  }

  // MARK: - Stalls

  /// What takes more than this part of the measured phase at once is a stall: the figures, of a
  /// closed loop above all, show the rest of the phase and hide that there was one.
  package static let stallShare = 0.1
  /// Shorter ones are nothing in a phase of any use.
  private static let stallNanosecondsMin: UInt64 = 50_000_000
  package static let standstill = "the process stood still"

  private struct Stall {
    var nanoseconds: UInt64
    var words: String
  }

  /// The longest operation of the measured phase, and the longest time in which the process did
  /// nothing, where they were long; the longest first.
  private static func stalls(_ settings: RunSettings, _ outcome: RunOutcome) -> [Stall] {
    guard let phase = outcome.phase(.measure) else { return [] }
    let length = "of the measured phase of \(decimal(phase.elapsedSeconds, places: 1)) s"
    func isLong(_ nanoseconds: UInt64) -> Bool {
      nanoseconds > stallNanosecondsMin
        && Double(nanoseconds) / 1e9 > phase.elapsedSeconds * stallShare
    }
    var stalls: [Stall] = []
    let longest = settings.operationsMeasured.filter { $0.phase == .measure }
      .map { ($0, outcome.collector.total(.measure, $0)?.service.maximum ?? 0) }
      .max { $0.1 < $1.1 }
    // Of others one operation may be the whole of what is measured.
    if let (operation, maximum) = longest, settings.workload.facts.isSteady, isLong(maximum) {
      stalls.append(
        Stall(
          nanoseconds: maximum,
          words: "the longest '\(operation.rawValue)' took \(readableDuration(maximum)) \(length)"))
    }
    if isLong(outcome.longestStandstill) {
      let time = readableDuration(outcome.longestStandstill)
      stalls.append(
        Stall(
          nanoseconds: outcome.longestStandstill,
          words: "\(standstill) for \(time) \(length), stopped by somebody or without a processor"))
    }
    return stalls.sorted { $0.nanoseconds > $1.nanoseconds }
  }

  /// What was due was done, but long after the phase: the next ones would have waited longer.
  private static func overtime(of operation: Operation, _ outcome: RunOutcome) -> String? {
    guard let phase = outcome.phase(.measure),
      let figures = outcome.collector.total(.measure, operation), figures.response != nil
    else { return nil }
    let overtime = phase.elapsedSeconds(of: figures) - phase.elapsedSeconds
    guard overtime > max(0.1, phase.elapsedSeconds * 0.05) else { return nil }
    return "the last '\(operation.rawValue)' ended \(decimal(overtime, places: 1)) s after the "
      + "measured phase of \(decimal(phase.elapsedSeconds, places: 1)) s: something stalled, or the "
      + "rate is more than the engine can do"
  }

  /// What was due and was not done could have taken any time.
  private static func leftOut(
    _ figures: OperationMeasurements, _ operation: Operation
  ) -> String? {
    guard let responses = figures.responses, responses.leftOut.count > 0 else { return nil }
    let unknown = responses.firstUnknown.map {
      "from \($0.rawValue.replacing("_", with: ".")) on the response times are not known"
    }
    return "\(grouped(Int(responses.leftOut.count))) of \(grouped(Int(responses.all.count))) '"
      + "\(operation.rawValue)' that were due were not done, though waited for up to "
      + "\(readableDuration(responses.leftOut.maximum)): "
      + "\(unknown ?? "the longest response times are not known"); "
      + "look for what stalled, or ask for a lower rate"
  }

  package static let lateStarts = "began more than 1 ms after they were due and could have"

  /// - Parameter stall: what is to blame, where no more were late than fell due meanwhile.
  private static func saturation(
    _ figures: OperationMeasurements, _ operation: Operation, _ stall: Stall?,
    _ outcome: RunOutcome
  ) -> String? {
    guard let delays = figures.generatorDelay, delays.count > 0 else { return nil }
    let share = Double(delays.count(above: generatorDelayNanosecondsMax)) / Double(delays.count)
    guard share > 0.01 else { return nil }
    let late = "\(decimal(share * 100, places: 1)) % of '\(operation.rawValue)' \(lateStarts)"
    if let stall, let phase = outcome.phase(.measure),
      share * phase.elapsedSeconds <= Double(stall.nanoseconds) / 1e9
    {
      return "\(late), after a stall: \(stall.words); look for what stalled"
    }
    return "load generator saturated: \(late); use fewer readers or a lower --rate"
  }

  /// Not steady: the second half of the measured intervals differs by more than 30 %.
  private static func drift(_ operation: Operation, _ all: [Double]) -> String? {
    let rates = all.dropLast()
    guard rates.count >= 6 else { return nil }
    let half = rates.count / 2
    let first = rates.prefix(half).reduce(0, +) / Double(half)
    let second = rates.suffix(half).reduce(0, +) / Double(half)
    guard first > 0, abs(second / first - 1) > 0.3 else { return nil }
    return "not steady: '\(operation.rawValue)' went from \(grouped(Int(first)))/s to "
      + "\(grouped(Int(second)))/s within the measured phase"
  }
}
