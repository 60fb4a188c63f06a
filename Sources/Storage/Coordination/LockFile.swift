// What the processes that use one Realm file tell each other, through `NAME.lock` beside it: the
// newest durable version, who writes, which versions are pinned, and whether a sync has failed. The
// layout is in LockLayout.swift. The file is never deleted or replaced while anyone has it open;
// whoever opens it alone makes it fit. A process lives as long as it holds its liveness byte:
// numbers of processes are never looked at. In a forked child every use stops with a message.

// Public because the head is read by inlined code.
public import Platform

/// This process's share in the coordination of one file.
///
/// Safe to use from many threads, except where noted.
@usableFromInline
package final class LockFile: @unchecked Sendable {
  // @unchecked: the words are only accessed as atomics; the variables are touched only by the
  // thread that takes or has the write lock, or by `leave`, when nobody uses the object any more.
  package let path: String
  /// Nobody else had the file open when this process opened it.
  package let isFirstOpener: Bool
  /// Others had it open, but nobody to write it: they read, or have only pins left.
  let isFirstWriter: Bool
  /// Nil in the private form.
  let table: LockTable?
  /// Keeps others out who have the data file by another lock file.
  let share: DomainShare?
  /// Private form only: of a reader.
  @exclusivity(unchecked) private var readerPin: ReaderPin?
  let pins: PinRegion?
  let slot: Int
  let words: LockWord
  let clock: any Clock
  @usableFromInline let headWord: UnsafeMutablePointer<Atomic<UInt64>>
  /// Number of this opening; no other one of this lock file has it.
  private let number: UInt64
  private let generation = forkGeneration
  private let inheritedFailure: UInt64
  private let isClosed = Atomic<Bool>(false)
  /// Write lock only: this process has it.
  @exclusivity(unchecked) var isWriter = false
  /// Write lock only: this process has the byte that lone writers lock, and writes by it.
  @exclusivity(unchecked) var hasAlone = false
  @exclusivity(unchecked) var isWritingAlone = false
  /// Write lock only: when the file was last seen to have its name, by the clock.
  @exclusivity(unchecked) private var namedAt: UInt64 = 0
  /// Write lock only: when the transaction began.
  @exclusivity(unchecked) private(set) var begunAt: UInt64 = 0
  /// Write lock only: another process has had the lock, or nobody yet, since this one last called
  /// `publishCommitted`.
  @exclusivity(unchecked) package private(set) var wasHeldByAnother = true
  /// Write lock only: number of the opening that wrote before this one.
  @exclusivity(unchecked) private var previousWriter: UInt64 = 0
  /// What the data file's header was when this process, a writer, closed it in good order.
  @exclusivity(unchecked) private var closedGeneration: UInt64?

  /// Table lock held, unless private.
  init(
    table: LockTable?, share: DomainShare?, slot: Int, isFirstOpener: Bool,
    isFirstWriter: Bool = false, path: String, clock: any Clock,
    readerPin: consuming ReaderPin? = nil
  ) {
    self.path = path
    self.readerPin = readerPin
    self.table = table
    self.share = share
    self.slot = slot
    self.isFirstOpener = isFirstOpener
    self.isFirstWriter = isFirstWriter
    self.clock = clock
    if let table {
      words = table.words
      pins = PinRegion(table, slot: slot)
      // Relaxed: a text for people.
      (table.slot(slot) + SlotWord.process).pointee.store(
        UInt64(processIdentifier), ordering: .relaxed)
    } else {
      words = .allocate(capacity: HeaderWord.count)
      for index in 0..<HeaderWord.count { (words + index).initialize(to: Atomic(0)) }
      pins = nil
    }
    headWord = words + HeaderWord.head
    // Relaxed: under the table lock.
    number = words[HeaderWord.openings].addWrapping(1, ordering: .relaxed).newValue
    inheritedFailure = words[HeaderWord.failedSync].load(ordering: .relaxed)
    // Relaxed: under the table lock, too.
    if let table { (table.slot(slot) + SlotWord.opening).pointee.store(number, ordering: .relaxed) }
  }

  /// The same interface without a file, for Realms in memory.
  ///
  /// - Complexity: no call below costs more than an atomic access.
  package static func makePrivate() -> LockFile {
    LockFile(
      table: nil, share: nil, slot: 0, isFirstOpener: true, path: "(private)",
      clock: MonotonicClock())
  }

  /// The same for a reader whose pin stays until the last reference to this object goes, which
  /// whoever reads the version keeps.
  static func makePrivate(_ pin: consuming ReaderPin) -> LockFile {
    LockFile(
      table: nil, share: nil, slot: 0, isFirstOpener: true, path: "(private)",
      clock: MonotonicClock(), readerPin: pin)
  }

  deinit {
    leave()
    if table == nil {
      words.deinitialize(count: HeaderWord.count)
      words.deallocate()
    }
  }

  /// Says that the owner is done: no pin is published and no lock taken from now on.
  ///
  /// The slot is freed at once when no pin is left, else with the last reference to this object,
  /// which whoever has a pin keeps. The file stays.
  /// - Parameter generation: of a writer that has left everything in order: what names the state of
  ///   the data file, so that another state of it is not judged by the head of this one.
  package func close(generation: UInt64? = nil) {
    closedGeneration = generation
    if let pins, !pins.isEmpty { return endWriting() }
    leave()
  }

  /// Lets others choose a durability where only pins are left of this process's use.
  private func endWriting() {
    guard let table, !isForked else { return }
    // An error leaves them to choose the same.
    try? table.withLock { () throws(StorageError) in
      if try table.isAlone() { table.forgetDurability() }
    }
  }

  private func leave() {
    // In a forked child the slot and its locks are the parent's.
    guard let table, !isForked else { return }
    // Relaxed: only the first caller goes on, and the table lock orders what it does.
    if isClosed.exchange(true, ordering: .relaxed) { return }
    if hasAlone { table.unlock(LockByte.alone) }
    // An error leaves the slot to be cleared by others: closing the file drops its locks.
    do throws(StorageError) {
      try table.withLock { () throws(StorageError) in
        if let closedGeneration, try table.isAlone() { table.noteClosed(closedGeneration) }
        try table.leaveSlot(slot)
      }
      table.hasNoLocks = !isWriter
    } catch {}
    share?.leave()
  }

  // MARK: - Versions

  /// The newest durable version; unknown when nobody has published one since the file was made.
  ///
  /// - Complexity: one load.
  @inlinable package var head: DurableHead {
    // Sequentially consistent, which costs a load nothing here: pairs with `publishHead`, and comes
    // after a pin's publication when it is read again to confirm the pin.
    DurableHead(rawValue: headWord.pointee.load(ordering: .sequentiallyConsistent))
  }

  /// Shows a durable version to all processes.
  ///
  /// An older one than is shown already changes nothing: syncs of two processes may end in either
  /// order.
  package func publishHead(version: Version, home: Int) {
    defer { tellFollowers() }
    headWord.pointee.max(
      DurableHead(version: version, home: home).rawValue, ordering: .sequentiallyConsistent)
  }

  // Sequentially consistent, both: who publishes a head sees the follower, or that one the head.
  private func tellFollowers() {
    guard let table else { return }
    let followers = words[HeaderWord.followers].load(ordering: .sequentiallyConsistent)
    if followers & ~ownBit != 0 { table.tellFollowers() }
  }

  /// Says whether this process wants to be told of heads that others publish, by a write to the
  /// file.
  func follow(_ wants: Bool) {
    guard table != nil, !isForked else { return }
    if wants {
      words[HeaderWord.followers].bitwiseOr(ownBit, ordering: .sequentiallyConsistent)
    } else {
      words[HeaderWord.followers].bitwiseAnd(~ownBit, ordering: .sequentiallyConsistent)
    }
  }

  /// The newest version that is written, durable or not.
  package var committed: DurableHead {
    // Acquiring: pairs with `publishCommitted`.
    DurableHead(rawValue: words[HeaderWord.committed].load(ordering: .acquiring))
  }

  /// Notes the newest written version, which this process knows all about.
  ///
  /// Write lock only.
  package func publishCommitted(version: Version, home: Int) {
    words[HeaderWord.committed].store(
      DurableHead(version: version, home: home).rawValue, ordering: .releasing)
    wasHeldByAnother = false
  }

  // MARK: - Failed syncs

  /// The errno of a sync that failed in any process and makes writing impossible for all.
  ///
  /// - Complexity: one load.
  package var syncFailure: Int32? {
    // Acquiring: pairs with `markSyncFailed`.
    let word = words[HeaderWord.failedSync].load(ordering: .acquiring)
    return word == 0 ? nil : Int32(truncatingIfNeeded: word)
  }

  /// Makes every later write of every process fail.
  ///
  /// The first reason stays.
  package func markSyncFailed(_ code: Int32) {
    stopIfForked()
    _ = words[HeaderWord.failedSync].compareExchange(
      expected: 0, desired: Self.failure(code),
      ordering: .acquiringAndReleasing)
  }

  /// Forgets a failure that was there when this process opened the file alone, after what it left
  /// has been written again.
  ///
  /// Does nothing in any other case: those who are open since the failure must keep to it.
  package func clearSyncFailure() {
    guard inheritsSyncFailure else { return }
    _ = words[HeaderWord.failedSync].compareExchange(
      expected: inheritedFailure, desired: 0, ordering: .acquiringAndReleasing)
  }

  /// Whether a failed sync was there when this process opened the file alone.
  package var inheritsSyncFailure: Bool { isFirstOpener && inheritedFailure != 0 }

  /// Runs a sync of the whole file at the end of its use without syncs.
  ///
  /// Who opens the file next learns of it when this process is killed meanwhile.
  func closingSync(_ file: any File) throws(SystemError) {
    words[HeaderWord.closingSync].store(1, ordering: .releasing)
    try synchronize(file)
    words[HeaderWord.closingSync].store(0, ordering: .releasing)
  }

  /// Syncs the data file, and notes a failure for every process.
  func synchronize(_ file: any File) throws(SystemError) {
    do throws(SystemError) { try file.synchronize() } catch {
      markSyncFailed(error.code)
      throw error
    }
  }

  /// The word that says that a sync has failed.
  static func failure(_ code: Int32) -> UInt64 { 1 << 63 | UInt64(UInt32(bitPattern: code)) }

  // MARK: - Pins

  /// Shows the others that this process reads a version.
  ///
  /// Read `head` afterwards: the pin holds if it still names this version. Pin a version anew only
  /// while it is the head, or while nobody else can know it.
  ///
  /// - Parameter time: of the monotonic clock, for those who ask how old the pin is.
  /// - Complexity: O(1), no lock, no system call, except when more pins are alive than ever before.
  package func publishPin(_ version: Version, since time: UInt64 = 0) -> PinSlot {
    guard let pins else { return PinSlot(rawValue: 0) }
    stopIfForked()
    precondition(version.rawValue > 0 && version.rawValue < 1 << 55, "a version is out of range")
    let mark = PinMark(thread: PlaceNote(.current).rawValue, nanoseconds: time)
    return pins.publish(version.rawValue, mark)
  }

  /// Ends a pin.
  ///
  /// - Precondition: it is done once.
  /// - Complexity: O(1), no lock.
  package func withdrawPin(_ pin: PinSlot) {
    // A forked child that drops its copy of an object must not unpin the parent's.
    guard let pins, !isForked else { return }
    pins.withdraw(pin)
  }

  // MARK: - Others

  /// How many other processes have the file open now.
  ///
  /// - Complexity: a system call for each of them.
  package var otherProcesses: Int {
    guard let table else { return 0 }
    return SlotSet(bits: otherLiveSlots).count { (try? table.isAlive($0)) ?? true }
  }

  /// Notes that a transaction begins; throws when the lock file was deleted or replaced since it
  /// was opened.
  ///
  /// No harm is done by then: nobody gets the data file by the new one while anybody has it by this
  /// one. But nobody could open the file, and not see why. Write lock only.
  /// - Returns: whether it was looked at: once a millisecond.
  /// - Complexity: a reading of the clock; once a millisecond a system call.
  func beginTransaction() throws(StorageError) -> Bool {
    guard let table else { return false }
    let now = clock.nanoseconds()
    begunAt = now
    if namedAt != 0, now &- namedAt < 1_000_000 { return false }
    if try table.isRemoved() {
      throw .incompatibleLockFile(
        path: path,
        reason: "it was deleted or replaced while the Realm was open. What was committed is safe; "
          + "close the Realm in all programs, then open it again")
    }
    namedAt = max(now, 1)
    return true
  }

  /// Lets the next transaction look, too, however soon it begins.
  func lookAgain() { namedAt = 0 }

  /// A bit for each slot in use but this one's; some of their processes may have died.
  var otherLiveSlots: UInt64 {
    // Sequentially consistent: pairs with the one in `LockTable.takeSlot`.
    words[HeaderWord.live].load(ordering: .sequentiallyConsistent) & ~ownBit
  }

  var ownBit: UInt64 { 1 << UInt64(slot) }

  /// Notes who has the write lock.
  ///
  /// By its new holder.
  func noteWriter() {
    isWriter = true
    // Relaxed: for people, who also ask whether the lock is held.
    words[HeaderWord.writer].store(UInt64(slot) + 1, ordering: .relaxed)
    // Relaxed: the write lock orders it.
    let last = words[HeaderWord.lastWriter].exchange(number, ordering: .relaxed)
    if last != number {
      wasHeldByAnother = true
      previousWriter = last
    }
  }

  /// Says that a writer has the file open: what it was when it was closed holds no more.
  func noteInUse() { words[HeaderWord.closedGeneration].store(0, ordering: .releasing) }

  /// Whether the process that wrote before this one has the file open no more: then nobody knows
  /// how its last sync ended.
  ///
  /// Write lock only.
  /// - Complexity: at most one system call.
  var isPreviousWriterGone: Bool {
    guard let table else { return false }
    let slots = SlotSet(bits: otherLiveSlots)
    for slot in slots
    where (table.slot(slot) + SlotWord.opening).pointee.load(ordering: .relaxed) == previousWriter {
      return (try? table.isAlive(slot)) == false
    }
    return true
  }

  /// Lets the next holder ask after the writer before this one, where that is gone and this one has
  /// taken nothing over.
  ///
  /// Before the write lock is released.
  func passOnDeadWriter() {
    guard wasHeldByAnother, previousWriter != 0, isPreviousWriterGone else { return }
    // Relaxed: the write lock orders it.
    words[HeaderWord.lastWriter].store(previousWriter, ordering: .relaxed)
  }

  var isForked: Bool { forkGeneration != generation }

  func stopIfForked() {
    if isForked {
      fatalError(
        "The Realm file of '\(path)' was opened before a fork and is used in the child. "
          + "Start the child with posix_spawn and open the file there.")
    }
  }
}

/// The numbers of the bits that are set, in order.
struct SlotSet: Sequence, IteratorProtocol {
  var bits: UInt64

  mutating func next() -> Int? {
    if bits == 0 { return nil }
    defer { bits &= bits - 1 }
    return bits.trailingZeroBitCount
  }
}
