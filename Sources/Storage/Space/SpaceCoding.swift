// How the space journal is written: deltas of single commits and complete checkpoints, as numbers of
// variable length in units of 16 bytes, each run relative to the one before it. Reading never trusts
// the bytes: every count and every place is checked.

/// Bytes that are no space journal.
package enum SpaceCodingError: Error, Equatable, Sendable {
  case endsEarly
  case runOutsideFile
  case tooManyRuns(UInt64)
}

/// What one commit did to space: first runs were taken, then runs died.
package struct SpaceDelta: Equatable, Sendable {
  package var version: Version
  package var taken: [Run]
  package var dead: [Run]

  package init(version: Version, taken: [Run], dead: [Run]) {
    self.version = version
    self.taken = taken
    self.dead = dead
  }

  /// No encoding is longer.
  package var encodedLengthMax: Int { 24 + 12 * (taken.count + dead.count) }

  /// Adds the encoding.
  ///
  /// Adjacent runs become one.
  package func append(to bytes: inout [UInt8]) {
    bytes.appendVariableLength(version.rawValue)
    bytes.appendRuns(taken)
    bytes.appendRuns(dead)
  }

  /// All deltas in a piece of journal, oldest first.
  package static func decodeAll(_ bytes: [UInt8]) throws(SpaceCodingError) -> [SpaceDelta] {
    var reader = RunReader(bytes)
    var deltas: [SpaceDelta] = []
    while !reader.isAtEnd {
      let version = Version(try reader.number())
      let taken = try reader.runs()
      deltas.append(SpaceDelta(version: version, taken: taken, dead: try reader.runs()))
    }
    return deltas
  }
}

/// All free and kept runs at one version.
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
  package var free: [Run]
  package var kept: [Kept]

  package init(fileLength: UInt64, free: [Run], kept: [Kept]) {
    self.fileLength = fileLength
    self.free = free
    self.kept = kept
  }

  /// No encoding of so many runs is longer.
  package static func encodedLengthMax(freeRuns: Int, keptRuns: Int) -> Int {
    32 + 12 * freeRuns + 22 * keptRuns
  }

  package func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVariableLength(fileLength / 16)
    bytes.appendRuns(free)
    // Not merged: each keeps its own death.
    bytes.appendVariableLength(UInt64(kept.count))
    var previous: UInt64 = 0
    for entry in kept {
      bytes.appendRun(entry.run, after: &previous)
      bytes.appendVariableLength(entry.death.rawValue)
    }
    return bytes
  }

  package init(decoding bytes: [UInt8]) throws(SpaceCodingError) {
    var reader = RunReader(bytes)
    fileLength = try reader.number() &* 16
    free = try reader.runs()
    let count = try reader.count()
    kept = []
    var previous: UInt64 = 0
    for _ in 0..<count {
      let run = try reader.run(after: &previous)
      kept.append(Kept(run: run, death: Version(try reader.number())))
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendRun(_ run: Run, after previous: inout UInt64) {
    let step = Int64(bitPattern: run.offset / 16) - Int64(bitPattern: previous)
    appendVariableLength(UInt64(bitPattern: step << 1 ^ step >> 63))
    appendVariableLength(run.length / 16)
    previous = run.end / 16
  }

  fileprivate mutating func appendRuns(_ runs: [Run]) {
    var merged: [Run] = []
    merged.reserveCapacity(runs.count)
    for run in runs.sorted(by: { $0.offset < $1.offset }) {
      // The homes are counted apart from the data behind them.
      if let last = merged.last, last.end == run.offset, run.offset != FileHeader.dataStart {
        merged[merged.count - 1].length += run.length
      } else {
        merged.append(run)
      }
    }
    appendVariableLength(UInt64(merged.count))
    var previous: UInt64 = 0
    for run in merged { appendRun(run, after: &previous) }
  }
}

/// Reads numbers and runs with every bound checked.
private struct RunReader {
  private let bytes: [UInt8]
  private var position = 0
  /// No file is longer than this many units of 16 bytes.
  private static let unitsMax: UInt64 = 1 << 44

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func number() throws(SpaceCodingError) -> UInt64 {
    let value = bytes.withUnsafeBytes { $0.variableLength(at: &position, end: bytes.count) }
    guard let value else { throw .endsEarly }
    return value
  }

  /// A number of elements of at least two bytes each.
  mutating func count() throws(SpaceCodingError) -> Int {
    let count = try number()
    guard count <= UInt64(bytes.count - position) else { throw .tooManyRuns(count) }
    return Int(count)
  }

  mutating func run(after previous: inout UInt64) throws(SpaceCodingError) -> Run {
    let coded = try number()
    let step = UInt64(bitPattern: Int64(bitPattern: coded >> 1) ^ -Int64(bitPattern: coded & 1))
    let start = previous &+ step
    let units = try number()
    guard start < Self.unitsMax, units > 0, units < Self.unitsMax else { throw .runOutsideFile }
    previous = start + units
    return Run(offset: start * 16, length: units * 16)
  }

  mutating func runs() throws(SpaceCodingError) -> [Run] {
    let count = try count()
    var runs: [Run] = []
    var previous: UInt64 = 0
    for _ in 0..<count { runs.append(try run(after: &previous)) }
    return runs
  }
}
