// Drives an actor that owns a Realm, from code that belongs to no actor: alone, in tasks and task
// groups.
import Foundation
import RealmSwift

/// A global actor's functions use its Realm without `await`.
@globalActor actor Archive: GlobalActor {
  static let shared = Archive()
}

@Archive func archiveDone() async throws -> Int {
  let realm = try await Realm(actor: Archive.shared)
  let done = realm.objects(Todo.self).where { $0.status == "done" }
  try await realm.asyncWrite { done.setValue("archived", forKey: "status") }
  return countArchived(realm)
}

/// Synchronous, since it is on the same actor.
@Archive func countArchived(_ realm: Realm) -> Int {
  realm.objects(Todo.self).where { $0.status == "archived" }.count
}

@main struct Program {
  static func main() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("actor-crud-\(UUID().uuidString).realm")
    let configuration = Realm.Configuration(fileURL: file, objectTypes: [Todo.self])
    Realm.Configuration.defaultConfiguration = configuration
    defer { _ = try? Realm.deleteFiles(for: configuration) }

    // Create, update, delete from outside.
    let actor = try await RealmActor()
    let plants = try await actor.createTodo(name: "Water the plants", owner: "Ann")
    let cat = try await actor.createTodo(name: "Feed the cat", owner: "Bob")
    try await actor.updateTodo(_id: plants, name: "Water them", owner: "Ann", status: "done")
    try await actor.deleteTodo(_id: cat)
    try await actor.rename(from: "Water them", to: "Water all plants")
    print("todos: \(await actor.names)")
    print("archived: \(try await archiveDone())")

    // All or nothing.
    do {
      try await actor.createTwoOrNone(["Shop", ""])
      preconditionFailure("nothing was thrown")
    } catch is MissingName {
      print("after an error: \(await actor.count) todo")
    }

    // A transaction goes on after `await`.
    try await actor.createSlowly(["Cook", "Eat"])
    let count = await actor.count
    precondition(count == 3)

    // Tasks and task groups: the actor takes one after the other, the thread is free meanwhile.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...5 {
        group.addTask { try await actor.createTodo(name: "Task \(number)", owner: "group") }
      }
      try await group.waitForAll()
    }
    let more = Task { try await actor.createTodo(name: "Last", owner: "task") }
    _ = try await more.value
    print("after tasks: \(await actor.count) todos")

    // A task that was cancelled before its turn writes nothing.
    let never = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await actor.createTodo(name: "Never", owner: "nobody")
    }
    do {
      _ = try await never.value
      preconditionFailure("was written")
    } catch is CancellationError {
      print("cancelled: \(await actor.count) todos")
    }
    await actor.close()
  }
}
