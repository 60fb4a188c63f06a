// What the library keeps of a version for references, wrappers and observations is its own: a
// client who invalidates a frozen Realm of the same version does not end it. And a Realm that has
// shown a version does not go back behind it for a reference.
import Dispatch
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct HiddenFormTests {
  private let configuration = memoryConfiguration()
  private let realm: Realm
  private let dog: Dog

  init() throws {
    let realm = try openRealm(configuration)
    self.realm = realm
    dog = try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
  }

  // MARK: - Frozen Realms that a client ends

  @Test func referencesStay() throws {
    let snapshot = realm.freeze()
    let object = ThreadSafeReference(to: dog)
    let results = ThreadSafeReference(to: realm.objects(Dog.self))
    let any = ThreadSafeReference(to: AnyRealmCollection(realm.objects(Dog.self)))
    #expect(dog.freeze().realm == snapshot)
    snapshot.invalidate()
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(object)?.name == "Max")
      #expect(realm.resolve(results)?.count == 1)
      #expect(realm.resolve(any)?.count == 1)
    }
  }

  @Test func referencesOfATransactionStay() throws {
    let reference = try realm.write {
      dog.name = "Bella"
      return ThreadSafeReference(to: dog)
    }
    realm.freeze().invalidate()
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(reference)?.name == "Bella")
    }
  }

  /// What was there before the transaction is there after it.
  @Test func referencesOfATransactionThatAnInvalidationEnds() throws {
    realm.beginWrite()
    let old = ThreadSafeReference(to: dog)
    let new = ThreadSafeReference(to: realm.create(Dog.self))
    realm.invalidate()
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(realm.resolve(old)?.name == "Max")
      #expect(realm.resolve(new) == nil)
    }
  }

  @Test func wrappersStay() throws {
    let wrapped = ThreadSafe(wrappedValue: dog)
    realm.freeze().invalidate()
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(wrapped.wrappedValue?.name == "Max")
      let dog = wrapped.wrappedValue!
      try! realm.write { dog.name = "Bella" }
      // Reading has gone on to the newer version.
      #expect(wrapped.wrappedValue?.name == "Bella")
      realm.freeze().invalidate()
      #expect(wrapped.wrappedValue?.name == "Bella")
    }
    realm.refresh()
    #expect(wrapped.wrappedValue?.name == "Bella")
  }

  @Test func observationsOnQueuesBegin() {
    let queue = DispatchQueue(label: "hidden forms")
    let isTold = Event()
    let isReady = Event()
    // Nothing runs on the queue until the snapshot was ended.
    queue.async { isReady.wait() }
    let snapshot = realm.freeze()
    let token = realm.objects(Dog.self).observe(on: queue) { change in
      if case .initial(let dogs) = change, dogs.count == 1 { isTold.happen() }
    }
    snapshot.invalidate()
    isReady.happen()
    isTold.wait()
    token.invalidate()
  }

  // MARK: - Not back behind what was shown

  @Test func notBehindAnInvalidation() throws {
    let object = ThreadSafeReference(to: dog)
    let results = ThreadSafeReference(to: realm.objects(Dog.self))
    try realm.write { realm.delete(dog) }
    realm.invalidate()
    #expect(realm.resolve(object) == nil)
    #expect(realm.isEmpty)
    realm.invalidate()
    #expect(realm.resolve(results)?.isEmpty == true)
  }

  @Test func notBehindAFrozenForm() throws {
    let reference = ThreadSafeReference(to: dog)
    let frozen = Frozen(realm.freeze())
    try realm.write { realm.delete(dog) }
    let configuration = configuration
    onThread {
      let realm = try! Realm(configuration: configuration)
      let snapshot = realm.freeze()
      #expect(realm.resolve(reference) == nil)
      #expect(snapshot.isEmpty && realm.isEmpty)
      #expect(!frozen.value.isEmpty)
    }
  }

  actor Reader {
    /// Optional, so that there is an actor before there is a Realm.
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func resolvesAfterRefreshing(_ reference: ThreadSafeReference<Dog>) async -> Bool {
      // There is nothing newer.
      let hasMoved = await realm.asyncRefresh()
      return hasMoved || realm.resolve(reference) != nil
    }
  }

  @Test func notBehindAnAsynchronousRefresh() async throws {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    let reference = await shared.run { shared in
      let realm = shared.realm!
      let dog = try realm.write { realm.create(Dog.self) }
      let reference = ThreadSafeReference(to: dog)
      try realm.write { realm.delete(dog) }
      return reference
    }
    let reader = try await Reader(configuration)
    #expect(await reader.resolvesAfterRefreshing(reference) == false)
  }
}
