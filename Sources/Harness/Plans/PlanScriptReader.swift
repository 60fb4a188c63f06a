// Reads the parts of a plan that no flag has: phases, background load and faults.

/// Reads them from the plan's fields.
struct PlanScriptReader {
  let path: String
  let workload: WorkloadKind

  func read(
    _ fields: inout PlanFields
  ) throws(UsageError) -> (script: RunScript, lines: RunScriptLines) {
    var script = RunScript()
    let phases = try fields.list("phases")
    if let first = phases.first, !workload.facts.takesSteps {
      let names = WorkloadKind.allCases.filter { $0.facts.takesSteps }.map(\.rawValue)
      throw UsageError(
        "\(path):\(first.line): phases: the workload \(workload.rawValue) has one measured phase "
          + "(others: \(names.joined(separator: ", ")))")
    }
    guard phases.count <= Phase.stepsMax else {
      throw UsageError("\(path):\(phases[0].line): phases: at most \(Phase.stepsMax)")
    }
    for (number, json) in phases.enumerated() {
      let step = try step(json, "phases[\(number)]")
      if script.steps.contains(where: { $0.name == step.name }) {
        throw UsageError(
          "\(path):\(json.line): phases[\(number)].name: '\(step.name)' is there twice")
      }
      script.steps.append(step)
    }
    try refuseMixedLoops(script.steps, phases)
    try refuseTooLong(script.steps, phases)
    let loads = try fields.list("background")
    for (number, json) in loads.enumerated() {
      let load = try background(json, "background[\(number)]")
      if script.background.contains(where: { $0.name == load.name }) {
        throw UsageError(
          "\(path):\(json.line): background[\(number)].name: '\(load.name)' is there twice; "
            + "give each a name")
      }
      script.background.append(load)
    }
    let faults = try fields.list("faults")
    for (number, json) in faults.enumerated() {
      let fault = try fault(json, "faults[\(number)]", script)
      script.faults.append(fault)
    }
    return (
      script, RunScriptLines(steps: phases.map(\.line), faults: faults.map(\.line))
    )
  }

  // MARK: - Phases

  private func step(_ json: LocatedJSON, _ place: String) throws(UsageError) -> RunStep {
    var fields = try PlanFields(path, place, json)
    guard let name = try fields.text("name") else {
      throw fields.refusal("name", "is missing; rows of the results carry it")
    }
    let taken = Phase.own.map(\.name)
    let separators = Set(#","";:"#.utf8)
    guard name.value.utf8.allSatisfy({ $0 > 32 && $0 < 127 && !separators.contains($0) }),
      name.value.utf8.count <= 40, !taken.contains(name.value)
    else {
      throw fields.refusal(
        "name", name.line,
        "'\(name.value)' cannot be a name: up to 40 letters without spaces, commas, colons, semicolons "
          + "and quotes, and not " + taken.joined(separator: ", "))
    }
    var step = RunStep(name: name.value)
    step.durationNs = try fields.value("duration") { text, flag throws(UsageError) in
      let nanoseconds = try Units.nanoseconds(text, flag: flag)
      guard nanoseconds > 0 else { throw UsageError("\(flag) is 0") }
      return nanoseconds
    }
    step.operations = try fields.value("ops") { text, flag throws(UsageError) in
      try Units.count(text, flag: flag, minimum: 1)
    }
    step.rate = try fields.value("rate", Self.ramp)
    step.readRate = try fields.value("read_rate", Self.ramp)
    step.readers = try fields.value("readers") { text, flag throws(UsageError) in
      try Units.count(text, flag: flag, minimum: 0, maximum: 1_024)
    }
    step.writers = try fields.value("writers") { text, flag throws(UsageError) in
      try Units.count(text, flag: flag, minimum: 0, maximum: 1_024)
    }
    try fields.refuseOthers()
    guard (step.durationNs == nil) != (step.operations == nil) else {
      throw fields.refusal("duration", "give either duration or ops")
    }
    for (name, rate) in [("rate", step.rate), ("read_rate", step.readRate)] {
      guard step.operations != nil, let rate, rate.fromPerS != rate.toPerS else { continue }
      throw fields.refusal(name, "a ramp needs a duration, not ops")
    }
    return step
  }

  /// `500/s`, or `500/s..4000/s` from begin to end.
  private static func ramp(_ text: String, _ flag: String) throws(UsageError) -> RateRamp {
    let ends = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
    guard ends.count <= 2 else {
      throw UsageError("\(flag): '\(text)' is neither a rate such as 500/s nor 500/s..4000/s")
    }
    let from = try Units.ratePerSecond(ends[0], flag: flag)
    return RateRamp(
      fromPerS: from, toPerS: try Units.ratePerSecond(ends[ends.count - 1], flag: flag))
  }

  /// A histogram is of an open loop or of a closed one.
  private func refuseMixedLoops(_ steps: [RunStep], _ phases: [LocatedJSON]) throws(UsageError) {
    for (name, isOpen) in [
      ("rate", steps.map { $0.rate != nil }), ("read_rate", steps.map { $0.readRate != nil }),
    ] {
      guard let first = isOpen.first, let other = isOpen.firstIndex(where: { $0 != first }) else {
        continue
      }
      throw UsageError(
        "\(path):\(phases[other].line): phases[\(other)].\(name): either all phases have one, or none"
      )
    }
  }

  /// Together they are no longer than one may be: times are added up in nanoseconds.
  private func refuseTooLong(_ steps: [RunStep], _ phases: [LocatedJSON]) throws(UsageError) {
    var sum: UInt64 = 0
    for (number, step) in steps.enumerated() {
      sum += step.durationNs ?? 0
      guard sum < Units.nanosecondsMax else {
        throw UsageError(
          "\(path):\(phases[number].line): phases[\(number)].duration: all phases so far are too "
            + "long together")
      }
    }
  }

  // MARK: - Background and faults

  private func background(
    _ json: LocatedJSON, _ place: String
  ) throws(UsageError) -> BackgroundLoad {
    var fields = try PlanFields(path, place, json)
    let kind: BackgroundLoad.Kind = try choice("kind", &fields)
    if workload.facts.storesOwnClasses && kind.readsObjects {
      throw fields.refusal(
        "kind",
        "the workload \(workload.rawValue) has classes of its own, which a background process "
          + "does not know (pins and compaction need none)")
    }
    let name = try fields.text("name")
    try refuseUnused(kind, &fields)
    var load = BackgroundLoad(kind, name: name?.value)
    load.processes =
      try fields.value("processes") { text, flag throws(UsageError) in
        try Units.count(text, flag: flag, minimum: 1, maximum: 16)
      } ?? load.processes
    load.count =
      try fields.value("count") { text, flag throws(UsageError) in
        try Units.count(text, flag: flag, minimum: 1, maximum: 1_000_000)
      } ?? load.count
    load.everyNs =
      try fields.value("every") { text, flag throws(UsageError) in
        let nanoseconds = try Units.nanoseconds(text, flag: flag)
        guard nanoseconds >= 1_000_000 else { throw UsageError("\(flag): at least 1ms") }
        return nanoseconds
      } ?? load.everyNs
    try fields.refuseOthers()
    return load
  }

  /// What would mean nothing to a load of this kind.
  private func refuseUnused(
    _ kind: BackgroundLoad.Kind, _ fields: inout PlanFields
  ) throws(UsageError) {
    for (name, isUsed) in [("count", kind.usesCount), ("every", kind.usesTime)] where !isUsed {
      guard let given = fields.take(name) else { continue }
      throw fields.refusal(
        name, given.line, "means nothing to '\(kind.rawValue)'; leave it out")
    }
  }

  private func fault(
    _ json: LocatedJSON, _ place: String, _ script: RunScript
  ) throws(UsageError) -> PlannedFault {
    var fields = try PlanFields(path, place, json)
    let kind: PlannedFault.Kind = try choice("kind", &fields)
    guard let process = try fields.text("process") else {
      throw fields.refusal("process", "is missing; it names a background load")
    }
    let names = script.background.map(\.name)
    guard names.contains(process.value) else {
      let nearest = nearestName(process.value, in: names).map { "; did you mean '\($0)'?" }
      throw fields.refusal(
        "process", process.line, "no background load is called '\(process.value)'\(nearest ?? "")")
    }
    func time(_ text: String, _ flag: String) throws(UsageError) -> UInt64 {
      try Units.nanoseconds(text, flag: flag)
    }
    guard let at = try fields.value("at", time) else {
      throw fields.refusal("at", "is missing: the time since the measured phase began")
    }
    var fault = PlannedFault(kind, process: process.value, atNs: at)
    fault.forNs = try fields.value("for", time)
    try fields.refuseOthers()
    if fault.forNs != nil && kind != .stop {
      throw fields.refusal("for", "only 'stop' lasts for a time")
    }
    let lengths = script.steps.compactMap(\.durationNs)
    if !script.steps.isEmpty, lengths.count == script.steps.count, at >= lengths.reduce(0, +) {
      throw fields.refusal("at", "the phases are over by then")
    }
    return fault
  }

  private func choice<Choice: CaseIterable & RawRepresentable>(
    _ name: String, _ fields: inout PlanFields
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    guard let text = try fields.text(name) else {
      throw fields.refusal(name, "is missing: one of \(names.joined(separator: ", "))")
    }
    guard let choice = Choice(rawValue: text.value) else {
      let nearest = nearestName(text.value, in: names).map { "; did you mean '\($0)'?" }
      throw fields.refusal(
        name, text.line,
        "'\(text.value)' is not one of \(names.joined(separator: ", "))\(nearest ?? "")")
    }
    return choice
  }
}
