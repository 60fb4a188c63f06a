// Packed integer leaves against plain arrays, with random changes in every width.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite("Leaves: integers")
struct IntegerLeafTests {
  /// Values of very different ranges, so that every width, base and change of width occurs.
  private static func value(_ random: inout RandomGenerator, _ style: Int) -> Int64? {
    switch style {
    case 0: return 0
    case 1: return Int64.random(in: 0...1, using: &random)
    case 2: return Int64.random(in: 0...3, using: &random)
    case 3: return Int64.random(in: 0...15, using: &random)
    case 4: return Int64.random(in: 0...255, using: &random)
    case 5: return Int64.random(in: 0...65_535, using: &random)
    case 6: return Int64.random(in: 0...0xffff_ffff, using: &random)
    case 7: return Int64.random(in: .min ... .max, using: &random)
    case 8: return Int64.random(in: 1_000_000_000_000...1_000_000_000_200, using: &random)
    case 9: return Int64.random(in: -300 ... -290, using: &random)
    case 10: return [Int64.min, .max, 0, -1, .min + 1, .max - 1].randomElement(using: &random)!
    case 11: return nil
    default: return Int64.min + Int64.random(in: 0...3, using: &random)
    }
  }

  private static func check(_ block: UnsafeRawPointer, _ model: [Int64?]) {
    #expect(IntegerLeaf.checkInvariants(block) == [])
    #expect(IntegerLeaf.count(block) == model.count)
    let read = model.indices.map {
      IntegerLeaf.isNull(block, $0) ? nil : IntegerLeaf.value(block, $0)
    }
    #expect(read == model)
    #expect(model.indices.allSatisfy { IntegerLeaf.value(block, $0) == model[$0] ?? 0 })
    let unpacked = [Int64](unsafeUninitializedCapacity: model.count) { target, count in
      IntegerLeaf.unpack(block, into: target.baseAddress!)
      count = model.count
    }
    #expect(unpacked == model.map { $0 ?? 0 })
    let present = model.compactMap { $0 }
    #expect(IntegerLeaf.sum(block) == present.reduce(0, &+))
    #expect(IntegerLeaf.nullCount(block) == model.count - present.count)
    let range = IntegerLeaf.minMax(block)
    #expect(range?.min == present.min())
    #expect(range?.max == present.max())
    for wanted in [0, 1, -1, .max, .min, present.first ?? 7, present.last ?? 7] {
      #expect(IntegerLeaf.countEqual(block, wanted) == present.count { $0 == wanted })
    }
  }

  @Test("random changes agree with an array")
  func randomChanges() async {
    await withSeeds(60) { random in
      let editor = BlockEditor.inMemory()
      let styles = (0..<3).map { _ in Int.random(in: 0...12, using: &random) }
      func next() -> Int64? { Self.value(&random, styles.randomElement(using: &random)!) }
      var model = [next()]
      var leaf = Self.make(editor, model)
      for step in 0..<600 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...4 where model.count < 256:
          let value = next()
          leaf = IntegerLeaf.appending(editor, leaf, value)
          model.append(value)
        case 5 where model.count < 256:
          let value = next()
          let count = Int.random(in: 0...min(40, 256 - model.count), using: &random)
          leaf = IntegerLeaf.appending(editor, leaf, repeating: value, count: count)
          model += Array(repeating: value, count: count)
        case 6...7 where model.count > 1:
          let index = Int.random(in: 0..<model.count, using: &random)
          leaf = IntegerLeaf.removing(editor, leaf, index)
          model.remove(at: index)
        case 8 where step % 9 == 0:
          leaf = Self.make(editor, model)
        default:
          let index = Int.random(in: 0..<model.count, using: &random)
          let value = next()
          leaf = IntegerLeaf.setting(editor, leaf, index, value)
          model[index] = value
        }
        if step % 7 == 0 || step > 590 { Self.check(editor.reader.pointer(leaf), model) }
      }
    }
  }

  @Test("changes of a committed leaf go to a copy")
  func copyOnWrite() async {
    await withSeeds(30) { random in
      let file = MemoryFile(capacity: 1 << 20)
      func next() -> Int64? { Self.value(&random, Int.random(in: 0...12, using: &random)) }
      var model = [next()]
      var editor = file.editor()
      var committed = file.commit(editor, Self.make(editor, model))
      for _ in 0..<60 {
        editor = file.editor()
        let oldModel = model
        var leaf = committed
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let index = Int.random(in: 0..<model.count, using: &random)
          let value = next()
          switch Int.random(in: 0..<4, using: &random) {
          case 0 where model.count > 1:
            leaf = IntegerLeaf.removing(editor, leaf, index)
            model.remove(at: index)
          case 1:
            leaf = IntegerLeaf.appending(editor, leaf, value)
            model.append(value)
          case 2:
            leaf = IntegerLeaf.setting(editor, leaf, index, model[index])
          default:
            leaf = IntegerLeaf.setting(editor, leaf, index, value)
            model[index] = value
          }
        }
        MemoryFile.checkAccounts(editor, old: committed, new: leaf)
        let before = committed
        committed = file.commit(editor, leaf)
        Self.check(file.reader.pointer(committed), model)
        Self.check(file.reader.pointer(before), oldModel)
      }
    }
  }

  @Test("a full leaf of near values is small")
  func fullLeafIsTight() {
    let editor = BlockEditor.inMemory()
    var leaf = Self.make(editor, [1_000_000_000_000])
    for number in 1..<256 {
      leaf = IntegerLeaf.appending(editor, leaf, 1_000_000_000_000 + Int64(number))
    }
    let block = editor.reader.pointer(leaf)
    #expect(BlockHeader.blockLength(block) == 16 + 16 + 256)
    Self.check(block, (0..<256).map { 1_000_000_000_000 + Int64($0) })
  }

  @Test("a value that wraps around the base does not count as near it")
  func wrapAround() {
    let editor = BlockEditor.inMemory()
    var model: [Int64?] = (0..<64).map { Int64.max - 63 + $0 }
    var leaf = Self.make(editor, model)
    #expect(BlockHeader.blockLength(editor.reader.pointer(leaf)) == 96)
    model[5] = .min
    leaf = IntegerLeaf.setting(editor, leaf, 5, .min)
    Self.check(editor.reader.pointer(leaf), model)
    #expect(IntegerLeaf.countEqual(editor.reader.pointer(leaf), .min + 1) == 0)
  }

  @Test("falling values do not encode the leaf at each append")
  func fallingValues() {
    let editor = BlockEditor.inMemory()
    var leaf = Self.make(editor, [0])
    for number in 1..<256 { leaf = IntegerLeaf.appending(editor, leaf, Int64(-number)) }
    Self.check(editor.reader.pointer(leaf), (0..<256).map { Int64(-$0) })
  }

  private static func make(_ editor: BlockEditor, _ model: [Int64?]) -> BlockReference {
    var nulls = [UInt8](repeating: 0, count: 32)
    for index in model.indices where model[index] == nil { nulls[index / 8] |= 1 << (index % 8) }
    // What stands in the place of a null must not matter.
    return model.map { $0 ?? 4711 }.withUnsafeBufferPointer {
      IntegerLeaf.make(editor, $0, nulls: nulls)
    }
  }
}
