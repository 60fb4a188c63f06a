// Create, read, update, delete: every change is part of a write transaction, which happens as a
// whole or not at all.
import Foundation
import RealmSwift

struct TooOld: Error {}

let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("crud-example-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
Realm.Configuration.defaultConfiguration.fileURL = folder.appendingPathComponent("crud.realm")

// Open the default Realm.
let realm = try! Realm()

// Create: the block is one transaction. What it returns, `write` returns.
let rex = Dog(value: ["name": "Rex", "age": 3, "collar": ["color": "red"]])
let ann = try realm.write { () -> Person in
  let ann = Person(value: ["id": 1, "name": "Ann"])
  ann.dogs.append(rex)
  realm.add(ann)
  return ann
}
print("created \(ann.name) with \(ann.dogs.count) dog in a \(rex.collar!.color) collar")

// Read: objects and results are live.
let puppies = realm.objects(Dog.self).where { $0.age < 5 }
print("young dogs: \(puppies.map(\.name).joined(separator: ", "))")
print("owner of Rex: \(rex.owners.first!.name)")

// Update: assign, by key-value coding, or by primary key with only some of the values.
try realm.write {
  rex.age += 1
  realm.objects(Dog.self).setValue("Rexy", forKey: "name")
  realm.create(Person.self, value: ["id": 1, "name": "Anna"], update: .modified)
}
print("updated: \(ann.name) owns \(rex.name), \(rex.age)")

// All or nothing: when the block throws, everything that it did is undone.
do {
  try realm.write {
    rex.age = 40
    throw TooOld()
  }
} catch is TooOld {
  print("rolled back: \(rex.name) is \(rex.age)")
}

// A transaction can also be dropped from inside.
try realm.write {
  realm.deleteAll()
  realm.cancelWrite()
}
print("cancelled: \(realm.objects(Person.self).count) person is still there")

// Errors of the file come as Realm.Error, and as NSError for older code.
do {
  var missing = Realm.Configuration(fileURL: folder.appendingPathComponent("missing.realm"))
  missing.readOnly = true
  _ = try Realm(configuration: missing)
} catch let error as NSError {
  print("error \(error.code): the file to read is missing")
}

// Delete: the dog goes, its collar with it, and the list is shorter.
try realm.write { realm.delete(rex) }
print("deleted: \(ann.dogs.count) dogs, \(realm.objects(Dog.self).count) in the Realm")
guard ann.dogs.isEmpty, rex.isInvalidated else { exit(1) }
