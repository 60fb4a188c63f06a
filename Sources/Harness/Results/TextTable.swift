// A table for people: aligned text, or Markdown. The first column stands left, all others right.

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
      ["| " + header.joined(separator: " | ") + " |"]
      + ["|---|" + String(repeating: "---:|", count: header.count - 1)]
      + rows.map { "| " + $0.joined(separator: " | ") + " |" }
    return lines.joined(separator: "\n") + "\n"
  }
}
