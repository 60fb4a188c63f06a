internal import Glibc
// The primary key index: a linear hash table. Buckets hold small entries (part of the hash and the
// object key) that the caller checks against the column; one bucket is split for every 40 entries
// added, so no single insert ever rehashes the table. The directory of buckets is a radix tree.
//
// Directory payload: [64 references]
// Bucket payload: entries, count in the header; width 0: u32 = 8 bits of hash, 24 bits of key;
// width 1: u64 = 16 bits of hash, 48 bits of key (used once keys need it)
public import Storage

/// The shape of an index: what a table root stores of it.
@frozen @usableFromInline
package struct HashIndex: Sendable {
  static let directoryKind = BlockKind(rawValue: 0x97)
  static let bucketKind = BlockKind(rawValue: 0x12)
  static let fanOut = 64
  static let entriesPerBucket = 40

  package var root: BlockReference
  package var bucketCount: Int
  package var entryCount: Int

  package init(root: BlockReference = .none, bucketCount: Int = 0, entryCount: Int = 0) {
    self.root = root
    self.bucketCount = bucketCount
    self.entryCount = entryCount
  }

  /// Hash of an integer key.
  @inlinable package static func hash(_ value: Int64) -> UInt64 {
    var bits = UInt64(bitPattern: value) &+ 0x9e37_79b9_7f4a_7c15
    bits = (bits ^ bits &>> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits &>> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits &>> 31
  }

  /// Hash of a null key.
  @inlinable package static var nullHash: UInt64 { 0x6e75_6c6c_6e75_6c6c }

  // MARK: - Addresses

  /// Directory levels above the buckets for so many buckets.
  private static func depth(_ buckets: Int) -> Int {
    var depth = 0
    while buckets > 1 << (6 * depth) { depth += 1 }
    return depth
  }

  /// The bucket of a hash: low bits of it, one more for buckets that are already split.
  private func bucket(of hash: UInt64) -> Int {
    let level = 63 - UInt64(bucketCount).leadingZeroBitCount
    let low = UInt64(1) << UInt64(level)
    let wide = Int(hash & (low << 1 - 1))
    return wide < bucketCount ? wide : Int(hash & (low - 1))
  }

  @inline(__always)
  private static func narrowMark(_ hash: UInt64) -> UInt32 { UInt32(hash >> 56) << 24 }

  @inline(__always)
  private static func wideMark(_ hash: UInt64) -> UInt64 { (hash >> 48) << 48 }

  // MARK: - Reading

  /// The key of an entry with this hash for which `matches` holds.
  @inline(__always)
  package func find(
    _ reader: BlockReader, hash: UInt64, matches: (Int64) -> Bool
  ) -> Int64? {
    if bucketCount == 0 { return nil }
    let number = bucket(of: hash)
    var block = reader.pointer(root)
    var level = Self.depth(bucketCount)
    while level > 0 {
      level -= 1
      block = reader.pointer(BlockHeader.reference(block, number >> (6 * level) & 63))
    }
    let count = BlockHeader.count(block)
    let entries = BlockHeader.payload(block)
    if BlockHeader.width(block) == 0 {
      let mark = Self.narrowMark(hash)
      for index in 0..<count {
        let entry = entries.load(fromByteOffset: index &* 4, as: UInt32.self)
        if entry & 0xff00_0000 == mark {
          let key = Int64(entry & 0xff_ffff)
          if matches(key) { return key }
        }
      }
      return nil
    }
    let mark = Self.wideMark(hash)
    for index in 0..<count {
      let entry = entries.load(fromByteOffset: index &* 8, as: UInt64.self)
      if (entry >> 48) << 48 == mark {
        let key = Int64(entry & 0xffff_ffff_ffff)
        if matches(key) { return key }
      }
    }
    return nil
  }

  // MARK: - Changing

  /// Adds an entry; the caller knows that none is there.
  ///
  /// - Parameter rehash: the hash of another entry's object, when its bucket is split.
  package mutating func insert(
    _ editor: BlockEditor, hash: UInt64, key: Int64, rehash: (Int64) -> UInt64
  ) {
    if bucketCount == 0 {
      root = Self.makeBucket(editor)
      bucketCount = 1
    }
    entryCount += 1
    Self.append(editor, mutableBucket(editor, bucket(of: hash)), hash, key, rehash)
    if entryCount > bucketCount * Self.entriesPerBucket { split(editor, rehash) }
  }

  /// Removes an entry, which must be there.
  package mutating func remove(
    _ editor: BlockEditor, hash: UInt64, key: Int64, rehash: (Int64) -> UInt64
  ) {
    let bucket = mutableBucket(editor, bucket(of: hash))
    var entries = Self.keys(editor.pointer(bucket))
    guard let position = entries.firstIndex(of: key) else {
      preconditionFailure("object \(key) is not in the index")
    }
    entries.remove(at: position)
    Self.rewrite(editor, bucket, entries.map { ($0, $0 == key ? hash : rehash($0)) })
    entryCount -= 1
    if entryCount == 0 {
      editor.freeTree(root)
      self = HashIndex()
    } else if bucketCount > 1, entryCount < bucketCount * Self.entriesPerBucket / 3 {
      mergeLast(editor, rehash)
    }
  }

  /// The bucket as a block that may be changed; its whole path is copied.
  private mutating func mutableBucket(_ editor: BlockEditor, _ number: Int) -> BlockReference {
    root = editor.mutable(root)
    var node = root
    var level = Self.depth(bucketCount)
    while level > 0 {
      level -= 1
      let slot = number >> (6 * level) & 63
      let child = editor.mutable(BlockHeader.reference(editor.pointer(node), slot))
      BlockHeader.setReference(editor.pointer(node), slot, child)
      node = child
    }
    return node
  }

  /// Splits the next bucket in line in two.
  private mutating func split(_ editor: BlockEditor, _ rehash: (Int64) -> UInt64) {
    let low = 1 << (63 - UInt64(bucketCount).leadingZeroBitCount)
    let old = bucketCount - low
    let oldBucket = mutableBucket(editor, old)
    let entries = Self.keys(editor.pointer(oldBucket)).map { ($0, rehash($0)) }
    let new = Self.makeBucket(editor)
    let bit = UInt64(low)
    Self.rewrite(editor, oldBucket, entries.filter { $0.1 & bit == 0 })
    Self.rewrite(editor, new, entries.filter { $0.1 & bit != 0 })
    addBucket(editor, new)
  }

  private mutating func addBucket(_ editor: BlockEditor, _ bucket: BlockReference) {
    let number = bucketCount
    if Self.depth(bucketCount + 1) > Self.depth(bucketCount) {
      let directory = editor.allocate(
        kind: Self.directoryKind, count: Self.fanOut, payloadBytes: Self.fanOut * 8)
      BlockHeader.setReference(editor.pointer(directory), 0, root)
      root = directory
    }
    bucketCount += 1
    root = editor.mutable(root)
    var node = root
    for level in stride(from: Self.depth(bucketCount) - 1, to: 0, by: -1) {
      let slot = number >> (6 * level) & 63
      let old = BlockHeader.reference(editor.pointer(node), slot)
      let child =
        old.isNone
        ? editor.allocate(
          kind: Self.directoryKind, count: Self.fanOut, payloadBytes: Self.fanOut * 8)
        : editor.mutable(old)
      BlockHeader.setReference(editor.pointer(node), slot, child)
      node = child
    }
    BlockHeader.setReference(editor.pointer(node), number & 63, bucket)
  }

  /// Takes the last bucket back into the one it was split from.
  private mutating func mergeLast(_ editor: BlockEditor, _ rehash: (Int64) -> UInt64) {
    let last = bucketCount - 1
    let low = 1 << (63 - UInt64(last).leadingZeroBitCount)
    let lastBucket = mutableBucket(editor, last)
    let moved = Self.keys(editor.pointer(lastBucket))
    let target = mutableBucket(editor, last - low)
    let all = Self.keys(editor.pointer(target)) + moved
    Self.rewrite(editor, target, all.map { ($0, rehash($0)) })
    root = removing(editor, root, Self.depth(bucketCount), last)
    let depth = Self.depth(bucketCount)
    bucketCount -= 1
    if Self.depth(bucketCount) < depth {
      let child = BlockHeader.reference(editor.pointer(root), 0)
      editor.free(root)
      root = child
    }
  }

  private func removing(
    _ editor: BlockEditor, _ node: BlockReference, _ level: Int, _ number: Int
  ) -> BlockReference {
    if level == 0 {
      editor.free(node)
      return .none
    }
    let node = editor.mutable(node)
    let slot = number >> (6 * (level - 1)) & 63
    let child = removing(
      editor, BlockHeader.reference(editor.pointer(node), slot), level - 1, number)
    BlockHeader.setReference(editor.pointer(node), slot, child)
    // Buckets are removed from the end, so slot 0 is the last to go.
    if child.isNone, slot == 0 {
      editor.free(node)
      return .none
    }
    return node
  }

  // MARK: - Buckets

  private static func makeBucket(_ editor: BlockEditor) -> BlockReference {
    editor.allocate(kind: bucketKind, count: 0, payloadBytes: 0)
  }

  private static func append(
    _ editor: BlockEditor, _ bucket: BlockReference, _ hash: UInt64, _ key: Int64,
    _ rehash: (Int64) -> UInt64
  ) {
    var block = editor.pointer(bucket)
    let count = BlockHeader.count(block)
    if BlockHeader.width(block) == 0 {
      if key >> 24 != 0 {
        // Entries of 8 bytes from here on; what is there is marked anew.
        let entries = keys(block).map { ($0, rehash($0)) } + [(key, hash)]
        rewrite(editor, bucket, entries)
        return
      }
      if BlockHeader.blockLength(block) < BlockHeader.length + (count + 1) * 4 {
        editor.resize(bucket, payloadBytes: (count + 1) * 4)
        block = editor.pointer(bucket)
      }
      (block + BlockHeader.length).storeBytes(
        of: narrowMark(hash) | UInt32(key), toByteOffset: count * 4, as: UInt32.self)
    } else {
      editor.resize(bucket, payloadBytes: (count + 1) * 8)
      block = editor.pointer(bucket)
      (block + BlockHeader.length).storeBytes(
        of: wideMark(hash) | UInt64(key), toByteOffset: count * 8, as: UInt64.self)
    }
    BlockHeader.setCount(block, count + 1)
  }

  private static func keys(_ block: UnsafeRawPointer) -> [Int64] {
    let entries = BlockHeader.payload(block)
    let isNarrow = BlockHeader.width(block) == 0
    return (0..<BlockHeader.count(block)).map { index in
      isNarrow
        ? Int64(entries.load(fromByteOffset: index * 4, as: UInt32.self) & 0xff_ffff)
        : Int64(
          entries.load(fromByteOffset: index * 8, as: UInt64.self) & 0xffff_ffff_ffff)
    }
  }

  private static func rewrite(
    _ editor: BlockEditor, _ bucket: BlockReference, _ entries: [(Int64, UInt64)]
  ) {
    let isNarrow = entries.allSatisfy { $0.0 >> 24 == 0 }
    editor.resize(bucket, payloadBytes: entries.count * (isNarrow ? 4 : 8))
    let block = editor.pointer(bucket)
    BlockHeader.setWidth(block, isNarrow ? 0 : 1)
    BlockHeader.setCount(block, entries.count)
    let payload = block + BlockHeader.length
    for (index, (key, hash)) in entries.enumerated() {
      if isNarrow {
        payload.storeBytes(
          of: narrowMark(hash) | UInt32(key), toByteOffset: index * 4, as: UInt32.self)
      } else {
        payload.storeBytes(
          of: wideMark(hash) | UInt64(key), toByteOffset: index * 8, as: UInt64.self)
      }
    }
  }

  // MARK: - Checking

  /// Every entry, for complete checks.
  package func forEach(_ reader: BlockReader, _ body: (_ bucket: Int, _ key: Int64) -> Void) {
    if bucketCount > 0 { visit(reader, root, Self.depth(bucketCount), 0, body) }
  }

  private func visit(
    _ reader: BlockReader, _ node: BlockReference, _ level: Int, _ prefix: Int,
    _ body: (Int, Int64) -> Void
  ) {
    let block = reader.pointer(node)
    if level == 0 {
      for key in Self.keys(block) { body(prefix, key) }
      return
    }
    for slot in 0..<Self.fanOut {
      let child = BlockHeader.reference(block, slot)
      if !child.isNone { visit(reader, child, level - 1, prefix << 6 | slot, body) }
    }
  }

  /// What is wrong, one sentence each.
  package func checkInvariants(_ reader: BlockReader, hash: (Int64) -> UInt64) -> [String] {
    var findings: [String] = []
    var found = 0
    forEach(reader) { number, key in
      found += 1
      let expected = bucket(of: hash(key))
      if number != expected {
        findings.append("object \(key) is in bucket \(number), belongs into \(expected)")
      }
    }
    if found != entryCount { findings.append("\(found) entries, counted \(entryCount)") }
    return findings
  }
}
