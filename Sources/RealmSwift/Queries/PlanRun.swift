// One search for the objects of a condition, at one version: which way it goes, by the numbers of
// objects that the trees know, and the clusters with the rows that it finds. What is found
// otherwise than by a scan is asked what an index cannot tell, so that every way gives the same
// rows.
internal import ObjectStore
internal import Platform

/// How the objects of a condition are found.
enum PlanAccess {
  /// There are none.
  case nothing
  /// All clusters are looked at.
  case scan
  /// The keys of a tree, which has them in order.
  case stream(KeyStream)
  /// Keys that were listed before, in order.
  case keys([Int64])
}

/// Which way of access searches take; tests set it to compare them.
package enum PlanChoice {
  case byCost, scan, index

  /// Of one task or thread alone: other searches of the process go on choosing by cost.
  @TaskLocal private static var ofTask = PlanChoice.byCost
  /// How many bodies run in `with`: nobody looks for a value of the task while there is none.
  private static let forcing = Atomic<Int>(0)

  /// How a search goes that starts now.
  package static var current: PlanChoice {
    // Relaxed: a body that forces a choice runs on the thread that has counted it.
    forcing.load(ordering: .relaxed) == 0 ? .byCost : ofTask
  }

  /// Runs `body`, in which searches take that way.
  package static func with<Result>(
    _ choice: PlanChoice, _ body: () throws -> Result
  ) rethrows -> Result {
    forcing.add(1, ordering: .relaxed)
    defer { forcing.subtract(1, ordering: .relaxed) }
    return try $ofTask.withValue(choice, operation: body)
  }
}

/// A search for the objects of one table that fulfil a condition.
struct PlanRun {
  let readers: PlanReaders
  let reader: TableReader
  let access: PlanAccess
  /// What the found candidates are asked; of a scan the whole condition.
  let asked: PlanCondition
  /// Whether few objects are wanted, so that each step is a small one.
  private let isLimited: Bool
  /// How the objects behind the first ones are found; nil where all are found in one way.
  private var rest: Rest?

  /// A search that is only thought about when the first objects were not enough.
  private final class Rest {
    /// How many objects are looked at first.
    let glance: Int
    private let make: () -> PlanRun
    private(set) lazy var run = make()
    /// Objects before this key were looked at.
    var start: Int64?

    init(glance: Int, _ make: @escaping () -> PlanRun) { (self.glance, self.make) = (glance, make) }
  }

  /// - Parameter limit: how many objects are wanted; nil for all.
  init(
    _ condition: PlanCondition, _ readers: PlanReaders, _ table: Int, _ reader: TableReader,
    limit: Int? = nil
  ) {
    if limit != nil, let glance = Self.glance(condition, readers, table, reader) {
      self.init(condition, readers, reader, nil, limit: limit)
      rest = Rest(glance: glance) {
        let choice = KeyChoice(condition, readers, table, reader, limit: limit)
        return PlanRun(condition, readers, reader, choice, limit: limit)
      }
      return
    }
    var choice: KeyChoice?
    if case .constant = condition {
    } else if reader.count > 0 {
      choice = KeyChoice(condition, readers, table, reader, limit: limit)
    }
    self.init(condition, readers, reader, choice, limit: limit)
  }

  /// - Parameter choice: of the condition; nil where nothing tells its objects.
  init(
    _ condition: PlanCondition, _ readers: PlanReaders, _ reader: TableReader,
    _ choice: KeyChoice?, limit: Int?
  ) {
    self.readers = readers
    self.reader = reader
    isLimited = limit != nil
    if case .constant(let value) = condition {
      (access, asked) = (value ? .scan : .nothing, condition)
      return
    }
    guard reader.count > 0 else {
      (access, asked) = (.nothing, condition)
      return
    }
    guard let choice, choice.isWorthwhile(condition, reader, limit: limit)
    else {
      (access, asked) = (.scan, condition)
      return
    }
    asked = choice.isExact ? .constant(true) : choice.rest
    if let stream = choice.source.stream(reader) {
      access = .stream(stream)
    } else {
      let keys = choice.source.sortedKeys(reader, count: choice.count)
      access = keys.isEmpty ? .nothing : .keys(keys)
    }
  }

  /// At how many objects to look before anybody thinks about indexes, which may be for nothing; nil
  /// where that is as short.
  private static func glance(
    _ condition: PlanCondition, _ readers: PlanReaders, _ table: Int, _ reader: TableReader
  ) -> Int? {
    guard PlanChoice.current == .byCost, reader.count > 0, let stored = readers.stored(table),
      condition.lookUps(stored) != nil, !condition.isToldByOneValue(stored)
    else { return nil }
    let rows = AccessCost.glance / max(1, condition.rowCost)
    return rows < 16 ? nil : min(Int(rows), TableReader.clusterRowsMax)
  }

  /// The rows of each cluster that fulfil the condition, in key order, until `body` returns false.
  ///
  /// A cluster comes several times when it is looked at in parts.
  ///
  /// - Parameters:
  ///   - key: objects before it are left out.
  ///   - column: a column that `body` will look at.
  func forEachCluster(
    from key: Int64 = 0, reading column: Int? = nil, _ body: (ClusterScan, RowSet) -> Bool
  ) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { slots in
      let slots = slots.baseAddress.unsafelyUnwrapped
      if let rest {
        guard let next = glance(rest, from: key, slots, body) else { return }
        rest.run.forEachCluster(from: next, reading: column, body)
        return
      }
      switch access {
      case .nothing: return
      case .scan: scan(from: key, column, slots, body)
      case .stream(let stream): follow(stream, from: key, slots, body)
      case .keys(let keys):
        var start = 0
        if key > 0 {
          // The first key that is not less, by bisection.
          var end = keys.count
          while start < end {
            let middle = (start + end) / 2
            if keys[middle] < key { start = middle + 1 } else { end = middle }
          }
        }
        keys.withUnsafeBufferPointer {
          _ = visit(UnsafeBufferPointer(rebasing: $0[start...]), slots, body)
        }
      }
    }
  }

  private func clusterScan(
    _ firstKey: ObjectKey, _ cluster: UnsafeRawPointer, _ slots: UnsafeMutablePointer<UInt8>
  ) -> ClusterScan {
    let isSparse = reader.isSparse(cluster)
    if isSparse { reader.slots(cluster, into: slots) }
    return ClusterScan(
      readers: readers, table: reader, cluster: cluster, firstKey: firstKey,
      slots: isSparse ? UnsafePointer(slots) : nil)
  }

  private func scan(
    from key: Int64, _ column: Int?, _ slots: UnsafeMutablePointer<UInt8>,
    _ body: (ClusterScan, RowSet) -> Bool
  ) {
    // Columns are named to be loaded ahead, which a short search does not need.
    let columns = isLimited ? [] : Array(asked.scannedColumns.union(column.map { [$0] } ?? []))
    var portion = firstPortion
    reader.forEachCluster(from: key, isScan: !isLimited, reading: columns) { firstKey, cluster in
      let start = Int(clamping: key - firstKey.rawValue)
      return look(
        clusterScan(firstKey, cluster, slots), among: reader.rows(cluster, fromSlot: start),
        &portion, body)
    }
  }

  /// How many rows are looked at first.
  private var firstPortion: Int { isLimited && asked.cost != .packed ? 4 : 256 }

  /// Looks at rows of a cluster, first at few of them.
  ///
  /// - Returns: false when `body` did.
  private func look(
    _ scan: ClusterScan, among rows: RowSet, _ portion: inout Int,
    _ body: (ClusterScan, RowSet) -> Bool
  ) -> Bool {
    var left = rows
    while portion < 256, !left.isEmpty {
      let part = left.prefix(portion)
      left = left.subtracting(part)
      portion *= 4
      if !body(scan, asked.rows(scan, among: part)) { return false }
    }
    return left.isEmpty || body(scan, asked.rows(scan, among: left))
  }

  /// Looks at the first objects.
  ///
  /// - Returns: where the other ones begin; nil when `body` returned false.
  private func glance(
    _ rest: Rest, from key: Int64, _ slots: UnsafeMutablePointer<UInt8>,
    _ body: (ClusterScan, RowSet) -> Bool
  ) -> Int64? {
    if let start = rest.start, key >= start { return key }
    var (next, goesOn, portion) = (key, true, firstPortion)
    reader.forEachCluster(from: key, isScan: false, reading: []) { firstKey, cluster in
      let scan = clusterScan(firstKey, cluster, slots)
      let rows = reader.rows(cluster, fromSlot: Int(clamping: key - firstKey.rawValue))
      let first = rows.prefix(rest.glance)
      if let row = rows.subtracting(first).first {
        next = scan.key(row).rawValue
      } else {
        next = firstKey.rawValue + Int64(TableReader.clusterRowsMax)
      }
      goesOn = look(scan, among: first, &portion, body)
      return false
    }
    rest.start = next
    return goesOn ? next : nil
  }

  private func follow(
    _ stream: KeyStream, from key: Int64, _ slots: UnsafeMutablePointer<UInt8>,
    _ body: (ClusterScan, RowSet) -> Bool
  ) {
    var key = key
    var length = isLimited ? 16 : 1_024
    while true {
      let goesOn = withUnsafeTemporaryAllocation(of: Int64.self, capacity: length) { buffer in
        let count = stream.copyKeys(from: key, into: buffer)
        if count == 0 { return false }
        let found = UnsafeBufferPointer(rebasing: buffer[..<count])
        key = found[count - 1] + 1
        return visit(found, slots, body) && count == length
      }
      if !goesOn { return }
      length = min(length * 4, 1_024)
    }
  }

  /// - Returns: false when `body` did.
  private func visit(
    _ keys: UnsafeBufferPointer<Int64>, _ slots: UnsafeMutablePointer<UInt8>,
    _ body: (ClusterScan, RowSet) -> Bool
  ) -> Bool {
    reader.forEachCluster(of: keys) { firstKey, cluster, candidates in
      let scan = clusterScan(firstKey, cluster, slots)
      let rows = asked.rows(scan, among: candidates)
      return rows.isEmpty || body(scan, rows)
    }
  }
}

/// Finds the objects of a run, some at a time.
struct MatchFinder {
  let run: PlanRun
  /// Objects before this key were looked at.
  private var next: Int64 = 0
  /// Whether there are no more.
  private(set) var isDone = false

  init(_ run: PlanRun) { self.run = run }

  /// Adds keys until there are as many, or no more.
  mutating func find(_ count: Int, into keys: inout [Int64]) {
    if isDone || keys.count >= count { return }
    var isStopped = false
    run.forEachCluster(from: next) { scan, rows in
      rows.forEach { row in
        keys.append(scan.key(row).rawValue)
        // A bug for tests: the object that comes next is taken for one that was looked at.
        next = keys[keys.count - 1] + (PlantedBug.candidateSkipped.isActive ? 2 : 1)
        isStopped = keys.count >= count
        return !isStopped
      }
      return !isStopped
    }
    isDone = !isStopped
  }
}
