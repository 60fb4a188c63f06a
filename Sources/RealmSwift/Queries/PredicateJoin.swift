// Conditions joined by AND, OR and NOT. A program may join 100,000 of them one by one: to join two
// costs the same however many there are, and nothing here calls itself for what is inside.
internal import Platform

/// Several conditions as one.
///
/// Never changed after it is made, so that longer conditions share shorter ones.
final class PredicateJoin {
  /// How conditions are joined.
  enum Joint {
    case and
    case or
    /// The opposite of the one part.
    case not
  }

  /// So deep can parts be inside of each other.
  static let depthMax = 1_000

  let joint: Joint
  private(set) var parts: [PredicateTree]
  /// How deep parts are inside of each other; `a && b && c` is as deep as `a && b`.
  let depth: Int

  /// Stops when the parts are too deep.
  init(_ joint: Joint, _ parts: [PredicateTree]) {
    self.joint = joint
    self.parts = parts
    depth = 1 + (parts.map { $0.depth(inside: joint) }.max() ?? 0)
    if depth > Self.depthMax {
      misuse(
        .argument,
        "The parts of a condition can be at most \(Self.depthMax) deep inside of each other. "
          + "Conditions joined by the same AND or OR count as one part, however many they are.")
    }
  }

  deinit {
    // Leaves have nothing deep inside.
    if parts.contains(where: \.isJoined) { LooseValues.release(&parts) }
  }
}

extension PredicateTree {
  /// All conditions.
  static func and(_ parts: [PredicateTree]) -> PredicateTree {
    .joined(PredicateJoin(.and, parts))
  }

  /// One of the conditions, or several.
  static func or(_ parts: [PredicateTree]) -> PredicateTree { .joined(PredicateJoin(.or, parts)) }

  /// The opposite of a condition.
  static func not(_ part: PredicateTree) -> PredicateTree { .joined(PredicateJoin(.not, [part])) }

  /// Both conditions.
  static func && (left: PredicateTree, right: PredicateTree) -> PredicateTree {
    .and([left, right])
  }

  /// One of the conditions, or both.
  static func || (left: PredicateTree, right: PredicateTree) -> PredicateTree {
    .or([left, right])
  }

  fileprivate var isJoined: Bool { if case .joined = self { true } else { false } }

  /// How deep the condition's parts are inside of each other.
  var depth: Int {
    switch self {
    case .constant: return 0
    case .comparison(let comparison): return max(comparison.left.depth, comparison.right.depth)
    case .joined(let join): return join.depth
    }
  }

  /// The same, where the condition is a part of a joint: parts of an equal one count as its own.
  fileprivate func depth(inside joint: PredicateJoin.Joint) -> Int {
    if case .joined(let join) = self, join.joint == joint, joint != .not { return join.depth - 1 }
    return depth
  }
}

extension PredicateOperand {
  fileprivate var depth: Int {
    if case .subquery(let subquery) = self { return subquery.condition.depth + 1 }
    return 0
  }
}

// MARK: - Going through all parts

/// Goes through the parts of a condition as they stand in its text.
struct PredicateWalk {
  enum Step {
    /// The parts of a joint follow, up to its end.
    case begin(PredicateJoin.Joint)
    /// A comparison or a constant.
    case leaf(PredicateTree)
    case end(PredicateJoin.Joint)
  }

  private struct Group {
    let join: PredicateJoin
    var next = 0
    /// Whether the parts are given as those of the group around it.
    let isMerged: Bool
  }

  private var groups: [Group] = []
  private var root: PredicateTree?
  /// Whether an AND inside of an AND, and an OR inside of an OR, is given as one with it.
  private let merges: Bool

  init(_ tree: PredicateTree, merges: Bool) {
    root = tree
    self.merges = merges
  }

  /// The joint whose part comes next; nil at the whole condition.
  var joint: PredicateJoin.Joint? { groups.last?.join.joint }

  mutating func next() -> Step? {
    if let tree = root {
      root = nil
      return enter(tree)
    }
    while let group = groups.last {
      if group.next == group.join.parts.count {
        groups.removeLast()
        if group.isMerged { continue }
        return .end(group.join.joint)
      }
      groups[groups.count - 1].next += 1
      if let step = enter(group.join.parts[group.next]) { return step }
    }
    return nil
  }

  /// Passes over what is left of the innermost group: its end comes next.
  mutating func skipGroup() {
    while let group = groups.last {
      groups[groups.count - 1].next = group.join.parts.count
      if !group.isMerged { return }
      groups.removeLast()
    }
  }

  /// Nil where the parts of the condition are those of the group around it.
  private mutating func enter(_ tree: PredicateTree) -> Step? {
    guard case .joined(let join) = tree else { return .leaf(tree) }
    let isMerged = merges && join.joint != .not && join.joint == joint
    groups.append(Group(join: join, isMerged: isMerged))
    return isMerged ? nil : .begin(join.joint)
  }
}

extension PredicateTree {
  /// What is made of the condition from its leaves up; equal joints inside of each other are one.
  func folded<Result>(
    _ leaf: (PredicateTree) -> Result, joined: (PredicateJoin.Joint, [Result]) -> Result
  ) -> Result {
    if !isJoined { return leaf(self) }
    var walk = PredicateWalk(self, merges: true)
    // The last one takes the result of the whole condition.
    var results: [[Result]] = [[]]
    while let step = walk.next() {
      let result: Result
      switch step {
      case .begin:
        results.append([])
        continue
      case .leaf(let tree): result = leaf(tree)
      case .end(let joint): result = joined(joint, results.removeLast())
      }
      results[results.count - 1].append(result)
    }
    return results[0][0]
  }

  /// The condition with other leaves.
  func mapped(_ leaf: (PredicateTree) -> PredicateTree) -> PredicateTree {
    folded(leaf) { .joined(PredicateJoin($0, $1)) }
  }

  /// Runs `body` on every comparison.
  func forEachComparison(_ body: (PredicateComparison) -> Void) {
    var walk = PredicateWalk(self, merges: true)
    while let step = walk.next() {
      if case .leaf(.comparison(let comparison)) = step { body(comparison) }
    }
  }
}
