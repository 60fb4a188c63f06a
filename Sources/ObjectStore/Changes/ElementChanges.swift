// What happened to the elements of one collection between two versions, as one walk over both: so
// many elements were kept, assigned, put in, taken out. Changes of a transaction are noted one by
// one; those of several transactions are composed exactly.

/// Changes of the elements of a list, set or map, by position.
///
/// Sets and maps are sorted: their positions follow from what is in them. Elements behind the last
/// run were kept. A move is a removal and an insertion.
package struct ElementChanges: Hashable, Sendable {
  /// What happened to elements in a row.
  package enum Kind: UInt8, Sendable {
    case kept
    /// Another or the same value was assigned.
    case modified
    case inserted
    case deleted

    /// Whether the older version has the elements.
    package var isInOld: Bool { self != .inserted }
    /// Whether the newer version has the elements.
    package var isInNew: Bool { self != .deleted }
  }

  /// Elements in a row to which the same happened.
  package struct Run: Hashable, Sendable {
    package var kind: Kind
    package var count: Int

    package init(_ kind: Kind, _ count: Int) {
      self.kind = kind
      self.count = count
    }
  }

  /// No two neighbours have one kind, none is empty, the last one is not `kept`; between two kept
  /// or modified elements deletions come before insertions.
  package private(set) var runs: [Run] = []

  package init() {}

  package var isEmpty: Bool { runs.isEmpty }

  // MARK: - Noting

  /// Elements were put in, so that the first is at `position`.
  package mutating func insert(at position: Int, count: Int = 1) {
    if count > 0 { compose([Run(.kept, position), Run(.inserted, count)]) }
  }

  /// Elements were taken out.
  package mutating func remove(_ range: Range<Int>) {
    if !range.isEmpty { compose([Run(.kept, range.lowerBound), Run(.deleted, range.count)]) }
  }

  /// An element was assigned.
  package mutating func modify(at position: Int) {
    compose([Run(.kept, position), Run(.modified, 1)])
  }

  /// An element was taken out at one place and put in so that it is at another one then.
  package mutating func move(from: Int, to: Int) {
    if from == to { return }
    remove(from..<from + 1)
    insert(at: to)
  }

  /// Adds a run behind the others, for those who compare versions.
  package mutating func append(_ kind: Kind, _ count: Int) {
    var builder = RunBuilder(runs)
    // The builder has them alone, or each call would copy them.
    runs = []
    builder.append(kind, count)
    runs = builder.runs
  }

  /// Ends appending: elements behind the last change were kept, which needs no run.
  package mutating func trim() {
    if runs.last?.kind == .kept { runs.removeLast() }
  }

  // MARK: - Composing

  /// Adds what happened after these changes.
  package mutating func merge(_ later: ElementChanges) { compose(later.runs) }

  private mutating func compose(_ later: [Run]) {
    var builder = RunBuilder([])
    builder.runs.reserveCapacity(runs.count + later.count)
    var earlier = RunCursor(runs)
    for run in later {
      var left = run.count
      if run.kind == .inserted {
        builder.append(.inserted, left)
        continue
      }
      while left > 0 {
        // What was gone already is passed over.
        if let deleted = earlier.take(all: .deleted) {
          builder.append(.deleted, deleted)
          continue
        }
        let (kind, count) = earlier.take(atMost: left)
        left -= count
        switch (kind, run.kind) {
        case (.inserted, .deleted): break
        case (_, .deleted): builder.append(.deleted, count)
        case (.kept, .modified): builder.append(.modified, count)
        default: builder.append(kind, count)
        }
      }
    }
    while let (kind, count) = earlier.takeRest() { builder.append(kind, count) }
    runs = builder.runs
    trim()
  }

  // MARK: - Reading

  /// Runs `body` on each run but the kept ones.
  ///
  /// - Parameter body: gets the position of the run's first element, or of where it was or would
  ///   be, in the older and the newer version.
  package func forEach(_ body: (_ kind: Kind, _ old: Int, _ new: Int, _ count: Int) -> Void) {
    var old = 0
    var new = 0
    for run in runs {
      if run.kind != .kept { body(run.kind, old, new, run.count) }
      if run.kind.isInOld { old += run.count }
      if run.kind.isInNew { new += run.count }
    }
  }

  /// Where elements of the older version are in the newer one; nil for those that were taken out.
  ///
  /// - Complexity: O(runs), and O(log runs) an element.
  package func newPositions(ofOld positions: [Int]) -> [Int?] {
    // Of the runs that the older version has, and of what is behind the last: where each begins,
    // and where that is in the newer one.
    var starts: [Int] = []
    var places: [Int?] = []
    var (old, new) = (0, 0)
    for run in runs {
      if run.kind.isInOld {
        starts.append(old)
        places.append(run.kind == .deleted ? nil : new)
        old += run.count
      }
      if run.kind.isInNew { new += run.count }
    }
    starts.append(old)
    places.append(new)
    return positions.map { position in
      var (run, end) = (0, starts.count)
      while end - run > 1 {
        let middle = (run + end) / 2
        if starts[middle] <= position { run = middle } else { end = middle }
      }
      return places[run].map { $0 + position - starts[run] }
    }
  }

  /// Where an element of the older version is in the newer one; nil when it was taken out.
  ///
  /// - Complexity: O(runs).
  package func newPosition(ofOld position: Int) -> Int? {
    var old = 0
    var new = 0
    for run in runs {
      if run.kind.isInOld, position < old + run.count {
        return run.kind == .deleted ? nil : new + position - old
      }
      if run.kind.isInOld { old += run.count }
      if run.kind.isInNew { new += run.count }
    }
    return new + position - old
  }
}

/// Puts runs together so that they keep the order that ElementChanges promises.
private struct RunBuilder {
  var runs: [ElementChanges.Run]

  init(_ runs: [ElementChanges.Run]) { self.runs = runs }

  mutating func append(_ kind: ElementChanges.Kind, _ count: Int) {
    if count == 0 { return }
    guard let last = runs.last else {
      runs.append(.init(kind, count))
      return
    }
    if last.kind == kind {
      runs[runs.count - 1].count += count
      return
    }
    guard kind == .deleted, last.kind == .inserted else {
      runs.append(.init(kind, count))
      return
    }
    // Deletions come before insertions.
    let before = runs.count - 2
    if before >= 0, runs[before].kind == .deleted {
      runs[before].count += count
    } else {
      runs.insert(.init(.deleted, count), at: runs.count - 1)
    }
  }
}

/// Goes through runs in parts; behind the last one everything was kept.
private struct RunCursor {
  private let runs: [ElementChanges.Run]
  private var next = 0
  /// Elements of the next run that were taken.
  private var taken = 0

  init(_ runs: [ElementChanges.Run]) { self.runs = runs }

  /// The rest of the next run if it is of a kind.
  mutating func take(all kind: ElementChanges.Kind) -> Int? {
    guard next < runs.count, runs[next].kind == kind else { return nil }
    defer {
      next += 1
      taken = 0
    }
    return runs[next].count - taken
  }

  mutating func take(atMost limit: Int) -> (kind: ElementChanges.Kind, count: Int) {
    guard next < runs.count else { return (.kept, limit) }
    let run = runs[next]
    let count = min(limit, run.count - taken)
    taken += count
    if taken == run.count {
      next += 1
      taken = 0
    }
    return (run.kind, count)
  }

  /// The rest of the next run; nil behind the last one.
  mutating func takeRest() -> (kind: ElementChanges.Kind, count: Int)? {
    guard next < runs.count else { return nil }
    defer {
      next += 1
      taken = 0
    }
    return (runs[next].kind, runs[next].count - taken)
  }
}
