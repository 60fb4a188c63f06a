// Blocks of commits that are final but in no file yet: an asynchronous commit makes no system call,
// so its bytes wait in memory until the file's own thread, or whoever builds on them, writes them.
// Until then they are found here. A block's bit in the mapping is clear meanwhile, so that reading
// it takes the slow way; once it is set nobody asks here any more.
internal import Platform

/// Memory of blocks that wait to be written.
///
/// Freed with the last snapshot that was made while they waited: readers may still point into it.
final class UnwrittenMemory: @unchecked Sendable {
  // @unchecked: only the holder of the write lock fills it, and what was put in never changes.
  private static let chunkLength = 64 << 10

  private let chunk: UnsafeMutableRawBufferPointer
  private var used = 0

  /// - Parameter length: of what it has to take at least.
  init(for length: Int) {
    chunk = .allocate(byteCount: max(Self.chunkLength, length + 64), alignment: 64)
  }

  deinit { chunk.deallocate() }

  /// Copies bytes to an address that equals their place in the file modulo a cache line: else
  /// writing them is slow.
  ///
  /// Write lock only.
  /// - Returns: nil when there is no room left.
  func copy(_ bytes: UnsafeRawBufferPointer, for offset: UInt64) -> UnsafeRawBufferPointer? {
    let start = used + (Int(offset) - used) & 63
    guard start + bytes.count <= chunk.count else { return nil }
    used = start + bytes.count
    let copy = UnsafeMutableRawBufferPointer(rebasing: chunk[start..<used])
    copy.copyMemory(from: bytes)
    return UnsafeRawBufferPointer(copy)
  }
}

/// Bytes that wait to be written, and their place.
struct UnwrittenExtent: @unchecked Sendable {
  // @unchecked: the bytes never change.
  let offset: UInt64
  let bytes: UnsafeRawBufferPointer
  /// Owns the bytes.
  let memory: UnwrittenMemory

  var end: UInt64 { offset + UInt64(bytes.count) }
}

/// Finds blocks that wait to be written.
final class UnwrittenBlocks: Sendable {
  private struct State {
    /// Sorted by place; they never overlap, since space is not reused before it is durable.
    var extents: [UnwrittenExtent] = []
    /// Memory for the next ones; write lock only.
    var filling: UnwrittenMemory?
  }

  private let state = Monitor(State())
  private let count = Atomic(0)

  /// The bytes of a block from its start on; nil when it is in the file.
  ///
  /// They stay while a snapshot lives that was made before they were written.
  /// - Complexity: one load when nothing waits.
  func find(_ reference: BlockReference) -> UnsafeRawPointer? {
    // Relaxed: who may read the block has it from whoever added it, by way of a lock.
    if count.load(ordering: .relaxed) == 0 { return nil }
    let offset = reference.offset
    return state.withLock { state in
      let index = Self.index(after: offset, in: state.extents) - 1
      guard index >= 0, offset < state.extents[index].end else { return nil }
      return state.extents[index].bytes.baseAddress! + Int(offset - state.extents[index].offset)
    }
  }

  /// Copies bytes of a commit; nobody finds them before `add`.
  ///
  /// Write lock only.
  func copy(_ bytes: UnsafeRawBufferPointer, for offset: UInt64) -> UnwrittenExtent {
    // Only the holder of the write lock replaces it.
    if let memory = state.withLock({ $0.filling }), let copy = memory.copy(bytes, for: offset) {
      return UnwrittenExtent(offset: offset, bytes: copy, memory: memory)
    }
    let memory = UnwrittenMemory(for: bytes.count)
    let full = state.withLock { state in
      defer { state.filling = memory }
      return state.filling
    }
    // Freed, if it is, outside of the lock.
    _ = full
    return UnwrittenExtent(
      offset: offset, bytes: memory.copy(bytes, for: offset)!, memory: memory)
  }

  /// Makes the blocks of a commit known.
  ///
  /// Write lock only.
  /// - Returns: what a snapshot of that commit has to keep.
  func add(_ extents: [UnwrittenExtent]) -> [UnwrittenMemory] {
    state.withLock { state in
      for extent in extents {
        let index = Self.index(after: extent.offset, in: state.extents)
        state.extents.insert(extent, at: index)
      }
      count.store(state.extents.count, ordering: .relaxed)
      var memories: [UnwrittenMemory] = []
      for extent in state.extents where !memories.contains(where: { $0 === extent.memory }) {
        memories.append(extent.memory)
      }
      return memories
    }
  }

  /// Forgets extents that are in the file, or never will be.
  func remove(_ extents: [UnwrittenExtent]) {
    // What they keep is freed outside of the lock.
    let memory = state.withLock { state in
      for extent in extents {
        let index = Self.index(after: extent.offset, in: state.extents) - 1
        precondition(
          index >= 0 && state.extents[index].offset == extent.offset,
          "an extent is written that nobody has deferred")
        state.extents.remove(at: index)
      }
      count.store(state.extents.count, ordering: .relaxed)
      guard state.extents.isEmpty else { return nil as UnwrittenMemory? }
      defer { state.filling = nil }
      return state.filling
    }
    _ = memory
  }

  /// Index of the first extent that begins behind an offset.
  private static func index(after offset: UInt64, in extents: [UnwrittenExtent]) -> Int {
    var low = 0
    var high = extents.count
    while low < high {
      let middle = (low + high) / 2
      if extents[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
