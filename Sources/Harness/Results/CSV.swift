// Comma-separated values with RFC 4180's quoting, header first. Lines end with a bare line feed, so
// that cut and awk see no carriage return in the last column.
internal import Foundation
internal import Platform

/// One table in memory, written at once.
package struct CSVTable: Sendable {
  package let columns: [String]
  package private(set) var text: String

  package init(columns: [String]) {
    self.columns = columns
    text = Self.line(columns.map { $0 })
  }

  /// Adds a row; nil is an empty cell: not measured, which is not 0.
  ///
  /// - Precondition: as many cells as columns.
  package mutating func append(_ cells: [String?]) {
    precondition(
      cells.count == columns.count, "a row has \(cells.count) cells, expected \(columns.count)")
    text += Self.line(cells)
  }

  /// One row with its line end; nil is an empty cell.
  package static func line(_ cells: [String?]) -> String {
    cells.map { field($0 ?? "") }.joined(separator: ",") + "\n"
  }

  /// A field, quoted when it holds a comma, a quote or a line end.
  package static func field(_ value: String) -> String {
    let needsQuotes = value.utf8.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 10 || byte == 13
    }
    guard needsQuotes else { return value }
    return "\"" + value.replacing("\"", with: "\"\"") + "\""
  }

  /// Splits CSV text into rows of fields; nil when a quote is not closed.
  package static func parse(_ text: String) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var isAfterQuote = false
    func endField() {
      row.append(String(decoding: field, as: UTF8.self))
      field = []
      isAfterQuote = false
    }
    for byte in text.utf8 {
      if isQuoted {
        if byte == UInt8(ascii: "\"") {
          isQuoted = false
          isAfterQuote = true
        } else {
          field.append(byte)
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        if isAfterQuote { field.append(byte) }
        isQuoted = true
      case UInt8(ascii: ","): endField()
      case 13: break
      case 10:
        endField()
        rows.append(row)
        row = []
      default: field.append(byte)
      }
    }
    if isQuoted { return nil }
    if !field.isEmpty || !row.isEmpty {
      endField()
      rows.append(row)
    }
    return rows
  }
}

/// A number with a point and exactly that many places.
package func decimal(_ value: Double, places: Int) -> String {
  String(format: "%.\(places)f", value)
}

/// Fixed point: three places, and below 1 six significant digits, so that what is small is not
/// written as 0.
package func decimalOfFigure(_ value: Double) -> String {
  let size = abs(value)
  guard size < 1, size > 1e-12 else { return decimal(value, places: 3) }
  return decimal(value, places: 5 - Int(log10(size).rounded(.down)))
}
