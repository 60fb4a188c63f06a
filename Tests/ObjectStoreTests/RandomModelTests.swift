// Random classes with links, collections, embedded objects and indexes over a real store, changed
// by random transactions and compared with plain Swift values (ObjectModel), also after reopening;
// and every pinned version stays what it was.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RandomModelTests {
  // MARK: - Random material

  static let texts: [[UInt8]] = ["", "a", "b", "ab", "same prefix 1", "same prefix 2", "z"]
    .map { [UInt8]($0.utf8) }

  static func column(
    _ name: String, tables: Int, embedded: Int, _ random: inout RandomGenerator
  ) -> ColumnSchema {
    let types: [ValueType] = [
      .int, .int, .bool, .double, .float, .date, .string, .string, .uuid, .any, .object, .object,
      .object,
    ]
    let type = types.randomElement(using: &random)!
    let kinds: [CollectionKind] = [.none, .none, .list, .set, .map]
    var kind = kinds.randomElement(using: &random)!
    var target: String?
    if type == .object {
      let number = Int.random(in: 0..<tables, using: &random)
      target = "Class\(number)"
      // Embedded objects have one owner: no sets.
      if number >= tables - embedded, kind == .set { kind = .list }
    }
    let isOptional =
      switch type {
      case .any: true
      case .object: kind == .none || kind == .map
      default: Bool.random(using: &random)
      }
    return ColumnSchema(
      name: name, type: type, isOptional: isOptional,
      isIndexed: kind == .none && type != .object && random.oneIn(2), collection: kind,
      target: target)
  }

  static func schemas(_ random: inout RandomGenerator) -> (all: [TableSchema], embedded: Int) {
    let count = Int.random(in: 2...4, using: &random)
    let embedded = Int.random(in: 0...1, using: &random)
    let all = (0..<count).map { number in
      var columns = (0..<Int.random(in: 1...6, using: &random)).map {
        column("column\($0)", tables: count, embedded: embedded, &random)
      }
      let isEmbedded = number >= count - embedded
      let hasKey = !isEmbedded && random.oneIn(2)
      if hasKey {
        columns.insert(
          ColumnSchema(
            name: "id", type: random.oneIn(2) ? .int : .string, isOptional: false,
            isIndexed: random.oneIn(2)), at: Int.random(in: 0...columns.count, using: &random))
      }
      return TableSchema(
        name: "Class\(number)", columns: columns, primaryKey: hasKey ? "id" : nil,
        isEmbedded: isEmbedded)
    }
    return (all, embedded)
  }

  /// A value that is no typed link; null sometimes where it may be.
  static func value(
    _ column: ColumnSchema, _ model: ObjectModel, _ random: inout RandomGenerator
  ) -> ModelValue {
    if column.isOptional && random.oneIn(5) { return .null }
    switch column.type {
    case .bool: return .integer(Int64.random(in: 0...1, using: &random))
    case .double, .date:
      let values = [0, -0.0, 1.5, -1.5, .infinity, -.infinity, 1e300, Double(random.next() % 100)]
      return .integer(Int64(bitPattern: values.randomElement(using: &random)!.bitPattern))
    case .float:
      let values: [Float] = [0, -0.0, 2.5, -2.5, .infinity, Float(random.next() % 100)]
      return .integer(Int64(values.randomElement(using: &random)!.bitPattern))
    case .int:
      return .integer(
        random.oneIn(10)
          ? [.min, .max].randomElement(using: &random)! : Int64.random(in: -9...9, using: &random))
    case .any: return .any(any(model, depth: 0, &random))
    default:
      if random.oneIn(30) { return .bytes([UInt8](repeating: 65, count: 2000)) }
      return .bytes(texts.randomElement(using: &random)!)
    }
  }

  static func any(
    _ model: ObjectModel, depth: Int, _ random: inout RandomGenerator
  ) -> AnyModel {
    switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &random) {
    case 0: return .int(Int64.random(in: -3...3, using: &random))
    case 1: return .string(texts.randomElement(using: &random)!)
    case 2, 3:
      let tables = model.tables.filter { !$0.schema.isEmbedded && !$0.rows.isEmpty }
      guard let table = tables.randomElement(using: &random) else { return .int(0) }
      return .link(
        table: table.tableKey, key: table.rows.keys.sorted().randomElement(using: &random)!)
    case 4:
      return .list(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
          any(model, depth: depth + 1, &random)
        })
    default:
      return .dictionary(
        Dictionary(
          uniqueKeysWithValues: (0..<Int.random(in: 0...2, using: &random)).map {
            ([UInt8($0)], any(model, depth: depth + 1, &random))
          }))
    }
  }

  // MARK: - Tests

  @Test(arguments: seedsInTurn(41...52))
  func everyVersionEqualsItsModel(seed: UInt64) async {
    await withSeeds(first: seed) { random in
      let folder = TemporaryFolder()
      let options = StoreOptions(path: folder.path + "/model.realm", durability: .memory)
      var opened: Store? = try Store.open(options)
      var model = ObjectModel()
      let (schemas, embedded) = Self.schemas(&random)
      var pins: [(snapshot: Snapshot, model: ObjectModel)] = []
      for step in 0..<40 {
        if step == 26 {
          // Once more from the file.
          pins = []
          opened = nil
          opened = try Store.open(options)
        }
        let store = try #require(opened)
        let transaction = try store.beginWrite()
        if random.oneIn(3) {
          // Whatever is left goes to the file, and is changed there.
          transaction.editor.limits.blocks = Int.random(in: 0...60, using: &random)
          transaction.editor.limits.passingBytes = Int.random(in: 0...5_000, using: &random)
        }
        let group = GroupTransaction(transaction.editor, root: transaction.root)
        if random.oneIn(2) {
          group.linkSearchLimits = .init(
            countMin: 1, looksMax: Int.random(in: 0...40, using: &random),
            mixedLooksMax: Int.random(in: 0...2, using: &random))
        }
        var changes = RandomChanges(group: group, model: model, embedded: embedded, random: random)
        if group.schema.tables.isEmpty { changes.createTables(schemas) }
        for _ in 0..<Int.random(in: 1...60, using: &random) { changes.change() }
        if step % 5 == 4 { changes.changeSchema() }
        random = changes.random
        if random.oneIn(4) { ModelComparison(group, changes.model).run() }
        if random.oneIn(8) {
          transaction.cancel()
        } else {
          transaction.root = group.finish()
          _ = try transaction.commit()
          model = changes.model
        }
        if step % 8 == 4 { pins.append((try store.pinNewest(), model)) }
        if step % 10 == 9 {
          for (snapshot, content) in pins + [(try store.pinNewest(), model)]
          where !snapshot.root.isNone {
            ModelComparison(snapshot, content).run()
          }
          if pins.count > 3 { pins.removeFirst() }
        }
      }
      #expect(try opened?.checkInvariants().findings == [])
      withExtendedLifetime(folder) {}
    }
  }
}
