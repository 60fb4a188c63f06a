// Sections that a running transaction asks for again and again while it changes their elements:
// held and made anew, they are what a loop over the elements finds.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite(.ownThreads) struct PassingSectionsTests {
  @Test(arguments: seedsInTurn(1...4))
  func followARunningTransaction(seed: UInt64) async {
    await withSeeds(first: seed) { random in try Self.follow(&random) }
  }

  private static func follow(_ random: inout RandomGenerator) throws {
    let (realm, box) = try CutShape.makeRealm(1_300, &random)
    let shapes = CutShape.all
    var (next, asked) = (10_000, 0)
    for round in 0..<2 {
      let held = shapes.map { $0.make(realm, box) }
      realm.beginWrite()
      for step in 0..<amount(400, debug: 30) {
        // For a while the same is asked for, as loops do.
        let shape = step / 10 % shapes.count
        for _ in 0..<random.next() % 3 { CutShape.change(realm, box, held[shape], &next, &random) }
        let sections = random.next() % 6 == 0 ? shapes[shape].make(realm, box) : held[shape]
        asked += 1
        CutShape.compare(
          sections, shapes[shape].expected(realm, box, asked), &random,
          "\(shapes[shape].name) in round \(round), step \(step)")
      }
      if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      for (shape, sections) in zip(shapes, held) {
        asked += 1
        CutShape.compare(
          sections, shape.expected(realm, box, asked), &random, "\(shape.name) afterwards")
      }
    }
  }

  /// Each change of one section's first element leaves the others where they are.
  @Test func areEmptiedByTheirFirst() throws {
    var random = RandomGenerator(seed: 5)
    let (realm, _) = try CutShape.makeRealm(2_000, &random)
    let sections = realm.objects(CutPiece.self).where { $0.isOpen }.sectioned(by: \.letter)
    let expected = sections.flatMap { $0.map(\.id) }
    var taken: [Int] = []
    try realm.write {
      while let first = sections.first?.first {
        taken.append(first.id)
        first.isOpen = false
      }
    }
    #expect(taken == expected)
    #expect(sections.isEmpty)
  }

  /// What reads other objects than its own is asked for all elements, each time.
  @Test func whoLooksElsewhereIsAskedAgain() throws {
    var random = RandomGenerator(seed: 6)
    let (realm, _) = try CutShape.makeRealm(1_500, &random)
    let lot = realm.objects(CutLot.self)[0]
    let sections = realm.objects(CutPiece.self).sectioned { (piece: CutPiece) -> Int in
      realm.objects(CutLot.self)[0].rank + piece.id % 2
    }
    try realm.write {
      for rank in 0..<8 {
        lot.rank = rank
        #expect(sections.allKeys == [rank, rank + 1])
        sections[0][0].rank = 7
        #expect(sections[1].count == 750)
      }
    }
  }

  /// What begins to read other objects in mid-course is told of what these lead to from then on.
  @Test func whoBeginsToFollowLinks() throws {
    var random = RandomGenerator(seed: 12)
    let (realm, _) = try CutShape.makeRealm(1_300, &random)
    let pieces = realm.objects(CutPiece.self)
    try realm.write {
      pieces.setValue(false, forKey: "isOpen")
      for (piece, next) in zip(pieces.prefix(20), pieces.dropFirst()) { piece.next = next }
    }
    func letter(_ piece: CutPiece) -> String { piece.isOpen ? piece.next!.letter : piece.letter }
    let sections = pieces.sectioned { letter($0) }
    func compare(_ step: Int) {
      let expected = Dictionary(grouping: pieces) { letter($0) }.mapValues { $0.map(\.id) }
      #expect(Set(sections.allKeys) == Set(expected.keys), "\(step)")
      for section in sections {
        #expect(section.map(\.id) == expected[section.key], "\(step)")
      }
    }
    for round in 0..<2 {
      realm.beginWrite()
      for step in 0..<12 {
        compare(step)
        switch step % 4 {
        case 0: pieces[step].letter = "step \(step)"
        // Other links change, which nobody has read yet.
        case 1: pieces[700].next = pieces[800 + step]
        case 2: pieces[step].isOpen = true
        default: pieces[step].letter = "led to \(step)"
        }
      }
      compare(100 + round)
      if round == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      compare(200 + round)
    }
  }

  /// The next transaction begins anew, also where the one before was rolled back.
  @Test func aRolledBackTransactionLeavesNothing() throws {
    var random = RandomGenerator(seed: 7)
    let (realm, _) = try CutShape.makeRealm(1_500, &random)
    let sections = realm.objects(CutPiece.self).sectioned(by: \.letter)
    let before = sections.map { $0.map(\.id) }
    for _ in 0..<3 {
      realm.beginWrite()
      for _ in 0..<8 {
        sections[0][0].letter = "z"
        #expect(sections.allKeys.last == "z")
      }
      #expect(sections[sections.count - 1].count == 8)
      realm.cancelWrite()
      #expect(sections.map { $0.map(\.id) } == before)
    }
  }
}
