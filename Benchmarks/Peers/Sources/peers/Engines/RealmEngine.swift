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

  /// A Realm of a queue, for commits that share syncs.
  func openGroups() throws -> RealmGroups { try RealmGroups(configuration) }

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

  /// Observes all objects until it is ended.
  func observe() -> RealmObserver { RealmObserver(realm) }

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

/// Asynchronous commits that may share syncs, by a Realm of a queue.
final class RealmGroups: @unchecked Sendable {
  // @unchecked: only blocks of the queue touch what changes; the semaphore locks itself.
  private let queue = DispatchQueue(label: "peers.grouped-commits")
  private let isDone = DispatchSemaphore(value: 0)
  private var realm: Realm!
  private var left = 0
  private var failure: PeerError?

  init(_ configuration: Realm.Configuration) throws {
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
  }

  /// Asks for a transaction for each change, all of them at once; returns when all are durable.
  func commit(_ changes: [Change]) throws {
    queue.async { self.ask(changes) }
    isDone.wait()
    if let failure = queue.sync(execute: { self.failure }) { throw failure }
  }

  private func ask(_ changes: [Change]) {
    left = changes.count
    for change in changes {
      realm.beginAsyncWrite {
        self.apply(change)
        self.realm.commitAsyncWrite(allowGrouping: true) { error in self.end(of: error) }
      }
    }
  }

  private func apply(_ change: Change) {
    guard let person = realm.object(ofType: Person.self, forPrimaryKey: change.key) else {
      failure = PeerError("ours: no object \(change.key)")
      return
    }
    person.age = change.age
  }

  private func end(of error: (any Error)?) {
    if let error { failure = PeerError("ours: \(error)") }
    left -= 1
    if left == 0 { isDone.signal() }
  }

  /// Lets go of the Realm on its queue; a `deinit` may run anywhere.
  func close() { queue.sync { realm = nil } }
}

/// An observer of all objects, which is told by `refresh`: no run loop is part of its figures.
final class RealmObserver {
  private let realm: Realm
  private var token: NotificationToken?
  /// Changes of objects that it was told of.
  private(set) var told = 0

  fileprivate init(_ realm: Realm) {
    self.realm = realm
    token = realm.objects(Person.self).observe { [weak self] change in
      if case .update(_, _, _, let modifications) = change { self?.told += modifications.count }
    }
    // The first call tells of what is there.
    realm.refresh()
  }

  /// Returns when it was told of the newest version.
  func deliver() { realm.refresh() }

  func end() { token?.invalidate() }
}

/// A frozen Realm, as an object to hold.
private final class RealmPin {
  private let realm: Realm

  init(_ realm: Realm) { self.realm = realm }
}
