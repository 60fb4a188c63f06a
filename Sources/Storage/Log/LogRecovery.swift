// What a log says after a crash: its entries are read in order, and what they repeat is written to
// the database again. See CommitLogFormat.swift for the bytes, CommitLog.swift for the order in
// which they were written.
internal import Platform

/// The entries of a log that count, oldest first.
struct LogContent {
  /// An entry and its place in the log.
  struct Place {
    let entry: CommitLogEntry
    let offset: UInt64
  }

  let file: any File
  let header: CommitLogHeader
  private(set) var places: [Place] = []
  private let isOnDisk: Bool

  /// Reads what a log says.
  ///
  /// - Parameter isOnDisk: whether to read past the page cache.
  /// - Throws: `damaged` when an entry is lost that others came after; errors of reading.
  init(
    _ file: any File, _ header: CommitLogHeader, isOnDisk: Bool = false
  ) throws(StorageError) {
    self.isOnDisk = isOnDisk
    self.file = file
    self.header = header
    var runs: [[Place]] = []
    for segment in 0..<CommitLogHeader.segmentCount {
      let run = try Store.converting { () throws(SystemError) in try read(segment) }
      if !run.isEmpty { runs.append(run) }
    }
    // The older segment may be half written over. Then the newest entry says that nothing in it is
    // needed.
    runs.sort { $0[0].entry.sequence < $1[0].entry.sequence }
    guard let last = runs.last?.last else { return }
    var next = PlantedBug.logRepeatedFromItsStart.isActive ? 0 : last.entry.firstNeeded
    if next == 0 { next = runs[0][0].entry.sequence }
    places = runs.joined().filter { $0.entry.sequence >= next }
    for place in places {
      if place.entry.sequence != next {
        throw .damaged(
          path: file.path, block: place.offset, version: place.entry.version.rawValue,
          reason: "entries of the commit log before this one are lost, from number \(next) on")
      }
      next += 1
    }
  }

  /// The newest version that the log makes durable; nil when it is empty.
  var version: Version? { places.last?.entry.version }

  /// Whether it has anything that the database may not have.
  var hasWhatIsNotInPlace: Bool { places.contains { !$0.entry.extents.isEmpty } }

  private func read(_ segment: Int) throws(SystemError) -> [Place] {
    var run: [Place] = []
    var position = header.start(ofSegment: segment)
    // What the header says of its length is only said.
    let end = min(header.start(ofSegment: segment + 1), try file.length())
    while position < end {
      let bytes = try bytes(at: position, upTo: Int(end - position))
      let entry = bytes.withUnsafeBytes {
        CommitLogEntry.decode($0, seed: header.identifier ^ position)
      }
      guard let entry else { break }
      if let last = run.last, entry.sequence != last.entry.sequence + 1 { break }
      run.append(Place(entry: entry, offset: position))
      position += UInt64(entry.lengthInSegment)
    }
    return run
  }

  /// The bytes of the entry that begins at an offset; none when there is no beginning of one.
  private func bytes(at offset: UInt64, upTo longest: Int) throws(SystemError) -> [UInt8] {
    let start = try file.bytes(
      at: offset, length: min(longest, CommitLogEntry.fixedLength), onDisk: isOnDisk)
    let length = start.withUnsafeBytes { CommitLogEntry.length(statedBy: $0, upTo: longest) }
    guard let length else { return [] }
    return try file.bytes(at: offset, length: length, onDisk: isOnDisk)
  }

  /// Writes to the database what the entries repeat that it may not have.
  ///
  /// Nothing is synced. Doing it twice does no harm.
  func repeated(in database: any File) throws(StorageError) {
    guard let last = places.last else { return }
    let length = try Store.converting { () throws(SystemError) in try database.length() }
    if length < last.entry.fileLength {
      try Store.converting { () throws(SystemError) in
        try database.setLength(last.entry.fileLength)
      }
    }
    for place in places {
      let bytes = try Store.converting { () throws(SystemError) in
        try file.bytes(at: place.offset, length: place.entry.length)
      }
      var start = place.entry.bytesStart
      for extent in place.entry.extents {
        let piece = bytes[start..<start + Int(extent.length)]
        start += Int(extent.length)
        guard extent.offset >= FileHeader.copies.last! + UInt64(FileHeader.pageLength) else {
          throw .damaged(
            path: file.path, block: place.offset, version: place.entry.version.rawValue,
            reason: "the commit log would write over the header")
        }
        // Behind the end of the file nothing lies that its newest version has.
        let end = last.entry.fileLength
        let count = min(extent.length, end - min(end, extent.offset))
        if count == 0 { continue }
        try Store.converting { () throws(SystemError) in
          try Store.write(piece.prefix(Int(count)), to: database, at: extent.offset)
        }
      }
    }
  }
}
