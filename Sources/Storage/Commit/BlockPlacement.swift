// Step 4 of a commit: every new block gets a place. Blocks that replace a young one will die young
// again, so they go to the home, behind the record ("hot"); the rest goes together into one run of
// free space if there is one ("cold"), else in halves, else the file grows.
// docs/decisions/0003 says why.
internal import Glibc
internal import Platform

extension Store {
  /// A block whose previous copy lived no longer than this many versions is hot.
  static let youngVersions: UInt64 = 8

  /// Places the provisional blocks under `root`.
  ///
  /// - Returns: the root's place.
  func place(
    _ root: BlockReference, of transaction: WriteTransaction, home: Int,
    into placement: inout Placement
  ) throws(StorageError) -> BlockReference {
    // Asked for once: each use of a reference through another one is counted.
    let writer = writer!
    let editor = transaction.editor
    let arena = editor.arena
    collect(root, editor, version: transaction.version, into: &placement.order)
    let order = placement.order
    var hot = 0
    var cold = 0
    for block in order { if block.isHot { hot += block.length } else { cold += block.length } }
    // Hot blocks that do not fit into the home are placed with the cold ones.
    let homeRun = writer.homes.longestRun(home: home)
    let fitsHome = hot > 0 && hot <= Int(homeRun?.length ?? 0)
    if let homeRun, fitsHome {
      let run = Run(offset: homeRun.offset, length: UInt64(hot))
      writer.homes.take(run)
      transaction.taken.append(run)
      claim(run, transaction)
      placement.open(run)
      for block in order where block.isHot {
        copy(block, placement.take(block.length)!, arena)
      }
    }
    var rest = fitsHome ? cold : cold + hot
    var alone: Set<Int> = []
    if let threshold = writer.shrinkThreshold {
      let extentsMax = writer.extentsOfTheirOwn
      // The longest first: what is left of their holes is long enough for others.
      let long = order.filter { $0.length >= Self.longBlock && !(fitsHome && $0.isHot) }
      for block in long.sorted(by: { $0.length > $1.length }) where alone.count < extentsMax {
        let length = UInt64(block.length)
        guard let hole = writer.free.bestFit(length, below: threshold) else { continue }
        alone.insert(block.number)
        rest -= block.length
        take(Run(offset: hole.offset, length: length), transaction, &placement)
        copy(block, placement.take(block.length)!, arena)
      }
    }
    for block in order where !(fitsHome && block.isHot) && !alone.contains(block.number) {
      if placement.filling.isEmpty || placement.rest < block.length || isHomeFilling(placement) {
        try openRun(rest: rest, next: block.length, transaction, &placement)
      }
      copy(block, placement.take(block.length)!, arena)
      rest -= block.length
    }
    // Only now every block has its place: patch, date and seal them.
    let mapping = self.mapping
    let tag = BirthTag(transaction.version)
    for block in order {
      finish(block, transaction.version, tag, arena, mapping, isDeferring: writer.isDeferring)
    }
    returnRest(of: placement, transaction)
    return BlockReference(offset: arena.places[root.number], tag)
  }

  /// From here on a block gets a hole of its own while the file is too long.
  ///
  /// Units that begin wherever there is room would leave no hole below the threshold for long
  /// blocks, so that those keep the file long.
  private static let longBlock = 512

  private func isHomeFilling(_ placement: borrowing Placement) -> Bool {
    HomeSpace.contains(placement.filling[placement.filling.count - 1].offset)
  }

  /// Provisional blocks under a reference, children before parents.
  private func collect(
    _ reference: BlockReference, _ editor: BlockEditor, version: Version,
    into order: inout [Placement.Block]
  ) {
    let block = editor.pointer(reference)
    if BlockHeader.kind(block).isNode {
      for index in 0..<BlockHeader.count(block) {
        let child = BlockHeader.reference(block, index)
        if child.isProvisional { collect(child, editor, version: version, into: &order) }
      }
    }
    let number = reference.number
    let previous = editor.arena.previousBirth(number).rawValue
    let isHot = previous != 0 && version.rawValue - previous <= Self.youngVersions
    let length = BlockHeader.blockLength(block) + editor.blockOverhead
    order.append(Placement.Block(number: number, length: length, isHot: isHot))
  }

  private func copy(
    _ placed: Placement.Block, _ place: (offset: UInt64, memory: UnsafeMutableRawPointer),
    _ arena: ProvisionalArena
  ) {
    let block = place.memory + blockOverhead
    memcpy(block, arena.table[placed.number], placed.length - blockOverhead)
    arena.places[placed.number] = place.offset
    // From here on the block is found where it will be written from.
    arena.table[placed.number] = block
  }

  /// Replaces provisional references by places, then sets the birth and seals the block.
  ///
  /// The block's content is not to be read there any more.
  private func finish(
    _ placed: Placement.Block, _ version: Version, _ tag: BirthTag, _ arena: ProvisionalArena,
    _ mapping: ReadMapping, isDeferring: Bool
  ) {
    let (number, length) = (placed.number, placed.length)
    let block = arena.table[number]
    if BlockHeader.kind(block).isNode {
      for index in 0..<BlockHeader.count(block) {
        let child = BlockHeader.reference(block, index)
        if child.isProvisional {
          let place = BlockReference(offset: arena.places[child.number], tag)
          BlockHeader.setReference(block, index, place)
        }
      }
    }
    let offset = arena.places[number]
    BlockHeader.setBirth(block, version)
    // Before it is encrypted.
    if isDeferring {
      mapping.keepUnwritten(offset, block, length - blockOverhead)
    } else {
      mapping.keep(offset, block, length - blockOverhead)
    }
    seal(block, length - blockOverhead, at: offset)
    #if PLANTED_BUGS
      if PlantedBug.staleChecksum.strikes(everyCalls: 100) {
        BlockHeader.setBirth(block, Version(version.rawValue - 1))
      }
    #endif
  }

  /// Gives a block that is to be written its checksum, or encrypts it.
  func seal(_ block: UnsafeMutableRawPointer, _ length: Int, at offset: UInt64) {
    if let cipher {
      cipher.seal(block, length, at: offset)
    } else {
      BlockHeader.setChecksum(
        block,
        BlockHeader.expectedChecksum(block, length: length, at: offset, salt: header.salt))
    }
  }

  /// Opens the run for the next blocks: whole if some hole takes all of them, else halves of it,
  /// down to the next block alone; only then the file grows.
  func openRun(
    rest: Int, next: Int, _ transaction: WriteTransaction, _ placement: inout Placement
  ) throws(StorageError) {
    if !placement.filling.isEmpty, !isHomeFilling(placement) {
      returnRest(of: placement, transaction)
    }
    var wanted = rest
    while true {
      if let hole = writer!.free.bestFit(UInt64(wanted), below: writer!.shrinkThreshold) {
        take(
          Run(offset: hole.offset, length: min(hole.length, UInt64(rest))), transaction, &placement)
        return
      }
      if wanted == next || writer!.mayGrowFreely { break }
      wanted = max((wanted / 2 + 15) & ~15, next)
    }
    if writer!.shrinkThreshold != nil, let hole = writer!.free.lowestFit(UInt64(next), below: nil) {
      take(
        Run(offset: hole.offset, length: min(hole.length, UInt64(rest))), transaction, &placement)
      return
    }
    let run = try grow(by: rest)
    take(Run(offset: run.offset, length: UInt64(rest)), transaction, &placement)
  }

  private func take(
    _ run: Run, _ transaction: WriteTransaction, _ placement: inout Placement
  ) {
    writer!.free.take(run)
    transaction.taken.append(run)
    claim(run, transaction)
    placement.open(run)
  }

  /// What was verified in a run is not what will be there.
  private func claim(_ run: Run, _ transaction: WriteTransaction) {
    // What is deferred may lie behind the end that the file has until then.
    if writer!.isDeferring {
      mapping.forget(run)
    } else {
      mapping.claim(run, besides: transaction.taken)
    }
  }

  /// Gives back what the newest extent has left.
  func returnRest(of placement: borrowing Placement, _ transaction: WriteTransaction) {
    guard placement.rest > 0, let filling = placement.filling.last else { return }
    let run = Run(
      offset: filling.offset + UInt64(filling.used), length: UInt64(filling.length - filling.used))
    trim(run, transaction)
  }

  /// Gives back the end of the run that was taken last.
  func trim(_ rest: Run, _ transaction: WriteTransaction) {
    guard let last = transaction.taken.last, last.end == rest.end else { return }
    transaction.taken.removeLast()
    if rest.offset > last.offset {
      transaction.taken.append(Run(offset: last.offset, length: rest.offset - last.offset))
    }
    if !PlantedBug.freeSpaceLost.isActive { writer!.release(rest) }
  }

  /// Tells the file how long it has to be.
  func setLength(_ length: UInt64) throws(StorageError) {
    do throws(SystemError) {
      try file.setLength(length)
    } catch {
      throw error.isOutOfSpace ? .diskFull(error) : .system(error)
    }
    writer!.lengthInFile = length
  }

  /// Makes the file longer and its new end free.
  ///
  /// - Returns: free space of at least `length` bytes at the end of the file.
  func grow(by length: Int) throws(StorageError) -> Run {
    let old = writer!.fileLength
    let tail = writer!.free.tailRun(end: old)
    let missing = UInt64(length) - min(UInt64(length), tail?.length ?? 0)
    let page = UInt64(FileHeader.pageLength)
    let new = (old + max(missing, writer!.growthStep) + page - 1) / page * page
    guard new <= BlockReference.offsetEnd else {
      throw .diskFull(SystemError(call: "ftruncate", path: path, code: SystemError.fileTooLarge))
    }
    if !writer!.isDeferring { try setLength(new) }
    writer!.free.free(Run(offset: old, length: new - old))
    writer!.fileLength = new
    return Run(offset: tail?.offset ?? old, length: UInt64(length))
  }
}

extension WriterState {
  /// How many extents a commit may spend on blocks in holes of their own.
  ///
  /// The more, the longer the file is than it need be, since each is a write of its own.
  /// docs/decisions/0023 has the figures.
  fileprivate var extentsOfTheirOwn: Int {
    let visible = max(1, Double(visibleBytes))
    return max(4, Int(500 * (Double(fileLength) / visible - 1.04)))
  }

  /// The file grows by this much at a time.
  var growthStep: UInt64 { min(max(fileLength / 128 / 4096 * 4096, 64 << 10), 4 << 20) }

  /// Fresh space may be used while free space is scarce: contiguous beats recycled then.
  var mayGrowFreely: Bool {
    shrinkThreshold == nil && Double(fileLength + growthStep) <= 1.05 * Double(visibleBytes)
  }
}
