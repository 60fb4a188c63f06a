// Programmer errors of observing.
import Dispatch
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ObservingStopTests {
  private static func expectStop(
    _ message: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ result: ExitTest.Result?
  ) {
    RealmSwiftTests.expectStop(result, message, sourceLocation: sourceLocation)
  }

  private static let frozen = "Frozen Realms do not change and do not have change notifications."
  private static let writing =
    "Cannot register notification blocks from within write transactions."

  @Test func unmanagedValues() async {
    let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Kennel(1).hounds.observe { _ in }
    }
    Self.expectStop("Change notifications are only supported on managed collections.", list)
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Hound("A").observe { (_: ObjectChange<Hound>) in }
    }
    Self.expectStop("Change notifications are only supported on managed objects.", object)
  }

  @Test func frozenValues() async {
    let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try openRealm(memoryConfiguration()).objects(Dog.self).freeze().observe { _ in }
    }
    Self.expectStop(Self.frozen, results)
    let onQueue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try openRealm(memoryConfiguration()).objects(Dog.self).freeze()
        .observe(on: DispatchQueue(label: "any")) { _ in }
    }
    Self.expectStop(Self.frozen, onQueue)
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try openRealm(memoryConfiguration())
      let dog = try realm.write { realm.create(Dog.self) }
      _ = dog.freeze().observe { (_: ObjectChange<Dog>) in }
    }
    Self.expectStop(Self.frozen, object)
  }

  @Test func readOnlyRealms() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      var configuration = folder.configuration()
      onThread { [configuration] in _ = try! Realm(configuration: configuration) }
      configuration.readOnly = true
      _ = try openRealm(configuration).objects(Dog.self).observe { _ in }
    }
    Self.expectStop(
      "Read-only Realms do not change and do not have change notifications.", result)
  }

  @Test func insideOfTransactions() async {
    let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        watched.realm.beginWrite()
        watched.watch(watched.realm.objects(Hound.self))
      }
    }
    Self.expectStop(Self.writing, results)
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.write { _ = watched.watch($0.create(Hound.self)) }
    }
    Self.expectStop(Self.writing, object)
  }

  @Test func elsewhere() async {
    let thread = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      onThread { _ = try! memoryRealm().objects(Dog.self).observe { _ in } }
    }
    Self.expectStop("Can only add notification blocks from within runloops.", thread)
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      let results = await watched.run { Carried($0.realm.objects(Hound.self)) }
      _ = results.value.observe { _ in }
    }
    Self.expectStop("Realm accessed from incorrect thread.", other)
    let actor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let keeper = try await ObservingPlaceTests.Keeper(memoryConfiguration(kennelClasses))
      let results = await keeper.carriedHounds
      _ = await results.value.observe(on: keeper) { _, _ in }
    }
    Self.expectStop("Realm accessed from incorrect thread.", actor)
    let concurrent = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let queue = DispatchQueue(label: "wide", attributes: .concurrent)
        _ = watched.realm.objects(Hound.self).observe(on: queue) { _ in }
      }
    }
    Self.expectStop("Invalid queue 'wide'", concurrent)
  }

  @Test func deletedValues() async {
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let hound = try watched.realm.write { watched.realm.create(Hound.self) }
        try watched.realm.write { watched.realm.delete(hound) }
        watched.watch(hound)
      }
    }
    Self.expectStop("Object has been deleted or invalidated.", object)
    let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let list = try watched.realm.write { addKennel(watched.realm).hounds }
        try watched.realm.write { watched.realm.deleteAll() }
        watched.watch(list)
      }
    }
    Self.expectStop("Object has been deleted or invalidated.", list)
  }

  @Test(arguments: ["owner", "friend.owner", "name.length", "", "friend..name", "friend."])
  func keyPathsOfResults(_ keyPath: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [keyPath] in
      let watched = await WatchedRealm()
      await watched.run { watched in
        watched.watch(watched.realm.objects(Hound.self), keyPaths: [keyPath])
      }
    }
    Self.expectStop("key path '\(keyPath)'", result)
  }

  @Test func keyPathsOfObjectsAndValues() async {
    let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let hound = try watched.realm.write { watched.realm.create(Hound.self) }
        watched.watch(hound, keyPaths: ["name", "owner"])
      }
    }
    Self.expectStop("key path 'owner'", object)
    let numbers = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let kennel = try watched.realm.write { addKennel(watched.realm) }
        watched.watch(kennel.numbers, keyPaths: ["name"])
      }
    }
    Self.expectStop("key path 'name'", numbers)
  }

  @Test func otherTypesOfObjects() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let watched = await WatchedRealm()
      await watched.run { watched in
        let hound = try watched.realm.write { watched.realm.create(Hound.self) }
        _ = hound.observe { (_: ObjectChange<Kennel>) in }
      }
    }
    Self.expectStop("An object of class 'Hound' cannot be observed as 'Kennel'.", result)
  }
}

extension ObservingPlaceTests.Keeper {
  fileprivate var carriedHounds: Carried<Results<Hound>> { Carried(realm.objects(Hound.self)) }
}
