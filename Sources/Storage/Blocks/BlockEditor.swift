// Copy on write for one transaction. Changed and new blocks live in memory under provisional
// references until the commit places them; the editor knows nothing of files, so trees can be
// tested on it alone.
internal import Glibc
internal import Platform

/// The blocks that a write transaction has made, changed and given up.
///
/// Belongs to the transaction's Realm; never shared between threads.
@usableFromInline
package final class BlockEditor {
  /// A block of an older version that this transaction no longer needs, or several of one birth
  /// side by side.
  package struct DeadBlock {
    package let offset: UInt64
    /// Bytes that it takes in the file.
    package fileprivate(set) var length: Int
    package let birth: Version

    package init(offset: UInt64, length: Int, birth: Version) {
      self.offset = offset
      self.length = length
      self.birth = birth
    }
  }

  /// Reads blocks of the base version and of this transaction.
  @usableFromInline package let reader: BlockReader
  // Unchecked exclusivity, here and in the arena: one thread at a time, in short accesses that run
  // no foreign code, and several for each changed block.

  /// Blocks of older versions that were replaced or freed.
  @exclusivity(unchecked) package private(set) var dead: [DeadBlock] = []
  #if PLANTED_BUGS
    /// What copies of leaves replace, for the planted bug that changes it in place.
    private var replacedLeaves: [BlockReference: (old: BlockReference, length: Int)] = [:]
    /// The same with the copies, of those that are there.
    var replaced: [(old: BlockReference, copy: BlockReference, length: Int)] {
      replacedLeaves.map { (old: $0.value.old, copy: $0.key, length: $0.value.length) }
    }
  #endif
  /// Their bytes: never more than a file has, unless its blocks are referred to several times.
  @exclusivity(unchecked) private var deadBytes: UInt64 = 0
  /// The version that the transaction makes: blocks in the file that were born in it are its own.
  @exclusivity(unchecked) var version = Version(0)
  /// Bytes that were written early and given up since.
  ///
  /// Nobody can use their place before the commit.
  @exclusivity(unchecked) package private(set) var bytesInVain = 0
  /// Bytes of live provisional blocks.
  @exclusivity(unchecked) package private(set) var provisionalBytes = 0
  /// How much of the transaction stays in memory until its commit.
  @exclusivity(unchecked) package var limits = MemoryLimits()
  /// Called by `seal`; places the tree under a reference in the file.
  ///
  /// Nil: blocks stay provisional.
  @exclusivity(unchecked) package var placer: ((BlockReference) -> BlockReference)?

  @usableFromInline let arena: ProvisionalArena
  /// Bytes that a block takes in the file besides its own.
  let blockOverhead: Int

  /// - Parameter base: reads the version on which the transaction builds.
  package init(base: BlockReader, arena: ProvisionalArena, blockOverhead: Int = 0) {
    self.arena = arena
    self.blockOverhead = blockOverhead
    reader = BlockReader(
      base: base.base, limit: base.limit, verified: base.verified,
      provisional: UnsafePointer(arena.table), verifier: base.verifier)
    arena.reset()
    // What a small transaction changes.
    dead.reserveCapacity(16)
  }

  /// Numbers that provisional blocks were given here; 0 if there never was one.
  ///
  /// Those of blocks that were given up are given again: it does not say how many were made.
  package var provisionalCount: Int { arena.count }

  /// Bytes of live provisional blocks that were not made as residents, with their room to grow.
  package var passingBytes: Int { arena.passingBytes }

  /// Whether there are so many provisional blocks that their numbers may soon not suffice.
  package var isCrowded: Bool { arena.blocks > limits.blocks }

  /// A new block with a zeroed payload.
  ///
  /// - Parameter isResident: false for blocks that are placed early most often, see `seal`.
  /// - Returns: its provisional reference.
  package func allocate(
    kind: BlockKind, width: UInt8 = 0, count: Int, payloadBytes: Int, isResident: Bool = true
  ) -> BlockReference {
    let length = BlockHeader.blockLength(forPayload: payloadBytes)
    precondition(length <= BlockHeader.blockLengthMax, "block of \(length) bytes is too long")
    let block = arena.take(length, isResident: isResident)
    memset(block, 0, length)
    BlockHeader.setKind(block, kind)
    BlockHeader.setWidth(block, width)
    BlockHeader.setBlockLength(block, length)
    BlockHeader.setCount(block, count)
    provisionalBytes += length
    return arena.add(block, capacity: length, isResident: isResident)
  }

  /// The block as one that may be changed: itself when it is provisional, else a copy of it.
  ///
  /// Stops with file, block and version when the block is damaged.
  /// The caller stores the returned reference in the parent.
  package func mutable(_ reference: BlockReference) -> BlockReference {
    if reference.isProvisional { return reference }
    // Each time, not at the first touch only: the copy's fresh checksum would vouch for damage.
    let source =
      PlantedBug.launderedDamage.isActive
      ? reader.base + Int(reference.offset)
      : BlockReader.verifiedPointer(reference, reader.base, reader.verifier)
    let length = BlockHeader.blockLength(source)
    let block = arena.take(length, isResident: true)
    memcpy(block, source, length)
    BlockHeader.setChecksum(block, 0)
    provisionalBytes += length
    let birth = BlockHeader.birth(source)
    giveUp(reference, source, length)
    let copy = arena.add(block, capacity: length, isResident: true, previousBirth: birth)
    #if PLANTED_BUGS
      if PlantedBug.changeUnderPin.isActive, !BlockHeader.kind(source).isNode {
        replacedLeaves[copy] = (old: reference, length: length)
      }
    #endif
    return copy
  }

  /// The same for a block that has to be of one kind.
  package func mutable(_ reference: BlockReference, _ kind: BlockKind) -> BlockReference {
    _ = reader.pointer(reference, kind)
    return mutable(reference)
  }

  /// Bytes of a provisional block, header first.
  @inlinable @inline(__always)
  package func pointer(_ reference: BlockReference) -> UnsafeMutableRawPointer {
    assert(reference.isProvisional, "a placed block is immutable")
    return arena.table[reference.number]
  }

  /// Gives a provisional block another payload size.
  ///
  /// Content is kept up to the smaller size, the rest is zero; the reference stays. Pointers to the
  /// block are invalid afterwards.
  package func resize(_ reference: BlockReference, payloadBytes: Int) {
    let old = pointer(reference)
    let oldLength = BlockHeader.blockLength(old)
    let length = BlockHeader.blockLength(forPayload: payloadBytes)
    if length == oldLength { return }
    precondition(length <= BlockHeader.blockLengthMax, "block of \(length) bytes is too long")
    provisionalBytes += length - oldLength
    if length <= arena.capacity(of: reference) {
      if length > oldLength { memset(old + oldLength, 0, length - oldLength) }
      BlockHeader.setBlockLength(old, length)
      return
    }
    // Growing by appending is common: half as much again keeps the copies few.
    let capacity = min(max(length, (oldLength * 3 / 2 + 15) & ~15), BlockHeader.blockLengthMax)
    let block = arena.take(capacity, isResident: arena.isResident(reference))
    memcpy(block, old, oldLength)
    memset(block + oldLength, 0, length - oldLength)
    BlockHeader.setBlockLength(block, length)
    arena.replace(reference, with: block, capacity: capacity)
  }

  /// Gives up one block (not what it refers to).
  package func free(_ reference: BlockReference) {
    if reference.isNone { return }
    let block = reader.pointer(reference)
    let length = BlockHeader.blockLength(block)
    if reference.isProvisional {
      forget(reference, length: length)
    } else {
      giveUp(reference, block, length)
    }
  }

  /// Gives up a block and everything below it.
  package func freeTree(_ reference: BlockReference) { freeTree(reference, depth: 0) }

  /// No tree of a version is deeper.
  private static let depthMax = 64

  private func freeTree(_ reference: BlockReference, depth: Int) {
    if reference.isNone { return }
    let block = reader.pointer(reference)
    if depth > Self.depthMax { reader.stop(at: block, "it lies below itself") }
    if BlockHeader.kind(block).isNode {
      let count = BlockHeader.count(block)
      // Only headers are needed: they come from memory together instead of one after the other,
      // those of grandchildren too.
      for index in 0..<count { reader.prefetch(BlockHeader.reference(block, index)) }
      for index in 0..<count { prefetchChildren(BlockHeader.reference(block, index)) }
      for index in 0..<count {
        freeTree(BlockHeader.reference(block, index), depth: depth + 1)
      }
    }
    free(reference)
  }

  private func prefetchChildren(_ reference: BlockReference) {
    if reference.isNone { return }
    let block = reader.pointer(reference)
    guard BlockHeader.kind(block).isNode else { return }
    for index in 0..<BlockHeader.count(block) {
      reader.prefetch(BlockHeader.reference(block, index))
    }
  }

  /// Says that nothing under this provisional block will change again in this transaction, so that
  /// a large transaction can write it out early.
  ///
  /// The caller stores the returned reference instead.
  package func seal(_ reference: BlockReference) -> BlockReference {
    guard reference.isProvisional, let placer else { return reference }
    return placer(reference)
  }

  /// Forgets a provisional block that now has a place in the file, or that nobody needs.
  func forget(_ reference: BlockReference, length: Int) {
    #if PLANTED_BUGS
      replacedLeaves[reference] = nil
    #endif
    provisionalBytes -= length
    arena.remove(reference)
  }

  /// Runs to which a block given up may be added: what was written together goes in a few rows of
  /// neighbours.
  private static let openRuns = 4
  /// No run gets longer.
  private static let deadLengthMax = 1 << 20

  private func giveUp(_ reference: BlockReference, _ block: UnsafeRawPointer, _ length: Int) {
    let length = length + blockOverhead
    let offset = reference.offset
    // What lies behind the mapping is not counted: this transaction has placed it, and may replace
    // any amount of it.
    if offset < reader.limit {
      deadBytes &+= min(UInt64(length), reader.limit - offset)
      if deadBytes > reader.limit {
        reader.stop(at: block, "the version refers to it more than once")
      }
    }
    let birth = BlockHeader.birth(block)
    if birth == version { bytesInVain += length }
    // Homes are counted apart from what follows them.
    if offset != FileHeader.dataStart {
      // The newest run first: mostly a block follows the one that was given up before it.
      var index = dead.count
      let oldest = max(0, index - Self.openRuns)
      while index > oldest {
        index -= 1
        let run = dead[index]
        if run.offset + UInt64(run.length) == offset
          && run.birth == birth && run.length + length <= Self.deadLengthMax
        {
          dead[index].length = run.length + length
          return
        }
      }
    }
    dead.append(DeadBlock(offset: offset, length: length, birth: birth))
  }
}

extension BlockEditor {
  /// How much a transaction keeps in memory before it writes out what is finished; tests set less.
  package struct MemoryLimits: Sendable {
    /// Bytes of blocks that were not made as residents: then long values go as soon as they are
    /// made.
    ///
    /// As much as inserts have in memory while the clusters that they leave are written out.
    package var passingBytes = 12 << 20
    /// Bytes of all blocks: then clusters go as a whole when inserts leave them, and full leaves
    /// when appends do.
    package var bytes = 256 << 20
    /// Blocks: then clusters go that were only changed, too.
    package var blocks = ProvisionalArena.blockCountMax / 8 * 7

    package init() {}
  }

  /// An editor on nothing, for tests of trees without a file.
  package static func inMemory() -> BlockEditor {
    let verified = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
    verified.initialize(to: Atomic(0))
    let verifier = Unmanaged.passRetained(BlockVerifier())
    return BlockEditor(
      base: BlockReader(
        base: UnsafeRawPointer(verified), limit: 0, verified: verified, provisional: nil,
        verifier: verifier),
      arena: ProvisionalArena()!)
  }
}
