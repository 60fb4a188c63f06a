// Objects in collections, in sections of many kinds, and what these have to be.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

class CutLot: Object {
  @Persisted var rank: Int
  @Persisted(originProperty: "lot") var pieces: LinkingObjects<CutPiece>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class CutPiece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rank: Int
  @Persisted var letter: String
  @Persisted var weight: Double?
  @Persisted var isOpen: Bool
  @Persisted var lot: CutLot?
  @Persisted var next: CutPiece?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class CutBox: Object {
  @Persisted var list: List<CutPiece>
  @Persisted var set: MutableSet<CutPiece>
  @Persisted var map: Map<String, CutPiece?>
  @Persisted var numbers: List<Int>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Sections of one kind, without their types.
struct CutSections {
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

/// The elements of sections.
typealias CutPieces = RealmSwift.Results<CutPiece>

/// Sections, and what they have to be by their elements in order.
struct CutShape {
  let name: String
  let make: (Realm, CutBox) -> CutSections
  let expected: (Realm, CutBox, Int) -> [(key: String, ids: [Int])]

  /// - Parameters:
  ///   - elements: in the order of the sections' elements.
  ///   - isBefore: the order of the sections, if it is not that of their first elements.
  init<Key: _Persistable & Hashable>(
    _ name: String, _ elements: @escaping (Realm, CutBox) -> CutPieces,
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

  /// All kinds.
  static var all: [CutShape] {
    let rank: (CutPiece) -> Int = { $0.rank }
    let letter: (CutPiece) -> String = { $0.letter }
    let third: (CutPiece) -> Int = { $0.id % 3 }
    let ofFew: (CutPiece) -> Int = { $0.id % 300 }
    let chain: (CutPiece) -> String = { $0.letter + ($0.next?.letter ?? "-") }
    let lot: (CutPiece) -> Int? = { $0.lot?.rank }
    let far: (CutPiece) -> String = { piece in
      (0..<6).reduce(piece) { found, _ in found.next ?? found }.letter
    }
    let byRank = [RealmSwift.SortDescriptor(keyPath: "rank")]
    let byWeight = [
      RealmSwift.SortDescriptor(keyPath: "weight", ascending: false),
      RealmSwift.SortDescriptor(keyPath: "letter"),
    ]
    let all: (Realm, CutBox) -> CutPieces = { realm, _ in realm.objects(CutPiece.self) }
    let open: (Realm, CutBox) -> CutPieces = { realm, _ in
      realm.objects(CutPiece.self).where { $0.isOpen }
    }
    let list: (Realm, CutBox) -> CutPieces = { _, box in box.list.filter("TRUEPREDICATE") }
    let openOfSet: (Realm, CutBox) -> CutPieces = { _, box in box.set.where { $0.isOpen } }
    let inOrder: (@escaping (Realm, CutBox) -> CutPieces) -> (Realm, CutBox) -> CutPieces = {
      base in
      { base($0, $1).sorted(by: byRank) }
    }
    return [
      CutShape("all by letters", all, letter, isBefore: <) { all($0, $1).sectioned(by: letter) },
      CutShape("all by letters, of objects(_:)", all, letter, isBefore: >) { realm, _ in
        realm.objects(CutPiece.self).sectioned(by: letter, ascending: false)
      },
      CutShape("open by thirds", inOrder(open), third) {
        open($0, $1).sectioned(by: third, sortDescriptors: byRank)
      },
      CutShape("many that overtake each other", inOrder(all), ofFew) {
        all($0, $1).sectioned(by: ofFew, sortDescriptors: byRank)
      },
      CutShape("open by rank", inOrder(open), rank) { open($0, $1).sectioned(by: \.rank) },
      CutShape("each its own", { all($0, $1).sorted(byKeyPath: "id", ascending: false) }, { $0.id })
      {
        all($0, $1).sectioned(by: \.id, ascending: false)
      },
      CutShape("by weight and letter", { open($0, $1).sorted(by: byWeight) }, { $0.weight }) {
        open($0, $1).sectioned(by: \.weight, sortDescriptors: byWeight)
      },
      CutShape("by links among them", open, chain, isBefore: <) {
        open($0, $1).sectioned(by: chain)
      },
      CutShape("by lots", inOrder(all), lot) {
        all($0, $1).sectioned(by: lot, sortDescriptors: byRank)
      },
      CutShape("by what lies six links away", all, far, isBefore: <) {
        all($0, $1).sectioned(by: far)
      },
      CutShape(
        "distinct", { all($0, $1).distinct(by: ["letter", "rank"]).sorted(by: byRank) }, letter
      ) {
        all($0, $1).distinct(by: ["letter", "rank"])
          .sectioned(by: letter, sortDescriptors: byRank)
      },
      CutShape("of a list", list, letter, isBefore: <) { $1.list.sectioned(by: letter) },
      CutShape("of a list in order", inOrder(list), letter) {
        $1.list.sectioned(by: letter, sortDescriptors: byRank)
      },
      CutShape("of the open ones of a set", inOrder(openOfSet), rank) {
        openOfSet($0, $1).sectioned(by: \.rank)
      },
    ]
  }

  static func makeRealm(
    _ count: Int, _ random: inout RandomGenerator
  ) throws -> (Realm, CutBox) {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [CutLot.self, CutPiece.self, CutBox.self]))
    let box = CutBox()
    try realm.write {
      realm.add(box)
      for rank in 0..<40 { realm.create(CutLot.self, value: ["rank": rank % 8]) }
      for id in 0..<count {
        let piece = realm.create(CutPiece.self, value: ["id": id])
        set(realm, piece, &random)
        for _ in 0..<random.next() % 3 { box.list.append(piece) }
        box.set.insert(piece)
      }
    }
    return (realm, box)
  }

  static func set(_ realm: Realm, _ piece: CutPiece, _ random: inout RandomGenerator) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    piece.rank = number(40)
    piece.letter = ["a", "b", "c", "d", "e"][number(5)]
    piece.weight = number(5) == 0 ? nil : Double(number(6))
    piece.isOpen = number(3) > 0
    piece.lot = realm.objects(CutLot.self)[number(40)]
    let pieces = realm.objects(CutPiece.self)
    piece.next = number(3) == 0 ? nil : pieces[number(pieces.count)]
  }

  static func change(
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
    if number(8) == 0 {
      realm.objects(CutLot.self)[number(40)].rank = number(8)
      // Nothing else then: the elements are what they were.
      if number(2) == 0 { return }
    }
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

  static func compare(
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
}
