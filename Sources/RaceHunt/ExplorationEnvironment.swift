// What the environment of the process says instead of a test: how many schedules, of which seed, or
// which one, and where that ends.
internal import Glibc

/// What the environment says about explorations.
package struct ExplorationEnvironment: Sendable {
  /// `RACE_HUNT_SEED`.
  package private(set) var seed: UInt64?
  /// `RACE_HUNT_ITERATIONS`.
  package private(set) var iterations: Int?
  /// `RACE_HUNT_REPLAY`.
  package private(set) var schedule: String?
  /// `RACE_HUNT_UNTIL`.
  package private(set) var lastStep: Int?
  /// What of it cannot be read, and what it should be: without it a test would do something else
  /// than was asked for.
  package private(set) var mistake: String?

  /// - Parameter value: of a variable, or nil.
  package init(_ value: (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
    schedule = value("RACE_HUNT_REPLAY")
    seed = number("RACE_HUNT_SEED", from: 0, value)
    iterations = number("RACE_HUNT_ITERATIONS", from: 1, value)
    lastStep = number("RACE_HUNT_UNTIL", from: 1, value)
  }

  private mutating func number<Number: FixedWidthInteger>(
    _ name: String, from least: Number, _ value: (String) -> String?
  ) -> Number? {
    guard let text = value(name) else { return nil }
    if let number = Number(text), number >= least { return number }
    mistake = "\(name) is a whole number from \(least) on, not '\(text)'"
    return nil
  }
}

extension Explorer.Settings {
  /// Those of a test, or of the environment, which goes before.
  init(
    iterations: Int, strategy: Strategy, seed: UInt64, steps: Int, earlyTimeouts: Bool,
    _ environment: ExplorationEnvironment = ExplorationEnvironment()
  ) {
    self.init()
    self.iterations = environment.iterations ?? iterations
    self.strategy = strategy
    self.seed = environment.seed ?? seed
    self.steps = steps
    self.earlyTimeouts = earlyTimeouts
    shrinksProgram = true
    mistake = environment.mistake
  }
}
