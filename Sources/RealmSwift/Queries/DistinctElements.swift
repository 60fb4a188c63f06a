// The first element of each group of elements with equal values, found by hashing.
internal import Platform
internal import Trees

/// So often distinct elements are found anew before all elements are kept by their values, which
/// takes as long as many times; tests set less.
let distinctFindingsMax = Atomic(64)

/// Finds the first of equal elements.
enum DistinctElements {
  /// The first element of each combination of values, in order.
  static func firsts(_ items: UnsafeBufferPointer<Int64>, _ columns: [SortColumn]) -> [Int64] {
    if columns.contains(where: { $0.form == .others }) { return byIdentity(items, columns) }
    if columns.count == 1, let found = byBitMap(items, columns[0]) { return found }
    var groups = ValueGroups(columns)
    var found: [Int64] = []
    for index in items.indices where groups.insert(index) { found.append(items[index]) }
    return found
  }

  /// The same by a bit a value, where numbers lie close together.
  private static func byBitMap(
    _ items: UnsafeBufferPointer<Int64>, _ column: SortColumn
  ) -> [Int64]? {
    guard column.form == .numbers, !items.isEmpty else { return nil }
    var (least, greatest) = (UInt64.max, UInt64.min)
    for index in items.indices where !column.isNull(index) {
      least = min(least, column.numbers[index])
      greatest = max(greatest, column.numbers[index])
    }
    let span = least > greatest ? 0 : greatest - least
    if span >= UInt64(32 * items.count) { return nil }
    var seen = Array(repeating: UInt64(0), count: Int(span / 64) + 1)
    var hasNull = false
    var found: [Int64] = []
    for index in items.indices {
      if column.isNull(index) {
        if !hasNull { found.append(items[index]) }
        hasNull = true
        continue
      }
      let bit = column.numbers[index] - least
      let mask: UInt64 = 1 &<< (bit & 63)
      if seen[Int(bit / 64)] & mask == 0 {
        seen[Int(bit / 64)] |= mask
        found.append(items[index])
      }
    }
    return found
  }

  /// The same of values that are equal in several forms.
  private static func byIdentity(
    _ items: UnsafeBufferPointer<Int64>, _ columns: [SortColumn]
  ) -> [Int64] {
    var seen = Set<[UInt8]>()
    return items.indices.filter { index in
      var identity: [UInt8] = []
      for column in columns { column.withValue(index) { $0.appendIdentity(to: &identity) } }
      return seen.insert(identity).inserted
    }.map { items[$0] }
  }
}

/// Elements by their values: one element stands for all that are equal to it.
private struct ValueGroups {
  private let columns: [SortColumn]
  /// Places of elements, one more than they are; 0 for none.
  private var places: [UInt32] = Array(repeating: 0, count: 1_024)
  /// The hash of each place's element.
  private var hashes: [UInt32] = Array(repeating: 0, count: 1_024)
  private var count = 0

  init(_ columns: [SortColumn]) { self.columns = columns }

  /// Whether an element is equal to none before it.
  mutating func insert(_ index: Int) -> Bool {
    if 2 * count >= places.count { grow() }
    let hash = hash(index)
    let mask = places.count - 1
    var place = Int(hash) & mask
    while places[place] != 0 {
      if hashes[place] == hash, isEqual(index, Int(places[place] - 1)) { return false }
      place = (place + 1) & mask
    }
    places[place] = UInt32(index + 1)
    hashes[place] = hash
    count += 1
    return true
  }

  private mutating func grow() {
    let (old, oldHashes) = (places, hashes)
    places = Array(repeating: 0, count: 4 * old.count)
    hashes = Array(repeating: 0, count: 4 * old.count)
    let mask = places.count - 1
    for index in old.indices where old[index] != 0 {
      var place = Int(oldHashes[index]) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = old[index]
      hashes[place] = oldHashes[index]
    }
  }

  private func hash(_ index: Int) -> UInt32 {
    var hash: UInt64 = 0
    for column in columns {
      let part: UInt64 =
        column.isNull(index)
        ? 1 : column.form == .numbers ? column.numbers[index] : Self.hash(column.texts[index])
      hash = (hash ^ part) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash &>> 32
    }
    return UInt32(truncatingIfNeeded: hash)
  }

  private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
    text.isEmpty ? 0 : hash64(text.baseAddress.unsafelyUnwrapped, count: text.count, seed: 0)
  }

  private func isEqual(_ left: Int, _ right: Int) -> Bool {
    columns.allSatisfy { column in
      let isNull = column.isNull(left)
      if isNull || column.isNull(right) { return isNull == column.isNull(right) }
      return column.form == .numbers
        ? column.numbers[left] == column.numbers[right]
        : column.texts[left].hasSameBytes(as: column.texts[right])
    }
  }
}
