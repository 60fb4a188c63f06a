// A chart of lines as SVG: drawn without scripts, so that it prints, scales and can be read on a
// phone. Colours are classes of the page's style sheet, which has a light and a dark set.
internal import Foundation

/// One line of a chart.
package struct ChartSeries: Sendable {
  package var name: String
  package var points: [(x: Double, y: Double)]

  package init(_ name: String, _ points: [(x: Double, y: Double)]) {
    self.name = name
    self.points = points
  }
}

/// How an axis runs and what its numbers are.
package struct ChartAxis: Sendable {
  package enum Scale: Sendable { case linear, logarithmic }

  package var title: String
  package var scale: Scale
  /// The text of a tick.
  package var label: @Sendable (Double) -> String
  /// Whether steps are powers of two, as for sizes.
  package var isBinary = false
  /// Whether there is nothing between whole numbers, as for runs and pins.
  package var isWhole = false
  /// Ticks that are fixed, such as percentiles; nil = chosen by the range.
  package var ticks: [Double]?

  package init(
    _ title: String, _ scale: Scale = .linear, ticks: [Double]? = nil, isWhole: Bool = false,
    label: @escaping @Sendable (Double) -> String
  ) {
    self.title = title
    self.scale = scale
    self.ticks = ticks
    self.isWhole = isWhole
    self.label = label
  }

  /// An axis of sizes in bytes.
  package static func binary(
    _ title: String, label: @escaping @Sendable (Double) -> String
  ) -> ChartAxis {
    var axis = ChartAxis(title, label: label)
    axis.isBinary = true
    return axis
  }
}

/// A drawing is made twice, for wide and for narrow windows; the style sheet shows one of them.
///
/// Shrunk to a phone's width its texts could not be read.
enum DrawingWidth: String, CaseIterable {
  case wide, narrow

  var units: Double { self == .wide ? 720 : 370 }

  /// How much room a text takes at most, in the usual fonts at 12 units.
  static func textWidth(_ text: String) -> Double { Double(text.count) * 7.7 }
}

/// A chart with up to eight lines.
package struct LineChart {
  package let title: String
  /// The file that the points come from.
  package let source: String
  private let x: ChartAxis
  private let y: ChartAxis
  private let series: [ChartSeries]
  /// Lines that have no colour any more, and are not drawn.
  package let leftOut: Int

  private static let height = 320.0
  private static let (top, bottom) = (12.0, 44.0)
  /// As many as the style sheet has colours.
  package static let seriesMax = 8

  package init(
    _ title: String, source: String, x: ChartAxis, y: ChartAxis, _ series: [ChartSeries]
  ) {
    self.title = title
    self.source = source
    self.x = x
    self.y = y
    let drawn = series.map { line in
      var line = line
      line.points = line.points.filter {
        $0.x.isFinite && $0.y.isFinite && (x.scale == .linear || $0.x > 0)
          && (y.scale == .linear || $0.y >= 0)
      }
      return line
    }.filter { !$0.points.isEmpty }
    self.series = Array(drawn.prefix(Self.seriesMax))
    leftOut = drawn.count - self.series.count
  }

  /// Whether there is nothing to draw.
  package var isEmpty: Bool { series.isEmpty }

  /// The figure with its legend.
  package func html() -> String {
    let legend = series.enumerated().map { number, line in
      "<li><span class=\"key s\(number + 1)\"></span>\(escapedHTML(line.name))</li>"
    }.joined()
    return """
      <figure>
      <figcaption><b>\(escapedHTML(title))</b> <span class="source">\(escapedHTML(source))</span></figcaption>
      <ul class="legend">\(legend)</ul>
      \(DrawingWidth.allCases.map { svg($0) }.joined(separator: "\n"))
      </figure>

      """
  }

  // MARK: - Drawing

  /// The chart as a file of its own, with title, legend and colours: an SVG picture.
  package func picture() -> String {
    let width = DrawingWidth.wide.units
    var head = [
      "<text class=\"name\" x=\"10\" y=\"20\">\(escapedHTML(title))</text>",
      "<text x=\"\(Int(width) - 10)\" y=\"20\" text-anchor=\"end\">\(escapedHTML(source))</text>",
    ]
    var (left, top) = (10.0, 40.0)
    for (number, line) in series.enumerated() {
      let room = DrawingWidth.textWidth(line.name) + 40
      if left > 10 && left + room > width { (left, top) = (10, top + 18) }
      head.append(
        "<polyline class=\"s\(number + 1)\" points=\"\(coordinate(left)),\(coordinate(top - 4)) "
          + "\(coordinate(left + 18)),\(coordinate(top - 4))\"/>"
          + text(left + 24, top, "start", line.name))
      left += room
    }
    let drawn = svg(
      .wide, " x=\"0\" y=\"\(Int(top) + 8)\" width=\"\(Int(width))\" height=\"\(Int(Self.height))\""
    )
    let height = Int(top + 8 + Self.height)
    return """
      \(Self.pictureStart)viewBox="0 0 \(Int(width)) \(height)" width="\(Int(width))" height="\(height)">
      <style>\(ReportPage.colours)\(ReportPage.drawings)
      text{font-family:system-ui,sans-serif}.name{fill:var(--ink);font-weight:600}</style>
      <rect width="100%" height="100%" style="fill:var(--paper)"/>
      \(head.joined(separator: "\n"))
      \(drawn)
      </svg>

      """
  }

  private static let pictureStart =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"realm-bench\" "

  /// Whether a picture that begins so is one of the tool's.
  static func isBegun(by text: String) -> Bool { text.hasPrefix(pictureStart) }

  /// - Parameter position: attributes that say where it lies in another drawing.
  private func svg(_ width: DrawingWidth, _ position: String = "") -> String {
    let across = Span(series.flatMap { $0.points.map(\.x) }, x)
    // A linear axis begins at 0, so that sizes are seen whole. A logarithmic one has no 0: what is
    // 0, such as the rate of an interval in which nothing was done, lies at its bottom.
    let heights = series.flatMap { $0.points.map(\.y) }
    let up = Span(
      heights.filter { y.scale == .linear || $0 > 0 }, y, includesZero: y.scale == .linear)
    let labels = up.ticks.map(y.label)
    // The caption says it.
    let hasTitle = y.title != title
    let left =
      (labels.map(DrawingWidth.textWidth).max() ?? 0) + (hasTitle ? 26 : 10)
    let ends = [across.ticks.first, across.ticks.last].compactMap { $0 }.map(x.label)
    let right = max(12, (ends.map(DrawingWidth.textWidth).max() ?? 0) / 2)
    let (plotWidth, plotHeight) = (width.units - left - right, Self.height - Self.top - Self.bottom)
    func place(_ point: (x: Double, y: Double)) -> (Double, Double) {
      (
        left + across.share(point.x) * plotWidth,
        Self.top + (1 - up.share(point.y)) * plotHeight
      )
    }
    var parts = [
      "<svg class=\"\(width.rawValue)\" viewBox=\"0 0 \(Int(width.units)) \(Int(Self.height))\" "
        + "role=\"img\" aria-label=\"\(escapedHTML(title))\"\(position)>"
    ]
    for (tick, label) in zip(up.ticks, labels) {
      let height = place((across.low, tick)).1
      parts.append(
        line("grid", left, height, width.units - right, height)
          + text(left - 6, height + 4, "end", label))
    }
    var end = -Double.infinity
    for tick in across.ticks {
      let position = place((tick, up.low)).0
      parts.append(line("grid", position, Self.top, position, Self.height - Self.bottom))
      // One that would touch the one before is left out.
      let label = x.label(tick)
      let half = DrawingWidth.textWidth(label) / 2
      if position - half < end + 4 { continue }
      end = position + half
      parts.append(text(position, Self.height - Self.bottom + 16, "middle", label))
    }
    parts.append(text(left + plotWidth / 2, Self.height - 6, "middle", x.title))
    if hasTitle {
      parts.append(
        "<text class=\"title\" transform=\"rotate(-90)\" x=\"\(-(Self.top + plotHeight / 2))\" y=\"12\" "
          + "text-anchor=\"middle\">\(escapedHTML(y.title))</text>")
    }
    for (number, line) in series.enumerated() {
      let points = line.points.map(place)
      if points.count == 1 {
        parts.append(
          "<circle class=\"s\(number + 1)\" cx=\"\(coordinate(points[0].0))\" "
            + "cy=\"\(coordinate(points[0].1))\" r=\"3\"/>")
        continue
      }
      let path = points.map { "\(coordinate($0.0)),\(coordinate($0.1))" }.joined(separator: " ")
      parts.append(
        "<polyline class=\"s\(number + 1)\" points=\"\(path)\"><title>\(escapedHTML(line.name))"
          + "</title></polyline>")
    }
    return parts.joined(separator: "\n") + "\n</svg>"
  }

  private func line(_ kind: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double)
    -> String
  {
    "<line class=\"\(kind)\" x1=\"\(coordinate(x1))\" y1=\"\(coordinate(y1))\" "
      + "x2=\"\(coordinate(x2))\" y2=\"\(coordinate(y2))\"/>"
  }

  private func text(_ x: Double, _ y: Double, _ anchor: String, _ text: String) -> String {
    "<text x=\"\(coordinate(x))\" y=\"\(coordinate(y))\" text-anchor=\"\(anchor)\">"
      + "\(escapedHTML(text))</text>"
  }

  private func coordinate(_ value: Double) -> String { decimal(value, places: 1) }
}

/// The range of an axis, from its least to its greatest tick.
private struct Span {
  let low: Double
  let high: Double
  let ticks: [Double]
  private let isLogarithmic: Bool

  init(_ values: [Double], _ axis: ChartAxis, includesZero: Bool = false) {
    isLogarithmic = axis.scale == .logarithmic
    let lowest: Double = axis.scale == .logarithmic ? 1 : 0
    var (least, most) = (values.min() ?? lowest, values.max() ?? 1)
    if includesZero { least = min(0, least) }
    if let fixed = axis.ticks {
      ticks = fixed.filter { $0 <= most * 1.0001 }
      (low, high) = (min(least, fixed.first ?? least), max(most, ticks.last ?? most))
    } else if isLogarithmic {
      let (first, last) = (Int(log10(least).rounded(.down)), Int(log10(most).rounded(.up)))
      let tens = (first...max(first + 1, last)).map { pow(10, Double($0)) }
      // Few decades get lines between them.
      ticks =
        tens.count > 3 ? tens : tens.dropLast().flatMap { [$0, 2 * $0, 5 * $0] } + [tens.last!]
      (low, high) = (ticks.first!, ticks.last!)
    } else {
      if most <= least { most = least + max(abs(least), 1) }
      let step = max(
        Self.step((most - least) / 5, axis.isBinary), axis.isWhole || axis.isBinary ? 1 : 0)
      let first = (least / step).rounded(.down)
      let last = (most / step).rounded(.up)
      ticks = (Int(first)...Int(last)).map { Double($0) * step }
      (low, high) = (ticks.first!, ticks.last!)
    }
  }

  /// 1, 2 or 5 times a power of ten, at least as large as asked for; of sizes a power of two.
  private static func step(_ wanted: Double, _ isBinary: Bool) -> Double {
    if isBinary { return pow(2, log2(wanted).rounded(.up)) }
    let power = pow(10, log10(wanted).rounded(.down))
    return [1, 2, 5, 10].map { $0 * power }.first { $0 >= wanted * 0.999 } ?? 10 * power
  }

  /// Where a value lies, from 0 to 1.
  func share(_ value: Double) -> Double {
    if high <= low { return 0.5 }
    if isLogarithmic && value <= low { return 0 }
    return isLogarithmic
      ? (log10(value) - log10(low)) / (log10(high) - log10(low)) : (value - low) / (high - low)
  }
}

/// Text that is safe between tags and in attributes.
package func escapedHTML(_ text: String) -> String {
  text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    .replacing("\"", with: "&quot;")
}
