// The log of one process's commits, beside the database: where a group's blocks lie scattered, one
// write in a row into the log makes it durable, and the blocks go to the disk later, many groups by
// one sync (a checkpoint). Who uses it, and when: Store+Log.swift. After a crash:
// LogRecovery.swift.
//
// Two segments take turns. When one is full, the other one takes over, and a thread of its own
// syncs the database; only then may the full one be written again.
internal import Platform

/// An open log.
///
/// Entries are appended by one thread after the other, the holder of `Store.syncing`.
final class CommitLog: Sendable {
  private struct State {
    var segment = 0
    /// Where the next entry goes.
    var position: UInt64
    var sequence: UInt64 = 1
    /// Entries before `firstNeeded` need not be repeated; `statedFirstNeeded` is what the newest
    /// entry says.
    var firstNeeded: UInt64 = 1
    var statedFirstNeeded: UInt64 = 1
    /// The version and length of the newest entry.
    var version = Version(0)
    var fileLength: UInt64 = 0
    /// Whether entries have to be repeated after a power cut.
    var isDirty = false
    /// What a segment holds is not in place yet.
    var isCheckpointing = false
    /// An entry waits for that.
    var isFull = false
    var failure: SystemError?

    /// Whether so many bytes fit behind the newest entry of the segment.
    func hasRoom(for length: Int, _ header: CommitLogHeader) -> Bool {
      position + UInt64(length) <= header.start(ofSegment: segment + 1)
    }
  }

  let header: CommitLogHeader
  private let file: any File
  /// Makes everything durable that was written to the database before.
  private let synchronizeDatabase: @Sendable () throws(SystemError) -> Void
  private let state: Monitor<State>
  private let memory = Monitor(EntryMemory())

  /// - Parameter file: locked, and as long as the header says.
  init(
    _ header: CommitLogHeader, _ file: any File,
    synchronizeDatabase: @escaping @Sendable () throws(SystemError) -> Void
  ) {
    self.header = header
    self.file = file
    self.synchronizeDatabase = synchronizeDatabase
    state = Monitor(State(position: header.start(ofSegment: 0)))
  }

  /// Whether its name beside a database leads to it.
  func isInPlace(_ databasePath: String, _ fileSystem: any FileSystem) -> Bool {
    guard let identity = try? file.identity(),
      let leads = try? Store.leads(Self.path(databasePath), to: identity, fileSystem)
    else { return true }
    return leads
  }

  /// Whether entries have to be repeated after a power cut.
  var isDirty: Bool { state.withLock { $0.isDirty } }

  /// Whether an entry waits until a full segment may be written again.
  var isFull: Bool { state.withLock { $0.isFull } }

  /// The sequence number of the next entry.
  var nextSequence: UInt64 { state.withLock { $0.sequence } }

  /// Whether a group of so many extents gains by the log.
  ///
  /// Two are a record with what lies behind it, and one run: a sync of the database costs no more.
  /// But it takes along all that lies there unsynced.
  func isWorthwhile(extents: Int) -> Bool { extents > 2 || isDirty }

  /// The end of a segment is kept for an entry without extents.
  private static let noteLength = FileHeader.pageLength

  /// Whether an entry of so many bytes and extents fits into a segment.
  func hasRoom(bytes: Int, extents: Int) -> Bool {
    CommitLogEntry.fixedLength + 16 * extents + bytes <= header.segmentLength - Self.noteLength
  }

  // MARK: - Appending

  /// Makes a group of commits durable.
  ///
  /// - Parameters:
  ///   - extents: what the group has written to the database, the record included.
  ///   - read: reads these bytes.
  /// - Returns: the bytes written.
  /// - Throws: after that nobody knows what is in the log.
  func append(
    _ version: Version, fileLength: UInt64, _ extents: [Extent],
    read: (Extent, UnsafeMutableRawBufferPointer) throws(SystemError) -> Void
  ) throws(SystemError) -> Int {
    let length = CommitLogEntry.lengthInSegment(extents)
    if state.withLock({ !$0.hasRoom(for: length + Self.noteLength, header) }) {
      try switchSegments()
    }
    return try write(version, fileLength, extents, isNote: false, read)
  }

  /// Notes that everything up to a version is durable in the database itself.
  ///
  /// To be called before that is relied on: after a crash the entries before this one are not
  /// repeated.
  /// - Parameter isNeeded: also where no entry waits to be repeated, since only the log names the
  ///   version.
  func noteInPlace(
    _ version: Version, fileLength: UInt64, isNeeded: Bool = false
  ) throws(SystemError) {
    guard isDirty || isNeeded, !PlantedBug.inPlaceNotNoted.isActive else { return }
    state.withLock { $0.firstNeeded = $0.sequence }
    try note(version, fileLength)
    state.withLock { $0.isDirty = false }
  }

  /// The same of all entries, unless one was appended since the next one had this number.
  func noteInPlace(before sequence: UInt64) throws(SystemError) {
    let newest = state.withLock { state in
      state.sequence == sequence ? (state.version, state.fileLength) : nil
    }
    if let (version, fileLength) = newest { try noteInPlace(version, fileLength: fileLength) }
  }

  /// Writes an entry that says which ones are needed.
  private func note(_ version: Version, _ fileLength: UInt64) throws(SystemError) {
    let isFull = state.withLock { !$0.hasRoom(for: Self.noteLength, header) }
    if isFull { try switchSegments() }
    _ = try write(version, fileLength, [], isNote: true) { (_, _) in }
  }

  private func write(
    _ version: Version, _ fileLength: UInt64, _ extents: [Extent], isNote: Bool,
    _ read: (Extent, UnsafeMutableRawBufferPointer) throws(SystemError) -> Void
  ) throws(SystemError) -> Int {
    let (position, sequence, firstNeeded) = state.withLock { state in
      (state.position, state.sequence, state.firstNeeded)
    }
    let entry = CommitLogEntry(
      sequence: sequence, firstNeeded: firstNeeded, version: version, fileLength: fileLength,
      extents: extents)
    let length = entry.lengthInSegment
    // A system call under the lock: nobody else comes here but the holder of `syncing`.
    try memory.withLock { (memory) throws(SystemError) in
      let bytes = memory.bytes(length)
      var place = entry.bytesStart
      for extent in extents {
        let end = place + Int(extent.length)
        try read(extent, UnsafeMutableRawBufferPointer(rebasing: bytes[place..<end]))
        place = end
      }
      UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).initializeMemory(
        as: UInt8.self, repeating: 0)
      entry.encode(into: bytes, seed: header.identifier ^ position)
      let bytesToWrite = UnsafeRawBufferPointer(bytes)
      if PlantedBug.logNotSynced.isActive {
        try file.write(bytesToWrite, at: position)
      } else {
        try file.writeDurably(bytesToWrite, at: position)
      }
    }
    state.withLock { state in
      state.position = position + UInt64(length)
      state.sequence += 1
      state.statedFirstNeeded = firstNeeded
      state.version = version
      state.fileLength = fileLength
      if !isNote { state.isDirty = true }
    }
    return length
  }

  /// Goes on in the other segment; waits until the database has what that one repeats.
  private func switchSegments() throws(SystemError) {
    if !PlantedBug.logReusedEarly.isActive {
      state.withLock { $0.isFull = $0.isCheckpointing }
      try waitForCheckpoint()
    }
    // The newest entry must say that the other segment is not needed: a torn entry there would else
    // look like a loss.
    let unstated: (version: Version, fileLength: UInt64)? = state.withLock { state in
      state.isFull = false
      guard state.statedFirstNeeded < state.firstNeeded,
        state.hasRoom(for: Self.noteLength, header)
      else { return nil }
      return (state.version, state.fileLength)
    }
    if let (version, fileLength) = unstated {
      _ = try write(version, fileLength, [], isNote: true) { (_, _) in }
    }
    let first = state.withLock { state in
      state.segment = (state.segment + 1) % CommitLogHeader.segmentCount
      state.position = header.start(ofSegment: state.segment)
      state.isCheckpointing = true
      return state.sequence
    }
    let checkpoint = { @Sendable [self] in
      var failure: SystemError?
      do throws(SystemError) { try synchronizeDatabase() } catch { failure = error }
      state.withLock { state in
        state.isCheckpointing = false
        if let failure {
          state.failure = failure
        } else {
          state.firstNeeded = max(state.firstNeeded, first)
        }
      }
      state.notifyAll()
    }
    if let thread = Thread.startIfPossible(name: "realm-log", checkpoint) {
      thread.detach()
    } else {
      checkpoint()
    }
  }

  /// Waits until the last full segment may be written again.
  ///
  /// - Throws: when what it holds could not be brought to the disk.
  func waitForCheckpoint() throws(SystemError) {
    try state.wait(
      until: { !$0.isCheckpointing },
      then: { (state) throws(SystemError) in if let failure = state.failure { throw failure } })
  }
}

/// Memory for an entry, kept from one to the next.
private final class EntryMemory {
  private static let keptMax = 1 << 20
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  func bytes(_ length: Int) -> UnsafeMutableRawBufferPointer {
    if buffer.count < length || buffer.count > max(length, Self.keptMax) {
      buffer.deallocate()
      buffer = .allocate(byteCount: length, alignment: FileHeader.pageLength)
    }
    return UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
  }

  deinit { buffer.deallocate() }
}
