// The schema as a version of the file holds it: declared tables plus the keys that the file gave them.
// Stored as bytes under the group root; decoded once a schema and shared by all versions that have it.
package import Storage
internal import Trees

/// One table of a version.
package final class StoredTable: Sendable {
  /// Place in the group root's references and in `StoredSchema.tables`.
  package let index: Int
  /// Never reused, also when the table is removed.
  package let tableKey: UInt64
  package let schema: TableSchema
  package let primaryKeyColumn: Int?

  package init(index: Int, tableKey: UInt64, schema: TableSchema) {
    self.index = index
    self.tableKey = tableKey
    self.schema = schema
    primaryKeyColumn = schema.primaryKey.flatMap { name in
      schema.columns.firstIndex { $0.name == name }
    }
  }

  package func columnIndex(named name: String) -> Int? {
    schema.columns.firstIndex { $0.name == name }
  }

  package func isOptional(_ column: Int) -> Bool { schema.columns[column].isOptional }
}

/// All tables of a version.
package final class StoredSchema: Sendable {
  package let tables: [StoredTable]
  package let schemaVersion: UInt64

  package init(tables: [StoredTable], schemaVersion: UInt64) {
    self.tables = tables
    self.schemaVersion = schemaVersion
  }

  package func table(named name: String) -> StoredTable? {
    tables.first { $0.schema.name == name }
  }

  /// The schema of a version; empty for a file without one.
  package static func load(_ reader: BlockReader, root: BlockReference) -> StoredSchema {
    if root.isNone { return StoredSchema(tables: [], schemaVersion: 0) }
    let group = reader.pointer(root)
    let blob = BlockHeader.reference(group, GroupRoot.schemaSlot)
    var bytes = [UInt8](repeating: 0, count: LongValue.length(reader, blob))
    bytes.withUnsafeMutableBytes { LongValue.copy(reader, blob, to: $0) }
    return SchemaCoding.decode(bytes, schemaVersion: GroupRoot.schemaVersion(group))
  }
}

/// The bytes of a schema.
///
/// u8 form, count of tables, each: name, table key, embedded, primary key column + 1, count of columns,
/// each: name, type, flags. Numbers have variable length; names are a length and UTF-8.
enum SchemaCoding {
  private static let form: UInt8 = 1

  static func encode(_ tables: [StoredTable]) -> [UInt8] {
    var bytes = [form]
    bytes.append(number: UInt64(tables.count))
    for table in tables {
      bytes.append(text: table.schema.name)
      bytes.append(number: table.tableKey)
      bytes.append(table.schema.isEmbedded ? 1 : 0)
      bytes.append(number: UInt64((table.primaryKeyColumn ?? -1) + 1))
      bytes.append(number: UInt64(table.schema.columns.count))
      for column in table.schema.columns {
        bytes.append(text: column.name)
        bytes.append(column.type.rawValue)
        bytes.append((column.isOptional ? 1 : 0) | (column.isIndexed ? 2 : 0))
      }
    }
    return bytes
  }

  /// - Precondition: the bytes come from blocks whose checksums held.
  static func decode(_ bytes: [UInt8], schemaVersion: UInt64) -> StoredSchema {
    var reader = SchemaReader(bytes: bytes)
    precondition(reader.byte() == form, "the schema has a form that this version does not know")
    let count = Int(reader.number())
    var tables: [StoredTable] = []
    for index in 0..<count {
      let name = reader.text()
      let key = reader.number()
      let isEmbedded = reader.byte() == 1
      let primaryKey = Int(reader.number()) - 1
      let columns = (0..<Int(reader.number())).map { _ in
        let name = reader.text()
        guard let type = ValueType(rawValue: reader.byte()) else {
          preconditionFailure("the schema has a column type that this version does not know")
        }
        let flags = reader.byte()
        return ColumnSchema(
          name: name, type: type, isOptional: flags & 1 != 0, isIndexed: flags & 2 != 0)
      }
      tables.append(
        StoredTable(
          index: index, tableKey: key,
          schema: TableSchema(
            name: name, columns: columns,
            primaryKey: columns.indices.contains(primaryKey) ? columns[primaryKey].name : nil,
            isEmbedded: isEmbedded)))
    }
    return StoredSchema(tables: tables, schemaVersion: schemaVersion)
  }
}

private struct SchemaReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte() -> UInt8 {
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = byte()
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
  }

  mutating func text() -> String {
    let length = Int(number())
    defer { position += length }
    return String(decoding: bytes[position..<position + length], as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  fileprivate mutating func append(text: String) {
    append(number: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}
