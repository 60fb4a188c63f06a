// `realm-bench report`: results folders as one page with pictures.
internal import Foundation

/// The verb `report`.
package enum ReportVerb: VerbDescription {
  package static let name = "report"
  package static let arguments = "FOLDER ... [-o report.html]"
  package static let summary = "one self-contained page with pictures"
  package static let flags: [FlagDefinition] = [
    .init("output", "FILE", "where the page goes (report.html; a picture: NAME.svg)"),
    .init("overwrite", nil, "replace an existing page or picture of report"),
    .init(
      "picture", "NAME",
      "one picture of the page alone, as SVG: "
        + RunReport.Picture.allCases.map(\.rawValue).joined(separator: ", ")),
    .init(
      "trend", "DIR",
      "add the given folders to DIR/history.csv, and draw it with the changes of level"),
    .init(
      "strict", nil,
      "with --trend: exit 2 when the given folders show a change for the worse that was not seen "
        + "before"),
    .init("format", "text|json", "form of what is told on standard output (text)"),
    .init("show-places", nil, "name folders and host, which are left out otherwise"),
    .init("help", nil, "show this"),
  ]

  /// What is told as JSON.
  private struct Told: Codable {
    struct Change: Codable {
      var figure: String
      /// Nil where it was 0 before.
      var change: String?
      var commit: String
      var runId: String
    }

    /// Where the page or picture is.
    var file: String
    /// Of a trend.
    var changes: [Change]?
  }

  package static let usage = """
    realm-bench report FOLDER ... [-o report.html]
    realm-bench report FOLDER ... --picture file [-o file.svg]
    realm-bench report --trend results/history [FOLDER ...] [-o trend.html]

    One page of HTML without anything from the network: latencies by percentile, rates and tails over
    time, the file and its pins, invariants and their cost, environment. Two folders of one plan are
    compared, too. Works without scripts, in light and dark, on paper and on a phone. One of its
    pictures as a file of its own, for a README or a comment: --picture.

    A history keeps a line of each run that came to its end. Levels are drawn from valid runs alone,
    those of one plan on one machine together; runs of one commit on one day count once, by their
    median. A change takes twelve in all, and five that lie behind it (six among twelve). Lines that
    cannot be read are left out, and named.
    Exit codes: 0 the page is written, 2 a new change for the worse (--trend with --strict).
    """

  package static func perform(_ arguments: [String], console: Console) throws -> ExitCode {
    try run(arguments, console: console)
  }

  package static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    let values = try FlagValues(arguments, known: flags)
    if values.has("help") {
      console.printRaw(help)
      return .success
    }
    let form: ToldForm = try values.choice("format") ?? .text
    if let history = values.first("trend") {
      return try trend(history, values, form, console)
    }
    try values.refuse("strict", without: "trend")
    guard !values.positional.isEmpty else {
      throw UsageError(
        "report needs a results folder" + RecentResults.example { "report \($0)" })
    }
    let picture = try values.choice("picture", RunReport.Picture.self)
    let file = try output(
      values, picture.map { $0.rawValue + ".svg" } ?? "report.html",
      picture == nil ? .page : .picture)
    let text: String
    do {
      let folders = try values.paths("report").map { try Baselines.resolve($0) }
      let sides = try folders.map { try MeasuredRun.all(in: $0) }
      // What a run says of itself stands on the page; nobody there misses a run.
      for (folder, runs) in zip(folders, sides) where runs.map(\.folder) != [folder] {
        guard let shortage = FolderManifest.shortage(of: folder) else { continue }
        console.note("warning: \(shortage): the page shows the \(runs.count) that there are")
      }
      for run in sides.flatMap(\.self) {
        for name in run.missingHistograms {
          console.note(
            "warning: '\(run.folder)/\(name)' is missing, which run.json lists: the page does not "
              + "show that distribution")
        }
      }
      var rules = ComparisonRules()
      // A page shows whatever there is; what is to be known of it stands beside it.
      rules.acceptsPartial = true
      var comparison: Comparison?
      if sides.count == 2 && picture == nil {
        do throws(ResultsError) {
          comparison = try Comparison(baseline: sides[0], candidate: sides[1], rules: rules)
        } catch {
          console.note("note: the page compares nothing: \(error.message)")
        }
      }
      let report = RunReport(
        sides.flatMap(\.self), comparison: comparison, showsPlaces: values.has("show-places"))
      if let picture {
        let chart = try report.chart(picture)
        if chart.isEmpty {
          throw UsageError(
            "report: there is nothing to draw \(chart.source) for --picture \(picture.rawValue); "
              + "the page shows what there is")
        }
        text = chart.picture()
      } else {
        text = try report.html()
      }
    } catch let error as ResultsError {
      throw UsageError("report: \(error.message)")
    } catch let missing as Baselines.Missing {
      throw UsageError("report: \(missing.message)")
    }
    do {
      try file.write(text)
    } catch let error as UsageError {
      throw error
    } catch {
      console.note("error: cannot write '\(file.path)': \(error.explanation)")
      return .failed
    }
    console.keeps(file.path)
    try tell(Told(file: file.path), form, console)
    return .success
  }

  private static func tell(_ told: Told, _ form: ToldForm, _ console: Console) throws {
    switch form {
    case .json: console.printRaw(try encodeJSON(told))
    case .text:
      for change in told.changes ?? [] {
        let words = change.change.map { "changed by \($0)" } ?? "is no longer 0, since a run"
        console.print("\(change.figure) \(words) at \(change.commit) (\(change.runId))")
      }
      console.print(told.file)
    }
  }

  /// Where the page or picture goes.
  private static func output(
    _ values: FlagValues, _ usual: String, _ kind: OutputFile.Kind = .page
  ) throws(UsageError) -> OutputFile {
    try OutputFile(
      values.first("output") ?? usual, flag: "--output", kind, replaces: values.has("overwrite"))
  }

  // MARK: - Trend

  private static func trend(
    _ folder: String, _ values: FlagValues, _ form: ToldForm, _ console: Console
  ) throws -> ExitCode {
    try values.refuse("trend", with: "show-places", because: "a history names no places")
    try values.refuse("trend", with: "picture", because: "a history is a page")
    switch try? FileCalls.kind(folder, followsLinks: true) {
    case nil, .folder?: break
    case let kind?:
      throw UsageError("--trend: '\(folder)' is \(kind.words); it needs the folder of a history")
    }
    let file = try output(values, "trend.html")
    let path = file.path
    var told = Told(file: path)
    var newlyWorse: [TrendReport.Change] = []
    do {
      var history = try TrendHistory(folder: folder)
      let earlier = values.has("strict") ? TrendReport(history).changes : []
      try history.append(
        values.paths("report").flatMap { try MeasuredRun.all(in: try Baselines.resolve($0)) })
      guard !history.entries.isEmpty else {
        throw UsageError("report: '\(folder)' has no history yet; name results folders to begin it")
      }
      for warning in history.leftOut + history.warnings { console.note("warning: " + warning) }
      let report = TrendReport(history)
      try file.write(report.html())
      console.keeps(file.path)
      if values.has("strict") { newlyWorse = report.newlyWorse(than: earlier) }
      told.changes = report.changes.map {
        Told.Change(figure: $0.figure, change: $0.share, commit: $0.commit, runId: $0.run.runID)
      }
    } catch let error as ResultsError {
      throw UsageError("report: \(error.message)")
    } catch let missing as Baselines.Missing {
      throw UsageError("report: \(missing.message)")
    } catch let error as UsageError {
      throw error
    } catch {
      console.note("error: cannot write '\(path)' or the history: \(error.explanation)")
      return .failed
    }
    try tell(told, form, console)
    for change in newlyWorse {
      console.note(
        "error: \(change.figure) has got worse since \(change.commit) (\(change.run.runID))")
    }
    return newlyWorse.isEmpty ? .success : .thresholdMissed
  }
}
