// How the cost of one change grows with how much there is: each kind of change, at each place, of
// what holds objects and values. Nanoseconds a change, among 10,000 and among 100,000 (a tenth of
// that with `--quick`): what grows with the number is quadratic for who changes everything.
import Foundation
import Platform
import RealmSwift

/// An object that everything holds.
final class Piece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Int
  @Persisted(indexed: true) var rank: Int
  @Persisted var isOpen: Bool
  @Persisted var hub: Box?
}

/// What holds pieces and values.
final class Box: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var pieces: List<Piece>
  @Persisted var set: MutableSet<Piece>
  @Persisted var map: Map<String, Piece?>
  @Persisted var numbers: List<Int>
  @Persisted var texts: List<String>
  @Persisted var numberSet: MutableSet<Int>
  @Persisted var textMap: Map<String, String>
  @Persisted(originProperty: "hub") var linking: LinkingObjects<Piece>
}

/// Where in a collection something is done.
private enum Place: String, CaseIterable {
  case front, back, middle, random

  func position(_ count: Int, _ random: inout RandomGenerator) -> Int {
    switch self {
    case .front: 0
    case .back: count - 1
    case .middle: count / 2
    case .random: Int(random.next() % UInt64(count))
    }
  }
}

/// What a row works on.
private struct Stock {
  let realm: Realm
  let box: Box
  let count: Int

  /// - Parameter fill: which of the box's collections are filled.
  init(_ count: Int, _ fill: (Box, [Piece]) -> Void = { _, _ in }) throws {
    self.count = count
    var settings = Realm.Configuration(inMemoryIdentifier: "scaling-\(UUID().uuidString)")
    settings.objectTypes = [Piece.self, Box.self]
    realm = try Realm(configuration: settings)
    let box = Box()
    self.box = box
    try realm.write {
      realm.add(box)
      let pieces = (0..<count).map { id in
        let piece = Piece()
        piece.id = id
        piece.number = id
        piece.rank = id
        piece.isOpen = true
        return piece
      }
      realm.add(pieces)
      fill(box, pieces)
    }
    realm.beginWrite()
  }
}

private typealias Change = (Stock, inout RandomGenerator) -> Void

func scalingRows(_ report: inout Report) throws {
  var rows: [(name: String, fill: (Box, [Piece]) -> Void, change: Change)] = []
  func row(
    _ name: String, _ fill: @escaping (Box, [Piece]) -> Void = { _, _ in },
    _ change: @escaping Change
  ) { rows.append(("scaling-" + name, fill, change)) }

  for place in Place.allCases {
    row("delete-results-\(place)") { stock, random in
      let results = stock.realm.objects(Piece.self)
      stock.realm.delete(results[place.position(results.count, &random)])
    }
    row("delete-filtered-\(place)") { stock, random in
      let results = stock.realm.objects(Piece.self).where { $0.isOpen }
      stock.realm.delete(results[place.position(results.count, &random)])
    }
    row("delete-sorted-\(place)") { stock, random in
      let results = stock.realm.objects(Piece.self).sorted(byKeyPath: "rank")
      stock.realm.delete(results[place.position(results.count, &random)])
    }
    row("delete-of-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock, random in
      let pieces = stock.box.pieces
      stock.realm.delete(pieces[place.position(pieces.count, &random)])
    }
    row("remove-from-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock, random in
      let pieces = stock.box.pieces
      pieces.remove(at: place.position(pieces.count, &random))
    }
    row("insert-into-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock, random in
      let pieces = stock.box.pieces
      pieces.insert(pieces[0], at: place.position(pieces.count, &random))
    }
    row("move-in-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock, random in
      let pieces = stock.box.pieces
      pieces.move(from: place.position(pieces.count, &random), to: pieces.count / 3)
    }
    row("set-in-numbers-\(place)", { $0.numbers.append(objectsIn: $1.map(\.id)) }) {
      stock, random in
      let numbers = stock.box.numbers
      numbers[place.position(numbers.count, &random)] = 7
    }
    row("insert-into-texts-\(place)", { $0.texts.append(objectsIn: $1.map { "text \($0.id)" }) }) {
      stock, random in
      let texts = stock.box.texts
      texts.insert("new", at: place.position(texts.count, &random))
    }
    row("remove-from-number-set-\(place)", { $0.numberSet.insert(objectsIn: $1.map(\.id)) }) {
      stock, random in
      let set = stock.box.numberSet
      set.remove(set[place.position(set.count, &random)])
    }
    row("unlink-from-hub-\(place)", { box, pieces in pieces.forEach { $0.hub = box } }) {
      stock, random in
      let linking = stock.box.linking
      linking[place.position(linking.count, &random)].hub = nil
    }
    row("delete-linking-to-hub-\(place)", { box, pieces in pieces.forEach { $0.hub = box } }) {
      stock, random in
      let linking = stock.box.linking
      stock.realm.delete(linking[place.position(linking.count, &random)])
    }
  }
  for (name, isBackwards) in [("forwards", false), ("backwards", true)] {
    func key(_ stock: Stock, _ step: inout Int) -> Int {
      defer { step += 1 }
      return isBackwards ? stock.count - 1 - step : step
    }
    for (kind, fill) in [
      ("", { _, _ in }), ("-held-by-list", { $0.pieces.append(objectsIn: $1) }),
      ("-held-by-set", { $0.set.insert(objectsIn: $1) }),
      (
        "-held-by-map",
        { box, pieces in pieces.forEach { box.map["\($0.id)"] = $0 } }
      ),
    ] as [(String, (Box, [Piece]) -> Void)] {
      var step = 0
      row("delete-by-key-\(name)\(kind)", fill) { stock, _ in
        if step == stock.count / 2 { step = 0 }
        let object = stock.realm.object(ofType: Piece.self, forPrimaryKey: key(stock, &step))
        if let object { stock.realm.delete(object) }
      }
    }
    var step = 0
    row("rank-\(name)") { stock, _ in
      if step == stock.count / 2 { step = 0 }
      stock.realm.object(ofType: Piece.self, forPrimaryKey: key(stock, &step))?.rank += 200_000
    }
  }
  row("add-object") { stock, random in
    let piece = Piece()
    piece.id = 1_000_000 + Int(random.next() % 1_000_000_000_000)
    stock.realm.add(piece, update: .modified)
  }
  row("close-first-open") { stock, _ in
    stock.realm.objects(Piece.self).where { $0.isOpen }.first?.isOpen = false
  }
  row("map-set") { stock, random in
    stock.box.textMap["\(random.next() % UInt64(stock.count))"] = "x"
  }

  for (name, fill, change) in rows {
    for count in [objectCount / 100, objectCount / 10] {
      guard report.wants("\(name)-\(count)") else { continue }
      let stock = try Stock(count, fill)
      var random = RandomGenerator(seed: 31)
      report.time("\(name)-\(count)", repetitions: 1, calls: count / 2) {
        for _ in 0..<count / 2 { change(stock, &random) }
      }
      stock.realm.cancelWrite()
      stock.realm.invalidate()
    }
  }
}
