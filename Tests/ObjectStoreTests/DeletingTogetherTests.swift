// Objects that are deleted together, and large collections and mixed values that link to them: each
// is changed once, and looked through no more often than for single deletions.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct DeletingTogetherTests {
  private static let owner = TableSchema(
    name: "Owner",
    columns: [
      ColumnSchema(
        name: "items", type: .object, isOptional: false, isIndexed: false, collection: .list,
        target: "Item"),
      ColumnSchema(name: "any", type: .any, isOptional: true, isIndexed: true),
      ColumnSchema(
        name: "mixed", type: .any, isOptional: true, isIndexed: false, collection: .list),
      ColumnSchema(
        name: "mixedByName", type: .any, isOptional: true, isIndexed: false, collection: .map),
      ColumnSchema(
        name: "mixedSet", type: .any, isOptional: true, isIndexed: false, collection: .set),
    ], primaryKey: nil, isEmbedded: false)
  private static let item = TableSchema(
    name: "Item",
    columns: [ColumnSchema(name: "number", type: .int, isOptional: false, isIndexed: false)],
    primaryKey: nil, isEmbedded: false)

  /// A group with one owner and some items.
  private struct Fixture {
    let group: GroupTransaction
    let owner: ObjectKey
    var items: [ObjectKey]
    var owners: StoredTable { group.schema.tables[0] }
    var table: StoredTable { group.schema.tables[1] }

    init(_ count: Int) {
      let made = GroupTransaction(BlockEditor.inMemory(), root: .none)
      for table in [DeletingTogetherTests.owner, DeletingTogetherTests.item] {
        made.createTable(table)
      }
      group = made
      owner = made.insert(made.schema.tables[0])
      items = (0..<count).map { _ in made.insert(made.schema.tables[1]) }
    }

    func link(_ key: ObjectKey) -> AnyModel {
      .link(table: table.tableKey, key: key.rawValue)
    }

    /// What is left of links to some items.
    func left(_ value: AnyModel, without gone: Set<ObjectKey>) -> AnyModel? {
      value.without { $0 == table.tableKey && gone.contains(ObjectKey(rawValue: $1)) }
    }

    func read(_ column: Int) -> ElementReader {
      let reader = group.reader(owners)
      return reader.elements(reader.locate(owner)!, column)
    }

    func links(_ column: Int) -> [ObjectKey] {
      let elements = read(column)
      return (0..<elements.count).map { elements.link(at: $0)! }
    }

    func expectSound() {
      #expect(group.schema.checkInvariants { group.reader($0) } == [])
    }
  }

  // MARK: - Large lists

  /// Two at a time were searched by a look at all elements, single ones were not.
  @Test func fewOfALargeListAreSearchedLikeSingleOnes() {
    let fixture = Fixture(6_000)
    let (group, table) = (fixture.group, fixture.table)
    for item in fixture.items { group.listAppend(fixture.owners, fixture.owner, 0, .link(item)) }
    for start in stride(from: 0, to: 4_000, by: 2) {
      group.delete(table, [fixture.items[start + 1], fixture.items[start]])
    }
    // Each is found where the list begins.
    let searched = group.searchedElements
    #expect(searched > 0 && searched < 20_000, "\(searched) elements")
    #expect(fixture.links(0) == Array(fixture.items[4_000...]))
    fixture.expectSound()
  }

  /// After some looks at all elements it is known where the links are.
  @Test func manyOfALargeListAreSearchedForSomeRoundsOnly() {
    let fixture = Fixture(6_000)
    let (group, table) = (fixture.group, fixture.table)
    group.linkSearchLimits = .init(countMin: 16, looksMax: 64, mixedLooksMax: 2)
    for item in fixture.items { group.listAppend(fixture.owners, fixture.owner, 0, .link(item)) }
    for start in stride(from: 0, to: 4_000, by: 20) {
      group.delete(table, Array(fixture.items[start..<start + 20]))
    }
    let searched = group.searchedElements
    #expect(searched > 0 && searched < 6 * 6_000, "\(searched) elements")
    #expect(fixture.links(0) == Array(fixture.items[4_000...]))
    fixture.expectSound()
  }

  // MARK: - Mixed values

  /// Each of the objects had a value with links to all of them written anew.
  @Test func aMixedValueIsChangedOnce() {
    let fixture = Fixture(300)
    let (group, owners, owner) = (fixture.group, fixture.owners, fixture.owner)
    let value = AnyModel.list(fixture.items.map { fixture.link($0) })
    value.encoded.withUnsafeBytes { bytes in
      group.setBytes(owners, owner, 1, bytes)
      for _ in 0..<2 { group.listAppend(owners, owner, 2, .bytes(bytes)) }
      group.mapSet(owners, owner, 3, UnsafeRawBufferPointer(rebasing: bytes[..<2]), .bytes(bytes))
    }
    let marks = [2, 3].map { group.collectionMark(owners, owner, $0) }
    let gone = Set(fixture.items[10..<290])
    group.delete(fixture.table, Array(gone))
    #expect(group.collectionEdits(owners, owner, 2, since: marks[0])?.count == 2)
    #expect(group.collectionEdits(owners, owner, 3, since: marks[1])?.count == 1)
    let left = fixture.left(value, without: gone)?.encoded
    let reader = group.reader(owners)
    let location = reader.locate(owner)!
    #expect(reader.withBytes(location, 1) { $0.map { [UInt8]($0) } } == left)
    let elements = [reader.elements(location, 2), reader.mapValues(location, 3)]
    for element in elements {
      for position in 0..<element.count {
        #expect(element.withBytes(at: position) { $0.map { [UInt8]($0) } } == left)
      }
    }
    fixture.expectSound()
  }

  @Test(arguments: seedsInTurn(1...6))
  func mixedCollectionsEqualTheirModels(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      var fixture = Fixture(60)
      let (group, owners, owner) = (fixture.group, fixture.owners, fixture.owner)
      group.linkSearchLimits = .init(
        countMin: Int(seed % 3) * 4 + 1, looksMax: Int(seed % 4) * 8, mixedLooksMax: Int(seed % 2))
      var list: [AnyModel?] = []
      var map: [UInt8: AnyModel?] = [:]
      var set: Set<AnyModel> = []
      var links: [ObjectKey] = []
      for _ in 0..<12 {
        for _ in 0..<10 { fixture.items.append(group.insert(fixture.table)) }
        for _ in 0..<25 {
          // One to three links, some of them to one object, nested or not.
          let targets = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            fixture.link(fixture.items.randomElement(using: &random)!)
          }
          let value: AnyModel = targets.count == 1 ? targets[0] : .list(targets)
          let place = Int.random(in: 0...list.count, using: &random)
          let name = UInt8.random(in: 0..<40, using: &random)
          let item = fixture.items.randomElement(using: &random)!
          value.encoded.withUnsafeBytes { bytes in
            group.listInsert(owners, owner, 2, at: place, .bytes(bytes))
            [name].withUnsafeBytes { _ = group.mapSet(owners, owner, 3, $0, .bytes(bytes)) }
            group.setInsert(owners, owner, 4, .bytes(bytes))
          }
          list.insert(value, at: place)
          map.updateValue(value, forKey: name)
          set.insert(value)
          group.listAppend(owners, owner, 0, .link(item))
          links.append(item)
        }
        let count = [1, 2, 3, 18, 40].randomElement(using: &random)!
        let gone = Set(fixture.items.shuffled(using: &random).prefix(count))
        group.delete(fixture.table, Array(gone))
        fixture.items.removeAll { gone.contains($0) }
        links.removeAll { gone.contains($0) }
        list = list.map { $0.flatMap { fixture.left($0, without: gone) } }
        map = map.mapValues { $0.flatMap { fixture.left($0, without: gone) } }
        set = set.filter { fixture.left($0, without: gone) == $0 }
        #expect(fixture.links(0) == links)
        Self.expectEqual(fixture.read(2), list.map { $0?.encoded })
        let sorted = set.map { $0.encoded }.sorted { $0.lexicographicallyPrecedes($1) }
        Self.expectEqual(fixture.read(4), sorted)
        let reader = group.reader(owners)
        Self.expectEqual(
          reader.mapValues(reader.locate(owner)!, 3),
          map.sorted { $0.key < $1.key }.map { $0.value?.encoded })
        fixture.expectSound()
      }
    }
  }

  private static func expectEqual(_ elements: ElementReader, _ model: [[UInt8]?]) {
    let found = (0..<elements.count).map { position in
      elements.withBytes(at: position) { $0.map { [UInt8]($0) } }
    }
    #expect(found == model)
  }
}
