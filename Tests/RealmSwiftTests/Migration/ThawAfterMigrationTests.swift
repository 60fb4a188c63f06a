// Frozen values outlive a migration; live ones of the old classes must not come of them.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

private enum OldForm {
  final class ThawedItem: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var a: Int
    @Persisted var b: Int
    @Persisted var tags: List<String>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum NewForm {
  final class ThawedItem: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var b: Int
    @Persisted var c: Int
    @Persisted var tags: List<String>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private func configuration(
  _ path: String, _ types: [ObjectBase.Type], _ version: UInt64 = 0
) -> Realm.Configuration {
  Realm.Configuration(
    fileURL: URL(fileURLWithPath: path), schemaVersion: version, objectTypes: types)
}

/// Frozen objects of a file that was opened with other classes, or another schema version, since.
private func frozenItems(
  _ path: String, opened types: [ObjectBase.Type], _ version: UInt64
) throws -> Results<OldForm.ThawedItem> {
  let frozen: Results<OldForm.ThawedItem>
  do {
    let realm = try Realm(configuration: configuration(path, [OldForm.ThawedItem.self]))
    try realm.write { realm.create(OldForm.ThawedItem.self, value: [1, 1, 2, ["x"]] as [Any]) }
    frozen = realm.objects(OldForm.ThawedItem.self).freeze()
  }
  do { _ = try Realm(configuration: configuration(path, types, version)) }
  return frozen
}

@Suite(.ownThreads) struct ThawAfterMigrationTests {
  let folder = TemporaryFolder()

  /// They read and wrote the values of other properties, which have the old positions now.
  @Test(arguments: ["object", "results", "list", "Realm"])
  func oldClassesAreNotThawed(_ what: String) async throws {
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String, what = what as String] in
      let frozen = try frozenItems(path, opened: [NewForm.ThawedItem.self], 1)
      precondition(frozen.first?.a == 1 && frozen.first?.b == 2)
      switch what {
      case "object": _ = frozen.first?.thaw()
      case "results": _ = frozen.thaw()
      case "list": _ = frozen.first?.tags.thaw()
      default: _ = frozen.realm?.thaw()
      }
    }
    expectStop(result, "have changed since the Realm was opened")
    expectStop(result, "- Property 'ThawedItem.a' has been added.")
    try checkUnchanged(path)
  }

  private func checkUnchanged(_ path: String) throws {
    let realm = try Realm(configuration: configuration(path, [NewForm.ThawedItem.self], 1))
    #expect(realm.objects(NewForm.ThawedItem.self).map(\.b) == [2])
    #expect(try realm.checkInvariants().findings == [])
  }

  /// What values mean may have changed although no class has: as when a Realm is opened.
  @Test func anOlderVersionIsNotThawed() async {
    let path = folder.file("a.realm")
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let frozen = try frozenItems(path, opened: [OldForm.ThawedItem.self], 1)
      _ = frozen.first?.thaw()
    }
    expectStop(result, "Provided schema version 0 is less than last set version 1.")
  }

  @Test func newClassesDoNotMatter() throws {
    let path = folder.file("a.realm")
    let frozen = try frozenItems(path, opened: [OldForm.ThawedItem.self, Dog.self], 0)
    let item = try #require(frozen.first?.thaw())
    #expect(item.a == 1 && item.b == 2 && Array(item.tags) == ["x"])
    try item.realm?.write { item.a = 9 }
    #expect(frozen.thaw()?.first?.a == 9 && frozen.first?.a == 1)
  }
}
