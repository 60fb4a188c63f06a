internal import Platform
// Reading one table of one version (or of a running transaction, until its next change). A trivial
// value: pass and copy it freely. Columns are addressed by their position in the stored table.
public import Storage
public import Trees

/// Read access to a table.
@usableFromInline
package struct TableReader {
  @usableFromInline package let reader: BlockReader
  package let root: TableRoot
  /// Column of the primary key; negative without one.
  let primaryKeyColumn: Int

  /// - Parameter root: the group root of the version.
  package init(reader: BlockReader, root: BlockReference, table: StoredTable) {
    let group = reader.pointer(root)
    let slot = GroupRoot.firstTableSlot + table.index
    let block = BlockHeader.reference(group, slot)
    self.init(
      reader: reader, table: table,
      root: block.isNone ? TableRoot() : TableRoot(reader.pointer(block)))
  }

  init(reader: BlockReader, table: StoredTable, root: TableRoot) {
    self.reader = reader
    self.root = root
    primaryKeyColumn = table.primaryKeyColumn ?? -1
  }

  /// Number of objects.
  package var count: Int { root.clusters.count }

  /// The key at a position in key order.
  ///
  /// - Complexity: O(log n).
  package func key(at position: Int) -> ObjectKey {
    ObjectKey(rawValue: root.clusters.key(reader, at: position))
  }

  /// The position of an object in key order; nil when it is not there.
  package func position(of key: ObjectKey) -> Int? {
    root.clusters.position(reader, of: key.rawValue)
  }

  /// Where an object is; nil when it is not there.
  package func locate(_ key: ObjectKey) -> RowLocation? {
    root.clusters.locate(reader, key.rawValue)
  }

  /// The object after another in key order; with nil the first.
  package func nextKey(after key: ObjectKey?) -> ObjectKey? {
    root.clusters.nextKey(reader, after: key?.rawValue).map { ObjectKey(rawValue: $0) }
  }

  // MARK: - By primary key

  /// The object with this integer primary key.
  package func find(integer: Int64?) -> ObjectKey? {
    let column = primaryKeyColumn
    let hash = integer.map(HashIndex.hash) ?? HashIndex.nullHash
    let found = root.index.find(reader, hash: hash) { key in
      guard let location = root.clusters.locate(reader, key) else { return false }
      guard let integer else { return isNull(location, column) }
      return self.integer(location, column) == integer && !isNull(location, column)
    }
    return found.map { ObjectKey(rawValue: $0) }
  }

  /// The object with this string or data primary key.
  package func find(bytes: UnsafeRawBufferPointer?) -> ObjectKey? {
    let column = primaryKeyColumn
    let found = root.index.find(reader, hash: Self.hash(bytes)) { key in
      guard let location = root.clusters.locate(reader, key) else { return false }
      return withBytes(location, column) { stored in
        guard let bytes, let stored else { return bytes == nil && stored == nil }
        return stored.elementsEqual(bytes)
      }
    }
    return found.map { ObjectKey(rawValue: $0) }
  }

  /// Hash of a byte string key.
  static func hash(_ bytes: UnsafeRawBufferPointer?) -> UInt64 {
    guard let bytes else { return HashIndex.nullHash }
    guard let start = bytes.baseAddress else { return hash64("", count: 0, seed: 0) }
    return hash64(start, count: bytes.count, seed: 0)
  }

  // MARK: - Values

  /// A packed value; 0 for null.
  @inlinable @inline(__always)
  package func integer(_ location: RowLocation, _ column: Int) -> Int64 {
    let leaf = Cluster.leaf(location.cluster, column)
    if leaf.isNone { return 0 }
    return IntegerLeaf.value(reader.pointer(leaf), location.row)
  }

  /// Whether a packed value is null.
  @inlinable @inline(__always)
  package func isNull(_ location: RowLocation, _ column: Int) -> Bool {
    let leaf = Cluster.leaf(location.cluster, column)
    // A column that the cluster does not have yet holds its default: null where it may be null, which
    // is all that anyone asks of it.
    if leaf.isNone { return true }
    return IntegerLeaf.isNull(reader.pointer(leaf), location.row)
  }

  /// Runs `body` on the bytes of a string or data value, nil for null.
  package func withBytes<R>(
    _ location: RowLocation, _ column: Int, _ body: (UnsafeRawBufferPointer?) -> R
  ) -> R {
    let leaf = Cluster.leaf(location.cluster, column)
    if leaf.isNone { return body(nil) }
    return BytesColumn.withBytes(reader, leaf, location.row, body)
  }

  // MARK: - Whole columns

  /// Visits clusters in key order until `body` returns false.
  package func forEachCluster(
    _ body: (_ firstKey: ObjectKey, _ cluster: UnsafeRawPointer) -> Bool
  ) {
    root.clusters.forEachCluster(reader) { body(ObjectKey(rawValue: $0), $1) }
  }

  /// Wrapping sum of an integer column.
  package func sum(_ column: Int) -> Int64 {
    var sum: Int64 = 0
    forEachCluster { _, cluster in
      let leaf = Cluster.leaf(cluster, column)
      if !leaf.isNone { sum &+= IntegerLeaf.sum(reader.pointer(leaf)) }
      return true
    }
    return sum
  }

  /// Number of objects whose packed value equals `value`.
  package func count(_ column: Int, equalTo value: Int64) -> Int {
    var count = 0
    forEachCluster { _, cluster in
      let leaf = Cluster.leaf(cluster, column)
      if !leaf.isNone {
        count += IntegerLeaf.countEqual(reader.pointer(leaf), value)
      } else if value == 0 {
        count += Cluster.rows(cluster)
      }
      return true
    }
    return count
  }
}
