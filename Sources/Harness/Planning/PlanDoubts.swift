// Which earlier runs `plan` takes: those whose times say something. What concerns one figure alone,
// such as too few samples of a percentile, is no reason: the models see what a run does not know.
internal import Foundation

extension RunDocument {
  /// Why its times say little, whatever is asked.
  var doubts: [String] {
    var doubts: [String] = []
    if environment.build == "debug" {
      doubts.append("a debug build, which says nothing about speed")
    }
    if settings.quick { doubts.append("a smoke run (--quick)") }
    if let violation { doubts.append("invariant \(violation.invariant) was violated") }
    return doubts + Harness.Verdict.reasons(disturbance)
  }
}

extension PlanObservation {
  /// Refuses a run whose times say little.
  func refuseDoubtful() throws(ResultsError) {
    guard doubts.isEmpty else {
      throw ResultsError(
        "the run in '\(folder)' says little about times (\(doubts.joined(separator: "; "))): make it "
          + "again, leave it out, or take it all the same with --partial")
    }
  }
}

extension PlanQuestion {
  /// Whether its answer follows from how long things take.
  var isAboutTime: Bool {
    switch kind {
    case .value(let metric), .largest(_, let metric, _): !metric.isSpace
    case .readers: true
    }
  }
}
