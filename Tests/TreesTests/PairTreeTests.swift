// Trees of pairs against sorted arrays, over a store: many transactions, and every pinned version
// stays what it was.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct PairTreeTests {
  /// Kinds of pairs: spread over all integers, few firsts, ascending, few of both with many equal.
  static func pair(_ kind: Int, _ count: Int, _ random: inout RandomGenerator) -> Pair {
    switch kind {
    case 0: Pair(Int64(bitPattern: random.next()), Int64(bitPattern: random.next()))
    case 1:
      Pair(Int64.random(in: -3...3, using: &random), Int64.random(in: 0..<100_000, using: &random))
    case 2: Pair(Int64(count), Int64.random(in: 0..<300, using: &random))
    default:
      Pair(Int64.random(in: 0..<6, using: &random), Int64.random(in: 0..<40, using: &random))
    }
  }

  static func expectEqual(_ tree: PairTree, _ model: [Pair], _ random: inout RandomGenerator) {
    #expect(tree.checkInvariants(name: "pairs") == [])
    #expect(tree.count == model.count)
    var all: [Pair] = []
    tree.forEach {
      all.append($0)
      return true
    }
    #expect(all == model)
    var reversed: [Pair] = []
    tree.forEachDescending {
      reversed.append($0)
      return true
    }
    #expect(reversed == model.reversed())
    guard !model.isEmpty else { return }
    for _ in 0..<20 {
      let position = Int.random(in: 0..<model.count, using: &random)
      let pair = model[position]
      #expect(tree.pair(at: position) == pair)
      #expect(tree.rank(pair) == model.firstIndex(of: pair))
      #expect(tree.rank(pair, orEqual: true) == model.lastIndex(of: pair)! + 1)
      #expect(tree.contains(pair))
      #expect(tree.count(first: pair.first) == model.count { $0.first == pair.first })
      var from: [Pair] = []
      tree.forEach(from: pair) {
        from.append($0)
        return from.count < 5
      }
      #expect(from == Array(model[model.firstIndex(of: pair)!...].prefix(5)))
      for room in [1, 16, 1000] {
        let seconds = [Int64](unsafeUninitializedCapacity: room) { buffer, count in
          count = tree.copySeconds(of: pair.first, into: buffer)
        }
        #expect(seconds == model.filter { $0.first == pair.first }.prefix(room).map(\.second))
      }
      var back: [Pair] = []
      tree.forEachDescending(from: pair) {
        back.append($0)
        return back.count < 5
      }
      #expect(back == Array(model[...model.lastIndex(of: pair)!].suffix(5).reversed()))
      let other = Pair(pair.first, pair.second ^ 1)
      #expect(tree.contains(other) == model.contains(other))
    }
  }

  @Test(arguments: 0..<4)
  func everyVersionKeepsItsPairs(kind: Int) async {
    await withSeeds(amount(3, debug: 1)) { random in
      let folder = TemporaryFolder()
      let store = try Store.open(
        StoreOptions(path: folder.path + "/pairs.realm", durability: .memory))
      var model: [Pair] = []
      var pins: [(snapshot: Snapshot, model: [Pair])] = []
      var made = 0
      for step in 0..<24 {
        let transaction = try store.beginWrite()
        let tree = PairTreeEditor(transaction.editor, root: transaction.root)
        for _ in 0..<Int.random(in: 1...900, using: &random) {
          if model.isEmpty || Int.random(in: 0..<10, using: &random) < (step % 12 < 7 ? 8 : 2) {
            let pair = Self.pair(kind, made, &random)
            made += 1
            tree.insert(pair)
            let index = model.partitioningIndex { pair < $0 }
            model.insert(pair, at: index)
          } else if random.oneIn(150) {
            let first = model.randomElement(using: &random)!.first
            let last = first.addingReportingOverflow(Int64.random(in: 0...2, using: &random))
            let firsts = first...(last.overflow ? first : last.partialValue)
            tree.removeAll(firsts: firsts)
            model.removeAll { firsts.contains($0.first) }
          } else {
            let pair = model.remove(at: Int.random(in: 0..<model.count, using: &random))
            #expect(tree.remove(pair))
            let missing = Pair(pair.first ^ 1 << 40, pair.second)
            #expect(tree.remove(missing) == model.contains(missing))
            if let index = model.firstIndex(of: missing) { model.remove(at: index) }
          }
        }
        if model.isEmpty {
          tree.insert(Pair(0, 0))
          model = [Pair(0, 0)]
        }
        Self.expectEqual(tree.tree, model, &random)
        transaction.root = tree.root
        let snapshot = try transaction.commit()
        pins.append((snapshot, model))
        if pins.count > 4 { pins.remove(at: Int.random(in: 0..<4, using: &random)) }
        for pin in pins {
          Self.expectEqual(
            PairTree(reader: pin.snapshot.reader, root: pin.snapshot.root), pin.model, &random)
        }
      }
      #expect(try store.checkInvariants().findings == [])
    }
  }

  @Test func manyPairsBuiltAtOnceThenRemoved() async {
    await withSeeds(2) { random in
      let editor = BlockEditor.inMemory()
      var model = (0..<40_000).map { Pair($0 / 3, $0) }
      let tree = PairTreeEditor(editor, root: .none)
      model.withUnsafeBufferPointer { tree.build($0) }
      Self.expectEqual(tree.tree, model, &random)
      model.shuffle(using: &random)
      while let pair = model.popLast() {
        #expect(tree.remove(pair))
        if model.count % 10_000 == 0 { Self.expectEqual(tree.tree, model.sorted(), &random) }
      }
      #expect(tree.root.isNone)
      #expect(editor.provisionalBytes == 0)
    }
  }
}

extension Array {
  /// First index whose element fulfils the condition, which no element before one that does may.
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
