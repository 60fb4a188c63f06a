// The mapped lock file with its table of process slots: taking, leaving and clearing slots.
// Below LockFile; knows nothing of what the words mean to the engine.
internal import Platform

/// One opening of a lock file.
///
/// The kernel sees each opening as an owner of locks of its own, also two of them in one process.
final class LockTable: @unchecked Sendable {
  // @unchecked: `words` never changes; what lies behind it is only accessed as atomics.
  // `hasNoLocks`: see there.
  let path: String
  let words: LockWord
  private let file: any File
  private let mapping: any FileMapping
  /// Set when the opening has given up all that it had locked, by its last user.
  @exclusivity(unchecked) var hasNoLocks = false
  /// Bytes that could not be unlocked, which is tried again before any other is locked.
  private let owed = Monitor<[Int64: SystemError]>([:])
  /// Whether there are any; readable without the lock.
  private let hasOwed = Atomic(false)
  /// Excludes the threads of this opening from each other, which its lock on the table byte cannot.
  private let monitor = Monitor(())

  /// Maps the file.
  ///
  /// Its length is not looked at.
  init(_ file: any File) throws(StorageError) {
    self.file = file
    path = file.path
    do throws(SystemError) {
      if let use = Self.use(file), let spare = Spares.take(use) as? any FileMapping {
        mapping = spare
      } else {
        mapping = try file.mapShared(length: LockLayout.mappedLength)
      }
    } catch {
      throw .addressSpaceExhausted(
        path: file.path, bytes: UInt64(LockLayout.mappedLength))
    }
    words = mapping.base.bindMemory(
      to: Atomic<UInt64>.self, capacity: LockLayout.mappedLength / 8)
  }

  deinit {
    // A map keeps the file open, and so its locks.
    guard hasNoLocks, !hasOwed.load(ordering: .acquiring), let use = Self.use(file) else { return }
    Spares.keep(mapping, for: use)
  }

  private static func use(_ file: any File) -> Spares.Use? {
    file.lastingIdentity.map {
      Spares.Use(.coordination, of: $0, length: LockLayout.mappedLength)
    }
  }

  // MARK: - Words

  /// First word of a slot.
  func slot(_ slot: Int) -> LockWord {
    words + (LockLayout.slotStart / 8 + slot * LockLayout.wordsPerSlot)
  }

  /// First pin word of a segment; nil when the slot has no such segment.
  ///
  /// - Throws: `incompatibleLockFile` when it would lie outside the file.
  func segment(_ number: Int, ofSlot slot: Int) throws(StorageError) -> LockWord? {
    // Acquiring: pairs with the store in `addSegment`, which follows the writing of the zeros.
    let offset = (self.slot(slot) + (SlotWord.segments + number)).pointee.load(ordering: .acquiring)
    if offset == 0 { return nil }
    let length = UInt64(LockLayout.length(ofSegment: number))
    guard offset % 8 == 0, offset >= UInt64(LockLayout.baseLength),
      offset <= UInt64(LockLayout.mappedLength), try fileLength() >= offset + length
    else {
      throw .incompatibleLockFile(path: path, reason: "its table of pins is damaged")
    }
    return words + Int(offset / 8)
  }

  // MARK: - Locks

  /// Runs `body` while no other process or thread changes the table.
  ///
  /// For short edits only.
  func withLock<Value>(_ body: () throws(StorageError) -> Value) throws(StorageError) -> Value {
    // System calls with a monitor held, on purpose: rare, and others wait for the same byte anyway.
    try monitor.withLock { (_) throws(StorageError) -> Value in
      try lock(LockByte.table)
      defer { unlock(LockByte.table) }
      return try body()
    }
  }

  /// Waits for a byte.
  func lock(_ byte: Int64, exclusive: Bool = true) throws(StorageError) {
    try unlockOwed()
    _ = try calling { () throws(SystemError) in
      try file.lockByte(byte, exclusive: exclusive, wait: true)
    }
  }

  /// Takes a byte if it is free.
  func tryLock(_ byte: Int64, exclusive: Bool = true) throws(StorageError) -> Bool {
    try unlockOwed()
    return try calling { () throws(SystemError) in
      try file.lockByte(byte, exclusive: exclusive, wait: false)
    }
  }

  /// Unlocks a byte.
  ///
  /// Where that fails others wait, and are told for whom. It is tried again before this opening
  /// locks anything, which is an error until it succeeds; at the latest the kernel does it when the
  /// file is closed.
  func unlock(_ byte: Int64) {
    do throws(SystemError) { try file.unlockByte(byte) } catch {
      owed.withLock { $0[byte] = error }
      // Releasing: pairs with the load in `unlockOwed`.
      hasOwed.store(true, ordering: .releasing)
    }
  }

  /// - Complexity: a load, unless an unlock has failed.
  private func unlockOwed() throws(StorageError) {
    guard hasOwed.load(ordering: .acquiring) else { return }
    let failure = owed.withLock { owed -> SystemError? in
      for byte in owed.keys {
        do throws(SystemError) { try file.unlockByte(byte) } catch { return error }
        owed[byte] = nil
      }
      hasOwed.store(false, ordering: .relaxed)
      return nil
    }
    if let failure { throw .system(failure) }
  }

  /// Whether another opening has locked a byte.
  func isLocked(_ byte: Int64) throws(StorageError) -> Bool {
    try calling { () throws(SystemError) in try file.isByteLocked(byte) }
  }

  /// Whether the process of a slot lives.
  ///
  /// The slot is not this opening's own.
  func isAlive(_ slot: Int) throws(StorageError) -> Bool {
    try isLocked(LockByte.liveness(slot))
  }

  // MARK: - The file

  func fileLength() throws(StorageError) -> UInt64 {
    try calling { () throws(SystemError) in try file.length() }
  }

  /// Cuts all segments of pin words.
  ///
  /// Only while nobody else has the file open.
  func cut() throws(StorageError) {
    try calling { () throws(SystemError) in try file.setLength(UInt64(LockLayout.baseLength)) }
  }

  /// Whether the file was deleted, or another one has taken its name.
  func isRemoved() throws(StorageError) -> Bool {
    try calling { () throws(SystemError) in try !file.hasName() }
  }

  /// Makes all words up to the base length zero, but the magic.
  ///
  /// Only while nobody else has the file open.
  func erase() throws(StorageError) {
    // Never shorter than the base: an object that was closed may still look at the header.
    try calling { () throws(SystemError) in
      try withUnsafeBytes(of: LockLayout.magic) { (bytes) throws(SystemError) in
        try file.write(bytes, at: 0)
      }
      try writeZeros(LockLayout.baseLength - 8, at: 8)
      try file.setLength(UInt64(LockLayout.baseLength))
    }
  }

  /// Zeros are written, not left as a hole: a store through the map into a hole of a full disk
  /// would be a signal.
  private func writeZeros(_ count: Int, at start: UInt64) throws(SystemError) {
    let length = min(count, 64 << 10)
    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    defer { zeros.deallocate() }
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    var done = 0
    while done < count {
      let part = UnsafeRawBufferPointer(rebasing: zeros[..<min(length, count - done)])
      try file.write(part, at: start + UInt64(done))
      done += part.count
    }
  }

  /// Wakes those who watch the file.
  ///
  /// The word means nothing. Who does not hear of it finds the new version when it looks next.
  func tellFollowers() {
    try? withUnsafeBytes(of: UInt64(0)) { bytes in
      try file.write(bytes, at: UInt64(HeaderWord.news * 8))
    }
  }

  private func calling<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(StorageError) -> Value {
    do throws(SystemError) { return try body() } catch {
      throw error.isOutOfSpace ? .diskFull(error) : .system(error)
    }
  }

  // MARK: - Slots. All of these with the table lock held.

  /// Takes a free slot for this opening; nil when all are in use.
  func takeSlot() throws(StorageError) -> Int? {
    // Relaxed: the table lock orders it after the last change.
    let live = (words + HeaderWord.live).pointee.load(ordering: .relaxed)
    for slot in 0..<LockLayout.slotCount where try tryLock(LockByte.liveness(slot)) {
      // The bit of a process that died is still set.
      if live & (1 << slot) != 0 { try clear(slot) }
      (self.slot(slot) + SlotWord.changes).pointee.addWrapping(1, ordering: .relaxed)
      // Sequentially consistent: whoever pins and then finds the head unchanged is seen by a writer
      // that looks at the slots after moving the head.
      (words + HeaderWord.live).pointee.bitwiseOr(1 << slot, ordering: .sequentiallyConsistent)
      return slot
    }
    return nil
  }

  /// Gives up the slot of this opening, and its share in the file.
  func leaveSlot(_ slot: Int) throws(StorageError) {
    try clear(slot)
    unlock(LockByte.liveness(slot))
    unlock(LockByte.use)
  }

  /// Frees a slot whose process is gone or going: withdraws all its pins.
  func clear(_ slot: Int) throws(StorageError) {
    let first = self.slot(slot)
    let count = Int(
      clamping: min(
        (first + SlotWord.used).pointee.load(ordering: .acquiring), UInt64(LockLayout.pinCapacity)))
    for segment in 0..<LockLayout.segmentCount {
      let start = LockLayout.words(inSegments: segment)
      guard start < count, let pins = try self.segment(segment, ofSlot: slot) else { break }
      for index in 0..<min(count - start, LockLayout.words(inSegment: segment)) {
        pins[index].store(0, ordering: .relaxed)
      }
    }
    (first + SlotWord.used).pointee.store(0, ordering: .relaxed)
    (first + SlotWord.overflow).pointee.store(0, ordering: .relaxed)
    (first + SlotWord.ticket).pointee.store(0, ordering: .relaxed)
    (first + SlotWord.opening).pointee.store(0, ordering: .relaxed)
    // Releasing, as is the next: whoever sees it sees the zeros.
    (first + SlotWord.changes).pointee.addWrapping(1, ordering: .releasing)
    (words + HeaderWord.waiting).pointee.bitwiseAnd(~(1 << slot), ordering: .relaxed)
    (words + HeaderWord.followers).pointee.bitwiseAnd(~(1 << slot), ordering: .relaxed)
    (words + HeaderWord.live).pointee.bitwiseAnd(~(1 << slot), ordering: .releasing)
  }

  /// Whether pins of an earlier owner of the slot may be there.
  ///
  /// Looking first spares writing to pages of the file that nobody has touched.
  func holdsPins(_ slot: Int) -> Bool {
    let first = self.slot(slot)
    return (first + SlotWord.used).pointee.load(ordering: .relaxed) != 0
      || (first + SlotWord.overflow).pointee.load(ordering: .relaxed) != 0
  }

  /// Clears the slot if its process is dead.
  func clearIfDead(_ slot: Int) throws(StorageError) {
    let live = (words + HeaderWord.live).pointee.load(ordering: .relaxed)
    if live & (1 << slot) != 0, !(try isAlive(slot)) { try clear(slot) }
  }

  /// Gives a slot its next segment.
  ///
  /// - Returns: false when there is no room, in the file or on the disk.
  func addSegment(_ number: Int, toSlot slot: Int) throws(StorageError) -> Bool {
    let length = LockLayout.length(ofSegment: number)
    let page = UInt64(LockLayout.pageLength)
    let start = (try fileLength() + page - 1) / page * page
    guard start + UInt64(length) <= UInt64(LockLayout.mappedLength) else { return false }
    do throws(SystemError) {
      try writeZeros(length, at: start)
    } catch {
      try calling { () throws(SystemError) in try file.setLength(start) }
      return false
    }
    // Releasing: the zeros are there before the segment is.
    (self.slot(slot) + (SlotWord.segments + number)).pointee.store(start, ordering: .releasing)
    return true
  }
}
