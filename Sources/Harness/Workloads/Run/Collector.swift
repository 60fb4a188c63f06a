// Gathers what the threads hand over: totals a phase and operation, and the intervals of the time
// series. Used by the coordinator's thread only.

/// One value of samples.csv.
package struct Sample: Sendable {
  package var phase: Phase
  package var elapsedSeconds: Double
  package var operation: Operation
  package var metric: String
  package var unit: String
  /// Nil when not measured, or from too few samples.
  package var value: String?
  /// Which of several processes it is of.
  package var process = 1
}

/// Adds up the figures of all threads.
package final class Collector {
  /// A phase's figures for one operation.
  package struct Key: Hashable {
    package let phase: Phase
    package let operation: Operation
  }

  package private(set) var totals: [Key: OperationMeasurements] = [:]
  private var interval: [Key: OperationMeasurements] = [:]
  private let openLoop: Set<Operation>

  package init(openLoop: Set<Operation>) { self.openLoop = openLoop }

  package func absorb(_ measurements: Measurements) {
    for (operation, figures) in zip(measurements.operations, measurements.figures) {
      let key = Key(phase: measurements.phase, operation: operation)
      add(figures, to: &totals, key)
      // What belongs to a step belongs to the measured phase, too.
      if measurements.phase.step != nil {
        add(figures, to: &totals, Key(phase: .measure, operation: operation))
      }
      add(figures, to: &interval, key)
    }
  }

  private func add(
    _ figures: OperationMeasurements, to table: inout [Key: OperationMeasurements], _ key: Key
  ) {
    let sum =
      table[key] ?? OperationMeasurements(isOpenLoop: openLoop.contains(key.operation))
    sum.add(figures)
    table[key] = sum
  }

  /// Notes that some operations of a phase are missing, which a thread has not handed over.
  package func truncate(_ phase: Phase, _ operation: Operation) {
    let none = OperationMeasurements(isOpenLoop: openLoop.contains(operation))
    none.isTruncated = true
    for phase in Set([phase, phase.isMeasured ? .measure : phase]) {
      let key = Key(phase: phase, operation: operation)
      add(none, to: &totals, key)
      interval[key]?.isTruncated = true
    }
  }

  package func total(_ phase: Phase, _ operation: Operation) -> OperationMeasurements? {
    totals[Key(phase: phase, operation: operation)]
  }

  /// Operations of the present interval, for the progress line.
  package func intervalCount(_ operation: Operation) -> UInt64 {
    phases.reduce(0) { $0 + intervalCount(operation, in: $1) }
  }

  /// The phases of the present interval, in their order.
  private var phases: [Phase] {
    Set(interval.keys.map(\.phase)).sorted { $0.rawValue < $1.rawValue }
  }

  /// Operations of one phase in the present interval.
  package func intervalCount(_ operation: Operation, in phase: Phase) -> UInt64 {
    interval[Key(phase: phase, operation: operation)]?.service.count ?? 0
  }

  /// The p99 of an operation in the present interval, for the progress line.
  package func intervalP99(_ operation: Operation) -> UInt64? {
    let histograms = interval.filter { $0.key.operation == operation }
      .map { $0.value.response ?? $0.value.service }
    return histograms.max { $0.count < $1.count }?.value(at: .p99)
  }

  /// Turns the interval's figures into samples and begins the next one.
  ///
  /// - Parameter current: the phase that the interval belongs to. What threads hand over late of an
  ///   earlier one is counted, but has no rate: it was not done in this interval.
  /// - Parameter expected: operations that have rows in each interval: none of them was done in one
  ///   through which the engine stood still.
  package func endInterval(
    of current: Phase, elapsedSeconds: Double, lengthSeconds: Double,
    expecting expected: [Operation] = []
  ) -> [Sample] {
    var samples: [Sample] = []
    for operation in expected {
      let key = Key(phase: current, operation: operation)
      if interval[key] == nil {
        interval[key] = OperationMeasurements(isOpenLoop: openLoop.contains(operation))
      }
    }
    for phase in phases {
      for operation in Operation.allCases {
        guard let figures = interval[Key(phase: phase, operation: operation)] else { continue }
        func add(_ metric: String, _ unit: String, _ value: String?) {
          samples.append(
            Sample(
              phase: phase, elapsedSeconds: elapsedSeconds, operation: operation, metric: metric,
              unit: unit, value: value))
        }
        let count = figures.service.count
        add("count", "1", String(count))
        add(
          "rate", "1/s",
          lengthSeconds > 0 && phase == current
            ? decimal(Double(count) / lengthSeconds, places: 3) : nil)
        addDurations("service", figures.service, add)
        if let responses = figures.responses {
          addDurations("response", responses, add)
          add("late", "1", String(figures.late))
          add("skipped", "1", String(figures.skipped))
        }
      }
    }
    interval.removeAll()
    return samples
  }

  private func addDurations(
    _ kind: String, _ histogram: LatencyHistogram, _ add: (String, String, String?) -> Void
  ) {
    add("\(kind)_mean", "ns", histogram.mean.map { String(Int($0.rounded())) })
    for percentile in Self.percentiles {
      add("\(kind)_\(percentile.rawValue)", "ns", histogram.value(at: percentile).map(String.init))
    }
    add("\(kind)_max", "ns", histogram.count == 0 ? nil : String(histogram.maximum))
  }

  private func addDurations(
    _ kind: String, _ times: ResponseTimes, _ add: (String, String, String?) -> Void
  ) {
    // A mean of what has waited so far would be too small.
    let mean = times.leftOut.count == 0 ? times.all.mean : nil
    add("\(kind)_mean", "ns", mean.map { String(Int($0.rounded())) })
    for percentile in Self.percentiles {
      add("\(kind)_\(percentile.rawValue)", "ns", times.value(at: percentile).map(String.init))
    }
    add("\(kind)_max", "ns", times.maximum.map(String.init))
  }

  private static let percentiles = [Percentile.p50, .p99, .p99_9]
}
