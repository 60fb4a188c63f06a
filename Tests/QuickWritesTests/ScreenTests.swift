// Screens as people write them: where wrappers stand, what they are made of, and what is done with
// them while others write.
import EditingProcess
import Foundation
import Observation
import Platform
import RealmSwift
import TestSupport
import Testing

/// A model of a screen by Swift's macro, which leaves property wrappers to themselves.
@MainActor
@Observable
private final class ScreenModel {
  var search = ""
  @ObservationIgnored @ObservedResults<Item> var items: Results<Item>
  @ObservationIgnored @ObservedRealmObject var group: ItemGroup

  init(_ shop: Shop, _ group: ItemGroup) {
    _items = ObservedResults(Item.self, configuration: shop.configuration)
    _group = ObservedRealmObject(wrappedValue: group)
  }

  var shown: [String] { items.filter { self.search.isEmpty || $0.name == self.search }.map(\.name) }
}

/// A screen that is on no actor, but for what it shows.
private struct Finder {
  @ObservedResults(Item.self) var items
  @ObservedSectionedResults(Item.self, sectionKeyPath: \.shelf) var shelves
  @StateRealmObject var draft = Item()
  @MainActor func save() { $items.append(draft) }
}

/// A screen of whichever class.
@MainActor
private struct Listing<Element: Object> {
  @ObservedResults<Element> var elements: Results<Element>
  init(_ configuration: Realm.Configuration) {
    _elements = ObservedResults(Element.self, configuration: configuration)
  }
}

/// A row and its list: each has a wrapper of its own.
@MainActor
private struct Row {
  @ObservedRealmObject var item: Item
  var title: String { "\(item.name) \(item.count)" }
  func tap() { $item.count.wrappedValue += 1 }
}

@MainActor
private final class ListScreen {
  @ObservedRealmObject var group: ItemGroup
  /// A wrapper tells as long as it is there: rows are kept.
  private(set) var rows: [Row] = []
  init(_ group: ItemGroup) { _group = ObservedRealmObject(wrappedValue: group) }

  func titles() -> [String] {
    let items = Array(group.items)
    if rows.map(\.item) != items { rows = items.map { Row(item: $0) } }
    return rows.map(\.title)
  }
}

@MainActor
@Suite(.serialized, .ownThreads) struct ScreenTests {
  private let shop = Shop()
  private let redraws = Redraws()

  private func told() async -> Int {
    await shop.settle()
    return redraws.take()
  }

  // MARK: - Where wrappers stand

  @Test func modelsByTheMacro() async {
    let group = shop.addGroup("A", "B")
    let model = ScreenModel(shop, group)
    redraws.follow { _ = model.shown }
    model.search = "B"
    #expect(redraws.take() == 1 && model.shown == ["B"])
    model.$group.items.append(Item(name: "C"))
    #expect(await told() == 1)
    model.search = ""
    #expect(redraws.take() == 1 && model.shown == ["A", "B", "C"])
  }

  @Test func screensOfAnyClass() {
    _ = shop.addGroup("A")
    let (items, groups) = (
      Listing<Item>(shop.configuration), Listing<ItemGroup>(shop.configuration)
    )
    #expect(items.elements.count == 1 && groups.elements.count == 1)
    items.$elements.append(Item(name: "B"))
    groups.$elements.remove(atOffsets: [0])
    #expect(items.elements.count == 2 && groups.elements.isEmpty)
  }

  @Test func screensOnNoActor() async {
    let old = Realm.Configuration.defaultConfiguration
    defer { Realm.Configuration.defaultConfiguration = old }
    Realm.Configuration.defaultConfiguration = shop.configuration
    let finder = Finder()
    finder.save()
    #expect(finder.items.count == 1 && finder.shelves.count == 1 && finder.draft.isFrozen)
  }

  @Test func rowsOfAList() async {
    let group = shop.addGroup("A", "B")
    let screen = ListScreen(group)
    var titles: [String] = []
    redraws.follow { titles = screen.titles() }
    let rows = screen.rows
    rows[1].tap()
    #expect(await told() == 1)
    #expect(titles == ["A 0", "B 1"] && rows[1].title == "B 1")
    // One row goes while it is shown; then the list does, and all that it had.
    screen.$group.items.wrappedValue[0].bind(\.name).wrappedValue = "C"
    #expect(await told() == 1)
    shop.writeElsewhere { $0.delete($0.objects(Item.self)[0]) }
    #expect(await told() == 1)
    #expect(titles == ["B 1"] && rows[0].title == "C 0")
    #expect(logged { rows[0].tap() } == [leftOut("Item")])
    shop.writeElsewhere { $0.deleteAll() }
    _ = await told()
    #expect(screen.group.items.map(\.name) == ["B"] && rows[1].title == "B 1")
    #expect(
      logged { screen.$group.items.append(Item()) } == [leftOut("List<Item>")])
  }

  /// The last one to have a screen may be anybody.
  @Test func aScreenGoesOnAnotherThread() async {
    let group = shop.addGroup("A")
    nonisolated final class Holder: @unchecked Sendable {
      // Handed over once, by a task that waits for the other.
      var screen: ListScreen?
    }
    let holder = Holder()
    holder.screen = ListScreen(group)
    redraws.follow { _ = holder.screen?.$group.title.wrappedValue }
    redraws.follow { _ = holder.screen?.group.items.count }
    await Task.detached { holder.screen = nil }.value
    group.bind(\.title).wrappedValue = "other"
    #expect(await told() == 0)
  }

  // MARK: - What wrappers are made of

  @Test func ofOtherCollections() async {
    let group = shop.addGroup("A", "B")
    @ObservedRealmObject var results = shop.realm.objects(Item.self).where { $0.count < 3 }
    @ObservedRealmObject var groups = group.items[0].groups
    @ObservedRealmObject var any = AnyRealmCollection(group.items)
    @ObservedRealmObject var shelves = shop.realm.objects(Item.self).sectioned(by: \.shelf)
    let all = (0..<4).map { _ in Redraws() }
    all[0].follow { _ = results.count }
    all[1].follow { _ = groups.count }
    all[2].follow { _ = any.count }
    all[3].follow { _ = shelves.count }
    func take() async -> [Int] {
      await shop.settle()
      return all.map { $0.take() }
    }
    #expect(results.isFrozen && groups.isFrozen && any.isFrozen && shelves.isFrozen)
    // A group leads to its items.
    group.items[0].bind(\.count).wrappedValue = 5
    #expect(await take() == [1, 1, 1, 1])
    #expect(results.map(\.name) == ["B"])
    $results.append(Item(name: "C"))
    #expect(await take() == [1, 0, 0, 1])
    $results.remove(atOffsets: [0])
    #expect(await take() == [1, 1, 1, 1])
    #expect(results.map(\.name) == ["C"] && any.count == 1)
    shop.writeElsewhere { realm in
      realm.create(ItemGroup.self).items.append(realm.objects(Item.self)[0])
    }
    #expect(await take() == [0, 1, 0, 0])
    #expect(groups.count == 2)
  }

  @Test func ofProjections() async {
    _ = shop.addGroup("A", "B", "C", "D")
    @ObservedResults(ItemName.self, configuration: shop.configuration) var names
    redraws.follow { _ = names.map(\.name) }
    $names.remove(names[0])
    #expect(await told() == 1)
    $names.remove(atOffsets: [0])
    #expect(await told() == 1)
    #expect(names.map(\.name) == ["C", "D"])
    $names.append(ItemName(projecting: Item(name: "E")))
    #expect(await told() == 1)
    #expect(shop.realm.versions { $names.append(names[2]) } == 0)
    $names.searchText("e", on: \.name)
    #expect(await told() == 1)
    #expect(names.map(\.name) == ["E"])
    $names.searchText("", on: \.name)
    @ObservedRealmObject var name = names[0]
    $name.delete()
    #expect(names.map(\.name) == ["D", "E"] && name.name == "C")
    @StateRealmObject var state = names[0]
    $state.name.wrappedValue = "F"
    $state.delete()
    #expect(names.map(\.name) == ["E"])
    #expect(logged { $state.delete() }.count == 1)
  }

  /// Nobody has the live Realm of a frozen object open any more.
  @Test func ofAFrozenObjectAlone() throws {
    let folder = TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("alone.realm")), objectTypes: editedClasses)
    let frozen = try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      return try realm.write { realm.create(Item.self, value: ["name": "A"]) }.freeze()
    }
    @ObservedRealmObject var item = frozen
    $item.name.wrappedValue = "B"
    #expect(item.name == "B" && frozen.name == "A")
  }

  @Test func ofFilesInMemoryAndEncryptedOnes() throws {
    let folder = TemporaryFolder()
    var encrypted = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("secret.realm")), objectTypes: editedClasses)
    encrypted.encryptionKey = Data(repeating: 7, count: 64)
    let inMemory = Realm.Configuration(
      inMemoryIdentifier: "screens-\(UUID().uuidString)", objectTypes: editedClasses)
    for configuration in [encrypted, inMemory] {
      @ObservedResults(Item.self, configuration: configuration) var items
      $items.append(Item(name: "A"))
      @ObservedRealmObject var item = items[0]
      $item.name.wrappedValue = "B"
      #expect(items.map(\.name) == ["B"])
    }
  }

  // MARK: - What is done with them

  @Test func anotherValueIsShown() async {
    let group = shop.addGroup("A", "B")
    let row = Row(item: group.items[0])
    redraws.follow { _ = row.title }
    let ofBinding = Redraws()
    ofBinding.follow { _ = row.$item.name.wrappedValue }
    row.item = group.items[1]
    #expect(redraws.take() == 1 && row.title == "B 0")
    #expect(ofBinding.take() == 1 && row.$item.name.wrappedValue == "B")
    group.items[0].bind(\.count).wrappedValue = 3
    #expect(await told() == 0)
    row.tap()
    #expect(await told() == 1)
    #expect(row.title == "B 1")
    // Copies of a screen show the same.
    let copy = row
    copy.item = group.items[0]
    #expect(row.title == "A 3")
  }

  /// What belongs to no Realm tells what its wrapper's bindings change, whatever that is.
  @Test func whatBelongsToNoRealm() async {
    @StateRealmObject var draft = ItemGroup()
    @StateRealmObject var labels = MutableSet<String>()
    let ofLabels = Redraws()
    redraws.follow { _ = draft.items.count }
    ofLabels.follow { _ = labels.count }
    $draft.items.append(Item(name: "A"))
    #expect(await told() == 1)
    $draft.items.append(objectsIn: [Item(name: "B"), Item(name: "C")])
    #expect(await told() == 1)
    $draft.items.move(fromOffsets: [0], toOffset: 2)
    #expect(await told() == 1)
    $draft.items.remove(at: 0)
    #expect(await told() == 1)
    $draft.items[0].name.wrappedValue = "D"
    #expect(await told() == 1)
    $draft.prices.set(object: 1, for: "a")
    #expect(await told() == 1)
    $draft.prices.set(object: 1, for: "a")
    #expect(await told() == 0)
    $draft.labels.insert("x")
    #expect(await told() == 1)
    $draft.address.wrappedValue = Address()
    #expect(await told() == 1)
    Binding($draft.address)?.street.wrappedValue = "Main"
    #expect(await told() == 1)
    #expect(draft.items.map(\.name) == ["D", "C"] && draft.address?.street == "Main")
    #expect(ofLabels.take() == 0)
    $labels.insert("x")
    #expect(await told() == 0)
    #expect(ofLabels.take() == 1)
    @ObservedRealmObject var list = List<Int>()
    redraws.follow { _ = list.count }
    $list.append(1)
    #expect(await told() == 1)
    // The same value is no change.
    @StateRealmObject var item = Item(name: "A")
    redraws.follow { _ = $item.name.wrappedValue }
    $item.name.wrappedValue = "A"
    #expect(await told() == 0)
    // Who has read it before it came into a Realm is told, too.
    shop.addGroup().bind(\.items).append(item)
    $item.name.wrappedValue = "B"
    #expect(await told() >= 1)
    $item.name.wrappedValue = "C"
    #expect(await told() == 1)
  }

  @Test func writesFromACall() async {
    let item = shop.addItem("A")
    let row = Row(item: item)
    var told = 0
    withObservationTracking {
      _ = row.title
    } onChange: {
      MainActor.assumeIsolated {
        told += 1
        row.tap()
        row.$item.note.wrappedValue = "told"
      }
    }
    redraws.follow { _ = row.title }
    row.tap()
    #expect(await self.told() >= 1)
    #expect(told == 1 && item.count == 2 && item.note == "told" && row.title == "A 2")
  }

  @Test func withoutAutorefresh() async {
    let item = shop.addItem("A")
    shop.realm.autorefresh = false
    let row = Row(item: item)
    redraws.follow { _ = row.title }
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "B" }
    for _ in 0..<3 {
      await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }
    #expect(redraws.take() == 0 && row.title == "A 0")
    // A write goes to the newest version, and shows it.
    row.tap()
    // Told of both commits at once, or one after the other.
    let count = await told()
    #expect(count == 1 || count == 2)
    #expect(row.title == "B 1")
  }

  @Test func anInvalidatedRealm() async {
    let item = shop.addItem("A")
    let row = Row(item: item)
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    redraws.follow { _ = (row.title, items.count) }
    @ObservedRealmObject var list = item.groups[0].items
    let unread = Row(item: item)
    #expect(list.count == 1)
    shop.realm.invalidate()
    #expect(item.isInvalidated && row.title == "A 0" && items.count == 1 && list.count == 1)
    unread.tap()
    row.tap()
    $list.append(Item(name: "B"))
    #expect(items.map(\.name) == ["A", "B"] && row.title == "A 2" && unread.title == "A 2")
    _ = await told()
    redraws.follow { _ = row.title }
    row.tap()
    #expect(await told() >= 1)
    // What was deleted stays so.
    $items.remove(items[0])
    _ = await told()
    shop.realm.invalidate()
    #expect(row.title == "A 3" && items.count == 1)
    #expect(logged { row.tap() } == [leftOut("Item")])
  }

  @Test func transactionsOfOtherKinds() async throws {
    let item = shop.addItem("A")
    let row = Row(item: item)
    redraws.follow { _ = row.title }
    try await shop.realm.asyncWrite {
      row.tap()
      row.tap()
    }
    #expect(await told() == 1)
    #expect(row.title == "A 2")
    await withCheckedContinuation { done in
      shop.realm.writeAsync {
        row.tap()
      } onComplete: { _ in
        done.resume()
      }
      // Comes before it, in a transaction of its own.
      row.tap()
      #expect(item.count == 3)
    }
    #expect(row.title == "A 4")
    // Within a write that fails nothing stays.
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try shop.realm.write {
        row.tap()
        throw Failure()
      }
    }
    #expect(row.title == "A 4")
    _ = await told()
  }

  /// A collection as a whole: what is assigned is copied.
  @Test func wholeCollections() {
    let (group, other) = (shop.addGroup("A", "B"), shop.addGroup("C"))
    @ObservedRealmObject var shown = group
    $shown.items.wrappedValue = $shown.items.wrappedValue
    #expect(shown.items.map(\.name) == ["A", "B"])
    $shown.items.wrappedValue = other.items.freeze()
    #expect(shown.items.map(\.name) == ["C"] && other.items.count == 1)
    let own = List<Item>()
    own.append(Item(name: "D"))
    $shown.items.wrappedValue = own
    #expect(shown.items.map(\.name) == ["D"])
    $shown.labels.insert("x")
    $shown.labels.wrappedValue = $shown.labels.wrappedValue
    $shown.prices.set(object: 1, for: "a")
    $shown.prices.wrappedValue = $shown.prices.wrappedValue
    #expect(shown.labels.contains("x") && shown.prices["a"] == 1)
  }
}
