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

    /// Whether it is for the worse.
    package var isWorse: Bool {
      let metric = figure.split(separator: ".").last.map(String.init) ?? figure
      return GateRow.isBetterWhenLarger(metric) ? after < before : after > before
    }

    /// As in 24.9 %; nil where there is no ratio, because it was 0.
    package var share: String? {
      before > 0 ? decimal((after / before - 1) * 100, places: 1) + " %" : nil
    }

    /// The commit in short, and whether it is all that was measured.
    package var commit: String {
      String(run.commit.prefix(12)) + (run.isDirty ? " with changes" : "")
    }
  }

  private let history: TrendHistory

  package init(_ history: TrendHistory) { self.history = history }

  /// Every change, in the order of series and figures.
  package var changes: [Change] {
    history.series.flatMap { series in
      figures(series.entries).flatMap { changes($0, series.entries) }
    }
  }

  /// Those for the worse that an earlier state of the history did not show.
  ///
  /// By their number in each figure: where a change lies may move by a run as more come behind it.
  package func newlyWorse(than earlier: [Change]) -> [Change] {
    func key(_ change: Change) -> [String] {
      [change.figure, change.run.plan, change.run.machine]
    }
    let known = Dictionary(grouping: earlier.filter(\.isWorse), by: key).mapValues(\.count)
    return Dictionary(grouping: changes.filter(\.isWorse), by: key)
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .flatMap { key, changes in changes.suffix(max(0, changes.count - known[key, default: 0])) }
  }

  /// Figures that some run has, without those far out, which jump by themselves.
  private func figures(_ entries: [TrendHistory.Entry]) -> [String] {
    Set(entries.flatMap { $0.figures.keys }).sorted().filter { !$0.contains("p99_9") }
  }

  /// A figure of the runs that have it, with their places among all.
  private func points(
    _ figure: String, _ entries: [TrendHistory.Entry]
  ) -> [(place: Int, value: Double)] {
    entries.enumerated().compactMap { place, entry in
      entry.figures[figure].map { (place, $0) }
    }
  }

  /// Runs of one commit on one day, which follow each other: replicas, of which none says anything
  /// new of the commit.
  private struct Group {
    var places: [Int]
    var values: [Double]
  }

  private func groups(_ figure: String, _ entries: [TrendHistory.Entry]) -> [Group] {
    var groups: [Group] = []
    func day(_ place: Int) -> [String] {
      let entry = entries[place]
      return [entry.commit, "\(entry.isDirty)", String(entry.startedAt.prefix(10))]
    }
    for (place, value) in points(figure, entries) {
      if let last = groups.last?.places.last, day(last) == day(place) {
        groups[groups.count - 1].places.append(place)
        groups[groups.count - 1].values.append(value)
      } else {
        groups.append(Group(places: [place], values: [value]))
      }
    }
    return groups
  }

  private func changes(_ figure: String, _ entries: [TrendHistory.Entry]) -> [Change] {
    let groups = groups(figure, entries)
    let values = groups.map { median($0.values) }
    let ends = ChangePoints.find(values) + [values.count]
    var begin = 0
    var found: [Change] = []
    for (end, next) in zip(ends, ends.dropFirst()) {
      found.append(
        Change(
          figure: figure, before: median(Array(values[begin..<end])),
          after: median(Array(values[end..<next])), run: entries[groups[end].places[0]]))
      begin = end
    }
    return found
  }

  package func html() -> String {
    var page = ReportPage("History of figures")
    let rows = changes.map { change in
      [
        change.figure, value(change.before, change.figure), value(change.after, change.figure),
        change.share ?? "-", change.commit, change.run.startedAt, change.run.runID,
      ]
    }
    page.add(
      "Changes",
      "<p>The strongest Mann-Whitney test of all splits, done again on both sides of each change; by "
        + "chance alone one in \(Int(1 / ChangePoints.chanceMax)) series would show one. Runs of one "
        + "commit on one day count once, by their median; it takes \(ChangePoints.seriesMin) in all, "
        + "five of them behind a change (\(ChangePoints.seriesMin / 2) in the shortest series).</p>"
        + (rows.isEmpty
          ? "<p>No figure has changed its level.</p>"
          : ReportPage.table(
            ["figure", "before", "after", "change", "commit", "time", "run"], rows,
            source: "history.csv")))
    for series in history.series {
      let charts = figures(series.entries).map { chart($0, series.entries).html() }.joined()
      let words = series.plan.split(separator: " ")
      let workload = series.entries.first?.workload ?? String(words.dropFirst(2).first ?? "runs")
      let leftOut =
        series.invalid == 0 ? "" : "<br>\(series.invalid) more are left out: they are not valid."
      page.add(
        "\(workload), \(series.entries.count) runs",
        "<p><code>\(escapedHTML(HiddenPlaces.command(series.plan)))</code><br>\(escapedHTML(series.machine))\(leftOut)</p>"
          + charts
      )
    }
    if !history.leftOut.isEmpty {
      let lines = history.leftOut.map { "<li>\(escapedHTML($0))</li>" }.joined()
      page.add("Left out", "<ul>\(lines)</ul>")
    }
    return page.html()
  }

  private func chart(_ figure: String, _ entries: [TrendHistory.Entry]) -> LineChart {
    let points = points(figure, entries)
    let groups = groups(figure, entries)
    let values = groups.map { median($0.values) }
    let starts = [0] + ChangePoints.find(values) + [values.count]
    let levels = zip(starts, starts.dropFirst()).flatMap { begin, end in
      let level = median(Array(values[begin..<end]))
      let ends = [groups[begin].places.first, groups[end - 1].places.last]
      return ends.compactMap(\.self).map { (Double($0), level) }
    }
    return LineChart(
      figure, source: "history.csv",
      x: ChartAxis("run", isWhole: true) { String(Int($0)) },
      y: ChartAxis(figure) { self.value($0, figure) },
      [
        ChartSeries("runs", points.map { (Double($0.place), $0.value) }),
        ChartSeries("level, a step where it changed", levels),
      ])
  }

  private func value(_ value: Double, _ figure: String) -> String {
    if figure.hasSuffix("_ns") { return readableDuration(UInt64(max(0, value))) }
    if figure.contains("bytes") { return readableBytes(UInt64(max(0, value))) }
    return figure.hasSuffix("per_s") ? grouped(Int(value)) + "/s" : decimal(value, places: 3)
  }
}
