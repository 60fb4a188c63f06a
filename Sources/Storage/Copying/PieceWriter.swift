// Writes the pieces of a new file on a thread of its own, so that the next one is filled meanwhile,
// and past the page cache: all of the file has to be on the disk in the end, and pages for it have
// to be found first, which takes several times as long as writing them where the machine gets its
// memory as it uses it.
internal import Platform

/// Writes to one file, in order, one piece at a time.
///
/// Belongs to one owner, who calls `end` once.
final class PieceWriter: Sendable {
  private struct Piece: @unchecked Sendable {
    // @unchecked: the bytes do not change from `write` until the next `write` or `finish` returns.
    let bytes: UnsafeRawBufferPointer
    let offset: UInt64
  }

  private struct State {
    /// What is being written, or is to be.
    var piece: Piece?
    var failure: SystemError?
    var isEnding = false
  }

  private let file: any File
  private let state: Monitor<State>
  /// Nil where the system had none to give: pieces are written at once.
  private let thread: Thread?

  init(_ file: any File) {
    self.file = file
    let state = Monitor(State())
    self.state = state
    file.bypassCache(true)
    thread = Thread.startIfPossible(name: "realm-copy") { Self.run(file, state) }
  }

  /// Waits for the piece before, and starts to write.
  ///
  /// - Parameter bytes: whole pages of memory for whole pages of the file; they must not change
  ///   until the next call has returned.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    try wait()
    if thread == nil { return try Self.write(Piece(bytes: bytes, offset: offset), to: file) }
    state.withLock { $0.piece = Piece(bytes: bytes, offset: offset) }
    state.notifyAll()
  }

  /// Waits until all pieces are written; from then on the file is written to as any other.
  func finish() throws(SystemError) {
    try wait()
    file.bypassCache(false)
  }

  /// Ends the thread.
  func end() {
    state.withLock { $0.isEnding = true }
    state.notifyAll()
    thread?.join()
  }

  private func wait() throws(SystemError) {
    let failure = state.wait(until: { $0.piece == nil }, then: { $0.failure })
    if let failure { throw failure }
  }

  private static func run(_ file: any File, _ state: Monitor<State>) {
    while let piece = state.wait(
      until: { $0.piece != nil || $0.isEnding }, then: { $0.piece })
    {
      var failure: SystemError?
      do throws(SystemError) { try write(piece, to: file) } catch { failure = error }
      state.withLock {
        $0.piece = nil
        if $0.failure == nil { $0.failure = failure }
      }
      state.notifyAll()
    }
  }

  private static func write(_ piece: Piece, to file: any File) throws(SystemError) {
    do throws(SystemError) {
      try file.write(piece.bytes, at: piece.offset)
    } catch {
      guard error.isMisaligned else { throw error }
      file.bypassCache(false)
      try file.write(piece.bytes, at: piece.offset)
    }
    // Where the page cache is not bypassed: the disk is busy with the piece while the next one is
    // filled.
    file.startWriting(piece.offset..<piece.offset + UInt64(piece.bytes.count))
  }
}
