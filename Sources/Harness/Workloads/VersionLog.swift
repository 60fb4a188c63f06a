// What the writers tell the readers: which transaction made a version, and which writes have
// returned. Lock-free, because it is asked at every refresh.
internal import Platform

/// Transactions by version, for the versions of the recent past, and the newest acknowledged ones.
package final class VersionLog: @unchecked Sendable {
  // @unchecked: `slots` is set once, freed in deinit, and its elements are atomics.
  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  private static let slotCount = 1 << 16

  private let newestVersion = Atomic<UInt64>(0)
  private let newestTransaction = Atomic<Int>(0)
  private let lastTransaction = Atomic<Int>(0)

  package init() {
    slots = .allocate(capacity: 2 * Self.slotCount)
    for position in 0..<(2 * Self.slotCount) {
      (slots + position).initialize(to: Atomic(0))
    }
  }

  deinit {
    slots.deinitialize(count: 2 * Self.slotCount)
    slots.deallocate()
  }

  /// A number for a new transaction.
  ///
  /// Call it while holding the write lock, so that numbers follow the order of commits.
  package func nextTransaction() -> Int {
    lastTransaction.add(1, ordering: .relaxed).newValue
  }

  /// The largest number given away.
  package var transactions: Int { lastTransaction.load(ordering: .relaxed) }

  /// Says that a write has returned.
  ///
  /// Returns another transaction that had the same version, if any.
  @discardableResult
  package func acknowledge(version: UInt64, transaction: Int) -> Int? {
    let slot = slots + 2 * Int(version % UInt64(Self.slotCount))
    let other = self.transaction(of: version)
    // A reader that sees the version before and after sees the transaction that belongs to it.
    slot[0].store(0, ordering: .sequentiallyConsistent)
    slot[1].store(UInt64(transaction), ordering: .sequentiallyConsistent)
    slot[0].store(version, ordering: .sequentiallyConsistent)
    // Releasing: pairs with the acquiring loads below; who sees the number must see the commit.
    newestVersion.max(version, ordering: .releasing)
    newestTransaction.max(transaction, ordering: .releasing)
    return other == transaction ? nil : other
  }

  /// The transaction that made a version, or nil when it is not known (any more).
  package func transaction(of version: UInt64) -> Int? {
    let slot = slots + 2 * Int(version % UInt64(Self.slotCount))
    guard version != 0, slot[0].load(ordering: .sequentiallyConsistent) == version else {
      return nil
    }
    let transaction = slot[1].load(ordering: .sequentiallyConsistent)
    guard slot[0].load(ordering: .sequentiallyConsistent) == version else { return nil }
    return Int(transaction)
  }

  /// The newest version whose write has returned.
  package var acknowledgedVersion: UInt64 { newestVersion.load(ordering: .acquiring) }
  /// The newest transaction whose write has returned.
  package var acknowledgedTransaction: Int { newestTransaction.load(ordering: .acquiring) }
}
