// What the child process of a forbidden use does: opens a Realm of its own in one place and uses it
// in another, with the public API alone. Whoever comes back from here was not stopped.
internal import Dispatch
internal import Foundation
internal import Platform
internal import RealmSwift

/// The hidden verb `attempt`.
enum ForbiddenAttempt {
  /// Returns only when the use went through, or could not be tried.
  static func run(_ arguments: [String], console: Console) throws -> ExitCode {
    guard arguments.count == 1, let use = ForbiddenUse(name: arguments[0]) else {
      throw UsageError("no such attempt")
    }
    try perform(use)
    console.note("not stopped")
    return .invariantViolated
  }

  private static func perform(_ use: ForbiddenUse) throws {
    switch use.kind {
    case .place(let owner, let offender, let action):
      // Not on the main thread, which is a place of its own whatever runs there.
      let attempt: @Sendable () -> Void = {
        let values = open(in: owner)
        offend(from: offender, values) { act(action, $0) }
      }
      if owner == .main { attempt() } else { Thread.start(name: "caller", attempt).join() }
    case .frozenSet: BenchmarkValues().frozen.object.age = 1
    case .frozenAppend:
      let frozen = BenchmarkValues().frozen
      frozen.group.members.append(frozen.object)
    case .frozenWrite: try BenchmarkValues().realm.freeze().write {}
    case .frozenBegin: BenchmarkValues().realm.freeze().beginAsyncWrite {}
    case .resolveTwice:
      let values = BenchmarkValues()
      let reference = ThreadSafeReference(to: values.object)
      _ = values.realm.resolve(reference)
      _ = values.realm.resolve(reference)
    }
  }

  // MARK: - Places

  private static let ownerQueue = DispatchQueue(label: "owner")
  private static let offenderQueue = DispatchQueue(label: "offender")

  /// Opens a Realm there; what is got stays alive to the end of the process.
  private static func open(in owner: ForbiddenUse.Owner) -> Smuggled {
    switch owner {
    case .main: return Smuggled(BenchmarkValues())
    case .thread:
      let box = Monitor<Smuggled?>(nil)
      let thread = Thread.start(name: "owner") {
        let values = Smuggled(BenchmarkValues())
        box.withLock { $0 = values }
        box.notifyAll()
        // The owner is still there when it is named in the message.
        box.wait(until: { $0 == nil }, then: { _ in })
      }
      thread.detach()
      return box.wait(until: { $0 != nil }, then: { $0! })
    case .queue: return ownerQueue.sync { Smuggled(BenchmarkValues(queue: ownerQueue)) }
    case .actor: return waiting { await OwningActor().open() }
    }
  }

  private static func offend(
    from offender: ForbiddenUse.Offender, _ values: Smuggled,
    _ body: @escaping @Sendable (BenchmarkValues) -> Void
  ) {
    switch offender {
    case .thread: Thread.start(name: "offender") { body(values.content) }.join()
    case .queue:
      let isDone = DispatchSemaphore(value: 0)
      offenderQueue.async {
        body(values.content)
        isDone.signal()
      }
      isDone.wait()
    // `sync` runs a block on the caller's thread, as it did for the owner's.
    case .sameThread: offenderQueue.sync { body(values.content) }
    case .actor: waiting { await OffendingActor().run(body, values) }
    case .task: waiting { body(values.content) }
    }
  }

  /// Runs a task and blocks until it is done.
  private static func waiting<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) -> Value {
    let result = Monitor<Value?>(nil)
    Task.detached {
      let value = await body()
      result.withLock { $0 = value }
      result.notifyAll()
    }
    return result.wait(until: { $0 != nil }, then: { $0! })
  }

  private static func act(_ action: ForbiddenUse.Action, _ values: BenchmarkValues) {
    switch action {
    case .read: _ = values.object.age
    case .lookup: _ = values.realm.object(ofType: BenchmarkObject.self, forPrimaryKey: 1)
    case .count: _ = values.results.count
    case .iterate: for member in values.group.members { _ = member.id }
    case .refresh: values.realm.refresh()
    case .freeze: _ = values.object.freeze()
    case .begin: values.realm.beginWrite()
    case .set: values.object.age = 2
    }
  }
}

/// A Realm in memory and some values of it, of the place where it is made.
///
/// Made in a child process that has to stop: an error, which in memory means that there is none
/// left, stops it with another text than the one that is expected (`try!`).
private final class BenchmarkValues {
  let realm: Realm
  let object: BenchmarkObject
  let group: BenchmarkGroup
  let results: Results<BenchmarkObject>

  static var configuration: Realm.Configuration {
    Realm.Configuration(
      inMemoryIdentifier: "attempt", objectTypes: [BenchmarkObject.self, BenchmarkGroup.self])
  }

  convenience init(queue: DispatchQueue? = nil) {
    // In memory: no file can be missing or damaged, and a failure ends the child with its reason.
    self.init(try! Realm(configuration: Self.configuration, queue: queue))
  }

  init(_ realm: Realm) {
    self.realm = realm
    // In memory, as above.
    (object, group) = try! realm.write {
      let object = realm.create(BenchmarkObject.self, value: ["id": 1])
      let group = realm.create(BenchmarkGroup.self, value: ["id": 1])
      group.members.append(object)
      return (object, group)
    }
    results = realm.objects(BenchmarkObject.self)
  }

  var frozen: (object: BenchmarkObject, group: BenchmarkGroup) {
    (object.freeze(), group.freeze())
  }
}

/// Carries confined values to where they must not be used.
private struct Smuggled: @unchecked Sendable {
  // @unchecked: a lie; that the engine notices is what is being tried.
  let content: BenchmarkValues
  init(_ content: BenchmarkValues) { self.content = content }
}

private actor OwningActor {
  private var values: BenchmarkValues?

  func open() async -> Smuggled {
    // In memory, as above.
    let realm = try! await Realm.open(configuration: BenchmarkValues.configuration)
    let values = BenchmarkValues(realm)
    self.values = values
    return Smuggled(values)
  }
}

private actor OffendingActor {
  func run(_ body: @Sendable (BenchmarkValues) -> Void, _ values: Smuggled) {
    body(values.content)
  }
}
