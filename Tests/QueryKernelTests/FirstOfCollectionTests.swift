// The first of sorted elements of long lists, sets and maps, and positions of what fulfils a
// condition in long results: what a loop over all elements finds, although not all are sorted or
// looked at.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class FirstPiece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var rank: Int
  @Persisted(indexed: true) var name: String
  @Persisted var weight: Double?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class FirstBox: Object {
  @Persisted var pieces: List<FirstPiece>
  @Persisted var pieceSet: MutableSet<FirstPiece>
  @Persisted var pieceMap: Map<String, FirstPiece?>
  @Persisted var texts: List<String>
  @Persisted var numbers: List<Int?>
  @Persisted var doubles: MutableSet<Double>
  @Persisted var named: Map<String, Int>
  @Persisted var mixed: List<AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension RandomGenerator {
  /// Less than a bound.
  fileprivate mutating func number(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

@Suite(.ownThreads) struct FirstOfCollectionTests {
  /// More than are sorted as a whole each time.
  private static let count = 4_400

  private func makeBox(_ random: inout RandomGenerator) throws -> FirstBox {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [FirstPiece.self, FirstBox.self]))
    let box = FirstBox()
    try realm.write {
      realm.add(box)
      fill(box, &random)
    }
    return box
  }

  private func fill(_ box: FirstBox, _ random: inout RandomGenerator) {
    let realm = box.realm!
    for id in 0..<Self.count {
      let piece = realm.create(
        FirstPiece.self,
        value: [
          "id": id, "rank": random.number(90), "name": "n\(random.number(700))",
          "weight": random.oneIn(4) ? NSNull() : Double(random.number(1_000)) / 8 as Any,
        ])
      // Some are there twice.
      box.pieces.append(piece)
      if random.oneIn(30) { box.pieces.append(piece) }
      box.pieceSet.insert(piece)
      box.pieceMap["k\(random.number(1_000_000))"] = piece
      box.texts.append("t\(random.number(2_000))")
      box.numbers.append(random.oneIn(100) ? nil : random.number(2_000) - 1_000)
      box.doubles.insert(Double(random.number(1_000_000)) / 3)
      box.named["k\(random.number(1_000_000))"] = random.number(500)
      box.mixed.append(random.oneIn(2) ? .int(random.number(900)) : .string("m\(id % 700)"))
    }
  }

  /// Asks for the first ones in several ways; the ways that see fewer elements come first.
  private func check<T: Equatable>(
    _ what: String, _ expected: [T], _ random: inout RandomGenerator, _ make: () -> Results<T>
  ) where T: RealmCollectionValue {
    let name = Comment(rawValue: what)
    #expect(make().first == expected.first, name)
    #expect(Array(make().prefix(5)) == Array(expected.prefix(5)), name)
    let held = make()
    for position in [0, 3, 63, 64, 70, 1_023, 1_024, random.number(expected.count)]
    where position < expected.count {
      #expect(held[position] == expected[position], "\(what) at \(position)")
    }
    #expect(held.count == expected.count, name)
    #expect(make().last == expected.last, name)
    #expect(Array(make()) == expected, name)
  }

  private func sorted<T>(_ elements: [T], _ isBefore: (T, T) -> Bool) -> [T] {
    elements.enumerated().sorted {
      isBefore($0.element, $1.element)
        || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
  }

  private func checkAll(_ box: FirstBox, _ random: inout RandomGenerator) {
    for isAscending in [true, false] {
      func up<V: Comparable>(_ first: V, _ second: V) -> Bool {
        isAscending ? first < second : first > second
      }
      check("texts", sorted(Array(box.texts), up), &random) {
        box.texts.sorted(ascending: isAscending)
      }
      let numbers = sorted(Array(box.numbers)) { up($0 ?? .min, $1 ?? .min) }
      check("numbers", numbers, &random) { box.numbers.sorted(ascending: isAscending) }
      check("doubles", sorted(Array(box.doubles), up), &random) {
        box.doubles.sorted(ascending: isAscending)
      }
      let some = box.texts.filter { $0.hasSuffix("7") }
      check("texts that end so", sorted(Array(some), up), &random) {
        box.texts.filter("SELF ENDSWITH '7'").sorted(ascending: isAscending)
      }
      let ranks = sorted(Array(box.pieces)) { up($0.rank, $1.rank) }
      check("pieces", ranks, &random) {
        box.pieces.sorted(byKeyPath: "rank", ascending: isAscending)
      }
      let both = sorted(Array(box.pieceSet)) {
        $0.rank == $1.rank
          ? ($0.weight ?? -1) > ($1.weight ?? -1) : up($0.rank, $1.rank)
      }
      check("set of pieces", both, &random) {
        box.pieceSet.sorted(by: [
          SortDescriptor(keyPath: "rank", ascending: isAscending),
          SortDescriptor(keyPath: "weight", ascending: false),
        ])
      }
    }
    let mapped = sorted(box.pieceMap.values.compactMap { $0 }) { $0.rank < $1.rank }
    #expect(box.pieceMap.sorted(byKeyPath: "rank").first??.id == mapped.first?.id)
    #expect(
      box.pieceMap.sorted(byKeyPath: "rank").prefix(70).map { $0?.id }
        == mapped.prefix(70).map(\.id))
    // Numbers come before texts.
    let mixed = sorted(Array(box.mixed)) { first, second in
      switch (first, second) {
      case (.int(let first), .int(let second)): first < second
      case (.string(let first), .string(let second)): first < second
      case (.int, .string): true
      default: false
      }
    }
    check("mixed", mixed, &random) { box.mixed.sorted(byKeyPath: "self") }
    check("values", sorted(Array(box.named.values), <), &random) { box.named.sorted() }
  }

  @Test func areThoseOfASortedLoop() async {
    await withSeeds(1) { random in
      let box = try makeBox(&random)
      let realm = box.realm!
      checkAll(box, &random)
      realm.beginWrite()
      // The transaction has touched what they are of.
      box.pieces[0].rank += 1
      box.texts.append("t")
      checkAll(box, &random)
      realm.cancelWrite()
      // Held while what they are of changes.
      let texts = box.texts.sorted()
      let pieces = box.pieces.sorted(byKeyPath: "rank")
      for _ in 0..<amount(12, debug: 3) {
        realm.beginWrite()
        box.texts.remove(at: random.number(box.texts.count))
        box.texts.insert("t\(random.number(9))", at: random.number(box.texts.count))
        pieces[random.number(80)].rank = random.number(90)
        box.pieces.swapAt(random.number(4_000), random.number(4_000))
        let isInside = random.oneIn(2)
        if !isInside { try realm.commitWrite() }
        #expect(texts.first == box.texts.min())
        #expect(pieces.first == box.pieces.first { $0.rank == box.pieces.min(of: \.rank) })
        #expect(
          Array(pieces.prefix(3))
            == Array(sorted(Array(box.pieces)) { $0.rank < $1.rank }.prefix(3)))
        if isInside { try realm.commitWrite() }
      }
    }
  }

  @Test func positionsOfWhatFulfilsACondition() async {
    await withSeeds(1) { random in
      let box = try makeBox(&random)
      let realm = box.realm!
      let all = realm.objects(FirstPiece.self)
      let shapes: [Results<FirstPiece>] = [
        all.where { $0.rank > 20 },
        all.sorted(byKeyPath: "rank"),
        all.where { $0.rank > 20 }.sorted(byKeyPath: "weight", ascending: false),
        all.where { $0.rank > 20 }.distinct(by: ["name"]),
        all.sorted(byKeyPath: "rank").distinct(by: ["name"]),
        all.where { $0.rank < 3 }.sorted(byKeyPath: "name"),
        box.pieces.sorted(byKeyPath: "rank"),
      ]
      func checkShapes() {
        for (shape, results) in shapes.enumerated() {
          let name = "n\(random.number(720))"
          let id = random.number(Self.count + 20)
          let rank = random.number(90)
          #expect(
            results.index(matching: "name == %@", name) == results.firstIndex { $0.name == name },
            "\(name) in shape \(shape)")
          #expect(
            results.index(matching: { $0.id == id }) == results.firstIndex { $0.id == id },
            "\(id) in shape \(shape)")
          #expect(
            results.index(matching: { $0.rank >= rank }) == results.firstIndex { $0.rank >= rank },
            "\(rank) in shape \(shape)")
          let some = all[random.number(all.count)]
          #expect(
            results.index(of: some) == results.firstIndex(of: some), "of \(some.id) in \(shape)")
        }
      }
      checkShapes()
      for _ in 0..<amount(4, debug: 1) {
        realm.beginWrite()
        for _ in 0..<amount(6, debug: 3) {
          all[random.number(all.count)].rank = random.number(90)
          all[random.number(all.count)].name = "n\(random.number(700))"
          checkShapes()
        }
        try realm.commitWrite()
        checkShapes()
      }
    }
  }
}
