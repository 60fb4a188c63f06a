// What a checksum cannot tell of one block: whether its counts and lengths fit together. Looked at
// once, at the first touch by this process, together with the checksum (ReadMapping), so that those
// who read a block again need not ask. What concerns a parent and its child is checked by whoever
// descends.
//
// Storage knows of nodes only that they begin with references; the layers above add a check for
// each of their kinds (TreeStructure, RootStructure).
internal import Platform

/// Checks of single blocks, by kind.
package enum BlockStructure {
  /// What is known of the file when a block is checked.
  package struct Bounds: Sendable {
    /// Length of the file: nothing that a block counts can be more than it has room for.
    package let fileLength: UInt64
  }

  /// Whether a block of a kind is what readers take it for.
  ///
  /// The block has the length that it states, and room for its references if it is a node.
  /// - Returns: why it is not; nil for a sound block.
  package typealias Check = @Sendable (UnsafeRawPointer, Bounds) -> StaticString?

  /// By kind.
  ///
  /// Entries are set under the lock below before their bit says so, and never change again.
  private nonisolated(unsafe) static let checks: UnsafeMutablePointer<Check?> = {
    let checks = UnsafeMutablePointer<Check?>.allocate(capacity: 256)
    checks.initialize(repeating: nil, count: 256)
    return checks
  }()
  /// One bit a kind; only accessed as atomics.
  private nonisolated(unsafe) static let hasCheck: UnsafeMutablePointer<Atomic<UInt64>> = {
    let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 4)
    for index in 0..<4 { (words + index).initialize(to: Atomic(0)) }
    return words
  }()
  private static let lock = Monitor(())

  /// Adds checks of some kinds; the first of a kind counts.
  ///
  /// Called before the first block of such a kind is read.
  package static func register(_ new: [(BlockKind, Check)]) {
    lock.withLock { _ in
      for (kind, check) in new {
        let (word, bit) = (Int(kind.rawValue >> 6), UInt64(1) << UInt64(kind.rawValue & 63))
        if hasCheck[word].load(ordering: .relaxed) & bit != 0 { continue }
        checks[Int(kind.rawValue)] = check
        // Releasing: pairs with the load in `reason`.
        hasCheck[word].bitwiseOr(bit, ordering: .releasing)
      }
    }
  }

  /// Why a block cannot be what it says it is; nil for a sound one.
  ///
  /// - Parameter length: of the block, as its header states it, all of it readable.
  static func reason(_ block: UnsafeRawPointer, length: Int, fileLength: UInt64) -> StaticString? {
    let kind = BlockHeader.kind(block)
    if kind.isNode {
      let count = BlockHeader.count(block)
      if count * 8 > length - BlockHeader.length {
        return "it claims more references than it has room for"
      }
      var all: UInt64 = 0
      for index in 0..<count { all |= BlockHeader.reference(block, index).stored }
      if BlockReference(stored: all).isProvisional {
        return "it refers to a block of a running transaction"
      }
    }
    let (word, bit) = (Int(kind.rawValue >> 6), UInt64(1) << UInt64(kind.rawValue & 63))
    guard hasCheck[word].load(ordering: .acquiring) & bit != 0 else { return nil }
    return checks[Int(kind.rawValue)]!(block, Bounds(fileLength: fileLength))
  }
}
