// A long sequence in an order, in which elements come and go one by one: in parts, so that an edit
// moves some hundred others, and not all behind it.

/// Keys in an order.
struct OrderedChunks {
  private static let chunkMax = 512

  /// None is empty, unless it is the only one.
  private var chunks: [[Int64]]
  /// How many keys each has: close together, since they are added up.
  private var counts: [Int32]
  private(set) var count: Int

  /// - Parameter keys: in the order.
  init(_ keys: [Int64]) {
    // Half full, as they are after some edits.
    let size = Self.chunkMax / 2
    chunks = stride(from: 0, to: keys.count, by: size).map {
      Array(keys[$0..<min($0 + size, keys.count)])
    }
    if chunks.isEmpty { chunks = [[]] }
    counts = chunks.map { Int32($0.count) }
    count = keys.count
  }

  /// All keys.
  var all: [Int64] {
    var all: [Int64] = []
    all.reserveCapacity(count)
    for chunk in chunks { all += chunk }
    return all
  }

  var first: Int64? { count == 0 ? nil : chunks[0][0] }

  /// The key at a position, which has to be there.
  subscript(position: Int) -> Int64 {
    var chunk = 0
    var left = Int32(position)
    if position > count / 2 {
      chunk = counts.count - 1
      left = Int32(count - position)
      while left > counts[chunk] {
        left -= counts[chunk]
        chunk -= 1
      }
      return chunks[chunk][Int(counts[chunk] - left)]
    }
    while left >= counts[chunk] {
      left -= counts[chunk]
      chunk += 1
    }
    return chunks[chunk][Int(left)]
  }

  /// Where the first key is that is not before what is looked for.
  ///
  /// - Parameter isBefore: never true behind a false.
  private func place(_ isBefore: (Int64) -> Bool) -> (chunk: Int, offset: Int) {
    if count == 0 { return (0, 0) }
    let chunk = chunks.lowerBound { isBefore($0[$0.count - 1]) }
    if chunk == chunks.count { return (chunk - 1, chunks[chunk - 1].count) }
    return (chunk, chunks[chunk].lowerBound(isBefore))
  }

  /// The position of a key; nil when it is not there.
  func position(of key: Int64, _ isBefore: (Int64) -> Bool) -> Int? {
    let (chunk, offset) = place(isBefore)
    guard offset < chunks[chunk].count, chunks[chunk][offset] == key else { return nil }
    return counts[..<chunk].reduce(offset) { $0 + Int($1) }
  }

  /// The positions of some keys, which have to be there; the order is that of the keys.
  func positions(of keys: [Int64]) -> [Int] {
    var starts: [Int] = []
    starts.reserveCapacity(counts.count)
    var sum = 0
    for count in counts {
      starts.append(sum)
      sum += Int(count)
    }
    return keys.map { key in
      let (chunk, offset) = place { $0 < key }
      return starts[chunk] + offset
    }
  }

  /// Puts a key before the first one that is not before it, unless that is the key.
  mutating func insert(_ key: Int64, _ isBefore: (Int64) -> Bool) {
    let (chunk, offset) = place(isBefore)
    if offset < chunks[chunk].count, chunks[chunk][offset] == key { return }
    chunks[chunk].insert(key, at: offset)
    counts[chunk] += 1
    count += 1
    if chunks[chunk].count > Self.chunkMax {
      let half = Self.chunkMax / 2
      chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
      chunks[chunk].removeSubrange(half...)
      counts[chunk] = Int32(half)
      counts.insert(Int32(chunks[chunk + 1].count), at: chunk + 1)
    }
  }

  /// Takes a key out, if it is there.
  mutating func remove(_ key: Int64, _ isBefore: (Int64) -> Bool) {
    let (chunk, offset) = place(isBefore)
    guard offset < chunks[chunk].count, chunks[chunk][offset] == key else { return }
    chunks[chunk].remove(at: offset)
    counts[chunk] -= 1
    count -= 1
    if chunks[chunk].isEmpty, chunks.count > 1 {
      chunks.remove(at: chunk)
      counts.remove(at: chunk)
    }
  }
}
