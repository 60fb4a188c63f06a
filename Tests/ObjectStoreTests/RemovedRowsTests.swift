// Deletions that leave strings and data where they are: rows that a bytes column has removed.
import ObjectStore
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RemovedRowsTests {
  private static let schema = TableSchema(
    name: "Text",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: false),
      ColumnSchema(name: "body", type: .data, isOptional: true, isIndexed: false),
    ], primaryKey: "id", isEmbedded: false)

  private struct Row: Equatable {
    var name: [UInt8]
    var body: [UInt8]?
  }

  /// A file whose content is known.
  private struct Fixture {
    let folder = TemporaryFolder()
    var store: Store
    var model: [Int64: Row] = [:]

    init() throws {
      store = try Store.open(StoreOptions(path: folder.path + "/rows.realm", durability: .memory))
      try write { group, _ in group.createTable(schema) }
    }

    /// - Returns: bytes that the transaction has made anew.
    @discardableResult
    mutating func write(
      _ body: (GroupTransaction, inout [Int64: Row]) -> Void
    ) throws -> Int {
      let transaction = try store.beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      body(group, &model)
      transaction.root = group.finish()
      let bytes = transaction.editor.provisionalBytes
      _ = try transaction.commit()
      return bytes
    }

    func check() throws {
      let snapshot = try store.pinNewest()
      let table = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
      let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
      #expect(reader.checkInvariants(table) == [])
      #expect(reader.count == model.count)
      for (id, row) in model {
        guard let location = reader.find(integer: id).flatMap({ reader.locate($0) }) else {
          Issue.record("object \(id) is not there")
          continue
        }
        let found = Row(
          name: reader.withBytes(location, 1) { $0.map { [UInt8]($0) } } ?? [],
          body: reader.withBytes(location, 2) { $0.map { [UInt8]($0) } })
        #expect(found == row, "object \(id)")
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  private static func set(_ group: GroupTransaction, _ id: Int64, _ row: Row) {
    let table = group.schema.tables[0]
    let key = group.insert(table, primaryKeyInteger: id).key
    row.name.withUnsafeBytes { group.setBytes(table, key, 1, $0) }
    if let body = row.body {
      body.withUnsafeBytes { group.setBytes(table, key, 2, $0) }
    } else {
      group.setBytes(table, key, 2, nil)
    }
  }

  /// - Parameter isTogether: whether by one call, which changes each leaf once.
  private static func delete(
    _ group: GroupTransaction, _ ids: some Sequence<Int64>, isTogether: Bool
  ) {
    let table = group.schema.tables[0]
    let keys = ids.map { group.reader(table).find(integer: $0)! }
    if isTogether {
      group.delete(table, keys)
    } else {
      for key in keys { #expect(group.delete(table, key)) }
    }
  }

  @Test(arguments: [false, true])
  func fewDeletionsWriteLittle(isTogether: Bool) throws {
    var fixture = try Fixture()
    let all = try fixture.write { group, model in
      for id in 0..<2000 as Range<Int64> {
        model[id] = Row(
          name: Array("object number \(id)".utf8),
          body: [UInt8](repeating: UInt8(id & 255), count: 100))
        Self.set(group, id, model[id]!)
      }
    }
    // A tenth: rows are noted.
    let few = try fixture.write { group, model in
      let ids = stride(from: 3, to: 2000, by: 10).map { Int64($0) }
      Self.delete(group, ids, isTogether: isTogether)
      for id in ids { model[id] = nil }
    }
    #expect(few * 4 < all)
    try fixture.check()
    // A fifth: more than are noted, the leaves are written anew.
    let more = try fixture.write { group, model in
      let ids = stride(from: 4, to: 2000, by: 10).map { Int64($0) }
      Self.delete(group, ids, isTogether: isTogether)
      for id in ids { model[id] = nil }
    }
    #expect(more * 2 > all)
    try fixture.check()
    // All that is left of one cluster, and of all.
    try fixture.write { group, model in
      let ids = model.keys.filter { $0 < 256 }.sorted()
      Self.delete(group, ids, isTogether: isTogether)
      for id in ids { model[id] = nil }
    }
    try fixture.check()
    try fixture.write { group, model in
      Self.delete(group, model.keys.sorted(), isTogether: isTogether)
      model = [:]
    }
    try fixture.check()
  }

  @Test(arguments: seedsInTurn(21...26))
  func anyChangesFollowDeletions(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      var fixture = try Fixture()
      var next: Int64 = 0
      func randomRow() -> Row {
        func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
          (0..<Int.random(in: range, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        }
        switch Int.random(in: 0..<60, using: &random) {
        case 0: return Row(name: bytes(1025...4000), body: bytes(30_000...70_000))
        case 1...4: return Row(name: [], body: nil)
        case 5...8: return Row(name: bytes(800...1024), body: bytes(900...1100))
        default: return Row(name: bytes(0...40), body: bytes(20...120))
        }
      }
      for step in 0..<40 {
        // Generators in closures are not allowed to be shared: the changes are drawn first.
        let added = (0..<(step == 0 ? 500 : Int.random(in: 0...20, using: &random))).map { _ in
          randomRow()
        }
        var ids = fixture.model.keys.sorted()
        ids.shuffle(using: &random)
        let gone = ids.prefix(Int.random(in: 0...24, using: &random))
        let changed = ids.dropFirst(gone.count).prefix(
          Int.random(in: 0..<3, using: &random) == 0 ? 5 : 0
        ).map { ($0, randomRow()) }
        let first = next
        next += Int64(added.count)
        try fixture.write { group, model in
          Self.delete(group, gone, isTogether: step % 3 > 0)
          for id in gone { model[id] = nil }
          for (id, row) in changed {
            Self.set(group, id, row)
            model[id] = row
          }
          for (offset, row) in added.enumerated() {
            Self.set(group, first + Int64(offset), row)
            model[first + Int64(offset)] = row
          }
        }
        if step % 4 == 3 { try fixture.check() }
      }
      try fixture.check()
    }
  }
}
