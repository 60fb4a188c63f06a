// Ours: the object model through the public API.
import Foundation
import RealmSwift

final class Owner: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  @Persisted var children: List<Child>
  @Persisted(originProperty: "owner") var linking: LinkingObjects<Child>
}

final class Child: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: Int
  @Persisted var owner: Owner?
}

final class Containers: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var numbers: List<Int>
  @Persisted var map: Map<String, Int>
  @Persisted var set: MutableSet<Int>
}

final class TextKeyed: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var value: Int
}

final class IdentifierKeyed: Object {
  @Persisted(primaryKey: true) var key: UUID
  @Persisted var value: Int
}

final class RealmModel: ModelDriver {
  private let realm: Realm
  private let size: ModelSize
  private let containers: Containers
  private var heldChildren: [Child] = []
  private var heldOwners: [Owner] = []

  init(folder: String, size: ModelSize) throws {
    self.size = size
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder + "/model.realm"),
      objectTypes: [
        Owner.self, Child.self, Containers.self, TextKeyed.self, IdentifierKeyed.self,
      ])
    configuration.durability = .full
    let realm = try Realm(configuration: configuration)
    self.realm = realm
    containers = try realm.write { realm.create(Containers.self, value: ["id": 0]) }
  }

  func insertOwners() throws {
    try realm.write {
      var number = 0
      for id in 0..<size.owners {
        let owner = Owner()
        owner.id = id
        owner.age = ModelContent.age(id)
        for _ in 0..<ModelSize.childrenOfOwner {
          let child = Child()
          child.id = number
          child.value = ModelContent.value(number)
          child.owner = owner
          owner.children.append(child)
          number += 1
        }
        realm.add(owner)
      }
    }
  }

  func hold(children: [Int], owners: [Int]) throws {
    heldChildren = try found(Child.self, children)
    heldOwners = try found(Owner.self, owners)
  }

  func release() { (heldChildren, heldOwners) = ([], []) }

  private func found<Element: Object>(_ type: Element.Type, _ keys: [Int]) throws -> [Element] {
    try keys.map { key in
      guard let object = realm.object(ofType: type, forPrimaryKey: key) else {
        throw PeerError("ours: no object \(key)")
      }
      return object
    }
  }

  func followLinks() throws -> Int { heldChildren.reduce(0) { $0 &+ $1.owner!.age } }

  func readBacklinks() throws -> Int {
    heldOwners.reduce(0) { sum, owner in owner.linking.reduce(sum) { $0 &+ $1.value } }
  }

  func readLists() throws -> Int {
    heldOwners.reduce(0) { sum, owner in owner.children.reduce(sum) { $0 &+ $1.value } }
  }

  func appendBulk(_ values: [Int]) throws {
    try realm.write { containers.numbers.append(objectsIn: values) }
  }

  func appendEach(_ values: [Int]) throws {
    try realm.write {
      let numbers = containers.numbers
      for value in values { numbers.append(value) }
    }
  }

  var middleInserts: Int { 10_000 }

  func removeFromMiddle(_ count: Int) throws {
    try realm.write {
      let numbers = containers.numbers
      let middle = (numbers.count - count) / 2
      numbers.removeSubrange(middle..<middle + count)
    }
  }

  func insertInMiddle(_ values: [Int]) throws {
    try realm.write {
      let numbers = containers.numbers
      let middle = numbers.count / 2
      for value in values { numbers.insert(value, at: middle) }
    }
  }

  func sumInOrder() throws -> Int { containers.numbers.reduce(0) { $0 &+ $1 } }

  func sumAt(_ positions: [Int]) throws -> Int {
    let numbers = containers.numbers
    return positions.reduce(0) { $0 &+ numbers[$1] }
  }

  func insertMap(_ count: Int) throws {
    try realm.write {
      let map = containers.map
      for number in 0..<count { map[ModelContent.mapKey(number)] = number }
    }
  }

  func lookUpMap(_ keys: [String]) throws -> Int {
    let map = containers.map
    return keys.reduce(0) { $0 &+ (map[$1] ?? -1) }
  }

  func insertSet(_ values: [Int]) throws {
    try realm.write { containers.set.insert(objectsIn: values) }
  }

  func countInSet(_ values: [Int]) throws -> Int {
    let set = containers.set
    return values.reduce(0) { $0 + (set.contains($1) ? 1 : 0) }
  }

  func insertTextKeys(_ keys: [String]) throws {
    try realm.write {
      for (value, key) in keys.enumerated() {
        let object = TextKeyed()
        object.key = key
        object.value = value
        realm.add(object)
      }
    }
  }

  func lookUpTextKeys(_ keys: [String]) throws -> Int {
    keys.reduce(0) {
      $0 &+ (realm.object(ofType: TextKeyed.self, forPrimaryKey: $1)?.value ?? -1)
    }
  }

  func insertIdentifiers(_ keys: [UUID]) throws {
    try realm.write {
      for (value, key) in keys.enumerated() {
        let object = IdentifierKeyed()
        object.key = key
        object.value = value
        realm.add(object)
      }
    }
  }

  func lookUpIdentifiers(_ keys: [UUID]) throws -> Int {
    keys.reduce(0) {
      $0 &+ (realm.object(ofType: IdentifierKeyed.self, forPrimaryKey: $1)?.value ?? -1)
    }
  }

  func deleteChildren(_ keys: [Int]) throws {
    try realm.write {
      for key in keys {
        if let child = realm.object(ofType: Child.self, forPrimaryKey: key) { realm.delete(child) }
      }
    }
  }

  func deleteAllChildren() throws {
    try realm.write { realm.delete(realm.objects(Child.self)) }
  }

  func childCount() throws -> Int { realm.objects(Child.self).count }

  func writeCopy(to path: String) throws {
    try realm.writeCopy(toFile: URL(fileURLWithPath: path))
  }
}
