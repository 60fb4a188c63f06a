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

  /// Equal elements, several of which have moved: each has a place of its own.
  @Test func equalElementsThatHaveMoved() {
    let group = shop.addGroup()
    func left(_ numbers: [Int], _ offsets: IndexSet, _ change: (List<Int>) -> Void) -> [Int] {
      let live = group.numbers
      try! shop.realm.write {
        live.removeAll()
        live.append(objectsIn: numbers)
      }
      let shown = group.freeze().bind(\.numbers)
      try! shop.realm.write { change(live) }
      shown.remove(atOffsets: offsets)
      return Array(live)
    }
    #expect(left([7, 7], [0, 1]) { $0.insert(1, at: 0) } == [1])
    #expect(left([7, 7, 8], [0, 1, 2]) { $0.insert(contentsOf: [1, 2], at: 0) } == [1, 2])
    #expect(left([1, 7, 7, 7], [1, 2, 3]) { $0.remove(at: 0) } == [])
    #expect(left([7, 7, 7], [0, 1, 2]) { $0.removeLast(2) } == [])
    let far = Array(repeating: 0, count: 100)
    #expect(left([7, 7, 8], [0, 1]) { $0.insert(contentsOf: far, at: 0) } == far + [8])
    #expect(left([7, 8, 7], [0, 2]) { $0.insert(contentsOf: far, at: 1) } == far + [8])
    #expect(left(far + [7, 7], [100, 101]) { $0.removeSubrange(0..<100) } == [])
  }

  /// Many that have moved far, and many that are gone, take no longer than one look at the list.
  @Test(.timeLimit(.minutes(1))) func manyElementsThatHaveMovedFarOrGone() {
    let group = shop.addGroup()
    let count = 20_000
    func fill(_ numbers: some Sequence<Int>) -> BoundNumbers {
      try! shop.realm.write {
        group.numbers.removeAll()
        group.numbers.append(objectsIn: numbers)
      }
      return BoundNumbers(group.freeze().bind(\.numbers))
    }
    var shown = fill((0..<count).reversed())
    try! shop.realm.write { group.numbers.sort() }
    shown.remove(IndexSet(integersIn: 0..<count / 2))
    #expect(Array(group.numbers) == Array(0..<count / 2))
    shown = fill(Array(repeating: 5, count: count))
    try! shop.realm.write { group.numbers.removeSubrange(0..<count / 2) }
    shown.remove(IndexSet(integersIn: 0..<count))
    #expect(group.numbers.isEmpty)
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

/// A list that is shown.
@MainActor
private struct BoundNumbers {
  let remove: (IndexSet) -> Void
  init(_ numbers: Binding<List<Int>>) { remove = numbers.remove }
}
