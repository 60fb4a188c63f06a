// A process for tests to kill: commits numbered transactions to a file with full durability and prints
// each number once it is acknowledged. Each transaction writes the number to several leaves, so that
// half of one would show.
//
//   CommittingProcess FILE [COUNT]
import Glibc
import Storage

/// Leaves that hold the number.
let leafCount = 5
let path = CommandLine.arguments[1]
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : Int.max
let store = try Store.open(StoreOptions(path: path))
var round = 0
while round < rounds {
  let transaction = try store.beginWrite()
  let editor = transaction.editor
  var root = transaction.root
  if root.isNone {
    root = editor.allocate(
      kind: BlockKind(rawValue: 0x90), count: leafCount, payloadBytes: leafCount * 8)
    for index in 0..<leafCount {
      let leaf = editor.allocate(
        kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 8 + index * 1000)
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
  }
  root = editor.mutable(root)
  var number: UInt64 = 0
  for index in 0..<leafCount {
    let leaf = editor.mutable(BlockHeader.reference(editor.pointer(root), index))
    BlockHeader.setReference(editor.pointer(root), index, leaf)
    let payload = editor.pointer(leaf) + BlockHeader.length
    number = payload.load(as: UInt64.self) + 1
    payload.storeBytes(of: number, as: UInt64.self)
  }
  transaction.root = root
  _ = try transaction.commit()
  let line = "\(number)\n"
  _ = line.withCString { write(1, $0, strlen($0)) }
  round += 1
}
