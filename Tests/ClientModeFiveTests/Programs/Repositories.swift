// Repositories over domain values, a storage context, and helpers on Realm, Object and Results.
import Foundation
import RealmSwift

protocol DomainConvertible {
  associatedtype Domain
  var domain: Domain { get }
}

protocol RealmRepresentable {
  associatedtype Stored: Object, DomainConvertible
  var uid: String { get }
  func asRealm() -> Stored
}

protocol AbstractRepository {
  associatedtype T
  func queryAll() throws -> [T]
  func query(with predicate: NSPredicate, sortDescriptors: [RealmSwift.SortDescriptor]) throws
    -> [T]
  func save(_ entity: T) throws
  func delete(_ entity: T) throws
}

final class Repository<T: RealmRepresentable>: AbstractRepository where T == T.Stored.Domain {
  private let configuration: Realm.Configuration
  private var realm: Realm { try! Realm(configuration: self.configuration) }
  init(configuration: Realm.Configuration) { self.configuration = configuration }
  func queryAll() throws -> [T] { realm.objects(T.Stored.self).map { $0.domain } }
  func query(with predicate: NSPredicate, sortDescriptors: [RealmSwift.SortDescriptor] = []) throws
    -> [T]
  {
    realm.objects(T.Stored.self).filter(predicate).sorted(by: sortDescriptors).mapToDomain()
  }
  func save(_ entity: T) throws {
    let realm = self.realm
    try realm.write { realm.add(entity.asRealm(), update: .modified) }
  }
  func delete(_ entity: T) throws {
    let realm = self.realm
    guard let object = realm.object(ofType: T.Stored.self, forPrimaryKey: entity.uid) else {
      return
    }
    try realm.write { realm.delete(object) }
  }
}

extension Sequence where Element: DomainConvertible {
  func mapToDomain() -> [Element.Domain] { map { $0.domain } }
}

class AnyRepository<E> {
  private let all: () throws -> [E]
  private let put: (E) throws -> Void
  init<R: AbstractRepository>(_ base: R) where R.T == E {
    all = base.queryAll
    put = base.save
  }
  func queryAll() throws -> [E] { try all() }
  func save(_ e: E) throws { try put(e) }
}

struct UserModel: Equatable {
  var uid: String
  var name: String
  var posts: [PostModel] = []
}

struct PostModel: Equatable {
  var uid: String
  var title: String
  var created: Date
}

final class RMUser: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var uid: String = ""
  @Persisted var name: String = ""
  @Persisted var posts: List<RMPost>
}

final class RMPost: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var uid: String
  @Persisted(indexed: true) var title: String
  @Persisted var created: Date = Date()
  @Persisted(originProperty: "posts") var author: LinkingObjects<RMUser>
}

extension Object {
  static func build<O: Object>(_ builder: (O) -> Void) -> O {
    let object = O()
    builder(object)
    return object
  }
  func detached() -> Self {
    let copy = type(of: self).init()
    for property in objectSchema.properties {
      guard let value = value(forKey: property.name) else { continue }
      if property.isArray { continue }
      if property.type == .linkingObjects { continue }
      copy.setValue(value, forKey: property.name)
    }
    return copy
  }
}

extension RMUser: DomainConvertible {
  var domain: UserModel { UserModel(uid: uid, name: name, posts: posts.mapToDomain()) }
}

extension RMPost: DomainConvertible {
  var domain: PostModel { PostModel(uid: uid, title: title, created: created) }
}

extension UserModel: RealmRepresentable {
  func asRealm() -> RMUser {
    .build { (o: RMUser) in
      o.uid = uid
      o.name = name
      o.posts.append(objectsIn: posts.map { $0.asRealm() })
    }
  }
}

extension PostModel: RealmRepresentable {
  func asRealm() -> RMPost {
    RMPost.build { o in
      o.uid = uid
      o.title = title
      o.created = created
    }
  }
}

protocol PrimaryKeyed {
  associatedtype Key
  static var keyPath: String { get }
  var primaryKeyValue: Key { get }
}

protocol StorageContext {
  func create<T: Object>(_ model: T.Type, completion: @escaping ((T) -> Void)) throws
  func fetch<T: Object>(_ model: T.Type, predicate: NSPredicate?, sorted: Sorted?) -> [T]
  func deleteAll<T: Object>(_ model: T.Type) throws
  func update(block: @escaping () -> Void) throws
}

struct Sorted {
  var key: String
  var ascending: Bool = true
}

final class RealmStorageContext: StorageContext {
  let realm: Realm
  required init(configuration: Realm.Configuration) throws {
    realm = try Realm(configuration: configuration)
  }
  func safeWrite(_ block: (() throws -> Void)) throws {
    if realm.isInWriteTransaction { try block() } else { try realm.write(block) }
  }
  func create<T: Object>(_ model: T.Type, completion: @escaping ((T) -> Void)) throws {
    try safeWrite {
      let new = realm.create(model, value: [:] as [String: Any], update: .error)
      completion(new)
    }
  }
  func fetch<T: Object>(_ model: T.Type, predicate: NSPredicate? = nil, sorted: Sorted? = nil)
    -> [T]
  {
    var objects = realm.objects(model)
    if let predicate = predicate { objects = objects.filter(predicate) }
    if let sorted = sorted {
      objects = objects.sorted(byKeyPath: sorted.key, ascending: sorted.ascending)
    }
    return objects.compactMap { $0 as T }
  }
  func deleteAll<T: Object>(_ model: T.Type) throws {
    try safeWrite { realm.delete(realm.objects(model)) }
  }
  func update(block: @escaping () -> Void) throws { try safeWrite { block() } }
}

extension Realm {
  func filter<ParentType: Object>(
    parentType: ParentType.Type, subclasses: [ParentType.Type], predicate: NSPredicate
  ) -> [ParentType] {
    ([parentType] + subclasses).flatMap { classType in
      Array(self.objects(classType).filter(predicate))
    }
  }
  func safeWrite<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    isInWriteTransaction ? try block() : try write(withoutNotifying: tokens, block)
  }
  func writeAsyncCopy<T: ThreadConfined>(
    _ passed: T, errorHandler: @escaping ((_ error: Swift.Error) -> Void) = { _ in },
    block: @escaping ((Realm, T?) -> Void)
  ) {
    let objectReference = ThreadSafeReference(to: passed)
    let configuration = self.configuration
    DispatchQueue(label: "background").async {
      do {
        let realm = try Realm(configuration: configuration)
        try realm.write { block(realm, realm.resolve(objectReference)) }
      } catch { errorHandler(error) }
    }
  }
}

extension Results {
  func toArray<T>(ofType: T.Type) -> [T] { compactMap { $0 as? T } }
  func get(offset: Int, limit: Int) -> [Element] { Array(dropFirst(offset).prefix(limit)) }
}

extension List where Element: Object { func detachedAll() -> [Element] { map { $0.detached() } } }
@propertyWrapper struct RealmStored<T: Object> {
  private let type: T.Type
  var configuration: Realm.Configuration
  init(_ type: T.Type, configuration: Realm.Configuration = .defaultConfiguration) {
    self.type = type
    self.configuration = configuration
  }
  var wrappedValue: Results<T> { try! Realm(configuration: configuration).objects(type) }
}
