// One open file of one process: the meeting point of snapshots, the writer, the commit pipeline and
// the lock file. Opening and recovery are in Recovery/, the steps of a commit in
// Commit/Commit.swift, idle work in Commit/Maintenance.swift, the complete check in
// Store+Invariants.swift.
package import Platform

/// What a commit promises when it returns.
package enum Durability: UInt8, Sendable {
  /// Survives a power cut.
  case full
  /// Survives the end of the process, not a power cut.
  case memory
}

/// When commits that must survive a power cut go through a log beside the file.
package enum CommitLogUse: Sendable {
  /// Each group of commits syncs the file.
  case never
  /// After some groups whose blocks lay scattered.
  case whenScattered
  /// From the opening on; for tests.
  case always
}

/// How a store is opened.
package struct StoreOptions: Sendable {
  package var path: String
  package var inMemoryIdentifier: String?
  package var isReadOnly = false
  package var durability = Durability.full
  /// A commit that would leave more live versions fails.
  package var maximumNumberOfActiveVersions: UInt64?
  /// 64 bytes; nil for a file that is not encrypted.
  ///
  /// Stores in memory ignore it.
  package var encryptionKey: [UInt8]?
  /// Whether a file of so many bytes, so many of them used, should be replaced by a compact one.
  ///
  /// Asked by whoever opens the file alone, with no lock held; a full disk leaves the file as it
  /// is.
  package var shouldCompact: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
  /// Address space for a small file; it can grow so far before it is mapped anew.
  package var mappingBytesMin = 64 << 20
  /// Of an encrypted file: when so many bytes were decrypted, the next version begins without them.
  package var decryptedBytesMax = 256 << 20
  package var fileSystem: any FileSystem
  package var clock: any Clock
  package var journalPace = JournalPace()
  package var commitLog = CommitLogUse.never
  /// Bytes of each of the two segments of a small file's log; a multiple of 4,096.
  package var logSegmentMin = 1 << 20

  package init(
    path: String, inMemoryIdentifier: String? = nil, isReadOnly: Bool = false,
    durability: Durability = .full, maximumNumberOfActiveVersions: UInt64? = nil,
    fileSystem: any FileSystem = LinuxFileSystem(), clock: any Clock = MonotonicClock(),
    encryptionKey: [UInt8]? = nil,
    shouldCompact: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? = nil
  ) {
    self.path = path
    self.inMemoryIdentifier = inMemoryIdentifier
    self.isReadOnly = isReadOnly
    self.durability = durability
    self.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions
    self.fileSystem = fileSystem
    self.clock = clock
    self.encryptionKey = encryptionKey
    self.shouldCompact = shouldCompact
  }
}

/// An open file.
///
/// Shared by all Realms of the process that use it; closed when the last one goes.
package final class Store: @unchecked Sendable {
  // @unchecked: `writer` is touched only by the holder of the write lock (`queue`), `mapping` is
  // guarded by `mappingState`; everything else is immutable or locks itself.
  package let path: String
  package let isReadOnly: Bool
  package let isInMemory: Bool
  package let durability: Durability
  let options: StoreOptions
  let file: any File
  let identity: FileIdentity
  let header: FileHeader
  /// Nil when the file is not encrypted.
  let cipher: FileCipher?
  let lockFile: LockFile
  let snapshots: SnapshotTable
  let pipeline: CommitPipeline
  let queue = WriteQueue()
  /// Commits whose sync happens on the store's own thread.
  let commits = AsynchronousCommits()
  /// Who wants to hear of newer versions.
  package let listeners = VersionListeners()
  /// See `companion(_:)`.
  let companion = Monitor<(any StoreCompanion)?>(nil)
  /// Write lock only.
  ///
  /// Nil in a read-only store.
  @exclusivity(unchecked) var writer: WriterState?
  /// Write lock only; there from the first transaction on.
  var memory: WriterMemory { madeMemory! }
  @exclusivity(unchecked) private(set) var madeMemory: WriterMemory?
  @exclusivity(unchecked) var foreignPinState = ForeignPinState()
  /// Write lock only: the process holds the lock against other processes since then.
  @exclusivity(unchecked) var processLockSince: UInt64?
  /// Write lock only: for whom what a transaction needs could not be got ready elsewhere, and why.
  @exclusivity(unchecked) var preparationFailure: (offer: WriteOffer, error: StorageError)?
  /// A version was lost, and what the writer knows is that of a file which never was.
  let needsReload = Atomic(false)
  /// Somebody has removed this process's log, or put another file in its place.
  let isLogGone = Atomic(false)
  /// Syncs and bytes written by this process since the file was opened.
  let syncs = Atomic<UInt64>(0)
  let writtenBytes = Atomic<UInt64>(0)
  /// How often the whole space journal was read.
  let journalReads = Atomic(0)
  let spaceNotes = SpaceNotes()
  let mappingState: Monitor<ReadMapping>
  /// Serialises publishing and adopting versions of other processes.
  let publishing = Monitor(())
  /// Records that the opening passed over; set before anyone else has the store.
  var passedOver: [String] = []
  /// Held while a group, or a large commit before its record is written, becomes durable.
  let syncing = Monitor(())
  /// Held during a sync of the file; taken after `syncing`, where both are.
  let synchronizing = Monitor(())
  let commitLog = Monitor(LogUse())
  let maintenance = MaintenanceState()
  /// Threads that keep the store for a moment, to prepare a transaction elsewhere.
  let helpers = Monitor(0)
  private let limit: Atomic<UInt64>
  /// When the path was last seen to lead to the file, by the store's clock; see `isReached`.
  let reachedAt = Atomic<UInt64>(0)
  #if PLANTED_BUGS
    let latePublication = LatePublication()
  #endif

  init(
    options: StoreOptions, file: any File, identity: FileIdentity, header: FileHeader,
    cipher: FileCipher?, lockFile: LockFile, mapping: ReadMapping
  ) {
    self.options = options
    self.file = file
    self.identity = identity
    self.header = header
    self.cipher = cipher
    self.lockFile = lockFile
    path = options.path
    isReadOnly = options.isReadOnly
    isInMemory = options.inMemoryIdentifier != nil
    durability = isInMemory ? .memory : options.durability
    snapshots = SnapshotTable(lockFile: lockFile)
    pipeline = CommitPipeline(homeCount: header.homes.count)
    mappingState = Monitor(mapping)
    limit = Atomic(options.maximumNumberOfActiveVersions ?? .max)
  }

  /// Tells a listener of every version that can be read from now on, other processes' included.
  package func addListener(_ listener: any VersionListener) {
    listeners.add(listener)
    listeners.watch(by: follow)
  }

  /// Begins to hear of versions that other processes publish.
  private func follow() -> FileWatch? {
    if isInMemory || !options.fileSystem.allowsUnpromptedWork { return nil }
    let later = LaterReference(self)
    let watch = options.fileSystem.watch(lockFile.path) { later.object?.lookForNews() }
    lockFile.follow(watch != nil)
    return watch
  }

  /// Another process may have published a version: those who follow are told.
  private func lookForNews() {
    guard let newest = snapshots.pinNewest(), newest.version < newestVersion else { return }
    // An error is met again, and told, by whoever looks next.
    _ = try? pinNewest()
  }

  deinit { close() }

  /// Live versions allowed; a commit that would leave more fails.
  package var maximumNumberOfActiveVersions: UInt64 {
    get { limit.load(ordering: .relaxed) }
    set { limit.store(newValue, ordering: .relaxed) }
  }

  var mapping: ReadMapping { mappingState.withLock { $0 } }

  var recordSearch: RecordSearch {
    // A file that named a log when it was opened is read in the boot of that log only.
    RecordSearch(file: file, header: header, cipher: cipher, isSameBoot: header.isLogged)
  }

  /// Bytes that a block takes in the file besides its own.
  var blockOverhead: Int { cipher == nil ? 0 : FileCipher.overhead }

  // MARK: - Reading

  /// The newest version that readers may see, in this process and any other.
  ///
  /// - Complexity: one atomic load.
  package var newestVersion: Version { lockFile.head.version }

  /// Pins the newest version.
  ///
  /// - Throws: `damaged` when the record of another process's commit cannot be read.
  /// - Complexity: O(1), no lock that a writer holds for long, no disk.
  package func pinNewest() throws(StorageError) -> Snapshot {
    lockFile.stopIfForked()
    while true {
      let newest = newestVersion
      #if PLANTED_BUGS
        if PlantedBug.staleSnapshot.strikes(everyCalls: 50), let stale = snapshots.stale {
          return stale
        }
      #endif
      if let snapshot = snapshots.pinNewest(), snapshot.version >= newest { return snapshot }
      try adoptPublished()
      listeners.notify(newest)
    }
  }

  // MARK: - Writing

  /// Waits for the write lock and begins on the newest version, durable or not.
  ///
  /// - Throws: `readOnly`, `previousSyncFailure`, `threadsExhausted`, or an error of reading what
  ///   another process wrote.
  ///
  /// - Parameter place: names the writer for those who wait for it.
  package func beginWrite(
    by place: PlaceNote = PlaceNote(.current)
  ) throws(StorageError) -> WriteTransaction {
    guard !isReadOnly else { throw .readOnly(path: path) }
    // Before the queue, whose threads the child does not have.
    lockFile.stopIfForked()
    do throws(WriteQueue.GivenUp) {
      try queue.acquire(by: place) { holder, waiters, count, busyThreads in
        report(longWaitFor: holder, waiters, count, busyThreads)
      }
    } catch {
      throw .threadsExhausted(
        path: path, holder: error.holder?.description ?? "somebody", threads: error.pool.width)
    }
    return try beginAmongProcesses(by: place)
  }

  /// Says who is waited for: where the thread whose turn it is waits for another process, that
  /// process.
  private func report(
    longWaitFor holder: PlaceNote?, _ waiters: [PlaceNote], _ count: Int, _ busyThreads: Int?
  ) {
    var (names, count) = (waiters.map { $0.description ?? "somebody" }, count)
    let process = (try? lockFile.writerDescription()) ?? nil
    if process != nil, let holder {
      names.insert(holder.description ?? "somebody", at: 0)
      names = Array(names.prefix(LongWait.waitersNamed))
      count += 1
    }
    LongWait(
      path: path, holder: process ?? holder?.description, waiters: names, waitersInAll: count,
      busyThreads: busyThreads
    ).report()
  }

  /// The same if nobody in this process writes; else nil.
  func beginWriteIfFree() throws(StorageError) -> WriteTransaction? {
    let place = PlaceNote(.current)
    return queue.tryAcquire(by: place) ? try beginAmongProcesses(by: place) : nil
  }

  private func beginAmongProcesses(by place: PlaceNote) throws(StorageError) -> WriteTransaction {
    do throws(StorageError) { try enterProcessLock() } catch {
      leaveWriteLock()
      throw error
    }
    return try beginWithLock(by: place)
  }

  /// Begins with both write locks held; lets go of them on an error.
  ///
  /// - Parameter mayUseFile: false where the caller must not be kept waiting by the disk.
  func beginWithLock(
    by place: PlaceNote, mayUseFile: Bool = true
  ) throws(StorageError) -> WriteTransaction {
    do throws(StorageError) {
      try throwIfSyncFailed()
      let isTimeToLook = try lockFile.beginTransaction()
      try makeMemory()
      try prepareWriter(mayUseFile: mayUseFile, isTimeToLook: isTimeToLook)
    } catch {
      leaveWriteLock()
      throw error
    }
    let writer = writer!
    let base = writer.newest.snapshot
    let version = writer.lastNumber.next
    writer.lastNumber = version
    writer.isIdle = false
    return WriteTransaction(
      store: self,
      editor: BlockEditor(
        base: base.reader, arena: memory.arena, blockOverhead: blockOverhead), base: base,
      version: version, place: place)
  }

  /// Makes what only writing needs, before the first transaction.
  private func makeMemory() throws(StorageError) {
    if madeMemory != nil { return }
    guard let arena = ProvisionalArena() else {
      throw .addressSpaceExhausted(path: path, bytes: UInt64(ProvisionalArena.reservedBytes))
    }
    madeMemory = WriterMemory(
      arena,
      overwriting: durability == .memory
        ? OverwriteMap(file, length: mapping.mapping.length) : nil)
  }

  /// Takes the lock against other processes, unless this process still has it and nobody else has
  /// waited for long.
  func enterProcessLock() throws(StorageError) {
    if isProcessLockOverdue {
      writeDeferred()
      lockFile.releaseWriteLock()
      processLockSince = nil
    }
    guard processLockSince == nil else { return }
    try lockFile.acquireWriteLock { writer in
      LongWait(
        path: path, holder: writer, waiters: [PlaceNote(.current).description ?? "somebody"],
        waitersInAll: 1 + queue.waitingThreadCount
      ).report()
    }
    processLockSince = options.clock.nanoseconds()
  }

  /// Whether another process waits and this one has had the lock for 10 ms.
  var isProcessLockOverdue: Bool {
    guard let since = processLockSince, lockFile.otherProcessesWait else { return false }
    return options.clock.nanoseconds() &- since > 10_000_000
  }

  func throwIfSyncFailed() throws(StorageError) {
    if let code = lockFile.syncFailure, !PlantedBug.failedSyncForgotten.isActive {
      throw .previousSyncFailure(
        path: path, reason: SystemError(call: "fdatasync", path: path, code: code).reason)
    }
    if pipeline.hasFailed, let failure = pipeline.failure {
      throw .previousSyncFailure(path: path, reason: "\(failure)")
    }
  }

  /// Blocks until so many threads wait for the write lock; for tests.
  package func waitForQueuedWriters(_ count: Int) { queue.waitForWaiters(count) }

  /// Hands the write lock on: to the next thread, or to other processes when none waits here or
  /// this process has had it for 10 ms, and everything is written that they have to find.
  func leaveWriteLock() {
    if spaceNotes.areWanted, writer != nil { spaceNotes.note(spaceOfWriter()) }
    var keepsForWriting = false
    // An asynchronous waiter may be long in coming: others need not wait for it.
    if processLockSince != nil, !queue.hasWaitingThreads || isProcessLockOverdue {
      keepsForWriting = pipeline.hasUnwritten
      if !keepsForWriting {
        lockFile.releaseWriteLock()
        processLockSince = nil
      }
    }
    queue.release()
    // Who writes what is unwritten hands the lock on, unless it came while this thread had the
    // queue. Both look again after their own step, in one order for all, so one of them does it.
    if keepsForWriting { leaveProcessLock() }
  }

  /// Lets other processes write, if nobody here does and nothing is unwritten.
  func leaveProcessLock() {
    guard !pipeline.hasUnwritten, queue.tryAcquire() else { return }
    leaveWriteLock()
  }
}

#if PLANTED_BUGS
  /// Holds a commit back until the next one, for the planted bug of that name.
  final class LatePublication: Sendable {
    private let held = Monitor<CommittedVersion?>(nil)

    func exchange(_ committed: CommittedVersion) -> CommittedVersion {
      held.withLock { held in
        let previous = held ?? committed
        held = committed
        return previous
      }
    }
  }
#endif
