// Sections as their observers know them, and what happened to them between two versions. Of
// sections that lie one after the other only their borders and what has changed are looked at.
internal import Foundation

/// Which sections there are, and where in them each element of the results is.
final class SectionShape {
  let keys: [ValueIdentity]
  /// Elements of all sections.
  let count: Int
  private let layout: Layout

  private enum Layout {
    /// One section after the other: where each begins, and where the last one ends.
    case runs([Int])
    /// The place of each element, by its position among all.
    case places([Place])
  }

  struct Place: Comparable {
    var section: Int
    var item: Int

    var path: IndexPath { [section, item] }

    static func < (left: Place, right: Place) -> Bool {
      (left.section, left.item) < (right.section, right.item)
    }
  }

  init(_ keys: [ValueIdentity], _ places: SectionPlaces) {
    self.keys = keys
    switch places {
    case .runs(let starts):
      layout = .runs(starts)
      count = starts[starts.count - 1]
    case .listed(let sections):
      count = sections.reduce(0) { $0 + $1.count }
      var places = Array(repeating: Place(section: 0, item: 0), count: count)
      for (section, positions) in sections.enumerated() {
        for (item, position) in positions.enumerated() {
          places[position] = Place(section: section, item: item)
        }
      }
      layout = .places(places)
    }
  }

  /// The place of an element.
  subscript(position: Int) -> Place {
    switch layout {
    case .runs(let starts):
      let section = starts.lowerBound { $0 <= position } - 1
      return Place(section: section, item: position - starts[section])
    case .places(let places): return places[position]
    }
  }

  /// The section of an element, and up to where the elements behind it are known to be in it too.
  ///
  /// - Parameter section: that of an element before it, or 0.
  func stretch(at position: Int, behind section: Int) -> (section: Int, end: Int) {
    switch layout {
    case .runs(let starts):
      var section = section
      while starts[section + 1] <= position { section += 1 }
      return (section, starts[section + 1])
    case .places(let places): return (places[position].section, position + 1)
    }
  }
}

/// What happened to sections between two versions.
struct SectionChange {
  private(set) var deletions: [IndexPath] = []
  private(set) var insertions: [IndexPath] = []
  private(set) var modifications: [IndexPath] = []
  private(set) var sectionsToInsert = IndexSet()
  private(set) var sectionsToDelete = IndexSet()

  /// - Parameter change: what happened to the elements among all.
  /// - Complexity: O(changes + sections) for sections that lie one after the other, else
  ///   O(elements).
  init(from older: SectionShape, to newer: SectionShape, _ change: CollectionChange) {
    let stayingAt = Self.staying(older.keys, newer.keys)
    for (section, place) in stayingAt.enumerated() where place == nil {
      sectionsToDelete.insert(section)
    }
    var isNew = Array(repeating: true, count: newer.keys.count)
    for case let place? in stayingAt { isNew[place] = false }
    for (section, isNew) in isNew.enumerated() where isNew { sectionsToInsert.insert(section) }
    var gone = change.deletions.map { older[$0] }
    var new = change.insertions.map { newer[$0] }
    var changed: [SectionShape.Place] = []
    // Those that are neither gone nor new are in the same order in both.
    var (before, after) = (0, 0)
    var (section, newSection) = (0, 0)
    var (nextGone, nextNew, nextChanged) = (0, 0, 0)
    while true {
      while nextGone < change.deletions.count, change.deletions[nextGone] == before {
        (before, nextGone) = (before + 1, nextGone + 1)
      }
      while nextNew < change.insertions.count, change.insertions[nextNew] == after {
        (after, nextNew) = (after + 1, nextNew + 1)
      }
      guard before < older.count, after < newer.count else { break }
      let (end, newEnd): (Int, Int)
      (section, end) = older.stretch(at: before, behind: section)
      (newSection, newEnd) = newer.stretch(at: after, behind: newSection)
      var length = min(end - before, newEnd - after)
      if nextGone < change.deletions.count {
        length = min(length, change.deletions[nextGone] - before)
      }
      if nextNew < change.insertions.count {
        length = min(length, change.insertions[nextNew] - after)
      }
      let stays = stayingAt[section] == newSection
      if !stays {
        for offset in 0..<length {
          gone.append(older[before + offset])
          new.append(newer[after + offset])
        }
      }
      while nextChanged < change.modifications.count,
        change.modifications[nextChanged] < after + length
      {
        let position = change.modifications[nextChanged]
        if stays, position >= after { changed.append(newer[position]) }
        nextChanged += 1
      }
      (before, after) = (before + length, after + length)
    }
    deletions = gone.sorted().map(\.path)
    insertions = new.sorted().map(\.path)
    modifications = changed.sorted().map(\.path)
  }

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
      && sectionsToDelete.isEmpty
  }

  /// Leaves out all but one section, given where it was and is.
  mutating func keep(_ older: Int?, _ newer: Int?) {
    deletions.removeAll { $0[0] != older }
    insertions.removeAll { $0[0] != newer }
    modifications.removeAll { $0[0] != newer }
    sectionsToDelete.formIntersection(IndexSet(older.map { [$0] } ?? []))
    sectionsToInsert.formIntersection(IndexSet(newer.map { [$0] } ?? []))
  }

  /// Where each section is now: of the most that are in the same order in both.
  private static func staying(_ older: [ValueIdentity], _ newer: [ValueIdentity]) -> [Int?] {
    // Mostly few come or go, and those around them stay.
    let shared = min(older.count, newer.count)
    let first = (0..<shared).first { older[$0] != newer[$0] } ?? shared
    let last =
      (0..<shared - first).first { older[older.count - 1 - $0] != newer[newer.count - 1 - $0] }
      ?? shared - first
    var staying: [Int?] = Array(0..<first)
    let (middle, newMiddle) = (first..<older.count - last, first..<newer.count - last)
    let positions = Dictionary(
      uniqueKeysWithValues: newer[newMiddle].enumerated().map { ($1, first + $0) })
    let places = older[middle].map { positions[$0] }
    for (place, isStaying) in zip(places, LongestAscent.of(places)) {
      staying.append(isStaying ? place : nil)
    }
    staying += (newer.count - last..<newer.count).map { $0 }
    return staying
  }
}
