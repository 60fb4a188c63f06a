// Objects that are deleted together, out of large lists and maps that link to them.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private class Holder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var items: List<Item>
  @Persisted var byName: Map<String, Item?>
  @Persisted var chosen: MutableSet<Item>
  @Persisted var first: Item?
  @Persisted var parts: List<ItemPart>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var next: List<Item>
  @Persisted(originProperty: "items") var holders: LinkingObjects<Holder>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ItemPart: EmbeddedObject {
  @Persisted var id: Int
  @Persisted var item: Item?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct DeletingTogetherTests {
  private func holders(_ count: Int) throws -> (Realm, Holder, Holder) {
    let realm = try memoryRealm([Holder.self, Item.self, ItemPart.self])
    return try realm.write {
      let holders = (0..<2).map { realm.create(Holder.self, value: ["id": $0]) }
      for id in 0..<count {
        let item = realm.create(Item.self, value: ["id": id])
        for holder in holders { holder.items.append(item) }
        holders[0].items.append(item)
        holders[0].byName["\(id)"] = item
        if id % 3 == 0 { holders[0].chosen.insert(item) }
        item.next.append(objectsIn: realm.objects(Item.self).filter("id IN {0, 1}"))
        holders[0].parts.append(ItemPart(value: ["id": id, "item": item]))
      }
      holders[0].first = holders[0].items[0]
      return (realm, holders[0], holders[1])
    }
  }

  @Test func resultsLeaveListsAndMaps() throws {
    let (realm, holder, other) = try holders(600)
    try realm.write { realm.delete(realm.objects(Item.self).where { $0.id < 400 && $0.id != 7 }) }
    let left = [7] + Array(400..<600)
    #expect(other.items.map(\.id) == left)
    #expect(holder.items.map(\.id) == left.flatMap { [$0, $0] })
    #expect(holder.byName.count == 600 && holder.byName.values.count { $0 == nil } == 399)
    #expect(holder.byName["7"]??.id == 7 && holder.byName["8"] == .some(nil))
    #expect(holder.chosen.map(\.id).sorted() == left.filter { $0 % 3 == 0 } && holder.first == nil)
    #expect(other.items[0].next.isEmpty && other.items[0].holders.count == 3)
    #expect(holder.parts.count == 600 && holder.parts.count { $0.item == nil } == 399)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func listsMapsAndSequences() throws {
    let (realm, holder, other) = try holders(40)
    try realm.write { realm.delete(Array(other.items.prefix(10))) }
    #expect(other.items.first?.id == 10 && holder.items.count == 60)
    // Twice in the list.
    try realm.write { realm.delete(holder.items.filter("id < 20")) }
    try realm.write { realm.delete(holder.parts) }
    #expect(holder.parts.isEmpty && other.items.count == 20)
    try realm.write { realm.delete(holder.byName) }
    #expect(holder.items.isEmpty && realm.objects(Item.self).isEmpty)
    #expect(holder.byName.values.allSatisfy { $0 == nil })
    try realm.write { realm.delete([holder, other] as [Object]) }
    #expect(realm.isEmpty)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func anOwnerAndItsParts() throws {
    let (realm, holder, _) = try holders(5)
    let objects: [ObjectBase] = [holder, holder.parts[0], holder.items[0]]
    try realm.write { realm.delete(objects) }
    #expect(objects.allSatisfy { $0.isInvalidated } && realm.objects(Item.self).count == 4)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func nothingIsDeletedWhenOneIsForeign() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (realm, holder, _) = try DeletingTogetherTests().holders(2)
      try realm.write { realm.delete([holder.items[0], Item()]) }
    }
    expectStop(result, "Can only delete an object from the Realm it belongs to.")
  }
}
