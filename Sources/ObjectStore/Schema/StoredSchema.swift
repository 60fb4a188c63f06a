// The schema as a version of the file holds it: declared tables plus the keys that the file gave
// them. Stored as bytes under the group root; decoded once a schema and shared by all versions that
// have it.
package import Storage
internal import Trees

/// What writing and reading a column's values have to know at once.
@frozen @usableFromInline
struct ColumnTraits {
  @usableFromInline let rawValue: UInt8

  init(_ column: ColumnSchema, isPrimaryKey: Bool) {
    var value = column.type.order.rawValue
    if column.type == .object { value |= 4 }
    if column.type == .any { value |= 8 }
    if isPrimaryKey || column.hasPairs { value |= 16 }
    if column.indexForm == .hashed { value |= 32 }
    rawValue = value
  }

  /// How values or elements compare.
  @inlinable var order: ElementOrder {
    ElementOrder(rawValue: rawValue & 3).unsafelyUnwrapped
  }

  /// Whether values or elements are packed.
  @inlinable var isPacked: Bool { rawValue & 3 != 3 }
  /// Whether they are object keys.
  @inlinable var isLink: Bool { rawValue & 4 != 0 }
  @inlinable var isAny: Bool { rawValue & 8 != 0 }
  /// Whether a write has to keep an index or links.
  @inlinable var isMaintained: Bool { rawValue & 16 != 0 }
  /// How an index sorts bytes.
  var indexForm: IndexForm { rawValue & 32 != 0 ? .hashed : .firstBytes }
}

/// One table of a version.
@usableFromInline
// @unchecked: all is `let`; the bytes behind the pointers are written in init only, and freed in
// deinit.
package final class StoredTable: @unchecked Sendable {
  /// Place in the group root's references and in `StoredSchema.tables`.
  @usableFromInline package let index: Int
  /// Never reused, also when the table is removed.
  package let tableKey: UInt64
  package let schema: TableSchema
  /// Of each column: a counter of the table; never reused, kept when a column is renamed or moves.
  package let columnKeys: [UInt64]
  let nextColumnKey: UInt64
  package let primaryKeyColumn: Int?
  /// How the trees store each column.
  let layouts: [ClusterTree.ColumnLayout]
  /// One byte a column: 1 if its default is null.
  ///
  /// Readers hold it while the table lives.
  @usableFromInline let optionalColumns: UnsafePointer<UInt8>
  /// One byte a column: how its values compare and whether they are links.
  ///
  /// See ColumnTraits.
  @usableFromInline let traits: UnsafePointer<ColumnTraits>
  /// The primary key's column; -1 without one.
  @usableFromInline let keyColumn: Int
  /// Columns that links can be in: those of type `object` and `any`, collections too.
  let linkColumns: [Int]
  /// Columns with an ordered index.
  let indexedColumns: [Int]
  /// Whether the table has trees of links or indexes.
  let hasPairs: Bool

  /// - Parameters:
  ///   - columnKeys: nil for a table whose columns all are new.
  ///   - nextColumnKey: the counter that column keys come from.
  package init(
    index: Int, tableKey: UInt64, schema: TableSchema, columnKeys: [UInt64]? = nil,
    nextColumnKey: UInt64 = 0
  ) {
    self.index = index
    self.tableKey = tableKey
    self.schema = schema
    let keys = columnKeys ?? (0..<schema.columns.count).map { UInt64($0) + 1 }
    precondition(keys.count == schema.columns.count, "a column of \(schema.name) has no key")
    self.columnKeys = keys
    self.nextColumnKey = max(nextColumnKey, (keys.max() ?? 0) + 1)
    primaryKeyColumn = schema.primaryKey.flatMap { name in
      schema.columns.firstIndex { $0.name == name }
    }
    keyColumn = primaryKeyColumn ?? -1
    layouts = schema.columns.map { column in
      if column.collection != .none { return .references }
      return column.type.isPacked ? .packed : .bytes
    }
    linkColumns = schema.columns.indices.filter { schema.columns[$0].type.holdsLinks }
    indexedColumns = schema.columns.indices.filter {
      schema.columns[$0].isIndexed && schema.columns[$0].collection == .none
    }
    hasPairs = !linkColumns.isEmpty || !indexedColumns.isEmpty
    let count = max(schema.columns.count, 1)
    let optional = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    let traits = UnsafeMutablePointer<ColumnTraits>.allocate(capacity: count)
    for (column, declared) in schema.columns.enumerated() {
      let isLink = declared.type == .object && declared.collection == .none
      (optional + column).initialize(to: declared.isOptional || isLink ? 1 : 0)
      (traits + column).initialize(
        to: ColumnTraits(declared, isPrimaryKey: column == keyColumn))
    }
    optionalColumns = UnsafePointer(optional)
    self.traits = UnsafePointer(traits)
  }

  deinit {
    optionalColumns.deallocate()
    traits.deallocate()
  }

  package func columnIndex(named name: String) -> Int? {
    schema.columns.firstIndex { $0.name == name }
  }

  /// Whether a column's default is null.
  package func isOptional(_ column: Int) -> Bool { optionalColumns[column] != 0 }

  /// Whether values of a column, or elements of its collections, are stored as integers.
  package func isPacked(_ column: Int) -> Bool { traits[column].isPacked }
}

/// A column that links are in.
struct LinkColumn: Hashable {
  let table: Int
  let column: Int
}

/// All tables of a version.
package final class StoredSchema: Sendable {
  /// The block that a schema was decoded from.
  ///
  /// The same place and birth in one file are the same bytes.
  private struct Source: Equatable {
    let reference: BlockReference
    let birth: Version
  }

  package let tables: [StoredTable]
  /// What clients count their schemas by.
  package let schemaVersion: UInt64
  /// Nil for a schema that a transaction is making.
  private let source: Source?
  /// What it was decoded from.
  private let bytes: [UInt8]
  /// By table: the columns of links that lead to it.
  let incoming: [[LinkColumn]]
  /// Columns of type `any`, which can lead to every table.
  let anyColumns: [LinkColumn]
  /// By table and column: index of the embedded table that its links lead to, else -1; empty for
  /// tables without links.
  private let embeddedTargets: [[Int]]

  package convenience init(tables: [StoredTable], schemaVersion: UInt64) {
    self.init(tables: tables, schemaVersion: schemaVersion, source: nil, bytes: [])
  }

  private init(tables: [StoredTable], schemaVersion: UInt64, source: Source?, bytes: [UInt8]) {
    self.tables = tables
    self.schemaVersion = schemaVersion
    self.source = source
    self.bytes = bytes
    var indexes: [String: Int] = [:]
    var incoming = [[LinkColumn]](repeating: [], count: tables.count)
    var anyColumns: [LinkColumn] = []
    if tables.contains(where: { !$0.linkColumns.isEmpty }) {
      for table in tables { indexes[table.schema.name] = table.index }
    }
    var embeddedTargets = [[Int]](repeating: [], count: tables.count)
    for table in tables {
      if !table.linkColumns.isEmpty {
        embeddedTargets[table.index] = table.schema.columns.map { column in
          let target = column.target.flatMap { indexes[$0] } ?? -1
          return target >= 0 && tables[target].schema.isEmbedded ? target : -1
        }
      }
      for column in table.linkColumns {
        let place = LinkColumn(table: table.index, column: column)
        if table.schema.columns[column].type == .any {
          anyColumns.append(place)
        } else if let target = table.schema.columns[column].target.flatMap({ indexes[$0] }) {
          incoming[target].append(place)
        }
      }
    }
    self.incoming = incoming
    self.anyColumns = anyColumns
    self.embeddedTargets = embeddedTargets
  }

  /// The embedded table that a column's links lead to; nil for other columns.
  func embeddedTarget(_ table: Int, _ column: Int) -> Int? {
    let target = embeddedTargets[table][column]
    return target >= 0 ? target : nil
  }

  /// Whether deleting an object concerns nothing but its row and its primary key.
  func isPlain(_ table: StoredTable) -> Bool {
    !table.hasPairs && anyColumns.isEmpty && incoming[table.index].isEmpty
  }

  package func table(named name: String) -> StoredTable? {
    tables.first { $0.schema.name == name }
  }

  /// The schema of a version; empty for a file without one.
  ///
  /// - Parameters:
  ///   - known: a schema of another version of the same file, which is returned if it is this
  ///     version's too. So a schema is decoded once, however many versions have it.
  ///   - likely: a schema of any file, which is returned if it has the same place and the same
  ///     bytes.
  /// - Throws: `damaged` when a block is, or when sound blocks hold something else than a schema.
  package static func load(
    _ reader: BlockReader, root: BlockReference, reusing known: StoredSchema? = nil,
    orEqual likely: StoredSchema? = nil
  ) throws(StorageError) -> StoredSchema {
    RootStructure.register()
    if root.isNone { return StoredSchema(tables: [], schemaVersion: 0) }
    try reader.verify(root)
    let group = reader.pointer(root)
    guard GroupRoot.isSound(group) else {
      throw reader.damage(root, "it is not the root of a version")
    }
    let reference = BlockHeader.reference(group, GroupRoot.schemaSlot)
    try reader.verify(reference)
    let block = reader.pointer(reference)
    let version = GroupRoot.schemaVersion(group)
    let source =
      reference.isProvisional
      ? nil : Source(reference: reference, birth: BlockHeader.birth(block))
    let tablesMax = BlockHeader.count(group) - GroupRoot.firstTableSlot
    if let known, source != nil, known.source == source, known.schemaVersion == version,
      known.tables.count <= tablesMax
    {
      return known
    }
    guard LongValue.isValue(block) else { throw reader.damage(reference, "it is not a schema") }
    try LongValue.verify(reader, block)
    let bytes = LongValue.withBytes(reader, block) { [UInt8]($0) }
    if let likely, source != nil, likely.source == source, likely.schemaVersion == version,
      likely.bytes == bytes, likely.tables.count <= tablesMax
    {
      return likely
    }
    do throws(SchemaCoding.Unreadable) {
      let tables = try SchemaCoding.decode(bytes)
      guard tables.count <= tablesMax else {
        throw SchemaCoding.Unreadable(reason: "the schema has more tables than the version")
      }
      return StoredSchema(tables: tables, schemaVersion: version, source: source, bytes: bytes)
    } catch {
      throw reader.damage(reference, error.reason)
    }
  }

  /// As `load`, for those who cannot throw: stops with file, block and version on damage.
  package static func loadOrStop(
    _ reader: BlockReader, root: BlockReference, reusing known: StoredSchema? = nil
  ) -> StoredSchema {
    do {
      return try load(reader, root: root, reusing: known)
    } catch {
      stopForDamage(error)
    }
  }
}

/// The bytes of a schema.
///
/// u8 form, count of tables, each: name, table key, embedded, primary key column + 1, next column
/// key, count of columns, each: name, type, flags, column key, then the target's name if a flag
/// says that there is one. Numbers have variable length; names are a length and UTF-8. Form 1 had
/// no next column key, no column keys and no targets: its columns count from 1, and their indexes
/// did not exist.
enum SchemaCoding {
  private static let form: UInt8 = 2

  /// Bits of a column's flags; two bits from `collectionShift` on are its CollectionKind.
  private enum Flag {
    static let optional: UInt8 = 1
    static let indexed: UInt8 = 2
    static let collectionShift: UInt8 = 2
    static let target: UInt8 = 16
    /// The index sorts long bytes by a hash; never set where there is none.
    static let hashed: UInt8 = 32
  }

  static func encode(_ tables: [StoredTable]) -> [UInt8] {
    var bytes = [form]
    bytes.append(number: UInt64(tables.count))
    for table in tables {
      bytes.append(text: table.schema.name)
      bytes.append(number: table.tableKey)
      bytes.append(table.schema.isEmbedded ? 1 : 0)
      bytes.append(number: UInt64((table.primaryKeyColumn ?? -1) + 1))
      bytes.append(number: table.nextColumnKey)
      bytes.append(number: UInt64(table.schema.columns.count))
      for (column, key) in zip(table.schema.columns, table.columnKeys) {
        bytes.append(text: column.name)
        bytes.append(column.type.rawValue)
        var flags = column.collection.rawValue << Flag.collectionShift
        if column.isOptional { flags |= Flag.optional }
        if column.isIndexed { flags |= Flag.indexed }
        if column.isIndexed, column.indexForm == .hashed { flags |= Flag.hashed }
        if column.target != nil { flags |= Flag.target }
        bytes.append(flags)
        bytes.append(number: key)
        if let target = column.target { bytes.append(text: target) }
      }
    }
    return bytes
  }

  /// Why bytes are not a schema.
  struct Unreadable: Error {
    let reason: String
  }

  static func decode(_ bytes: [UInt8]) throws(Unreadable) -> [StoredTable] {
    var reader = SchemaReader(bytes: bytes)
    let form = try reader.byte()
    guard 1...Self.form ~= form else {
      throw Unreadable(reason: "the schema has form \(form), which this version does not know")
    }
    var tables: [StoredTable] = []
    for index in 0..<(try reader.count()) {
      tables.append(try decodeTable(&reader, index: index, form: form))
    }
    return tables
  }

  private static func decodeTable(
    _ reader: inout SchemaReader, index: Int, form: UInt8
  ) throws(Unreadable) -> StoredTable {
    let name = try reader.text()
    let key = try reader.number()
    let isEmbedded = try reader.byte() == 1
    let primaryKey = try reader.count() - 1
    let nextColumnKey = form >= 2 ? try reader.number() : 0
    var columns: [ColumnSchema] = []
    var columnKeys: [UInt64] = []
    for _ in 0..<(try reader.count()) {
      let (column, key) = try decodeColumn(&reader, form: form)
      columns.append(column)
      columnKeys.append(key ?? UInt64(columns.count))
    }
    guard columnKeys.allSatisfy({ $0 < .max }) else {
      throw Unreadable(reason: "the schema has an impossible column key")
    }
    return StoredTable(
      index: index, tableKey: key,
      schema: TableSchema(
        name: name, columns: columns,
        primaryKey: columns.indices.contains(primaryKey) ? columns[primaryKey].name : nil,
        isEmbedded: isEmbedded),
      columnKeys: columnKeys, nextColumnKey: nextColumnKey)
  }

  private static func decodeColumn(
    _ reader: inout SchemaReader, form: UInt8
  ) throws(Unreadable) -> (column: ColumnSchema, key: UInt64?) {
    let name = try reader.text()
    guard let type = ValueType(rawValue: try reader.byte()) else {
      throw Unreadable(reason: "the schema has a column type that this version does not know")
    }
    let flags = try reader.byte()
    let key = form >= 2 ? try reader.number() : nil
    guard let collection = CollectionKind(rawValue: flags >> Flag.collectionShift & 3) else {
      throw Unreadable(reason: "the schema has a collection that this version does not know")
    }
    var column = ColumnSchema(
      name: name, type: type, isOptional: flags & Flag.optional != 0,
      isIndexed: form >= 2 && flags & Flag.indexed != 0, collection: collection,
      target: flags & Flag.target != 0 ? try reader.text() : nil)
    // An index that older programs made. Those of numbers have one form only.
    if column.isIndexed, !type.isPacked, flags & Flag.hashed == 0 { column.indexForm = .firstBytes }
    return (column, key)
  }
}

private struct SchemaReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte() throws(SchemaCoding.Unreadable) -> UInt8 {
    guard position < bytes.count else {
      throw SchemaCoding.Unreadable(reason: "the schema ends early")
    }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() throws(SchemaCoding.Unreadable) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
      if shift > 63 { throw SchemaCoding.Unreadable(reason: "the schema has an endless number") }
    }
  }

  /// A number of things that take at least a byte each.
  mutating func count() throws(SchemaCoding.Unreadable) -> Int {
    let value = try number()
    guard value <= UInt64(bytes.count) else {
      throw SchemaCoding.Unreadable(reason: "the schema ends early")
    }
    return Int(value)
  }

  mutating func text() throws(SchemaCoding.Unreadable) -> String {
    let length = try count()
    guard length <= bytes.count - position else {
      throw SchemaCoding.Unreadable(reason: "the schema ends early")
    }
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
