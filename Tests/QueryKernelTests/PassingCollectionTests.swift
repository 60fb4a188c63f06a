// Results of lists and sets that a running transaction asks for again and again while it
// changes their elements: held and made anew, they are what a loop over the collection finds.
import Foundation
import Platform
import TestSupport
import Testing

@testable import RealmSwift

private class PassedLot: Object {
  @Persisted var rank: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PassedPiece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rank: Int
  @Persisted var isOpen: Bool
  @Persisted var lot: PassedLot?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PassedBox: Object {
  @Persisted var list: List<PassedPiece>
  @Persisted var set: MutableSet<PassedPiece>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PassedNode: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var isOpen: Bool
  @Persisted var next: PassedNode?
  @Persisted var children: List<PassedNode>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct PassingCollectionTests {
  /// Results, and what they have to be by the elements of the collection.
  private struct Shape {
    let make: (PassedBox) -> Results<PassedPiece>
    let expected: ([PassedPiece]) -> [PassedPiece]

    static func all(_ pieces: @escaping (PassedBox) -> Results<PassedPiece>) -> [Shape] {
      [
        Shape(make: { pieces($0).where { $0.isOpen } }) { $0.filter(\.isOpen) },
        Shape(make: { pieces($0).where { $0.isOpen && $0.lot.rank > 2 } }) {
          $0.filter { $0.isOpen && ($0.lot?.rank ?? 0) > 2 }
        },
        Shape(make: { pieces($0).where { $0.isOpen }.sorted(byKeyPath: "rank") }) {
          sorted($0.filter(\.isOpen)) { $0.rank < $1.rank }
        },
        Shape(make: { pieces($0).sorted(byKeyPath: "lot.rank", ascending: false) }) {
          sorted($0) { ($0.lot?.rank ?? .min) > ($1.lot?.rank ?? .min) }
        },
      ]
    }

    /// In an order, and those that are equal in that of before.
    private static func sorted(
      _ pieces: [PassedPiece], _ isBefore: (PassedPiece, PassedPiece) -> Bool
    ) -> [PassedPiece] {
      pieces.enumerated().sorted {
        isBefore($0.element, $1.element)
          || !isBefore($1.element, $0.element) && $0.offset < $1.offset
      }.map(\.element)
    }
  }

  @Test(arguments: ["list", "set"])
  func resultsFollowARunningTransaction(of kind: String) async {
    await withSeeds(2) { random in try follow(kind, &random) }
  }

  private func follow(_ kind: String, _ random: inout RandomGenerator) throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [PassedLot.self, PassedPiece.self, PassedBox.self]))
    let box = PassedBox()
    try realm.write { fill(realm, box, &random) }
    func elements() -> [PassedPiece] {
      switch kind {
      case "list": return Array(box.list)
      default: return Array(box.set)
      }
    }
    let shapes = Shape.all { (box: PassedBox) -> Results<PassedPiece> in
      switch kind {
      case "list": return box.list.filter("TRUEPREDICATE")
      default: return box.set.filter("TRUEPREDICATE")
      }
    }
    for _ in 0..<2 {
      let held = shapes.map { $0.make(box) }
      realm.beginWrite()
      for step in 0..<amount(200, debug: 40) {
        let shape = Int(random.next() % UInt64(shapes.count))
        change(realm, box, held[shape], &random)
        let results = random.next() % 3 == 0 ? shapes[shape].make(box) : held[shape]
        let expected = shapes[shape].expected(elements()).map(\.id)
        let what = Comment(rawValue: "shape \(shape) of the \(kind) at step \(step)")
        #expect(results.first?.id == expected.first, what)
        #expect(results.isEmpty == expected.isEmpty, what)
        #expect(results.count == expected.count, what)
        guard let last = expected.last else { continue }
        #expect(results.last?.id == last, what)
        let position = Int(random.next() % UInt64(expected.count))
        #expect(results[position].id == expected[position], what)
        #expect(
          results.index(of: results[position]) == expected.firstIndex(of: expected[position]),
          what)
        if random.next() % 4 == 0 { #expect(results.map(\.id) == expected, what) }
      }
      if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      for (shape, results) in held.enumerated() {
        #expect(results.map(\.id) == shapes[shape].expected(elements()).map(\.id))
      }
    }
  }

  private func fill(_ realm: Realm, _ box: PassedBox, _ random: inout RandomGenerator) {
    realm.add(box)
    let lots = (0..<6).map { realm.create(PassedLot.self, value: ["rank": $0]) }
    for id in 0..<1_300 {
      let piece = realm.create(PassedPiece.self, value: ["id": id, "isOpen": id % 3 > 0])
      piece.rank = Int(random.next() % 50)
      piece.lot = id % 7 == 0 ? nil : lots[Int(random.next() % 6)]
      box.list.append(piece)
      box.set.insert(piece)
      // Some are in the list twice.
      if id % 50 == 0 { box.list.insert(piece, at: 0) }
    }
  }

  private func change(
    _ realm: Realm, _ box: PassedBox, _ results: Results<PassedPiece>,
    _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = realm.objects(PassedPiece.self)
    let piece =
      number(3) > 0 && !results.isEmpty ? results[number(results.count)] : all[number(all.count)]
    switch number(40) {
    case 0...15: piece.isOpen.toggle()
    case 16...30: piece.rank = number(50)
    case 31...35: piece.lot = realm.objects(PassedLot.self)[number(6)]
    case 36: realm.objects(PassedLot.self)[number(6)].rank = number(6)
    case 37: realm.delete(piece)
    case 38:
      box.list.remove(at: number(box.list.count))
      box.set.remove(piece)
    default:
      box.list.insert(piece, at: number(box.list.count))
      box.set.insert(piece)
    }
  }

  /// A change of one object is one of others that lead to it, or of the list that it holds.
  @Test func resultsThatLeadToTheirOwnClass() async {
    await withSeeds(2) { random in
      let realm = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: UUID().uuidString, objectTypes: [PassedNode.self]))
      realm.beginWrite()
      let nodes = realm.objects(PassedNode.self)
      for id in 0..<1_300 {
        realm.create(PassedNode.self, value: ["id": id, "isOpen": id % 3 > 0])
      }
      let root = nodes[0]
      for node in nodes {
        node.next = nodes[Int(random.next() % 1_300)]
        root.children.append(node)
      }
      let led = nodes.where { $0.next.isOpen == true }
      let listed = root.children.where { $0.isOpen }
      for step in 0..<amount(100, debug: 20) {
        // Asked often enough to be worth being known.
        for _ in 0..<3 {
          #expect(led.first == nodes.first { $0.next?.isOpen == true }, "\(step)")
          #expect(listed.first == root.children.first(where: \.isOpen), "\(step)")
          #expect(led.count == nodes.count { $0.next?.isOpen == true }, "\(step)")
          #expect(listed.count == root.children.count(where: \.isOpen), "\(step)")
        }
        switch random.next() % 4 {
        case 0: led.first?.next?.isOpen = false
        case 1: listed.first?.isOpen = false
        case 2: root.children.remove(at: Int(random.next() % UInt64(root.children.count)))
        default: root.children.insert(nodes[Int(random.next() % 1_300)], at: 0)
        }
      }
      realm.cancelWrite()
    }
  }
}
