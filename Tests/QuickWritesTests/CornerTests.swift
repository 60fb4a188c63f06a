// The corners of quick writes: optionals, embedded objects, maps of objects, sections, values that
// are gone, open transactions, read-only files and other actors.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

/// A row that is handed a binding, as a view is by its parent.
private struct ItemRow {
  @Binding var item: Item
  @MainActor func delete() { $item.delete() }
  @MainActor func rename(_ name: String) { $item.name.wrappedValue = name }
}

@MainActor
@Suite(.serialized, .ownThreads) struct CornerTests {
  private let shop = Shop()
  private let redraws = Redraws()

  private func told() async -> Int {
    await shop.settle()
    return redraws.take()
  }

  // MARK: - Optionals

  @Test func whatIsInsideOfAnOptional() throws {
    let item = shop.addItem("A")
    @ObservedRealmObject var shown = item
    #expect(Binding($shown.note) == nil && $shown.note.wrappedValue == nil)
    $shown.note.wrappedValue = "x"
    let note: Binding<String> = try #require(Binding($shown.note))
    note.wrappedValue += "y"
    #expect(item.note == "xy" && shown.note == "xy")
    $shown.note.wrappedValue = nil
    // The optional is nil: the binding shows the value that it was made of, and may still be set.
    #expect(note.wrappedValue == "x" && item.note == nil)
    note.wrappedValue = "z"
    #expect(item.note == "z")
    // A value as its optional: nil changes nothing.
    let name = Binding<String?>($shown.name)
    #expect(shop.realm.versions { name.wrappedValue = nil } == 0)
    name.wrappedValue = "B"
    #expect(item.name == "B")
  }

  // MARK: - Embedded objects

  @Test func embeddedObjectsAreReplacedAndDeleted() throws {
    let group = shop.addGroup()
    @ObservedRealmObject var shown = group
    $shown.address.wrappedValue = Address(value: ["street": "Main"])
    let address = try #require(Binding($shown.address))
    let first = try #require(group.address)
    $shown.address.wrappedValue = Address(value: ["street": "Side"])
    // The binding leads to the property's object, whichever it is.
    #expect(first.isInvalidated && address.wrappedValue.street == "Side")
    address.city.wrappedValue = "Town"
    #expect(group.address?.city == "Town" && shown.address?.city == "Town")
    address.delete()
    #expect(group.address == nil && shown.address == nil)
    // Nothing is there to be changed: the log says so.
    #expect(logged { address.street.wrappedValue = "Back" } == [leftOut("Address")])
    #expect(group.address == nil)
  }

  @Test func listsOfEmbeddedObjects() {
    let group = shop.addGroup()
    @ObservedRealmObject var shown = group
    $shown.addresses.append(Address(value: ["street": "A"]))
    $shown.addresses.append(objectsIn: [Address(value: ["street": "B"])])
    $shown.addresses.insert(Address(value: ["street": "C"]), at: 0)
    $shown.addresses.move(fromOffsets: [0], toOffset: 3)
    #expect(shown.addresses.map(\.street) == ["A", "B", "C"])
    shown.addresses[1].bind(\.street).wrappedValue = "D"
    $shown.addresses.remove(at: 0)
    #expect(group.addresses.map(\.street) == ["D", "C"])
    group.bind(\.addresses).wrappedValue[0].bind(\.city).wrappedValue = "Town"
    #expect(shown.addresses[0].city == "Town")
    // An embedded object has one parent.
    shown.addresses[0].freeze().bind(\.street).wrappedValue = "E"
    #expect(group.addresses[0].street == "E")
  }

  // MARK: - Maps

  @Test func mapsOfObjects() {
    let group = shop.addGroup("A")
    let item = group.items[0]
    @ObservedRealmObject var shown = group
    $shown.itemByName.set(object: item.freeze(), for: "a")
    $shown.itemByName.set(object: Item(name: "B"), for: "b")
    #expect(group.itemByName["a"]??._id == item._id && shown.itemByName["b"]??.name == "B")
    #expect(shop.realm.versions { $shown.itemByName.set(object: item, for: "a") } == 0)
    // The key without an object is not the same as no key.
    $shown.itemByName.set(object: .some(nil), for: "b")
    #expect(group.itemByName.keys.sorted() == ["a", "b"])
    $shown.itemByName.set(object: .some(nil), for: "new")
    #expect(group.itemByName.keys.sorted() == ["a", "b", "new"])
    #expect(shop.realm.versions { $shown.itemByName.set(object: .some(nil), for: "new") } == 0)
    $shown.itemByName.remove("new")
    $shown.itemByName.remove("b")
    #expect(shop.realm.versions { $shown.itemByName.remove("b") } == 0)
    $shown.itemByName.set(object: nil, for: "a")
    #expect(group.itemByName.isEmpty && !item.isInvalidated)
    $shown.addressByName.set(object: Address(value: ["street": "Main"]), for: "home")
    #expect(shown.addressByName["home"]??.street == "Main")
    $shown.addressByName.set(object: Address(value: ["street": "Side"]), for: "home")
    #expect(group.addressByName["home"]??.street == "Side")
    $shown.noteByName.set(object: "x", for: "a")
    #expect(shop.realm.versions { $shown.noteByName.set(object: "x", for: "a") } == 0)
    #expect(shop.realm.versions { $shown.noteByName.set(object: .some(nil), for: "a") } == 1)
    #expect(group.noteByName.count == 1 && group.noteByName["a"] == .some(nil))
  }

  @Test func mapsAndTheirRedraws() async {
    let group = shop.addGroup("A")
    @ObservedRealmObject var map = group.itemByName
    redraws.follow { _ = map["a"]??.name }
    $map.set(object: group.items[0], for: "a")
    #expect(await told() == 1)
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "B" }
    #expect(await told() == 1)
    group.bind(\.itemByName).remove("x")
    #expect(await told() == 0)
    $map.remove("a")
    #expect(await told() == 1)
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "C" }
    #expect(await told() == 0)
  }

  /// Collections inside of a mixed value are shown and written; who wants to be told reads the
  /// object.
  @Test func collectionsInsideOfMixedValues() async throws {
    let item = shop.addItem("A")
    item.bind(\.mixed).wrappedValue = AnyRealmValue.fromArray([.int(1), .int(2)])
    @ObservedRealmObject var numbers = try #require(item.mixed.listValue)
    @ObservedRealmObject var shown = item
    redraws.follow { _ = shown.mixed }
    #expect(numbers.isFrozen && numbers.count == 2)
    $numbers.append(.int(3))
    #expect(await told() == 1)
    #expect(numbers.count == 3 && shown.mixed.listValue?.count == 3)
    item.bind(\.mixed).wrappedValue = AnyRealmValue.fromDictionary(["a": .int(1)])
    @ObservedRealmObject var map = try #require(item.mixed.dictionaryValue)
    $map.set(object: .int(5), for: "b")
    #expect(map.count == 2 && shown.mixed.dictionaryValue?["b"] == .int(5))
  }

  // MARK: - Sets

  @Test func setsOfValuesAndObjects() async {
    let group = shop.addGroup("A", "B")
    @ObservedRealmObject var best = group.best
    @ObservedRealmObject var shown = group
    redraws.follow { _ = best.map(\.name) }
    $best.insert(shown.items[0])
    #expect(await told() == 1)
    $best.insert(group.items[0])
    #expect(best.count == 1)
    _ = await told()
    group.items[0].bind(\.name).wrappedValue = "C"
    #expect(await told() == 1)
    group.items[1].bind(\.name).wrappedValue = "D"
    #expect(await told() == 0)
    $best.remove(atOffsets: [0])
    #expect(await told() == 1)
    #expect(best.isEmpty && group.items.count == 2)
    #expect(shop.realm.versions { $best.removeAll() } == 0)
    @StateRealmObject var own = MutableSet<String>()
    $own.insert("x")
    $own.insert("x")
    $own.remove("y")
    #expect(Array(own) == ["x"])
    $own.removeAll()
    #expect(own.isEmpty)
  }

  // MARK: - Sections

  @Test func sectionsOfProjectionsAndByBlocks() async {
    let group = shop.addGroup("A", "B", "C")
    group.items[2].bind(\.count).wrappedValue = 5
    @ObservedSectionedResults(
      ItemName.self, sectionKeyPath: \.count, configuration: shop.configuration) var names
    #expect(names.map { "\($0.key): \($0.map(\.name))" } == ["0: [\"A\", \"B\"]", "5: [\"C\"]"])
    #expect(names.isFrozen && names[0].isFrozen)
    @ObservedSectionedResults(
      Item.self, sectionBlock: { $0.count > 3 }, keyPaths: ["count"],
      configuration: shop.configuration) var large
    redraws.follow { _ = large.map { "\($0.key): \($0.count)" } }
    shop.writeElsewhere { $0.objects(Item.self)[0].name = "D" }
    #expect(await told() == 0)
    shop.writeElsewhere { $0.objects(Item.self)[0].count = 9 }
    #expect(await told() == 1)
    #expect(large.allKeys == [false, true] && names.allKeys == [0, 5, 9])
    $large.filter = NSPredicate(format: "count > 3")
    #expect(await told() == 1)
    #expect(large.allKeys == [true] && $large.where == nil)
    $large.where = { $0.count == 9 }
    #expect(large[0].map(\.name) == ["D"] && $large.filter == nil)
  }

  @Test func sectionsAndWhatIsGone() throws {
    let group = shop.addGroup("A", "B", "C")
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, configuration: shop.configuration) var shelves
    let section = shelves[0]
    shop.writeElsewhere { $0.delete($0.objects(Item.self)[0]) }
    // The one that is gone is left out, the other one goes.
    #expect(
      logged { $shelves.remove(atOffsets: [0, 1], section: section) } == [leftOut("Item")])
    #expect(group.items.map(\.name) == ["C"])
    #expect(logged { $shelves.remove(section[0]) } == [leftOut("Item")])
    #expect(shop.realm.versions { $shelves.append(group.items[0]) } <= 1 && group.items.count == 1)
    try shop.realm.write(withoutNotifying: [$shelves.notificationToken]) {
      shop.realm.add(Item(name: "D"))
    }
    #expect(shelves[0].map(\.name) == ["C", "D"])
    $shelves.remove(atOffsets: [], section: shelves[0])
    shop.realm.invalidate()
    #expect(shelves.allKeys == [.fruit] && shelves[0].count == 2)
  }

  // MARK: - Deleting

  @Test func deletingThroughBindings() throws {
    let group = shop.addGroup("A", "B", "C", "D")
    @ObservedRealmObject var shown = group.items[0]
    let id = shown._id
    @StateRealmObject var state = group.items[1]
    ItemRow(item: $state).rename("X")
    #expect(group.items[1].name == "X")
    ItemRow(item: $state).delete()
    #expect(group.items.map(\.name) == ["A", "C", "D"])
    #expect(logged { ItemRow(item: $state).delete() } == [leftOut("Item")])
    $shown.delete()
    #expect(shown._id == id && shown.name == "A")
    #expect(logged { $shown.delete() } == [leftOut("Item")])
    #expect(logged { $shown.name.wrappedValue = "Y" } == [leftOut("Item")])
    // In a transaction that is open, and that is rolled back.
    @ObservedRealmObject var third = group.items[0]
    shop.realm.beginWrite()
    $third.delete()
    #expect(shop.realm.isInWriteTransaction && group.items.count == 1)
    shop.realm.cancelWrite()
    #expect(third.name == "C" && group.items.count == 2)
    // One of no Realm stays what it is.
    @StateRealmObject var own = Item(name: "Z")
    $own.delete()
    #expect(own.name == "Z")
  }

  @Test func collectionsOfObjectsThatAreGone() {
    let group = shop.addGroup("A")
    group.bind(\.numbers).append(1)
    @ObservedRealmObject var shown = group
    #expect(shown.items.count == 1)
    let (items, numbers) = ($shown.items, $shown.numbers)
    @ObservedRealmObject var list = group.items
    #expect(list.count == 1)
    shop.writeElsewhere { $0.delete($0.objects(ItemGroup.self)) }
    shop.realm.refresh()
    let lines = logged {
      items.append(Item(name: "B"))
      numbers.removeAll()
      $list.append(Item(name: "C"))
      $list.remove(atOffsets: [0])
      $shown.labels.insert("x")
      $shown.prices.set(object: 1, for: "x")
      $shown.title.wrappedValue = "x"
    }
    #expect(lines.count == 7 && lines.allSatisfy { $0.hasPrefix("A quick write was left out") })
    #expect(shop.realm.objects(Item.self).count == 1)
    // Its last form is shown.
    #expect(shown.items.map(\.name) == ["A"] && list.map(\.name) == ["A"])
  }

  @Test func resultsAndWhatIsGone() {
    _ = shop.addGroup("A", "B", "C")
    @ObservedResults(Item.self, configuration: shop.configuration) var items
    let shown = items
    shop.writeElsewhere { $0.delete($0.objects(Item.self)[0]) }
    #expect(logged { $items.remove(shown[0]) } == [leftOut("Item")])
    #expect(items.map(\.name) == ["B", "C"])
    shop.realm.invalidate()
    #expect(items.map(\.name) == ["B", "C"])
    $items.remove(atOffsets: [1])
    #expect(items.map(\.name) == ["B"])
  }

  // MARK: - Where nothing can be written

  @Test func aReadOnlyFileIsShown() throws {
    _ = shop.addGroup("A")
    var configuration = shop.configuration
    configuration.fileURL = URL(fileURLWithPath: shop.folder.file("copy.realm"))
    try shop.realm.writeCopy(toFile: configuration.fileURL!)
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    @ObservedRealmObject var group = realm.objects(ItemGroup.self)[0]
    @ObservedResults(Item.self, configuration: configuration) var items
    @ObservedSectionedResults(
      Item.self, sectionKeyPath: \.shelf, configuration: configuration) var shelves
    redraws.follow { _ = (group.title, $group.title.wrappedValue, items.count, shelves.count) }
    #expect(group.items.map(\.name) == ["A"] && items.count == 1 && shelves.count == 1)
  }

  @Test(arguments: 0..<8)
  func aReadOnlyFileIsNotWritten(way: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [way] in
      await MainActor.run {
        let shop = Shop()
        _ = shop.addGroup("A")
        var configuration = shop.configuration
        configuration.fileURL = URL(fileURLWithPath: shop.folder.file("copy.realm"))
        try! shop.realm.writeCopy(toFile: configuration.fileURL!)
        configuration.readOnly = true
        let realm = try! Realm(configuration: configuration)
        @ObservedRealmObject var group = realm.objects(ItemGroup.self)[0]
        @ObservedResults(Item.self, configuration: configuration) var items
        switch way {
        case 0: $group.title.wrappedValue = "x"
        case 1: $group.items.append(Item())
        case 2: $group.items.remove(at: 0)
        case 3: $group.labels.insert("x")
        case 4: $group.prices.set(object: 1, for: "x")
        case 5: $items.append(Item())
        case 6: $items.remove(atOffsets: [0])
        default: $group.delete()
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can't perform transactions on read-only Realms."))
  }

  @Test func removingWhatBelongsToNoRealmStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let shop = Shop()
        @ObservedResults(Item.self, configuration: shop.configuration) var items
        $items.remove(Item())
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can only delete an object from the Realm it belongs to."))
  }

  // MARK: - Other actors

  /// An actor with its own Realm writes by bindings, too.
  private actor Clerk {
    private var realm: Realm?

    func rename(_ configuration: Realm.Configuration, to name: String) async throws -> Bool {
      let realm = try await Realm.open(configuration: configuration)
      self.realm = realm
      let item = realm.objects(Item.self)[0]
      item.bind(\.name).wrappedValue = name
      item.freeze().bind(\.count).wrappedValue += 1
      return item.name == name && item.count == 1 && !realm.isInWriteTransaction
    }
  }

  @Test func otherActorsWriteInTheirOwnRealm() async throws {
    let item = shop.addItem("A")
    let screen = EditItem(item: item)
    redraws.follow { _ = screen.text }
    let isWritten = try await Clerk().rename(shop.configuration, to: "B")
    #expect(isWritten)
    // Two commits: told together, or one after the other.
    let count = await told()
    #expect(count == 1 || count == 2)
    #expect(screen.text == "B 1")
  }
}
