// Who uses a hunted file: a thread with a Realm, and an actor with one. What they see is checked
// where they see it.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift
internal import Storage

// MARK: - A thread

/// A thread's Realm and what it has seen there.
final class HuntUser {
  private struct Refused: ErrorInWords {
    var words: String { "the transaction was cancelled on purpose" }
  }

  let realm: Realm
  private let number: Int
  private let shared: HuntedFile
  private var version: UInt64 = 0
  private var trail: [RealmPrograms.Step] = []

  init(_ number: Int, _ shared: HuntedFile) throws {
    self.number = number
    self.shared = shared
    realm = try Realm(configuration: shared.configuration(of: number))
  }

  /// Checks the version that the Realm stands on.
  func judge(after step: RealmPrograms.Step) {
    trail.append(step)
    let now = realm.currentVersion
    check(
      now >= version,
      "the Realm of user \(number) goes back from \(version) to \(now) after \(trail)")
    version = now
    CountingUser.judge(HuntedFile.values(realm))
    HuntedFile.judgeVersion(realm, "user \(number) after \(trail)")
  }

  func write() throws {
    let before = shared.told.withLock { $0 }
    shared.told.withLock { $0.begun[number] += 1 }
    try realm.write {
      shared.judgeNewest(realm, since: before, "a transaction of user \(number)")
      shared.add(realm, number)
    }
    shared.acknowledge(number)
  }

  func cancel() {
    realm.beginWrite()
    shared.add(realm, number)
    realm.cancelWrite()
  }

  func fail() throws {
    do {
      try realm.write {
        shared.add(realm, number)
        throw Refused()
      }
      check(false, "a write whose block throws is done")
    } catch is Refused {}
  }

  func refresh() {
    let before = shared.told.withLock { $0 }
    realm.refresh()
    shared.judgeNewest(realm, since: before, "the refreshed Realm of user \(number)")
  }

  func freeze() {
    let values = HuntedFile.values(realm)
    let frozen = HuntedFile.Frozen(realm: realm.freeze(), values: values)
    shared.box(of: number).withLock { $0.frozen = frozen }
  }

  func readFrozen() {
    guard let frozen = shared.box(of: number).withLock({ $0.frozen }) else { return }
    let values = HuntedFile.values(frozen.realm)
    check(values == frozen.values, "a frozen Realm shows \(values) after \(frozen.values)")
    HuntedFile.judgeVersion(frozen.realm, "a frozen Realm")
  }

  func refer() {
    let other = 1 + random(below: shared.users)
    guard let object = realm.object(ofType: HuntedCounter.self, forPrimaryKey: other) else {
      return check(false, "counter \(other) is not there")
    }
    let (reference, value) = (ThreadSafeReference(to: object), object.value)
    shared.box(of: number).withLock { $0.reference = (reference, other, value) }
  }

  func resolve() {
    let taken = shared.box(of: number).withLock { box in
      defer { box.reference = nil }
      return box.reference
    }
    guard let (reference, other, value) = taken else { return }
    guard let object = realm.resolve(reference) else {
      return check(false, "a reference to counter \(other) leads nowhere")
    }
    check(
      object.number == other && object.value >= value,
      "a reference to counter \(other) of \(value) leads to \(object.number) of \(object.value)")
  }
}

// MARK: - An actor

/// An actor's Realm, and tasks that use it.
actor HuntActor {
  enum Step: Int, CaseIterable {
    case write, writeBeside, writeSlowly, writeLater, cancel, refresh, freeze
    case observe, endObserving
  }

  /// What an observer knows from what it was told.
  private var known: [Int]?
  private var token: NotificationToken?
  /// Their release alone would end what they stand for.
  private var ended: [NotificationToken] = []
  /// Of observers until now, so that a call for one that has ended is seen.
  private var observers = 0
  /// Writes that are not completed.
  private var later = 0
  private var waiting: CheckedContinuation<Void, Never>?

  private let number: Int
  private let shared: HuntedFile
  private var realm: Realm!

  init(_ number: Int, _ shared: HuntedFile) {
    self.number = number
    self.shared = shared
  }

  func open() async throws {
    realm = try await Realm.open(configuration: shared.configuration(of: number))
  }

  func close() async {
    if later > 0 { await withCheckedContinuation { waiting = $0 } }
    endObserving()
    ended = []
    realm = nil
  }

  private func endObserving() {
    if let token {
      token.invalidate()
      ended.append(token)
    }
    token = nil
    known = nil
  }

  func perform(_ step: Step) async throws {
    switch step {
    case .write: try await write()
    case .writeBeside:
      let task = Task { try await write() }
      try await write()
      try await task.value
    case .writeSlowly:
      // Who waits for such a transaction blocks a thread, and threads of the machine are few.
      if controlledExecutor == nil { try await write() } else { try await writeSlowly() }
    case .cancel:
      // Detached, so that it may have come to any point of its write.
      let task = Task.detached { try await self.write() }
      for _ in 0..<random(below: 4) { await Task.yield() }
      task.cancel()
      do { try await task.value } catch is CancellationError {}
    case .refresh:
      let before = shared.told.withLock { $0 }
      await realm.asyncRefresh()
      shared.judgeNewest(realm, since: before, "the refreshed Realm of actor \(number)")
    case .freeze:
      let frozen = realm.freeze()
      let values = HuntedFile.values(frozen)
      await Task.yield()
      check(HuntedFile.values(frozen) == values, "a frozen Realm changes from \(values)")
      HuntedFile.judgeVersion(frozen, "a frozen Realm")
    case .observe:
      if token != nil { break }
      let notes = realm.objects(HuntedNote.self).sorted(byKeyPath: "number")
      observers += 1
      let observer = observers
      token = await notes.observe(on: self) { actor, change in actor.follow(change, observer) }
    case .endObserving: endObserving()
    case .writeLater: writeLater()
    }
    HuntedFile.judgeVersion(realm, "actor \(number) after \(step)")
  }

  private func follow(_ change: RealmCollectionChange<Results<HuntedNote>>, _ observer: Int) {
    // Its first call may come before its token.
    check(
      observer == observers && (token != nil || known == nil),
      "an observer of actor \(number) is called after its end")
    HuntedFile.follow(change, &known, "actor \(number)")
  }

  /// A transaction that is open while others of the actor's tasks run.
  private func writeSlowly() async throws {
    shared.told.withLock { $0.begun[number] += 1 }
    realm.beginWrite()
    let task = Task { try await write() }
    let isCancelled = random(below: 2) == 0
    for _ in 0..<1 + random(below: 3) { await Task.yield() }
    if isCancelled {
      task.cancel()
      for _ in 0..<random(below: 3) { await Task.yield() }
    }
    guard realm.isInWriteTransaction else {
      return check(false, "a transaction of actor \(number) ends while its task waits")
    }
    shared.add(realm, number)
    try realm.commitWrite()
    shared.acknowledge(number)
    do { try await task.value } catch is CancellationError {
      check(isCancelled, "a task of actor \(number) ends as cancelled")
    }
  }

  /// A write that is waited for only at the end.
  private func writeLater() {
    shared.told.withLock { $0.begun[number] += 1 }
    later += 1
    var isDone = false
    realm.writeAsync {
      self.shared.add(self.realm, self.number)
    } onComplete: { error in
      check(error == nil, "a write of actor \(self.number) fails: \(error.map { "\($0)" } ?? "")")
      check(!isDone, "a write of actor \(self.number) is completed twice")
      isDone = true
      self.shared.acknowledge(self.number)
      self.later -= 1
      guard self.later == 0 else { return }
      self.waiting?.resume()
      self.waiting = nil
    }
  }

  private func write() async throws {
    let before = shared.told.withLock { $0 }
    shared.told.withLock { $0.begun[number] += 1 }
    try await realm.asyncWrite {
      shared.judgeNewest(realm, since: before, "a transaction of actor \(number)")
      shared.add(realm, number)
    }
    shared.acknowledge(number)
  }
}
