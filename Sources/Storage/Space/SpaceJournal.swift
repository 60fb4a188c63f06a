// What the file itself remembers about space, as its writer knows it: where the parts of the
// checkpoint, the list of these parts and the log blocks are, and what the next of each will be.
// How they are coded is in SpaceCoding.swift, how they are written in SpaceRecording.swift.
//
// A checkpoint of the whole file at once would cost what all pins together keep, in the middle of
// one commit. So each part of it is of a version of its own, and one part is written anew from time
// to time: the log has the deltas of all commits after the oldest part.
internal import Platform

/// What is free and what is kept in one part of the file, at one version.
struct SpacePart {
  /// Where the part begins; it ends where the next one does, the last one nowhere.
  var start: UInt64
  /// The newest commit whose delta is in it.
  let version: Version
  /// The newest block of the chain that says so; none where all of the part was free.
  let reference: BlockReference
  let blocks: [BlockEditor.DeadBlock]

  /// All of a new file.
  static let whole = SpacePart(start: 0, version: Version(0), reference: .none, blocks: [])
}

/// How often parts of the space journal are written, and how long they are; tests make it turn over
/// faster.
package struct JournalPace: Sendable {
  /// A log shorter than this is kept.
  package var logBytesMin = 64 << 10
  /// A part has at least so many runs, where the file has them.
  package var runsMin = 256

  package init(logBytesMin: Int = 64 << 10, runsMin: Int = 256) {
    self.logBytesMin = logBytesMin
    self.runsMin = runsMin
  }

  /// Runs that go to one part of so many in all: neither a part nor the list of parts becomes long.
  func runsPerPart(of count: Int) -> Int { max(runsMin, Int(Double(count).squareRoot())) }
}

/// The space journal: parts of a checkpoint, log blocks behind them, and the deltas that the newest
/// record carries.
struct SpaceJournal {
  /// Deltas of so many commits travel in the record before they go to a log block.
  static let commitsPerLogBlock = 16
  /// Bytes that a run takes in a part, about.
  private static let bytesPerRun = 4

  /// By place; the first one begins at 0.
  var parts = [SpacePart.whole]
  /// The newest block of the chain that lists the parts; none while there is only the one of a new
  /// file.
  var list = BlockReference.none
  var listBlocks: [BlockEditor.DeadBlock] = []
  var log = BlockReference.none
  /// Oldest first.
  var logBlocks: [BlockEditor.DeadBlock] = []
  /// A complete checkpoint as older formats have it; the next commit replaces it.
  var formerCheckpoint: [BlockEditor.DeadBlock] = []
  /// Where the next part to be written begins.
  var cursor: UInt64 = 0
  /// Bytes of log written since the last part.
  var logBytesSincePart = 0
  /// Encoded deltas since the newest log block.
  var deltas: [UInt8] = []
  var deltaCommits = 0

  /// All blocks of it.
  var blocks: [BlockEditor.DeadBlock] {
    parts.flatMap(\.blocks) + listBlocks + logBlocks + formerCheckpoint
  }

  var bytes: UInt64 { blocks.reduce(0) { $0 + UInt64($1.length) } }

  /// Deltas of commits up to here need not be replayed.
  var oldestPart: Version { parts.reduce(parts[0].version) { min($0, $1.version) } }

  /// Whether the log has grown enough for the next part.
  ///
  /// When all parts were written once, the log is about as long as they are together, or
  /// `logBytesMin`.
  func isPartDue(logBytes: Int, runs: Int, _ pace: JournalPace) -> Bool {
    let perPart = max(
      pace.logBytesMin / parts.count, Self.bytesPerRun * pace.runsPerPart(of: runs))
    return logBytesSincePart + logBytes > perPart
  }

  /// Puts new parts in the place of those between two offsets.
  ///
  /// - Parameter end: where the last of the new ones ends, which may be inside of an old one.
  /// - Returns: the blocks that are no longer part of the journal.
  mutating func replaceParts(
    from start: UInt64, to end: UInt64, with new: [SpacePart]
  ) -> [BlockEditor.DeadBlock] {
    guard let first = parts.firstIndex(where: { $0.start == start }) else {
      preconditionFailure("no part of the space journal begins at \(start)")
    }
    var behind = parts.firstIndex { $0.start >= end } ?? parts.count
    let isDivided = behind == parts.count ? end < Run.endMax : parts[behind].start > end
    if isDivided {
      behind -= 1
      parts[behind].start = end
    }
    let given = parts[first..<behind].flatMap(\.blocks)
    parts.replaceSubrange(first..<behind, with: new)
    return given
  }

  /// Forgets the log blocks that no part needs any more.
  ///
  /// - Returns: these blocks.
  mutating func dropLog() -> [BlockEditor.DeadBlock] {
    let oldest = oldestPart
    var count = logBlocks.firstIndex { $0.birth > oldest } ?? logBlocks.count
    if PlantedBug.logDroppedEarly.isActive { count = min(count + 1, logBlocks.count) }
    defer { logBlocks.removeFirst(count) }
    return Array(logBlocks[..<count])
  }
}
