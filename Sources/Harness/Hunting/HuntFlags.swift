// The flags of `realm-bench hunt`.
internal import Foundation
package import RaceHunt

/// What a hunt was asked for.
package struct HuntSettings: Sendable {
  package var nanoseconds: UInt64?
  package var processes = 1
  package var seed: UInt64 = 1
  package var strategy = HuntStrategy.explored(.portfolio)
  package var scenario: String?
  package var showsScore = false
  package var replaysCorpus = false
  package var shard = Shard.whole
  package var output: String?
  package var overwrites = false
  package var choices = OutputChoices()
  var form = ToldForm.text

  package static let flags: [FlagDefinition] = [
    .init("duration", "TIME", "how long (2m; with --scenario until it fails, at most 1m)"),
    .init("processes", "N", "so many processes, each a shard (1)"),
    .init("seed", "N", "decides programs and schedules (1)"),
    .init(
      "strategy", "NAME",
      "random, pct[:DEPTH], pos, uniform, surw, depth-first[:PREEMPTIONS], exhaustive, "
        + "portfolio; machine: uncontrolled (portfolio)"),
    .init("scenario", "NAME", "this program alone; 'list scenarios' names them"),
    .init("bugs", nil, "the score: schedules and seconds to each known bug"),
    .init("replay-corpus", nil, "repeat the failures that earlier hunts have kept"),
    .init("shard", "K/N", "the K-th of N hunts that share a seed, or the bugs (1/1)"),
    .init("output", "DIR", "results folder (realm-bench-results/...)"),
    .init("overwrite", nil, "replace the results in the folder when the new ones are complete"),
    .init(
      "format", "text|json",
      "form on standard output (text); json: one object at the end, one a line with "
        + "--replay-corpus; the text on standard error"),
    .init("quiet", nil, "no progress and no warnings"),
    .init("no-progress", nil, "no progress"),
    .init("color", "auto|always|never", "colours on the terminal (auto)"),
    .init("help", nil, "show this"),
  ]

  package static let refused = [
    "sanitizer":
      "needs a build with the sanitizer; 'scripts/hunt --sanitizer thread|address' makes and runs it"
  ]

  package init(_ values: FlagValues) throws(UsageError) {
    guard values.positional.isEmpty else {
      throw UsageError(
        "hunt takes no '\(values.positional[0])'; a program is named by --scenario")
    }
    for other in ["scenario", "replay-corpus", "strategy", "processes"] {
      try values.refuse(
        "bugs", with: other, because: "the score has programs and strategies of its own")
    }
    for other in ["scenario", "duration", "seed", "shard", "processes", "strategy"] {
      try values.refuse(
        "replay-corpus", with: other, because: "a kept schedule is repeated as it is")
    }
    for other in ["output", "overwrite"] {
      try values.refuse(
        "replay-corpus", with: other, because: "it leaves nothing in a folder")
    }
    try values.refuse("processes", with: "shard", because: "each process is a shard")
    if let text = values.first("duration") {
      nanoseconds = try Units.nanoseconds(text, flag: "--duration")
      if nanoseconds == 0 { throw UsageError("--duration needs more than no time") }
    }
    if let text = values.first("processes") {
      processes = try Units.count(text, flag: "--processes", minimum: 1, maximum: 256)
    }
    if let text = values.first("seed") {
      seed = try Units.seed(text)
    }
    if let text = values.first("strategy") {
      guard let named = HuntStrategy(text) else {
        let nearest = nearestName(text, in: HuntStrategy.names).map { "; did you mean '\($0)'?" }
        throw UsageError(
          "--strategy: there is no '\(text)'"
            + (nearest ?? " (\(HuntStrategy.names.joined(separator: ", ")))"))
      }
      strategy = named
    }
    if let name = values.first("scenario") {
      let names = (HuntProgram.broken + HuntProgram.sound).map(\.name)
      guard names.contains(name) else {
        let nearest =
          nearestName(name, in: names).map { "; did you mean '\($0)'?" }
          ?? "; '\(Tool.current.invocation) list scenarios' has them"
        throw UsageError("--scenario: there is no '\(name)'\(nearest)")
      }
      guard HuntProgram.named(name)!.canRun(strategy) else {
        throw UsageError(
          "--scenario: '\(name)' needs the scheduler under the engine: 'scripts/hunt --scenario "
            + "\(name)' builds it; or use --strategy machine")
      }
      scenario = name
    }
    if let text = values.first("shard") {
      shard = try Shard(text, flag: "--shard")
    }
    showsScore = values.has("bugs")
    replaysCorpus = values.has("replay-corpus")
    form = try values.choice("format") ?? .text
    output = values.first("output")
    overwrites = values.has("overwrite")
    choices.isQuiet = values.has("quiet")
    choices.showsProgress = !values.has("quiet") && !values.has("no-progress")
    choices.color = try values.choice("color") ?? .auto
  }
}

/// How schedules come about.
package enum HuntStrategy: Sendable, Equatable, CustomStringConvertible {
  case explored(Strategy)
  /// As on any machine: uncontrolled, for sanitizers and to compare with.
  case machine

  package static let names = [
    "random", "pct", "pos", "uniform", "surw", "depth-first", "exhaustive", "portfolio",
    "machine",
  ]

  package init?(_ name: String) {
    if name == "machine" {
      self = .machine
    } else if let strategy = Strategy(name) {
      self = .explored(strategy)
    } else {
      return nil
    }
  }

  package var description: String {
    switch self {
    case .machine: "machine"
    case .explored(let strategy): strategy.description
    }
  }
}
