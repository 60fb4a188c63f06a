// Change sets against the two versions that they lie between: recorded by one transaction, merged
// over several, found by comparing.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing
import Trees

/// One version as plain values, to check change sets with.
private struct VersionImage {
  /// By table key, object and column key.
  var tables: [UInt64: [Int64: [UInt64: CellImage]]] = [:]

  /// What a cell holds.
  enum CellImage: Equatable {
    case value([UInt8]?)
    case elements([[UInt8]?])
    /// Keys and values; sorted.
    case entries([[[UInt8]?]])

    /// What positions in change sets speak of.
    var elements: [[[UInt8]?]] {
      switch self {
      case .value: []
      case .elements(let elements): elements.map { [$0] }
      case .entries(let entries): entries
      }
    }
  }

  init(_ snapshot: Snapshot) {
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    for table in schema.tables {
      let reader = TableReader(reader: snapshot.reader, root: snapshot.root, table: table)
      var rows: [Int64: [UInt64: CellImage]] = [:]
      reader.forEachObject { key, location in
        for (column, declared) in table.schema.columns.enumerated() {
          rows[key.rawValue, default: [:]][table.columnKeys[column]] = Self.cell(
            reader, location, column, declared)
        }
        return true
      }
      tables[table.tableKey] = rows
    }
  }

  private static func cell(
    _ reader: TableReader, _ location: RowLocation, _ column: Int, _ declared: ColumnSchema
  ) -> CellImage {
    switch declared.collection {
    case .none:
      if declared.type.isPacked {
        return .value(
          reader.isNull(location, column) ? nil : image(reader.integer(location, column)))
      }
      return .value(reader.withBytes(location, column) { $0.map { [UInt8]($0) } })
    case .list, .set: return .elements(all(reader.elements(location, column)))
    case .map:
      let keys = all(reader.mapKeys(location, column))
      let values = all(reader.mapValues(location, column))
      return .entries(zip(keys, values).map { [$0, $1] })
    }
  }

  private static func image(_ value: Int64) -> [UInt8] {
    withUnsafeBytes(of: value) { [UInt8]($0) }
  }

  private static func all(_ elements: ElementReader) -> [[UInt8]?] {
    var all: [[UInt8]?] = []
    elements.forEach { _, value in
      switch value {
      case .null: all.append(nil)
      case .integer(let value): all.append(image(value))
      case .link(let key): all.append(image(key.rawValue))
      case .bytes(let bytes): all.append([UInt8](bytes))
      }
      return true
    }
    return all
  }
}

/// Checks a change set with the versions that it lies between.
private struct ChangeSetCheck {
  let old: VersionImage
  let new: VersionImage
  let changes: ChangeSet
  /// Whether equal content must not be told.
  let isCompared: Bool

  func run() {
    for (table, rows) in new.tables {
      check(table, old.tables[table] ?? [:], rows, changes.tables[table] ?? TableChanges())
    }
  }

  private func check(
    _ table: UInt64, _ before: [Int64: [UInt64: VersionImage.CellImage]],
    _ after: [Int64: [UInt64: VersionImage.CellImage]], _ changes: TableChanges
  ) {
    for key in after.keys {
      #expect(
        changes.isNew(ObjectKey(rawValue: key)) == (before[key] == nil), "new \(table).\(key)")
    }
    for key in before.keys {
      #expect(
        changes.isDeleted(ObjectKey(rawValue: key)) == (after[key] == nil),
        "deleted \(table).\(key)")
    }
    if !changes.isCleared {
      #expect(
        changes.deleted.map(\.rawValue) == before.keys.filter { after[$0] == nil }.sorted())
    }
    for (key, columns) in changes.modified {
      #expect(before[key.rawValue] != nil && after[key.rawValue] != nil, "modified \(key)")
      if isCompared {
        for (column, cell) in after[key.rawValue] ?? [:] where columns.contains(column) {
          #expect(cell != before[key.rawValue]?[column], "\(table).\(key.rawValue).\(column)")
        }
      }
    }
    for place in changes.collections.keys {
      #expect(changes.modified[place.object]?.contains(place.column) == true, "\(place)")
    }
    for (key, cells) in after {
      guard let earlier = before[key] else { continue }
      let columns = changes.modified[ObjectKey(rawValue: key)] ?? ColumnSet()
      for (column, cell) in cells {
        let place = CollectionPlace(ObjectKey(rawValue: key), column)
        if cell != earlier[column] {
          #expect(columns.contains(column), "\(table).\(key).\(column) is not told")
        }
        replay(changes.collections[place], earlier[column]!, cell, "\(table).\(key).\(column)")
      }
    }
  }

  /// Makes the new elements of the old ones by what is told.
  private func replay(
    _ changes: CollectionChanges?, _ before: VersionImage.CellImage,
    _ after: VersionImage.CellImage, _ place: String
  ) {
    if case .value = after { return }
    var runs: [ElementChanges.Run] = []
    switch changes {
    case .elements(let changes): runs = changes.runs
    case .many: return
    case nil: break
    }
    let (old, new) = (before.elements, after.elements)
    var result: [[[UInt8]?]] = []
    var next = 0
    for run in runs {
      switch run.kind {
      case .kept:
        result += old[next..<min(next + run.count, old.count)]
      case .modified, .inserted:
        if result.count + run.count > new.count {
          Issue.record("\(place): \(runs) leads behind the end of \(new.count) elements")
          return
        }
        result += new[result.count..<result.count + run.count]
      case .deleted: break
      }
      if run.kind.isInOld { next += run.count }
    }
    if next > old.count {
      Issue.record("\(place): \(runs) leads behind the end of \(old.count) elements")
      return
    }
    result += old[next...]
    #expect(result == new, "\(place): \(runs)")
  }
}

@Suite(.ownThreads) struct ChangeSetTests {
  @Test(arguments: seedsInTurn(61...72))
  func tellsWhatDiffers(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/changes.realm", durability: .memory))
      var model = ObjectModel()
      let (schemas, embedded) = RandomModelTests.schemas(&random)
      var versions: [(snapshot: Snapshot, image: VersionImage, changes: ChangeSet)] = []
      for step in 0..<24 {
        let transaction = try store.beginWrite()
        let group = GroupTransaction(
          transaction.editor, root: transaction.root, recording: .everything)
        var changes = RandomChanges(group: group, model: model, embedded: embedded, random: random)
        if step == 0 { changes.createTables(schemas) }
        for _ in 0..<Int.random(in: 1...60, using: &random) { changes.change() }
        random = changes.random
        model = changes.model
        transaction.root = group.finish()
        let recorded = group.recordedChanges()!
        let snapshot = try transaction.commit()
        let image = VersionImage(snapshot)
        versions.append((snapshot, image, recorded))
        if step == 0 { continue }
        let before = versions[step - 1]
        ChangeSetCheck(old: before.image, new: image, changes: recorded, isCompared: false).run()
        let start = Int.random(in: max(step - 6, 0)..<step, using: &random)
        var merged = ChangeSet()
        // One by one and all at once.
        let sets = versions[(start + 1)...step].map(\.changes)
        if step.isMultiple(of: 2) { merged.merge(sets) } else { sets.forEach { merged.merge($0) } }
        ChangeSetCheck(
          old: versions[start].image, new: image, changes: merged, isCompared: false
        ).run()
        ChangeSetCheck(
          old: versions[start].image, new: image,
          changes: .between(versions[start].snapshot, snapshot), isCompared: true
        ).run()
      }
      withExtendedLifetime(folder) {}
    }
  }

  // MARK: - One by one

  private static let schema = TableSchema(
    name: "Thing",
    columns: [
      ColumnSchema(name: "number", type: .int, isOptional: false, isIndexed: true),
      ColumnSchema(name: "text", type: .string, isOptional: false, isIndexed: false),
      ColumnSchema(
        name: "link", type: .object, isOptional: true, isIndexed: false, target: "Thing"),
      ColumnSchema(
        name: "links", type: .object, isOptional: false, isIndexed: false, collection: .list,
        target: "Thing"),
    ], primaryKey: nil, isEmbedded: false)

  /// Runs `change` on a table of ten objects; returns what was recorded of it.
  private func recorded(
    _ change: (GroupTransaction, StoredTable, [ObjectKey]) -> Void
  ) -> TableChanges {
    let editor = BlockEditor.inMemory()
    let first = GroupTransaction(editor, root: .none)
    first.createTable(Self.schema)
    let keys = (0..<10).map { _ in first.insert(first.schema.tables[0]) }
    let second = GroupTransaction(editor, root: first.finish(), recording: .everything)
    let table = second.schema.tables[0]
    change(second, table, keys)
    return second.recordedChanges()![table] ?? TableChanges()
  }

  private func columns(_ keys: UInt64...) -> ColumnSet {
    var columns = ColumnSet()
    for key in keys { columns.insert(key) }
    return columns
  }

  @Test func assigningTheSameValueIsAChange() {
    let changes = recorded { group, table, keys in
      group.setInteger(table, keys[1], 0, 0)
      group.setInteger(table, keys[1], 1 - 1, 0)
      [UInt8]().withUnsafeBytes { group.setBytes(table, keys[2], 1, $0) }
      group.setLink(table, keys[3], 2, nil)
    }
    #expect(
      changes.modified.mapValues { $0 } == [
        ObjectKey(rawValue: 1): columns(1), ObjectKey(rawValue: 2): columns(2),
        ObjectKey(rawValue: 3): columns(3),
      ])
    #expect(changes.deleted.isEmpty && !changes.isNew(ObjectKey(rawValue: 9)))
  }

  @Test func whatComesAndGoesIsNotTold() {
    let changes = recorded { group, table, keys in
      let made = group.insert(table)
      group.setInteger(table, made, 0, 5)
      #expect(group.delete(table, made))
      group.setInteger(table, keys[4], 0, 5)
      #expect(group.delete(table, keys[4]))
    }
    #expect(changes.modified.isEmpty)
    #expect(changes.deleted == [ObjectKey(rawValue: 4)])
  }

  @Test func deletingTellsWhoLinked() {
    let changes = recorded { group, table, keys in
      group.setLink(table, keys[0], 2, keys[5])
      for key in [keys[5], keys[6], keys[5], keys[7]] {
        group.listAppend(table, keys[1], 3, .link(key))
      }
      #expect(group.delete(table, keys[5]))
    }
    #expect(
      changes.modified == [
        ObjectKey(rawValue: 0): columns(3), ObjectKey(rawValue: 1): columns(4),
      ])
    var expected = ElementChanges()
    expected.insert(at: 0, count: 2)
    #expect(
      changes.collections == [CollectionPlace(ObjectKey(rawValue: 1), 4): .elements(expected)])
  }

  @Test func clearingKeepsWhatCameAfter() {
    let changes = recorded { group, table, keys in
      group.setInteger(table, keys[0], 0, 1)
      _ = group.insert(table)
      group.deleteAll(table)
      _ = group.insert(table)
    }
    #expect(changes.isCleared && changes.modified.isEmpty)
    #expect(changes.isDeleted(ObjectKey(rawValue: 9)))
    #expect(changes.isNew(ObjectKey(rawValue: 10)) && changes.isNew(ObjectKey(rawValue: 11)))
  }

  @Test func appendingIsOneRun() {
    let changes = recorded { group, table, keys in
      for _ in 0..<5000 { group.listAppend(table, keys[0], 3, .link(keys[1])) }
      for position in stride(from: 0, to: 5000, by: 2) {
        group.listSet(table, keys[0], 3, at: position, .link(keys[2]))
      }
    }
    // Assigned in the transaction that appended: still new.
    var expected = ElementChanges()
    expected.insert(at: 0, count: 5000)
    #expect(changes.collections[CollectionPlace(ObjectKey(rawValue: 0), 4)] == .elements(expected))
  }

  @Test func manyChangesOfAListAreComparedLater() {
    let editor = BlockEditor.inMemory()
    let first = GroupTransaction(editor, root: .none)
    first.createTable(Self.schema)
    let key = first.insert(first.schema.tables[0])
    for _ in 0..<5000 { first.listAppend(first.schema.tables[0], key, 3, .link(key)) }
    let second = GroupTransaction(editor, root: first.finish(), recording: .everything)
    let table = second.schema.tables[0]
    for position in stride(from: 0, to: 5000, by: 2) {
      second.listSet(table, key, 3, at: position, .link(key))
    }
    let changes = second.recordedChanges()![table]
    #expect(changes?.collections == [CollectionPlace(key, 4): .many])
    #expect(changes?.modified == [key: columns(4)])
  }

  @Test(arguments: [false, true])
  func whereFewAreWantedManyAreNotKept(areDeleted: Bool) {
    let editor = BlockEditor.inMemory()
    let first = GroupTransaction(editor, root: .none)
    first.createTable(Self.schema)
    let keys = (0..<4097).map { _ in first.insert(first.schema.tables[0]) }
    let second = GroupTransaction(editor, root: first.finish(), recording: .few)
    let table = second.schema.tables[0]
    func change(_ key: ObjectKey) {
      if areDeleted {
        _ = second.delete(table, key)
      } else {
        second.setInteger(table, key, 0, 1)
      }
    }
    keys.dropLast().forEach(change)
    let most = second.recordedChanges()
    #expect(most?[table].map { $0.deleted.count + $0.modified.count } == 4096)
    change(keys[4096])
    #expect(second.recordedChanges() == nil)
  }

  @Test func nothingIsRecordedUnasked() {
    let editor = BlockEditor.inMemory()
    let group = GroupTransaction(editor, root: .none)
    group.createTable(Self.schema)
    _ = group.insert(group.schema.tables[0])
    #expect(group.recordedChanges()!.isEmpty)
  }
}
