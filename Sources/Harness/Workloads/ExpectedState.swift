// What the transactions so far have made of each object, in the order in which they held the write
// lock (I7). A transaction that finds anything else has lost an update, or runs beside another one.
internal import Platform

/// The state that follows from the order of transactions.
///
/// Used inside write transactions. The engine's write lock keeps them apart; that it does is what
/// is being checked, so there is a lock here too.
package final class ExpectedState: Sendable {
  private struct Entry: Sendable {
    var balance: Int
    var changes: Int
    var stamp: Int
  }

  private let entries: Monitor<[Entry]>

  /// Every object as the load leaves it.
  package init(objects: Int) {
    entries = Monitor(
      Array(
        repeating: Entry(balance: ContentModel.initialBalance, changes: 0, stamp: 0),
        count: objects))
  }

  /// Judges what transaction `transaction` has read.
  package func judge(_ row: Row, readBy transaction: Int) -> Violation? {
    difference(row).map { difference in
      Violation(
        .serialOrder, "A transaction did not find what the one before it had left.",
        witness: ["transaction \(transaction), object \(row.id): found \(difference)"])
    }
  }

  /// Notes what a transaction has stored; a new object comes right behind the others.
  package func store(_ row: Row) {
    let entry = Entry(balance: row.balance, changes: row.changes, stamp: row.stamp)
    entries.withLock { entries in
      if row.id == entries.count { entries.append(entry) } else { entries[row.id] = entry }
    }
  }

  /// Judges an object after the last transaction; nil when it is missing.
  package func judgeEnd(_ row: Row?, key: Int, version: UInt64) -> Violation? {
    guard let row else {
      return Violation(
        .serialOrder, "An object is missing at the end.",
        witness: ["version \(version): object \(key) is missing"])
    }
    return difference(row).map { difference in
      Violation(
        .serialOrder, "An update was lost, or one was kept that was never committed.",
        witness: ["version \(version), object \(key): shows \(difference)"])
    }
  }

  private func difference(_ row: Row) -> String? {
    let entry = entries.withLock { $0[row.id] }
    func text(_ changes: Int, _ balance: Int, _ stamp: Int) -> String {
      "change \(changes) with balance \(balance) by transaction \(stamp)"
    }
    if row.changes == entry.changes && row.balance == entry.balance && row.stamp == entry.stamp {
      return nil
    }
    return text(row.changes, row.balance, row.stamp) + ", expected "
      + text(entry.changes, entry.balance, entry.stamp)
  }
}
