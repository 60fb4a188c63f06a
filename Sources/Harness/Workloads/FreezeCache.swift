// The workload freeze-cache: a cache of frozen objects, lists and results, as an application keeps
// them for its screens, under writers. What it answers: what frozen values cost in pins, file and
// memory, by the size of the cache, its churn and the age of what is in it. Each hit is compared
// with what was copied (I5).
internal import Foundation
internal import Platform

extension WorkloadKind {
  package static let freezeCache = WorkloadKind(FreezeCacheDescription.self)
}

/// What the tool knows of freeze-cache before it runs.
package enum FreezeCacheDescription: WorkloadDescription {
  package static let name = "freeze-cache"
  package static let summary = "a cache of frozen objects, lists and results under writers"
  package static let help = """
    Reader threads look into a cache of --pins frozen objects, lists and results (--cached). What is
    found is read and compared with what was copied (operation 'read', I5; the
    whole content of one in 64, --check-rate); an empty slot, one that is
    older than --pin-age, and a share of --churn of all look-ups get a new copy ('freeze'). Writer
    threads change --batch objects and a list in each transaction. growth.csv tells pins, held bytes
    and memory.

      realm-bench run freeze-cache --pins 1000 --churn 0.01 --pin-age 10s --durability memory
    """
  package static let flags = Flags.table.union(Flags.load).subtracting(["refresh-every"]).union([
    "readers", "writers", "batch", "pins", "pin-age", "churn", "cached", "read-keys", "attempts",
    "check-rate",
  ])
  package static let scheduled: Set<Operation> = [.write]
  /// Here `--pins` says how many frozen values the cache holds.
  package static let pinsFillCache = true
  package static let invariants: [Invariant] = Invariant.ofSnapshots(and: [.frozenImmutability])
    .filter {
      $0 != .snapshotStability
    }

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.readers = 2
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    (settings.readers > 0 ? [.read, .refresh, .freeze] : [])
      + (settings.writers > 0 ? [.write] : [])
  }

  package static func shape(_ settings: RunSettings) -> String {
    "\(settings.readers) readers, \(settings.writers) writers, cache of "
      + "\(grouped(settings.cacheSize)) \(CachedKind.text(settings.cached)), "
      + "churn \(settings.churn), \(grouped(settings.objects)) objects"
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNobody(settings)
  }

  package static let needs: Set<EngineCapability> = [.references, .forbiddenUses]

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> {
    func make<Able: SharingEngine & ForbiddingEngine>(_ engine: Able.Type) -> any Workload<Driver> {
      shared.widened(FreezeCache(shared.narrowed(to: engine)))
    }
    guard let able = Driver.self as? any (SharingEngine & ForbiddingEngine).Type else {
      preconditionFailure("refused before: \(needs)")
    }
    return make(able)
  }
}

/// Readers use a cache of frozen values, writers change what they were copied from.
package struct FreezeCache<Driver: SharingEngine & ForbiddingEngine>: Workload {
  package let shared: RunShared<Driver>
  private let cache: FrozenCache<Driver.Session.Copy>

  package init(_ shared: RunShared<Driver>) {
    self.shared = shared
    cache = FrozenCache(capacity: shared.plan.cacheSize)
  }

  package var pinsKept: Int { cache.count }

  package func load(isCancelled: () -> Bool, progress: (Int) -> Void) throws -> UInt64? {
    try loadGroups(shared, isCancelled: isCancelled, progress: progress)
  }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let (shared, cache, model) = (shared, cache, shared.plan.model)
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.read, .refresh, .freeze]) { handover in
          try CacheReader(number: number, shared: shared, cache: cache, handover: handover)
        })
    }
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          try BatchWriter(number: number, shared: shared, handover: handover) {
            session, batch, _ in
            try ReadersWriter<Driver>.rewrite(session, batch, model)
            let group = batch.transaction % model.groups
            session.setGroup(
              group, stamp: batch.transaction,
              members: model.members(of: group, stamp: batch.transaction))
          }
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    for entry in cache.takeAll() where shared.plan.checks(.frozenImmutability) {
      try shared.control.checkNotLeft()
      var rows: [Row] = []
      ledger.count(.frozenImmutability)
      if let violation = entry.verify(&rows, place: "cache, at the end") { throw violation }
    }
    try FinalCheck.checkForbidden(
      ForbiddenUse.ofFrozen, count: shared.plan.attempts, shared, &ledger)
    try ReadersWriter(shared).checkEnd(&ledger)
  }
}

/// Fills the table and its groups.
func loadGroups<Driver: SharingEngine>(
  _ shared: RunShared<Driver>, isCancelled: () -> Bool, progress: (Int) -> Void
) throws -> UInt64? {
  let model = shared.plan.model
  guard
    try loadTable(shared.driver, model: model, isCancelled: isCancelled, progress: progress) != nil
  else { return nil }
  let session = try shared.driver.openSession()
  try session.write {
    for group in 0..<model.groups {
      session.setGroup(group, stamp: 0, members: model.members(of: group, stamp: 0))
    }
  }
  return session.version
}

/// A frozen value and what it showed when it was made; never changed.
package final class CachedCopy<Copy: EngineCopy>: Sendable {
  let copy: Copy
  let content: Content
  let rows: [Row]
  let madeAt: UInt64

  init(_ copy: Copy, _ content: Content, rows: [Row], madeAt: UInt64) {
    self.copy = copy
    self.content = content
    self.rows = rows
    self.madeAt = madeAt
  }

  /// Compares what it shows now with what it showed first.
  func verify(_ rows: inout [Row], place: String) -> Violation? {
    copy.read(into: &rows)
    return judge(rows, place: place)
  }

  func judge(_ rows: [Row], place: String) -> Violation? {
    FrozenCheck.content(
      first: self.rows, again: rows, of: content, version: copy.version, place: place)
  }
}

/// Slots with frozen values; an entry ends with the last thread that uses it.
package final class FrozenCache<Copy: EngineCopy>: Sendable {
  private let slots: Monitor<[CachedCopy<Copy>?]>
  /// Relaxed: a number for growth.csv that orders nothing.
  private let taken = Atomic<Int>(0)
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    slots = Monitor(Array(repeating: nil, count: capacity))
  }

  /// How many slots are taken.
  ///
  /// - Complexity: O(1).
  var count: Int { taken.load(ordering: .relaxed) }

  subscript(slot: Int) -> CachedCopy<Copy>? { slots.withLock { $0[slot] } }

  /// Puts an entry there; the one that it displaces is released outside of the lock.
  func put(_ entry: CachedCopy<Copy>, at slot: Int) {
    let displaced = slots.withLock { slots in
      defer { slots[slot] = entry }
      return slots[slot]
    }
    if displaced == nil { taken.add(1, ordering: .relaxed) }
  }

  func takeAll() -> [CachedCopy<Copy>] {
    slots.withLock { slots in
      defer { slots = [] }
      taken.store(0, ordering: .relaxed)
      return slots.compactMap { $0 }
    }
  }
}

/// A reader.
package final class CacheReader<Driver: SharingEngine>: SessionThread<Driver> {
  private enum Figure: Int { case read, refresh, freeze }

  private let cache: FrozenCache<Driver.Session.Copy>
  private let keys: KeyGenerator
  private let kinds: [CachedKind]
  private var rows: [Row] = []
  private var lookUps: UInt64 = 0
  /// Which hits have their whole content compared.
  private var contents: CheckSampler

  package init(
    number: Int, shared: RunShared<Driver>, cache: FrozenCache<Driver.Session.Copy>,
    handover: Handover
  ) throws {
    self.cache = cache
    keys = KeyGenerator(shared.plan.readKeys, model: shared.plan.model)
    kinds = CachedKind.allCases.filter(shared.plan.cached.contains)
    var random = shared.random(thread: number)
    contents = CheckSampler(rate: shared.plan.checkRate, &random)
    try super.init("reader \(number)", thread: number, shared, handover)
  }

  package override func run() throws {
    defer { pace.finish() }
    try begin()
    while pace.follow() {
      guard pace.claim(1) > 0 else { break }
      try lookUp()
    }
  }

  /// One look into the cache: a hit is read, anything else is copied anew.
  private func lookUp() throws {
    lookUps += 1
    let slot = Int(random.next(upperBound: UInt64(cache.capacity)))
    let entry = cache[slot]
    let isReplaced = Double(random.next(upperBound: UInt64(1) << 32)) < shared.plan.churn * 0x1p32
    let before = ThreadWork.now()
    let now = clock.nanoseconds()
    if let entry, !isReplaced, !isTooOld(entry, now) {
      entry.copy.read(into: &rows)
      record(Figure.read.rawValue, since: now, before)
      guard shared.plan.checks(.frozenImmutability) else { return }
      guard
        contents.isDue(&random)
          || !FrozenCheck.isSameBriefly(first: entry.rows, again: rows)
      else { return ledger.count(.frozenImmutability) }
      let start = clock.nanoseconds()
      if let violation = entry.judge(rows, place: place) { throw violation }
      ledger.count(.frozenImmutability, cost: clock.nanoseconds() - start)
    } else {
      try refresh(recordedAs: Figure.refresh.rawValue, readsObject: lookUps & 7 == 0)
      try replace(slot)
    }
  }

  private func isTooOld(_ entry: CachedCopy<Driver.Session.Copy>, _ now: UInt64) -> Bool {
    shared.plan.pinAgeNanoseconds.map { now - min(entry.madeAt, now) > $0 } ?? false
  }

  private func replace(_ slot: Int) throws {
    let content = nextContent()
    let before = ThreadWork.now()
    let start = clock.nanoseconds()
    guard let copy = session.copy(content) else {
      throw Violation(
        .atomicity, "Something that no transaction deletes was not found.",
        witness: ["\(place), version \(session.version): \(content)"])
    }
    let end = clock.nanoseconds()
    pace.measurements.figures[Figure.freeze.rawValue].record(end - start, .since(before))
    copy.read(into: &rows)
    cache.put(CachedCopy(copy, content, rows: rows, madeAt: end), at: slot)
    if shared.plan.checks(.frozenImmutability) {
      let start = clock.nanoseconds()
      if let violation = FrozenCheck.version(copy.version, source: session.version, place: place) {
        throw violation
      }
      if case .object(let key) = content, session.read(key, into: &row),
        let violation = FrozenCheck.content(
          first: [row], again: rows, of: content, version: copy.version, place: place)
      {
        throw violation
      }
      ledger.count(.frozenImmutability, cost: clock.nanoseconds() - start)
    }
    if shared.plan.checks(.atomicity) { try checkContent(content, copy.version) }
  }

  private func nextContent() -> Content {
    switch kinds[Int(random.next(upperBound: UInt64(kinds.count)))] {
    case .objects: return .object(keys.next(&random, newestTransaction: watch.transaction ?? 0))
    case .lists: return .list(Int(random.next(upperBound: UInt64(model.groups))))
    case .results:
      let count = min(8, model.objects)
      let first = Int(random.next(upperBound: UInt64(model.objects - count + 1)))
      return .results(first..<first + count)
    }
  }

  /// I2: what was copied is what some transactions up to the version have written.
  private func checkContent(_ content: Content, _ version: UInt64) throws {
    let start = clock.nanoseconds()
    for row in rows {
      if let violation = AtomicityCheck.content(row, key: row.id, model: model, version: version) {
        throw violation
      }
    }
    switch content {
    case .object: break
    case .list(let group):
      let stamp = session.groupStamp(group) ?? 0
      if let violation = FrozenCheck.members(
        rows, expected: model.members(of: group, stamp: stamp), group: group, version: version,
        place: place)
      {
        throw violation
      }
    case .results(let keys):
      if rows.count != keys.count {
        throw AtomicityCheck.count(rows.count, expected: keys.count, version: version)
      }
    }
    ledger.count(.atomicity, cost: clock.nanoseconds() - start)
  }
}
