// Observers of realm-bench: Results that are observed on a serial queue of their own.
internal import Dispatch
internal import RealmSwift

/// Results of a queue's Realm, observed there.
package final class RealmObserver: EngineObserver, @unchecked Sendable {
  // @unchecked: the Realm, the results and the token are touched only by blocks of the queue.
  private let queue = DispatchQueue(label: "observer")
  private let realm: Realm
  private let objects: Results<BenchmarkObject>
  private let token: NotificationToken

  init(
    _ configuration: Realm.Configuration, _ part: ObservedPart,
    _ told: @escaping @Sendable (ObservedChange, any ObservedContent) -> Void
  ) throws {
    // One block: what it makes stays with the queue.
    let queue = queue
    let made = try queue.sync { () throws -> Made in
      let realm = try Realm(configuration: configuration, queue: queue)
      let all = realm.objects(BenchmarkObject.self)
      let objects =
        switch part {
        case .all: all
        case .young: all.where { $0.age < 50 }
        case .byScore: all.sorted(byKeyPath: "score")
        }
      let token = objects.observe { change in
        var seen = ObservedChange()
        switch change {
        case .initial(let objects):
          seen.isFirst = true
          told(seen, ObservedResults(objects))
        case .update(let objects, let deletions, let insertions, let modifications):
          seen.deletions = deletions
          seen.insertions = insertions
          seen.modifications = modifications
          told(seen, ObservedResults(objects))
        case .error: break
        }
      }
      return Made(realm: realm, objects: objects, token: token)
    }
    (realm, objects, token) = (made.realm, made.objects, made.token)
  }

  /// What the first block of the queue gives to later ones.
  private struct Made: @unchecked Sendable {
    // @unchecked: only blocks of the queue use what is in here.
    let realm: Realm
    let objects: Results<BenchmarkObject>
    let token: NotificationToken
  }

  package func refresh(_ body: @escaping @Sendable (any ObservedContent) -> Void) {
    queue.sync {
      realm.refresh()
      body(ObservedResults(objects))
    }
  }

  package func end() { _ = queue.sync { token.invalidate() } }
}

private struct ObservedResults: ObservedContent {
  private let objects: Results<BenchmarkObject>
  init(_ objects: Results<BenchmarkObject>) { self.objects = objects }

  var version: UInt64 { objects.realm?.currentVersion ?? 0 }
  var count: Int { objects.count }
  func read(_ position: Int, into row: inout Row) { objects[position].copy(.all, into: &row) }
}
