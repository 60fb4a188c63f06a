// Small programs with a known bug each, and the same programs without it: what `realm-bench hunt`
// explores in every build. Written from the descriptions of the problems.
package import RaceHunt

/// A program that a hunt explores.
package struct HuntScenario: Sendable {
  package let name: String
  /// What goes wrong, in a line.
  package let summary: String
  /// The program, with its bug or without.
  package let program: @Sendable (_ hasBug: Bool) -> Program

  package init(
    _ name: String, _ summary: String, _ program: @escaping @Sendable (Bool) -> Program
  ) {
    self.name = name
    self.summary = summary
    self.program = program
  }

  /// All of them.
  package static let all =
    lockScenarios + conditionScenarios + lockFreeScenarios + reclaimScenarios + actorScenarios
    + versionScenarios + coordinationScenarios

  package static func named(_ name: String) -> HuntScenario? { all.first { $0.name == name } }
}
