// The pins that this process shows to the others. Free words form a stack in the shared words
// themselves, whose top is private: publishing and withdrawing are a few atomic steps, no lock.
internal import Platform

/// Where a published pin is kept; needed to withdraw it.
@frozen @usableFromInline
package struct PinSlot: Hashable, Sendable {
  /// Number of the pin word; or top bit + version for a pin that found no word.
  @usableFromInline let rawValue: UInt64
  @usableFromInline init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The pin words of this process's slot.
final class PinRegion: @unchecked Sendable {
  // @unchecked: words are only accessed as atomics; an entry of `segments` is set once, before any
  // of its words is handed out.
  private struct Growth {
    /// Words handed out so far; later ones come from the stack.
    var used = 0
    var segmentCount = 0
    /// Pins that found no word, by version.
    var overflow: [UInt64: Int] = [:]
  }

  private let table: LockTable
  private let slot: Int
  private let changes: LockWord
  /// First words of the segments there are.
  private let segments: UnsafeMutablePointer<LockWord?>
  /// Number of the topmost free word + 1, or 0; a tag above it that grows with every change.
  private let freeTop = Atomic<UInt64>(0)
  private let growth = Monitor(Growth())

  private static let freeBit: UInt64 = 1 << 63

  /// Begins with the segments that an earlier owner of the slot has left, all of them zero.
  init(_ table: LockTable, slot: Int) {
    self.table = table
    self.slot = slot
    changes = table.slot(slot) + SlotWord.changes
    segments = .allocate(capacity: LockLayout.segmentCount)
    segments.initialize(repeating: nil, count: LockLayout.segmentCount)
  }

  deinit { segments.deallocate() }

  /// Publishes a pin.
  ///
  /// - Parameter mark: who and since when.
  /// - Complexity: O(1); at a new maximum of pins a lock of the process, at its doublings system
  ///   calls.
  func publish(_ version: UInt64, _ mark: PinMark) -> PinSlot {
    guard let index = popFree() ?? takeFresh() else { return publishOverflow(version) }
    let (segment, offset) = LockLayout.place(of: index)
    let word = segments[segment]! + offset
    (word + LockLayout.words(inSegment: segment)).pointee.store(mark.rawValue, ordering: .relaxed)
    // Releasing: a recycled word is the pin's from here on.
    word.pointee.store(version, ordering: .releasing)
    if PlantedBug.pinNotCounted.isActive { return PinSlot(rawValue: UInt64(index)) }
    // Sequentially consistent, as are the load of the head that follows in the caller, the writer's
    // change of the head, and its load of this counter: so either the caller sees that the version
    // is no longer the newest one, or the writer sees the pin.
    changes.pointee.addWrapping(1, ordering: .sequentiallyConsistent)
    return PinSlot(rawValue: UInt64(index))
  }

  /// Withdraws a pin.
  ///
  /// - Complexity: O(1), no lock.
  func withdraw(_ pin: PinSlot) {
    guard pin.rawValue & Self.freeBit == 0 else { return withdrawOverflow(pin) }
    pushFree(Int(pin.rawValue))
    // Releasing: whoever sees the change sees the word freed.
    changes.pointee.addWrapping(1, ordering: .releasing)
  }

  /// Whether no pin is published.
  ///
  /// Meant for when nobody publishes any more.
  var isEmpty: Bool {
    growth.withLock { growth in
      growth.overflow.isEmpty
        && !(0..<growth.used).contains {
          LockLayout.pinned(word($0).pointee.load(ordering: .acquiring)) != nil
        }
    }
  }

  private func word(_ index: Int) -> LockWord {
    let (segment, offset) = LockLayout.place(of: index)
    return segments[segment]! + offset
  }

  // MARK: - Free words

  private func popFree() -> Int? {
    // Acquiring: pairs with the exchange in `pushFree`, so that the link below is the one stored
    // there.
    var top = freeTop.load(ordering: .acquiring)
    while top & 0xffff_ffff != 0 {
      let index = Int(top & 0xffff_ffff) - 1
      // When another thread has taken the word meanwhile this is no link, but then the tag differs.
      var next = word(index).pointee.load(ordering: .relaxed) & 0xffff_ffff
      // What somebody else has written there must lead nowhere else.
      if next != 0, !isWord(Int(next) - 1) { next = 0 }
      let (isTaken, current) = freeTop.compareExchange(
        expected: top, desired: Self.nextTag(top) | next, ordering: .acquiringAndReleasing)
      if isTaken { return index }
      top = current
    }
    return nil
  }

  private func pushFree(_ index: Int) {
    let word = word(index)
    var top = freeTop.load(ordering: .relaxed)
    while true {
      word.pointee.store(Self.freeBit | (top & 0xffff_ffff), ordering: .releasing)
      let (isDone, current) = freeTop.compareExchange(
        expected: top, desired: Self.nextTag(top) | UInt64(index + 1),
        ordering: .acquiringAndReleasing)
      if isDone { return }
      top = current
    }
  }

  /// Whether there is a pin word of this number.
  private func isWord(_ index: Int) -> Bool {
    index < LockLayout.pinCapacity && segments[LockLayout.place(of: index).segment] != nil
  }

  private static func nextTag(_ top: UInt64) -> UInt64 { ((top >> 32) &+ 1) << 32 }

  // MARK: - Growth

  /// A word that was never used since this process has the slot.
  @inline(never)
  private func takeFresh() -> Int? {
    growth.withLock { growth in
      let index = growth.used
      if index == LockLayout.words(inSegments: growth.segmentCount) {
        guard index < LockLayout.pinCapacity, let first = findSegment(growth.segmentCount) else {
          return nil
        }
        segments[growth.segmentCount] = first
        growth.segmentCount += 1
      }
      growth.used += 1
      // Releasing: a scanner that sees the count finds the segment.
      (table.slot(slot) + SlotWord.used).pointee.store(
        UInt64(growth.used), ordering: .releasing)
      return index
    }
  }

  /// The slot's segment of this number: an old one, or a new one.
  ///
  /// Nil when there is no room.
  private func findSegment(_ number: Int) -> LockWord? {
    // An old one can be found without the lock: only this process gives its slot another. Any
    // failure ends in the overflow word, which is coarse but safe.
    if let first = try? table.segment(number, ofSlot: slot) { return first }
    return try? table.withLock { () throws(StorageError) -> LockWord? in
      if let first = try table.segment(number, ofSlot: slot) { return first }
      guard try table.addSegment(number, toSlot: slot) else { return nil }
      return try table.segment(number, ofSlot: slot)
    }
  }

  // MARK: - Overflow

  @inline(never)
  private func publishOverflow(_ version: UInt64) -> PinSlot {
    growth.withLock { growth in
      growth.overflow[version, default: 0] += 1
      showOverflow(growth)
    }
    return PinSlot(rawValue: Self.freeBit | version)
  }

  private func withdrawOverflow(_ pin: PinSlot) {
    let version = pin.rawValue & ~Self.freeBit
    growth.withLock { growth in
      guard let count = growth.overflow[version] else {
        preconditionFailure("a pin of version \(version) is withdrawn twice")
      }
      growth.overflow[version] = count == 1 ? nil : count - 1
      showOverflow(growth)
    }
  }

  private func showOverflow(_ growth: Growth) {
    let oldest = growth.overflow.keys.min() ?? 0
    (table.slot(slot) + SlotWord.overflow).pointee.store(oldest, ordering: .releasing)
    // As in `publish`.
    changes.pointee.addWrapping(1, ordering: .sequentiallyConsistent)
  }
}
