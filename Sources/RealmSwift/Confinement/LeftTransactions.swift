// Transactions whose Realm nobody holds any more: `try Realm().beginWrite()`, and `try
// Realm().create(...)` in the same place, is one transaction. The Realm itself is gone; the next
// one that is opened there goes on with what it has left. A transaction that nobody can go on with
// is rolled back.
internal import Dispatch
internal import Platform
internal import Storage

/// The open transactions of Realms that are gone.
enum LeftTransactions {
  /// How long one stays that somebody waits for, where nobody can tell whether its code still runs.
  private static let patienceNanoseconds: UInt64 = 3_000_000_000
  private static let pauseNanoseconds: UInt64 = 20_000_000

  private static let entries = Monitor(Entries())
  /// Their number, readable without the lock.
  private static let count = Atomic(0)

  // @unchecked: what an entry holds is used in its place, or dropped where nobody can come back to
  // it.
  private struct Entries: @unchecked Sendable {
    var left: [LeftTransaction] = []
    var isWatched = false
  }

  // MARK: - Leaving and going on

  /// Keeps the transaction of a Realm that is about to go.
  static func leave(_ writing: ConfinedRealm.Writing, of realm: ConfinedRealm) {
    guard writing.transaction.isOpen, let left = LeftTransaction(writing, of: realm) else {
      realm.asynchronousWrites?.abandon()
      return
    }
    let carried = Carried(left)
    let startsWatch = entries.withLock { entries in
      entries.left.append(carried.value)
      count.store(entries.left.count, ordering: .releasing)
      defer { entries.isWatched = true }
      return !entries.isWatched
    }
    if startsWatch { watch() }
  }

  /// A Realm for a place, with the transaction that one of equal settings has left there; nil
  /// without one.
  static func adopt(
    _ configuration: Realm.Configuration, _ confinement: Confinement
  ) -> ConfinedRealm? {
    guard count.load(ordering: .acquiring) > 0 else { return nil }
    let identity = confinement.identity
    let found = remove {
      $0.identity == identity && $0.form.configuration.opensSameRealm(as: configuration)
    }
    guard let left = found.first, left.owner.isThere else { return nil }
    return left.realm(in: confinement)
  }

  /// Rolls back what other Realms have left in a place that is about to wait for the file's write
  /// lock.
  static func end(of store: Store, at confinement: Confinement) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    let identity = confinement.identity
    _ = remove { $0.identity == identity && $0.form.store === store }
  }

  /// Rolls back what Realms of a file have left wherever the caller runs.
  static func endHere(of store: Store) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    _ = remove { $0.form.store === store && $0.isHere }
  }

  /// Rolls back what was left on a thread that ends.
  static func end(onThread token: ThreadToken) {
    guard count.load(ordering: .acquiring) > 0 else { return }
    _ = remove { $0.identity == .thread(token.rawValue) }
  }

  /// Removes entries; they are rolled back with their last reference, outside of the lock.
  private static func remove(_ isWanted: (LeftTransaction) -> Bool) -> [LeftTransaction] {
    withoutActuallyEscaping(isWanted) { isWanted in
      let isWanted = Carried(isWanted)
      return entries.withLock { entries in
        let removed = entries.left.filter { isWanted.value($0) }
        if !removed.isEmpty {
          entries.left.removeAll { left in removed.contains { $0 === left } }
          count.store(entries.left.count, ordering: .releasing)
        }
        return Carried(removed)
      }.value
    }
  }

  // MARK: - Watching

  private static func watch() {
    // A timer of libdispatch ends the process where there is no free descriptor for the first one.
    let watcher = Thread.startIfPossible(name: "realm-left") {
      repeat {
        _ = entries.wait(nanoseconds: pauseNanoseconds) { $0.left.isEmpty }
        // Without the lock: the look at an actor may keep it last, and then its end runs here,
        // which may open Realms. And without the entries: one that is removed elsewhere meanwhile
        // is to be rolled back there.
        let owners = entries.withLock { $0.left.map { ($0.number, $0.owner) } }
        let gone = Set(owners.filter { !$0.1.isThere }.map { $0.0 })
        let now = MonotonicClock().nanoseconds()
        _ = remove { gone.contains($0.number) || $0.isOverdue(now, patienceNanoseconds) }
      } while entries.withLock { entries in
        entries.isWatched = !entries.left.isEmpty
        return entries.isWatched
      }
    }
    // Without a thread, the next one that is left is watched, and this one with it.
    guard let watcher else { return entries.withLock { $0.isWatched = false } }
    watcher.detach()
  }
}

/// The queue, actor or task that has left a transaction.
private struct LeftOwner: Sendable {
  var queue: LaterReference<DispatchQueue>?
  var actor: ActorReference?
  var task: TaskReference?

  /// Whether it is there, as far as that can be told.
  var isThere: Bool {
    if let queue, queue.object == nil { return false }
    if let actor, actor.actor == nil { return false }
    return task?.hasEnded != true
  }
}

/// What a Realm has left: its transaction and what another Realm needs to go on with it.
private final class LeftTransaction {
  let identity: Confinement.Identity
  let form: RealmForm
  private let writing: ConfinedRealm.Writing
  private let autorefresh: Bool?
  private var asynchronousWrites: AsynchronousWrites?
  let owner: LeftOwner
  private let mark: QueueMark?
  private let executor: ExecutorIdentity?
  /// No other one has it.
  let number = LeftTransaction.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic(0)
  /// Nobody can tell when the code that has left it ends.
  private let isEndUnknown: Bool
  private let leftAt = MonotonicClock().nanoseconds()

  /// Nil when nobody would learn that its place has ended.
  init?(_ writing: ConfinedRealm.Writing, of realm: ConfinedRealm) {
    let confinement = realm.confinement
    let isHere = confinement.isHere
    var queue: LaterReference<DispatchQueue>?
    var mark: QueueMark?
    var actor: ActorReference?
    var executor: ExecutorIdentity?
    switch confinement.owner {
    case .anyone: return nil
    case .thread: guard isHere, EndOfThread.watch() else { return nil }
    case .main: break
    case .queue(let owner, let own): (queue, mark) = (LaterReference(owner), own)
    case .actor(let owner): (actor, executor) = (owner.reference, owner.executor)
    }
    // A queue is a place of its own, whatever runs there; else it matters whose code has begun it.
    let isInTask = isHere && queue == nil && TaskReference.isInTask
    owner = LeftOwner(queue: queue, actor: actor, task: isInTask ? .current : nil)
    let writes = realm.asynchronousWrites
    // Busy writes keep their queue alive, so the queue's end tells nothing.
    asynchronousWrites = writes?.isBusy == true ? writes : nil
    isEndUnknown =
      queue == nil ? isInTask || !isHere || !isMainThread : asynchronousWrites != nil
    self.mark = mark
    self.executor = executor
    self.writing = writing
    identity = confinement.identity
    form = RealmForm(
      store: realm.store, configuration: realm.configuration, schema: realm.schema,
      classes: realm.classes)
    autorefresh = realm.chosenAutorefresh
  }

  deinit { asynchronousWrites?.abandon() }

  /// Whether the caller runs in the place that has left it.
  var isHere: Bool {
    switch identity {
    case .anyone: false
    case .thread(let token): token == ThreadToken.current.rawValue
    case .main: Confinement.isMain
    case .queue: mark?.isHere == true
    case .actor: executor?.isCurrent == true
    }
  }

  /// Whether somebody waits, for so long that nobody will come back to it.
  func isOverdue(_ now: UInt64, _ patience: UInt64) -> Bool {
    isEndUnknown && now &- leftAt >= patience && form.store.isWaitedFor
  }

  /// A Realm that goes on with the transaction.
  func realm(in confinement: Confinement) -> ConfinedRealm {
    let realm = ConfinedRealm(
      store: form.store, configuration: form.configuration, schema: form.schema,
      classes: form.classes, confinement: confinement, snapshot: writing.transaction.base)
    realm.chosenAutorefresh = autorefresh
    realm.isUntouched = false
    realm.continueWriting(writing)
    RealmCache.insert(realm, form)
    if let mailbox = realm.mailbox, let writes = asynchronousWrites {
      writes.move(to: realm, mailbox)
      realm.asynchronousWrites = writes
      asynchronousWrites = nil
    }
    return realm
  }
}
