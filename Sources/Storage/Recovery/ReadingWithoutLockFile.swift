// Opening for a reader that has no lock file: there is none, or it may not write it. Such a reader
// reads one version for as long as it is open; writers go on meanwhile, and keep what it sees. A
// file that nobody can write to is read in the same way. Where not even a lock on the data file can
// be had, opening is an error: without a pin a reader would be shown what writers put in the place
// of its version.
internal import Platform

extension Store {
  /// Pins the newest version by a lock on the data file.
  ///
  /// - Returns: what stands for the lock file, and the version's record.
  static func pinWithoutLockFile(
    _ file: any File, _ cipher: FileCipher?, _ options: StoreOptions, boot: UInt64
  ) throws(StorageError) -> (LockFile, FoundRecord) {
    var pin = ReaderPin(file)
    // A writer that commits without a pause can be in the way of many turns.
    for _ in 0..<10_000 {
      // Each time: a log may have been begun, without which some records do not count.
      let header = try readHeader(file)
      try refuseUnlessSameBoot(header, boot, file.path)
      // Else the file would not have been opened.
      var search = RecordSearch(
        file: file, header: header, cipher: cipher, isSameBoot: header.isLogged)
      let homes = try search.homes()
      let newest: Result<FoundRecord, StorageError>
      do throws(StorageError) {
        search.proof = try DiskProof(file, header, cipher, options)
        newest = .success(
          try search.newestDurable(in: homes, knownDurable: Version(0), isShared: false).found)
      } catch {
        newest = .failure(error)
      }
      // Else somebody has committed, and what was found says nothing.
      guard try search.homes() == homes, try readHeader(file).sequence == header.sequence else {
        continue
      }
      let found = try newest.get()
      // It was the newest version after it was pinned: see `LockFile.foreignPins`.
      if found.record.version == pin.version { return (LockFile.makePrivate(pin), found) }
      try pin.move(to: found.record.version)
    }
    throw .alreadyOpen(path: file.path, reason: "by a writer that commits without a pause")
  }

  /// Shows the version that was pinned without a lock file.
  func show(_ pinned: FoundRecord) throws(StorageError) {
    let record = pinned.record
    // Nobody says whether it is durable already. Its end may have been cut off since it was pinned,
    // which is not where its blocks are.
    try Store.converting { () throws(SystemError) in try file.synchronize() }
    if !record.root.isNone { try mapping.verify(record.root) }
    let snapshot = snapshots.makeSnapshot(
      record.version, root: record.root, mapping: mapping,
      createdAt: options.clock.nanoseconds(), owner: PlaceNote(.current))
    let committed = CommittedVersion(
      snapshot: snapshot, home: pinned.home, vouchesAfter: record.durableVersion)
    pipeline.start(at: committed)
    publish(committed)
  }
}
