// Sorting of elements by the values of some columns. The values of a column become numbers that are
// put into order together with the elements' positions, by their bits; only elements whose numbers
// are equal are looked at again, by what the number did not hold, and then by the next column.
internal import Platform
internal import Trees

/// Brings positions of elements into the order of columns; equal elements stay in their order.
///
/// Takes 24 bytes an element while it runs, besides the columns: 8 for a number, 8 for a copy of
/// these, 8 for two positions.
struct PositionSort {
  private let columns: [(column: SortColumn, isAscending: Bool)]
  private let positions: UnsafeMutableBufferPointer<UInt32>
  private let spare: UnsafeMutableBufferPointer<UInt32>
  private let numbers: UnsafeMutableBufferPointer<UInt64>
  private let scratch: UnsafeMutableBufferPointer<UInt64>

  /// Fewer elements than this are compared with each other.
  private static let fewMax = 20
  /// How often elements with long equal beginnings are looked at further, before they are compared.
  private static let depthMax = 48

  /// Some elements in the order of columns, the first column first.
  static func sorted(
    _ items: UnsafeBufferPointer<Int64>, _ columns: [(column: SortColumn, isAscending: Bool)],
    first count: Int = .max
  ) -> [Int64] {
    if items.isEmpty { return [] }
    precondition(items.count <= UInt32.max, "\(items.count) elements are too many to sort")
    let sort = PositionSort(items.count, columns)
    defer { sort.deallocate() }
    sort.sort(0..<items.count, column: 0, depth: 0, level: 0)
    return [Int64](unsafeUninitializedCapacity: min(count, items.count)) { buffer, initialized in
      for index in 0..<buffer.count { buffer[index] = items[Int(sort.positions[index])] }
      initialized = buffer.count
    }
  }

  private init(_ count: Int, _ columns: [(column: SortColumn, isAscending: Bool)]) {
    self.columns = columns
    positions = .allocate(capacity: count)
    spare = .allocate(capacity: count)
    numbers = .allocate(capacity: count)
    scratch = .allocate(capacity: count)
    for index in 0..<count { positions[index] = UInt32(truncatingIfNeeded: index) }
  }

  private func deallocate() {
    positions.deallocate()
    spare.deallocate()
    numbers.deallocate()
    scratch.deallocate()
  }

  /// Sorts a run of positions, which are ascending, by a column and those behind it.
  ///
  /// - Parameters:
  ///   - depth: how many first bytes of a text column are known to be equal.
  ///   - level: how often the elements were looked at before.
  private func sort(_ range: Range<Int>, column: Int, depth: Int, level: Int) {
    if range.count < 2 || column == columns.count { return }
    if range.count < Self.fewMax { return insert(range, column) }
    if level > Self.depthMax { return compare(range, column) }
    let (values, isAscending) = columns[column]
    var rest = range
    if depth == 0 {
      rest = partitionNulls(range, values, isAscending)
      let nulls =
        rest.lowerBound > range.lowerBound
        ? range.lowerBound..<rest.lowerBound : rest.upperBound..<range.upperBound
      sort(nulls, column: column + 1, depth: 0, level: level)
      if rest.count < 2 { return }
    }
    switch values.form {
    case .numbers: sortNumbers(rest, column, level)
    case .texts: sortTexts(rest, column, depth, level)
    case .others:
      compare(rest, column)
    }
  }

  /// Brings the elements whose value is null to the front or the end; returns where the others are.
  private func partitionNulls(
    _ range: Range<Int>, _ values: SortColumn, _ isAscending: Bool
  ) -> Range<Int> {
    guard values.form == .others || !values.nulls.isEmpty else { return range }
    var nullCount = 0
    for index in range where values.isNull(Int(positions[index])) { nullCount += 1 }
    if nullCount == 0 { return range }
    let rest =
      isAscending
      ? range.lowerBound + nullCount..<range.upperBound
      : range.lowerBound..<range.upperBound - nullCount
    var null = isAscending ? range.lowerBound : rest.upperBound
    var other = rest.lowerBound
    for index in range {
      if values.isNull(Int(positions[index])) {
        spare[null] = positions[index]
        null += 1
      } else {
        spare[other] = positions[index]
        other += 1
      }
    }
    for index in range { positions[index] = spare[index] }
    return rest
  }

  // MARK: - Numbers

  private func sortNumbers(_ range: Range<Int>, _ column: Int, _ level: Int) {
    let values = columns[column].column.numbers
    for index in range { numbers[index] = values[Int(positions[index])] }
    let lost = sortByNumbers(range, columns[column].isAscending)
    forEachRun(range) { run in
      // What the numbers did not hold, or the next column.
      sort(run, column: lost ? column : column + 1, depth: 0, level: level + 1)
    }
  }

  /// Sorts a run by the numbers that its elements have in `numbers`, which then say which are
  /// equal.
  ///
  /// - Returns: whether bits were left out, as they had no place beside the positions.
  private func sortByNumbers(_ range: Range<Int>, _ isAscending: Bool) -> Bool {
    let (start, count) = (range.lowerBound, range.count)
    let numbers = UnsafeMutableBufferPointer(rebasing: numbers[range])
    var (least, greatest) = (UInt64.max, UInt64.min)
    for index in 0..<count {
      least = min(least, numbers[index])
      greatest = max(greatest, numbers[index])
    }
    if least == greatest {
      for index in 0..<count { numbers[index] = 0 }
      return false
    }
    let bits = 64 - (greatest &- least).leadingZeroBitCount
    let indexBits = 64 - UInt64(count - 1).leadingZeroBitCount
    let left = max(0, bits + indexBits - 64)
    // Numbers of the other direction have the other order.
    let (base, flip): (UInt64, UInt64) = isAscending ? (least, 0) : (~greatest, ~0)
    for index in 0..<count {
      let number = ((numbers[index] ^ flip) &- base) &>> UInt64(left)
      numbers[index] = number &<< UInt64(indexBits) | UInt64(truncatingIfNeeded: index)
    }
    radixSort(
      numbers, bits: indexBits, to: indexBits + bits - left,
      scratch: UnsafeMutableBufferPointer(rebasing: scratch[range]))
    let mask: UInt64 = (1 &<< UInt64(indexBits)) - 1
    for index in 0..<count {
      spare[start + index] = positions[start + Int(truncatingIfNeeded: numbers[index] & mask)]
      numbers[index] &>>= UInt64(indexBits)
    }
    for index in range { positions[index] = spare[index] }
    return left > 0
  }

  /// Runs `body` on each run of several elements that have the same number.
  private func forEachRun(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start < range.upperBound {
      let number = numbers[start]
      var end = start + 1
      while end < range.upperBound, numbers[end] == number { end += 1 }
      // What sorts a run uses the place of its numbers, which were looked at.
      if end - start > 1 { body(start..<end) }
      start = end
    }
  }

  // MARK: - Texts

  private func sortTexts(_ range: Range<Int>, _ column: Int, _ depth: Int, _ level: Int) {
    let texts = columns[column].column.texts
    let depth = commonPrefix(range, texts, depth)
    for index in range { numbers[index] = Self.part(texts[Int(positions[index])], depth) }
    let lost = sortByNumbers(range, columns[column].isAscending)
    if PlantedBug.shortPrefixSort.isActive { return }
    forEachRun(range) { run in
      if lost {
        sortTexts(run, column, depth, level + 1)
      } else if Self.part(texts[Int(positions[run.lowerBound])], depth) & 0xff < 8 {
        // The texts end here, and are equal.
        sort(run, column: column + 1, depth: 0, level: level + 1)
      } else {
        sort(run, column: column, depth: depth + 7, level: level + 1)
      }
    }
  }

  /// Seven bytes of a text from a depth on, as a number of the same order; the lowest byte is the
  /// number of bytes that the text has there, 8 for more than seven.
  private static func part(_ text: UnsafeRawBufferPointer, _ depth: Int) -> UInt64 {
    let left = text.count &- depth
    if left <= 0 { return 0 }
    let first = UnsafeRawBufferPointer(
      start: text.baseAddress.unsafelyUnwrapped + depth, count: left
    ).firstBytes
    return left >= 8 ? first & ~0xff | 8 : first | UInt64(left)
  }

  /// How many first bytes all texts of a run have in common, of which some are known.
  private func commonPrefix(
    _ range: Range<Int>, _ texts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>, _ known: Int
  ) -> Int {
    let first = texts[Int(positions[range.lowerBound])]
    var common = first.count
    for index in range {
      let text = texts[Int(positions[index])]
      common = min(common, text.count)
      var depth = known
      while depth < common {
        let left = UnsafeRawBufferPointer(rebasing: first[depth..<common]).firstBytes
        let right = UnsafeRawBufferPointer(rebasing: text[depth..<common]).firstBytes
        if left != right {
          common = depth + (left ^ right).leadingZeroBitCount / 8
          break
        }
        depth += 8
      }
      if common <= known { return known }
    }
    return common
  }

  // MARK: - Comparisons

  /// Whether one element comes before another, by a column and those behind it.
  private func isBefore(_ left: UInt32, _ right: UInt32, _ column: Int) -> Bool {
    for index in column..<columns.count {
      let (values, isAscending) = columns[index]
      switch values.order(Int(left), values, Int(right)) {
      case .less: return isAscending
      case .greater: return !isAscending
      case .equal: continue
      }
    }
    return left < right
  }

  private func insert(_ range: Range<Int>, _ column: Int) {
    for index in range.dropFirst() {
      let position = positions[index]
      var place = index
      while place > range.lowerBound, isBefore(position, positions[place - 1], column) {
        positions[place] = positions[place - 1]
        place -= 1
      }
      positions[place] = position
    }
  }

  private func compare(_ range: Range<Int>, _ column: Int) {
    var run = UnsafeMutableBufferPointer(rebasing: positions[range])
    run.sort { isBefore($0, $1, column) }
  }
}
