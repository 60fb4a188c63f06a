// Results of lists, sets, maps, values and linking objects that are held through commits, compared
// with what loops over the collections find.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

@Suite(.ownThreads) struct HeldCollectionTests {
  /// Results, and what they have to be, as numbers.
  private struct Shape {
    let name: String
    let found: () -> [Int]
    let first: () -> Int?
    let count: () -> Int
    let expected: () -> [Int]

    init<Element: RealmCollectionValue>(
      _ name: String, _ results: RealmSwift.Results<Element>, _ number: @escaping (Element) -> Int,
      _ expected: @escaping () -> [Element]
    ) {
      self.name = name
      found = { results.map(number) }
      first = { results.first.map(number) }
      count = { results.count }
      self.expected = { expected().map(number) }
    }

    static func all(_ box: CutBox, _ lot: CutLot) -> [Shape] {
      let id: (CutPiece) -> Int = { $0.id }
      let list = { Array(box.list) }
      let set = { Array(box.set) }
      let linking = { Array(lot.pieces) }
      let map = { box.map.map(\.value).compactMap { $0 } }
      return [
        Shape("open ones of the list", box.list.where { $0.isOpen }, id) {
          list().filter(\.isOpen)
        },
        Shape("the list by rank", box.list.sorted(byKeyPath: "rank"), id) {
          sorted(list()) { $0.rank < $1.rank }
        },
        Shape(
          "open ones of the list by lots, downwards",
          box.list.where { $0.isOpen }.sorted(byKeyPath: "lot.rank", ascending: false), id
        ) {
          sorted(list().filter(\.isOpen)) { ($0.lot?.rank ?? .min) > ($1.lot?.rank ?? .min) }
        },
        Shape("those of the list by their lots", box.list.where { $0.lot.rank > 1 }, id) {
          list().filter { ($0.lot?.rank ?? 0) > 1 }
        },
        Shape("distinct ones of the list", box.list.distinct(by: ["rank"]), id) {
          var ranks: Set<Int> = []
          return list().filter { ranks.insert($0.rank).inserted }
        },
        Shape("open ones of the set", box.set.where { $0.isOpen }, id) { set().filter(\.isOpen) },
        Shape("the set by rank, downwards", box.set.sorted(byKeyPath: "rank", ascending: false), id)
        {
          sorted(set()) { $0.rank > $1.rank }
        },
        Shape("open ones of the map", box.map.where { $0.isOpen }, { $0!.id }) {
          map().filter(\.isOpen)
        },
        Shape("linking ones by rank", lot.pieces.where { $0.isOpen }.sorted(byKeyPath: "rank"), id)
        {
          sorted(linking().filter(\.isOpen)) { $0.rank < $1.rank }
        },
        Shape("open linking ones", lot.pieces.where { $0.isOpen }, id) {
          linking().filter(\.isOpen)
        },
        Shape("large numbers", box.numbers.where { $0 > 20 }, { $0 }) {
          box.numbers.filter { $0 > 20 }
        },
        Shape("numbers in order", box.numbers.sorted(), { $0 }) { box.numbers.sorted(by: <) },
      ]
    }

    /// In an order, and those that are equal in that of before.
    private static func sorted(
      _ pieces: [CutPiece], _ isBefore: (CutPiece, CutPiece) -> Bool
    ) -> [CutPiece] {
      pieces.enumerated().sorted {
        isBefore($0.element, $1.element)
          || !isBefore($1.element, $0.element) && $0.offset < $1.offset
      }.map(\.element)
    }
  }

  @Test(arguments: seedsInTurn(1...3))
  func areWhatLoopsFind(seed: UInt64) async {
    await withSeeds(first: seed) { random in try Self.follow(&random) }
  }

  private static func makeRealm(
    _ count: Int, _ random: inout RandomGenerator
  ) throws -> (Realm, CutBox) {
    let (realm, box) = try CutShape.makeRealm(count, &random)
    try realm.write {
      for piece in realm.objects(CutPiece.self) { fill(box, with: piece, &random) }
    }
    return (realm, box)
  }

  private static func fill(
    _ box: CutBox, with piece: CutPiece, _ random: inout RandomGenerator
  ) {
    // Most of one, which has enough linking objects to be held.
    if random.next() % 20 > 0 { piece.lot = box.realm!.objects(CutLot.self)[0] }
    box.map["key \(piece.id)"] = piece
    box.numbers.insert(
      Int(random.next() % 50), at: Int(random.next() % UInt64(box.numbers.count + 1)))
  }

  private static func change(
    _ realm: Realm, _ box: CutBox, _ next: inout Int, _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = realm.objects(CutPiece.self)
    let piece = number(2) == 0 ? all[number(all.count)] : box.list[number(box.list.count)]
    switch number(14) {
    case 0:
      next += 1
      let new = realm.create(
        CutPiece.self, value: ["id": next, "rank": number(30), "isOpen": true])
      fill(box, with: new, &random)
      box.list.insert(new, at: number(box.list.count + 1))
      box.set.insert(new)
    case 1: realm.delete(piece)
    case 2, 3: piece.isOpen.toggle()
    case 4, 5: piece.rank = number(30)
    case 6: piece.lot = realm.objects(CutLot.self)[number(3)]
    case 7: realm.objects(CutLot.self)[number(3)].rank = number(4)
    case 8: box.list.remove(at: number(box.list.count))
    case 9: box.list.move(from: number(box.list.count), to: number(box.list.count))
    case 10: box.list[number(box.list.count)] = piece
    case 11:
      box.set.remove(piece)
      box.map["key \(piece.id)"] = nil
    case 12: box.numbers[number(box.numbers.count)] = number(50)
    default:
      box.numbers.remove(at: number(box.numbers.count))
      box.numbers.append(number(50))
    }
  }

  private static func follow(_ random: inout RandomGenerator) throws {
    let (realm, box) = try makeRealm(1_300, &random)
    let shapes = Shape.all(box, realm.objects(CutLot.self)[0])
    var next = 10_000
    func check(_ what: String) {
      for shape in shapes where random.next() % 4 > 0 {
        let comment = Comment(rawValue: "\(shape.name) \(what)")
        let expected = shape.expected()
        switch random.next() % 3 {
        case 0: #expect(shape.count() == expected.count, comment)
        case 1: #expect(shape.first() == expected.first, comment)
        default: #expect(shape.found() == expected, comment)
        }
      }
    }
    for round in 0..<amount(150, debug: 20) {
      switch random.next() % 5 {
      case 0, 1, 2:
        try realm.write {
          for _ in 0...random.next() % 3 { change(realm, box, &next, &random) }
          if random.next() % 4 == 0 { check("in the transaction of round \(round)") }
        }
      case 3:
        let (first, seed) = (next, random.next())
        next += 100
        try inAnotherRealm(of: realm) { other in
          var (next, random) = (first, RandomGenerator(seed: seed))
          let box = other.objects(CutBox.self)[0]
          for _ in 0...random.next() % 3 {
            try other.write { change(other, box, &next, &random) }
          }
        }
        realm.refresh()
      default:
        realm.beginWrite()
        change(realm, box, &next, &random)
        realm.cancelWrite()
      }
      if random.next() % 4 > 0 { check("after round \(round)") }
    }
    try realm.write { realm.delete(box) }
    for shape in shapes where !shape.name.contains("linking") {
      #expect(shape.count() == 0 && shape.first() == nil, "\(shape.name)")
    }
  }

  /// A transaction for each element that is taken.
  @Test func aListIsEmptiedByItsFirst() throws {
    var random = RandomGenerator(seed: 4)
    let (realm, box) = try Self.makeRealm(1_500, &random)
    let open = box.list.where { $0.isOpen }
    let sorted = box.list.where { $0.isOpen }.sorted(byKeyPath: "rank")
    for round in 0..<1_500 {
      guard let first = (round % 2 == 0 ? open : sorted).first else { break }
      try realm.write { first.isOpen = false }
    }
    #expect(open.isEmpty && sorted.isEmpty)
    #expect(box.list.allSatisfy { !$0.isOpen })
  }
}
