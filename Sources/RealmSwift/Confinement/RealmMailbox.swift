// How other threads reach a Realm: jobs for its place, in order and without a hop for each, and the
// news that a newer version can be read. Observers are told in the same way.
internal import Platform
internal import Storage

/// Jobs for one live Realm, and its automatic refresh.
final class RealmMailbox: VersionListener, @unchecked Sendable {
  // @unchecked: `realm` is an address that only jobs in the Realm's place turn into a reference,
  // through `retainIfAlive`, which `memory` makes sound.
  private let scheduler: Scheduler
  private let realm: Unmanaged<ConfinedRealm>
  private unowned let memory: ConfinedRealm
  private let inbox = Monitor(Inbox())
  /// The version that the Realm stands on; no older one is news.
  ///
  /// The largest number while it does not follow by itself.
  private let standing = Atomic<UInt64>(.max)
  private let isRefreshDue = Atomic(false)

  private struct Inbox {
    var jobs: [Job] = []
    var isScheduled = false
    /// Nothing runs in the Realm's place any more.
    var isClosed = false
    /// Empty memory that takes the place of `jobs` when these are run.
    var spare: [Job] = []
  }

  // @unchecked: what a body captures is used where the job runs, the Realm's place. When the actor
  // is gone it runs where it was sent from: a body that needs the place asks `isHere` first.
  private enum Job: @unchecked Sendable {
    case plain(() -> Void)
    /// Only while the Realm and its actor are there.
    case onRealm((ConfinedRealm) -> Void)
    /// The automatic refresh.
    case follow
  }

  init(_ scheduler: Scheduler, _ realm: ConfinedRealm) {
    self.scheduler = scheduler
    self.realm = .passUnretained(realm)
    memory = realm
  }

  /// Runs a body in the Realm's place, after those sent before.
  func send(_ body: @escaping () -> Void) { send(.plain(body)) }

  /// Runs a body on the Realm in its place, unless one of them is gone by then; does not keep the
  /// Realm alive.
  func sendToRealm(_ body: @escaping (ConfinedRealm) -> Void) { send(.onRealm(body)) }

  private func send(_ job: Job) {
    let (starts, isClosed) = inbox.withLock { inbox in
      if inbox.isClosed { return (false, true) }
      inbox.jobs.append(job)
      defer { inbox.isScheduled = true }
      return (!inbox.isScheduled, false)
    }
    if starts { scheduler.schedule { self.deliver() } }
    // As when an actor is gone.
    if isClosed, case .plain(let body) = job { body() }
  }

  /// The Realm's thread ends: runs here what was sent to it; what comes later runs where it is sent
  /// from.
  func close() {
    let jobs: [Job] = inbox.withLock { inbox in
      inbox.isClosed = true
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
    for case .plain(let body) in jobs { body() }
  }

  private func deliver() {
    var jobs: [Job] = inbox.withLock { inbox in
      var jobs: [Job] = []
      swap(&jobs, &inbox.jobs)
      swap(&inbox.jobs, &inbox.spare)
      inbox.isScheduled = false
      return jobs
    }
    for job in jobs { run(job) }
    // What they hold is let go outside of the lock.
    jobs.removeAll(keepingCapacity: true)
    if jobs.capacity > 64 { return }
    inbox.withLock { swap(&jobs, &$0.spare) }
  }

  private func run(_ job: Job) {
    if case .plain(let body) = job { return body() }
    // When the actor is gone, jobs run anywhere.
    guard let realm = retainIfAlive(realm), realm.confinement.isHere else { return }
    if case .onRealm(let body) = job { return body(realm) }
    isRefreshDue.store(false, ordering: .releasing)
    realm.refreshByItself()
  }

  // MARK: - Automatic refresh

  /// The Realm stands on a version now; nil when it does not follow by itself.
  func note(standing version: Version?) {
    // Relaxed: at worst one refresh finds nothing new.
    standing.store(version?.rawValue ?? .max, ordering: .relaxed)
  }

  func versionsWereLost() {
    sendToRealm { $0.stepBackIfLost() }
  }

  func versionWasPublished(_ version: Version) {
    guard version.rawValue > standing.load(ordering: .relaxed),
      !isRefreshDue.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    send(.follow)
  }
}
