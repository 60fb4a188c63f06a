// Use from a wrong thread is always caught, and the message names both.
import Foundation
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct ConfinementTests {
  @Test func theMessageNamesOwnerAndOffender() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      startThread("owner-thread") {
        let realm = Carried(try! memoryRealm())
        onThread("offender") { _ = realm.value.isEmpty }
      }.joinInTime()
    }
    expectStop(result, "Realm accessed from incorrect thread.")
    expectStop(result, "It belongs to the thread 'owner-thread'")
    expectStop(result, "was used on the thread 'offender'")
  }

  @Test func theObserverHearsFirst() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setMisuseObserver { misuse in
        let text =
          "observed \(misuse.kind) owner \(misuse.owner ?? "-") offender \(misuse.offender ?? "-")\n"
        FileHandle.standardError.write(Data(text.utf8))
      }
      startThread("owner-thread") {
        let realm = Carried(try! memoryRealm())
        onThread("offender") { _ = realm.value.objects(Dog.self) }
      }.joinInTime()
    }
    expectStop(result, "observed confinement owner thread 'owner-thread'")
  }

  @Test func theRealmIsConfined() async {
    let refresh = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      onThread { realm.value.refresh() }
    }
    expectStop(refresh, "Realm accessed from incorrect thread.")
    let write = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      onThread { realm.value.beginWrite() }
    }
    expectStop(write, "Realm accessed from incorrect thread.")
    let freeze = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      onThread { _ = realm.value.freeze() }
    }
    expectStop(freeze, "Realm accessed from incorrect thread.")
    let invalidate = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      onThread { realm.value.invalidate() }
    }
    expectStop(invalidate, "Realm accessed from incorrect thread.")
    let objects = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      onThread { _ = realm.value.object(ofType: Person.self, forPrimaryKey: 1) }
    }
    expectStop(objects, "Realm accessed from incorrect thread.")
    // Inside a transaction, with the write lock held.
    let commit = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = Carried(try memoryRealm())
      realm.value.beginWrite()
      onThread { realm.value.add(Dog()) }
    }
    expectStop(commit, "Realm accessed from incorrect thread.")
  }

  @Test func objectsAreConfined() async {
    let read = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      onThread { _ = dog.value.age }
    }
    expectStop(read, "Realm accessed from incorrect thread.")
    let optional = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      _ = dog.value.weight
      onThread { _ = dog.value.weight }
    }
    expectStop(optional, "Realm accessed from incorrect thread.")
    let string = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      _ = dog.value.name
      onThread { _ = dog.value.name }
    }
    expectStop(string, "Realm accessed from incorrect thread.")
    let write = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      realm.beginWrite()
      realm.add(dog.value)
      onThread { dog.value.name = "Max" }
    }
    expectStop(write, "Realm accessed from incorrect thread.")
    let freeze = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      onThread { _ = dog.value.freeze() }
    }
    expectStop(freeze, "Realm accessed from incorrect thread.")
    let invalidated = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      onThread { _ = dog.value.isInvalidated }
    }
    expectStop(invalidated, "Realm accessed from incorrect thread.")
    let added = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Carried(Dog())
      try realm.write { realm.add(dog.value) }
      onThread {
        let other = try! memoryRealm()
        try! other.write { other.create(Dog.self, value: dog.value) }
      }
    }
    expectStop(added, "Realm accessed from incorrect thread.")
  }

  @Test func resultsAreConfined() async {
    let count = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let dogs = Carried(try memoryRealm().objects(Dog.self))
      onThread { _ = dogs.value.count }
    }
    expectStop(count, "Realm accessed from incorrect thread.")
    let element = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let dogs = Carried(try memoryRealm().objects(Dog.self))
      onThread { _ = dogs.value[0] }
    }
    expectStop(element, "Realm accessed from incorrect thread.")
    let loop = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let dogs = Carried(try memoryRealm().objects(Dog.self))
      onThread { for _ in dogs.value {} }
    }
    expectStop(loop, "Realm accessed from incorrect thread.")
    let iterator = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add([Dog(), Dog()]) }
      var iterator = realm.objects(Dog.self).makeIterator()
      _ = iterator.next()
      let carried = Carried(iterator)
      onThread {
        var iterator = carried.value
        _ = iterator.next()
      }
    }
    expectStop(iterator, "Realm accessed from incorrect thread.")
    let thaw = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let dogs = Carried(try memoryRealm().objects(Dog.self))
      onThread { _ = dogs.value.thaw() }
    }
    expectStop(thaw, "Realm accessed from incorrect thread.")
  }

  @Test func isFrozenNeverStops() throws {
    let realm = try memoryRealm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let values = Carried((realm, dog, realm.objects(Dog.self)))
    onThread {
      #expect(!values.value.0.isFrozen && !values.value.1.isFrozen && !values.value.2.isFrozen)
    }
  }
}
