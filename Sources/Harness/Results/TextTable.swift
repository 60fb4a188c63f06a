// A table for people: aligned text, or Markdown. The first column stands left, all others right.
internal import Foundation

/// Rows of cells below a header.
package struct TextTable: Sendable {
  package let header: [String]
  package let rows: [[String]]

  package init(header: [String], rows: [[String]]) {
    self.header = header
    self.rows = rows
  }

  package var text: String {
    let table = [header] + rows
    let widths = header.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    return table.map { row in
      row.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - row[column].count)
        return column == 0 ? row[column] + space : space + row[column]
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  package var markdown: String {
    let lines =
      [markdownRow(header)]
      + ["|---|" + String(repeating: "---:|", count: header.count - 1)]
      + rows.map(markdownRow)
    return lines.joined(separator: "\n") + "\n"
  }
}

/// A row of a table in Markdown.
func markdownRow(_ cells: [String]) -> String {
  "| " + cells.map(escapedMarkdown).joined(separator: " | ") + " |"
}

/// Text of users as one line that is no markup, nor the end of a table's cell.
package func escapedMarkdown(_ text: String) -> String {
  text.split(whereSeparator: \.isNewline).joined(separator: " ")
    .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    .replacing("|", with: "\\|").replacing("*", with: "\\*").replacing("`", with: "\\`")
}
