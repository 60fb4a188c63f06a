// The planner's pictures: one page of HTML with response time against throughput, the file and
// memory against pins, age and rate, each alone and all together, reads against cores.
internal import Foundation

/// Draws a result.
package struct PlanPage {
  private let result: PlanResult

  package init(_ result: PlanResult) { self.result = result }

  package func html() -> String {
    var page = ReportPage("Capacity plan")
    let incompleteness = result.incompleteness.map { "<p class=\"bad\">\(escapedHTML($0))</p>" }
    page.add("Answers", (incompleteness ?? "") + answers())
    for (curve, title, variable) in Self.charts {
      let groups = groups(curve)
      let charts = groups.map { words, points in
        chart(curve, title + (groups.count > 1 ? ": \(words)" : ""), variable, points)
      }.filter { !$0.isEmpty }
      if !charts.isEmpty { page.add(title, charts.map { $0.html() }.joined()) }
    }
    let surfaces = groups(PlanCurves.surfaceName)
    let surface = surfaces.flatMap { words, points in
      surfaceCharts(points, of: surfaces.count > 1 ? ": \(words)" : "")
    }
    if !surface.isEmpty {
      page.add("File against pins, their age and the rate", surface.map { $0.html() }.joined())
    }
    if !result.validations.isEmpty {
      page.add("Settings that nothing was fitted to", validations())
    }
    return page.html()
  }

  private static let charts: [(String, String, String)] = [
    ("throughput-latency", "Response time against throughput", "commits a second"),
    ("file-pins", "File against pins", "pins"),
    ("memory-pins", "Memory against pins", "pins"),
    ("file-age", "File against the age of the oldest pin", "transactions between pins"),
    ("file-rate", "File against the rate", "writes a second"),
    ("reads-cores", "Reads against cores", "cores"),
  ]

  private func answers() -> String {
    ReportPage.table(
      ["question", "answer", "from", "to", "extrapolated", "checked by a run"],
      result.answers.map { answer in
        [
          answer.question.text,
          (answer.bound.map { $0.name + " " } ?? "") + answer.readable(answer.estimate.value),
          answer.readable(answer.estimate.low), answer.readable(answer.estimate.high),
          answer.doubts.joined(separator: "; "),
          answer.check?.words ?? "no",
        ]
      }, source: "plan.csv") + result.answers.map(notes).joined()
  }

  /// By what an answer came about, and what has to be known to read it.
  private func notes(_ answer: PlanAnswer) -> String {
    let lines = (["by: \(answer.method)"] + answer.notes).map { "<li>\(escapedHTML($0))</li>" }
    return "<p>\(escapedHTML(answer.question.text))</p><ul>\(lines.joined())</ul>"
  }

  private func validations() -> String {
    ReportPage.table(
      ["setting", "figure", "predicted", "measured", "error %"],
      result.validations.map { check in
        [
          check.setting.text, check.metric.name, check.metric.readable(check.predicted.value),
          check.metric.readable(check.measured), decimal(check.errorPercent, places: 1),
        ]
      }, source: "plan.csv")
  }

  /// The points of a curve by what it leaves as it is, which is told in words: those of questions
  /// about different loads lie on no common line.
  private func groups(_ curve: String) -> [(words: String, points: [PlanCurvePoint])] {
    var groups: [(setting: PlanSetting, points: [PlanCurvePoint])] = []
    for point in result.curves where point.curve == curve {
      let setting = PlanCurves.unvaried(point.setting, in: curve)
      if let place = groups.firstIndex(where: { $0.setting == setting }) {
        groups[place].points.append(point)
      } else {
        groups.append((setting, [point]))
      }
    }
    return groups.map { ($0.setting.text, $0.points) }
  }

  /// A chart for each rate, with a line for each age.
  private func surfaceCharts(_ points: [PlanCurvePoint], of load: String) -> [LineChart] {
    let byRate = Dictionary(grouping: points) { $0.setting.ratePerSecond ?? 0 }
    return byRate.sorted { $0.key < $1.key }.map { rate, points in
      let byAge = Dictionary(grouping: points) { $0.setting.ageSeconds ?? $0.setting.pinEvery ?? 0 }
      let series = byAge.sorted { $0.key > $1.key }.map { between, points in
        ChartSeries(
          points[0].setting.ageSeconds.map { "oldest pin \(PlanSetting.time($0)) old" }
            ?? "\(PlanSetting.count(between)) transactions between pins",
          points.map { ($0.setting.pins, $0.estimate.value) }.sorted { $0.0 < $1.0 })
      }
      var y = ChartAxis(PlanMetric.fileBytes.name) { PlanMetric.fileBytes.readable($0) }
      y.isBinary = true
      return LineChart(
        (rate > 0 ? "\(PlanSetting.count(rate)) writes a second" : "At any rate") + load,
        source: "plan.csv", x: ChartAxis("pins") { PlanSetting.count($0.rounded()) }, y: y, series)
    }
  }

  private func chart(
    _ curve: String, _ title: String, _ variable: String, _ points: [PlanCurvePoint]
  ) -> LineChart {
    func place(_ setting: PlanSetting) -> Double {
      switch curve {
      case "file-pins", "memory-pins": setting.pins
      case "file-age": setting.commitsBetweenPins ?? 0
      case "reads-cores": setting.readers
      default: setting.ratePerSecond ?? 0
      }
    }
    let metrics = points.map(\.metric).reduce(into: [PlanMetric]()) { all, metric in
      if !all.contains(metric) { all.append(metric) }
    }
    var series: [ChartSeries] = []
    for metric in metrics {
      let line = points.filter { $0.metric == metric }
      series.append(ChartSeries(metric.name, line.map { (place($0.setting), $0.estimate.value) }))
      series.append(
        ChartSeries(
          "\(metric.name), 1 of 20 above", line.map { (place($0.setting), $0.estimate.high) }))
    }
    let knees = points.filter(\.isKnee)
    if !knees.isEmpty {
      series.append(ChartSeries("knee", knees.map { (place($0.setting), $0.estimate.value) }))
    }
    let metric = metrics.first ?? .fileBytes
    let isTime = metric.unit == "ns"
    var y = ChartAxis(metric.name, isTime ? .logarithmic : .linear) { metric.readable($0) }
    y.isBinary = metric.isSpace
    return LineChart(
      title, source: "plan.csv",
      x: ChartAxis(variable) { PlanSetting.count($0.rounded()) }, y: y, series)
  }
}
