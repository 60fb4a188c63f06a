// Indexes of byte strings compared with plain Swift values, in the form of today and in that of
// older files: addresses, paths, words, short ones and those whose beginnings are the same, through
// changes, deletions and reopening.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct IndexModelTests {
  /// Byte strings that are alike in one way; the same ones come often.
  private struct Material {
    let prefix: [UInt8]

    init(_ random: inout RandomGenerator) {
      prefix = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
    }

    func value(_ random: inout RandomGenerator) -> [UInt8]? {
      let number = Int.random(in: 0..<60, using: &random)
      switch Int.random(in: 0..<9, using: &random) {
      case 0: return nil
      case 1: return [UInt8](repeating: 0, count: number % 12)
      case 2: return Array(prefix.prefix(number))
      case 3: return prefix + [UInt8(number)]
      case 4: return prefix + [UInt8](repeating: UInt8(number % 3), count: number)
      case 5: return [UInt8]("/usr/share/doc/\(number)/copyright".utf8)
      case 6: return [UInt8]("word \(number)".utf8)
      case 7: return [UInt8]("\(number)".utf8) + [UInt8](repeating: 65, count: number * 40)
      default: return [UInt8]("https://www.example.org/pages/\(number)".utf8)
      }
    }
  }

  private static func schema(_ form: IndexForm) -> TableSchema {
    var columns = [
      ColumnSchema(name: "text", type: .string, isOptional: true, isIndexed: true),
      ColumnSchema(name: "number", type: .int, isOptional: false, isIndexed: true),
      ColumnSchema(name: "data", type: .data, isOptional: true, isIndexed: true),
    ]
    for column in columns.indices { columns[column].indexForm = form }
    return TableSchema(name: "Thing", columns: columns, primaryKey: nil, isEmbedded: false)
  }

  private static let columns = [0, 2]

  private func read(_ store: Store) throws -> (StoredTable, TableReader, Snapshot) {
    let snapshot = try store.pinNewest()
    let table = StoredSchema.loadOrStop(snapshot.reader, root: snapshot.root).tables[0]
    return (
      table, TableReader(reader: snapshot.reader, root: snapshot.root, table: table), snapshot
    )
  }

  private func compare(
    _ store: Store, _ model: [ObjectKey: [[UInt8]?]], _ form: IndexForm,
    _ random: inout RandomGenerator
  ) throws {
    let (table, reader, snapshot) = try read(store)
    let material = Material(&random)
    for (place, column) in Self.columns.enumerated() {
      #expect(table.schema.columns[column].indexForm == form)
      var wanted: [[UInt8]?: [ObjectKey]] = [nil: []]
      for _ in 0..<10 { wanted[material.value(&random)] = [] }
      for key in model.keys.sorted() { wanted[model[key]![place], default: []].append(key) }
      for (value, expected) in wanted {
        var found: [ObjectKey] = []
        withElement(value) {
          reader.forEachIndexed(column, equal: $0) {
            found.append($0)
            return true
          }
        }
        #expect(found == expected, "column \(column) equal to \(value ?? [])")
        // Greater ones come from here on, lesser ones up to here.
        guard let value else { continue }
        for ascending in [true, false] {
          var passed = Set<ObjectKey>()
          withElement(value) {
            reader.forEachIndexed(
              column, from: ascending ? $0 : nil, through: ascending ? nil : $0,
              ascending: ascending
            ) { _, key in
              passed.insert(key)
              return true
            }
          }
          let missing = model.keys.filter { key in
            guard let own = model[key]![place], !passed.contains(key) else { return false }
            return ascending
              ? !own.lexicographicallyPrecedes(value) : !value.lexicographicallyPrecedes(own)
          }
          #expect(missing == [], "column \(column), beside \(value)")
        }
      }
    }
    #expect(reader.checkInvariants(table) == [])
    #expect(try store.checkInvariants().findings == [])
    withExtendedLifetime(snapshot) {}
  }

  private func withElement(_ bytes: [UInt8]?, _ body: (ElementValue) -> Void) {
    guard let bytes else { return body(.null) }
    bytes.withUnsafeBytes { body(.bytes($0)) }
  }

  @Test(arguments: [IndexForm.hashed, .firstBytes])
  func indexesFindWhatPlainSwiftFinds(_ form: IndexForm) async throws {
    await withSeeds(amount(20, debug: 3)) { random in
      let folder = TemporaryFolder()
      let path = folder.file("store.realm")
      var store = try Store.open(StoreOptions(path: path))
      var model: [ObjectKey: [[UInt8]?]] = [:]
      for pass in 0..<6 {
        let material = Material(&random)
        let transaction = try store.beginWrite()
        let group = GroupTransaction(transaction.editor, root: transaction.root)
        if pass == 0 { group.createTable(Self.schema(form)) }
        let table = group.schema.tables[0]
        func set(_ key: ObjectKey, _ place: Int, _ value: [UInt8]?) {
          let column = Self.columns[place]
          model[key]![place] = value
          guard let value else { return group.setBytes(table, key, column, nil) }
          value.withUnsafeBytes { group.setBytes(table, key, column, $0) }
        }
        for _ in 0..<Int.random(in: 0..<300, using: &random) {
          if random.oneIn(2) || model.isEmpty {
            let key = group.insert(table)
            model[key] = [nil, nil]
            for place in 0..<2 where !random.oneIn(9) { set(key, place, material.value(&random)) }
          } else {
            let key = model.keys.sorted()[Int.random(in: 0..<model.count, using: &random)]
            if random.oneIn(4) {
              #expect(group.delete(table, key))
              model[key] = nil
            } else {
              set(key, Int.random(in: 0..<2, using: &random), material.value(&random))
            }
          }
        }
        transaction.root = group.finish()
        _ = try transaction.commit()
        try compare(store, model, form, &random)
        if pass % 2 == 1 {
          store = try Store.open(StoreOptions(path: path))
          try compare(store, model, form, &random)
        }
      }
    }
  }

  @Test func longBytesThatBeginAlikeHaveOrdersOfTheirOwn() {
    func order(_ text: String, _ form: IndexForm) -> Int64 {
      Array(text.utf8).withUnsafeBytes { OrderKey.bytes($0, form) }
    }
    let addresses = (0..<1_000).map { "https://www.example.org/pages/\($0)" }
    #expect(Set(addresses.map { order($0, .firstBytes) }).count == 1)
    #expect(Set(addresses.map { order($0, .hashed) }).count >= 999)
    // Short ones have all of their bytes in the order, in both forms.
    for text in ["", "a", "a\0", "abcde", "abcdefg", "abcdefgh", "\u{e9}", "\u{ff}\u{ff}"] {
      #expect(order(text, .hashed) == order(text, .firstBytes), "\(text)")
    }
    // The beginning decides before the hash does.
    let sorted = ["", "abcd", "abcde", "abcdefghi", "abcdf", "abcdfghij", "b", "bbbbbbbbb", "c"]
    let orders = sorted.map { order($0, .hashed) }
    #expect(orders == orders.sorted())
  }

  /// The hash is in the file: another one would make every index of a file useless.
  @Test func ordersAreThoseOfTheFileFormat() {
    func order(_ text: String) -> UInt64 {
      Array(text.utf8).withUnsafeBytes {
        UInt64(bitPattern: OrderKey.bytes($0, .hashed)) ^ 1 << 63
      }
    }
    #expect(order("12345678") == 0x3132_3334_3536_3738)
    #expect(order("123456789") >> 24 == 0x31_3233_3435)
    let hash = Array("123456789".utf8).withUnsafeBytes {
      hash64($0.baseAddress!, count: $0.count, seed: 0)
    }
    #expect(order("123456789") & 0xff_ffff == hash >> 40)
  }
}
