// One transaction that is too large to wait for its commit: finished leaves are written out early
// and are changed, deleted and looked up again by the same transaction.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct BulkTests {
  @Test func aLargeTransactionStreamsOut() async {
    await withSeeds { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/bulk.realm", durability: .memory))
      let transaction = try store.beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      group.createTable(TableModelTests.schema)
      let table = group.schema.tables[0]
      var model: [Int64: TableModelTests.Row] = [:]
      var payload = [UInt8](repeating: 7, count: 500)
      for id in 0..<Int64(30_000) {
        let (key, _) = group.insert(table, primaryKeyInteger: id)
        payload[3] = UInt8(truncatingIfNeeded: id)
        payload.withUnsafeBytes { group.setBytes(table, key, 4, $0) }
        group.setInteger(table, key, 2, id % 100)
        model[id] = TableModelTests.Row(integers: [id, 0, id % 100, nil], strings: [payload, nil])
        if random.oneIn(500) { TableModelTests.change(group, &model, &random) }
      }
      #expect(transaction.editor.provisionalBytes < 14 << 20)
      #expect(group.reader(table).checkInvariants(table) == [])
      for _ in 0..<40 { TableModelTests.change(group, &model, &random) }
      transaction.root = group.finish()
      let snapshot = try transaction.commit()
      let stored = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
      TableModelTests.compare(
        TableReader(reader: snapshot.reader, root: snapshot.root, table: stored), stored, model)
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// A transaction that outgrows the mapping it began with.
  ///
  /// Ten million objects in one transaction failed with "no address space", and so did any large
  /// one that crossed the first gigabyte: what was written early has to be read through the
  /// mapping. Now blocks stay in memory from there on until the commit.
  @Test func aLargeTransactionOutgrowsItsMapping() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(
        path: folder.path + "/bulk.realm", durability: .memory,
        fileSystem: FaultFileSystem(LinuxFileSystem(), leastMapping: 32 << 20)))
    for round in 0..<Int64(2) {
      let transaction = try store.beginWrite()
      let group = GroupTransaction(transaction.editor, root: transaction.root)
      if round == 0 { group.createTable(TableModelTests.schema) }
      let table = group.schema.tables[0]
      let payload = [UInt8](repeating: 7, count: 900)
      for id in 0..<Int64(60_000) {
        let (key, _) = group.insert(table, primaryKeyInteger: round * 60_000 + id)
        payload.withUnsafeBytes { group.setBytes(table, key, 4, $0) }
        group.setInteger(table, key, 2, id % 100)
      }
      transaction.root = group.finish()
      let snapshot = try transaction.commit()
      let stored = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
      let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: stored)
      #expect(reader.count == Int(round + 1) * 60_000)
      #expect(reader.checkInvariants(stored) == [])
    }
    let statistics = try store.statistics()
    #expect(statistics.fileBytes > 3 * (32 << 20))
    #expect(try store.checkInvariants().findings == [])
  }
}
