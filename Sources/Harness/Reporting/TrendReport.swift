// A history as a page: a chart a figure, with its levels, and a table of the runs at which one
// changed.
internal import Foundation

/// Draws a history.
package struct TrendReport {
  /// A change of level of one figure.
  package struct Change: Equatable, Sendable {
    package var figure: String
    package var before: Double
    package var after: Double
    /// The first run of the new level.
    package var run: TrendHistory.Entry
  }

  private let history: TrendHistory

  package init(_ history: TrendHistory) { self.history = history }

  /// Every change, in the order of series and figures.
  package var changes: [Change] {
    history.series.flatMap { series in
      figures(series.entries).flatMap { changes($0, series.entries) }
    }
  }

  /// Figures that every run has, without those far out, which jump by themselves.
  private func figures(_ entries: [TrendHistory.Entry]) -> [String] {
    guard let first = entries.first else { return [] }
    return first.figures.keys.sorted().filter { name in
      !name.contains("p99_9") && entries.allSatisfy { ($0.figures[name] ?? 0) > 0 }
    }
  }

  private func changes(_ figure: String, _ entries: [TrendHistory.Entry]) -> [Change] {
    let values = entries.map { $0.figures[figure] ?? 0 }
    let ends = ChangePoints.find(values) + [values.count]
    var begin = 0
    var found: [Change] = []
    for (end, next) in zip(ends, ends.dropFirst()) {
      found.append(
        Change(
          figure: figure, before: median(Array(values[begin..<end])),
          after: median(Array(values[end..<next])), run: entries[end]))
      begin = end
    }
    return found
  }

  package func html() -> String {
    var page = ReportPage("History of figures")
    let rows = changes.map { change in
      [
        change.figure, value(change.before, change.figure), value(change.after, change.figure),
        decimal((change.after / change.before - 1) * 100, places: 1) + " %",
        String(change.run.commit.prefix(12)), change.run.startedAt, change.run.runID,
      ]
    }
    page.add(
      "Changes",
      "<p>Pettitt's rank test, done again on both sides of each change; by chance alone one in "
        + "\(Int(1 / ChangePoints.chanceMax)) series would show one.</p>"
        + (rows.isEmpty
          ? "<p>No figure has changed its level.</p>"
          : ReportPage.table(
            ["figure", "before", "after", "change", "commit", "time", "run"], rows,
            source: "history.csv")))
    for series in history.series {
      let charts = figures(series.entries).map { chart($0, series.entries).html() }.joined()
      page.add(
        "\(series.entries[0].workload), \(series.entries.count) runs",
        "<p><code>\(escapedHTML(series.plan))</code><br>\(escapedHTML(series.machine))</p>" + charts
      )
    }
    return page.html()
  }

  private func chart(_ figure: String, _ entries: [TrendHistory.Entry]) -> LineChart {
    let values = entries.map { $0.figures[figure] ?? 0 }
    let starts = [0] + ChangePoints.find(values) + [values.count]
    let levels = zip(starts, starts.dropFirst()).flatMap { begin, end in
      let level = median(Array(values[begin..<end]))
      return [(Double(begin), level), (Double(end - 1), level)]
    }
    return LineChart(
      figure, source: "history.csv",
      x: ChartAxis("run") { String(Int($0)) },
      y: ChartAxis(figure) { self.value($0, figure) },
      [
        ChartSeries("runs", values.enumerated().map { (Double($0.offset), $0.element) }),
        ChartSeries("level, a step where it changed", levels),
      ])
  }

  private func value(_ value: Double, _ figure: String) -> String {
    if figure.hasSuffix("_ns") { return readableDuration(UInt64(max(0, value))) }
    if figure.contains("bytes") { return readableBytes(UInt64(max(0, value))) }
    return figure.hasSuffix("per_s") ? grouped(Int(value)) + "/s" : decimal(value, places: 3)
  }
}
