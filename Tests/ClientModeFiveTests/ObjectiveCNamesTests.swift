// A program that imports the module `Realm` beside RealmSwift, as clients of the vendor's do.
import Foundation
import Realm
import RealmSwift
import Testing

class ImportedPage: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  @Persisted(primaryKey: true) var number: Int
}

@Suite struct ObjectiveCNamesTests {
  @Test func errorsAreCaughtByTheirObjectiveCName() {
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: "/proc/none/x.realm"), objectTypes: [ImportedPage.self])
    do {
      _ = try Realm(configuration: configuration)
      Issue.record("the file cannot be there")
    } catch let error as RLMError where error.code == .fileNotFound || error.code == .fileAccess {
      #expect((error as NSError).domain == RLMErrorDomain)
      #expect(RLMError.Code(rawValue: (error as NSError).code) == error.code)
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func theFolderOfTheDefaultFile() throws {
    let folder = try #require(Realm.Configuration.defaultFileURL).deletingLastPathComponent()
    #expect(RLMRealmPathForFile("a.realm") == folder.appendingPathComponent("a.realm").path)
  }

  @Test func classesAndSchemas() {
    let object: RLMObjectBase = ImportedPage(value: [1])
    #expect(type(of: object).sharedSchema()?.primaryKeyProperty?.name == "number")
    #expect(ImportedPage.sharedSchema()?.className == "ImportedPage")
  }

  @Test func durabilityIsAnArgument() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "durability", objectTypes: [ImportedPage.self], durability: .memory)
    #expect(configuration.durability == .memory)
    #expect(Realm.Configuration().durability == .full)
    let realm: Realm = try Realm(configuration: configuration)
    #expect(realm.configuration.durability == .memory)
  }
}
