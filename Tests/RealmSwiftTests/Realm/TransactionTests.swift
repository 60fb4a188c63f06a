// Write transactions: what they show, keep and roll back.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct TransactionTests {
  private struct Wanted: Error {}

  @Test func writeReturnsAndCommits() throws {
    let realm = try memoryRealm()
    let count = try realm.write {
      realm.add(Dog())
      #expect(realm.isInWriteTransaction)
      return realm.objects(Dog.self).count
    }
    #expect(count == 1)
    #expect(!realm.isInWriteTransaction)
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test func aThrowingBlockRollsBack() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let added = Dog()
    #expect(throws: Wanted.self) {
      try realm.write {
        dog.name = "Changed"
        realm.add(added)
        throw Wanted()
      }
    }
    #expect(dog.name == "Rex")
    #expect(added.isInvalidated)
    #expect(realm.objects(Dog.self).count == 1)
    #expect(!realm.isInWriteTransaction)
  }

  @Test func blocksMayEndTheTransaction() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.add(Dog())
      realm.cancelWrite()
    }
    #expect(realm.isEmpty)
    try realm.write {
      realm.add(Dog())
      try realm.commitWrite()
    }
    #expect(realm.objects(Dog.self).count == 1)
    // What throws after its own commit stays.
    #expect(throws: Wanted.self) {
      try realm.write {
        realm.add(Dog())
        try realm.commitWrite()
        throw Wanted()
      }
    }
    #expect(realm.objects(Dog.self).count == 2)
    // A second transaction inside the block is committed.
    try realm.write {
      realm.cancelWrite()
      realm.beginWrite()
      realm.add(Dog())
    }
    #expect(realm.objects(Dog.self).count == 3)
  }

  @Test func emptyTransactions() throws {
    let realm = try memoryRealm()
    try realm.write {}
    let count = try realm.write { realm.objects(Dog.self).count }
    #expect(count == 0)
    realm.beginWrite()
    try realm.commitWrite()
    realm.beginWrite()
    realm.cancelWrite()
  }

  @Test func cancelBringsBackWhatWasDeleted() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    realm.beginWrite()
    realm.delete(dog)
    #expect(dog.isInvalidated)
    #expect(realm.objects(Dog.self).isEmpty)
    realm.cancelWrite()
    #expect(!dog.isInvalidated)
    #expect(dog.name == "Rex")
  }

  @Test func otherThreadsSeeItAfterARefresh() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(!realm.refresh())
    let results = realm.objects(Dog.self)
    #expect(results.count == 0)
    let other = Carried(configuration)
    onThread {
      let realm = try! Realm(configuration: other.value)
      try! realm.write { realm.add(Dog()) }
      #expect(realm.objects(Dog.self).count == 1)
    }
    #expect(results.count == 0)
    #expect(realm.refresh())
    #expect(!realm.refresh())
    #expect(results.count == 1)
  }

  @Test func beginningMovesToTheNewestVersion() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let other = Carried(configuration)
    onThread {
      let realm = try! Realm(configuration: other.value)
      try! realm.write { realm.add(Dog()) }
    }
    #expect(realm.isEmpty)
    realm.beginWrite()
    #expect(realm.objects(Dog.self).count == 1)
    realm.cancelWrite()
    // It stays there.
    #expect(realm.objects(Dog.self).count == 1)
  }

  @Test func writersOfSeveralThreadsTakeTurns() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.create(Person.self, value: ["id": 1]) }
    let carried = Carried(configuration)
    let threads = (0..<4).map { _ in
      startThread {
        let realm = try! Realm(configuration: carried.value)
        for _ in 0..<50 {
          try! realm.write { realm.object(ofType: Person.self, forPrimaryKey: 1)!.age += 1 }
        }
      }
    }
    for thread in threads { thread.joinInTime() }
    realm.refresh()
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.age == 200)
  }

  @Test func releasingARealmEndsItsTransaction() throws {
    let configuration = memoryConfiguration()
    let keeper = try Realm(configuration: configuration)
    let carried = Carried(configuration)
    onThread {
      let realm = try! Realm(configuration: carried.value)
      realm.beginWrite()
      realm.add(Dog())
    }
    // The lock is free again, and nothing was kept.
    try keeper.write { #expect(keeper.isEmpty) }
  }

  @Test func invalidateEndsObjectsAndTransaction() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let results = realm.objects(Dog.self)
    realm.beginWrite()
    realm.add(Dog())
    realm.invalidate()
    #expect(!realm.isInWriteTransaction)
    #expect(dog.isInvalidated)
    #expect(results.isInvalidated)
    // The Realm itself goes on.
    #expect(realm.objects(Dog.self).count == 1)
    #expect(!realm.objects(Dog.self).isInvalidated)
    #expect(realm.objects(Dog.self).first?.name == "Rex")
    #expect(dog.isInvalidated)
  }

  // MARK: - Stops

  @Test func nestedTransactionsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      realm.beginWrite()
      realm.beginWrite()
    }
    expectStop(result, "The Realm is already in a write transaction")
    let nested = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { try realm.write {} }
    }
    expectStop(nested, "The Realm is already in a write transaction")
  }

  @Test func endingNothingStops() async {
    let commit = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().commitWrite()
    }
    expectStop(commit, "Can't commit a non-existing write transaction")
    let cancel = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().cancelWrite()
    }
    expectStop(cancel, "Can't cancel a non-existing write transaction")
  }

  @Test func readOnlyRealmsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      var configuration = folder.configuration()
      do { _ = try Realm(configuration: configuration) }
      configuration.readOnly = true
      try Realm(configuration: configuration).write {}
    }
    expectStop(result, "Can't perform transactions on read-only Realms.")
  }

  @Test func changesOutsideOfATransactionStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      dog.name = "Max"
    }
    expectStop(result, "Attempting to modify object outside of a write transaction")
    let add = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().add(Dog())
    }
    expectStop(add, "Cannot modify managed objects outside of a write transaction.")
    let addNone = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().add([Dog]())
    }
    expectStop(addNone, "Cannot modify managed objects outside of a write transaction.")
    let delete = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().deleteAll()
    }
    expectStop(delete, "Cannot modify managed objects outside of a write transaction.")
  }
}
