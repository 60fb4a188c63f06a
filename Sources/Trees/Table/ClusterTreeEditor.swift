// A table's tree inside a write transaction. The cluster last touched stays open: its path is
// copied once, and inserting or changing columns of one object, or of neighbours, does not descend
// again. Object counts of the path are brought up to date when another cluster is opened, or by
// `flush`.
internal import Glibc
package import Storage

/// Changes one table's tree.
///
/// Belongs to one write transaction; never shared between threads.
package final class ClusterTreeEditor {
  let editor: BlockEditor
  /// Root of the tree.
  @exclusivity(unchecked) package internal(set) var root: BlockReference
  /// Branch levels above the clusters.
  @exclusivity(unchecked) package internal(set) var depth: Int
  /// Objects in the tree.
  @exclusivity(unchecked) package internal(set) var count: Int
  /// Key of the next object; never goes back.
  @exclusivity(unchecked) package private(set) var nextKey: Int64
  /// Columns that new clusters have room for.
  @exclusivity(unchecked) package var columnCount: Int

  /// Number of the open cluster; -1 if none is.
  @exclusivity(unchecked) var openNumber = -1
  /// The open cluster: a block of this transaction, unless it has no object any more.
  @exclusivity(unchecked) var openReference = BlockReference.none
  /// What the open cluster's objects on its path have to be raised by.
  @exclusivity(unchecked) var openDifference = 0
  /// Payload bytes of each column's leaf in the last cluster that inserts have filled.
  @exclusivity(unchecked) private var reserves: [Int] = []
  /// Grows whenever blocks of the tree may have been written out: provisional references that were
  /// read before do not hold any more.
  @exclusivity(unchecked) package private(set) var sealCount = 0
  /// Whether the open cluster was filled by inserts and can be written out when it is left.
  @exclusivity(unchecked) var isAppending = false

  package init(
    _ editor: BlockEditor, root: BlockReference, depth: Int, count: Int, nextKey: Int64,
    columnCount: Int
  ) {
    self.editor = editor
    self.root = root
    self.depth = depth
    self.count = count
    self.nextKey = nextKey
    self.columnCount = columnCount
  }

  /// What a table root says of the tree.
  package var shape: (root: BlockReference, depth: Int, count: Int, nextKey: Int64) {
    (root, depth, count, nextKey)
  }

  /// Reads the tree as it is now.
  ///
  /// Bring counts up to date with `flush` before using positions.
  package var tree: ClusterTree {
    ClusterTree(reader: editor.reader, root: root, depth: depth)
  }

  // MARK: - Objects

  /// Adds an object whose columns all have their defaults.
  package func insert() -> Int64 {
    let key = nextKey
    let slot = Int(key & 255)
    let number = Int(key >> Cluster.slotBits)
    nextKey += 1
    if number != openNumber || openReference.isNone {
      if open(number) {
        let cluster = editor.pointer(openReference)
        if Cluster.nextSlot(cluster, from: slot) != nil {
          editor.reader.stop(at: cluster, "it has objects whose keys are not given yet")
        }
        _ = Cluster.append(editor, openReference, slot: slot)
      } else {
        openReference = Cluster.make(editor, slot: slot, columns: columnCount)
        create(number)
      }
    } else {
      _ = Cluster.append(editor, openReference, slot: slot)
    }
    isAppending = true
    openDifference += 1
    count += 1
    return key
  }

  // MARK: - Columns

  /// Sets an integer column of an object.
  ///
  /// - Returns: false if there is no such object.
  package func setInteger(_ key: Int64, _ column: Int, _ value: Int64, isOptional: Bool) -> Bool {
    if _fastPath(Int(truncatingIfNeeded: key &>> 8) == openNumber && !openReference.isNone) {
      let cluster = UnsafeRawPointer(editor.pointer(openReference))
      guard let row = Cluster.row(cluster, slot: Int(truncatingIfNeeded: key & 255)) else {
        return false
      }
      let reference = Cluster.column(cluster, column)
      if reference.isProvisional, PackedLeaf.storeIfFits(editor.pointer(reference), row, value) {
        return true
      }
    }
    return setIntegerSlowly(key, column, value, isOptional: isOptional)
  }

  @inline(never)
  private func setIntegerSlowly(
    _ key: Int64, _ column: Int, _ value: Int64, isOptional: Bool
  ) -> Bool {
    guard let row = openRow(key) else { return false }
    let old = columnForChange(column, .packed)
    var reference = old
    PackedLeaf.set(
      editor, &reference, row, value, isOptional: isOptional, reserve: reserve(column))
    if reference != old {
      BlockHeader.setReference(editor.pointer(openReference), column, reference)
    }
    return true
  }

  /// Makes an optional integer column of an object null.
  ///
  /// - Returns: false if there is no such object.
  package func setIntegerNull(_ key: Int64, _ column: Int) -> Bool {
    guard let row = openRow(key) else { return false }
    var reference = columnForChange(column, .packed)
    PackedLeaf.setNull(editor, &reference, row)
    BlockHeader.setReference(editor.pointer(openReference), column, reference)
    return true
  }

  /// Sets a bytes column of an object; nil is null.
  ///
  /// - Parameters:
  ///   - value: may not lie in a block of this transaction.
  ///   - isKey: the column is the primary key's.
  /// - Returns: false if there is no such object.
  package func setBytes(
    _ key: Int64, _ column: Int, _ value: UnsafeRawBufferPointer?, isOptional: Bool,
    isKey: Bool = false
  ) -> Bool {
    guard let row = openRow(key) else { return false }
    let old = columnForChange(column, .bytes)
    var reference = old
    BytesColumn.set(
      editor, &reference, row, value, isOptional: isOptional, reserve: reserve(column),
      longest: isKey ? BytesColumn.keyLeafBytesMax : BytesColumn.leafBytesMax)
    if reference != old {
      BlockHeader.setReference(editor.pointer(openReference), column, reference)
    }
    return true
  }

  /// Sets a column of references of an object; none is the default.
  ///
  /// What the object had there before is the caller's to free.
  ///
  /// - Returns: false if there is no such object.
  package func setReference(_ key: Int64, _ column: Int, _ value: BlockReference) -> Bool {
    guard let row = openRow(key) else { return false }
    let old = columnForChange(column, .references)
    var reference = old
    ReferenceLeaf.set(editor, &reference, row, value, reserve: reserve(column))
    if reference != old {
      BlockHeader.setReference(editor.pointer(openReference), column, reference)
    }
    return true
  }

  /// Drops a column of all objects; later columns move up.
  package func removeColumn(_ column: Int) {
    changeClusters(where: { Cluster.columns($0) > column }) { cluster in
      editor.freeTree(Cluster.column(editor.pointer(cluster), column))
      Cluster.removeColumn(editor, cluster, column)
    }
    if column < reserves.count { reserves.remove(at: column) }
  }

  /// Makes a column independent of what its default is: rows that are null or were never stored get
  /// 0 or the bytes of zero, all others stay.
  ///
  /// A column that becomes optional keeps its zeros that way, one that becomes required loses its
  /// nulls: so those who call this for a column with nulls want it to be required.
  ///
  /// - Parameter zero: of a bytes column; no bytes stand for it, too.
  package func storeDefaults(_ column: Int, isPacked: Bool, zero: [UInt8] = []) {
    zero.withUnsafeBytes { storeDefaults(column, isPacked, $0) }
  }

  private func storeDefaults(_ column: Int, _ isPacked: Bool, _ zero: UnsafeRawBufferPointer) {
    changeClusters(where: { _ in true }) { cluster in
      let rows = Cluster.rows(editor.pointer(cluster))
      var reference = columnForChange(column, isPacked ? .packed : .bytes)
      for row in 0..<rows {
        if isPacked {
          let stored = reference.isNone ? nil : editor.reader.pointer(reference)
          if let stored, row < PackedLeaf.rows(stored), !PackedLeaf.isNull(stored, row) { continue }
          PackedLeaf.set(editor, &reference, row, 0, isOptional: false)
        } else if BytesColumn.isNull(editor.reader, reference, row)
          || !zero.isEmpty
            && BytesColumn.withBytes(editor.reader, reference, row, { $0?.isEmpty ?? true })
        {
          BytesColumn.set(editor, &reference, row, zero, isOptional: false)
        }
      }
      BlockHeader.setReference(editor.pointer(cluster), column, reference)
    }
  }

  /// Opens some clusters, one after the other.
  private func changeClusters(
    where isConcerned: (UnsafeRawPointer) -> Bool, _ change: (BlockReference) -> Void
  ) {
    flush()
    var numbers: [Int] = []
    tree.forEachCluster { number, cluster in
      if isConcerned(cluster) { numbers.append(number) }
      return true
    }
    for number in numbers {
      isAppending = false
      if number != openNumber || openReference.isNone { _ = open(number) }
      change(openReference)
    }
  }

  /// Payload bytes that the column's leaf will probably need: what it took in the last full
  /// cluster.
  private func reserve(_ column: Int) -> Int {
    isAppending && column < reserves.count ? reserves[column] : 0
  }

  /// Remembers the lengths of a cluster's leaves that inserts have filled.
  private func rememberLengths() {
    let cluster = UnsafeRawPointer(editor.pointer(openReference))
    let columns = Cluster.columns(cluster)
    while reserves.count < columns { reserves.append(0) }
    for column in 0..<columns {
      let reference = Cluster.column(cluster, column)
      if reference.isNone { continue }
      let leaf = editor.reader.pointer(reference)
      reserves[column] =
        BlockHeader.kind(leaf) == .bytesSplit
        ? BytesColumn.leafBytesMax : BlockHeader.blockLength(leaf) - BlockHeader.length
    }
  }

  private func columnForChange(
    _ column: Int, _ layout: ClusterTree.ColumnLayout
  ) -> BlockReference {
    if column >= Cluster.columns(editor.pointer(openReference)) {
      Cluster.growColumns(editor, openReference, to: max(columnCount, column + 1))
    }
    let reference = Cluster.column(editor.pointer(openReference), column)
    check(reference, layout)
    return reference
  }

  static let wrongColumns: StaticString = "it has more columns than its table"

  /// Stops if a column's block is of another kind than its layout says.
  func check(_ reference: BlockReference, _ layout: ClusterTree.ColumnLayout) {
    if reference.isNone { return }
    let block = editor.reader.pointer(reference)
    let kind = BlockHeader.kind(block)
    let isRight =
      switch layout {
      case .packed: kind == .packedLeaf
      case .bytes: kind == .bytesLeaf || kind == .bytesSplit
      case .references: kind == .referenceLeaf
      }
    if !isRight { editor.reader.stop(at: block) }
  }

  // MARK: - The open cluster

  /// Whether the open cluster has an object; nil where the object belongs to another one.
  @inline(__always)
  package func openClusterHas(_ key: Int64) -> Bool? {
    guard Int(truncatingIfNeeded: key &>> 8) == openNumber, !openReference.isNone else {
      return nil
    }
    return Cluster.row(editor.pointer(openReference), slot: Int(truncatingIfNeeded: key & 255))
      != nil
  }

  /// Opens the object's cluster.
  ///
  /// - Returns: its row; nil if there is no such object.
  func openRow(_ key: Int64) -> Int? {
    if key < 0 { return nil }
    let number = Int(key >> Cluster.slotBits)
    if number != openNumber || openReference.isNone {
      // A missing object must not copy a path.
      guard let cluster = tree.cluster(number), Cluster.row(cluster, slot: Int(key & 255)) != nil
      else { return nil }
      _ = open(number)
    }
    return Cluster.row(editor.pointer(openReference), slot: Int(key & 255))
  }

  /// Makes the cluster and its path blocks of this transaction.
  ///
  /// - Returns: false if there is no such cluster; then none is open.
  private func open(_ number: Int) -> Bool {
    closeOpenCluster()
    guard tree.cluster(number) != nil else { return false }
    root = editor.mutable(root)
    var reference = root
    var shift = depth * ClusterTree.branchBits
    while shift > 0 {
      shift -= ClusterTree.branchBits
      let index = (number >> shift) & (ClusterTree.fanOut - 1)
      // Of the right kind and there: `tree.cluster` has gone the same way.
      let child = editor.mutable(BlockHeader.reference(editor.pointer(reference), index))
      BlockHeader.setReference(editor.pointer(reference), index, child)
      reference = child
    }
    openNumber = number
    openReference = reference
    return true
  }

  /// Puts the new cluster `openReference` into the tree, growing depth and branches.
  private func create(_ number: Int) {
    openNumber = number
    while number >> (depth * ClusterTree.branchBits) != 0 {
      depth += 1
      if root.isNone { continue }
      let branch = makeBranch(level: depth)
      setChild(branch, 0, root, objects: count)
      root = branch
    }
    if depth == 0 {
      root = openReference
      return
    }
    root = root.isNone ? makeBranch(level: depth) : editor.mutable(root, .branch)
    var reference = root
    var level = depth
    while true {
      let index = (number >> ((level - 1) * ClusterTree.branchBits)) & (ClusterTree.fanOut - 1)
      if level == 1 {
        setChild(reference, index, openReference, objects: 0)
        return
      }
      let block = editor.pointer(reference)
      var child = BlockReference.none
      if index < BlockHeader.count(block) { child = BlockHeader.reference(block, index) }
      if child.isNone {
        child = makeBranch(level: level - 1)
        setChild(reference, index, child, objects: 0)
      } else {
        child = editor.mutable(child, .branch)
        BlockHeader.setReference(editor.pointer(reference), index, child)
      }
      reference = child
      level -= 1
    }
  }

  /// Brings object counts up to date, so that positions are right for readers of `tree`.
  package func flush() {
    if openDifference == 0 { return }
    var reference = root
    var shift = depth * ClusterTree.branchBits
    while shift > 0 {
      shift -= ClusterTree.branchBits
      let index = (openNumber >> shift) & (ClusterTree.fanOut - 1)
      let block = editor.pointer(reference)
      let offset = BlockHeader.length + BlockHeader.count(block) * 8 + index * 4
      let objects = Int(block.integer(at: offset, as: UInt32.self)) + openDifference
      guard let stored = UInt32(exactly: objects) else {
        editor.reader.stop(at: block, "it counts other objects than it has")
      }
      block.store(stored, at: offset)
      reference = BlockHeader.reference(block, index)
    }
    openDifference = 0
  }

  /// Transactions with more changed bytes write finished clusters out early.
  private static let sealBytes = 8 << 20
  /// Leaves up to this length stay with their cluster.
  private static let shortBytesMax = 1_024

  /// Lets go of the open cluster.
  ///
  /// One that inserts have filled can be written out now. So can any other, but it is copied and
  /// written once more when it changes again: only where more changes would have no room.
  private func closeOpenCluster() {
    if openNumber < 0 { return }
    flush()
    if isAppending, !openReference.isNone, nextKey >> Cluster.slotBits > openNumber {
      rememberLengths()
      sealOpenCluster()
    } else if _slowPath(editor.isCrowded), !openReference.isNone {
      sealWholeCluster()
    }
    isAppending = false
    openNumber = -1
    openReference = .none
  }

  /// Writes the long columns of a finished cluster out.
  ///
  /// The cluster and its short leaves wait for the commit, which places them side by side, apart
  /// from the long ones: an object is looked up in few pages then, and columns are summed in order.
  private func sealOpenCluster() {
    if editor.provisionalBytes > editor.limits.bytes || editor.isCrowded {
      sealWholeCluster()
      return
    }
    if editor.provisionalBytes <= Self.sealBytes { return }
    sealCount += 1
    let cluster = editor.pointer(openReference)
    for column in 0..<Cluster.columns(cluster) {
      let reference = BlockHeader.reference(cluster, column)
      if !reference.isProvisional { continue }
      let block = UnsafeRawPointer(editor.pointer(reference))
      if BlockHeader.kind(block).isNode || BlockHeader.blockLength(block) > Self.shortBytesMax {
        BlockHeader.setReference(cluster, column, editor.seal(reference))
      }
    }
  }

  private func sealWholeCluster() {
    sealCount += 1
    let sealed = editor.seal(openReference)
    if sealed != openReference { replaceOpenCluster(by: sealed) }
  }

  /// Ends the editing; the tree's blocks are complete.
  package func finish() {
    isAppending = false
    closeOpenCluster()
  }

  private func replaceOpenCluster(by reference: BlockReference) {
    if depth == 0 {
      root = reference
      return
    }
    var branch = root
    for level in stride(from: depth, to: 1, by: -1) {
      let index = (openNumber >> ((level - 1) * ClusterTree.branchBits)) & (ClusterTree.fanOut - 1)
      branch = BlockHeader.reference(editor.pointer(branch), index)
    }
    BlockHeader.setReference(
      editor.pointer(branch), openNumber & (ClusterTree.fanOut - 1), reference)
  }

  // MARK: - Branches

  private func makeBranch(level: Int) -> BlockReference {
    editor.allocate(
      kind: .branch, width: UInt8(level), count: 0, payloadBytes: 0)
  }

  private func setChild(
    _ branch: BlockReference, _ index: Int, _ child: BlockReference, objects: Int
  ) {
    let oldCount = BlockHeader.count(editor.pointer(branch))
    if index >= oldCount {
      let count = index + 1
      editor.resize(branch, payloadBytes: count * 12)
      let block = editor.pointer(branch)
      let start = block + BlockHeader.length
      memmove(start + count * 8, start + oldCount * 8, oldCount * 4)
      memset(start + count * 8 + oldCount * 4, 0, (count - oldCount) * 4)
      memset(start + oldCount * 8, 0, (count - oldCount) * 8)
      BlockHeader.setCount(block, count)
    }
    let block = editor.pointer(branch)
    BlockHeader.setReference(block, index, child)
    block.store(
      UInt32(objects), at: BlockHeader.length + BlockHeader.count(block) * 8 + index * 4)
  }
}
