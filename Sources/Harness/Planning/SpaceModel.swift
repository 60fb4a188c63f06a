// What a file holds: the newest version, and for each pin the blocks that were overwritten until
// the next pin was taken, each distinct block once, and together not more than a version. Classes
// of blocks by how many objects share one begin with what the engine's blocks are known to be, and
// are moved by what runs have held. Free space is the residual, by a constant and a share.
// Everything scales with objects and touches an object, so small runs tell about large files; what
// runs have not told stays in the range of an answer.
internal import Foundation

/// Predicts live, held and file bytes.
package struct SpaceModel: Sendable {
  /// Blocks that so many objects share, in files with values of 100 bytes.
  private struct BlockClass {
    var objects: Double
    /// Bytes an object that such blocks are likely to have.
    var likely: Double
    /// Whether values are in them: then larger values leave room for fewer objects in each.
    var hasValues: Bool
  }

  /// Leaves of values end at 6 KB, those of numbers with their cluster of 256 objects; above them
  /// are the branches, the last one there once a version.
  private static let classes: [BlockClass] = [
    BlockClass(objects: 1, likely: 1.5, hasValues: true),
    BlockClass(objects: 8, likely: 4, hasValues: true),
    BlockClass(objects: 32, likely: 7, hasValues: true),
    BlockClass(objects: 64, likely: 65, hasValues: true),
    BlockClass(objects: 128, likely: 10, hasValues: true),
    BlockClass(objects: 256, likely: 8, hasValues: false),
    BlockClass(objects: 1_024, likely: 1, hasValues: false),
    BlockClass(objects: 4_096, likely: 0.2, hasValues: false),
    BlockClass(objects: 65_536, likely: 0.03, hasValues: false),
    BlockClass(objects: 4_194_304, likely: 0.002, hasValues: false),
  ]
  /// The longest leaf of values.
  static let leafBytes = 6_144.0
  /// Bytes of an object that no change of it overwrites: its place in the tree of keys.
  private static let keptBytes = 18.0
  /// Bytes of an object beside its value.
  private static let ownBytes = 34.0
  private static let usualValueBytes = 100.0
  /// By how much repeated runs differ.
  private static let noise = 0.04

  private let live: CauseModel
  private let held: CauseModel
  private let file: CauseModel
  /// Value sizes that were measured, the smallest and the largest.
  private let valueBytes: ClosedRange<Double>
  private var errors: [String: Double] = [:]

  /// Nil without a run that tells of the file.
  package init?(_ observations: [PlanObservation]) {
    self.init(observations, checksItself: true)
  }

  private init?(_ observations: [PlanObservation], checksItself: Bool) {
    let useful = observations.filter { !$0.space.isEmpty }
    guard !useful.isEmpty else { return nil }
    let sizes = useful.map(\.setting.valueBytes)
    valueBytes = (sizes.min() ?? 0)...(sizes.max() ?? 0)
    var liveRows: [CauseModel.Equation] = []
    var heldRows: [CauseModel.Equation] = []
    for run in useful {
      let points = run.spacePoints
      // The points of a run are not as many runs.
      let weight = min(1, 4 / Double(max(1, points.count)))
      for point in points {
        liveRows.append(.init(Self.liveCauses(run.setting), point.live, weight: weight))
        // A transaction that waits for its sync holds a little, with no pin there.
        guard point.held > 0, point.age.transactionsBetween > 0 else { continue }
        heldRows.append(.init(Self.heldCauses(run.setting, point.age), point.held, weight: weight))
      }
      // However few transactions the runs have between their pins: of enough of them a pin holds
      // all that is ever overwritten.
      if let live = run.lastSpace?.live {
        heldRows.append(
          .init(
            Self.heldCauses(run.setting, .everythingOverwritten),
            live - Self.keptBytes * run.setting.objects, weight: 0.3))
      }
    }
    live = CauseModel(
      [
        .init(16_384, spread: 32_768), .init(Self.ownBytes, spread: 30), .init(1, spread: 0.1),
      ], liveRows, noise: Self.noise)
    held = CauseModel(
      Self.classes.map { CauseModel.Cause($0.likely, spread: $0.likely) }
        + [.init(2_000, spread: 4_000), .init(8_000, spread: 20_000)],
      heldRows, noise: Self.noise)
    // The file is as long as its last intervals needed it to be.
    file = CauseModel(
      [.init(32_768, spread: 65_536), .init(1.2, spread: 0.2)],
      useful.compactMap { run in
        run.lastSpace.map { CauseModel.Equation([1, $0.live + $0.held], $0.file) }
      }, noise: Self.noise)
    if checksItself { errors = Self.errors(useful) }
  }

  // MARK: - Causes

  private static func liveCauses(_ setting: PlanSetting) -> [Double] {
    [1, setting.objects, setting.objects * setting.valueBytes]
  }

  /// Bytes held for pins, a cause each: by class of blocks, and what every version keeps.
  private static func heldCauses(_ setting: PlanSetting, _ pins: PlanPinAges) -> [Double] {
    let full = overwritten(setting, pins.transactionsBetween)
    let last = overwritten(setting, pins.transactionsSinceLast)
    // A commit that waits for its sync holds what it replaced, pins or not.
    return zip(full, last).map { $0 * pins.fullIntervals + $1 } + [pins.fullIntervals + 1, 1]
  }

  /// Objects in the distinct blocks that these transactions overwrite, by class; of blocks with
  /// values in units of an object with a value of the usual size.
  private static func overwritten(_ setting: PlanSetting, _ transactions: Double) -> [Double] {
    let size = (ownBytes + setting.valueBytes) / (ownBytes + usualValueBytes)
    return classes.map { kind in
      guard kind.hasValues else { return overwritten(setting, transactions, kind.objects) }
      return size * overwritten(setting, transactions, min(256, max(1, kind.objects / size)))
    }
  }

  private static func overwritten(
    _ setting: PlanSetting, _ transactions: Double, _ objectsInBlock: Double
  ) -> Double {
    let blocks = max(1, setting.objects / objectsInBlock)
    // Each object of a batch is another one; two of one block count once.
    let touched = 1 - pow(1 - 1 / blocks, transactions * setting.batch)
    return setting.objects * (blocks == 1 ? (transactions > 0 ? 1 : 0) : touched)
  }

  // MARK: - Answers

  /// Between two pins the last one has had half the time on average.
  private static func ages(_ setting: PlanSetting) -> PlanPinAges? {
    guard setting.pins > 0, let between = setting.commitsBetweenPins else { return nil }
    return PlanPinAges(
      fullIntervals: max(0, setting.pinsKept - 1), transactionsBetween: between,
      transactionsSinceLast: between / 2)
  }

  private func heldBytes(_ setting: PlanSetting) -> Double {
    guard let ages = Self.ages(setting) else { return 0 }
    let held = self.held.value(Self.heldCauses(setting, ages))
    // Nothing can be overwritten between two pins that the first one does not see.
    let live = self.live.value(Self.liveCauses(setting))
    return min(held, live * (ages.fullIntervals + 1))
  }

  /// A metric of space in the end: all pins there.
  package func value(_ metric: PlanMetric, _ setting: PlanSetting) -> Double {
    let live = self.live.value(Self.liveCauses(setting))
    let held = heldBytes(setting)
    switch metric {
    case .liveBytes: return live
    case .heldBytes: return held
    case .growthPerCommit: return file.value([0, heldPerCommit(setting)])
    default: return file.value([1, live + held])
    }
  }

  /// Held bytes that a transaction adds while pins come: those of the stretch between two pins,
  /// spread over its transactions.
  private func heldPerCommit(_ setting: PlanSetting) -> Double {
    guard let between = setting.commitsBetweenPins, setting.pins > 0 else { return 0 }
    var (fewer, more) = (setting, setting)
    (fewer.pins, fewer.pinEvery) = (1, between)
    (more.pins, more.pinEvery) = (2, between)
    return (heldBytes(more) - heldBytes(fewer)) / between
  }

  package func estimate(_ metric: PlanMetric, _ setting: PlanSetting) -> PlanEstimate {
    let value = value(metric, setting)
    let known = errors[metric.name] ?? 0.15
    let unknown = spread(metric, setting)
    return PlanEstimate(value, relativeError: (known * known + unknown * unknown).squareRoot())
  }

  /// One standard deviation, as a share of the value, of what the runs have not told.
  package func spread(_ metric: PlanMetric, _ setting: PlanSetting) -> Double {
    // Leaves are filled by another rule where values are longer than the largest of them.
    let beyond = max(
      log((setting.valueBytes + Self.ownBytes) / (valueBytes.upperBound + Self.ownBytes)),
      log((valueBytes.lowerBound + Self.ownBytes) / (setting.valueBytes + Self.ownBytes)), 0)
    let live = self.live.value(Self.liveCauses(setting))
    let liveSpread = self.live.spread(Self.liveCauses(setting))
    let held = heldBytes(setting)
    var heldSpread = 0.0
    if let ages = Self.ages(setting) {
      heldSpread = self.held.spread(Self.heldCauses(setting, ages))
      heldSpread = (heldSpread * heldSpread + pow(0.25 * beyond * held, 2)).squareRoot()
    }
    switch metric {
    case .liveBytes: return live > 0 ? liveSpread / live : 0
    case .heldBytes: return held > 0 ? heldSpread / held : 0
    case .growthPerCommit:
      let share = file.relativeSpread([0, 1])
      return held > 0 ? (pow(heldSpread / held, 2) + share * share).squareRoot() : share
    default:
      let share = file.relativeSpread([1, live + held])
      let bytes = (liveSpread * liveSpread + heldSpread * heldSpread).squareRoot()
      return (pow(bytes / max(1, live + held), 2) + share * share).squareRoot()
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
