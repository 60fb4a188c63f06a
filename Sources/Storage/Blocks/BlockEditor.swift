// Copy on write for one transaction. Changed and new blocks live in memory under provisional
// references until the commit places them; the editor knows nothing of files, so trees can be tested
// on it alone.
internal import Glibc
internal import Platform
internal import Synchronization

/// The blocks that a write transaction has made, changed and given up.
///
/// Belongs to the transaction's Realm; never shared between threads.
@usableFromInline
package final class BlockEditor {
  /// A block of an older version that this transaction no longer needs.
  package struct DeadBlock {
    package let reference: BlockReference
    package let length: Int
    package let birth: Version
  }

  /// Reads blocks of the base version and of this transaction.
  @usableFromInline package let reader: BlockReader
  // Unchecked exclusivity, here and in the arena: one thread at a time, in short accesses that run no
  // foreign code, and several for each changed block.

  /// Blocks of older versions that were replaced or freed.
  @exclusivity(unchecked) package private(set) var dead: [DeadBlock] = []
  #if PLANTED_BUGS
    /// Leaves with their copies, for the planted bug that changes them in place.
    var replaced: [(old: BlockReference, copy: BlockReference, length: Int)] = []
  #endif
  /// Bytes of live provisional blocks.
  @exclusivity(unchecked) package private(set) var provisionalBytes = 0
  /// Called by `seal`; places the tree under a reference in the file.
  ///
  /// Nil: blocks stay provisional.
  package var placer: ((BlockReference) -> BlockReference)?

  @usableFromInline let arena: ProvisionalArena

  /// - Parameter base: reads the version on which the transaction builds.
  package init(base: BlockReader, arena: ProvisionalArena) {
    self.arena = arena
    reader = BlockReader(
      base: base.base, limit: base.limit, verified: base.verified,
      provisional: UnsafePointer(arena.table), verifier: base.verifier)
    arena.reset()
    // What a small transaction changes.
    dead.reserveCapacity(16)
  }

  /// Number of provisional blocks ever made here; their numbers are 0 ..< this.
  package var provisionalCount: Int { arena.count }

  /// A new block with a zeroed payload.
  /// - Returns: its provisional reference.
  package func allocate(
    kind: BlockKind, width: UInt8 = 0, count: Int, payloadBytes: Int
  ) -> BlockReference {
    let length = BlockHeader.blockLength(forPayload: payloadBytes)
    precondition(length <= BlockHeader.blockLengthMax, "block of \(length) bytes is too long")
    let block = arena.take(length)
    memset(block, 0, length)
    BlockHeader.setKind(block, kind)
    BlockHeader.setWidth(block, width)
    BlockHeader.setBlockLength(block, length)
    BlockHeader.setCount(block, count)
    provisionalBytes += length
    return arena.add(block, capacity: length)
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
      ? reader.base + Int(reference.rawValue) : reader.verifiedPointer(reference)
    let length = BlockHeader.blockLength(source)
    let block = arena.take(length)
    memcpy(block, source, length)
    BlockHeader.setChecksum(block, 0)
    provisionalBytes += length
    let birth = BlockHeader.birth(source)
    giveUp(reference, source, length)
    let copy = arena.add(block, capacity: length, previousBirth: birth)
    #if PLANTED_BUGS
      if !BlockHeader.kind(source).isNode { replaced.append((reference, copy, length)) }
    #endif
    return copy
  }

  /// Bytes of a provisional block, header first.
  @inlinable @inline(__always)
  package func pointer(_ reference: BlockReference) -> UnsafeMutableRawPointer {
    assert(reference.isProvisional, "a placed block is immutable")
    return arena.table[Int(truncatingIfNeeded: reference.rawValue & 0xffff_ffff)]
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
    let block = arena.take(capacity)
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
      provisionalBytes -= length
      arena.remove(reference)
    } else {
      giveUp(reference, block, length)
    }
  }

  /// Gives up a block and everything below it.
  package func freeTree(_ reference: BlockReference) {
    if reference.isNone { return }
    let block = reader.pointer(reference)
    if BlockHeader.kind(block).isNode {
      for index in 0..<BlockHeader.count(block) { freeTree(BlockHeader.reference(block, index)) }
    }
    free(reference)
  }

  /// Says that nothing under this provisional block will change again in this transaction, so that
  /// a large transaction can write it out early.
  ///
  /// The caller stores the returned reference instead.
  package func seal(_ reference: BlockReference) -> BlockReference {
    guard reference.isProvisional, let placer else { return reference }
    return placer(reference)
  }

  /// Forgets a provisional block that now has a place in the file.
  package func didPlace(_ reference: BlockReference, length: Int) {
    provisionalBytes -= length
    arena.remove(reference)
  }

  private func giveUp(_ reference: BlockReference, _ block: UnsafeRawPointer, _ length: Int) {
    dead.append(
      DeadBlock(reference: reference, length: length, birth: BlockHeader.birth(block)))
  }
}

/// Memory of provisional blocks: chunks filled from the front, and a table from number to pointer
/// whose address never changes, so that readers can hold it.
///
/// Reused by one transaction after another.
@usableFromInline
package final class ProvisionalArena: @unchecked Sendable {
  // @unchecked: used by one write transaction at a time; the write lock hands it on.
  /// More blocks than this in one transaction are written out early by `seal` or a spill.
  package static let blockCountMax = 1 << 22
  private static let chunkLength = 1 << 20

  @usableFromInline let table: UnsafeMutablePointer<UnsafeMutableRawPointer>
  @exclusivity(unchecked) package private(set) var count = 0
  @exclusivity(unchecked) private var chunks: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) private var chunkIndex = 0
  @exclusivity(unchecked) private var chunkUsed = 0
  private let capacities: UnsafeMutablePointer<UInt32>
  private let previousBirths: UnsafeMutablePointer<UInt64>
  /// Where the commit puts each block, by number; written before it is read.
  let places: UnsafeMutablePointer<UInt64>
  /// What the table points to where a block was removed; reading it finds an empty block.
  private let hole: UnsafeMutableRawPointer

  package init() {
    table = Self.reserve(UnsafeMutableRawPointer.self)
    capacities = Self.reserve(UInt32.self)
    previousBirths = Self.reserve(UInt64.self)
    places = Self.reserve(UInt64.self)
    hole = .allocate(byteCount: BlockHeader.length, alignment: 16)
    memset(hole, 0, BlockHeader.length)
  }

  deinit {
    for chunk in chunks { chunk.deallocate() }
    hole.deallocate()
    munmap(table, Self.blockCountMax * MemoryLayout<UnsafeMutableRawPointer>.stride)
    munmap(capacities, Self.blockCountMax * MemoryLayout<UInt32>.stride)
    munmap(previousBirths, Self.blockCountMax * MemoryLayout<UInt64>.stride)
    munmap(places, Self.blockCountMax * MemoryLayout<UInt64>.stride)
  }

  /// Address space for one entry a block; pages come as numbers are given out.
  private static func reserve<Entry>(_: Entry.Type) -> UnsafeMutablePointer<Entry> {
    let memory = mmap(
      nil, blockCountMax * MemoryLayout<Entry>.stride, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    precondition(memory != MAP_FAILED, "no address space for a write transaction")
    return memory!.bindMemory(to: Entry.self, capacity: blockCountMax)
  }

  /// Forgets all blocks; keeps some memory for the next transaction.
  package func reset() {
    count = 0
    chunkIndex = 0
    chunkUsed = 0
    while chunks.count > 8 { chunks.removeLast().deallocate() }
  }

  func take(_ length: Int) -> UnsafeMutableRawPointer {
    if chunks.isEmpty || chunkUsed + length > Self.chunkLength {
      if !chunks.isEmpty { chunkIndex += 1 }
      if chunkIndex >= chunks.count {
        chunks.append(.allocate(byteCount: Self.chunkLength, alignment: 4096))
      }
      chunkUsed = 0
    }
    defer { chunkUsed += length }
    return chunks[chunkIndex] + chunkUsed
  }

  /// Bytes that the block may grow to where it is.
  func capacity(of reference: BlockReference) -> Int {
    Int(capacities[Int(reference.rawValue & 0xffff_ffff)])
  }

  /// Version in which the block that this one replaces was born; 0 for a new block.
  func previousBirth(_ number: Int) -> Version { Version(previousBirths[number]) }

  func add(
    _ block: UnsafeMutableRawPointer, capacity: Int, previousBirth: Version = Version(0)
  ) -> BlockReference {
    precondition(count < Self.blockCountMax, "too many changed blocks in one transaction")
    table[count] = block
    capacities[count] = UInt32(capacity)
    previousBirths[count] = previousBirth.rawValue
    defer { count += 1 }
    return BlockReference(rawValue: UInt64(count) | 1 << 63)
  }

  func replace(
    _ reference: BlockReference, with block: UnsafeMutableRawPointer, capacity: Int
  ) {
    let number = Int(reference.rawValue & 0xffff_ffff)
    table[number] = block
    capacities[number] = UInt32(capacity)
  }

  func remove(_ reference: BlockReference) {
    replace(reference, with: hole, capacity: BlockHeader.length)
  }

  /// Whether the block was removed or placed.
  func isRemoved(_ reference: BlockReference) -> Bool {
    table[Int(reference.rawValue & 0xffff_ffff)] == hole
  }
}

extension BlockEditor {
  /// An editor on nothing, for tests of trees without a file.
  package static func inMemory() -> BlockEditor {
    let verified = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
    verified.initialize(to: Atomic(0))
    let verifier = Unmanaged.passRetained(BlockVerifier())
    return BlockEditor(
      base: BlockReader(
        base: UnsafeRawPointer(verified), limit: 0, verified: verified, provisional: nil,
        verifier: verifier),
      arena: ProvisionalArena())
  }
}
