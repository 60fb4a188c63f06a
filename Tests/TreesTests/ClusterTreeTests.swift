// A table's tree against a dictionary: inserts, changes and deletes, gaps, deep trees, positions.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct ClusterTreeTests {
  struct Row: Equatable {
    var number: Int64 = 0
    var optional: Int64?
    var bytes: [UInt8]?
  }
  static let layouts: [ClusterTree.ColumnLayout] = [.packed, .packed, .bytes]

  static func expectEqual(_ editor: ClusterTreeEditor, _ model: [Int64: Row]) {
    editor.flush()
    let tree = editor.tree
    let (findings, objects) = tree.checkInvariants(
      columns: layouts, nextKey: editor.nextKey, name: "table")
    #expect(findings == [])
    #expect(objects == model.count)
    #expect(editor.count == model.count)
    let sorted = model.keys.sorted()
    var found: [Int64] = []
    tree.forEachCluster { number, cluster in
      var slots = [UInt8](repeating: 0, count: 256)
      let rows = Cluster.slots(cluster, into: &slots)
      for row in 0..<rows {
        found.append(Int64(number) << 8 + Int64(slots[row]))
        #expect(Cluster.row(cluster, slot: Int(slots[row])) == row)
        #expect(Cluster.slot(cluster, row: row) == Int(slots[row]))
        #expect(self.row(tree.reader, cluster, row) == model[found.last!])
      }
      return true
    }
    #expect(found == sorted)
    for position in stride(from: 0, to: sorted.count, by: 37) {
      let place = tree.cluster(at: position)!
      let slot = Cluster.slot(place.cluster, row: position - place.before)
      #expect(Int64(place.number) << 8 + Int64(slot) == sorted[position])
      #expect(tree.objects(before: place.number) == place.before)
    }
    #expect(tree.cluster(at: sorted.count) == nil)
  }

  static func row(_ reader: BlockReader, _ cluster: UnsafeRawPointer, _ row: Int) -> Row {
    func integer(_ column: Int, isOptional: Bool) -> Int64? {
      let reference = Cluster.column(cluster, column)
      if reference.isNone { return isOptional ? nil : 0 }
      let leaf = reader.pointer(reference)
      if row >= PackedLeaf.rows(leaf) { return isOptional ? nil : 0 }
      return PackedLeaf.isNull(leaf, row) ? nil : PackedLeaf.value(leaf, row)
    }
    let bytes = BytesColumn.withBytes(reader, Cluster.column(cluster, 2), row) {
      $0.map { [UInt8]($0) }
    }
    return Row(
      number: integer(0, isOptional: false)!, optional: integer(1, isOptional: true), bytes: bytes)
  }

  @Test(arguments: [0, 1 << 14 - 300, 1 << 40 - 300] as [Int64])
  func randomChangesEqualADictionary(firstKey: Int64) async {
    await withSeeds(2) { random in
      let editor = BlockEditor.inMemory()
      let tree = ClusterTreeEditor(
        editor, root: .none, depth: 0, count: 0, nextKey: firstKey, columnCount: 3)
      var model: [Int64: Row] = [:]
      var keys: [Int64] = []
      for step in 0..<12_000 {
        let grows = (step / 3_000) % 2 == 0
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where random.oneIn(2_000):
          tree.deleteAll()
          model = [:]
          keys = []
        case 0..<3 where !keys.isEmpty && random.oneIn(200):
          // A part of those of one cluster, or all of it.
          let number = keys.randomElement(using: &random)! >> 8
          let share = random.oneIn(4) ? 1 : UInt64.random(in: 2...20, using: &random)
          let gone = keys.filter { $0 >> 8 == number && random.oneIn(share) }
          tree.delete(together: gone, columns: Self.layouts)
          for key in gone { model[key] = nil }
          keys.removeAll { model[$0] == nil }
        case 0..<5 where grows, 0 where !grows:
          let key = tree.insert()
          #expect(key == keys.last.map { max($0 + 1, key) } ?? key)
          model[key] = Row()
          keys.append(key)
        case 0..<7 where !keys.isEmpty && (!grows || random.oneIn(3)):
          let position = Int.random(in: 0..<keys.count, using: &random)
          let key = keys.remove(at: position)
          #expect(tree.delete(key, columns: Self.layouts))
          #expect(!tree.delete(key, columns: Self.layouts))
          model[key] = nil
        default:
          guard let key = random.oneIn(3) ? keys.last : keys.randomElement(using: &random) else {
            continue
          }
          Self.change(tree, key, &model[key]!, &random)
        }
        if step % 1_500 == 0 { Self.expectEqual(tree, model) }
      }
      Self.expectEqual(tree, model)
      #expect(!tree.setInteger(tree.nextKey, 0, 1, isOptional: false))
      #expect(!tree.setInteger(-1, 0, 1, isOptional: false))
      for key in keys { #expect(tree.delete(key, columns: Self.layouts)) }
      Self.expectEqual(tree, [:])
      #expect(tree.root.isNone)
      #expect(editor.provisionalBytes == 0)
    }
  }

  static func change(
    _ tree: ClusterTreeEditor, _ key: Int64, _ row: inout Row, _ random: inout RandomGenerator
  ) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      row.number = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
      #expect(tree.setInteger(key, 0, row.number, isOptional: false))
    case 1:
      row.optional = Int64.random(in: 0..<1 << 20, using: &random)
      #expect(tree.setInteger(key, 1, row.optional!, isOptional: true))
    case 2:
      row.optional = nil
      #expect(tree.setIntegerNull(key, 1))
    default:
      let bytes = random.oneIn(5) ? nil : BytesColumnTests.randomBytes(&random, mean: 30)
      row.bytes = bytes
      guard let bytes else {
        #expect(tree.setBytes(key, 2, nil, isOptional: true))
        return
      }
      #expect(bytes.withUnsafeBytes { tree.setBytes(key, 2, $0, isOptional: true) })
    }
  }
}
