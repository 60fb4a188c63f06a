// Errors as the user of the tool reads them.
internal import Foundation
internal import RealmSwift
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite struct ErrorTextTests {
  @Test func anErrorOfARealmIsToldByItsDescription() throws {
    let folder = TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.path + "/missing/a.realm"), objectTypes: [])
    let error = #expect(throws: Realm.Error.self) {
      _ = try Realm(configuration: configuration)
    }
    let told = try #require(error).explanation
    #expect(told.contains("missing"))
    #expect(!told.contains("Domain="))
  }

  @Test func anyOtherErrorTellsItself() {
    struct Simple: Error {}
    #expect(Simple().explanation == "Simple()")
  }
}
