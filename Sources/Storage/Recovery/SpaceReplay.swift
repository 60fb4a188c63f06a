// Space while the journal of a file is replayed. The journal's checksums have held, but it need not fit
// the file: a run that is freed twice or taken twice is an error here, not a stop as it is in FreeSpace.

/// What is free and what is kept after some deltas.
struct SpaceReplay {
  private(set) var free = FreeSpace()
  private(set) var homes: HomeSpace
  private(set) var kept = KeptRuns()

  /// A file without a checkpoint: all of it is free.
  init(homes: [UInt64], fileLength: UInt64) {
    self.homes = HomeSpace(homes: homes)
    if fileLength > FileHeader.dataStart {
      free.free(Run(offset: FileHeader.dataStart, length: fileLength - FileHeader.dataStart))
    }
  }

  /// What a checkpoint says, in a file that has become longer since.
  init(
    _ checkpoint: SpaceCheckpoint, homes: [UInt64], fileLength: UInt64
  ) throws(SpaceCodingError) {
    self.homes = HomeSpace(homes: homes)
    for home in homes { self.homes.take(HomeSpace.area(of: home)) }
    for run in checkpoint.free { try release(run) }
    for entry in checkpoint.kept {
      try release(entry.run)
      kept.insert(entry.run, death: entry.death)
    }
    if fileLength > checkpoint.fileLength {
      try release(
        Run(offset: checkpoint.fileLength, length: fileLength - checkpoint.fileLength))
    }
  }

  mutating func replay(_ delta: SpaceDelta) throws(SpaceCodingError) {
    for run in delta.taken {
      kept.remove(run)
      try take(run)
    }
    for run in delta.dead {
      kept.insert(run, death: delta.version)
      try release(run)
    }
  }

  /// Forgets what lies behind the end of the file.
  mutating func cut(to fileLength: UInt64) { free.removeAll(from: fileLength) }

  private mutating func take(_ run: Run) throws(SpaceCodingError) {
    if HomeSpace.contains(run.offset) {
      guard homes.isFree(run) else { throw .contradiction(run) }
      homes.take(run)
    } else {
      guard free.contains(run) else { throw .contradiction(run) }
      free.take(run)
    }
  }

  private mutating func release(_ run: Run) throws(SpaceCodingError) {
    if HomeSpace.contains(run.offset) {
      guard homes.isTaken(run) else { throw .contradiction(run) }
      homes.release(run)
    } else {
      guard free.isDisjoint(from: run) else { throw .contradiction(run) }
      free.free(run)
    }
  }
}

/// Dead runs with the version that killed them, while the deltas are replayed.
package struct KeptRuns {
  /// Sorted by offset; disjoint.
  package private(set) var runs: [(run: Run, death: Version)] = []

  package init() {}

  private func firstIndex(endingAfter offset: UInt64) -> Int {
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].run.end > offset { high = middle } else { low = middle + 1 }
    }
    return low
  }

  package mutating func insert(_ run: Run, death: Version) {
    remove(run)
    runs.insert((run, death), at: firstIndex(endingAfter: run.offset))
  }

  /// Forgets what lies in a run that was taken again.
  package mutating func remove(_ run: Run) {
    var index = firstIndex(endingAfter: run.offset)
    while index < runs.count, runs[index].run.offset < run.end {
      let (old, death) = runs.remove(at: index)
      if old.end > run.end {
        runs.insert((Run(offset: run.end, length: old.end - run.end), death), at: index)
      }
      if old.offset < run.offset {
        runs.insert((Run(offset: old.offset, length: run.offset - old.offset), death), at: index)
        // What the run covers behind it is looked at next.
        index += 1
      }
    }
  }
}
