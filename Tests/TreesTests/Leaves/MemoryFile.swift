// Committed versions of a tree in plain memory, so that copy on write can be tested without Storage's
// files: blocks are placed one behind the other and never change or move.
import Glibc
import Storage
import Synchronization
import Testing

/// An append-only place for committed blocks.
final class MemoryFile {
  private let base: UnsafeMutableRawPointer
  private let verified: UnsafeMutablePointer<Atomic<UInt64>>
  private let verifier = BlockVerifier()
  private let capacity: Int
  private var used = 16

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 4096)
    let words = capacity / 1024 + 1
    verified = .allocate(capacity: words)
    for word in 0..<words { (verified + word).initialize(to: Atomic(.max)) }
  }

  deinit {
    base.deallocate()
    verified.deallocate()
  }

  /// Reads everything committed so far.
  var reader: BlockReader {
    BlockReader(
      base: base, limit: UInt64(used), verified: verified, provisional: nil,
      verifier: Unmanaged.passUnretained(verifier))
  }

  /// An editor that builds on everything committed so far.
  func editor() -> BlockEditor { BlockEditor(base: reader, arena: ProvisionalArena()) }

  /// Places the new blocks under a reference; returns its place.
  func commit(_ editor: BlockEditor, _ reference: BlockReference) -> BlockReference {
    if !reference.isProvisional { return reference }
    let source = editor.pointer(reference)
    if BlockHeader.kind(source).isNode {
      for index in 0..<BlockHeader.count(source) {
        let child = BlockHeader.reference(source, index)
        BlockHeader.setReference(source, index, commit(editor, child))
      }
    }
    let length = BlockHeader.blockLength(source)
    precondition(used + length <= capacity)
    memcpy(base + used, source, length)
    defer { used += length }
    return BlockReference(rawValue: UInt64(used))
  }

  /// Every block of a tree with its length.
  static func blocks(_ reader: BlockReader, _ root: BlockReference) -> [BlockReference: Int] {
    var found: [BlockReference: Int] = [:]
    func visit(_ reference: BlockReference) {
      let block = reader.pointer(reference)
      let isNew = found.updateValue(BlockHeader.blockLength(block), forKey: reference) == nil
      #expect(isNew, "a block with two parents")
      guard BlockHeader.kind(block).isNode else { return }
      for index in 0..<BlockHeader.count(block) { visit(BlockHeader.reference(block, index)) }
    }
    visit(root)
    return found
  }

  /// Checks that exactly the blocks no longer used were given up, and no new one was forgotten.
  static func checkAccounts(_ editor: BlockEditor, old: BlockReference, new: BlockReference) {
    let before = old.isNone ? [:] : blocks(editor.reader, old)
    let after = blocks(editor.reader, new)
    let replaced = Set(before.keys).subtracting(after.keys)
    #expect(editor.dead.count == replaced.count)
    #expect(Set(editor.dead.map(\.reference)) == replaced)
    let fresh = after.filter { $0.key.isProvisional }.values.reduce(0, +)
    #expect(editor.provisionalBytes == fresh)
  }
}
