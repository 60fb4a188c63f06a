// The classes of the example: people own dogs, and every dog has a collar.
import RealmSwift

class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var dogs: List<Dog>
}

class Dog: Object {
  @Persisted var name: String
  @Persisted(indexed: true) var age: Int
  @Persisted var collar: Collar?
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
}

/// Lives inside of a dog, and goes with it.
class Collar: EmbeddedObject {
  @Persisted var color: String
}
