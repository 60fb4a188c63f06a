// Users' programs of Realms that RaceHunt explores: they are the same in each run, whichever
// threads the store would have.
import Dispatch
import Foundation
import RaceHunt
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ExploredRealmTests {
  private final class ExploredCounter: Object {
    @Persisted(primaryKey: true) var number = 1
    @Persisted var value = 0
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private actor Counters {
    private var realm: Realm!
    private var token: NotificationToken?
    private(set) var seen: [Int] = []

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    private var counter: ExploredCounter {
      realm.object(ofType: ExploredCounter.self, forPrimaryKey: 1)!
    }

    /// Reads before the write, or in it.
    func add(isBroken: Bool = false) async throws {
      let read = counter.value
      if isBroken { await Task.yield() }
      try await realm.asyncWrite { counter.value = (isBroken ? read : counter.value) + 1 }
    }

    func observe() async {
      token = await realm.objects(ExploredCounter.self).observe(on: self) { counters, _ in
        counters.seen.append(counters.counter.value)
      }
    }

    func value() async -> Int {
      await realm.asyncRefresh()
      return counter.value
    }

    func close() {
      token = nil
      realm = nil
    }
  }

  /// A database of its own, which is there as long as the Realm is.
  private static func begin() throws -> (configuration: Realm.Configuration, kept: Realm) {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "explored \(UUID().uuidString)", objectTypes: [ExploredCounter.self])
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(ExploredCounter()) }
    return (configuration, realm)
  }

  private static func program(isBroken: Bool) -> Program {
    {
      let (configuration, kept) = try begin()
      let counters = try await Counters(configuration)
      let tasks = (0..<2).map { _ in Task { try await counters.add(isBroken: isBroken) } }
      for task in tasks { try await task.value }
      let value = await counters.value()
      check(value == 2, "an update is lost")
      withExtendedLifetime(kept) {}
    }
  }

  @Test func writesOfAnActorAreSound() throws {
    let exploration = try explore(iterations: 200, Self.program(isBroken: false))
    #expect(exploration.schedules == 200 && exploration.distinct > 1)
  }

  @Test func whatAnActorReadsBeforeItsWriteIsFoundAndRepeated() throws {
    let program = Self.program(isBroken: true)
    let found = #expect(throws: RaceFailure.self) { try explore(iterations: 200, program) }
    #expect(found?.reason == "an update is lost")
    #expect(found?.description.contains("not under control") == false)
    let again = #expect(throws: RaceFailure.self) { try replay(found!.schedule, program) }
    #expect(again?.table == found?.table)
  }

  @Test func aCancelledWriteIsDoneOrNot() throws {
    let exploration = try explore(iterations: 200) {
      let (configuration, kept) = try Self.begin()
      let counters = try await Counters(configuration)
      let cancelled = Task {
        do { try await counters.add() } catch is CancellationError { return 0 }
        return 1
      }
      let other = Task { try await counters.add() }
      cancelled.cancel()
      let added = try await cancelled.value
      try await other.value
      let value = await counters.value()
      check(value == 1 + added, "it is \(value) where \(1 + added) were added")
      withExtendedLifetime(kept) {}
    }
    #expect(exploration.schedules == 200)
  }

  /// Whoever asks first for the main actor: in an exploration it is another one.
  @Test func theMainActorIsItselfAfterAnExploration() async {
    await #expect(processExitsWith: .success) {
      let explored = try await explore(iterations: 2) { @MainActor in
        let (configuration, kept) = try Self.begin()
        let realm = try await Realm(configuration: configuration)
        try realm.write { realm.objects(ExploredCounter.self)[0].value = 1 }
        withExtendedLifetime(kept) {}
      }
      guard explored.schedules == 2 else { fatalError("\(explored.schedules) schedules") }
      try await useMainRealm()
    }

    @MainActor @Sendable func useMainRealm() async throws {
      let (configuration, kept) = try Self.begin()
      let realm = try await Realm(configuration: configuration)
      await withCheckedContinuation { continuation in
        Dispatch.DispatchQueue.main.async {
          MainActor.assumeIsolated {
            try! realm.write { realm.objects(ExploredCounter.self)[0].value += 1 }
          }
          continuation.resume()
        }
      }
      withExtendedLifetime(kept) {}
    }
  }

  /// With a file, which is synced, and a thread beside the actor.
  @Test func anActorAThreadAndAnObserverShareAFile() throws {
    let folder = TemporaryFolder()
    let exploration = try explore(iterations: 20) {
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("\(UUID().uuidString).realm")),
        objectTypes: [ExploredCounter.self])
      try fill(configuration)
      let counters = try await Counters(configuration)
      await counters.observe()
      let thread = RaceHunt.Thread.start {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.object(ofType: ExploredCounter.self, forPrimaryKey: 1)!.value += 1 }
      }
      try await counters.add()
      thread.join()
      let value = await counters.value()
      check(value == 2, "an update is lost")
      try await Task.sleep(for: .seconds(1))
      let seen = await counters.seen
      check(seen == seen.sorted() && seen.last == 2, "what was seen is \(seen)")
      await counters.close()
    }
    #expect(exploration.schedules == 20)

    @Sendable func fill(_ configuration: Realm.Configuration) throws {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(ExploredCounter()) }
    }
  }
}
