// What a hunt explores, by name.
internal import Platform
package import RaceHunt
internal import RacePrograms

/// A program that a hunt explores.
package struct HuntProgram: Sendable {
  /// `lost-update` has its bug, `lost-update/mended` is the program without it.
  package let name: String
  package let summary: String
  /// Whether a failure is what one hopes for.
  package let hasBug: Bool
  /// Whether it uses the engine, whose locks are points only in a build that `scripts/hunt` makes.
  package let needsControlledEngine: Bool
  /// A schedule with more points is taken for one without end.
  package let steps: Int
  /// Schedules that are run once in a process before the first one, and not looked at: what the
  /// first Realms of a process make once for all others takes steps that later schedules have not.
  let warmUps: Int
  package let program: Program

  init(
    name: String, summary: String, hasBug: Bool, needsControlledEngine: Bool = false,
    steps: Int = 10_000, warmUps: Int = 0, program: @escaping Program
  ) {
    self.name = name
    self.summary = summary
    self.hasBug = hasBug
    self.needsControlledEngine = needsControlledEngine
    self.steps = steps
    self.warmUps = warmUps
    self.program = program
  }

  private static let prepared = Monitor<Set<String>>([])

  /// Runs the first schedules of a process.
  ///
  /// One that fails there is found again later, under steps that can be repeated; the others are
  /// run all the same. One that crashes does so in each process.
  package func prepare() {
    guard warmUps > 0, Self.prepared.withLock({ $0.insert(name).inserted }) else { return }
    var settings = Explorer.Settings()
    settings.iterations = warmUps
    settings.strategy = .randomWalk
    settings.steps = steps
    settings.comparesEvery = 0
    settings.shrinks = false
    // A failure may take a while, as a hang does.
    for _ in 0..<Self.failuresMax where settings.iterations > 0 {
      do throws(RaceFailure) {
        _ = try Explorer(program, settings).explore()
        return
      } catch {
        if error.kind == .hang { return }
        settings.iterations -= error.schedules ?? settings.iterations
        settings.seed += 1
      }
    }
  }

  private static let failuresMax = 60

  private static let mended = "/mended"

  /// Programs in which nothing is to be found.
  package static let sound =
    HuntScenario.all.map { scenario in
      HuntProgram(
        name: scenario.name + mended, summary: "without its bug: " + scenario.summary,
        hasBug: false, program: scenario.program(false))
    } + StorePrograms.all + EnginePrograms.all + SpacePrograms.all + RealmPrograms.all
    + RealmOpeningPrograms.all + RealmSpacePrograms.all + LedgerPrograms.all

  /// Those of them that a strategy can run in this build: threads of the machine run all.
  package static func sound(for strategy: HuntStrategy) -> [HuntProgram] {
    sound.filter { $0.canRun(strategy) }
  }

  /// Whether a strategy can run it in this build.
  package func canRun(_ strategy: HuntStrategy) -> Bool {
    !needsControlledEngine || StorePrograms.areControlled || strategy == .machine
  }

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
