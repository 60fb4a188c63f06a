// The programs of the threading guide in Swift 6 mode, each in a process of its own, since they use
// the default Realm. As they stand there they are in ClientModeFiveTests; comments say what has to
// differ.
import Foundation
import RealmSwift
import Testing

@Suite struct ThreadingProgramsSixTests {
  @Test func backgroundWrite() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      await withCheckedContinuation { finished in
        DispatchQueue.main.async { writeInBackground { finished.resume() } }
      }
      removeOwnDefaultRealm()
    }
  }

  @Test func serialQueue() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      useSerialQueue()
      removeOwnDefaultRealm()
    }
  }

  @Test func threadSafeWrapper() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      DispatchQueue.global().sync { wrapThreadSafely() }
      removeOwnDefaultRealm()
    }
  }

  @Test func threadSafeArgument() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      await createAndUpdatePerson()
      removeOwnDefaultRealm()
    }
  }

  @Test func threadSafeReference() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      passReference()
      removeOwnDefaultRealm()
    }
  }

  @Test func writeAsyncOfTheClient() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      deleteReadEmails()
      removeOwnDefaultRealm()
    }
  }

  @Test func freezing() async {
    await #expect(processExitsWith: .success) {
      useOwnDefaultRealm()
      freezeAll()
      thawAndModify()
      appendToFrozen()
      removeOwnDefaultRealm()
    }
  }
}

// MARK: - Programs

func writeInBackground(_ finished: @escaping () -> Void) {
  let jane = Person(name: "Dachary")
  let setup = try! Realm()
  try! setup.write { setup.add(jane) }

  let realm = try! Realm()

  // Query for a specific person object on the main thread
  let people = realm.objects(Person.self)
  let thisPerson = people.where {
    $0.name == "Dachary"
  }.first

  // Perform an async write to add dogs to that person's dog list.
  // No need to pass a thread-safe reference or frozen object.
  realm.writeAsync {
    thisPerson?.dogs.append(objectsIn: [
      Dog(value: ["name": "Ben", "age": 13]),
      Dog(value: ["name": "Lita", "age": 9]),
      Dog(value: ["name": "Maui", "age": 1]),
    ])
  } onComplete: { _ in
    // Confirm the three dogs were successfully added to the person's dogs list
    XCTAssertEqual(thisPerson!.dogs.count, 3)
    // Query for one of the dogs we added and see that it is present
    let dogs = realm.objects(Dog.self)
    let benDogs = dogs.where {
      $0.name == "Ben"
    }
    XCTAssertEqual(benDogs.count, 1)
    finished()
  }
}

func useSerialQueue() {
  let done = DispatchSemaphore(value: 0)
  // Initialize a serial queue, and
  // perform realm operations on it
  let serialQueue = DispatchQueue(label: "serial-queue")
  serialQueue.async {
    let realm = try! Realm(configuration: .defaultConfiguration, queue: serialQueue)
    // Do something with Realm on the non-main thread
    XCTAssertEqual(realm.isEmpty, true)
    done.signal()
  }
  waitFor(done)
}

func wrapThreadSafely() {
  let done = DispatchSemaphore(value: 0)
  let realm = try! Realm()

  let person = Person(name: "Jane")
  try! realm.write {
    realm.add(person)
  }

  // Create thread-safe reference to person
  @ThreadSafe var personRef = person

  // @ThreadSafe vars are always optional. If the referenced object is deleted,
  // the @ThreadSafe var will be nullified.
  print("Person's name: \(personRef?.name ?? "unknown")")

  // Pass the reference to a background thread. The wrapper is Sendable; in Swift 6 mode no variable
  // may be captured there.
  let wrapper = _personRef
  DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
    let realm = try! Realm()
    try! realm.write {
      // Resolve within the transaction to ensure you get the
      // latest changes from other threads. If the person
      // object was deleted, personRef will be nil.
      guard let person = wrapper.wrappedValue else {
        return  // person was deleted
      }
      person.name = "Jane Doe"
    }
    done.signal()
  }
  waitFor(done)
  realm.refresh()
  XCTAssertEqual(person.name, "Jane Doe")
}

func someLongCallToGetNewName() async -> String {
  return "Janet"
}

@MainActor
func loadNameInBackground(@ThreadSafe person: Person?) async {
  let newName = await someLongCallToGetNewName()
  let realm = try! await Realm()
  try! realm.write {
    person?.name = newName
  }
}

@MainActor
func createAndUpdatePerson() async {
  let realm = try! await Realm()

  let person = Person(name: "Jane")
  try! realm.write {
    realm.add(person)
  }
  await loadNameInBackground(person: person)
  XCTAssertEqual(person.name, "Janet")
}

func passReference() {
  let done = DispatchSemaphore(value: 0)
  let person = Person(name: "Jane")
  let realm = try! Realm()

  try! realm.write {
    realm.add(person)
  }

  // Create thread-safe reference to person
  let personRef = ThreadSafeReference(to: person)

  // Pass the reference to a background thread
  DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
    let realm = try! Realm()
    try! realm.write {
      // Resolve within the transaction to ensure you get the latest changes from other threads
      guard let person = realm.resolve(personRef) else {
        return  // person was deleted
      }
      person.name = "Jane Doe"
    }
    done.signal()
  }
  waitFor(done)
  realm.refresh()
  XCTAssertEqual(person.name, "Jane Doe")
}

// In Swift 6 mode the closures have to say that they may run elsewhere.
extension Realm {
  func writeAsync<T: ThreadConfined>(
    _ passedObject: T,
    errorHandler: @escaping (@Sendable (_ error: Swift.Error) -> Void) = { _ in return },
    block: @escaping (@Sendable (Realm, T?) -> Void)
  ) {
    let objectReference = ThreadSafeReference(to: passedObject)
    let configuration = self.configuration
    DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
      do {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          // Resolve within the transaction to ensure you get the latest changes from other threads
          let object = realm.resolve(objectReference)
          block(realm, object)
        }
      } catch {
        errorHandler(error)
      }
    }
  }
}

func deleteReadEmails() {
  let done = DispatchSemaphore(value: 0)
  let setup = try! Realm()
  try! setup.write {
    for number in 0..<4 {
      setup.create(Email.self, value: ["subject": "\(number)", "read": number % 2 == 0])
    }
  }

  let realm = try! Realm()
  let readEmails = realm.objects(Email.self).where {
    $0.read == true
  }
  realm.writeAsync(readEmails) { (realm, readEmails) in
    defer { done.signal() }
    guard let readEmails = readEmails else {
      // Already deleted
      return
    }
    realm.delete(readEmails)
  }
  waitFor(done)
  // The transaction ends after its block.
  try! realm.write {}
  if !realm.autorefresh {
    // Manually refresh
    realm.refresh()
  }
  XCTAssertEqual(realm.objects(Email.self).map(\.subject).sorted(), ["1", "3"])
}

func freezeAll() {
  let setup = try! Realm()
  try! setup.write {
    setup.add(Person(name: "Timmy"))
    setup.create(Dog.self, value: ["name": "Lassie", "age": 5])
  }

  let realm = try! Realm()

  // Get an immutable copy of the realm that can be passed across threads
  let frozenRealm = realm.freeze()

  assert(frozenRealm.isFrozen)

  let people = realm.objects(Person.self)

  // You can freeze collections
  let frozenPeople = people.freeze()

  assert(frozenPeople.isFrozen)

  // You can still read from frozen realms
  let frozenPeople2 = frozenRealm.objects(Person.self)

  assert(frozenPeople2.isFrozen)

  let person = people.first!

  assert(!person.realm!.isFrozen)

  // You can freeze objects
  let frozenPerson = person.freeze()

  assert(frozenPerson.isFrozen)
  // Frozen objects have a reference to a frozen realm
  assert(frozenPerson.realm!.isFrozen)
}

func thawAndModify() {
  let frozenRealm = try! Realm().freeze()
  // Read from a frozen realm
  let frozenPeople = frozenRealm.objects(Person.self)

  // The collection that we pull from the frozen realm is also frozen
  assert(frozenPeople.isFrozen)

  // Get an individual person from the collection
  let frozenPerson = frozenPeople.first!

  // To modify the person, you must first thaw it
  // You can also thaw collections and realms
  let thawedPerson = frozenPerson.thaw()

  // Check to make sure this person is valid. An object is
  // invalidated when it is deleted from its managing realm,
  // or when its managing realm has invalidate() called on it.
  assert(thawedPerson?.isInvalidated == false)

  // Thawing the person also thaws the frozen realm it references
  assert(thawedPerson!.realm!.isFrozen == false)

  // Let's make the code easier to follow by naming the thawed realm
  let thawedRealm = thawedPerson!.realm!

  // Now, you can modify the todo
  try! thawedRealm.write {
    thawedPerson!.name = "John Michael Kane"
  }
  XCTAssertEqual(try! Realm().objects(Person.self).first!.name, "John Michael Kane")
  try! thawedRealm.write { thawedPerson!.name = "Timmy" }
}

func appendToFrozen() {
  let frozenRealm = try! Realm().freeze()
  // Get a copy of frozen objects.
  // Here, we're getting them from a frozen realm,
  // but you might also be passing them across threads.
  let frozenTimmy = frozenRealm.objects(Person.self).where {
    $0.name == "Timmy"
  }.first!
  let frozenLassie = frozenRealm.objects(Dog.self).where {
    $0.name == "Lassie"
  }.first!
  // Confirm the objects are frozen.
  assert(frozenTimmy.isFrozen == true)
  assert(frozenLassie.isFrozen == true)
  // Thaw the frozen objects. You must thaw both the object
  // you want to append and the collection you want to append it to.
  let thawedTimmy = frozenTimmy.thaw()
  let thawedLassie = frozenLassie.thaw()
  let realm = try! Realm()
  try! realm.write {
    thawedTimmy?.dogs.append(thawedLassie!)
  }
  XCTAssertEqual(thawedTimmy?.dogs.first?.name, "Lassie")
}
