// How soon the suite's programs fail, by each strategy: the table of results/hunt-suite.md.
internal import Glibc
internal import RaceHunt
internal import RacePrograms

/// One way to a failure.
private struct Way {
  let schedules: Int
  let seconds: Double
  let isFound: Bool
}

/// Several searches of one strategy for one program.
private struct Score {
  let ways: [Way]

  /// The middle one; nil when fewer than half have found it.
  var median: Way? {
    let sorted = ways.sorted {
      ($0.isFound ? 0 : 1, $0.schedules) < ($1.isFound ? 0 : 1, $1.schedules)
    }
    let middle = sorted[sorted.count / 2]
    return middle.isFound ? middle : nil
  }

  var found: Int { ways.count(where: \.isFound) }

  var mean: Int {
    let found = ways.filter(\.isFound)
    return found.isEmpty ? 0 : found.reduce(0) { $0 + $1.schedules } / found.count
  }
}

@main
private struct RaceScore {
  static func main() {
    var seeds = 20
    var most = 5_000
    var strategies: [Strategy] = []
    var programs: [SuiteProgram] = []
    for argument in CommandLine.arguments.dropFirst() {
      if let number = value(argument, "--seeds="), number > 0 {
        seeds = number
      } else if let number = value(argument, "--schedules="), number > 0 {
        most = number
      } else if let strategy = Strategy(argument) {
        strategies.append(strategy)
      } else {
        let named = SuiteProgram.all.filter { $0.name.contains(argument) }
        guard !named.isEmpty else {
          print(
            "'\(argument)' is no strategy and in no program's name; usage: RaceScore [--seeds=N] "
              + "[--schedules=N] [STRATEGY...] [PROGRAM...]")
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
    print(header + " best published mean |")
    print(rule + "---|")
    for program in programs {
      var line = "| `\(program.name)` |"
      for strategy in strategies {
        let score = Score(
          ways: (1...seeds).map { search(program, strategy, seed: UInt64($0), most: most) })
        if let median = score.median {
          line += " \(median.schedules) (\(score.mean))"
          if score.found < seeds { line += ", \(score.found) of \(seeds)" }
          line += " |"
        } else {
          line += " \(score.found) of \(seeds) |"
        }
      }
      line += program.published.map { " \($0.schedules) \($0.technique) |" } ?? " not published |"
      print(line)
    }
  }

  private static func value(_ argument: String, _ flag: String) -> Int? {
    argument.hasPrefix(flag) ? Int(argument.dropFirst(flag.count)) : nil
  }

  private static func search(
    _ program: SuiteProgram, _ strategy: Strategy, seed: UInt64, most: Int
  ) -> Way {
    var settings = Explorer.Settings()
    settings.iterations = most
    settings.strategy = strategy
    settings.seed = seed
    settings.shrinks = false
    do throws(RaceFailure) {
      let result = try Explorer(program.program, settings).explore()
      return Way(schedules: result.schedules, seconds: result.seconds, isFound: false)
    } catch {
      // A program without end may be what its bug leads to, but it is not the bug.
      let isFound = [.check, .deadlock, .lostWakeUp].contains(error.kind)
      return Way(
        schedules: error.schedules ?? 0, seconds: error.seconds ?? 0, isFound: isFound)
    }
  }
}
