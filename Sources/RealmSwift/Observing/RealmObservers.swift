// Who observes a live Realm and its values, and when each is called. Confined to the Realm's place.
//
// 1 An observer is told everything between the version that it knows and the one on which the Realm stands
//   when it is called, several commits in one call; so what it is told and what it sees agree.
// 2 Calls come in the order in which the observations began, in a job of the Realm's place, or inside of
//   `refresh` and `beginWrite`; never inside of a transaction, and never within a call of the same observer.
// 3 A delivery calls an observer once. What its own callbacks, or others, have changed meanwhile is told by
//   the next one.
// 4 The version that observers know stays pinned until they were told; after that the Realm keeps nothing.
internal import ObjectStore
internal import Storage

/// The observations of one live Realm.
final class RealmObservers {
  /// Owns this.
  private unowned let realm: ConfinedRealm
  private let mailbox: RealmMailbox
  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no foreign code;
  // observers are called with what was taken out before.
  @exclusivity(unchecked) private var lastNumber: UInt64 = 0
  /// Observations of the Realm itself, in their order; here and below.
  @exclusivity(unchecked) private var ofRealm: [Entry] = []
  /// Observations that look at each change.
  @exclusivity(unchecked) private var ofAll: [Entry] = []
  /// Observations of objects, by the key of the object: many objects can be observed at the cost of one.
  @exclusivity(unchecked) private var ofObjects: [UInt64: [ObjectKey: [Entry]]] = [:]
  /// The version that all observers know to whom no call is owed; nil while nothing is observed.
  @exclusivity(unchecked) private var told: ConfinedRealm?
  /// To whom a call may be owed; those before `nextOwed` were called.
  @exclusivity(unchecked) private var owed: [Entry] = []
  @exclusivity(unchecked) private var nextOwed = 0
  /// Steps to the Realm's version from the versions that observers know.
  @exclusivity(unchecked) private var steps: [ObjectIdentifier: VersionStep] = [:]
  /// Where the Realm's observers stand in the history of changes; nil while nothing is observed.
  @exclusivity(unchecked) private var reader: ChangeHistory.Reader?
  /// Where observers stood who have come from other places and were not called yet.
  @exclusivity(unchecked) private var arrivals: [ChangeHistory.Reader] = []
  /// Observations from other places that came here inside of a transaction, and begin behind it.
  @exclusivity(unchecked) private var waiting: [(ConfinedRealm) -> Void] = []
  @exclusivity(unchecked) private var isScheduled = false
  @exclusivity(unchecked) private var deliveries: UInt64 = 0
  /// How many deliveries run, one within the other.
  @exclusivity(unchecked) private var depth = 0
  /// The newest version that the Realm has made itself.
  @exclusivity(unchecked) private var newestOwn: Version?

  /// An observation and its place in the order.
  private struct Entry {
    let number: UInt64
    let slot: ObservationSlot
  }

  init(_ realm: ConfinedRealm, _ mailbox: RealmMailbox) {
    self.realm = realm
    self.mailbox = mailbox
  }

  /// Whether anything of the Realm's content is observed.
  private var hasContentObservers: Bool { !ofAll.isEmpty || !ofObjects.isEmpty }

  /// Whether the Realm itself is observed.
  var observesRealm: Bool { !ofRealm.isEmpty }

  // MARK: - Beginning and ending

  /// Begins an observation of content.
  ///
  /// - Parameters:
  ///   - since: the version that the observer knows, if it may be older than the Realm's, and what keeps
  ///     later changes.
  ///   - isOwed: whether there is a first call to come.
  func add(
    _ observation: Observation, _ slot: ObservationSlot,
    since: (realm: ConfinedRealm, reader: ChangeHistory.Reader)? = nil, isOwed: Bool
  ) {
    guard slot.install(observation, mailbox) else { return }
    // Those who observe already know an older version, perhaps.
    if hasContentObservers {
      noteOwed()
    } else {
      let current = realm.currentSnapshot().version
      told = realm.frozenApart()
      reader = realm.history.register(standingOn: current)
    }
    lastNumber += 1
    let entry = Entry(number: lastNumber, slot: slot)
    if let key = observation.objectKey {
      ofObjects[key.table, default: [:]][key.object, default: []].append(entry)
    } else {
      ofAll.append(entry)
    }
    var older: ConfinedRealm?
    if let since, since.realm.currentSnapshot().version != told?.currentSnapshot().version {
      older = since.realm
      arrivals.append(since.reader)
    }
    guard isOwed || older != nil else { return }
    observation.owedSince = older ?? told
    owed.append(entry)
    schedule()
  }

  /// Runs what begins an observation, behind the running transaction if there is one: what that has changed
  /// may be rolled back.
  func addOutsideOfTransaction(_ body: @escaping (ConfinedRealm) -> Void) {
    if realm.writing == nil { body(realm) } else { waiting.append(body) }
  }

  private func addWaiting() {
    while realm.writing == nil, !waiting.isEmpty { waiting.removeFirst()(realm) }
  }

  /// Begins an observation of the Realm itself.
  func add(_ observation: RealmObservation, _ slot: ObservationSlot) {
    guard slot.install(observation, mailbox) else { return }
    lastNumber += 1
    ofRealm.append(Entry(number: lastNumber, slot: slot))
    realm.noteStanding()
  }

  /// Forgets an observation that has ended.
  func remove(_ slot: ObservationSlot, _ key: ObservedObjectKey?) {
    if let key {
      ofObjects[key.table]?[key.object]?.removeAll { $0.slot === slot }
      if ofObjects[key.table]?[key.object]?.isEmpty == true {
        ofObjects[key.table]?[key.object] = nil
        if ofObjects[key.table]?.isEmpty == true { ofObjects[key.table] = nil }
      }
    } else if let index = ofAll.firstIndex(where: { $0.slot === slot }) {
      ofAll.remove(at: index)
    } else if let index = ofRealm.firstIndex(where: { $0.slot === slot }) {
      ofRealm.remove(at: index)
      realm.noteStanding()
    }
    if !hasContentObservers { letGo() }
  }

  private func letGo() {
    told = nil
    reader = nil
    arrivals = []
    owed = []
    nextOwed = 0
    steps = [:]
  }

  /// Everything from the Realm was invalidated: observations of its content are over.
  func wasInvalidated() {
    let ended = ofAll + ofObjects.values.flatMap { $0.values.joined() }
    ofAll = []
    ofObjects = [:]
    letGo()
    for entry in ended { entry.slot.end() }
    if !waiting.isEmpty { schedule() }
  }

  // MARK: - What happens to the Realm

  /// The Realm has moved to a version that others have made.
  func didAdvance() {
    tellRealm(.didChange)
    deliver()
  }

  /// The Realm has made a version.
  ///
  /// - Parameter skipped: whose observers are not told of it.
  func didCommit(_ transaction: WriteTransaction, skipped: [NotificationToken]) {
    newestOwn = realm.snapshot?.version
    if !skipped.isEmpty { skip(skipped, transaction.base.version) }
    tellRealm(.didChange, except: skipped)
    if hasContentObservers || !waiting.isEmpty { schedule() }
  }

  /// A transaction is over that left the Realm where it was.
  func didEndTransaction() { if isBehind || isOwedToRealm || !waiting.isEmpty { schedule() } }

  /// A newer version can be read, to which the Realm does not move by itself.
  func newerVersionWasPublished() { tellRealm(.refreshRequired) }

  private func tellRealm(_ notification: Realm.Notification, except: [NotificationToken] = []) {
    for entry in ofRealm where !except.contains(where: { $0.slot === entry.slot }) {
      guard let observation = entry.slot.observation as? RealmObservation else { continue }
      tell(observation, notification)
    }
    if isOwedToRealm { schedule() }
  }

  /// Calls an observer of the Realm, unless its own call runs or one before it has begun a transaction.
  private func tell(_ observation: RealmObservation, _ notification: Realm.Notification) {
    if notification == .didChange {
      observation.isOwed = observation.isRunning || realm.writing != nil
      if observation.isOwed { return }
    } else if observation.isRunning {
      return
    }
    observation.isRunning = true
    observation.tell(notification)
    observation.isRunning = false
  }

  private var isOwedToRealm: Bool {
    ofRealm.contains { ($0.slot.observation as? RealmObservation)?.isOwed == true }
  }

  private func tellOwedToRealm() {
    for entry in ofRealm where realm.writing == nil {
      guard let observation = entry.slot.observation as? RealmObservation, observation.isOwed
      else { continue }
      tell(observation, .didChange)
    }
  }

  /// Makes observers know the newest version, who knew the one on which it was built.
  ///
  /// An observer that has more to be told is told all of it later, this version too.
  private func skip(_ tokens: [NotificationToken], _ base: Version) {
    guard let told, told.currentSnapshot().version == base else { return }
    noteOwed()
    for token in tokens {
      guard let observation = token.slot.observation, observation.hasBegun,
        observation.owedSince === told
      else { continue }
      observation.owedSince = nil
      observation.skip(step(from: told))
    }
  }

  // MARK: - Delivering

  /// Whether a call may be owed to somebody.
  var isBehind: Bool {
    guard let told else { return false }
    return nextOwed < owed.count
      || told.currentSnapshot().version != realm.snapshot?.version
  }

  /// Has everybody called in a job of the Realm's place.
  func schedule() {
    if isScheduled { return }
    isScheduled = true
    mailbox.sendToRealm { realm in
      guard let observers = realm.observers else { return }
      observers.isScheduled = false
      observers.addWaiting()
      observers.tellOwedToRealm()
      observers.deliver()
    }
  }

  /// Calls everybody to whom a call is owed.
  func deliver() {
    guard realm.writing == nil, realm.snapshot != nil, told != nil else { return }
    noteOwed()
    deliveries += 1
    depth += 1
    let delivery = deliveries
    var postponed: [Entry] = []
    while let entry = takeOwed() {
      guard let observation = entry.slot.observation, let since = observation.owedSince else {
        continue
      }
      if observation.isOver {
        entry.slot.end()
      } else if observation.isRunning || observation.lastDelivery == delivery {
        postponed.append(entry)
      } else {
        observation.lastDelivery = delivery
        call(observation, entry.slot, since)
        // A callback may have moved the Realm, begun a transaction or invalidated everything.
        guard realm.writing == nil, realm.snapshot != nil else { break }
        noteOwed()
      }
    }
    owed.append(contentsOf: postponed)
    depth -= 1
    if depth > 0 { return }
    steps = [:]
    if isBehind {
      schedule()
    } else if let told {
      reader?.stand(on: told.currentSnapshot().version)
      arrivals = []
    }
  }

  private func call(_ observation: Observation, _ slot: ObservationSlot, _ since: ConfinedRealm) {
    observation.owedSince = nil
    observation.isRunning = true
    let isOwn = newestOwn.map { $0 > since.currentSnapshot().version } ?? false
    let goesOn = observation.tell(step(from: since), isOwn: isOwn)
    observation.isRunning = false
    if !goesOn { slot.end() }
  }

  private func takeOwed() -> Entry? {
    guard nextOwed < owed.count else {
      owed = []
      nextOwed = 0
      return nil
    }
    defer { nextOwed += 1 }
    return owed[nextOwed]
  }

  private func step(from old: ConfinedRealm) -> VersionStep {
    if let step = steps[ObjectIdentifier(old)] { return step }
    let step = VersionStep(from: old, to: realm)
    steps[ObjectIdentifier(old)] = step
    return step
  }

  /// Finds out who has to be told that the Realm has moved since the last time.
  private func noteOwed() {
    guard let told, let current = realm.snapshot,
      told.currentSnapshot().version != current.version
    else { return }
    steps = [:]
    var found = ofAll
    for (table, changes) in step(from: told).changes.tables {
      guard let observed = ofObjects[table] else { continue }
      if changes.isCleared || observed.count < changes.modified.count + changes.deleted.count {
        for (key, entries) in observed
        where changes.modified[key] != nil || changes.isDeleted(key) {
          found += entries
        }
      } else {
        for key in changes.modified.keys { found += observed[key] ?? [] }
        for key in changes.deleted { found += observed[key] ?? [] }
      }
    }
    found.sort { $0.number < $1.number }
    for entry in found {
      guard let observation = entry.slot.observation, observation.owedSince == nil else { continue }
      observation.owedSince = told
      owed.append(entry)
    }
    self.told = realm.frozenApart()
  }
}
