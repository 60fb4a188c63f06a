// Memory that only writing needs. A store makes it at its first write, so that readers open faster.
internal import Platform

/// Memory of the running transaction; whoever holds the write lock uses it.
final class WriterMemory {
  /// Changed and new blocks.
  let arena = ProvisionalArena()
  /// Blocks of a small transaction as they are written.
  let buffer = Placement.makeBuffer()
  /// Blocks of a large transaction as they are written early.
  let earlyBuffer = Placement.makeBuffer()

  /// Zeros for a whole piece of the file; never written to, so that they take no memory.
  private(set) lazy var emptyPiece = try? AnonymousMemory(length: Int(EarlyWriter.pieceLength))

  /// Nil when each write has to be a call.
  let overwriting: OverwriteMap?

  init(overwriting: OverwriteMap?) { self.overwriting = overwriting }

  deinit {
    buffer.deallocate()
    earlyBuffer.deallocate()
  }
}
