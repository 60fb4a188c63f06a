// Whether runs did the same work: figures of different work are never compared.
internal import Foundation

/// Compares what runs were asked to do.
enum SamePlan {
  /// Settings that say where and how results go, not what is measured.
  private static let ignored: Set<String> = [
    "path", "keep_file", "output", "overwrite", "format", "thresholds", "quick", "strict", "seed",
    "shard",
    "interval_ns",
  ]

  /// Refuses runs that are not whole or differ in more than where they ran.
  ///
  /// - Parameter hint: what to do about runs that differ, behind what does.
  static func check(
    _ runs: [MeasuredRun], acceptsPartial: Bool = false, hint: String = ""
  ) throws(ResultsError) {
    guard let first = runs.first else { throw ResultsError("there is no run to compare") }
    for run in runs {
      guard acceptsPartial || run.document.status == RunStatus.complete.rawValue else {
        throw ResultsError(
          "'\(run.folder)' holds a run that is \(run.document.status): run it again, leave it out, "
            + "or take it all the same with --partial")
      }
    }
    for run in runs.dropFirst() {
      guard let differences = words(differences(Work(first), Work(run))) else { continue }
      throw ResultsError(
        "'\(first.folder)' and '\(run.folder)' did different work: \(differences)\(hint)")
    }
  }

  /// Refuses sides that differ in more than some settings.
  ///
  /// - Parameter across: names of settings in which they differ on purpose.
  /// - Returns: what differs, in words.
  static func check(
    _ sides: [[MeasuredRun]], across: [String], acceptsPartial: Bool
  ) throws(ResultsError) -> String? {
    if across.isEmpty {
      try check(
        sides.flatMap(\.self), acceptsPartial: acceptsPartial,
        hint: "; what differs on purpose is named by --across, such as --across durability")
      return nil
    }
    for side in sides { try check(side, acceptsPartial: acceptsPartial) }
    let differences = differences(Work(sides[0][0]), Work(sides[1][0]))
    for name in across {
      let reason =
        switch name {
        case "engine": "is no setting; 'run --engine a,b' shows engines side by side"
        case "workload": "is no setting; figures of different work are never compared"
        default:
          differences.contains { isNamed($0.name, name) }
            ? nil
            : "does not differ between the sides"
              + (nearestName(name, in: differences.map(\.name)).map { "; did you mean '\($0)'?" }
                ?? "")
        }
      if let reason { throw ResultsError("--across: '\(name)' \(reason)") }
    }
    let others = differences.filter { difference in
      !across.contains { isNamed(difference.name, $0) }
    }
    if let others = words(others) {
      throw ResultsError("the sides differ in more than --across says: \(others)")
    }
    return words(differences)
  }

  /// What differs between the first runs of two sides, in words; nil where nothing does.
  static func differences(_ baseline: [MeasuredRun], _ candidate: [MeasuredRun]) -> String? {
    guard let first = baseline.first, let other = candidate.first else { return nil }
    return words(differences(Work(first), Work(other)))
  }

  /// Whether a setting of run.json, or the one that it is a part of, has a name as people write it,
  /// such as `pin-every`.
  private static func isNamed(_ setting: String, _ name: String) -> Bool {
    let name = name.replacing("-", with: "_")
    let whole = setting.trimmingPrefix("--").replacing("-", with: "_")
    return whole == name || whole.prefix { $0 != "." && $0 != "[" } == name
  }

  /// Some differences, as a list; nil where there are none.
  private static func words(_ differences: [(name: String, text: String)]) -> String? {
    differences.isEmpty ? nil : few(differences.map(\.text))
  }

  /// The first of some texts, and how many others there are.
  private static func few(_ texts: [String]) -> String {
    let most = 6
    guard texts.count > most else { return texts.joined(separator: "; ") }
    return texts.prefix(most).joined(separator: "; ") + "; and \(texts.count - most) more"
  }

  /// Refuses the same run twice: it says nothing about noise, nor about a change.
  static func refuseTwice(_ runs: [MeasuredRun]) throws(ResultsError) {
    var documents: [String: String] = [:]
    for run in runs {
      let text = textOfFile(run.folder + "/run.json") ?? ""
      if let other = documents.updateValue(run.folder, forKey: text) {
        throw ResultsError("'\(other)' and '\(run.folder)' are the same run: it would count twice")
      }
    }
  }

  /// Refuses runs whose figures say little: not valid ones, and smoke runs.
  static func refuseUnreliable(_ runs: [MeasuredRun]) throws(ResultsError) {
    for run in runs {
      let reason =
        if !run.document.verdict.isValid {
          "is not valid (\(run.document.verdict.reasons.joined(separator: "; ")))"
        } else if run.document.settings.quick { "is a smoke run (--quick)" } else { "" }
      guard reason.isEmpty else {
        throw ResultsError(
          "the run in '\(run.folder)' \(reason): run it again, leave it out, or take it all the "
            + "same with --partial")
      }
    }
  }

  /// What a run does, or is about to do.
  private struct Work {
    let workload: String
    let engine: String
    let build: String
    let settings: SettingsRecord

    init(_ run: MeasuredRun) {
      workload = run.document.workload
      engine = run.document.engine
      build = run.document.environment.build
      settings = run.document.settings
    }

    init(_ settings: RunSettings) {
      workload = settings.workload.rawValue
      engine = settings.engine
      build = BuildFacts.mode
      // Where its files go makes no difference.
      self.settings = SettingsRecord(settings, path: "", output: "")
    }
  }

  /// Refuses a run that is still to be made, when its figures could not be compared with those of
  /// some runs.
  static func check(_ runs: [MeasuredRun], before settings: RunSettings) throws(ResultsError) {
    try check(runs, acceptsPartial: true)
    try refuseTwice(runs)
    guard let first = runs.first else { return }
    guard let differences = words(differences(Work(first), Work(settings))) else { return }
    throw ResultsError("'\(first.folder)' and this run are different work: \(differences)")
  }

  /// What differs between the work of two runs: the setting, and a text.
  private static func differences(
    _ first: Work, _ other: Work
  ) -> [(name: String, text: String)] {
    let (left, right) = (facts(first), facts(other))
    let workloads = (left["workload"] ?? "", right["workload"] ?? "")
    // Settings of another workload say nothing more.
    if workloads.0 != workloads.1 {
      return [("workload", "workload is \(workloads.0) and \(workloads.1)")]
    }
    let names = Set(left.keys).union(right.keys)
    // Of lists of another length, what one of them does not have says nothing more.
    let lists = names.filter { $0.hasPrefix(lengthOf) && left[$0] != right[$0] }
      .map { $0.dropFirst(lengthOf.count) + "[" }
    return names.sorted().compactMap { name in
      if lists.contains(where: { name.hasPrefix($0) }) { return nil }
      let standard =
        name.hasPrefix(lengthOf)
        ? "0" : UnrecordedSetting.value(of: name, in: first.workload)
      let (a, b) = (left[name] ?? standard, right[name] ?? standard)
      guard a != b else { return nil }
      func words(_ value: String?, isRecorded: Bool) -> String {
        guard let value else { return "not set" }
        return isRecorded || name.hasPrefix(lengthOf)
          ? value : "\(value) (not recorded, which stands for it)"
      }
      let text =
        "\(name) is \(words(a, isRecorded: left[name] != nil)) and "
        + words(b, isRecorded: right[name] != nil)
      return (name, text)
    }
  }

  /// Settings of later versions that this one does not know, a warning each.
  private static func unknownSettings(_ runs: [MeasuredRun]) -> [String] {
    var names: Set<String> = []
    for run in runs {
      guard let text = textOfFile(run.folder + "/run.json"),
        let all = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
        let settings = all["settings"] as? [String: Any],
        let known = try? JSONSerialization.jsonObject(
          with: Data(encodeJSON(run.document.settings).utf8)) as? [String: Any]
      else { continue }
      names.formUnion(Set(settings.filter { !($0.value is NSNull) }.keys).subtracting(known.keys))
    }
    return names.sorted().map {
      "the setting '\($0)' is of a later version, and was not compared"
    }
  }

  private static func facts(_ work: Work) -> [String: String] {
    var facts: [String: String] = [
      "workload": work.workload, "engine": work.engine, "build": work.build,
    ]
    if let text = try? encodeJSON(work.settings),
      let settings = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    {
      for (name, value) in settings where !ignored.contains(name) {
        if name == "own", let values = value as? [String: String] {
          for (flag, value) in values { facts["--" + flag] = value }
        } else {
          note(value, as: name, in: &facts)
        }
      }
    }
    return facts
  }

  /// Begins the name of the fact how many objects a list has.
  private static let lengthOf = "number of "

  /// Notes a value of run.json by its parts, so that what differs has a name of its own.
  ///
  /// Never as the description of a dictionary: its keys stand in another order each time.
  private static func note(_ value: Any, as name: String, in facts: inout [String: String]) {
    switch value {
    case let object as [String: Any]:
      for (key, value) in object {
        // In the words of the plan file that it comes from.
        let part = name == "script" ? (key == "steps" ? "phases" : key) : "\(name).\(key)"
        note(value, as: part, in: &facts)
      }
    case let objects as [[String: Any]] where !objects.isEmpty:
      facts[lengthOf + name] = "\(objects.count)"
      for (position, object) in objects.enumerated() {
        note(object, as: "\(name)[\(position + 1)]", in: &facts)
      }
    case let list as [Any]:
      facts[name] = list.isEmpty ? "none" : list.map { "\($0)" }.joined(separator: ", ")
    default: facts[name] = "\(value)"
    }
  }

  // MARK: - What makes figures say less

  /// What differs between the machines of runs so that times cannot be compared, a text each.
  static func differencesOfMachine(_ runs: [MeasuredRun]) -> [String] {
    let machines = runs.map(\.partsOfMachine)
    return Set(machines.flatMap { $0.keys }).sorted().compactMap { name in
      // Runs of earlier versions do not say which machine they are of.
      let known = name == MeasuredRun.identity ? machines.filter { $0[name] != nil } : machines
      let values = Set(known.map { $0[name] ?? "none" })
      return values.count > 1 ? "\(name) is \(values.sorted().joined(separator: " and "))" : nil
    }
  }

  /// What has to be known to read figures of these runs.
  static func warnings(_ runs: [MeasuredRun]) -> [String] {
    var warnings: [String] = []
    if Set(runs.map(\.machine)).count == 1 {
      let hosts = Set(runs.map(\.document.environment.hostName))
      if hosts.count > 1 {
        warnings.append(
          "the runs are of \(hosts.count) hosts that look alike: times are comparable only if they "
            + "are one machine")
      }
    }
    if Set(runs.map(\.document.environment.swift)).count > 1 {
      warnings.append("the runs are of tools that different compilers have built")
    }
    let inMemory = runs.contains {
      $0.document.environment.fileSystem == "tmpfs" && $0.document.settings.durability == "full"
    }
    if inMemory {
      warnings.append("files of the runs lay in memory (tmpfs), where a sync costs nothing")
    }
    warnings += unknownSettings(runs)
    warnings += few(
      runs.filter { $0.document.status != RunStatus.complete.rawValue }, of: runs
    ) { "is \($0.document.status): its figures are partial" }
    warnings += few(
      runs.filter { !$0.document.verdict.isValid }, of: runs
    ) { "is not valid: \($0.document.verdict.reasons.joined(separator: "; "))" }
    warnings += few(runs.filter(\.document.settings.quick), of: runs) { _ in
      "is a smoke run (--quick)"
    }
    warnings += few(runs.filter { !$0.failures.isEmpty }, of: runs) {
      "has operations that failed, and whose times count: "
        + $0.failures.joined(separator: ", ")
    }
    return warnings
  }

  /// A line a run, or one for all where there are many.
  private static func few(
    _ some: [MeasuredRun], of runs: [MeasuredRun], _ words: (MeasuredRun) -> String
  ) -> [String] {
    guard some.count > 3 else { return some.map { "'\($0.folder)' \(words($0))" } }
    return [
      "of \(runs.count) runs this is so of \(some.count): '\(some[0].folder)' \(words(some[0])) (the "
        + "others are not named)"
    ]
  }
}
