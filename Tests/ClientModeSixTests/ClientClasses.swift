// The classes of the programs, and what their tests share. The same in Swift 6 mode.
import Foundation
import RealmSwift
import Testing

class Person: Object {
  // The twins of both modes have one name.
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var dogs: List<Dog>

  convenience init(name: String) {
    self.init()
    self.name = name
  }
}

class Dog: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var name: String
  @Persisted var age: Int
}

class Email: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var subject: String
  @Persisted var read: Bool
}

func XCTAssertEqual<Value: Equatable>(_ left: Value, _ right: Value) {
  precondition(left == right, "\(left) is not \(right)")
}

/// Lets the default configuration name a file that only this process uses.
func useOwnDefaultRealm() {
  let file = FileManager.default.temporaryDirectory
    .appendingPathComponent("client-\(UUID().uuidString).realm")
  Realm.Configuration.defaultConfiguration = Realm.Configuration(
    fileURL: file, objectTypes: [Person.self, Dog.self, Email.self])
}

func removeOwnDefaultRealm() { _ = try? Realm.deleteFiles(for: .defaultConfiguration) }

/// Ends the process when a block on a queue takes too long.
func waitFor(_ done: DispatchSemaphore) {
  precondition(done.wait(timeout: .now() + 600) == .success, "waited in vain")
}
