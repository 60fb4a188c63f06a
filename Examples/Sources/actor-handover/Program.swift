// Passing data from one actor to another: a reference, plain values, a primary key, a copy as a
// struct. Objects themselves stay where they are: passing one does not compile.
import Foundation
import RealmSwift

class Person: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var visits = 0
}

/// Everything of a person that others want to know.
struct PersonCopy: Sendable {
  let id: ObjectId
  let name: String
  let visits: Int

  init(_ person: Person) {
    id = person._id
    name = person.name
    visits = person.visits
  }
}

actor Registry {
  private var realm: Realm!

  init() async throws { realm = try await Realm.open() }

  /// Resolves the reference inside of the transaction, hence to the newest state.
  func rename(_ reference: ThreadSafeReference<Person>, to name: String) async throws {
    try await realm.asyncWrite {
      // Nil when the person was deleted meanwhile.
      guard let person = realm.resolve(reference) else { return }
      person.name = name
    }
  }

  func add(name: String) async throws -> ObjectId {
    try await realm.asyncWrite { realm.create(Person.self, value: ["name": name])._id }
  }

  func countVisit(of id: ObjectId) async throws {
    try await realm.asyncWrite {
      realm.object(ofType: Person.self, forPrimaryKey: id)?.visits += 1
    }
  }

  func copy(of id: ObjectId) -> PersonCopy? {
    realm.object(ofType: Person.self, forPrimaryKey: id).map { PersonCopy($0) }
  }
}

@main struct Program {
  @MainActor static func main() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("actor-handover-\(UUID().uuidString).realm")
    let configuration = Realm.Configuration(fileURL: file, objectTypes: [Person.self])
    Realm.Configuration.defaultConfiguration = configuration
    defer { _ = try? Realm.deleteFiles(for: configuration) }

    let realm = try await Realm()
    let registry = try await Registry()
    let jane = try await realm.asyncWrite { realm.create(Person.self, value: ["name": "Jane"]) }

    // A reference is made where the object is, and resolved once where it goes.
    try await registry.rename(ThreadSafeReference(to: jane), to: "Jane Doe")
    await realm.asyncRefresh()
    print("by reference: \(jane.name)")
    precondition(jane.name == "Jane Doe")

    // Values are just passed.
    let copyName = "\(jane.name) II"
    let id = try await registry.add(name: copyName)
    await realm.asyncRefresh()
    print("by value: \(realm.objects(Person.self).count) persons")

    // The primary key finds the object on the other actor, any number of times.
    let key = jane._id
    for _ in 0..<3 { try await registry.countVisit(of: key) }
    await realm.asyncRefresh()
    print("by key: \(jane.visits) visits")
    precondition(jane.visits == 3)

    // A struct carries what is wanted.
    let copy = await registry.copy(of: id)
    print("by struct: \(copy!.name), \(copy!.visits) visits")
    precondition(copy?.name == "Jane Doe II")
  }
}
