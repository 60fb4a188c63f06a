// Screens at their edges: positions that are none, texts that are searched for, the forms of the
// initialisers, and what stops.
import EditingProcess
import Foundation
import Observation
import Platform
import RealmSwift
import TestSupport
import Testing

@MainActor
@Suite(.serialized, .ownThreads) struct ScreenEdgeTests {
  private let shop = Shop()

  // MARK: - Positions

  @Test func duplicates() {
    let group = shop.addGroup("A", "B")
    @ObservedRealmObject var list = group.items
    $list.append(list[0])
    $list.append(list[1])
    $list.append(list[0])
    #expect(list.map(\.name) == ["A", "B", "A", "B", "A"])
    $list.remove(at: 2)
    #expect(list.map(\.name) == ["A", "B", "B", "A"])
    $list.move(fromOffsets: [3], toOffset: 1)
    #expect(list.map(\.name) == ["A", "A", "B", "B"])
    $list.remove(atOffsets: [1, 2])
    #expect(list.map(\.name) == ["A", "B"])
    @ObservedRealmObject var numbers = group.numbers
    $numbers.append(objectsIn: [1, 1, 2, 1])
    $numbers.move(fromOffsets: [0, 3], toOffset: 3)
    #expect(Array(numbers) == [1, 2, 1, 1])
    $numbers.remove(atOffsets: [0, 2])
    #expect(Array(numbers) == [2, 1])
    // Equal elements next to each other, of which others have taken one away meanwhile.
    $numbers.removeAll()
    $numbers.append(objectsIn: [1, 1, 1])
    shop.writeElsewhere { $0.objects(ItemGroup.self)[0].numbers.remove(at: 0) }
    $numbers.remove(atOffsets: [0, 1, 2])
    #expect(numbers.isEmpty)
  }

  @Test func noPositions() {
    let group = shop.addGroup("A")
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    @ObservedRealmObject var list = group.items
    @ObservedRealmObject var labels = group.labels
    #expect(
      shop.realm.versions {
        $list.remove(atOffsets: [])
        $list.move(fromOffsets: [], toOffset: 1)
        $list.append(objectsIn: [])
        $labels.remove(atOffsets: [])
        $labels.remove("x")
        $labels.removeAll()
        $items.remove(atOffsets: [])
      } == 0)
    // To where it stands already.
    #expect(shop.realm.versions { $list.move(fromOffsets: [0], toOffset: 1) } <= 1)
    #expect(list.map(\.name) == ["A"])
  }

  @Test(arguments: 0..<8)
  func positionsThatAreNone(way: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [way] in
      await MainActor.run {
        let shop = Shop()
        let group = shop.addGroup("A")
        @ObservedResults(Item.self, configuration: shop.configuration) var items
        @ObservedSectionedResults(
          Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
        switch way {
        case 0: group.bind(\.items).remove(at: 1)
        case 1: group.bind(\.items).remove(atOffsets: [0, 4])
        case 2: group.bind(\.items).move(fromOffsets: [1], toOffset: 0)
        case 3: group.bind(\.items).move(fromOffsets: [0], toOffset: 2)
        case 4: group.bind(\.items).insert(Item(), at: 2)
        case 5: $items.remove(atOffsets: [1])
        case 6: group.bind(\.labels).remove(atOffsets: [0])
        default: $shelves.remove(atOffsets: [1], section: shelves[0])
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("out of bounds"), "\(text)")
  }

  // MARK: - Searching

  @Test func searchTexts() {
    let group = shop.addGroup("50%", "it's", "a\\b", "*x", "Ünï", "plain")
    group.items[0].bind(\.note).wrappedValue = "Note"
    group.items[1].bind(\.group).wrappedValue = group
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    let searches = ["%": "50%", "'": "it's", "\\": "a\\b", "*": "*x", "UNI": "Ünï", "\"": nil]
    for (text, name) in searches {
      $items.searchText(text, on: \.name)
      #expect(items.map(\.name) == (name.map { [$0] } ?? []), "\(text)")
    }
    $items.searchText("note", on: \.note)
    #expect(items.map(\.name) == ["50%"])
    $items.searchText("GROUP", on: \.group?.title)
    #expect(items.map(\.name) == ["it's"])
    $items.where = { $0.name == "plain" }
    #expect(items.isEmpty)
    $items.searchText("", on: \.name)
    #expect(items.map(\.name) == ["plain"])
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
    $shelves.searchText("n", on: \.name)
    #expect($shelves.searchText == "n" && shelves[0].map(\.name) == ["Ünï", "plain"])
    $shelves.sortDescriptors = [
      SortDescriptor(keyPath: "shelf"), SortDescriptor(keyPath: "name", ascending: false),
    ]
    #expect(shelves[0].map(\.name) == ["Ünï", "plain"].sorted(by: >))
    $shelves.searchText("", on: \.name)
    #expect(shelves[0].count == 6)
  }

  /// The forms of the initialisers that the documentation of elsewhere has.
  @Test func initialisers() {
    _ = shop.addGroup("A", "B")
    let condition: ((Query<Item>) -> Query<Bool>)? = nil
    @ObservedResults(Item.self, configuration: shop.configuration, where: condition) var all
    @ObservedResults(
      Item.self, keyPaths: ["name"], configuration: shop.configuration,
      sortDescriptor: SortDescriptor(keyPath: "name", ascending: false)) var sorted
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, where: condition,
      configuration: shop.configuration) var shelves
    @ObservedSectionedResults(
      Item.self, sectionBlock: { $0.name }, sortDescriptors: [SortDescriptor(keyPath: "name")],
      where: condition, configuration: shop.configuration) var names
    @ObservedSectionedResults(
      ItemName.self, sectionKeyPath: \.name,
      sortDescriptors: [SortDescriptor(keyPath: "name", ascending: false)],
      filter: NSPredicate(format: "name != 'A'"), keyPaths: ["name"],
      configuration: shop.configuration) var projected
    #expect(all.count == 2 && sorted.map(\.name) == ["B", "A"])
    #expect(shelves.count == 1 && names.allKeys == ["A", "B"] && projected.allKeys == ["B"])
    @ObservedRealmObject var list = List<Int>()
    @ObservedRealmObject var set = MutableSet<Int>()
    @ObservedRealmObject var map = Map<String, Int>()
    @StateRealmObject var ownList: List<Int>
    @StateRealmObject var ownSet: MutableSet<Int>
    @StateRealmObject var ownMap: Map<String, Int>
    @StateRealmObject var ownItem: Item
    #expect(list.isEmpty && set.isEmpty && map.isEmpty && ownItem.name.isEmpty)
    #expect(ownList.isEmpty && ownSet.isEmpty && ownMap.isEmpty)
  }

  // MARK: - What stops, and says why

  @Test(arguments: 0..<5)
  func whatStops(way: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [way] in
      await MainActor.run {
        let shop = Shop()
        let group = shop.addGroup("A")
        var configuration = shop.configuration
        @ObservedResults(Item.self, configuration: shop.configuration) var items
        switch way {
        case 0:
          let other = Shop()
          group.items[0].bind(\.group).wrappedValue = other.addGroup()
        case 1:
          $items.append(Item(value: ["_id": items[0]._id]))
        case 2:
          $items.filter = NSPredicate(format: "nothing == 1")
          _ = items.count
        case 3:
          configuration.fileURL = URL(fileURLWithPath: "/proc/none/x.realm")
          @ObservedResults(Item.self, configuration: configuration) var others
          _ = others.count
        default:
          group.items[0].bind(\._id).wrappedValue = .generate()
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let messages = [
      "Object is already managed by another Realm. Use create instead to copy it into this Realm.",
      "existing primary key value", "nothing", "The Realm of observed results cannot be opened:",
      "Primary key can't be changed",
    ]
    #expect(text.contains(messages[way]), "\(text)")
  }
}
