// Looks for the largest rate that keeps a limit: by the model's answer first, then by runs in open
// loop that close in on it from both sides. Each rate is tried once: what is found lies between two
// rates, and is no range of what repeated runs would show.
internal import Foundation

/// A search by runs.
struct PlanSearch {
  let variable: PlanVariable
  let metric: PlanMetric
  let limit: Double
  let setting: PlanSetting
  let seconds: Double
  /// A rate is not sustained when what was due takes longer than the phase by more than this share.
  private static let overtimeMax = 0.1
  private(set) var tries = 0
  private(set) var observations: [PlanObservation] = []

  init(
    variable: PlanVariable, metric: PlanMetric, limit: Double, setting: PlanSetting,
    seconds: Double
  ) {
    self.variable = variable
    self.metric = metric
    self.limit = limit
    self.setting = setting
    self.seconds = seconds
  }

  /// The largest rate that kept the limit; its range ends at the smallest that did not.
  ///
  /// Nowhere when the limit is missed down to where a run is too short to tell; a least where no
  /// run missed it.
  mutating func run(from guess: Double, with runs: PlanRuns) throws -> PlanFound? {
    var (kept, missed): (Double?, Double?) = (nil, nil)
    var rate = guess
    let reserve = runs.secondsLeft / 4
    while tries < 10 && (runs.secondsLeft > max(seconds * 2, reserve) || tries == 0) {
      if length(rate) > seconds * 8, kept == nil {
        return missed.map(Self.nowhere)
      }
      guard let isKept = try isKept(at: rate, runs) else { return nil }
      if isKept { kept = max(kept ?? 0, rate) } else { missed = min(missed ?? .infinity, rate) }
      // A slow moment may refuse what a larger rate has kept: the smaller range counts.
      if let k = kept, let m = missed, m <= k { kept = m / 1.1 }
      switch (kept, missed) {
      case (let kept?, let missed?):
        if missed / kept < 1.05 {
          return PlanFound(PlanEstimate(kept, low: kept, high: missed))
        }
        rate = (kept * missed).squareRoot()
      case (let kept?, nil): rate = kept * 1.3
      case (nil, let missed?): rate = missed / 1.5
      case (nil, nil): return nil
      }
    }
    guard let kept else { return missed.map(Self.nowhere) }
    guard let missed else {
      return PlanFound(PlanEstimate(kept, low: kept, high: kept), .least(upTo: kept))
    }
    return PlanFound(PlanEstimate(kept, low: kept, high: missed))
  }

  private static func nowhere(downTo missed: Double) -> PlanFound {
    PlanFound(PlanEstimate(0, low: 0, high: missed), .nowhere(from: missed, to: nil))
  }

  private func length(_ rate: Double) -> Double {
    var asked = setting
    variable.set(rate, in: &asked)
    return PlanExperiments.length(metric, asked, atLeast: seconds)
  }

  private mutating func isKept(at rate: Double, _ runs: PlanRuns) throws -> Bool? {
    var asked = setting
    variable.set(rate, in: &asked)
    if let between = asked.commitsBetweenPins {
      asked.pinEvery = between
      asked.ageSeconds = nil
    }
    let experiment = PlanExperiment(setting: asked, length: .seconds(length(rate)))
    guard let observation = try runs.run(experiment, for: "search") else { return nil }
    tries += 1
    observations.append(observation)
    // What is not known is not kept; nor is a limit that holds only until the queue has grown.
    guard let measured = observation.measured(metric) else { return false }
    return measured < limit && observation.overtime < Self.overtimeMax
  }
}
