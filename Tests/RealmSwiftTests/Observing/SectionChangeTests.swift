// What has happened to sections is the same, found by their borders and by the place of each
// element.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite struct SectionChangeTests {
  /// Sections of one state: their keys, and how many elements each has.
  private struct Sections {
    var keys: [Int] = []
    var counts: [Int] = []

    /// Elements in sections of some keys, in any order.
    init(_ count: Int, _ random: inout RandomGenerator) {
      var free = Array(0..<12)
      var left = count
      while left > 0 {
        let size = free.count == 1 ? left : min(left, 1 + Int(random.next(upperBound: UInt64(7))))
        keys.append(free.remove(at: Int(random.next(upperBound: UInt64(free.count)))))
        counts.append(size)
        left -= size
      }
      // Often as they were before: ascending.
      if random.next() % 2 == 0 { keys.sort() }
    }

    func shape(areListed: Bool) -> SectionShape {
      var starts = [0]
      for count in counts { starts.append(starts.last! + count) }
      var places = SectionPlaces.runs(starts)
      if areListed { places.reorder(Array(keys.indices)) }
      return SectionShape(keys.map { ValueIdentity($0) }, places)
    }
  }

  /// Some of the first positions, ascending.
  private static func some(_ count: Int, _ random: inout RandomGenerator) -> [Int] {
    let share = random.next() % 4
    return (0..<count).filter { _ in random.next() % 8 < share }
  }

  @Test func bordersTellWhatPlacesTell() async {
    await withSeeds { random in
      for _ in 0..<2_000 {
        let older = Sections(Int(random.next(upperBound: UInt64(60))), &random)
        let count = older.counts.reduce(0, +)
        let deletions = Self.some(count, &random)
        let newCount = count - deletions.count + Int(random.next(upperBound: UInt64(9)))
        let newer = Sections(newCount, &random)
        // As many are new as the count asks for, anywhere.
        var isNew = Array(repeating: false, count: newCount)
        for _ in 0..<newCount - (count - deletions.count) {
          let free = isNew.indices.filter { !isNew[$0] }
          isNew[free[Int(random.next(upperBound: UInt64(free.count)))]] = true
        }
        let change = CollectionChange(
          deletions: deletions, insertions: isNew.indices.filter { isNew[$0] },
          modifications: Self.some(newCount, &random).filter { !isNew[$0] })
        let found = [false, true].flatMap { old in
          [false, true].map { new in
            let (older, newer) = (older.shape(areListed: old), newer.shape(areListed: new))
            return SectionChange(
              from: older, to: newer, change, moved: older.moved(to: newer, change))
          }
        }
        for other in found.dropFirst() {
          #expect(other.deletions == found[0].deletions)
          #expect(other.insertions == found[0].insertions)
          #expect(other.modifications == found[0].modifications)
          #expect(other.sectionsToInsert == found[0].sectionsToInsert)
          #expect(other.sectionsToDelete == found[0].sectionsToDelete)
        }
        // Applied to the older sections, it leads to the newer ones.
        var counts = older.counts.map(Optional.some)
        for path in found[0].deletions { counts[path[0]]! -= 1 }
        for section in found[0].sectionsToDelete {
          #expect(counts[section] == 0)
          counts[section] = nil
        }
        var kept = counts.compactMap(\.self)
        for section in found[0].sectionsToInsert { kept.insert(0, at: section) }
        for path in found[0].insertions { kept[path[0]] += 1 }
        #expect(kept == newer.counts)
      }
    }
  }
}
