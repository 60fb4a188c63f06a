// Results of lists, sets, maps and linking objects that a running transaction asks for again and
// again while it changes their elements: held and made anew, they are what a loop finds.
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
  @Persisted var box: PassedBox?
  @Persisted var boxes: List<PassedBox>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PassedBox: Object {
  @Persisted var list: List<PassedPiece>
  @Persisted var set: MutableSet<PassedPiece>
  @Persisted var map: Map<String, PassedPiece?>
  @Persisted(originProperty: "box") var linking: LinkingObjects<PassedPiece>
  @Persisted(originProperty: "boxes") var listing: LinkingObjects<PassedPiece>
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
  init() { distinctFindingsMax.store(2, ordering: .relaxed) }

  /// Results without the type of their elements, which is optional in maps.
  private struct Asked {
    let count: () -> Int
    let first: () -> PassedPiece?
    let last: () -> PassedPiece?
    let at: (Int) -> PassedPiece
    let indexOfThatAt: (Int) -> Int?
    let ids: () -> [Int]
    let sections: () -> [[Int]]

    init<Element: RealmCollectionValue>(
      _ results: Results<Element>, _ piece: @escaping (Element) -> PassedPiece
    ) {
      count = { results.count }
      first = { results.first.map(piece) }
      last = { results.last.map(piece) }
      at = { piece(results[$0]) }
      indexOfThatAt = { results.index(of: results[$0]) }
      ids = { results.map { piece($0).id } }
      let sectioned = results.sectioned { piece($0).rank % 3 }
      sections = { sectioned.map { $0.map { piece($0).id } } }
    }
  }

  /// A collection that results choose from.
  private struct Kind {
    let name: String
    let elements: (Realm, PassedBox) -> [PassedPiece]
    let open: (PassedBox) -> Asked
    let openOfLots: (PassedBox) -> Asked
    let openByRank: (PassedBox) -> Asked
    let byLots: (PassedBox) -> Asked
    let distinctByRank: (PassedBox) -> Asked

    init<Element: RealmCollectionValue>(
      _ name: String, _ filtered: @escaping (PassedBox, String) -> Results<Element>,
      _ piece: @escaping (Element) -> PassedPiece,
      _ elements: @escaping (Realm, PassedBox) -> [PassedPiece]
    ) {
      self.name = name
      self.elements = elements
      func asked(_ filter: String, _ sort: (String, Bool)? = nil) -> (PassedBox) -> Asked {
        { box in
          let chosen = filtered(box, filter)
          return Asked(
            sort.map { chosen.sorted(byKeyPath: $0.0, ascending: $0.1) } ?? chosen, piece)
        }
      }
      open = asked("isOpen == true")
      openOfLots = asked("isOpen == true AND lot.rank > 2")
      openByRank = asked("isOpen == true", ("rank", true))
      byLots = asked("TRUEPREDICATE", ("lot.rank", false))
      distinctByRank = { box in
        Asked(
          filtered(box, "isOpen == true").sorted(byKeyPath: "lot.rank").distinct(by: ["rank"]),
          piece)
      }
    }

    static var all: [Kind] {
      [
        Kind("list", { $0.list.filter($1) }, { $0 }) { Array($1.list) },
        Kind("set", { $0.set.filter($1) }, { $0 }) { Array($1.set) },
        Kind("map", { $0.map.filter(NSPredicate(format: $1)) }, { $0! }) {
          $1.map.compactMap(\.value)
        },
        Kind("linking objects", { $0.linking.filter($1) }, { $0 }) { realm, box in
          realm.objects(PassedPiece.self).filter { $0.box != nil }
        },
        Kind("objects that list", { $0.listing.filter($1) }, { $0 }) { realm, box in
          realm.objects(PassedPiece.self).flatMap { piece in
            piece.boxes.map { _ in piece }
          }
        },
      ]
    }

    /// Results, and what they have to be by the elements of the collection.
    var shapes: [(make: (PassedBox) -> Asked, expected: ([PassedPiece]) -> [PassedPiece])] {
      [
        (open, { $0.filter(\.isOpen) }),
        (openOfLots, { $0.filter { $0.isOpen && ($0.lot?.rank ?? 0) > 2 } }),
        (openByRank, { Self.sorted($0.filter(\.isOpen)) { $0.rank < $1.rank } }),
        (byLots, { Self.sorted($0) { ($0.lot?.rank ?? .min) > ($1.lot?.rank ?? .min) } }),
        (
          distinctByRank,
          { pieces in
            var ranks: Set<Int> = []
            return Self.sorted(pieces.filter(\.isOpen)) {
              ($0.lot?.rank ?? .min) < ($1.lot?.rank ?? .min)
            }.filter { ranks.insert($0.rank).inserted }
          }
        ),
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

  @Test(arguments: ["list", "set", "map", "linking objects", "objects that list"])
  func resultsFollowARunningTransaction(of name: String) async {
    await withSeeds(1) { random in
      try follow(Kind.all.first { $0.name == name }!, &random)
    }
  }

  private func follow(_ kind: Kind, _ random: inout RandomGenerator) throws {
    let realm = try Self.makeRealm()
    let box = PassedBox()
    try realm.write { fill(realm, box, &random) }
    let shapes = kind.shapes
    for round in 0..<2 {
      let held = shapes.map { $0.make(box) }
      realm.beginWrite()
      for step in 0..<amount(300, debug: 14) {
        let shape = Int(random.next() % UInt64(shapes.count))
        for _ in 0...random.next() % 3 { change(realm, box, held[shape], &random) }
        let asked = random.next() % 3 == 0 ? shapes[shape].make(box) : held[shape]
        let expected = shapes[shape].expected(kind.elements(realm, box))
        let what = "shape \(shape) of the \(kind.name) at step \(step) of round \(round)"
        compare(asked, expected, &random, Comment(rawValue: what))
      }
      if random.next() % 2 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      for (shape, asked) in held.enumerated() {
        #expect(
          asked.ids() == shapes[shape].expected(kind.elements(realm, box)).map(\.id),
          "shape \(shape) of the \(kind.name) after round \(round)")
      }
    }
  }

  private func compare(
    _ asked: Asked, _ pieces: [PassedPiece], _ random: inout RandomGenerator, _ what: Comment
  ) {
    let expected = pieces.map(\.id)
    #expect(asked.first()?.id == expected.first, what)
    #expect(asked.count() == expected.count, what)
    if asked.count() != expected.count || expected.isEmpty { return }
    #expect(asked.last()?.id == expected.last, what)
    let position = Int(random.next() % UInt64(expected.count))
    #expect(asked.at(position).id == expected[position], what)
    #expect(asked.indexOfThatAt(position) == expected.firstIndex(of: expected[position]), what)
    if random.next() % 4 == 0 { #expect(asked.ids() == expected, what) }
    if random.next() % 3 == 0 {
      let sections = Dictionary(grouping: pieces) { $0.rank % 3 }.sorted { $0.key < $1.key }
      #expect(asked.sections() == sections.map { $0.value.map(\.id) }, what)
    }
  }

  private static func makeRealm() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [PassedLot.self, PassedPiece.self, PassedBox.self]))
  }

  private func fill(_ realm: Realm, _ box: PassedBox, _ random: inout RandomGenerator) {
    realm.add(box)
    let lots = (0..<150).map { realm.create(PassedLot.self, value: ["rank": $0 % 6]) }
    for id in 0..<1_300 {
      let piece = realm.create(PassedPiece.self, value: ["id": id, "isOpen": id % 3 > 0])
      piece.rank = Int(random.next() % 50)
      piece.lot = id % 7 == 0 ? nil : lots[Int(random.next() % 150)]
      piece.box = box
      piece.boxes.append(box)
      box.list.append(piece)
      box.set.insert(piece)
      box.map["\(id)"] = piece
      // Some are in the list twice.
      if id % 5 == 0 { box.list.insert(piece, at: 0) }
    }
  }

  private func change(
    _ realm: Realm, _ box: PassedBox, _ results: Asked, _ random: inout RandomGenerator
  ) {
    func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let all = realm.objects(PassedPiece.self)
    let count = results.count()
    let piece = number(3) > 0 && count > 0 ? results.at(number(count)) : all[number(all.count)]
    let list = box.list
    // Often at an end, or where the last one was.
    let place = [0, list.count - 1, list.count / 2, number(list.count)][number(4)]
    switch number(30) {
    case 0...6: piece.isOpen.toggle()
    case 7...10: piece.rank = number(50)
    case 11, 12: piece.lot = realm.objects(PassedLot.self)[number(150)]
    case 13: (piece.lot ?? realm.objects(PassedLot.self)[number(150)]).rank = number(6)
    case 14...16: realm.delete(piece)
    case 17: realm.delete(Array(all[number(all.count - 9)...].prefix(number(9))))
    case 18:
      list.remove(at: place)
      box.set.remove(piece)
      box.map["\(piece.id)"] = nil
    case 19...21:
      list.insert(piece, at: place)
      box.set.insert(piece)
      box.map["\(number(2_000))"] = piece
    case 22: list.move(from: place, to: number(list.count))
    case 23: list[place] = piece
    case 24: list.removeSubrange(place..<min(place + number(4), list.count))
    case 25: list.append(objectsIn: all.prefix(number(3)))
    case 26: piece.box = number(2) == 0 ? nil : box
    case 27:
      if number(4) == 0 { piece.boxes.append(box) } else { piece.boxes.removeAll() }
    case 28:
      let new = realm.create(
        PassedPiece.self, value: ["id": all.max(of: \.id)! + 1, "isOpen": true])
      new.box = box
      for _ in 0...number(2) { new.boxes.append(box) }
      list.insert(new, at: place)
    default:
      if number(10) == 0 { list.removeAll() }
      list.append(objectsIn: all)
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
      let far = nodes.where { $0.next.next.isOpen == false }
      let sorted = nodes.where { $0.isOpen }.sorted(byKeyPath: "next.next.id")
      let listed = root.children.where { $0.isOpen }
      for step in 0..<amount(100, debug: 20) {
        // Asked often enough to be worth being known.
        for _ in 0..<3 {
          #expect(led.first == nodes.first { $0.next?.isOpen == true }, "\(step)")
          #expect(listed.first == root.children.first(where: \.isOpen), "\(step)")
          #expect(led.count == nodes.count { $0.next?.isOpen == true }, "\(step)")
          #expect(far.count == nodes.count { $0.next?.next?.isOpen == false }, "\(step)")
          #expect(listed.count == root.children.count(where: \.isOpen), "\(step)")
        }
        let expected = nodes.filter(\.isOpen).map { (id: $0.id, far: $0.next?.next?.id ?? -1) }
          .sorted { ($0.far, $0.id) < ($1.far, $1.id) }
        #expect(sorted.map(\.id) == expected.map(\.id), "\(step)")
        switch random.next() % 7 {
        case 0: led.first?.next?.isOpen = false
        case 1: listed.first?.isOpen = false
        case 4: far.last?.next?.next?.isOpen = true
        case 5: sorted.first?.next = nodes[Int(random.next() % UInt64(nodes.count))]
        case 6: realm.delete(nodes[1 + Int(random.next() % UInt64(nodes.count - 1))])
        case 2: root.children.remove(at: Int(random.next() % UInt64(root.children.count)))
        default: root.children.insert(nodes[Int(random.next() % UInt64(nodes.count))], at: 0)
        }
      }
      realm.cancelWrite()
    }
  }
}
