// Ours: RealmSwift through its public API, as an application would use it.
import Foundation
import RealmSwift

/// The object of the benchmark.
final class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var payload: Data
}

final class RealmEngine: Engine {
  private let configuration: Realm.Configuration
  let files: [String]

  init(_ settings: EngineSettings) throws {
    let path = settings.folder + "/person.realm"
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [Person.self])
    configuration.durability = settings.durability == .full ? .full : .memory
    self.configuration = configuration
    files = [path]
  }

  func openSession() throws -> any Session {
    RealmSession(try Realm(configuration: configuration), engine: self)
  }

  func fileBytes() throws -> Int { try sizeOfFile(files[0]) }

  func liveBytes() throws -> Int { try Inspection.figures(of: files[0]).live_bytes }

  func visibleBytes() throws -> Int? {
    let figures = try Inspection.figures(of: files[0])
    return figures.live_bytes + figures.held_bytes
  }

  /// The last Realm closes the file; its own thread may hold it for a moment longer.
  func close() throws { try waitUntilClosed(files[0]) }
}

final class RealmSession: Session {
  private let realm: Realm
  private let engine: RealmEngine
  private var ready: [Person] = []

  init(_ realm: Realm, engine: RealmEngine) {
    self.realm = realm
    self.engine = engine
  }

  func makeReady(_ population: Population) {
    ready = (0..<population.count).map { makePerson($0, population) }
  }

  private func makePerson(_ id: Int, _ population: Population) -> Person {
    let person = Person()
    person.id = id
    person.name = String(decoding: population.name(id), as: UTF8.self)
    person.age = Population.age(id)
    person.score = Population.score(id)
    person.payload = Data(population.payload(id))
    return person
  }

  func insert(_ population: Population) throws {
    try realm.write {
      if ready.isEmpty {
        for id in 0..<population.count { realm.add(makePerson(id, population)) }
      } else {
        realm.add(ready)
      }
    }
  }

  func delete(_ keys: [Int]) throws {
    try realm.write {
      for key in keys { realm.delete(try find(key)) }
    }
  }

  func deleteAll() throws {
    try realm.write { realm.delete(realm.objects(Person.self)) }
  }

  func setAge(_ key: Int, _ age: Int) throws {
    let person = try find(key)
    try realm.write { person.age = age }
  }

  private func find(_ key: Int) throws -> Person {
    guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else {
      throw PeerError("ours: no object \(key)")
    }
    return person
  }

  func count() throws -> Int {
    realm.refresh()
    return realm.objects(Person.self).count
  }

  func person(_ key: Int) throws -> PersonValues? {
    realm.refresh()
    return realm.object(ofType: Person.self, forPrimaryKey: key).map {
      PersonValues(
        id: $0.id, name: $0.name, age: $0.age, score: $0.score, payload: Array($0.payload))
    }
  }

  func lookup(_ keys: ArraySlice<Int>) throws -> Int {
    realm.refresh()
    var sum = 0
    for key in keys {
      guard let person = realm.object(ofType: Person.self, forPrimaryKey: key) else {
        throw PeerError("ours: no object \(key)")
      }
      sum &+= person.age
    }
    return sum
  }

  func readHeld(_ key: Int, times: Int) throws -> Int? {
    let person = try find(key)
    var sum = 0
    for _ in 0..<times { sum &+= person.age }
    return sum
  }

  func iterate() throws -> Int {
    realm.refresh()
    var sum = 0
    for person in realm.objects(Person.self) { sum &+= person.age }
    return sum
  }

  func sumOfAges() throws -> Int {
    realm.refresh()
    return realm.objects(Person.self).sum(of: \.age)
  }

  func count(age: Int) throws -> Int {
    realm.refresh()
    return realm.objects(Person.self).where { $0.age == age }.count
  }

  func count(above age: Int, prefix: String) throws -> Int {
    realm.refresh()
    return realm.objects(Person.self)
      .where { $0.age > age && $0.name.starts(with: prefix) }.count
  }

  func freeze(times: Int) throws {
    for _ in 0..<times { _ = realm.freeze() }
  }

  func refresh(times: Int) throws -> Int {
    realm.refresh()
    var newer = 0
    for _ in 0..<times where realm.refresh() { newer += 1 }
    return newer
  }

  func pin() throws -> AnyObject {
    realm.refresh()
    return RealmPin(realm.freeze())
  }

  func rest() { realm.invalidate() }

  /// Waits for the idle pass, which has no public call: until the file keeps its size for 300 ms.
  func settle() throws {
    var stable = 0
    var size = try engine.fileBytes()
    for _ in 0..<100 where stable < 6 {
      // A Realm that stands still keeps its version, and with it the file's old blocks.
      realm.refresh()
      Thread.sleep(forTimeInterval: 0.05)
      let newSize = try engine.fileBytes()
      stable = newSize == size ? stable + 1 : 0
      size = newSize
    }
  }
}

/// A frozen Realm, as an object to hold.
private final class RealmPin {
  private let realm: Realm

  init(_ realm: Realm) { self.realm = realm }
}
