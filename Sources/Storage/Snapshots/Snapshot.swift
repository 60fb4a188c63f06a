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
  /// What its readers may point into besides the mapping: bytes that had to be written when it was made.
  private let memory: [UnwrittenMemory]
  /// Those bytes are in the file now.
  private let isWritten = Atomic(false)
  /// Who was the last to freeze the version, and the last whose Realm came to stand on it.
  private let frozenBy = Atomic<UInt64>(0)
  private let standing = Atomic<UInt64>(0)

  init(
    version: Version, root: BlockReference, mapping: ReadMapping, table: SnapshotTable,
    pinSlot: PinSlot, createdAt: UInt64, memory: [UnwrittenMemory]
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
  func noteWritten() { isWritten.store(true, ordering: .releasing) }

  /// The same version, without memory where the file has everything: the form to keep for long.
  package var settled: Snapshot {
    if memory.isEmpty || !isWritten.load(ordering: .acquiring) { return self }
    return table.makeSnapshot(
      version, root: root, mapping: mapping, createdAt: createdAt, owner: nil, settling: self)
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

  /// Takes over what was noted of another pin of the version.
  func takeNotes(of old: Snapshot) {
    frozenBy.store(old.frozenBy.load(ordering: .relaxed), ordering: .relaxed)
    standing.store(old.standing.load(ordering: .relaxed), ordering: .relaxed)
  }

  var keptBy: PlaceNote {
    let frozen = frozenBy.load(ordering: .relaxed)
    return PlaceNote(rawValue: frozen != 0 ? frozen : standing.load(ordering: .relaxed))
  }
}
