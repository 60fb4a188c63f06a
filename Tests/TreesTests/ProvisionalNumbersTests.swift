// Numbers of blocks that a transaction has in memory: those of blocks that it gives up are given
// again, so that what changes again and again never runs out of them.
import Platform
import Storage
import TestSupport
import Testing
import Trees

@Suite(.ownThreads) struct ProvisionalNumbersTests {
  private static func make(
    _ editor: BlockEditor, _ number: Int, bytes: Int, isResident: Bool
  ) -> BlockReference {
    let block = editor.allocate(
      kind: .chunk, count: number, payloadBytes: bytes, isResident: isResident)
    fill(editor, block, number)
    return block
  }

  /// Makes every byte of a block tell its number.
  private static func fill(_ editor: BlockEditor, _ block: BlockReference, _ number: Int) {
    let bytes = editor.pointer(block)
    for offset in BlockHeader.length..<BlockHeader.blockLength(bytes) {
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: number), toByteOffset: offset, as: UInt8.self)
    }
  }

  private static func expectBlock(_ editor: BlockEditor, _ block: BlockReference, _ number: Int) {
    let bytes = editor.reader.pointer(block)
    let length = BlockHeader.blockLength(bytes)
    let isRight = (BlockHeader.length..<length).allSatisfy {
      bytes.load(fromByteOffset: $0, as: UInt8.self) == UInt8(truncatingIfNeeded: number)
    }
    #expect(BlockHeader.count(bytes) == number && isRight, "block \(number)")
  }

  /// The process stopped at the 4,194,305th block that one transaction had ever made.
  @Test func moreBlocksThanNumbers() {
    let editor = BlockEditor.inMemory()
    let kept = Self.make(editor, 1, bytes: 100, isResident: true)
    for _ in 0..<ProvisionalArena.blockCountMax + 2 {
      editor.free(editor.allocate(kind: .chunk, count: 0, payloadBytes: 0))
    }
    Self.expectBlock(editor, kept, 1)
    #expect(editor.provisionalCount == 2)
    editor.free(kept)
    #expect(editor.provisionalBytes == 0 && editor.passingBytes == 0)
  }

  @Test func aValueThatIsReplacedTakesFewNumbers() {
    let editor = BlockEditor.inMemory()
    var column = BlockReference.none
    var list = BlockReference.none
    let tree = ElementTreeEditor(editor)
    let value = [UInt8](repeating: 7, count: 40_000)
    for round in 0..<2_000 {
      value.withUnsafeBytes {
        BytesColumn.set(editor, &column, 0, $0, isOptional: false)
      }
      tree.open(list, isPacked: true)
      tree.removeAll()
      for number in 0..<300 { tree.append(integer: Int64(round + number)) }
      list = tree.root
    }
    #expect(tree.count == 300 && tree.tree.integer(at: 299) == 2_298)
    #expect(editor.provisionalCount < 20, "\(editor.provisionalCount) numbers")
    editor.freeTree(list)
    editor.freeTree(column)
    #expect(editor.provisionalBytes == 0 && editor.passingBytes == 0)
  }

  @Test func blocksKeepWhatIsTheirs() async {
    await withSeeds(4) { random in
      let editor = BlockEditor.inMemory()
      var blocks: [(reference: BlockReference, number: Int)] = []
      var most = 0
      for step in 0..<6_000 {
        let grows = step % 2_000 < 1_200
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6 where grows, 0..<3 where !grows:
          let number = step % 60_000
          let bytes = Int.random(in: 0...(random.oneIn(200) ? 60_000 : 300), using: &random)
          let isResident = random.oneIn(2)
          blocks.append(
            (Self.make(editor, number, bytes: bytes, isResident: isResident), number))
        case 6 where !blocks.isEmpty:
          let (block, number) = blocks.randomElement(using: &random)!
          let bytes = Int.random(in: 0...2_000, using: &random)
          editor.resize(block, payloadBytes: bytes)
          Self.fill(editor, block, number)
        default:
          if blocks.isEmpty { continue }
          let index = Int.random(in: 0..<blocks.count, using: &random)
          let (block, number) = blocks.remove(at: index)
          Self.expectBlock(editor, block, number)
          editor.free(block)
        }
        most = max(most, blocks.count)
        if step % 1_000 == 0 {
          for (block, number) in blocks { Self.expectBlock(editor, block, number) }
        }
      }
      #expect(Set(blocks.map { $0.reference }).count == blocks.count)
      #expect(editor.provisionalCount == most)
      for (block, number) in blocks {
        Self.expectBlock(editor, block, number)
        editor.free(block)
      }
      #expect(editor.provisionalBytes == 0 && editor.passingBytes == 0)
    }
  }

  /// A list that appends fill leaves memory leaf by leaf where a transaction has much of it.
  @Test(arguments: [true, false])
  func aLongListIsNotKeptInMemory(isPacked: Bool) throws {
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreOptions(path: folder.path + "/list.realm", durability: .memory))
    let transaction = try store.beginWrite()
    let bytesMax = 300_000
    transaction.editor.limits.bytes = bytesMax
    let tree = ElementTreeEditor(transaction.editor)
    tree.open(transaction.root, isPacked: isPacked)
    var most = 0
    let count = 200_000
    for number in 0..<count {
      if isPacked {
        tree.append(integer: Int64(number) << 30)
      } else {
        withUnsafeBytes(of: number) { tree.insert(bytes: $0, at: tree.count) }
      }
      most = max(most, transaction.editor.provisionalBytes)
    }
    #expect(most < bytesMax + 50_000, "\(most) bytes in memory")
    // A leaf that is in the file is changed again.
    let middle = count / 2
    tree.remove(at: middle)
    if isPacked {
      tree.insert(integer: Int64(middle) << 30, at: middle)
    } else {
      withUnsafeBytes(of: middle) { tree.insert(bytes: $0, at: middle) }
    }
    transaction.root = tree.root
    let snapshot = try transaction.commit()
    let stored = ElementTree(reader: snapshot.reader, root: snapshot.root)
    #expect(stored.count == count)
    #expect(stored.checkInvariants(isPacked: isPacked, name: "list") == [])
    for position in stride(from: 0, to: count, by: 997) {
      if isPacked {
        #expect(stored.integer(at: position) == Int64(position) << 30)
      } else {
        let found = stored.withBytes(at: position) { $0?.loadUnaligned(as: Int.self) }
        #expect(found == position)
      }
    }
    #expect(try store.checkInvariants().findings == [])
  }
}
