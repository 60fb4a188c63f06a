// The classes of the example: people have dogs.
import Foundation
import RealmSwift

class Person: Object {
  @Persisted var name: String
  @Persisted var dogs: List<Dog>
}

class Dog: Object {
  @Persisted var name: String
  @Persisted var age: Int
}

/// Makes a Realm in a folder of its own the default one.
func useTemporaryFolder() throws -> URL {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("realm-example-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  Realm.Configuration.defaultConfiguration.fileURL = folder.appendingPathComponent("dogs.realm")
  return folder
}
