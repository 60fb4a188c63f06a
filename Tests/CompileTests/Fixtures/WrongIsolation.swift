// swift-format-ignore-file
// Confined values that are used without entering their actor: the compiler must refuse each.
import RealmSwift

class Dog: Object {
  @Persisted var name: String
}

actor Keeper {
  var realm: Realm!

  init() async throws { realm = try await Realm.open() }

  func rename() throws { try realm.write {} }
}

func readFromOutside(_ keeper: Keeper) -> Int {
  keeper.realm.objects(Dog.self).count  // error: actor-isolated property 'realm' can not be referenced from a nonisolated context
}

func writeFromOutside(_ keeper: Keeper) throws {
  try keeper.rename()  // error: call to actor-isolated instance method 'rename()' in a synchronous nonisolated context
}

@MainActor func mainRealm() throws -> Realm { try Realm() }

func useTheMainRealm() throws {
  _ = try mainRealm()  // error: call to main actor-isolated global function 'mainRealm()' in a synchronous nonisolated context
}

func awaitedWrite(_ realm: Realm) throws {
  try realm.asyncWrite {}  // error: 'async' call in a function that does not support concurrency
}

/// The observer's block runs on another actor than the results belong to.
@MainActor func captureInAnObserver(_ dogs: Results<Dog>, _ keeper: Keeper) async {
  _ = await dogs.observe(on: keeper) { _, _ in
    _ = dogs.count  // error: capture of 'dogs' with non-Sendable type 'Results<Dog>' in a '@Sendable' closure
  }
}
