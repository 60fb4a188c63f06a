// Columns of byte strings against plain arrays: short, empty, null and very long values, splitting and
// merging leaves, copy on write.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite("Leaves: bytes")
struct BytesColumnTests {
  private typealias Value = [UInt8]?

  private static func value(_ random: inout RandomGenerator, _ style: Int) -> Value {
    let length: Int
    switch style {
    case 0: length = 0
    case 1: length = Int.random(in: 0...20, using: &random)
    case 2: length = Int.random(in: 90...110, using: &random)
    case 3: length = Int.random(in: 0...1024, using: &random)
    case 4: length = Int.random(in: 1020...1030, using: &random)
    case 5: length = Int.random(in: 1025...5000, using: &random)
    case 6: length = Int.random(in: 0...100_000, using: &random)
    case 7: length = LongValue.chunkBytes * 2 + Int.random(in: -1...1, using: &random)
    default: return nil
    }
    var bytes = [UInt8](repeating: .random(in: 0...255, using: &random), count: length)
    for position in stride(from: 0, to: length, by: 511) {
      bytes[position] = .random(in: 0...255, using: &random)
    }
    return bytes
  }

  private static func withRaw<R>(
    _ value: Value, _ body: (UnsafeRawBufferPointer?) -> R
  ) -> R {
    guard let value else { return body(nil) }
    return value.withUnsafeBytes { body($0) }
  }

  private static func read(_ reader: BlockReader, _ column: BlockReference, _ row: Int) -> Value {
    BytesColumn.withBytes(reader, column, row) { bytes in bytes.map { [UInt8]($0) } }
  }

  private static func check(
    _ reader: BlockReader, _ column: BlockReference, _ model: [Value]
  ) {
    #expect(BytesColumn.checkInvariants(reader, column) == [])
    #expect(BytesColumn.rowCount(reader, column) == model.count)
    for (row, expected) in model.enumerated() {
      let found = read(reader, column, row)
      if found != expected {
        Issue.record("row \(row): \(found?.count ?? -1) bytes for \(expected?.count ?? -1)")
        return
      }
      #expect(BytesColumn.isNull(reader, column, row) == (expected == nil))
      #expect(BytesColumn.length(reader, column, row) == expected?.count ?? 0)
    }
  }

  @Test("random changes agree with an array, and older versions stay")
  func randomChanges() async {
    await withSeeds(20) { random in
      let file = MemoryFile(capacity: 256 << 20)
      let styles = (0..<3).map { _ in Int.random(in: 0...8, using: &random) }
      // Some columns hover near empty, some near full.
      let growth = Int.random(in: 2...6, using: &random)
      func next() -> Value { Self.value(&random, styles.randomElement(using: &random)!) }
      var model: [Value] = []
      var committed = BlockReference.none
      for version in 0..<14 {
        let editor = file.editor()
        let oldModel = model
        var column = committed
        if column.isNone {
          model = [next()]
          column = Self.withRaw(model[0]) { BytesColumn.make(editor, $0) }
        }
        for _ in 0..<Int.random(in: 1...(version % 3 == 0 ? 120 : 8), using: &random) {
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<growth where model.count < 256:
            let value = next()
            if Int.random(in: 0..<12, using: &random) == 0 {
              let count = Int.random(in: 0...min(9, 256 - model.count), using: &random)
              column = Self.withRaw(value) {
                BytesColumn.appending(editor, column, repeating: $0, count: count)
              }
              model += Array(repeating: value, count: count)
            } else {
              column = Self.withRaw(value) { BytesColumn.appending(editor, column, $0) }
              model.append(value)
            }
          case growth...6 where model.count > 1:
            let row = Int.random(in: 0..<model.count, using: &random)
            column = BytesColumn.removing(editor, column, row)
            model.remove(at: row)
          default:
            if model.isEmpty { continue }
            let row = Int.random(in: 0..<model.count, using: &random)
            let value = next()
            column = Self.withRaw(value) { BytesColumn.setting(editor, column, row, $0) }
            model[row] = value
          }
        }
        Self.check(editor.reader, column, model)
        MemoryFile.checkAccounts(editor, old: committed, new: column)
        let before = committed
        committed = file.commit(editor, column)
        Self.check(file.reader, committed, model)
        if !before.isNone { Self.check(file.reader, before, oldModel) }
      }
      let editor = file.editor()
      let all = MemoryFile.blocks(editor.reader, committed)
      BytesColumn.free(editor, committed)
      #expect(Set(editor.dead.map(\.reference)) == Set(all.keys))
    }
  }

  @Test("appending fills leaves before it begins the next")
  func appendingIsDense() {
    let editor = BlockEditor.inMemory()
    let value = [UInt8](repeating: 65, count: 100)
    var column = Self.withRaw(value) { BytesColumn.make(editor, $0) }
    for _ in 1..<256 { column = Self.withRaw(value) { BytesColumn.appending(editor, column, $0) } }
    Self.check(editor.reader, column, Array(repeating: value, count: 256))
    #expect(editor.provisionalBytes < 256 * 106)
  }

  @Test("removing all rows but one leaves one small leaf")
  func removingMerges() async {
    await withSeeds(5) { random in
      let editor = BlockEditor.inMemory()
      var model: [Value] = (0..<256).map { _ in Self.value(&random, 3) }
      var column = Self.withRaw(model[0]) { BytesColumn.make(editor, $0) }
      for value in model.dropFirst() {
        column = Self.withRaw(value) { BytesColumn.appending(editor, column, $0) }
      }
      while model.count > 1 {
        let row = Int.random(in: 0..<model.count, using: &random)
        column = BytesColumn.removing(editor, column, row)
        model.remove(at: row)
        if model.count % 16 == 1 { Self.check(editor.reader, column, model) }
      }
      #expect(editor.provisionalBytes < 1100)
      column = BytesColumn.removing(editor, column, 0)
      #expect(BytesColumn.rowCount(editor.reader, column) == 0)
      column = BytesColumn.appending(editor, column, nil)
      Self.check(editor.reader, column, [nil])
    }
  }

  @Test("a value of more than 2,000 chunks nests", .timeLimit(.minutes(1)))
  func nestedLongValue() {
    let editor = BlockEditor.inMemory()
    let length = LongValue.chunkBytes * LongValue.fanOut + 100
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    defer { bytes.deallocate() }
    bytes.initializeMemory(as: UInt8.self, repeating: 3)
    bytes[length - 1] = 9
    bytes[length - 101] = 8
    let value = LongValue.make(editor, UnsafeRawBufferPointer(bytes))
    #expect(LongValue.length(editor.reader, value) == length)
    #expect(LongValue.checkInvariants(editor.reader, value) == [])
    let tail = UnsafeMutableRawBufferPointer.allocate(byteCount: 102, alignment: 16)
    defer { tail.deallocate() }
    LongValue.copy(editor.reader, value, from: length - 102, to: tail)
    #expect(tail.elementsEqual(bytes[(length - 102)...]))
    editor.freeTree(value)
    #expect(editor.provisionalBytes == 0)
  }
}
