// How the space journal is written: deltas of single commits, parts of a checkpoint and the list of
// the parts, as numbers of variable length in units of 16 bytes. Runs ascend, each is stated as its
// distance from the end of the one before it; adjacent runs are one. Reading never trusts the
// bytes: every count, place and length is checked, and the work is bounded by the number of bytes.
//
//   runs        count, then for each: distance, length
//   delta       version, runs taken, runs dead
//   part        file length, free runs, newest death, count of kept runs, then for each: distance,
//               length, newest death - death
//   list        newest version, oldest log block, count, then for each part: its start as a distance from that
//               of the part before, newest version - version, place of its newest block or 0

/// Bytes that are no space journal.
package enum SpaceCodingError: Error, Equatable, Sendable {
  case endsEarly
  case endsLate
  case numberTooLarge(UInt64)
  case runOutsideFile
  case tooManyRuns(UInt64)
  /// Freed though it is free, or taken though it is not.
  case contradiction(Run)
}

/// What one commit did to space: first runs were taken, then runs died.
package struct SpaceDelta: Equatable, Sendable {
  package var version: Version
  /// In any order and in parts; decoded, they ascend and adjacent ones are one.
  package var taken: [Run]
  /// As `taken`; births are in the headers of the blocks.
  package var dead: [Run]

  package init(version: Version, taken: [Run], dead: [Run]) {
    self.version = version
    self.taken = taken
    self.dead = dead
  }

  /// A bound on the encoded length, close to it, without encoding.
  package var encodedLengthMax: Int {
    SpaceCoding.length(version.rawValue) + SpaceCoding.lengthMax(taken)
      + SpaceCoding.lengthMax(dead)
  }

  /// Adds the encoding to what other deltas have left there.
  ///
  /// - Precondition: no byte is in two of the taken runs, nor in two of the dead ones.
  package func append(to bytes: inout [UInt8]) {
    bytes.appendVariableLength(version.rawValue)
    bytes.appendRuns(taken)
    bytes.appendRuns(dead)
  }

  /// All deltas in a piece of journal, oldest first.
  package static func decodeAll(_ bytes: [UInt8]) throws(SpaceCodingError) -> [SpaceDelta] {
    var reader = SpaceReader(bytes)
    var deltas: [SpaceDelta] = []
    while !reader.isAtEnd {
      let version = try reader.version()
      let taken = try reader.runs()
      deltas.append(SpaceDelta(version: version, taken: taken, dead: try reader.runs()))
    }
    return deltas
  }
}

/// All free and kept runs of a part of the file, or of all of it, at one version.
package struct SpaceCheckpoint: Equatable, Sendable {
  /// Bytes that are dead but may still be seen by a pin.
  package struct Kept: Equatable, Sendable {
    package var run: Run
    package var death: Version

    package init(run: Run, death: Version) {
      self.run = run
      self.death = death
    }
  }

  package var fileLength: UInt64
  /// In any order and in parts; decoded, they ascend and adjacent ones are one.
  package var free: [Run]
  /// As `free`, but adjacent runs are one only if they died together.
  package var kept: [Kept]

  package init(fileLength: UInt64, free: [Run], kept: [Kept]) {
    self.fileLength = fileLength
    self.free = free
    self.kept = kept
  }

  /// A bound on the encoded length, close to it, without encoding.
  package var encodedLengthMax: Int {
    let newest = newestDeath
    return SpaceCoding.length(fileLength / 16) + SpaceCoding.lengthMax(free)
      + SpaceCoding.length(newest) + SpaceCoding.length(UInt64(kept.count))
      + kept.reduce(0) { sum, entry in
        sum + SpaceCoding.lengthMax(entry.run) + SpaceCoding.length(newest - entry.death.rawValue)
      }
  }

  /// The encoding.
  ///
  /// - Precondition: no byte is in two of the free runs, nor in two of the kept ones.
  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVariableLength(fileLength / 16)
    bytes.appendRuns(free)
    let newest = newestDeath
    let entries = mergedKept
    bytes.appendVariableLength(newest)
    bytes.appendVariableLength(UInt64(entries.count))
    var previous: UInt64 = 0
    for entry in entries {
      bytes.appendRun(entry.run, after: &previous)
      bytes.appendVariableLength(newest - entry.death.rawValue)
    }
    return bytes
  }

  package init(decoding bytes: [UInt8]) throws(SpaceCodingError) {
    var reader = SpaceReader(bytes)
    let units = try reader.number()
    guard units <= Run.endMax / 16 else { throw .numberTooLarge(units) }
    fileLength = units * 16
    free = try reader.runs()
    let newest = try reader.version().rawValue
    kept = []
    var previous: UInt64 = 0
    for _ in 0..<(try reader.count()) {
      let run = try reader.run(after: &previous)
      let age = try reader.number()
      guard age <= newest else { throw .numberTooLarge(age) }
      kept.append(Kept(run: run, death: Version(newest - age)))
    }
    guard reader.isAtEnd else { throw .endsLate }
  }

  private var newestDeath: UInt64 { kept.reduce(0) { max($0, $1.death.rawValue) } }

  private var mergedKept: [Kept] {
    var merged: [Kept] = []
    merged.reserveCapacity(kept.count)
    for entry in kept.sorted(by: { $0.run.offset < $1.run.offset }) {
      if let last = merged.last, last.death == entry.death, last.run.isFollowed(by: entry.run) {
        merged[merged.count - 1].run.length += entry.run.length
      } else {
        merged.append(entry)
      }
    }
    return merged
  }
}

/// Where the parts of a checkpoint are.
package struct SpacePartList: Equatable, Sendable {
  package struct Part: Equatable, Sendable {
    package var start: UInt64
    package var version: Version
    /// Offset of the newest block of its chain; 0 where all of the part was free.
    package var offset: UInt64

    package init(start: UInt64, version: Version, offset: UInt64) {
      self.start = start
      self.version = version
      self.offset = offset
    }
  }

  /// By place; the first one begins at 0.
  package var parts: [Part]
  /// Offset of the oldest log block that is still part of the journal; 0 where there was none.
  package var oldestLog: UInt64

  package init(parts: [Part], oldestLog: UInt64) {
    self.parts = parts
    self.oldestLog = oldestLog
  }

  /// A bound on the encoded length of a list.
  static func encodedLengthMax(parts: Int) -> Int { 64 + 24 * parts }

  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    let newest = parts.reduce(0) { max($0, $1.version.rawValue) }
    bytes.appendVariableLength(newest)
    bytes.appendVariableLength(oldestLog / 16)
    bytes.appendVariableLength(UInt64(parts.count))
    var previous: UInt64 = 0
    for part in parts {
      bytes.appendVariableLength((part.start - previous) / 16)
      bytes.appendVariableLength(newest - part.version.rawValue)
      bytes.appendVariableLength(part.offset / 16)
      previous = part.start
    }
    return bytes
  }

  package init(decoding bytes: [UInt8]) throws(SpaceCodingError) {
    var reader = SpaceReader(bytes)
    let newest = try reader.version().rawValue
    oldestLog = try reader.offset()
    parts = []
    var start: UInt64 = 0
    for index in 0..<(try reader.count()) {
      let distance = try reader.offset()
      guard (index == 0) == (distance == 0), distance < Run.endMax - start else {
        throw .runOutsideFile
      }
      start += distance
      let age = try reader.number()
      guard age <= newest else { throw .numberTooLarge(age) }
      parts.append(
        Part(start: start, version: Version(newest - age), offset: try reader.offset()))
    }
    guard reader.isAtEnd, !parts.isEmpty else { throw .endsLate }
  }
}

// MARK: - Numbers and runs

private enum SpaceCoding {
  /// Bytes that a number takes.
  static func length(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

  /// A distance is at most the offset, and merging never makes more bytes.
  static func lengthMax(_ run: Run) -> Int { length(run.offset / 16) + length(run.length / 16) }

  static func lengthMax(_ runs: [Run]) -> Int {
    runs.reduce(length(UInt64(runs.count))) { $0 + lengthMax($1) }
  }
}

extension [UInt8] {
  fileprivate mutating func appendRun(_ run: Run, after previous: inout UInt64) {
    precondition(run.isValid && run.offset >= previous, "\(run) cannot follow \(previous)")
    appendVariableLength((run.offset - previous) / 16)
    appendVariableLength(run.length / 16)
    previous = run.end
  }

  fileprivate mutating func appendRuns(_ runs: [Run]) {
    guard runs.isSortedAndMerged else {
      var merged = runs
      merged.sortAndMerge()
      return appendRuns(merged)
    }
    appendVariableLength(UInt64(runs.count))
    var previous: UInt64 = 0
    for run in runs { appendRun(run, after: &previous) }
  }
}

/// Reads numbers and runs with every bound checked.
private struct SpaceReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func number() throws(SpaceCodingError) -> UInt64 {
    let value = bytes.withUnsafeBytes { $0.variableLength(at: &position, end: bytes.count) }
    guard let value else { throw .endsEarly }
    return value
  }

  mutating func version() throws(SpaceCodingError) -> Version {
    let value = try number()
    // Block headers have 48 bits for it.
    guard value < 1 << 48 else { throw .numberTooLarge(value) }
    return Version(value)
  }

  /// A place in the file.
  mutating func offset() throws(SpaceCodingError) -> UInt64 {
    let units = try number()
    guard units < Run.endMax / 16 else { throw .numberTooLarge(units) }
    return units * 16
  }

  /// A number of elements of at least two bytes each.
  mutating func count() throws(SpaceCodingError) -> Int {
    let count = try number()
    guard count <= UInt64(bytes.count - position) / 2 else { throw .tooManyRuns(count) }
    return Int(count)
  }

  mutating func run(after previous: inout UInt64) throws(SpaceCodingError) -> Run {
    let distance = try number()
    let units = try number()
    let room = (Run.endMax - previous) / 16
    guard distance < room, units > 0, units <= room - distance else { throw .runOutsideFile }
    let run = Run(offset: previous + distance * 16, length: units * 16)
    previous = run.end
    return run
  }

  mutating func runs() throws(SpaceCodingError) -> [Run] {
    let count = try count()
    var runs: [Run] = []
    runs.reserveCapacity(count)
    var previous: UInt64 = 0
    for _ in 0..<count { runs.append(try run(after: &previous)) }
    return runs
  }
}
