// Free space inside the record homes. A home starts with the record; what follows takes the blocks
// that will die with one of the next commits, so that a small commit is one extent here and one
// elsewhere. Owned by whoever holds the write lock.

/// Free runs of each home, behind the place of its record.
struct HomeSpace {
  /// Places of the homes.
  let homes: [UInt64]
  private var free: [[Run]]
  private(set) var freeBytes: UInt64
  /// See `FreeSpace`.
  var path: String?

  /// All homes empty.
  init(homes: [UInt64]) {
    self.homes = homes
    free = homes.map { [Self.area(of: $0)] }
    freeBytes = free.joined().reduce(0) { $0 + $1.length }
  }

  /// The part of a home that takes blocks.
  static func area(of home: UInt64) -> Run {
    Run(
      offset: home + UInt64(CommitRecord.lengthMax),
      length: UInt64(FileHeader.pageLength - CommitRecord.lengthMax))
  }

  /// Whether an offset lies in the zone of the homes.
  static func contains(_ offset: UInt64) -> Bool { offset < FileHeader.dataStart }

  var runs: [Run] { free.flatMap { $0 } }

  /// The longest free run of one home.
  func longestRun(home: Int) -> Run? { free[home].max { $0.length < $1.length } }

  /// Whether all of a run lies in one home and is free.
  func isFree(_ run: Run) -> Bool {
    free.joined().contains { $0.offset <= run.offset && run.end <= $0.end }
  }

  /// Whether all of a run lies in one home and nothing of it is free.
  func isTaken(_ run: Run) -> Bool {
    guard
      let home = homes.firstIndex(where: { home in
        let area = Self.area(of: home)
        return area.offset <= run.offset && run.end <= area.end
      })
    else { return false }
    return free[home].allSatisfy { $0.end <= run.offset || run.end <= $0.offset }
  }

  /// Takes a run, which must be free.
  mutating func take(_ run: Run) {
    let home = index(of: run)
    guard
      let position = free[home].firstIndex(where: { $0.offset <= run.offset && run.end <= $0.end })
    else { contradict(run, path, "of a home is taken, but not free") }
    freeBytes -= run.length
    let whole = free[home].remove(at: position)
    if run.end < whole.end {
      free[home].insert(Run(offset: run.end, length: whole.end - run.end), at: position)
    }
    if whole.offset < run.offset {
      free[home].insert(
        Run(offset: whole.offset, length: run.offset - whole.offset), at: position)
    }
  }

  /// Gives a run back, which must not be free.
  mutating func release(_ run: Run) {
    let home = index(of: run)
    freeBytes += run.length
    let position = free[home].firstIndex { $0.offset > run.offset } ?? free[home].count
    var merged = run
    if position < free[home].count {
      if run.end > free[home][position].offset { contradict(run, path, "of a home is freed twice") }
      if run.end == free[home][position].offset {
        merged = Run(offset: merged.offset, length: merged.length + free[home][position].length)
        free[home].remove(at: position)
      }
    }
    if position > 0 {
      let before = free[home][position - 1]
      if before.end > run.offset { contradict(run, path, "of a home is freed twice") }
      if before.end == run.offset {
        free[home][position - 1] = Run(
          offset: before.offset, length: before.length + merged.length)
        return
      }
    }
    free[home].insert(merged, at: position)
  }

  private func index(of run: Run) -> Int {
    guard
      let home = homes.firstIndex(where: { home in
        let area = Self.area(of: home)
        return area.offset <= run.offset && run.end <= area.end
      })
    else { contradict(run, path, "is in no home") }
    return home
  }
}
