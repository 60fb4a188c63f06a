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
    if let failure = outcome.failure { reasons.append("the run failed: \(failure)") }
    if outcome.status == .interrupted { reasons.append("interrupted") }
    if BuildFacts.isDebug { reasons.append("debug build: figures say nothing about speed") }
    for operation in settings.operationsMeasured {
      if operation == .recover {
        if outcome.collector.total(.recover, .recover)?.errors ?? 1 > 0 {
          reasons.append("the file did not get short after the pins had gone")
        }
        continue
      }
      guard let figures = outcome.collector.total(.measure, operation) else {
        reasons.append("no '\(operation.rawValue)' was measured")
        continue
      }
      if let reason = saturation(figures, operation) { reasons.append(reason) }
      let needed = Percentile.p99.samplesNeeded
      if figures.service.count < needed && settings.workload.isSteady {
        reasons.append(
          "too few samples: \(figures.service.count) of '\(operation.rawValue)', "
            + "p99 needs \(needed)")
      }
      if settings.workload.isSteady, let reason = drift(operation, outcome.samples) {
        reasons.append(reason)
      }
    }
    return reasons
  }

  private static func saturation(
    _ figures: OperationMeasurements, _ operation: Operation
  ) -> String? {
    guard let delays = figures.generatorDelay, delays.count > 0 else { return nil }
    let share = Double(delays.count(above: generatorDelayNanosecondsMax)) / Double(delays.count)
    guard share > 0.01 else { return nil }
    return "load generator saturated: \(decimal(share * 100, places: 1)) % of '"
      + "\(operation.rawValue)' began more than 1 ms after they were due and could have; "
      + "use fewer readers or a lower --rate"
  }

  /// Not steady: the second half of the measured intervals differs by more than 30 %.
  private static func drift(_ operation: Operation, _ samples: [Sample]) -> String? {
    let rates = samples.filter {
      $0.phase == .measure && $0.operation == operation && $0.metric == "rate"
    }.compactMap { $0.value.flatMap(Double.init) }.dropLast()
    guard rates.count >= 6 else { return nil }
    let half = rates.count / 2
    let first = rates.prefix(half).reduce(0, +) / Double(half)
    let second = rates.suffix(half).reduce(0, +) / Double(half)
    guard first > 0, abs(second / first - 1) > 0.3 else { return nil }
    return "not steady: '\(operation.rawValue)' went from \(grouped(Int(first)))/s to "
      + "\(grouped(Int(second)))/s within the measured phase"
  }
}
