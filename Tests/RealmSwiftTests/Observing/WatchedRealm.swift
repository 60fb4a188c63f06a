// A Realm of a queue whose observers write down what they are told, for the tests of observers.
import Dispatch
import RealmSwift
import Testing

/// A queue's Realm and what its observers were told.
///
/// Calls come as jobs of the queue, so whoever asks in a later job finds them.
final class WatchedRealm: @unchecked Sendable {
  // @unchecked: everything but the constants is touched only by blocks of the queue.
  let queue = DispatchQueue(label: "watched")
  let configuration: Realm.Configuration
  var realm: Realm!
  var tokens: [NotificationToken] = []
  private(set) var calls: [String] = []
  private let called = Event()

  init(_ configuration: Realm.Configuration = memoryConfiguration(kennelClasses)) async {
    self.configuration = configuration
    await run { $0.realm = try Realm(configuration: configuration, queue: $0.queue) }
  }

  @discardableResult
  func run<Value: Sendable>(_ body: @escaping @Sendable (WatchedRealm) throws -> Value) async
    -> Value
  { await queue.run { try body(self) } }

  /// Writes a call down.
  func note(_ call: String) {
    calls.append(call)
    called.happen()
  }

  /// Checks what was told since the last time, once there are so many calls of all that there ever
  /// were.
  func expectTold(
    _ expected: [String], afterCalls count: Int = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await called.happened(count, sourceLocation: sourceLocation)
    let calls = await told()
    #expect(calls == expected, sourceLocation: sourceLocation)
  }

  /// What was told since the last time that one asked.
  func told() async -> [String] {
    await run { $0.takeCalls() }
  }

  /// The same, inside of a job.
  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  /// Changes the Realm in a job of its queue.
  func write(_ body: @escaping @Sendable (Realm) -> Void) async {
    await run { watched in try watched.realm.write { body(watched.realm) } }
  }

  /// Changes the file from another thread.
  func writeElsewhere(_ body: @escaping @Sendable (Realm) -> Void) {
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { body(realm) }
    }
  }

  /// Observes a collection.
  @discardableResult
  func watch<Watched: RealmCollection>(
    _ collection: Watched, _ name: String = "", keyPaths: [String]? = nil
  ) -> NotificationToken {
    let token = collection.observe(keyPaths: keyPaths) { [unowned self] change in
      note(name + text(change))
    }
    tokens.append(token)
    return token
  }

  /// Observes an object.
  @discardableResult
  func watch(_ object: ObjectBase, _ name: String = "", keyPaths: [String]? = nil)
    -> NotificationToken
  {
    let token = object.observe(keyPaths: keyPaths) {
      [unowned self] (change: ObjectChange<ObjectBase>) in
      note(name + text(change))
    }
    tokens.append(token)
    return token
  }
}

/// A change as text: what is gone, what is new, what has changed.
func text<Watched: RandomAccessCollection>(_ change: RealmCollectionChange<Watched>) -> String {
  switch change {
  case .initial(let collection): "initial \(collection.count)"
  case .update(_, let deletions, let insertions, let modifications):
    "-\(deletions) +\(insertions) ~\(modifications)"
  case .error(let error): "error \(error)"
  }
}

func text<Watched>(_ change: RealmMapChange<Watched>) -> String {
  switch change {
  case .initial(let map): "initial \(map.count)"
  case .update(_, let deletions, let insertions, let modifications):
    "-\(deletions.map(\._text)) +\(insertions.map(\._text)) ~\(modifications.map(\._text))"
  case .error(let error): "error \(error)"
  }
}

/// A change as text: the names of properties with their old and new values; hounds by their names.
func text<Watched>(_ change: ObjectChange<Watched>) -> String {
  switch change {
  case .change(_, let properties):
    properties.map { property in
      let values = [property.oldValue, property.newValue].map { value in
        (value as? Hound)?.name ?? value.map { "\($0)" } ?? "nil"
      }
      return "\(property.name) \(values[0])>\(values[1])"
    }.joined(separator: " ")
  case .deleted: "deleted"
  case .error(let error): "error \(error)"
  }
}

/// Adds a kennel, with some hounds in its list.
@discardableResult
func addKennel(_ realm: Realm, _ id: Int = 1, hounds: [String] = []) -> Kennel {
  let kennel = Kennel(id)
  realm.add(kennel)
  for (age, name) in hounds.enumerated() { kennel.hounds.append(Hound(name, age)) }
  return kennel
}

extension Realm {
  /// The hound of a name.
  func hound(_ name: String) -> Hound { objects(Hound.self).where { $0.name == name }.first! }
  /// The only kennel.
  var kennel: Kennel { objects(Kennel.self).first! }
}
