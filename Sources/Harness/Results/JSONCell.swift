// A cell of a CSV table as JSON has it: a number where its column holds numbers.

/// A value of a row in JSON.
package enum JSONCell: Codable, Equatable, Sendable {
  case integer(Int64)
  /// A whole number beyond 2^63, such as a seed.
  case large(UInt64)
  case decimal(Double)
  case text(String)

  /// Reads a cell that is not empty.
  package init(_ cell: String, column: String) {
    if ResultSchema.textColumns.contains(column) {
      self = .text(cell)
    } else if let value = Int64(cell) {
      self = .integer(value)
    } else if let value = UInt64(cell) {
      self = .large(value)
    } else if let value = Double(cell), value.isFinite {
      self = .decimal(value)
    } else {
      self = .text(cell)
    }
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .large(value)
    } else if let value = try? container.decode(Double.self) {
      self = .decimal(value)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .integer(let value): try container.encode(value)
    case .large(let value): try container.encode(value)
    case .decimal(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    }
  }
}

extension CSVTable {
  /// Rows as objects by column; empty cells are left out.
  package var objects: [[String: JSONCell]] { Self.objects(of: text) }

  /// The same of a table's text, whose first row names the columns.
  static func objects(of text: String) -> [[String: JSONCell]] {
    let rows = parse(text) ?? []
    guard let columns = rows.first else { return [] }
    return rows.dropFirst().map { row in
      let cells = zip(columns, row).filter { !$0.1.isEmpty }
      return Dictionary(
        uniqueKeysWithValues: cells.map { ($0, JSONCell($1, column: $0)) })
    }
  }
}
