// The writer's view of what other processes read, kept up to date by change counters, and the
// clearing of slots whose processes have died.
internal import Platform

/// What a writer knows of the pins of other processes.
///
/// Begins empty; belongs to one lock file.
package struct ForeignPinState: Sendable {
  /// Versions pinned by other live processes, each once, in order.
  package private(set) var versions: [Version] = []
  /// Set when a process could not publish all its pins one by one: it may read any version from
  /// this one on.
  package private(set) var everythingSince: Version?
  /// What the last call that gave a list has added to `versions` and taken away, in order.
  package private(set) var added: [Version] = []
  package private(set) var removed: [Version] = []

  /// The head before the last call looked at any pin.
  ///
  /// Below it, and only there, what the call said of the pins holds: a reader may pin the head
  /// itself at any moment. So what is dead may be freed if it died at this version or before.
  package fileprivate(set) var head = DurableHead.unknown

  /// A bit for each slot with an entry in `mirrors`.
  fileprivate private(set) var known: UInt64 = 0
  fileprivate var isStarted = false
  fileprivate var lastLookForDead: UInt64 = 0
  private var mirrors: [Mirror] = []
  /// Versions that are read without a lock file.
  fileprivate private(set) var readers: [UInt64] = []
  /// When they were looked for, and the head before.
  fileprivate var lastLookForReaders: UInt64 = 0
  fileprivate var headOfReaders = DurableHead.unknown
  /// How many words name a version.
  private var counts: [UInt64: Int] = [:]
  /// Changes of `counts` that are not in it yet.
  private var changes: [UInt64: Int] = [:]

  /// A slot as it was last seen.
  private struct Mirror: Sendable {
    var counter: UInt64 = 0
    var overflow: UInt64 = 0
    var words: [UInt64] = []
  }

  package init() {}

  /// Takes over which versions are read without a lock file.
  fileprivate mutating func noteReaders(_ versions: [UInt64]) {
    if versions == readers { return }
    for version in readers { note(version, -1) }
    for version in versions { note(version, 1) }
    readers = versions
  }

  /// Forgets a slot that is free now.
  fileprivate mutating func forget(_ slot: Int) {
    for word in mirrors[slot].words { note(word, -1) }
    mirrors[slot] = Mirror()
    known &= ~(1 << UInt64(slot))
  }

  /// Looks at a slot again, if its counter has changed.
  fileprivate mutating func look(at slot: Int, in table: LockTable) throws(StorageError) {
    let first = table.slot(slot)
    // Sequentially consistent: see PinRegion.publish. Before the words: what changes behind the
    // scan changes the counter again.
    let counter = (first + SlotWord.changes).pointee.load(ordering: .sequentiallyConsistent)
    let isKnown = known & (1 << UInt64(slot)) != 0
    if isKnown, mirrors[slot].counter == counter { return }
    if mirrors.isEmpty {
      mirrors = Array(repeating: Mirror(), count: LockLayout.slotCount)
    }
    known |= 1 << UInt64(slot)
    // Acquiring: pairs with the store in PinRegion.takeFresh, which follows the segment's.
    let used = (first + SlotWord.used).pointee.load(ordering: .acquiring)
    guard used <= UInt64(LockLayout.pinCapacity) else {
      throw .incompatibleLockFile(path: table.path, reason: "its table of pins is damaged")
    }
    try compare(slot, count: Int(used), table)
    mirrors[slot].overflow = (first + SlotWord.overflow).pointee.load(ordering: .acquiring)
    mirrors[slot].counter = counter
  }

  private mutating func compare(
    _ slot: Int, count: Int, _ table: LockTable
  ) throws(StorageError) {
    var words = mirrors[slot].words
    mirrors[slot].words = []
    defer { mirrors[slot].words = words }
    while words.count > count { note(words.removeLast(), -1) }
    while words.count < count { words.append(0) }
    for segment in 0..<LockLayout.segmentCount {
      let start = LockLayout.words(inSegments: segment)
      if start >= count { break }
      guard let pins = try table.segment(segment, ofSlot: slot) else {
        throw .incompatibleLockFile(path: table.path, reason: "its table of pins is damaged")
      }
      for offset in 0..<min(count - start, LockLayout.words(inSegment: segment)) {
        // Relaxed: the counter was loaded before, and the version is all that counts.
        let word = pins[offset].load(ordering: .relaxed)
        let old = words[start + offset]
        if word != old {
          note(old, -1)
          note(word, 1)
          words[start + offset] = word
        }
      }
    }
  }

  private mutating func note(_ word: UInt64, _ change: Int) {
    if let version = LockLayout.pinned(word) { changes[version, default: 0] += change }
  }

  /// Brings `versions` up to date.
  ///
  /// - Returns: whether anything is different from before.
  fileprivate mutating func settle() -> Bool {
    added = []
    removed = []
    for (version, change) in changes where change != 0 {
      let old = counts[version, default: 0]
      let new = old + change
      counts[version] = new == 0 ? nil : new
      if old == 0 { added.append(Version(version)) }
      if new == 0 { removed.append(Version(version)) }
    }
    changes.removeAll(keepingCapacity: true)
    if !added.isEmpty || !removed.isEmpty { merge() }
    let overflows = SlotSet(bits: known).map { mirrors[$0].overflow }.filter { $0 != 0 }
    let oldest = overflows.min().map { Version($0) }
    defer { everythingSince = oldest }
    return !added.isEmpty || !removed.isEmpty || oldest != everythingSince
  }

  private mutating func merge() {
    added.sort()
    removed.sort()
    var result: [Version] = []
    result.reserveCapacity(versions.count + added.count)
    var nextAdded = 0
    var nextRemoved = 0
    for version in versions {
      if nextRemoved < removed.count, removed[nextRemoved] == version {
        nextRemoved += 1
        continue
      }
      while nextAdded < added.count, added[nextAdded] < version {
        result.append(added[nextAdded])
        nextAdded += 1
      }
      result.append(version)
    }
    result.append(contentsOf: added[nextAdded...])
    versions = result
  }
}

extension LockFile {
  /// Time between two looks for dead processes.
  private static let lookIntervalNanoseconds: UInt64 = 20_000_000
  /// The same for readers without a lock file.
  private static let readersIntervalNanoseconds: UInt64 = 50_000

  /// The versions that other live processes pin, by the lock file or without one, in order, each
  /// once; nil when that is what the last call with this state gave.
  ///
  /// Holds for versions below `state.head`, which each call sets; a head that is read later is too
  /// new. `state.everythingSince` belongs to the answer. Write lock only.
  /// - Parameter reapNow: gives a list in any case, and looks for dead processes now; otherwise
  ///   that is done every 20 ms.
  /// - Throws: `incompatibleLockFile` when the table was damaged from outside.
  /// - Complexity: a system call, in 50 us at most one; a load for each other process; for those
  ///   that changed their pins, their pin words.
  package func foreignPins(
    since state: inout ForeignPinState, reapNow: Bool = false
  ) throws(StorageError) -> [Version]? {
    // Before any other load: see PinRegion.publish.
    state.head = head
    let readers = try readersWithoutLockFile(&state, now: reapNow)
    if otherLiveSlots == 0, state.known == 0, readers.isEmpty, state.readers.isEmpty,
      state.isStarted
    {
      return reapNow ? [] : nil
    }
    state.noteReaders(readers)
    guard let table else {
      state.isStarted = true
      return []
    }
    stopIfForked()
    try clearDead(&state, now: reapNow, table)
    let live = otherLiveSlots
    for slot in SlotSet(bits: state.known & ~live) { state.forget(slot) }
    for slot in SlotSet(bits: live) { try state.look(at: slot, in: table) }
    let isChanged = state.settle()
    let isFirst = !state.isStarted
    state.isStarted = true
    return isChanged || isFirst || reapNow ? state.versions : nil
  }

  /// The versions that are read without a lock file, as they are or were when the head was the
  /// state's.
  private func readersWithoutLockFile(
    _ state: inout ForeignPinState, now: Bool
  ) throws(StorageError) -> [UInt64] {
    guard let share else { return [] }
    // Where commits follow each other that fast, the call would be a tenth of each. What dies
    // meanwhile is judged a few commits later.
    let sinceLook = begunAt &- state.lastLookForReaders
    if !now, sinceLook > 0, sinceLook < Self.readersIntervalNanoseconds, state.isStarted,
      state.readers.isEmpty
    {
      state.head = state.headOfReaders
      return []
    }
    state.lastLookForReaders = begunAt
    state.headOfReaders = state.head
    // A reader locks, then confirms that its version is the newest one, so that it is seen here or
    // sees this head.
    return try share.versionsOfReaders()
  }

  private func clearDead(
    _ state: inout ForeignPinState, now: Bool, _ table: LockTable
  ) throws(StorageError) {
    if PlantedBug.deadPinsKept.isActive { return }
    let time = clock.nanoseconds()
    guard now || time &- state.lastLookForDead >= Self.lookIntervalNanoseconds else { return }
    state.lastLookForDead = time
    for slot in SlotSet(bits: otherLiveSlots) where try !table.isAlive(slot) {
      try table.withLock { () throws(StorageError) in try table.clearIfDead(slot) }
    }
  }
}
