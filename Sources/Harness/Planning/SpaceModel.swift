// What a file holds: the newest version, and for each pin the blocks that were overwritten until
// the next pin was taken, each distinct block once. Which blocks there are is not assumed: classes
// of blocks by how many objects share one, their bytes an object fitted to what runs have held.
// Free space is the residual, by a constant and a share. Everything scales with objects and touches
// an object, so small runs tell about large files.
internal import Foundation

/// Predicts live, held and file bytes.
package struct SpaceModel: Sendable {
  /// Objects that share a block.
  ///
  /// The last class is there once a version, however many objects.
  private static let classes: [Double] = [
    1, 8, 32, 64, 128, 256, 1_024, 4_096, 65_536, 4_194_304,
  ]

  private let live: [Double]
  private let held: [Double]
  private let file: [Double]
  private let hasValueSizes: Bool
  private let meanValueBytes: Double
  private var errors: [String: Double] = [:]

  /// Nil without a run that tells of the file.
  package init?(_ observations: [PlanObservation]) {
    self.init(observations, checksItself: true)
  }

  private init?(_ observations: [PlanObservation], checksItself: Bool) {
    let useful = observations.filter { !$0.space.isEmpty }
    guard !useful.isEmpty else { return nil }
    let sizes = Set(useful.map(\.setting.valueBytes))
    hasValueSizes = sizes.count > 1
    meanValueBytes = sizes.reduce(0, +) / Double(sizes.count)
    var liveRows: [([Double], Double)] = []
    var heldRows: [([Double], Double)] = []
    for run in useful {
      for point in run.spacePoints {
        liveRows.append((Self.liveCauses(run.setting, hasValueSizes), point.live))
        if point.held > 0 {
          heldRows.append((Self.heldCauses(run.setting, point.age, hasValueSizes), point.held))
        }
      }
    }
    live = LeastSquares.fit(liveRows.map(\.0), liveRows.map(\.1))
    held = LeastSquares.fit(heldRows.map(\.0), heldRows.map(\.1))
    // The file is as long as its last intervals needed it to be.
    let ends = useful.compactMap { run in
      run.lastSpace.map { ([1, $0.live + $0.held], $0.file) }
    }
    file = LeastSquares.fit(ends.map(\.0), ends.map(\.1))
    if checksItself { errors = Self.errors(useful) }
  }

  // MARK: - Causes

  private static func withValueSize(
    _ causes: [Double], _ setting: PlanSetting, _ hasValueSizes: Bool
  ) -> [Double] {
    hasValueSizes ? causes + causes.map { $0 * setting.valueBytes } : causes
  }

  private static func liveCauses(_ setting: PlanSetting, _ hasValueSizes: Bool) -> [Double] {
    [1] + withValueSize([setting.objects], setting, hasValueSizes)
  }

  /// Bytes held for pins, a cause each: by class of blocks, and what every version keeps.
  private static func heldCauses(
    _ setting: PlanSetting, _ pins: PlanPinAges, _ hasValueSizes: Bool
  ) -> [Double] {
    let blocks = classes.map { size in
      overwritten(setting, pins.transactionsBetween, size) * pins.fullIntervals
        + overwritten(setting, pins.transactionsSinceLast, size)
    }
    // A commit that waits for its sync holds what it replaced, pins or not.
    return withValueSize(blocks, setting, hasValueSizes) + [pins.fullIntervals + 1, 1]
  }

  /// Objects in the distinct blocks that these transactions overwrite.
  private static func overwritten(
    _ setting: PlanSetting, _ transactions: Double, _ objectsInBlock: Double
  ) -> Double {
    let blocks = max(1, setting.objects / objectsInBlock)
    // Each object of a batch is another one; two of one block count once.
    let touched = 1 - pow(1 - 1 / blocks, transactions * setting.batch)
    return setting.objects * (blocks == 1 ? (transactions > 0 ? 1 : 0) : touched)
  }

  // MARK: - Answers

  /// A metric of space in the end: all pins there.
  package func value(_ metric: PlanMetric, _ setting: PlanSetting) -> Double {
    let live = LeastSquares.value(self.live, Self.liveCauses(setting, hasValueSizes))
    var held = 0.0
    if setting.pins > 0, let between = setting.commitsBetweenPins {
      // Between two pins the last one has had half the time on average.
      let ages = PlanPinAges(
        fullIntervals: max(0, setting.pinsKept - 1), transactionsBetween: between,
        transactionsSinceLast: between / 2)
      held = LeastSquares.value(self.held, Self.heldCauses(setting, ages, hasValueSizes))
    }
    switch metric {
    case .liveBytes: return live
    case .heldBytes: return held
    case .growthPerCommit:
      let commits = setting.pinsKept * (setting.commitsBetweenPins ?? 1)
      return LeastSquares.value(file, [0, held]) / commits
    default: return LeastSquares.value(file, [1, live + held])
    }
  }

  package func estimate(_ metric: PlanMetric, _ setting: PlanSetting) -> PlanEstimate {
    PlanEstimate(value(metric, setting), relativeError: errors[metric.name] ?? 0.15)
  }

  /// Bytes an object of each class of blocks, for the answer's explanation.
  package var blockClasses: [(objectsInBlock: Double, bytesPerObject: Double)] {
    Self.classes.indices.compactMap { position in
      guard position < held.count else { return nil }
      var bytes = held[position]
      if hasValueSizes { bytes += held[Self.classes.count + position] * meanValueBytes }
      return bytes > 0.01 ? (Self.classes[position], bytes) : nil
    }
  }

  // MARK: - Errors

  /// How far each run is from what the others say of it.
  private static func errors(_ observations: [PlanObservation]) -> [String: Double] {
    var residuals: [String: PlanResiduals] = [:]
    for position in observations.indices {
      var others = observations
      let left = others.remove(at: position)
      guard others.contains(where: { $0.setting.pins > 0 }) || left.setting.pins == 0,
        let model = SpaceModel(others, checksItself: false)
      else { continue }
      for metric in [PlanMetric.fileBytes, .liveBytes, .heldBytes, .growthPerCommit] {
        guard let measured = left.measured(metric) else { continue }
        residuals[metric.name, default: PlanResiduals()].add(
          predicted: model.value(metric, left.setting), measured: measured)
      }
    }
    return residuals.mapValues { $0.relativeError(least: 0.03) }
  }
}
