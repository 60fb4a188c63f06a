// Classes with collections and links, for the tests of both.
import Foundation
import RealmSwift

/// Linked from kennels; no primary key.
class Hound: Object {
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var weight: Double?
  @Persisted var friend: Hound?
  @Persisted(originProperty: "hounds") var kennels: LinkingObjects<Kennel>
  @Persisted(originProperty: "guardian") var guarded: LinkingObjects<Kennel>
  @Persisted(originProperty: "friend") var admirers: LinkingObjects<Hound>

  convenience init(_ name: String, _ age: Int = 0) {
    self.init()
    self.name = name
    self.age = age
  }
}

/// Lives inside of kennels.
class Box: EmbeddedObject {
  @Persisted var size: Int
  @Persisted var tenant: Hound?
  @Persisted var inner: Box?
  @Persisted var drawers: List<Box>

  convenience init(_ size: Int) {
    self.init()
    self.size = size
  }
}

/// Holds everything.
class Kennel: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var guardian: Hound?
  @Persisted var mainBox: Box?
  @Persisted var hounds: List<Hound>
  @Persisted var boxes: List<Box>
  @Persisted var numbers: List<Int>
  @Persisted var optionalNumbers: List<Int?>
  @Persisted var names: List<String>
  @Persisted var optionalNames: List<String?>
  @Persisted var bools: List<Bool>
  @Persisted var floats: List<Float>
  @Persisted var doubles: List<Double>
  @Persisted var dates: List<Date>
  @Persisted var datas: List<Data>
  @Persisted var shorts: List<Int16>
  @Persisted var houndSet: MutableSet<Hound>
  @Persisted var numberSet: MutableSet<Int>
  @Persisted var optionalNumberSet: MutableSet<Int?>
  @Persisted var nameSet: MutableSet<String>
  @Persisted var doubleSet: MutableSet<Double>
  @Persisted var houndMap: Map<String, Hound?>
  @Persisted var boxMap: Map<String, Box?>
  @Persisted var numberMap: Map<String, Int>
  @Persisted var optionalNumberMap: Map<String, Int?>
  @Persisted var nameMap: Map<String, String>

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

let kennelClasses: [ObjectBase.Type] = [Kennel.self, Hound.self, Box.self]

/// A kennel that belongs to no Realm, or is in a transaction of a Realm in memory.
func withKennels(_ body: (Kennel) throws -> Void) throws {
  try body(Kennel(1))
  if !managedCollectionsWork { return }
  let realm = try memoryRealm(kennelClasses)
  try realm.write {
    let kennel = Kennel(1)
    realm.add(kennel)
    try body(kennel)
  }
}

/// False as long as the layers below cannot store collections.
let managedCollectionsWork = true
