// What programs put around a Realm: extensions, repositories, copies out of it, JSON.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersArchitectureTests {
  @Test func detached() throws {
    let realm = try memoryRealm(shopClasses)
    let u = ShopUserObject(
      value: ["id": "1", "name": "A", "friends": [["id": "2", "name": "B"]], "pet": ["name": "P"]]
        as [String: Any])
    try realm.write { realm.add(u) }
    let d = u.detached()
    #expect(d.realm == nil)
    #expect(d.id == "1")
    #expect(d.friends.count == 1)
    #expect(d.friends[0].realm == nil)
    #expect(d.pet?.name == "P")
    #expect(d.pet?.realm == nil)
    #expect(u.friends.detachedArray().count == 1)
    #expect(realm.objects(ShopUserObject.self).toArray().count == 2)
    #expect(realm.objects(ShopUserObject.self).toArray(ofType: ShopUserObject.self).count == 2)
    let arr: [ShopUserObject] = realm.objects(ShopUserObject.self).toArray2()
    #expect(arr.count == 2)
    let got: [ShopUserObject] = realm.objects(ShopUserObject.self).get(offset: 0, limit: 5)
    #expect(got.count == 2)
    #expect(["a", "b"].toList().joinedText == "a-b")
    #expect([u].toList().count == 1)
  }

  @Test func repository() throws {
    let c = memoryConfiguration(shopClasses)
    let keep = try Realm(configuration: c)
    let repo = ShopRealmRepository<ShopUser>(c)
    try repo.insert(ShopUser(id: "1", name: "A"))
    try repo.insert(ShopUser(id: "1", name: "B"))
    try repo.insert(ShopUser(id: "2", name: "C"))
    #expect(try repo.getAll() == [ShopUser(id: "1", name: "B"), ShopUser(id: "2", name: "C")])
    #expect(try repo.getAll(where: NSPredicate(format: "name == %@", "C")).count == 1)
    try repo.delete(id: "1")
    #expect(try repo.getAll().count == 1)
    let s = try ShopRealmStorageContext(c)
    s.fetch(ShopUserObject.self, predicate: NSPredicate(format: "id != ''"), sorted: ("id", false))
    { #expect($0.count == 1) }
    try s.save(object: ShopPetObject(value: ["name": "x"]))
    #expect(keep.objects(ShopPetObject.self).count == 1)
    try keep.deleteAll(ShopPetObject.self)
    #expect(keep.objects(ShopPetObject.self).count == 0)
  }

  @Test func increment() throws {
    let realm = try memoryRealm(shopClasses)
    ShopIncr.add(in: realm)
    ShopIncr.add(in: realm)
    #expect(ShopIncr.all(in: realm).map(\.id) == [1, 2])
    #expect(ShopIncr.next(in: realm) == 3)
  }

  @Test func objectsFromAndToJSON() throws {
    let realm = try memoryRealm(shopClasses)
    let json =
      #"{"_id":"507f1f77bcf86cd799439011","name":"x","isFavorite":true,"tags":["a","b"],"group":{"title":"t","map":{"k":1}}}"#
    let item = try JSONDecoder().decode(ShopItem.self, from: Data(json.utf8))
    #expect(item.name == "x")
    #expect(Array(item.tags) == ["a", "b"])
    #expect(item.group?.map["k"] == 1)
    #expect(item.when == nil)
    try realm.write { realm.add(item) }
    let enc = JSONEncoder()
    enc.outputFormatting = .sortedKeys
    let text = String(
      decoding: try enc.encode(ShopItem(value: realm.objects(ShopItem.self)[0])), as: UTF8.self)
    #expect(text.contains(#""tags":["a","b"]"#))
    #expect(text.contains(#""_id":"507f1f77bcf86cd799439011""#))
    let again = try JSONDecoder().decode(ShopItem.self, from: Data(text.utf8))
    #expect(again.group?.title == "t")
    let arr = try JSONDecoder().decode([ShopItem].self, from: Data("[\(json)]".utf8))
    #expect(arr.count == 1)
    let list = try JSONDecoder().decode(List<ShopItem>.self, from: Data("[\(json)]".utf8))
    #expect(list.count == 1)
    let resultsText = String(
      decoding: try enc.encode(realm.objects(ShopItem.self).map { ShopItem(value: $0) }),
      as: UTF8.self)
    #expect(resultsText.hasPrefix("[{"))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ShopItem.self, from: Data("{}".utf8))
    }
    #expect(ShopDataSource<ShopItem>(realm).ids.count == 1)
    // dictionary from JSON
    let dict =
      try JSONSerialization.jsonObject(
        with: Data(#"{"id":"9","name":"N","friends":[{"id":"8","name":"M"}],"pet":null}"#.utf8))
      as! [String: Any]
    try realm.write { realm.create(ShopUserObject.self, value: dict, update: .modified) }
    #expect(
      realm.object(ofType: ShopUserObject.self, forPrimaryKey: "9")?.friends.first?.name == "M")
    try realm.write {
      let array =
        try JSONSerialization.jsonObject(with: Data(#"[{"id":1},{"id":2}]"#.utf8))
        as! [[String: Any]]
      for v in array { realm.create(ShopIncr.self, value: v, update: .all) }
      for case let v as NSDictionary in array {
        realm.create(ShopIncr.self, value: v, update: .all)
      }
    }
    #expect(realm.objects(ShopIncr.self).count == 2)
  }
}
