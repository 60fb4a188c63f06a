// Collections that are changed without a transaction block.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@MainActor
@Suite(.ownThreads) struct BoundCollectionTests {
  private let shop = Shop()

  private func names(_ group: ItemGroup) -> String { group.items.map(\.name).joined() }

  @Test func listsOfObjects() {
    let group = shop.addGroup("A", "B", "C")
    let items = group.bind(\.items)
    items.append(Item(name: "D"))
    items.append(objectsIn: [Item(name: "E")])
    items.insert(Item(name: "F"), at: 0)
    #expect(names(group) == "FABCDE")
    items.remove(at: 1)
    items.remove(atOffsets: [0, 4])
    #expect(names(group) == "BCD")
    items.move(fromOffsets: [2], toOffset: 0)
    #expect(names(group) == "DBC")
    items.move(fromOffsets: [0, 1], toOffset: 3)
    #expect(names(group) == "CDB")
    items.remove(group.items[1].freeze())
    #expect(names(group) == "CB")
    items.append(group.items[0].freeze())
    #expect(names(group) == "CBC")
    items.removeAll()
    #expect(group.items.isEmpty && shop.realm.objects(Item.self).count == 6)
  }

  @Test func listsOfValuesOfFrozenAndUnmanagedObjects() {
    let group = shop.addGroup()
    let frozen = group.freeze()
    frozen.bind(\.numbers).append(1)
    frozen.bind(\.numbers).append(objectsIn: [2, 3])
    #expect(Array(group.numbers) == [1, 2, 3])
    group.freeze().bind(\.numbers).remove(at: 0)
    #expect(Array(group.numbers) == [2, 3])
    let unmanaged = ItemGroup()
    unmanaged.bind(\.numbers).append(5)
    unmanaged.bind(\.numbers).insert(4, at: 0)
    unmanaged.bind(\.numbers).move(fromOffsets: [0], toOffset: 2)
    #expect(Array(unmanaged.numbers) == [5, 4])
  }

  /// What stands at a position of an older version is what is removed or moved.
  @Test func positionsAreThoseThatAreShown() {
    let group = shop.addGroup("A", "B", "C")
    let shown = group.freeze().bind(\.items)
    shop.writeElsewhere { realm in
      let items = realm.objects(ItemGroup.self)[0].items
      items.remove(at: 0)
      items.append(Item(name: "D"))
    }
    shown.remove(at: 1)
    #expect(names(group) == "CD")
    // Gone: left alone.
    shown.remove(atOffsets: [0, 1])
    #expect(names(group) == "CD")
    shown.insert(Item(name: "E"), at: 2)
    #expect(names(group) == "ECD")
    shown.move(fromOffsets: [2], toOffset: 0)
    #expect(names(group) == "EDC")
  }

  @Test func removeIsAFunctionOfPositions() {
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    let group = shop.addGroup("A", "B")
    let removeResult: (IndexSet) -> Void = $items.remove
    removeResult([0])
    #expect(names(group) == "B")
    let removeElement: (IndexSet) -> Void = group.bind(\.items).remove
    removeElement([0])
    #expect(names(group) == "" && items.count == 1)
    let move: (IndexSet, Int) -> Void = group.bind(\.items).move
    move([], 0)
  }

  @Test func sets() {
    let group = shop.addGroup("A")
    let labels = group.bind(\.labels)
    labels.insert("x")
    labels.insert("y")
    labels.remove("x")
    #expect(Array(group.labels) == ["y"])
    let best = group.freeze().bind(\.best)
    best.insert(group.items[0].freeze())
    best.insert(Item(name: "B"))
    #expect(group.best.count == 2)
    best.remove(group.items[0].freeze())
    #expect(group.best.map(\.name) == ["B"])
    labels.remove(atOffsets: [0])
    #expect(group.labels.isEmpty)
  }

  @Test func maps() {
    let group = shop.addGroup()
    let prices = group.freeze().bind(\.prices)
    prices.set(object: 3, for: "a")
    let version = shop.realm.currentVersion
    prices.set(object: 3, for: "a")
    prices.set(object: nil, for: "b")
    #expect(shop.realm.currentVersion == version)
    #expect(group.prices["a"] == 3)
    prices.set(object: nil, for: "a")
    #expect(group.prices.count == 0)
    let unmanaged = ItemGroup()
    unmanaged.bind(\.prices).set(object: 1, for: "c")
    #expect(unmanaged.prices["c"] == 1)
  }

  @Test func results() {
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    let item = Item(name: "A")
    $items.append(item)
    #expect(item.realm == shop.realm && items.count == 1)
    let version = shop.realm.currentVersion
    $items.append(item)
    $items.append(item.freeze())
    #expect(shop.realm.currentVersion == version + 1 || items.count == 1)
    $items.append(Item(name: "B"))
    $items.remove(items[0])
    #expect(items.map(\.name) == ["B"])
    $items.remove(atOffsets: [0])
    #expect(items.isEmpty)
  }

  @Test func anObjectOfAnotherRealmStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let (shop, other) = (Shop(), Shop())
        let item = Item(name: "A")
        item.group = other.addGroup()
        shop.addGroup().bind(\.items).append(item)
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "Object is already managed by another Realm. Use create instead to copy it into this Realm."
      ))
  }
}
