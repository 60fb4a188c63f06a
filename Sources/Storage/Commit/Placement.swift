// Where the new blocks of one transaction go, and the memory they are gathered in before they are
// written. Blocks are copied into a buffer whose addresses equal the file offsets modulo 4,096
// (copies that differ by a few bytes modulo the page are many times slower) and written by one call
// an extent.
internal import Glibc
internal import Platform

/// Extents being filled by one transaction.
struct Placement: ~Copyable {
  /// A block on its way to a place.
  struct Block {
    let number: Int
    /// Bytes that it takes in the file.
    let length: Int
    let isHot: Bool
  }

  /// A run taken from free space, filled from the front.
  struct Filling {
    let offset: UInt64
    let length: Int
    var used = 0
    let buffer: UnsafeMutableRawPointer

    /// What is placed so far.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: buffer, count: used) }

    /// The same, of a run that begins behind the place of a record, with the record before it.
    func bytes(behind record: [UInt8]) -> UnsafeRawBufferPointer {
      // The first run in the buffer begins as far behind the start of a page as it does in the
      // file.
      let start = buffer - CommitRecord.lengthMax
      memset(start, 0, CommitRecord.lengthMax)
      record.withUnsafeBytes { start.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      return UnsafeRawBufferPointer(start: start, count: CommitRecord.lengthMax + used)
    }
  }

  /// Enough for nearly every commit that is written in one go.
  ///
  /// A list of free runs has no largest length, so what does not fit gets memory of its own.
  static let bufferLength = 4 << 20

  private(set) var filling: [Filling] = []
  /// What is to be placed, children before parents.
  var order: [Block] = []
  private var bufferUsed = 0
  private let buffer = Self.makeBuffer()
  /// Memory of the runs of this commit that `buffer` has no room for.
  private var further: [UnsafeMutableRawPointer] = []

  init() { filling.reserveCapacity(4) }

  deinit {
    for memory in further { memory.deallocate() }
    buffer.deallocate()
  }

  static func makeBuffer() -> UnsafeMutableRawPointer {
    .allocate(byteCount: bufferLength + FileHeader.pageLength, alignment: FileHeader.pageLength)
  }

  /// Starts to fill a run.
  mutating func open(_ run: Run) {
    let page = FileHeader.pageLength
    var start = (bufferUsed + 63) & ~63
    // Past the first extents a commit is slow anyway; then memory counts more than alignment.
    if filling.count < 16 {
      start = (bufferUsed + page - 1) / page * page + Int(run.offset % UInt64(page))
    }
    guard start + Int(run.length) <= Self.bufferLength + page else {
      openApart(run)
      return
    }
    filling.append(
      Filling(offset: run.offset, length: Int(run.length), buffer: buffer + start))
    bufferUsed = start + Int(run.length)
  }

  /// Starts to fill a run in memory of its own.
  private mutating func openApart(_ run: Run) {
    let page = FileHeader.pageLength
    let start = Int(run.offset % UInt64(page))
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: start + Int(run.length), alignment: page)
    further.append(memory)
    filling.append(
      Filling(offset: run.offset, length: Int(run.length), buffer: memory + start))
  }

  /// The next `length` bytes of the newest extent; nil when they do not fit.
  mutating func take(_ length: Int) -> (offset: UInt64, memory: UnsafeMutableRawPointer)? {
    guard let last = filling.indices.last, filling[last].used + length <= filling[last].length
    else { return nil }
    let used = filling[last].used
    filling[last].used += length
    return (filling[last].offset + UInt64(used), filling[last].buffer + used)
  }

  /// Bytes of the newest extent that are not taken.
  var rest: Int { filling.last.map { $0.length - $0.used } ?? 0 }

  /// Forgets what an earlier commit has placed.
  mutating func removeAll() {
    filling.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: order.count <= 1024)
    bufferUsed = 0
    guard !further.isEmpty else { return }
    for memory in further { memory.deallocate() }
    further.removeAll()
  }
}
