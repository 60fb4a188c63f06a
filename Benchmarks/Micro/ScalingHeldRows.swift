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

/// Edits of a collection while results of it, or sections, are held and asked after each.
private struct EditHolding {
  let name: String
  let fill: (Box, [Piece]) -> Void
  /// Makes what is held, and gives what asks it.
  let make: (Box) -> () -> Void

  static var ofObjects: [EditHolding] {
    let fill: (Box, [Piece]) -> Void = { $0.pieces.append(objectsIn: $1) }
    return [
      EditHolding(name: "list-filter", fill: fill) { box in
        let open = box.pieces.where { $0.isOpen }
        return { _ = (open.count, open.last) }
      },
      EditHolding(name: "list-sorted", fill: fill) { box in
        let sorted = box.pieces.sorted(byKeyPath: "number", ascending: false)
        return { _ = (sorted.first, sorted.last) }
      },
      EditHolding(name: "list-sections", fill: fill) { box in
        let sections = box.pieces.sectioned { $0.id % 7 }
        return { _ = (sections.count, sections[0].first) }
      },
    ]
  }

  static var ofNumbers: [EditHolding] {
    let fill: (Box, [Piece]) -> Void = { $0.numbers.append(objectsIn: $1.map(\.id)) }
    return [
      EditHolding(name: "numbers-filter", fill: fill) { box in
        let large = box.numbers.where { $0 > 50 }
        return { _ = (large.count, large.last) }
      },
      EditHolding(name: "numbers-sorted", fill: fill) { box in
        let sorted = box.numbers.sorted(ascending: false)
        return { _ = (sorted.first, sorted.last) }
      },
      EditHolding(name: "numbers-sections", fill: fill) { box in
        let sections = box.numbers.sectioned { $0 % 7 }
        return { _ = (sections.count, sections[0].first) }
      },
    ]
  }

  /// A row for each edit, of a list in which `new` is put.
  func rows<Element: RealmCollectionValue>(
    _ list: @escaping (Box) -> List<Element>, _ new: @escaping (Stock) -> Element
  ) -> [ScalingRow] {
    let edits: [(name: String, edit: (List<Element>, Int, Element) -> Void)] = [
      ("insert", { $0.insert($2, at: $1) }),
      ("remove", { list, place, _ in list.remove(at: place) }),
      ("set", { $0[$1] = $2 }), ("move", { list, place, _ in list.move(from: place, to: 0) }),
    ]
    return edits.flatMap { name, edit in
      [Place.front, .random].map { place in
        ScalingRow(name: "scaling-\(name)-in-held-\(self.name)-\(place)", fill: fill) { stock in
          let (list, new) = (list(stock.box), new(stock))
          let ask = make(stock.box)
          return { random in
            edit(list, place.position(list.count, &random), new)
            ask()
          }
        }
      }
    }
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
  rows += EditHolding.ofObjects.flatMap { $0.rows(\.pieces) { $0.realm.objects(Piece.self)[7] } }
  rows += EditHolding.ofNumbers.flatMap { $0.rows(\.numbers) { _ in 77 } }
  return rows
}
