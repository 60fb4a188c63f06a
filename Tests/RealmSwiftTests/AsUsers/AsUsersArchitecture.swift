// Extensions, repositories and helpers as programs write them around a Realm, for the tests beside.
import Foundation
import RealmSwift

// MARK: extensions users write
extension Realm {
  func safeWrite(_ block: (() throws -> Void)) throws {
    if isInWriteTransaction { try block() } else { try write(block) }
  }
  func writeOrReuse<T>(_ block: () throws -> T) throws -> T {
    if isInWriteTransaction { return try block() }
    return try write { try block() }
  }
  func addOrUpdate<T: Object>(_ o: T) throws { try safeWrite { add(o, update: .modified) } }
  func deleteAll<T: Object>(_ type: T.Type) throws { try safeWrite { delete(objects(type)) } }
  func filter<ParentType: Object>(
    parentType: ParentType.Type, subclasses: [ParentType.Type], predicate: NSPredicate
  ) -> [ParentType] {
    ([parentType] + subclasses).flatMap { classType in
      Array(self.objects(classType).filter(predicate))
    }
  }
  static var current: Realm? { try? Realm() }
}
extension Results {
  func toArray() -> [Element] { compactMap { $0 } }
  func toArray<T>(ofType: T.Type) -> [T] {
    var array = [T]()
    for i in 0..<count { if let result = self[i] as? T { array.append(result) } }
    return array
  }
  func get<T: Object>(offset: Int, limit: Int) -> [T] {
    var lim = 0
    var off = 0
    var l: [T] = []
    if off <= offset && offset < self.count - 1 { off = offset }
    if limit > self.count { lim = self.count } else { lim = limit }
    for i in off..<lim {
      let dog = self[i] as! T
      l.append(dog)
    }
    return l
  }
}
extension RealmCollection { func toArray2<T>() -> [T] { compactMap { $0 as? T } } }
extension List { func detachedArray() -> [Element] { Array(self) } }
extension Array where Element: RealmCollectionValue {
  func toList() -> List<Element> {
    let l = List<Element>()
    l.append(objectsIn: self)
    return l
  }
}
extension List where Element == String { var joinedText: String { joined(separator: "-") } }
extension Sequence where Element: Object { func ids() -> [String] { map { $0.description } } }

// MARK: detachable (widely copied)
protocol ShopDetachableObject: AnyObject { func detached() -> Self }
extension Object: ShopDetachableObject {
  func detached() -> Self {
    let detached = type(of: self).init()
    for property in objectSchema.properties {
      guard property.objectClassName == nil || true, let value = value(forKey: property.name) else {
        continue
      }
      if property.isArray == true {
        if let detachable = value as? any ShopDetachableObject {
          detached.setValue(detachable.detached(), forKey: property.name)
        } else {
          detached.setValue(value, forKey: property.name)
        }
      } else if property.type == .linkingObjects {
        continue
      } else if property.type == .object {
        if let detachable = value as? any ShopDetachableObject {
          detached.setValue(detachable.detached(), forKey: property.name)
        }
      } else {
        detached.setValue(value, forKey: property.name)
      }
    }
    return detached
  }
}
extension List: ShopDetachableObject {
  func detached() -> List<Element> {
    let result = List<Element>()
    forEach {
      if let detachable = $0 as? any ShopDetachableObject,
        let element = detachable.detached() as? Element
      {
        result.append(element)
      } else {
        result.append($0)
      }
    }
    return result
  }
}

// MARK: repositories
protocol ShopEntity {
  associatedtype RealmType: Object
  func toRealm() -> RealmType
  init(_ o: RealmType)
}
class ShopUserObject: Object {
  @Persisted(primaryKey: true) var id = ""
  @Persisted var name = ""
  @Persisted var friends: List<ShopUserObject>
  @Persisted var pet: ShopPetObject?
}
class ShopPetObject: Object { @Persisted var name = "" }
struct ShopUser: ShopEntity, Equatable {
  var id: String, name: String
  init(id: String, name: String) {
    self.id = id
    self.name = name
  }
  init(_ o: ShopUserObject) {
    id = o.id
    name = o.name
  }
  func toRealm() -> ShopUserObject {
    let o = ShopUserObject()
    o.id = id
    o.name = name
    return o
  }
}
protocol ShopRepository {
  associatedtype T
  func getAll(where predicate: NSPredicate?) throws -> [T]
  func insert(_ item: T) throws
  func delete(id: String) throws
}
final class ShopRealmRepository<E: ShopEntity>: ShopRepository {
  private let configuration: Realm.Configuration
  init(_ c: Realm.Configuration) { configuration = c }
  var realm: Realm { get throws { try Realm(configuration: configuration) } }
  func getAll(where predicate: NSPredicate? = nil) throws -> [E] {
    var objects = try realm.objects(E.RealmType.self)
    if let predicate { objects = objects.filter(predicate) }
    return objects.map(E.init)
  }
  func insert(_ item: E) throws {
    let realm = try realm
    try realm.write { realm.add(item.toRealm(), update: .all) }
  }
  func delete(id: String) throws {
    let realm = try realm
    guard let o = realm.object(ofType: E.RealmType.self, forPrimaryKey: id) else { return }
    try realm.write { realm.delete(o) }
  }
}
protocol ShopStorageContext {
  func create<T: Object>(_ model: T.Type, completion: @escaping ((T) -> Void)) throws
  func save(object: Object) throws
  func fetch<T: Object>(
    _ model: T.Type, predicate: NSPredicate?, sorted: (key: String, ascending: Bool)?,
    completion: (([T]) -> ()))
}
class ShopRealmStorageContext: ShopStorageContext {
  var realm: Realm?
  required init(_ c: Realm.Configuration) throws { realm = try Realm(configuration: c) }
  func create<T: Object>(_ model: T.Type, completion: @escaping ((T) -> Void)) throws {
    guard let realm = self.realm else { throw NSError(domain: "x", code: 1) }
    try realm.safeWrite {
      let newObject = realm.create(model, value: [], update: .error) as T
      completion(newObject)
    }
  }
  func save(object: Object) throws { try realm!.safeWrite { realm!.add(object) } }
  func fetch<T: Object>(
    _ model: T.Type, predicate: NSPredicate?, sorted: (key: String, ascending: Bool)?,
    completion: (([T]) -> ())
  ) {
    var objects = self.realm?.objects(model as Object.Type)
    if let predicate = predicate { objects = objects?.filter(predicate) }
    if let sorted { objects = objects?.sorted(byKeyPath: sorted.key, ascending: sorted.ascending) }
    var accumulate: [T] = [T]()
    for object in objects! { accumulate.append(object as! T) }
    completion(accumulate)
  }
}
// generic data source
final class ShopDataSource<T: RealmCollectionValue & ObjectKeyIdentifiable> where T: Object {
  var items: Results<T>
  var token: NotificationToken?
  init(_ r: Realm) { items = r.objects(T.self) }
  var ids: [UInt64] { items.map { UInt64($0.id) } }
}
class ShopItem: Object, ObjectKeyIdentifiable, Codable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name = ""
  @Persisted var isFavorite = false
  @Persisted var tags: List<String>
  @Persisted var group: ShopItemGroup?
  @Persisted var when: Date?
}
class ShopItemGroup: EmbeddedObject, ObjectKeyIdentifiable, Codable {
  @Persisted var title: String?
  @Persisted var map: Map<String, Int>
}
class ShopIncr: Object {
  @Persisted(primaryKey: true) var id: Int = 0
  static func next(in realm: Realm) -> Int {
    (realm.objects(ShopIncr.self).max(ofProperty: "id") as Int? ?? 0) + 1
  }
  class func all(in realm: Realm = try! Realm()) -> Results<ShopIncr> {
    realm.objects(ShopIncr.self).sorted(byKeyPath: "id")
  }
  @discardableResult static func add(in realm: Realm) -> ShopIncr {
    let i = ShopIncr(value: ["id": next(in: realm)])
    try! realm.write { realm.add(i) }
    return i
  }
}
enum ShopMigrator {
  static func configure() {
    let config = Realm.Configuration(
      schemaVersion: 1,
      migrationBlock: { migration, oldSchemaVersion in
        if oldSchemaVersion < 1 {
          migration.enumerateObjects(ofType: ShopItem.className()) { oldObject, newObject in
            newObject!["name"] = oldObject?["name"] as? String ?? ""
          }
        }
      })
    Realm.Configuration.defaultConfiguration = config
  }
}
let shopClasses: [ObjectBase.Type] = [
  ShopUserObject.self, ShopPetObject.self, ShopItem.self, ShopItemGroup.self, ShopIncr.self,
]
