// Classes as programs write them, for the tests that try what users would try.
import Foundation
import RealmSwift

enum TaskStatus: String, PersistableEnum {
  case pending
  case inProgress
  case complete
}

class HomeOwner: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var chores: List<Chore>
  @Persisted var first: Chore?
  @Persisted var labels: MutableSet<String>
  @Persisted var counts: Map<String, Int>
  @Persisted var byName: Map<String, Chore?>
  @Persisted var home: HomeAddress?
  @Persisted var homes: List<HomeAddress>
  @Persisted var anything: AnyRealmValue

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

class Chore: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted(indexed: true) var title = ""
  @Persisted var status = TaskStatus.pending
  @Persisted var priority: Int?
  @Persisted(originProperty: "chores") var owners: LinkingObjects<HomeOwner>

  convenience init(id: Int, title: String = "chore") {
    self.init()
    self.id = id
    self.title = title
  }
}

class HomeAddress: EmbeddedObject {
  @Persisted var street: String?
  @Persisted var city = "Zürich"

  convenience init(street: String) {
    self.init()
    self.street = street
  }
}

/// A class without a key, with a text and an equality of its own.
class Described: Object {
  @Persisted var name = ""

  var label = "transient"

  override var description: String { "Described(\(name))" }
  override var hash: Int { name.hashValue }
  override func isEqual(_ object: Any?) -> Bool { (object as? Described)?.name == name }

  required init() { super.init() }

  init(name: String) {
    super.init()
    self.name = name
  }
}

class DescribedHome: EmbeddedObject {
  @Persisted var street = ""

  override public var description: String { "at \(street)" }
}

let userClasses: [ObjectBase.Type] = [
  HomeOwner.self, Chore.self, HomeAddress.self, Described.self,
]

/// A Realm of these classes in memory.
func userConfiguration() -> Realm.Configuration { memoryConfiguration(userClasses) }

/// An owner with chores numbered from 0.
@discardableResult
func addOwner(_ realm: Realm, chores count: Int = 0, name: String = "Ada") -> HomeOwner {
  let owner = HomeOwner(name: name)
  realm.add(owner)
  for id in 0..<count { owner.chores.append(Chore(id: id, title: "chore \(id)")) }
  return owner
}
