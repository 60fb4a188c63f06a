// What it takes to find objects by a scan and by keys, in nanoseconds, roughly: enough to tell the
// cheaper way. `Micro --row '^index-'` compares the ways that are taken with a scan.
internal import ObjectStore
internal import Platform

/// Figures of one machine; what counts is how they compare with each other.
enum AccessCost {
  /// To think about indexes at all, for each look-up.
  static let choice = 1_000.0
  /// To count and to take what an index has for one value.
  static let lookUp = 600.0
  /// To take a key that comes in order, and to find its row.
  static let keyInOrder = 12.0
  /// The same of keys that are brought into order first.
  static let key = 25.0
  /// To ask a row at least, of which the rest of its leaf is asked, too.
  static let row = 10.0
  /// What a look at the first objects may take, before anybody thinks about indexes.
  static let glance = 2_500.0
  /// As many look-ups are made without a thought.
  static let unthinking = 8
  /// How many of many values are looked up to see how many objects they give.
  static let sampled = 4
}

extension KeyChoice {
  /// Whether to look at these objects costs less than to look at all.
  func isWorthwhile(_ condition: PlanCondition, _ reader: TableReader, limit: Int?) -> Bool {
    switch PlanChoice.current {
    case .scan: false
    case .index: true
    case .byCost:
      cost(reader, limit: limit) < Self.scanCost(condition, reader, limit, likely)
    }
  }

  func cost(_ reader: TableReader, limit: Int?) -> Double {
    let isStream = source.stream(reader) != nil
    var keys = Double(count)
    if let limit, isTight, isStream { keys = min(keys, Double(limit + 16)) }
    let each = isStream ? AccessCost.keyInOrder : AccessCost.key
    return 200 + keys * (isExact ? each : each + max(AccessCost.row, rest.rowCost))
  }

  /// What a scan of the whole table takes, or of the part with the objects wanted.
  ///
  /// - Parameter count: how many objects probably fulfil the condition.
  static func scanCost(
    _ condition: PlanCondition, _ reader: TableReader, _ limit: Int?, _ count: Int
  ) -> Double {
    var rows = Double(reader.count)
    // Spread evenly the objects wanted lie in this part; with all else that is asked, rather
    // further on.
    if let limit { rows = min(rows, 2 * rows * Double(limit) / Double(max(count, 1))) }
    return 200 + rows * condition.rowCost
  }
}

extension KeyChoice.Budget {
  /// The same for all objects.
  var withoutLimit: Self { Self(scan: scan, limit: nil) }

  /// Whether so many look-ups may cost less than a scan.
  ///
  /// - Parameter matches: how many objects probably fulfil the condition.
  func allows(
    lookUps: Int, _ condition: PlanCondition, _ reader: TableReader, matches: () -> Int
  ) -> Bool {
    if lookUps <= AccessCost.unthinking { return true }
    let cost = Double(lookUps) * AccessCost.lookUp
    if cost > scan { return false }
    guard limit != nil, scan < .infinity else { return true }
    return cost < KeyChoice.scanCost(condition, reader, limit, matches())
  }
}

extension ColumnTest {
  /// In how many places of an index the objects lie.
  var lookUps: Int { test.set != nil || test.patterns != nil ? test.constants.count : 1 }
}

extension PlanCondition {
  /// How many look-ups in indexes it takes to find the objects; nil where none tells them.
  func lookUps(_ table: StoredTable) -> Int? {
    switch self {
    case .constant, .not, .nested: return nil
    case .column(let test):
      switch test.test.comparator {
      case .notEqual, .endsWith, .contains: return nil
      default: return table.hasIndex(test.column) ? test.lookUps : nil
      }
    case .linked, .values: return 1
    case .and(let parts):
      let told = parts.compactMap { $0.lookUps(table) }
      // To choose among several takes as long as a look-up.
      return told.isEmpty ? nil : told.reduce(0, +) + (parts.count > 1 ? 1 : 0)
    case .or(let parts):
      var sum = 0
      for part in parts {
        guard let lookUps = part.lookUps(table) else { return nil }
        sum += lookUps
      }
      return sum
    }
  }

  /// How many objects many constants or alternatives probably give, by a few of them.
  func sampledCount(_ reader: TableReader, _ table: StoredTable) -> Int {
    switch self {
    case .constant, .not, .nested, .linked, .values: return 0
    case .column(let test):
      let constants = test.test.constants
      if table.primaryKeyColumn == test.column { return constants.count }
      return sampled(constants) { constant in
        constant.order(reader, test.column, test.type).map {
          reader.indexedCount(test.column, $0...$0)
        } ?? 0
      }
    case .and(let parts):
      return parts.first { $0.lookUps(table) != nil }?.sampledCount(reader, table) ?? 0
    case .or(let parts): return sampled(parts) { $0.sampledCount(reader, table) }
    }
  }

  private func sampled<Part>(_ parts: [Part], _ count: (Part) -> Int) -> Int {
    let step = max(1, parts.count / AccessCost.sampled)
    var (sum, looks) = (0, 0)
    for place in stride(from: 0, to: parts.count, by: step) {
      sum += count(parts[place])
      looks += 1
    }
    return sum * parts.count / max(1, looks)
  }

  /// Whether one look-up tells the objects: no other way is as short.
  func isToldByOneValue(_ table: StoredTable) -> Bool {
    switch self {
    case .constant, .not, .nested, .values, .or: false
    case .linked: true
    case .column(let test):
      table.hasIndex(test.column) && test.lookUps == 1
        && (test.test.comparator == .equal || test.test.comparator == .isIn)
    case .and(let parts): parts.contains { $0.isToldByOneValue(table) }
    }
  }

  /// What it takes to ask a row among those of a cluster.
  var rowCost: Double {
    switch self {
    case .constant: return 0
    case .column(let test):
      switch test.cost {
      case .packed: return 0.8
      case .bytes: return test.lookUps == 1 ? 5 : 10
      case .values: return 70
      }
    case .linked(let test): return test.isSingle ? 4 : 200
    case .values: return 200
    case .not(let part): return part.rowCost
    case .nested(let nested): return nested.rowCost
    case .and(let parts):
      // Later ones are asked of fewer rows.
      var (cost, asked) = (0.0, 1.0)
      for part in parts {
        cost += asked * part.rowCost
        asked *= part.likelyPart
      }
      return cost
    case .or(let parts):
      // What stands behind the first question of an alternative is asked of few.
      var (cost, behind) = (0.0, 0.0)
      for part in parts {
        if case .and(let all) = part, let first = all.first {
          cost += first.rowCost
          behind = max(behind, part.rowCost - first.rowCost)
        } else {
          cost += part.rowCost
        }
      }
      return cost + behind
    }
  }

  /// The part of all rows that probably fulfils the condition.
  private var likelyPart: Double {
    guard case .column(let test) = self else { return 0.5 }
    switch test.test.comparator {
    case .equal, .isIn, .beginsWith, .endsWith, .contains, .like: return 0.125
    default: return 0.5
    }
  }
}

extension StoredTable {
  /// Whether the primary key or an index tells the objects with a value in a column.
  func hasIndex(_ column: Int) -> Bool {
    // A bug for tests: a plan that goes by an index which was dropped.
    primaryKeyColumn == column || schema.columns[column].isIndexed || PlantedBug.stalePlan.isActive
  }
}
