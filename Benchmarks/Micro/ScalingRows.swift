// How the cost of one change grows with how much there is: each kind of change, at each place, of
// what holds objects and values. Nanoseconds a change, among 10,000 and among 100,000 (a tenth of
// that with `--quick`): what grows with the number is quadratic for who changes everything.
// `scripts/scaling` makes a table of these rows.
import Foundation
import Platform
import RealmSwift

/// An object that everything holds.
final class Piece: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Int
  @Persisted(indexed: true) var rank: Int
  @Persisted(indexed: true) var name: String
  @Persisted var isOpen: Bool
  @Persisted var hub: Box?
}

/// An object that a box owns.
final class Part: EmbeddedObject {
  @Persisted var number: Int
}

/// What holds pieces and values.
final class Box: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var pieces: List<Piece>
  @Persisted var set: MutableSet<Piece>
  @Persisted var map: Map<String, Piece?>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var mixedMap: Map<String, AnyRealmValue>
  @Persisted var parts: List<Part>
  @Persisted var numbers: List<Int>
  @Persisted var texts: List<String>
  @Persisted var numberSet: MutableSet<Int>
  @Persisted var textMap: Map<String, String>
  @Persisted(originProperty: "hub") var linking: LinkingObjects<Piece>
}

/// Where in a collection something is done.
enum Place: String, CaseIterable {
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
struct Stock {
  let realm: Realm
  let box: Box
  let count: Int

  /// - Parameter fill: which of the box's collections are filled.
  init(_ count: Int, _ fill: (Box, [Piece]) -> Void = { _, _ in }) throws {
    self.count = count
    var settings = Realm.Configuration(inMemoryIdentifier: "scaling-\(UUID().uuidString)")
    settings.objectTypes = [Piece.self, Box.self, Part.self]
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
        piece.name = "piece \(id)"
        piece.isOpen = true
        return piece
      }
      realm.add(pieces)
      fill(box, pieces)
    }
  }

  func piece(_ id: Int) -> Piece? { realm.object(ofType: Piece.self, forPrimaryKey: id) }
}

/// One change; more than all objects is never asked for.
typealias Change = (inout RandomGenerator) -> Void

/// A kind of change, as a row of its own.
struct ScalingRow {
  enum Transactions {
    case one
    /// One for each change.
    case each
  }

  let name: String
  let fill: (Box, [Piece]) -> Void
  /// What is prepared for the changes, outside of a transaction.
  let prepare: (Stock) -> Change
  var transactions = Transactions.one
}

/// Ends a row whose changes take long, so that all rows together take minutes.
private let longestNanoseconds: UInt64 = 2_000_000_000

func scalingRows(_ report: inout Report) throws {
  for row in changeRows() + resultRows() + scalingHeldRows() + heldRows() + observedRows() {
    for count in [objectCount / 100, objectCount / 10] {
      let name = "\(row.name)-\(count)"
      guard report.wants(anyOf: ["mean", "p50", "p99"].map { "\(name)-\($0)" }) else {
        continue
      }
      try measure(row, count, name, &report)
    }
  }
}

private func measure(
  _ row: ScalingRow, _ count: Int, _ name: String, _ report: inout Report
) throws {
  let stock = try Stock(count, row.fill)
  let change = row.prepare(stock)
  let clock = MonotonicClock()
  var random = RandomGenerator(seed: 31)
  var times: [UInt64] = []
  let wanted = row.transactions == .one ? count / 2 : min(count / 20, 1_000)
  if row.transactions == .one { stock.realm.beginWrite() }
  let start = clock.nanoseconds()
  while times.count < wanted {
    let before = clock.nanoseconds()
    if row.transactions == .one {
      change(&random)
    } else {
      try stock.realm.write { change(&random) }
      stock.realm.refresh()
    }
    let after = clock.nanoseconds()
    times.append(after - before)
    if after - start > longestNanoseconds { break }
  }
  if row.transactions == .one { stock.realm.cancelWrite() }
  stock.realm.invalidate()
  let mean = Double(times.reduce(0, +)) / Double(times.count)
  times.sort()
  report.add("\(name)-mean", unit: "ns", [mean])
  report.add("\(name)-p50", unit: "ns", [Double(times[times.count / 2])])
  report.add("\(name)-p99", unit: "ns", [Double(times[times.count * 99 / 100])])
}

// MARK: - Rows

/// Collections that hold all pieces, and how each is filled.
private func holders() -> [(name: String, fill: (Box, [Piece]) -> Void)] {
  [
    ("", { _, _ in }),
    ("-held-by-list", { $0.pieces.append(objectsIn: $1) }),
    ("-held-by-set", { $0.set.insert(objectsIn: $1) }),
    ("-held-by-map", { box, pieces in pieces.forEach { box.map["\($0.id)"] = $0 } }),
    ("-held-by-mixed-list", { $0.mixed.append(objectsIn: $1.map { .object($0) }) }),
    (
      "-held-by-mixed-map",
      { box, pieces in pieces.forEach { box.mixedMap["\($0.id)"] = .object($0) } }
    ),
    (
      "-held-by-all",
      { box, pieces in
        box.pieces.append(objectsIn: pieces)
        box.set.insert(objectsIn: pieces)
        pieces.forEach {
          box.map["\($0.id)"] = $0
          $0.hub = box
        }
      }
    ),
  ]
}

/// Numbers from 0, each time the next one, and again from 0 behind the half of all.
private func forwards(_ stock: Stock) -> () -> Int {
  var step = -1
  return {
    step = step + 1 == stock.count / 2 ? 0 : step + 1
    return step
  }
}

/// What is changed by its place in a collection.
private func changeRows() -> [ScalingRow] {
  var rows: [ScalingRow] = []
  func row(
    _ name: String, _ fill: @escaping (Box, [Piece]) -> Void = { _, _ in },
    _ prepare: @escaping (Stock) -> Change
  ) { rows.append(ScalingRow(name: "scaling-" + name, fill: fill, prepare: prepare)) }

  for place in Place.allCases {
    func of<Elements: RandomAccessCollection>(
      _ elements: Elements, _ body: @escaping (Elements, Int) -> Void
    ) -> Change where Elements.Index == Int {
      { random in
        let count = elements.count
        if count > 0 { body(elements, place.position(count, &random)) }
      }
    }
    row("delete-of-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) { stock.realm.delete($0[$1]) }
    }
    row("remove-from-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) { $0.remove(at: $1) }
    }
    row("insert-into-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) { $0.insert($0[0], at: $1) }
    }
    row("set-in-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) { $0[$1] = $0[0] }
    }
    row("move-in-list-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) { $0.move(from: $1, to: $0.count / 3) }
    }
    row("delete-then-append-\(place)", { $0.pieces.append(objectsIn: $1) }) { stock in
      of(stock.box.pieces) {
        stock.realm.delete($0[$1])
        $0.append($0[0])
      }
    }
    row("set-in-numbers-\(place)", { $0.numbers.append(objectsIn: $1.map(\.id)) }) { stock in
      of(stock.box.numbers) { $0[$1] = 7 }
    }
    row("insert-into-texts-\(place)", { $0.texts.append(objectsIn: $1.map { "text \($0.id)" }) }) {
      stock in of(stock.box.texts) { $0.insert("new", at: $1) }
    }
    row("delete-of-set-\(place)", { $0.set.insert(objectsIn: $1) }) { stock in
      of(stock.box.set) { stock.realm.delete($0[$1]) }
    }
    row("remove-from-number-set-\(place)", { $0.numberSet.insert(objectsIn: $1.map(\.id)) }) {
      stock in of(stock.box.numberSet) { $0.remove($0[$1]) }
    }
    row(
      "remove-embedded-\(place)",
      { box, pieces in
        box.parts.append(objectsIn: pieces.map { Part(value: ["number": $0.id]) })
      }
    ) { stock in of(stock.box.parts) { $0.remove(at: $1) } }
    row(
      "delete-embedded-\(place)",
      { box, pieces in
        box.parts.append(objectsIn: pieces.map { Part(value: ["number": $0.id]) })
      }
    ) { stock in of(stock.box.parts) { stock.realm.delete($0[$1]) } }
    row("unlink-from-hub-\(place)", { box, pieces in pieces.forEach { $0.hub = box } }) { stock in
      of(stock.box.linking) { $0[$1].hub = nil }
    }
    row("delete-linking-to-hub-\(place)", { box, pieces in pieces.forEach { $0.hub = box } }) {
      stock in of(stock.box.linking) { stock.realm.delete($0[$1]) }
    }
  }
  row("map-set") { stock in
    { stock.box.textMap["\($0.next() % UInt64(stock.count))"] = "x" }
  }
  row("map-remove", { box, pieces in pieces.forEach { box.textMap["\($0.id)"] = "x" } }) { stock in
    { stock.box.textMap["\($0.next() % UInt64(stock.count))"] = nil }
  }
  row("add-object") { stock in
    { random in
      let piece = Piece()
      piece.id = 1_000_000 + Int(random.next() % 1_000_000_000_000)
      stock.realm.add(piece, update: .modified)
    }
  }
  return rows
}

/// What is changed through results: made anew each time, and held.
private func resultRows() -> [ScalingRow] {
  var rows: [ScalingRow] = []
  let kinds: [(name: String, make: (Realm) -> Results<Piece>)] = [
    ("all", { $0.objects(Piece.self) }),
    ("filtered", { $0.objects(Piece.self).where { $0.isOpen } }),
    ("filtered-number", { $0.objects(Piece.self).where { $0.number >= 0 } }),
    ("filtered-index", { $0.objects(Piece.self).where { $0.rank >= 0 } }),
    ("filtered-text", { $0.objects(Piece.self).where { $0.name.contains("iece") } }),
    ("sorted", { $0.objects(Piece.self).sorted(byKeyPath: "rank") }),
    ("sorted-text", { $0.objects(Piece.self).sorted(byKeyPath: "name") }),
    (
      "filtered-sorted",
      {
        $0.objects(Piece.self).where { $0.isOpen }.sorted(byKeyPath: "number", ascending: false)
      }
    ),
    ("distinct", { $0.objects(Piece.self).distinct(by: ["number"]) }),
  ]
  let changes: [(name: String, change: (Realm, Piece) -> Void)] = [
    ("delete", { $0.delete($1) }),
    ("close", { $1.isOpen = false }),
    ("rerank", { $1.rank += 300_000 }),
  ]
  for (kind, make) in kinds {
    for (name, change) in changes {
      for place in Place.allCases {
        func through(_ results: Results<Piece>, _ realm: Realm, _ random: inout RandomGenerator) {
          let count = results.count
          if count > 0 { change(realm, results[place.position(count, &random)]) }
        }
        // Changed objects that stay are held in few kinds.
        if name == "close", !kind.hasPrefix("filtered") { continue }
        if name == "rerank", !["sorted", "filtered-index"].contains(kind) { continue }
        rows.append(
          ScalingRow(name: "scaling-\(name)-\(kind)-\(place)", fill: { _, _ in }) { stock in
            { through(make(stock.realm), stock.realm, &$0) }
          })
        let live = { (stock: Stock) -> Change in
          let results = make(stock.realm)
          return { through(results, stock.realm, &$0) }
        }
        rows.append(
          ScalingRow(
            name: "scaling-\(name)-live-\(kind)-\(place)", fill: { _, _ in }, prepare: live)
        )
        if name == "delete" || name == "close" && kind == "filtered" {
          rows.append(
            ScalingRow(
              name: "scaling-each-\(name)-live-\(kind)-\(place)", fill: { _, _ in }, prepare: live,
              transactions: .each))
        }
      }
    }
  }
  let first: [(name: String, change: (Realm, Piece) -> Void)] = [
    ("close", { $1.isOpen = false }), ("delete", { $0.delete($1) }),
  ]
  for (name, change) in first {
    for (holding, transactions) in [("", .one), ("each-", .each)]
      as [(String, ScalingRow.Transactions)]
    {
      rows.append(
        ScalingRow(
          name: "scaling-\(holding)\(name)-first-open", fill: { _, _ in },
          prepare: { stock in
            { _ in
              let open = stock.realm.objects(Piece.self).where { $0.isOpen }
              if let piece = open.first { change(stock.realm, piece) }
            }
          }, transactions: transactions))
      rows.append(
        ScalingRow(
          name: "scaling-\(holding)\(name)-live-first-open", fill: { _, _ in },
          prepare: { stock in
            let open = stock.realm.objects(Piece.self).where { $0.isOpen }
            return { _ in
              if let piece = open.first { change(stock.realm, piece) }
            }
          }, transactions: transactions))
    }
  }
  rows.append(
    ScalingRow(name: "scaling-count-live-after-close", fill: { _, _ in }) { stock in
      let open = stock.realm.objects(Piece.self).where { $0.isOpen }
      return { random in
        stock.piece(Int(random.next() % UInt64(stock.count)))?.isOpen = false
        _ = open.count
      }
    })
  return rows
}

/// What is found by its key, while collections hold it.
private func heldRows() -> [ScalingRow] {
  var rows: [ScalingRow] = []
  for order in ["forwards", "backwards", "random"] {
    func keys(_ stock: Stock) -> (inout RandomGenerator) -> Int {
      let next = forwards(stock)
      return {
        switch order {
        case "forwards": next()
        case "backwards": stock.count - 1 - next()
        default: Int($0.next() % UInt64(stock.count))
        }
      }
    }
    for (holder, fill) in holders() {
      let delete = { (stock: Stock) -> Change in
        let key = keys(stock)
        return { random in
          if let piece = stock.piece(key(&random)) { stock.realm.delete(piece) }
        }
      }
      rows.append(
        ScalingRow(name: "scaling-delete-by-key-\(order)\(holder)", fill: fill, prepare: delete))
      if order == "random" {
        rows.append(
          ScalingRow(
            name: "scaling-each-delete-by-key-\(order)\(holder)", fill: fill, prepare: delete,
            transactions: .each))
      }
    }
    let changes: [(name: String, change: (Piece) -> Void)] = [
      ("rank", { $0.rank += 200_000 }), ("name", { $0.name = "other \($0.id)" }),
      ("number", { $0.number += 1 }),
    ]
    for (name, change) in changes {
      rows.append(
        ScalingRow(name: "scaling-\(name)-\(order)", fill: { _, _ in }) { stock in
          let key = keys(stock)
          return { random in
            if let piece = stock.piece(key(&random)) { change(piece) }
          }
        })
    }
  }
  return rows
}

/// Changes while what is changed is observed, a transaction each.
private func observedRows() -> [ScalingRow] {
  var rows: [ScalingRow] = []
  let observations: [(name: String, observe: (Stock) -> NotificationToken)] = [
    ("list", { $0.box.pieces.observe { _ in } }),
    ("set", { $0.box.set.observe { _ in } }),
    ("map", { $0.box.map.observe { _ in } }),
    ("hub", { $0.box.linking.observe { _ in } }),
    ("all", { $0.realm.objects(Piece.self).observe { _ in } }),
    ("filtered", { $0.realm.objects(Piece.self).where { $0.isOpen }.observe { _ in } }),
    ("sorted", { $0.realm.objects(Piece.self).sorted(byKeyPath: "rank").observe { _ in } }),
    ("distinct", { $0.realm.objects(Piece.self).distinct(by: ["number"]).observe { _ in } }),
    (
      "sections",
      {
        $0.realm.objects(Piece.self)
          .sectioned(by: { $0.id % 7 }, sortDescriptors: [SortDescriptor(keyPath: "id")])
          .observe { _ in }
      }
    ),
  ]
  let changes: [(name: String, change: (Stock, Piece) -> Void)] = [
    ("delete", { $0.realm.delete($1) }), ("close", { $1.isOpen.toggle() }),
    ("number", { $1.number += 1_000_000 }),
  ]
  for (observed, observe) in observations {
    for (name, change) in changes {
      rows.append(
        ScalingRow(
          name: "scaling-each-\(name)-observed-\(observed)",
          fill: { box, pieces in
            switch observed {
            case "list": box.pieces.append(objectsIn: pieces)
            case "set": box.set.insert(objectsIn: pieces)
            case "map": pieces.forEach { box.map["\($0.id)"] = $0 }
            case "hub": pieces.forEach { $0.hub = box }
            default: break
            }
          },
          prepare: { stock in
            let token = observe(stock)
            stock.realm.refresh()
            return { random in
              let key = Int(random.next() % UInt64(stock.count))
              withExtendedLifetime(token) {
                if let piece = stock.piece(key) { change(stock, piece) }
              }
            }
          }, transactions: .each))
    }
  }
  return rows
}
