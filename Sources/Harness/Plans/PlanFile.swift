// A plan file: the settings of `run` as JSON, with phases, background load, faults and thresholds.
// Everything that is wrong is told with its line and field, before anything starts.
internal import Foundation

/// A plan as it was read.
package struct PlanFile: Sendable {
  package let path: String
  package let text: String
  package let workload: WorkloadKind
  package let script: RunScript
  /// Where its parts stand.
  private let lines: RunScriptLines
  /// The settings as flags, which those of the command line replace.
  private var settings: [(flag: FlagDefinition, value: String?, line: Int)] = []
  private var thresholds: [(text: String, line: Int)] = []

  /// A refusal that names line and field.
  private static func refusal(_ path: String, _ line: Int, _ field: String, _ text: String)
    -> UsageError
  {
    UsageError("\(path):\(line): \(field.isEmpty ? "" : field + ": ")\(text)")
  }

  /// Reads a file.
  package init(path: String) throws(UsageError) {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else {
      throw UsageError("no plan '\(path)': the file cannot be read")
    }
    guard data.count <= 1 << 20, let text = String(data: data, encoding: .utf8) else {
      throw UsageError("'\(path)' is no plan: it is no UTF-8 text, or longer than 1 MiB")
    }
    self.text = text
    let json: LocatedJSON
    do {
      json = try LocatedJSON.parse(text)
    } catch {
      throw Self.refusal(path, error.line, "", error.message)
    }
    var fields = try PlanFields(path, "", json)
    let workloadName = try fields.text("workload")
    guard let workloadName else {
      throw Self.refusal(path, json.line, "workload", "is missing; it names what runs")
    }
    let names = WorkloadKind.allCases.map(\.rawValue)
    guard let kind = WorkloadKind(rawValue: workloadName.value) else {
      let nearest = nearestName(workloadName.value, in: names).map { "; did you mean '\($0)'?" }
      throw Self.refusal(
        path, workloadName.line, "workload", "no workload '\(workloadName.value)'\(nearest ?? "")")
    }
    workload = kind
    _ = try fields.text("description")
    let settingsValue = fields.take("settings")
    (script, lines) = try PlanScriptReader(path: path, workload: kind).read(&fields)
    let thresholdValues = try fields.list("thresholds")
    try fields.refuseOthers()
    for value in thresholdValues {
      guard case .string(let text) = value.value else {
        throw Self.refusal(path, value.line, "thresholds", "needs texts, not \(value.kind)")
      }
      thresholds.append((text, value.line))
    }
    if let settingsValue { try readSettings(settingsValue) }
  }

  /// Flags that a plan cannot hold: they say how a run is started.
  ///
  /// Each replica of a run reads the plan again: a plan that asked for replicas would start itself
  /// without end.
  private static let notInPlans: Set = [
    "help", "dry-run", "threshold", "overwrite", "replicas", "baseline", "save-baseline",
  ]

  private mutating func readSettings(_ json: LocatedJSON) throws(UsageError) {
    guard case .object(let members) = json.value else {
      throw Self.refusal(path, json.line, "settings", "needs an object, not \(json.kind)")
    }
    let known = RunFlags.known.filter { !Self.notInPlans.contains($0.name) }
    for member in members {
      let name = member.name.replacing("_", with: "-")
      let field = "settings.\(member.name)"
      guard let flag = known.first(where: { $0.name == name }) else {
        let nearest = nearestName(name, in: known.map(\.name)).map { "; did you mean '\($0)'?" }
        throw Self.refusal(path, member.line, field, "no such setting\(nearest ?? "")")
      }
      guard RunFlags.isUsed(name, by: workload) else {
        throw Self.refusal(
          path, member.line, field, "the workload \(workload.rawValue) does not use this")
      }
      switch (member.value.value, flag.value) {
      case (.bool(true), nil): settings.append((flag, nil, member.line))
      case (.bool(false), nil): break
      case (.string(let text), .some): settings.append((flag, text, member.line))
      case (.number(let text), .some): settings.append((flag, text, member.line))
      case (_, nil):
        throw Self.refusal(
          path, member.line, field, "needs true or false, not \(member.value.kind)")
      default:
        throw Self.refusal(
          path, member.line, field, "needs a text or a number, not \(member.value.kind)")
      }
    }
  }

  /// Whether the command line says otherwise, by the same flag or by one that excludes it.
  private static func isReplaced(_ name: String, _ value: String?, by flags: FlagValues) -> Bool {
    if flags.has(name) { return true }
    switch name {
    // An end by time replaces one by count, and the other way round.
    case "ops": return flags.has("duration")
    case "duration": return flags.has("ops")
    case "warmup": return flags.has("warmup-ops")
    case "warmup-ops": return flags.has("warmup")
    case "pin-every": return flags.has("pin-interval")
    case "pin-interval": return flags.has("pin-every")
    // Where every read is checked, or none, there is no rate of it.
    case "check-rate": return ["full", "none"].contains(flags.first("invariants"))
    case "invariants": return value == "full" && flags.has("check-rate")
    default: return false
    }
  }

  /// The settings of the plan; flags of the command line replace its own.
  package func resolve(
    _ flags: FlagValues, commandLine: [String]
  ) throws(UsageError) -> (RunSettings, OutputChoices) {
    var words: [String] = []
    for (flag, value, _) in settings where !Self.isReplaced(flag.name, value, by: flags) {
      words.append("--\(flag.name)" + (value.map { "=\($0)" } ?? ""))
    }
    for (text, _) in thresholds { words.append("--threshold=\(text)") }
    do throws(UsageError) {
      let all = try FlagValues(
        words + commandLine, known: RunFlags.known)
      if !script.steps.isEmpty {
        for name in ["duration", "ops", "rate", "read-rate"] where all.has(name) {
          throw UsageError("--\(name): the phases of the plan say this")
        }
      }
      var (settings, choices) = try RunFlags.settings(all, for: workload, script: script)
      try RunScriptCheck(path: path, lines: lines).check(settings)
      settings.planPath = path
      settings.planText = text
      settings.planThresholds = thresholds.count
      return (settings, choices)
    } catch {
      throw located(error)
    }
  }

  /// The error of a flag that the plan gave, with its line.
  private func located(_ error: UsageError) -> UsageError {
    for (flag, _, line) in settings where error.message.hasPrefix("--\(flag.name)") {
      let rest = error.message.dropFirst(2 + flag.name.count)
      guard let next = rest.first, !next.isLetter, next != "-" else { continue }
      let text = rest.hasPrefix(": ") ? rest.dropFirst(2) : rest.drop { $0 == " " }
      return Self.refusal(path, line, "settings.\(flag.name)", String(text))
    }
    let measured = RunSettings(workload).operationsMeasured.map(\.rawValue)
    for (text, line) in thresholds {
      var message = error.message.contains("'\(text)'") ? error.message : nil
      do throws(UsageError) {
        _ = try Threshold(text, suggesting: measured)
      } catch { message = error.message }
      if let message { return Self.refusal(path, line, "thresholds", message) }
    }
    return error
  }
}

/// The members of an object of a plan, taken one after the other; what is left over is refused.
struct PlanFields {
  let path: String
  let place: String
  let line: Int
  private var members: [LocatedJSON.Member]
  private var known: [String] = []

  init(_ path: String, _ place: String, _ json: LocatedJSON) throws(UsageError) {
    self.path = path
    self.place = place
    line = json.line
    guard case .object(let members) = json.value else {
      throw UsageError(
        "\(path):\(json.line): \(place.isEmpty ? "a plan" : place) needs an object, not \(json.kind)"
      )
    }
    self.members = members
  }

  func field(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  func refusal(_ name: String, _ line: Int, _ text: String) -> UsageError {
    UsageError("\(path):\(line): \(field(name)): \(text)")
  }

  /// Of a field that is missing, or does not fit to others: the line of the object.
  func refusal(_ name: String, _ text: String) -> UsageError { refusal(name, line, text) }

  mutating func take(_ name: String) -> LocatedJSON? {
    if !known.contains(name) { known.append(name) }
    guard let position = members.firstIndex(where: { $0.name == name }) else { return nil }
    return members.remove(at: position).value
  }

  mutating func text(_ name: String) throws(UsageError) -> (value: String, line: Int)? {
    guard let json = take(name) else { return nil }
    guard case .string(let text) = json.value else {
      throw refusal(name, json.line, "needs a text, not \(json.kind)")
    }
    guard !text.isEmpty else {
      throw refusal(name, json.line, "is empty; write at least one letter, or leave it out")
    }
    return (text, json.line)
  }

  mutating func list(_ name: String) throws(UsageError) -> [LocatedJSON] {
    guard let json = take(name) else { return [] }
    guard case .array(let elements) = json.value else {
      throw refusal(name, json.line, "needs a list, not \(json.kind)")
    }
    return elements
  }

  /// A value that a flag of the command line would have, read by its parser.
  mutating func value<Value>(
    _ name: String, _ read: (_ text: String, _ flag: String) throws(UsageError) -> Value
  ) throws(UsageError) -> Value? {
    guard let json = take(name) else { return nil }
    let text: String
    switch json.value {
    case .string(let value), .number(let value): text = value
    default: throw refusal(name, json.line, "needs a text or a number, not \(json.kind)")
    }
    do {
      return try read(text, field(name))
    } catch {
      throw UsageError("\(path):\(json.line): \(error.message)")
    }
  }

  /// Refuses what nobody has taken.
  func refuseOthers() throws(UsageError) {
    guard let member = members.first else { return }
    let nearest = nearestName(member.name, in: known).map { "; did you mean '\($0)'?" }
    throw refusal(
      member.name, member.line,
      "no such field\(nearest ?? " (\(known.joined(separator: ", ")))")")
  }
}
