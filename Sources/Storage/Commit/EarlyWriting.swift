// How sealed blocks of a large transaction reach the file before its commit: placed one after the
// other in extents of up to 4 MB, a sealed tree a write. A failure is kept until the commit,
// which then throws it: trees cannot throw in the middle of an insert.
internal import Glibc
internal import Platform

extension Store {
  /// Places the provisional blocks under `root` and queues them for writing.
  ///
  /// - Returns: the root's place; nil after a failure, which the commit will throw.
  func writeEarly(_ root: BlockReference, for transaction: WriteTransaction) -> BlockReference? {
    guard transaction.stream.failure == nil else { return nil }
    do throws(StorageError) {
      let place = try placeEarly(root, transaction)
      // Written at once: the transaction goes on reading these blocks through the mapping.
      try preparePiece(transaction)
      try writeQueued(transaction)
      forgetPlaced(transaction)
      return place
    } catch {
      transaction.stream.failure = error
      return nil
    }
  }

  /// Whether a running transaction can read what it writes early now.
  ///
  /// It goes on reading through its mapping, which is made longer by another one. Where there is no
  /// address space for that, blocks wait in memory for the commit.
  func canWriteEarly(_ transaction: WriteTransaction) -> Bool {
    let extents = UInt64(transaction.editor.provisionalBytes + 2 * EarlyWriter.extentLength)
    let end = writer!.fileLength + extents + 2 * writer!.growthStep
    let mapping = transaction.base.mapping
    return end <= UInt64(mapping.reach) || lengthen(mapping, to: end)
  }

  /// Places what is left of the transaction, extent by extent, and gives the rest of the last one
  /// back.
  ///
  /// - Returns: the root's place.
  func finishEarly(_ transaction: WriteTransaction) throws(StorageError) -> BlockReference {
    if let failure = transaction.stream.failure { throw failure }
    var root = transaction.root
    if root.isProvisional { root = try placeEarly(root, transaction) }
    try flushEarly(transaction)
    forgetPlaced(transaction)
    return root
  }

  /// From here on the blocks that were placed are read from the file.
  ///
  /// Not before all of them are there: after a failure the transaction goes on reading them in
  /// memory, until its commit throws.
  private func forgetPlaced(_ transaction: WriteTransaction) {
    for (reference, length) in transaction.stream.placed {
      transaction.editor.forget(reference, length: length)
    }
    transaction.stream.placed.removeAll(keepingCapacity: true)
  }

  private func placeEarly(
    _ reference: BlockReference, _ transaction: WriteTransaction
  ) throws(StorageError) -> BlockReference {
    let editor = transaction.editor
    let block = editor.pointer(reference)
    let isNode = BlockHeader.kind(block).isNode
    if isNode {
      for index in 0..<BlockHeader.count(block) {
        let child = BlockHeader.reference(block, index)
        if child.isProvisional { _ = try placeEarly(child, transaction) }
      }
    }
    let length = BlockHeader.blockLength(block)
    let placeLength = length + blockOverhead
    if transaction.stream.run.map({ Int($0.length) - transaction.stream.used < placeLength })
      ?? true
    {
      try flushEarly(transaction)
      try openEarly(transaction, atLeast: placeLength)
    }
    let offset = transaction.stream.run!.offset + UInt64(transaction.stream.used)
    let memory = transaction.stream.memory! + transaction.stream.used + blockOverhead
    memcpy(memory, block, length)
    let tag = BirthTag(transaction.version)
    if isNode {
      for index in 0..<BlockHeader.count(memory) {
        let child = BlockHeader.reference(memory, index)
        guard child.isProvisional else { continue }
        let place = BlockReference(offset: editor.arena.places[child.number], tag)
        BlockHeader.setReference(memory, index, place)
      }
    }
    BlockHeader.setBirth(memory, transaction.version)
    // Nobody has the reference before it is written. The run lies inside the base's reach.
    transaction.base.mapping.keep(offset, memory, length)
    seal(memory, length, at: offset)
    transaction.stream.used += placeLength
    editor.arena.places[reference.number] = offset
    transaction.stream.placed.append((reference, length))
    return BlockReference(offset: offset, tag)
  }

  private func openEarly(
    _ transaction: WriteTransaction, atLeast length: Int
  ) throws(StorageError) {
    // What is unwritten may be about to change the file's length.
    try writeDeferred(before: transaction)
    let takesPieces =
      transaction.stream.total >= EarlyWriter.pieceThreshold && writer!.shrinkThreshold == nil
    let run: Run
    transaction.stream.piece = nil
    transaction.stream.isPrepared = false
    // What is free at the file's end is the beginning of the next piece.
    if let hole = earlyHole(atLeast: length), !takesPieces || hole.end < writer!.fileLength {
      run = hole
    } else if takesPieces {
      run = try growToPiece(atLeast: length)
      let piece = run.end - EarlyWriter.pieceLength
      // The beginning of a piece may be in use already.
      if piece >= run.offset { transaction.stream.piece = piece }
    } else {
      // A file that is too long grows by no more than it must.
      run = try grow(by: writer!.shrinkThreshold == nil ? EarlyWriter.extentLength : length)
    }
    writer!.free.take(run)
    // Only the transaction's own mapping hears of what is placed there.
    let newest = mapping
    newest.claim(run, besides: transaction.taken)
    if newest !== transaction.base.mapping {
      transaction.base.mapping.claim(run, besides: transaction.taken)
    }
    transaction.stream.run = run
    transaction.stream.used = 0
    transaction.stream.written = 0
    transaction.stream.isUsed = true
    transaction.stream.total += run.length
    transaction.stream.memory =
      memory.earlyBuffer + Int(run.offset % UInt64(FileHeader.pageLength))
  }

  /// Free space at the file's end that ends with a piece.
  private func growToPiece(atLeast length: Int) throws(StorageError) -> Run {
    let file = writer!.fileLength
    let start = writer!.free.tailRun(end: file)?.offset ?? file
    let pieceLength = EarlyWriter.pieceLength
    let end = (start + UInt64(length) + pieceLength - 1) / pieceLength * pieceLength
    return try grow(by: Int(end - start))
  }

  /// Writes zeros over the piece that will be written bit by bit.
  ///
  /// What comes by one call the kernel keeps as one: it is mapped by one page fault and found by
  /// one entry of the processor's table of addresses, while what is written bit by bit takes
  /// hundreds of both.
  private func preparePiece(_ transaction: WriteTransaction) throws(StorageError) {
    guard let piece = transaction.stream.piece, !transaction.stream.isPrepared,
      let zeros = memory.emptyPiece
    else { return }
    transaction.stream.isPrepared = true
    let bytes = UnsafeRawBufferPointer(start: zeros.base, count: zeros.length)
    try writeBytes(bytes, at: piece, isCounted: false)
  }

  /// A hole for the next blocks: a quarter of an extent or more, else the longest there are.
  ///
  /// Nil while the file has little free space, or none in parts that are worth a call.
  private func earlyHole(atLeast length: Int) -> Run? {
    let longest = EarlyWriter.extentLength
    let shortest = max(length, writer!.shrinkThreshold == nil ? EarlyWriter.holeLengthMin : 0)
    var wanted = longest / 4
    while true {
      if let hole = writer!.free.bestFit(UInt64(wanted), below: writer!.shrinkThreshold) {
        return Run(offset: hole.offset, length: min(hole.length, UInt64(longest)))
      }
      if wanted <= shortest || writer!.mayGrowFreely { break }
      wanted = max(wanted / 2, shortest)
    }
    guard writer!.shrinkThreshold != nil,
      let hole = writer!.free.lowestFit(UInt64(length), below: nil)
    else { return nil }
    return Run(offset: hole.offset, length: min(hole.length, UInt64(longest)))
  }

  private func flushEarly(_ transaction: WriteTransaction) throws(StorageError) {
    guard let run = transaction.stream.run else { return }
    try writeQueued(transaction)
    let used = transaction.stream.used
    transaction.stream.run = nil
    if UInt64(used) < run.length {
      // Zeros that nothing was written over reach the disk.
      if transaction.stream.isPrepared {
        writtenBytes.add(run.length - UInt64(used), ordering: .relaxed)
      }
      writer!.release(
        Run(offset: run.offset + UInt64(used), length: run.length - UInt64(used)))
    }
    guard used > 0 else { return }
    transaction.taken.append(Run(offset: run.offset, length: UInt64(used)))
  }

  /// Writes what was placed since the last call.
  private func writeQueued(_ transaction: WriteTransaction) throws(StorageError) {
    let stream = transaction.stream
    guard let run = stream.run, stream.written < stream.used else { return }
    try writeBytes(
      UnsafeRawBufferPointer(
        start: stream.memory! + stream.written, count: stream.used - stream.written),
      at: run.offset + UInt64(stream.written))
    transaction.stream.written = stream.used
  }
}
