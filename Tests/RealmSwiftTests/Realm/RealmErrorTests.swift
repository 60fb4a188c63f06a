// Every way in which a client may catch an error.
import Foundation
import RealmSwift
import Storage
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmErrorTests {
  private func throwMissing() throws {
    throw Realm.Error(
      .fileNotFound,
      userInfo: [NSFilePathErrorKey: "/missing.realm", NSLocalizedDescriptionKey: "It is missing."])
  }

  @Test func isCaughtAsNSError() {
    do {
      try throwMissing()
      Issue.record("nothing was thrown")
    } catch let error as NSError {
      #expect(error.domain == "io.realm")
      #expect(error.code == 5)
      #expect(error.localizedDescription == "It is missing.")
    }
  }

  @Test func isCaughtByPattern() {
    do {
      try throwMissing()
      Issue.record("nothing was thrown")
    } catch Realm.Error.fileAccess {
      Issue.record("the wrong pattern matched")
    } catch Realm.Error.fileNotFound {
    } catch {
      Issue.record("no pattern matched")
    }
  }

  /// Foundation's own hash of an error never ends on Linux.
  @Test func isAnElementOfSets() {
    let errors: Set = [Realm.Error(.fail), Realm.Error(.fail), Realm.Error(.fileExists)]
    #expect(errors.count == 2)
    #expect(errors.contains(Realm.Error(.fileExists)))
  }

  @Test func isCastAndCompared() {
    do {
      try throwMissing()
    } catch {
      #expect((error as? Realm.Error)?.code == .fileNotFound)
      #expect((error as? Realm.Error)?.fileURL == URL(fileURLWithPath: "/missing.realm"))
      #expect(error.localizedDescription == "It is missing.")
    }
    #expect(Realm.Error(.fail) == Realm.Error(.fail))
    #expect(Realm.Error(.fail) != Realm.Error(.fileAccess))
  }

  @Test func foreignErrorsDoNotMatch() {
    let foreign: any Error = NSError(domain: "elsewhere", code: 5)
    #expect(!(foreign is Realm.Error))
    #expect(foreign as? Realm.Error == nil)
  }

  @Test func codesHaveTheirNumbers() {
    let codes: [(Realm.Error.Code, Int)] = [
      (.fail, 1), (.fileAccess, 2), (.filePermissionDenied, 3), (.fileExists, 4),
      (.fileNotFound, 5), (.fileFormatUpgradeRequired, 6), (.incompatibleLockFile, 8),
      (.addressSpaceExhausted, 9), (.schemaMismatch, 10), (.alreadyOpen, 12), (.invalidInput, 13),
      (.outOfDiskSpace, 14), (.incompatibleSession, 15), (.unsupportedFileFormatVersion, 16),
      (.multipleSyncAgents, 17), (.subscriptionFailed, 18), (.fileOperationFailed, 19),
      (.invalidDatabase, 20), (.incompatibleHistories, 21), (.noSubscriptionForWrite, 22),
    ]
    for (code, number) in codes { #expect(code.rawValue == number) }
  }

  @Test func isSendable() {
    func needsSendable<T: Sendable>(_: T.Type) {}
    needsSendable(Realm.Error.self)
    needsSendable(Realm.Configuration.self)
    needsSendable(Realm.UpdatePolicy.self)
    needsSendable(Schema.self)
    needsSendable(ObjectSchema.self)
    needsSendable(Property.self)
  }
}
