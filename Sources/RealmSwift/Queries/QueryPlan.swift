// A condition that has a meaning for one class of one Realm: columns instead of names, values in the form
// of the file. Evaluated a cluster at a time: conditions on one column look at whole leaves, all others
// at the rows that are left. Faster ways of finding objects replace steps of this, not the plan.
internal import ObjectStore

/// A condition, ready to be evaluated.
struct QueryPlan {
  let condition: PlanCondition
  /// The Realm's classes that the condition looks at, by position.
  let tables: Set<Int>
}

/// A condition on one object or element.
indirect enum PlanCondition {
  case constant(Bool)
  case and([PlanCondition])
  case or([PlanCondition])
  case not(PlanCondition)
  /// A column of the object itself, compared with constants.
  case column(ColumnTest)
  /// Everything else, a row at a time.
  case values(ValuesTest)
}

/// What a condition is asked about.
enum PlanSubject {
  case object(ObjectKey, RowLocation)
  /// An element that is no object.
  case value(PlanValue)
}

/// The readers of the tables that a plan looks at, at one version.
struct PlanReaders {
  private var readers: [TableReader?]

  init(_ realm: ConfinedRealm, _ tables: Set<Int>) {
    readers = Array(repeating: nil, count: realm.bindings.count)
    for index in tables {
      readers[index] = realm.reader(of: realm.table(realm.bindings[index]))
    }
  }

  /// Nil: the file has no such table.
  subscript(table: Int) -> TableReader? { readers[table] }
}

/// One cluster of a table that is being searched.
struct ClusterScan {
  let readers: PlanReaders
  let table: TableReader
  let cluster: UnsafeRawPointer
  /// Key of slot 0.
  let firstKey: ObjectKey
  /// The slot of each row; nil where that is the row.
  let slots: UnsafePointer<UInt8>?

  func key(_ row: Int) -> ObjectKey {
    ObjectKey(rawValue: firstKey.rawValue + (slots.map { Int64($0[row]) } ?? Int64(row)))
  }

  func subject(_ row: Int) -> PlanSubject {
    .object(key(row), TableReader.location(cluster, row))
  }
}

extension PlanCondition {
  /// The rows, among some of a cluster, that fulfil the condition.
  func rows(_ scan: ClusterScan, among candidates: RowSet) -> RowSet {
    switch self {
    case .constant(let value): return value ? candidates : RowSet()
    case .and(let parts):
      var left = candidates
      for part in parts where !left.isEmpty { left = part.rows(scan, among: left) }
      return left
    case .or(let parts):
      var found = RowSet()
      for part in parts {
        let left = candidates.subtracting(found)
        if left.isEmpty { break }
        found = found.union(part.rows(scan, among: left))
      }
      return found
    case .not(let part):
      return candidates.subtracting(part.rows(scan, among: candidates))
    case .column(let test): return test.rows(scan, among: candidates)
    case .values(let test):
      var found = RowSet()
      candidates.forEach { row in
        if test.matches(scan.subject(row), scan.readers) { found.insert(row) }
        return true
      }
      return found
    }
  }

  /// Whether one object or element fulfils the condition.
  func matches(_ subject: PlanSubject, _ table: TableReader?, _ readers: PlanReaders) -> Bool {
    switch self {
    case .constant(let value): return value
    case .and(let parts): return parts.allSatisfy { $0.matches(subject, table, readers) }
    case .or(let parts): return parts.contains { $0.matches(subject, table, readers) }
    case .not(let part): return !part.matches(subject, table, readers)
    case .column(let test):
      guard case .object(_, let location) = subject, let table else { return false }
      return test.matches(location, table)
    case .values(let test): return test.matches(subject, readers)
    }
  }
}

extension PlanCondition {
  /// What looking at a row takes, roughly: of several conditions the cheaper ones come first.
  enum Cost: Int, Comparable {
    /// Packed values of a whole leaf at once.
    case packed
    /// The bytes of a row, in place.
    case bytes
    case values

    static func < (left: Cost, right: Cost) -> Bool { left.rawValue < right.rawValue }
  }

  var cost: Cost {
    switch self {
    case .constant: return .packed
    case .and(let parts), .or(let parts): return parts.map(\.cost).max() ?? .packed
    case .not(let part): return part.cost
    case .column(let test): return test.cost
    case .values: return .values
    }
  }

  /// The columns that are looked at a leaf at a time.
  fileprivate var scannedColumns: Set<Int> {
    switch self {
    case .constant, .values: return []
    case .and(let parts), .or(let parts):
      return parts.reduce(into: []) { $0.formUnion($1.scannedColumns) }
    case .not(let part): return part.scannedColumns
    case .column(let test): return test.cost == .values ? [] : [test.column]
    }
  }
}

extension QueryPlan {
  /// The keys of all objects of a table that fulfil the condition, in key order, until `body` returns
  /// false.
  func forEachMatch(
    _ realm: ConfinedRealm, _ table: Int, _ body: (ObjectKey, RowLocation) -> Bool
  ) {
    let readers = PlanReaders(realm, tables.union([table]))
    guard let reader = readers[table] else { return }
    if let stored = realm.bindings[table].table, let keys = condition.candidates(reader, stored) {
      for key in keys {
        guard let location = reader.locate(key),
          condition.matches(.object(key, location), reader, readers)
        else { continue }
        if !body(key, location) { return }
      }
      return
    }
    forEachCluster(readers, reader) { scan, rows in
      rows.forEach { body(scan.key($0), TableReader.location(scan.cluster, $0)) }
    }
  }

  /// The rows of each cluster of a table that fulfil the condition, in key order, until `body` returns false.
  ///
  /// - Parameter column: a column that `body` will look at.
  func forEachCluster(
    _ readers: PlanReaders, _ reader: TableReader, reading column: Int? = nil,
    _ body: (ClusterScan, RowSet) -> Bool
  ) {
    let columns = Array(condition.scannedColumns.union(column.map { [$0] } ?? []))
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { slots in
      let slots = slots.baseAddress!
      reader.forEachCluster(reading: columns) { firstKey, cluster in
        let isSparse = reader.isSparse(cluster)
        if isSparse { reader.slots(cluster, into: slots) }
        let scan = ClusterScan(
          readers: readers, table: reader, cluster: cluster, firstKey: firstKey,
          slots: isSparse ? UnsafePointer(slots) : nil)
        return body(scan, condition.rows(scan, among: reader.allRows(cluster)))
      }
    }
  }

  /// Runs `body` on the rows of each cluster that fulfil the condition, in key order.
  ///
  /// - Returns: false, without having done so, when an index gives the objects.
  func forEachCluster(
    _ realm: ConfinedRealm, _ table: Int, reading column: Int? = nil,
    _ body: (ClusterScan, RowSet) -> Void
  ) -> Bool {
    let readers = PlanReaders(realm, tables.union([table]))
    guard let reader = readers[table] else { return true }
    if let stored = realm.bindings[table].table, condition.candidates(reader, stored) != nil {
      return false
    }
    forEachCluster(readers, reader, reading: column) { scan, rows in
      body(scan, rows)
      return true
    }
    return true
  }
}

// MARK: - Any values

/// A comparison of the values that two operands lead to.
struct ValuesTest {
  let left: PlanOperand
  /// How many of the left values have to fit; one of them by default.
  let isAll: Bool
  let right: Right

  enum Right {
    case test(ValueTest)
    case operand(PlanOperand, PredicateComparator, StringOptions)
    case area(AreaTest)
  }

  func matches(_ subject: PlanSubject, _ readers: PlanReaders) -> Bool {
    // Stopped at the first value that decides.
    let isUndecided = left.forEach(subject, readers) { value in
      let fits: Bool
      switch right {
      case .test(let test): fits = test.matches(value)
      case .operand(let operand, let comparator, let options):
        fits = !operand.forEach(subject, readers) { !value.holds(comparator, $0, options) }
      case .area(let test): fits = test.matches(value, readers)
      }
      return fits == isAll
    }
    return isUndecided == isAll
  }
}

/// One side of a comparison.
indirect enum PlanOperand {
  case constant(PlanConstant)
  case path(PlanPath)
  /// How many of the path's objects or elements fulfil the condition.
  case subquery(PlanPath, PlanCondition)

  /// Runs `body` on each value until it returns false.
  ///
  /// - Returns: false when `body` did.
  @discardableResult
  func forEach(
    _ subject: PlanSubject, _ readers: PlanReaders, _ body: (PlanValue) -> Bool
  ) -> Bool {
    switch self {
    case .constant(let constant): return constant.withValue(body)
    case .path(let path): return path.forEach(subject, readers, body)
    case .subquery(let path, let condition):
      var count: Int64 = 0
      path.forEach(subject, readers) { value in
        guard let element = path.subject(of: value, readers) else { return true }
        if condition.matches(element, path.target.flatMap { readers[$0] }, readers) { count += 1 }
        return true
      }
      return body(.integer(count))
    }
  }
}

extension TableReader {
  /// Runs `body` on the value of a column that is no collection.
  @inline(__always)
  func withValue<Result>(
    _ location: RowLocation, _ column: Int, _ type: PropertyType, target: Int,
    _ body: (PlanValue) -> Result
  ) -> Result {
    switch type {
    case .int, .bool, .date, .float, .double, .object:
      if isNull(location, column) { return body(.null) }
      return body(PlanValue(packed: integer(location, column), type, target: target))
    default:
      return withBytes(location, column) { bytes in
        body(bytes.map { PlanValue(bytes: $0, type) } ?? .null)
      }
    }
  }
}
