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
  /// The slot of each row.
  let slots: UnsafePointer<UInt8>

  func key(_ row: Int) -> ObjectKey {
    ObjectKey(rawValue: firstKey.rawValue + Int64(slots[row]))
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
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { slots in
      let slots = slots.baseAddress!
      reader.forEachCluster { firstKey, cluster in
        reader.slots(cluster, into: slots)
        let scan = ClusterScan(
          readers: readers, table: reader, cluster: cluster, firstKey: firstKey, slots: slots)
        let rows = condition.rows(scan, among: reader.allRows(cluster))
        return rows.forEach { body(scan.key($0), TableReader.location(cluster, $0)) }
      }
    }
  }
}

// MARK: - One column

/// A column of the object itself, compared with constants.
struct ColumnTest {
  let column: Int
  let type: PropertyType
  let test: ValueTest
  private let range: PackedRange?

  /// What a comparison of packed values comes down to: they lie in a range, or do not.
  private enum PackedRange {
    case integers(ClosedRange<Int64>, isOutside: Bool, includesNull: Bool)
    case numbers(ClosedRange<Double>, isOutside: Bool, includesNull: Bool)
    /// Only null.
    case nulls(isOutside: Bool)
    case nothing
  }

  init(column: Int, type: PropertyType, test: ValueTest) {
    self.column = column
    self.type = type
    self.test = test
    range = Self.range(type, test)
  }

  func rows(_ scan: ClusterScan, among candidates: RowSet) -> RowSet {
    let (reader, cluster) = (scan.table, scan.cluster)
    switch range {
    case .nothing: return RowSet()
    case .nulls(let isOutside):
      // No integer lies in an empty range; the null rows remain.
      var nulls = RowSet()
      candidates.forEach { row in
        if reader.isNull(TableReader.location(cluster, row), column) { nulls.insert(row) }
        return true
      }
      return isOutside ? candidates.subtracting(nulls) : nulls
    case .integers(let range, let isOutside, let includesNull):
      // Outside of the range are also the nulls, unless they were taken for inside.
      let inside = reader.rows(
        cluster, column, in: range, includesNull: isOutside ? !includesNull : includesNull)
      return isOutside ? candidates.subtracting(inside) : candidates.intersection(inside)
    case .numbers(let range, let isOutside, let includesNull):
      let inside = reader.rows(
        cluster, column, in: range, isFloat: type == .float,
        includesNull: isOutside ? !includesNull : includesNull)
      return isOutside ? candidates.subtracting(inside) : candidates.intersection(inside)
    case nil:
      var found = RowSet()
      candidates.forEach { row in
        if matches(TableReader.location(cluster, row), reader) { found.insert(row) }
        return true
      }
      return found
    }
  }

  func matches(_ location: RowLocation, _ reader: TableReader) -> Bool {
    reader.withValue(location, column, type, target: -1) { test.matches($0) }
  }

  private static func range(_ type: PropertyType, _ test: ValueTest) -> PackedRange? {
    guard let constant = test.constants.first else { return nil }
    if test.constants.count == 1, constant.isNull {
      guard ValueType(rawValue: UInt8(type.rawValue))?.isPacked == true else { return nil }
      switch test.comparator {
      case .equal, .isIn, .lessOrEqual, .greaterOrEqual: return .nulls(isOutside: false)
      case .notEqual: return .nulls(isOutside: true)
      default: return .nothing
      }
    }
    switch type {
    case .int, .bool:
      let values = test.constants.compactMap { $0.exactInteger }
      guard values.count == test.constants.count,
        let bounds = bounds(test.comparator, values, below: { $0 &- 1 }, above: { $0 &+ 1 })
      else { return nil }
      guard let range = bounds else { return .nothing }
      return .integers(
        range, isOutside: test.comparator == .notEqual,
        includesNull: test.comparator == .notEqual)
    case .double, .float, .date:
      let values = test.constants.compactMap { $0.exactNumber }
      guard values.count == test.constants.count,
        let bounds = bounds(test.comparator, values, below: { $0.nextDown }, above: { $0.nextUp })
      else { return nil }
      guard let range = bounds else { return .nothing }
      return .numbers(
        range, isOutside: test.comparator == .notEqual,
        includesNull: test.comparator == .notEqual)
    default: return nil
    }
  }

  /// The range of values that a comparison holds for (for `!=`: does not hold for); nil inside when
  /// there are none, nil when it is no range.
  private static func bounds<Value: PackedBound>(
    _ comparator: PredicateComparator, _ values: [Value], below: (Value) -> Value,
    above: (Value) -> Value
  ) -> ClosedRange<Value>?? {
    let value = values[0]
    switch comparator {
    case .equal, .notEqual: return .some(value...value)
    case .lessOrEqual: return .some(Value.lowest...value)
    case .greaterOrEqual: return .some(value...Value.highest)
    case .less: return .some(value == Value.lowest ? nil : Value.lowest...below(value))
    case .greater: return .some(value == Value.highest ? nil : above(value)...Value.highest)
    case .between: return .some(value <= values[1] ? value...values[1] : nil)
    case .isIn where values.count == 1: return .some(value...value)
    default: return nil
    }
  }
}

/// A packed value that has a smallest and a largest one.
private protocol PackedBound: Comparable {
  static var lowest: Self { get }
  static var highest: Self { get }
}

extension Int64: PackedBound {
  fileprivate static var lowest: Int64 { .min }
  fileprivate static var highest: Int64 { .max }
}

extension Double: PackedBound {
  fileprivate static var lowest: Double { -.infinity }
  fileprivate static var highest: Double { .infinity }
}

extension PlanConstant {
  fileprivate var exactInteger: Int64? {
    switch self {
    case .integer(let value): return value
    case .bool(let value): return value ? 1 : 0
    default: return nil
    }
  }

  fileprivate var exactNumber: Double? {
    switch self {
    case .number(let value), .date(let value): return value.isNaN ? nil : value
    default: return nil
    }
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
