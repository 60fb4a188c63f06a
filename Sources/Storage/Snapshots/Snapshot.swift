// A readable version and the pin that keeps it alive: one object a (process, version), counted by
// Swift's own references. Freezing is one retain.
package import Platform

/// One committed version, readable from any thread for as long as the object lives.
///
/// While it lives no block of its version is reused, so the file can grow.
@usableFromInline
package final class Snapshot: Sendable {
  package let version: Version
  package let root: BlockReference
  package let reader: BlockReader
  /// When the version was first pinned here, by the store's clock.
  package let createdAt: UInt64
  /// Where this process publishes the pin for others.
  let pinSlot: PinSlot
  /// Keeps the mapping that `reader` points into.
  let mapping: ReadMapping
  private let table: SnapshotTable
  /// What its readers may point into besides the mapping; nil of a version that was made in the
  /// file.
  private let memory: SnapshotMemory?
  /// Who was the last to freeze the version, and the last whose Realm came to stand on it.
  private let frozenBy = Atomic<UInt64>(0)
  private let standing = Atomic<UInt64>(0)

  init(
    version: Version, root: BlockReference, mapping: ReadMapping, table: SnapshotTable,
    pinSlot: PinSlot, createdAt: UInt64, memory: SnapshotMemory?
  ) {
    self.memory = memory
    self.version = version
    self.root = root
    self.mapping = mapping
    self.table = table
    self.pinSlot = pinSlot
    self.createdAt = createdAt
    reader = mapping.reader
  }

  /// The bytes that it was made with are in the file.
  func noteWritten() { memory?.isWritten.store(true, ordering: .releasing) }

  /// The same version, without memory where the file has everything: the form to keep for long.
  package var settled: Snapshot {
    guard let memory, memory.isWritten.load(ordering: .acquiring) else { return self }
    if let settled = memory.settled.withLock({ $0 }) { return settled }
    let new = table.makeSnapshot(
      version, root: root, mapping: mapping, createdAt: createdAt, owner: nil)
    // Another thread may have been faster.
    return memory.settled.withLock { settled in
      let result = settled ?? new
      settled = result
      return result
    }
  }

  deinit { table.released(self) }

  /// Says who keeps the version, for lists of live versions.
  package func note(frozenBy place: PlaceNote) {
    // Relaxed, as below: a text for people.
    frozenBy.store(place.rawValue, ordering: .relaxed)
  }

  /// Says whose Realm stands on the version: those move on, so who has frozen it comes first.
  package func note(standing place: PlaceNote) {
    standing.store(place.rawValue, ordering: .relaxed)
  }

  var frozenNote: PlaceNote { PlaceNote(rawValue: frozenBy.load(ordering: .relaxed)) }

  var standingNote: PlaceNote { PlaceNote(rawValue: standing.load(ordering: .relaxed)) }
}

/// What the snapshot of a version needs that was made before its bytes were in the file.
final class SnapshotMemory: Sendable {
  /// Everything that had to be written then.
  let unwritten: [UnwrittenMemory]
  /// That is in the file now.
  let isWritten = Atomic(false)
  /// The same version without memory, once somebody has asked for it.
  let settled = Monitor<Snapshot?>(nil)

  init(_ unwritten: [UnwrittenMemory]) { self.unwritten = unwritten }
}
