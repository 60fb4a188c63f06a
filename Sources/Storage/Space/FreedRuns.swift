// What was freed together, before it goes to the free space: blocks that died together often lie side by
// side, though those of several columns by turns. Merged first, they cost the free space far less.

/// Runs that wait for their neighbours.
struct FreedRuns {
  /// So many rows of neighbours can grow by turns.
  private static let countMax = 8

  private var waiting: [Run] = []
  /// The next to make room.
  private var oldest = 0

  init() { waiting.reserveCapacity(Self.countMax) }

  /// Adds a run; another one may have waited long enough and is given to `release`.
  mutating func add(_ run: Run, _ release: (Run) -> Void) {
    for index in waiting.indices {
      let other = waiting[index]
      if other.end == run.offset, areTogether(other, run) {
        waiting[index].length += run.length
        return
      }
      if run.end == other.offset, areTogether(run, other) {
        waiting[index] = Run(offset: run.offset, length: run.length + other.length)
        return
      }
    }
    if waiting.count < Self.countMax {
      waiting.append(run)
      return
    }
    release(waiting[oldest])
    waiting[oldest] = run
    oldest = (oldest + 1) % Self.countMax
  }

  /// Gives all that wait to `release`.
  mutating func finish(_ release: (Run) -> Void) {
    waiting.forEach(release)
    waiting.removeAll(keepingCapacity: true)
    oldest = 0
  }

  /// What lies in a home is kept apart from the rest.
  private func areTogether(_ lower: Run, _ upper: Run) -> Bool {
    HomeSpace.contains(lower.offset) == HomeSpace.contains(upper.offset)
  }
}
