// What differs between two states of one collection, found by comparing them: what both begin and
// end with is passed over, by the leaf where the leaf is the same block; the rest is compared
// element by element.
internal import Trees

extension ElementChanges {
  /// What turns the elements of one list or set into those of another.
  package static func between(
    _ old: ElementReader, _ new: ElementReader, _ kind: CollectionKind
  ) -> ElementChanges {
    kind == .set ? ofSorted(old, new, values: nil) : ofList(old, new)
  }

  /// What turns the elements of a list into others.
  ///
  /// - Complexity: O(leaves), plus the elements between the first and the last difference times the
  ///   differences; with many differences all between is told as assigned, gone and new.
  static func ofList(_ old: ElementReader, _ new: ElementReader) -> ElementChanges {
    let (start, oldEnd, newEnd) = differingPart(old, new)
    var result = ElementChanges()
    result.append(.kept, start)
    var interning = Interning()
    let before = interning.identities(old, start..<oldEnd)
    let after = interning.identities(new, start..<newEnd)
    for run in ShortestEdit(before, after).runs() { result.append(run.kind, run.count) }
    result.pairReplaced()
    result.trim()
    return result
  }

  /// What turns the elements of a set, or the entries of a map, into others.
  ///
  /// - Parameters:
  ///   - old: sorted, as `new` is: the elements of a set or the keys of a map.
  ///   - values: of a map, in both states.
  static func ofSorted(
    _ old: ElementReader, _ new: ElementReader, values: (old: ElementReader, new: ElementReader)?
  ) -> ElementChanges {
    var (start, oldEnd, newEnd) = differingPart(old, new)
    if let values {
      // The values in front of and behind the differing keys may differ too.
      let part = differingPart(values.old, values.new)
      start = min(start, part.start)
      let behind = min(old.count - oldEnd, old.count - part.oldEnd)
      (oldEnd, newEnd) = (old.count - behind, new.count - behind)
    }
    var result = ElementChanges()
    result.append(.kept, start)
    var (left, right) = (start, start)
    while left < oldEnd || right < newEnd {
      let order =
        left == oldEnd ? 1 : right == newEnd ? -1 : old.compare(at: left, new, at: right)
      if order < 0 {
        result.append(.deleted, 1)
        left += 1
      } else if order > 0 {
        result.append(.inserted, 1)
        right += 1
      } else {
        let isSame = values.map { $0.old.isSame(at: left, $0.new, at: right) } ?? true
        result.append(isSame ? .kept : .modified, 1)
        left += 1
        right += 1
      }
    }
    result.trim()
    return result
  }

  /// What both do not begin with, nor end with.
  private static func differingPart(
    _ old: ElementReader, _ new: ElementReader
  ) -> (start: Int, oldEnd: Int, newEnd: Int) {
    let common = min(old.count, new.count)
    var start = 0
    while start < common {
      let (first, row) = old.tree.leaf(at: start)
      let (second, otherRow) = new.tree.leaf(at: start)
      if first == second, row == otherRow {
        start = min(start + ElementTree.elements(first) - row, common)
        continue
      }
      if !old.isSame(at: start, new, at: start) { break }
      start += 1
    }
    var end = 0
    while end < common - start {
      let (left, right) = (old.count - end - 1, new.count - end - 1)
      let (first, row) = old.tree.leaf(at: left)
      let (second, otherRow) = new.tree.leaf(at: right)
      if first == second, row == otherRow {
        end = min(end + row + 1, common - start)
        continue
      }
      if !old.isSame(at: left, new, at: right) { break }
      end += 1
    }
    return (start, old.count - end, new.count - end)
  }

  /// Elements that were taken out where as many were put in were assigned, as far as one can tell.
  private mutating func pairReplaced() {
    var paired = ElementChanges()
    var index = 0
    while index < runs.count {
      let run = runs[index]
      index += 1
      guard run.kind == .deleted, index < runs.count, runs[index].kind == .inserted else {
        paired.append(run.kind, run.count)
        continue
      }
      let inserted = runs[index].count
      index += 1
      let both = min(run.count, inserted)
      paired.append(.modified, both)
      paired.append(.deleted, run.count - both)
      paired.append(.inserted, inserted - both)
    }
    self = paired
  }
}

extension ElementReader {
  /// Whether an element of one state is that of another, bit for bit.
  func isSame(at position: Int, _ other: ElementReader, at otherPosition: Int) -> Bool {
    let (leaf, row) = tree.leaf(at: position)
    let (otherLeaf, otherRow) = other.tree.leaf(at: otherPosition)
    if order != .bytes {
      let isNull = PackedLeaf.isNull(leaf, row)
      return isNull == PackedLeaf.isNull(otherLeaf, otherRow)
        && (isNull || PackedLeaf.value(leaf, row) == PackedLeaf.value(otherLeaf, otherRow))
    }
    return ElementTree.withBytes(tree.reader, leaf, row) { bytes in
      ElementTree.withBytes(other.tree.reader, otherLeaf, otherRow) { otherBytes in
        guard let bytes, let otherBytes else { return bytes == nil && otherBytes == nil }
        return bytes.compare(to: otherBytes) == 0
      }
    }
  }

  /// The order of two elements of sorted collections: negative, 0 or positive.
  func compare(at position: Int, _ other: ElementReader, at otherPosition: Int) -> Int {
    let (leaf, row) = tree.leaf(at: position)
    let (otherLeaf, otherRow) = other.tree.leaf(at: otherPosition)
    if order != .bytes {
      switch (PackedLeaf.isNull(leaf, row), PackedLeaf.isNull(otherLeaf, otherRow)) {
      case (true, true): return 0
      case (true, false): return -1
      case (false, true): return 1
      case (false, false):
        let first = OrderKey.integer(PackedLeaf.value(leaf, row), order)
        let second = OrderKey.integer(PackedLeaf.value(otherLeaf, otherRow), order)
        return first == second ? 0 : first < second ? -1 : 1
      }
    }
    return ElementTree.withBytes(tree.reader, leaf, row) { bytes in
      ElementTree.withBytes(other.tree.reader, otherLeaf, otherRow) { otherBytes in
        switch (bytes, otherBytes) {
        case (nil, nil): return 0
        case (nil, _): return -1
        case (_, nil): return 1
        case (let bytes?, let otherBytes?): return bytes.compare(to: otherBytes)
        }
      }
    }
  }
}

/// Numbers for elements: equal ones get the same.
private struct Interning {
  private var integers: [Int64?: Int] = [:]
  private var bytes: [[UInt8]?: Int] = [:]

  mutating func identities(_ elements: ElementReader, _ range: Range<Int>) -> [Int] {
    var result: [Int] = []
    if range.isEmpty { return result }
    result.reserveCapacity(range.count)
    elements.forEach(from: range.lowerBound) { position, value in
      if position >= range.upperBound { return false }
      switch value {
      case .null where elements.order == .bytes: result.append(identity(bytes: nil))
      case .null: result.append(identity(integer: nil))
      case .integer(let integer): result.append(identity(integer: integer))
      case .link(let key): result.append(identity(integer: key.rawValue))
      case .bytes(let value): result.append(identity(bytes: Array(value)))
      }
      return true
    }
    return result
  }

  private mutating func identity(integer: Int64?) -> Int {
    if let known = integers[integer] { return known }
    let next = integers.count
    integers[integer] = next
    return next
  }

  private mutating func identity(bytes value: [UInt8]?) -> Int {
    if let known = bytes[value] { return known }
    let next = bytes.count
    bytes[value] = next
    return next
  }
}

/// The fewest removals and insertions that turn one sequence into another, by Myers's algorithm;
/// beyond a limit of them, all is removed and inserted.
private struct ShortestEdit {
  private let old: [Int]
  private let new: [Int]
  /// More differences than this are not looked for: time and memory grow with their square.
  private static let differencesMax = 256

  init(_ old: [Int], _ new: [Int]) {
    self.old = old
    self.new = new
  }

  func runs() -> [ElementChanges.Run] {
    guard let trace = trace() else {
      return [.init(.deleted, old.count), .init(.inserted, new.count)].filter { $0.count > 0 }
    }
    // Backwards from the end of both.
    var backwards: [ElementChanges.Run] = []
    var (x, y) = (old.count, new.count)
    for differences in stride(from: trace.count - 1, through: 0, by: -1) {
      let reached = trace[differences]
      let k = x - y
      let comesDown =
        k == -differences
        || k != differences && reached[k - 1 + differences] < reached[k + 1 + differences]
      let previousK = comesDown ? k + 1 : k - 1
      let previousX = differences == 0 ? 0 : reached[previousK + differences]
      let previousY = differences == 0 ? 0 : previousX - previousK
      let kept = min(x - previousX, y - previousY)
      if kept > 0 { backwards.append(.init(.kept, kept)) }
      if differences > 0 { backwards.append(.init(comesDown ? .inserted : .deleted, 1)) }
      (x, y) = (previousX, previousY)
    }
    return backwards.reversed()
  }

  /// For each number of differences: how far in `old` each diagonal -d-1...d+1 was reached with one
  /// less; nil if there are too many.
  private func trace() -> [[Int]]? {
    var trace: [[Int]] = []
    // Of diagonals -d...d, at k + d.
    var reached: [Int] = []
    for differences in 0...Self.differencesMax {
      var before = [Int](repeating: -1, count: 2 * differences + 1)
      // Widened by one at each side, so that diagonal k is at k + differences.
      for (index, x) in reached.enumerated() { before[index + 1] = x }
      trace.append(before)
      var next = [Int](repeating: -1, count: 2 * differences + 1)
      for k in stride(from: -differences, through: differences, by: 2) {
        var x: Int
        if differences == 0 {
          x = 0
        } else if k == -differences
          || k != differences && before[k - 1 + differences] < before[k + 1 + differences]
        {
          x = before[k + 1 + differences]
        } else {
          x = before[k - 1 + differences] + 1
        }
        while x < old.count, x - k < new.count, x - k >= 0, old[x] == new[x - k] { x += 1 }
        next[k + differences] = x
        if x >= old.count && x - k >= new.count { return trace }
      }
      reached = next
    }
    return nil
  }
}
