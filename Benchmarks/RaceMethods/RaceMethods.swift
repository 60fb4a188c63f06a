// One program with a bug, under one method: threads of the machine, or exploring. Built with a
// sanitizer the same line is that sanitizer's row of results/race-methods.md.
internal import Glibc
internal import RaceHunt
internal import RacePrograms

@main
private enum RaceMethods {
  private static let usage = """
    usage: RaceMethods list
           RaceMethods PROGRAM threads|explored SECONDS
           RaceMethods sound-programs SECONDS         all known programs without their bugs, on threads
    ends with 0 when nothing is found, with 3 when a check fails or the program has no end; a
    sanitizer ends the process with its own code
    """

  /// What lies in plain memory first, then what is a matter of order alone.
  private static let programs: [HuntScenario] =
    HuntScenario.plainMemory
    + [
      "lost-update", "sequence-lock", "dining-philosophers", "lost-wake-up", "aba-stack",
      "actor-check-then-act", "double-completion",
    ].compactMap(HuntScenario.named)

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments == ["list"] {
      for program in programs { print("\(program.name)\t\(program.summary)") }
      return
    }
    if arguments.count == 2, arguments[0] == "sound-programs", let seconds = Double(arguments[1]) {
      return soundPrograms(for: seconds)
    }
    guard arguments.count == 3, let seconds = Double(arguments[2]), seconds > 0,
      let scenario = programs.first(where: { $0.name == arguments[0] })
    else {
      print(usage)
      exit(64)
    }
    let program = scenario.program(true)
    switch arguments[1] {
    case "threads":
      let run = Stress.run(program, nanoseconds: UInt64(seconds * 1e9))
      report(run.failure, runs: run.runs, seconds: run.seconds)
    case "explored": explored(program, for: seconds)
    default:
      print(usage)
      exit(64)
    }
  }

  /// Runs what has no bug on threads of the machine, each for so long.
  private static func soundPrograms(for seconds: Double) {
    var hasFailed = false
    for scenario in HuntScenario.all {
      let run = Stress.run(scenario.program(false), nanoseconds: UInt64(seconds * 1e9))
      hasFailed = hasFailed || run.failure != nil
      print("\(scenario.name)\t\(run.runs)\t\(run.failure ?? "sound")")
      fflush(nil)
    }
    exit(hasFailed ? 3 : 0)
  }

  /// Explores by a seed after the other until the time is over.
  private static func explored(_ program: @escaping Program, for seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    var runs = 0
    var seed: UInt64 = 1
    while clock.now - start < .seconds(seconds) {
      do {
        runs += try explore(iterations: 1_000, seed: seed, program).schedules
      } catch {
        runs += error.schedules ?? 1
        report(error.reason, runs: runs, seconds: (clock.now - start) / .seconds(1))
      }
      seed += 1
    }
    report(nil, runs: runs, seconds: (clock.now - start) / .seconds(1))
  }

  private static func report(_ failure: String?, runs: Int, seconds: Double) {
    print("\(failure == nil ? "nothing" : "found")\t\(runs)\t\(seconds)\t\(failure ?? "")")
    fflush(nil)
    // Threads that wait for ever are left where they are.
    _exit(failure == nil ? 0 : 3)
  }
}
