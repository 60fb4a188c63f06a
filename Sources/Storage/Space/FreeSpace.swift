// Free runs of one file. Owned by whoever holds the write lock; readers never see it.
//
// Runs live in two orders. By address: regions of 1 MB of the file, each with sorted arrays of the runs
// that start in it; a run may reach past its region. By size: bins of runs of similar length (eight
// bins a power of two), in which a best fit is a short scan. Nothing is allocated a run.
//
// Invariants: 1 runs are disjoint, sorted and never touch (they are merged). 2 each run is in exactly
// the bin of its length. 3 totalBytes is the sum of all lengths.

/// The free space of a file by address and by size.
package struct FreeSpace: Sendable {
  private static let regionShift: UInt64 = 20

  /// A run and its place in the bin of its length.
  private struct Entry {
    var run: Run
    var place: Int
  }

  /// A best fit looks at this many runs of a bin, the most recently freed ones: they are warm.
  private static let candidatesMax = 48

  /// Runs that start in one region, sorted by start.
  private var regions: [[Entry]] = []
  /// Regions that hold no run are skipped by this: one bit a region.
  private var occupied = BitSet()
  private var bins: [[UInt64]] = Array(repeating: [], count: SizeBin.count)
  private var usedBins = BitSet()
  /// Sum of the lengths of all runs.
  package private(set) var totalBytes: UInt64 = 0
  /// Number of runs.
  package private(set) var count = 0

  package init() {}

  // MARK: - Changing

  /// Adds a run, merged with its neighbours.
  ///
  /// - Precondition: no byte of it is free.
  package mutating func free(_ run: Run) {
    precondition(run.length > 0 && run.offset % 16 == 0 && run.length % 16 == 0, "\(run) is odd")
    var merged = run
    if let before = self.run(before: run.offset) {
      precondition(before.end <= run.offset, "\(run) is freed twice: \(before) is free")
      if before.end == run.offset {
        remove(before)
        merged = Run(offset: before.offset, length: before.length + merged.length)
      }
    }
    if let after = self.run(from: run.offset) {
      precondition(run.end <= after.offset, "\(run) is freed twice: \(after) is free")
      if run.end == after.offset {
        remove(after)
        merged.length += after.length
      }
    }
    insert(merged)
  }

  /// Takes a run out of free space.
  ///
  /// - Precondition: all of it is free.
  package mutating func take(_ run: Run) {
    guard let whole = self.run(before: run.offset + 1), whole.end >= run.end else {
      preconditionFailure("\(run) is not free")
    }
    remove(whole)
    if whole.offset < run.offset {
      insert(Run(offset: whole.offset, length: run.offset - whole.offset))
    }
    if run.end < whole.end { insert(Run(offset: run.end, length: whole.end - run.end)) }
  }

  /// Forgets everything from an offset on: the file is cut there.
  package mutating func removeAll(from offset: UInt64) {
    while let last = lastRun, last.end > offset {
      remove(last)
      if last.offset < offset {
        insert(Run(offset: last.offset, length: offset - last.offset))
        return
      }
    }
  }

  // MARK: - Asking

  /// The shortest run of at least `length` bytes, of which `length` bytes lie below the limit.
  package func bestFit(_ length: UInt64, below limit: UInt64?) -> Run? {
    var bin = usedBins.first(from: SizeBin.index(length))
    while let current = bin {
      var best: Run?
      for offset in bins[current].suffix(limit == nil ? Self.candidatesMax : .max).reversed() {
        if let limit, offset + length > limit { continue }
        let candidate = run(at: offset)
        if candidate.length >= length, candidate.length < best?.length ?? .max {
          best = candidate
          if candidate.length == length { break }
        }
      }
      if let best { return best }
      bin = usedBins.first(from: current + 1)
    }
    return nil
  }

  /// The run of at least `length` bytes that starts lowest, if it fits below the limit.
  package func lowestFit(_ length: UInt64, below limit: UInt64?) -> Run? {
    var region = occupied.first(from: 0)
    while let current = region {
      if let limit, UInt64(current) << Self.regionShift >= limit { return nil }
      for entry in regions[current] where entry.run.length >= length {
        let run = entry.run
        if let limit, run.offset + length > limit { return nil }
        return run
      }
      region = occupied.first(from: current + 1)
    }
    return nil
  }

  /// The run that ends at the file's end.
  package func tailRun(end: UInt64) -> Run? {
    guard let last = lastRun, last.end == end else { return nil }
    return last
  }

  /// Whether all of a run is free.
  package func contains(_ run: Run) -> Bool {
    guard let whole = self.run(before: run.offset + 1) else { return false }
    return whole.end >= run.end
  }

  /// All runs, by address.
  package var runs: [Run] { regions.flatMap { $0.map(\.run) } }

  private var lastRun: Run? { occupied.last.flatMap { regions[$0].last?.run } }

  // MARK: - By address

  private static func region(_ offset: UInt64) -> Int { Int(offset >> regionShift) }

  /// Index of the first run in a region that starts at or behind the offset.
  private func index(_ region: Int, _ offset: UInt64) -> Int {
    regions[region].withUnsafeBufferPointer { runs in
      var low = 0
      var high = runs.count
      while low < high {
        let middle = (low + high) / 2
        if runs[middle].run.offset < offset { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// The last run that starts below the offset.
  private func run(before offset: UInt64) -> Run? {
    let region = min(Self.region(offset), regions.count - 1)
    guard region >= 0 else { return nil }
    let position = index(region, offset)
    if position > 0 { return regions[region][position - 1].run }
    return occupied.last(before: region).flatMap { regions[$0].last?.run }
  }

  /// The first run that starts at or behind the offset.
  private func run(from offset: UInt64) -> Run? {
    let region = Self.region(offset)
    guard region < regions.count else { return nil }
    let position = index(region, offset)
    if position < regions[region].count { return regions[region][position].run }
    return occupied.first(from: region + 1).map { regions[$0][0].run }
  }

  private func run(at offset: UInt64) -> Run {
    let region = Self.region(offset)
    return regions[region][index(region, offset)].run
  }

  private mutating func insert(_ run: Run) {
    let region = Self.region(run.offset)
    while regions.count <= region { regions.append([]) }
    let bin = SizeBin.index(run.length)
    regions[region].insert(
      Entry(run: run, place: bins[bin].count), at: index(region, run.offset))
    occupied.insert(region)
    bins[bin].append(run.offset)
    usedBins.insert(bin)
    totalBytes += run.length
    count += 1
  }

  private mutating func remove(_ run: Run) {
    let region = Self.region(run.offset)
    let place = regions[region].remove(at: index(region, run.offset)).place
    if regions[region].isEmpty { occupied.remove(region) }
    let bin = SizeBin.index(run.length)
    // The last one of the bin takes the place.
    let last = bins[bin].removeLast()
    if last != run.offset {
      bins[bin][place] = last
      let other = Self.region(last)
      regions[other][index(other, last)].place = place
    }
    if bins[bin].isEmpty { usedBins.remove(bin) }
    totalBytes -= run.length
    count -= 1
  }

  // MARK: - Checking

  /// What is wrong, one sentence each; empty when all invariants hold.
  package func checkInvariants() -> [String] {
    var findings: [String] = []
    var previousEnd: UInt64 = 0
    var sum: UInt64 = 0
    var number = 0
    for (region, entries) in regions.enumerated() {
      if entries.isEmpty == occupied.contains(region) {
        findings.append("region \(region) is misfiled")
      }
      for entry in entries {
        let run = entry.run
        if run.offset < previousEnd || (run.offset == previousEnd && number > 0) {
          findings.append("\(run) touches the run before it")
        }
        if Self.region(run.offset) != region { findings.append("\(run) is in region \(region)") }
        let bin = bins[SizeBin.index(run.length)]
        if entry.place >= bin.count || bin[entry.place] != run.offset {
          findings.append("\(run) is not in its size bin")
        }
        previousEnd = run.end
        sum += run.length
        number += 1
      }
    }
    if sum != totalBytes { findings.append("runs sum to \(sum) bytes, counted \(totalBytes)") }
    if number != count || bins.reduce(0, { $0 + $1.count }) != count {
      findings.append("\(number) runs, counted \(count)")
    }
    return findings
  }
}

/// Bins of similar lengths: eight a power of two, so a best fit scans runs within 12 % of each other.
private enum SizeBin {
  static let count = 8 * 64

  static func index(_ length: UInt64) -> Int {
    let units = max(length / 16, 1)
    if units < 8 { return Int(units) }
    let exponent = 63 - units.leadingZeroBitCount
    return (exponent - 2) * 8 + Int((units >> (UInt64(exponent) - 3)) & 7)
  }
}

/// A growing set of small numbers with fast search for the next and the previous one.
struct BitSet: Sendable {
  private var words: [UInt64] = []

  func contains(_ element: Int) -> Bool {
    element >> 6 < words.count && words[element >> 6] & (1 << UInt64(element & 63)) != 0
  }

  mutating func insert(_ element: Int) {
    while words.count <= element >> 6 { words.append(0) }
    words[element >> 6] |= 1 << UInt64(element & 63)
  }

  mutating func remove(_ element: Int) {
    if element >> 6 < words.count { words[element >> 6] &= ~(1 << UInt64(element & 63)) }
  }

  /// The lowest element that is not below `start`.
  func first(from start: Int) -> Int? {
    var word = start >> 6
    guard word < words.count else { return nil }
    var bits = words[word] & (~0 << UInt64(start & 63))
    while bits == 0 {
      word += 1
      guard word < words.count else { return nil }
      bits = words[word]
    }
    return word << 6 + bits.trailingZeroBitCount
  }

  /// The highest element below `end`.
  func last(before end: Int) -> Int? {
    guard end > 0, !words.isEmpty else { return nil }
    var word = min((end - 1) >> 6, words.count - 1)
    var bits = words[word]
    if word == (end - 1) >> 6, (end - 1) & 63 != 63 {
      bits &= 1 << UInt64(((end - 1) & 63) + 1) - 1
    }
    while bits == 0 {
      guard word > 0 else { return nil }
      word -= 1
      bits = words[word]
    }
    return word << 6 + 63 - bits.leadingZeroBitCount
  }

  var last: Int? { last(before: words.count << 6) }
}
