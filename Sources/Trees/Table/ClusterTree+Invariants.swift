// A full walk over a table's tree, for tests and `realm-bench check`.
internal import Storage

extension ClusterTree {
  /// How a column is stored.
  package enum ColumnLayout: UInt8, Sendable {
    /// PackedLeaf.
    case packed
    /// BytesColumn.
    case bytes
    /// ReferenceLeaf.
    case references
  }

  /// Walks the tree and all columns.
  ///
  /// - Returns: what is wrong; empty for a sound tree. The second is the number of objects.
  package func checkInvariants(
    columns: [ColumnLayout], nextKey: Int64, name: String
  ) -> (findings: [String], objects: Int) {
    var findings: [String] = []
    if root.isNone { return (findings, 0) }
    guard depth <= Self.depthMax else { return (["\(name): depth \(depth)"], 0) }
    let objects = check(root, level: depth, first: 0, columns, nextKey, name, &findings)
    return (findings, objects)
  }

  private func check(
    _ reference: BlockReference, level: Int, first: Int, _ columns: [ColumnLayout],
    _ nextKey: Int64, _ name: String, _ findings: inout [String]
  ) -> Int {
    let block = reader.pointer(reference)
    if level == 0 {
      return checkCluster(block, number: first, columns, nextKey, name, &findings)
    }
    let count = BlockHeader.count(block)
    guard BlockHeader.kind(block) == .branch, Int(BlockHeader.width(block)) == level,
      count > 0, count <= Self.fanOut,
      BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: count * 12)
    else {
      findings.append("\(name): \(reference) is not a branch of level \(level)")
      return 0
    }
    if BlockHeader.reference(block, count - 1).isNone {
      findings.append("\(name): branch \(reference) ends with an empty child")
    }
    var sum = 0
    for index in 0..<count {
      let child = BlockHeader.reference(block, index)
      let expected = Self.objects(block, index)
      var found = 0
      if !child.isNone {
        let number = first + index << ((level - 1) * Self.branchBits)
        found = check(child, level: level - 1, first: number, columns, nextKey, name, &findings)
        if found == 0 { findings.append("\(name): empty child \(index) of \(reference)") }
      }
      if found != expected {
        findings.append(
          "\(name): child \(index) of \(reference) has \(found) objects, counted as \(expected)")
      }
      sum += found
    }
    return sum
  }

  private func checkCluster(
    _ block: UnsafeRawPointer, number: Int, _ columns: [ColumnLayout], _ nextKey: Int64,
    _ tree: String, _ findings: inout [String]
  ) -> Int {
    let name = "\(tree) cluster \(number)"
    let kind = BlockHeader.kind(block)
    guard kind == .cluster || kind == .sparseCluster else {
      findings.append("\(name): block of kind \(kind.rawValue)")
      return 0
    }
    let rows = Cluster.rows(block)
    let count = Cluster.columns(block)
    let payload = count * 8 + (kind == .sparseCluster ? Cluster.presenceLength : 0)
    guard BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: payload) else {
      findings.append("\(name): wrong length for \(count) columns")
      return 0
    }
    if count > columns.count { findings.append("\(name): \(count) columns, more than the schema") }
    if kind == .sparseCluster,
      Cluster.rank(block, slot: 255) + (bit(Cluster.presence(block), 255) ? 1 : 0) != rows
    {
      findings.append("\(name): \(rows) rows, but another number of slots")
    } else {
      let lastKey = Int64(number) << Cluster.slotBits + Int64(Cluster.slot(block, row: rows - 1))
      if lastKey >= nextKey {
        findings.append("\(name): key \(lastKey), but the next is \(nextKey)")
      }
    }
    for column in 0..<min(count, columns.count) {
      let reference = Cluster.column(block, column)
      if reference.isNone { continue }
      let leaf = reader.pointer(reference)
      let place = "\(name) column \(column)"
      let leafRows: Int
      switch columns[column] {
      case .packed:
        guard BlockHeader.kind(leaf) == .packedLeaf else {
          findings.append("\(place): block of kind \(BlockHeader.kind(leaf).rawValue)")
          continue
        }
        PackedLeaf.check(leaf, name: place, &findings)
        leafRows = PackedLeaf.rows(leaf)
      case .bytes:
        BytesColumn.check(reader, leaf, name: place, &findings)
        leafRows = BytesColumn.rows(leaf)
      case .references:
        guard BlockHeader.kind(leaf) == .referenceLeaf else {
          findings.append("\(place): block of kind \(BlockHeader.kind(leaf).rawValue)")
          continue
        }
        ReferenceLeaf.check(leaf, name: place, &findings)
        leafRows = ReferenceLeaf.rows(leaf)
      }
      if leafRows > rows {
        findings.append("\(place): \(leafRows) rows in a cluster of \(rows)")
      }
    }
    return rows
  }
}
