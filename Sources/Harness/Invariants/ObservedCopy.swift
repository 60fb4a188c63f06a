// I8: an observer keeps a copy of what it observes and changes it only by what it is told. After
// each call the copy has to be what the engine shows. Knows no engine.

/// One observer's copy.
package struct ObservedCopy {
  private struct Entry: Equatable {
    var id: Int
    var stamp: Int
    var digest: UInt64
  }

  private var entries: [Entry] = []
  /// Whether the first call has come.
  private var hasBegun = false
  /// The largest stamp of the objects that the last call was about.
  package private(set) var newestStamp = 0
  private var row = Row()

  package init() {}

  private mutating func entry(_ content: any ObservedContent, _ position: Int) -> Entry {
    content.read(position, into: &row)
    newestStamp = max(newestStamp, row.stamp)
    return Entry(id: row.id, stamp: row.stamp, digest: row.digest)
  }

  /// Changes the copy as an observer is told; the violation if that cannot be, or gives something
  /// else than the content.
  package mutating func apply(
    _ change: ObservedChange, _ content: any ObservedContent, place: String
  ) -> Violation? {
    newestStamp = 0
    if change.isFirst != !hasBegun {
      return violation(
        hasBegun ? "A second first call came." : "The first call is missing.", content, place)
    }
    hasBegun = true
    if change.isFirst {
      entries = (0..<content.count).map { entry(content, $0) }
      return nil
    }
    for (name, positions, limit) in [
      ("deletions", change.deletions, entries.count),
      ("insertions", change.insertions, content.count),
      ("modifications", change.modifications, content.count),
    ] where !Self.isSorted(positions, below: limit) {
      return violation("The \(name) \(positions) are no positions.", content, place)
    }
    for position in change.deletions.reversed() { entries.remove(at: position) }
    for position in change.insertions {
      if position > entries.count {
        return violation("Position \(position) is inserted behind the end.", content, place)
      }
      entries.insert(entry(content, position), at: position)
    }
    for position in change.modifications {
      if position >= entries.count {
        return violation("Position \(position) is modified behind the end.", content, place)
      }
      entries[position] = entry(content, position)
    }
    let newest = newestStamp
    defer { newestStamp = newest }
    return compare(content, place: place)
  }

  /// The violation if the content is not the copy, or nothing was ever told.
  package mutating func compare(_ content: any ObservedContent, place: String) -> Violation? {
    if !hasBegun { return violation("The first call is missing.", content, place) }
    if content.count != entries.count {
      return violation(
        "What was told gives \(entries.count) objects, there are \(content.count).", content, place)
    }
    for position in entries.indices {
      let known = entries[position]
      let seen = entry(content, position)
      if known == seen { continue }
      return violation(
        "What was told gives another object at position \(position).", content, place,
        [
          "told: object \(known.id) as of transaction \(known.stamp)",
          "seen: object \(seen.id) as of transaction \(seen.stamp)",
        ])
    }
    return nil
  }

  private static func isSorted(_ positions: [Int], below limit: Int) -> Bool {
    zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }
      && (positions.first ?? 0) >= 0 && (positions.last ?? -1) < limit
  }

  private func violation(
    _ sentence: String, _ content: any ObservedContent, _ place: String, _ more: [String] = []
  ) -> Violation {
    Violation(.exactChanges, sentence, witness: ["\(place), version \(content.version)"] + more)
  }
}
