// How soon the suite's programs fail, by each strategy: the table of results/hunt-suite.md.
internal import Glibc
internal import RaceHunt
internal import RacePrograms

/// One way to a failure.
private struct Way {
  let schedules: Int
  let isFound: Bool
}

/// Several searches of one strategy for one program.
private struct Score {
  let ways: [Way]
  /// How many there were to be; there was no time for the others.
  let wanted: Int

  /// The middle one; nil when fewer than half have found it.
  private var median: Way? {
    let sorted = ways.sorted {
      ($0.isFound ? 0 : 1, $0.schedules) < ($1.isFound ? 0 : 1, $1.schedules)
    }
    let middle = sorted[sorted.count / 2]
    return middle.isFound ? middle : nil
  }

  private var found: Int { ways.count(where: \.isFound) }

  private var mean: Int {
    let found = ways.filter(\.isFound)
    return found.isEmpty ? 0 : found.reduce(0) { $0 + $1.schedules } / found.count
  }

  var cell: String {
    var parts: [String] = []
    if let median { parts.append("\(median.schedules) (\(mean))") }
    if found < wanted { parts.append("\(found) of \(ways.count)") }
    return parts.joined(separator: ", ")
  }
}

@main
private struct RaceScore {
  private static let usage = """
    usage: RaceScore [--seeds=N] [--schedules=N] [--seconds=N] [STRATEGY...] [PROGRAM...]
      --seeds=N      searches of a strategy for a program (20)
      --schedules=N  most schedules of a search (5000)
      --seconds=N    most time of a strategy for a program, after which no search begins (60)
    """

  static func main() {
    var seeds = 20
    var most = 5_000
    var seconds = 60
    var strategies: [Strategy] = []
    var programs: [SuiteProgram] = []
    for argument in CommandLine.arguments.dropFirst() {
      if let number = value(argument, "--seeds="), number > 0 {
        seeds = number
      } else if let number = value(argument, "--schedules="), number > 0 {
        most = number
      } else if let number = value(argument, "--seconds="), number > 0 {
        seconds = number
      } else if let strategy = Strategy(argument) {
        strategies.append(strategy)
      } else {
        let named = SuiteProgram.all.filter { $0.name.contains(argument) }
        guard !named.isEmpty else {
          print("'\(argument)' is no strategy and in no program's name\n\(usage)")
          exit(64)
        }
        programs += named
      }
    }
    if programs.isEmpty { programs = SuiteProgram.all }
    if strategies.isEmpty {
      strategies = [
        .randomWalk, .pct(depth: 3), .partialOrder, .uniform, .selectivelyUniform, .portfolio,
      ]
    }
    var header = "| program |"
    var rule = "|---|"
    for strategy in strategies {
      header += " \(strategy) |"
      rule += "---|"
    }
    show(header + " best published mean |")
    show(rule + "---|")
    for program in programs {
      var line = "| `\(program.name)` |"
      for strategy in strategies {
        line += " \(score(program, strategy, seeds, most, seconds).cell) |"
      }
      line += program.published.map { " \($0.schedules) \($0.technique) |" } ?? " not published |"
      show(line)
    }
  }

  /// Each line at once, so that what was measured is there when the rest is not waited for.
  private static func show(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func value(_ argument: String, _ flag: String) -> Int? {
    argument.hasPrefix(flag) ? Int(argument.dropFirst(flag.count)) : nil
  }

  private static func score(
    _ program: SuiteProgram, _ strategy: Strategy, _ seeds: Int, _ most: Int, _ seconds: Int
  ) -> Score {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    var ways: [Way] = []
    while ways.count < seeds, ways.isEmpty || clock.now < end {
      ways.append(search(program, strategy, seed: UInt64(ways.count + 1), most: most))
    }
    return Score(ways: ways, wanted: seeds)
  }

  private static func search(
    _ program: SuiteProgram, _ strategy: Strategy, seed: UInt64, most: Int
  ) -> Way {
    var settings = Explorer.Settings()
    settings.strategy = strategy
    settings.seed = seed
    settings.shrinks = false
    var schedules = 0
    while schedules < most {
      settings.iterations = most - schedules
      do throws(RaceFailure) {
        schedules += try Explorer(program.program, settings).explore().schedules
        break
      } catch {
        schedules += error.schedules ?? 1
        if [.check, .deadlock, .lostWakeUp].contains(error.kind) {
          return Way(schedules: schedules, isFound: true)
        }
        // A program without end may be what its bug leads to, but it is not the bug. The search
        // goes on with schedules that no other search draws.
        settings.seed &+= 1 << 32
      }
    }
    return Way(schedules: schedules, isFound: false)
  }
}
