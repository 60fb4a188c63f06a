// Commits whose system calls are recorded: two threads that commit numbered transactions, so that
// groups form. Each changes some of the leaves by its number; what all of them hold is noted as one
// hash before the commit, the number again when it is acknowledged.
import Glibc
import Platform
import Simulation
import Storage

private let leafCountOfRecorded = 48

/// - Parameter arguments: FILE record RECORDING COUNT never|always plain|encrypted ENTRIES, after
///   the program's name. It is killed after so many entries in the recording; 0 for never.
func commitRecorded(_ arguments: [String]) throws {
  let recording = try Recording(
    arguments[3], killedAfter: Int(arguments[7]).flatMap { $0 > 0 ? $0 : nil })
  var options = StoreOptions(path: arguments[1], fileSystem: RecordingFileSystem(recording))
  if arguments[6] == "encrypted" { options.encryptionKey = (0..<64).map { $0 } }
  options.commitLog = arguments[5] == "always" ? .always : .never
  options.logSegmentMin = 48 << 10
  let store = try Store.open(options)
  let count = Int(arguments[4])!
  let threads = (0..<2).map { index in
    Thread.start(name: "writer \(index)") {
      do { for _ in 0..<count { try commitNext(store, recording) } } catch {
        fatalError("\(error)")
      }
    }
  }
  for thread in threads { thread.join() }
}

private func commitNext(_ store: Store, _ recording: Recording) throws(StorageError) {
  let transaction = try store.beginWrite()
  let editor = transaction.editor
  var root = transaction.root
  if root.isNone {
    root = editor.allocate(
      kind: BlockKind(rawValue: 0xa0), count: leafCountOfRecorded,
      payloadBytes: leafCountOfRecorded * 8)
    for index in 0..<leafCountOfRecorded {
      let leaf = editor.allocate(
        kind: BlockKind(rawValue: 0x20), count: 0, payloadBytes: 8 + index * index * 2)
      BlockHeader.setReference(editor.pointer(root), index, leaf)
    }
  }
  root = editor.mutable(root)
  let first = BlockHeader.reference(editor.pointer(root), 0)
  let number = firstWord(editor.reader.pointer(first)) + 1
  var random = RandomGenerator(seed: number)
  let changed = (0..<Int.random(in: 1...6, using: &random)).map { _ in
    Int.random(in: 0..<leafCountOfRecorded, using: &random)
  }
  for index in Set([0] + changed) {
    let leaf = editor.mutable(BlockHeader.reference(editor.pointer(root), index))
    BlockHeader.setReference(editor.pointer(root), index, leaf)
    let bytes = editor.pointer(leaf)
    for offset in stride(from: BlockHeader.length, to: BlockHeader.blockLength(bytes), by: 8) {
      bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    }
  }
  transaction.root = root
  recording.mark("begun", number, contentHash(editor.reader, root))
  _ = try transaction.commit()
  recording.mark("acknowledged", number)
}

private func firstWord(_ block: UnsafeRawPointer) -> UInt64 {
  BlockHeader.payload(block).load(as: UInt64.self)
}

/// The same as in CrashRecordedTests.
private func contentHash(_ reader: BlockReader, _ root: BlockReference) -> UInt64 {
  let block = reader.pointer(root)
  return (0..<BlockHeader.count(block)).reduce(0) { hash, index in
    let leaf = reader.pointer(BlockHeader.reference(block, index))
    return hash64(
      BlockHeader.payload(leaf), count: BlockHeader.blockLength(leaf) - BlockHeader.length,
      seed: hash)
  }
}
