// The property wrappers: what they show, what `$` gives, and that they end with whoever has them.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

/// A screen as one writes it with SwiftUI, without its import.
struct EditItem {
  @ObservedRealmObject var item: Item

  @MainActor var text: String { "\(item.name) \(item.count)" }
  @MainActor func rename(_ name: String) { $item.name.wrappedValue = name }
}

final class GroupScreen {
  @ObservedRealmObject var group: ItemGroup
  @StateRealmObject var draft = Item()
  init(group: ItemGroup) { _group = ObservedRealmObject(wrappedValue: group) }
}

@MainActor
@Suite(.ownThreads) struct WrapperTests {
  private let shop = Shop()

  @Test func objectsAreShownFrozenAndWrittenLive() {
    let item = shop.addItem("A")
    let screen = EditItem(item: item)
    #expect(screen.item.isFrozen && screen.item.id == item.id)
    screen.rename("B")
    screen.$item.count.wrappedValue += 2
    #expect(item.name == "B" && screen.text == "B 2")
    screen.$item.note.wrappedValue = "C"
    #expect(screen.$item.note.wrappedValue == "C")
    // Handed on as it is shown.
    let next = EditItem(item: screen.item)
    next.rename("D")
    #expect(item.name == "D" && screen.text == "D 2" && next.text == "D 2")
  }

  @Test func localVariablesAndUnmanagedObjects() {
    @StateRealmObject var item = Item(name: "A")
    #expect(item.realm == nil)
    $item.name.wrappedValue = "B"
    #expect(item.name == "B" && $item.name.wrappedValue == "B")
    let group = shop.addGroup()
    group.bind(\.items).append(item)
    #expect(item.isFrozen)
    $item.name.wrappedValue = "C"
    #expect(group.items[0].name == "C" && item.name == "C")
    $item.delete()
    #expect(group.items.isEmpty)
    @StateRealmObject var list: List<Int>
    $list.append(1)
    #expect(Array(list) == [1])
  }

  @Test func collectionsOfAnObject() {
    let group = shop.addGroup("A", "B")
    let screen = GroupScreen(group: group)
    screen.$group.items.append(screen.draft)
    #expect(group.items.count == 3 && screen.draft.isFrozen)
    screen.$group.items.move(fromOffsets: [0], toOffset: 3)
    screen.$group.items.remove(at: 0)
    #expect(screen.group.items.map(\.name) == ["", "A"])
    screen.$group.labels.insert("x")
    screen.$group.prices.set(object: 4, for: "y")
    #expect(screen.group.labels.contains("x") && screen.group.prices["y"] == 4)
    #expect(screen.$group.items.wrappedValue.isFrozen)
    @ObservedRealmObject var items = group.items
    $items.append(Item(name: "C"))
    #expect(items.isFrozen && items.count == 3)
    @ObservedRealmObject var prices = group.prices
    $prices.set(object: 5, for: "z")
    #expect(prices.isFrozen && prices["z"] == 5)
    @ObservedRealmObject var labels = group.labels
    $labels.remove("x")
    #expect(labels.isFrozen && labels.isEmpty)
  }

  @Test func embeddedObjectsAndLinks() throws {
    let group = shop.addGroup("A")
    @ObservedRealmObject var shown = group
    $shown.address.wrappedValue = Address(value: ["street": "Main"])
    try #require(Binding($shown.address)).street.wrappedValue = "Side"
    #expect(group.address?.street == "Side" && shown.address?.street == "Side")
    #expect($shown.address.wrappedValue?.isFrozen == true)
  }

  @Test func projections() {
    let item = shop.addItem("A")
    @ObservedRealmObject var name = ItemName(projecting: item)
    $name.name.wrappedValue = "B"
    #expect(item.name == "B" && name.name == "B" && name.isFrozen)
    @ObservedResults(ItemName.self, configuration: shop.configuration) var names
    #expect(names.map(\.name) == ["B"])
  }

  @Test func aDeletedObjectShowsItsLastForm() {
    let item = shop.addItem("A")
    let screen = EditItem(item: item)
    #expect(screen.text == "A 0")
    screen.$item.delete()
    #expect(item.isInvalidated)
    #expect(screen.text == "A 0")
    screen.rename("B")
    screen.$item.delete()
    #expect(screen.text == "A 0")
  }

  @Test func insideOfATransactionTheValueIsShownAsItIs() throws {
    let item = shop.addItem("A")
    let screen = EditItem(item: item)
    try shop.realm.write {
      screen.$item.count.wrappedValue += 1
      screen.$item.count.wrappedValue += 1
      #expect(screen.text == "A 2")
    }
    #expect(screen.text == "A 2" && screen.item.isFrozen)
  }

  @Test func resultsByFilterOrderAndSearch() {
    let group = shop.addGroup("Apple", "bread", "Äpfel", "pear")
    @ObservedResults(
      Item.self, configuration: shop.configuration,
      sortDescriptor: SortDescriptor(keyPath: "name", ascending: false)) var sorted
    #expect(sorted.isFrozen && sorted.count == 4 && sorted[3].name == "Apple")
    @ObservedResults(
      Item.self, configuration: shop.configuration, where: { $0.isFavorite }) var favorites
    #expect(favorites.isEmpty)
    group.items[1].freeze().bind(\.isFavorite).wrappedValue = true
    #expect(favorites.map(\.name) == ["bread"])
    $favorites.where = { !$0.isFavorite }
    #expect(favorites.count == 3)
    $favorites.searchText("AP", on: \.name)
    #expect(favorites.map(\.name) == ["Apple", "Äpfel"] && $favorites.searchText == "AP")
    $favorites.searchText("", on: \.name)
    $favorites.filter = NSPredicate(format: "name == %@", "pear")
    #expect(favorites.count == 1 && $favorites.where == nil)
    $favorites.filter = nil
    $favorites.sortDescriptor = SortDescriptor(keyPath: "name")
    #expect(favorites.first?.name == "Apple" && favorites.count == 4)
    @ObservedResults(
      Item.self, configuration: shop.configuration,
      filter: NSPredicate(format: "name BEGINSWITH %@", "b")) var filtered
    #expect(filtered.count == 1)
  }

  @Test func theDefaultConfigurationIsThatOfTheFirstRead() {
    let old = Realm.Configuration.defaultConfiguration
    defer { Realm.Configuration.defaultConfiguration = old }
    @ObservedResults(Item.self) var items
    Realm.Configuration.defaultConfiguration = shop.configuration
    $items.append(Item(name: "A"))
    #expect(shop.realm.objects(Item.self).count == 1 && items.count == 1)
  }

  @Test func sections() {
    let group = shop.addGroup("A", "B", "C")
    group.items[1].bind(\.shelf).wrappedValue = .other
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
    #expect(shelves.isFrozen && shelves.allKeys == [.fruit, .other])
    $shelves.remove(atOffsets: [1], section: shelves[0])
    #expect(group.items.map(\.name) == ["A", "B"])
    $shelves.remove(shelves[1][0])
    #expect(group.items.map(\.name) == ["A"] && shelves.allKeys == [.fruit])
    @ObservedSectionedResults(
      Item.self, sectionBlock: { String($0.name.prefix(1)) },
      sortDescriptors: [SortDescriptor(keyPath: "name", ascending: false)],
      where: { $0.name != "A" }, configuration: shop.configuration) var letters
    #expect(letters.isEmpty)
    $letters.append(Item(name: "Z"))
    #expect(letters.allKeys == ["Z"])
    $letters.where = nil
    #expect(letters.allKeys == ["Z", "A"])
  }

  /// A wrapper keeps neither the Realm nor a version when it is gone.
  @Test func aWrapperThatGoesEndsItsObservation() async throws {
    let (folder, file) = await Task { () -> (TemporaryFolder, String) in
      let shop = Shop()
      do {
        let screen = GroupScreen(group: shop.addGroup("A"))
        @ObservedResults(Item.self, configuration: shop.configuration) var items
        // As with every observable object: who keeps the screen in the closure keeps it for good.
        Redraws().follow { [weak screen] in
          _ = screen?.group.title
          _ = screen?.$group.title.wrappedValue
          _ = screen?.$group.items.wrappedValue.count
        }
        @ObservedRealmObject var list = screen.group.items
        @ObservedRealmObject var map = screen.group.prices
        @ObservedRealmObject var set = screen.group.labels
        @ObservedRealmObject var name = ItemName(projecting: screen.group.items[0])
        @ObservedSectionedResults(
          Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
        #expect(items.count == 1 && screen.group.isFrozen && shelves.count == 1)
        #expect(list.count == 1 && map.isEmpty && set.isEmpty && name.name == "A")
      }
      return (shop.folder, shop.configuration.fileURL!.path)
    }.value
    // All is closed, so that the file can be deleted.
    let deleted = try Realm.deleteFiles(
      for: Realm.Configuration(fileURL: URL(fileURLWithPath: file)))
    #expect(deleted)
    _ = folder
  }

  /// The Realm goes on without it: who has read the wrapper, or a binding of it, is let go, and not
  /// called.
  @Test func whatAWrapperWasReadByIsLetGo() async {
    final class Canary {}
    let group = shop.addGroup("A")
    let redraws = Redraws()
    weak var canary: Canary?
    // A job of its own, so that nothing of the compiler's keeps the screen.
    await Task {
      let screen = GroupScreen(group: group)
      let kept = Canary()
      canary = kept
      redraws.follow { [weak screen] in
        _ = kept
        _ = (screen?.group.title, screen?.$group.title.wrappedValue)
        _ = screen?.$group.items.wrappedValue.count
      }
      #expect(screen.group.title == "group")
    }.value
    #expect(canary == nil)
    group.bind(\.title).wrappedValue = "other"
    group.bind(\.items).append(Item(name: "B"))
    await shop.settle()
    #expect(redraws.take() == 0)
  }

  /// Many commits that do not concern a wrapper leave no old version pinned.
  @Test func aWrapperPinsNoOldVersion() async throws {
    let item = shop.addItem("A")
    let other = shop.addItem("B")
    let screen = EditItem(item: item)
    #expect(screen.text == "A 0")
    for count in 0..<5 { other.bind(\.count).wrappedValue = count + 1 }
    await shop.settle()
    let pinned = try shop.realm.storeStatistics().pins
    #expect(pinned <= 2)
    #expect(screen.text == "A 0")
  }
}
