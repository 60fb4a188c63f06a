// Every way to open a Realm with `await`: in the main actor, a global actor, an actor instance and
// its initializer, a task, a task group; and what opening does on other threads.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ActorOpeningTests {
  @globalActor actor Shelter: GlobalActor {
    static let shared = Shelter()
  }

  /// Opens its Realm by naming itself, as clients of older versions do.
  actor Keeper {
    // Optional, so that `self` can be passed before there is a Realm.
    var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm(configuration: configuration, actor: self)
    }

    func create(_ name: String) async throws {
      try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
    }

    func rename(_ name: String, to newName: String) async throws {
      try await realm.asyncWrite {
        for dog in realm.objects(Dog.self).where({ $0.name == name }) { dog.name = newName }
      }
    }

    func delete(_ name: String) async throws {
      try await realm.asyncWrite {
        realm.delete(realm.objects(Dog.self).where { $0.name == name })
      }
    }

    /// Brought up to date first, since following is asynchronous.
    var names: [String] {
      realm.refresh()
      return realm.objects(Dog.self).map(\.name)
    }
    func close() { realm = nil }
    func ping() -> Bool { true }

    func isHere(_ configuration: Realm.Configuration) async throws -> Bool {
      try await Realm.open(configuration: configuration) == realm
    }
  }

  /// Uses its Realm when it goes, which is confined to it.
  actor Leaving {
    let log: Log
    let gone: Event
    var realm: Realm!

    init(_ configuration: Realm.Configuration, _ log: Log, _ gone: Event) async throws {
      self.log = log
      self.gone = gone
      realm = try await Realm.open(configuration: configuration)
    }

    func add() throws { try realm.write { realm.add(Dog()) } }

    isolated deinit {
      log.add("\(realm.objects(Dog.self).count) dogs")
      try? realm.write { realm.deleteAll() }
      log.add("\(realm.objects(Dog.self).count) dogs")
      realm = nil
      gone.happen()
    }
  }

  // MARK: - Places

  @Test @MainActor func onTheMainActor() async throws {
    let configuration = memoryConfiguration()
    let realm = try await Realm(configuration: configuration)
    #expect(try await Realm(configuration: configuration, actor: MainActor.shared) == realm)
    #expect(try await Realm.open(configuration: configuration) == realm)
    #expect(try await Realm(configuration: configuration, downloadBeforeOpen: .always) == realm)
    try realm.write { realm.add(Dog()) }
    #expect(realm.objects(Dog.self).count == 1)
  }

  /// The settings that every other form takes when none are given.
  @Test func withTheDefaultConfiguration() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      Realm.Configuration.defaultConfiguration = folder.configuration()
      let dogs = try await Task { @MainActor in
        let realm = try await Realm()
        let opened = try await Realm.open()
        precondition(realm == opened)
        try await realm.asyncWrite { realm.add(Dog()) }
        return realm.objects(Dog.self).count
      }.value
      precondition(dogs == 1)
      precondition(FileManager.default.fileExists(atPath: folder.file("test.realm")))
    }
  }

  @Test func anActorNamesItself() async throws {
    let configuration = memoryConfiguration()
    let keeper = try await Keeper(configuration)
    #expect(try await keeper.isHere(configuration))
    #expect(await keeper.names.isEmpty)
  }

  @Shelter private func addInShelter(_ configuration: Realm.Configuration) async throws -> Int {
    let realm = try await Realm(configuration: configuration, actor: Shelter.shared)
    #expect(try await Realm.open(configuration: configuration) == realm)
    try await realm.asyncWrite { realm.add(Dog()) }
    return realm.objects(Dog.self).count
  }

  @Test func inAGlobalActor() async throws {
    let configuration = memoryConfiguration()
    // Keeps the content.
    let keeper = try await Keeper(configuration)
    #expect(try await addInShelter(configuration) == 1)
    #expect(try await addInShelter(configuration) == 2)
    #expect(await keeper.names.count == 2)
  }

  @Test func inATask() async throws {
    let configuration = memoryConfiguration()
    let keeper = try await Keeper(configuration)
    try await Task { @MainActor in
      let realm = try await Realm(configuration: configuration)
      try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "main"]) }
    }.value
    try await Task { @Shelter in
      let realm = try await Realm.open(configuration: configuration)
      try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "global"]) }
    }.value
    try await Task.detached { try await Keeper(configuration).create("detached") }.value
    try await keeper.create("own")
    #expect(await keeper.names == ["main", "global", "detached", "own"])
  }

  @MainActor private func addOnTheMainActor(_ configuration: Realm.Configuration) async throws {
    let realm = try await Realm(configuration: configuration)
    try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "main"]) }
  }

  @Test func inATaskGroup() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let keeper = try await Keeper(configuration)
          for step in 0..<3 { try await keeper.create("\(number).\(step)") }
          await keeper.close()
        }
        group.addTask { try await self.addOnTheMainActor(configuration) }
      }
      try await group.waitForAll()
    }
    let names = try openRealm(configuration).objects(Dog.self).map(\.name)
    #expect(names.count == 16 && names.filter { $0 == "main" }.count == 4)
    #expect(Set(names).count == 13)
  }

  /// Opens, writes, reads and closes from code that belongs to no actor.
  @Test func aFunctionWithoutAnActorDrivesOne() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let keeper = try await Keeper(configuration)
    try await keeper.create("Rex")
    try await keeper.create("Ada")
    try await keeper.rename("Rex", to: "Max")
    try await keeper.delete("Ada")
    #expect(await keeper.names == ["Max"])
    await keeper.close()
    // Nobody has the file open any more.
    #expect(try Realm.deleteFiles(for: configuration))
  }

  @Test func anIsolatedDeinitUsesTheRealm() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let log = Log()
    let gone = Event()
    do {
      let leaving = try await Leaving(configuration, log, gone)
      try await leaving.add()
    }
    await gone.happened()
    #expect(log.all == ["1 dogs", "0 dogs"])
    #expect(try openRealm(configuration).isEmpty)
  }

  // MARK: - Threads

  @Test func anActorMayChangeThreads() async throws {
    let folder = TemporaryFolder()
    let wanderer = try await Wanderer(folder.configuration())
    let threads = try await wanderer.addSlowly(["a", "b", "c"])
    #expect(threads.count == 4)
    try await wanderer.add("d")
    #expect(await wanderer.names == ["a", "b", "c", "d"])
  }

  @Test func aRealmOfNoActorStopsOnAnotherThread() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let executor = WanderingTaskExecutor()
      try await Task(executorPreference: executor) {
        let realm = try openRealm(memoryConfiguration())
        let isEmpty = realm.isEmpty
        precondition(isEmpty)
        // Comes back on another thread; a suspension alone might go on at once on this one.
        await MainActor.run {}
        _ = realm.isEmpty
      }.value
      withExtendedLifetime(executor) {}
    }
    expectStop(result, "Realm accessed from incorrect thread.")
    expectStop(result, "was used on the thread 'wanderer'")
  }

  @Test func migratesOnAnotherThread() async throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration()
    try onFile(configuration)
    let (isMigrating, mayGoOn) = (Event(), Event())
    let threads = Monitor<Set<UInt64>>([])
    configuration.schemaVersion = 1
    configuration.migrationBlock = { _, _ in
      threads.withLock { _ = $0.insert(ThreadToken.current.rawValue) }
      isMigrating.happen()
      mayGoOn.wait()
    }
    configuration.shouldCompactOnLaunch = { _, _ in
      threads.withLock { _ = $0.insert(ThreadToken.current.rawValue) }
      return true
    }
    let newer = configuration
    let opening = Task { @MainActor in
      let own = ThreadToken.current.rawValue
      let realm = try await Realm(configuration: newer)
      return (realm.objects(Dog.self).count, threads.withLock { $0.contains(own) })
    }
    await isMigrating.happened()
    // The main actor is free meanwhile.
    #expect(await MainActor.run { true })
    mayGoOn.happen()
    let (count, wasBlocked) = try await opening.value
    #expect(count == 1 && !wasBlocked)
    #expect(threads.withLock { $0.count } == 1)
  }

  @Test func aCancelledOpeningLeavesNothingOpen() async throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration()
    try onFile(configuration)
    let (isMigrating, mayGoOn) = (Event(), Event())
    configuration.schemaVersion = 1
    configuration.migrationBlock = { _, _ in
      isMigrating.happen()
      mayGoOn.wait()
    }
    let newer = configuration
    let opening = Task { _ = try await Keeper(newer) }
    await isMigrating.happened()
    opening.cancel()
    mayGoOn.happen()
    await #expect(throws: CancellationError.self) { try await opening.value }
    // The migration was not in vain, and the file is free.
    #expect(try schemaVersionAtURL(newer.fileURL!) == 1)
    #expect(try Realm.deleteFiles(for: newer))
  }

  /// A file with one dog, closed again.
  private func onFile(_ configuration: Realm.Configuration) throws {
    let realm = try openRealm(configuration)
    try realm.write { realm.add(Dog()) }
  }

  // MARK: - Synchronised Realms

  @Test @MainActor func everyFormRefusesASynchronisedRealm() async throws {
    let folder = TemporaryFolder()
    let local = folder.configuration()
    // A local Realm that is open must not be given instead.
    let open = try openRealm(local)
    var configuration = local
    configuration.syncConfiguration = SyncConfiguration()
    let settings = configuration
    func expectRefused(_ body: @MainActor () async throws -> Void) async {
      do {
        try await body()
        Issue.record("a synchronised Realm was opened")
      } catch Realm.Error.invalidInput {
        // The same for all.
      } catch { Issue.record("\(error)") }
    }
    await expectRefused { _ = try openRealm(settings) }
    await expectRefused { _ = try await Realm(configuration: settings) }
    await expectRefused { _ = try await Realm.open(configuration: settings) }
    await expectRefused {
      _ = try await Realm(configuration: settings, actor: MainActor.shared)
    }
    await expectRefused { _ = try await Keeper(settings) }
    await expectRefused { _ = try await self.addInShelter(settings) }
    await expectRefused {
      try await withCheckedThrowingContinuation { continuation in
        Realm.asyncOpen(configuration: settings) { result in
          continuation.resume(with: result.map { _ in })
        }
      }
    }
    let queue = DispatchQueue(label: "synchronised")
    await expectRefused {
      try queue.sync { _ = try Realm(configuration: settings, queue: queue) }
    }
    #expect(open.isEmpty)
    var closed = folder.configuration("closed.realm")
    closed.syncConfiguration = SyncConfiguration()
    let other = closed
    await expectRefused { try Realm.performMigration(for: other) }
  }
}
