// Classes that change in another process while a Realm is open here.
import Foundation
import Glibc
import Platform
import RealmSwift
import Storage
import TestSupport
import Testing

private enum PlainForm {
  class Cat: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
  }
}

private enum IndexedForm {
  class Cat: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted var age: Int
  }

  class Owner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted var cat: Cat?
  }
}

private enum ShorterForm {
  class Cat: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id: Int
    @Persisted var age: Int
  }
}

private enum LongerForm {
  class Cat: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var weight: Int
  }
}

/// Links to a cat, which its Realm need not know.
private class CatBox: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted var any: AnyRealmValue
}

/// Where two processes wait for each other, one by reading, one by writing.
private struct ProcessMeeting: Sendable {
  let path: String

  init(_ path: String) {
    self.path = path
    mkfifo(path, 0o600)
  }

  func read() {
    let file = open(path, O_RDONLY)
    var byte: UInt8 = 0
    _ = Glibc.read(file, &byte, 1)
    close(file)
  }

  func write() {
    // Whoever has dissolved the meeting does not read.
    signal(SIGPIPE, SIG_IGN)
    let file = open(path, O_WRONLY)
    _ = Glibc.write(file, "x", 1)
    close(file)
  }

  /// Lets go of a partner whose other side has ended without coming.
  func dissolve() { close(open(path, O_RDWR | O_NONBLOCK)) }
}

@Suite(.ownThreads) struct OtherProcessTests {
  let folder = TemporaryFolder()

  private static func configuration(
    _ path: String, _ types: [ObjectBase.Type], _ version: UInt64 = 0
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), schemaVersion: version, objectTypes: types)
  }

  /// Opens the file with other classes on a thread, between the meetings of the other process.
  ///
  /// - Parameter removed: a class that goes.
  private func changeClasses(
    _ path: String, _ types: [ObjectBase.Type], _ version: UInt64, without removed: String? = nil
  ) -> (thread: Platform.Thread, dissolve: () -> Void) {
    let ready = ProcessMeeting(path + ".ready")
    let changed = ProcessMeeting(path + ".changed")
    let thread = startThread { [types] in
      ready.read()
      do {
        var configuration = Self.configuration(path, types, version)
        if let removed {
          configuration.migrationBlock = { migration, _ in
            migration.deleteData(forType: removed)
          }
        }
        let realm = try openRealm(configuration)
        #expect(try realm.checkInvariants().findings == [])
      } catch {
        Issue.record(error)
      }
      changed.write()
    }
    return (
      thread,
      {
        ready.dissolve()
        changed.dissolve()
      }
    )
  }

  @Test func newClassesAndIndexesAreTakenOver() async throws {
    let path = folder.file("a.realm")
    let other = changeClasses(path, [IndexedForm.Cat.self, IndexedForm.Owner.self], 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let realm = try openRealm(OtherProcessTests.configuration(path, [PlainForm.Cat.self]))
      let cat = PlainForm.Cat(value: [1, "Tom", 3])
      try realm.write { realm.add(cat) }
      ProcessMeeting(path + ".ready").write()
      ProcessMeeting(path + ".changed").read()
      #expect(cat.name == "Tom")
      #expect(realm.refresh())
      #expect(cat.name == "Tom")
      // Kept by a Realm whose classes do not have it.
      try realm.write {
        cat.name = "Tim"
        for id in 2..<300 { realm.create(PlainForm.Cat.self, value: [id, "cat \(id % 5)", id]) }
      }
      #expect(cat.name == "Tim")
    }
    other.dissolve()
    other.thread.joinInTime()
    let realm = try openRealm(
      Self.configuration(path, [IndexedForm.Cat.self, IndexedForm.Owner.self]))
    #expect(realm.objects(IndexedForm.Cat.self).count == 299)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func aMigrationStopsWhoStillHasTheOldClasses() async throws {
    let path = folder.file("a.realm")
    let other = changeClasses(path, [ShorterForm.Cat.self], 1)
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let realm = try openRealm(OtherProcessTests.configuration(path, [PlainForm.Cat.self]))
      let cat = PlainForm.Cat(value: [1, "Tom", 3])
      try realm.write { realm.add(cat) }
      let frozen = cat.freeze()
      ProcessMeeting(path + ".ready").write()
      ProcessMeeting(path + ".changed").read()
      // The version that it stands on is what it was.
      precondition(cat.name == "Tom" && frozen.name == "Tom")
      realm.refresh()
    }
    expectStop(result, "have changed since the Realm was opened")
    expectStop(result, "- Property 'Cat.name' has been added.")
    other.dissolve()
    other.thread.joinInTime()
    let realm = try openRealm(Self.configuration(path, [ShorterForm.Cat.self], 1))
    #expect(realm.objects(ShorterForm.Cat.self).map(\.age) == [3])
  }

  /// A box with a cat, in a file whose Realm then only knows of the box.
  private static func boxedCat(_ path: String) throws -> (Realm, CatBox, DynamicObject) {
    do {
      let whole = try openRealm(configuration(path, [PlainForm.Cat.self, CatBox.self]))
      try whole.write {
        let cat = whole.create(PlainForm.Cat.self, value: [1, "Tom", 3] as [Any])
        whole.create(CatBox.self, value: ["any": cat])
      }
    }
    let realm = try openRealm(configuration(path, [CatBox.self]))
    let box = try #require(realm.objects(CatBox.self).first)
    return (realm, box, try #require(box.any.dynamicObject))
  }

  /// All objects of the Realm were invalid then.
  @Test func aForeignClassGetsAProperty() async throws {
    let path = folder.file("a.realm")
    let other = changeClasses(path, [LongerForm.Cat.self], 1)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (realm, box, cat) = try OtherProcessTests.boxedCat(path)
      #expect(cat["name"] as? String == "Tom")
      ProcessMeeting(path + ".ready").write()
      ProcessMeeting(path + ".changed").read()
      #expect(realm.refresh())
      #expect(!box.isInvalidated && !cat.isInvalidated && box.any.dynamicObject == cat)
      #expect(cat["name"] as? String == "Tom" && cat["weight"] as? Int == 0)
    }
    other.dissolve()
    other.thread.joinInTime()
  }

  /// To ask for an object of it stopped the process.
  @Test func aForeignClassGoes() async throws {
    let path = folder.file("a.realm")
    let other = changeClasses(path, [CatBox.self], 1, without: "Cat")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (realm, _, cat) = try OtherProcessTests.boxedCat(path)
      let (frozen, reference) = (cat.freeze(), ThreadSafeReference(to: cat))
      ProcessMeeting(path + ".ready").write()
      ProcessMeeting(path + ".changed").read()
      #expect(realm.refresh())
      #expect(cat.isInvalidated && frozen.thaw() == nil && realm.resolve(reference) == nil)
      #expect(realm.objects(CatBox.self).first?.any == AnyRealmValue.none)
    }
    other.dissolve()
    other.thread.joinInTime()
  }
}
