// Each way of using Realms with Swift's concurrency: compiles without a warning in Swift 6 mode,
// and in Swift 5 mode with complete checking. Never run.
import Foundation
import RealmSwift

class Dog: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted var name: String
  @Persisted var age = 0
}

struct DogCopy: Sendable {
  let id: ObjectId
  let name: String

  init(_ dog: Dog) {
    id = dog.id
    name = dog.name
  }
}

@globalActor actor Background: GlobalActor {
  static let shared = Background()
}

// MARK: - Opening

@MainActor func openOnTheMainActor(_ configuration: Realm.Configuration) async throws -> Int {
  let standard = try await Realm()
  let configured = try await Realm(configuration: configuration)
  let named = try await Realm(configuration: configuration, actor: MainActor.shared)
  let isolated = try await Realm.open()
  let queued = try Realm(configuration: configuration, queue: .main)
  return [standard, configured, named, isolated, queued].map { $0.objects(Dog.self).count }.max()!
}

@Background func openInAGlobalActor() async throws -> [String] {
  let realm = try await Realm(actor: Background.shared)
  let same = try await Realm.open()
  try await realm.asyncWrite { same.add(Dog()) }
  return realm.objects(Dog.self).map(\.name)
}

actor DogKeeper {
  var realm: Realm!

  init() async throws {
    realm = try await Realm(actor: self)
  }

  init(opening configuration: Realm.Configuration) async throws {
    realm = try await Realm.open(configuration: configuration)
  }

  init(isolation configuration: Realm.Configuration) async throws {
    realm = try await Realm.open(configuration: configuration, _isolation: #isolation)
  }

  isolated deinit {
    realm?.invalidate()
  }

  var count: Int { realm.objects(Dog.self).count }

  // MARK: - Writing

  @discardableResult
  func create(_ name: String) async throws -> ObjectId {
    try await realm.asyncWrite { realm.create(Dog.self, value: ["name": name]).id }
  }

  func createSynchronously(_ name: String) throws {
    try realm.write { _ = realm.create(Dog.self, value: ["name": name]) }
  }

  func createWithCompletion(_ name: String) {
    realm.writeAsync {
      _ = self.realm.create(Dog.self, value: ["name": name])
    } onComplete: { error in
      if error != nil { self.close() }
    }
  }

  func createOverSuspensions(_ names: [String]) async throws {
    realm.beginWrite()
    for name in names {
      realm.create(Dog.self, value: ["name": name])
      await Task.yield()
    }
    try realm.commitWrite()
  }

  func refresh() async -> Bool { await realm.asyncRefresh() }
  func close() { realm = nil }

  // MARK: - Handing over

  func reference(_ id: ObjectId) -> ThreadSafeReference<Dog>? {
    realm.object(ofType: Dog.self, forPrimaryKey: id).map { ThreadSafeReference(to: $0) }
  }

  func rename(_ reference: ThreadSafeReference<Dog>, _ name: String) async throws {
    try await realm.asyncWrite {
      guard let dog = realm.resolve(reference) else { return }
      dog.name = name
    }
  }

  func copies() -> [DogCopy] { realm.objects(Dog.self).map { DogCopy($0) } }

  func copy(_ id: ObjectId) -> DogCopy? {
    realm.object(ofType: Dog.self, forPrimaryKey: id).map { DogCopy($0) }
  }

  /// Not confined until it is added.
  func add(_ dog: sending Dog) async throws {
    try await realm.asyncWrite { realm.add(dog) }
  }
}

// MARK: - From outside

func driveAnActor() async throws -> Int {
  let keeper = try await DogKeeper()
  let id = try await keeper.create("Rex")
  try await keeper.createSynchronously("Ada")
  await keeper.createWithCompletion("Max")
  try await keeper.createOverSuspensions(["Joe", "Zoe"])
  if let reference = await keeper.reference(id) { try await keeper.rename(reference, "Rexy") }
  try await keeper.add(Dog())
  _ = await keeper.copy(id)
  _ = await keeper.refresh()
  let count = await keeper.count
  await keeper.close()
  return count
}

/// A function that runs wherever the actor does.
func rename(_ id: ObjectId, in realm: Realm, _ keeper: isolated DogKeeper) async throws {
  try await realm.asyncWrite { realm.object(ofType: Dog.self, forPrimaryKey: id)?.name = "Max" }
}

/// The same for any actor.
func addDog(
  to realm: Realm, _isolation: isolated (any Actor)? = #isolation
) async throws {
  try await realm.asyncWrite { realm.add(Dog()) }
  await realm.asyncRefresh()
}

@MainActor func handOver(_ keeper: DogKeeper) async throws {
  let realm = try await Realm()
  try await addDog(to: realm)
  guard let dog = realm.objects(Dog.self).first else { return }
  try await keeper.rename(ThreadSafeReference(to: dog), "Max")
  // The key, and plain values.
  let (id, name) = (dog.id, dog.name)
  _ = await keeper.copy(id)
  try await keeper.create(name)
  // A frozen object is immutable, which its type does not say.
  nonisolated(unsafe) let frozen = dog.freeze()
  await Task { @Background in _ = frozen.name }.value
  @ThreadSafe var shared = dog
  let wrapper = _shared
  await Task.detached { _ = wrapper.wrappedValue?.name }.value
}

// MARK: - Tasks

@MainActor func addOnTheMainActor() async throws {
  let realm = try await Realm()
  try await realm.asyncWrite { realm.add(Dog()) }
}

func writeInTasks() async throws {
  let keeper = try await DogKeeper()
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in 0..<4 { group.addTask { try await keeper.create("\(number)") } }
    group.addTask { try await addOnTheMainActor() }
    try await group.waitForAll()
  }
  async let first = keeper.create("a")
  async let second = keeper.create("b")
  _ = try await (first, second)
  let cancelled = Task { try await keeper.create("never") }
  cancelled.cancel()
}

// MARK: - Observing

/// Keeps its tokens; each call comes on the actor.
actor Watcher {
  private var tokens: [NotificationToken] = []
  private var changes = 0
  private var realm: Realm!

  func start() async throws {
    realm = try await Realm.open()
    let dogs = realm.objects(Dog.self)
    tokens.append(await dogs.observe(on: self) { watcher, change in watcher.note(change) })
    tokens.append(
      await dogs.observe(keyPaths: ["name"], on: self) { watcher, _ in watcher.changes += 1 })
    tokens.append(
      await dogs.where { $0.name == "Rex" }.observe(keyPaths: [\.name], on: self) { watcher, _ in
        watcher.changes += 1
      })
    if let dog = dogs.first {
      tokens.append(
        await dog.observe(on: self) { (watcher, change: ObjectChange<Dog>) in
          watcher.note(change)
        })
      tokens.append(
        await dog.observe(keyPaths: [\Dog.name], on: self) {
          (watcher, change: ObjectChange<Dog>) in watcher.note(change)
        })
    }
    tokens.append(realm.observe { _, realm in _ = realm.isEmpty })
    try await realm.asyncWrite {}
    try realm.write(withoutNotifying: tokens) {}
  }

  private func note(_ change: RealmCollectionChange<Results<Dog>>) {
    if case .update(let dogs, let deletions, let insertions, let modifications) = change {
      changes += deletions.count + insertions.count + modifications.count + dogs.count
    }
  }

  private func note(_ change: ObjectChange<Dog>) {
    switch change {
    case .change(let dog, let properties): changes += properties.count + dog.name.count
    case .deleted, .error: tokens = []
    }
  }
}

/// An observer of the main actor, told on another actor and on a queue too.
@MainActor final class Screen {
  private(set) var names: [String] = []
  private var tokens: [NotificationToken] = []

  func start(_ realm: Realm, _ watcher: Watcher, _ queue: DispatchQueue) async {
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "name")
    tokens = [
      dogs.observe { [weak self] change in
        if case .initial(let dogs) = change { self?.names = dogs.map(\.name) }
      },
      dogs.observe(on: .main) { _ in },
      dogs.observe(on: queue) { change in
        if case .update(let dogs, _, _, _) = change { _ = dogs.first?.name }
      },
      await dogs.observe(on: MainActor.shared) { main, _ in main.assertIsolated() },
      await dogs.observe(on: watcher) { watcher, _ in watcher.assertIsolated() },
    ]
  }
}

/// Tokens go anywhere.
func endAnywhere(_ token: NotificationToken) async {
  _ = await Task.detached { token.invalidate() }.value
}

// MARK: - Sendable

func requireSendable<Value: Sendable>(_: Value.Type) {}

func whatIsSendable() {
  requireSendable(ObjectId.self)
  requireSendable(Decimal128.self)
  requireSendable(Schema.self)
  requireSendable(ObjectSchema.self)
  requireSendable(Property.self)
  requireSendable(PropertyType.self)
  requireSendable(SortDescriptor.self)
  requireSendable(Realm.AsyncOpenTask.self)
  requireSendable(ThreadSafe<Dog>.self)
  requireSendable(ThreadSafeReference<Dog>.self)
  requireSendable(ThreadSafeReference<Results<Dog>>.self)
  requireSendable(Realm.Configuration.self)
  requireSendable(NotificationToken.self)
  requireSendable(Realm.Error.self)
  requireSendable(Realm.ActiveVersion.self)
  requireSendable(SyncConfiguration.self)
  requireSendable(Logger.self)
}
