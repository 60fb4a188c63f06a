// What has to hold inside of a single block of a tree so that reading it stays inside of it: counts
// against lengths, ends in order, levels that end. Each check runs at the first touch of a block by
// this process (BlockStructure). More than safety asks for is the matter of the complete checks
// (`checkInvariants`).
internal import Storage

/// Checks of the blocks that trees are made of.
package enum TreeStructure {
  /// Adds them; once is enough.
  package static func register() { _ = registered }

  private static let registered: Void = BlockStructure.register([
    (.packedLeaf, { block, _ in packedLeaf(block) }),
    (.bytesLeaf, { block, _ in bytesLeaf(block) }),
    (.chunk, { block, _ in chunk(block) }),
    (.hashBucket, { block, _ in hashBucket(block) }),
    (.pairLeaf, { block, _ in pairLeaf(block) }),
    (.bytesSplit, { block, _ in bytesSplit(block) }),
    (.chunkNode, chunkNode),
    (.cluster, { block, _ in cluster(block) }),
    (.sparseCluster, { block, _ in cluster(block) }),
    (.branch, branch),
    (.directory, { block, _ in references(block, 1...HashIndex.fanOut) }),
    (.bucketChain, { block, _ in references(block, 1...0xffff) }),
    (.referenceLeaf, { block, _ in references(block, 1...Cluster.slotsMax) }),
    (.elementBranch, elementBranch),
    (.pairBranch, pairBranch),
    (.mapRoot, { block, _ in references(block, 2...2) }),
  ])

  private static let wrongLength: StaticString = "its length does not fit what it counts"
  private static let wrongFlags: StaticString = "it has flags that do not exist"
  private static let wrongCount: StaticString = "it counts what one block cannot have"

  @inline(__always)
  private static func hasLength(_ block: UnsafeRawPointer, forPayload bytes: Int) -> Bool {
    BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: bytes)
  }

  private static func references(
    _ block: UnsafeRawPointer, _ counts: ClosedRange<Int>
  ) -> StaticString? {
    let count = BlockHeader.count(block)
    if !counts.contains(count) { return wrongCount }
    return hasLength(block, forPayload: count * 8) ? nil : wrongLength
  }

  // MARK: - Leaves

  private static func packedLeaf(_ block: UnsafeRawPointer) -> StaticString? {
    let (flags, rows) = (BlockHeader.width(block), BlockHeader.count(block))
    let hasNulls = flags & PackedLeaf.nullsFlag != 0
    if flags & 0x78 != 0 { return wrongFlags }
    if rows == 0 || rows > PackedLeaf.rowsMax { return wrongCount }
    let payload = PackedLeaf.payloadBytes(rows: rows, code: flags & 7, nulls: hasNulls)
    if !hasLength(block, forPayload: payload) { return wrongLength }
    return hasNulls && !isEmpty(block + PackedLeaf.nullsOffset, from: rows) ? wrongNulls : nil
  }

  private static let wrongNulls: StaticString = "it has nulls behind its last row"

  /// Whether no bit of a map of 256 is set from one on.
  private static func isEmpty(_ bits: UnsafeRawPointer, from first: Int) -> Bool {
    var found: UInt64 = 0
    for word in 0..<4 {
      let used = min(max(first - word * 64, 0), 64)
      let mask: UInt64 = used == 64 ? 0 : .max << UInt64(used)
      found |= bits.integer(at: word * 8, as: UInt64.self) & mask
    }
    return found == 0
  }

  private static func bytesLeaf(_ block: UnsafeRawPointer) -> StaticString? {
    let (flags, rows) = (BlockHeader.width(block), BlockHeader.count(block))
    let hasNulls = flags & BytesLeaf.nullsFlag != 0
    if flags & 0x7f != 0 { return wrongFlags }
    if rows == 0 || rows > BytesLeaf.rowsMax { return wrongCount }
    let length = BlockHeader.blockLength(block)
    if BlockHeader.length + 2 * rows > length { return wrongLength }
    if !hasLength(block, forPayload: BytesLeaf.payloadBytes(block)) { return wrongLength }
    // From the last row, whose end comes first, backwards: without a branch for each, so that
    // several are compared at once.
    let ends = block + (length - 2 * rows)
    var isWrong =
      UInt16(littleEndian: ends.loadUnaligned(fromByteOffset: 2 * (rows - 1), as: UInt16.self))
      > UInt16(LongValue.inlineMax)
    for index in 0..<rows - 1 {
      let end = UInt16(littleEndian: ends.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
      let start = UInt16(
        littleEndian: ends.loadUnaligned(fromByteOffset: 2 * index + 2, as: UInt16.self))
      // Also where it would be negative.
      let isLonger = end &- start > UInt16(LongValue.inlineMax)
      isWrong = isWrong || isLonger || end < start
    }
    if isWrong { return "its values do not follow each other" }
    return hasNulls && !isEmpty(block + BytesLeaf.nullsOffset, from: rows) ? wrongNulls : nil
  }

  private static func chunk(_ block: UnsafeRawPointer) -> StaticString? {
    let count = BlockHeader.count(block)
    if count > LongValue.chunkBytes { return wrongCount }
    return hasLength(block, forPayload: count) ? nil : wrongLength
  }

  private static func hashBucket(_ block: UnsafeRawPointer) -> StaticString? {
    let (count, keyBytes) = (BlockHeader.count(block), HashBucket.keyBytes(block))
    if keyBytes != 3 && keyBytes != 4 && keyBytes != 8 { return wrongFlags }
    if count == 0 || count > HashBucket.entriesMax { return wrongCount }
    return hasLength(block, forPayload: HashBucket.payloadBytes(count, keyBytes: keyBytes))
      ? nil : wrongLength
  }

  private static func pairLeaf(_ block: UnsafeRawPointer) -> StaticString? {
    let (flags, count) = (BlockHeader.width(block), BlockHeader.count(block))
    if flags & 0xf0 != 0 { return wrongFlags }
    if count == 0 || count > PairLeaf.pairsMax { return wrongCount }
    return hasLength(block, forPayload: 16 + count * PairLeaf.stride(flags)) ? nil : wrongLength
  }

  // MARK: - Nodes

  private static func bytesSplit(_ block: UnsafeRawPointer) -> StaticString? {
    let (flags, parts) = (BlockHeader.width(block), BlockHeader.count(block))
    let hasRemoved = flags & BytesColumn.removedFlag != 0
    if flags & ~BytesColumn.removedFlag != 0 { return wrongFlags }
    if parts == 0 || parts > BytesLeaf.rowsMax { return wrongCount }
    let payload = parts * 10 + 2 + (hasRemoved ? BytesColumn.removedLength : 0)
    if !hasLength(block, forPayload: payload) { return wrongLength }
    for part in 0..<parts
    where BytesColumn.start(block, part) >= BytesColumn.start(block, part + 1) {
      return "its parts do not follow each other"
    }
    let rows = BytesColumn.storedRows(block)
    if BytesColumn.start(block, 0) != 0 || rows > BytesLeaf.rowsMax { return wrongCount }
    return hasRemoved && !isEmpty(block + BytesColumn.removedOffset(block), from: rows)
      ? "it has removed rows behind its last row" : nil
  }

  private static func chunkNode(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    let count = BlockHeader.count(block)
    guard count > 0, count <= LongValue.fanOut, BlockHeader.width(block) < LongValue.levelsMax
    else { return wrongCount }
    if !hasLength(block, forPayload: count * 8 + 8) { return wrongLength }
    let length = block.integer(at: BlockHeader.length + count * 8, as: UInt64.self)
    // Nothing that is stored is longer than the file.
    guard length <= bounds.fileLength, length > 0 else {
      return "its value is longer than the file"
    }
    let children = (Int(length) - 1) / LongValue.childBytes(block) + 1
    return children == count ? nil : "it has not as many parts as its value's length needs"
  }

  private static func cluster(_ block: UnsafeRawPointer) -> StaticString? {
    let payload = BlockHeader.count(block) * 8
    guard Cluster.isSparse(block) else {
      return hasLength(block, forPayload: payload) ? nil : wrongLength
    }
    if !hasLength(block, forPayload: payload + Cluster.presenceLength) { return wrongLength }
    let slots = (0..<4).reduce(0) { $0 + Cluster.word(block, $1).nonzeroBitCount }
    return slots == Cluster.rows(block) ? nil : wrongCount
  }

  private static func branch(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    let (count, level) = (BlockHeader.count(block), Int(BlockHeader.width(block)))
    if count == 0 || count > ClusterTree.fanOut { return wrongCount }
    if level == 0 || level > ClusterTree.depthMax { return wrongLevel }
    if !hasLength(block, forPayload: count * 12) { return wrongLength }
    var objects = 0
    for index in 0..<count { objects += ClusterTree.objects(block, index) }
    // A cluster of 256 objects takes at least a header.
    return UInt64(objects) <= bounds.fileLength &* 16 ? nil : tooMany
  }

  private static let wrongLevel: StaticString = "it stands higher than its tree can be"
  private static let tooMany: StaticString = "it counts more than the file has room for"

  private static func elementBranch(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    let (count, level) = (BlockHeader.count(block), Int(BlockHeader.width(block)))
    if count == 0 || count > ElementTree.fanOut { return wrongCount }
    if level == 0 || level > ElementTree.levelsMax { return wrongLevel }
    if !hasLength(block, forPayload: count * 12) { return wrongLength }
    var isWrong = false
    var last = 0
    for child in 0..<count {
      let end = ElementTree.end(block, child)
      isWrong = isWrong || end <= last
      last = end
    }
    if isWrong { return "its children do not follow each other" }
    // A leaf of 256 elements takes at least two units.
    return UInt64(last) <= bounds.fileLength &* 8 ? nil : tooMany
  }

  private static func pairBranch(
    _ block: UnsafeRawPointer, _ bounds: BlockStructure.Bounds
  ) -> StaticString? {
    let (count, level) = (BlockHeader.count(block), Int(BlockHeader.width(block)))
    if count == 0 || count > PairTree.fanOut { return wrongCount }
    if level == 0 || level > PairTree.levelsMax { return wrongLevel }
    if !hasLength(block, forPayload: count * (8 + PairTree.entryBytes)) { return wrongLength }
    var sum: UInt64 = 0
    for child in 0..<count {
      let pairs = UInt64(bitPattern: Int64(PairTree.pairs(block, child)))
      // Each pair takes at least two bytes; sums cannot overflow then.
      if pairs == 0 || pairs > bounds.fileLength { return tooMany }
      sum += pairs
    }
    return sum <= bounds.fileLength ? nil : tooMany
  }
}
