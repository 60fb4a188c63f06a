// Memory that only writing needs. A store makes it at its first write, so that readers open faster.
internal import Platform

/// Memory of the running transaction; whoever holds the write lock uses it.
final class WriterMemory {
  /// Changed and new blocks.
  let arena: ProvisionalArena
  /// Where the blocks of a small transaction go, and they themselves as they are written.
  ///
  /// Empty between commits; one for all, so that no commit has to allocate its lists.
  // Unchecked exclusivity: it has no accessor but the running commit.
  @exclusivity(unchecked) var placement = Placement()
  /// Blocks of a large transaction as they are written early.
  let earlyBuffer = Placement.makeBuffer()

  /// Zeros for a whole piece of the file; never written to, so that they take no memory.
  private(set) lazy var emptyPiece = try? AnonymousMemory(length: Int(EarlyWriter.pieceLength))

  /// Nil when each write has to be a call.
  let overwriting: OverwriteMap?

  init(_ arena: ProvisionalArena, overwriting: OverwriteMap?) {
    self.arena = arena
    self.overwriting = overwriting
  }

  deinit { earlyBuffer.deallocate() }
}
