// The classes that are edited without a transaction block: by the tests, and by another process.
package import RealmSwift

package enum Shelf: String, PersistableEnum {
  case fruit, bread, other
}

package class Address: EmbeddedObject {
  @Persisted package var street: String
  @Persisted package var city: String?
}

package class Item: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) package var _id: ObjectId
  @Persisted package var name: String
  @Persisted package var isFavorite: Bool
  @Persisted package var count: Int
  @Persisted package var price: Double
  @Persisted package var note: String?
  @Persisted package var shelf: Shelf
  @Persisted package var mixed: AnyRealmValue
  @Persisted package var group: ItemGroup?
  @Persisted(originProperty: "items") package var groups: LinkingObjects<ItemGroup>

  package convenience init(name: String) {
    self.init()
    self.name = name
  }
}

package class ItemGroup: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) package var _id: ObjectId
  @Persisted package var title: String
  @Persisted package var items: List<Item>
  @Persisted package var numbers: List<Int>
  @Persisted package var labels: MutableSet<String>
  @Persisted package var best: MutableSet<Item>
  @Persisted package var prices: Map<String, Int>
  @Persisted package var address: Address?
  @Persisted package var addresses: List<Address>
  @Persisted package var itemByName: Map<String, Item?>
  @Persisted package var addressByName: Map<String, Address?>
  @Persisted package var noteByName: Map<String, String?>
}

package class ItemName: Projection<Item> {
  @Projected(\Item.name) package var name
  @Projected(\Item.count) package var count
}

/// All classes of a file that is edited.
package let editedClasses: [ObjectBase.Type] = [Item.self, ItemGroup.self, Address.self]
