// How a file that is not in memory is read: in parts of 128 KB, each asked for when a block of it is first
// touched, and more at once where parts are touched one after the other or a scan says what comes. The first
// few blocks are the way from the root to one object: they are far apart and wait for each other, so little
// more than themselves is read. What has left memory again is read page by page. The kernel's own reading ahead is off: it may be set to many
// megabytes around each lone block.
internal import Platform

/// Reads a mapped file ahead of its readers.
struct ReadAhead: ~Copyable, @unchecked Sendable {
  // @unchecked: the memory is allocated once and only accessed as atomics.
  private static let partLength = 128 << 10
  /// Parts that are asked for at once behind one that was touched already.
  private static let partsInARow = 8
  /// What is read with each of the first blocks, and how many these are.
  private static let firstLength = 16 << 10
  private static let firstTouches = 16

  private let mapping: any FileMapping
  /// One bit a part that was asked for.
  private let asked: UnsafeMutablePointer<Atomic<UInt64>>
  private let words: Int
  /// Blocks that were touched in parts that nobody asked for.
  private let touches = Atomic(0)

  init(_ mapping: any FileMapping) {
    self.mapping = mapping
    words = mapping.length / (Self.partLength * 64) + 1
    asked = .allocate(capacity: words)
    for index in 0..<words { (asked + index).initialize(to: Atomic(0)) }
  }

  deinit {
    asked.deinitialize(count: words)
    asked.deallocate()
  }

  /// Called before the first read of a block that lies inside the mapping.
  func willTouch(_ offset: Int) {
    let part = offset / Self.partLength
    if _fastPath(isAsked(part)) { return }
    if touches.load(ordering: .relaxed) < Self.firstTouches {
      touches.add(1, ordering: .relaxed)
      return readFirst(offset)
    }
    let count = part > 0 && isAsked(part - 1) ? Self.partsInARow : 1
    let end = min((part + count) * Self.partLength, mapping.length)
    for other in part..<(end + Self.partLength - 1) / Self.partLength {
      asked[other >> 6].bitwiseOr(1 << UInt64(other & 63), ordering: .relaxed)
    }
    // Mostly all is there, and a page or two are asked about much faster than all are asked for. Of one
    // part only its end: its first page may have been read by other means.
    if mapping.isInMemory(end - 1), count == 1 || mapping.isInMemory(offset) { return }
    mapping.readAhead(part * Self.partLength..<end)
  }

  private func readFirst(_ offset: Int) {
    if mapping.isInMemory(offset) { return }
    let start = offset / Self.firstLength * Self.firstLength
    mapping.readAhead(start..<min(start + Self.firstLength, mapping.length))
  }

  /// Says that blocks all over a range are about to be visited, also such as were touched before.
  ///
  /// Most scans find them in memory; asking for the first page alone is much cheaper than for all.
  func willVisit(_ range: Range<Int>) {
    if !mapping.isInMemory(range.lowerBound) { mapping.readAhead(range) }
  }

  // Relaxed: a part that two threads ask for is read once all the same.
  private func isAsked(_ part: Int) -> Bool {
    asked[part >> 6].load(ordering: .relaxed) & (1 << UInt64(part & 63)) != 0
  }
}
