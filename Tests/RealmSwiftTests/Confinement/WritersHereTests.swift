// Who would wait for the write lock in the place that has it: other Realms of the file, openings
// that change its classes, migrations, compaction. None of them waits; each would do so for ever.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

private class Ship: Object {
  @Persisted(primaryKey: true) var id: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Harbour: Object {
  @Persisted var name: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An actor with two Realms of one file.
private actor Pilot {
  func writeInATransaction(_ configuration: Realm.Configuration) async throws {
    let realm = try await Realm.open(configuration: configuration)
    let other = try await Realm.open(configuration: widened(configuration))
    try await realm.asyncWrite {
      try other.write {}
    }
  }
}

/// The same file with one more class.
private func widened(_ configuration: Realm.Configuration) -> Realm.Configuration {
  var wider = configuration
  wider.objectTypes = [Ship.self, Harbour.self]
  return wider
}

@Suite(.ownThreads) struct WritersHereTests {
  private let folder = TemporaryFolder()

  private var configuration: Realm.Configuration { folder.configuration("a.realm", [Ship.self]) }

  // MARK: - Transactions

  @Test func anotherRealmOfTheFileStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let configuration = memoryConfiguration([Ship.self])
      let realm = try Realm(configuration: configuration)
      let other = try Realm(configuration: widened(configuration))
      try realm.write { try other.write {} }
    }
    expectStop(result, "The Realm is already in a write transaction: another Realm of")
  }

  @Test func aQueuesRealmOnTheSameThreadStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let configuration = memoryConfiguration([Ship.self])
      let realm = try Realm(configuration: configuration)
      let queue = DispatchQueue(label: "harbour")
      try realm.write {
        try queue.sync { try Realm(configuration: configuration, queue: queue).write {} }
      }
    }
    expectStop(result, "The Realm is already in a write transaction: another Realm of")
  }

  @Test func anActorsOtherRealmStops() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try await Pilot().writeInATransaction(memoryConfiguration([Ship.self]))
    }
    expectStop(result, "The Realm is already in a write transaction: another Realm of")
  }

  @Test func aMigrationIsATransactionToo() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      let old = folder.configuration("a.realm", [Ship.self])
      do { _ = try Realm(configuration: old) }
      var new = old
      new.schemaVersion = 1
      new.migrationBlock = { _, _ in try! Realm(configuration: old).write {} }
      _ = try Realm(configuration: new)
    }
    expectStop(result, "or a migration, has one here")
  }

  /// Another Realm may write before and after, and read meanwhile.
  @Test func theOtherRealmGoesOn() throws {
    let configuration = configuration
    let realm = try Realm(configuration: configuration)
    let other = try Realm(configuration: widened(configuration))
    try other.write { other.create(Harbour.self, value: ["name": "A"]) }
    try realm.write {
      realm.create(Ship.self, value: ["id": 1])
      #expect(!other.refresh())
      #expect(other.objects(Ship.self).isEmpty)
    }
    try other.write { #expect(other.objects(Ship.self).count == 1) }
  }

  // MARK: - Openings and files

  @Test func newClassesAreRefusedMeanwhile() throws {
    let configuration = configuration
    let realm = try Realm(configuration: configuration)
    try realm.write {
      #expect(errorCode { _ = try Realm(configuration: widened(configuration)) } == .alreadyOpen)
      var newer = configuration
      newer.schemaVersion = 1
      #expect(errorCode { _ = try Realm(configuration: newer) } == .alreadyOpen)
      realm.create(Ship.self, value: ["id": 1])
    }
    let other = try Realm(configuration: widened(configuration))
    #expect(other.objects(Ship.self).count == 1)
  }

  @Test func aMigrationsOwnRealmIsRefusedMeanwhile() throws {
    let old = configuration
    do { _ = try Realm(configuration: old) }
    nonisolated(unsafe) var codes: [Realm.Error.Code?] = []
    nonisolated(unsafe) var new = old
    new.schemaVersion = 1
    new.migrationBlock = { _, _ in
      codes.append(errorCode { _ = try Realm(configuration: new) })
      #expect((try? Realm.compact(configuration: old)) == false)
    }
    #expect(try Realm(configuration: new).isEmpty)
    #expect(codes == [.alreadyOpen])
  }

  @Test func nothingIsCompactedMeanwhile() throws {
    let configuration = configuration
    let realm = try Realm(configuration: configuration)
    try realm.write {
      #expect((try? Realm.compact(configuration: configuration)) == false)
      realm.create(Ship.self, value: ["id": 1])
    }
    #expect(try Realm.compact(configuration: configuration))
    #expect(realm.objects(Ship.self).count == 1)
  }

  // MARK: - What is in nobody's way

  /// Nobody can go on with what a Realm has left that is gone, as long as its place waits.
  @Test func whatWasLeftHereIsRolledBack() {
    let configuration = configuration
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      _ = try! Realm.compact(configuration: configuration)
      try! Realm(configuration: configuration).beginWrite()
      try! Realm(configuration: configuration).create(Ship.self, value: ["id": 1])
      #expect(try! Realm(configuration: widened(configuration)).isEmpty)
    }
    let queue = DispatchQueue(label: "left")
    queue.sync {
      try! Realm(configuration: configuration, queue: queue).beginWrite()
      _ = try! Realm.compact(configuration: configuration)
    }
    onThread {
      try! Realm(configuration: configuration).beginWrite()
      queue.sync {
        let realm = try! Realm(configuration: configuration, queue: queue)
        try! realm.write { realm.create(Ship.self, value: ["id": 2]) }
      }
    }
    #expect(try! Realm(configuration: configuration).objects(Ship.self).map(\.id) == [2])
  }

  /// The lock is held while observers are told of what came just before a transaction; one of them
  /// may write by another Realm of the file.
  @Test func observersWriteByAnotherRealm() throws {
    let configuration = configuration
    let queue = DispatchQueue(label: "observers")
    nonisolated(unsafe) var realm: Realm!
    nonisolated(unsafe) var other: Realm!
    nonisolated(unsafe) var token: NotificationToken!
    try queue.sync {
      realm = try Realm(configuration: configuration, queue: queue)
      other = try Realm(configuration: widened(configuration), queue: queue)
      token = realm.objects(Ship.self).observe { @Sendable change in
        guard case .update(let ships, _, _, _) = change, ships.count == 1 else { return }
        try! other.write { other.create(Ship.self, value: ["id": 2]) }
      }
      realm.refresh()
    }
    let begun = Event()
    let thread = startThread {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      realm.create(Ship.self, value: ["id": 1])
      begun.happen()
      // What it commits, the waiting transaction begins on.
      realm.waitForQueuedWriters(1)
      try! realm.commitWrite()
    }
    begun.wait()
    try queue.sync { try realm.write { _ = realm.create(Ship.self, value: ["id": 3]) } }
    thread.joinInTime()
    queue.sync {
      #expect(Set(realm.objects(Ship.self).map(\.id)) == [1, 2, 3])
      token.invalidate()
      (token, other, realm) = (nil, nil, nil)
    }
  }
}
