// swift-format-ignore-file
// Confined values that leave their actor: the compiler must refuse each.
import RealmSwift

class Dog: Object {
  @Persisted var name: String
}

actor Keeper {
  var realm: Realm!

  init() async throws { realm = try await Realm.open() }

  func take(_ dog: Dog) {}
  func take(_ dogs: Results<Dog>) {}
  func takeRealm(_ realm: Realm) {}
  func first() -> Dog? { realm.objects(Dog.self).first }
}

@globalActor actor Background: GlobalActor {
  static let shared = Background()
}

/// The Realm belongs to the main actor, which this function does not.
func openOutsideOfTheMainActor() async throws {
  _ = try await Realm()  // error: non-Sendable 'Realm'-typed result can not be returned from main actor-isolated initializer 'init(configuration:downloadBeforeOpen:)' to nonisolated context
}

@MainActor func sendAnObject(_ keeper: Keeper) async throws {
  let realm = try await Realm()
  let dog = realm.objects(Dog.self).first!
  await keeper.take(dog)  // error: sending 'dog' risks causing data races
}

@MainActor func sendResults(_ keeper: Keeper) async throws {
  let realm = try await Realm()
  let dogs = realm.objects(Dog.self)
  await keeper.take(dogs)  // error: sending 'dogs' risks causing data races
}

@MainActor func sendARealm(_ keeper: Keeper) async throws {
  let realm = try await Realm()
  await keeper.takeRealm(realm)  // error: sending 'realm' risks causing data races
}

func receiveAnObject(_ keeper: Keeper) async {
  _ = await keeper.first()  // error: non-Sendable 'Dog?'-typed result can not be returned from actor-isolated instance method 'first()' to nonisolated context
}

func useInATask(_ realm: Realm) {
  Task { _ = realm.isEmpty }  // error: passing closure as a 'sending' parameter risks causing data races between code in the current task and concurrent execution of the closure
}

@MainActor func useInADetachedTask() async throws {
  let realm = try await Realm()
  Task.detached { _ = realm.isEmpty }  // error: passing closure as a 'sending' parameter risks causing data races between main actor-isolated code and concurrent execution of the closure
}

@MainActor func captureInAWriteElsewhere() async throws {
  let dog = try await Realm().objects(Dog.self).first!
  Task { @Background in
    let realm = try await Realm.open()
    try await realm.asyncWrite { dog.name = "Rex" }  // error: sending 'dog' risks causing data races
  }
}
