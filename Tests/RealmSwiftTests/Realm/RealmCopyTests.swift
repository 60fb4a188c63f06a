// Copies of Realms, and files made small.
import Foundation
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmCopyTests {
  let folder = TemporaryFolder()

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.file(name)) }

  private func length(_ name: String) throws -> Int {
    try Data(contentsOf: url(name)).count
  }

  private func dogs(_ name: String) throws -> Int {
    let realm = try Realm(configuration: folder.configuration(name, [Dog.self]))
    #expect(try realm.checkInvariants().findings == [])
    return realm.objects(Dog.self).count
  }

  // MARK: - Copies

  @Test func copiesAFile() throws {
    let realm = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    try realm.write { for _ in 0..<1_000 { realm.add(Dog()) } }
    try realm.writeCopy(toFile: url("b.realm"))
    #expect(try dogs("b.realm") == 1_000)
    // The copy is a file of its own.
    try realm.write { realm.deleteAll() }
    #expect(try dogs("b.realm") == 1_000)
    #expect(errorCode { try realm.writeCopy(toFile: url("b.realm")) } == .fileExists)
    #expect(errorCode { try realm.writeCopy(toFile: url("no/b.realm")) } == .fileNotFound)
  }

  @Test func copiesToAConfiguration() throws {
    let realm = try memoryRealm([Dog.self])
    try realm.write { realm.add(Dog()) }
    try realm.writeCopy(configuration: folder.configuration("b.realm"))
    #expect(try dogs("b.realm") == 1)
    #expect(
      errorCode { try realm.writeCopy(configuration: memoryConfiguration()) } == .invalidInput)
    try realm.write {
      #expect(
        errorCode { try realm.writeCopy(configuration: folder.configuration("c.realm")) } == .fail)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("c.realm")))
  }

  @Test func copiesWhatTheRealmShows() throws {
    let realm = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    try realm.write { realm.add(Dog()) }
    let frozen = realm.freeze()
    try realm.write { realm.add(Dog()) }
    try frozen.writeCopy(toFile: url("frozen.realm"))
    try realm.writeCopy(toFile: url("live.realm"))
    #expect(try dogs("frozen.realm") == 1)
    #expect(try dogs("live.realm") == 2)
  }

  @Test func copiesARunningTransaction() throws {
    let realm = try Realm(configuration: folder.configuration("a.realm", [Dog.self, Person.self]))
    try realm.write { for id in 0..<500 { realm.create(Person.self, value: [id, "old"]) } }
    realm.beginWrite()
    let dog = Dog()
    realm.add(dog)
    for id in 400..<600 {
      realm.create(Person.self, value: ["id": id, "name": "new"], update: .modified)
    }
    try realm.writeCopy(toFile: url("b.realm"))
    #expect(dog.name == "Rex")
    dog.name = "later"
    realm.add(Dog())
    realm.create(Person.self, value: [1_000, "last"])
    #expect(realm.objects(Dog.self).count == 2)
    try realm.writeCopy(toFile: url("c.realm"))
    try realm.commitWrite()
    #expect(dog.name == "later")
    #expect(try realm.checkInvariants().findings == [])
    func people(_ name: String) throws -> [String: Int] {
      let copy = try Realm(
        configuration: folder.configuration(name, [Dog.self, Person.self]))
      #expect(try copy.checkInvariants().findings == [])
      return Dictionary(copy.objects(Person.self).map { ($0.name, 1) }, uniquingKeysWith: +)
    }
    #expect(try people("b.realm") == ["old": 400, "new": 200])
    #expect(try people("c.realm") == ["old": 400, "new": 200, "last": 1])
    #expect(try people("a.realm") == ["old": 400, "new": 200, "last": 1])
    #expect(try dogs("b.realm") == 1)
    #expect(try dogs("c.realm") == 2)
    // What was copied can be rolled back too.
    realm.beginWrite()
    realm.deleteAll()
    try realm.writeCopy(toFile: url("empty.realm"))
    realm.cancelWrite()
    #expect(realm.objects(Dog.self).count == 2)
    #expect(try dogs("empty.realm") == 0)
    #expect(try realm.checkInvariants().findings == [])
  }

  // MARK: - Compaction

  /// Leaves a file that is mostly empty.
  private func makeLooseFile() throws {
    let realm = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    try realm.write { for _ in 0..<100 { realm.add(Dog()) } }
    let frozen = realm.freeze()
    try realm.write {
      for index in 0..<20_000 { realm.create(Dog.self, value: ["name": "dog \(index)"]) }
    }
    try realm.write { realm.delete(Array(realm.objects(Dog.self).dropFirst(100))) }
    withExtendedLifetime(frozen) {}
  }

  @Test func compactsAClosedFile() throws {
    try makeLooseFile()
    #expect(try Realm.compact(configuration: folder.configuration("a.realm", [Dog.self])))
    #expect(try length("a.realm") < 100_000)
    #expect(try dogs("a.realm") == 100)
    #expect(
      errorCode { try Realm.compact(configuration: folder.configuration("none.realm")) }
        == .fileNotFound
    )
    #expect(try !Realm.compact(configuration: memoryConfiguration()))
  }

  @Test func compactsAFileInUse() throws {
    try makeLooseFile()
    let realm = try Realm(configuration: folder.configuration("a.realm", [Dog.self]))
    #expect(try Realm.compact(configuration: realm.configuration))
    #expect(realm.objects(Dog.self).count == 100)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func theFirstOpenerIsAsked() throws {
    try makeLooseFile()
    let before = try length("a.realm")
    let questions = Monitor<[(total: Int, used: Int)]>([])
    var configuration = folder.configuration("a.realm", [Dog.self])
    func ask(_ answer: Bool) {
      configuration.shouldCompactOnLaunch = { total, used in
        questions.withLock { $0.append((total, used)) }
        return answer
      }
    }
    ask(false)
    do {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).count == 100)
      // Nobody asks for a file in use.
      ask(true)
      _ = try Realm(configuration: configuration)
      onThread { [configuration] in _ = try? Realm(configuration: configuration) }
      #expect(questions.withLock { $0.count } == 1)
    }
    ask(true)
    do { #expect(try Realm(configuration: configuration).objects(Dog.self).count == 100) }
    let asked = questions.withLock { $0 }
    #expect(asked.count == 2)
    #expect(asked.allSatisfy { $0.used > 0 && $0.used <= $0.total })
    #expect(try length("a.realm") <= before)
    #expect(try length("a.realm") < 100_000)
  }
}
