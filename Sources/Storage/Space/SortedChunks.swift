// A sorted list in chunks of up to 64 elements: the space structures keep free runs by address,
// free runs by length, and pins by version in it. Search is two binary searches, a change moves at
// most one chunk, and nothing is allocated an element. A copy shares chunks until they change.
//
// Invariants: 1 keys ascend strictly, within and across chunks. 2 no chunk is empty or over
// capacity.
// 3 `firstKeys` and `heaviest` describe the chunk of the same index. 4 `count` is the sum.

/// What a `SortedChunks` can hold.
protocol SortedElement: Sendable {
  /// The order; no two elements have the same.
  var key: UInt64 { get }
  /// Something of which each chunk knows the maximum.
  var weight: UInt64 { get }
}

extension SortedElement {
  var weight: UInt64 { 0 }
}

/// Elements in the order of their keys.
struct SortedChunks<Element: SortedElement>: Sendable {
  /// Where an element is, or would go: `index` may be one behind the chunk's last element.
  struct Position {
    fileprivate(set) var chunk: Int
    fileprivate(set) var index: Int
  }

  private static var capacity: Int { 64 }

  private(set) var chunks: [[Element]] = []
  /// Key of the first element of each chunk.
  private var firstKeys: [UInt64] = []
  /// Largest weight in each chunk.
  private var heaviest: [UInt64] = []
  private(set) var count = 0

  init() {}

  // MARK: - Search

  /// Where the first element with this key or a larger one is, or would be.
  func position(of key: UInt64) -> Position {
    guard !chunks.isEmpty else { return Position(chunk: 0, index: 0) }
    // The last chunk that starts at or below the key, else the first one.
    let chunk = firstKeys.withUnsafeBufferPointer { keys in
      var base = 0
      var rest = keys.count
      while rest > 1 {
        let half = rest / 2
        base = keys[base &+ half] <= key ? base &+ half : base
        rest &-= half
      }
      return base
    }
    let index = chunks[chunk].withUnsafeBufferPointer { elements in
      var base = 0
      var rest = elements.count
      while rest > 1 {
        let half = rest / 2
        base = elements[base &+ half &- 1].key < key ? base &+ half : base
        rest &-= half
      }
      return elements[base].key < key ? base &+ 1 : base
    }
    return Position(chunk: chunk, index: index)
  }

  /// The same place as an element's, or nil behind the last element.
  func atElement(_ position: Position) -> Position? {
    guard position.chunk < chunks.count else { return nil }
    if position.index < chunks[position.chunk].count { return position }
    guard position.chunk + 1 < chunks.count else { return nil }
    return Position(chunk: position.chunk + 1, index: 0)
  }

  /// The element behind another one.
  func next(_ position: Position) -> Position? {
    atElement(Position(chunk: position.chunk, index: position.index + 1))
  }

  /// Up to `maximum` keys, the first ones that are not below `key`.
  func keys(from key: UInt64, maximum: Int) -> [UInt64] {
    var keys: [UInt64] = []
    var position = atElement(position(of: key))
    while let here = position, keys.count < maximum {
      keys.append(self[here].key)
      position = next(here)
    }
    return keys
  }

  /// The element before a position.
  func before(_ position: Position) -> Position? {
    if position.index > 0 { return Position(chunk: position.chunk, index: position.index - 1) }
    guard position.chunk > 0 else { return nil }
    return Position(chunk: position.chunk - 1, index: chunks[position.chunk - 1].count - 1)
  }

  /// The last element.
  var last: Position? {
    chunks.isEmpty
      ? nil : Position(chunk: chunks.count - 1, index: chunks[chunks.count - 1].count - 1)
  }

  /// Needs the position of an element.
  subscript(position: Position) -> Element { chunks[position.chunk][position.index] }

  /// The first element of at least this weight.
  ///
  /// - Complexity: O(chunks), no more than one of them searched.
  func first(weighing weight: UInt64) -> Element? {
    guard let chunk = heaviest.firstIndex(where: { $0 >= weight }) else { return nil }
    return chunks[chunk].first { $0.weight >= weight }
  }

  // MARK: - Change

  /// Adds an element at the position of its key.
  mutating func insert(_ element: Element, at position: Position) {
    count += 1
    if chunks.isEmpty {
      appendChunk(element)
      return
    }
    var (chunk, index) = (position.chunk, position.index)
    let size = chunks[chunk].count
    if size == Self.capacity {
      if chunk == chunks.count - 1, index == size {
        // Ascending keys leave full chunks behind them.
        appendChunk(element)
        return
      }
      split(chunk)
      if index > size / 2 { (chunk, index) = (chunk + 1, index - size / 2) }
    }
    chunks[chunk].insert(element, at: index)
    if index == 0 { firstKeys[chunk] = element.key }
    if element.weight > heaviest[chunk] { heaviest[chunk] = element.weight }
  }

  /// Adds an element.
  mutating func insert(_ element: Element) { insert(element, at: position(of: element.key)) }

  /// Exchanges an element for one that has the same place in the order.
  mutating func replace(at position: Position, with element: Element) {
    let chunk = position.chunk
    let old = chunks[chunk][position.index]
    chunks[chunk][position.index] = element
    if position.index == 0 { firstKeys[chunk] = element.key }
    if element.weight >= heaviest[chunk] {
      heaviest[chunk] = element.weight
    } else if old.weight == heaviest[chunk] {
      weigh(chunk)
    }
  }

  /// Removes an element; all positions become invalid.
  mutating func remove(at position: Position) {
    let chunk = position.chunk
    count -= 1
    let old = chunks[chunk].remove(at: position.index)
    let size = chunks[chunk].count
    if size == 0 {
      removeChunk(chunk)
      return
    }
    if position.index == 0 { firstKeys[chunk] = chunks[chunk][0].key }
    if old.weight == heaviest[chunk] { weigh(chunk) }
    if size < Self.capacity / 4 { joinWithNeighbour(chunk) }
  }

  /// Removes the element with this key, which must be there.
  mutating func remove(key: UInt64) {
    let position = position(of: key)
    precondition(
      position.chunk < chunks.count && position.index < chunks[position.chunk].count
        && self[position].key == key, "no element has the key \(key)")
    remove(at: position)
  }

  // MARK: - Chunks

  private mutating func appendChunk(_ element: Element) {
    var chunk: [Element] = []
    chunk.reserveCapacity(Self.capacity)
    chunk.append(element)
    chunks.append(chunk)
    firstKeys.append(element.key)
    heaviest.append(element.weight)
  }

  private mutating func removeChunk(_ chunk: Int) {
    chunks.remove(at: chunk)
    firstKeys.remove(at: chunk)
    heaviest.remove(at: chunk)
  }

  private mutating func split(_ chunk: Int) {
    let middle = chunks[chunk].count / 2
    var upper: [Element] = []
    upper.reserveCapacity(Self.capacity)
    upper.append(contentsOf: chunks[chunk][middle...])
    chunks[chunk].removeLast(chunks[chunk].count - middle)
    firstKeys.insert(upper[0].key, at: chunk + 1)
    heaviest.insert(0, at: chunk + 1)
    chunks.insert(upper, at: chunk + 1)
    weigh(chunk)
    weigh(chunk + 1)
  }

  /// Keeps the number of chunks in proportion to the elements.
  private mutating func joinWithNeighbour(_ chunk: Int) {
    for lower in [chunk - 1, chunk] where lower >= 0 && lower + 1 < chunks.count {
      if chunks[lower].count + chunks[lower + 1].count <= Self.capacity * 3 / 4 {
        let upper = chunks[lower + 1]
        chunks[lower].append(contentsOf: upper)
        heaviest[lower] = max(heaviest[lower], heaviest[lower + 1])
        removeChunk(lower + 1)
        return
      }
    }
  }

  private mutating func weigh(_ chunk: Int) {
    heaviest[chunk] = chunks[chunk].withUnsafeBufferPointer { elements in
      var most: UInt64 = 0
      for element in elements { most = max(most, element.weight) }
      return most
    }
  }

  // MARK: - Checking

  /// What is wrong, one sentence each; empty when all invariants hold.
  func checkInvariants() -> [String] {
    var findings: [String] = []
    var previous: UInt64?
    var number = 0
    if firstKeys.count != chunks.count || heaviest.count != chunks.count {
      findings.append(
        "\(chunks.count) chunks, \(firstKeys.count) first keys, \(heaviest.count) weights")
      return findings
    }
    for (index, chunk) in chunks.enumerated() {
      if chunk.isEmpty || chunk.count > Self.capacity {
        findings.append("chunk \(index) has \(chunk.count) elements")
      }
      if chunk.first?.key != firstKeys[index] {
        findings.append("chunk \(index) has a wrong first key")
      }
      if chunk.map(\.weight).max() != heaviest[index] {
        findings.append("chunk \(index) has a wrong largest weight")
      }
      for element in chunk {
        if let previous, element.key <= previous {
          findings.append("key \(element.key) follows \(previous)")
        }
        previous = element.key
      }
      number += chunk.count
    }
    if number != count { findings.append("\(number) elements, counted \(count)") }
    return findings
  }
}
