// One table inside a write transaction: its tree, its primary key index, and what they were loaded
// from. Made when the transaction first touches the table.
internal import Storage
internal import Trees

/// Changes one table.
///
/// Belongs to one GroupTransaction.
final class TableEditor {
  let editor: BlockEditor
  let tree: ClusterTreeEditor
  @exclusivity(unchecked) var index: HashIndexEditor
  /// The table's root block in the base version; none for a new table.
  private let block: BlockReference
  private let base: TableRoot
  @exclusivity(unchecked) var table: StoredTable { didSet { form = TableReader.Form(table) } }
  /// Of `table`, so that a reader is made without counting references.
  @exclusivity(unchecked) private var form: TableReader.Form
  /// Roots of the columns' trees of pairs as they are now, two a column; readers hold its address.
  @exclusivity(unchecked) private var pairRoots: UnsafeMutableBufferPointer<BlockReference>
  /// Editors of these trees, made when they are first changed.
  @exclusivity(unchecked) private var pairEditors: [PairTreeEditor?] = []
  @exclusivity(unchecked) private var isPairChanged = false
  /// Notes what is changed; nil unless the transaction is recorded.
  @exclusivity(unchecked) var recorder: TableRecorder? { didSet { isNoting = true } }
  /// Notes which objects are touched; nil until somebody asks.
  @exclusivity(unchecked) var touches: TouchLog? { didSet { isNoting = true } }
  /// By columns of links: to which objects those lead that come or go.
  @exclusivity(unchecked) var linkLogs: [Int: TouchLog] = [:]
  /// Whether there is one of them.
  @exclusivity(unchecked) private(set) var isNoting = false

  init(_ editor: BlockEditor, _ table: StoredTable, block: BlockReference) {
    self.editor = editor
    self.table = table
    form = TableReader.Form(table)
    self.block = block
    base = block.isNone ? TableRoot() : TableRoot(editor.reader.pointer(block, TableRoot.kind))
    tree = ClusterTreeEditor(
      editor, root: base.clusters, depth: base.depth, count: base.count, nextKey: base.nextKey,
      columnCount: table.schema.columns.count)
    index = HashIndexEditor(
      editor, root: base.index, bucketCount: base.bucketCount, count: base.entries)
    pairRoots = UnsafeMutableBufferPointer(start: nil, count: 0)
    if table.hasPairs { loadPairRoots() }
  }

  /// Starts to note what is changed.
  ///
  /// - Parameter notesMax: so many objects at most.
  func record(notesMax: Int) {
    recorder = TableRecorder(
      firstNewKey: ObjectKey(rawValue: base.nextKey), notesMax: notesMax)
  }

  deinit { pairRoots.deallocate() }

  /// Whether new objects were given keys.
  var hasAdded: Bool { tree.shape.nextKey > base.nextKey }

  /// What the table root has to say now.
  var root: TableRoot {
    tree.flush()
    return unflushedRoot
  }

  /// The same with object counts of branches that may be behind: for everything but positions.
  @inline(__always)
  private var unflushedRoot: TableRoot {
    let tree = tree.shape
    let index = Unmanaged.passUnretained(index)._withUnsafeGuaranteedRef { $0.shape }
    return TableRoot(
      clusters: tree.root, depth: tree.depth, index: index.root, nextKey: tree.nextKey,
      count: tree.count, bucketCount: index.bucketCount, entries: index.count)
  }

  /// A reader for look-ups while the table is being changed.
  var lookup: TableReader {
    TableReader(
      reader: editor.reader, form: form, root: unflushedRoot,
      pairRoots: UnsafeRawPointer(pairRoots.baseAddress))
  }

  /// A reader that sees all changes so far; good until the next change.
  var reader: TableReader {
    TableReader(
      reader: editor.reader, form: form, root: root,
      pairRoots: UnsafeRawPointer(pairRoots.baseAddress))
  }

  /// Writes the table root if the table has changed.
  ///
  /// - Returns: its block.
  func finish() -> BlockReference {
    tree.finish()
    let root = root
    if root == base && !isPairChanged { return block }
    return root.store(editor, block, pairRoots: UnsafeBufferPointer(pairRoots))
  }

  // MARK: - Trees of pairs

  private func loadPairRoots() {
    pairRoots = .allocate(capacity: 2 * table.schema.columns.count)
    pairRoots.initialize(repeating: .none)
    pairEditors = Array(repeating: nil, count: pairRoots.count)
    guard !block.isNone else { return }
    let root = editor.reader.pointer(block, TableRoot.kind)
    let stored = BlockHeader.count(root) - TableRoot.references
    // Columns may have been added in this transaction.
    for slot in 0..<max(min(stored, pairRoots.count), 0) {
      pairRoots[slot] = BlockHeader.reference(root, TableRoot.references + slot)
    }
  }

  /// Changes a tree of pairs.
  func changePairs<Result>(
    _ column: Int, _ use: PairUse, _ change: (PairTreeEditor) -> Result
  ) -> Result {
    let slot = 2 * column + use.rawValue
    // `pairEditors` keeps it.
    let pairs =
      pairEditors[slot].map { Unmanaged.passUnretained($0) } ?? openPairs(slot)
    return pairs._withUnsafeGuaranteedRef { pairs in
      defer {
        pairRoots[slot] = pairs.root
        isPairChanged = true
      }
      return change(pairs)
    }
  }

  @inline(never)
  private func openPairs(_ slot: Int) -> Unmanaged<PairTreeEditor> {
    let pairs = PairTreeEditor(editor, root: pairRoots[slot])
    pairEditors[slot] = pairs
    return .passUnretained(pairs)
  }

  /// Goes over to a changed table.
  ///
  /// - Parameter origins: of each of its columns, the column that it was; nil for a new one.
  func change(to changed: StoredTable, columnsFrom origins: [Int?]) {
    table = changed
    // Its columns have other numbers.
    dropLinkLogs()
    let oldRoots = pairRoots
    let oldEditors = pairEditors
    let count = changed.hasPairs ? 2 * origins.count : 0
    if count == 0 && oldRoots.isEmpty { return }
    // Without pairs there is no address: readers look at nothing then.
    pairRoots = UnsafeMutableBufferPointer(start: nil, count: 0)
    if count > 0 {
      pairRoots = .allocate(capacity: count)
      pairRoots.initialize(repeating: .none)
    }
    pairEditors = Array(repeating: nil, count: count)
    isPairChanged = true
    for slot in 0..<count {
      guard let origin = origins[slot / 2] else { continue }
      let old = 2 * origin + slot % 2
      guard old < oldRoots.count else { continue }
      pairRoots[slot] = oldRoots[old]
      pairEditors[slot] = oldEditors[old]
    }
    oldRoots.deallocate()
  }

  // MARK: - Primary key

  /// The object with this string or data primary key; nil is null.
  func find(_ bytes: UnsafeRawBufferPointer?, hash: UInt64) -> ObjectKey? {
    let lookup = lookup
    guard let bytes else { return lookup.find(bytes: nil) }
    // Most often there is none: then what is known of the new objects spares a look at them.
    func isWanted(_ candidate: Int64) -> Bool {
      if index.isKnownToDiffer(candidate, from: hash) { return false }
      guard let location = lookup.locate(ObjectKey(rawValue: candidate)) else { return false }
      return lookup.hasKey(location, bytes)
    }
    let buckets = lookup.index
    guard let bucket = buckets.shortBucket(hash) else {
      return buckets.find(hash, isWanted).map { ObjectKey(rawValue: $0) }
    }
    var rest = HashBucket.candidates(bucket, UInt8(truncatingIfNeeded: hash &>> 56))
    while rest != 0 {
      let key = HashBucket.key(bucket, rest.trailingZeroBitCount)
      if isWanted(key) { return ObjectKey(rawValue: key) }
      rest &= rest &- 1
    }
    return nil
  }

  func insertIntoIndex(_ key: ObjectKey, hash: UInt64) {
    Unmanaged.passUnretained(index)._withUnsafeGuaranteedRef { index in
      index.insert(hash, key.rawValue) { hashKeys($0, $1) }
    }
  }

  /// Makes the primary key index ready for so many further objects.
  func reserveIndex(_ more: Int) { index.reserve(more) { hashKeys($0, $1) } }

  private func hashKeys(
    _ keys: UnsafeBufferPointer<Int64>, _ hashes: UnsafeMutablePointer<UInt64>
  ) {
    let reader = lookup
    let layout = table.layouts[table.keyColumn]
    reader.prefetchKeys(keys)
    for (position, other) in keys.enumerated() {
      guard let hash = reader.keyHash(ObjectKey(rawValue: other), layout) else {
        stopForDamage("the index of \(table.schema.name) has a key without object")
      }
      hashes[position] = hash
    }
  }

  /// Stops because the table's trees do not agree.
  @inline(never)
  func stopForDamage(_ reason: String) -> Never {
    Storage.stopForDamage(editor.reader.damage(block.isProvisional ? .none : block, reason))
  }

  func removeFromIndex(_ key: ObjectKey) {
    if let location = lookup.locate(key) { removeFromIndex(key, at: location) }
  }

  /// Starts to load the places in the primary key index that some objects will be removed from.
  func prefetchIndex(_ keys: ArraySlice<ObjectKey>) {
    let lookup = lookup
    let layout = table.layouts[table.keyColumn]
    let buckets = index.index
    for key in keys {
      if let hash = lookup.keyHash(key, layout) { buckets.prefetch(hash) }
    }
  }

  /// - Parameter location: where the object is.
  func removeFromIndex(_ key: ObjectKey, at location: RowLocation) {
    index.remove(lookup.keyHash(location, table.layouts[table.keyColumn]), key.rawValue)
  }
}
