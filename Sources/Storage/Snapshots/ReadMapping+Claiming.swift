// Keeps the verified blocks of a mapping disjoint. Blocks of a sound file are; those of a hostile
// one need not be, and a place that is used again has other blocks than before.
internal import Platform

extension ReadMapping {
  /// Forgets what of a run, and into it, was verified: other blocks are about to take its place.
  ///
  /// What is verified stays disjoint by that, in a hostile file, too, whose blocks overlap or whose
  /// journal calls free what is in use: bytes that were verified as one block are not read as
  /// another. Write lock only; all of the run lies in the file.
  func claim(_ run: Run) {
    guard run.offset < UInt64(mapping.length) else { return }
    forget(run)
    forgetWhatReaches(run.offset)
  }

  /// The last verified block before an offset is enough: those before it do not reach over it.
  private func forgetWhatReaches(_ offset: UInt64) {
    guard let last = verified.last(before: offset) else { return }
    let block = base + Int(last)
    if last + UInt64(BlockHeader.blockLength(block) + blockOverhead) > offset {
      verified.clear(last)
    }
  }

  /// Forgets verified blocks that share bytes with one that is about to be verified.
  func forgetOverlapping(_ offset: UInt64, _ length: Int) {
    forget(Run(offset: offset, length: UInt64(length + blockOverhead)))
    forgetWhatReaches(offset)
  }
}
