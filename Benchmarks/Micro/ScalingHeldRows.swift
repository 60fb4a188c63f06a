// How the cost of one change grows with what is held meanwhile: results of collections, and
// sections. The elements are changed through them, in one transaction or in one for each change.
import Foundation
import Platform
import RealmSwift

/// Objects of a stock that somebody holds.
private struct Holding {
  let name: String
  var fill: (Box, [Piece]) -> Void = { _, _ in }
  /// Makes it, and gives what tells an object to be changed.
  let make: (Stock) -> (Place, inout RandomGenerator) -> Piece?

  /// Results.
  init(
    _ name: String, fill: @escaping (Box, [Piece]) -> Void,
    results: @escaping (Stock) -> Results<Piece>
  ) {
    self.name = name
    self.fill = fill
    make = { stock in
      let results = results(stock)
      return { place, random in
        if place == .front { return results.first }
        let count = results.count
        return count == 0 ? nil : results[place.position(count, &random)]
      }
    }
  }

  /// Sections.
  init<Key>(
    _ name: String, fill: @escaping (Box, [Piece]) -> Void = { _, _ in },
    sections: @escaping (Stock) -> SectionedResults<Key, Piece>
  ) {
    self.name = name
    self.fill = fill
    make = { stock in
      let sections = sections(stock)
      return { place, random in
        let count = sections.count
        if count == 0 { return nil }
        let section = sections[place.position(count, &random)]
        return section[place.position(section.count, &random)]
      }
    }
  }

  static var all: [Holding] {
    let byID = [SortDescriptor(keyPath: "id")]
    let seventh: (Piece) -> Int = { $0.id % 7 }
    let list: (Box, [Piece]) -> Void = { $0.pieces.append(objectsIn: $1) }
    let set: (Box, [Piece]) -> Void = { $0.set.insert(objectsIn: $1) }
    let hub: (Box, [Piece]) -> Void = { box, pieces in pieces.forEach { $0.hub = box } }
    return [
      Holding("list-filter", fill: list) { $0.box.pieces.where { $0.isOpen } },
      Holding("list-sorted", fill: list) {
        $0.box.pieces.where { $0.isOpen }.sorted(byKeyPath: "number")
      },
      Holding("set-filter", fill: set) { $0.box.set.where { $0.isOpen } },
      Holding("linking-filter", fill: hub) { $0.box.linking.where { $0.isOpen } },
      Holding("sections") { $0.realm.objects(Piece.self).sectioned(by: seventh) },
      Holding("sections-sorted") {
        $0.realm.objects(Piece.self).where { $0.isOpen }
          .sectioned(by: seventh, sortDescriptors: byID)
      },
      Holding("sections-of-list", fill: list) {
        $0.box.pieces.where { $0.isOpen }.sectioned(by: seventh)
      },
      Holding("sections-each-its-own") {
        $0.realm.objects(Piece.self).where { $0.isOpen }.sectioned(by: \.number)
      },
    ]
  }
}

func scalingHeldRows() -> [ScalingRow] {
  let changes: [(name: String, change: (Realm, Piece) -> Void)] = [
    ("close", { $1.isOpen = false }), ("delete", { $0.delete($1) }),
  ]
  var rows: [ScalingRow] = []
  for holding in Holding.all {
    for (name, change) in changes {
      // Closed ones stay in these.
      if name == "close", holding.name == "sections" { continue }
      for place in [Place.front, .random] {
        for (prefix, transactions) in [("", .one), ("each-", .each)]
          as [(String, ScalingRow.Transactions)]
        {
          rows.append(
            ScalingRow(
              name: "scaling-\(prefix)\(name)-live-\(holding.name)-\(place)", fill: holding.fill,
              prepare: { stock in
                let next = holding.make(stock)
                return { random in
                  if let piece = next(place, &random) { change(stock.realm, piece) }
                }
              }, transactions: transactions))
        }
      }
    }
  }
  return rows
}
