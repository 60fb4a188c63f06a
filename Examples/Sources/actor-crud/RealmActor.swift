// An actor that owns a Realm: opened when the actor is made, used by its functions, closed at the
// end.
import Foundation
import RealmSwift

class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var owner: String
  @Persisted var status = "open"
}

actor RealmActor {
  // Optional, so that `self` can be passed to Realm before it has one.
  private var realm: Realm!

  init(_ configuration: Realm.Configuration = .defaultConfiguration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  var count: Int { realm.objects(Todo.self).count }
  var names: [String] { realm.objects(Todo.self).sorted(byKeyPath: "name").map(\.name) }

  // MARK: - Asynchronous writes: nobody waits for the disk on a thread.

  @discardableResult
  func createTodo(name: String, owner: String) async throws -> ObjectId {
    try await realm.asyncWrite {
      realm.create(Todo.self, value: ["name": name, "owner": owner])._id
    }
  }

  func updateTodo(_id: ObjectId, name: String, owner: String, status: String) async throws {
    try await realm.asyncWrite {
      realm.create(
        Todo.self, value: ["_id": _id, "name": name, "owner": owner, "status": status],
        update: .modified)
    }
  }

  func deleteTodo(_id: ObjectId) async throws {
    try await realm.asyncWrite {
      guard let todo = realm.object(ofType: Todo.self, forPrimaryKey: _id) else { return }
      realm.delete(todo)
    }
  }

  /// The error is thrown on, and nothing has been written.
  func createTwoOrNone(_ names: [String]) async throws {
    try await realm.asyncWrite {
      for name in names {
        if name.isEmpty { throw MissingName() }
        realm.create(Todo.self, value: ["name": name, "owner": "both"])
      }
    }
  }

  // MARK: - Synchronous use in an isolated function

  func rename(from name: String, to newName: String) throws {
    try realm.write {
      for todo in realm.objects(Todo.self).where({ $0.name == name }) { todo.name = newName }
    }
  }

  /// One transaction over several suspensions.
  func createSlowly(_ names: [String]) async throws {
    realm.beginWrite()
    for name in names {
      realm.create(Todo.self, value: ["name": name, "owner": "slow"])
      await Task.yield()
    }
    try realm.commitWrite()
  }

  func close() { realm = nil }
}

struct MissingName: Error {}
