// The plain model of a group and the items of its file: what wrappers have to show.
import EditingProcess
import Platform
import RealmSwift

/// An item without a Realm.
struct PlainItem: CustomStringConvertible {
  /// In the order in which items were made.
  var serial: Int
  var name: String
  var count = 0
  var note: String?
  var isFavorite = false

  var description: String { "\(name) \(count) \(note ?? "-") \(isFavorite)" }
}

/// A group without a Realm, and all items of the file.
struct PlainGroup {
  private(set) var title = "group"
  private(set) var numbers: [Int] = []
  private(set) var items: [PlainItem] = []
  /// Items that were taken out of the group.
  private var others: [PlainItem] = []
  private(set) var labels: Set<String> = []
  private(set) var prices: [String: Int] = [:]
  private(set) var street: String?
  private var made = 0

  mutating func apply(_ edit: Edit) {
    switch edit {
    case .title(let value): title = value
    case .appendNumber(let number): numbers.append(number)
    case .removeNumber(let position): numbers.remove(at: position)
    case .moveNumber(let position, let target): Self.move(&numbers, position, target)
    case .insertItem(let name, let position):
      items.insert(PlainItem(serial: made, name: name), at: position)
      made += 1
    case .removeItem(let position): others.append(items.remove(at: position))
    case .moveItem(let position, let target): Self.move(&items, position, target)
    case .deleteItem(let position): items.remove(at: position)
    case .itemName(let position, let name): items[position].name = name
    case .itemCount(let position, let count): items[position].count = count
    case .itemNote(let position, let note): items[position].note = note
    case .favorite(let position, let isFavorite): items[position].isFavorite = isFavorite
    case .insertLabel(let label): labels.insert(label)
    case .removeLabel(let label): labels.remove(label)
    case .price(let key, let price): prices[key] = price
    case .street(let value): street = value
    }
  }

  private static func move<Element>(_ elements: inout [Element], _ position: Int, _ target: Int) {
    let moved = elements.remove(at: position)
    elements.insert(moved, at: target > position ? target - 1 : target)
  }

  /// All items of the file, in the order in which they were made.
  private var all: [PlainItem] { (items + others).sorted { $0.serial < $1.serial } }

  /// A change that can be made now.
  func randomEdit(_ random: inout RandomGenerator) -> Edit {
    func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    let isFull = items.count + others.count > 12
    switch number(20) {
    case 0, 1: return .title("t\(number(3))")
    case 2, 3: return .appendNumber(number(5))
    case 4 where !numbers.isEmpty: return .removeNumber(number(numbers.count))
    case 5 where !numbers.isEmpty:
      return .moveNumber(number(numbers.count), to: number(numbers.count + 1))
    case 6: return .insertLabel("l\(number(3))")
    case 7: return .removeLabel("l\(number(3))")
    case 8, 9: return .price("p\(number(3))", number(3) == 0 ? nil : number(3))
    case 10: return .street(number(4) == 0 ? nil : "s\(number(3))")
    default: break
    }
    if items.isEmpty || (!isFull && number(5) == 0) {
      return .insertItem("i\(number(4))", at: number(items.count + 1))
    }
    let position = number(items.count)
    switch number(isFull ? 4 : 12) {
    case 0, 1, 2: return .deleteItem(position)
    case 3: return .moveItem(position, to: number(items.count + 1))
    case 4: return .removeItem(position)
    case 5, 6: return .itemName(position, "i\(number(4))")
    case 7, 8: return .itemCount(position, number(3))
    case 9: return .itemNote(position, number(2) == 0 ? nil : "n\(number(2))")
    default: return .favorite(position, number(2) == 0)
    }
  }

  // MARK: - What is shown of it

  /// The parts that are shown, each by wrappers or bindings of its own.
  enum Part: CaseIterable {
    case group, title, items, numbers, labels, prices, street, favorites, byCount, names
  }

  func image(_ part: Part) -> String {
    switch part {
    case .group:
      "\(title) \(numbers) \(items.count) \(labels.sorted()) \(Self.text(prices)) \(street != nil)"
    case .title: title
    case .items, .names: "\(items)"
    case .numbers: "\(numbers)"
    case .labels: "\(labels.sorted())"
    case .prices: Self.text(prices)
    case .street: street ?? "-"
    case .favorites: "\(all.filter(\.isFavorite))"
    case .byCount:
      "\(Dictionary(grouping: all, by: \.count).sorted { $0.key < $1.key }.map { "\($0): \($1)" })"
    }
  }

  static func text(_ prices: [String: Int]) -> String {
    "\(prices.sorted { $0.key < $1.key }.map { "\($0) \($1)" })"
  }
}

extension Edit {
  /// The parts that may have to be drawn anew, whether or not the change makes a difference.
  var parts: Set<PlainGroup.Part> {
    switch self {
    case .title: [.group, .title]
    case .appendNumber, .removeNumber, .moveNumber: [.group, .numbers]
    case .insertItem, .removeItem, .moveItem, .deleteItem:
      [.group, .items, .names, .favorites, .byCount]
    case .itemName, .itemCount, .itemNote, .favorite: [.items, .names, .favorites, .byCount]
    case .insertLabel, .removeLabel: [.group, .labels]
    case .price: [.group, .prices]
    case .street: [.group, .street]
    }
  }
}
