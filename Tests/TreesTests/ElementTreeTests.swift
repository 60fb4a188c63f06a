// Trees of elements against arrays, over a store: many transactions, and every pinned version stays
// what it was.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct ElementTreeTests {
  enum Value: Equatable {
    case integer(Int64?)
    case bytes([UInt8]?)
  }

  static func value(isPacked: Bool, _ random: inout RandomGenerator) -> Value {
    if isPacked {
      if random.oneIn(12) { return .integer(nil) }
      let shift = Int64.random(in: 0...63, using: &random)
      return .integer(random.oneIn(2) ? 7 : Int64(bitPattern: random.next()) >> shift)
    }
    return .bytes(
      random.oneIn(12) ? nil : BytesColumnTests.randomBytes(&random, mean: 20))
  }

  static func insert(_ tree: ElementTreeEditor, _ value: Value, at position: Int) {
    switch value {
    case .integer(let integer): tree.insert(integer: integer, at: position)
    case .bytes(nil): tree.insert(bytes: nil, at: position)
    case .bytes(let bytes?): bytes.withUnsafeBytes { tree.insert(bytes: $0, at: position) }
    }
  }

  static func set(_ tree: ElementTreeEditor, _ value: Value, at position: Int) {
    switch value {
    case .integer(let integer): tree.set(integer: integer, at: position)
    case .bytes(nil): tree.set(bytes: nil, at: position)
    case .bytes(let bytes?): bytes.withUnsafeBytes { tree.set(bytes: $0, at: position) }
    }
  }

  static func read(_ tree: ElementTree, _ position: Int, isPacked: Bool) -> Value {
    if isPacked {
      return .integer(tree.isNull(at: position) ? nil : tree.integer(at: position))
    }
    return .bytes(tree.withBytes(at: position) { $0.map { [UInt8]($0) } })
  }

  static func expectEqual(_ tree: ElementTree, _ model: [Value], isPacked: Bool) {
    #expect(tree.count == model.count)
    #expect(tree.checkInvariants(isPacked: isPacked, name: "list") == [])
    guard tree.count == model.count else { return }
    for position in stride(from: 0, to: model.count, by: max(1, model.count / 600)) {
      #expect(read(tree, position, isPacked: isPacked) == model[position], "\(position)")
    }
    var next = 0
    tree.forEachLeaf { first, _, rows in
      #expect(first == next)
      next += rows
      return true
    }
    #expect(next == model.count)
  }

  static func change(
    _ tree: ElementTreeEditor, _ model: inout [Value], isPacked: Bool, grows: Bool,
    _ random: inout RandomGenerator
  ) {
    let value = value(isPacked: isPacked, &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<5 where grows:
      insert(tree, value, at: model.count)
      model.append(value)
    case 0..<10 where grows:
      let position = Int.random(in: 0...model.count, using: &random)
      insert(tree, value, at: position)
      model.insert(value, at: position)
    case 0..<12 where !model.isEmpty:
      let position = Int.random(in: 0..<model.count, using: &random)
      tree.remove(at: position)
      model.remove(at: position)
    case 12..<16 where !model.isEmpty:
      let position = Int.random(in: 0..<model.count, using: &random)
      set(tree, value, at: position)
      model[position] = value
    case 16 where model.count > 1:
      let source = Int.random(in: 0..<model.count, using: &random)
      let target = Int.random(in: 0..<model.count, using: &random)
      tree.move(from: source, to: target)
      model.insert(model.remove(at: source), at: target)
    case 17 where random.oneIn(20) && !model.isEmpty:
      let start = Int.random(in: 0..<model.count, using: &random)
      let end = Int.random(in: start...min(model.count, start + 900), using: &random)
      tree.remove(start..<end)
      model.removeSubrange(start..<end)
    case 18 where isPacked && random.oneIn(10):
      let values = (0..<Int64.random(in: 0...2000, using: &random)).map { $0 * 3 }
      values.withUnsafeBufferPointer { tree.append(integers: $0) }
      model += values.map { .integer($0) }
    case 19 where random.oneIn(400):
      tree.removeAll()
      model = []
    default: break
    }
  }

  @Test(arguments: [true, false])
  func everyVersionKeepsItsElements(isPacked: Bool) async {
    await withSeeds(4) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/list.realm", durability: .memory))
      var model: [Value] = []
      var pins: [(snapshot: Snapshot, model: [Value])] = []
      for step in 0..<30 {
        let transaction = try store.beginWrite()
        if random.oneIn(3) {
          transaction.editor.limits.bytes = Int.random(in: 0...20_000, using: &random)
          transaction.editor.limits.passingBytes = Int.random(in: 0...20_000, using: &random)
        }
        let tree = ElementTreeEditor(transaction.editor)
        tree.open(transaction.root, isPacked: isPacked)
        for _ in 0..<Int.random(in: 1...500, using: &random) {
          Self.change(tree, &model, isPacked: isPacked, grows: step % 12 < 7, &random)
        }
        if model.isEmpty {
          Self.insert(tree, isPacked ? .integer(nil) : .bytes([]), at: 0)
          model = [isPacked ? .integer(nil) : .bytes([])]
        }
        Self.expectEqual(tree.tree, model, isPacked: isPacked)
        transaction.root = tree.root
        let snapshot = try transaction.commit()
        pins.append((snapshot, model))
        if pins.count > 4 { pins.remove(at: Int.random(in: 0..<4, using: &random)) }
        for pin in pins {
          Self.expectEqual(
            ElementTree(reader: pin.snapshot.reader, root: pin.snapshot.root), pin.model,
            isPacked: isPacked)
        }
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  /// Three levels of branches, filled in order, at one place and backwards, and emptied again.
  @Test(arguments: [0, 1, 2])
  func manyElements(kind: Int) async {
    await withSeeds { random in
      let editor = BlockEditor.inMemory()
      let tree = ElementTreeEditor(editor)
      tree.open(.none, isPacked: true)
      var model: [Value] = []
      for number in 0..<Int64(60_000) {
        let position = [model.count, model.count / 2, 0][kind]
        tree.insert(integer: number, at: position)
        if kind == 0 { model.append(.integer(number)) }
      }
      if kind == 0 { Self.expectEqual(tree.tree, model, isPacked: true) }
      #expect(tree.tree.checkInvariants(isPacked: true, name: "list") == [])
      #expect(tree.count == 60_000)
      if kind == 2 { #expect(tree.tree.integer(at: 59_999) == 0) }
      while tree.count > 0 {
        tree.remove(at: Int.random(in: 0..<tree.count, using: &random))
        if tree.count % 10_000 == 0 {
          #expect(tree.tree.checkInvariants(isPacked: true, name: "list") == [])
        }
      }
      #expect(tree.root.isNone)
      #expect(editor.provisionalBytes == 0)
    }
  }

  @Test func sortedElementsAreFound() async {
    await withSeeds(2) { random in
      let tree = ElementTreeEditor(BlockEditor.inMemory())
      tree.open(.none, isPacked: true)
      var model: Set<Int64> = []
      for _ in 0..<30_000 {
        let value = Int64.random(in: 0..<40_000, using: &random)
        let (position, isThere) = tree.tree.search { leaf, row in
          let found = PackedLeaf.value(leaf, row)
          return found < value ? -1 : found == value ? 0 : 1
        }
        #expect(isThere == model.contains(value))
        if isThere { #expect(tree.tree.integer(at: position) == value) }
        if !isThere { tree.insert(integer: value, at: position) }
        model.insert(value)
      }
      let sorted = model.sorted()
      #expect(tree.count == sorted.count)
      for (position, value) in sorted.enumerated() {
        if tree.tree.integer(at: position) != value { Issue.record("position \(position)") }
      }
    }
  }
}
