// Conditions on what a link or a list of links leads to. Looked at from the other side: the objects
// that fulfil the condition are found once, then it is asked which links lead to them, or who links
// there.
internal import ObjectStore
internal import Platform

/// A comparison of what a link, or one of a list's links, leads to.
struct LinkedTest {
  /// The same, asked of one object after another.
  let values: ValuesTest
  /// The links, and the class of the objects that they lead to.
  let column: Int
  let target: Int
  /// Whether the column is a to-one link; else a list or set.
  let isSingle: Bool
  /// Whether a link that is null fits.
  let acceptsNull: Bool
  let form: Form
  /// Which of the plan's sets of linked objects is that of the test.
  let slot: Int

  indirect enum Form {
    /// The link leads to one of some objects, by their keys in order; or does not.
    case objects([Int64], isNegated: Bool)
    /// The object fulfils a condition.
    case related(PlanCondition)
  }

  /// Behind so many links objects are asked one by one: each set of linked objects is found by a
  /// call inside of that for the next one.
  private static let hopsMax = 8

  /// Nil where the comparison says nothing of linked objects.
  init?(_ path: PlanPath, _ test: ValueTest, _ values: ValuesTest, slots: inout Int) {
    guard !values.isAll, path.hops.count <= Self.hopsMax, let hop = path.hops.first else {
      return nil
    }
    switch hop {
    case .link(let column, let target):
      (self.column, self.target, isSingle) = (column, target, true)
    case .elements(let column, let target):
      (self.column, self.target, isSingle) = (column, target, false)
    case .element, .mapValues, .mapValue, .backlinks: return nil
    }
    self.values = values
    acceptsNull = test.matches(.null) && !path.isMultiple(from: 1)
    slot = slots
    if path.hops.count == 1, case .subject = path.end {
      guard let form = Self.objects(test, target, isSingle: isSingle) else { return nil }
      self.form = form
      return
    }
    slots += 1
    var rest = path
    rest.hops.removeFirst()
    rest.start = target
    let restValues = ValuesTest(
      left: .path(rest), isAll: false, right: .test(test), slots: &slots)
    if rest.hops.isEmpty, case .column(let column) = rest.end, rest.type != .any {
      form = .related(.column(ColumnTest(column: column, type: rest.type, test: test)))
    } else if let linked = LinkedTest(rest, test, restValues, slots: &slots) {
      form = .related(.linked(linked))
    } else {
      form = .related(.values(restValues))
    }
  }

  private static func objects(_ test: ValueTest, _ target: Int, isSingle: Bool) -> Form? {
    var keys: [Int64] = []
    for constant in test.constants {
      switch constant {
      case .null: break
      case .link(let table, let key):
        if table == target { keys.append(key.rawValue) }
      default: return nil
      }
    }
    keys = Array(Set(keys)).sorted()
    switch test.comparator {
    case .equal, .isIn: return .objects(keys, isNegated: false)
    case .notEqual where isSingle: return .objects(keys, isNegated: true)
    default: return nil
    }
  }

  /// The rows, among some of a cluster, that fulfil the condition.
  func rows(_ scan: ClusterScan, among candidates: RowSet) -> RowSet {
    guard isSingle else { return rowsOneByOne(scan, among: candidates) }
    let (reader, cluster) = (scan.table, scan.cluster)
    switch form {
    case .objects(let keys, let isNegated):
      let nulls = reader.nullRows(cluster, column).intersection(candidates)
      var found = RowSet()
      if keys.count > 8 { return rowsOneByOne(scan, among: candidates) }
      for key in keys {
        found = found.union(reader.rows(cluster, column, in: key...key, includesNull: false))
      }
      found = found.intersection(candidates).subtracting(nulls)
      if isNegated { found = candidates.subtracting(found).subtracting(nulls) }
      return acceptsNull ? found.union(nulls) : found
    case .related(let condition):
      guard let targets = scan.readers.targets(of: self, condition, asked: candidates.count) else {
        return rowsOneByOne(scan, among: candidates)
      }
      return targets.rows(
        reader, cluster, column, among: candidates, includesNull: acceptsNull)
    }
  }

  private func rowsOneByOne(_ scan: ClusterScan, among candidates: RowSet) -> RowSet {
    var found = RowSet()
    candidates.forEach { row in
      if values.matches(scan.subject(row), scan.readers) { found.insert(row) }
      return true
    }
    return found
  }
}

/// The objects that the conditions of one run found on the other side of links.
final class LinkedTargets {
  private var sets: [State]
  /// How many rows the run will ask about, as far as that is known.
  private let expectedRows: Int

  private enum State {
    /// How many rows were asked one by one.
    case asked(Int)
    case known(KeyBits)
    /// A set would take more memory than it is worth.
    case refused
  }

  init(count: Int, expectedRows: Int) {
    sets = Array(repeating: .asked(0), count: count)
    self.expectedRows = expectedRows
  }

  /// The objects that fulfil a test's condition; nil as long as finding them costs more than asking
  /// the rows.
  fileprivate func targets(
    of test: LinkedTest, _ condition: PlanCondition, asked rows: Int, _ readers: PlanReaders
  ) -> KeyBits? {
    switch sets[test.slot] {
    case .known(let bits): return bits
    case .refused: return nil
    case .asked(let before):
      guard let reader = readers[test.target], let range = reader.keyRange else { return nil }
      sets[test.slot] = .asked(before + rows)
      // To fetch an object by its key costs as much as to scan so many.
      let scanned = condition.cost == .packed ? 32 : condition.cost == .bytes ? 16 : 2
      if max(before + rows, expectedRows) * scanned < reader.count { return nil }
      if KeyBits.bytes(range) > reader.count * 16 + 1 << 16 {
        sets[test.slot] = .refused
        return nil
      }
      var bits = KeyBits(range)
      PlanRun(condition, readers, test.target, reader).forEachCluster { scan, rows in
        if scan.slots == nil {
          bits.insert(rows, from: scan.firstKey)
        } else {
          rows.forEach {
            bits.insert(scan.key($0))
            return true
          }
        }
        return true
      }
      sets[test.slot] = .known(bits)
      return bits
    }
  }
}

extension PlanReaders {
  /// The objects that fulfil a test's condition; nil where rows are to be asked one by one.
  fileprivate func targets(
    of test: LinkedTest, _ condition: PlanCondition, asked rows: Int
  ) -> KeyBits? {
    linked?.targets(of: test, condition, asked: rows, self)
  }
}
