// A condition that has a meaning for one class of one Realm: columns instead of names, values in
// the form of the file. Evaluated a cluster at a time: conditions on one column look at whole
// leaves, all others at the rows that are left. Faster ways of finding objects replace steps of
// this, not the plan.
internal import ObjectStore

/// A condition, ready to be evaluated.
struct QueryPlan {
  let condition: PlanCondition
  /// The Realm's classes that the condition looks at, by position.
  let tables: Set<Int>
  /// How many slots there are for what a run of the plan finds out on the way; see `LinkedTargets`
  /// and `PlanMemos`.
  var slotCount = 0
}

/// A condition on one object or element.
///
/// Its parts are never deep inside of each other: see `NestedCondition`.
indirect enum PlanCondition {
  case constant(Bool)
  case and([PlanCondition])
  case or([PlanCondition])
  case not(PlanCondition)
  /// Parts that lie deep inside of each other.
  case nested(NestedCondition)
  /// A column of the object itself, compared with constants.
  case column(ColumnTest)
  /// What a link of the object itself leads to.
  case linked(LinkedTest)
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
  private let bindings: [TableBinding]
  /// Most plans look at one class: its reader needs no list.
  private var first: (table: Int, reader: TableReader?) = (-1, nil)
  private var others: [(table: Int, reader: TableReader?)] = []
  /// What was found on the other side of links; nil where objects are asked one by one.
  var linked: LinkedTargets?
  /// What was found behind objects; nil where each question starts with none.
  var memos: PlanMemos?

  /// - Parameter table: a further class.
  init(_ realm: ConfinedRealm, _ tables: Set<Int>, and table: Int? = nil) {
    bindings = realm.bindings
    if let table { add(table, realm) }
    for index in tables where index != table { add(index, realm) }
  }

  private mutating func add(_ table: Int, _ realm: ConfinedRealm) {
    let reader = realm.reader(of: realm.table(realm.bindings[table]))
    if first.table < 0 { first = (table, reader) } else { others.append((table, reader)) }
  }

  /// Nil: the file has no such table.
  subscript(table: Int) -> TableReader? {
    if table == first.table { return first.reader }
    return others.first { $0.table == table }?.reader
  }

  /// The table of a class in the file.
  func stored(_ table: Int) -> StoredTable? { bindings[table].table }
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

  /// Writes the keys of some rows; returns how many they are.
  func writeKeys(_ rows: RowSet, to keys: UnsafeMutablePointer<Int64>) -> Int {
    let first = firstKey.rawValue
    if slots == nil, rows == table.allRows(cluster) {
      let count = rows.count
      for row in 0..<count { keys[row] = first &+ Int64(row) }
      return count
    }
    var count = 0
    rows.forEach { row in
      keys[count] = key(row).rawValue
      count &+= 1
      return true
    }
    return count
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
    case .nested(let nested):
      return nested.rows(among: candidates) { $0.rows(scan, among: $1) }
    case .column(let test): return test.rows(scan, among: candidates)
    case .linked(let test): return test.rows(scan, among: candidates)
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
    case .nested(let nested): return nested.holds { $0.matches(subject, table, readers) }
    case .column(let test):
      guard case .object(_, let location) = subject, let table else { return false }
      return test.matches(location, table)
    case .linked(let test): return test.values.matches(subject, readers)
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
    case .nested(let nested): return nested.cost
    case .column(let test): return test.cost
    case .linked(let test): return test.isSingle ? .bytes : .values
    case .values: return .values
    }
  }

  /// The columns that are looked at a leaf at a time.
  var scannedColumns: Set<Int> {
    switch self {
    case .constant, .values: return []
    case .and(let parts), .or(let parts):
      return parts.reduce(into: []) { $0.formUnion($1.scannedColumns) }
    case .not(let part): return part.scannedColumns
    case .nested(let nested): return nested.scannedColumns
    case .column(let test): return test.cost == .values ? [] : [test.column]
    case .linked(let test): return test.isSingle ? [test.column] : []
    }
  }
}

extension QueryPlan {
  /// The search for the objects of a table that fulfil the condition.
  ///
  /// - Parameter limit: how many of them are wanted; nil for all.
  func run(_ realm: ConfinedRealm, _ table: Int, limit: Int? = nil) -> PlanRun? {
    var readers = readers(realm, and: table)
    guard let reader = readers[table] else { return nil }
    if slotCount > 0 {
      readers.linked = LinkedTargets(
        count: slotCount, expectedRows: limit == nil ? reader.count : 0)
    }
    return PlanRun(condition, readers, table, reader, limit: limit)
  }

  /// The readers for many questions at one version.
  ///
  /// - Parameter table: a further class.
  func readers(_ realm: ConfinedRealm, and table: Int? = nil) -> PlanReaders {
    var readers = PlanReaders(realm, tables, and: table)
    if slotCount > 0 { readers.memos = PlanMemos() }
    return readers
  }

  /// How many objects of a table fulfil the condition, where the trees tell; see `PlanCondition`.
  func exactCount(_ realm: ConfinedRealm, _ table: Int) -> Int? {
    if case .values = condition { return nil }
    let readers = readers(realm, and: table)
    guard let reader = readers[table] else { return 0 }
    return condition.exactCount(readers, table, reader)
  }

  /// The keys of all objects of a table that fulfil the condition, in key order, until `body`
  /// returns false.
  func forEachMatch(
    _ realm: ConfinedRealm, _ table: Int, _ body: (ObjectKey, RowLocation) -> Bool
  ) {
    run(realm, table)?.forEachCluster { scan, rows in
      rows.forEach { body(scan.key($0), TableReader.location(scan.cluster, $0)) }
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
  /// What is known of the ways to the left values; nil where there is but one way.
  private let memo: (slot: Int, levels: Int)?

  init(left: PlanOperand, isAll: Bool, right: Right, slots: inout Int) {
    self.left = left
    self.isAll = isAll
    self.right = right
    var levels = 0
    if case .path(let path) = left { levels = path.memoLevels }
    memo = levels > 0 ? (slots, levels) : nil
    if memo != nil { slots += 1 }
  }

  enum Right {
    case test(ValueTest)
    case operand(PlanOperand, PredicateComparator, StringOptions)
    case area(AreaTest)
  }

  func matches(_ subject: PlanSubject, _ readers: PlanReaders) -> Bool {
    var readers = readers
    var way: PathMemo?
    if let memo {
      let memos = readers.memos ?? PlanMemos()
      readers.memos = memos
      if case .operand = right {
        // What a value is compared with is the subject's.
        way = PathMemo(levels: memo.levels)
      } else {
        way = memos.way(memo.slot, levels: memo.levels)
      }
    }
    // Stopped at the first value that decides.
    let isUndecided = left.forEach(subject, readers, way) { [readers] value in
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
  ///
  /// The slots from the number on are those of the path's ways and of the condition.
  case subquery(PlanPath, PlanCondition, slot: Int)

  /// Runs `body` on each value until it returns false.
  ///
  /// - Parameter way: what is known of the ways to the values; see `PlanPath.forEach`.
  /// - Returns: false when `body` did.
  @discardableResult
  func forEach(
    _ subject: PlanSubject, _ readers: PlanReaders, _ way: PathMemo? = nil,
    _ body: (PlanValue) -> Bool
  ) -> Bool {
    switch self {
    case .constant(let constant): return constant.withValue(body)
    case .path(let path):
      return path.forEach(subject, readers, memo: way ?? path.passingMemo, body)
    case .subquery(let path, let condition, let slot):
      return body(.integer(Self.count(path, condition, slot, subject, readers)))
    }
  }

  private static func count(
    _ path: PlanPath, _ condition: PlanCondition, _ slot: Int, _ subject: PlanSubject,
    _ readers: PlanReaders
  ) -> Int64 {
    var readers = readers
    let memos = readers.memos ?? PlanMemos()
    readers.memos = memos
    let levels = path.memoLevels
    let way = levels > 0 ? memos.way(slot, levels: levels) : nil
    way?.startCounting()
    let table = path.target.flatMap { readers[$0] }
    let isCheap = condition.cost < .values
    var count: Int64 = 0
    path.forEach(subject, readers, memo: way) { [readers] value in
      guard let element = path.subject(of: value, readers) else { return true }
      let fits: Bool
      if !isCheap, case .object(let key, _) = element {
        fits = memos.answer(slot + 1, key) { condition.matches(element, table, readers) }
      } else {
        fits = condition.matches(element, table, readers)
      }
      if fits {
        if let way { way.add(1) } else { count += 1 }
      }
      return true
    }
    return way?.count ?? count
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
