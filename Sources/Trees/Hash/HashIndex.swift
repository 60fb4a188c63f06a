// A hash index from values to object keys: linear hashing. The index does not hold the values; a
// candidate is checked against the column by the caller.
//
//   hashBucket   header count n = entries; width byte = bytes of a key (3, 4 or 8); n fingerprints of
//                1 byte, then zeros up to a multiple of 8; n keys
//   bucketChain  header count = buckets; references. For hashes so equal that one bucket is too small
//   directory    header count = children; references. Fan-out 64, a radix tree over bucket numbers
//
// Buckets are numbered 0 ..< bucketCount. A hash's bucket is its low bits, one bit fewer if that
// bucket does not exist yet. The directory's depth follows from the number of buckets; depth 0 is a
// bucket.
public import Platform
public import Storage

/// Reading of one block of entries.
@frozen @usableFromInline
package enum HashBucket {
  /// Entries before a bucket becomes a chain.
  static let entriesMax = 1_024

  @inlinable static func keyBytes(_ block: UnsafeRawPointer) -> Int {
    Int(BlockHeader.width(block))
  }

  /// Bytes of so many fingerprints.
  @inlinable static func fingerprintBytes(_ count: Int) -> Int { (count &+ 7) & ~7 }

  /// Payload bytes of so many entries.
  @inlinable static func payloadBytes(_ count: Int, keyBytes: Int) -> Int {
    fingerprintBytes(count) &+ count &* keyBytes
  }

  @inlinable package static func key(_ block: UnsafeRawPointer, _ index: Int) -> Int64 {
    let start = BlockHeader.length &+ fingerprintBytes(BlockHeader.count(block))
    switch keyBytes(block) {
    case 3:
      // The byte before belongs to another key or a fingerprint; the byte behind may not exist.
      return Int64(block.integer(at: start &+ index &* 3 &- 1, as: UInt32.self) &>> 8)
    case 4: return Int64(block.integer(at: start &+ index &* 4, as: UInt32.self))
    default: return block.integer(at: start &+ index &* 8, as: Int64.self)
    }
  }

  @inlinable static func fingerprint(_ block: UnsafeRawPointer, _ index: Int) -> UInt8 {
    block.load(fromByteOffset: BlockHeader.length &+ index, as: UInt8.self)
  }

  /// The entries of a bucket of at most 64 that have this fingerprint, one bit an entry.
  @inlinable @inline(__always)
  package static func candidates(_ block: UnsafeRawPointer, _ fingerprint: UInt8) -> UInt64 {
    let count = BlockHeader.count(block)
    let entries = block + BlockHeader.length
    // What is read behind the fingerprints is in the block: keys of at least three bytes follow.
    var found = equalBytes(entries, fingerprint)
    if _fastPath(count > 16) {
      // As many steps whatever the bucket has: a jump that depends on it could not be foreseen.
      found |= equalBytes(entries + 16, fingerprint) &<< 16
      found |= equalBytes(entries + 32, fingerprint) &<< 32
      found |= equalBytes(entries + 48, fingerprint) &<< 48
    }
    // Behind the last entry come others than fingerprints.
    return found & (UInt64.max &>> UInt64(64 &- count))
  }

  /// The first entry with this fingerprint that `matches`.
  @inlinable @inline(__always)
  static func find(
    _ block: UnsafeRawPointer, _ fingerprint: UInt8, _ matches: (Int64) -> Bool
  ) -> (index: Int, key: Int64)? {
    let count = BlockHeader.count(block)
    let wanted = UInt64(fingerprint) &* 0x0101_0101_0101_0101
    let low: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
    var first = 0
    while first < count {
      // Eight fingerprints at once; entry `first` is the lowest byte.
      let word = block.integer(at: BlockHeader.length &+ first, as: UInt64.self)
      let difference = word ^ wanted
      var equal = ~(((difference & low) &+ low) | difference | low)
      while equal != 0 {
        let index = first &+ equal.trailingZeroBitCount &>> 3
        equal &= equal &- 1
        if index >= count { break }
        let key = key(block, index)
        if matches(key) { return (index, key) }
      }
      first &+= 8
    }
    return nil
  }
}

/// Reading of a hash index.
@frozen @usableFromInline
package struct HashIndex: Sendable {
  @inlinable static var directoryBits: Int { 6 }
  @inlinable static var fanOut: Int { 64 }

  @usableFromInline package let reader: BlockReader
  @usableFromInline package let root: BlockReference
  @usableFromInline package let bucketCount: Int
  /// All ones, up to the highest bucket number's highest bit.
  @usableFromInline let mask: UInt64
  /// Bits of a bucket number that the directory looks at: a multiple of 6.
  @usableFromInline let directoryShift: Int

  @inlinable package init(reader: BlockReader, root: BlockReference, bucketCount: Int) {
    self.reader = reader
    self.root = root
    self.bucketCount = bucketCount
    let highest = UInt64(bucketCount &- 1)
    let bits = 64 &- highest.leadingZeroBitCount
    mask = bits == 64 ? .max : 1 &<< UInt64(bits) &- 1
    directoryShift = (bits &+ 5) / 6 &* 6
  }

  /// The bucket of a hash.
  @inlinable @inline(__always)
  func address(_ hash: UInt64) -> Int {
    let bucket = Int(truncatingIfNeeded: hash & mask)
    return bucket < bucketCount ? bucket : Int(truncatingIfNeeded: hash & (mask &>> 1))
  }

  @inlinable @inline(__always)
  func bucket(_ number: Int) -> BlockReference {
    var reference = root
    var shift = directoryShift
    while shift > 0 {
      shift &-= Self.directoryBits
      let index = (number &>> shift) & (Self.fanOut &- 1)
      let block = reader.pointer(reference, .directory)
      if _slowPath(index >= BlockHeader.count(block)) {
        reader.stop(at: block, "it has fewer children than the index has buckets")
      }
      reference = BlockHeader.reference(block, index)
    }
    return reference
  }

  /// The key of an object with this hash that `matches`; the closure looks at the object's column.
  ///
  /// - Complexity: O(1) on average; O(equal hashes) at worst.
  @inlinable @inline(__always)
  package func find(_ hash: UInt64, _ matches: (Int64) -> Bool) -> Int64? {
    let reference = bucket(address(hash))
    if reference.isNone { return nil }
    // The lines of a usual bucket come from memory together instead of one after the other.
    reader.prefetch(reference, allOf: 1...3)
    let block = reader.pointer(reference)
    let fingerprint = UInt8(truncatingIfNeeded: hash &>> 56)
    if _fastPath(BlockHeader.kind(block) == .hashBucket) {
      return HashBucket.find(block, fingerprint, matches)?.key
    }
    if BlockHeader.kind(block) != .bucketChain { reader.stop(at: block) }
    for index in 0..<BlockHeader.count(block) {
      let bucket = reader.pointer(BlockHeader.reference(block, index), .hashBucket)
      if let found = HashBucket.find(bucket, fingerprint, matches) { return found.key }
    }
    return nil
  }
}

extension HashIndex {
  /// Starts to load the bucket of a hash.
  package func prefetch(_ hash: UInt64) {
    let bucket = bucket(address(hash))
    if bucket.isNone { return }
    // Blocks of the transaction are elsewhere than references say.
    if bucket.isProvisional {
      Platform.prefetch(reader.pointer(bucket), lines: 4)
    } else {
      reader.prefetch(bucket, allOf: 0...3)
    }
  }

  /// The bucket of a hash, if it is one block of at most 64 entries; else `find` is needed.
  @inlinable @inline(__always)
  package func shortBucket(_ hash: UInt64) -> UnsafeRawPointer? {
    let reference = bucket(address(hash))
    if reference.isNone { return nil }
    // The lines of a usual bucket come from memory together instead of one after the other.
    reader.prefetch(reference, allOf: 1...4)
    let block = reader.pointer(reference)
    let isShort = BlockHeader.kind(block) == .hashBucket && BlockHeader.count(block) <= 64
    return _fastPath(isShort) ? block : nil
  }

  /// Walks the index.
  ///
  /// - Parameter hashOf: the hash of an object's value; nil if there is no such object.
  /// - Returns: what is wrong; empty for a sound index. The second is the number of entries.
  package func checkInvariants(
    name: String, hashOf: (Int64) -> UInt64?
  ) -> (findings: [String], entries: Int) {
    var findings: [String] = []
    var entries = 0
    guard bucketCount > 0 else { return (["\(name): no buckets"], 0) }
    checkDirectory(root, shift: directoryShift, first: 0, name, &findings)
    if !findings.isEmpty { return (findings, 0) }
    for number in 0..<bucketCount {
      let reference = bucket(number)
      if reference.isNone { continue }
      let block = reader.pointer(reference)
      var buckets = [block]
      if BlockHeader.kind(block) == .bucketChain {
        buckets = (0..<BlockHeader.count(block)).map {
          reader.pointer(BlockHeader.reference(block, $0), .hashBucket)
        }
        if buckets.count < 2 { findings.append("\(name): bucket \(number) is a chain of one") }
      }
      for bucket in buckets {
        entries += checkBucket(bucket, number: number, name, &findings, hashOf)
      }
    }
    return (findings, entries)
  }

  private func checkDirectory(
    _ reference: BlockReference, shift: Int, first: Int, _ name: String,
    _ findings: inout [String]
  ) {
    if shift == 0 { return }
    let childShift = shift - Self.directoryBits
    let expected = min((bucketCount - first + (1 << childShift) - 1) >> childShift, Self.fanOut)
    let block = reference.isNone ? nil : reader.pointer(reference)
    guard let block, BlockHeader.kind(block) == .directory, BlockHeader.count(block) == expected
    else {
      findings.append("\(name): directory at bucket \(first) has not \(expected) children")
      return
    }
    for index in 0..<expected {
      checkDirectory(
        BlockHeader.reference(block, index), shift: childShift, first: first + index << childShift,
        name, &findings)
    }
  }

  private func checkBucket(
    _ block: UnsafeRawPointer, number: Int, _ name: String, _ findings: inout [String],
    _ hashOf: (Int64) -> UInt64?
  ) -> Int {
    let count = BlockHeader.count(block)
    let keyBytes = HashBucket.keyBytes(block)
    guard BlockHeader.kind(block) == .hashBucket, count > 0, count <= HashBucket.entriesMax,
      keyBytes == 3 || keyBytes == 4 || keyBytes == 8,
      BlockHeader.blockLength(block)
        == BlockHeader.blockLength(forPayload: HashBucket.payloadBytes(count, keyBytes: keyBytes))
    else {
      findings.append("\(name): bucket \(number) is not a bucket of \(count) entries")
      return 0
    }
    for index in 0..<count {
      let key = HashBucket.key(block, index)
      guard let hash = hashOf(key) else {
        findings.append("\(name): bucket \(number) has key \(key), which does not exist")
        continue
      }
      if address(hash) != number {
        findings.append("\(name): key \(key) is in bucket \(number), not in \(address(hash))")
      }
      if UInt8(hash >> 56) != HashBucket.fingerprint(block, index) {
        findings.append("\(name): key \(key) has a wrong fingerprint")
      }
    }
    return count
  }
}
