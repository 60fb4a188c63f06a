// What a hunt explores, by name.
package import RaceHunt
internal import RacePrograms

/// A program that a hunt explores.
package struct HuntProgram: Sendable {
  /// `lost-update` has its bug, `lost-update/mended` is the program without it.
  package let name: String
  package let summary: String
  /// Whether a failure is what one hopes for.
  package let hasBug: Bool
  package let program: Program

  private static let mended = "/mended"

  /// Programs in which nothing is to be found.
  package static let sound =
    HuntScenario.all.map { scenario in
      HuntProgram(
        name: scenario.name + mended, summary: "without its bug: " + scenario.summary,
        hasBug: false, program: scenario.program(false))
    } + StorePrograms.all

  /// Programs with a known bug each.
  package static let broken = HuntScenario.all.map { scenario in
    HuntProgram(
      name: scenario.name, summary: scenario.summary, hasBug: true,
      program: scenario.program(true))
  }

  package static func named(_ name: String) -> HuntProgram? {
    (broken + sound).first { $0.name == name }
  }
}
