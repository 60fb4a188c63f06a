// What happens around a question: response time against throughput with its knee, the file against
// pins, age and rate, memory against pins, reads against readers.
internal import Foundation

/// Makes curves of a model.
struct PlanCurves {
  private let model: PlanModel

  init(_ model: PlanModel) { self.model = model }

  /// Median and p99 of responses from a tenth of the capacity to nearly all of it.
  func latency(_ setting: PlanSetting) -> [PlanCurvePoint] {
    guard let queue = model.queue(.write, setting) else { return [] }
    var points: [PlanCurvePoint] = []
    let loads = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]
    for percentile in ["p50", "p99"] {
      let metric = PlanMetric.latency(.write, "response_\(percentile)_ns")
      var curve = loads.compactMap { load -> PlanCurvePoint? in
        var asked = setting
        asked.load = nil
        asked.ratePerSecond = load * queue.capacity
        return model.estimate(metric, asked).map {
          PlanCurvePoint(
            curve: "throughput-latency", metric: metric, setting: asked, estimate: $0)
        }
      }
      if percentile == "p99", let knee = Self.knee(curve) { curve[knee].isKnee = true }
      points += curve
    }
    return points
  }

  /// The point that lies farthest below the straight line from the first to the last (Kneedle:
  /// Satopää, Albrecht, Irwin and Raghavan, 2011).
  static func knee(_ curve: [PlanCurvePoint]) -> Int? {
    guard curve.count >= 3, let first = curve.first, let last = curve.last,
      let from = first.setting.ratePerSecond, let to = last.setting.ratePerSecond
    else { return nil }
    let (low, high) = (first.estimate.value, last.estimate.value)
    guard high > low, to > from else { return nil }
    return curve.indices.max { distance($0) < distance($1) }
    func distance(_ position: Int) -> Double {
      let across = ((curve[position].setting.ratePerSecond ?? from) - from) / (to - from)
      return across - (curve[position].estimate.value - low) / (high - low)
    }
  }

  /// File and memory at a part, all and some times of the pins, and the same of their age.
  func growth(_ setting: PlanSetting) -> [PlanCurvePoint] {
    guard setting.pins > 0, setting.commitsBetweenPins != nil else { return [] }
    var points: [PlanCurvePoint] = []
    func add(_ curve: String, _ metric: PlanMetric, _ asked: PlanSetting) {
      guard let estimate = model.estimate(metric, asked) else { return }
      points.append(
        PlanCurvePoint(curve: curve, metric: metric, setting: asked, estimate: estimate))
    }
    for factor in [0.25, 0.5, 1, 2, 4] {
      var pins = setting
      pins.pins = Self.whole(setting.pins * factor)
      add("file-pins", .fileBytes, pins)
      add("memory-pins", .memoryBytes, pins)
      var age = setting
      age.ageSeconds = setting.ageSeconds.map { $0 * factor }
      age.pinEvery = setting.pinEvery.map { Self.whole($0 * factor) }
      add("file-age", .fileBytes, age)
      guard setting.ageSeconds != nil else { continue }
      var rate = setting
      rate.ratePerSecond = setting.ratePerSecond.map { $0 * factor }
      add("file-rate", .fileBytes, rate)
    }
    return points + surface(setting)
  }

  /// The file at each of these pins together with each age and rate: what one of them costs depends
  /// on the others.
  private func surface(_ setting: PlanSetting) -> [PlanCurvePoint] {
    let factors = [0.25, 0.5, 1, 2, 4]
    // Without an age it is the transactions between two pins that count, at any rate.
    let rates = setting.ageSeconds == nil || setting.ratePerSecond == nil ? [1] : [0.25, 1, 4]
    var points: [PlanCurvePoint] = []
    for rate in rates {
      for age in factors {
        for pins in factors {
          var asked = setting
          asked.pins = Self.whole(setting.pins * pins)
          asked.ageSeconds = setting.ageSeconds.map { $0 * age }
          asked.pinEvery = setting.pinEvery.map { Self.whole($0 * age) }
          asked.ratePerSecond = setting.ratePerSecond.map { $0 * rate }
          guard let estimate = model.estimate(.fileBytes, asked) else { continue }
          points.append(
            PlanCurvePoint(
              curve: Self.surfaceName, metric: .fileBytes, setting: asked, estimate: estimate))
        }
      }
    }
    return points
  }

  /// Pins, and transactions between two, are at least one.
  private static func whole(_ value: Double) -> Double { max(1, value.rounded()) }

  static let surfaceName = "file-pins-age-rate"

  /// A setting of a point without what its curve varies.
  static func unvaried(_ setting: PlanSetting, in curve: String) -> PlanSetting {
    var setting = setting
    let words = curve.split(separator: "-")
    if words.contains("pins") { setting.pins = 0 }
    if words.contains("age") { (setting.ageSeconds, setting.pinEvery) = (nil, nil) }
    if words.contains("rate") || words.contains("throughput") { setting.ratePerSecond = nil }
    if words.contains("cores") { (setting.readers, setting.cores) = (0, nil) }
    return setting
  }

  func reads(_ setting: PlanSetting) -> [PlanCurvePoint] {
    [1, 2, 4, 8, 16, 32, 64].compactMap { count in
      var asked = setting
      (asked.readers, asked.cores) = (count, count)
      return model.reads(asked).map {
        PlanCurvePoint(curve: "reads-cores", metric: .rate(.read), setting: asked, estimate: $0)
      }
    }
  }
}

/// What belongs to an answer beside its number.
struct PlanNotes {
  private let model: PlanModel

  init(_ model: PlanModel) { self.model = model }

  func notes(_ question: PlanQuestion) -> [String] {
    var notes: [String] = []
    let setting = question.setting
    switch question.kind {
    case .value(let metric) where metric.isSpace, .largest(_, let metric, _) where metric.isSpace:
      if let age = setting.ageSeconds, let between = setting.commitsBetweenPins {
        notes.append(
          "an age of \(PlanSetting.time(age)) is replaced by as many transactions between two pins: "
            + "\(PlanSetting.count(between.rounded()))")
      }
      if let between = setting.commitsBetweenPins, let space = model.space {
        var one = setting
        one.pins = 2
        one.pinEvery = between
        one.ageSeconds = nil
        let held = space.value(.heldBytes, one) / 1.5
        let live = space.value(.liveBytes, setting)
        notes.append(
          "live \(PlanMetric.liveBytes.readable(live)); each pin keeps about "
            + "\(PlanMetric.heldBytes.readable(held)): the blocks overwritten until the next one")
      }
    case .readers:
      guard let bytes = model.machine.memoryBytesPerSecond else { break }
      notes.append(
        "memory copies \(readableBytes(UInt64(bytes)))/s: at most "
          + "\(grouped(Int(wholeNumber(model.readsByMemory(setting))))) reads/s with nothing in a cache"
      )
    default: break
    }
    if isTimed(question), let note = diskNote(setting) { notes.append(note) }
    return notes
  }

  private func isTimed(_ question: PlanQuestion) -> Bool {
    switch question.kind {
    case .value(let metric), .largest(_, let metric, _):
      if case .latency(.write, _) = metric { return true }
      return metric == .rate(.write)
    case .readers: return false
    }
  }

  /// What of a commit's time is the disk's, and what half of it would change.
  private func diskNote(_ setting: PlanSetting) -> String? {
    guard setting.durability == .full, setting.syncNanoseconds == nil,
      let queue = model.queue(.write, setting), let sync = queue.syncNanoseconds
    else { return nil }
    let mean = queue.busy.mean * queue.scale
    var faster = setting
    faster.syncNanoseconds = sync / 2
    guard let other = model.queue(.write, faster) else { return nil }
    func time(_ value: Double) -> String { readableDuration(wholeNumber(value)) }
    return
      "a raw write and sync takes \(time(sync)) of the mean commit's \(time(mean)); on a disk that "
      + "needs half of it a closed loop would do \(grouped(Int(wholeNumber(other.capacity)))) instead of "
      + "\(grouped(Int(wholeNumber(queue.capacity)))) commits/s (ask with sync=TIME)"
  }
}
