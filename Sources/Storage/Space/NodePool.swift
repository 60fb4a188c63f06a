// The nodes of all dead-block heaps, in two flat arrays: what the heap order needs, and what it
// does not. 32 bytes a block. The heaps are pairing heaps: a node's children are a list through
// `sibling`. Nothing recurses: lists and trees can be as long as the number of blocks.

/// Dead blocks as nodes of pairing heaps, the youngest birth on top.
///
/// A root that is given in or out has no sibling.
struct NodePool: Sendable {
  private struct Link {
    var birth: UInt64
    /// First child; of an unused node, the next unused one.
    var child: Int32
    var sibling: Int32
  }

  private struct Body {
    /// Offset in units of 16 bytes (44 bits), then length in units (20 bits).
    var place: UInt64
    var death: UInt64
  }

  /// What a node holds.
  struct Content {
    let run: Run
    let birth: Version
    let death: Version
    /// Whether its parent was born before it: the heap is broken.
    let isOutOfOrder: Bool
  }

  private var links: [Link] = []
  private var bodies: [Body] = []
  private var firstUnused = Int32.none
  /// Nodes in use, those that were emptied among them.
  private(set) var count = 0

  // MARK: - Nodes

  /// A new root.
  mutating func add(run: Run, birth: Version, death: Version) -> Int32 {
    precondition(run.isValid && run.length < 16 << 20, "\(run) is no block")
    let link = Link(birth: birth.rawValue, child: .none, sibling: .none)
    let body = Body(place: (run.offset << 16) | (run.length >> 4), death: death.rawValue)
    count += 1
    guard firstUnused != .none else {
      precondition(links.count < Int32.max, "too many dead blocks")
      links.append(link)
      bodies.append(body)
      return Int32(links.count - 1)
    }
    let node = firstUnused
    firstUnused = links[Int(node)].child
    links[Int(node)] = link
    bodies[Int(node)] = body
    return node
  }

  /// Forgets a node that no other one refers to.
  mutating func remove(_ node: Int32) {
    links[Int(node)].child = firstUnused
    firstUnused = node
    count -= 1
    if count == 0 {
      // Memory of many blocks goes back with the last of them.
      links.removeAll(keepingCapacity: links.count < 4096)
      bodies.removeAll(keepingCapacity: bodies.count < 4096)
      firstUnused = .none
    }
  }

  /// Forgets what a node holds, wherever in a heap it is; it goes when it is met there.
  mutating func empty(_ node: Int32) { bodies[Int(node)].place = 0 }

  func isEmpty(_ node: Int32) -> Bool { bodies[Int(node)].place == 0 }

  func birth(_ node: Int32) -> Version { Version(links[Int(node)].birth) }

  func death(_ node: Int32) -> Version { Version(bodies[Int(node)].death) }

  func child(_ node: Int32) -> Int32 { links[Int(node)].child }

  func run(_ node: Int32) -> Run {
    let place = bodies[Int(node)].place
    return Run(offset: (place >> 20) << 4, length: (place & (1 << 20 - 1)) << 4)
  }

  /// Makes a node the root of its own tree.
  ///
  /// - Returns: the sibling it had.
  mutating func detachSibling(_ node: Int32) -> Int32 {
    defer { links[Int(node)].sibling = .none }
    return links[Int(node)].sibling
  }

  // MARK: - Melding

  /// One heap of two.
  mutating func meld(_ first: Int32, _ second: Int32) -> Int32 {
    if first == .none { return second }
    if second == .none { return first }
    let isFirst = links[Int(first)].birth >= links[Int(second)].birth
    let (top, below) = isFirst ? (first, second) : (second, first)
    links[Int(below)].sibling = links[Int(top)].child
    links[Int(top)].child = below
    return top
  }

  /// Adds a heap to a row in which element n is none or made of 2^n heaps.
  mutating func meld(_ root: Int32, into row: inout [Int32]) {
    var root = root
    for index in row.indices {
      if row[index] == .none {
        row[index] = root
        return
      }
      root = meld(row[index], root)
      row[index] = .none
    }
    row.append(root)
  }

  /// One heap of all in a row; nil when there is none.
  mutating func meldAll(_ row: [Int32]) -> Int32? {
    var result = Int32.none
    for root in row { result = meld(result, root) }
    return result == .none ? nil : result
  }

  // MARK: - Walking

  /// Visits a tree and the siblings of its root, but not what was emptied.
  func forEach(below root: Int32, _ body: (Content) -> Void) {
    var open: [(node: Int32, parentBirth: UInt64)] = []
    if root != .none { open.append((root, .max)) }
    while let (node, parentBirth) = open.popLast() {
      let link = links[Int(node)]
      if !isEmpty(node) {
        body(
          Content(
            run: run(node), birth: Version(link.birth), death: death(node),
            isOutOfOrder: link.birth > parentBirth))
      }
      if link.sibling != .none { open.append((link.sibling, parentBirth)) }
      if link.child != .none { open.append((link.child, link.birth)) }
    }
  }
}

extension Int32 {
  /// No node.
  static var none: Int32 { -1 }
}
