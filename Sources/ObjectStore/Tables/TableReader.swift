// Reading one table of one version, or of a running transaction until its next change. A trivial
// value: pass and copy it freely. Columns are addressed by their position in the stored table.
// Whole-column work is in TableReader+Columns.
public import Storage
public import Trees

/// Read access to a table.
///
/// Valid while the version's snapshot and the `StoredTable` live.
@frozen @usableFromInline
package struct TableReader {
  @usableFromInline let tree: ClusterTree
  /// Number of objects.
  @usableFromInline package let count: Int
  /// Key of the next object.
  package let nextKey: Int64
  @usableFromInline let indexRoot: BlockReference
  @usableFromInline let bucketCount: Int
  /// Column of the primary key; -1 without one.
  @usableFromInline let keyColumn: Int
  @usableFromInline let optionalColumns: UnsafePointer<UInt8>
  @usableFromInline let traits: UnsafePointer<ColumnTraits>
  /// Roots of the columns' trees of pairs, two a column; nil if there are none.
  @usableFromInline let pairRoots: UnsafeRawPointer?

  /// - Parameter root: the group root of the version.
  package init(reader: BlockReader, root: BlockReference, table: StoredTable) {
    self.init(
      reader: reader,
      block: BlockHeader.reference(
        reader.pointer(root, GroupRoot.kind), GroupRoot.firstTableSlot + table.index),
      table: table)
  }

  /// - Parameter block: the table's root; none for a table that was never used.
  @inline(__always)
  init(reader: BlockReader, block: BlockReference, table: StoredTable) {
    if block.isNone {
      self.init(reader: reader, form: Form(table), root: TableRoot(), pairRoots: nil)
    } else {
      let root = reader.pointer(block, TableRoot.kind)
      let form = Form(table)
      let references = BlockHeader.count(root)
      if references != TableRoot.references,
        references < TableRoot.references &+ 2 &* form.columnCount
      {
        reader.stop(at: root, "it has fewer trees than its table has columns")
      }
      self.init(
        reader: reader, form: form, root: TableRoot(root),
        pairRoots: TableRoot.pairRoots(root))
    }
  }

  /// What a reader has to know of its table; good while that lives.
  struct Form {
    let keyColumn: Int
    let optionalColumns: UnsafePointer<UInt8>
    let traits: UnsafePointer<ColumnTraits>
    let columnCount: Int

    @inline(__always)
    init(_ table: StoredTable) {
      keyColumn = table.keyColumn
      optionalColumns = table.optionalColumns
      traits = table.traits
      columnCount = table.schema.columns.count
    }
  }

  @inline(__always)
  init(reader: BlockReader, form: Form, root: TableRoot, pairRoots: UnsafeRawPointer?) {
    tree = ClusterTree(reader: reader, root: root.clusters, depth: root.depth)
    count = root.count
    nextKey = root.nextKey
    indexRoot = root.index
    bucketCount = root.bucketCount
    keyColumn = form.keyColumn
    optionalColumns = form.optionalColumns
    traits = form.traits
    self.pairRoots = pairRoots
  }

  /// A tree of pairs.
  @inlinable @inline(__always)
  func pairTree(_ column: Int, _ use: PairUse) -> PairTree {
    let root =
      pairRoots.map {
        UInt64(
          littleEndian: $0.load(
            fromByteOffset: (2 &* column &+ use.rawValue) &* 8, as: UInt64.self))
      } ?? 0
    return PairTree(reader: tree.reader, root: BlockReference(stored: root))
  }

  /// Reads the blocks of the version.
  @inlinable package var reader: BlockReader { tree.reader }

  @inlinable @inline(__always)
  var index: HashIndex {
    HashIndex(reader: tree.reader, root: indexRoot, bucketCount: bucketCount)
  }

  // MARK: - By position and key

  /// The key at a position in key order.
  ///
  /// - Precondition: the position is below `count`.
  /// - Complexity: O(log n).
  package func key(at position: Int) -> ObjectKey {
    guard let found = tree.cluster(at: position) else {
      precondition(position >= 0 && position < count, "position \(position) of \(count)")
      stopForDamage(reader.damage(tree.root, "its table counts more objects than it has"))
    }
    let slot = Cluster.slot(found.cluster, row: position - found.before)
    return ObjectKey(rawValue: Int64(found.number) << Cluster.slotBits + Int64(slot))
  }

  /// The position of an object in key order; nil when it is not there.
  ///
  /// - Complexity: O(log n).
  package func position(of key: ObjectKey) -> Int? {
    guard let location = locate(key) else { return nil }
    return tree.objects(before: Int(key.rawValue >> Cluster.slotBits)) + location.row
  }

  /// How many objects come before a key in key order, whether or not there is an object with it.
  ///
  /// - Complexity: O(log n).
  package func rank(of key: ObjectKey) -> Int {
    let number = Int(key.rawValue >> Cluster.slotBits)
    if number >> (tree.depth * ClusterTree.branchBits) != 0 { return count }
    let before = tree.objects(before: number)
    return tree.cluster(number).map { before + Cluster.rank($0, slot: Int(key.rawValue & 255)) }
      ?? before
  }

  /// Where an object is; nil when it is not there.
  ///
  /// - Complexity: O(log n).
  @inlinable @inline(__always)
  package func locate(_ key: ObjectKey) -> RowLocation? {
    let raw = key.rawValue
    guard let cluster = tree.cluster(Int(truncatingIfNeeded: raw &>> Cluster.slotBits)),
      let row = Cluster.row(cluster, slot: Int(truncatingIfNeeded: raw & 255))
    else { return nil }
    return RowLocation(cluster: cluster, row: row)
  }

  /// The object after another in key order; with nil the first.
  ///
  /// - Complexity: O(log n).
  package func nextKey(after key: ObjectKey?) -> ObjectKey? {
    let from = key.map { $0.rawValue + 1 } ?? 0
    let first = Int(from >> Cluster.slotBits)
    if let cluster = tree.cluster(first),
      let slot = Cluster.nextSlot(cluster, from: Int(from & 255))
    {
      return ObjectKey(rawValue: Int64(first) << Cluster.slotBits + Int64(slot))
    }
    var found: Int64?
    tree.forEachCluster(from: first, isScan: false) { number, cluster in
      let slot = Cluster.nextSlot(cluster, from: number == first ? Int(from & 255) : 0)
      if let slot { found = Int64(number) << Cluster.slotBits + Int64(slot) }
      return slot == nil
    }
    return found.map { ObjectKey(rawValue: $0) }
  }

  // MARK: - By primary key

  /// The object with this integer primary key; nil is null.
  @inlinable
  package func find(integer: Int64?) -> ObjectKey? { findRow(integer: integer)?.key }

  /// The object with this integer primary key, and where it is.
  @inlinable @inline(__always)
  package func findRow(integer: Int64?) -> (key: ObjectKey, location: RowLocation)? {
    guard let integer else { return findRowOfNull() }
    var found: RowLocation?
    let key = index.find(IndexHash.integer(integer)) { candidate in
      guard let location = locate(ObjectKey(rawValue: candidate)) else { return false }
      prefetch(location)
      guard self.integer(location, keyColumn) == integer,
        optionalColumns[keyColumn] == 0 || !isNull(location, keyColumn)
      else { return false }
      found = location
      return true
    }
    guard let key, let found else { return nil }
    return (ObjectKey(rawValue: key), found)
  }

  /// The object with this string or data primary key; nil is null.
  @inlinable
  package func find(bytes: UnsafeRawBufferPointer?) -> ObjectKey? { findRow(bytes: bytes)?.key }

  /// The object with this string or data primary key, and where it is.
  @usableFromInline
  package func findRow(
    bytes: UnsafeRawBufferPointer?
  ) -> (key: ObjectKey, location: RowLocation)? {
    guard let bytes else { return findRowOfNull() }
    let hash = IndexHash.bytes(bytes)
    let index = index
    guard let bucket = index.shortBucket(hash) else {
      return findRowSlowly(bytes, hash)
    }
    var rest = HashBucket.candidates(bucket, UInt8(truncatingIfNeeded: hash &>> 56))
    if _slowPath(rest & (rest &- 1) != 0) { prefetchKeys(rest, of: bucket, length: bytes.count) }
    while rest != 0 {
      let key = HashBucket.key(bucket, rest.trailingZeroBitCount)
      if let location = locate(ObjectKey(rawValue: key), bytes) {
        return (ObjectKey(rawValue: key), location)
      }
      rest &= rest &- 1
    }
    return nil
  }

  /// The same where hashes of many objects are equal.
  @inline(never)
  private func findRowSlowly(
    _ bytes: UnsafeRawBufferPointer, _ hash: UInt64
  ) -> (key: ObjectKey, location: RowLocation)? {
    var found: RowLocation?
    let key = index.find(hash) { candidate in
      found = locate(ObjectKey(rawValue: candidate), bytes)
      return found != nil
    }
    guard let key, let found else { return nil }
    return (ObjectKey(rawValue: key), found)
  }

  /// Where an object is; nil when it is not there, or its primary key has other bytes.
  ///
  /// A function of its own: what it keeps in registers would be in the way of the search for
  /// candidates.
  @inline(never)
  private func locate(_ key: ObjectKey, _ bytes: UnsafeRawBufferPointer) -> RowLocation? {
    guard let location = locate(key) else { return nil }
    prefetchKey(location, length: bytes.count)
    prefetch(location)
    return hasKey(location, bytes) ? location : nil
  }

  /// Starts to load the primary keys of several candidates, before the first is looked at.
  @inline(never)
  private func prefetchKeys(_ candidates: UInt64, of bucket: UnsafeRawPointer, length: Int) {
    var rest = candidates
    while rest != 0 {
      let key = HashBucket.key(bucket, rest.trailingZeroBitCount)
      if let location = locate(ObjectKey(rawValue: key)) { prefetchKey(location, length: length) }
      rest &= rest &- 1
    }
  }

  /// Whether a row's primary key has these bytes.
  @inline(__always)
  func hasKey(_ location: RowLocation, _ bytes: UnsafeRawBufferPointer) -> Bool {
    // A key that was never stored is empty, unless it may be nil.
    if _slowPath(bytes.isEmpty) {
      return withBytes(location, keyColumn) { $0?.isEmpty ?? false }
    }
    return BytesColumn.isEqual(
      tree.reader, Cluster.column(location.cluster, keyColumn), location.row, bytes)
  }

  /// Starts to load the primary key of a row, of about so many bytes, and what says where it is.
  @inline(__always)
  private func prefetchKey(_ location: RowLocation, length: Int) {
    BytesColumn.prefetchKey(
      reader, Cluster.column(location.cluster, keyColumn), location.row, length: length,
      rows: Cluster.rows(location.cluster))
  }

  @usableFromInline
  func findRowOfNull() -> (key: ObjectKey, location: RowLocation)? {
    if keyColumn < 0 || optionalColumns[keyColumn] == 0 { return nil }
    var found: RowLocation?
    let key = index.find(IndexHash.null) { candidate in
      guard let location = locate(ObjectKey(rawValue: candidate)), isNullKey(location) else {
        return false
      }
      found = location
      return true
    }
    guard let key, let found else { return nil }
    return (ObjectKey(rawValue: key), found)
  }

  private func isNullKey(_ location: RowLocation) -> Bool {
    let reference = Cluster.column(location.cluster, keyColumn)
    if reference.isNone { return true }
    if traits[keyColumn].isPacked {
      return isNull(location, keyColumn)
    }
    return BytesColumn.isNull(reader, reference, location.row)
  }

  // MARK: - Values

  /// A packed value: integers as such, Bool 0 or 1, Double, Date and Float as bit patterns, links
  /// as object keys.
  ///
  /// Unspecified for null.
  ///
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  package func integer(_ location: RowLocation, _ column: Int) -> Int64 {
    let reference = Cluster.column(location.cluster, column)
    if reference.isNone { return 0 }
    let leaf = tree.reader.pointer(reference, .packedLeaf)
    return location.row < PackedLeaf.rows(leaf) ? PackedLeaf.value(leaf, location.row) : 0
  }

  /// Starts to load what the row's first columns are read from, so that they come from memory
  /// together.
  @inlinable @inline(__always)
  package func prefetch(_ location: RowLocation) {
    for column in 0..<min(Cluster.columns(location.cluster), 6) {
      let leaf = BlockHeader.reference(location.cluster, column)
      // Where the element of a packed leaf is when it takes one byte.
      tree.reader.prefetch(leaf, and: 24 &+ location.row)
    }
  }

  /// Starts to load what says where an object is.
  @inlinable @inline(__always)
  package func prefetchCluster(_ key: ObjectKey) {
    tree.prefetchCluster(Int(truncatingIfNeeded: key.rawValue &>> Cluster.slotBits))
  }

  /// Starts to load what an iteration that comes to an object's cluster will read of the next one.
  package func prefetchCluster(behind key: ObjectKey) {
    tree.prefetchCluster(behind: Int(truncatingIfNeeded: key.rawValue &>> Cluster.slotBits))
  }

  /// Starts to load the packed value of a row that was not looked at lately.
  ///
  /// Where it is follows from the leaf's header; if it takes one byte, both are on their way at
  /// once.
  @inlinable @inline(__always)
  package func prefetchInteger(_ location: RowLocation, _ column: Int) {
    let leaf = Cluster.column(location.cluster, column)
    tree.reader.prefetch(leaf, offset: 24 &+ location.row)
  }

  /// Whether a packed value is null.
  ///
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  package func isNull(_ location: RowLocation, _ column: Int) -> Bool {
    if optionalColumns[column] == 0 { return false }
    let reference = Cluster.column(location.cluster, column)
    if reference.isNone { return true }
    let leaf = tree.reader.pointer(reference, .packedLeaf)
    return location.row >= PackedLeaf.rows(leaf) || PackedLeaf.isNull(leaf, location.row)
  }

  /// A packed value; nil for null.
  ///
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  package func optionalInteger(_ location: RowLocation, _ column: Int) -> Int64? {
    if optionalColumns[column] == 0 { return integer(location, column) }
    let reference = Cluster.column(location.cluster, column)
    if reference.isNone { return nil }
    let leaf = tree.reader.pointer(reference, .packedLeaf)
    if location.row >= PackedLeaf.rows(leaf) || PackedLeaf.isNull(leaf, location.row) { return nil }
    return PackedLeaf.value(leaf, location.row)
  }

  /// Runs `body` on the bytes of a string or data value, nil for null.
  ///
  /// The bytes are valid inside `body` only. Values up to 32 KB are not copied.
  @inlinable @inline(__always)
  package func withBytes<Result>(
    _ location: RowLocation, _ column: Int,
    _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    let isOptional = optionalColumns[column] != 0
    return try BytesColumn.withBytes(
      tree.reader, Cluster.column(location.cluster, column), location.row
    ) { bytes in
      if bytes == nil && !isOptional {
        return try body(UnsafeRawBufferPointer(start: nil, count: 0))
      }
      return try body(bytes)
    }
  }
}

extension RowLocation {
  /// Where another object is, if it shares the cluster of this one.
  ///
  /// Nil says nothing.
  ///
  /// - Parameter own: the key of the object that is here.
  @inlinable @inline(__always)
  package func neighbour(_ key: ObjectKey, of own: ObjectKey) -> RowLocation? {
    guard key.rawValue &>> Cluster.slotBits == own.rawValue &>> Cluster.slotBits,
      let row = Cluster.row(cluster, slot: Int(truncatingIfNeeded: key.rawValue & 255))
    else { return nil }
    return RowLocation(cluster: cluster, row: row)
  }
}

/// What a column's tree of pairs is for.
@frozen @usableFromInline
enum PairUse: Int {
  /// (Target, origin) of each link.
  case links = 0
  /// (Order of the value, object) of each object.
  case index = 1
}
