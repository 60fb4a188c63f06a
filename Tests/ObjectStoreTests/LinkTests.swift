// Single rules of links, collections, embedded objects and tables, and transactions that are too
// large for one piece; RandomModelTests has their mixture.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct LinkTests {
  static let owner = TableSchema(
    name: "Owner",
    columns: [
      ColumnSchema(name: "id", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(
        name: "best", type: .object, isOptional: true, isIndexed: false, target: "Pet"),
      ColumnSchema(
        name: "pets", type: .object, isOptional: false, isIndexed: false, collection: .list,
        target: "Pet"),
      ColumnSchema(
        name: "numbers", type: .int, isOptional: false, isIndexed: false, collection: .list),
      ColumnSchema(
        name: "node", type: .object, isOptional: true, isIndexed: false, target: "Node"),
      ColumnSchema(name: "anything", type: .any, isOptional: true, isIndexed: false),
    ], primaryKey: "id", isEmbedded: false)
  static let pet = TableSchema(
    name: "Pet",
    columns: [ColumnSchema(name: "name", type: .string, isOptional: false, isIndexed: true)],
    primaryKey: nil, isEmbedded: false)
  static let node = TableSchema(
    name: "Node",
    columns: [
      ColumnSchema(name: "value", type: .int, isOptional: false, isIndexed: false),
      ColumnSchema(
        name: "next", type: .object, isOptional: true, isIndexed: false, target: "Node"),
    ], primaryKey: nil, isEmbedded: true)

  static func makeGroup(_ editor: BlockEditor = .inMemory()) -> GroupTransaction {
    let group = GroupTransaction(editor, root: .none)
    for table in [owner, pet, node] { group.createTable(table) }
    return group
  }

  static func expectSound(_ group: GroupTransaction) {
    #expect(group.schema.checkInvariants { group.reader($0) } == [])
  }

  @Test func aDeletedTargetLeavesLinksListsAndAnyValues() throws {
    let group = Self.makeGroup()
    let (owners, pets) = (group.schema.tables[0], group.schema.tables[1])
    let first = group.insert(pets)
    let second = group.insert(pets)
    let key = group.insert(owners, primaryKeyInteger: 1).key
    group.setLink(owners, key, 1, first)
    for pet in [first, second, first] { group.listAppend(owners, key, 2, .link(pet)) }
    AnyCoding.encodeLink(tableKey: pets.tableKey, first).withUnsafeBytes {
      group.setBytes(owners, key, 5, $0)
    }
    #expect(group.reader(owners).backlinks(2, first, in: pets).count == 2)
    #expect(group.reader(owners).backlinks(5, first, in: pets).count == 1)
    _ = group.changedTables()
    #expect(group.delete(pets, first))
    #expect(group.changedTables() == [0, 1])
    #expect(group.changedTables() == [])
    let reader = group.reader(owners)
    let location = try #require(reader.locate(key))
    #expect(reader.link(location, 1) == nil)
    #expect(reader.elements(location, 2).count == 1)
    #expect(reader.elements(location, 2).link(at: 0) == second)
    #expect(reader.withBytes(location, 5) { $0 == nil })
    Self.expectSound(group)
  }

  /// A chain of embedded objects as long as nobody has a stack for.
  @Test func aLongChainOfEmbeddedObjectsGoesWithItsOwner() {
    let group = Self.makeGroup()
    let (owners, nodes) = (group.schema.tables[0], group.schema.tables[2])
    let key = group.insert(owners, primaryKeyInteger: 1).key
    var last = group.insertEmbedded(nodes)
    group.setLink(owners, key, 4, last)
    for _ in 0..<30_000 {
      let next = group.insertEmbedded(nodes)
      group.setLink(nodes, last, 1, next)
      last = next
    }
    Self.expectSound(group)
    #expect(group.reader(nodes).count == 30_001)
    #expect(group.delete(owners, key))
    #expect(group.reader(nodes).count == 0)
    Self.expectSound(group)
  }

  @Test func anEmbeddedObjectGoesWhenItsLinkIsOverwritten() {
    let group = Self.makeGroup()
    let (owners, nodes) = (group.schema.tables[0], group.schema.tables[2])
    let key = group.insert(owners, primaryKeyInteger: 1).key
    let old = group.insertEmbedded(nodes)
    group.setLink(owners, key, 4, old)
    group.setLink(owners, key, 4, old)
    #expect(group.reader(nodes).count == 1)
    let new = group.insertEmbedded(nodes)
    group.setLink(owners, key, 4, new)
    #expect(group.reader(nodes).locate(old) == nil)
    #expect(group.reader(nodes).count == 1)
    group.setLink(owners, key, 4, nil)
    #expect(group.reader(nodes).count == 0)
    Self.expectSound(group)
  }

  @Test func deletingAllObjectsTakesLinksAndEmbeddedObjects() {
    let group = Self.makeGroup()
    let (owners, pets, nodes) = (
      group.schema.tables[0], group.schema.tables[1], group.schema.tables[2]
    )
    let all = (0..<500).map { _ in group.insert(pets) }
    for id in 0..<Int64(300) {
      let key = group.insert(owners, primaryKeyInteger: id).key
      group.setLink(owners, key, 1, all[Int(id)])
      for pet in all[Int(id)..<Int(id) + 20] { group.listAppend(owners, key, 2, .link(pet)) }
      group.setLink(owners, key, 4, group.insertEmbedded(nodes))
    }
    Self.expectSound(group)
    group.deleteAll(pets)
    Self.expectSound(group)
    let reader = group.reader(owners)
    let location = reader.locate(reader.key(at: 7))!
    #expect(reader.link(location, 1) == nil)
    #expect(reader.elements(location, 2).count == 0)
    #expect(group.reader(nodes).count == 300)
    group.deleteAll(owners)
    #expect(group.reader(nodes).count == 0)
    Self.expectSound(group)
  }

  /// Lists grow while finished clusters with other lists are written out early.
  @Test func aLargeTransactionStreamsListsOut() throws {
    var random = RandomGenerator(seed: testSeed())
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/lists.realm", durability: .memory))
    let transaction = try store.beginWrite()
    let group = GroupTransaction(transaction.editor, root: transaction.root)
    for table in [Self.owner, Self.pet, Self.node] { group.createTable(table) }
    let model = Self.fillLists(group, &random)
    transaction.root = group.finish()
    let snapshot = try transaction.commit()
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    let readers = schema.tables.map {
      TableReader(reader: snapshot.reader, root: snapshot.root, table: $0)
    }
    #expect(schema.checkInvariants { readers[$0.index] } == [])
    for (key, numbers) in model {
      let elements = readers[0].elements(readers[0].locate(key)!, 3)
      var found = [Int64](repeating: 0, count: elements.count)
      _ = found.withUnsafeMutableBufferPointer { elements.copyIntegers(from: 0, into: $0) }
      if found != numbers { Issue.record("list of \(key), seed \(testSeed())") }
    }
    #expect(try store.checkInvariants().findings == [])
    withExtendedLifetime(folder) {}
  }

  /// Owners with lists of numbers; every now and then one of an earlier owner grows.
  static func fillLists(
    _ group: GroupTransaction, _ random: inout RandomGenerator
  ) -> [ObjectKey: [Int64]] {
    let (owners, pets) = (group.schema.tables[0], group.schema.tables[1])
    var model: [ObjectKey: [Int64]] = [:]
    var keys: [ObjectKey] = []
    for id in 0..<Int64(6_000) {
      let key = group.insert(owners, primaryKeyInteger: id).key
      keys.append(key)
      let count = Int64.random(in: 0...400, using: &random)
      let numbers = (0..<count).map { $0 &* 0x0101_0101 &* id }
      numbers.withUnsafeBufferPointer { group.listAppend(owners, key, 3, integers: $0) }
      model[key] = numbers
      let other = keys.randomElement(using: &random)!
      group.listAppend(owners, other, 3, .integer(id))
      model[other]!.append(id)
      group.listAppend(owners, other, 2, .link(group.insert(pets)))
    }
    return model
  }

  @Test func aRemovedTableTakesItsAnyLinksAndLaterTablesStay() throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/tables.realm", durability: .memory))
    let first = try store.beginWrite()
    let group = GroupTransaction(first.editor, root: first.root)
    var lone = Self.pet
    lone.name = "Lone"
    for table in [lone, Self.owner, Self.pet, Self.node] { group.createTable(table) }
    let lones = group.schema.tables[0]
    let owners = group.schema.tables[1]
    let target = group.insert(lones)
    let key = group.insert(owners, primaryKeyInteger: 5).key
    AnyCoding.encodeLink(tableKey: lones.tableKey, target).withUnsafeBytes {
      group.setBytes(owners, key, 5, $0)
    }
    group.setLink(owners, key, 1, group.insert(group.schema.tables[2]))
    first.root = group.finish()
    let old = try first.commit()

    let second = try store.beginWrite()
    let next = GroupTransaction(second.editor, root: second.root)
    next.removeTable(next.schema.tables[0])
    #expect(next.schema.tables.map(\.schema.name) == ["Owner", "Pet", "Node"])
    Self.expectSound(next)
    _ = next.insert(next.schema.tables[0], primaryKeyInteger: 6)
    next.createTable(lone)
    #expect(next.schema.tables[3].tableKey != lones.tableKey)
    #expect(next.reader(next.schema.tables[3]).count == 0)
    second.root = next.finish()
    let snapshot = try second.commit()
    let schema = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root)
    let reader = TableReader(
      reader: snapshot.reader, root: snapshot.root, table: schema.tables[0])
    #expect(reader.count == 2)
    let location = try #require(reader.find(integer: 5).flatMap { reader.locate($0) })
    #expect(reader.withBytes(location, 5) { $0 == nil })
    #expect(reader.link(location, 1) == ObjectKey(rawValue: 0))
    let oldSchema = StoredSchema.loadOrStop(old.reader, root: old.root)
    #expect(oldSchema.tables.map(\.schema.name) == ["Lone", "Owner", "Pet", "Node"])
    #expect(try store.checkInvariants().findings == [])
    withExtendedLifetime(folder) {}
  }

  @Test func schemasWithCollectionsComeBack() {
    let editor = BlockEditor.inMemory()
    let group = Self.makeGroup(editor)
    group.removeColumn(group.schema.tables[0], 3)
    let stored = StoredSchema.loadOrStop(editor.reader, root: group.finish())
    #expect(stored.tables.map(\.schema) == group.schema.tables.map(\.schema))
    #expect(stored.tables[0].columnKeys == [1, 2, 3, 5, 6])
    let again = GroupTransaction(editor, root: group.finish())
    let changed = again.addColumn(again.schema.tables[0], Self.pet.columns[0])
    #expect(changed.columnKeys == [1, 2, 3, 5, 6, 7])
  }

  @Test func indexesFindPrefixesAndRanges() {
    let group = Self.makeGroup()
    let pets = group.schema.tables[1]
    let names = ["", "same prefix b", "same prefix a", "z", "same prefix b", "\0"]
    let keys = names.map { name in
      let key = group.insert(pets)
      [UInt8](name.utf8).withUnsafeBytes { group.setBytes(pets, key, 0, $0) }
      return key
    }
    func equal(_ name: String) -> [ObjectKey] {
      var found: [ObjectKey] = []
      [UInt8](name.utf8).withUnsafeBytes {
        group.reader(pets).forEachIndexed(0, equal: .bytes($0)) {
          found.append($0)
          return true
        }
      }
      return found
    }
    #expect(equal("same prefix b") == [keys[1], keys[4]])
    #expect(equal("same prefix") == [])
    #expect(equal("") == [keys[0]])
    #expect(equal("\0") == [keys[5]])
    var orders: [Int64] = []
    group.reader(pets).forEachIndexed(0) { order, _ in
      orders.append(order)
      return true
    }
    #expect(orders == orders.sorted())
    #expect(orders.count == names.count)
    Self.expectSound(group)
  }

  @Test func ordersOfNumbersAreTheirs() {
    let doubles: [Double] = [
      -.infinity, -1e300, -1, -Double.leastNonzeroMagnitude, 0, Double.leastNonzeroMagnitude, 1,
      1e300, .infinity, .nan,
    ]
    let orders = doubles.map {
      OrderKey.integer(Int64(bitPattern: $0.bitPattern), .double)
    }
    #expect(orders == orders.sorted())
    #expect(Set(orders).count == orders.count)
    #expect(OrderKey.integer(Int64(bitPattern: (-0.0).bitPattern), .double) == 0)
    let floats: [Float] = [-.infinity, -1, -0.5, 0, 0.5, 1, .infinity]
    let floatOrders = floats.map { OrderKey.integer(Int64($0.bitPattern), .float) }
    #expect(floatOrders == floatOrders.sorted())
    #expect(Set(floatOrders).count == floats.count)
  }
}

extension GroupTransaction {
  /// What `takeChangedTables` gives, as an array.
  func changedTables() -> [Int] {
    var changed: [Int] = []
    takeChangedTables { changed.append($0) }
    return changed
  }
}
