// The names and values of settings in the questions of `plan`.
internal import Foundation

/// Reads settings of questions.
enum PlanWords {
  static let settings = [
    "objects", "value-size", "batch", "pins", "age", "pin-every", "rate", "load", "readers",
    "read-rate", "writers", "sync", "durability", "arrivals",
  ]

  static func set(
    _ name: String, _ value: String, in setting: inout PlanSetting
  ) throws(UsageError) {
    switch name {
    case "objects": setting.objects = try count(value, name, 1...1e9)
    case "value-size": setting.valueBytes = Double(try Units.bytes(value, flag: "--ask value-size"))
    case "batch": setting.batch = try count(value, name, 1...1e6)
    case "pins": setting.pins = try count(value, name, 0...1e6)
    case "age": setting.ageSeconds = try seconds(value, name)
    case "pin-every": setting.pinEvery = try count(value, name, 1...1e9)
    case "rate": setting.ratePerSecond = try rate(value)
    case "load": setting.load = try share(value)
    case "readers": setting.readers = try count(value, name, 0...1_024)
    case "read-rate": setting.readRatePerSecond = try rate(value)
    case "writers": setting.writers = try count(value, name, 0...1_024)
    case "sync": setting.syncNanoseconds = try seconds(value, name) * 1e9
    case "durability": setting.durability = try choice(value, name)
    case "arrivals": setting.arrivals = try choice(value, name)
    default:
      let nearest = nearestName(name, in: settings).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "--ask: '\(name)' is no setting (\(settings.joined(separator: ", ")))\(nearest)")
    }
  }

  /// A number such as 300, 1.5k or 5M.
  static func count(
    _ text: String, _ name: String, _ range: ClosedRange<Double>
  ) throws(UsageError) -> Double {
    let number = try? Units.count(text, flag: name, minimum: 0)
    guard let value = number.map(Double.init), range.contains(value) else {
      throw UsageError(
        "--ask: \(name)=\(text) is no whole number from \(PlanSetting.count(range.lowerBound)) to "
          + "\(PlanSetting.count(range.upperBound)), such as 200, 50k or 5M")
    }
    return value
  }

  static func rate(_ text: String) throws(UsageError) -> Double {
    try Units.ratePerSecond(text, flag: "--ask")
  }

  /// The limit of a condition, in the unit of its figure.
  static func limit(_ text: String, of metric: PlanMetric) throws(UsageError) -> Double {
    let value: Double
    switch metric.unit {
    case "ns": value = Double(try Units.nanoseconds(text, flag: "--ask \(metric.name)"))
    case "bytes": value = Double(try Units.bytes(text, flag: "--ask \(metric.name)"))
    default: value = try rate(text)
    }
    guard value > 0 else { throw UsageError("--ask: nothing is below 0") }
    return value
  }

  private static func seconds(_ text: String, _ name: String) throws(UsageError) -> Double {
    let value = Double(try Units.nanoseconds(text, flag: "--ask \(name)")) / 1e9
    guard value > 0 else { throw UsageError("--ask: \(name) is 0") }
    return value
  }

  private static func share(_ text: String) throws(UsageError) -> Double {
    guard text.hasSuffix("%"), let value = Units.number(text.dropLast()), value > 0, value < 100
    else { throw UsageError("--ask: load=\(text) is no share such as 70%, below 100%") }
    return value / 100
  }

  private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ text: String, _ name: String
  ) throws(UsageError) -> Choice {
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    let nearest = nearestName(text, in: names).map { "; did you mean '\($0)'?" } ?? ""
    throw UsageError(
      "--ask: \(name)=\(text) is not one of \(names.joined(separator: ", "))\(nearest)")
  }
}
