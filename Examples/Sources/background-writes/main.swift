// Writing without blocking the caller: a Realm of a serial queue, blocks that run when the file can
// be written, commits that share their way to the disk.
import Dispatch
import Foundation
import RealmSwift

let folder = try useTemporaryFolder()
defer { try? FileManager.default.removeItem(at: folder) }

/// Runs on the queue; each step begins when the one before is durable.
func useRealm(on queue: DispatchQueue, whenDone: @escaping @Sendable () -> Void) {
  let realm = try! Realm(configuration: .defaultConfiguration, queue: queue)
  let person = Person(value: ["name": "Dachary"])
  try! realm.write { realm.add(person) }

  // No reference and no frozen object is needed: block and completion run on this queue.
  realm.writeAsync {
    person.dogs.append(objectsIn: [
      Dog(value: ["name": "Ben", "age": 13]),
      Dog(value: ["name": "Lita", "age": 9]),
      Dog(value: ["name": "Maui", "age": 1]),
    ])
  } onComplete: { error in
    precondition(error == nil && person.dogs.count == 3)
    print("added: \(person.dogs.map(\.name).joined(separator: ", "))")
    group(realm, person, whenDone)
  }
  print("performing asynchronous writes: \(realm.isPerformingAsynchronousWriteOperations)")
}

/// Commits one after the other, with few syncs between them.
func group(_ realm: Realm, _ person: Person, _ whenDone: @escaping @Sendable () -> Void) {
  let count = 100
  for number in 1...count {
    realm.beginAsyncWrite {
      person.dogs.append(Dog(value: ["name": "Dog \(number)", "age": number % 15]))
      // Seen here at once, and by everybody else when it is durable.
      realm.commitAsyncWrite(allowGrouping: true) { error in
        precondition(error == nil)
        if number == count {
          print("grouped: \(person.dogs.count) dogs")
          cancel(realm, whenDone)
        }
      }
    }
  }
}

/// What has not begun can be cancelled, and what has begun rolled back.
func cancel(_ realm: Realm, _ whenDone: @escaping @Sendable () -> Void) {
  let queued = realm.writeAsync { realm.deleteAll() }
  try! realm.cancelAsyncWrite(queued)
  realm.beginAsyncWrite {
    realm.deleteAll()
    realm.cancelWrite()
    print("cancelled: \(realm.objects(Dog.self).count) dogs are still there")
    whenDone()
  }
}

let isDone = DispatchSemaphore(value: 0)
let serialQueue = DispatchQueue(label: "serial-queue")
serialQueue.async { useRealm(on: serialQueue) { isDone.signal() } }
isDone.wait()

// Each thread has its own Realm of the file; this one shows the newest durable version.
let realm = try! Realm()
print("on the main thread: \(realm.objects(Dog.self).count) dogs")
guard realm.objects(Dog.self).count == 103 else { exit(1) }
