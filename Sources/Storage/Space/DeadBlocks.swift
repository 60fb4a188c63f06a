// Blocks that the newest version no longer needs but some pinned one does. A block lives from its
// birth to its death; it may be reused once no pin lies in [birth, death), whatever older pins
// exist. Owned by whoever holds the write lock.
//
// Each pin has a heap, the youngest birth on top, of the blocks of which it is the newest pin (S2).
// When a pin goes, the blocks of its heap that were born after the pin before it are free, and the
// rest melds into that pin's heap. Nothing here costs more when there are more pins.
//
// Bounded work: a released pin's heap waits until `collect` takes it apart from the top, some
// blocks a call. A waiting block is freed late, never early: which pin decides is looked up at that
// time.
//
// A second order, by place, finds the dead blocks of a part of the file: for the space journal, and
// to forget what another process has reused. Such a block leaves an empty node in its heap.
//
// Invariants: S2 a block is in the heap of p exactly when p is the newest pin in [birth, death). Of
// a waiting block of the released pin p, no pin lies in (p, death). Every block is in one place,
// once.
internal import Platform

/// Dead blocks by the newest pin that sees them.
package struct DeadBlocks: Sendable {
  /// A pinned version and its heap.
  private struct Pin: SortedElement {
    let version: Version
    var root: Int32
    var key: UInt64 { version.rawValue }
  }

  /// A released pin's heap that is being taken apart.
  private struct Draining: Sendable {
    var version: Version
    /// The pin that keeps what it sees of this heap: the newest one up to `version`.
    var keeper: Version?
    /// Trees not looked at yet; each stands for itself and the siblings behind it.
    var open: [Int32] = []
    /// Trees that the keeper sees: element n is none or melded of 2^n trees, so melding stays
    /// balanced.
    var kept: [Int32] = []
  }

  /// Where a dead block lies and which node it is.
  private struct Place: SortedElement {
    let key: UInt64
    let node: Int32
  }

  private var pins = SortedChunks<Pin>()
  private var nodes = NodePool()
  private var places = SortedChunks<Place>()
  /// Heaps of released pins that wait.
  private var released: [Pin] = []
  private var draining: Draining?
  /// Sum of the lengths of all blocks.
  package private(set) var heldBytes: UInt64 = 0

  package init() {}

  /// Number of blocks.
  package var count: Int { places.count }

  // MARK: - Pins

  /// Starts to keep blocks for a version.
  ///
  /// It is the newest one, or pinned already by someone else.
  ///
  /// - Complexity: O(log pins).
  package mutating func addPin(_ version: Version) {
    let position = pins.position(of: version.rawValue)
    if let here = pins.atElement(position), pins[here].version == version { return }
    pins.insert(Pin(version: version, root: .none), at: position)
  }

  /// The last pin on a version has gone.
  ///
  /// What only it saw is freed by the next calls of `collect`.
  ///
  /// - Complexity: O(log pins).
  package mutating func removePin(_ version: Version) {
    guard let position = pins.atElement(pins.position(of: version.rawValue)),
      pins[position].version == version
    else { return }
    let pin = pins[position]
    pins.remove(at: position)
    if pin.root != .none { released.append(pin) }
  }

  // MARK: - Blocks

  /// Keeps a block that died for the newest pin that sees it.
  ///
  /// - Returns: false when no pin sees it: it can be reused at once.
  /// - Precondition: no pin that came after `death` is older than it (see `addPin`).
  /// - Complexity: O(1) when all pins are older than `death`, as they are for a commit's own dead
  ///   blocks, else O(log pins).
  package mutating func insert(run: Run, birth: Version, death: Version) -> Bool {
    guard var position = pins.last else { return false }
    if pins[position].version >= death {
      guard let older = pins.before(pins.position(of: death.rawValue)) else { return false }
      position = older
    }
    let pin = pins[position]
    guard pin.version >= birth else { return false }
    if PlantedBug.reuseEarly.isActive, pin.version == birth { return false }
    let node = nodes.add(run: run, birth: birth, death: death)
    places.insert(Place(key: run.offset, node: node))
    let root = nodes.meld(pin.root, node)
    if root != pin.root {
      pins.replace(at: position, with: Pin(version: pin.version, root: root))
    }
    heldBytes += run.length
    return true
  }

  /// Frees blocks of released pins that no other pin sees.
  ///
  /// - Parameter maximum: bound on the blocks looked at, and so on the blocks freed.
  /// - Returns: whether more are left to look at.
  package mutating func collect(maximum: Int, _ free: (Run) -> Void) -> Bool {
    var rest = maximum
    while var heap = draining ?? nextToDrain() {
      draining = nil
      let isDone = drain(&heap, &rest, free)
      guard isDone else {
        draining = heap
        return true
      }
      guard let root = nodes.meldAll(heap.kept), !PlantedBug.deadMergeLost.isActive else {
        continue
      }
      guard let position = position(ofKeeper: heap.version) else {
        preconditionFailure("a block is kept without a pin")
      }
      let pin = pins[position]
      pins.replace(
        at: position, with: Pin(version: pin.version, root: nodes.meld(pin.root, root)))
    }
    return false
  }

  private mutating func nextToDrain() -> Draining? {
    released.popLast().map { Draining(version: $0.version, open: [$0.root]) }
  }

  /// The newest pin up to the version of a released one.
  private func position(ofKeeper version: Version) -> SortedChunks<Pin>.Position? {
    pins.before(pins.position(of: version.rawValue + 1))
  }

  /// Takes a heap apart from the top; false when `rest` blocks were too few.
  private mutating func drain(
    _ heap: inout Draining, _ rest: inout Int, _ free: (Run) -> Void
  ) -> Bool {
    let keeper = position(ofKeeper: heap.version).map { pins[$0].version }
    if keeper != heap.keeper {
      // The keeper of the last call has gone as well: what it saw is looked at again.
      heap.keeper = keeper
      heap.open += heap.kept.filter { $0 != .none }
      heap.kept = []
    }
    while let node = heap.open.popLast() {
      if rest == 0 {
        heap.open.append(node)
        return false
      }
      rest -= 1
      let sibling = nodes.detachSibling(node)
      if sibling != .none { heap.open.append(sibling) }
      let isEmpty = nodes.isEmpty(node)
      if !isEmpty, let keeper, nodes.birth(node) <= keeper {
        nodes.meld(node, into: &heap.kept)
      } else {
        let child = nodes.child(node)
        if child != .none { heap.open.append(child) }
        let run = nodes.run(node)
        nodes.remove(node)
        if isEmpty { continue }
        places.remove(key: run.offset)
        heldBytes -= run.length
        free(run)
      }
    }
    return true
  }

  // MARK: - By place

  /// Every kept block with the version that killed it, by place.
  package func forEach(_ body: (_ run: Run, _ death: Version) -> Void) {
    for place in places.chunks.joined() { body(nodes.run(place.node), nodes.death(place.node)) }
  }

  /// The kept blocks that have bytes in a part of the file, by place.
  ///
  /// - Complexity: O(log n) and the blocks visited.
  func forEach(
    from start: UInt64, to end: UInt64, _ body: (_ run: Run, _ death: Version) -> Void
  ) {
    var position = firstPosition(endingAfter: start)
    while let here = position, places[here].key < end {
      body(nodes.run(places[here].node), nodes.death(places[here].node))
      position = places.next(here)
    }
  }

  /// Where the blocks of a part of the file begin, the first `maximum` of them.
  func offsets(from start: UInt64, maximum: Int) -> [UInt64] {
    places.keys(from: start, maximum: maximum)
  }

  /// Forgets the blocks that have bytes in a part of the file: another process has reused it.
  ///
  /// - Returns: the whole runs of these blocks.
  /// - Complexity: O(log n) a block.
  package mutating func remove(from start: UInt64, to end: UInt64) -> [Run] {
    var removed: [Run] = []
    while let here = firstPosition(endingAfter: start), places[here].key < end {
      let node = places[here].node
      let run = nodes.run(node)
      removed.append(run)
      places.remove(at: here)
      heldBytes -= run.length
      nodes.empty(node)
    }
    return removed
  }

  private func firstPosition(endingAfter start: UInt64) -> SortedChunks<Place>.Position? {
    let position = places.position(of: start)
    if let before = places.before(position), nodes.run(places[before].node).end > start {
      return before
    }
    return places.atElement(position)
  }

  /// Bytes of the blocks of which each pin is the newest.
  ///
  /// - Complexity: O(kept blocks).
  package var heldBytesByPin: [Version: UInt64] {
    var bytes: [Version: UInt64] = [:]
    for pin in pins.chunks.joined() {
      nodes.forEach(below: pin.root) { bytes[pin.version, default: 0] += $0.run.length }
    }
    return bytes
  }

  /// Blocks that are in no pin's heap, with the version of the released pin.
  private func forEachWaiting(_ body: (Version, NodePool.Content) -> Void) {
    for pin in released { nodes.forEach(below: pin.root) { body(pin.version, $0) } }
    guard let draining else { return }
    for root in draining.open + draining.kept {
      nodes.forEach(below: root) { body(draining.version, $0) }
    }
  }

  // MARK: - Checking

  /// What is wrong, one sentence each; empty when all invariants hold.
  ///
  /// - Parameter expected: the pinned versions, oldest first.
  package func checkInvariants(pins expected: [Version]) -> [String] {
    var findings = pins.checkInvariants().map { "pins: \($0)" }
    let all = Array(pins.chunks.joined())
    if all.map(\.version) != expected {
      findings.append("pins are \(all.map(\.version)), should be \(expected)")
    }
    var number = 0
    var bytes: UInt64 = 0
    var seen: Set<Run> = []
    func account(_ block: NodePool.Content) {
      number += 1
      bytes += block.run.length
      if !seen.insert(block.run).inserted { findings.append("dead \(block.run) is there twice") }
      if block.isOutOfOrder { findings.append("dead \(block.run) is above an older one's place") }
    }
    for (index, pin) in all.enumerated() {
      nodes.forEach(below: pin.root) { block in
        account(block)
        let isNewest = index + 1 == all.count || all[index + 1].version >= block.death
        if pin.version < block.birth || pin.version >= block.death || !isNewest {
          findings.append(
            "dead \(block.run), \(block.birth) ..< \(block.death), is in the heap of \(pin.version)"
          )
        }
      }
    }
    forEachWaiting { version, block in
      account(block)
      let seeing = pins.before(pins.position(of: block.death.rawValue)).map { pins[$0].version }
      if let seeing, seeing > version {
        findings.append("dead \(block.run) waits behind \(version), but \(seeing) sees it")
      }
    }
    findings += places.checkInvariants().map { "dead blocks by place: \($0)" }
    for place in places.chunks.joined()
    where nodes.isEmpty(place.node) || nodes.run(place.node).offset != place.key {
      findings.append("dead block at \(place.key) is not found by place")
    }
    if number != count || bytes != heldBytes {
      findings.append("\(number) dead blocks of \(bytes) bytes, counted \(count) of \(heldBytes)")
    }
    return findings
  }
}
