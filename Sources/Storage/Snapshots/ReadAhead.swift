// How a file that is not in memory is read: in pieces, each asked for when a block of it is first
// touched, and as many more at once as were touched one after the other before it, so that a scan
// soon reads a megabyte at a time while look-ups all over a large file read little more than their
// blocks. What has left memory again is read page by page. The kernel's own reading ahead is off:
// it may be set to many megabytes around each lone block.
internal import Platform

/// Reads a mapped file ahead of its readers.
struct ReadAhead: ~Copyable, @unchecked Sendable {
  // @unchecked: the memory is allocated once and only accessed as atomics.
  private static let pieceLength = 32 << 10
  /// Pieces that are asked for at once at most: 1 MB.
  private static let piecesInARow = (1 << 20) / pieceLength

  private let mapping: any FileMapping
  /// One bit a piece that was asked for.
  private let asked: UnsafeMutablePointer<Atomic<UInt64>>
  private let words: Int

  init(_ mapping: any FileMapping) {
    self.mapping = mapping
    words = mapping.length / (Self.pieceLength * 64) + 1
    asked = .allocate(capacity: words)
    for index in 0..<words { (asked + index).initialize(to: Atomic(0)) }
  }

  deinit {
    asked.deinitialize(count: words)
    asked.deallocate()
  }

  /// Called before the first read of a block that lies inside the mapping.
  func willTouch(_ offset: Int) {
    let piece = offset / Self.pieceLength
    if _fastPath(isAsked(piece)) { return }
    var count = 0
    while count < Self.piecesInARow, piece - count > 0, isAsked(piece - count - 1) { count += 1 }
    let end = min((piece + max(count, 1)) * Self.pieceLength, mapping.length)
    for other in piece..<(end + Self.pieceLength - 1) / Self.pieceLength {
      asked[other >> 6].bitwiseOr(1 << UInt64(other & 63), ordering: .relaxed)
    }
    // Mostly all is there, and a page or two are asked about much faster than all are asked for.
    if mapping.isInMemory(offset), count <= 1 || mapping.isInMemory(end - 1) { return }
    mapping.readAhead(piece * Self.pieceLength..<end)
  }

  /// Called before the rest of a long block is read.
  func willTouch(_ range: Range<Int>) {
    let last = min(range.upperBound, mapping.length) - 1
    for piece in range.lowerBound / Self.pieceLength...last / Self.pieceLength {
      willTouch(max(range.lowerBound, piece * Self.pieceLength))
    }
  }

  /// Says that blocks all over a range are about to be visited, also such as were touched before.
  ///
  /// Most scans find them in memory; asking for the first page alone is much cheaper than for all.
  func willVisit(_ range: Range<Int>) {
    if !mapping.isInMemory(range.lowerBound) { mapping.readAhead(range) }
  }

  // Relaxed: a piece that two threads ask for is read once all the same.
  private func isAsked(_ piece: Int) -> Bool {
    asked[piece >> 6].load(ordering: .relaxed) & (1 << UInt64(piece & 63)) != 0
  }
}
