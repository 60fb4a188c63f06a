// Free runs of one file. Owned by whoever holds the write lock; readers never see it.
//
// Runs are kept in two orders: by address, and by length with the lower address first among equals.
// Both are lists in chunks: nothing is allocated a run, and no region of the address space, however
// long, sparse or crowded, needs a table of its own.
//
// Invariants: 1 runs are disjoint, sorted and never touch (they are merged). 2 both orders hold the
// same runs. 3 `totalBytes` is the sum of all lengths.

/// The free space of a file by address and by length.
package struct FreeSpace: Sendable {
  /// A run's place in the order by length: length in units (20 bits), then offset in units (44
  /// bits).
  ///
  /// Runs of 16 MB and more share the last length and are ordered by address alone.
  private struct LengthKey: SortedElement {
    static let lengthMax: UInt64 = 1 << 20 - 1

    let key: UInt64

    init(_ run: Run) { self.init(length: run.length, offset: run.offset) }

    init(length: UInt64, offset: UInt64) {
      key = min(length >> 4, Self.lengthMax) << 44 | offset >> 4
    }

    /// In units; a lower bound for the longest runs.
    var length: UInt64 { key >> 44 }
    var offset: UInt64 { (key & (1 << 44 - 1)) << 4 }
  }

  private var byAddress = SortedChunks<Run>()
  private var byLength = SortedChunks<LengthKey>()
  /// Sum of the lengths of all runs.
  package private(set) var totalBytes: UInt64 = 0

  /// The file whose space it is, named where the file contradicts itself; nil in tests.
  package var path: String?

  package init() {}

  /// Number of runs.
  package var count: Int { byAddress.count }

  // MARK: - Changing

  /// Adds a run, merged with its neighbours.
  ///
  /// - Precondition: no byte of it is free; offset and length are multiples of 16.
  /// - Complexity: O(log n).
  package mutating func free(_ run: Run) {
    if !run.isValid { contradict(run, path, "cannot be freed") }
    let position = byAddress.position(of: run.offset)
    let before = byAddress.before(position)
    let after = byAddress.atElement(position)
    let lower = before.map { byAddress[$0] }
    let upper = after.map { byAddress[$0] }
    let isInUse =
      lower.map { $0.end <= run.offset } ?? true && upper.map { run.end <= $0.offset } ?? true
    if !isInUse { contradict(run, path, "is freed twice") }
    totalBytes += run.length

    var merged = run
    if let lower, let before, lower.end == run.offset {
      byLength.remove(key: LengthKey(lower).key)
      merged = Run(offset: lower.offset, length: lower.length + run.length)
      if let upper, let after, run.end == upper.offset {
        byLength.remove(key: LengthKey(upper).key)
        merged.length += upper.length
        // First the change that keeps positions valid.
        byAddress.replace(at: before, with: merged)
        byAddress.remove(at: after)
      } else {
        byAddress.replace(at: before, with: merged)
      }
    } else if let upper, let after, run.end == upper.offset {
      byLength.remove(key: LengthKey(upper).key)
      merged.length += upper.length
      byAddress.replace(at: after, with: merged)
    } else {
      byAddress.insert(run, at: position)
    }
    byLength.insert(LengthKey(merged))
  }

  /// Takes a run out of the free space.
  ///
  /// - Precondition: all of it is free; offset and length are multiples of 16.
  /// - Complexity: O(log n).
  package mutating func take(_ run: Run) {
    guard run.isValid, let position = position(covering: run) else {
      contradict(run, path, "is taken, but not free")
    }
    let whole = byAddress[position]
    totalBytes -= run.length
    byLength.remove(key: LengthKey(whole).key)
    let rest = Run(offset: run.end, length: whole.end - run.end)
    if whole.offset < run.offset {
      let start = Run(offset: whole.offset, length: run.offset - whole.offset)
      byAddress.replace(at: position, with: start)
      byLength.insert(LengthKey(start))
      if rest.length > 0 { byAddress.insert(rest) }
    } else if rest.length > 0 {
      byAddress.replace(at: position, with: rest)
    } else {
      byAddress.remove(at: position)
    }
    if rest.length > 0 { byLength.insert(LengthKey(rest)) }
  }

  /// Forgets everything from an offset on: the file is cut there.
  ///
  /// - Precondition: the offset is a multiple of 16.
  package mutating func removeAll(from offset: UInt64) {
    while let last = byAddress.last, byAddress[last].end > offset {
      let run = byAddress[last]
      take(run.offset < offset ? Run(offset: offset, length: run.end - offset) : run)
    }
  }

  // MARK: - Asking

  /// The shortest run of at least `length` bytes; among equals the lowest.
  ///
  /// From 16 MB on, lengths are not told apart: the lowest of those that fit.
  ///
  /// - Parameter limit: only runs whose first `length` bytes end at or below it; nil for all.
  /// - Complexity: O(log n) without a limit; with one, O(log n) for each distinct length that fits
  ///   only above it.
  package func bestFit(_ length: UInt64, below limit: UInt64?) -> Run? {
    let shortest = LengthKey(length: length + 15, offset: 0)
    var next = byLength.atElement(byLength.position(of: shortest.key))
    let offsetMax = limit.map { Int64($0) - Int64(length) } ?? Int64.max
    while let position = next {
      let candidate = byLength[position]
      if candidate.length == LengthKey.lengthMax {
        return bestFitOfLongRuns(length, offsetMax: offsetMax, from: candidate.key)
      }
      if Int64(candidate.offset) <= offsetMax {
        return Run(offset: candidate.offset, length: candidate.length << 4)
      }
      // All others of this length lie higher.
      let longer = LengthKey(length: (candidate.length + 1) << 4, offset: 0)
      next = byLength.atElement(byLength.position(of: longer.key))
    }
    return nil
  }

  private func bestFitOfLongRuns(
    _ length: UInt64, offsetMax: Int64, from key: UInt64
  ) -> Run? {
    var next = byLength.atElement(byLength.position(of: key))
    while let position = next {
      let offset = byLength[position].offset
      guard Int64(offset) <= offsetMax else { return nil }
      let run = byAddress[byAddress.position(of: offset)]
      if run.length >= length { return run }
      next = byLength.atElement(byLength.position(of: byLength[position].key + 1))
    }
    return nil
  }

  /// The run of at least `length` bytes that starts lowest.
  ///
  /// - Parameter limit: nil is the answer if its first `length` bytes end above it.
  /// - Complexity: O(n / 100), a scan of a few KB for 100,000 runs.
  package func lowestFit(_ length: UInt64, below limit: UInt64?) -> Run? {
    guard let run = byAddress.first(weighing: length) else { return nil }
    if let limit, run.offset + length > limit { return nil }
    return run
  }

  /// The run that ends at the file's end.
  package func tailRun(end: UInt64) -> Run? {
    guard let last = byAddress.last, byAddress[last].end == end else { return nil }
    return byAddress[last]
  }

  /// Whether all of a run is free.
  package func contains(_ run: Run) -> Bool { position(covering: run) != nil }

  /// Whether nothing of a run is free.
  func isDisjoint(from run: Run) -> Bool {
    let position = byAddress.position(of: run.offset)
    if let after = byAddress.atElement(position), byAddress[after].offset < run.end { return false }
    guard let before = byAddress.before(position) else { return true }
    return byAddress[before].end <= run.offset
  }

  /// Where the free runs of a part of the file begin, the first `maximum` of them.
  func offsets(from start: UInt64, maximum: Int) -> [UInt64] {
    byAddress.keys(from: start, maximum: maximum)
  }

  /// What is free of a part of the file, by address.
  ///
  /// - Complexity: O(log n) and the runs returned.
  func runs(from start: UInt64, to end: UInt64) -> [Run] {
    var found: [Run] = []
    let first = byAddress.position(of: start)
    var position = byAddress.atElement(first)
    if let before = byAddress.before(first), byAddress[before].end > start { position = before }
    while let here = position, byAddress[here].offset < end {
      found.append(byAddress[here].part(from: start, to: end))
      position = byAddress.next(here)
    }
    return found
  }

  /// All runs, by address.
  package var runs: some Sequence<Run> { byAddress.chunks.joined() }

  private func position(covering run: Run) -> SortedChunks<Run>.Position? {
    let position = byAddress.position(of: run.offset)
    if let here = byAddress.atElement(position), byAddress[here].offset == run.offset {
      return byAddress[here].end >= run.end ? here : nil
    }
    guard let before = byAddress.before(position), byAddress[before].end >= run.end else {
      return nil
    }
    return before
  }

  // MARK: - Checking

  /// What is wrong, one sentence each; empty when all invariants hold.
  package func checkInvariants() -> [String] {
    var findings = byAddress.checkInvariants().map { "free space by address: \($0)" }
    findings += byLength.checkInvariants().map { "free space by length: \($0)" }
    var previousEnd: UInt64?
    var sum: UInt64 = 0
    for run in runs {
      if !run.isValid { findings.append("free \(run) is malformed") }
      if let previousEnd, run.offset <= previousEnd {
        findings.append("free \(run) touches the one before it, which ends at \(previousEnd)")
      }
      let key = LengthKey(run).key
      let place = byLength.atElement(byLength.position(of: key))
      if place.map({ byLength[$0].key }) != key {
        findings.append("free \(run) is not found by length")
      }
      previousEnd = run.end
      sum += run.length
    }
    if sum != totalBytes { findings.append("free runs have \(sum) bytes, counted \(totalBytes)") }
    if byLength.count != byAddress.count {
      findings.append("\(byAddress.count) free runs by address, \(byLength.count) by length")
    }
    return findings
  }
}

/// Stops where space would get two owners: a bug, or a file that refers to a block more than once,
/// has blocks that overlap, or whose journal is wrong.
@inline(never)
func contradict(_ run: Run, _ path: String?, _ words: String) -> Never {
  guard let path else { preconditionFailure("\(run) \(words)") }
  stopForDamage(
    .damaged(
      path: path, block: run.offset, version: 0,
      reason: "\(run) \(words): several blocks lie there, or one is referred to more than once, or "
        + "the space journal is wrong"))
}
