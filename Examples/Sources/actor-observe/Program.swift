// Observing a collection and an object on another actor than the one that writes.
import Foundation
import RealmSwift

class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var status = "open"
}

actor Writer {
  private var realm: Realm!

  init() async throws { realm = try await Realm.open() }

  func add(_ name: String) async throws -> ObjectId {
    try await realm.asyncWrite { realm.create(Todo.self, value: ["name": name])._id }
  }

  func finish(_ id: ObjectId) async throws {
    try await realm.asyncWrite {
      realm.object(ofType: Todo.self, forPrimaryKey: id)?.status = "done"
    }
  }

  func delete(_ id: ObjectId) async throws {
    try await realm.asyncWrite {
      guard let todo = realm.object(ofType: Todo.self, forPrimaryKey: id) else { return }
      realm.delete(todo)
    }
  }
}

/// What an observer has been told, one line each.
typealias Lines = AsyncStream<String>

@globalActor actor Watch: GlobalActor {
  static let shared = Watch()
}

@Watch func watchAll(_ lines: Lines.Continuation) async throws -> NotificationToken {
  let realm = try await Realm.open()
  return await realm.objects(Todo.self).observe(on: Watch.shared) { actor, change in
    actor.preconditionIsolated()
    switch change {
    case .initial(let todos): lines.yield("\(todos.count) todos at first")
    case .update(let todos, let deletions, let insertions, let modifications):
      // Deletions count in the old collection, the others in the new one: apply them in this order.
      lines.yield("\(todos.count) todos; -\(deletions) +\(insertions) ~\(modifications)")
    case .error(let error): lines.yield("error: \(error)")
    }
  }
}

@Watch func watch(_ id: ObjectId, _ lines: Lines.Continuation) async throws -> NotificationToken {
  let realm = try await Realm.open()
  let todo = realm.object(ofType: Todo.self, forPrimaryKey: id)!
  return await todo.observe(keyPaths: ["status"], on: Watch.shared) {
    (_, change: ObjectChange<Todo>) in
    switch change {
    case .change(let todo, let properties):
      lines.yield("\(todo.name): \(properties.map(\.name)) is \(todo.status)")
    case .deleted: lines.yield("deleted")
    case .error(let error): lines.yield("error: \(error)")
    }
  }
}

@main struct Program {
  static func main() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("actor-observe-\(UUID().uuidString).realm")
    let configuration = Realm.Configuration(fileURL: file, objectTypes: [Todo.self])
    Realm.Configuration.defaultConfiguration = configuration
    defer { _ = try? Realm.deleteFiles(for: configuration) }
    let writer = try await Writer()
    let id = try await writer.add("Water the plants")

    // Keep the tokens for as long as the observers shall be told.
    let (all, allLines) = Lines.makeStream()
    let (one, oneLines) = Lines.makeStream()
    var allLinesHeard = all.makeAsyncIterator()
    var oneLinesHeard = one.makeAsyncIterator()
    let tokenOfAll = try await watchAll(allLines)
    let tokenOfOne = try await watch(id, oneLines)
    await expect(allLinesHeard.next(), "1 todos at first")

    _ = try await writer.add("Feed the cat")
    await expect(allLinesHeard.next(), "2 todos; -[] +[1] ~[]")

    try await writer.finish(id)
    await expect(allLinesHeard.next(), "2 todos; -[] +[] ~[0]")
    await expect(oneLinesHeard.next(), "Water the plants: [\"status\"] is done")

    try await writer.delete(id)
    await expect(allLinesHeard.next(), "1 todos; -[0] +[] ~[]")
    await expect(oneLinesHeard.next(), "deleted")

    tokenOfAll.invalidate()
    tokenOfOne.invalidate()
  }

  static func expect(_ line: String?, _ expected: String) {
    print(line ?? "nothing")
    precondition(line == expected, "expected \(expected)")
  }
}
