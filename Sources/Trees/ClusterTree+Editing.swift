// Changes to a cluster tree. Each change copies the path from the root to one cluster; the cluster last
// changed is remembered by the caller through `mutableCluster`, so a run of changes descends once.
package import Storage

extension ClusterTree {
  /// The cluster of a key as a block that may be changed; its whole path is copied.
  ///
  /// - Precondition: the key exists.
  package mutating func mutableCluster(_ editor: BlockEditor, _ key: Int64) -> BlockReference {
    root = editor.mutable(root)
    var node = root
    var level = depth
    while level > 0 {
      let slot = Self.slot(key, level)
      let child = editor.mutable(BlockHeader.reference(editor.pointer(node), slot))
      BlockHeader.setReference(editor.pointer(node), slot, child)
      node = child
      level -= 1
    }
    return node
  }

  /// Makes room for a new key, higher than all before it, and counts it.
  ///
  /// - Returns: the cluster, in which the caller appends a row to every column leaf, and whether the
  ///   cluster is new.
  package mutating func append(
    _ editor: BlockEditor, _ key: Int64, columns: Int
  ) -> (cluster: BlockReference, isNew: Bool) {
    if root.isNone {
      depth = 0
      while key >> Int64(8 + 6 * depth) != 0 { depth += 1 }
    }
    while key >> Int64(8 + 6 * depth) != 0 {
      let branch = Self.makeBranch(editor)
      BlockHeader.setReference(editor.pointer(branch), 0, root)
      Self.setObjects(editor.pointer(branch), 0, count)
      root = branch
      depth += 1
    }
    count += 1
    var isNew = false
    root = descend(editor, root, depth, key, columns, &isNew)
    var node = root
    for level in stride(from: depth, to: 0, by: -1) {
      node = BlockHeader.reference(editor.pointer(node), Self.slot(key, level))
    }
    return (node, isNew)
  }

  private func descend(
    _ editor: BlockEditor, _ node: BlockReference, _ level: Int, _ key: Int64, _ columns: Int,
    _ isNew: inout Bool
  ) -> BlockReference {
    if level == 0 {
      if node.isNone {
        isNew = true
        return Self.makeCluster(editor, columns: columns, slot: Int(key & 255))
      }
      let cluster = editor.mutable(node)
      Self.addSlot(editor, cluster, Int(key & 255))
      return cluster
    }
    let branch = node.isNone ? Self.makeBranch(editor) : editor.mutable(node)
    let slot = Self.slot(key, level)
    let child = descend(
      editor, BlockHeader.reference(editor.pointer(branch), slot), level - 1, key, columns, &isNew)
    let block = editor.pointer(branch)
    BlockHeader.setReference(block, slot, child)
    Self.setObjects(block, slot, Self.objects(block, slot) + 1)
    return branch
  }

  /// Counts one more object in the cluster that was appended to last: the same as `append`, without
  /// the way down.
  ///
  /// The caller knows that path and cluster are provisional.
  package mutating func appendAgain(_ editor: BlockEditor, _ cluster: BlockReference, _ key: Int64)
  {
    count += 1
    Self.addSlot(editor, cluster, Int(key & 255))
    var node = root
    for level in stride(from: depth, to: 0, by: -1) {
      let slot = Self.slot(key, level)
      let block = editor.pointer(node)
      Self.setObjects(block, slot, Self.objects(block, slot) + 1)
      node = BlockHeader.reference(block, slot)
    }
  }

  /// Writes a finished cluster out early, if the transaction is large.
  package func seal(_ editor: BlockEditor, clusterOf key: Int64) {
    guard depth > 0 else { return }
    var node = root
    for level in stride(from: depth, to: 1, by: -1) {
      node = BlockHeader.reference(editor.pointer(node), Self.slot(key, level))
    }
    let slot = Self.slot(key, 1)
    let cluster = BlockHeader.reference(editor.pointer(node), slot)
    BlockHeader.setReference(editor.pointer(node), slot, editor.seal(cluster))
  }

  /// Removes a key whose rows the caller has already removed from the column leaves of its cluster,
  /// or whose cluster has this row only.
  ///
  /// Empty nodes vanish.
  package mutating func remove(_ editor: BlockEditor, _ key: Int64) {
    count -= 1
    root = removing(editor, root, depth, key)
    if root.isNone { depth = 0 }
  }

  private func removing(
    _ editor: BlockEditor, _ node: BlockReference, _ level: Int, _ key: Int64
  ) -> BlockReference {
    let node = editor.mutable(node)
    if level == 0 {
      if Cluster.rows(editor.pointer(node)) == 1 {
        editor.freeTree(node)
        return .none
      }
      Self.removeSlot(editor, node, Int(key & 255))
      return node
    }
    let slot = Self.slot(key, level)
    let child = removing(
      editor, BlockHeader.reference(editor.pointer(node), slot), level - 1, key)
    let block = editor.pointer(node)
    BlockHeader.setReference(block, slot, child)
    Self.setObjects(block, slot, Self.objects(block, slot) - 1)
    if child.isNone, (0..<Self.fanOut).allSatisfy({ BlockHeader.reference(block, $0).isNone }) {
      editor.free(node)
      return .none
    }
    return node
  }

  /// Gives a cluster at least this many column references.
  package static func widen(_ editor: BlockEditor, _ cluster: BlockReference, columns: Int) {
    let block = editor.pointer(cluster)
    let old = BlockHeader.count(block)
    guard old < columns else { return }
    let tailLength = 4 + (Cluster.isSparse(block) ? Cluster.presenceLength : 0)
    let tail = [UInt8](UnsafeRawBufferPointer(start: Cluster.tail(block), count: tailLength))
    editor.resize(cluster, payloadBytes: columns * 8 + tailLength)
    let new = editor.pointer(cluster)
    BlockHeader.setCount(new, columns)
    for column in old..<columns { BlockHeader.setReference(new, column, .none) }
    let target = UnsafeMutableRawPointer(mutating: Cluster.tail(new))
    target.copyMemory(from: tail, byteCount: tailLength)
  }

  // MARK: - Blocks

  private static func slot(_ key: Int64, _ level: Int) -> Int {
    Int(key >> Int64(2 + 6 * level)) & 63
  }

  private static func makeBranch(_ editor: BlockEditor) -> BlockReference {
    editor.allocate(kind: branchKind, count: fanOut, payloadBytes: fanOut * 12)
  }

  @inline(__always)
  private static func setObjects(_ branch: UnsafeMutableRawPointer, _ slot: Int, _ count: Int) {
    branch.storeBytes(
      of: UInt32(count), toByteOffset: BlockHeader.length + fanOut * 8 + slot * 4, as: UInt32.self)
  }

  private static func makeCluster(
    _ editor: BlockEditor, columns: Int, slot: Int
  ) -> BlockReference {
    let isSparse = slot > 0
    let cluster = editor.allocate(
      kind: Cluster.kind, count: columns,
      payloadBytes: columns * 8 + 4 + (isSparse ? Cluster.presenceLength : 0))
    let tail = UnsafeMutableRawPointer(mutating: Cluster.tail(editor.pointer(cluster)))
    tail.storeBytes(of: 1, as: UInt16.self)
    tail.storeBytes(of: isSparse ? Cluster.sparseFlag : 0, toByteOffset: 2, as: UInt16.self)
    if isSparse { setPresence(tail, slot, true) }
    return cluster
  }

  private static func setPresence(_ tail: UnsafeMutableRawPointer, _ slot: Int, _ isSet: Bool) {
    let offset = 4 + slot >> 3
    let bit = UInt8(1) << UInt8(slot & 7)
    let old = tail.load(fromByteOffset: offset, as: UInt8.self)
    tail.storeBytes(of: isSet ? old | bit : old & ~bit, toByteOffset: offset, as: UInt8.self)
  }

  /// One more row, behind all others.
  private static func addSlot(_ editor: BlockEditor, _ cluster: BlockReference, _ slot: Int) {
    let rows = Cluster.rows(editor.pointer(cluster))
    if !Cluster.isSparse(editor.pointer(cluster)), slot != rows { makeSparse(editor, cluster) }
    let block = editor.pointer(cluster)
    let tail = UnsafeMutableRawPointer(mutating: Cluster.tail(block))
    tail.storeBytes(of: UInt16(rows + 1), as: UInt16.self)
    if Cluster.isSparse(block) { setPresence(tail, slot, true) }
  }

  private static func removeSlot(_ editor: BlockEditor, _ cluster: BlockReference, _ slot: Int) {
    let rows = Cluster.rows(editor.pointer(cluster))
    if !Cluster.isSparse(editor.pointer(cluster)) {
      if slot != rows - 1 { makeSparse(editor, cluster) }
    }
    let block = editor.pointer(cluster)
    let tail = UnsafeMutableRawPointer(mutating: Cluster.tail(block))
    tail.storeBytes(of: UInt16(rows - 1), as: UInt16.self)
    if Cluster.isSparse(block) { setPresence(tail, slot, false) }
  }

  private static func makeSparse(_ editor: BlockEditor, _ cluster: BlockReference) {
    let rows = Cluster.rows(editor.pointer(cluster))
    let columns = BlockHeader.count(editor.pointer(cluster))
    editor.resize(cluster, payloadBytes: columns * 8 + 4 + Cluster.presenceLength)
    let tail = UnsafeMutableRawPointer(mutating: Cluster.tail(editor.pointer(cluster)))
    tail.storeBytes(of: Cluster.sparseFlag, toByteOffset: 2, as: UInt16.self)
    for word in 0..<4 { tail.storeBytes(of: 0, toByteOffset: 4 + word * 8, as: UInt64.self) }
    for slot in 0..<rows { setPresence(tail, slot, true) }
  }

  // MARK: - Checking

  /// What is wrong with counts and shape, one sentence each.
  package func checkInvariants(_ reader: BlockReader) -> [String] {
    if root.isNone { return count == 0 ? [] : ["an empty tree counts \(count) objects"] }
    var findings: [String] = []
    let found = check(reader, root, depth, &findings)
    if found != count { findings.append("\(found) objects, counted \(count)") }
    return findings
  }

  private func check(
    _ reader: BlockReader, _ node: BlockReference, _ level: Int, _ findings: inout [String]
  ) -> Int {
    let block = reader.pointer(node)
    if level == 0 {
      let rows = Cluster.rows(block)
      if rows == 0 || rows > Cluster.capacity { findings.append("a cluster has \(rows) rows") }
      if Cluster.isSparse(block) {
        let present = (0..<4).reduce(0) { $0 + Cluster.presence(block, $1).nonzeroBitCount }
        if present != rows { findings.append("\(present) slots are present, \(rows) rows counted") }
      }
      return rows
    }
    var sum = 0
    for slot in 0..<Self.fanOut {
      let child = BlockHeader.reference(block, slot)
      let below = child.isNone ? 0 : check(reader, child, level - 1, &findings)
      if below != Self.objects(block, slot) {
        findings.append("\(below) objects below slot \(slot), counted \(Self.objects(block, slot))")
      }
      sum += below
    }
    if sum == 0 { findings.append("an empty branch was left") }
    return sum
  }
}
