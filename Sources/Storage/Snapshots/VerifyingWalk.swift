// A walk over the blocks of a version that is put down and taken up again on a newer one, so that a
// file can be verified beside its writers for hours while no version is kept for longer than a
// moment. It reads by calls, not through the mapping: a sector that cannot be read is an error
// then, not the end of the process, and of an encrypted file nothing stays decrypted.
internal import Platform

/// How far a walk has come, and what it has read.
package struct VerifyingWalk: Sendable {
  private struct Level {
    let children: [BlockReference]
    var next: Int
  }

  /// Of each level, from the root, how many children are done: the last one of them is where the
  /// next level is, unless that is the lowest.
  ///
  /// On a newer version the same numbers lead to about the same place; what has moved over it
  /// meanwhile is new, or met by the next walk.
  private var path: [Int] = []
  /// Blocks and bytes since the walk began.
  package private(set) var blocks = 0
  package private(set) var bytes: UInt64 = 0

  package init() {}

  /// Reads and verifies blocks of a version as the file has them now.
  ///
  /// - Parameters:
  ///   - goesOn: asked before each block, with the bytes that were read since the walk began.
  ///   - report: told of each block that is damaged; the walk goes on beside it.
  /// - Returns: whether all blocks were read. If not, it goes on from here.
  /// - Complexity: O(bytes read), and O(height) blocks to find the place again.
  package mutating func advance(
    on snapshot: Snapshot, while goesOn: (_ bytes: UInt64) -> Bool, report: (StorageError) -> Void
  ) -> Bool {
    let reading = StoredBlockReading(snapshot.mapping)
    var levels: [Level] = []
    if path.isEmpty {
      guard goesOn(bytes) else { return false }
      enter(snapshot.root, reading, &levels, report)
    } else {
      levels = findAgain(snapshot.root, reading)
    }
    while let level = levels.last {
      if level.next == level.children.count {
        levels.removeLast()
        continue
      }
      guard goesOn(bytes) else {
        path = levels.map(\.next)
        return false
      }
      levels[levels.count - 1].next += 1
      enter(level.children[level.next], reading, &levels, report)
    }
    path = []
    return true
  }

  private mutating func enter(
    _ reference: BlockReference, _ reading: StoredBlockReading, _ levels: inout [Level],
    _ report: (StorageError) -> Void
  ) {
    if reference.isNone { return }
    do throws(StorageError) {
      let block = try reading.read(reference)
      blocks += 1
      bytes += UInt64(block.bytes)
      if block.children.isEmpty { return }
      guard levels.count < 64 else {
        throw reading.mapping.damaged(reference, nil, "it lies more than 64 levels deep")
      }
      levels.append(Level(children: block.children, next: 0))
    } catch {
      report(error)
    }
  }

  /// The levels above the place where the walk was put down, as far as this version has them.
  private func findAgain(_ root: BlockReference, _ reading: StoredBlockReading) -> [Level] {
    var levels: [Level] = []
    var reference = root
    for next in path {
      // What is damaged here was reported when it was entered, or will be by the next walk.
      guard let children = try? reading.read(reference).children, next <= children.count else {
        break
      }
      levels.append(Level(children: children, next: next))
      if next == 0 { break }
      reference = children[next - 1]
    }
    return levels
  }
}

/// Reads single blocks of a file by calls, and verifies them.
final class StoredBlockReading {
  let mapping: ReadMapping
  private let stored: UnsafeMutableRawBufferPointer
  private let opened: UnsafeMutableRawPointer
  /// Most blocks are shorter: one call reads them.
  private static let firstPiece = 4096

  init(_ mapping: ReadMapping) {
    self.mapping = mapping
    stored = .allocate(
      byteCount: BlockHeader.blockLengthMax + FileCipher.overhead, alignment: BlockHeader.unit)
    opened = .allocate(byteCount: BlockHeader.blockLengthMax, alignment: BlockHeader.unit)
  }

  deinit {
    stored.deallocate()
    opened.deallocate()
  }

  /// What a walk needs of a block: how many bytes of the file it takes, and its references.
  func read(
    _ reference: BlockReference
  ) throws(StorageError) -> (bytes: Int, children: [BlockReference]) {
    let block = try verified(reference)
    let start = block.baseAddress!
    let bytes = block.count + mapping.blockOverhead
    guard BlockHeader.kind(start).isNode else { return (bytes, []) }
    let children = (0..<BlockHeader.count(start)).map { BlockHeader.reference(start, $0) }
    return (bytes, children)
  }

  /// A verified block, good until the next one is read.
  func verified(_ reference: BlockReference) throws(StorageError) -> UnsafeRawBufferPointer {
    let overhead = mapping.blockOverhead
    guard reference.offset >= UInt64(FileHeader.pageLength * 2) else {
      throw mapping.damaged(reference, nil, "the reference points into the file's header")
    }
    var count = try fill(reference, 0..<Self.firstPiece)
    let start = UnsafeRawPointer(stored.baseAddress!)
    guard count >= BlockHeader.length + overhead else {
      throw mapping.damaged(reference, nil, "the reference points outside the file")
    }
    let length = mapping.storedLength(start)
    if length + overhead > count, count == Self.firstPiece {
      count += try fill(reference, count..<max(count, min(length + overhead, stored.count)))
    }
    guard length >= BlockHeader.length, length + overhead <= count else {
      throw mapping.damaged(reference, nil, "its length of \(length) bytes cannot be")
    }
    let block = try mapping.verifiedBlock(reference, start, length, opened: opened)
    return UnsafeRawBufferPointer(start: block, count: length)
  }

  private func fill(
    _ reference: BlockReference, _ range: Range<Int>
  ) throws(StorageError) -> Int {
    do throws(SystemError) {
      return try mapping.file.read(
        into: UnsafeMutableRawBufferPointer(rebasing: stored[range]),
        at: reference.offset + UInt64(range.lowerBound))
    } catch {
      throw mapping.damaged(reference, nil, "it cannot be read: \(error.reason)")
    }
  }
}
