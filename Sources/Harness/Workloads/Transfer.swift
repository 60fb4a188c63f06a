// The workload transfer: a bank. Each transaction moves money between random accounts by reading
// and changing both; readers add up whole snapshots. Money never comes or goes (I2), and the
// changes that a snapshot counts are exactly those of the transactions up to its own (I7).
internal import Platform

extension WorkloadKind {
  package static let transfer = WorkloadKind(TransferDescription.self)
}

/// What the tool knows of transfer before it runs.
package enum TransferDescription: WorkloadDescription {
  package static let name = "transfer"
  package static let summary =
    "a bank: threads move money between accounts, others add all accounts up"
  package static let help = """
    Writer threads move money between random accounts: one transaction reads and changes --batch of
    them, in pairs, and each change counts. Reader threads add up all accounts (operation 'sum') of a
    refreshed Realm and of frozen copies, --refresh-every times a snapshot. The total never
    changes (I2), and each snapshot counts exactly the changes of its transactions (I7).

      realm-bench run transfer --writers 2 --duration 5s --durability memory
    """
  package static let flags = Flags.table.union(Flags.threads).union(Flags.load).union([
    "history"
  ])
  package static let takesProcesses = true
  package static let scheduled: Set<Operation> = [.write]
  package static let takesSteps = true

  package static func setDefaults(_ settings: inout RunSettings) {
    settings.writers = 2
    settings.objects = 1_000
    settings.batch = 2
    settings.refreshEvery = 2
  }

  package static func operations(_ settings: RunSettings) -> [Operation] {
    (settings.readers > 0 ? [.sum, .refresh, .freeze] : [])
      + (settings.writers > 0 ? [.write] : [])
  }

  package static func shape(_ settings: RunSettings) -> String {
    readersAndWriters(settings, of: "accounts")
  }

  package static func check(_ settings: RunSettings) throws(UsageError) {
    try refuseNobody(settings)
    if settings.batch % 2 != 0 {
      throw UsageError("--batch: transfer changes accounts in pairs, so not \(settings.batch)")
    }
  }

  package static func make<Driver: EngineDriver>(
    _ shared: RunShared<Driver>
  ) -> any Workload<Driver> { Transfer(shared) }
}

/// Threads move money between accounts, others add all accounts up.
package struct Transfer<Driver: EngineDriver>: Workload {
  package let shared: RunShared<Driver>
  /// Nil where other processes write, too; then the totals alone are judged.
  private let expected: ExpectedState?

  package init(_ shared: RunShared<Driver>) {
    self.shared = shared
    expected =
      shared.plan.processes > 1 ? nil : ExpectedState(objects: shared.plan.model.objects)
  }

  package var threads: [WorkerPlan] {
    var threads: [WorkerPlan] = []
    let shared = shared
    let totals = Monitor(VersionDigestCheck())
    for number in stride(from: 1, through: shared.plan.readers, by: 1) {
      threads.append(
        WorkerPlan("reader \(number)", operations: [.sum, .refresh, .freeze]) { handover in
          try TransferReader(number: number, shared: shared, totals: totals, handover: handover)
        })
    }
    let expected = shared.plan.checks(.serialOrder) ? expected : nil
    for number in stride(from: 1, through: shared.plan.writers, by: 1) {
      threads.append(
        WorkerPlan("writer \(number)", operations: [.write]) { handover in
          let transaction = TransferTransaction<Driver>(
            model: shared.plan.model, expected: expected)
          return try BatchWriter(
            number: number, shared: shared, handover: handover, change: transaction.run)
        })
    }
    return threads
  }

  package func checkEnd(_ ledger: inout InvariantLedger) throws {
    let check = try FinalCheck(shared, &ledger)
    let (model, version) = (shared.plan.model, check.session.version)
    if let violation = TransferCheck.judge(
      check.session.total(), plan: shared.plan, version: version,
      transaction: shared.versions.transactions, &ledger)
    {
      throw violation
    }
    if let expected {
      try check.checkObjects(0..<model.objects, &ledger) { row, key in
        expected.judgeEnd(row, key: key, version: version)
      }
    }
    try check.checkSpace(&ledger)
  }
}

/// The changes of one transaction; used by one thread.
package final class TransferTransaction<Driver: EngineDriver> {
  private let model: ContentModel
  /// Nil when I7 is not checked.
  private let expected: ExpectedState?
  private var other = Row()

  package init(model: ContentModel, expected: ExpectedState?) {
    self.model = model
    self.expected = expected
  }

  /// Moves money from the first to the second account of each pair.
  package func run(
    _ session: Driver.Session, _ batch: ContentModel.Batch, _ ledger: inout InvariantLedger
  ) throws {
    for pair in stride(from: 0, to: batch.count - 1, by: 2) {
      let (from, to) = (batch.key(pair), batch.key(pair + 1))
      let cover = try readOtherAccount(session, of: from, batch.transaction)
      var amount = 0
      try change(session, from, batch.transaction) { balance in
        amount = max(0, min(batch.amount(pair + 1), balance + cover))
        balance -= amount
      }
      try change(session, to, batch.transaction) { $0 += amount }
      if expected != nil { ledger.count(.serialOrder, checks: 3) }
    }
  }

  /// Two neighbouring accounts have one owner: an account may be overdrawn as far as the other
  /// covers it, so that what a transfer reads and does not write matters too.
  private func readOtherAccount(
    _ session: Driver.Session, of key: Int, _ transaction: Int
  ) throws -> Int {
    let otherKey = key ^ 1
    guard otherKey < model.objects else { return 0 }
    guard session.read(otherKey, .account, into: &other) else {
      throw AtomicityCheck.missing(otherKey, version: session.version)
    }
    if let violation = expected?.judge(other, readBy: transaction) { throw violation }
    return other.balance
  }

  private func change(
    _ session: Driver.Session, _ key: Int, _ transaction: Int, _ body: (inout Int) -> Void
  ) throws {
    var violation: Violation?
    let isFound = session.update(key, .account) { row in
      violation = expected?.judge(row, readBy: transaction)
      body(&row.balance)
      row.changes += 1
      row.stamp = transaction
      expected?.store(row)
    }
    if let violation { throw violation }
    if !isFound { throw AtomicityCheck.missing(key, version: session.version) }
  }
}

/// Judges what a snapshot of the bank adds up to.
package enum TransferCheck {
  /// `transaction` is the one that made the version, if that is known.
  package static func judge(
    _ total: TableTotal, plan: RunPlan, version: UInt64, transaction: Int?,
    _ ledger: inout InvariantLedger
  ) -> Violation? {
    if plan.checks(.atomicity) {
      ledger.count(.atomicity)
      if let violation = AtomicityCheck.total(total, model: plan.model, version: version)
        ?? AtomicityCheck.newest(total, transaction: transaction, version: version)
      {
        return violation
      }
    }
    guard plan.checks(.serialOrder) else { return nil }
    ledger.count(.serialOrder)
    return changes(total, model: plan.model, version: version)
  }

  /// I7: each of the transactions up to the newest that the snapshot shows has changed its accounts
  /// once.
  package static func changes(
    _ total: TableTotal, model: ContentModel, version: UInt64
  ) -> Violation? {
    let expected = total.newestStamp * model.batch
    guard total.changes != expected else { return nil }
    return Violation(
      .serialOrder, "An update was lost, or counted twice.",
      witness: [
        "version \(version): \(total.newestStamp) transactions change \(expected) accounts, the "
          + "accounts count \(total.changes) changes"
      ])
  }
}
