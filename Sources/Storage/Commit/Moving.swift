// Shrinking: blocks above a threshold move down a few at a time, as ordinary copies inside ordinary
// commits, found by walking references from the root. Of what a pin still sees only a little: its
// old copy stays for as long as the pin, in which time nothing is gained.
//
// A damaged block stays where it is: nobody has asked for it, so nobody is stopped for it.
internal import Platform

extension Store {
  /// Nodes visited in one commit while looking for blocks to move.
  static let visitsPerCommit = 64

  /// Step 2 of a commit: moves up to twice the transaction's own bytes.
  func moveBlocksDown(_ transaction: WriteTransaction) {
    let writer = writer!
    writer.updateShrinkThreshold()
    guard writer.shrinkThreshold != nil, transaction.root.isProvisional,
      writer.moveGain.isExpected(length: writer.fileLength, bearable: writer.bearableLength)
    else { return }
    var walk = MoveWalk(
      editor: transaction.editor, writer: writer, threshold: writer.shrinkThreshold!,
      newestPin: newestPin(before: newestVersion), budget: 2 * transaction.editor.provisionalBytes,
      visits: Self.visitsPerCommit)
    // First under the nodes that this commit copies anyway, then further along the tree.
    walk.moveUnderCopies(transaction.root)
    transaction.root = walk.resume(transaction.root, cursor: &writer.moveCursor)
  }

  /// The newest pinned version before one that every reader passes through.
  private func newestPin(before version: Version) -> Version {
    writer!.pinnedVersions.filter { $0 < version }.max() ?? Version(0)
  }

  /// Moves as much as the idle budget allows in one transaction.
  ///
  /// - Parameter start: the newest version when the idle work began. Who reads it now will move on,
  ///   so it keeps nothing from being moved: what it sees is moved once, into holes that are there.
  func moveBlocksWhileIdle(
    _ transaction: WriteTransaction, budget: Int, since start: Version
  ) -> Int {
    guard let threshold = writer!.shrinkThreshold, !transaction.root.isNone else { return 0 }
    var walk = MoveWalk(
      editor: transaction.editor, writer: writer!, threshold: threshold,
      newestPin: newestPin(before: start), budget: budget, visits: 1 << 20)
    transaction.root = walk.resume(transaction.root, cursor: &writer!.moveCursor)
    return walk.movedBytes
  }
}

/// One search for blocks to move.
struct MoveWalk {
  private let editor: BlockEditor
  private let writer: WriterState
  private let free: FreeSpace
  private let threshold: UInt64
  private let newestPin: Version
  private var budget: Int
  private var visits: Int
  private(set) var movedBytes = 0
  /// How much of what `newestPin` sees may still be moved.
  private lazy var pinnedBudget = writer.pinnedBytesToMove(above: threshold)

  init(
    editor: BlockEditor, writer: WriterState, threshold: UInt64, newestPin: Version, budget: Int,
    visits: Int
  ) {
    self.editor = editor
    self.writer = writer
    free = writer.free
    self.threshold = threshold
    self.newestPin = newestPin
    self.budget = budget
    self.visits = visits
  }

  private var isDone: Bool { budget <= 0 || visits <= 0 }

  /// Moves children of provisional nodes.
  mutating func moveUnderCopies(_ reference: BlockReference) {
    guard reference.isProvisional, !isDone else { return }
    visits -= 1
    let block = editor.pointer(reference)
    guard BlockHeader.kind(block).isNode else { return }
    for index in 0..<BlockHeader.count(block) {
      let child = BlockHeader.reference(editor.pointer(reference), index)
      if child.isProvisional {
        moveUnderCopies(child)
      } else if let moved = moved(child) {
        BlockHeader.setReference(editor.pointer(reference), index, moved)
      }
      if isDone { return }
    }
  }

  /// Goes on with the walk where the last one stopped, from the root down.
  ///
  /// - Returns: the root, copied if something below it has moved.
  mutating func resume(_ root: BlockReference, cursor: inout [Int]) -> BlockReference {
    var path = cursor
    let result = visit(root, depth: 0, &path)
    // Finished the whole tree: start again at the front next time.
    cursor = isDone ? path : []
    return result
  }

  private mutating func visit(
    _ reference: BlockReference, depth: Int, _ path: inout [Int]
  ) -> BlockReference {
    guard !isDone, depth < 32, isSound(reference) else { return reference }
    visits -= 1
    var reference = moved(reference) ?? reference
    let block = editor.reader.pointer(reference)
    guard BlockHeader.kind(block).isNode else { return reference }
    let count = BlockHeader.count(block)
    if depth >= path.count { path.append(0) }
    while path[depth] < count {
      let index = path[depth]
      let child = BlockHeader.reference(editor.reader.pointer(reference), index)
      if !child.isNone {
        let isNode = child.isProvisional || needsVisit(child)
        let new = isNode ? visit(child, depth: depth + 1, &path) : moved(child) ?? child
        if new != child {
          reference = editor.mutable(reference)
          BlockHeader.setReference(editor.pointer(reference), index, new)
        }
        if isDone { return reference }
      }
      path[depth] += 1
      path.removeSubrange((depth + 1)...)
    }
    return reference
  }

  private func needsVisit(_ child: BlockReference) -> Bool {
    isSound(child) && BlockHeader.kind(editor.reader.pointer(child)).isNode
  }

  private func isSound(_ reference: BlockReference) -> Bool {
    (try? editor.reader.verify(reference)) != nil
  }

  /// A copy of the block, if it lies too high and may be moved.
  private mutating func moved(_ reference: BlockReference) -> BlockReference? {
    guard !reference.isProvisional, reference.offset >= threshold, isSound(reference) else {
      return nil
    }
    let block = editor.reader.pointer(reference)
    let length = BlockHeader.blockLength(block)
    let isPinned = BlockHeader.birth(block) <= newestPin
    guard !isPinned || pinnedBudget >= length,
      hasRoom(for: UInt64(length + editor.blockOverhead), insteadOf: reference.offset),
      (try? editor.reader.verifyAgain(reference)) != nil
    else { return nil }
    if isPinned { pinnedBudget -= length }
    budget -= length
    movedBytes += length
    return editor.mutable(reference)
  }

  /// A hole below the threshold, or at least well below the block: a move never grows the file.
  private func hasRoom(for length: UInt64, insteadOf offset: UInt64) -> Bool {
    free.bestFit(length, below: threshold) != nil
      || (offset > Self.worthwhile
        && free.lowestFit(length, below: offset - Self.worthwhile) != nil)
  }

  /// A block that finds no hole below the threshold moves only if it gets this much lower.
  private static let worthwhile: UInt64 = 64 << 10
}

/// Whether moves in commits make the file shorter.
///
/// Where blocks of many sizes are changed at random, the holes that they leave are too short for
/// them: the file stays some percent longer than it is meant to be, however much is moved. Then
/// commits stop to move until it grows.
struct MoveGain {
  /// Commits after which the length is looked at.
  private static let commitsPerLook = 256
  /// A gain that counts: this part of the file.
  private static let share: UInt64 = 512

  private var lengthAtLook: UInt64
  private var commits = 0
  private var isPaused = false

  /// Expects one at first.
  init(length: UInt64 = .max) { lengthAtLook = length }

  /// Notes a commit, and says whether it should move.
  ///
  /// - Parameters:
  ///   - length: of the file.
  ///   - bearable: beyond this length moves go on even if they gain nothing.
  mutating func isExpected(length: UInt64, bearable: UInt64) -> Bool {
    if isPaused {
      if length <= min(lengthAtLook, bearable) { return false }
      self = MoveGain(length: length)
      return true
    }
    commits += 1
    if commits < Self.commitsPerLook { return true }
    isPaused = length <= bearable && length >= lengthAtLook - min(lengthAtLook, length / Self.share)
    lengthAtLook = length
    commits = 0
    return !isPaused
  }
}

extension WriterState {
  /// The longest file for which commits need not move what gains nothing: with one step of growth
  /// it is at most a tenth longer than what is visible.
  fileprivate var bearableLength: UInt64 {
    let longest = UInt64(1.1 * Double(visibleBytes)) + 2 * Self.slackBytes
    return longest - min(longest, growthStep)
  }

  /// How many bytes that pins see may be moved.
  ///
  /// Processes and threads that write by turns pin the version before. Without such moves an old
  /// block would stay where it is for ever, and a single one keeps the whole file long. A pin that
  /// stays keeps the old copies: with all that is kept for pins, or until a sync, they are at most
  /// a quarter of what lies above the threshold.
  fileprivate func pinnedBytesToMove(above threshold: UInt64) -> Int {
    let excess = fileLength - min(threshold, fileLength)
    return Int(excess / 4) - Int(heldBytes + pendingBytes)
  }
}
