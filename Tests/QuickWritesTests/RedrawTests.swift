// Who has read something that is shown is told when it changes: once, and of nothing else.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@MainActor
@Suite(.serialized, .ownThreads) struct RedrawTests {
  private let shop = Shop()
  private let redraws = Redraws()

  private func expect(
    _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await shop.settle()
    #expect(redraws.take() == count, sourceLocation: sourceLocation)
  }

  @Test func objects() async {
    let group = shop.addGroup("A", "B")
    let screen = EditItem(item: group.items[0])
    var shown = ""
    redraws.follow { shown = screen.text }
    await expect(0)
    shop.writeElsewhere { $0.objects(Item.self)[0].count = 7 }
    await expect(1)
    #expect(shown == "A 7")
    // Two commits that are told together are one redraw.
    shop.realm.autorefresh = false
    shop.writeElsewhere { $0.objects(Item.self)[0].count = 8 }
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "C" }
    await expect(1)
    #expect(shown == "C 8")
    // What does not concern it is not told.
    shop.writeElsewhere { $0.objects(Item.self)[1].count = 9 }
    group.bind(\.title).wrappedValue = "other"
    await expect(0)
    // By a binding, and by hand.
    screen.rename("D")
    await expect(1)
    try! shop.realm.write { group.items[0].count = 1 }
    await expect(1)
    #expect(shown == "D 1")
    screen.$item.delete()
    await expect(1)
    #expect(shown == "D 1")
  }

  /// Who reads ahead of the call is not called for what it has read.
  @Test func whatWasReadAlreadyIsNotToldAgain() async {
    let item = shop.addItem("A")
    let screen = EditItem(item: item)
    redraws.follow { _ = screen.text }
    screen.rename("B")
    // A second reader comes before the first is told.
    let late = Redraws()
    late.follow { _ = screen.text }
    await expect(1)
    #expect(late.take() == 0)
    screen.rename("C")
    await expect(1)
    #expect(late.take() == 1)
  }

  @Test func bindingsAreToldOfTheirPropertyOnly() async throws {
    let group = shop.addGroup("A", "B")
    let screen = EditItem(item: group.items[0])
    redraws.follow { _ = screen.$item.name.wrappedValue }
    screen.$item.count.wrappedValue = 3
    await expect(0)
    screen.rename("B")
    await expect(1)
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "C" }
    await expect(1)
    shop.writeElsewhere { $0.objects(Item.self)[0].count = 5 }
    await expect(0)
  }

  @Test func bindingsOfObjects() async throws {
    let group = shop.addGroup("A")
    group.bind(\.address).wrappedValue = Address(value: ["street": "Main"])
    let street = try #require(Binding(group.bind(\.address))).street
    redraws.follow { _ = street.wrappedValue }
    let titles = Redraws()
    titles.follow { _ = group.bind(\.title).wrappedValue }
    shop.writeElsewhere { $0.objects(ItemGroup.self)[0].address?.city = "Town" }
    await expect(0)
    shop.writeElsewhere { $0.objects(ItemGroup.self)[0].address?.street = "Side" }
    await expect(1)
    #expect(street.wrappedValue == "Side")
    street.wrappedValue = "Back"
    await expect(1)
    group.bind(\.address).wrappedValue = Address(value: ["street": "New"])
    await expect(1)
    #expect(street.wrappedValue == "New" && titles.take() == 0)
    group.bind(\.title).wrappedValue = "renamed"
    await expect(0)
    #expect(titles.take() == 1)
  }

  @Test func bindingsOfCollections() async {
    let group = shop.addGroup("A", "B")
    @ObservedRealmObject var shown = group
    redraws.follow { _ = $shown.items.wrappedValue.map(\.name) }
    group.bind(\.title).wrappedValue = "other"
    await expect(0)
    $shown.items.append(Item(name: "C"))
    await expect(1)
    group.items[0].bind(\.name).wrappedValue = "D"
    await expect(1)
  }

  @Test func results() async {
    let group = shop.addGroup("A", "B")
    @ObservedResults(
      Item.self, configuration: shop.configuration, where: { $0.isFavorite },
      keyPaths: ["name"]) var items
    var shown: [String] = []
    redraws.follow { shown = items.map(\.name) }
    group.items[0].bind(\.isFavorite).wrappedValue = true
    await expect(1)
    #expect(shown == ["A"])
    group.items[0].bind(\.count).wrappedValue = 1
    group.items[1].bind(\.name).wrappedValue = "C"
    await expect(0)
    group.items[0].bind(\.name).wrappedValue = "D"
    await expect(1)
    $items.where = nil
    await expect(1)
    #expect(shown == ["D", "C"])
    $items.searchText("d", on: \.name)
    await expect(1)
    #expect(shown == ["D"])
  }

  @Test func collectionsMapsSectionsAndProjections() async {
    let group = shop.addGroup("A")
    @ObservedRealmObject var prices = group.prices
    @ObservedRealmObject var labels = group.labels
    @ObservedRealmObject var items = group.items
    @ObservedRealmObject var name = ItemName(projecting: group.items[0])
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
    let all = (0..<5).map { _ in Redraws() }
    all[0].follow { _ = prices.count }
    all[1].follow { _ = labels.count }
    all[2].follow { _ = items.count }
    all[3].follow { _ = name.name }
    all[4].follow { _ = shelves.count }
    func take() async -> [Int] {
      await shop.settle()
      return all.map { $0.take() }
    }
    $prices.set(object: 1, for: "a")
    #expect(await take() == [1, 0, 0, 0, 0])
    $labels.insert("x")
    #expect(await take() == [0, 1, 0, 0, 0])
    $name.name.wrappedValue = "B"
    #expect(await take() == [0, 0, 1, 1, 1])
    $items.remove(at: 0)
    #expect(await take() == [0, 0, 1, 0, 0])
  }

  @Test func unmanagedValuesTellTheirOwnWrapper() async {
    @StateRealmObject var draft = Item()
    redraws.follow { _ = draft.name }
    $draft.name.wrappedValue = "A"
    await expect(1)
    draft = Item(name: "B")
    await expect(1)
    // From now on the Realm tells.
    shop.addGroup().bind(\.items).append(draft)
    _ = draft.isFrozen
    redraws.follow { _ = draft.name }
    $draft.name.wrappedValue = "C"
    await shop.settle()
    #expect(redraws.take() >= 1 && draft.name == "C")
  }

  /// A list keeps its animation: it has moved the row itself, and is not redrawn for that.
  @Test func silentWrites() async throws {
    let group = shop.addGroup("A", "B")
    @ObservedRealmObject var items = group.items
    @ObservedRealmObject var shown = group
    redraws.follow { _ = items.count }
    let ofBinding = Redraws()
    ofBinding.follow { _ = $shown.title.wrappedValue }
    _ = shown
    try shop.realm.write(withoutNotifying: [$items.notificationToken]) {
      group.items.move(from: 0, to: 1)
    }
    await expect(0)
    #expect(items.map(\.name) == ["B", "A"])
    try shop.realm.write(withoutNotifying: [$shown.notificationToken]) { group.title = "x" }
    await expect(0)
    #expect(ofBinding.take() == 0)
    // Others are told, and of the next write they are, too.
    $items.append(Item(name: "C"))
    $shown.title.wrappedValue = "y"
    await expect(1)
    #expect(ofBinding.take() == 1)
  }
}
