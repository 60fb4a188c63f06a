// Functions without `@Sendable`, as code of Swift 5 gives them to the interface: none is refused,
// and nothing is said of them.
import Foundation
import RealmSwift

class Dog: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var friends: List<Dog>
  @Persisted var marks: Map<String, Int>
  @Persisted var numbers: MutableSet<Int>
}

class NameOnly: Projection<Dog> {
  @Projected(\Dog.name) var name
}

final class Store {
  var opened = 0
  var compact: (Int, Int) -> Bool = { total, used in total > used }
  var migrate: (Migration, UInt64) -> Void = { _, _ in }
  var done: (Error?) -> Void = { _ in }
  var plain: () -> Void = {}
  var onOpen: (Result<Realm, Error>) -> Void = { _ in }
  var onLog: (LogLevel, String) -> Void = { _, _ in }
  var onNotification: (Realm.Notification, Realm) -> Void = { _, _ in }
  var onDogs: (RealmCollectionChange<Results<Dog>>) -> Void = { _ in }
  var onDog: (ObjectChange<Dog>) -> Void = { _ in }
  var onName: (ObjectChange<NameOnly>) -> Void = { _ in }
  var tokens: [NotificationToken] = []

  func method(_ migration: Migration, _ version: UInt64) { opened += 1 }
  func method(_ total: Int, _ used: Int) -> Bool { opened > 1 }

  func configurations() -> Realm.Configuration {
    func compactIt(_ total: Int, _ used: Int) -> Bool { opened > 1 }
    func migrateIt(_ migration: Migration, _ version: UInt64) { opened += 1 }
    var counted = 0
    _ = Realm.Configuration(migrationBlock: migrate, shouldCompactOnLaunch: compact)
    _ = Realm.Configuration(migrationBlock: migrateIt, shouldCompactOnLaunch: compactIt)
    _ = Realm.Configuration(migrationBlock: method, shouldCompactOnLaunch: method)
    _ = Realm.Configuration(
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Dog") { _, new in
          counted += 1
          new?["name"] = ""
        }
      },
      shouldCompactOnLaunch: { _, _ in
        counted += 1
        self.opened += 1
        return false
      })
    let block: MigrationBlock = { _, _ in self.opened += 1 }
    var configuration = Realm.Configuration(migrationBlock: block, durability: .memory)
    configuration.migrationBlock = migrate
    configuration.migrationBlock = { _, _ in counted += 1 }
    configuration.migrationBlock = migrateIt
    configuration.shouldCompactOnLaunch = compact
    configuration.shouldCompactOnLaunch = compactIt
    configuration.shouldCompactOnLaunch = { total, used in
      counted += 1
      return total > used
    }
    let migrateAgain: ((Migration, UInt64) -> Void)? = configuration.migrationBlock
    let compactAgain: ((Int, Int) -> Bool)? = configuration.shouldCompactOnLaunch
    _ = (migrateAgain, compactAgain)
    return configuration
  }

  func use() throws {
    Realm.asyncOpen(configuration: configurations(), callback: onOpen)
    Realm.asyncOpen { result in
      self.opened += 1
      _ = try? result.get()
    }
    let realm = try Realm()
    realm.writeAsync(plain)
    realm.writeAsync(plain, onComplete: done)
    realm.writeAsync({ self.opened += 1 }, onComplete: { _ in self.opened += 1 })
    realm.writeAsync { self.opened += 1 }
    realm.beginAsyncWrite(plain)
    realm.beginAsyncWrite {
      self.opened += 1
      realm.commitAsyncWrite(self.done)
    }
    realm.commitAsyncWrite(allowGrouping: true) { _ in self.opened += 1 }
    tokens.append(realm.observe(onNotification))
    tokens.append(realm.observe { _, _ in self.opened += 1 })
    let dogs = realm.objects(Dog.self)
    tokens.append(dogs.observe(onDogs))
    tokens.append(dogs.observe(keyPaths: ["name"], on: .main, onDogs))
    tokens.append(dogs.observe(keyPaths: [\Dog.name]) { _ in self.opened += 1 })
    let dog = dogs[0]
    tokens.append(dog.observe(onDog))
    tokens.append(dog.observe(keyPaths: [\Dog.name], onDog))
    tokens.append(dog.observe { (_: ObjectChange<Dog>) in self.opened += 1 })
    tokens.append(dog.friends.observe { _ in self.opened += 1 })
    tokens.append(dog.marks.observe { _ in self.opened += 1 })
    tokens.append(dog.numbers.observe { _ in self.opened += 1 })
    tokens.append(NameOnly(projecting: dog).observe(onName))
    let sections = dogs.sectioned(by: \.name)
    tokens.append(sections.observe { _ in self.opened += 1 })
    tokens.append(sections.observe(on: .main) { _ in self.opened += 1 })
    let initial: (Dog) -> String = { String($0.name.prefix(1)) }
    _ = dogs.sectioned(by: initial)
    let isNew: (Query<Dog>) -> Query<Bool> = { $0.id > self.opened }
    _ = dogs.where(isNew)
    Logger.shared = Logger(level: .info, logFunction: onLog)
    Logger.shared = Logger(level: .info) { _, _ in self.opened += 1 }
  }
}
