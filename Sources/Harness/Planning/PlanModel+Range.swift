// How far a setting is from what was measured, and how far the laws of the models are trusted.
internal import Foundation

extension PlanModel {
  /// What of a setting lies outside of the measurements that tell of a metric.
  package func extrapolations(
    _ metric: PlanMetric, _ asked: PlanSetting
  ) -> [PlanExtrapolation] {
    let setting = resolved(asked)
    let runs = observations.map(\.setting)
    var found: [PlanExtrapolation] = []
    /// `trusted`: so many times further the law of this cause is known to hold.
    func look(
      _ name: String, _ asked: Double?, _ measured: [Double], trusted: Double
    ) {
      guard let asked, let least = measured.min(), let most = measured.max() else { return }
      guard asked > most * 1.05 || asked < least / 1.05 else { return }
      var extrapolation = PlanExtrapolation(
        name: name, asked: asked, measured: least...most, isVouched: true)
      extrapolation.isVouched = extrapolation.factor <= trusted
      found.append(extrapolation)
    }
    let isSpace = metric.isSpace
    // Files are similar at equal touches an object: that law goes far. Caches end somewhere: times
    // do not.
    look("objects", setting.objects, runs.map(\.objects), trusted: isSpace ? 32 : 4)
    look("batch", setting.batch, runs.map(\.batch), trusted: isSpace ? 8 : 2)
    look("value-size", setting.valueBytes, runs.map(\.valueBytes), trusted: 1.5)
    if setting.pins > 0 {
      let pinned = runs.filter { $0.pins > 0 }
      if pinned.isEmpty {
        found.append(
          PlanExtrapolation(
            name: "pins", asked: setting.pins, measured: 0...0, isVouched: false))
      }
      look("pins", setting.pinsKept, pinned.map(\.pinsKept), trusted: isSpace ? 50 : 10)
      if isSpace {
        look(
          "touches an object between pins", setting.touchesPerObject,
          pinned.compactMap(\.touchesPerObject), trusted: 4)
      }
    }
    if !isSpace && setting.readers > 0 {
      look("readers", setting.readers, runs.map(\.readers), trusted: 1)
    }
    if let cores = setting.cores, cores > machine.cores {
      found.append(
        PlanExtrapolation(
          name: "cores", asked: cores, measured: 1...machine.cores, isVouched: false))
    }
    return found
  }
}
