// Bytes columns against an array of optional byte strings, from empty ones to 100 KB, and long
// values of their own.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct BytesColumnTests {
  static func randomBytes(_ random: inout RandomGenerator, mean: Int) -> [UInt8] {
    let length: Int
    switch Int.random(in: 0..<60, using: &random) {
    case 0: length = Int.random(in: 0...100_000, using: &random)
    case 1:
      length = [1023, 1024, 1025, 32_751, 32_752, 32_753, 65_504].randomElement(using: &random)!
    case 2...4: length = 0
    default: length = Int.random(in: 0...2 * mean, using: &random)
    }
    var bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
    for position in stride(from: 0, to: length, by: 1 + length / 64) {
      bytes[position] = UInt8.random(in: 0...255, using: &random)
    }
    return bytes
  }

  static func expectEqual(
    _ editor: BlockEditor, _ reference: BlockReference, _ model: [[UInt8]?], isOptional: Bool
  ) {
    var rows = 0
    if !reference.isNone {
      let block = editor.reader.pointer(reference)
      var findings: [String] = []
      BytesColumn.check(editor.reader, block, name: "column", &findings)
      #expect(findings == [])
      rows = BytesColumn.rows(block)
      #expect(rows <= model.count)
    }
    for row in model.indices {
      var stored = BytesColumn.withBytes(editor.reader, reference, row) { $0.map { [UInt8]($0) } }
      if row >= rows && !isOptional { stored = [] }
      #expect(stored == model[row], "row \(row)")
      if row < rows || isOptional {
        #expect(BytesColumn.isNull(editor.reader, reference, row) == (model[row] == nil))
      }
    }
  }

  @Test(arguments: [false, true], [8, 90, 500])
  func randomChangesEqualAnArray(isOptional: Bool, mean: Int) async {
    await withSeeds(2) { random in
      let editor = BlockEditor.inMemory()
      var reference = BlockReference.none
      var model: [[UInt8]?] = []
      for step in 0..<1200 {
        // Grows to a full cluster, then shrinks to nothing, so that parts are split and merged.
        let grows = step < 700
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5 where grows && model.count < 256:
          model.append(isOptional ? nil : [])
          if random.oneIn(4) { continue }
          let value = isOptional && random.oneIn(8) ? nil : Self.randomBytes(&random, mean: mean)
          Self.set(editor, &reference, model.count - 1, value, isOptional)
          model[model.count - 1] = value
        case 0..<7 where !grows && !model.isEmpty, 5 where !model.isEmpty:
          let row = Int.random(in: 0..<model.count, using: &random)
          BytesColumn.remove(editor, &reference, row)
          model.remove(at: row)
        default:
          if model.isEmpty { continue }
          let row = Int.random(in: 0..<model.count, using: &random)
          let value = isOptional && random.oneIn(6) ? nil : Self.randomBytes(&random, mean: mean)
          Self.set(editor, &reference, row, value, isOptional)
          model[row] = value
        }
        if step % 50 == 0 { Self.expectEqual(editor, reference, model, isOptional: isOptional) }
      }
      Self.expectEqual(editor, reference, model, isOptional: isOptional)
    }
  }

  static func set(
    _ editor: BlockEditor, _ reference: inout BlockReference, _ row: Int, _ value: [UInt8]?,
    _ isOptional: Bool
  ) {
    guard let value else {
      BytesColumn.set(editor, &reference, row, nil, isOptional: isOptional)
      return
    }
    value.withUnsafeBytes {
      BytesColumn.set(editor, &reference, row, $0, isOptional: isOptional)
    }
  }

  /// Everything that a column has allocated is given back.
  @Test func removingAllRowsFreesAllBlocks() async {
    await withSeeds(3) { random in
      let editor = BlockEditor.inMemory()
      var reference = BlockReference.none
      for row in 0..<200 {
        Self.set(editor, &reference, row, Self.randomBytes(&random, mean: 300), false)
      }
      for rows in stride(from: 200, to: 0, by: -1) {
        BytesColumn.remove(editor, &reference, Int.random(in: 0..<rows, using: &random))
      }
      #expect(reference.isNone)
      #expect(editor.provisionalBytes == 0)
    }
  }

  @Test(arguments: [0, 1, 32_752, 32_753, 200_000, 16_800_000])
  func longValues(length: Int) {
    let editor = BlockEditor.inMemory()
    var value: [UInt8] = []
    value.reserveCapacity(length)
    var piece = (0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    while value.count < length {
      value.append(contentsOf: piece.prefix(length - value.count))
      piece[value.count % piece.count] &+= 1
    }
    let reference = value.withUnsafeBytes { LongValue.make(editor, $0) }
    let block = editor.reader.pointer(reference)
    #expect(LongValue.length(block) == length)
    #expect(LongValue.withBytes(editor.reader, block) { [UInt8]($0) == value })
    var part = [UInt8](repeating: 0, count: 70_000)
    for start in [0, length / 2, length - 1, length] where start >= 0 {
      let count = part.withUnsafeMutableBytes {
        LongValue.copy(editor.reader, block, from: start, into: $0)
      }
      #expect(count == min(part.count, length - start))
      #expect(part[..<count] == value[start..<start + count])
    }
    editor.freeTree(reference)
    #expect(editor.provisionalBytes == 0)
  }
}
