// Who uses the ledger: what it does in the place of its Realm, whatever that is, and what it has to
// see there. Threads, queues and actors that do so: LedgerPlaces.swift.
internal import Foundation
internal import Platform
internal import RaceHunt
internal import RealmSwift

/// One user, with a Realm of its own.
final class LedgerUser: @unchecked Sendable {
  // @unchecked: used in its place only, a thread, the work of a queue or the jobs of an actor.

  /// What it does next.
  ///
  /// Those that say least come first: smaller programs are made of them.
  enum Step: Int, CaseIterable {
    case read, write, refresh, cancel, fail, writeNothing
    case freeze, judgeFrozen, share, readShared, refer, resolve
    case invalidate, close, compact, observeElsewhere, endElsewhere
    // Where the Realm's place runs jobs.
    case writeLater, beginLater, commitLater, cancelLater, observe, endObserving
    // Of actors alone.
    case cancelTask, writeSlowly, loop, endLoop

    static let ofThreads =
      allCases.filter { $0.rawValue <= Step.endElsewhere.rawValue } + [.write, .write, .write]
    static let ofQueues =
      ofThreads
      + [
        .writeLater, .writeLater, .writeLater, .beginLater, .beginLater, .commitLater, .commitLater,
        .cancelLater, .cancelLater, .observe, .observe, .observe, .endObserving,
      ]
    static let ofActors = ofQueues + [.cancelTask, .cancelTask, .writeSlowly, .loop, .endLoop]
  }

  struct Refused: ErrorInWords {
    var words: String { "the transaction was cancelled on purpose" }
  }

  /// A frozen Realm and results, and what they showed at first.
  struct Frozen: @unchecked Sendable {
    // @unchecked: frozen values are for all threads.
    let realm: Realm
    let entries: Results<HuntedEntry>
    let state: LedgerState
  }

  static let heldMax = 3

  let number: Int
  let who: String
  let shared: SharedLedger
  /// Opened for the next step, once it was closed.
  var realm: Realm?
  /// Whether the Realm may show what is not durable yet.
  var mayBeAhead = false
  private let isThread: Bool
  /// Transactions that its Realm has shown.
  private var seen = 0
  private var held: [Frozen] = []
  private var observers: [(token: NotificationToken, follower: LedgerFollower)] = []
  /// Their release alone would end what they stand for.
  private var ended: [NotificationToken] = []
  private var elsewhere:
    [(token: NotificationToken, follower: LedgerFollower, queue: RaceHunt.DispatchQueue)] = []
  private var hasObservedElsewhere = false
  let laterWrites = LaterWrites()

  init(_ number: Int, _ shared: SharedLedger, isThread: Bool) {
    self.number = number
    self.shared = shared
    self.isThread = isThread
    who = "user \(number)"
  }

  var judge: LedgerJudge { shared.judge }
  var change: LedgerChange { LedgerChange(rawValue: random(below: LedgerChange.allCases.count))! }

  /// Opens a Realm and looks at it: one that has not been looked at would move only as far as the
  /// first reference that it resolves.
  ///
  /// It may be one that is open already, on an older version: for an observer on its way to a
  /// queue, or for a write that is on its way. That of a thread without such observers is new.
  func take(_ open: () throws -> Realm) throws {
    let least = isThread && !hasObservedElsewhere ? judge.least : 0
    let realm = try open()
    self.realm = realm
    seen = judge.sees(realm, least: least, "the new Realm of \(who)")
  }

  /// Looks at what the Realm shows.
  func look(after step: Step) {
    guard let realm else { return }
    let isDurable = isThread && !mayBeAhead
    seen = judge.sees(realm, least: seen, isDurable: isDurable, "\(who) after \(step)")
  }

  func perform(_ step: Step) throws {
    guard let realm else { return check(false, "\(who) has no Realm") }
    switch step {
    case .read: break
    case .write: try write(realm)
    case .refresh: refresh(realm)
    case .cancel:
      mayBeAhead = true
      realm.beginWrite()
      judge.begins(realm, "a transaction of \(who)")
      LedgerState.apply(change, of: number, realm)
      realm.cancelWrite()
    case .fail: try fail(realm)
    case .writeNothing:
      let least = judge.least
      try realm.write { judge.begins(realm, "a transaction of \(who)") }
      check(
        (HuntedFile.ledger(realm)?.total ?? 0) >= least, "\(who) writes nothing and goes back")
    case .freeze:
      if held.count < Self.heldMax { held.append(freeze(realm)) }
    case .judgeFrozen: judgeFrozen()
    case .share:
      let frozen = freeze(realm)
      shared.box(of: number).withLock { $0.frozen = frozen }
    case .readShared:
      if let frozen = shared.box(of: number).withLock({ $0.frozen }) { judge(frozen) }
    case .refer: refer(realm)
    case .resolve: resolve(realm)
    case .invalidate: invalidate(realm)
    case .close: close()
    case .compact: try Realm.compact(configuration: shared.configuration(of: number))
    case .observeElsewhere: observeElsewhere(realm)
    case .endElsewhere: endElsewhere()
    case .writeLater: writeLater(realm)
    case .beginLater: beginLater(realm)
    case .commitLater: commitLater(realm)
    case .cancelLater: try cancelLater(realm)
    case .observe: observe(realm)
    case .endObserving: if !observers.isEmpty { endObserving(random(below: observers.count)) }
    case .cancelTask, .writeSlowly, .loop, .endLoop: check(false, "\(step) is a step of actors")
    }
  }

  // MARK: - Writing

  private func write(_ realm: Realm) throws {
    mayBeAhead = true
    var total = 0
    try realm.write {
      judge.begins(realm, "a transaction of \(who)")
      total = judge.commits(realm, change, of: number, who)
    }
    judge.acknowledge(total)
    mayBeAhead = false
  }

  private func fail(_ realm: Realm) throws {
    mayBeAhead = true
    do {
      try realm.write {
        judge.begins(realm, "a transaction of \(who)")
        LedgerState.apply(change, of: number, realm)
        throw Refused()
      }
      check(false, "a write whose block throws is done")
    } catch is Refused {}
  }

  // MARK: - Moving

  private func refresh(_ realm: Realm) {
    let least = judge.least
    let hasMoved = realm.refresh()
    isRefreshed(realm, least, hasMoved)
  }

  /// Checks what a Realm shows that was brought to the newest version.
  func isRefreshed(_ realm: Realm, _ least: Int, _ hasMoved: Bool) {
    seen = judge.sees(realm, least: max(least, seen), "the refreshed Realm of \(who)")
    if hasMoved { for (_, follower) in observers { follower.knowsAll(of: realm) } }
  }

  private func invalidate(_ realm: Realm) {
    let least = judge.least
    laterWrites.isInvalidated()
    realm.invalidate()
    begins(anewAt: least)
  }

  /// The Realm no longer stands on what it has shown, some of which others may not see yet.
  private func begins(anewAt least: Int) {
    seen = isThread && !mayBeAhead ? max(seen, least) : least
    mayBeAhead = false
  }

  /// Lets go of the Realm and of all that it keeps.
  func close() {
    let least = judge.least
    while !observers.isEmpty { endObserving(0) }
    ended = []
    for (token, _, _) in elsewhere { token.invalidate() }
    elsewhere = []
    held = []
    realm = nil
    begins(anewAt: least)
  }

  // MARK: - Handing over

  private func freeze(_ realm: Realm) -> Frozen {
    let state = LedgerState(realm)
    let entries = realm.objects(HuntedEntry.self).sorted(byKeyPath: "number").freeze()
    let frozen = Frozen(realm: realm.freeze(), entries: entries, state: state)
    judge(frozen)
    return frozen
  }

  private func judge(_ frozen: Frozen) {
    let state = LedgerState(frozen.realm)
    check(state == frozen.state, "a frozen Realm shows \(state) and was made of \(frozen.state)")
    let entries = Array(frozen.entries.map(\.state))
    check(
      entries == frozen.state.entries.sorted { $0.number < $1.number },
      "frozen results are \(entries) and were made of \(frozen.state)")
  }

  private func judgeFrozen() {
    for frozen in held { judge(frozen) }
    if !held.isEmpty { held.remove(at: random(below: held.count)) }
  }

  private func refer(_ realm: Realm) {
    guard let ledger = HuntedFile.ledger(realm), let entry = ledger.entries.last else { return }
    let reference = SharedLedger.Reference(
      object: ThreadSafeReference(to: entry), number: entry.number, total: ledger.total,
      mayBeAhead: mayBeAhead || !isThread)
    shared.box(of: number).withLock { $0.reference = reference }
  }

  private func resolve(_ realm: Realm) {
    let taken = shared.box(of: number).withLock { box in
      defer { box.reference = nil }
      return box.reference
    }
    guard let taken else { return }
    mayBeAhead = mayBeAhead || taken.mayBeAhead
    let entry = realm.resolve(taken.object)
    seen = judge.sees(realm, least: max(seen, taken.total), "\(who) with a reference")
    let isThere = LedgerState(realm).entries.contains { $0.number == taken.number }
    check(
      isThere == (entry != nil) && (entry.map { $0.number == taken.number } ?? true),
      "a reference to entry \(taken.number) leads to \(entry.map { "\($0.number)" } ?? "nothing"); "
        + "the entry is \(isThere ? "there" : "gone")")
    check(taken.object.isInvalidated, "a reference can be resolved once more by \(who)")
  }

  // MARK: - Observing

  /// Who is going to observe what.
  func nextFollower() -> (LedgerFollower.Subject, LedgerFollower) {
    let subject = LedgerFollower.Subject(
      rawValue: random(below: LedgerFollower.Subject.allCases.count))!
    return (subject, LedgerFollower(subject, of: who, judge))
  }

  private func observe(_ realm: Realm) {
    if observers.count >= Self.heldMax { return }
    let (subject, follower) = nextFollower()
    if let token = follower.begin(subject, realm) { observers.append((token, follower)) }
  }

  private func endObserving(_ index: Int) {
    let (token, follower) = observers.remove(at: index)
    token.invalidate()
    follower.isOver = true
    ended.append(token)
  }

  /// On a queue of the program, in a Realm that belongs there.
  private func observeElsewhere(_ realm: Realm) {
    let queues = shared.queues
    guard !queues.isEmpty, elsewhere.count < Self.heldMax else { return }
    let queue = queues[random(below: queues.count)]
    let (subject, follower) = nextFollower()
    hasObservedElsewhere = true
    if let token = follower.begin(subject, realm, on: queue) {
      elsewhere.append((token, follower, queue))
    }
  }

  /// Ends it in work of that queue, where no call comes after that.
  private func endElsewhere() {
    guard let (token, follower, queue) = elsewhere.popLast() else { return }
    queue.async {
      token.invalidate()
      follower.isOver = true
    }
  }
}
