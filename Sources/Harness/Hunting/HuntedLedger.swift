// A ledger in a Realm whose content follows from who has changed it in which order and how, the
// same ledger in plain Swift, and the judge of what anybody sees of it: all of it has to be
// explained by one order of the transactions, which also is that of real time.
internal import Foundation
internal import RaceHunt
internal import RealmSwift
internal import Simulation
internal import Synchronization

/// An element of the ledger.
final class HuntedEntry: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var group: Int
  @Persisted var turns: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  var state: LedgerState.Entry { LedgerState.Entry(number: number, group: group, turns: turns) }
}

/// The ledger: there is one in a file.
final class HuntedLedger: Object {
  @Persisted(primaryKey: true) var number: Int
  /// Transactions until now.
  @Persisted var total: Int
  /// Those of each user.
  @Persisted var counts: List<Int>
  @Persisted var entries: List<HuntedEntry>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What a transaction does to the entries.
enum LedgerChange: Int, CaseIterable { case add, turn, replace, remove, move, regroup, fill, thin }

/// What a version shows.
struct LedgerState: Equatable, Sendable {
  struct Entry: Equatable, Sendable, CustomStringConvertible {
    var number: Int
    var group: Int
    var turns: Int

    var description: String { "\(number)/\(group)/\(turns)" }
  }

  static let groups = 3
  static let entriesMax = 5

  var total = 0
  var counts: [Int]
  var entries: [Entry] = []

  init(users: Int) { counts = Array(repeating: 0, count: users) }

  /// Looks at a Realm's ledger, in its order and as a query finds it.
  init(_ realm: Realm) {
    self.init(users: 0)
    guard let ledger = HuntedFile.ledger(realm) else {
      check(false, "the ledger is gone")
      return
    }
    total = ledger.total
    counts = Array(ledger.counts)
    entries = ledger.entries.map(\.state)
    let found = Array(realm.objects(HuntedEntry.self).sorted(byKeyPath: "number").map(\.state))
    check(
      found == entries.sorted { $0.number < $1.number },
      "a query finds \(found) where the list has \(entries)")
  }

  /// Every second one of so many places, from the last one on.
  private static func everySecond(of count: Int) -> StrideThrough<Int> {
    stride(from: count - 1, through: 0, by: -2)
  }

  mutating func apply(_ change: LedgerChange, of user: Int) {
    let (number, count) = (total, entries.count)
    total += 1
    counts[user] += 1
    if change == .fill {
      for added in count..<max(count, Self.entriesMax) {
        let entry = Entry(number: 1_000 * added + number, group: added % Self.groups, turns: 0)
        entries.insert(entry, at: 7 * added % (entries.count + 1))
      }
      return
    }
    if change == .add || change == .replace || count == 0 {
      if count >= Self.entriesMax || change == .replace && count > 0 {
        entries.remove(at: 5 * number % count)
      }
      let entry = Entry(number: number, group: number % Self.groups, turns: 0)
      return entries.insert(entry, at: 7 * number % (entries.count + 1))
    }
    let place = 3 * number % count
    switch change {
    case .add, .replace, .fill: break
    case .thin: for place in Self.everySecond(of: count) { entries.remove(at: place) }
    case .turn: entries[place].turns += 1
    case .remove: entries.remove(at: place)
    case .move: entries.insert(entries.remove(at: place), at: 0)
    case .regroup: entries[place].group = (entries[place].group + 1) % Self.groups
    }
  }

  /// The same in a transaction that is open.
  static func apply(_ change: LedgerChange, of user: Int, _ realm: Realm) {
    guard let ledger = HuntedFile.ledger(realm) else { return check(false, "the ledger is gone") }
    let (number, entries) = (ledger.total, ledger.entries)
    let count = entries.count
    ledger.total += 1
    ledger.counts[user] += 1
    if change == .fill {
      for added in count..<max(count, entriesMax) {
        let entry = realm.create(
          HuntedEntry.self, value: ["number": 1_000 * added + number, "group": added % groups])
        entries.insert(entry, at: 7 * added % (entries.count + 1))
      }
      return
    }
    if change == .add || change == .replace || count == 0 {
      if count >= entriesMax || change == .replace && count > 0 {
        realm.delete(entries[5 * number % count])
      }
      let entry = realm.create(
        HuntedEntry.self, value: ["number": number, "group": number % groups])
      return entries.insert(entry, at: 7 * number % (entries.count + 1))
    }
    let place = 3 * number % count
    switch change {
    case .add, .replace, .fill: break
    case .thin: for place in everySecond(of: count) { realm.delete(entries[place]) }
    case .turn: entries[place].turns += 1
    case .remove: realm.delete(entries[place])
    case .move: entries.move(from: place, to: 0)
    case .regroup: entries[place].group = (entries[place].group + 1) % groups
    }
  }
}

extension HuntedFile {
  /// The ledger as a Realm has it.
  static func ledger(_ realm: Realm) -> HuntedLedger? {
    realm.object(ofType: HuntedLedger.self, forPrimaryKey: 0)
  }
}

/// Knows every version, since each transaction notes what it is about to commit while nobody else
/// can write, and judges what is seen by that.
///
/// Its lock is none of the schedule: what it protects takes no step.
final class LedgerJudge: Sendable {
  private struct Known: Sendable {
    /// By the number of transactions in them.
    var states: [LedgerState]
    /// So many transactions were acknowledged to somebody, or seen by somebody who sees only what
    /// is durable: nobody who asks for the newest version from now on sees fewer.
    var acknowledged = 0
    /// After how many operations of the disk that was so.
    var marks: [(operations: Int, acknowledged: Int)] = []

    mutating func acknowledge(_ total: Int, after operations: Int) {
      guard total > acknowledged else { return }
      acknowledged = total
      marks.append((operations, total))
    }
  }

  private let known: Synchronization.Mutex<Known>

  private let disk: SimulatedDisk

  init(users: Int, _ disk: SimulatedDisk) {
    known = Synchronization.Mutex(Known(states: [LedgerState(users: users)]))
    self.disk = disk
  }

  /// What somebody who asks for the newest version from now on has to see at least.
  var least: Int { known.withLock { $0.acknowledged } }

  /// What was acknowledged when the disk had had so many operations.
  func least(at operation: Int) -> Int {
    known.withLock { known in
      known.marks.filter { $0.operations <= operation }.map(\.acknowledged).max() ?? 0
    }
  }

  /// The newest version that anybody has committed.
  var newest: LedgerState { known.withLock { $0.states.last! } }

  /// A transaction has begun: it has to stand on all that was committed, durable or not.
  func begins(_ realm: Realm, _ who: String) {
    check(realm.isInWriteTransaction, "\(who) runs outside of a transaction")
    let (state, newest) = (LedgerState(realm), newest)
    check(
      state == newest, "\(who) begins on \(Self.text(state)), and was to on \(Self.text(newest))")
  }

  /// Makes a change in an open transaction that is going to be committed.
  ///
  /// - Returns: how many transactions there are with it.
  func commits(_ realm: Realm, _ change: LedgerChange, of user: Int, _ who: String) -> Int {
    LedgerState.apply(change, of: user, realm)
    let state = LedgerState(realm)
    let expected = known.withLock { known in
      var next = known.states.last!
      next.apply(change, of: user)
      known.states.append(next)
      return next
    }
    check(
      state == expected,
      "\(who) makes \(Self.text(state)) by \(change), and was to make \(Self.text(expected))")
    return expected.total
  }

  /// All see so many transactions from now on.
  func acknowledge(_ total: Int) {
    // The disk's lock is one of the schedule.
    let operations = disk.operationCount
    known.withLock { $0.acknowledge(total, after: operations) }
  }

  /// Checks what a Realm shows outside of transactions.
  ///
  /// - Parameters:
  ///   - least: so many transactions at least.
  ///   - isDurable: whether it can only be what others see, too, from now on.
  /// - Returns: how many it shows.
  @discardableResult
  func sees(_ realm: Realm, least: Int, isDurable: Bool = false, _ who: String) -> Int {
    let (state, operations) = (LedgerState(realm), disk.operationCount)
    let expected = known.withLock { known -> LedgerState? in
      guard known.states.indices.contains(state.total) else { return nil }
      if isDurable { known.acknowledge(state.total, after: operations) }
      return known.states[state.total]
    }
    check(
      state == expected,
      "\(who) shows \(Self.text(state)), and with so many transactions there was "
        + (expected.map(Self.text) ?? "nothing"))
    check(state.total >= least, "\(who) shows \(state.total) transactions and had to show \(least)")
    return state.total
  }

  private static func text(_ state: LedgerState) -> String {
    "\(state.total) transactions \(state.counts) with \(state.entries)"
  }
}
