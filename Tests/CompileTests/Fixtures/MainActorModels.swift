// swift-format-ignore-file
// A line that must be refused carries what the compiler says of it.
// A module with `-default-isolation MainActor`: its models are `nonisolated`, since a Realm makes
// objects on any thread; all else may stay on the main actor.
import RealmSwift

nonisolated class Dog: Object {
  @Persisted var name: String
  @Persisted var age = 3

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

nonisolated class Owner: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var dogs: List<Dog>

  override class func propertiesMapping() -> [String: String] { ["dogs": "hounds"] }
}

func useModels() throws {
  let realm = try Realm()
  try realm.write { realm.add(Dog(name: "Rex")) }
  let dog = realm.objects(Dog.self).where { $0.name == "Rex" }[0]
  @ObservedResults(Dog.self) var dogs
  $dogs.append(Dog(name: "Max"))
  let token = dog.observe { (change: ObjectChange<Dog>) in print(change) }
  dog.bind(\.name).wrappedValue = "Rexy"
  token.invalidate()
}

nonisolated class Place: EmbeddedObject {
  @Persisted var street: String
}

nonisolated class DogName: Projection<Dog> {
  @Projected(\Dog.name) var name
}

nonisolated class House: Object, ObjectKeyIdentifiable {
  @Persisted var place: Place?
  @Persisted var dogs: List<Dog>
  @Persisted var prices: Map<String, Int>
  @Persisted var labels: MutableSet<String>
}

// Screens stay on the main actor, without a word.
class Screen {
  @ObservedRealmObject var house: House
  @StateRealmObject var draft = Dog()
  @ObservedResults(DogName.self) var names
  @ObservedSectionedResults(Dog.self, sectionKeyPath: \.age) var ages
  var text = ""
  var textBinding: Binding<String> { Binding(get: { self.text }, set: { self.text = $0 }) }

  init(house: House) { self._house = ObservedRealmObject(wrappedValue: house) }

  func save() {
    $house.dogs.append(draft)
    $house.prices.set(object: 1, for: "a")
    $house.labels.insert("x")
    $draft.name.wrappedValue = text
    if let place = Binding($house.place) { place.street.wrappedValue = textBinding.wrappedValue }
    $ages.remove(atOffsets: [0], section: ages[0])
    $names.sortDescriptor = SortDescriptor(keyPath: "name")
    $house.delete()
  }
}

// Without the word the compiler says where it is missing.
class Cat: Object {  // error: main actor-isolated initializer 'init()' has different actor isolation from nonisolated overridden declaration
  @Persisted var name: String
}
