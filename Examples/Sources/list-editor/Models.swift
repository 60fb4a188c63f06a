import RealmSwift

class Item: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var isFavorite: Bool
  @Persisted(originProperty: "items") var groups: LinkingObjects<ItemGroup>

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

class ItemGroup: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var items: List<Item>
}
