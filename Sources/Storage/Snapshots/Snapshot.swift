// A readable version and the pin that keeps it alive: one object a (process, version), counted by
// Swift's own references. Freezing is one retain.
internal import Platform

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
      version, root: root, mapping: mapping, createdAt: createdAt, owner: nil)
  }

  deinit { table.released(version, pinSlot) }
}
