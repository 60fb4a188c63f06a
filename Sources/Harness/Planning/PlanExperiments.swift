// Which runs tell most about the questions: few, at settings around what is asked for, made small
// by the laws of the models (the same touches an object between pins, the same batch), each short
// enough for the budget.
internal import Foundation

/// A run to be made.
package struct PlanExperiment: Equatable, Sendable {
  package enum Length: Equatable, Sendable {
    case transactions(Int)
    case seconds(Double)
  }

  package var setting: PlanSetting
  package var length: Length

  /// The flags of `run`.
  func flags(seed: UInt64) -> [String] {
    var words = ["readers-writer"] + setting.flags(seed: seed)
    switch length {
    case .transactions(let count):
      return words + ["--ops", String(count), "--warmup", "0s", "--interval", "10ms"]
    case .seconds(let seconds):
      let milliseconds = Int((seconds * 1_000).rounded())
      words += ["--duration", "\(milliseconds)ms", "--warmup", "\(min(500, milliseconds / 4))ms"]
    }
    return words + ["--interval", "20ms"]
  }
}

/// Chooses experiments.
package struct PlanExperiments {
  /// Time of one run, its load included.
  private let seconds: Double
  private let cores: Double

  package init(budgetSeconds: Double, questions: Int, cores: Double) {
    seconds = min(6, max(0.4, budgetSeconds / (6 + 5 * Double(max(1, questions)))))
    // Whole readers, of which each has a core.
    self.cores = max(1, cores.rounded(.down))
  }

  /// Objects that a run writes in its time, by experience; a slow build only takes longer.
  private var touches: Double { seconds * 30_000 }

  /// What is run for a question, the most telling first.
  package func experiments(for question: PlanQuestion) -> [PlanExperiment] {
    let setting = question.setting
    switch question.kind {
    case .value(let metric):
      return experiments(for: metric, setting)
    case .largest(let variable, let metric, let limit):
      if metric.isSpace {
        // In the middle of what may be the answer.
        var likely = setting
        switch variable {
        case .rate, .readRate: variable.set(500, in: &likely)
        case .pins: variable.set(100, in: &likely)
        case .age: variable.set(600, in: &likely)
        case .objects: variable.set(max(1_000, limit / 1_000), in: &likely)
        case .batch: variable.set(min(10, likely.objects), in: &likely)
        }
        return experiments(for: metric, likely)
      }
      return experiments(for: metric, setting)
    case .readers:
      let writes = setting.ratePerSecond != nil || setting.load != nil
      return readers(setting) + (writes ? times(setting) : [])
    }
  }

  private func experiments(
    for metric: PlanMetric, _ setting: PlanSetting
  ) -> [PlanExperiment] {
    switch metric {
    case .fileBytes, .liveBytes, .heldBytes, .growthPerCommit, .memoryBytes: space(setting)
    case .latency(.read, _), .rate(.read): readers(setting) + times(setting)
    case .latency, .rate: times(setting)
    }
  }

  // MARK: - Kinds

  /// Writes of each object between two pins behind which nothing is left of what there was: more of
  /// them hold no more.
  static let touchesThatMatter = 30.0

  /// Pins on smaller files at the same touches an object, at a quarter of them, and at four times
  /// as many.
  private func space(_ asked: PlanSetting) -> [PlanExperiment] {
    var experiments: [PlanExperiment] = []
    for (share, factor) in [(1.0, 1.0), (0.25, 1), (0.5, 0.25), (0.25, 4)] {
      var small = asked
      small.durability = .memory
      (small.readers, small.writers) = (0, 1)
      (small.ratePerSecond, small.load, small.readRatePerSecond) = (nil, nil, nil)
      (small.ageSeconds, small.syncNanoseconds) = (nil, nil)
      small.objects = max(min(asked.objects, 2_000), min(asked.objects, 400_000) * share).rounded()
      small.batch = min(asked.batch, small.objects)
      if asked.pins > 0, let between = asked.commitsBetweenPins {
        // So that a run that is as long as all pins together fits.
        let perObject = min(Self.touchesThatMatter, between * asked.batch / asked.objects) * factor
        let affordable = touches / max(0.001, perObject) / 8
        small.objects = max(min(2_000, asked.objects), min(small.objects, affordable)).rounded()
        small.pinEvery = max(1, (perObject * small.objects / small.batch).rounded())
        let most = touches / (small.pinEvery! * small.batch)
        small.pins = max(2, min(asked.pinsKept * share, most)).rounded()
      }
      let transactions =
        small.pins > 0
        ? small.pins * (small.pinEvery ?? 1) * 1.3 : max(100, touches / 4 / small.batch)
      experiments.append(
        PlanExperiment(
          setting: small,
          length: .transactions(max(20, Int(wholeNumber(transactions.rounded(.up)))))))
    }
    return experiments
  }

  /// A closed loop, and open ones at less than half and at most of what it does, known after it.
  private func times(_ asked: PlanSetting) -> [PlanExperiment] {
    var closed = asked
    closed.objects = min(asked.objects, 400_000)
    closed.batch = min(asked.batch, closed.objects)
    (closed.ratePerSecond, closed.load, closed.readRatePerSecond) = (nil, nil, nil)
    closed.readRatePerSecond = asked.readRatePerSecond
    if asked.commitsBetweenPins == nil { closed.pins = 0 }
    if let between = asked.commitsBetweenPins {
      closed.pinEvery = between
      closed.ageSeconds = nil
    }
    var (idle, busy) = (closed, closed)
    (idle.load, busy.load) = (0.4, 0.75)
    return [closed, idle, busy].map {
      PlanExperiment(setting: $0, length: .seconds(max(0.4, seconds)))
    }
  }

  /// One reader, and as many as there are cores.
  private func readers(_ asked: PlanSetting) -> [PlanExperiment] {
    Set([1, cores]).sorted().map { count in
      var setting = asked
      setting.objects = min(asked.objects, 400_000)
      setting.batch = min(asked.batch, setting.objects)
      (setting.readers, setting.writers, setting.pins) = (count, 0, 0)
      (setting.ratePerSecond, setting.load, setting.readRatePerSecond) = (nil, nil, nil)
      return PlanExperiment(setting: setting, length: .seconds(max(0.4, seconds / 2)))
    }
  }

  /// Seconds until a percentile of an open loop has the samples that it takes.
  static func length(_ metric: PlanMetric, _ setting: PlanSetting, atLeast least: Double) -> Double
  {
    guard case .latency(_, let column) = metric, let rate = setting.rate(of: metric),
      let percentile = Percentile.allCases.first(where: { column.hasSuffix("_\($0)_ns") })
    else { return max(0.5, least) }
    return max(0.5, least, min(20 * least, 1.15 * Double(percentile.samplesNeeded) / rate))
  }

  // MARK: - Checks

  /// A run that shows whether a value was right: the setting itself if it fits, else one with the
  /// same touches an object that nothing was fitted to.
  package func check(_ metric: PlanMetric, _ asked: PlanSetting) -> PlanExperiment? {
    if !metric.isSpace {
      guard asked.cores == nil, asked.syncNanoseconds == nil, asked.objects <= 2_000_000 else {
        return nil
      }
      var setting = asked
      if let between = asked.commitsBetweenPins {
        setting.pinEvery = between
        setting.ageSeconds = nil
      }
      let length = Self.length(metric, setting, atLeast: seconds)
      // Where nothing is due in it, a run shows nothing.
      if let rate = setting.rate(of: metric), rate * length < 1 { return nil }
      return PlanExperiment(setting: setting, length: .seconds(length))
    }
    guard var experiment = space(asked).first else { return nil }
    var small = experiment.setting
    guard small.objects < asked.objects || small.pins < asked.pins else { return experiment }
    small.objects = min(asked.objects, max(1_000, (small.objects * 0.6).rounded()))
    small.batch = min(small.batch, small.objects)
    if small.pins > 0, let all = asked.touchesPerObject {
      let touches = min(Self.touchesThatMatter, all)
      small.pinEvery = max(1, (touches * small.objects / small.batch).rounded())
      small.pins = max(2, min(asked.pinsKept, (small.pins * 1.5).rounded()))
      experiment.length = .transactions(Int(wholeNumber(small.pins * small.pinEvery! * 1.3)) + 20)
    }
    experiment.setting = small
    return experiment
  }

  /// What the models are fitted to before they are judged on other settings.
  package static let trainingQuestions = [
    "file size at objects=100k batch=1 pins=40 pin-every=300 durability=memory",
    "file size at objects=30k batch=10 pins=20 pin-every=20 durability=memory",
    "file size at objects=200k batch=50 pins=10 pin-every=20 durability=memory",
    "p99 at load=70% objects=100k batch=1 durability=memory",
    "p99 at load=70% objects=30k batch=4 durability=memory",
    "p99 at load=70% objects=100k batch=10 durability=memory",
    "p99 at load=70% objects=20k batch=20 durability=memory",
    "p99 at load=70% objects=200k batch=50 durability=memory",
  ]

  /// Settings over the whole space that nothing was asked about, to see what the models are worth.
  package static func validation(_ count: Int, seed: UInt64) -> [PlanSetting] {
    var random = RandomSequence(seed: seed)
    return (0..<count).map { _ in
      var setting = PlanSetting()
      setting.durability = .memory
      setting.objects = random.spread(10_000...200_000)
      setting.batch = random.spread(1...50)
      setting.pins = random.spread(4...60)
      // So many objects are written until all pins are there that growth can be told.
      let together = setting.batch * setting.pins
      setting.pinEvery = random.spread(
        max(1, 15_000 / together)...max(2, 80_000 / together))
      return setting
    }
  }
}

/// Numbers that are spread evenly over the logarithms of a range.
private struct RandomSequence {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func spread(_ range: ClosedRange<Double>) -> Double {
    state &+= 1
    let share = Double(mix(state) >> 11) * 0x1p-53
    return exp(log(range.lowerBound) + share * log(range.upperBound / range.lowerBound)).rounded()
  }
}
