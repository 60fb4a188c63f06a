// Packed leaves against an array of optional integers: any order of changes, any widths.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct PackedLeafTests {
  /// Values of one random magnitude, so that leaves meet every width and every change of width.
  static func randomValue(_ random: inout RandomGenerator, bits: Int, signed: Bool) -> Int64 {
    let value = bits == 0 ? 0 : Int64(bitPattern: random.next() >> UInt64(64 - bits))
    return signed && Bool.random(using: &random) ? 0 &- value : value
  }

  static func expectEqual(
    _ editor: BlockEditor, _ reference: BlockReference, _ model: [Int64?], isOptional: Bool
  ) {
    guard !reference.isNone else {
      #expect(model.allSatisfy { $0 == (isOptional ? nil : 0) })
      return
    }
    let block = editor.reader.pointer(reference)
    var findings: [String] = []
    PackedLeaf.check(block, name: "leaf", &findings)
    #expect(findings == [])
    let rows = PackedLeaf.rows(block)
    let stored = (0..<rows).map { row in
      PackedLeaf.isNull(block, row) ? nil : PackedLeaf.value(block, row)
    }
    let missing = Array(repeating: isOptional ? nil : Int64(0), count: model.count - rows)
    #expect(stored + missing == model)
    let present = model[..<rows].compactMap { $0 }
    #expect(PackedLeaf.nullCount(block) == rows - present.count)
    #expect(PackedLeaf.sum(block) == present.reduce(0, &+))
    #expect(PackedLeaf.range(block)?.lowerBound == present.min())
    #expect(PackedLeaf.range(block)?.upperBound == present.max())
    for value in Set(present + [0, -1, 1, .min, .max]) {
      #expect(
        PackedLeaf.count(block, equalTo: value) == present.count { $0 == value }, "value \(value)")
    }
    for value in present { #expect(PackedLeaf.magnitudeMax(block) >= Double(value).magnitude) }
    expectRows(block, stored)
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: 256) { values in
      #expect(PackedLeaf.unpack(block, into: values.baseAddress!) == rows)
      for row in 0..<rows where stored[row] != nil { #expect(values[row] == stored[row]) }
    }
  }

  /// Neighbouring rows below some of the values, of leaves without nulls.
  private static func expectCounts(_ block: UnsafeRawPointer, _ stored: [Int64?]) {
    let values = stored.compactMap { $0 }
    if values.count < stored.count { return }
    let bounds = [values.first, values.last, values.min(), values.max()].compactMap { $0 }
    for bound in bounds + [0, .min, .max] {
      for start in stride(from: 0, to: values.count, by: 13) {
        let rows = start..<min(start + 17, values.count)
        #expect(
          PackedLeaf.count(block, rows: rows, below: bound) == values[rows].count { $0 < bound },
          "rows \(rows) below \(bound)")
      }
    }
  }

  /// The rows in ranges around some of the values, and the null ones.
  private static func expectRows(_ block: UnsafeRawPointer, _ stored: [Int64?]) {
    func bits(_ test: (Int64?) -> Bool) -> SIMD4<UInt64> {
      var words = SIMD4<UInt64>.zero
      for (row, value) in stored.enumerated() where test(value) {
        words[row / 64] |= 1 << UInt64(row % 64)
      }
      return words
    }
    #expect(PackedLeaf.nulls(block) == bits { $0 == nil })
    expectCounts(block, stored)
    let bounds = Set(
      [stored.first, stored.last, stored.isEmpty ? nil : stored[stored.count / 2]].compactMap {
        $0 ?? nil
      } + [
        0, .min, .max,
      ])
    for low in bounds {
      for high in bounds where low <= high {
        #expect(
          PackedLeaf.rows(block, in: low...high)
            == bits { $0.map { (low...high).contains($0) } ?? false }, "\(low)...\(high)")
        let (first, last) = (Double(low), Double(high))
        #expect(
          PackedLeaf.rows(block, in: first...last, isFloat: false)
            == bits {
              $0.map { (first...last).contains(Double(bitPattern: UInt64(bitPattern: $0))) }
                ?? false
            })
        #expect(
          PackedLeaf.rows(block, in: first...last, isFloat: true)
            == bits {
              $0.map {
                (first...last)
                  .contains(Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))))
              } ?? false
            })
      }
    }
  }

  @Test(arguments: [false, true])
  func randomChangesEqualAnArray(isOptional: Bool) async {
    await withSeeds(8) { random in
      let editor = BlockEditor.inMemory()
      var reference = BlockReference.none
      var model: [Int64?] = []
      var bits = 8
      var signed = false
      for step in 0..<600 {
        if random.oneIn(40) {
          bits = Int.random(in: 0...64, using: &random)
          signed = Bool.random(using: &random)
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4 where model.count < 256:
          // A row may stay at its default: the leaf becomes shorter than its cluster.
          model.append(isOptional ? nil : 0)
          if Bool.random(using: &random) { fallthrough }
        case 4..<8 where !model.isEmpty:
          let row = Int.random(in: 0..<model.count, using: &random)
          let value = randomValue(&random, bits: bits, signed: signed)
          PackedLeaf.set(editor, &reference, row, value, isOptional: isOptional)
          model[row] = value
        case 8 where isOptional && !model.isEmpty:
          let row = Int.random(in: 0..<model.count, using: &random)
          PackedLeaf.setNull(editor, &reference, row)
          model[row] = nil
        default:
          if model.isEmpty { continue }
          let row = Int.random(in: 0..<model.count, using: &random)
          PackedLeaf.remove(editor, &reference, row)
          model.remove(at: row)
        }
        if step % 20 == 0 { expectEqual(editor, reference, model, isOptional: isOptional) }
      }
      expectEqual(editor, reference, model, isOptional: isOptional)
    }
  }

  private func randomValue(_ random: inout RandomGenerator, bits: Int, signed: Bool) -> Int64 {
    Self.randomValue(&random, bits: bits, signed: signed)
  }

  private func expectEqual(
    _ editor: BlockEditor, _ reference: BlockReference, _ model: [Int64?], isOptional: Bool
  ) {
    Self.expectEqual(editor, reference, model, isOptional: isOptional)
  }

  @Test func encodedLeavesAreAsNarrowAsTheirValues() {
    let cases: [(values: [Int64], bytes: Int)] = [
      (Array(repeating: 0, count: 256), 0), (Array(repeating: -77, count: 256), 0),
      ((0..<256).map { $0 & 1 }, 32), ((0..<256).map { $0 & 3 }, 64),
      ((0..<256).map { $0 & 15 }, 128), ((0..<256).map { $0 % 100 }, 256),
      ((0..<256).map { 1_000_000 + $0 }, 256), ((0..<256).map { -$0 }, 256),
      ((0..<256).map { $0 * 200 }, 512), ((0..<256).map { $0 * 2_000_000 }, 1024),
      ((0..<256).map { $0 * 2_000_000_000_000 }, 2048), ([Int64.min, .max], 16),
    ]
    for (values, bytes) in cases {
      let editor = BlockEditor.inMemory()
      var reference = BlockReference.none
      values.withUnsafeBufferPointer { PackedLeaf.encode(editor, &reference, $0, nulls: nil) }
      let length = BlockHeader.blockLength(editor.reader.pointer(reference))
      #expect(length == BlockHeader.blockLength(forPayload: 8 + bytes), "\(values.prefix(3))")
      expectEqual(editor, reference, values, isOptional: false)
    }
  }

  /// Each step is outside of what the leaf can hold at first; it must leave room on the right side.
  @Test func descendingAndAscendingValuesStaySmall() {
    for step: Int64 in [-3, 3] {
      let editor = BlockEditor.inMemory()
      var reference = BlockReference.none
      var model: [Int64?] = []
      for row in 0..<256 {
        model.append(5_000_000_000 + Int64(row) * step)
        PackedLeaf.set(editor, &reference, row, model[row]!, isOptional: false)
      }
      expectEqual(editor, reference, model, isOptional: false)
      #expect(BlockHeader.blockLength(editor.reader.pointer(reference)) <= 544)
    }
  }
}
