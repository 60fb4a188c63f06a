// Errors as the user of the tool reads them.
internal import Foundation
internal import RealmSwift
internal import TestSupport
internal import Testing

@testable internal import Harness

@Suite(.ownThreads) struct ErrorTextTests {
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

  @Test func anErrorOfFoundationIsToldByItsCause() throws {
    let folder = TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    let error = #expect(throws: (any Error).self) {
      try FileManager.default.createDirectory(
        atPath: folder.file("file/inside"), withIntermediateDirectories: false)
    }
    let told = try #require(error).explanation
    #expect(!told.contains("Domain=") && !told.isEmpty)
  }

  @Test func anyOtherErrorTellsItself() {
    struct Simple: Error {}
    #expect(Simple().explanation == "Simple()")
  }
}
