// Blocks that the newest version no longer needs but some pinned one does. A block lives from its
// birth to its death; it may be reused once no pin lies in [birth, death), also when older pins exist.
//
// One heap a pin holds the blocks whose last seeing pin it is, the youngest birth on top. When the pin
// goes, blocks born after the pin before it are free; the rest melds into that pin's heap. Pairing
// heaps make both cheap, independent of the number of pins. (ZFS keeps dead lists with this property.)
//
// Invariant S2: a block is in the heap of p exactly when p is the newest pin in [birth, death). Heaps
// of released pins wait in `released` until `collect` gets to them; their blocks are freed late, never
// early.

/// Dead blocks by the newest pin that sees them.
///
/// Owned by whoever holds the write lock.
package struct DeadBlocks: Sendable {
  private static let none: Int32 = -1

  private struct Node {
    var run: Run
    var birth: Version
    var death: Version
    /// First child and next sibling in the pairing heap.
    var child: Int32
    var sibling: Int32
  }

  private var nodes: [Node] = []
  private var unused: [Int32] = []
  /// All pins, oldest first, each with the root of its heap.
  private var pins: [(version: Version, root: Int32)] = []
  /// Heaps of released pins that are not drained yet, with the version of the pin.
  private var released: [(version: Version, root: Int32)] = []
  /// Sum of the lengths of all blocks.
  package private(set) var heldBytes: UInt64 = 0

  package init() {}

  package var count: Int { nodes.count - unused.count }

  // MARK: - Pins

  /// A pin on a version that is newer than all deaths seen so far, or pinned by someone else already.
  package mutating func addPin(_ version: Version) {
    let index = self.index(of: version)
    if index < pins.count, pins[index].version == version { return }
    pins.insert((version, Self.none), at: index)
  }

  /// The last pin on a version has gone.
  package mutating func removePin(_ version: Version) {
    let index = self.index(of: version)
    guard index < pins.count, pins[index].version == version else { return }
    let root = pins.remove(at: index).root
    if root != Self.none { released.append((version, root)) }
  }

  /// Index of the first pin that is not older than the version.
  private func index(of version: Version) -> Int {
    var low = 0
    var high = pins.count
    while low < high {
      let middle = (low + high) / 2
      if pins[middle].version < version { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: - Blocks

  /// Keeps a block for the pins that see it.
  ///
  /// - Returns: false when no pin does: it can be reused at once.
  package mutating func insert(run: Run, birth: Version, death: Version) -> Bool {
    let index = self.index(of: death) - 1
    guard index >= 0, pins[index].version >= birth else { return false }
    let node = Node(run: run, birth: birth, death: death, child: Self.none, sibling: Self.none)
    let number: Int32
    if let free = unused.popLast() {
      number = free
      nodes[Int(free)] = node
    } else {
      number = Int32(nodes.count)
      nodes.append(node)
    }
    heldBytes += run.length
    pins[index].root = meld(pins[index].root, number)
    return true
  }

  /// Frees blocks that no pin sees any more.
  ///
  /// - Parameter maximum: bound on the blocks freed by this call.
  /// - Returns: whether more are left to look at.
  package mutating func collect(maximum: Int, _ free: (Run) -> Void) -> Bool {
    var rest = maximum
    while let (version, root) = released.popLast() {
      var root = root
      // The newest pin that is older than the released one; a version released twice in a row has
      // the same neighbours.
      let index = self.index(of: version) - (isPinned(version) ? 0 : 1)
      let older = index >= 0 && index < pins.count ? pins[index].version : Version(0)
      while root != Self.none, nodes[Int(root)].birth > older {
        if rest == 0 {
          released.append((version, root))
          return true
        }
        rest -= 1
        let top = root
        root = pop(root)
        heldBytes -= nodes[Int(top)].run.length
        free(nodes[Int(top)].run)
        unused.append(top)
      }
      if root != Self.none { pins[index].root = meld(pins[index].root, root) }
    }
    return false
  }

  private func isPinned(_ version: Version) -> Bool {
    let index = self.index(of: version)
    return index < pins.count && pins[index].version == version
  }

  /// Every kept block with the version that killed it.
  package func forEach(_ body: (_ run: Run, _ death: Version) -> Void) {
    forEachNode { body($0.run, $0.death) }
  }

  private func forEachNode(_ body: (Node) -> Void) {
    let roots = pins.map(\.root) + released.map(\.root)
    for root in roots { walk(root, body) }
  }

  private func walk(_ root: Int32, _ body: (Node) -> Void) {
    var open = [root]
    while let number = open.popLast() {
      if number == Self.none { continue }
      let node = nodes[Int(number)]
      body(node)
      open.append(node.child)
      open.append(node.sibling)
    }
  }

  // MARK: - Pairing heap

  private mutating func meld(_ first: Int32, _ second: Int32) -> Int32 {
    if first == Self.none { return second }
    if second == Self.none { return first }
    let isFirst = nodes[Int(first)].birth >= nodes[Int(second)].birth
    let (top, below) = isFirst ? (first, second) : (second, first)
    nodes[Int(below)].sibling = nodes[Int(top)].child
    nodes[Int(top)].child = below
    return top
  }

  /// Removes the top: its children are melded in pairs, then into one.
  ///
  /// No recursion: chains are long.
  private mutating func pop(_ root: Int32) -> Int32 {
    var pairs = Self.none
    var next = nodes[Int(root)].child
    while next != Self.none {
      let first = next
      let second = nodes[Int(first)].sibling
      nodes[Int(first)].sibling = Self.none
      if second == Self.none {
        next = Self.none
      } else {
        next = nodes[Int(second)].sibling
        nodes[Int(second)].sibling = Self.none
      }
      let pair = meld(first, second)
      nodes[Int(pair)].sibling = pairs
      pairs = pair
    }
    var result = Self.none
    while pairs != Self.none {
      let rest = nodes[Int(pairs)].sibling
      nodes[Int(pairs)].sibling = Self.none
      result = meld(result, pairs)
      pairs = rest
    }
    return result
  }

  // MARK: - Checking

  /// What is wrong, one sentence each; empty when all invariants hold.
  package func checkInvariants(pins expected: [Version]) -> [String] {
    var findings: [String] = []
    if pins.map(\.version) != expected {
      findings.append("pins are \(pins.map(\.version)), should be \(expected)")
    }
    var number = 0
    var bytes: UInt64 = 0
    for (index, pin) in pins.enumerated() {
      let next = index + 1 < pins.count ? pins[index + 1].version : nil
      walk(pin.root) { node in
        number += 1
        bytes += node.run.length
        let isLast = pin.version < node.death && (next.map { $0 >= node.death } ?? true)
        if node.birth > pin.version || !isLast {
          findings.append("\(node.run) is kept for \(pin.version), which is not its last pin")
        }
      }
    }
    for heap in released {
      walk(heap.root) { node in
        number += 1
        bytes += node.run.length
      }
    }
    if number != count || bytes != heldBytes {
      findings.append("\(number) kept blocks of \(bytes) bytes, counted \(count) of \(heldBytes)")
    }
    return findings
  }
}
