// The file that is attacked: tables with every kind of column, values of every length, trees of
// several levels, clusters with gaps and columns with removed rows, made in several transactions.
internal import Glibc
internal import ObjectStore
internal import Platform
internal import Storage

/// Makes the file, and keeps what it was after each transaction.
enum SampleFile {
  static let things = "Things"
  static let notes = "Notes"
  static let parts = "Parts"

  private static let scalars: [ValueType] = [
    .int, .bool, .string, .data, .date, .float, .double, .any, .objectId, .decimal128, .uuid,
  ]

  static var schemas: [TableSchema] {
    var columns = [ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false)]
    for type in scalars {
      for isOptional in [false, true] where type != .any || isOptional {
        columns.append(
          ColumnSchema(
            name: "\(type) \(isOptional)", type: type, isOptional: isOptional,
            isIndexed: isOptional == (type != .date)))
      }
      for kind in [CollectionKind.list, .set, .map]
      where type == .int || type == .string || type == .any {
        columns.append(
          ColumnSchema(
            name: "\(type) \(kind)", type: type, isOptional: type == .any, isIndexed: false,
            collection: kind))
      }
    }
    for kind in [CollectionKind.none, .list, .set, .map] {
      columns.append(
        ColumnSchema(
          name: "note \(kind)", type: .object, isOptional: kind == .none || kind == .map,
          isIndexed: false, collection: kind, target: notes))
    }
    columns.append(
      ColumnSchema(
        name: "part", type: .object, isOptional: true, isIndexed: false, target: parts))
    columns.append(
      ColumnSchema(
        name: "parts", type: .object, isOptional: false, isIndexed: false, collection: .list,
        target: parts))
    return [
      TableSchema(name: things, columns: columns, primaryKey: "id", isEmbedded: false),
      TableSchema(
        name: notes,
        columns: [
          ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: true),
          ColumnSchema(name: "text", type: .string, isOptional: true, isIndexed: false),
          ColumnSchema(name: "rank", type: .int, isOptional: false, isIndexed: true),
        ], primaryKey: "name", isEmbedded: false),
      TableSchema(
        name: parts,
        columns: [ColumnSchema(name: "size", type: .int, isOptional: false, isIndexed: false)],
        primaryKey: nil, isEmbedded: true),
    ]
  }

  /// - Parameter hasParts: goes on with so many small transactions that the space journal has
  ///   everything it can have.
  /// - Returns: the file's bytes after each of several transactions; the last is the newest.
  static func make(
    path: String, key: [UInt8]?, seed: UInt64, hasParts: Bool = false
  ) throws -> [[UInt8]] {
    var random = RandomGenerator(seed: seed)
    var states: [[UInt8]] = []
    // Open between the transactions, so that one follows the other in place.
    var options = StoreOptions(path: path, durability: .memory, encryptionKey: key)
    if hasParts { options.journalPace = JournalPace(logBytesMin: 500, runsMin: 8) }
    var store: Store? = try Store.open(options)
    for step in 0..<6 {
      let transaction = try store!.beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      if step == 0 { for schema in schemas { group.createTable(schema) } }
      fill(group, step: step, &random)
      transaction.root = group.finish()
      _ = try transaction.commit()
      if step == 5, !hasParts { store = nil }
      states.append(bytes(path))
    }
    if hasParts {
      for step in 0..<90 { try changeSome(store!, step, &random) }
      store = nil
      states.append(bytes(path))
    }
    return states
  }

  private static func changeSome(
    _ store: Store, _ step: Int, _ random: inout RandomGenerator
  ) throws {
    let transaction = try store.beginWrite()
    let schema = try StoredSchema.load(transaction.editor.reader, root: transaction.root)
    let group = GroupTransaction(transaction.editor, root: transaction.root, schema: schema)
    let notes = schema.tables[1]
    for number in 0..<10 {
      let name = text(70_000 + step * 10 + number, length: 20)
      let key = name.withUnsafeBytes { group.insert(notes, primaryKeyBytes: $0).key }
      let length = Int(random.next() % 3000)
      text(number, length: length).withUnsafeBytes { group.setBytes(notes, key, 1, $0) }
      let old = text(70_000 + Int(random.next() % UInt64(step * 10 + 1)), length: 20)
      if let key = old.withUnsafeBytes({ group.reader(notes).find(bytes: $0) }) {
        _ = group.delete(notes, key)
      }
    }
    transaction.root = group.finish()
    _ = try transaction.commit()
  }

  static func bytes(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    precondition(file >= 0, "no file at \(path)")
    defer { close(file) }
    let length = Int(lseek(file, 0, SEEK_END))
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count = pread(file, buffer.baseAddress!, length, 0)
      precondition(count == length, "\(path) could not be read")
    }
  }

  // MARK: - Content

  static func text(_ number: Int, length: Int) -> [UInt8] {
    var text = [UInt8]("text \(number) ".utf8)
    while text.count < length { text.append(UInt8(97 + (text.count * 7 + number) % 26)) }
    return text
  }

  private static func fill(_ group: GroupTransaction, step: Int, _ random: inout RandomGenerator) {
    let notes = group.schema.tables[1]
    var keys: [ObjectKey] = []
    let perStep = step < 2 ? 1500 : 150
    for number in 0..<perStep {
      let name = text(step * 10_000 + number, length: 12 + number % 30)
      let key = name.withUnsafeBytes { group.insert(notes, primaryKeyBytes: $0).key }
      keys.append(key)
      group.setInteger(notes, key, 2, Int64(number % 100) * (number % 7 == 0 ? 1 << 33 : 1))
      let length = number == 77 ? 100_000 : number % 90 == 5 ? 2_500 : number % 120
      if number % 11 != 0 {
        text(number, length: length).withUnsafeBytes { group.setBytes(notes, key, 1, $0) }
      }
    }
    for number in stride(from: 3, to: perStep, by: step.isMultiple(of: 2) ? 17 : 40) {
      _ = group.delete(notes, keys[number])
    }
    keys = keys.indices.filter { ($0 - 3) % (step.isMultiple(of: 2) ? 17 : 40) != 0 }.map {
      keys[$0]
    }
    let things = group.schema.tables[0]
    for number in 0..<(step == 1 ? 300 : 25) {
      let isLarge = number == 0
      change(group, things, id: step * 1000 + number, keys, isLarge: isLarge, &random)
    }
    if step > 1 {
      for number in 0..<5 {
        if let key = group.reader(things).find(integer: Int64(1000 + number * 7 + step)) {
          _ = group.delete(things, key)
        }
      }
    }
  }

  private static func change(
    _ group: GroupTransaction, _ table: StoredTable, id: Int, _ notes: [ObjectKey], isLarge: Bool,
    _ random: inout RandomGenerator
  ) {
    let key = group.insert(table, primaryKeyInteger: Int64(id)).key
    for (column, declared) in table.schema.columns.enumerated() where column > 0 {
      if declared.isOptional, declared.collection == .none, random.next() % 4 == 0 { continue }
      switch (declared.collection, declared.type) {
      case (.none, .object):
        let target =
          declared.target == parts
          ? group.insertEmbedded(group.schema.tables[2])
          : notes[Int(random.next() % UInt64(notes.count))]
        group.setLink(table, key, column, target)
      case (.none, let type) where type.isPacked:
        group.setInteger(table, key, column, integer(type, &random))
      case (.none, _):
        bytes(declared.type, notes, group, &random).withUnsafeBytes {
          group.setBytes(table, key, column, $0)
        }
      default:
        fill(group, table, key, column, declared, notes, isLarge: isLarge, &random)
      }
    }
  }

  private static func fill(
    _ group: GroupTransaction, _ table: StoredTable, _ key: ObjectKey, _ column: Int,
    _ declared: ColumnSchema, _ notes: [ObjectKey], isLarge: Bool, _ random: inout RandomGenerator
  ) {
    let isBig = isLarge && declared.target != parts
    let count = isBig ? 700 : Int(random.next() % 4)
    if isBig, declared.type == .int, declared.collection == .list {
      let values = (0..<40_000).map { Int64($0 % 120) }
      values.withUnsafeBufferPointer { group.listAppend(table, key, column, integers: $0) }
    }
    for number in 0..<count {
      func add(_ value: ElementValue) {
        switch declared.collection {
        case .list: group.listAppend(table, key, column, value)
        case .set: _ = group.setInsert(table, key, column, value)
        default:
          text(number, length: 10).withUnsafeBytes {
            _ = group.mapSet(table, key, column, $0, value)
          }
        }
      }
      if declared.type == .object {
        let target =
          declared.target == parts
          ? group.insertEmbedded(group.schema.tables[2]) : notes[number % notes.count]
        add(.link(target))
      } else if declared.type.isPacked {
        add(.integer(Int64(number) * 3))
      } else {
        let value =
          number == 9 ? text(number, length: 40_000) : bytes(declared.type, notes, group, &random)
        value.withUnsafeBytes { add(.bytes($0)) }
      }
    }
  }

  private static func integer(_ type: ValueType, _ random: inout RandomGenerator) -> Int64 {
    switch type {
    case .bool: Int64(random.next() & 1)
    case .float: Int64(Float(random.next() % 1000).bitPattern)
    case .double, .date: Int64(bitPattern: Double(random.next() % 1000).bitPattern)
    default: Int64(truncatingIfNeeded: random.next() >> (random.next() & 63))
    }
  }

  private static func bytes(
    _ type: ValueType, _ notes: [ObjectKey], _ group: GroupTransaction,
    _ random: inout RandomGenerator
  ) -> [UInt8] {
    switch type {
    case .any where random.next() % 3 == 0:
      return AnyCoding.encodeLink(
        tableKey: group.schema.tables[1].tableKey, notes[Int(random.next() % UInt64(notes.count))])
    case .any: return [AnyTag.string.rawValue] + text(Int(random.next() % 50), length: 5)
    case .objectId: return (0..<12).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    case .uuid, .decimal128: return (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    default:
      let length = random.next() % 50 == 0 ? 3_000 : Int(random.next() % 40)
      return text(Int(random.next() % 1000), length: length)
    }
  }
}
