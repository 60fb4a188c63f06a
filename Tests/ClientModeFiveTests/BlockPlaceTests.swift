// Blocks that a client forms on an actor, given to functions that run them elsewhere: they run
// where they belong, or the program stops with what to do. The same in Swift 6 mode.
import Dispatch
import Foundation
import RealmSwift
import Testing

class Shelf: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var name: String
  @Persisted var dogs: List<Dog>
  @Persisted var byName: Map<String, Dog?>
}

final class ShelfView: Projection<Shelf> {
  @Projected(\Shelf.name) var title
}

/// As in an app: all that its methods form belongs to the main actor.
@MainActor
final class ShelfModel {
  let realm: Realm
  let shelf: Shelf
  var calls = 0
  var tokens: [NotificationToken] = []
  nonisolated static let queue = DispatchQueue(label: "shelf-queue")

  init() throws {
    let realm = try Realm(configuration: Self.configuration())
    let shelf = Shelf()
    try realm.write { realm.add(shelf) }
    self.realm = realm
    self.shelf = shelf
  }

  nonisolated static func configuration() -> Realm.Configuration {
    Realm.Configuration(
      inMemoryIdentifier: "shelf-\(UUID().uuidString)", objectTypes: [Shelf.self, Dog.self])
  }

  // MARK: Where they belong

  func observeOnTheMainQueue() {
    tokens = [
      realm.objects(Shelf.self).observe(on: .main) { _ in self.calls += 1 },
      shelf.dogs.observe { [weak self] _ in self?.calls += 1 },
      shelf.byName.observe(on: .main, count),
      ShelfView(projecting: shelf).observe(on: .main) { (_: ObjectChange<ShelfView>) in
        self.calls += 1
      },
      shelf.observe { (change: ObjectChange<Shelf>) in
        switch change {
        case .change: self.calls += 1
        default: break
        }
      },
      realm.observe { _, _ in self.calls += 1 },
    ]
  }

  func count(_ change: RealmMapChange<Map<String, Dog?>>) { calls += 1 }

  func writeAsynchronously() async {
    await withCheckedContinuation { continuation in
      realm.writeAsync {
        self.shelf.name = "asynchronous"
      } onComplete: { _ in
        self.calls += 1
        continuation.resume()
      }
    }
    await withCheckedContinuation { continuation in
      realm.beginAsyncWrite {
        self.shelf.name = "begun"
        self.realm.commitAsyncWrite { error in
          self.calls += error == nil ? 1 : 0
          continuation.resume()
        }
      }
    }
  }

  func open() async -> Bool {
    await withCheckedContinuation { continuation in
      Realm.asyncOpen(configuration: Self.configuration()) { result in
        self.calls += 1
        if case .success = result {
          continuation.resume(returning: true)
        } else {
          continuation.resume(returning: false)
        }
      }
    }
  }

  // MARK: Where they do not

  func observeResults() {
    tokens.append(realm.objects(Shelf.self).observe(on: Self.queue) { _ in self.calls += 1 })
  }

  /// Nothing changes: it is found all the same.
  func observeObject() {
    tokens.append(
      shelf.observe(on: Self.queue) { (_: ObjectChange<Shelf>) in self.calls += 1 })
  }

  func observeKeyPaths() {
    tokens.append(
      shelf.observe(keyPaths: [\Shelf.name], on: Self.queue) { (_: ObjectChange<Shelf>) in
        self.calls += 1
      })
  }

  func observeMap() {
    tokens.append(shelf.byName.observe(on: Self.queue, count))
  }

  func observeSections() {
    let sections = realm.objects(Shelf.self).sectioned(by: \.name)
    tokens.append(sections.observe(on: Self.queue) { _ in self.calls += 1 })
  }

  func observeProjection() {
    tokens.append(
      ShelfView(projecting: shelf).observe(on: Self.queue) { (_: ObjectChange<ShelfView>) in
        self.calls += 1
      })
  }

  func observeProjectedCollection() {
    tokens.append(shelf.dogs.projectTo.name.observe(on: Self.queue) { _ in self.calls += 1 })
  }

  func openOnAQueue() {
    Realm.asyncOpen(configuration: Self.configuration(), callbackQueue: Self.queue) { _ in
      self.calls += 1
    }
  }

  /// The key is asked for where the sections are observed.
  func sectionByOwnKey() {
    let sections = realm.objects(Shelf.self).sectioned(by: { _ in "\(self.calls)" })
    let token = sections.observe(on: Self.queue) { @Sendable _ in }
    tokens.append(token)
  }
}

/// An actor of the program.
actor ShelfActor {
  private var calls = 0
  private var token: NotificationToken?

  func observeOnAQueue() async throws {
    let realm = try await Realm.open(configuration: ShelfModel.configuration())
    token = realm.objects(Shelf.self).observe(on: ShelfModel.queue) { _ in self.calls += 1 }
  }

  func observeHere() async throws -> Int {
    let realm = try await Realm.open(configuration: ShelfModel.configuration())
    let token = realm.objects(Shelf.self).observe { _ in self.calls += 1 }
    try realm.write { realm.add(Shelf()) }
    realm.refresh()
    token.invalidate()
    return calls
  }
}

@Suite struct BlockPlaceTests {
  @Test @MainActor func blocksOfTheMainActorRunThere() async throws {
    let model = try ShelfModel()
    model.observeOnTheMainQueue()
    while model.calls < 3 { await Task.yield() }
    try model.realm.write {
      model.shelf.name = "changed"
      model.shelf.dogs.append(Dog())
    }
    while model.calls < 7 { await Task.yield() }
    model.tokens.forEach { $0.invalidate() }
    model.calls = 0
    await model.writeAsynchronously()
    #expect(model.calls == 2)
    #expect(await model.open())
    #expect(model.calls == 3)
  }

  /// What says that it uses nothing of the actor may run anywhere.
  @Test @MainActor func sendableBlocksRunAnywhere() async throws {
    let model = try ShelfModel()
    let called = DispatchSemaphore(value: 0)
    let token = model.realm.objects(Shelf.self).observe(on: ShelfModel.queue) { @Sendable _ in
      called.signal()
    }
    #expect(wait(for: called))
    token.invalidate()
  }

  @Test func anActorsOwnObserverRunsThere() async throws {
    #expect(try await ShelfActor().observeHere() > 0)
  }

  @Test func aBlockOfTheMainActorStopsOnAQueue() async {
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeResults()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeObject()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeKeyPaths()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeMap()
        try await waitInVain()
      })
  }

  @Test func soDoThoseOfDerivedCollections() async {
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeSections()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeProjection()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().observeProjectedCollection()
        try await waitInVain()
      })
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().sectionByOwnKey()
        try await waitInVain()
      })
  }

  @Test func soDoCallbacksOfOpening() async {
    expectStop(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await ShelfModel().openOnAQueue()
        try await waitInVain()
      })
  }

  @Test func aBlockOfAnActorStopsOnAQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await ShelfActor().observeOnAQueue()
      try await waitInVain()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A block that belongs to the actor ShelfActor was about to run on the"))
    #expect(text.contains("(`on: self`)"))
  }

  private func expectStop(
    _ result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "A block that belongs to the main actor was about to run on the queue 'shelf-queue'"),
      sourceLocation: sourceLocation)
    #expect(text.contains("Use the main queue (`on: .main`)"), sourceLocation: sourceLocation)
  }

  private nonisolated func wait(for signal: DispatchSemaphore) -> Bool {
    signal.wait(timeout: .now() + 60) == .success
  }
}

/// Gives the library time to stop the process, which ends well otherwise.
private func waitInVain() async throws {
  try await Task.sleep(nanoseconds: 20_000_000_000)
  exit(EXIT_SUCCESS)
}
