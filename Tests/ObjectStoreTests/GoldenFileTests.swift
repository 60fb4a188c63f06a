// A small file of every format version is kept: whatever changes, these must open with their
// content. A new format's file is written by REALM_WRITE_GOLDEN=NAME swift test --filter
// GoldenFileTests.
import Foundation
import ObjectStore
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct GoldenFileTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden")
  /// Of the encrypted file.
  static let key = [UInt8](0..<64)
  static let count = 300
  static let schema = TableSchema(
    name: "Golden",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(name: "flag", type: .bool, isOptional: false, isIndexed: false),
      ColumnSchema(name: "maybe", type: .int, isOptional: true, isIndexed: false),
      ColumnSchema(name: "score", type: .double, isOptional: false, isIndexed: false),
      ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: false),
      ColumnSchema(name: "note", type: .data, isOptional: true, isIndexed: false),
    ], primaryKey: "id", isEmbedded: false)

  static func note(_ id: Int) -> [UInt8]? {
    switch id % 50 {
    case 0: return nil
    case 1: return [UInt8](repeating: UInt8(id & 255), count: 3000)
    default: return [UInt8](repeating: UInt8(id & 255), count: id % 9)
    }
  }

  static func write(to path: String, key: [UInt8]?) throws {
    let store = try Store.open(StoreOptions(path: path, encryptionKey: key))
    for pass in 0..<4 {
      let transaction = try store.beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      if pass == 0 { group.createTable(schema) }
      let table = group.schema.tables[0]
      // The last two passes leave rows that their columns have removed.
      for id in count..<count + 6 where pass >= 2 {
        let key = group.insert(table, primaryKeyInteger: Int64(id) * 7).key
        let name = [UInt8](repeating: 0x61, count: 60)
        if pass == 2 { name.withUnsafeBytes { group.setBytes(table, key, 4, $0) } }
        if pass == 3 { precondition(group.delete(table, key)) }
      }
      for id in 0..<count where pass < 2 {
        let key = group.insert(table, primaryKeyInteger: Int64(id) * 7).key
        group.setInteger(table, key, 1, Int64(id & 1))
        group.setInteger(table, key, 2, id % 3 == 0 ? nil : Int64(id) - 150)
        group.setInteger(table, key, 3, Int64(bitPattern: (Double(id) / 4).bitPattern))
        Array("name \(id)".utf8).withUnsafeBytes { group.setBytes(table, key, 4, $0) }
        if let note = note(id) {
          note.withUnsafeBytes { group.setBytes(table, key, 5, $0) }
        } else {
          group.setBytes(table, key, 5, nil)
        }
      }
      // The second pass writes the same again, so that there are dead blocks and space deltas.
      transaction.root = group.finish()
      _ = try transaction.commit()
    }
  }

  @Test func fileOfFormat1Opens() throws { try check("format-1", key: nil) }

  @Test func fileOfFormat2Opens() throws { try check("format-2", key: nil) }

  @Test func encryptedFileOfFormat2Opens() throws {
    try check("format-2-encrypted", key: Self.key)
  }

  @Test func fileOfFormat3Opens() throws { try check("format-3", key: nil) }

  @Test func encryptedFileOfFormat3Opens() throws {
    try check("format-3-encrypted", key: Self.key)
  }

  @Test func fileOfFormat4Opens() throws { try check("format-4", key: nil) }

  @Test func encryptedFileOfFormat4Opens() throws {
    try check("format-4-encrypted", key: Self.key)
  }

  @Test func encryptedFileOfFormat1Opens() throws {
    try check("format-1-encrypted", key: Self.key)
  }

  private func check(_ name: String, key: [UInt8]?) throws {
    let folder = TemporaryFolder()
    let golden = Self.folder.appendingPathComponent(name + ".realm")
    if ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] == name {
      let path = folder.path + "/golden.realm"
      try Self.write(to: path, key: key)
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      try data.write(to: golden)
    }
    let path = folder.path + "/copy.realm"
    try FileManager.default.copyItem(atPath: golden.path, toPath: path)
    let store = try Store.open(StoreOptions(path: path, encryptionKey: key))
    let snapshot = try store.pinNewest()
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    #expect(schema.tables.map(\.schema) == [Self.schema])
    let table = schema.tables[0]
    let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
    #expect(reader.count == Self.count)
    #expect(reader.checkInvariants(table) == [])
    for id in 0..<Self.count {
      let key = try #require(reader.find(integer: Int64(id) * 7))
      let location = try #require(reader.locate(key))
      #expect(reader.integer(location, 1) == Int64(id & 1))
      #expect(reader.isNull(location, 2) == (id % 3 == 0))
      if id % 3 != 0 { #expect(reader.integer(location, 2) == Int64(id) - 150) }
      let score = Double(bitPattern: UInt64(bitPattern: reader.integer(location, 3)))
      #expect(score == Double(id) / 4)
      let name = reader.withBytes(location, 4) { String(decoding: $0!, as: UTF8.self) }
      #expect(name == "name \(id)")
      #expect(reader.withBytes(location, 5) { $0.map { [UInt8]($0) } } == Self.note(id))
    }
    #expect(try store.checkInvariants().findings == [])
    withExtendedLifetime(store) {}
  }
}
