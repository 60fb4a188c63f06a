// Which mapping covers the file now, when a new one takes its place so that the memory of decrypted
// blocks is given back, and what a mapping of an encrypted file has to forget when other processes
// have written. A mapping keeps decrypted blocks by their place; a place whose
// block has died may hold another one after a commit of another process, whose record or journal
// says which runs it has taken.
internal import Platform

extension Store {
  /// A mapping for a version that is about to be shown: it covers the file.
  ///
  /// Made anew when the file has outgrown the old one, or when that holds too much of an encrypted
  /// file: readers of older versions have pointers into it, so it goes with the last of them.
  ///
  /// - Parameter mayEmpty: whether nobody can commit meanwhile what is in no file yet, but in the
  ///   mapping that would be emptied.
  func mappingCovering(
    _ fileLength: UInt64, mayEmpty: Bool
  ) throws(StorageError) -> ReadMapping {
    while true {
      let current = mapping
      if fileLength <= UInt64(current.mapping.length) {
        current.noteFileLength(fileLength)
        guard mayEmpty, holdsTooMuch(current),
          let empty = try? makeMapping(fileLength, current.unwrittenBlocks)
        else { return current }
        empty.noteReuse(upTo: current.reuseKnown)
        if install(empty, over: current) { return empty }
        continue
      }
      let larger = try makeMapping(fileLength, current.unwrittenBlocks)
      larger.noteReuse(upTo: current.reuseKnown)
      if install(larger, over: current) { return larger }
    }
  }

  /// Whether a mapping has so many decrypted blocks that another one should take its place.
  ///
  /// Not while it alone has blocks that are in no file yet.
  func holdsTooMuch(_ mapping: ReadMapping) -> Bool {
    mapping.decryptedBytes > options.decryptedBytesMax && !pipeline.hasUnwritten
  }

  /// - Returns: false when another one has taken the place meanwhile, perhaps because what is
  ///   unwritten in `current` was lost.
  private func install(_ new: ReadMapping, over current: ReadMapping) -> Bool {
    mappingState.withLock { mapping in
      guard mapping === current else { return false }
      mapping = new
      return true
    }
  }

  /// Puts an empty mapping in the place of one that readers of lost versions go on using: what they
  /// read may get another content in the file.
  func replaceMapping() throws(StorageError) {
    let length: UInt64
    do throws(SystemError) { length = try file.length() } catch { throw .system(error) }
    let fresh = try makeMapping(length, UnwrittenBlocks())
    fresh.noteReuse(upTo: newestVersion)
    mappingState.withLock { $0 = fresh }
  }

  /// A mapping with room for what a running transaction is about to write behind the one that it
  /// reads through.
  ///
  /// Write lock only.
  /// - Returns: false when there is no address space, or what is unwritten was lost meanwhile.
  func lengthen(_ old: ReadMapping, to end: UInt64) -> Bool {
    let current = mapping
    var larger = current
    if UInt64(current.mapping.length) < end || current === old {
      guard
        let made = try? makeMapping(writer!.fileLength, current.unwrittenBlocks, covering: end)
      else { return false }
      made.noteReuse(upTo: current.reuseKnown)
      guard install(made, over: current) else { return false }
      larger = made
    }
    old.lengthen(by: larger)
    return true
  }

  private func makeMapping(
    _ fileLength: UInt64, _ unwritten: UnwrittenBlocks, covering covered: UInt64 = 0
  ) throws(StorageError) -> ReadMapping {
    let covered = max(fileLength, covered)
    return try ReadMapping(
      file: file,
      length: ReadMapping.length(forFile: covered, shortest: options.mappingBytesMin),
      covering: covered, fileLength: fileLength, salt: header.salt, cipher: cipher,
      unwritten: unwritten)
  }

  /// Makes sure that no decrypted block is taken for one that has its place in a newer version.
  ///
  /// Called before a version that another process has made is shown. Where the record and its
  /// journal do not say what was taken since, an empty mapping takes the place of the old one,
  /// which lives with its snapshots.
  func forgetReused(_ record: CommitRecord) throws(StorageError) {
    guard cipher != nil, !PlantedBug.decryptedKept.isActive else { return }
    let current = mapping
    let known = current.reuseKnown
    if known >= record.version { return }
    guard known.rawValue > 0 else { return current.noteReuse(upTo: record.version) }
    guard let deltas = deltas(of: record, since: known) else {
      let empty = try makeMapping(record.fileLength, current.unwrittenBlocks)
      empty.noteReuse(upTo: record.version)
      if !install(empty, over: current) { try forgetReused(record) }
      return
    }
    // No snapshot of this process sees these runs: it would have kept them from being taken.
    for delta in deltas where delta.version > known {
      for run in delta.taken { current.forget(run) }
    }
    current.noteReuse(upTo: record.version)
  }

  /// The deltas of all commits behind a version; nil where the record and its journal do not have
  /// them all.
  private func deltas(of record: CommitRecord, since known: Version) -> [SpaceDelta]? {
    let recent = (try? SpaceDelta.decodeAll(record.deltas)) ?? []
    if recent.contains(where: { $0.version <= known }) { return recent }
    // By calls: the writer may cut the file behind the journal, and a page of the map that is not
    // there any more ends the process.
    let reading = StoredBlockReading(mapping)
    guard let log = try? readJournal(record.spaceLog, .spaceLog, after: known, by: reading),
      let older = try? SpaceDelta.decodeAll(log.bytes),
      // No pin keeps the journal: a younger block has taken the place of one of this version.
      log.blocks.allSatisfy({ $0.birth <= record.version })
    else { return nil }
    // A chain that goes on behind these blocks has come to what is known.
    let isWhole = record.spaceLog.isNone && record.spaceCheckpoint.isNone
    return isWhole || log.reachesKnown || older.contains { $0.version <= known }
      ? older + recent : nil
  }
}
