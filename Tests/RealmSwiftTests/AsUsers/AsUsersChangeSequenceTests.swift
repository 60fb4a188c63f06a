// `for await change in results.changes`.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersChangeSequenceTests {
  private let configuration = userConfiguration()

  private static func text<C>(_ change: RealmCollectionChange<C>) -> String
  where C: RealmCollection {
    switch change {
    case .initial(let collection): "initial \(collection.count)"
    case .update(let collection, let deletions, let insertions, let modifications):
      "\(collection.count) \(deletions) \(insertions) \(modifications)"
    case .error: "error"
    }
  }

  @MainActor @Test func resultsOnTheMainActor() async throws {
    let realm = try await Realm(configuration: configuration)
    var told: [String] = []
    for await change in realm.objects(Chore.self).changes {
      told.append(Self.text(change))
      switch told.count {
      case 1: try realm.write { realm.add([Chore(id: 1), Chore(id: 2)]) }
      case 2: try realm.write { realm.objects(Chore.self)[1].title = "changed" }
      case 3: try realm.write { realm.delete(realm.objects(Chore.self)[0]) }
      default: break
      }
      if told.count == 4 { break }
    }
    #expect(told == ["initial 0", "2 [] [0, 1] []", "2 [] [] [1]", "1 [0] [] []"])
  }

  /// While the loop is busy changes are gathered, and always fit what the collection shows.
  @MainActor @Test func aBusyLoop() async throws {
    let realm = try await Realm(configuration: configuration)
    var told: [String] = []
    for await change in realm.objects(Chore.self).changes {
      told.append(Self.text(change))
      if told.count == 2 { break }
      for id in 0..<5 {
        try await realm.asyncWrite { realm.add(Chore(id: id)) }
        await Task.yield()
      }
    }
    #expect(told == ["initial 0", "5 [] [0, 1, 2, 3, 4] []"])
  }

  actor Keeper {
    private var realm: Realm!
    private(set) var told: [String] = []
    let event = Event()

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func follow() async {
      for await change in realm.objects(Chore.self).where({ $0.id > 0 }).sorted(by: \.id).changes {
        told.append(AsUsersChangeSequenceTests.text(change))
        event.happen()
      }
      told.append("end")
      event.happen()
    }

    func followObject() async {
      for await change in realm.objects(Chore.self)[0].changes {
        switch change {
        case .change(let chore, let properties):
          told.append("\(chore.title) \(properties.map(\.name))")
        case .deleted: told.append("deleted")
        case .error: told.append("error")
        }
        event.happen()
      }
      told.append("end")
      event.happen()
    }

    func write(_ body: @Sendable (Realm) -> Void) async throws {
      try await realm.asyncWrite { body(realm) }
    }

    func invalidate() { realm.invalidate() }
  }

  @Test func onAnActorUntilItIsCancelled() async throws {
    let keeper = try await Keeper(configuration)
    let task = Task { await keeper.follow() }
    await keeper.event.happened(1)
    try await keeper.write { $0.add(Chore(id: 3)) }
    await keeper.event.happened(2)
    let configuration = configuration
    await onThreadAsync {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.add(Chore(id: 1)) }
    }
    await keeper.event.happened(3)
    task.cancel()
    await task.value
    #expect(await keeper.told == ["initial 0", "1 [] [0] []", "2 [] [0] []", "end"])
    try await keeper.write { $0.deleteAll() }
    #expect(await keeper.told.count == 4)
  }

  @Test func objectsUntilTheyAreDeleted() async throws {
    let keeper = try await Keeper(configuration)
    try await keeper.write { $0.add(Chore(id: 1)) }
    let started = Event()
    let task = Task {
      started.happen()
      await keeper.followObject()
    }
    await started.happened()
    // The observation begins with the loop.
    while await keeper.told.isEmpty {
      try await keeper.write { $0.objects(Chore.self)[0].title = "changed" }
      await Task.yield()
    }
    try await keeper.write { $0.deleteAll() }
    await task.value
    let told = await keeper.told
    #expect(told.first == #"changed ["title"]"# && told.suffix(2) == ["deleted", "end"])
  }

  // MARK: - Between the signal and the loop

  /// A loop on the main actor, and what it was told.
  @MainActor final class Listener {
    var told: [String] = []
    let event = Event()

    func hear(_ text: String) {
      told.append(text)
      event.happen()
    }
  }

  /// `write` tells what was committed before, so the loop is woken while its Realm goes on.
  @MainActor @Test func aChangeIsThatOfTheMomentWhenTheLoopGoesOn() async throws {
    let realm = try await Realm(configuration: configuration)
    try realm.write { realm.add(Chore(id: 1)) }
    let listener = Listener()
    let task = Task { @MainActor in
      for await change in realm.objects(Chore.self).changes { listener.hear(Self.text(change)) }
    }
    await listener.event.happened(1)
    try realm.write { realm.add(Chore(id: 2)) }
    try realm.write { realm.delete(realm.objects(Chore.self)[0]) }
    await listener.event.happened(2)
    // What comes and goes before the loop goes on is never told.
    try realm.write { realm.add(Chore(id: 3)) }
    try realm.write { realm.delete(realm.object(ofType: Chore.self, forPrimaryKey: 3)!) }
    try realm.write { realm.add(Chore(id: 4)) }
    await listener.event.happened(3)
    task.cancel()
    await task.value
    #expect(listener.told == ["initial 1", "1 [0] [0] []", "2 [] [1] []"])
  }

  @MainActor @Test func anObjectThatIsDeletedBeforeTheLoopGoesOn() async throws {
    let realm = try await Realm(configuration: configuration)
    try realm.write { realm.add(Chore(id: 1)) }
    let listener = Listener()
    let chore = realm.objects(Chore.self)[0]
    let task = Task { @MainActor in
      for await change in chore.changes {
        switch change {
        case .change(let chore, _): listener.hear(chore.title)
        case .deleted: listener.hear("deleted")
        case .error: listener.hear("error")
        }
      }
    }
    // The observation begins with the loop.
    while listener.told.isEmpty {
      try realm.write { chore.title = "changed" }
      await Task.yield()
    }
    try realm.write { chore.title = "again" }
    try realm.write { realm.delete(chore) }
    await task.value
    #expect(listener.told.last == "deleted" && !listener.told.contains("again"))
  }

  @MainActor @Test func aLoopThatGoesOnInsideOfATransactionIsToldBehindIt() async throws {
    let realm = try await Realm(configuration: configuration)
    let listener = Listener()
    let task = Task { @MainActor in
      for await change in realm.objects(Chore.self).changes { listener.hear(Self.text(change)) }
    }
    await listener.event.happened(1)
    try realm.write { realm.add(Chore(id: 1)) }
    realm.beginWrite()
    for _ in 0..<10 { await Task.yield() }
    realm.add(Chore(id: 2))
    #expect(listener.told == ["initial 0"])
    try realm.commitWrite()
    await listener.event.happened(2)
    task.cancel()
    await task.value
    #expect(listener.told == ["initial 0", "2 [] [0, 1] []"])
  }

  @Test func untilTheRealmIsInvalidated() async throws {
    let keeper = try await Keeper(configuration)
    let task = Task { await keeper.follow() }
    await keeper.event.happened(1)
    await keeper.invalidate()
    await task.value
    #expect(await keeper.told == ["initial 0", "end"])
  }

  @MainActor @Test func aTaskThatIsCancelledAlready() async throws {
    let realm = try await Realm(configuration: configuration)
    let task = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      var count = 0
      for await _ in realm.objects(Chore.self).changes { count += 1 }
      return count
    }
    #expect(await task.value == 0)
  }

  @MainActor @Test func everyKindOfCollection() async throws {
    let realm = try await Realm(configuration: configuration)
    let owner = try realm.write { addOwner(realm, chores: 1) }
    for await change in owner.chores.changes {
      guard case .initial(let list) = change else { continue }
      #expect(list.count == 1)
      break
    }
    for await change in owner.labels.changes {
      if case .initial(let set) = change { #expect(set.isEmpty) }
      break
    }
    for await change in owner.counts.changes {
      if case .initial(let map) = change { #expect(map.count == 0) }
      break
    }
    for await change in owner.chores[0].owners.changes {
      if case .initial(let owners) = change { #expect(owners.first == owner) }
      break
    }
    for await change in AnyRealmCollection(owner.chores).changes {
      if case .initial(let all) = change { #expect(all.count == 1) }
      break
    }
    for await change in owner.chores.sectioned(by: \.title, ascending: true).changes {
      if case .initial(let sections) = change { #expect(sections.count == 1) }
      break
    }
  }

  @Test func outsideOfActors() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try openRealm(userConfiguration())
      for await _ in realm.objects(Chore.self).changes {}
    }
    expectStop(result, "Changes can only be awaited on the actor to which the Realm belongs")
  }
}
