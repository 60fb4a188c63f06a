// swift-format-ignore-file
// A line that must be refused carries what the compiler says of it.
// A module with `-default-isolation MainActor`: its models belong to no actor, as the classes of
// which they are made, since a Realm makes objects on any thread; all else stays on the main actor.
import RealmSwift

class Dog: Object {
  @Persisted var name: String
  @Persisted var age = 3
  @Persisted var size = Size.small
  @Persisted var weight = Weight(grams: 10)
  @Persisted var nature: Nature?

  convenience init(name: String) {
    self.init()
    self.name = name
  }

  var title: String { "\(name), \(age)" }
}

class Puppy: Dog {
  @Persisted var mother: Dog?
}

enum Size: String, PersistableEnum { case small, large }
enum Nature: Int, PersistableEnum, Codable { case calm, wild }

struct Weight: CustomPersistable, Equatable {
  var grams: Int
  init(grams: Int) { self.grams = grams }
  init(persistedValue: Int) { grams = persistedValue }
  var persistableValue: Int { grams }
}

struct Code: FailableCustomPersistable {
  var text: String
  init?(persistedValue: String) { text = persistedValue }
  var persistableValue: String { text }
}

class Owner: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var dogs: List<Dog>
  @Persisted(originProperty: "owner") var houses: LinkingObjects<House>

  override class func propertiesMapping() -> [String: String] { ["dogs": "hounds"] }
}

// The word may be there.
nonisolated class Tree: Object {
  @Persisted var height: Double
}

func useModels() throws {
  let realm = try Realm()
  try realm.write { realm.add(Dog(name: "Rex")) }
  let dog = realm.objects(Dog.self).where { $0.name == "Rex" && $0.size == .small }[0]
  @ObservedResults(Dog.self) var dogs
  $dogs.append(Dog(name: "Max"))
  let token = dog.observe { (change: ObjectChange<Dog>) in print(change) }
  dog.bind(\.name).wrappedValue = "Rexy"
  dog.bind(\.size).wrappedValue = .large
  dog.bind(\.weight.grams).wrappedValue = 7
  token.invalidate()
  print(dog.title)
}

// Elsewhere, too.
nonisolated func useModelsAnywhere() throws -> String {
  let dog = Dog(name: "Rex")
  dog.nature = .wild
  let realm = try Realm()
  try realm.write { realm.add(dog) }
  return dog.title
}

actor Kennel {
  func count(_ configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm.open(configuration: configuration)
    try await realm.asyncWrite { realm.add(Puppy()) }
    return realm.objects(Puppy.self).count
  }
}

class Place: EmbeddedObject {
  @Persisted var street: String
}

class DogName: Projection<Dog> {
  @Projected(\Dog.name) var name
  @Projected(\Dog.size) var size
}

class House: Object, ObjectKeyIdentifiable {
  @Persisted var place: Place?
  @Persisted var owner: Owner?
  @Persisted var dogs: List<Dog>
  @Persisted var prices: Map<String, Int>
  @Persisted var labels: MutableSet<String>
  @Persisted var sizes: List<Size>
}

// Screens stay on the main actor, without a word.
class Screen {
  @ObservedRealmObject var house: House
  @StateRealmObject var draft = Dog()
  @ObservedResults(DogName.self) var names
  @ObservedSectionedResults(Dog.self, sectionKeyPath: \.size) var sizes
  var text = ""
  var textBinding: Binding<String> { Binding(get: { self.text }, set: { self.text = $0 }) }

  init(house: House) { self._house = ObservedRealmObject(wrappedValue: house) }

  func save() {
    $house.dogs.append(draft)
    $house.prices.set(object: 1, for: "a")
    $house.labels.insert("x")
    $house.sizes.append(.large)
    $draft.name.wrappedValue = text
    if let place = Binding($house.place) { place.street.wrappedValue = textBinding.wrappedValue }
    $sizes.remove(atOffsets: [0], section: sizes[0])
    $names.sortDescriptor = SortDescriptor(keyPath: "name")
    $names.remove(atOffsets: [0])
    $house.delete()
  }
}

// A view and its row, as structs.
struct DogRow {
  @ObservedRealmObject var dog: Dog
  @Binding var isShown: Bool
  var title: String { dog.title }
}

struct DogList {
  @ObservedResults(Dog.self, where: { $0.age > 2 }) var dogs
  @StateRealmObject var draft = Dog()
  func rows(_ isShown: Binding<Bool>) -> [DogRow] {
    dogs.map { DogRow(dog: $0, isShown: isShown) }
  }
}

// A class that is put on the main actor is refused: Realms make objects anywhere.
@MainActor class Cat: Object {  // error: main actor-isolated initializer 'init()' has different actor isolation from nonisolated overridden declaration
  @Persisted var name: String
}
