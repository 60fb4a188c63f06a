// The intervals of a comparison as SVG: a bar a row, against no change.
internal import Foundation

/// Bars of the rows that decide.
struct IntervalChart {
  private let rows: [ComparedRow]

  init(_ rows: [ComparedRow]) { self.rows = rows.filter { $0.slowdown != nil } }

  func html() -> String {
    guard !rows.isEmpty else { return "" }
    return
      "<figure><figcaption><b>Changes of the rows that decide</b> <span class=\"source\">to the right is worse</span></figcaption>"
      + DrawingWidth.allCases.map(svg).joined(separator: "\n") + "</figure>"
  }

  private func svg(_ form: DrawingWidth) -> String {
    var widest = 0.01
    for row in rows {
      guard let slowdown = row.slowdown else { continue }
      widest = max(widest, abs(slowdown.low - 1), abs(slowdown.high - 1), row.tolerance ?? 0)
    }
    let most: Double = min(2, widest) * 1.1
    // Names stand before the bars, or above them.
    let isAbove = form == .narrow
    let (width, rowHeight) = (form.units, isAbove ? 44.0 : 26.0)
    let names = rows.map { DrawingWidth.textWidth($0.row.name) }
    let left = isAbove ? 10 : (names.max() ?? 0) + 20
    func position(_ change: Double) -> Double {
      let share: Double = max(-most, min(most, change)) / most
      return left + (share + 1) / 2 * (width - left - 10)
    }
    func line(_ x1: Double, _ x2: Double, _ y1: Double, _ y2: Double, _ style: String) -> String {
      "<line x1=\"\(decimal(x1, places: 1))\" x2=\"\(decimal(x2, places: 1))\" "
        + "y1=\"\(decimal(y1, places: 1))\" y2=\"\(decimal(y2, places: 1))\" \(style)/>"
    }
    let height = Double(rows.count) * rowHeight + 30
    var parts = [
      "<svg class=\"\(form.rawValue)\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"intervals of changes\">"
    ]
    parts.append(
      line(position(0), position(0), 4, height - 24, "class=\"grid\" style=\"stroke:var(--faint)\"")
    )
    for (number, row) in rows.enumerated() {
      let y = Double(number) * rowHeight + (isAbove ? 34 : 18)
      let color =
        switch row.verdict {
        case .worse: "var(--bad)"
        case .better: "var(--good)"
        case .same: "var(--c1)"
        case .cannotTell: "var(--c8)"
        }
      let place =
        isAbove
        ? "x=\"0\" y=\"\(Int(y) - 14)\""
        : "x=\"\(Int(left) - 10)\" y=\"\(Int(y) + 4)\" text-anchor=\"end\""
      parts.append("<text \(place)>\(escapedHTML(row.row.name))</text>")
      let slowdown = row.slowdown!
      let style = "style=\"stroke:\(color);stroke-width:5;stroke-linecap:round\""
      parts.append(line(position(slowdown.low - 1), position(slowdown.high - 1), y, y, style))
      let middle = position(slowdown.ratio - 1)
      parts.append(line(middle, middle, y - 7, y + 7, "style=\"stroke:var(--ink);stroke-width:2\""))
    }
    for change in [-most, 0, most] {
      let anchor = change < 0 ? "start" : (change > 0 ? "end" : "middle")
      let text = (change > 0 ? "+" : "") + decimal(change * 100, places: 1) + " %"
      parts.append(
        "<text x=\"\(decimal(position(change), places: 1))\" y=\"\(Int(height) - 6)\" text-anchor=\"\(anchor)\">\(text)</text>"
      )
    }
    return parts.joined(separator: "\n") + "</svg>"
  }
}
