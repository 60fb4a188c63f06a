// The one pointer that readers race for: the newest snapshot. Loading a pointer and retaining what
// it points to are two steps; between them the publisher could release the last reference. A hazard
// slot closes that gap: the reader announces the pointer, checks that it is still the newest,
// retains it and withdraws. The publisher releases an old snapshot only when no slot announces it.
internal import Platform

/// An atomic strong reference to the newest snapshot.
final class NewestSnapshot: Sendable {
  /// One announcement a slot, each on a cache line of its own.
  private static let slotCount = 64
  private static let wordsPerSlot = 16

  private let current = Atomic<UInt>(0)
  private let slots: SlotWords
  /// One bit a slot that a reader has ever used: the publisher looks at no others.
  private let used = Atomic<UInt64>(0)
  /// Old snapshots that a slot still announced when they were replaced.
  ///
  /// Publisher only.
  private let waiting = Monitor<[UInt]>([])

  init() { slots = SlotWords(count: Self.slotCount * Self.wordsPerSlot) }

  deinit {
    // No reader is left, so no slot announces anything.
    waiting.withLock { $0.forEach(Self.release) }
    Self.release(current.load(ordering: .relaxed))
  }

  /// The newest snapshot, retained; nil before the first and after the last.
  func load() -> Snapshot? {
    var index = Int(truncatingIfNeeded: hashOfThread) % Self.slotCount
    while true {
      let slot = slots[index * Self.wordsPerSlot]
      noteUse(of: index)
      let pointer = current.load(ordering: .acquiring)
      if pointer == 0 { return nil }
      // Sequentially consistent, as is the second load: pairs with the exchange in `store`, so
      // either the publisher sees the announcement or the reader sees the new pointer.
      let taken = slot.pointee.compareExchange(
        expected: 0, desired: pointer, ordering: .sequentiallyConsistent)
      if !taken.exchanged {
        index = (index + 1) % Self.slotCount
        continue
      }
      if current.load(ordering: .sequentiallyConsistent) == pointer {
        // It has to be retained before the announcement is withdrawn. A plain retain would not do:
        // the optimiser moves one below the store, and the publisher frees the snapshot in between.
        #if PLANTED_BUGS
          if PlantedBug.lateRetain.isActive {
            slot.pointee.store(0, ordering: .releasing)
            yieldProcessor()
          }
        #endif
        let snapshot = retainIfAlive(
          Unmanaged<Snapshot>.fromOpaque(UnsafeRawPointer(bitPattern: pointer)!))
        slot.pointee.store(0, ordering: .releasing)
        return snapshot
      }
      slot.pointee.store(0, ordering: .releasing)
    }
  }

  /// Replaces the newest snapshot.
  ///
  /// One caller at a time.
  func store(_ snapshot: Snapshot?) {
    let pointer = snapshot.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
    let old = current.exchange(pointer, ordering: .sequentiallyConsistent)
    // Take the releasable ones out of the lock: a snapshot's end takes other locks.
    let (isOldFree, free) = waiting.withLock { waiting in
      let isOldFree = !isAnnounced(old)
      if isOldFree, waiting.isEmpty { return (true, [UInt]()) }
      let (kept, free) = waiting.partitioned { isAnnounced($0) }
      waiting = isOldFree ? kept : kept + [old]
      return (isOldFree, free)
    }
    if isOldFree { Self.release(old) }
    free.forEach(Self.release)
  }

  /// Says, once, that a slot will be used.
  ///
  /// Sequentially consistent, before the slot is: who sees the announcement's effect sees the bit.
  private func noteUse(of slot: Int) {
    let bit = UInt64(1) << UInt64(slot)
    if used.load(ordering: .sequentiallyConsistent) & bit != 0 { return }
    _ = used.bitwiseOr(bit, ordering: .sequentiallyConsistent)
  }

  private func isAnnounced(_ pointer: UInt) -> Bool {
    if pointer == 0 { return false }
    var rest = used.load(ordering: .sequentiallyConsistent)
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      rest &= rest - 1
      let announced = slots[index * Self.wordsPerSlot]
      if announced.pointee.load(ordering: .sequentiallyConsistent) == pointer { return true }
    }
    return false
  }

  private static func release(_ pointer: UInt) {
    guard let address = UnsafeRawPointer(bitPattern: pointer) else { return }
    Unmanaged<Snapshot>.fromOpaque(address).release()
  }
}

/// A fixed array of atomic words.
struct SlotWords: @unchecked Sendable, ~Copyable {
  // @unchecked: the memory is allocated once and only accessed as atomics.
  private let words: UnsafeMutablePointer<Atomic<UInt>>
  private let count: Int

  init(count: Int) {
    self.count = count
    words = .allocate(capacity: count)
    for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: count)
    words.deallocate()
  }

  subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt>> { words + index }
}

extension [UInt] {
  fileprivate func partitioned(_ isKept: (UInt) -> Bool) -> (kept: [UInt], other: [UInt]) {
    var kept: [UInt] = []
    var other: [UInt] = []
    for element in self {
      if isKept(element) { kept.append(element) } else { other.append(element) }
    }
    return (kept, other)
  }
}
