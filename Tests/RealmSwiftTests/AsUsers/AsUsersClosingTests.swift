// Who was told that all is done, and lets go of a Realm, finds its file closed: it can be deleted
// at once.
import Dispatch
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersClosingTests {
  private static let repetitions = 25

  /// Has a body use a Realm of a queue, and deletes the file when it says that it is done.
  private func expectClosed(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (Realm, @escaping @Sendable () -> Void) throws -> Void
  ) async {
    for _ in 0..<Self.repetitions {
      let folder = TemporaryFolder()
      let configuration = folder.configuration("a.realm", userClasses)
      let queue = DispatchQueue(label: "closing")
      let done = Event()
      await queue.run {
        try body(try Realm(configuration: configuration, queue: queue)) { done.happen() }
      }
      await done.happened()
      // The job that has told has ended.
      await queue.run {}
      expectDeleted(configuration, sourceLocation)
    }
  }

  private func expectDeleted(
    _ configuration: Realm.Configuration, _ sourceLocation: SourceLocation
  ) {
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      try Realm.deleteFiles(for: configuration)
    }
  }

  @Test func afterACompletion() async {
    await expectClosed { realm, done in
      realm.writeAsync {
        realm.add(Chore(id: 1))
      } onComplete: { _ in
        done()
      }
    }
  }

  @Test func afterCommitsInAGroup() async {
    await expectClosed { realm, done in
      for id in 0..<3 {
        realm.beginAsyncWrite {
          realm.add(Chore(id: id))
          realm.commitAsyncWrite(allowGrouping: true) { _ in if id == 2 { done() } }
        }
      }
    }
  }

  @Test func afterABlockThatEndsItsTransaction() async {
    await expectClosed { realm, done in
      realm.beginWrite()
      realm.add(Chore(id: 1))
      realm.commitAsyncWrite()
      realm.writeAsync {
        realm.cancelWrite()
      } onComplete: { _ in
        done()
      }
    }
  }

  @Test func afterABlockThatDoesNotCommit() async {
    await expectClosed { realm, done in realm.beginAsyncWrite { done() } }
  }

  @Test func afterObservingElsewhere() async {
    let elsewhere = DispatchQueue(label: "elsewhere")
    await expectClosed { realm, done in
      nonisolated(unsafe) var token: NotificationToken?
      token = realm.objects(Chore.self).observe(on: elsewhere) { change in
        guard case .update = change else { return }
        token?.invalidate()
        elsewhere.async(execute: done)
      }
      elsewhere.sync {}
      try realm.write { realm.add(Chore(id: 1)) }
    }
  }

  private actor Keeper {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm.open(configuration: configuration)
    }

    func add() async throws { try await realm.asyncWrite { realm.add(Chore(id: 1)) } }
    func close() { realm = nil }
  }

  @Test func afterAnActorHasClosedIt() async throws {
    for _ in 0..<Self.repetitions {
      let folder = TemporaryFolder()
      let configuration = folder.configuration("a.realm", userClasses)
      let keeper = try await Keeper(configuration)
      try await keeper.add()
      await keeper.close()
      expectDeleted(configuration, #_sourceLocation)
    }
  }
}
