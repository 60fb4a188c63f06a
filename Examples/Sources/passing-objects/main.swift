// Objects belong to the thread that they were opened on. References carry them to another one,
// where they are resolved, best in a write, so that they show the newest state.
import Dispatch
import Foundation
import RealmSwift

let folder = try useTemporaryFolder()
defer { try? FileManager.default.removeItem(at: folder) }

/// Runs a body on a queue of its own and waits for it.
func inBackground(_ body: @escaping @Sendable () -> Void) {
  let isDone = DispatchSemaphore(value: 0)
  DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
    body()
    isDone.signal()
  }
  isDone.wait()
}

func renameByWrapper(_ person: Person) {
  // Always optional: nil when the person was deleted meanwhile.
  @ThreadSafe var personRef = person
  inBackground {
    let realm = try! Realm()
    try! realm.write {
      guard let person = personRef else { return }
      person.name = "Jane Doe"
    }
  }
}

func renameByReference(_ person: Person) {
  let personRef = ThreadSafeReference(to: person)
  inBackground {
    let realm = try! Realm()
    try! realm.write {
      guard let person = realm.resolve(personRef) else { return }
      person.name += " the Second"
    }
  }
}

extension Realm {
  /// A client's own form, beside the one of the library: a block on another queue gets its own
  /// version of the Realm and of the passed object or collection.
  func writeAsync<T: ThreadConfined>(
    _ passedObject: T, errorHandler: @escaping @Sendable (Swift.Error) -> Void = { _ in },
    block: @escaping @Sendable (Realm, T?) -> Void
  ) {
    let objectReference = ThreadSafeReference(to: passedObject)
    let configuration = self.configuration
    inBackground {
      do {
        let realm = try Realm(configuration: configuration)
        try realm.write { block(realm, realm.resolve(objectReference)) }
      } catch {
        errorHandler(error)
      }
    }
  }
}

func run() throws {
  let realm = try Realm()
  let person = Person(value: ["name": "Jane"])
  try realm.write { realm.add(person) }

  renameByWrapper(person)
  realm.refresh()
  print("renamed elsewhere: \(person.name)")
  renameByReference(person)
  // This thread has no run loop that could do it.
  precondition(person.name == "Jane Doe")
  realm.refresh()
  print("renamed again: \(person.name)")

  try realm.write {
    for age in 0..<10 { realm.add(Dog(value: ["name": "Dog \(age)", "age": age])) }
  }
  realm.writeAsync(realm.objects(Dog.self).where { $0.age > 3 }) { realm, dogs in
    guard let dogs else { return }
    realm.delete(dogs)
  }
  realm.refresh()
  print("left: \(realm.objects(Dog.self).count) dogs")
  guard person.name == "Jane Doe the Second", realm.objects(Dog.self).count == 4 else { exit(1) }
}

try run()
