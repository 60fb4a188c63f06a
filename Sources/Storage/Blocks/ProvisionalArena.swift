// Memory of the blocks of a running transaction. What was placed early makes room for what comes
// next, so that a bulk insert works in a few megabytes that stay in the processor's cache.
internal import Glibc

/// Memory of provisional blocks: chunks filled from the front, and a table from number to pointer
/// whose address never changes, so that readers can hold it.
///
/// Reused by one transaction after another.
@usableFromInline
package final class ProvisionalArena: @unchecked Sendable {
  // @unchecked: used by one write transaction at a time; the write lock hands it on.
  /// So many blocks of one transaction can be in memory at a time.
  ///
  /// Those that were removed, or written out early by `seal`, do not count.
  package static let blockCountMax = 1 << 22
  private static let chunkLength = 1 << 20
  private static let chunksKept = 8
  /// Chunks whose address space is reserved: a transaction that has begun cannot end in an error
  /// where there is none, and few need more chunks, since blocks are written out early.
  private static let chunksReserved = 8
  /// A block's entry in `capacities` has this bit when the block is resident.
  private static let residentBit: UInt32 = 1 << 31

  /// Memory that is filled from the front and reused once no block in it is left.
  private struct Chunk {
    let memory: UnsafeMutableRawPointer
    var blocks = 0
  }

  /// A chunk being filled; residents and others are kept apart, since one resident block would keep
  /// the whole chunk from being reused.
  private struct Front {
    var chunk = -1
    var used = ProvisionalArena.chunkLength
  }

  @usableFromInline let table: UnsafeMutablePointer<UnsafeMutableRawPointer>
  // Unchecked exclusivity: one thread at a time, in short accesses, several for each changed block.

  /// Numbers that were given: 0 ..< this.
  @exclusivity(unchecked) package private(set) var count = 0
  /// The number of a block that was removed, which the next block gets; -1 if there is none.
  ///
  /// The one after it is where the removed block's previous birth was, which nobody asks for any
  /// more. So what is made and removed again and again takes no numbers. Nobody may keep the
  /// reference of a block that he removes: it soon is that of another one.
  @exclusivity(unchecked) private var removedNumber = -1
  @exclusivity(unchecked) private var removedCount = 0
  /// Bytes of the blocks that are not resident, with the room to grow that they have.
  @exclusivity(unchecked) private(set) var passingBytes = 0
  @exclusivity(unchecked) private var chunks: [Chunk] = []
  /// Chunks without a block.
  @exclusivity(unchecked) private var free: [Int] = []
  @exclusivity(unchecked) private var passing = Front()
  @exclusivity(unchecked) private var resident = Front()
  private let capacities: UnsafeMutablePointer<UInt32>
  private let previousBirths: UnsafeMutablePointer<UInt64>
  /// Where the commit puts each block, by number; written before it is read.
  let places: UnsafeMutablePointer<UInt64>
  /// What the table points to where a block was removed; reading it finds an empty block.
  private let hole: UnsafeMutableRawPointer

  /// Address space for one entry a block of each of the lists, and for some chunks; pages come as
  /// they are used.
  private let reserved: UnsafeMutableRawPointer
  /// Reserved memory that is no chunk now.
  @exclusivity(unchecked) private var spare: [UnsafeMutableRawPointer] = []
  private static let bytesOfLists =
    blockCountMax
    * (MemoryLayout<UnsafeMutableRawPointer>.stride + 2 * MemoryLayout<UInt64>.stride
      + MemoryLayout<UInt32>.stride)
  package static let reservedBytes = bytesOfLists + (chunksReserved + 1) * chunkLength

  /// Nil where the process has no address space for it.
  package init?() {
    let memory = mmap(
      nil, Self.reservedBytes, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let memory, memory != MAP_FAILED else { return nil }
    reserved = memory
    var next = memory
    func list<Entry>(of: Entry.Type) -> UnsafeMutablePointer<Entry> {
      defer { next += Self.blockCountMax * MemoryLayout<Entry>.stride }
      return next.bindMemory(to: Entry.self, capacity: Self.blockCountMax)
    }
    table = list(of: UnsafeMutableRawPointer.self)
    previousBirths = list(of: UInt64.self)
    places = list(of: UInt64.self)
    capacities = list(of: UInt32.self)
    hole = .allocate(byteCount: BlockHeader.length, alignment: 16)
    memset(hole, 0, BlockHeader.length)
    // One more is reserved, since chunks are aligned to their length.
    let chunks = memory.advanced(by: Self.bytesOfLists).alignedUp(toMultipleOf: Self.chunkLength)
    spare = (0..<Self.chunksReserved).reversed().map { chunks + $0 * Self.chunkLength }
  }

  deinit {
    for chunk in chunks where !isReserved(chunk.memory) { chunk.memory.deallocate() }
    hole.deallocate()
    munmap(reserved, Self.reservedBytes)
  }

  /// Forgets all blocks; keeps some memory for the next transaction.
  package func reset() {
    count = 0
    removedNumber = -1
    removedCount = 0
    passingBytes = 0
    while chunks.count > Self.chunksKept { letGo(chunks.removeLast().memory) }
    for index in chunks.indices { chunks[index].blocks = 0 }
    free.removeAll(keepingCapacity: true)
    free.append(contentsOf: chunks.indices)
    passing = Front()
    resident = Front()
  }

  /// Memory for a block, which the caller adds or puts in place of another.
  func take(_ length: Int, isResident: Bool) -> UnsafeMutableRawPointer {
    isResident ? take(length, &resident) : take(length, &passing)
  }

  private func take(_ length: Int, _ front: inout Front) -> UnsafeMutableRawPointer {
    if front.used + length > Self.chunkLength {
      let full = front.chunk
      front.chunk = emptyChunk()
      // The chunk's number stands at its start; blocks follow on the next cache line.
      front.used = 64
      if full >= 0, chunks[full].blocks == 0 { free.append(full) }
    }
    defer { front.used += length }
    chunks[front.chunk].blocks += 1
    return chunks[front.chunk].memory + front.used
  }

  private func emptyChunk() -> Int {
    if let index = free.popLast() { return index }
    let memory =
      spare.popLast()
      ?? .allocate(byteCount: Self.chunkLength, alignment: Self.chunkLength)
    memory.storeBytes(of: chunks.count, as: Int.self)
    chunks.append(Chunk(memory: memory))
    return chunks.count - 1
  }

  private func isReserved(_ chunk: UnsafeMutableRawPointer) -> Bool {
    chunk >= reserved && chunk < reserved + Self.reservedBytes
  }

  private func letGo(_ chunk: UnsafeMutableRawPointer) {
    guard isReserved(chunk) else { return chunk.deallocate() }
    // The address space stays, the memory goes.
    madvise(chunk, Self.chunkLength, MADV_DONTNEED)
    spare.append(chunk)
  }

  /// A block's memory is not needed any more.
  private func giveBack(_ block: UnsafeMutableRawPointer) {
    if block == hole { return }
    // Chunks are aligned to their length.
    let start = UInt(bitPattern: block) & ~UInt(Self.chunkLength - 1)
    let index = UnsafeRawPointer(bitPattern: start)!.load(as: Int.self)
    chunks[index].blocks -= 1
    guard chunks[index].blocks == 0, index != passing.chunk, index != resident.chunk else { return }
    // Whoever still reads there finds nonsense in every debug run.
    assert(memset(chunks[index].memory + 64, 0xdd, Self.chunkLength - 64) != nil)
    free.append(index)
  }

  /// Bytes that the block may grow to where it is.
  func capacity(of reference: BlockReference) -> Int {
    Int(capacities[reference.number] & ~Self.residentBit)
  }

  func isResident(_ reference: BlockReference) -> Bool {
    capacities[reference.number] & Self.residentBit != 0
  }

  /// Blocks that are in memory.
  package var blocks: Int { count - removedCount }

  /// Version in which the block that this one replaces was born; 0 for a new block.
  func previousBirth(_ number: Int) -> Version { Version(previousBirths[number]) }

  func add(
    _ block: UnsafeMutableRawPointer, capacity: Int, isResident: Bool,
    previousBirth: Version = Version(0)
  ) -> BlockReference {
    var number = removedNumber
    if number >= 0 {
      removedNumber = Int(truncatingIfNeeded: previousBirths[number])
      removedCount -= 1
    } else {
      precondition(count < Self.blockCountMax, "too many changed blocks in one transaction")
      number = count
      count += 1
    }
    table[number] = block
    capacities[number] = UInt32(capacity) | (isResident ? Self.residentBit : 0)
    previousBirths[number] = previousBirth.rawValue
    if !isResident { passingBytes += capacity }
    return BlockReference(provisional: number)
  }

  func replace(
    _ reference: BlockReference, with block: UnsafeMutableRawPointer, capacity: Int
  ) {
    let number = reference.number
    giveBack(table[number])
    table[number] = block
    let old = capacities[number]
    if old & Self.residentBit == 0 { passingBytes += capacity - Int(old) }
    capacities[number] = old & Self.residentBit | UInt32(capacity)
  }

  func remove(_ reference: BlockReference) {
    let number = reference.number
    let block = table[number]
    assert(block != hole, "block \(number) was removed before")
    // A number that is free twice would be given to two blocks.
    if block == hole { return }
    giveBack(block)
    let old = capacities[number]
    if old & Self.residentBit == 0 { passingBytes -= Int(old) }
    table[number] = hole
    capacities[number] = UInt32(BlockHeader.length) | Self.residentBit
    previousBirths[number] = UInt64(bitPattern: Int64(removedNumber))
    removedNumber = number
    removedCount += 1
  }

  /// Whether the block was removed or placed, and no other one has its number yet.
  func isRemoved(_ reference: BlockReference) -> Bool {
    table[reference.number] == hole
  }
}
