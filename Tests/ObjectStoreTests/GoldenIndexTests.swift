// A file of format 3 that has indexes: those of texts, data and identifiers go by the first 8
// bytes there. They find what they found, are kept by what writes, and get today's form when they
// are made anew. A new format's file is written by REALM_WRITE_GOLDEN=NAME swift test --filter
// GoldenIndexTests.
import Foundation
import ObjectStore
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct GoldenIndexTests {
  static let count = 240
  static let schema = TableSchema(
    name: "Indexed",
    columns: [
      ColumnSchema(name: "text", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "note", type: .data, isOptional: true, isIndexed: true),
      ColumnSchema(name: "identifier", type: .uuid, isOptional: false, isIndexed: true),
      ColumnSchema(name: "number", type: .int, isOptional: true, isIndexed: true),
    ], primaryKey: nil, isEmbedded: false)

  /// The bytes of an object's value in one of the first three columns.
  static func bytes(_ number: Int, _ column: Int) -> [UInt8]? {
    if column == 2 { return (0..<16).map { UInt8($0 < 9 ? 7 : number / (1 + $0) & 255) } }
    switch number % 12 {
    case 0: return nil
    case 1: return []
    case 2: return [UInt8](repeating: 0, count: number % 10)
    case 3: return [UInt8]("word \(number % 7)".utf8)
    default: return [UInt8]("https://www.example.org/pages/\(number % 90)".utf8)
    }
  }

  static func fill(_ group: GroupTransaction, _ numbers: Range<Int>) {
    let table = group.schema.tables[0]
    for number in numbers {
      let key = group.insert(table)
      for column in 0..<3 { set(group, key, column, bytes(number, column)) }
      group.setInteger(table, key, 3, number % 5 == 0 ? nil : Int64(number % 20))
    }
  }

  static func set(
    _ group: GroupTransaction, _ key: ObjectKey, _ column: Int, _ bytes: [UInt8]?
  ) {
    let table = group.schema.tables[0]
    guard let bytes else { return group.setBytes(table, key, column, nil) }
    bytes.withUnsafeBytes { group.setBytes(table, key, column, $0) }
  }

  static func write(_ store: Store, _ body: (GroupTransaction) -> Void) throws {
    let transaction = try store.beginWrite()
    let group = GroupTransaction(transaction.editor, root: transaction.root)
    body(group)
    transaction.root = group.finish()
    _ = try transaction.commit()
  }

  /// Each value of each column is found at the objects that have it, and nothing is unsound.
  static func check(
    _ store: Store, _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let snapshot = try store.pinNewest()
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    let table = schema.tables[0]
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
    #expect(reader.count == count, sourceLocation: sourceLocation)
    for column in 0..<3 {
      var keys: [[UInt8]?: [ObjectKey]] = [[UInt8]("https://www.example.org/".utf8): []]
      reader.forEachObject { key, location in
        let value = reader.withBytes(location, column) { $0.map { [UInt8]($0) } }
        keys[value, default: []].append(key)
        return true
      }
      for (value, expected) in keys {
        var found: [ObjectKey] = []
        func find(_ value: ElementValue) {
          reader.forEachIndexed(column, equal: value) {
            found.append($0)
            return true
          }
        }
        if let value { value.withUnsafeBytes { find(.bytes($0)) } } else { find(.null) }
        #expect(found == expected, "\(column) \(value ?? [])", sourceLocation: sourceLocation)
      }
    }
    #expect(reader.checkInvariants(table) == [], sourceLocation: sourceLocation)
    #expect(try store.checkInvariants().findings == [], sourceLocation: sourceLocation)
  }

  /// A copy of a file that is kept; REALM_WRITE_GOLDEN writes the file first.
  private func open(_ name: String, _ folder: TemporaryFolder) throws -> Store {
    let golden = GoldenFileTests.folder.appendingPathComponent(name + ".realm")
    if ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] == name {
      let path = folder.file("golden.realm")
      let store = try Store.open(StoreOptions(path: path))
      try Self.write(store) { group in
        group.createTable(Self.schema)
        Self.fill(group, 0..<Self.count)
      }
      try Data(contentsOf: URL(fileURLWithPath: path)).write(to: golden)
    }
    try FileManager.default.copyItem(atPath: golden.path, toPath: folder.file("copy.realm"))
    return try Store.open(StoreOptions(path: folder.file("copy.realm")))
  }

  @Test func indexesOfFormat4AreRead() throws {
    let folder = TemporaryFolder()
    let store = try open("format-4-indexes", folder)
    try Self.check(store, Self.count)
    try Self.write(store) { group in
      #expect(group.schema.tables[0].schema == Self.schema)
    }
    withExtendedLifetime(store) {}
  }

  @Test func indexesOfFormat3AreReadKeptAndMadeAnew() throws {
    let folder = TemporaryFolder()
    let store = try open("format-3-indexes", folder)
    try Self.check(store, Self.count)
    func forms(_ group: GroupTransaction) -> [IndexForm] {
      group.schema.tables[0].schema.columns.map(\.indexForm)
    }
    let old: [IndexForm] = [.firstBytes, .firstBytes, .firstBytes, .hashed]
    var count = Self.count
    // What writes keeps the form that an index has.
    try Self.write(store) { group in
      #expect(forms(group) == old)
      Self.fill(group, 1_000..<1_060)
      let table = group.schema.tables[0]
      let keys = (0..<group.reader(table).count).map { group.reader(table).key(at: $0) }
      for (place, key) in keys.enumerated() where place % 3 == 0 {
        if place % 2 == 0 {
          for column in 0..<3 { Self.set(group, key, column, Self.bytes(place + 7, column)) }
        } else {
          #expect(group.delete(table, key))
        }
      }
      count = group.reader(table).count
    }
    try Self.check(store, count)
    // One after the other is made anew, beside those of the older form.
    for column in 0..<3 {
      try Self.write(store) { group in
        #expect(forms(group)[column] == .firstBytes)
        let isOptional = Self.schema.columns[column].isOptional
        group.changeColumn(
          group.schema.tables[0], column, isOptional: isOptional, isIndexed: true)
        #expect(forms(group)[column] == .hashed)
        Self.fill(group, 2_000..<2_010)
        count += 10
      }
      try Self.check(store, count)
    }
    withExtendedLifetime(store) {}
    let again = try Store.open(StoreOptions(path: folder.file("copy.realm")))
    try Self.check(again, count)
    try Self.write(again) { #expect(forms($0) == [.hashed, .hashed, .hashed, .hashed]) }
    withExtendedLifetime(again) {}
  }
}
