// One change of a group and its items, as a value: so that it can be made here, by another process,
// and to a plain model.
internal import Foundation
internal import RealmSwift

/// A change of a group, or of an item in it, given by its position.
package enum Edit: Codable, Sendable {
  case title(String)
  case appendNumber(Int)
  case removeNumber(Int)
  case moveNumber(Int, to: Int)
  case insertItem(String, at: Int)
  case removeItem(Int)
  case moveItem(Int, to: Int)
  /// Deletes the item from the Realm.
  case deleteItem(Int)
  case itemName(Int, String)
  case itemCount(Int, Int)
  case itemNote(Int, String?)
  case favorite(Int, Bool)
  case insertLabel(String)
  case removeLabel(String)
  case price(String, Int?)
  case street(String?)

  /// Makes the change by hand, in the transaction that is open.
  package func apply(to group: ItemGroup) {
    let items = group.items
    switch self {
    case .title(let title): group.title = title
    case .appendNumber(let number): group.numbers.append(number)
    case .removeNumber(let position): group.numbers.remove(at: position)
    case .moveNumber(let position, let target):
      group.numbers.move(fromOffsets: [position], toOffset: target)
    case .insertItem(let name, let position): items.insert(Item(name: name), at: position)
    case .removeItem(let position): items.remove(at: position)
    case .moveItem(let position, let target):
      items.move(fromOffsets: [position], toOffset: target)
    case .deleteItem(let position): group.realm!.delete(items[position])
    case .itemName(let position, let name): items[position].name = name
    case .itemCount(let position, let count): items[position].count = count
    case .itemNote(let position, let note): items[position].note = note
    case .favorite(let position, let isFavorite): items[position].isFavorite = isFavorite
    case .insertLabel(let label): group.labels.insert(label)
    case .removeLabel(let label): group.labels.remove(label)
    case .price(let key, let price): group.prices[key] = price
    case .street(let street):
      if let street, let address = group.address {
        address.street = street
      } else {
        group.address = street.map { Address(value: ["street": $0]) }
      }
    }
  }

  /// The change as a line of text.
  package var line: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) + "\n" }
  }

  /// The change of a line of text.
  package init(line: String) throws {
    self = try JSONDecoder().decode(Edit.self, from: Data(line.utf8))
  }
}
