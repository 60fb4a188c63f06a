// Fences of sets and of the keys of maps against the search through the tree.
import ObjectStore
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct ElementFencesTests {
  static let types: [ValueType] = [.int, .double, .float, .date, .string, .data]
  static let shelf = TableSchema(
    name: "Shelf",
    columns: types.map { type in
      ColumnSchema(
        name: "set\(type.rawValue)", type: type, isOptional: true, isIndexed: false,
        collection: .set)
    } + [
      ColumnSchema(
        name: "map", type: .int, isOptional: false, isIndexed: false, collection: .map)
    ], primaryKey: nil, isEmbedded: false)

  /// Calls `body` with a value, whose bytes are good during the call.
  static func with(_ value: Int64, _ body: (ElementValue) -> Void) { body(.integer(value)) }

  /// Texts of different kinds: few or many, equal at first, longer than a leaf holds, of different
  /// lengths.
  static func bytes(_ kind: Int, _ random: inout RandomGenerator) -> [UInt8] {
    let number = Int.random(in: 0..<30_000, using: &random)
    switch kind {
    case 0: return Array("key-\(number)".utf8)
    case 1: return Array("\(number)".utf8)
    case 2: return Array("https://example.com/a/long/way/\(number % 9)/to/\(number)".utf8)
    case 3 where random.oneIn(50):
      return [UInt8](repeating: UInt8(number & 255), count: 1_000 + number % 200)
    default:
      return (0..<Int.random(in: 0...12, using: &random)).map { _ in
        UInt8.random(in: 0...1, using: &random) * 0xff
      }
    }
  }

  static func integer(_ kind: Int, _ type: ValueType, _ random: inout RandomGenerator) -> Int64 {
    let small = Int64.random(in: -20_000...20_000, using: &random)
    switch type {
    case .double, .date:
      return Int64(bitPattern: (kind == 0 ? Double(small) : Double(small) * 1e-300).bitPattern)
    case .float: return Int64(Float(small).bitPattern)
    default:
      switch kind {
      case 0: return small
      case 1: return Int64(bitPattern: random.next())
      case 2: return (small >> 3) << 40
      default: return Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random)
      }
    }
  }

  @Test(arguments: types, 0..<4)
  func findWhatTheTreeFinds(type: ValueType, kind: Int) async {
    await withSeeds(1) { random in
      let group = GroupTransaction(.inMemory(), root: .none)
      group.createTable(Self.shelf)
      let table = group.schema.tables[0]
      let column = Self.types.firstIndex(of: type)!
      let key = group.insert(table)
      if random.oneIn(2) { group.setInsert(table, key, column, .null) }
      let isBytes = type == .string || type == .data
      for _ in 0..<3_000 {
        if isBytes {
          let bytes = Self.bytes(kind, &random)
          bytes.withUnsafeBytes { _ = group.setInsert(table, key, column, .bytes($0)) }
        } else {
          group.setInsert(table, key, column, .integer(Self.integer(kind, type, &random)))
        }
      }
      let reader = group.reader(table)
      let elements = reader.elements(reader.locate(key)!, column)
      let fences = ElementFences(elements)
      #expect(fences.isOf(elements))
      var found = 0
      func expectSame(_ value: ElementValue) {
        let expected = elements.position(of: value, sorted: true)
        if expected != nil { found += 1 }
        switch value {
        case .integer(let integer):
          #expect(fences.position(ofInteger: integer, in: elements) == expected, "\(integer)")
        case .bytes(let bytes):
          #expect(fences.position(ofBytes: bytes, in: elements) == expected, "\(Array(bytes))")
        default: break
        }
      }
      // All that are there, and others.
      elements.forEach { _, value in
        expectSame(value)
        return true
      }
      #expect(found >= elements.count - 1)
      for _ in 0..<1_500 {
        if isBytes {
          Self.bytes(Int.random(in: 0..<4, using: &random), &random)
            .withUnsafeBytes { expectSame(.bytes($0)) }
        } else {
          expectSame(.integer(Self.integer(Int.random(in: 0..<4, using: &random), type, &random)))
        }
      }
      for integer in [Int64.min, .max, 0] where !isBytes && type != .float {
        expectSame(.integer(integer))
      }
    }
  }

  @Test func findKeysOfMaps() async {
    await withSeeds(1) { random in
      let group = GroupTransaction(.inMemory(), root: .none)
      group.createTable(Self.shelf)
      let table = group.schema.tables[0]
      let column = Self.types.count
      let key = group.insert(table)
      for number in 0..<3_000 {
        Array("entry \(number)".utf8).withUnsafeBytes {
          _ = group.mapSet(table, key, column, $0, .integer(Int64(number)))
        }
      }
      let reader = group.reader(table)
      let location = reader.locate(key)!
      let keys = reader.mapKeys(location, column)
      let fences = ElementFences(keys)
      for number in 0..<4_000 {
        let position = Array("entry \(number)".utf8).withUnsafeBytes {
          fences.position(ofBytes: $0, in: keys)
        }
        let value = position.map { reader.mapValues(location, column).integer(at: $0) }
        #expect(value == (number < 3_000 ? Int64(number) : nil))
      }
    }
  }

  @Test func areNotWorthItForSmallAndChangingCollections() {
    let group = GroupTransaction(.inMemory(), root: .none)
    group.createTable(Self.shelf)
    let table = group.schema.tables[0]
    let key = group.insert(table)
    for number in Int64(0)..<5_000 { group.setInsert(table, key, 0, .integer(number)) }
    let reader = group.reader(table)
    // A block of the running transaction.
    #expect(ElementFences.lookUpsBefore(reader.elements(reader.locate(key)!, 0)) == nil)
    #expect(ElementFences.lookUpsBefore(reader.elements(reader.locate(key)!, 1)) == nil)
  }
}
