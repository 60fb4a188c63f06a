// One reader thread of the readers-writer workload: reads by key, refreshes, and checks I1 to I4 from
// where a reader stands. Timed operations hold engine calls only; every check is outside of them and
// knows what it costs.
internal import Platform

/// A reader; made and used on its own thread.
package final class ReadersWriterReader<Driver: EngineDriver> {
  private let shared: ReadersWriterShared<Driver>
  private let handover: Handover
  private let place: String
  private let clock = MonotonicClock()
  private let keys: KeyGenerator
  private let model: ContentModel
  private let checksStability: Bool
  private let checksAtomicity: Bool
  private let checksVersions: Bool
  private let checksAcknowledged: Bool
  private let openedAfter: (version: UInt64, transaction: Int)
  private var random: RandomGenerator
  // Nil only while it is being opened again: the old one has to go first.
  private var session: Driver.Session!
  /// What the thread checked; read it when the thread has ended.
  package private(set) var ledger = InvariantLedger()

  private var measurements: Measurements
  private var epoch: RunControl.Epoch
  private var row = Row()
  private var other = Row()
  private var now: UInt64 = 0

  // What is known of the snapshot that the session sees.
  private var version: UInt64 = 0
  private var snapshotTransaction: Int?
  private var monotonic = MonotonicVersionCheck()

  private var reads: UInt64 = 0
  private var contentCost: UInt64 = 0
  private var cycles: UInt64 = 0
  private var remembered: Row?
  private var held: (object: Driver.Session.Held, key: Int)?
  private var frozenCopy: FrozenCopy?
  private var nextFrozenCopy: UInt64 = 0
  private var nextTotal: UInt64 = 0
  private var nextReopening: UInt64 = 0

  /// A frozen copy that is kept while others commit, and read again.
  private struct FrozenCopy {
    let kept: KeptPin<Driver.Session.Pin>
    let versionsToWait: UInt64
    let deadline: UInt64
  }

  package init(
    number: Int, shared: ReadersWriterShared<Driver>, handover: Handover
  ) throws {
    self.shared = shared
    self.handover = handover
    place = "reader \(number)"
    model = shared.plan.model
    keys = KeyGenerator(shared.plan.readKeys, model: model)
    random = shared.random(thread: number)
    openedAfter = (
      shared.versions.acknowledgedVersion, shared.versions.acknowledgedTransaction
    )
    session = try shared.driver.openSession()
    checksStability = shared.plan.checks(.snapshotStability)
    checksAtomicity = shared.plan.checks(.atomicity)
    checksVersions = shared.plan.checks(.monotonicVersions)
    checksAcknowledged = shared.plan.checks(.readYourWrites)
    measurements = handover.take(phase: .warmup)
    epoch = shared.control.epoch
  }

  /// Reads until the run stops.
  package func run() throws {
    defer {
      ledger.count(.atomicity, checks: reads, cost: contentCost)
      handover.put(measurements)
    }
    shared.control.waitForStart()
    now = clock.nanoseconds()
    nextFrozenCopy = now + random.next(upperBound: 20_000_000)
    nextTotal = now + random.next(upperBound: 200_000_000)
    nextReopening = now + random.next(upperBound: 60_000_000)
    try checkAfterMove(openedAfter.version, openedAfter.transaction, place: "\(place), opened")
    while followEpoch() {
      let count = shared.control.claim(shared.plan.refreshEvery, in: epoch.phase)
      if count == 0 {
        shared.control.budgetIsTaken()
        break
      }
      try cycle(count)
    }
  }

  /// Hands over what was measured when the epoch has changed; false when the run is over.
  private func followEpoch() -> Bool {
    let current = shared.control.epoch
    if current == epoch { return epoch.phase != nil }
    let previous = epoch.phase
    epoch = current
    guard let phase = current.phase else { return false }
    if previous == .load {
      measurements.phase = phase
      return true
    }
    handover.put(measurements)
    measurements = handover.take(phase: phase)
    return true
  }

  // MARK: - Operations

  private func cycle(_ count: Int) throws {
    let chosen = checksStability ? Int(random.next(upperBound: UInt64(max(16, count)))) : -1
    for position in 0..<count {
      let key = keys.next(&random, newestTransaction: snapshotTransaction ?? 0)
      let start = clock.nanoseconds()
      let isFound = session.read(key, into: &row)
      now = clock.nanoseconds()
      measurements.figures[0].service.record(now &- start)
      try checkRead(key, isFound)
      if position == chosen { remembered = row }
      if shared.control.epoch != epoch {
        // What was claimed for one phase is not carried into the next.
        let phase = epoch.phase
        guard followEpoch(), epoch.phase == phase else { return }
      }
    }
    try checkBeforeRefresh()
    try refresh()
  }

  private func refresh() throws {
    let acknowledgedVersion = shared.versions.acknowledgedVersion
    let acknowledgedTransaction = shared.versions.acknowledgedTransaction
    let start = clock.nanoseconds()
    _ = session.refresh()
    now = clock.nanoseconds()
    measurements.figures[1].service.record(now &- start)
    cycles += 1
    try checkAfterMove(acknowledgedVersion, acknowledgedTransaction, place: place)
    try runOccasionalChecks()
  }

  // MARK: - Checks of reads (I2)

  private func checkRead(_ key: Int, _ isFound: Bool) throws {
    guard checksAtomicity else { return }
    guard isFound else { throw AtomicityCheck.missing(key, version: version) }
    reads += 1
    if let violation = AtomicityCheck.content(row, key: key, model: model, version: version) {
      throw violation
    }
    if let newest = snapshotTransaction,
      let violation = AtomicityCheck.notNewer(row, thanTransaction: newest, version: version)
    {
      throw violation
    }
    // One read in 64 tells what these checks cost for all of them.
    if reads & 63 == 1 { contentCost += (clock.nanoseconds() - now) * 64 }
    if reads & 15 == 0 { try checkSibling() }
  }

  /// Another object of the transaction that wrote the row must show that transaction or a later one.
  private func checkSibling() throws {
    guard row.stamp > 0, model.batch > 1 else { return }
    defer { if reads & 63 == 0 { contentCost += (clock.nanoseconds() - now) * 4 } }
    let position = Int(random.next(upperBound: UInt64(model.batch)))
    let key = model.batch(of: row.stamp).key(position)
    guard session.read(key, into: &other) else {
      throw AtomicityCheck.missing(key, version: version)
    }
    if let violation = AtomicityCheck.member(
      other, ofTransaction: row.stamp, seenIn: "object \(row.id) shows transaction \(row.stamp)",
      version: version)
    {
      throw violation
    }
  }

  // MARK: - Checks around a refresh (I1, I3, I4)

  private func checkBeforeRefresh() throws {
    guard let first = remembered else { return }
    remembered = nil
    let start = clock.nanoseconds()
    let isFound = session.read(first.id, into: &other)
    if let violation = SnapshotStabilityCheck.compare(
      first: first, again: isFound ? other : nil, version: version, place: place)
    {
      throw violation
    }
    ledger.count(.snapshotStability, cost: clock.nanoseconds() - start)
  }

  /// After a refresh or an opening: where the session is, and whether it may be there.
  private func checkAfterMove(
    _ acknowledgedVersion: UInt64, _ acknowledgedTransaction: Int, place: String
  ) throws {
    let isMoved = session.version != version
    if checksAcknowledged {
      let start = clock.nanoseconds()
      if let violation = ReadYourWritesCheck.reached(
        session.version, acknowledged: acknowledgedVersion, place: place)
      {
        throw violation
      }
      if cycles & 7 == 1 && acknowledgedTransaction > 0 {
        try checkAcknowledged(acknowledgedTransaction, place: place)
      }
      ledger.count(.readYourWrites, cost: clock.nanoseconds() - start)
    }
    try observeVersion(place: place)
    guard isMoved, checksAtomicity, cycles & 3 == 0 else { return }
    try checkNewestTransaction()
  }

  private func observeVersion(place: String) throws {
    let isMoved = session.version != version
    version = session.version
    if isMoved || snapshotTransaction == nil {
      snapshotTransaction = shared.versions.transaction(of: version)
    }
    guard checksVersions else { return }
    let start = clock.nanoseconds()
    if let violation = monotonic.observe(version, place: place) { throw violation }
    if isMoved && shared.isDigestVersion(version) {
      let session: Driver.Session = session
      if let violation = shared.checkDigest(
        version: version, place: place, read: { session.read($0, into: &$1) }, row: &other)
      {
        throw violation
      }
    }
    ledger.count(.monotonicVersions, cost: clock.nanoseconds() - start)
  }

  private func checkAcknowledged(_ transaction: Int, place: String) throws {
    let position = Int(random.next(upperBound: UInt64(model.batch)))
    let key = model.batch(of: transaction).key(position)
    guard session.read(key, into: &other) else {
      throw AtomicityCheck.missing(key, version: session.version)
    }
    if let violation = ReadYourWritesCheck.contains(
      other, acknowledged: transaction, version: session.version, place: place)
    {
      throw violation
    }
  }

  /// The snapshot must show all of the transaction that made it.
  private func checkNewestTransaction() throws {
    guard let newest = snapshotTransaction, newest > 0 else { return }
    let start = clock.nanoseconds()
    let batch = model.batch(of: newest)
    let step = cycles & 63 == 0 ? 1 : max(1, batch.count / 2)
    for position in stride(from: 0, to: batch.count, by: step) {
      let key = batch.key(position)
      guard session.read(key, into: &other) else {
        throw AtomicityCheck.missing(key, version: version)
      }
      if let violation = AtomicityCheck.member(
        other, ofTransaction: newest, seenIn: "it was committed by transaction \(newest)",
        version: version)
        ?? AtomicityCheck.notNewer(
          other, thanTransaction: newest, version: version)
      {
        throw violation
      }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }

  // MARK: - Occasional checks

  private func runOccasionalChecks() throws {
    if checksStability { try followFrozenCopy() }
    if checksStability && shared.pins.waiting > 0 { try verifyRetiredPin() }
    if checksAtomicity && cycles & 15 == 0 { try checkHeld() }
    if checksAtomicity && now >= nextTotal { try checkTotal() }
    if (checksAcknowledged || checksVersions) && now >= nextReopening { try reopen() }
  }

  /// Keeps a frozen copy for some commits, then reads it again.
  private func followFrozenCopy() throws {
    if let copy = frozenCopy {
      guard
        version >= copy.kept.pin.version + copy.versionsToWait || now >= copy.deadline
      else { return }
      frozenCopy = nil
      let start = clock.nanoseconds()
      if let violation = copy.kept.verify(place: "frozen copy of \(place)") { throw violation }
      ledger.count(
        .snapshotStability, checks: UInt64(copy.kept.rows.count),
        cost: clock.nanoseconds() - start)
    } else if now >= nextFrozenCopy {
      let start = clock.nanoseconds()
      let pin = session.pin()
      var rows: [Row] = []
      for _ in 0..<4 {
        let key = Int(random.next(upperBound: UInt64(model.objects)))
        if pin.read(key, into: &other) { rows.append(other) }
      }
      frozenCopy = FrozenCopy(
        kept: KeptPin(pin: pin, rows: rows),
        versionsToWait: 1 << random.next(upperBound: UInt64(7)), deadline: now + 100_000_000)
      nextFrozenCopy = now + 2_000_000 + random.next(upperBound: 20_000_000)
      ledger.count(.snapshotStability, checks: 0, cost: clock.nanoseconds() - start)
    }
  }

  private func verifyRetiredPin() throws {
    guard let pin = shared.pins.takeRetired() else { return }
    let start = clock.nanoseconds()
    if let violation = pin.verify(place: "pin released by \(place)") { throw violation }
    ledger.count(
      .snapshotStability, checks: UInt64(pin.rows.count), cost: clock.nanoseconds() - start)
  }

  /// An object kept over refreshes shows what a look-up shows.
  private func checkHeld() throws {
    let start = clock.nanoseconds()
    if let held {
      session.read(held.object, into: &row)
      guard session.read(held.key, into: &other) else {
        throw AtomicityCheck.missing(held.key, version: version)
      }
      if let violation = AtomicityCheck.held(row, lookup: other, version: version) {
        throw violation
      }
    }
    let isTimeForAnother = cycles & 255 == 0
    if held == nil || isTimeForAnother {
      // A recently written object is likely to be written again soon.
      let recent = snapshotTransaction ?? 0
      let key =
        recent > 0
        ? model.batch(of: recent).key(0) : Int(random.next(upperBound: UInt64(model.objects)))
      held = session.hold(key).map { ($0, key) }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }

  /// The table's total; at most 2 % of the thread's time.
  private func checkTotal() throws {
    let start = clock.nanoseconds()
    if let violation = AtomicityCheck.total(session.total(), model: model, version: version) {
      throw violation
    }
    let cost = clock.nanoseconds() - start
    ledger.count(.atomicity, cost: cost)
    nextTotal = start + max(cost * 50, 200_000_000)
  }

  /// A Realm opened now sees every write that has returned, and nothing older than the last one.
  private func reopen() throws {
    let start = clock.nanoseconds()
    let acknowledgedVersion = shared.versions.acknowledgedVersion
    let acknowledgedTransaction = shared.versions.acknowledgedTransaction
    held = nil
    session = nil
    session = try shared.driver.openSession()
    let cost = clock.nanoseconds() - start
    ledger.count(
      checksAcknowledged ? .readYourWrites : .monotonicVersions, checks: 0, cost: cost)
    try checkAfterMove(
      acknowledgedVersion, acknowledgedTransaction, place: "\(place), opened again")
    nextReopening = start + max(cost * 100, 20_000_000 + random.next(upperBound: 40_000_000))
  }
}
