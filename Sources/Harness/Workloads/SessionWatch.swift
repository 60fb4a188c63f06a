// The checks that every session makes when it has moved to another version, whatever the workload:
// it never goes back (I3), and it sees what had returned before it moved (I4).

package import Platform

/// Where one thread's session stands.
package struct SessionWatch<Driver: EngineDriver> {
  /// The newest write that had returned at some moment.
  package struct Acknowledged {
    package let version: UInt64
    package let transaction: Int
  }

  /// The version that the session saw when it was last looked at.
  package private(set) var version: UInt64 = 0
  /// The transaction that made this version, if that is known.
  package private(set) var transaction: Int?

  private let shared: RunShared<Driver>
  private let checksVersions: Bool
  private let checksAcknowledged: Bool
  private var monotonic = MonotonicVersionCheck()
  private var row = Row()
  private var cost = CostSampler()
  private var commits: UInt64 = 0

  package init(_ shared: RunShared<Driver>) {
    self.shared = shared
    checksVersions = shared.plan.checks(.monotonicVersions)
    checksAcknowledged = shared.plan.checks(.readYourWrites)
  }

  /// Ask before a refresh or an opening, and pass the answer to `moved`.
  package func acknowledged() -> Acknowledged {
    Acknowledged(
      version: shared.versions.acknowledgedVersion,
      transaction: shared.versions.acknowledgedTransaction)
  }

  /// After a refresh or an opening: where the session is, and whether it may be there.
  ///
  /// With a generator, an object of the acknowledged transaction is read too. True when the session
  /// is on another version than before.
  @discardableResult
  package mutating func moved(
    _ session: Driver.Session, since acknowledged: Acknowledged, place: String,
    readingWith random: inout RandomGenerator, readsObject: Bool,
    _ ledger: inout InvariantLedger
  ) throws -> Bool {
    let seen = session.version
    if checksAcknowledged {
      if seen < acknowledged.version,
        let violation = ReadYourWritesCheck.reached(
          seen, acknowledged: acknowledged.version, place: place)
      {
        throw violation
      }
      ledger.count(.readYourWrites)
      if readsObject && acknowledged.transaction > 0 {
        let start = cost.begin()
        try readAcknowledged(session, acknowledged.transaction, place: place, &random)
        ledger.count(.readYourWrites, checks: 0, cost: cost.end(start))
      }
    }
    // Most refreshes find what they had: nothing more is said of it than that.
    if seen == version && transaction != nil {
      if checksVersions { ledger.count(.monotonicVersions) }
      return false
    }
    return try observe(session, place: place, &ledger)
  }

  /// After a write of one object or more has returned: others may rely on it now.
  ///
  /// `key` names one of the objects that it stored.
  package mutating func committed(
    _ session: Driver.Session, _ transaction: Int, key: Int, place: String,
    _ ledger: inout InvariantLedger
  ) throws {
    try acknowledge(session.version, transaction)
    try accepted(session, transaction, key: key, place: place, &ledger)
  }

  /// Says that a commit is durable: everybody has to see it from now on.
  package func acknowledge(_ version: UInt64, _ transaction: Int) throws {
    let other = shared.versions.acknowledge(version: version, transaction: transaction)
    if let other, checksVersions {
      throw VersionDigestCheck.sharedNumber(version, transactions: other, transaction)
    }
  }

  /// After a commit has returned, durable or not: its own session sees it.
  package mutating func accepted(
    _ session: Driver.Session, _ transaction: Int, key: Int, place: String,
    _ ledger: inout InvariantLedger
  ) throws {
    commits &+= 1
    // Of a running load the first, and one in four: a read of its own takes as long as a hundredth
    // of a commit.
    if checksAcknowledged && (shared.plan.checksFully || commits & 3 == 1) {
      let start = cost.begin()
      let isFound = session.read(key, into: &row)
      if let violation = ReadYourWritesCheck.own(
        isFound ? row : nil, key: key, transaction: transaction, version: session.version)
      {
        throw violation
      }
      ledger.count(.readYourWrites, cost: cost.end(start))
    }
    try observe(session, place: place, &ledger)
  }

  /// Looks at the session's version; true when it is another one than before.
  @discardableResult
  package mutating func observe(
    _ session: Driver.Session, place: String, _ ledger: inout InvariantLedger
  ) throws -> Bool {
    let isMoved = session.version != version
    version = session.version
    if isMoved || transaction == nil {
      transaction = shared.versions.transaction(of: version)
    }
    guard checksVersions else { return isMoved }
    let start = cost.begin()
    if let violation = monotonic.observe(version, place: place) { throw violation }
    if isMoved && shared.isDigestVersion(version) {
      if let violation = shared.checkDigest(
        version: version, place: place, read: { session.read($0, into: &$1) }, row: &row)
      {
        throw violation
      }
    }
    ledger.count(.monotonicVersions, cost: cost.end(start))
    return isMoved
  }

  private mutating func readAcknowledged(
    _ session: Driver.Session, _ transaction: Int, place: String, _ random: inout RandomGenerator
  ) throws {
    let batch = shared.plan.model.batch(of: transaction)
    let key = batch.key(Int(random.next(upperBound: UInt64(batch.count))))
    guard session.read(key, into: &row) else {
      throw AtomicityCheck.missing(key, version: session.version)
    }
    if let violation = ReadYourWritesCheck.contains(
      row, acknowledged: transaction, version: session.version, place: place)
    {
      throw violation
    }
  }
}
