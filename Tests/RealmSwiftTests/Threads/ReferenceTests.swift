// Values on their way to other places: references, @ThreadSafe, frozen ones.
import Dispatch
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ThreadSafeReferenceTests {
  /// A Realm that meets a class for the first time in a reference must not use what ends with the
  /// Realm that the reference came from.
  @Test func outlivesTheRealmThatItCameFrom() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let made = Monitor<ThreadSafeReference<Dog>?>(nil)
    onThread {
      let realm = try! Realm(configuration: configuration)
      let dog = try! realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
      made.withLock { $0 = ThreadSafeReference(to: dog) }
    }
    let reference = try #require(made.withLock { $0 })
    made.withLock { $0 = nil }
    let realm = try Realm(configuration: configuration)
    var first = realm.resolve(reference)
    #expect(first?.name == "Rex")
    first = nil
    // What the other Realm had is used for something else now.
    let others = (0..<2_000).map { [UInt8](repeating: 0xff, count: 8 * ($0 % 64) + 8) }
    for _ in 0..<10 { #expect(realm.objects(Dog.self).first?.name == "Rex") }
    withExtendedLifetime(others) {}
  }

  @Test func objectsAndCollections() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
    let object = ThreadSafeReference(to: dog)
    let results = ThreadSafeReference(to: realm.objects(Dog.self))
    #expect(!object.isInvalidated)
    onThread {
      let realm = try! Realm(configuration: configuration)
      let dog = realm.resolve(object)!
      #expect(object.isInvalidated && dog.name == "Max" && dog.realm == realm && !dog.isFrozen)
      try! realm.write { dog.name = "Bella" }
      #expect(realm.resolve(results)!.map(\.name) == ["Bella"])
    }
    realm.refresh()
    #expect(dog.name == "Bella")
  }

  @Test func resolvesInsideATransaction() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.write { realm.create(Dog.self) }
    let reference = ThreadSafeReference(to: dog)
    try realm.write { dog.age = 7 }
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write {
        let dog = realm.resolve(reference)!
        #expect(dog.age == 7)
        dog.age += 1
      }
    }
    realm.refresh()
    #expect(dog.age == 8)
  }

  /// Realms of one file may hold different classes, or the same ones in another order.
  @Test func resolvesIntoARealmOfOtherClasses() async throws {
    let folder = TemporaryFolder()
    let realm = try openRealm(
      folder.configuration("a.realm", [Person.self, Dog.self, Sample.self]))
    let dog = try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
    let object = ThreadSafeReference(to: dog)
    let results = ThreadSafeReference(to: realm.objects(Dog.self))
    let other = folder.configuration("a.realm", [Dog.self])
    onThread {
      let realm = try! Realm(configuration: other)
      #expect(realm.resolve(object)?.name == "Max")
      #expect(realm.resolve(results)?.map(\.name) == ["Max"])
    }
    let path = folder.path
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let url = URL(fileURLWithPath: path + "/b.realm")
      let realm = try openRealm(
        Realm.Configuration(fileURL: url, objectTypes: [Person.self, Dog.self]))
      let dog = try realm.write { realm.create(Dog.self) }
      let reference = ThreadSafeReference(to: dog)
      let other = try openRealm(Realm.Configuration(fileURL: url, objectTypes: [Person.self]))
      _ = other.resolve(reference)
    }
    expectStop(result, "Object type 'Dog' is not managed by the Realm.")
  }

  @Test func advancesTheTarget() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let isOpen = Event()
    let isWritten = Event()
    let reference = Monitor<ThreadSafeReference<Dog>?>(nil)
    let thread = startThread {
      let realm = try! Realm(configuration: configuration)
      #expect(realm.isEmpty)
      isOpen.happen()
      isWritten.wait()
      #expect(realm.isEmpty)
      #expect(realm.resolve(reference.withLock { $0! })?.name == "Rex")
      #expect(!realm.isEmpty)
    }
    isOpen.wait()
    let dog = try realm.write { realm.create(Dog.self) }
    reference.withLock { $0 = ThreadSafeReference(to: dog) }
    isWritten.happen()
    thread.joinInTime()
  }

  @Test func nilWhenDeletedOrOfAnotherFile() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dogs = try realm.write { [realm.create(Dog.self), realm.create(Dog.self)] }
    let references = dogs.map { ThreadSafeReference(to: $0) }
    try realm.write { realm.delete(dogs[0]) }
    onThread {
      let realm = try! Realm(configuration: configuration)
      // One that has shown nothing yet would begin on the version of the reference.
      #expect(realm.objects(Dog.self).count == 1)
      #expect(realm.resolve(references[0]) == nil)
      #expect(try! memoryRealm().resolve(references[1]) == nil)
    }
  }

  @Test func pinsUntilResolvedOrReleased() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.write { realm.create(Dog.self) }
    var references = [ThreadSafeReference(to: dog)]
    try realm.write { dog.age += 1 }
    references.append(ThreadSafeReference(to: dog))
    try realm.write { dog.age += 1 }
    #expect(try realm.activeVersions().count == 3)
    _ = realm.resolve(references[0])
    #expect(try realm.activeVersions().count == 2)
    references = []
    #expect(try realm.activeVersions().count == 1)
  }

  /// Where an object is in the reference's version must not be taken for where it is now.
  @Test func objectsThatHaveMoved() throws {
    let realm = try memoryRealm()
    let dogs = try realm.write {
      (0..<600).map { realm.create(Dog.self, value: ["name": "\($0)"]) }
    }
    let live = [3, 300, 599].map { ThreadSafeReference(to: dogs[$0]) }
    let moved = [3, 300, 599].map { ThreadSafeReference(to: dogs[$0]) }
    let frozen = ThreadSafeReference(to: dogs[300].freeze())
    let written = ThreadSafeReference(to: dogs[300])
    #expect(live.map { realm.resolve($0)?.name } == ["3", "300", "599"])
    try realm.write {
      for number in 4..<590 where number != 300 { realm.delete(dogs[number]) }
      #expect(realm.resolve(written)?.name == "300")
    }
    #expect(moved.map { realm.resolve($0)?.name } == ["3", "300", "599"])
    #expect(realm.resolve(frozen)?.name == "300")
  }

  @Test func collectionsOfAllKinds() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { for age in 0..<10 { realm.create(Dog.self, value: ["age": age]) } }
    let dogs = realm.objects(Dog.self)
    let all = ThreadSafeReference(to: dogs)
    let old = ThreadSafeReference(to: dogs.where { $0.age > 6 }.sorted(by: \.age, ascending: false))
    let any = ThreadSafeReference(to: AnyRealmCollection(dogs))
    let copy = ThreadSafeReference(to: dogs.freeze())
    #expect(!all.isInvalidated && !any.isInvalidated)
    onThread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.delete(realm.objects(Dog.self).first!) }
      #expect(realm.resolve(all)?.count == 9 && all.isInvalidated)
      #expect(realm.resolve(old)?.map(\.age) == [9, 8, 7])
      #expect(realm.resolve(any)?.count == 9 && any.isInvalidated)
      #expect(realm.resolve(copy)?.isFrozen == false)
    }
  }

  @Test func fromQueueToActorAndBack() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let reference = await shared.run { shared in
      ThreadSafeReference(to: try shared.realm.write { shared.realm.create(Dog.self) })
    }
    let counter = try await Renamer(configuration)
    let back = try await counter.rename(reference)
    await shared.run { shared in
      #expect(shared.realm.resolve(back)?.name == "renamed")
    }
  }

  /// A commit that is not durable yet: resolving waits for the disk.
  @Test func fromAnAsynchronousCommit() async throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let shared = await QueueRealm(configuration)
    let reference = await shared.run { shared in
      shared.realm.beginWrite()
      let dog = shared.realm.create(Dog.self)
      shared.realm.commitAsyncWrite()
      return ThreadSafeReference(to: dog)
    }
    onThread { #expect(try! Realm(configuration: configuration).resolve(reference)?.age == 3) }
  }

  actor Renamer {
    /// Optional, so that there is an actor before there is a Realm.
    private(set) var realm: Realm!
    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func rename(_ reference: ThreadSafeReference<Dog>) async throws -> ThreadSafeReference<Dog> {
      let dog = try await realm.asyncWrite {
        let dog = realm.resolve(reference)
        dog?.name = "renamed"
        return dog
      }
      return ThreadSafeReference(to: dog!)
    }
  }

  @Test func stops() async {
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = ThreadSafeReference(to: Dog()) }
    expectStop(unmanaged, "Cannot construct reference to unmanaged object")
    let invalidated = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let dog = try realm.write { realm.create(Dog.self) }
      try realm.write { realm.delete(dog) }
      _ = ThreadSafeReference(to: dog)
    }
    expectStop(invalidated, "Cannot construct reference to invalidated object")
    let twice = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let reference = ThreadSafeReference(to: realm.objects(Dog.self))
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    }
    expectStop(twice, "Can only resolve a thread safe reference once.")
    let object = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let dog = try realm.write { realm.create(Dog.self) }
      let reference = ThreadSafeReference(to: dog)
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    }
    expectStop(object, "Can only resolve a thread safe reference once.")
    let frozen = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let dog = try realm.write { realm.create(Dog.self) }
      _ = realm.freeze().resolve(ThreadSafeReference(to: dog))
    }
    expectStop(frozen, "Cannot resolve a thread safe reference in a frozen Realm.")
    let thread = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let dogs = Carried(realm.objects(Dog.self))
      onThread { _ = ThreadSafeReference(to: dogs.value) }
    }
    expectStop(thread, "Realm accessed from incorrect thread.")
  }
}

@Suite(.ownThreads) struct ThreadSafeTests {
  @Test func readsWhereItIs() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.write { realm.create(Dog.self) }
    @ThreadSafe var safe = dog
    #expect(safe?.isSameObject(as: dog) == true)
    let wrapper = _safe
    onThread {
      let realm = try! Realm(configuration: configuration)
      #expect(wrapper.wrappedValue?.realm == realm)
      try! realm.write { wrapper.wrappedValue?.name = "renamed" }
      // It stands for the newest state of its place.
      #expect(wrapper.wrappedValue?.name == "renamed")
    }
    #expect(safe?.name == "renamed")
    try realm.write { realm.delete(dog) }
    #expect(safe == nil)
    onThread { #expect(wrapper.wrappedValue == nil) }
  }

  @Test func doesNotKeepOldVersions() throws {
    let configuration = memoryConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.write { realm.create(Dog.self) }
    @ThreadSafe var safe = dog
    for age in 0..<10 {
      try realm.write { dog.age = age }
      #expect(safe?.age == age)
    }
    #expect(try realm.activeVersions().count == 1)
  }

  private func rename(@ThreadSafe _ dog: Dog?, _ name: String) {
    let wrapper = _dog
    onThread {
      let dog = wrapper.wrappedValue!
      try! dog.realm!.write { dog.name = name }
    }
  }

  @Test func wrapsArguments() throws {
    let realm = try memoryRealm()
    let dog = try realm.write { realm.create(Dog.self) }
    rename(dog, "argument")
    realm.refresh()
    #expect(dog.name == "argument")
  }

  @Test func canBeSet() throws {
    let realm = try memoryRealm()
    let dogs = try realm.write { (0..<2).map { realm.create(Dog.self, value: ["age": $0]) } }
    @ThreadSafe var safe: Dog?
    #expect(safe == nil)
    safe = dogs[1]
    #expect(safe?.age == 1)
    safe = nil
    #expect(safe == nil)
  }

  @Test func stops() async {
    let unmanaged = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      @ThreadSafe var safe: Dog? = Dog()
      _ = safe
    }
    expectStop(unmanaged, "Only managed objects may be wrapped as thread safe.")
    let late = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let dog = Carried(try realm.write { realm.create(Dog.self) })
      onThread { _ = ThreadSafe(wrappedValue: dog.value) }
    }
    expectStop(
      late, "A @ThreadSafe argument of a function of another actor is wrapped after the hop")
    let actor = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try openRealm(memoryConfiguration())
      let safe = ThreadSafe(wrappedValue: try realm.write { realm.create(Dog.self) })
      await Reader().read(safe)
    }
    expectStop(actor, "The actor Reader has no Realm of this file open.")
  }

  private actor Reader {
    func read(_ safe: ThreadSafe<Dog>) { _ = safe.wrappedValue }
  }
}

@Suite(.ownThreads) struct FrozenCarrierTests {
  @Test func carriesFrozenValues() throws {
    let realm = try memoryRealm()
    let dog = try realm.write { realm.create(Dog.self) }
    let frozen = Frozen(dog.freeze())
    let frozenRealm = Frozen(realm.freeze())
    let results = Frozen(realm.objects(Dog.self).freeze())
    onThread {
      #expect(frozen.value.age == 3 && results.value.count == 1)
      #expect(frozenRealm.value.objects(Dog.self).first?.age == 3)
      // Live here, in a Realm of this thread.
      #expect(frozen.value.thaw()?.isFrozen == false)
    }
  }

  @Test func liveValuesStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Frozen(try openRealm(memoryConfiguration()).objects(Dog.self)) }
    expectStop(result, "Only frozen values can be carried by Frozen")
  }

  @Test func thawFindsTheRealmOfThePlace() async {
    let configuration = memoryConfiguration()
    let shared = await QueueRealm(configuration)
    await shared.run { shared in
      let frozen = try shared.realm.write { shared.realm.create(Dog.self) }.freeze()
      #expect(frozen.thaw()?.realm == shared.realm)
      #expect(shared.realm.freeze().thaw() == shared.realm)
    }
  }
}

@Suite(.ownThreads) struct ActiveVersionsTests {
  /// A thread by its number, a queue by its label, an actor by its type.
  @Test func namesTheOwners() async throws {
    actor Keeper {
      func freeze(_ configuration: Realm.Configuration) async throws -> Frozen<Realm> {
        Frozen(try await Realm.open(configuration: configuration).freeze())
      }
    }
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let writer = await QueueRealm(configuration)
    let onQueue = await writer.run { Frozen($0.realm.freeze()) }
    await writer.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    let inActor = try await Keeper().freeze(configuration)
    await writer.run { shared in try shared.realm.write { shared.realm.add(Dog()) } }
    let owners = await writer.run { try $0.realm.activeVersions().map(\.owner) }
    #expect(owners == ["queue 'realm queue'", "actor Keeper", "queue 'realm queue'"])
    withExtendedLifetime((onQueue, inActor)) {}
  }

  @Test func listsWhatIsKept() throws {
    let folder = TemporaryFolder()
    let realm = try Realm(configuration: folder.configuration())
    let dog = try realm.write { realm.create(Dog.self) }
    let frozen = realm.freeze()
    try realm.write { dog.name = String(repeating: "x", count: 500) }
    let versions = try realm.activeVersions()
    #expect(versions.count == 2 && versions.map(\.isNewest) == [false, true])
    #expect(versions[0].version < versions[1].version)
    #expect(versions[0].age! >= versions[1].age!)
    #expect(versions[0].retainedBytes! > 0 && versions[0].owner.contains("thread"))
    #expect(frozen.objects(Dog.self).count == 1)
  }
}
