// Compares a class as the file knows it with the class of the program, in words for the error.
internal import ObjectStore

/// What has changed between two forms of a class.
enum SchemaDifferences {
  /// One line a difference; empty when the table fits the class.
  ///
  /// Indexes do not count.
  static func between(_ old: TableSchema, _ new: TableSchema) -> [String] {
    var lines: [String] = []
    let oldColumns = Dictionary(uniqueKeysWithValues: old.columns.map { ($0.name, $0) })
    let newNames = Set(new.columns.map(\.name))
    for column in old.columns where !newNames.contains(column.name) {
      lines.append("Property '\(old.name).\(column.name)' has been removed.")
    }
    for column in new.columns {
      let name = "\(new.name).\(column.name)"
      guard let before = oldColumns[column.name] else {
        lines.append("Property '\(name)' has been added.")
        continue
      }
      if before.type != column.type {
        lines.append(
          "Property '\(name)' has been changed from '\(before.type)' to '\(column.type)'.")
      } else if before.isOptional != column.isOptional {
        lines.append(
          "Property '\(name)' has been made \(column.isOptional ? "optional" : "required").")
      }
    }
    switch (old.primaryKey, new.primaryKey) {
    case (let before, let after) where before == after: break
    case (nil, _?): lines.append("Primary Key for class '\(new.name)' has been added.")
    case (_?, nil): lines.append("Primary Key for class '\(new.name)' has been removed.")
    case (let before, let after):
      lines.append(
        "Primary Key for class '\(new.name)' has changed from '\(before!)' to '\(after!)'.")
    }
    return lines
  }
}
