// Which blocks of a mapping were verified by this process: one bit for each place where a block can
// begin. Readers load the words themselves (`BlockReader.pointer`); all that sets and clears bits
// is here.
internal import Platform

/// The bit map of one mapping.
final class VerifiedBits: @unchecked Sendable {
  // @unchecked: the memory is allocated once and only accessed as atomics; `clear` has it to
  // itself.
  private static let wordsPerPage = pageLength / 8

  let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let memory: AnonymousMemory
  /// A bit for each page of `memory` that may have a bit set.
  private let touched: UnsafeMutablePointer<Atomic<UInt64>>
  private let touchedWords: Int

  /// - Parameter length: of the mapping.
  init(length: Int) throws(SystemError) {
    memory = try AnonymousMemory(length: length / (BlockHeader.unit * 8) + 8)
    words = memory.base.bindMemory(to: Atomic<UInt64>.self, capacity: memory.length / 8)
    touchedWords = memory.length / pageLength / 64 + 1
    touched = .allocate(capacity: touchedWords)
    for index in 0..<touchedWords { (touched + index).initialize(to: Atomic(0)) }
  }

  deinit {
    touched.deinitialize(count: touchedWords)
    touched.deallocate()
  }

  func isSet(_ offset: UInt64) -> Bool {
    let unit = offset >> 4
    return words[Int(unit >> 6)].load(ordering: .acquiring) & (1 << (unit & 63)) != 0
  }

  func set(_ offset: UInt64) {
    let unit = offset >> 4
    let word = Int(unit >> 6)
    let page = word / Self.wordsPerPage
    // Relaxed: only asked for by `clear`, when nobody sets any more.
    if touched[page >> 6].load(ordering: .relaxed) & (1 << UInt64(page & 63)) == 0 {
      touched[page >> 6].bitwiseOr(1 << UInt64(page & 63), ordering: .relaxed)
    }
    // Releasing: see BlockReader.pointer.
    words[word].bitwiseOr(1 << (unit & 63), ordering: .releasing)
  }

  /// Clears the bits of all blocks of a run.
  func clear(_ run: Run, below limit: UInt64) {
    let end = min(run.end, limit) >> 4
    var unit = run.offset >> 4
    while unit < end {
      let count = min(64 - (unit & 63), end - unit)
      let mask = (count == 64 ? UInt64.max : 1 << count - 1) << (unit & 63)
      let word = words + Int(unit >> 6)
      // Mostly there is nothing to clear.
      if word.pointee.peek() & mask != 0 {
        word.pointee.bitwiseAnd(~mask, ordering: .relaxed)
      }
      unit += count
    }
  }

  func clear(_ offset: UInt64) {
    let unit = offset >> 4
    words[Int(unit >> 6)].bitwiseAnd(~(1 << (unit & 63)), ordering: .relaxed)
  }

  /// The last block before an offset, if one begins so near that it could reach there.
  func last(before offset: UInt64) -> UInt64? {
    let unit = offset >> 4
    var word = Int(unit >> 6)
    var bits = words[word].peek() & (1 << (unit & 63) - 1)
    let lowest = max(0, word - BlockHeader.blockLengthMax / BlockHeader.unit / 64)
    while bits == 0 {
      if word == lowest { return nil }
      word -= 1
      bits = words[word].peek()
    }
    return UInt64(word * 64 + 63 - bits.leadingZeroBitCount) << 4
  }

  /// Clears all.
  ///
  /// - Precondition: nobody else uses it meanwhile.
  /// - Complexity: O(pages of memory that were touched).
  func clear() {
    let count = (0..<touchedWords).reduce(0) {
      $0 + touched[$1].load(ordering: .relaxed).nonzeroBitCount
    }
    // From here on giving pages back is faster than making them zero.
    let isMuch = count > 1024
    if isMuch { memory.clear() }
    for index in 0..<touchedWords where !isMuch {
      let pages = SlotSet(bits: touched[index].load(ordering: .relaxed))
      for page in pages {
        (memory.base + (index * 64 + page) * pageLength)
          .initializeMemory(as: UInt8.self, repeating: 0, count: pageLength)
      }
    }
    for index in 0..<touchedWords { touched[index].store(0, ordering: .relaxed) }
  }
}
