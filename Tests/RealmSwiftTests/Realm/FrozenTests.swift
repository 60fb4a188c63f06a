// Frozen Realms, objects and results: one version for ever, on every thread.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct FrozenTests {
  @Test func keepsItsVersion() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let frozenRealm = realm.freeze()
    let frozenDog = dog.freeze()
    let frozenDogs = realm.objects(Dog.self).freeze()
    try realm.write {
      dog.name = "Max"
      realm.add(Dog())
    }
    #expect(frozenDog.name == "Rex" && dog.name == "Max")
    #expect(frozenDogs.count == 1 && frozenDogs.first?.name == "Rex")
    #expect(frozenRealm.objects(Dog.self).count == 1)
    try realm.write { realm.deleteAll() }
    #expect(dog.isInvalidated && !frozenDog.isInvalidated)
    #expect(frozenDog.name == "Rex" && frozenDogs.map(\.age) == [3])
  }

  /// A client has ended the frozen Realm that its objects would share: they get another one.
  @Test func freezesAgainAfterTheFrozenRealmHasEnded() throws {
    let realm = try memoryRealm()
    let (dog, person) = try realm.write {
      (realm.create(Dog.self), realm.create(Person.self, value: ["id": 1, "name": "Ann"]))
    }
    for _ in 0..<3 {
      do {
        let frozen = realm.freeze()
        #expect(dog.freeze().realm == frozen && person.freeze().realm == frozen)
        frozen.invalidate()
      }
      let others = (0..<200).map { [UInt8](repeating: 0xff, count: 8 * ($0 % 64) + 8) }
      #expect(dog.freeze().name == "Rex" && person.freeze().name == "Ann")
      #expect(dog.freeze().realm == person.freeze().realm)
      withExtendedLifetime(others) {}
    }
  }

  @Test func freezesWhatHasMoved() throws {
    let realm = try memoryRealm()
    let dogs = try realm.write {
      (0..<600).map { realm.create(Dog.self, value: ["age": $0]) }
    }
    var frozen = [dogs[300].freeze()]
    try realm.write {
      for number in 4..<590 where number != 300 { realm.delete(dogs[number]) }
      // As it was when the transaction began.
      frozen.append(dogs[300].freeze())
      dogs[300].age = 1
      frozen.append(dogs[300].freeze())
    }
    frozen.append(dogs[300].freeze())
    #expect(frozen.map(\.age) == [300, 300, 300, 1])
    realm.beginWrite()
    dogs[300].age = 2
    realm.cancelWrite()
    frozen.append(dogs[300].freeze())
    realm.invalidate()
    #expect(frozen.map(\.age) == [300, 300, 300, 1, 1])
  }

  @Test func everythingFromAFrozenRealmIsFrozen() throws {
    let realm = try memoryRealm()
    try realm.write { realm.create(Person.self, value: ["id": 1]) }
    let frozen = realm.freeze()
    #expect(frozen.isFrozen && !realm.isFrozen)
    #expect(frozen.freeze() == frozen)
    #expect(frozen.objects(Person.self).isFrozen)
    #expect(frozen.objects(Person.self).first!.isFrozen)
    #expect(frozen.objects(Person.self)[0].isFrozen)
    #expect(frozen.object(ofType: Person.self, forPrimaryKey: 1)!.isFrozen)
    for person in frozen.objects(Person.self) { #expect(person.isFrozen) }
    let person = frozen.objects(Person.self).first!
    #expect(person.freeze() === person)
    #expect(person.realm!.isFrozen && person.realm == frozen)
    #expect(realm.freeze(person) === person)
    #expect(!frozen.refresh() && !frozen.isInWriteTransaction)
    #expect(realm.objects(Person.self).freeze().realm!.isFrozen)
    #expect(!frozen.isEmpty)
  }

  @Test func thaws() throws {
    let realm = try memoryRealm()
    let person = try realm.write { realm.create(Person.self, value: ["id": 1, "name": "Ann"]) }
    let frozen = person.freeze()
    let thawed = frozen.thaw()!
    #expect(!thawed.isFrozen && thawed.isSameObject(as: person) && thawed.realm == realm)
    #expect(person.thaw() === person)
    #expect(realm.freeze().thaw() == realm && realm.thaw() == realm)
    #expect(realm.thaw(frozen)!.isSameObject(as: person))
    let people = realm.objects(Person.self)
    #expect(people.freeze().thaw() == people && people.thaw() == people)
    #expect(realm.freeze(people).isFrozen && !realm.thaw(people.freeze())!.isFrozen)
    try frozen.realm!.thaw().write { frozen.thaw()!.name = "Bea" }
    #expect(person.name == "Bea" && frozen.name == "Ann")
    try realm.write { realm.delete(person) }
    #expect(frozen.thaw() == nil)
  }

  @Test func thawsOnAnotherThread() throws {
    let realm = try memoryRealm()
    let person = try realm.write { realm.create(Person.self, value: ["id": 1]) }
    let frozen = Carried(person.freeze())
    onThread {
      let thawed = frozen.value.thaw()!
      try! thawed.realm!.write { thawed.age = 7 }
      #expect(frozen.value.age == 0)
    }
    realm.refresh()
    #expect(person.age == 7)
  }

  @Test func isReadByManyThreads() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.add((0..<500).map { Person(value: ["id": $0, "name": "name \($0)", "age": $0]) })
    }
    let frozen = Carried(realm.freeze())
    let object = Carried(realm.objects(Person.self)[250].freeze())
    let results = Carried(realm.objects(Person.self).freeze())
    let threads = (0..<4).map { _ in
      startThread {
        for _ in 0..<20 {
          #expect(results.value.reduce(0) { $0 + $1.age } == 500 * 499 / 2)
          #expect(object.value.name == "name 250" && object.value.age == 250)
          #expect(frozen.value.object(ofType: Person.self, forPrimaryKey: 77)?.age == 77)
          #expect(frozen.value.objects(Person.self).last?.id == 499)
          #expect(frozen.value.objects(Dog.self).isEmpty)
        }
      }
    }
    for person in realm.objects(Person.self) {
      try realm.write { person.age = 0 }
    }
    for thread in threads { thread.joinInTime() }
  }

  @Test func outlivesTheLiveRealm() throws {
    let folder = TemporaryFolder()
    let configuration = folder.configuration()
    let frozen: Person
    do {
      let realm = try Realm(configuration: configuration)
      frozen = try realm.write { realm.create(Person.self, value: ["id": 1, "name": "Ann"]) }
        .freeze()
      realm.invalidate()
    }
    #expect(frozen.name == "Ann")
    #expect(frozen.thaw()?.name == "Ann")
  }

  @Test func theVersionGoesWithItsLastUse() throws {
    let realm = try memoryRealm()
    try realm.write { realm.create(Person.self, value: ["id": 1]) }
    var kept: [Realm] = []
    for age in 0..<5 {
      kept.append(realm.freeze())
      try realm.write { realm.objects(Person.self)[0].age = age }
    }
    #expect(try realm.storeStatistics().pins == 5)
    kept.removeFirst(2)
    #expect(try realm.storeStatistics().pins == 3)
    #expect(kept.map { $0.objects(Person.self)[0].age } == [1, 2, 3])
    kept = []
    #expect(try realm.storeStatistics().pins == 0)
  }

  @Test func insideATransaction() throws {
    let realm = try memoryRealm()
    let person = try realm.write { realm.create(Person.self, value: ["id": 1, "age": 1]) }
    try realm.write {
      person.age = 2
      // The version on which the transaction began.
      #expect(person.freeze().age == 1)
      realm.create(Person.self, value: ["id": 2])
      #expect(realm.objects(Person.self).freeze().count == 1)
    }
  }

  // MARK: - Stops

  @Test func frozenValuesCannotChange() async {
    let set = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      dog.freeze().name = "Max"
    }
    expectStop(
      set, "Attempting to modify a frozen object - call thaw on the Object instance first.")
    let write = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().freeze().write {}
    }
    expectStop(write, "Can't perform transactions on a frozen Realm")
    let begin = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().freeze().beginWrite()
    }
    expectStop(begin, "Can't perform transactions on a frozen Realm")
    let add = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().freeze().add(Dog())
    }
    expectStop(add, "Can't perform transactions on a frozen Realm")
  }

  @Test func newObjectsCannotBeFrozen() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      realm.beginWrite()
      realm.add(dog)
      _ = dog.freeze()
    }
    expectStop(
      result, "Cannot freeze an object in the same write transaction as it was created in.")
  }

  @Test func invalidatedFrozenValuesStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      let frozen = dog.freeze()
      frozen.realm!.invalidate()
      precondition(frozen.isInvalidated && !dog.isInvalidated && dog.freeze().age == 3)
      _ = frozen.name
    }
    expectStop(result, "The frozen Realm was invalidated")
  }
}
