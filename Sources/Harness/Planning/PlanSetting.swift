// One point of the space that `plan` knows: what a load is made of. Questions name one, experiments
// measure some, the models go from these to that.
internal import Foundation

/// A load and its pins.
package struct PlanSetting: Equatable, Sendable {
  package var objects = 100_000.0
  package var valueBytes = 100.0
  /// Objects that one transaction writes.
  package var batch = 10.0
  package var pins = 0.0
  /// Age of the oldest pin; the pins are taken evenly over it.
  package var ageSeconds: Double?
  /// Transactions between two pins, where no age is given.
  package var pinEvery: Double?
  /// Writes a second, open loop; nil = closed loop.
  package var ratePerSecond: Double?
  /// Or: the rate as a share of what a closed loop does.
  package var load: Double?
  package var readRatePerSecond: Double?
  package var readers = 0.0
  package var writers = 1.0
  package var cores: Double?
  /// Another disk's time of a sync.
  package var syncNanoseconds: Double?
  package var durability = DurabilityClass.full
  package var arrivals = Arrivals.poisson

  package init() {}

  /// Transactions between two pins, at least 1: a version can be pinned once.
  package var commitsBetweenPins: Double? {
    if pins == 0 { return nil }
    if let pinEvery { return max(1, pinEvery) }
    guard let ageSeconds, let ratePerSecond else { return nil }
    return max(1, ratePerSecond * ageSeconds / pins)
  }

  /// Versions that are pinned in the end: not more than there are transactions.
  package var pinsKept: Double {
    guard pinEvery == nil, let ageSeconds, let ratePerSecond else { return pins }
    return min(pins, max(1, ratePerSecond * ageSeconds))
  }

  /// How often each object is written between two pins.
  package var touchesPerObject: Double? { commitsBetweenPins.map { $0 * batch / objects } }

  /// How often the operation of a figure is due, where it is.
  func rate(of metric: PlanMetric) -> Double? {
    switch metric {
    case .latency(.read, _), .rate(.read): readRatePerSecond
    case .latency, .rate: ratePerSecond
    default: nil
    }
  }

  /// In the words of a question.
  package var text: String {
    var words = ["objects=\(Self.count(objects))"]
    if valueBytes != 100 { words.append("value-size=\(wholeNumber(valueBytes))B") }
    words.append("batch=\(Self.count(batch))")
    if pins > 0 { words.append("pins=\(Self.count(pins))") }
    if let ageSeconds { words.append("age=\(Self.time(ageSeconds))") }
    if let pinEvery { words.append("pin-every=\(Self.count(pinEvery))") }
    if let ratePerSecond { words.append("rate=\(Self.count(ratePerSecond))/s") }
    if let load { words.append("load=\(Self.count(load * 100))%") }
    if readers > 0 { words.append("readers=\(Self.count(readers))") }
    if let readRatePerSecond { words.append("read-rate=\(Self.count(readRatePerSecond))/s") }
    if writers != 1 { words.append("writers=\(Self.count(writers))") }
    if let syncNanoseconds { words.append("sync=\(Self.time(syncNanoseconds / 1e9))") }
    if durability != .full { words.append("durability=\(durability.rawValue)") }
    if arrivals != .poisson { words.append("arrivals=\(arrivals.rawValue)") }
    return words.joined(separator: " ")
  }

  /// As in `5M`, `1.5k`, `300`; the value itself where that would lose digits.
  package static func count(_ value: Double) -> String {
    for (factor, suffix) in [(1e6, "M"), (1e3, "k")] where value >= factor {
      let scaled = value / factor
      if (scaled * 100).rounded() == scaled * 100 { return plain(scaled) + suffix }
    }
    return plain((value * 100).rounded() / 100)
  }

  private static func plain(_ value: Double) -> String {
    // Beyond that there are no digits left, nor whole numbers in the end.
    guard abs(value) < 1e15 else { return String(format: "%.1e", value) }
    return value == value.rounded() ? String(Int(value)) : "\(value)"
  }

  static func time(_ seconds: Double) -> String {
    Units.text(nanoseconds: wholeNumber(seconds * 1e9))
  }

  // MARK: - As a run

  /// The flags of `run readers-writer` that make this load, without its length.
  package func flags(seed: UInt64) -> [String] {
    var words = [
      "--readers", whole(readers), "--writers", whole(writers), "--objects", whole(objects),
      "--value-size", whole(valueBytes) + "B", "--durability", durability.rawValue,
      "--seed", String(seed), "--invariants", "none",
    ]
    if whole(writers) != "0" { words += ["--batch", whole(batch)] }
    if let ratePerSecond { words += ["--rate", Self.rate(ratePerSecond)] }
    if let readRatePerSecond {
      words += ["--read-rate", Self.rate(readRatePerSecond)]
    }
    if ratePerSecond != nil || readRatePerSecond != nil {
      words += ["--arrivals", arrivals.rawValue]
    }
    if pins > 0, let commits = commitsBetweenPins {
      words += ["--pins", whole(pinsKept), "--pin-every", whole(commits)]
    }
    return words
  }

  /// Three digits behind the point, but of less than one a second all.
  private static func rate(_ value: Double) -> String {
    value < 1 ? Units.text(ratePerSecond: value) : decimal(value, places: 3) + "/s"
  }

  private func whole(_ value: Double) -> String { String(wholeNumber(value)) }
}
