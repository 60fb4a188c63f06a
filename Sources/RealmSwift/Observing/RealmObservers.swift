// Who observes a live Realm and its values, and when each is called. Confined to the Realm's place.
//
// 1 An observer is told everything between the version that it knows and the one on which the Realm
//   stands when it is called, several commits in one call; so what it is told and what it sees
//   agree.
// 2 Calls come in the order in which the observations began, in a job of the Realm's place, or
//   inside of `refresh` and `beginWrite`; never inside of a transaction, and never within a call of
//   the same observer.
// 3 A delivery calls an observer once. What its own callbacks, or others, have changed meanwhile is
//   told by the next one.
// 4 The version that observers know stays pinned until they were told; after that the Realm keeps
//   nothing.
// 5 An observer that collects its changes is sent a signal by a delivery, and is called when it
//   comes: with everything up to then.
internal import ObjectStore
internal import Storage

/// The observations of one live Realm.
final class RealmObservers {
  /// Owns this.
  private unowned let realm: ConfinedRealm
  private let mailbox: RealmMailbox
  // Unchecked exclusivity: only the Realm's place touches these, in short accesses that run no
  // foreign code; observers are called with what was taken out before.
  @exclusivity(unchecked) private var lastNumber: UInt64 = 0
  /// Observations of the Realm itself, in their order.
  @exclusivity(unchecked) private var ofRealm: [Entry] = []
  /// Observations that look at each change, by their slots: it is not known yet what they watch.
  @exclusivity(unchecked) private var ofAll: [ObjectIdentifier: Entry] = [:]
  /// The others, by what they watch: many can be there at the cost of one.
  @exclusivity(unchecked) private var observed = WatchIndex<Entry>()
  /// What each of these watches, by its slot.
  @exclusivity(unchecked) private var watched: [ObjectIdentifier: Watched] = [:]
  /// What was read by bindings, until it changes.
  @exclusivity(unchecked) private var readings = Readings()
  /// Readings of what has changed since.
  @exclusivity(unchecked) private var changedReadings: [Reading] = []
  /// The version that all observers know that have not to be called; nil while nothing is observed.
  @exclusivity(unchecked) private var delivered: DeliveredVersion?
  /// Observers that may have to be called; those before `nextPending` were called.
  @exclusivity(unchecked) private var pending: [Entry] = []
  @exclusivity(unchecked) private var nextPending = 0
  /// Steps to the Realm's version from the versions that observers know.
  @exclusivity(unchecked) private var steps: [ObjectIdentifier: VersionStep] = [:]
  /// The slots of those who were sent a signal and have not come yet.
  @exclusivity(unchecked) private var signalled: Set<ObjectIdentifier> = []
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

  /// A version that observers know.
  private struct DeliveredVersion {
    let snapshot: Snapshot
    let classes: SchemaBindings
    /// The Realm's frozen form of it; nil until somebody has to look things up there.
    var frozen: ConfinedRealm?

    init(of realm: ConfinedRealm) {
      snapshot = realm.currentSnapshot().settled
      snapshot.note(frozenBy: realm.place)
      classes = realm.classes
    }

    var version: Version { snapshot.version }
  }

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
  private var hasContentObservers: Bool {
    !ofAll.isEmpty || !watched.isEmpty || !readings.isEmpty || !changedReadings.isEmpty
  }

  /// Whether the Realm itself is observed.
  var observesRealm: Bool { !ofRealm.isEmpty }

  // MARK: - Beginning and ending

  /// Begins an observation of content.
  ///
  /// - Parameters:
  ///   - since: the version that the observer knows, if it may be older than the Realm's, and what
  ///     keeps later changes.
  ///   - isPending: whether there is a first call to come.
  func add(
    _ observation: Observation, _ slot: ObservationSlot,
    since: (realm: ConfinedRealm, reader: ChangeHistory.Reader)? = nil, isPending: Bool
  ) {
    guard slot.install(observation, mailbox) else { return }
    beginFollowing()
    lastNumber += 1
    let entry = Entry(number: lastNumber, slot: slot)
    ofAll[ObjectIdentifier(slot)] = entry
    if observation.hasBegun { sortIn(entry, observation) }
    var older: ConfinedRealm?
    if let since, since.realm.currentSnapshot().version != delivered?.version {
      older = since.realm
      arrivals.append(since.reader)
    }
    guard isPending || older != nil else { return }
    observation.pendingSince = older ?? deliveredRealm()
    pending.append(entry)
    schedule()
  }

  private func beginFollowing() {
    // Those who observe already know an older version, perhaps.
    if hasContentObservers { return notePending() }
    let current = realm.currentSnapshot().version
    delivered = DeliveredVersion(of: realm)
    reader = realm.history.register(standingOn: current)
  }

  /// The frozen form of the version that observers know; nil while nothing is observed.
  private func deliveredRealm() -> ConfinedRealm? {
    guard let known = delivered else { return nil }
    if let frozen = known.frozen { return frozen }
    let frozen = ConfinedRealm(
      freezing: realm, at: known.snapshot.settled, classes: known.classes)
    delivered?.frozen = frozen
    return frozen
  }

  /// Has a reading told of the first change; one of the same property serves both.
  func add(_ reading: Reading) {
    beginFollowing()
    if let known = readings.find(reading) {
      known.signal.wasRead()
    } else {
      readings.add(reading, realm)
    }
  }

  /// Passes an observation over from now on where nothing concerns it.
  private func sortIn(_ entry: Entry, _ observation: Observation) {
    let slot = ObjectIdentifier(entry.slot)
    ofAll[slot] = nil
    let place = observation.watched
    watched[slot] = place
    observed.add(entry, place, realm)
  }

  /// Has an observation concerned by every change, until it is sorted in by what it watches from
  /// now on.
  func watchesOther(_ observation: Observation) {
    guard let entry = observed.members.first(where: { $0.slot.observation === observation }),
      let place = watched.removeValue(forKey: ObjectIdentifier(entry.slot))
    else { return }
    observed.remove(place) { $0.slot === entry.slot }
    ofAll[ObjectIdentifier(entry.slot)] = entry
  }

  /// Sends a signal to an observer that waits, once there is something to tell to it.
  func isAwaited(_ slot: ObservationSlot, _ observation: Observation) {
    guard observation.pendingSince != nil else { return }
    if pending[nextPending...].contains(where: { $0.slot === slot }) { return schedule() }
    lastNumber += 1
    pending.append(Entry(number: lastNumber, slot: slot))
    schedule()
  }

  /// Calls an observer that has come for its changes, if there are any and no transaction runs.
  func collect(_ slot: ObservationSlot, _ observation: Observation) {
    signalled.remove(ObjectIdentifier(slot))
    guard realm.writing == nil, realm.snapshot != nil, delivered != nil else { return }
    notePending()
    if let since = observation.pendingSince {
      if observation.isOver { slot.end() } else { call(observation, slot, since) }
    }
    settle()
  }

  /// Runs what begins an observation, behind the running transaction if there is one: what that has
  /// changed may be rolled back.
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
  func remove(_ slot: ObservationSlot) {
    readings.remove(of: slot)
    signalled.remove(ObjectIdentifier(slot))
    if let place = watched.removeValue(forKey: ObjectIdentifier(slot)) {
      observed.remove(place) { $0.slot === slot }
    } else if ofAll.removeValue(forKey: ObjectIdentifier(slot)) != nil {
    } else if let index = ofRealm.firstIndex(where: { $0.slot === slot }) {
      ofRealm.remove(at: index)
      realm.noteStanding()
    }
    if !hasContentObservers { letGo() }
  }

  private func letGo() {
    delivered = nil
    readings = Readings()
    changedReadings = []
    reader = nil
    arrivals = []
    pending = []
    nextPending = 0
    steps = [:]
    signalled = []
  }

  /// Everything from the Realm was invalidated: observations of its content are over.
  func wasInvalidated() {
    // In their order: that of addresses is another one in each run of a schedule.
    let ended = (ofAll.values + observed.members).sorted { $0.number < $1.number }
    ofAll = [:]
    observed = WatchIndex()
    watched = [:]
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
    if waiting.isEmpty, !hasContentObservers || passesOver(from: transaction.base.version) {
      return
    }
    schedule()
  }

  /// Passes over a commit at once that concerns nobody: most do, and a job costs more than to find
  /// that out.
  ///
  /// - Returns: false when there may be somebody to call.
  private func passesOver(from base: Version) -> Bool {
    guard !isScheduled, depth == 0, realm.writing == nil, pending.isEmpty, changedReadings.isEmpty,
      ofAll.isEmpty, let known = delivered, known.version == base, let current = realm.snapshot,
      let changes = realm.history.changes(after: base, through: current.version),
      concernsNobody(changes, since: known)
    else { return false }
    delivered = DeliveredVersion(of: realm)
    settle()
    return true
  }

  /// A transaction is over that left the Realm where it was.
  func didEndTransaction() { if isBehind || isPendingForRealm || !waiting.isEmpty { schedule() } }

  /// A newer version can be read, to which the Realm does not move by itself.
  func newerVersionWasPublished() { tellRealm(.refreshRequired) }

  private func tellRealm(_ notification: Realm.Notification, except: [NotificationToken] = []) {
    for entry in ofRealm where !except.contains(where: { $0.slot === entry.slot }) {
      guard let observation = entry.slot.observation as? RealmObservation else { continue }
      tell(observation, notification)
    }
    if isPendingForRealm { schedule() }
  }

  /// Calls an observer of the Realm, unless its own call runs or one before it has begun a
  /// transaction.
  private func tell(_ observation: RealmObservation, _ notification: Realm.Notification) {
    if notification == .didChange {
      observation.isPending = observation.isRunning || realm.writing != nil
      if observation.isPending { return }
    } else if observation.isRunning {
      return
    }
    observation.isRunning = true
    observation.tell(notification)
    observation.isRunning = false
  }

  private var isPendingForRealm: Bool {
    ofRealm.contains { ($0.slot.observation as? RealmObservation)?.isPending == true }
  }

  private func tellPendingToRealm() {
    for entry in ofRealm where realm.writing == nil {
      guard let observation = entry.slot.observation as? RealmObservation, observation.isPending
      else { continue }
      tell(observation, .didChange)
    }
  }

  /// Makes observers know the newest version, who knew the one on which it was built.
  ///
  /// An observer that has more to be told is told all of it later, this version too.
  private func skip(_ tokens: [NotificationToken], _ base: Version) {
    guard delivered?.version == base, let since = deliveredRealm() else { return }
    let changedBefore = changedReadings.count
    notePending()
    for index in changedReadings.indices[changedBefore...].reversed()
    where tokens.contains(where: { $0.slot === changedReadings[index].slot }) {
      readings.add(changedReadings.remove(at: index), realm)
    }
    for token in tokens {
      guard let observation = token.slot.observation, observation.hasBegun,
        observation.pendingSince === since
      else { continue }
      observation.pendingSince = nil
      observation.skip(step(from: since))
    }
  }

  // MARK: - Delivering

  /// Whether somebody may have to be called.
  var isBehind: Bool {
    guard let delivered else { return false }
    return nextPending < pending.count || !changedReadings.isEmpty
      || delivered.version != realm.snapshot?.version
  }

  /// Has everybody called in a job of the Realm's place.
  func schedule() {
    if isScheduled { return }
    isScheduled = true
    mailbox.sendToRealm { realm in
      guard let observers = realm.observers else { return }
      observers.isScheduled = false
      observers.addWaiting()
      observers.tellPendingToRealm()
      observers.deliver()
    }
  }

  /// Calls everybody who has to be called.
  func deliver() {
    guard realm.writing == nil, realm.snapshot != nil, delivered != nil else { return }
    notePending()
    // Most commits concern nobody.
    if pending.isEmpty, changedReadings.isEmpty { return settle() }
    deliveries += 1
    depth += 1
    let delivery = deliveries
    var postponed: [Entry] = []
    while let entry = takePending() {
      guard let observation = entry.slot.observation, let since = observation.pendingSince else {
        continue
      }
      if observation.isOver {
        entry.slot.end()
      } else if let collector = observation.collector {
        // It stays pending; `isAwaited` puts it in again.
        guard case .waiting(let signal) = collector else { continue }
        signalled.insert(ObjectIdentifier(entry.slot))
        signal.send()
      } else if observation.isRunning || observation.lastDelivery == delivery {
        postponed.append(entry)
      } else {
        observation.lastDelivery = delivery
        call(observation, entry.slot, since)
        // A callback may have moved the Realm, begun a transaction or invalidated everything.
        guard realm.writing == nil, realm.snapshot != nil else { break }
        notePending()
      }
    }
    pending.append(contentsOf: postponed)
    tellReaders()
    depth -= 1
    settle()
  }

  /// Keeps no more of the past than what is still to be told.
  private func settle() {
    if depth > 0 { return }
    steps = [:]
    if isBehind {
      schedule()
    } else if signalled.isEmpty, let delivered {
      reader?.stand(on: delivered.version)
      arrivals = []
    }
  }

  /// Tells those who have read what has changed, once.
  private func tellReaders() {
    guard realm.writing == nil, !changedReadings.isEmpty else { return }
    let changed = changedReadings
    changedReadings = []
    for reading in changed { reading.signal.send() }
    if !hasContentObservers { letGo() }
  }

  /// Finds out who has to be told, before they are: what has changed is being read.
  func noteMove() { if realm.writing == nil { notePending() } }

  private func call(_ observation: Observation, _ slot: ObservationSlot, _ since: ConfinedRealm) {
    observation.pendingSince = nil
    if observation.collector != nil { observation.collector = .busy }
    observation.isRunning = true
    let isOwn = newestOwn.map { $0 > since.currentSnapshot().version } ?? false
    let goesOn = observation.tell(step(from: since), isOwn: isOwn)
    observation.isRunning = false
    if !goesOn { slot.end() }
  }

  private func takePending() -> Entry? {
    guard nextPending < pending.count else {
      pending = []
      nextPending = 0
      return nil
    }
    defer { nextPending += 1 }
    return pending[nextPending]
  }

  /// The step from a version that observers know to that of the Realm.
  func step(from old: ConfinedRealm) -> VersionStep {
    if let step = steps[ObjectIdentifier(old)] { return step }
    let step = VersionStep(from: old, to: realm)
    steps[ObjectIdentifier(old)] = step
    return step
  }

  /// Whether changes are passed over by all, which is found out without more than their keys.
  private func concernsNobody(_ changes: ChangeSet, since old: DeliveredVersion) -> Bool {
    ofAll.isEmpty && old.classes === realm.classes && !observed.canBeConcerned(by: changes)
      && !readings.canBeConcerned(by: changes)
  }

  /// Finds out who has to be told that the Realm has moved since the last time.
  private func notePending() {
    guard let known = delivered, let current = realm.snapshot, known.version != current.version
    else { return }
    steps = [:]
    let changes = realm.history.changes(after: known.version, through: current.version)
    if let changes, concernsNobody(changes, since: known) {
      delivered = DeliveredVersion(of: realm)
      return
    }
    let since = deliveredRealm()!
    let step = VersionStep(from: since, to: realm, recorded: changes)
    steps[ObjectIdentifier(since)] = step
    changedReadings += readings.take(changedBy: step)
    if step.keepsSchema {
      for entry in ofAll.values.sorted(by: { $0.number < $1.number }) {
        guard let observation = entry.slot.observation, observation.hasBegun else { continue }
        sortIn(entry, observation)
      }
    } else {
      // What leads where may have changed.
      for entry in observed.members { ofAll[ObjectIdentifier(entry.slot)] = entry }
      observed = WatchIndex()
      watched = [:]
    }
    var found = observed.concerned(by: step) + ofAll.values
    found.sort { $0.number < $1.number }
    for entry in found {
      guard let observation = entry.slot.observation, observation.pendingSince == nil else {
        continue
      }
      observation.pendingSince = since
      pending.append(entry)
    }
    delivered = DeliveredVersion(of: realm)
  }
}
