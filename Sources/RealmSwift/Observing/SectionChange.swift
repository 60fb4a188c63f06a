// What happened to sections between two versions. Only sections that come, go or move, and elements
// that have changed, are looked at.
internal import Foundation

/// What happened to sections between two versions.
struct SectionChange {
  private(set) var deletions: [IndexPath] = []
  private(set) var insertions: [IndexPath] = []
  private(set) var modifications: [IndexPath] = []
  private(set) var sectionsToInsert = IndexSet()
  private(set) var sectionsToDelete = IndexSet()

  /// - Parameters:
  ///   - change: what happened to the elements among all.
  ///   - moved: those that stay among all and come to another section.
  /// - Complexity: O((changes + sections) x log(elements)), besides the elements of sections that
  ///   come, go or move.
  init(
    from older: SectionShape, to newer: SectionShape, _ change: CollectionChange,
    moved: [MovedElement]
  ) {
    (sectionsToDelete, sectionsToInsert) = Self.comingAndGoing(older.identities, newer.identities)
    let gone = Self.places(
      change.deletions + moved.map(\.before), in: older.places, andOf: sectionsToDelete)
    let new = Self.places(
      change.insertions + moved.map(\.after), in: newer.places, andOf: sectionsToInsert)
    let elsewhere = Set(moved.map(\.after))
    let changed = change.modifications.filter { !elsewhere.contains($0) }
      .map { newer.places.place(of: $0) }.filter { !sectionsToInsert.contains($0.section) }
    deletions = gone.map(\.path)
    insertions = new.map(\.path)
    modifications = changed.sorted().map(\.path)
  }

  /// The places of some elements, and of all those of some sections, ascending.
  private static func places(
    _ positions: [Int], in places: SectionPlaces, andOf sections: IndexSet
  ) -> [SectionPlace] {
    var found = positions.map { places.place(of: $0) }
    if !sections.isEmpty {
      found.removeAll { sections.contains($0.section) }
      for section in sections {
        for item in 0..<places[section].count {
          found.append(SectionPlace(section: section, item: item))
        }
      }
    }
    return found.sorted()
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

  /// The sections that go, and those that come: the fewest, if those that stay are in the same
  /// order in both.
  private static func comingAndGoing(
    _ older: SharedParts<ValueIdentity>, _ newer: SharedParts<ValueIdentity>
  ) -> (going: IndexSet, coming: IndexSet) {
    // Mostly few come or go, and those around them stay.
    let (first, last) = older.shared(with: newer, ==)
    let (middle, newMiddle) = (first..<older.count - last, first..<newer.count - last)
    let positions = Dictionary(uniqueKeysWithValues: newMiddle.map { (newer[$0], $0) })
    let places = middle.map { positions[older[$0]] }
    var (going, coming) = (IndexSet(integersIn: middle), IndexSet(integersIn: newMiddle))
    for (section, (place, isStaying)) in zip(middle, zip(places, LongestAscent.of(places)))
    where isStaying {
      going.remove(section)
      coming.remove(place!)
    }
    return (going, coming)
  }
}

extension SectionPlace {
  fileprivate var path: IndexPath { [section, item] }
}
