// Each checker on a good history and on histories that break its invariant.
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct CheckerTests {
  private let model = ContentModel(
    seed: 5, objects: 100, batch: 4, valueSize: ValueSize(minimum: 20, maximum: 20))

  private func row(_ key: Int, stamp: Int) -> Row {
    var row = model.initialRow(key)
    model.fill(&row, stamp: stamp)
    return row
  }

  @Test func snapshotStability() {
    let first = row(3, stamp: 9)
    func check(_ again: Row?) -> Violation? {
      SnapshotStabilityCheck.compare(first: first, again: again, version: 7, place: "reader 1")
    }
    #expect(check(first) == nil)
    #expect(check(nil)?.invariant == .snapshotStability)
    var changed = first
    changed.balance += 1
    #expect(check(changed)?.invariant == .snapshotStability)
    changed = first
    changed.score = -first.score
    #expect(check(changed)?.witness.first?.contains("score") == true)
    #expect(check(row(3, stamp: 10))?.witness.first?.contains("stamp 9 and 10") == true)
  }

  @Test func positiveAndNegativeZeroDiffer() {
    var first = row(3, stamp: 9)
    first.score = 0
    var second = first
    second.score = -0.0
    #expect(first.difference(from: second) != nil)
  }

  @Test func atomicity() {
    let good = row(3, stamp: 9)
    #expect(AtomicityCheck.content(good, key: 3, model: model, version: 7) == nil)
    #expect(AtomicityCheck.content(good, key: 4, model: model, version: 7) != nil)
    var mixed = good
    mixed.stamp = 8
    #expect(AtomicityCheck.content(mixed, key: 3, model: model, version: 7) != nil)
    #expect(AtomicityCheck.notNewer(good, thanTransaction: 9, version: 7) == nil)
    #expect(AtomicityCheck.notNewer(good, thanTransaction: 8, version: 7) != nil)
    #expect(
      AtomicityCheck.member(good, ofTransaction: 9, seenIn: "object 4", version: 7) == nil)
    let partial = AtomicityCheck.member(good, ofTransaction: 10, seenIn: "object 4", version: 7)
    #expect(partial?.invariant == .atomicity)
    #expect(partial?.witness.count == 2)
    func total(_ count: Int, balance: Int) -> TableTotal {
      var total = TableTotal()
      for key in 0..<count {
        total.add(balance: key == 0 ? balance - 1_000 * (count - 1) : 1_000, changes: 0, stamp: 0)
      }
      return total
    }
    #expect(AtomicityCheck.total(total(100, balance: 100_000), model: model, version: 7) == nil)
    #expect(
      AtomicityCheck.total(total(99, balance: 100_000), model: model, version: 7)
        != nil)
    #expect(
      AtomicityCheck.total(total(100, balance: 99_990), model: model, version: 7)
        != nil)
    #expect(AtomicityCheck.held(good, lookup: good, version: 7) == nil)
    #expect(AtomicityCheck.held(row(3, stamp: 8), lookup: good, version: 7) != nil)
  }

  @Test func monotonicVersions() {
    var check = MonotonicVersionCheck()
    for version in [1, 1, 2, 5, 5] as [UInt64] {
      #expect(check.observe(version, place: "reader 1") == nil)
    }
    #expect(check.observe(4, place: "reader 1")?.invariant == .monotonicVersions)
    #expect(check.observe(5, place: "reader 1") == nil)
  }

  @Test func oneVersionNamesOneState() {
    var check = VersionDigestCheck(slots: 4)
    #expect(check.observe(version: 1, digest: 10, place: "a") == nil)
    #expect(check.observe(version: 1, digest: 10, place: "b") == nil)
    #expect(check.observe(version: 5, digest: 11, place: "a") == nil)
    // Version 1 has lost its slot to 5: nothing is known, nothing is claimed.
    #expect(check.observe(version: 1, digest: 12, place: "b") == nil)
    let violation = check.observe(version: 1, digest: 13, place: "c")
    #expect(violation?.witness.first?.contains("as seen by b and by c") == true)
  }

  @Test func readYourWrites() {
    let good = row(3, stamp: 9)
    func own(_ row: Row?, _ transaction: Int) -> Violation? {
      ReadYourWritesCheck.own(row, key: 3, transaction: transaction, version: 7)
    }
    #expect(own(good, 9) == nil)
    #expect(own(good, 10)?.invariant == .readYourWrites)
    #expect(own(nil, 9) != nil)
    #expect(ReadYourWritesCheck.reached(7, acknowledged: 7, place: "reader 1") == nil)
    #expect(ReadYourWritesCheck.reached(6, acknowledged: 7, place: "reader 1") != nil)
    #expect(
      ReadYourWritesCheck.contains(good, acknowledged: 9, version: 7, place: "reader 1") == nil)
    #expect(
      ReadYourWritesCheck.contains(good, acknowledged: 10, version: 7, place: "reader 1") != nil)
  }

  @Test func spaceAccounting() {
    #expect(SpaceAccountingCheck.judge([], place: "at the end") == nil)
    let violation = SpaceAccountingCheck.judge(["block 7 leaks", "x", "y"], place: "at the end")
    #expect(violation?.witness == ["at the end: block 7 leaks", "and 2 more findings"])
  }

  @Test func replayFindsLostAndInventedUpdates() {
    let replay = ReplayCheck(model: model, transactions: 30)
    var rows = (0..<100).map(model.initialRow)
    for transaction in 1...30 {
      let batch = model.batch(of: transaction)
      for position in 0..<batch.count {
        let key = batch.key(position)
        model.fill(&rows[key], stamp: transaction)
        rows[key].balance += batch.amount(position)
      }
    }
    for key in 0..<100 { #expect(replay.judge(rows[key], key: key, version: 7) == nil) }
    let key = model.batch(of: 30).key(0)
    #expect(replay.judge(nil, key: key, version: 7)?.invariant == .serialOrder)
    var wrong = rows[key]
    wrong.stamp = 29
    #expect(replay.judge(wrong, key: key, version: 7) != nil)
    wrong = rows[key]
    wrong.balance += 1
    #expect(replay.judge(wrong, key: key, version: 7) != nil)
  }

  @Test func versionLogKeepsTheRecentPast() {
    let log = VersionLog()
    #expect(log.transaction(of: 5) == nil && log.acknowledgedVersion == 0)
    #expect(log.nextTransaction() == 1 && log.nextTransaction() == 2)
    #expect(log.acknowledge(version: 6, transaction: 2) == nil)
    #expect(log.acknowledge(version: 5, transaction: 1) == nil)
    #expect(log.acknowledge(version: 5, transaction: 1) == nil)
    #expect(log.transaction(of: 5) == 1 && log.transaction(of: 6) == 2)
    #expect(log.acknowledgedVersion == 6 && log.acknowledgedTransaction == 2)
    #expect(log.transaction(of: 0) == nil)
    #expect(log.acknowledge(version: 6, transaction: 3) == 2)
    #expect(log.acknowledge(version: 5 + 65_536, transaction: 9) == nil)
    #expect(log.transaction(of: 5) == nil)
  }
}
