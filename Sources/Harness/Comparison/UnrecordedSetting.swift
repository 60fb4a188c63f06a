// Settings that runs of earlier versions did not record, since there was nothing to choose: what
// those runs did. With them a version that adds a setting can be compared with the one before it.

/// What stands for a setting that a run.json does not have.
package enum UnrecordedSetting {
  /// By name in run.json: what every run did before the setting was recorded.
  ///
  /// Whoever adds a setting that runs record without being asked for it adds a line here.
  package static let defaults: [String: String] = [
    // Every read was checked in full.
    "check_rate": "1"
  ]

  /// The value in a run that does not have it; nil when none stands for it.
  ///
  /// Flags of a program's own workload have the default that the program gives them.
  package static func value(of name: String, in workload: String) -> String? {
    if let value = defaults[name] { return value }
    guard name.hasPrefix("--"), let facts = WorkloadKind(rawValue: workload)?.facts else {
      return nil
    }
    return facts.ownFlags.first { "--" + $0.definition.name == name }?.standard
  }
}
