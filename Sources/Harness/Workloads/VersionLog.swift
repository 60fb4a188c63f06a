// What the writers tell the readers: which transaction made a version, and which writes have
// returned. Lock-free, because it is asked at every refresh. It lies in memory of its own, or in
// that which the processes of a run share.
internal import Platform

/// Transactions by version, for the versions of the recent past, and the newest acknowledged ones.
package final class VersionLog: @unchecked Sendable {
  // @unchecked: `words` is set once, freed in deinit, and its elements are atomics.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  /// Keeps the memory that it shares with other processes; nil where it is its own.
  private let shared: SharedWords?
  private static let slotCount = 1 << 16
  private static let firstSlot = 8
  /// Words that it needs.
  static let wordCount = firstSlot + 2 * slotCount

  package init() {
    words = .allocate(capacity: Self.wordCount)
    for position in 0..<Self.wordCount { (words + position).initialize(to: Atomic(0)) }
    shared = nil
  }

  /// In shared memory, from a word on.
  init(in shared: SharedWords, from first: Int) {
    words = shared.words + first
    self.shared = shared
  }

  deinit {
    guard shared == nil else { return }
    words.deinitialize(count: Self.wordCount)
    words.deallocate()
  }

  private var newestVersion: UnsafeMutablePointer<Atomic<UInt64>> { words }
  private var newestTransaction: UnsafeMutablePointer<Atomic<UInt64>> { words + 1 }
  private var lastTransaction: UnsafeMutablePointer<Atomic<UInt64>> { words + 2 }

  /// A number for a new transaction.
  ///
  /// Call it while holding the write lock, so that numbers follow the order of commits.
  package func nextTransaction() -> Int {
    Int(lastTransaction.pointee.add(1, ordering: .relaxed).newValue)
  }

  /// The same where other processes take numbers, too, and may die with one.
  ///
  /// - Parameter isCommitted: whether the file holds a transaction; asked about the last one where
  ///   nobody has said so. Its number is taken again if not.
  package func nextTransaction(orAgain isCommitted: (Int) -> Bool) -> Int {
    let last = transactions
    if last > acknowledgedTransaction && !isCommitted(last) { return last }
    return nextTransaction()
  }

  /// The largest number given away.
  package var transactions: Int { Int(lastTransaction.pointee.load(ordering: .relaxed)) }

  /// Forgets the last number if its process died before the commit; when nobody writes any more.
  package func dropUncommitted(_ isCommitted: (Int) -> Bool) {
    let last = transactions
    if last > acknowledgedTransaction && !isCommitted(last) {
      lastTransaction.pointee.store(UInt64(last - 1), ordering: .relaxed)
    }
  }

  /// Says that a write has returned.
  ///
  /// Returns another transaction that had the same version, if any.
  @discardableResult
  package func acknowledge(version: UInt64, transaction: Int) -> Int? {
    let slot = words + Self.firstSlot + 2 * Int(version % UInt64(Self.slotCount))
    let other = self.transaction(of: version)
    // A reader that sees the version before and after sees the transaction that belongs to it.
    slot[0].store(0, ordering: .sequentiallyConsistent)
    slot[1].store(UInt64(transaction), ordering: .sequentiallyConsistent)
    slot[0].store(version, ordering: .sequentiallyConsistent)
    // Releasing: pairs with the acquiring loads below; who sees the number must see the commit.
    newestVersion.pointee.max(version, ordering: .releasing)
    newestTransaction.pointee.max(UInt64(transaction), ordering: .releasing)
    return other == transaction ? nil : other
  }

  /// The transaction that made a version, or nil when it is not known (any more).
  package func transaction(of version: UInt64) -> Int? {
    let slot = words + Self.firstSlot + 2 * Int(version % UInt64(Self.slotCount))
    guard version != 0, slot[0].load(ordering: .sequentiallyConsistent) == version else {
      return nil
    }
    let transaction = slot[1].load(ordering: .sequentiallyConsistent)
    guard slot[0].load(ordering: .sequentiallyConsistent) == version else { return nil }
    return Int(transaction)
  }

  /// The newest version whose write has returned.
  package var acknowledgedVersion: UInt64 { newestVersion.pointee.load(ordering: .acquiring) }
  /// The newest transaction whose write has returned.
  package var acknowledgedTransaction: Int {
    Int(newestTransaction.pointee.load(ordering: .acquiring))
  }
}
