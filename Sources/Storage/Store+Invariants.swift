// The complete check: every block of every live version is walked and verified, and every byte of
// the file is accounted for exactly once (I10; S1, S2 of docs/space.md).
internal import Platform

/// What a complete check found.
package struct StoreCheck: Sendable {
  package var version = Version(0)
  package var blocks = 0
  /// Bytes that the newest version reaches.
  package var reachableBytes: UInt64 = 0
  /// Bytes that some live version of this process reaches.
  package var visibleBytes: UInt64 = 0
  /// Bytes that only older pinned versions reach, or that wait for a sync.
  package var heldBytes: UInt64 = 0
  package var freeBytes: UInt64 = 0
  /// Headers, record homes and the space journal.
  package var overheadBytes: UInt64 = 0
  package var fileBytes: UInt64 = 0
  /// One sentence a violation; empty when the file is sound.
  package var findings: [String] = []
  /// What is no violation but worth knowing: records that the opening passed over.
  package var notes: [String] = []
  /// Who owns which bytes; of a store that is open for writing.
  package var parts: [(run: Run, owner: String)] = []

  package init() {}
}

extension Store {
  /// Walks everything.
  ///
  /// Writers wait meanwhile; readers do not.
  ///
  /// - Throws: only errors of the disk; what is unsound is in the findings.
  /// - Complexity: O(blocks of all live versions).
  package func checkInvariants() throws(StorageError) -> StoreCheck {
    if isReadOnly { return try checkNewestOnly() }
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    return checkSpace()
  }

  /// A read-only store knows nothing of space: only its version is walked.
  private func checkNewestOnly() throws(StorageError) -> StoreCheck {
    var check = StoreCheck()
    check.notes = passedOver
    let snapshot = try pinNewest()
    var walk = CheckWalk(mapping: snapshot.mapping)
    walk.visit(snapshot.root)
    check.version = snapshot.version
    check.blocks = walk.runs.count
    check.reachableBytes = walk.bytes
    check.visibleBytes = walk.bytes
    check.findings = walk.findings
    check.fileBytes = (try? file.length()) ?? 0
    return check
  }

  /// Write lock only.
  func checkSpace() -> StoreCheck {
    var check = StoreCheck()
    check.notes = passedOver
    let writer = writer!
    check.version = writer.newest.version
    check.fileBytes = writer.fileLength
    check.freeBytes = writer.free.totalBytes + writer.homes.freeBytes
    check.overheadBytes = UInt64(
      2 * FileHeader.pageLength + header.homes.count * CommitRecord.lengthMax)
    for block in writer.journal.blocks { check.overheadBytes += UInt64(block.length) }
    check.findings += writer.free.checkInvariants()
    check.findings += writer.dead.checkInvariants(pins: writer.pinnedVersions.sorted())

    var walk = CheckWalk(mapping: mapping)
    walk.visit(writer.newest.snapshot.root)
    check.blocks = walk.runs.count
    check.reachableBytes = walk.bytes
    let newest = walk.runs
    // What the newest version does not reach must be dead: kept for a pin or waiting for a sync.
    var dead: [Run] = []
    var accounted = Accounting()
    writer.dead.forEach { run, _ in
      dead.append(run)
      accounted.add(run, "kept for a pin")
      check.heldBytes += run.length
    }
    for entry in writer.pending[writer.pendingHead...] {
      let run = Store.run(of: entry.block)
      dead.append(run)
      accounted.add(run, "waiting for a sync")
      check.heldBytes += run.length
    }
    for snapshot in liveSnapshotRoots() {
      walk.visit(snapshot)
    }
    check.visibleBytes = walk.bytes
    check.findings += walk.findings
    dead.sort { $0.offset < $1.offset }
    for run in walk.runs where newest[run.key] == nil && !Self.covers(dead, run.key) {
      check.findings.append("block \(run.key) is reachable from a pin but not kept")
    }
    for (offset, length) in newest {
      accounted.add(Run(offset: offset, length: UInt64(length)), "reachable")
    }
    for run in writer.free.runs { accounted.add(run, "free") }
    for run in writer.homes.runs { accounted.add(run, "free") }
    for block in writer.journal.blocks { accounted.add(Store.run(of: block), "space journal") }
    accounted.add(Run(offset: 0, length: UInt64(2 * FileHeader.pageLength)), "header")
    for home in header.homes {
      accounted.add(Run(offset: home, length: UInt64(CommitRecord.lengthMax)), "record home")
    }
    check.findings += accounted.findings(fileLength: writer.fileLength)
    check.parts = accounted.parts
    if let length = try? file.length(), length != writer.fileLength {
      check.findings.append("the file has \(length) bytes, the writer counts \(writer.fileLength)")
    }
    return check
  }

  /// Whether one of some runs, in order of their places, has a byte.
  private static func covers(_ runs: [Run], _ offset: UInt64) -> Bool {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].offset <= offset
  }

  /// Without versions that were lost: the file does not have them.
  private func liveSnapshotRoots() -> [BlockReference] {
    snapshots.entries.filter { !pipeline.isLost($0.key) }.map(\.value.root)
  }
}

/// A walk over the blocks of some versions, each block once.
struct CheckWalk {
  let mapping: ReadMapping
  /// Length by offset.
  private(set) var runs: [UInt64: Int] = [:]
  /// Blocks of the version that is being walked.
  private var current: Set<UInt64> = []
  private(set) var bytes: UInt64 = 0
  private(set) var findings: [String] = []

  init(mapping: ReadMapping) { self.mapping = mapping }

  mutating func visit(_ root: BlockReference) {
    current = []
    visit(root, depth: 0)
  }

  private mutating func visit(_ reference: BlockReference, depth: Int) {
    if reference.isNone || findings.count > 100 { return }
    guard current.insert(reference.offset).inserted else {
      findings.append("\(reference) is referred to twice in one version")
      return
    }
    if runs[reference.offset] != nil { return }
    guard depth < 64 else {
      findings.append("\(reference) lies more than 64 levels deep")
      return
    }
    do throws(StorageError) {
      // Always by the bytes in the file, also where an earlier touch was verified already.
      try mapping.verifyStored(reference)
      let block = mapping.block(reference)
      let length = BlockHeader.blockLength(block) + mapping.blockOverhead
      runs[reference.offset] = length
      bytes += UInt64(length)
      guard BlockHeader.kind(block).isNode else { return }
      for index in 0..<BlockHeader.count(block) {
        visit(BlockHeader.reference(block, index), depth: depth + 1)
      }
    } catch {
      findings.append("\(error)")
    }
  }
}

/// Every byte of the file belongs to exactly one owner.
private struct Accounting {
  private(set) var parts: [(run: Run, owner: String)] = []

  mutating func add(_ run: Run, _ owner: String) { parts.append((run, owner)) }

  func findings(fileLength: UInt64) -> [String] {
    var findings: [String] = []
    var position: UInt64 = 0
    var before = "the start"
    for (run, owner) in parts.sorted(by: { $0.run.offset < $1.run.offset }) {
      if run.offset > position {
        findings.append(
          "bytes \(position) ..< \(run.offset), between \(before) and \(owner), belong to nobody")
      } else if run.offset < position {
        findings.append("bytes from \(run.offset) are both \(before) and \(owner)")
      }
      position = max(position, run.end)
      before = owner
      if findings.count > 100 { return findings }
    }
    if position != fileLength {
      findings.append("accounted for \(position) bytes of a file of \(fileLength)")
    }
    return findings
  }
}
