// Random edits by binding, by hand and by another process, against a plain model: all that is shown
// is the model's, and who shows a part is told once of a step that has changed it, and of nothing
// else.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@MainActor
@Suite(.serialized, .ownThreads) struct QuickWriteModelTests {
  @Test func randomEdits() async {
    await withSeeds(3) { random in
      var generator = random
      try await Self.run(&generator)
    }
  }

  private static func run(_ random: inout RandomGenerator) async throws {
    let shop = Shop()
    let other = try OtherProcess(shop.configuration)
    let screen = AllShown(shop)
    var model = PlainGroup()
    var redraws: [PlainGroup.Part: Redraws] = [:]
    // What was drawn last, in the call that said that something has changed.
    let drawn = Drawn()
    for part in PlainGroup.Part.allCases {
      let counter = Redraws()
      redraws[part] = counter
      counter.follow { drawn.images[part] = screen.image(part) }
    }
    let whole = Redraws()
    whole.follow { drawn.whole = PlainGroup.Part.allCases.map { screen.image($0) } }

    for step in 0..<90 {
      let before = model
      var edits: [Edit] = []
      func next() -> Edit {
        let edit = model.randomEdit(&random)
        model.apply(edit)
        edits.append(edit)
        return edit
      }
      let way = Int.random(in: 0..<4, using: &random)
      switch way {
      case 0: screen.apply(next())
      case 1: try shop.realm.write { next().apply(to: screen.live) }
      case 2: try other.apply(next())
      default:
        // Several commits, told together.
        for _ in 0..<Int.random(in: 2..<5, using: &random) { try other.apply(next()) }
      }
      await shop.settle()
      let text: Comment = "step \(step), way \(way): \(edits)"
      for part in PlainGroup.Part.allCases {
        let image = model.image(part)
        #expect(screen.image(part) == image, text)
        #expect(drawn.images[part] == image, text)
        let told = redraws[part]!.take()
        if before.image(part) != image {
          #expect(told == 1, "\(part), \(text)")
        } else if edits.contains(where: { $0.parts.contains(part) }) {
          #expect(told <= 1, "\(part), \(text)")
        } else {
          #expect(told == 0, "\(part), \(text)")
        }
      }
      let images = PlainGroup.Part.allCases.map { model.image($0) }
      #expect(drawn.whole == images, text)
      let told = whole.take()
      #expect(PlainGroup.Part.allCases.map { before.image($0) } == images ? told <= 1 : told == 1)
    }
    try other.end()
  }
}

@MainActor
private final class Drawn {
  var images: [PlainGroup.Part: String] = [:]
  var whole: [String] = []
}

/// Everything of a group that can be shown, by each kind of wrapper and binding.
@MainActor
private final class AllShown {
  let live: ItemGroup
  @ObservedRealmObject var group: ItemGroup
  @ObservedRealmObject var items: List<Item>
  @ObservedRealmObject var labels: MutableSet<String>
  @ObservedRealmObject var prices: Map<String, Int>
  @ObservedResults<Item> var favorites: Results<Item>
  @ObservedSectionedResults<Int, Item> var byCount: SectionedResults<Int, Item>

  init(_ shop: Shop) {
    live = shop.addGroup()
    _group = ObservedRealmObject(wrappedValue: live)
    _items = ObservedRealmObject(wrappedValue: live.items)
    _labels = ObservedRealmObject(wrappedValue: live.labels)
    _prices = ObservedRealmObject(wrappedValue: live.prices)
    _favorites = ObservedResults(
      Item.self, configuration: shop.configuration, where: { $0.isFavorite })
    _byCount = ObservedSectionedResults(
      Item.self, sectionKeyPath: \.count, configuration: shop.configuration)
  }

  /// What is shown of a part.
  func image(_ part: PlainGroup.Part) -> String {
    switch part {
    case .group:
      let group = group
      let prices = Dictionary(uniqueKeysWithValues: group.prices.map { ($0.key, $0.value) })
      return "\(group.title) \(Array(group.numbers)) \(group.items.count) "
        + "\(Array(group.labels).sorted()) \(PlainGroup.text(prices)) \(group.address != nil)"
    case .title: return $group.title.wrappedValue
    case .items: return Self.image(items)
    case .names: return Self.image($group.items.wrappedValue)
    case .numbers: return "\(Array($group.numbers.wrappedValue))"
    case .labels: return "\(Array(labels).sorted())"
    case .prices:
      return PlainGroup.text(
        Dictionary(uniqueKeysWithValues: prices.map { ($0.key, $0.value) }))
    case .street: return $group.address.wrappedValue?.street ?? "-"
    case .favorites: return Self.image(favorites)
    case .byCount:
      return "\(Array(byCount).map { "\($0.key): \(Self.image($0))" })"
    }
  }

  /// Collections of a Realm map lazily: here all is read at once.
  private static func image(_ items: some Sequence<Item>) -> String {
    let images = Array(items).map {
      PlainItem(serial: 0, name: $0.name, count: $0.count, note: $0.note, isFavorite: $0.isFavorite)
    }
    return "\(images)"
  }

  /// Makes a change by bindings alone.
  func apply(_ edit: Edit) {
    switch edit {
    case .title(let title): $group.title.wrappedValue = title
    case .appendNumber(let number): $group.numbers.append(number)
    case .removeNumber(let position): $group.numbers.remove(at: position)
    case .moveNumber(let position, let target):
      $group.numbers.move(fromOffsets: [position], toOffset: target)
    case .insertItem(let name, let position):
      if position == items.count {
        $items.append(Item(name: name))
      } else {
        $group.items.insert(Item(name: name), at: position)
      }
    case .removeItem(let position): $items.remove(at: position)
    case .moveItem(let position, let target):
      $items.move(fromOffsets: [position], toOffset: target)
    case .deleteItem(let position): $favorites.remove(items[position])
    case .itemName(let position, let name): items[position].bind(\.name).wrappedValue = name
    case .itemCount(let position, let count):
      $group.items.wrappedValue[position].bind(\.count).wrappedValue = count
    case .itemNote(let position, let note): items[position].bind(\.note).wrappedValue = note
    case .favorite(let position, let isFavorite):
      items[position].bind(\.isFavorite).wrappedValue = isFavorite
    case .insertLabel(let label): $labels.insert(label)
    case .removeLabel(let label): $group.labels.remove(label)
    case .price(let key, let price): $prices.set(object: price, for: key)
    case .street(let street):
      if let street, let address = Binding($group.address) {
        address.street.wrappedValue = street
      } else {
        $group.address.wrappedValue = street.map { Address(value: ["street": $0]) }
      }
    }
  }
}

/// Another process, which makes changes when it is told to.
private final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ configuration: Realm.Configuration) throws {
    process.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appendingPathComponent("EditingProcess")
    process.arguments = [configuration.fileURL!.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Returns when the change is acknowledged.
  func apply(_ edit: Edit) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(edit.line.utf8))
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "the other process has ended")
      line += more
    }
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }
}
