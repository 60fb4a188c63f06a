// A hash index inside a write transaction. One bucket is split for every `splitLoad` inserts and
// the last one is merged back when the index has shrunk, so no operation does more than two
// buckets' work.
internal import Glibc
package import Storage

/// Changes one hash index.
///
/// Belongs to one write transaction; never shared between threads.
package final class HashIndexEditor {
  /// Entries a bucket at which the next bucket is split, and at which the last one is merged.
  package static let splitLoad = 40
  static let mergeLoad = 16

  private let editor: BlockEditor
  /// Root of the directory, or the only bucket.
  @exclusivity(unchecked) package private(set) var root: BlockReference
  @exclusivity(unchecked) package private(set) var bucketCount: Int
  /// Entries in the index.
  @exclusivity(unchecked) package private(set) var count: Int
  /// Entries for which a new bucket gets room at first.
  @exclusivity(unchecked) private var firstRoom = 8
  /// Hashes of the objects that were added here.
  @exclusivity(unchecked) private var recent = RecentHashes()

  package init(_ editor: BlockEditor, root: BlockReference, bucketCount: Int, count: Int) {
    self.editor = editor
    self.root = root
    self.bucketCount = max(bucketCount, 1)
    self.count = count
  }

  /// What a table root says of the index.
  package var shape: (root: BlockReference, bucketCount: Int, count: Int) {
    (root, bucketCount, count)
  }

  /// Reads the index as it is now.
  package var index: HashIndex {
    HashIndex(reader: editor.reader, root: root, bucketCount: bucketCount)
  }

  /// Writes the hashes of objects' values: of each key in the first buffer to the second.
  ///
  /// All at once, so that the reads of different objects overlap.
  package typealias HashesOf = (UnsafeBufferPointer<Int64>, UnsafeMutablePointer<UInt64>) -> Void

  /// Adds an object.
  ///
  /// The caller knows that its value is not there.
  ///
  /// - Parameter hashesOf: the hashes of other objects, for splitting buckets.
  package func insert(_ hash: UInt64, _ key: Int64, hashesOf: HashesOf) {
    let index = index
    let number = index.address(hash)
    var bucket = openBucket(index, number)
    let old = bucket
    appendEntry(&bucket, fingerprint: UInt8(truncatingIfNeeded: hash >> 56), key)
    if bucket != old { setBucket(index, number, bucket) }
    recent.note(hash, key)
    count += 1
    if count > Self.splitLoad * bucketCount { split(hashesOf) }
  }

  /// Whether an object that was added here has another hash; false if that is not known.
  ///
  /// It spares a look at the object.
  @inline(__always)
  package func isKnownToDiffer(_ key: Int64, from hash: UInt64) -> Bool {
    recent.low(key).map { $0 != UInt32(truncatingIfNeeded: hash) } ?? false
  }

  /// Makes the buckets for objects that are about to be added.
  ///
  /// What is split now, while the buckets have fewer entries, need not be split later.
  ///
  /// - Parameter more: how many will be added, or a few more than that.
  package func reserve(_ more: Int, hashesOf: HashesOf) {
    while count + more > Self.splitLoad * bucketCount { split(hashesOf) }
    firstRoom = min((count + more) / bucketCount, Self.splitLoad) * 3 / 4
  }

  /// Removes an object.
  ///
  /// - Parameter hash: of the value under which it was added.
  /// - Returns: false if it is not there.
  @discardableResult
  package func remove(_ hash: UInt64, _ key: Int64) -> Bool {
    let index = index
    guard index.find(hash, { $0 == key }) != nil else { return false }
    let number = index.address(hash)
    var bucket = openBucket(index, number)
    removeEntry(&bucket, fingerprint: UInt8(truncatingIfNeeded: hash >> 56), key)
    setBucket(index, number, bucket)
    count -= 1
    if bucketCount > 1, count < Self.mergeLoad * bucketCount { merge() }
    return true
  }

  /// Removes everything.
  package func removeAll() {
    editor.freeTree(root)
    root = .none
    bucketCount = 1
    count = 0
  }

  // MARK: - Directory

  /// The bucket as a block of this transaction, with its path; none if it is empty.
  private func openBucket(_ index: HashIndex, _ number: Int) -> BlockReference {
    if root.isNone { return .none }
    root = editor.mutable(root)
    var reference = root
    var shift = index.directoryShift
    while shift > 0 {
      shift -= HashIndex.directoryBits
      let child = (number >> shift) & (HashIndex.fanOut - 1)
      let block = directory(reference, with: child)
      var next = BlockHeader.reference(block, child)
      if next.isNone { return .none }
      if !next.isProvisional {
        next = editor.mutable(next)
        BlockHeader.setReference(editor.pointer(reference), child, next)
      }
      reference = next
    }
    let block = editor.pointer(reference)
    let kind = BlockHeader.kind(block)
    if kind != .hashBucket && kind != .bucketChain { editor.reader.stop(at: block) }
    return reference
  }

  /// A directory of this transaction; stops if it is none or has no such child.
  private func directory(
    _ reference: BlockReference, with child: Int
  ) -> UnsafeMutableRawPointer {
    let block = editor.pointer(reference)
    if BlockHeader.kind(block) != .directory || child >= BlockHeader.count(block) {
      editor.reader.stop(at: block, "it is no directory with as many children as the index needs")
    }
    return block
  }

  /// Stores a bucket's reference.
  ///
  /// Its path is of this transaction already.
  private func setBucket(_ index: HashIndex, _ number: Int, _ bucket: BlockReference) {
    var shift = index.directoryShift
    if shift == 0 {
      root = bucket
      return
    }
    var reference = root
    while shift > HashIndex.directoryBits {
      shift -= HashIndex.directoryBits
      reference = BlockHeader.reference(
        directory(reference, with: (number >> shift) & (HashIndex.fanOut - 1)),
        (number >> shift) & (HashIndex.fanOut - 1))
    }
    _ = directory(reference, with: number & (HashIndex.fanOut - 1))
    BlockHeader.setReference(editor.pointer(reference), number & (HashIndex.fanOut - 1), bucket)
  }

  /// Adds an empty bucket behind the last one.
  private func addBucket() {
    let number = bucketCount
    let oldShift = index.directoryShift
    bucketCount += 1
    var shift = index.directoryShift
    if shift > oldShift {
      let directory = editor.allocate(kind: .directory, count: 1, payloadBytes: 8)
      BlockHeader.setReference(editor.pointer(directory), 0, root)
      root = directory
    } else {
      root = editor.mutable(root, .directory)
    }
    var reference = root
    while true {
      shift -= HashIndex.directoryBits
      let child = (number >> shift) & (HashIndex.fanOut - 1)
      if child == BlockHeader.count(editor.pointer(reference)) {
        editor.resize(reference, payloadBytes: (child + 1) * 8)
        let block = editor.pointer(reference)
        BlockHeader.setCount(block, child + 1)
        BlockHeader.setReference(block, child, .none)
        if shift > 0 {
          let directory = editor.allocate(kind: .directory, count: 0, payloadBytes: 0)
          BlockHeader.setReference(editor.pointer(reference), child, directory)
        }
      }
      _ = directory(reference, with: child)
      if shift == 0 { return }
      let next = editor.mutable(
        BlockHeader.reference(editor.pointer(reference), child), .directory)
      BlockHeader.setReference(editor.pointer(reference), child, next)
      reference = next
    }
  }

  /// Drops the last bucket, which is empty.
  private func dropBucket() {
    let oldShift = index.directoryShift
    let number = bucketCount - 1
    bucketCount = number
    if index.directoryShift < oldShift {
      // Only child 0 is left of the root, once the way to the last bucket is gone.
      let block = editor.reader.pointer(root, .directory)
      if BlockHeader.count(block) < 2 { editor.reader.stop(at: block) }
      let kept = BlockHeader.reference(block, 0)
      if oldShift > HashIndex.directoryBits { editor.freeTree(BlockHeader.reference(block, 1)) }
      editor.free(root)
      root = kept
      return
    }
    root = editor.mutable(root, .directory)
    trim(root, number: number, shift: oldShift)
  }

  private func trim(_ reference: BlockReference, number: Int, shift: Int) {
    let childShift = shift - HashIndex.directoryBits
    let child = (number >> childShift) & (HashIndex.fanOut - 1)
    _ = directory(reference, with: child)
    if childShift > 0 {
      let old = BlockHeader.reference(editor.pointer(reference), child)
      if number & ((1 << childShift) - 1) != 0 {
        let next = editor.mutable(old, .directory)
        BlockHeader.setReference(editor.pointer(reference), child, next)
        trim(next, number: number, shift: childShift)
        return
      }
      editor.freeTree(old)
    }
    BlockHeader.setReference(editor.pointer(reference), child, .none)
    BlockHeader.setCount(editor.pointer(reference), child)
    editor.resize(reference, payloadBytes: child * 8)
  }

  // MARK: - Growing and shrinking

  private func split(_ hashesOf: HashesOf) {
    let newNumber = bucketCount
    let oldNumber = newNumber & ~(1 << (63 - UInt64(newNumber).leadingZeroBitCount))
    var old = openBucket(index, oldNumber)
    addBucket()
    if old.isNone { return }
    var high = BlockReference.none
    let index = index
    if BlockHeader.kind(editor.pointer(old)) == .hashBucket {
      splitBucket(&old, &high, newNumber, index, hashesOf)
    } else {
      splitChain(&old, &high, newNumber, index, hashesOf)
    }
    setBucket(index, oldNumber, old)
    setBucket(index, newNumber, high)
  }

  /// Moves the entries that belong into the new bucket; the others close up in place.
  private func splitBucket(
    _ old: inout BlockReference, _ high: inout BlockReference, _ newNumber: Int,
    _ index: HashIndex, _ hashesOf: HashesOf
  ) {
    let count = BlockHeader.count(editor.pointer(old))
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { keys in
      withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { hashes in
        let block = UnsafeRawPointer(editor.pointer(old))
        var isKnown = true
        for entry in 0..<count {
          let key = HashBucket.key(block, entry)
          keys[entry] = key
          guard isKnown, let low = recent.low(key) else {
            isKnown = false
            continue
          }
          // Bits between these two parts are not asked for: there are fewer buckets than 2^32.
          hashes[entry] = UInt64(HashBucket.fingerprint(block, entry)) << 56 | UInt64(low)
        }
        if !isKnown { hashesOf(UnsafeBufferPointer(keys), hashes.baseAddress!) }
        var moved = 0
        for entry in 0..<count where index.address(hashes[entry]) == newNumber { moved += 1 }
        if moved == 0 { return }
        if moved == count {
          swap(&old, &high)
          return
        }
        let size = HashBucket.keyBytes(block)
        high = makeBucket(keyBytes: size, reserve: moved)
        for entry in 0..<count where index.address(hashes[entry]) == newNumber {
          appendEntry(
            &high, fingerprint: UInt8(truncatingIfNeeded: hashes[entry] >> 56), keys[entry])
        }
        rewrite(old, keys, hashes, keeping: count - moved) { index.address($0) != newNumber }
      }
    }
  }

  /// Leaves only some of a bucket's entries in it.
  private func rewrite(
    _ bucket: BlockReference, _ keys: UnsafeMutableBufferPointer<Int64>,
    _ hashes: UnsafeMutableBufferPointer<UInt64>, keeping kept: Int, _ keeps: (UInt64) -> Bool
  ) {
    let block = editor.pointer(bucket)
    let size = HashBucket.keyBytes(block)
    memset(block + BlockHeader.length, 0, BlockHeader.blockLength(block) - BlockHeader.length)
    BlockHeader.setCount(block, kept)
    var next = 0
    for entry in 0..<keys.count where keeps(hashes[entry]) {
      block.storeBytes(
        of: UInt8(truncatingIfNeeded: hashes[entry] >> 56),
        toByteOffset: BlockHeader.length + next, as: UInt8.self)
      storeKey(block, next, keys[entry], size: size)
      next += 1
    }
    editor.resize(bucket, payloadBytes: HashBucket.payloadBytes(kept, keyBytes: size))
  }

  private func splitChain(
    _ old: inout BlockReference, _ high: inout BlockReference, _ newNumber: Int,
    _ index: HashIndex, _ hashesOf: HashesOf
  ) {
    var low = BlockReference.none
    for block in blocks(old) {
      let count = BlockHeader.count(block)
      let keys = (0..<count).map { HashBucket.key(block, $0) }
      var hashes = [UInt64](repeating: 0, count: count)
      keys.withUnsafeBufferPointer { hashesOf($0, &hashes) }
      for entry in 0..<count {
        let fingerprint = UInt8(truncatingIfNeeded: hashes[entry] >> 56)
        if index.address(hashes[entry]) == newNumber {
          appendEntry(&high, fingerprint: fingerprint, keys[entry])
        } else {
          appendEntry(&low, fingerprint: fingerprint, keys[entry])
        }
      }
    }
    editor.freeTree(old)
    old = low
  }

  private func merge() {
    let lastNumber = bucketCount - 1
    let target = lastNumber & ~(1 << (63 - UInt64(lastNumber).leadingZeroBitCount))
    let index = index
    let last = openBucket(index, lastNumber)
    var bucket = openBucket(index, target)
    if !last.isNone {
      for block in blocks(last) {
        for entry in 0..<BlockHeader.count(block) {
          appendEntry(
            &bucket, fingerprint: HashBucket.fingerprint(block, entry),
            HashBucket.key(block, entry))
        }
      }
      editor.freeTree(last)
      setBucket(index, lastNumber, .none)
      setBucket(index, target, bucket)
    }
    dropBucket()
  }

  /// Blocks of entries of a bucket.
  ///
  /// The pointers hold until the bucket changes.
  private func blocks(_ bucket: BlockReference) -> [UnsafeRawPointer] {
    let block = editor.reader.pointer(bucket)
    if BlockHeader.kind(block) == .hashBucket { return [block] }
    return (0..<BlockHeader.count(block)).map {
      editor.reader.pointer(BlockHeader.reference(block, $0), .hashBucket)
    }
  }

  // MARK: - Entries

  private func appendEntry(_ bucket: inout BlockReference, fingerprint: UInt8, _ key: Int64) {
    if bucket.isNone {
      bucket = makeBucket(keyBytes: keyBytes(for: key), reserve: firstRoom)
    } else if BlockHeader.kind(editor.pointer(bucket)) == .bucketChain {
      appendToChain(bucket, fingerprint: fingerprint, key)
      return
    } else if BlockHeader.count(editor.pointer(bucket)) == HashBucket.entriesMax {
      let chain = editor.allocate(kind: .bucketChain, count: 1, payloadBytes: 8)
      BlockHeader.setReference(editor.pointer(chain), 0, bucket)
      bucket = chain
      appendToChain(chain, fingerprint: fingerprint, key)
      return
    }
    var block = editor.pointer(bucket)
    var size = HashBucket.keyBytes(block)
    let count = BlockHeader.count(block)
    if size < 8, key >> (size * 8) != 0 {
      size = keyBytes(for: key)
      widen(bucket, to: size)
      block = editor.pointer(bucket)
    }
    let oldKeys = HashBucket.fingerprintBytes(count)
    let newKeys = HashBucket.fingerprintBytes(count + 1)
    editor.resize(bucket, payloadBytes: HashBucket.payloadBytes(count + 1, keyBytes: size))
    block = editor.pointer(bucket)
    if newKeys != oldKeys {
      let payload = block + BlockHeader.length
      memmove(payload + newKeys, payload + oldKeys, count * size)
      memset(payload + oldKeys, 0, newKeys - oldKeys)
    }
    BlockHeader.setCount(block, count + 1)
    block.storeBytes(of: fingerprint, toByteOffset: BlockHeader.length + count, as: UInt8.self)
    storeKey(block, count, key, size: size)
  }

  private func appendToChain(_ chain: BlockReference, fingerprint: UInt8, _ key: Int64) {
    let parts = BlockHeader.count(editor.pointer(chain))
    var last = BlockHeader.reference(editor.pointer(chain), parts - 1)
    if BlockHeader.count(editor.reader.pointer(last, .hashBucket)) < HashBucket.entriesMax {
      last = editor.mutable(last)
      BlockHeader.setReference(editor.pointer(chain), parts - 1, last)
      appendEntry(&last, fingerprint: fingerprint, key)
      return
    }
    var next = BlockReference.none
    appendEntry(&next, fingerprint: fingerprint, key)
    editor.resize(chain, payloadBytes: (parts + 1) * 8)
    let block = editor.pointer(chain)
    BlockHeader.setCount(block, parts + 1)
    BlockHeader.setReference(block, parts, next)
  }

  /// The entry must be there.
  private func removeEntry(_ bucket: inout BlockReference, fingerprint: UInt8, _ key: Int64) {
    if BlockHeader.kind(editor.pointer(bucket)) == .bucketChain {
      removeFromChain(&bucket, fingerprint: fingerprint, key)
      return
    }
    let block = editor.pointer(bucket)
    let count = BlockHeader.count(block)
    guard let found = HashBucket.find(block, fingerprint, { $0 == key }) else {
      preconditionFailure("key \(key) is not in its bucket")
    }
    if count == 1 {
      editor.free(bucket)
      bucket = .none
      return
    }
    let size = HashBucket.keyBytes(block)
    let last = count - 1
    storeKey(block, found.index, HashBucket.key(block, last), size: size)
    block.storeBytes(
      of: HashBucket.fingerprint(block, last), toByteOffset: BlockHeader.length + found.index,
      as: UInt8.self)
    block.storeBytes(of: 0, toByteOffset: BlockHeader.length + last, as: UInt8.self)
    let oldKeys = HashBucket.fingerprintBytes(count)
    let newKeys = HashBucket.fingerprintBytes(last)
    if newKeys != oldKeys {
      let payload = block + BlockHeader.length
      memmove(payload + newKeys, payload + oldKeys, last * size)
    }
    BlockHeader.setCount(block, last)
    let end = BlockHeader.length + HashBucket.payloadBytes(last, keyBytes: size)
    memset(block + end, 0, min(size + 8, BlockHeader.blockLength(block) - end))
    editor.resize(bucket, payloadBytes: HashBucket.payloadBytes(last, keyBytes: size))
  }

  private func removeFromChain(
    _ chain: inout BlockReference, fingerprint: UInt8, _ key: Int64
  ) {
    let block = editor.pointer(chain)
    let parts = BlockHeader.count(block)
    for part in 0..<parts {
      var bucket = BlockHeader.reference(block, part)
      if HashBucket.find(editor.reader.pointer(bucket, .hashBucket), fingerprint, { $0 == key })
        == nil
      {
        continue
      }
      bucket = editor.mutable(bucket)
      removeEntry(&bucket, fingerprint: fingerprint, key)
      BlockHeader.setReference(block, part, bucket)
      if !bucket.isNone { return }
      for later in part + 1..<max(parts, part + 1) {
        BlockHeader.setReference(block, later - 1, BlockHeader.reference(block, later))
      }
      BlockHeader.setReference(block, parts - 1, .none)
      BlockHeader.setCount(block, parts - 1)
      if parts == 2 {
        let last = editor.mutable(BlockHeader.reference(block, 0), .hashBucket)
        editor.free(chain)
        chain = last
      } else {
        editor.resize(chain, payloadBytes: (parts - 1) * 8)
      }
      return
    }
  }

  /// An empty bucket whose block has room for so many entries before it moves.
  private func makeBucket(keyBytes: Int, reserve: Int) -> BlockReference {
    let bucket = editor.allocate(
      kind: .hashBucket, width: UInt8(keyBytes), count: 0,
      payloadBytes: HashBucket.payloadBytes(max(reserve + reserve / 2, 8), keyBytes: keyBytes))
    editor.resize(bucket, payloadBytes: 0)
    return bucket
  }

  private func keyBytes(for key: Int64) -> Int {
    key < 1 << 24 ? 3 : key < 1 << 32 ? 4 : 8
  }

  private func storeKey(_ block: UnsafeMutableRawPointer, _ index: Int, _ key: Int64, size: Int) {
    let offset =
      BlockHeader.length + HashBucket.fingerprintBytes(BlockHeader.count(block)) + index * size
    switch size {
    case 3:
      block.store(UInt16(truncatingIfNeeded: key), at: offset)
      block.store(UInt8(truncatingIfNeeded: key >> 16), at: offset + 2)
    case 4: block.store(UInt32(truncatingIfNeeded: key), at: offset)
    default: block.store(key, at: offset)
    }
  }

  private func widen(_ bucket: BlockReference, to size: Int) {
    let count = BlockHeader.count(editor.pointer(bucket))
    let oldSize = HashBucket.keyBytes(editor.pointer(bucket))
    editor.resize(bucket, payloadBytes: HashBucket.payloadBytes(count, keyBytes: size))
    let block = editor.pointer(bucket)
    var index = count - 1
    while index >= 0 {
      BlockHeader.setWidth(block, UInt8(oldSize))
      let key = HashBucket.key(block, index)
      storeKey(block, index, key, size: size)
      index -= 1
    }
    BlockHeader.setWidth(block, UInt8(size))
  }
}
