// Sections that are held through commits of their own Realm and of others, compared with what a
// loop over their elements finds.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite(.ownThreads) struct HeldSectionsTests {
  @Test(arguments: seedsInTurn(1...3))
  func areWhatALoopFinds(seed: UInt64) async {
    await withSeeds(first: seed) { random in try Self.follow(&random) }
  }

  private static func follow(_ random: inout RandomGenerator) throws {
    let (realm, box) = try CutShape.makeRealm(1_300, &random)
    let shapes = CutShape.all
    let held = shapes.map { $0.make(realm, box) }
    var (next, asked) = (10_000, 0)
    func check(_ what: String) {
      for (shape, sections) in zip(shapes, held) where random.next() % 3 > 0 {
        asked += 1
        CutShape.compare(
          sections, shape.expected(realm, box, asked), &random, "\(shape.name) \(what)")
      }
    }
    for round in 0..<amount(150, debug: 14) {
      let sections = held[Int(random.next() % UInt64(held.count))]
      switch random.next() % 6 {
      case 0, 1, 2:
        try realm.write {
          for _ in 0...random.next() % 3 { CutShape.change(realm, box, sections, &next, &random) }
          if random.next() % 3 == 0 { check("in the transaction of round \(round)") }
        }
      case 3:
        let (first, seed) = (next, random.next())
        next += 100
        try inAnotherRealm(of: realm) { other in
          var (next, random) = (first, RandomGenerator(seed: seed))
          let box = other.objects(CutBox.self)[0]
          let sections = CutShape.all[0].make(other, box)
          for _ in 0...random.next() % 3 {
            try other.write { CutShape.change(other, box, sections, &next, &random) }
          }
        }
        realm.refresh()
      case 4:
        realm.beginWrite()
        CutShape.change(realm, box, sections, &next, &random)
        realm.cancelWrite()
      default:
        // More than is followed.
        try realm.write {
          for piece in realm.objects(CutPiece.self).prefix(400) { piece.rank += 1 }
        }
      }
      if random.next() % 4 > 0 { check("after round \(round)") }
    }
  }

  /// A transaction for each element that is taken.
  @Test func areEmptiedByTheirFirst() throws {
    var random = RandomGenerator(seed: 8)
    let (realm, _) = try CutShape.makeRealm(1_200, &random)
    let sections = realm.objects(CutPiece.self).sectioned { $0.letter }
    let expected = sections.flatMap { $0.map(\.id) }
    var taken: [Int] = []
    while let first = sections.first?.first {
      taken.append(first.id)
      try realm.write { realm.delete(first) }
    }
    #expect(taken == expected)
  }

  /// Where a change is made, and where it is looked at.
  private enum Writer: CaseIterable {
    case own, ownInTheTransaction, other
  }

  /// Only what links lead to changes; also over more links than observers follow.
  @Test(arguments: Writer.allCases)
  private func areFoundByLinksAlone(_ writer: Writer) throws {
    var random = RandomGenerator(seed: 10)
    let (realm, box) = try CutShape.makeRealm(1_300, &random)
    let pieces = realm.objects(CutPiece.self)
    try realm.write {
      pieces.setValue(nil, forKey: "next")
      for (piece, next) in zip(pieces.prefix(6), pieces.dropFirst()) { piece.next = next }
    }
    let shapes = CutShape.all.filter {
      ["by lots", "by what lies six links away"].contains($0.name)
    }
    #expect(shapes.count == 2)
    let held = shapes.map { $0.make(realm, box) }
    func compare(_ round: Int) {
      for (shape, sections) in zip(shapes, held) {
        CutShape.compare(
          sections, shape.expected(realm, box, round * 4 + 1), &random, "\(shape.name) \(round)")
        #expect(sections.all() == shape.expected(realm, box, round * 4 + 3).map(\.ids))
      }
    }
    compare(0)
    for round in 1..<9 {
      switch writer {
      case .own: try realm.write { Self.changeLinked(realm, round) }
      case .ownInTheTransaction:
        try realm.write {
          compare(100 + round)
          Self.changeLinked(realm, round)
          compare(200 + round)
          Self.changeLinked(realm, round + 10)
          compare(300 + round)
        }
      case .other:
        try inAnotherRealm(of: realm) { other in
          try other.write { Self.changeLinked(other, round) }
        }
        realm.refresh()
      }
      compare(round)
    }
  }

  private static func changeLinked(_ realm: Realm, _ round: Int) {
    if round % 2 == 0 {
      realm.objects(CutLot.self)[0].rank = 10 + round
    } else {
      realm.objects(CutPiece.self)[6].letter = "letter \(round)"
    }
  }

  /// Distinct elements are found anew now and then; their sections are, too.
  @Test func ofDistinctElements() throws {
    var random = RandomGenerator(seed: 11)
    let (realm, box) = try CutShape.makeRealm(1_300, &random)
    let pieces = realm.objects(CutPiece.self)
    let shape = CutShape(
      "distinct", { realm, _ in realm.objects(CutPiece.self).distinct(by: ["id"]) },
      {
        $0.letter
      }, isBefore: <
    ) { realm, _ in
      realm.objects(CutPiece.self).distinct(by: ["id"]).sectioned { $0.letter }
    }
    let sections = shape.make(realm, box)
    for round in 0..<80 {
      try realm.write { pieces[round].letter = round % 3 == 0 ? "m" : "n" }
      // Not asked about each time, nor after the 64th, when they are found anew for good.
      if round % 3 == 0 { continue }
      #expect(sections.all() == shape.expected(realm, box, round + 1).map(\.ids), "round \(round)")
    }
  }

  /// The block is asked for what has changed, not for all elements.
  @Test func theBlockIsAskedForWhatHasChanged() throws {
    var random = RandomGenerator(seed: 9)
    let (realm, _) = try CutShape.makeRealm(2_000, &random)
    // Who leads to what has changed is asked for, too.
    try realm.write { realm.objects(CutPiece.self).setValue(nil, forKey: "next") }
    var calls = 0
    let sections = realm.objects(CutPiece.self).sectioned { (piece: CutPiece) -> String in
      calls += 1
      return piece.letter
    }
    _ = sections.count
    #expect(calls == 2_000)
    for round in 0..<5 {
      calls = 0
      try realm.write { realm.objects(CutPiece.self)[round].letter = "q" }
      #expect(sections.last?.key == "q" && sections.last?.count == round + 1)
      #expect(calls == 1)
    }
    // What was not asked about for some commits is asked for at once.
    calls = 0
    for round in 0..<3 { try realm.write { realm.objects(CutPiece.self)[round].letter = "r" } }
    #expect(calls == 0)
    #expect(sections.last?.key == "r" && sections.last?.count == 3)
    #expect(calls == 3)
  }
}
