// When observers are called and when not: ended tokens, writes and worse inside of callbacks,
// writes that leave observers out, and what the Realm keeps for them.
import Dispatch
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct DeliveryTests {
  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.write { addKennel($0, hounds: ["A", "B", "C"]) }
    return watched
  }

  /// Observes all hounds, and does something in the call after the first one.
  private static func watch(
    _ watched: WatchedRealm, _ name: String = "",
    _ body: @escaping @Sendable (WatchedRealm) -> Void
  ) async {
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.objects(Hound.self).observe { [unowned watched] change in
          watched.note(name + text(change))
          if case .update = change { body(watched) }
        })
      // Makes the first call.
      watched.realm.refresh()
      _ = watched.takeCalls()
    }
  }

  // MARK: - Tokens

  @Test func invalidatedAndReleasedTokensEndIt() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self), "results ")
      watched.watch(watched.realm.hound("A"), "object ")
      watched.watch(watched.realm.objects(Hound.self), "released ")
      watched.realm.refresh()
      _ = watched.takeCalls()
      try watched.realm.write { watched.realm.hound("A").age = 1 }
      // What is owed is not told any more.
      watched.tokens[1].invalidate()
      watched.tokens.removeLast()
    }
    await watched.expectTold(["results -[] +[] ~[0]"])
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["results -[] +[] ~[0]"])
    await watched.run { $0.tokens = [] }
    await watched.write { $0.hound("A").age = 2 }
    await watched.expectTold([])
  }

  @Test func tokensMayEndAnywhere() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self), "results ")
      watched.watch(watched.realm.hound("A"), "object ")
      watched.realm.refresh()
      _ = watched.takeCalls()
    }
    let tokens = await watched.run { watched in
      defer { watched.tokens = [] }
      return watched.tokens
    }
    onThread { tokens[0].invalidate() }
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["object age nil>1"])
    onThread { tokens[1].invalidate() }
    await watched.write { $0.hound("A").age = 2 }
    await watched.expectTold([])
  }

  @Test func aTokenKeepsItsRealm() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self))
      watched.realm.refresh()
      _ = watched.takeCalls()
      watched.realm = nil
    }
    watched.writeElsewhere { $0.add(Hound("D")) }
    await watched.expectTold(["-[] +[3] ~[]"])
    // The last thing that held it: the Realm in memory is gone with it.
    await watched.run { $0.tokens = [] }
    await watched.run { watched in
      let realm = try Realm(configuration: watched.configuration, queue: watched.queue)
      #expect(realm.isEmpty)
    }
  }

  /// Tells when it is released.
  private final class Canary: Sendable {
    let gone = Event()
    deinit { gone.happen() }
  }

  @Test func callbacksAreReleasedAtTheEnd() async {
    let watched = await Self.watched()
    await watched.run { watched in
      func observe() -> (NotificationToken, gone: Event) {
        let canary = Canary()
        let token = watched.realm.hound("A").observe { (_: ObjectChange<Hound>) in _ = canary }
        return (token, canary.gone)
      }
      let (invalidated, first) = observe()
      invalidated.invalidate()
      #expect(first.times == 1)
      var (released, second): (NotificationToken?, Event) = observe()
      #expect(second.times == 0)
      released = nil
      #expect(second.times == 1 && released == nil)
      let (kept, third) = observe()
      try watched.realm.write { watched.realm.delete(watched.realm.hound("A")) }
      watched.realm.refresh()
      #expect(third.times == 1)
      withExtendedLifetime(kept) {}
    }
  }

  @Test func tokensMayEndInsideOfCallbacks() async {
    let watched = await Self.watched()
    // Each ends itself and the next one, which is owed a call too.
    await Self.watch(watched, "first ") { $0.tokens[0].invalidate() }
    await Self.watch(watched, "second ") { watched in
      watched.tokens[1].invalidate()
      watched.tokens[2].invalidate()
    }
    await Self.watch(watched, "third ") { _ in }
    await Self.watch(watched, "fourth ") { $0.tokens.removeAll() }
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold([
      "first -[] +[3] ~[]", "second -[] +[3] ~[]", "fourth -[] +[3] ~[]",
    ])
    await watched.write { $0.add(Hound("E")) }
    await watched.expectTold([])
  }

  // MARK: - Inside of callbacks

  @Test func writesInsideOfCallbacks() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { watched in
      let realm = watched.realm!
      if realm.objects(Hound.self).count > 5 { return }
      #expect(!realm.isInWriteTransaction)
      try! realm.write { realm.add(Hound("X")) }
    }
    // Each transaction that the first one begins tells it what is owed before.
    await Self.watch(watched, "second ") { _ in }
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold(
      [
        "first -[] +[3] ~[]", "second -[] +[3] ~[]", "second -[] +[4] ~[]",
        "first -[] +[4] ~[]", "second -[] +[5] ~[]", "first -[] +[5] ~[]",
      ], afterCalls: 2 + 6)
    await watched.expectTold([])
  }

  @Test func writesInsideOfCallbacksOfWhatBeginsATransaction() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { watched in
      let realm = watched.realm!
      if realm.objects(Hound.self).count < 6 { try! realm.write { realm.add(Hound("X")) } }
    }
    await watched.run { watched in
      watched.writeElsewhere { $0.add(Hound("D")) }
      watched.realm.beginWrite()
      // Those that came of the callbacks' own writes are told too.
      #expect(
        watched.takeCalls() == ["first -[] +[3] ~[]", "first -[] +[4] ~[]", "first -[] +[5] ~[]"])
      #expect(watched.realm.objects(Hound.self).count == 6)
      try watched.realm.commitWrite()
    }
    await watched.expectTold([])
  }

  /// Another thread commits while the Realm waits for the lock: its changes are told with the lock
  /// held, and a write inside of the callback takes it over.
  @Test(arguments: [false, true])
  func commitsWhileWaitingForTheLock(_ writes: Bool) async throws {
    let folder = TemporaryFolder()
    let watched = await WatchedRealm(folder.configuration("test.realm", kennelClasses))
    await watched.write { $0.add(Hound("A")) }
    await Self.watch(watched) { watched in
      let realm = watched.realm!
      #expect(!realm.isInWriteTransaction)
      if writes, realm.objects(Hound.self).filter("name = 'C'").isEmpty {
        try! realm.write { realm.add(Hound("C")) }
      }
    }
    let isHeld = Event()
    let configuration = watched.configuration
    let holder = startThread("holder") {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isHeld.happen()
      realm.waitForQueuedWriters(1)
      realm.add(Hound("B"))
      try! realm.commitWrite()
    }
    await isHeld.happened()
    await watched.run { watched in
      try watched.realm.write {
        #expect(
          watched.takeCalls() == (writes ? ["-[] +[1] ~[]", "-[] +[2] ~[]"] : ["-[] +[1] ~[]"]))
        watched.realm.delete(watched.realm.hound("A"))
      }
    }
    holder.joinInTime()
    await watched.expectTold(["-[0] +[] ~[]"])
  }

  @Test func refreshInsideOfACallbackTellsOthersButNotItself() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { watched in
      guard watched.realm.objects(Hound.self).count == 4 else { return }
      watched.writeElsewhere { $0.add(Hound("E")) }
      watched.realm.refresh()
      watched.note("refreshed")
    }
    await Self.watch(watched, "second ") { _ in }
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold(
      [
        "first -[] +[3] ~[]", "second -[] +[3, 4] ~[]", "refreshed", "first -[] +[4] ~[]",
      ], afterCalls: 2 + 4)
  }

  @Test func transactionsThatACallbackLeavesOpen() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { watched in
      if watched.realm.objects(Hound.self).count == 4 { watched.realm.beginWrite() }
    }
    await Self.watch(watched, "second ") { _ in }
    await watched.write { $0.add(Hound("D")) }
    // Before the transaction began, the other one was told.
    await watched.expectTold(["first -[] +[3] ~[]", "second -[] +[3] ~[]"])
    await watched.run { watched in
      #expect(watched.realm.isInWriteTransaction)
      watched.realm.add(Hound("E"))
      try watched.realm.commitWrite()
    }
    await watched.expectTold(["first -[] +[4] ~[]", "second -[] +[4] ~[]"])
  }

  @Test func invalidationInsideOfACallbackEndsAll() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { $0.realm.invalidate() }
    await Self.watch(watched, "second ") { _ in }
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold(["first -[] +[3] ~[]"])
    // The Realm itself goes on.
    await watched.write { $0.add(Hound("E")) }
    await watched.run { watched in
      #expect(watched.realm.objects(Hound.self).count == 5)
      watched.watch(watched.realm.objects(Hound.self), "third ")
    }
    await watched.expectTold(["third initial 5"])
  }

  @Test func invalidationInsideOfWhatBeginsATransaction() async {
    let watched = await Self.watched()
    await Self.watch(watched) { $0.realm.invalidate() }
    await watched.run { watched in
      watched.writeElsewhere { $0.add(Hound("D")) }
      try watched.realm.write { watched.realm.add(Hound("E")) }
      #expect(watched.takeCalls() == ["-[] +[3] ~[]"])
      #expect(watched.realm.objects(Hound.self).count == 5)
    }
  }

  @Test func theRealmMayBeReleasedInsideOfACallback() async {
    let watched = await Self.watched()
    await Self.watch(watched) { watched in
      watched.realm = nil
      watched.tokens = []
    }
    await watched.write { $0.add(Hound("D")) }
    await watched.expectTold(["-[] +[3] ~[]"])
  }

  @Test func observationsMayBeginInsideOfCallbacks() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { watched in
      if watched.tokens.count > 1 { return }
      watched.watch(watched.realm.objects(Hound.self), "second ")
      watched.watch(watched.realm.hound("A"), "third ")
    }
    await watched.write { $0.hound("A").age = 1 }
    await watched.expectTold(["first -[] +[] ~[0]", "second initial 3"], afterCalls: 3)
    await watched.write { $0.hound("A").age = 2 }
    await watched.expectTold([
      "first -[] +[] ~[0]", "second -[] +[] ~[0]", "third age nil>2",
    ])
  }

  // MARK: - Leaving observers out

  @Test func writesCanLeaveObserversOut() async {
    let watched = await Self.watched()
    await Self.watch(watched, "first ") { _ in }
    await Self.watch(watched, "second ") { _ in }
    await watched.run { watched in
      watched.watch(watched.realm.hound("A"), "object ")
      let left = [watched.tokens[0], watched.tokens[2]]
      try watched.realm.write(withoutNotifying: left) {
        watched.realm.hound("A").age = 1
        watched.realm.delete(watched.realm.hound("B"))
      }
    }
    await watched.expectTold(["second -[1] +[] ~[0]"])
    // They know the version that they were not told of: what comes then is counted from there.
    await watched.write { realm in
      realm.hound("A").name = "AA"
      realm.delete(realm.hound("C"))
    }
    await watched.expectTold([
      "first -[1] +[] ~[0]", "second -[1] +[] ~[0]", "object name nil>AA",
    ])
  }

  @Test func onlyTheOneCommitIsLeftOut() async {
    let watched = await Self.watched()
    await Self.watch(watched) { _ in }
    await watched.run { watched in
      watched.realm.autorefresh = false
      // What others have done before is told first, what they do after it later.
      watched.writeElsewhere { $0.add(Hound("D")) }
      watched.realm.beginWrite()
      #expect(watched.takeCalls() == ["-[] +[3] ~[]"])
      watched.realm.delete(watched.realm.hound("A"))
      try watched.realm.commitWrite(withoutNotifying: watched.tokens)
      watched.writeElsewhere { $0.delete($0.hound("D")) }
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["-[2] +[] ~[]"])
      // A transaction that is rolled back leaves nothing out.
      struct Refused: Swift.Error {}
      #expect(throws: Refused.self) {
        try watched.realm.write(withoutNotifying: watched.tokens) {
          watched.realm.add(Hound("E"))
          throw Refused()
        }
      }
      try watched.realm.write { watched.realm.add(Hound("F")) }
    }
    await watched.expectTold(["-[] +[2] ~[]"])
  }

  @Test func theFirstCallIsNotLeftOut() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let token = watched.watch(watched.realm.objects(Hound.self))
      try watched.realm.write(withoutNotifying: [token]) { watched.realm.add(Hound("D")) }
    }
    await watched.expectTold(["initial 3"])
    await watched.write { $0.delete($0.hound("D")) }
    await watched.expectTold(["-[3] +[] ~[]"])
  }

  @Test func endedTokensMayBeLeftOut() async {
    let watched = await Self.watched()
    await Self.watch(watched) { _ in }
    await watched.run { watched in
      watched.tokens[0].invalidate()
      try watched.realm.write(withoutNotifying: watched.tokens) { watched.realm.add(Hound()) }
    }
    await watched.expectTold([])
  }

  // MARK: - Asynchronous writes

  @Test func asynchronousWritesAreTold() async {
    let watched = await Self.watched()
    await Self.watch(watched) { _ in }
    let done = Event()
    await watched.run { watched in
      watched.realm.writeAsync {
        watched.realm.add(Hound("D"))
      } onComplete: { error in
        #expect(error == nil)
        done.happen()
      }
    }
    await done.happened()
    await watched.expectTold(["-[] +[3] ~[]"])
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.writeElsewhere { $0.delete($0.hound("A")) }
      watched.realm.writeAsync {
        // Before the block runs.
        #expect(watched.takeCalls() == ["-[0] +[] ~[]"])
        watched.realm.delete(watched.realm.hound("D"))
      } onComplete: { _ in
        done.happen()
      }
    }
    await done.happened(2)
    await watched.expectTold(["-[2] +[] ~[]"])
  }

  @Test func callbacksMayQueueAndCancelAsynchronousWrites() async {
    let watched = await Self.watched()
    let done = Event()
    await Self.watch(watched) { watched in
      guard watched.realm.objects(Hound.self).count == 4 else { return }
      let dropped = watched.realm.writeAsync {
        Issue.record("was cancelled")
      }
      watched.realm.writeAsync {
        watched.realm.add(Hound("E"))
      } onComplete: { _ in
        done.happen()
      }
      try! watched.realm.cancelAsyncWrite(dropped)
    }
    await watched.write { $0.add(Hound("D")) }
    await done.happened()
    await watched.expectTold(["-[] +[3] ~[]", "-[] +[4] ~[]"])
  }

  // MARK: - What is kept

  @Test func theOldVersionIsKeptOnlyUntilItWasTold() async throws {
    let folder = TemporaryFolder()
    let watched = await WatchedRealm(folder.configuration("test.realm", kennelClasses))
    await watched.write { addKennel($0, hounds: ["A", "B"]) }
    await watched.run { watched in
      watched.watch(watched.realm.objects(Hound.self))
      watched.watch(watched.realm.hound("A"))
      watched.watch(watched.realm.kennel.hounds, keyPaths: ["age"])
    }
    for age in 0..<5 {
      await watched.run { watched in
        try watched.realm.write { watched.realm.hound("A").age = age }
        #expect(try! watched.realm.activeVersions().count == 2)
      }
      await watched.run { watched in
        #expect(try! watched.realm.activeVersions().count == 1)
      }
      watched.writeElsewhere { $0.hound("B").age = age }
      await watched.run { watched in
        #expect(try! watched.realm.activeVersions().count == 1)
      }
    }
  }
}
