// What phases and faults of a plan ask of a run that it cannot do: told before anything starts,
// with line and field. The settings come from the plan and from flags, so this is looked at last.

/// Where the parts of a plan stand.
struct RunScriptLines: Sendable {
  var steps: [Int] = []
  var faults: [Int] = []
}

/// Refuses what would be left out without a word.
struct RunScriptCheck {
  let path: String
  let lines: RunScriptLines

  func check(_ settings: RunSettings) throws(UsageError) {
    for (number, step) in settings.script.steps.enumerated() {
      try check(step, number, settings)
    }
    try checkFaults(settings)
  }

  private func refusal(_ number: Int, _ field: String, _ text: String) -> UsageError {
    UsageError("\(path):\(lines.steps[number]): phases[\(number)].\(field): \(text)")
  }

  private func check(
    _ step: RunStep, _ number: Int, _ settings: RunSettings
  ) throws(UsageError) {
    let workload = settings.workload
    for (field, flag, isGiven) in [
      ("readers", "readers", step.readers != nil), ("writers", "writers", step.writers != nil),
      ("rate", "rate", step.rate != nil), ("read_rate", "read-rate", step.readRate != nil),
    ] where isGiven && !RunFlags.isUsed(flag, by: workload) {
      throw refusal(
        number, field, "the workload \(workload.rawValue) does not use this; leave it out")
    }
    for (field, wanted, there) in [
      ("readers", step.readers, settings.readers), ("writers", step.writers, settings.writers),
    ] {
      guard let wanted, wanted > there else { continue }
      throw refusal(
        number, field, "\(wanted) is more than the run has: settings.\(field) is \(there)")
    }
    guard RunFlags.isUsed("readers", by: workload) else { return }
    let readers = step.active(.reader, of: settings.readers)
    let writers = step.active(.writer, of: settings.writers)
    if step.readRate != nil && readers == 0 {
      throw refusal(number, "read_rate", "needs a reader, and none works in this phase")
    }
    if step.rate != nil && writers == 0 {
      throw refusal(number, "rate", "needs a writer, and none works in this phase")
    }
    if step.operations != nil && readers + writers == 0 {
      throw refusal(number, "ops", "needs a thread, and none works in this phase")
    }
  }

  private func checkFaults(_ settings: RunSettings) throws(UsageError) {
    var killed: [String: UInt64] = [:]
    for fault in settings.script.faults where fault.kind == .kill {
      killed[fault.process] = min(killed[fault.process] ?? .max, fault.atNs)
    }
    for (number, fault) in settings.script.faults.enumerated() {
      func refusal(_ text: String) -> UsageError {
        UsageError("\(path):\(lines.faults[number]): faults[\(number)].at: \(text)")
      }
      let endsByTime = settings.script.steps.isEmpty && settings.operationsOfPhase == nil
      if endsByTime && fault.atNs >= settings.durationNanoseconds {
        throw refusal(
          "the run is over by then: it lasts "
            + Units.text(nanoseconds: settings.durationNanoseconds))
      }
      if let end = killed[fault.process], fault.atNs > end {
        throw refusal(
          "'\(fault.process)' is killed before, at \(Units.text(nanoseconds: end))")
      }
    }
  }
}
