// The one place that turns a reference into a pointer. Readers and write transactions both read
// through a BlockReader; it verifies a block's checksum at the first touch by this process.
public import Platform

/// A view of one version's blocks, or of a running write transaction's.
///
/// Valid while the snapshot or transaction that gave it lives. Small and trivial: pass it by value.
@frozen @usableFromInline
package struct BlockReader: @unchecked Sendable {
  // @unchecked: the pointers are into a mapping kept alive by the snapshot or transaction that
  // hands the reader out; mapped blocks are immutable, and `verified` is atomic. `provisional` is
  // used only by the thread of the transaction whose arena it points into.
  @usableFromInline let base: UnsafeRawPointer
  /// Offsets below this are inside the mapping.
  @usableFromInline let limit: UInt64
  /// One bit a 16-byte unit: set once the block that starts there was verified.
  @usableFromInline let verified: UnsafeMutablePointer<Atomic<UInt64>>
  /// Pointers of the running transaction's provisional blocks, by number.
  @usableFromInline let provisional: UnsafePointer<UnsafeMutableRawPointer>?
  /// Verifies on first touch.
  ///
  /// Kept alive by whoever keeps the mapping alive.
  @usableFromInline let verifier: Unmanaged<BlockVerifier>

  package init(
    base: UnsafeRawPointer, limit: UInt64, verified: UnsafeMutablePointer<Atomic<UInt64>>,
    provisional: UnsafePointer<UnsafeMutableRawPointer>?, verifier: Unmanaged<BlockVerifier>
  ) {
    self.base = base
    self.limit = limit
    self.verified = verified
    self.provisional = provisional
    self.verifier = verifier
  }

  /// The bytes of a block, header first.
  ///
  /// Stops with file, block and version when the block is damaged.
  /// - Complexity: O(1); O(block length) at the first touch by this process.
  @inlinable @inline(__always)
  package func pointer(_ reference: BlockReference) -> UnsafeRawPointer {
    let offset = reference.offset
    if _fastPath(offset < limit) {
      let unit = offset >> 4
      // Acquiring: of an encrypted file the bit publishes the decrypted block. Elsewhere it only
      // spares a repeated check of immutable bytes; the load is the same instruction.
      let word = verified[Int(truncatingIfNeeded: unit >> 6)].load(ordering: .acquiring)
      if _fastPath(word & (1 << (unit & 63)) != 0) {
        return base + Int(truncatingIfNeeded: offset)
      }
    } else if reference.isProvisional, let provisional {
      return UnsafeRawPointer(provisional[reference.number])
    }
    return Self.verifiedPointer(reference, base, verifier)
  }

  /// The same for a block that has to be of one kind: an extra comparison, as whoever made the file
  /// may refer to one block from several places.
  @inlinable @inline(__always)
  package func pointer(_ reference: BlockReference, _ kind: BlockKind) -> UnsafeRawPointer {
    let block = pointer(reference)
    if _slowPath(BlockHeader.kind(block) != kind) { stop(at: block) }
    return block
  }

  /// Stops with file and block: its checksum holds, and it is not what belongs there.
  @inlinable @inline(__always)
  package func stop(
    at block: UnsafeRawPointer,
    _ reason: StaticString = "it is of another kind than its parent expects"
  ) -> Never { Self.stop(verifier, block, reason) }

  @inline(never) @usableFromInline
  static func stop(
    _ verifier: Unmanaged<BlockVerifier>, _ block: UnsafeRawPointer, _ reason: StaticString
  ) -> Never {
    verifier._withUnsafeGuaranteedRef { stopForDamage($0.damage(at: block, "\(reason)")) }
  }

  /// Starts to load the part of a block that begins `offset` bytes behind its header's start.
  ///
  /// Has no effect for a block of the running transaction, which is in the cache most often: for
  /// any address that is not mapped the processor does nothing.
  @inlinable @inline(__always)
  package func prefetch(_ reference: BlockReference, offset: Int = 0) {
    Platform.prefetch(base + (Int(truncatingIfNeeded: reference.offset) &+ offset))
  }

  /// The same for lines of a block, one behind the other.
  @inlinable @inline(__always)
  package func prefetch(_ reference: BlockReference, allOf lines: ClosedRange<Int>) {
    let start = Int(truncatingIfNeeded: reference.offset) &+ lines.lowerBound &* 64
    Platform.prefetch(base + start, lines: lines.count)
  }

  /// The same for the first line of a block and the one of a place in it.
  @inlinable @inline(__always)
  package func prefetch(_ reference: BlockReference, and offset: Int) {
    Platform.prefetch(base + Int(truncatingIfNeeded: reference.offset), andBehind: offset)
  }

  /// The same for the first lines of a block that this process may not have read before: of an
  /// encrypted file it is elsewhere then.
  @inlinable
  package func prefetch(_ reference: BlockReference, lines: Int) {
    let start = reference.offset
    guard start < limit else { return }
    let word = verified[Int(truncatingIfNeeded: start >> 10)].load(ordering: .relaxed)
    guard word & (1 << ((start >> 4) & 63)) != 0 else {
      return verifier._withUnsafeGuaranteedRef { $0.prefetchStored(reference, lines: lines) }
    }
    Platform.prefetch(base + Int(truncatingIfNeeded: start), lines: lines)
  }

  /// - Parameters: what it needs of a reader, which is too long for registers and would be stored
  ///   to memory at each use of `pointer` only to be passed here.
  @inline(never) @usableFromInline
  static func verifiedPointer(
    _ reference: BlockReference, _ base: UnsafeRawPointer, _ verifier: Unmanaged<BlockVerifier>
  ) -> UnsafeRawPointer {
    verifier._withUnsafeGuaranteedRef { verifier in
      if let unwritten = verifier.unwritten(reference) { return unwritten }
      verifier.verifyOrStop(reference)
      return base + Int(reference.offset)
    }
  }

  /// Says that all blocks from one to another, which lie side by side, are about to be visited.
  ///
  /// Where they are not in memory they are read from the disk together.
  @inline(never) @usableFromInline
  package func willVisit(_ first: BlockReference, through last: BlockReference) {
    let (start, end) = (first.offset, last.offset)
    // Not side by side: of different ages, or in a running transaction.
    guard start > 0, start < end, end < limit, end - start < 4 << 20 else { return }
    verifier._withUnsafeGuaranteedRef { $0.willVisit(start..<end) }
  }

  /// Verifies a block without stopping, unless this process has done so before.
  ///
  /// Used where damage has to become a typed error.
  package func verify(_ reference: BlockReference) throws(StorageError) {
    if reference.isProvisional { return }
    let unit = reference.offset >> 4
    if reference.offset < limit,
      verified[Int(unit >> 6)].load(ordering: .acquiring) & (1 << (unit & 63)) != 0
    {
      return
    }
    try verifyAgain(reference)
  }

  /// The same, also when this process has done so before.
  ///
  /// For who makes a copy, whose fresh checksum would vouch for damage.
  func verifyAgain(_ reference: BlockReference) throws(StorageError) {
    if reference.isProvisional { return }
    let verifier = verifier.takeUnretainedValue()
    if verifier.unwritten(reference) != nil { return }
    try verifier.verify(reference)
  }

  /// The error for a block whose checksum holds and that still is not what belongs there.
  package func damage(_ reference: BlockReference, _ reason: String) -> StorageError {
    verifier._withUnsafeGuaranteedRef { $0.damage(reference, reason) }
  }

  /// Verifies the bytes that are in the file now, also of a block that was verified before.
  func verifyStored(_ reference: BlockReference) throws(StorageError) {
    let verifier = verifier.takeUnretainedValue()
    if reference.isProvisional || verifier.unwritten(reference) != nil { return }
    try verifier.verifyStored(reference)
  }
}

/// Checks blocks at their first touch.
///
/// Storage's mapping is the real one.
@usableFromInline
package class BlockVerifier: @unchecked Sendable {
  // @unchecked: subclasses hold state that is immutable, atomic or guarded by a lock.
  package init() {}

  /// Verifies range, length and checksum, and marks the block as verified.
  package func verify(_ reference: BlockReference) throws(StorageError) {
    throw damage(reference, "no file is open")
  }

  /// The error that names this file and the block.
  func damage(_ reference: BlockReference, _ reason: String) -> StorageError {
    .damaged(path: "(none)", block: reference.offset, version: 0, reason: reason)
  }

  /// The same for a block of which only its place in memory is known; one of a running transaction
  /// has none.
  func damage(at block: UnsafeRawPointer, _ reason: String) -> StorageError {
    damage(.none, reason)
  }

  /// Verifies the bytes that are in the file now, whatever was verified before.
  func verifyStored(_ reference: BlockReference) throws(StorageError) { try verify(reference) }

  /// The bytes of a block that is in no file yet; nil for any other.
  func unwritten(_ reference: BlockReference) -> UnsafeRawPointer? { nil }

  /// Starts to load the first lines of a block from where the file has it.
  @usableFromInline func prefetchStored(_ reference: BlockReference, lines: Int) {}

  /// Reads a range ahead, if the mapping needs that.
  func willVisit(_ range: Range<UInt64>) {}

  func verifyOrStop(_ reference: BlockReference) {
    do {
      try verify(reference)
    } catch {
      stopForDamage(error)
    }
  }
}

private let damageObserver = Monitor<(@Sendable (StorageError) -> Void)?>(nil)

/// Sets who hears of damaged bytes before the process stops for them; nil for nobody.
package func setDamageObserver(_ body: (@Sendable (StorageError) -> Void)?) {
  damageObserver.withLock { $0 = body }
}

/// The funnel through which a getter that cannot throw stops on damaged bytes.
package func stopForDamage(_ error: StorageError) -> Never {
  // Taken out of the lock first: the observer may end the process, or read another file.
  let report = damageObserver.withLock { $0 }
  report?(error)
  fatalError("\(error)")
}
