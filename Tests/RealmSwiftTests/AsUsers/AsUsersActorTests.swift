// Actors, tasks and cancellation as users combine them.
import Foundation
import RealmSwift
import TestSupport
import Testing

@globalActor private actor Background: GlobalActor {
  static let shared = Background()
}

/// The actor of the documentation.
private actor ChoreActor {
  private(set) var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  var ids: [Int] { realm.objects(Chore.self).map(\.id) }
  var isBusy: Bool { realm.isPerformingAsynchronousWriteOperations }
  var isWriting: Bool { realm.isInWriteTransaction }

  @discardableResult
  func add(_ id: Int) async throws -> Int {
    try await realm.asyncWrite {
      realm.create(Chore.self, value: ["id": id])
      return realm.objects(Chore.self).count
    }
  }

  func perform<Value: Sendable>(_ body: (Realm) throws -> Value) rethrows -> Value {
    try body(realm)
  }

  func write<Value: Sendable>(_ body: @Sendable (Realm) throws -> Value) async throws -> Value {
    let realm = realm!
    return try await realm.asyncWrite { try body(realm) }
  }

  func rename(_ reference: ThreadSafeReference<Chore>, _ title: String) async throws -> Bool {
    try await realm.asyncWrite {
      guard let chore = realm.resolve(reference) else { return false }
      chore.title = title
      return true
    }
  }

  func hold() { realm.beginWrite() }
  func letGo() throws { try realm.commitWrite() }
  func refresh() async -> Bool { await realm.asyncRefresh() }
  func close() { realm = nil }
}

@MainActor private func addOnTheMainActor(
  _ id: Int, _ configuration: Realm.Configuration
) async throws {
  let realm = try await Realm(configuration: configuration)
  try await realm.asyncWrite { realm.add(Chore(id: id)) }
}

private actor Recorder {
  private(set) var lines: [String] = []
  func note(_ line: String) { lines.append(line) }
}

@Suite(.ownThreads) struct AsUsersActorTests {
  private struct Stop: Error {}

  @Test func whatABlockOfAsyncWriteMayDo() async throws {
    let actor = try await ChoreActor(userConfiguration())
    // Values of all kinds.
    #expect(try await actor.write { $0.create(Chore.self, value: ["id": 1]).id } == 1)
    try await actor.write { _ in }
    #expect(try await actor.write { $0.object(ofType: Chore.self, forPrimaryKey: 5)?.id } == nil)
    // Ends of all kinds.
    let cancelled = try await actor.write { realm in
      realm.add(Chore(id: 2))
      realm.cancelWrite()
      return realm.objects(Chore.self).count
    }
    #expect(cancelled == 1)
    try await actor.write { realm in
      realm.add(Chore(id: 3))
      try realm.commitWrite()
    }
    try await actor.write { realm in
      realm.add(Chore(id: 4))
      realm.commitAsyncWrite()
    }
    try await actor.write { realm in
      realm.cancelWrite()
      realm.beginWrite()
      realm.add(Chore(id: 5))
    }
    await #expect(throws: Stop.self) {
      try await actor.write { realm in
        realm.add(Chore(id: 6))
        throw Stop()
      }
    }
    await #expect(throws: Stop.self) {
      try await actor.write { realm in
        realm.add(Chore(id: 7))
        try realm.commitWrite()
        throw Stop()
      }
    }
    await #expect(throws: Stop.self) {
      try await actor.write { realm in
        realm.cancelWrite()
        throw Stop()
      }
    }
    let isBusyInside = try await actor.write { realm in
      realm.isInWriteTransaction && realm.isPerformingAsynchronousWriteOperations
    }
    #expect(isBusyInside)
    #expect(await actor.ids == [1, 3, 4, 5, 7])
    #expect(await !actor.isBusy)
    #expect(await !actor.isWriting)
  }

  @Test func writesOfOneActorAtTheSameTime() async throws {
    let actor = try await ChoreActor(userConfiguration())
    async let first = actor.add(1)
    async let second = actor.add(2)
    async let third = actor.write { realm in
      realm.add(Chore(id: 3))
      return realm.objects(Chore.self).count
    }
    let counts = try await [first, second, third]
    #expect(counts.sorted() == [1, 2, 3])
    // A synchronous transaction that stays open over suspensions holds them all up.
    await actor.hold()
    let waiting = Task { try await actor.add(4) }
    await Task.yield()
    await actor.perform { $0.add(Chore(id: 5)) }
    #expect(await actor.isWriting)
    try await actor.letGo()
    #expect(try await waiting.value == 5)
    #expect(await actor.ids.sorted() == [1, 2, 3, 4, 5])
    #expect(await actor.ids.suffix(2) == [5, 4])
  }

  @Test func manyActorsOfOneFile() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration("a.realm", userClasses)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          let actor = try await ChoreActor(configuration)
          for step in 0..<3 {
            let id = number * 10 + step
            if number % 2 == 0 {
              try await actor.add(id)
            } else {
              try await actor.perform { realm in try realm.write { realm.add(Chore(id: id)) } }
            }
          }
          await actor.close()
        }
      }
      for number in 6..<9 {
        group.addTask { try await addOnTheMainActor(number * 10, configuration) }
      }
      try await group.waitForAll()
    }
    #expect(try openRealm(configuration).objects(Chore.self).count == 21)
  }

  @Test func cancelledBeforeDuringAndAfter() async throws {
    let configuration = userConfiguration()
    let actor = try await ChoreActor(configuration)
    let holder = try await ChoreActor(configuration)
    // Before it begins.
    let before = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await actor.add(1)
    }
    await #expect(throws: CancellationError.self) { try await before.value }
    // While it waits for the lock.
    await holder.hold()
    let during = Task { try await actor.add(2) }
    _ = await eventually(yielding: { await actor.isBusy })
    let other = Task { try await actor.add(3) }
    during.cancel()
    await #expect(throws: CancellationError.self) { try await during.value }
    #expect(await actor.ids == [])
    try await holder.letGo()
    #expect(try await other.value == 1)
    // From inside of its own block: it is too late.
    let inside = Task {
      try await actor.write { realm in
        withUnsafeCurrentTask { $0?.cancel() }
        realm.add(Chore(id: 4))
      }
    }
    try await inside.value
    #expect(await actor.ids == [3, 4])
    #expect(await !actor.isBusy)
  }

  @Test func aGroupThatFailsCancelsTheOthers() async throws {
    let configuration = userConfiguration()
    let actor = try await ChoreActor(configuration)
    let holder = try await ChoreActor(configuration)
    await holder.hold()
    await #expect(throws: Stop.self) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in 0..<5 { group.addTask { try await actor.add(id) } }
        group.addTask { throw Stop() }
        while let _ = try await group.next() {}
      }
    }
    try await holder.letGo()
    #expect(await actor.ids == [])
    #expect(try await actor.add(9) == 1)
  }

  @Test func referencesFromTheMainActorAndBack() async throws {
    let configuration = userConfiguration()
    let actor = try await ChoreActor(configuration)
    let (known, deleted) = try await makeReferences(configuration)
    #expect(try await actor.rename(known, "renamed"))
    #expect(try await !actor.rename(deleted, "never"))
    #expect(known.isInvalidated && deleted.isInvalidated)
    try await expectTitle("renamed", configuration)
    let back = await actor.perform { realm in
      ThreadSafeReference(to: realm.objects(Chore.self).filter("title == 'renamed'"))
    }
    try await resolve(back, configuration)
  }

  @MainActor private func makeReferences(
    _ configuration: Realm.Configuration
  ) async throws -> (ThreadSafeReference<Chore>, ThreadSafeReference<Chore>) {
    let realm = try await Realm(configuration: configuration)
    let (first, second) = try await realm.asyncWrite {
      (realm.create(Chore.self, value: ["id": 1]), realm.create(Chore.self, value: ["id": 2]))
    }
    let references = (ThreadSafeReference(to: first), ThreadSafeReference(to: second))
    try await realm.asyncWrite { realm.delete(second) }
    return references
  }

  @MainActor private func expectTitle(
    _ title: String, _ configuration: Realm.Configuration
  ) async throws {
    let realm = try await Realm(configuration: configuration)
    await realm.asyncRefresh()
    #expect(realm.object(ofType: Chore.self, forPrimaryKey: 1)?.title == title)
  }

  @MainActor private func resolve(
    _ reference: ThreadSafeReference<Results<Chore>>, _ configuration: Realm.Configuration
  ) async throws {
    let realm = try await Realm(configuration: configuration)
    let chores = realm.resolve(reference)
    #expect(chores?.map(\.id) == [1] && chores?.realm == realm)
  }

  @MainActor @Test func everyWayToTheMainRealm() async throws {
    let configuration = userConfiguration()
    let realm = try await Realm(configuration: configuration)
    let others = [
      try openRealm(configuration), try await Realm.open(configuration: configuration),
      try await Realm(configuration: configuration, actor: MainActor.shared),
      try await Realm(configuration: configuration, downloadBeforeOpen: .always),
    ]
    for other in others { #expect(other == realm) }
    let queued = try Realm(configuration: configuration, queue: .main)
    #expect(queued == realm)
    let fromTask = try await Task { @MainActor in
      try Realm(configuration: configuration) == realm
    }.value
    #expect(fromTask)
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        MainActor.assumeIsolated {
          #expect(try! Realm(configuration: configuration) == realm)
          try! realm.write { realm.add(Chore(id: 1)) }
        }
        continuation.resume()
      }
    }
    #expect(realm.objects(Chore.self).count == 1)
  }

  @Background @Test func aGlobalActorsRealm() async throws {
    let configuration = userConfiguration()
    let realm = try await Realm.open(configuration: configuration)
    let named = try await Realm(configuration: configuration, actor: Background.shared)
    #expect(named == realm)
    // Thawing finds the actor's Realm.
    let chore = try await realm.asyncWrite { realm.create(Chore.self, value: ["id": 1]) }
    #expect(chore.freeze().thaw()?.realm == realm)
    #expect(realm.freeze().thaw() == realm)
    #expect(realm.objects(Chore.self).freeze().thaw()?.realm == realm)
    let id = chore.id
    try await MainActor.run {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.object(ofType: Chore.self, forPrimaryKey: id)?.title = "main" }
    }
    await realm.asyncRefresh()
    #expect(chore.title == "main")
  }

  @Test func severalWaitForARefresh() async throws {
    let configuration = userConfiguration()
    let actor = try await ChoreActor(configuration)
    await actor.perform { $0.autorefresh = false }
    #expect(await actor.refresh() == false)
    let realm = try openRealm(configuration)
    // Before any suspension: the Realm is that of this thread.
    try realm.write { realm.add(Chore(id: 1)) }
    #expect(await actor.ids == [])
    async let first = actor.refresh()
    async let second = actor.refresh()
    async let third = actor.refresh()
    let refreshed = await [first, second, third]
    #expect(refreshed.contains(true))
    #expect(await actor.ids == [1])
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await actor.refresh()
    }
    #expect(await cancelled.value == false)
  }

  @Test func observedOnAnActor() async throws {
    let configuration = userConfiguration()
    let actor = try await ChoreActor(configuration)
    let recorder = Recorder()
    let told = Event()
    try await actor.add(1)
    let tokens = await observeOn(recorder, actor, told)
    await told.happened(1)
    try await actor.write { realm in
      let chore = realm.objects(Chore.self).first!
      chore.title = "changed"
      chore.title = "again"
      realm.add(Chore(id: 2))
    }
    await told.happened(3)
    try await actor.write { $0.delete($0.objects(Chore.self).where { $0.id == 1 }) }
    await told.happened(5)
    let lines = await recorder.lines
    #expect(lines.filter { $0.hasPrefix("object") } == ["object title", "object deleted"])
    #expect(
      lines.filter { !$0.hasPrefix("object") } == [
        "initial 1", "-[] +[1] ~[0]", "-[0] +[] ~[]",
      ])
    for token in tokens { token.invalidate() }
    try await actor.add(3)
    #expect(await recorder.lines.count == 5)
  }

  private func observeOn(
    _ recorder: Recorder, _ actor: isolated ChoreActor, _ told: Event
  ) async -> [NotificationToken] {
    let chores = actor.realm.objects(Chore.self)
    let collection = await chores.observe(on: recorder) { recorder, change in
      recorder.note(text(change))
      told.happen()
    }
    let object = await chores[0].observe(on: recorder) { recorder, change in
      switch change {
      case .change(let object, let properties):
        #expect(object.realm?.isFrozen == false)
        recorder.note("object " + properties.map(\.name).joined(separator: ","))
      case .deleted: recorder.note("object deleted")
      case .error: break
      }
      told.happen()
    }
    return [collection, object]
  }

  @Test func aSequenceOfCounts() async throws {
    let actor = try await ChoreActor(userConfiguration())
    let counts = await actor.perform { realm in
      AsyncStream<Int> { continuation in
        let token = realm.objects(Chore.self).observe { change in
          switch change {
          case .initial(let chores): continuation.yield(chores.count)
          case .update(let chores, _, _, _): continuation.yield(chores.count)
          case .error: continuation.finish()
          }
        }
        continuation.onTermination = { _ in token.invalidate() }
      }
    }
    var seen: [Int] = []
    for await count in counts {
      seen.append(count)
      if count == 3 { break }
      try await actor.add(count)
    }
    #expect(seen == [0, 1, 2, 3])
  }
}
