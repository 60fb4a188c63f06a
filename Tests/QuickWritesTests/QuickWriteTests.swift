// Writes by bindings to objects of a Realm: where they go, and when they are left out.
import EditingProcess
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@MainActor
@Suite(.serialized, .ownThreads) struct QuickWriteTests {
  private let shop = Shop()

  @Test func aLiveObjectIsWrittenInATransactionOfItsOwn() {
    let item = shop.addItem("A")
    let name = item.bind(\.name)
    name.wrappedValue = "B"
    #expect(!shop.realm.isInWriteTransaction)
    #expect(item.name == "B" && name.wrappedValue == "B")
  }

  @Test func theOpenTransactionIsUsed() throws {
    let item = shop.addItem("A")
    try shop.realm.write {
      item.bind(\.count).wrappedValue += 1
      item.bind(\.count).wrappedValue += 1
      #expect(shop.realm.isInWriteTransaction)
    }
    #expect(item.count == 2)
    shop.realm.beginWrite()
    item.bind(\.count).wrappedValue = 9
    shop.realm.cancelWrite()
    #expect(item.count == 2)
  }

  @Test func aFrozenObjectIsThawed() {
    let item = shop.addItem("A")
    item.freeze().bind(\.name).wrappedValue = "B"
    #expect(item.name == "B")
  }

  @Test func anUnmanagedObjectIsJustChanged() {
    let item = Item(name: "A")
    item.bind(\.name).wrappedValue = "B"
    item.bind(\.note).wrappedValue = "C"
    #expect(item.name == "B" && item.note == "C" && item.realm == nil)
  }

  @Test func nestedAndEmbeddedPropertiesAreWritten() throws {
    let group = shop.addGroup("A")
    let address = group.bind(\.address)
    address.wrappedValue = Address(value: ["street": "Main"])
    #expect(group.address?.street == "Main")
    try #require(Binding(address)).street.wrappedValue = "Side"
    #expect(group.address?.street == "Side")
    try #require(Binding(address)).city.wrappedValue = "Town"
    #expect(group.address?.city == "Town")
    address.wrappedValue = nil
    #expect(group.address == nil)
  }

  @Test func linksTakeFrozenAndNewObjects() throws {
    let group = shop.addGroup("A")
    let item = group.items[0]
    item.bind(\.group).wrappedValue = group.freeze()
    #expect(item.group?._id == group._id)
    try #require(Binding(item.bind(\.group))).title.wrappedValue = "renamed"
    #expect(group.title == "renamed")
    let other = ItemGroup()
    item.bind(\.group).wrappedValue = other
    #expect(other.realm == shop.realm)
  }

  @Test func theSameBitsAreNotWritten() {
    let item = shop.addItem("A")
    #expect(shop.realm.versions { item.bind(\.name).wrappedValue = "A" } == 0)
    #expect(shop.realm.versions { item.bind(\.price).wrappedValue = 0 } == 0)
    // Equal, but other bits; twice.
    #expect(shop.realm.versions { item.bind(\.price).wrappedValue = -0.0 } == 1)
    #expect(shop.realm.versions { item.bind(\.price).wrappedValue = -0.0 } == 0)
    #expect(shop.realm.versions { item.bind(\.price).wrappedValue = .nan } == 1)
    #expect(shop.realm.versions { item.bind(\.price).wrappedValue = .nan } == 0)
    #expect(shop.realm.versions { item.bind(\.name).wrappedValue = "\u{e9}" } == 1)
    #expect(shop.realm.versions { item.bind(\.name).wrappedValue = "e\u{301}" } == 1)
    #expect(shop.realm.versions { item.bind(\.note).wrappedValue = nil } == 0)
    #expect(shop.realm.versions { item.bind(\.note).wrappedValue = "" } == 1)
    #expect(shop.realm.versions { item.bind(\.shelf).wrappedValue = .fruit } == 0)
    #expect(shop.realm.versions { item.bind(\.shelf).wrappedValue = .bread } == 1)
    #expect(shop.realm.versions { item.bind(\.mixed).wrappedValue = .int(1) } == 1)
    #expect(shop.realm.versions { item.bind(\.mixed).wrappedValue = .double(1) } == 1)
    #expect(shop.realm.versions { item.bind(\.mixed).wrappedValue = .double(1) } == 0)
    let group = item.groups[0]
    #expect(shop.realm.versions { item.bind(\.group).wrappedValue = group } == 1)
    #expect(shop.realm.versions { item.bind(\.group).wrappedValue = group.freeze() } == 0)
  }

  @Test func whatWasDeletedIsLeftAlone() {
    let item = shop.addItem("A")
    let (live, frozen) = (item.bind(\.name), item.freeze().bind(\.name))
    shop.writeElsewhere { $0.delete($0.objects(Item.self)) }
    // The Realm does not know yet that it is gone: it finds that out in the transaction.
    let lines = logged {
      live.wrappedValue = "B"
      frozen.wrappedValue = "B"
      live.wrappedValue = "C"
    }
    #expect(item.isInvalidated && !shop.realm.isInWriteTransaction)
    #expect(lines == Array(repeating: leftOut("Item"), count: 3))
  }

  @Test func deletingByABinding() {
    let item = shop.addItem("A")
    let group = item.groups[0]
    item.bind(\.group).wrappedValue = group
    Binding(item.bind(\.group))?.delete()
    #expect(group.isInvalidated && item.group == nil)
    let unmanaged = Item()
    unmanaged.bind(\.group).wrappedValue = ItemGroup()
    Binding(unmanaged.bind(\.group))?.delete()
    #expect(unmanaged.group != nil)
  }

  @Test func projectionsAreWritten() {
    let item = shop.addItem("A")
    ItemName(projecting: item).bind(\.name).wrappedValue = "B"
    #expect(item.name == "B")
    ItemName(projecting: item.freeze()).bind(\.count).wrappedValue = 4
    #expect(item.count == 4)
  }

  @Test func aReadOnlyRealmStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let shop = Shop()
        _ = shop.addItem("A")
        var configuration = shop.configuration
        configuration.readOnly = true
        configuration.fileURL = URL(fileURLWithPath: shop.folder.file("copy.realm"))
        try! shop.realm.writeCopy(toFile: configuration.fileURL!)
        let realm = try! Realm(configuration: configuration)
        realm.objects(Item.self)[0].bind(\.name).wrappedValue = "B"
      }
    }
    let message = text(result)
    #expect(message.contains("Can't perform transactions on read-only Realms."))
  }

  @Test func anotherPlaceStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let name = await MainActor.run { Shop().addItem("A").bind(\.name) }
      await Task.detached { name.wrappedValue = "B" }.value
    }
    let message = text(result)
    #expect(message.contains("Realm accessed from incorrect thread."))
  }

  /// A wrapper that was given a frozen object, as the rows of a list are, and was not read yet.
  @Test func theBindingOfAWrapperStopsInAnotherPlace() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let name = await MainActor.run {
        EditItem(item: Shop().addItem("A").freeze()).$item.name
      }
      await Task.detached { name.wrappedValue = "B" }.value
    }
    let message = text(result)
    #expect(message.contains("It belongs to the main thread"))
    #expect(message.contains("use `bind` elsewhere"))
  }

  /// The wrapper's observation begins behind the transaction in which it is first read.
  @Test func aWrapperThatIsFirstReadInATransactionIsLeftOut() async {
    await #expect(processExitsWith: .success) {
      await MainActor.run {
        let shop = Shop()
        let item = shop.addItem("A")
        let screen = EditItem(item: item)
        shop.realm.beginWrite()
        item.name = "B"
        precondition(screen.text.hasPrefix("B"))
        try! shop.realm.commitWrite(withoutNotifying: [screen.$item.notificationToken])
        precondition(screen.text.hasPrefix("B"))
      }
    }
  }

  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }
}
