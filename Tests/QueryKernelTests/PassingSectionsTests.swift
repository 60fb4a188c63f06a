// Sections that a running transaction asks for again and again while it changes their elements:
// held and made anew, they are what a loop over the elements finds.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private class CutLot: Object {
  @Persisted var rank: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CutPiece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rank: Int
  @Persisted var letter: String
  @Persisted var weight: Double?
  @Persisted var isOpen: Bool
  @Persisted var lot: CutLot?
  @Persisted var next: CutPiece?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CutBox: Object {
  @Persisted var list: List<CutPiece>
  @Persisted var set: MutableSet<CutPiece>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Sections of one kind, without their types.
private struct CutSections {
  var count: () -> Int
  var keys: () -> [String]
  var key: (Int) -> String
  var countOf: (Int) -> Int
  var element: (Int, Int) -> CutPiece
  var elements: (Int) -> [Int]
  var all: () -> [[Int]]

  init<Key>(_ sections: SectionedResults<Key, CutPiece>) {
    count = { sections.count }
    keys = { sections.allKeys.map { "\($0)" } }
    key = { "\(sections[$0].key)" }
    countOf = { sections[$0].count }
    element = { sections[IndexPath(item: $1, section: $0)] }
    elements = { sections[$0].map(\.id) }
    all = { sections.map { $0.map(\.id) } }
  }
}

@Suite(.ownThreads) struct PassingSectionsTests {
  private typealias Pieces = RealmSwift.Results<CutPiece>

  /// Sections, and what they have to be by their elements in order.
  private struct Shape {
    let name: String
    let make: (Realm, CutBox) -> CutSections
    let expected: (Realm, CutBox, Int) -> [(key: String, ids: [Int])]

    /// - Parameters:
    ///   - elements: in the order of the sections' elements.
    ///   - isBefore: the order of the sections, if it is not that of their first elements.
    init<Key: _Persistable & Hashable>(
      _ name: String, _ elements: @escaping (Realm, CutBox) -> Pieces,
      _ key: @escaping (CutPiece) -> Key, isBefore: ((Key, Key) -> Bool)? = nil,
      _ make: @escaping (Realm, CutBox) -> SectionedResults<Key, CutPiece>
    ) {
      self.name = name
      self.make = { CutSections(make($0, $1)) }
      expected = { realm, box, asked in
        var keys: [Key] = []
        var found: [Key: [Int]] = [:]
        // By a condition that was never asked before.
        for piece in elements(realm, box).filter("id != %@", -asked) {
          if found[key(piece)] == nil { keys.append(key(piece)) }
          found[key(piece), default: []].append(piece.id)
        }
        if let isBefore { keys.sort(by: isBefore) }
        return keys.map { ("\($0)", found[$0]!) }
      }
    }
  }

  private static var shapes: [Shape] {
    let rank: (CutPiece) -> Int = { $0.rank }
    let letter: (CutPiece) -> String = { $0.letter }
    let third: (CutPiece) -> Int = { $0.id % 3 }
    let ofFew: (CutPiece) -> Int = { $0.id % 300 }
    let chain: (CutPiece) -> String = { $0.letter + ($0.next?.letter ?? "-") }
    let lot: (CutPiece) -> Int? = { $0.lot?.rank }
    let byRank = [RealmSwift.SortDescriptor(keyPath: "rank")]
    let byWeight = [
      RealmSwift.SortDescriptor(keyPath: "weight", ascending: false),
      RealmSwift.SortDescriptor(keyPath: "letter"),
    ]
    let all: (Realm, CutBox) -> Pieces = { realm, _ in realm.objects(CutPiece.self) }
    let open: (Realm, CutBox) -> Pieces = { realm, _ in
      realm.objects(CutPiece.self).where { $0.isOpen }
    }
    let list: (Realm, CutBox) -> Pieces = { _, box in box.list.filter("TRUEPREDICATE") }
    let openOfSet: (Realm, CutBox) -> Pieces = { _, box in box.set.where { $0.isOpen } }
    let inOrder: (@escaping (Realm, CutBox) -> Pieces) -> (Realm, CutBox) -> Pieces = { base in
      { base($0, $1).sorted(by: byRank) }
    }
    return [
      Shape("all by letters", all, letter, isBefore: <) { all($0, $1).sectioned(by: letter) },
      Shape("all by letters, of objects(_:)", all, letter, isBefore: >) { realm, _ in
        realm.objects(CutPiece.self).sectioned(by: letter, ascending: false)
      },
      Shape("open by thirds", inOrder(open), third) {
        open($0, $1).sectioned(by: third, sortDescriptors: byRank)
      },
      Shape("many that overtake each other", inOrder(all), ofFew) {
        all($0, $1).sectioned(by: ofFew, sortDescriptors: byRank)
      },
      Shape("open by rank", inOrder(open), rank) { open($0, $1).sectioned(by: \.rank) },
      Shape("each its own", { all($0, $1).sorted(byKeyPath: "id", ascending: false) }, { $0.id }) {
        all($0, $1).sectioned(by: \.id, ascending: false)
      },
      Shape("by weight and letter", { open($0, $1).sorted(by: byWeight) }, { $0.weight }) {
        open($0, $1).sectioned(by: \.weight, sortDescriptors: byWeight)
      },
      Shape("by links among them", open, chain, isBefore: <) {
        open($0, $1).sectioned(by: chain)
      },
      Shape("by lots", inOrder(all), lot) {
        all($0, $1).sectioned(by: lot, sortDescriptors: byRank)
      },
      Shape(
        "distinct", { all($0, $1).distinct(by: ["letter", "rank"]).sorted(by: byRank) }, letter
      ) {
        all($0, $1).distinct(by: ["letter", "rank"])
          .sectioned(by: letter, sortDescriptors: byRank)
      },
      Shape("of a list", list, letter, isBefore: <) { $1.list.sectioned(by: letter) },
      Shape("of a list in order", inOrder(list), letter) {
        $1.list.sectioned(by: letter, sortDescriptors: byRank)
      },
      Shape("of the open ones of a set", inOrder(openOfSet), rank) {
        openOfSet($0, $1).sectioned(by: \.rank)
      },
    ]
  }

  @Test(arguments: Array(1...4) as [UInt64])
  func followARunningTransaction(seed: UInt64) async {
    await withSeeds(first: seed) { random in try Self.follow(&random) }
  }

  private static func makeRealm(
    _ count: Int, _ random: inout RandomGenerator
  ) throws -> (Realm, CutBox) {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [CutLot.self, CutPiece.self, CutBox.self]))
    let box = CutBox()
    try realm.write {
      realm.add(box)
      for rank in 0..<4 { realm.create(CutLot.self, value: ["rank": rank]) }
      for id in 0..<count {
        let piece = realm.create(CutPiece.self, value: ["id": id])
        set(realm, piece, &random)
        for _ in 0..<random.next() % 3 { box.list.append(piece) }
        box.set.insert(piece)
      }
    }
    return (realm, box)
  }

  private static func set(_ realm: Realm, _ piece: CutPiece, _ random: inout RandomGenerator) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    piece.rank = number(40)
    piece.letter = ["a", "b", "c", "d", "e"][number(5)]
    piece.weight = number(5) == 0 ? nil : Double(number(6))
    piece.isOpen = number(3) > 0
    piece.lot = realm.objects(CutLot.self)[number(4)]
    let pieces = realm.objects(CutPiece.self)
    piece.next = number(3) == 0 ? nil : pieces[number(pieces.count)]
  }

  private static func change(
    _ realm: Realm, _ box: CutBox, _ sections: CutSections, _ next: inout Int,
    _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = realm.objects(CutPiece.self)
    var piece = all[number(all.count)]
    // Most often what the sections show is changed, and most often at an end.
    if number(4) > 0, sections.count() > 0 {
      let section = [0, sections.count() - 1, number(sections.count())][number(3)]
      let count = sections.countOf(section)
      piece = sections.element(section, [0, count - 1, number(count)][number(3)])
    }
    if number(20) == 0 { realm.objects(CutLot.self)[number(4)].rank = number(4) }
    if number(20) == 0 { box.list.remove(at: number(box.list.count)) }
    switch number(12) {
    case 0, 1:
      next += 1
      set(realm, realm.create(CutPiece.self, value: ["id": next]), &random)
    case 2, 3: realm.delete(piece)
    case 4, 5: piece.isOpen.toggle()
    case 6: piece.letter = ["a", "b", "f"][number(3)]
    case 7: piece.rank = number(50)
    case 8: piece.weight = Double(number(8))
    case 9: piece.next = all[number(all.count)]
    case 10: for piece in all.prefix(number(6)) { piece.rank = number(50) }
    default: set(realm, piece, &random)
    }
  }

  private static func follow(_ random: inout RandomGenerator) throws {
    let (realm, box) = try makeRealm(1_300, &random)
    let shapes = shapes
    var (next, asked) = (10_000, 0)
    for round in 0..<2 {
      let held = shapes.map { $0.make(realm, box) }
      realm.beginWrite()
      for step in 0..<amount(400, debug: 60) {
        // For a while the same is asked for, as loops do.
        let shape = step / 10 % shapes.count
        for _ in 0..<random.next() % 3 { change(realm, box, held[shape], &next, &random) }
        let sections = random.next() % 6 == 0 ? shapes[shape].make(realm, box) : held[shape]
        asked += 1
        compare(
          sections, shapes[shape].expected(realm, box, asked), &random,
          "\(shapes[shape].name) in round \(round), step \(step)")
      }
      if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      for (shape, sections) in zip(shapes, held) {
        asked += 1
        compare(sections, shape.expected(realm, box, asked), &random, "\(shape.name) afterwards")
      }
    }
  }

  private static func compare(
    _ sections: CutSections, _ expected: [(key: String, ids: [Int])],
    _ random: inout RandomGenerator, _ place: String
  ) {
    let what = Comment(rawValue: place)
    #expect(sections.count() == expected.count, what)
    if expected.isEmpty || sections.count() != expected.count { return }
    let section = Int(random.next() % UInt64(expected.count))
    let ids = expected[section].ids
    #expect(sections.key(section) == expected[section].key, what)
    #expect(sections.countOf(section) == ids.count, what)
    if sections.countOf(section) != ids.count { return }
    let item = Int(random.next() % UInt64(ids.count))
    #expect(sections.element(section, item).id == ids[item], what)
    switch random.next() % 6 {
    case 0: #expect(sections.keys() == expected.map(\.key), what)
    case 1: #expect(sections.elements(section) == ids, what)
    case 2: #expect(sections.all() == expected.map(\.ids), what)
    default: break
    }
  }

  /// Each change of one section's first element leaves the others where they are.
  @Test func areEmptiedByTheirFirst() throws {
    var random = RandomGenerator(seed: 5)
    let (realm, _) = try Self.makeRealm(2_000, &random)
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
    let (realm, _) = try Self.makeRealm(1_500, &random)
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

  /// The next transaction begins anew, also where the one before was rolled back.
  @Test func aRolledBackTransactionLeavesNothing() throws {
    var random = RandomGenerator(seed: 7)
    let (realm, _) = try Self.makeRealm(1_500, &random)
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
