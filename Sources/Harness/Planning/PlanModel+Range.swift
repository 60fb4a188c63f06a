// How far a setting is from what was measured, and how far the laws of the models are trusted: less
// far where no run has varied the setting, so that its law is only taken from what is known of the
// engine.
internal import Foundation

extension PlanModel {
  /// What of a setting lies outside of the measurements that tell of a metric.
  package func extrapolations(
    _ metric: PlanMetric, _ asked: PlanSetting
  ) -> [PlanExtrapolation] {
    let setting = resolved(asked)
    let telling = telling(of: metric, setting)
    let runs = telling.map(\.setting)
    var found: [PlanExtrapolation] = []
    /// `trusted`: so many times further the law of this cause is known to hold where runs have
    /// shown it; `unseen`: where all had the same.
    func look(
      _ name: String, _ asked: Double?, _ measured: [Double], trusted: Double, unseen: Double
    ) {
      guard let asked, let least = measured.min(), let most = measured.max() else { return }
      guard asked > most * 1.05 || asked < least / 1.05 else { return }
      var extrapolation = PlanExtrapolation(
        name: name, asked: asked, measured: least...most, isVouched: true)
      let isVaried = least > 0 ? most / least >= 1.5 : most > 0
      extrapolation.isVouched =
        extrapolation.factor.map { $0 <= (isVaried ? trusted : unseen) } ?? false
      found.append(extrapolation)
    }
    let isSpace = metric.isSpace
    // Files are similar at equal touches an object: that law goes far. Caches end somewhere: times
    // do not.
    look(
      "objects", setting.objects, runs.map(\.objects), trusted: isSpace ? 32 : 4,
      unseen: isSpace ? 8 : 2)
    // What no pin keeps has the same size in batches of any size.
    if metric.dependsOnBatch(setting) {
      look(
        "batch", setting.batch, runs.map(\.batch), trusted: isSpace ? 8 : 2,
        unseen: isSpace ? 4 : 1.5)
    }
    look(
      "value-size", setting.valueBytes, runs.map(\.valueBytes), trusted: isSpace ? 4 : 2,
      unseen: 1.5)
    if setting.pins > 0 {
      let pinned = runs.filter { $0.pins > 0 }
      if pinned.isEmpty {
        found.append(
          PlanExtrapolation(
            name: "pins", asked: setting.pins, measured: 0...0, isVouched: false))
      }
      look(
        "pins", setting.pinsKept, pinned.map(\.pinsKept), trusted: isSpace ? 50 : 10,
        unseen: isSpace ? 20 : 4)
      if isSpace {
        look(
          "touches an object between pins", setting.touchesPerObject,
          pinned.compactMap(\.touchesPerObject), trusted: 4, unseen: 4)
      }
    }
    if !isSpace {
      if setting.readers > 0 {
        look("readers", setting.readers, runs.map(\.readers), trusted: 1, unseen: 1)
      }
      if metric.isOfWrites && setting.writers > 0 {
        look("writers", setting.writers, runs.map(\.writers), trusted: 1, unseen: 1)
      }
    }
    if let cores = setting.cores {
      // The same law of threads that do not wait for each other; what they wait for in the machine
      // shows only when there are as many.
      look(
        "readers with a core each", cores, telling.map(\.busyReaders), trusted: 2, unseen: 1.3)
    }
    if let cores = setting.cores, cores > machine.cores {
      found.append(
        PlanExtrapolation(
          name: "cores", asked: cores, measured: 1...machine.cores, isVouched: false))
    }
    return found
  }

  /// The runs that a metric's answer is worked out from.
  private func telling(of metric: PlanMetric, _ setting: PlanSetting) -> [PlanObservation] {
    observations.filter { run in
      switch metric {
      case .fileBytes, .liveBytes, .heldBytes, .growthPerCommit: !run.space.isEmpty
      case .memoryBytes: run.residentBytes != nil
      case .latency(let operation, _), .rate(let operation):
        operation == .read
          ? run.setting.readers > 0
          : run.distributions[.write] != nil && run.setting.durability == setting.durability
      }
    }
  }
}

extension PlanMetric {
  fileprivate var isOfWrites: Bool {
    switch self {
    case .latency(.write, _), .rate(.write): true
    default: false
    }
  }

  fileprivate func dependsOnBatch(_ setting: PlanSetting) -> Bool {
    isSpace ? self != .liveBytes && setting.pins > 0 : isOfWrites
  }
}
