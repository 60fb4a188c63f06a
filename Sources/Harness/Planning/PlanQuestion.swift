// The questions of `plan --ask`, from text to what has to be found out. Everything that is not
// understood is refused with the nearest name that would be, before anything starts.
internal import Foundation

/// A figure that can be asked for.
package enum PlanMetric: Equatable, Sendable {
  case fileBytes
  case liveBytes
  case heldBytes
  case growthPerCommit
  case memoryBytes
  /// A column of summary.csv, such as `response_p99_ns` of `write`.
  case latency(Operation, String)
  case rate(Operation)

  /// As in plan.csv.
  package var name: String {
    switch self {
    case .fileBytes: "file_bytes"
    case .liveBytes: "live_bytes"
    case .heldBytes: "held_bytes"
    case .growthPerCommit: "growth_bytes_per_commit"
    case .memoryBytes: "resident_bytes"
    case .latency(let operation, let column): "\(operation.rawValue).\(column)"
    case .rate(let operation): "\(operation.rawValue).rate_per_s"
    }
  }

  package var unit: String {
    switch self {
    case .latency: "ns"
    case .rate: "1/s"
    default: "bytes"
    }
  }

  package var isSpace: Bool { unit == "bytes" }

  package var isResponse: Bool {
    if case .latency(_, let column) = self { return column.hasPrefix("response_") }
    return false
  }

  /// The value for people.
  package func readable(_ value: Double) -> String {
    switch unit {
    case "bytes": readableSize(value)
    case "ns": readableDuration(wholeNumber(value))
    // A rate that is not 0 is not shown as that.
    case _ where value > 0 && value < 10: decimal(value, places: 2) + "/s"
    default: grouped(Int(wholeNumber(value))) + "/s"
    }
  }

  /// Every name that a question may use.
  static let names: [String: PlanMetric] = {
    var names: [String: PlanMetric] = [
      "file size": .fileBytes, "file_bytes": .fileBytes, "live bytes": .liveBytes,
      "live_bytes": .liveBytes, "held bytes": .heldBytes, "held_bytes": .heldBytes,
      "growth a commit": .growthPerCommit, "growth per commit": .growthPerCommit,
      "growth_bytes_per_commit": .growthPerCommit, "memory": .memoryBytes,
      "resident_bytes": .memoryBytes, "write rate": .rate(.write), "read rate": .rate(.read),
      "write.rate_per_s": .rate(.write), "read.rate_per_s": .rate(.read),
    ]
    for operation in [Operation.write, .read] {
      for kind in ["service", "response"] {
        for percentile in ["p50", "p90", "p99", "p99_9", "p99_99"] {
          let column = "\(kind)_\(percentile)_ns"
          let metric = PlanMetric.latency(operation, column)
          names["\(operation.rawValue).\(column)"] = metric
          names["\(operation.rawValue).\(kind)_\(percentile)"] = metric
          let plain = percentile.replacing("p99_9", with: "p99.9")
          if kind == "response" && operation == .write {
            names[plain] = metric
            names["\(operation.rawValue) \(plain)"] = metric
          }
          if kind == "service" && operation == .read {
            names["\(operation.rawValue) \(plain)"] = metric
          }
        }
      }
    }
    return names
  }()
}

/// What the largest value is looked for of.
package enum PlanVariable: String, CaseIterable, Sendable {
  case rate
  case readRate = "read-rate"
  case pins
  case age
  case objects
  case batch

  func set(_ value: Double, in setting: inout PlanSetting) {
    switch self {
    case .rate: setting.ratePerSecond = value
    case .readRate: setting.readRatePerSecond = value
    case .pins: setting.pins = value
    case .age: setting.ageSeconds = value
    case .objects: setting.objects = value
    case .batch: setting.batch = value
    }
  }

  /// What a value of it is for people.
  func readable(_ value: Double) -> String {
    switch self {
    case .rate, .readRate: PlanMetric.rate(.write).readable(value)
    case .age: readableAge(value)
    default: grouped(Int(wholeNumber(value.rounded(.down))))
    }
  }

  var unit: String {
    switch self {
    case .rate, .readRate: "1/s"
    case .age: "s"
    default: "1"
    }
  }
}

/// A question.
package struct PlanQuestion: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case value(PlanMetric)
    /// The largest value of a variable at which a figure stays below a limit.
    case largest(PlanVariable, PlanMetric, below: Double)
    /// How many readers get that many reads a second each.
    case readers(readsPerSecond: Double, cores: Double)

    /// Whether it asks how many reads there are.
    fileprivate var isAboutReads: Bool {
      switch self {
      case .value(.rate(.read)), .largest(_, .rate(.read), _): true
      default: false
      }
    }
  }

  package let text: String
  package let kind: Kind
  package let setting: PlanSetting

  /// Reads `METRIC at SETTINGS`, `largest VARIABLE with METRIC<LIMIT at SETTINGS` or
  /// `readers at RATE each on N cores`.
  package init(_ text: String) throws(UsageError) {
    self.text = text
    var phrase: [String] = []
    var setting = PlanSetting()
    var given: Set<String> = []
    for word in text.split(whereSeparator: \.isWhitespace).map(String.init) {
      guard let equals = word.firstIndex(of: "="), !word.contains("<") else {
        phrase.append(word)
        continue
      }
      let name = String(word[..<equals]).lowercased()
      if !given.insert(name).inserted { throw UsageError("--ask: '\(name)' is given twice") }
      try PlanWords.set(name, String(word[word.index(after: equals)...]), in: &setting)
    }
    if !given.isEmpty && phrase.last?.lowercased() == "at" { phrase.removeLast() }
    let variable: PlanVariable?
    switch phrase.first?.lowercased() {
    case nil: throw Self.notUnderstood(text)
    case "largest":
      (kind, variable) = try Self.largest(phrase, text)
    case "readers" where phrase.count > 1:
      kind = try Self.readers(phrase, text)
      variable = nil
    default:
      kind = .value(try Self.metric(phrase.joined(separator: " ")))
      variable = nil
    }
    if kind.isAboutReads && !given.contains("readers") { setting.readers = 1 }
    // As `run` has it.
    if !given.contains("batch") { setting.batch = min(setting.batch, setting.objects) }
    self.setting = setting
    try check(variable, given)
  }

  private static func notUnderstood(_ text: String) -> UsageError {
    UsageError(
      "--ask: '\(text)' is no question: ask 'file size at pins=200 age=1h rate=500/s', "
        + "'largest rate with write.response_p99<5ms' or 'readers at 50k reads/s each on 8 cores'")
  }

  static func metric(_ text: String) throws(UsageError) -> PlanMetric {
    let name = text.lowercased()
    if let metric = PlanMetric.names[name] { return metric }
    guard let nearest = nearestName(name, in: PlanMetric.names.keys.sorted()) else {
      let known = "file size, memory, growth a commit, held bytes, write rate, read rate, p99"
      throw UsageError(
        "--ask: '\(text)' is no figure that can be planned (\(known), OPERATION.COLUMN)")
    }
    throw UsageError(
      "--ask: '\(text)' is no figure that can be planned; did you mean '\(nearest)'?")
  }

  private static func largest(
    _ phrase: [String], _ text: String
  ) throws(UsageError) -> (Kind, PlanVariable?) {
    guard let with = phrase.firstIndex(of: "with"), with > 1 else { throw notUnderstood(text) }
    let name = phrase[1..<with].joined(separator: "-").lowercased()
    let names = ["write-rate": "rate"]
    guard let variable = PlanVariable(rawValue: names[name] ?? name) else {
      let all = PlanVariable.allCases.map(\.rawValue)
      let nearest = nearestName(name, in: all).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "--ask: '\(name)' cannot be looked for (\(all.joined(separator: ", ")))\(nearest)")
    }
    let condition = phrase[(with + 1)...].joined(separator: " ")
    guard let sign = condition.firstIndex(of: "<") else {
      throw UsageError(
        "--ask: '\(condition)' is no condition such as 'write.response_p99<5ms'")
    }
    let metric = try metric(condition[..<sign].trimmingCharacters(in: .whitespaces))
    var limit = condition[condition.index(after: sign)...]
    if limit.hasPrefix("=") { limit = limit.dropFirst() }
    let value = try PlanWords.limit(limit.trimmingCharacters(in: .whitespaces), of: metric)
    return (.largest(variable, metric, below: value), variable)
  }

  private static func readers(_ phrase: [String], _ text: String) throws(UsageError) -> Kind {
    let words = phrase.map { $0.lowercased() }
    guard words[1] == "at", let on = words.firstIndex(of: "on"), on >= 3, words.count == on + 3,
      ["core", "cores"].contains(words[on + 2])
    else { throw notUnderstood(text) }
    // As it was written: M and m are not the same.
    let rate = phrase[2..<on].filter { $0.lowercased() != "each" }.joined()
      .replacingOccurrences(of: "reads/s", with: "/s", options: .caseInsensitive)
    return .readers(
      readsPerSecond: try PlanWords.rate(rate),
      cores: try PlanWords.count(words[on + 1], "cores", 1...4_096))
  }

  /// Refuses what says too little, or twice the same.
  private func check(_ variable: PlanVariable?, _ given: Set<String>) throws(UsageError) {
    if let variable, given.contains(variable.rawValue) {
      throw UsageError("--ask: '\(variable.rawValue)' is looked for and given")
    }
    var complete = setting
    variable?.set(1, in: &complete)
    if complete.batch > complete.objects && variable != .objects {
      throw UsageError("--ask: batch is larger than objects")
    }
    if complete.load != nil && complete.ratePerSecond != nil {
      throw UsageError("--ask: give rate or load, not both")
    }
    if complete.pinEvery != nil && complete.ageSeconds != nil {
      throw UsageError("--ask: give age or pin-every, not both")
    }
    if complete.ageSeconds != nil && complete.pins == 0 {
      throw UsageError("--ask: an age means nothing without pins")
    }
    switch kind {
    case .value(let metric), .largest(_, let metric, _):
      if metric.isSpace && complete.pins > 0 && complete.commitsBetweenPins == nil {
        throw UsageError(
          "--ask: with pins it takes age and rate, or pin-every, such as "
            + "'pins=200 age=1h rate=500/s'")
      }
      if metric == .growthPerCommit && complete.pins == 0 {
        throw UsageError("--ask: without pins a file does not grow; say pins, age and rate")
      }
      if metric == .heldBytes && complete.pins == 0 {
        throw UsageError("--ask: without pins nothing is held; say pins, age and rate")
      }
      if let variable, !metric.depends(on: variable, complete) {
        throw UsageError(
          "--ask: \(variable.rawValue) changes nothing about \(metric.name)"
            + (metric.isSpace && complete.pins == 0 ? " without pins" : ""))
      }
      try checkLoad(metric, complete)
    case .readers: break
    }
  }

  private func checkLoad(_ metric: PlanMetric, _ complete: PlanSetting) throws(UsageError) {
    guard case .latency(let operation, _) = metric else {
      switch metric {
      case .rate(.write) where complete.writers == 0:
        throw UsageError("--ask: writers=0 write nothing")
      case .rate(.read) where complete.readers == 0:
        throw UsageError("--ask: readers=0 read nothing")
      default: return
      }
    }
    if operation == .write && complete.writers == 0 {
      throw UsageError("--ask: writers=0 write nothing")
    }
    if operation == .read && complete.readers == 0 {
      throw UsageError("--ask: '\(metric.name)' needs readers, such as readers=2")
    }
    if metric.isResponse {
      let isScheduled =
        operation == .read
        ? complete.readRatePerSecond != nil : complete.ratePerSecond ?? complete.load != nil
      if !isScheduled {
        throw UsageError(
          "--ask: '\(metric.name)' counts from when an operation is due: say "
            + (operation == .read ? "read-rate" : "rate or load") + ", or ask for service_")
      }
    }
  }
}

extension PlanMetric {
  /// Whether a variable makes a difference: looking for its largest value has no end otherwise.
  fileprivate func depends(on variable: PlanVariable, _ setting: PlanSetting) -> Bool {
    switch (self, variable) {
    case (_, .objects): true
    case (.liveBytes, _): false
    case (.latency(.read, _), .rate), (.latency(.read, _), .batch), (.rate(.read), .rate),
      (.rate(.read), .batch), (.latency(.write, _), .readRate), (.rate(.write), .readRate):
      false
    case (_, .pins), (_, .age): isSpace
    case (_, .readRate): !isSpace
    case (_, .rate): !isSpace || (setting.pins > 0 && setting.ageSeconds != nil)
    case (_, .batch): !isSpace || setting.pins > 0
    }
  }
}

/// The nearest whole number that there is, also of what is no number.
func wholeNumber(_ value: Double) -> UInt64 {
  value > 0 ? UInt64(min(value.rounded(), 1e18)) : 0
}

/// Bytes for people, also of files that no disk holds.
private func readableSize(_ value: Double) -> String {
  let tebibyte = 1_099_511_627_776.0
  guard value >= tebibyte else { return readableBytes(wholeNumber(value)) }
  return decimal(value / tebibyte, places: 1) + " TiB"
}

/// Seconds for people, in hours and days where that is what they would say.
private func readableAge(_ seconds: Double) -> String {
  if seconds >= 172_800 { return decimal(seconds / 86_400, places: 1) + " days" }
  if seconds >= 7_200 { return decimal(seconds / 3_600, places: 1) + " h" }
  return readableDuration(wholeNumber(seconds * 1e9))
}
