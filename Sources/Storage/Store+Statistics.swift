// Numbers about a store: versions, pins and bytes. Cheap enough to be taken once a second.
internal import Platform

/// One live version.
package struct VersionInfo: Sendable {
  package let version: Version
  /// Nil when nobody has noted when it was made.
  package let ageNanoseconds: UInt64?
  /// Who keeps it here, or else the thread that made it; and the processes that keep it.
  package let owner: String
  /// Bytes of which it is the newest version that sees them, the newest version of all left out.
  ///
  /// Nil where only a writer knows, and where it was not asked for.
  package let retainedBytes: UInt64?
}

/// A look at a store's versions and bytes.
package struct StoreStatistics: Sendable {
  package var newestVersion = Version(0)
  package var oldestPinnedVersion = Version(0)
  /// Versions alive in any process, the newest included.
  package var liveVersions = 0
  /// Live versions that are not the newest.
  package var pins = 0
  package var oldestPinAgeNanoseconds: UInt64 = 0
  package var fileBytes: UInt64 = 0
  /// Bytes that the newest version reaches.
  package var liveBytes: UInt64 = 0
  /// Bytes that only older versions reach, or that wait for a sync.
  package var heldBytes: UInt64 = 0
  package var freeBytes: UInt64 = 0
  /// Written to the file by this process since it was opened.
  package var writtenBytes: UInt64 = 0
  /// Commits ever made to the file.
  package var commits: UInt64 = 0
  /// Syncs by this process since it was opened.
  package var syncs: UInt64 = 0
  package var versions: [VersionInfo] = []

  package init() {}
}

extension Store {
  /// Which other process writes to the file, and which wait for that, in order.
  package func writingProcesses() throws(StorageError) -> (writer: String?, waiters: [String]) {
    (try lockFile.writerDescription(), lockFile.waiterDescriptions())
  }

  /// Which other process has the write lock that a thread of this one waits for now; nil when none
  /// waits so.
  ///
  /// The same number is the same wait: each turn of this process has its own.
  package func foreignWait() throws(StorageError) -> (number: UInt64, writer: String)? {
    // Whose turn it is here, and who does not have the lock between processes, waits for it.
    guard let hold = queue.hold, let writer = try lockFile.writerDescription() else { return nil }
    return (hold.number, writer)
  }

  /// Whether a write transaction of this process is open.
  package var isBeingWritten: Bool { queue.hold != nil }

  /// Whether one is open that belongs to the calling thread.
  package var isBeingWrittenByThisThread: Bool { queue.hold?.place == PlaceNote(.current) }

  /// Whether anybody waits for the write lock, here or in another process.
  package var isWaitedFor: Bool {
    queue.hasWaiters || !lockFile.waiterDescriptions().isEmpty
  }

  /// The numbers of this moment.
  ///
  /// Takes the write lock for a moment, unless read-only.
  /// - Parameter countsRetained: also adds up what each version retains.
  /// - Complexity: O(versions); with `countsRetained` O(blocks that pins keep).
  package func statistics(countsRetained: Bool = false) throws(StorageError) -> StoreStatistics {
    if isReadOnly { return try glance(withOthers: true) }
    return try statistics(of: try beginWrite(), countsRetained: countsRetained)
  }

  /// The same without waiting for a running transaction.
  ///
  /// Bytes and commits are those of this moment if nobody writes, else those that the next writer
  /// to leave the write lock notes within `nanoseconds`; if none leaves it, those noted last: nil
  /// before the first.
  package func recentStatistics(
    withinNanoseconds nanoseconds: UInt64
  ) throws(StorageError) -> StoreStatistics? {
    if isReadOnly { return try glance(withOthers: true) }
    if let transaction = try beginWriteIfFree() {
      return try statistics(of: transaction, countsRetained: false)
    }
    guard let space = spaceNotes.next(withinNanoseconds: nanoseconds) else { return nil }
    var statistics = try glance()
    statistics.freeBytes = space.freeBytes
    statistics.heldBytes = space.heldBytes
    statistics.liveBytes = space.liveBytes
    statistics.commits = space.commits
    statistics.writtenBytes = writtenBytes.load(ordering: .relaxed)
    return statistics
  }

  /// What the writer knows of space; called with the write lock held.
  func spaceOfWriter() -> SpaceNotes.Figures {
    let writer = writer!
    var space = SpaceNotes.Figures()
    space.freeBytes = writer.free.totalBytes + writer.homes.freeBytes
    space.heldBytes = writer.heldBytes + writer.pendingBytes
    let overhead =
      UInt64(2 * FileHeader.pageLength + header.homes.count * CommitRecord.lengthMax)
      + writer.journal.bytes
    space.liveBytes = writer.fileLength - space.freeBytes - space.heldBytes - overhead
    space.commits = writer.commits
    return space
  }

  /// Ends the transaction.
  private func statistics(
    of transaction: WriteTransaction, countsRetained: Bool
  ) throws(StorageError) -> StoreStatistics {
    var statistics = StoreStatistics()
    let writer = writer!
    let space = spaceOfWriter()
    statistics.fileBytes = writer.fileLength
    statistics.freeBytes = space.freeBytes
    statistics.heldBytes = space.heldBytes
    statistics.liveBytes = space.liveBytes
    statistics.writtenBytes = writtenBytes.load(ordering: .relaxed)
    statistics.commits = space.commits
    statistics.liveVersions = writer.pinnedVersions.union(snapshots.versions).count
    let foreign = writer.foreignPins
    // What has gone meanwhile is still listed.
    var others = foreign.map { PinOwner(version: $0, text: nil, since: 0) }
    let retained = countsRetained ? writer.dead.heldBytesByPin : nil
    transaction.cancel()
    if !foreign.isEmpty { others += try lockFile.pinOwners() }
    list(&statistics, others: others, retained: retained)
    return statistics
  }

  /// What can be told without waiting for a writer: the file's length, syncs, and the live versions
  /// of this process.
  ///
  /// - Parameter withOthers: also those of other processes, which takes system calls.
  package func glance(withOthers: Bool = false) throws(StorageError) -> StoreStatistics {
    var statistics = StoreStatistics()
    statistics.fileBytes = try Store.converting { () throws(SystemError) in try file.length() }
    list(&statistics, others: withOthers ? try lockFile.pinOwners() : [], retained: nil)
    statistics.liveVersions = statistics.versions.count
    return statistics
  }

  /// Adds the live versions.
  private func list(
    _ statistics: inout StoreStatistics, others: [PinOwner], retained: [Version: UInt64]?
  ) {
    statistics.syncs = syncs.load(ordering: .relaxed)
    statistics.newestVersion = newestVersion
    let now = options.clock.nanoseconds()
    let entries = snapshots.entries
    let keepers = snapshots.keepers
    let foreign = Dictionary(grouping: others, by: \.version)
    statistics.versions = Set(entries.keys).union(foreign.keys).sorted().map { version in
      let entry = entries[version]
      let others = foreign[version] ?? []
      let times = [entry?.createdAt].compactMap { $0 } + others.map(\.since).filter { $0 > 0 }
      let own = keepers[version]?.description ?? entry?.owner?.description
      let owners = [own].compactMap { $0 } + Set(others.compactMap(\.text)).sorted()
      return VersionInfo(
        version: version, ageNanoseconds: times.min().map { now > $0 ? now - $0 : 0 },
        owner: owners.isEmpty ? "another process" : owners.joined(separator: "; "),
        retainedBytes: retained.map { $0[version] ?? 0 })
    }
    let old = statistics.versions.filter { $0.version < statistics.newestVersion }
    statistics.pins = old.count
    statistics.oldestPinnedVersion = old.first?.version ?? statistics.newestVersion
    statistics.oldestPinAgeNanoseconds = old.compactMap(\.ageNanoseconds).max() ?? 0
  }
}
