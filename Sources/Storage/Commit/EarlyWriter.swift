// Blocks that a large transaction has finished go to the file while it still runs, in extents of
// up to 4 MB. They are synced before the commit's record is written, which need not list them.
internal import Platform

/// The early part of one transaction.
struct EarlyWriter {
  /// Space is taken in runs of this length, so that what belongs together lies together.
  static let extentLength = 4 << 20
  /// Holes shorter than this are left to small commits, as long as the file is not too long.
  static let holeLengthMin = 64 << 10
  /// Transactions smaller than this are written at their commit, in one go.
  static let threshold = 1 << 20
  /// What the processor maps by one entry, if it came to the page cache in one piece.
  static let pieceLength: UInt64 = 2 << 20
  /// A transaction that has written so much early goes on by whole pieces: what the last one has
  /// too much is little then.
  static let pieceThreshold: UInt64 = 8 << 20

  /// The run being filled, with its memory.
  var run: Run?
  var used = 0
  /// Where the piece begins that `run` ends with.
  var piece: UInt64?
  /// Whether zeros were written over it.
  var isPrepared = false
  /// Bytes before this in `run` are in the file.
  var written = 0
  var memory: UnsafeMutableRawPointer?
  /// Blocks that have a place, and their lengths; in memory until they are in the file, too.
  var placed: [(reference: BlockReference, length: Int)] = []
  /// Whether anything was written early.
  var isUsed = false
  /// Bytes of all runs so far.
  var total: UInt64 = 0
  /// A failed write, reported by the commit.
  var failure: StorageError?
}
