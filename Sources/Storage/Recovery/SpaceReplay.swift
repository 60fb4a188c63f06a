// Space while the journal of a file is replayed. The journal's checksums have held, but it need not
// fit the file: a run that is freed twice or taken twice is an error here, not a stop as it is in
// FreeSpace.

/// What is free and what is kept after some deltas.
struct SpaceReplay {
  private(set) var free = FreeSpace()
  private(set) var homes: HomeSpace
  private(set) var kept = KeptRuns()
  /// Where parts of the checkpoint begin, and the deltas that they have already.
  private let starts: [UInt64]
  private let versions: [Version]

  /// What the parts of a checkpoint say, in a file that has become longer since.
  ///
  /// - Parameter contents: of each part; nil where all of it was free.
  init(
    _ parts: [SpacePart], _ contents: [SpaceCheckpoint?], homes: [UInt64], fileLength: UInt64
  ) throws(SpaceCodingError) {
    starts = parts.map(\.start)
    versions = parts.map(\.version)
    self.homes = HomeSpace(homes: homes)
    for home in homes { self.homes.take(HomeSpace.area(of: home)) }
    for (index, content) in contents.enumerated() {
      let start = starts[index]
      let isLast = index + 1 == starts.count
      let end = isLast ? Run.endMax : starts[index + 1]
      let known: UInt64
      if let content {
        for run in content.free where run.end > start && run.offset < end {
          try release(run.part(from: start, to: end))
        }
        for entry in content.kept where entry.run.end > start && entry.run.offset < end {
          let run = entry.run.part(from: start, to: end)
          try release(run)
          kept.insert(run, death: entry.death)
        }
        known = content.fileLength
      } else {
        known = FileHeader.dataStart
        for run in HomeSpace(homes: homes).runs where run.end > start && run.offset < end {
          try release(run.part(from: start, to: end))
        }
      }
      let first = max(start, known)
      let last = min(end, fileLength)
      // Behind the end that the file had then, all is free.
      if first < last { try release(Run(offset: first, length: last - first)) }
    }
  }

  mutating func replay(_ delta: SpaceDelta) throws(SpaceCodingError) {
    for run in delta.taken {
      for run in unknown(run, delta.version) {
        kept.remove(run)
        try take(run)
      }
    }
    for run in delta.dead {
      for run in unknown(run, delta.version) {
        kept.insert(run, death: delta.version)
        try release(run)
      }
    }
  }

  /// What of a run lies in parts that are older than a delta.
  private func unknown(_ run: Run, _ version: Version) -> [Run] {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= run.offset { low = middle } else { high = middle }
    }
    var pieces: [Run] = []
    while low < starts.count, starts[low] < run.end {
      let end = low + 1 < starts.count ? starts[low + 1] : Run.endMax
      if versions[low] < version { pieces.append(run.part(from: starts[low], to: end)) }
      low += 1
    }
    return pieces
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
  private struct Entry: SortedElement {
    let run: Run
    let death: Version
    var key: UInt64 { run.offset }
  }

  private var entries = SortedChunks<Entry>()

  package init() {}

  /// By place; disjoint, and adjacent ones are one if they died together.
  package var runs: [(run: Run, death: Version)] {
    var runs: [(run: Run, death: Version)] = []
    for entry in entries.chunks.joined() {
      if let last = runs.last, last.death == entry.death, last.run.isFollowed(by: entry.run) {
        runs[runs.count - 1].run.length += entry.run.length
      } else {
        runs.append((entry.run, entry.death))
      }
    }
    return runs
  }

  package mutating func insert(_ run: Run, death: Version) {
    remove(run)
    entries.insert(Entry(run: run, death: death))
  }

  /// Forgets what lies in a run that was taken again.
  package mutating func remove(_ run: Run) {
    while true {
      let position = entries.position(of: run.offset)
      var found = entries.atElement(position)
      if let before = entries.before(position), entries[before].run.end > run.offset {
        found = before
      }
      guard let here = found, entries[here].run.offset < run.end else { return }
      let old = entries[here]
      entries.remove(at: here)
      if old.run.offset < run.offset {
        let rest = Run(offset: old.run.offset, length: run.offset - old.run.offset)
        entries.insert(Entry(run: rest, death: old.death))
      }
      if old.run.end > run.end {
        let rest = Run(offset: run.end, length: old.run.end - run.end)
        entries.insert(Entry(run: rest, death: old.death))
      }
    }
  }
}
