// Keeps the verified blocks of a mapping disjoint. Blocks of a sound file are; those of a hostile
// one need not be, and a place that is used again has other blocks than before.
internal import Platform

extension ReadMapping {
  /// Forgets what of a run, and into it, was verified: other blocks are about to take its place.
  ///
  /// What is verified stays disjoint by that, in a hostile file, too, whose blocks overlap or whose
  /// journal calls free what is in use: bytes that were verified as one block are not read as
  /// another. Write lock only; all of the run lies in the file.
  /// - Parameter own: the runs that the transaction has taken. What it has put there does not reach
  ///   over them, and cannot be looked at: it may not be written yet, and on a full disk there may
  ///   be no room for it.
  func claim(_ run: Run, besides own: [Run]) {
    guard run.offset < UInt64(mapping.length) else { return }
    forget(run)
    guard let last = verified.last(before: run.offset),
      !own.contains(where: { $0.offset <= last && last < $0.end })
    else { return }
    forget(last, ifReaching: run.offset)
  }

  /// The last verified block before an offset is enough: those before it do not reach over it.
  private func forgetWhatReaches(_ offset: UInt64) {
    if let last = verified.last(before: offset) { forget(last, ifReaching: offset) }
  }

  private func forget(_ block: UInt64, ifReaching offset: UInt64) {
    let length = BlockHeader.blockLength(base + Int(block))
    if block + UInt64(length + blockOverhead) > offset { verified.clear(block) }
  }

  /// Forgets verified blocks that share bytes with one that is about to be verified.
  func forgetOverlapping(_ offset: UInt64, _ length: Int) {
    forget(Run(offset: offset, length: UInt64(length + blockOverhead)))
    forgetWhatReaches(offset)
  }
}
