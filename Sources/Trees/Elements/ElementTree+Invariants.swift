// A full walk over a collection's tree, for tests and `realm-bench check`.
internal import Storage

extension ElementTree {
  /// Walks the tree.
  ///
  /// - Parameter isPacked: whether its elements are packed values.
  /// - Returns: what is wrong; empty for a sound tree.
  package func checkInvariants(isPacked: Bool, name: String) -> [String] {
    var findings: [String] = []
    if root.isNone { return findings }
    let block = reader.pointer(root)
    let level = BlockHeader.kind(block) == .elementBranch ? Int(BlockHeader.width(block)) : 0
    if level > Self.levelsMax { return ["\(name): a tree of level \(level)"] }
    if level > 0, BlockHeader.count(block) < 2 { findings.append("\(name): root with one child") }
    _ = check(root, level: level, isPacked, name, &findings)
    return findings
  }

  private func check(
    _ reference: BlockReference, level: Int, _ isPacked: Bool, _ name: String,
    _ findings: inout [String]
  ) -> Int {
    let block = reader.pointer(reference)
    if level == 0 { return checkLeaf(block, isPacked, name, &findings) }
    let count = BlockHeader.count(block)
    guard BlockHeader.kind(block) == .elementBranch, Int(BlockHeader.width(block)) == level,
      count > 0, count <= Self.fanOut,
      BlockHeader.blockLength(block) == BlockHeader.blockLength(forPayload: count * 12)
    else {
      findings.append("\(name): \(reference) is not a branch of level \(level)")
      return 0
    }
    var sum = 0
    for child in 0..<count {
      sum += check(
        BlockHeader.reference(block, child), level: level - 1, isPacked, name, &findings)
      if Self.end(block, child) != sum {
        findings.append(
          "\(name): child \(child) of \(reference) ends at \(Self.end(block, child)), not \(sum)")
      }
    }
    return sum
  }

  private func checkLeaf(
    _ leaf: UnsafeRawPointer, _ isPacked: Bool, _ name: String, _ findings: inout [String]
  ) -> Int {
    switch BlockHeader.kind(leaf) {
    case .packedLeaf where isPacked: PackedLeaf.check(leaf, name: name, &findings)
    case .bytesLeaf where !isPacked: BytesColumn.check(reader, leaf, name: name, &findings)
    case .chunk where !isPacked, .chunkNode where !isPacked:
      LongValue.check(reader, leaf, name: name, &findings)
      if LongValue.length(leaf) <= LongValue.inlineMax {
        findings.append("\(name): short value out of line")
      }
    case let kind:
      findings.append("\(name): block of kind \(kind.rawValue) as a leaf")
      return 0
    }
    return Self.elements(leaf)
  }
}
