// The first elements of an order, found without sorting the others: what comes behind as many as
// are wanted is dropped when it is seen.
internal import ObjectStore
internal import Platform
internal import Trees

/// Takes elements in their order, some at a time, and keeps the first ones of another order.
///
/// Keeps no more than some thousands, whatever it is given.
struct FirstElements {
  private let limit: Int
  private let order: SortOrder
  /// Those that may be among the first, in the order in which they came but for those that were
  /// sorted.
  private var kept: [Int64] = []
  /// The value of the last of `limit` elements: who comes behind it is not wanted.
  private var bound: SortColumn?

  init(_ limit: Int, _ order: SortOrder) {
    self.limit = limit
    self.order = order
  }

  /// - Parameter items: behind all that were added before, in the order in which equal ones stay.
  mutating func add(_ items: UnsafeBufferPointer<Int64>) {
    var start = 0
    // The first ones give a bound, which spares the sorting of many.
    while start < items.count {
      let end = bound == nil ? min(items.count, start + 2 * limit) : items.count
      take(UnsafeBufferPointer(rebasing: items[start..<end]))
      if kept.count >= 2 * limit { settle() }
      start = end
    }
  }

  private mutating func take(_ items: UnsafeBufferPointer<Int64>) {
    guard let bound else { return kept.append(contentsOf: items) }
    let column = order.column(0, items)
    let isAscending = order.paths[0].isAscending
    // Later ones lose against equal ones, unless another path decides.
    let takesEqual = order.paths.count > 1 && !PlantedBug.tiesLost.isActive
    if column.form == .numbers, column.nulls.isEmpty, bound.nulls.isEmpty {
      let flip: UInt64 = isAscending ? 0 : ~0
      let last = bound.numbers[0] ^ flip
      for index in items.indices {
        let number = column.numbers[index] ^ flip
        if number < last || (takesEqual && number == last) { kept.append(items[index]) }
      }
      return
    }
    let before: PlanOrder = isAscending ? .less : .greater
    let comparesBytes = column.form == .texts && bound.nulls.isEmpty
    let last = comparesBytes ? bound.texts[0].firstBytes : 0
    for index in items.indices {
      if comparesBytes, !column.isNull(index) {
        // Mostly the first bytes decide.
        let first = column.texts[index].firstBytes
        if first != last {
          if (first < last) == isAscending { kept.append(items[index]) }
          continue
        }
      }
      let order = column.order(index, bound, 0)
      if order == before || (takesEqual && order == .equal) { kept.append(items[index]) }
    }
  }

  /// Sorts what is kept, and drops what is not wanted.
  private mutating func settle() {
    kept = kept.withUnsafeBufferPointer { order.sorted($0, first: limit) }
    if kept.count == limit {
      bound = kept[(limit - 1)...].withUnsafeBufferPointer { order.column(0, $0) }
    }
  }

  /// The first elements, in order.
  mutating func result() -> [Int64] {
    settle()
    return kept
  }
}

/// Paths that elements are sorted by, at one version.
struct SortOrder {
  typealias Paths = [(path: PlanPath, isAscending: Bool)]

  let paths: Paths
  private let readers: PlanReaders
  private let subjects: SubjectReader
  private let isOfObjects: Bool

  init(_ paths: Paths, _ tables: Set<Int>, _ origin: any QueryOrigin) {
    self.paths = paths
    readers = PlanReaders(origin.realm, tables)
    subjects = SubjectReader(origin)
    isOfObjects = origin.table != nil
  }

  /// The values of some elements at the end of a path.
  func column(_ index: Int, _ items: UnsafeBufferPointer<Int64>) -> SortColumn {
    SortColumn(paths[index].path, items, readers, subjects, isOfObjects: isOfObjects)
  }

  /// Some elements in order; equal ones stay in theirs.
  func sorted(_ items: UnsafeBufferPointer<Int64>, first count: Int = .max) -> [Int64] {
    PositionSort.sorted(
      items, paths.indices.map { (column($0, items), paths[$0].isAscending) }, first: count)
  }
}
