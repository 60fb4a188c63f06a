// Observing a Realm as a whole.
import Dispatch
import Platform
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct RealmObservingTests {
  private static func addElsewhere(_ watched: WatchedRealm) {
    watched.writeElsewhere { $0.add(Hound("Else")) }
  }

  private static func watched() async -> WatchedRealm {
    let watched = await WatchedRealm()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.observe { [unowned watched] notification, realm in
          #expect(realm == watched.realm)
          watched.note("\(notification) \(realm.objects(Hound.self).count)")
        })
    }
    return watched
  }

  @Test func ownWritesAreToldBeforeTheyReturn() async {
    let watched = await Self.watched()
    await watched.run { watched in
      try watched.realm.write {
        watched.realm.add(Hound("A"))
        #expect(watched.calls.isEmpty)
      }
      #expect(watched.takeCalls() == ["didChange 1"])
      // Also those without changes.
      try watched.realm.write {}
      #expect(watched.takeCalls() == ["didChange 1"])
      watched.realm.beginWrite()
      watched.realm.cancelWrite()
      #expect(watched.takeCalls() == [])
    }
    await watched.expectTold([])
  }

  private static func watchRealm(
    _ watched: WatchedRealm, _ name: String, _ body: @escaping (Realm) -> Void = { _ in }
  ) -> NotificationToken {
    let token = watched.realm.observe { [unowned watched] _, realm in
      watched.note("\(name) \(realm.objects(Hound.self).count)")
      body(realm)
    }
    watched.tokens.append(token)
    return token
  }

  /// Who could not be called because its call was running is told later, and nobody else is.
  @Test func writesInsideOfACallAreToldOnce() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      var second: NotificationToken?
      _ = Self.watchRealm(watched, "first") { realm in
        guard realm.objects(Hound.self).count == 1, let second else { return }
        try! realm.write(withoutNotifying: [second]) { realm.add(Hound("B")) }
      }
      second = Self.watchRealm(watched, "second")
      try watched.realm.write { watched.realm.add(Hound("A")) }
    }
    // The second one is called in its turn, and never for the commit that leaves it out.
    await watched.expectTold(["first 1", "second 2", "first 2"])
  }

  @Test func nobodyIsCalledInATransactionThatACallHasBegun() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      _ = Self.watchRealm(watched, "first") { realm in
        if realm.objects(Hound.self).count == 1 { realm.beginWrite() }
      }
      _ = Self.watchRealm(watched, "second") { #expect(!$0.isInWriteTransaction) }
      Self.addElsewhere(watched)
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["first 1"] && watched.realm.isInWriteTransaction)
      watched.realm.cancelWrite()
    }
    await watched.expectTold(["second 1"])
  }

  /// A commit that comes between the request of an asynchronous write and its lock.
  @Test func whatAnAsynchronousWriteMovesToIsTold() async {
    let watched = await Self.watched()
    let isHeld = Event()
    let configuration = watched.configuration
    let mayEnd = Event()
    let holder = startThread("holder") {
      let realm = try! Realm(configuration: configuration)
      realm.beginWrite()
      isHeld.happen()
      mayEnd.wait()
      realm.add(Hound("Else"))
      try! realm.commitWrite()
    }
    await isHeld.happened()
    let isDone = Event()
    await watched.run { watched in
      watched.realm.autorefresh = false
      watched.realm.beginAsyncWrite { [unowned watched] in
        watched.note("block \(watched.realm.objects(Hound.self).count)")
        watched.realm.cancelWrite()
        isDone.happen()
      }
    }
    mayEnd.happen()
    await isDone.happened()
    holder.joinInTime()
    let told = await watched.told().filter { $0 != "refreshRequired 0" }
    #expect(told == ["didChange 1", "block 1"])
  }

  @Test func commitsOfOthersAreToldAtTheRefresh() async {
    let watched = await Self.watched()
    Self.addElsewhere(watched)
    await watched.expectTold(["didChange 1"])
    await watched.run { watched in
      Self.addElsewhere(watched)
      #expect(watched.calls.isEmpty)
      #expect(watched.realm.refresh())
      #expect(watched.takeCalls() == ["didChange 2"])
      #expect(!watched.realm.refresh())
      Self.addElsewhere(watched)
      watched.realm.beginWrite()
      #expect(watched.takeCalls() == ["didChange 3"])
      watched.realm.cancelWrite()
    }
    await watched.expectTold([])
  }

  @Test func aRealmThatDoesNotFollowIsToldOfNewerVersions() async {
    let watched = await Self.watched()
    await watched.run { $0.realm.autorefresh = false }
    Self.addElsewhere(watched)
    await watched.expectTold(["refreshRequired 0"])
    Self.addElsewhere(watched)
    await watched.expectTold(["refreshRequired 0"])
    await watched.run { watched in
      watched.realm.refresh()
      #expect(watched.takeCalls() == ["didChange 2"])
    }
    await watched.expectTold([])
  }

  @Test func invalidatedAndReleasedTokensEndIt() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let second = watched.realm.observe { _, _ in watched.note("second") }
      try watched.realm.write {}
      #expect(watched.takeCalls() == ["didChange 0", "second"])
      watched.tokens[0].invalidate()
      try watched.realm.write {}
      #expect(watched.takeCalls() == ["second"])
      // A second time is nothing.
      watched.tokens[0].invalidate()
      withExtendedLifetime(second) {}
    }
    await watched.run { watched in
      try watched.realm.write {}
      #expect(watched.takeCalls() == [])
    }
  }

  @Test func writesCanLeaveObserversOut() async {
    let watched = await Self.watched()
    await watched.run { watched in
      let token = watched.realm.observe { _, _ in watched.note("second") }
      let value = try watched.realm.write(withoutNotifying: [token]) { 7 }
      #expect(value == 7)
      #expect(watched.takeCalls() == ["didChange 0"])
      watched.realm.beginWrite()
      try watched.realm.commitWrite(withoutNotifying: [token, watched.tokens[0]])
      #expect(watched.takeCalls() == [])
      try watched.realm.write {}
      #expect(watched.takeCalls() == ["didChange 0", "second"])
    }
  }

  @Test func aCallbackMayWriteAndRefresh() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.observe { [unowned watched] _, realm in
          watched.note("\(realm.objects(Hound.self).count)")
          if realm.objects(Hound.self).count < 3 {
            try! realm.write { realm.add(Hound()) }
            realm.refresh()
          }
        })
      try watched.realm.write {}
      // Not within itself; in a later job it is told of what it has written.
      #expect(watched.takeCalls() == ["0"])
    }
    await watched.expectTold(["1", "2", "3"], afterCalls: 4)
  }

  @Test func aCallbackMayObserveAndInvalidate() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      watched.tokens.append(
        watched.realm.observe { [unowned watched] _, realm in
          watched.note("first")
          watched.tokens[0].invalidate()
          watched.tokens.append(realm.observe { _, _ in watched.note("second") })
        })
      try watched.realm.write {}
      try watched.realm.write {}
      #expect(watched.takeCalls() == ["first", "second"])
    }
  }

  @Test func itGoesOnAfterAnInvalidation() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.invalidate()
      try watched.realm.write { watched.realm.add(Hound()) }
      #expect(watched.takeCalls().last == "didChange 1")
    }
  }

  @Test func itMayBeginInsideOfATransaction() async {
    let watched = await WatchedRealm()
    await watched.run { watched in
      try watched.realm.write {
        watched.tokens.append(watched.realm.observe { _, _ in watched.note("call") })
      }
      #expect(watched.takeCalls() == ["call"])
    }
  }

  @Test func asynchronousCommitsAreTold() async {
    let watched = await Self.watched()
    await watched.run { watched in
      watched.realm.beginWrite()
      watched.realm.add(Hound())
      watched.realm.commitAsyncWrite()
      #expect(watched.takeCalls() == ["didChange 1"])
    }
  }

  @Test func frozenRealmsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try openRealm(memoryConfiguration()).freeze().observe { _, _ in }
    }
    expectStop(result, "Frozen Realms do not change and do not have change notifications.")
  }

  @Test func readOnlyRealmsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      var configuration = folder.configuration()
      onThread { [configuration] in _ = try! Realm(configuration: configuration) }
      configuration.readOnly = true
      _ = try openRealm(configuration).observe { _, _ in }
    }
    expectStop(result, "Read-only Realms do not change and do not have change notifications.")
  }

  @Test func threadsWithoutALoopStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      onThread { _ = try! memoryRealm().observe { _, _ in } }
    }
    expectStop(result, "Can only add notification blocks from within runloops.")
  }

  @Test func otherThreadsStop() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let watched = await WatchedRealm()
      _ = watched.realm.observe { _, _ in }
    }
    expectStop(result, "Realm accessed from incorrect thread.")
  }

  @Test func tokensOfOtherRealmsCannotBeLeftOut() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let first = await Self.watched()
      let second = await WatchedRealm()
      await second.run { second in
        try second.realm.write(withoutNotifying: first.tokens) {}
      }
    }
    expectStop(
      result,
      "Incorrect Realm: only notifications for the Realm being modified can be skipped.")
  }
}
