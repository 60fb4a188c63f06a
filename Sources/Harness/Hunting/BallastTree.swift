// Counters that have blocks of any length beside them, for programs in which a file becomes long
// and short.
internal import Platform
internal import RaceHunt
internal import Storage

/// Counters, and beside each some blocks of any length that are filled with what it counts.
enum BallastTree {
  /// What a version shows.
  struct Content: Equatable {
    var counters: [UInt64] = []
    /// Of each block the length, and the word that fills it.
    var ballast: [[UInt64]] = []
  }

  /// In the longest block.
  static let wordsMax = 7_000
  /// Beside a counter.
  private static let blocksMax = 8
  private static let branchKind = BlockKind(rawValue: 0xa0)
  private static let leafKind = BlockKind(rawValue: 0x20)

  /// - Parameter counters: how many there are beside the first one, which counts what all do.
  static func content(
    _ reader: BlockReader, _ root: BlockReference, counters: Int
  ) -> Content {
    var content = Content()
    if root.isNone { return content }
    let block = reader.pointer(root)
    for index in 0..<BlockHeader.count(block) {
      let leaf = BlockHeader.reference(block, index)
      if index <= counters {
        content.counters.append(leaf.isNone ? 0 : word(reader.pointer(leaf)))
      } else if !leaf.isNone {
        let leaf = reader.pointer(leaf)
        let words = (BlockHeader.blockLength(leaf) - BlockHeader.length) / 8
        let payload = UnsafeRawBufferPointer(start: BlockHeader.payload(leaf), count: 8 * words)
        let first = word(leaf)
        // The end of a block is padded.
        check(
          payload.bindMemory(to: UInt64.self).dropLast().allSatisfy { $0 == first },
          "a block that is filled with \(first) has something else in it")
        content.ballast.append([UInt64(words), first])
      }
    }
    return content
  }

  private static func word(_ leaf: UnsafeRawPointer) -> UInt64 {
    BlockHeader.payload(leaf).load(as: UInt64.self)
  }

  /// Adds one to a user's counter, and fills some of its blocks with that; returns the new root.
  static func change(
    _ editor: BlockEditor, _ root: BlockReference, user: Int, of users: Int, words: Int
  ) -> BlockReference {
    let count = 1 + users + users * blocksMax
    let root =
      root.isNone
      ? editor.allocate(kind: branchKind, count: count, payloadBytes: count * 8)
      : editor.mutable(root)
    fill(editor, root, 0, word: { $0 + 1 }, words: 1)
    let counted = fill(editor, root, 1 + user, word: { $0 + 1 }, words: 1)
    let first = 1 + users + user * blocksMax
    for index in first..<first + 1 + random(below: blocksMax) {
      fill(editor, root, index, word: { _ in counted }, words: words)
    }
    return root
  }

  /// - Returns: the word that fills the block now.
  @discardableResult
  private static func fill(
    _ editor: BlockEditor, _ root: BlockReference, _ index: Int, word next: (UInt64) -> UInt64,
    words: Int
  ) -> UInt64 {
    let old = BlockHeader.reference(editor.pointer(root), index)
    let leaf =
      old.isNone
      ? editor.allocate(kind: leafKind, count: 0, payloadBytes: 8 * words) : editor.mutable(old)
    let value = next(old.isNone ? 0 : word(editor.pointer(leaf)))
    editor.resize(leaf, payloadBytes: 8 * words)
    let payload = UnsafeMutableRawBufferPointer(
      start: editor.pointer(leaf) + BlockHeader.length, count: 8 * words)
    payload.bindMemory(to: UInt64.self).update(repeating: value)
    BlockHeader.setReference(editor.pointer(root), index, leaf)
    return value
  }
}

/// A version that is held, and what it showed at first.
struct HeldBallast {
  private let snapshot: Snapshot
  private let users: Int
  let content: BallastTree.Content

  init(_ store: Store, _ users: Int) throws {
    self.users = users
    snapshot = try store.pinNewest()
    content = BallastTree.content(snapshot.reader, snapshot.root, counters: users)
    CountingUser.judge(content.counters)
  }

  /// Checks that it shows what it has shown.
  func judge() {
    let again = BallastTree.content(snapshot.reader, snapshot.root, counters: users)
    check(again == content, "\(snapshot.version) shows \(again) and has shown \(content)")
  }

  /// Checks that it shows what was told before it was taken.
  func judge(since before: StoreTold, _ told: Platform.Monitor<StoreTold>) {
    told.withLock { $0 }.judge(content.counters, "an opening", since: before)
  }
}
