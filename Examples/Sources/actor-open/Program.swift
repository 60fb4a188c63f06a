// Opening Realms with `await`: on the main actor, on an actor with a configuration, on a global
// actor, and what happens to a synchronised Realm.
import Foundation
import RealmSwift

class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var status = "open"
}

/// An actor for everything that works in the background.
@globalActor actor Background: GlobalActor {
  static let shared = Background()
}

@main struct Program {
  static func main() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    Realm.Configuration.defaultConfiguration = Realm.Configuration(
      fileURL: folder.file("default.realm"))

    try await openOnTheMainActor()
    try await openWithAConfiguration(folder)
    try await openOnAGlobalActor()
    try await openInATask()
    await openSynchronised(folder)
  }

  /// `try await Realm()` belongs to the main actor.
  @MainActor static func openOnTheMainActor() async throws {
    let realm = try await Realm()
    try await realm.asyncWrite {
      realm.create(Todo.self, value: ["name": "Water the plants"])
    }
    print("on the main actor: \(realm.objects(Todo.self).count) todo")
  }

  /// Everything about the file can be said, for the main actor or any other.
  @MainActor static func openWithAConfiguration(_ folder: TemporaryFolder) async throws {
    let configuration = Realm.Configuration(
      fileURL: folder.file("private.realm"), schemaVersion: 2, objectTypes: [Todo.self])
    let realm = try await Realm(configuration: configuration, actor: MainActor.shared)
    let same = try await Realm.open(configuration: configuration)
    precondition(realm == same)
    print("with a configuration: empty is \(realm.isEmpty)")
  }

  /// A function of a global actor opens a Realm for it.
  @Background static func openOnAGlobalActor() async throws {
    let realm = try await Realm.open()
    try await realm.asyncWrite {
      realm.create(Todo.self, value: ["name": "Feed the cat"])
    }
    print("on a global actor: \(realm.objects(Todo.self).count) todos")
  }

  /// A task says by its closure where it runs.
  static func openInATask() async throws {
    let count = try await Task { @Background in
      let realm = try await Realm.open()
      // Still the same actor, on whatever thread.
      await Task.yield()
      return realm.objects(Todo.self).count
    }.value
    print("in a task: \(count) todos")
  }

  /// There is no synchronisation: opening throws.
  @MainActor static func openSynchronised(_ folder: TemporaryFolder) async {
    let configuration = Realm.Configuration(
      fileURL: folder.file("synchronised.realm"), syncConfiguration: SyncConfiguration())
    do {
      _ = try await Realm(configuration: configuration)
      preconditionFailure("opened")
    } catch {
      print("a synchronised Realm: \(error.localizedDescription)")
    }
  }
}

/// A folder of this program's own.
struct TemporaryFolder: Sendable {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("actor-open-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
  func remove() { try? FileManager.default.removeItem(at: url) }
}
