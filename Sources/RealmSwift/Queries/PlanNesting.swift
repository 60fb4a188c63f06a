// Conditions of a plan whose parts lie deep inside of each other. Calls inside of calls would need
// a stack as deep; so what is deeper than a few parts is a list of steps, worked off with a stack
// of rows in memory.
internal import ObjectStore

/// A condition as steps: each takes what the steps before it have found.
struct NestedCondition {
  enum Step {
    /// Finds the rows of a condition that is not deep.
    case find(PlanCondition)
    /// Takes that many results and leaves one.
    case join(PredicateJoin.Joint, count: Int)
  }

  private var steps: [Step]
  private(set) var cost: PlanCondition.Cost
  private(set) var rowCost: Double
  private(set) var scannedColumns: Set<Int>

  fileprivate init(_ joint: PredicateJoin.Joint, _ parts: [PlanCondition]) {
    steps = []
    cost = .packed
    rowCost = 0
    scannedColumns = []
    for part in parts {
      if case .nested(let nested) = part {
        steps += nested.steps
      } else {
        steps.append(.find(part))
      }
      cost = max(cost, part.cost)
      rowCost += part.rowCost
      scannedColumns.formUnion(part.scannedColumns)
    }
    steps.append(.join(joint, count: parts.count))
  }

  /// The conditions that are asked.
  var conditions: [PlanCondition] {
    steps.compactMap { if case .find(let condition) = $0 { condition } else { nil } }
  }

  /// The rows, among some, that fulfil the condition.
  ///
  /// - Parameter find: the rows that fulfil one of its conditions.
  func rows(among candidates: RowSet, _ find: (PlanCondition, RowSet) -> RowSet) -> RowSet {
    var found: [RowSet] = []
    for step in steps {
      switch step {
      case .find(let condition): found.append(find(condition, candidates))
      case .join(let joint, let count):
        let parts = found.suffix(count)
        let rows: RowSet
        switch joint {
        case .and: rows = parts.reduce(candidates) { $0.intersection($1) }
        case .or: rows = parts.reduce(RowSet()) { $0.union($1) }
        case .not: rows = candidates.subtracting(parts.first ?? RowSet())
        }
        found.removeLast(count)
        found.append(rows)
      }
    }
    return found[0]
  }

  /// Whether the condition holds of what is asked by `find`.
  func holds(_ find: (PlanCondition) -> Bool) -> Bool {
    var one = RowSet()
    one.insert(0)
    return !rows(among: one) { condition, rows in find(condition) ? rows : RowSet() }.isEmpty
  }
}

/// A condition that is being made, with how deep its parts are.
struct PlannedCondition {
  /// Deeper ones are made into steps.
  private static let depthMax = 8

  let condition: PlanCondition
  private let depth: Int

  init(_ condition: PlanCondition) {
    self.condition = condition
    depth = 0
  }

  init(_ joint: PredicateJoin.Joint, _ parts: [PlannedCondition]) {
    depth = 1 + (parts.map(\.depth).max() ?? 0)
    let conditions = parts.map(\.condition)
    if depth > Self.depthMax {
      condition = .nested(NestedCondition(joint, conditions))
      return
    }
    switch joint {
    case .and:
      // The cheaper ones first; those of equal cost stay in order.
      let costs = conditions.map(\.cost)
      condition = .and(
        conditions.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.map { conditions[$0] })
    case .or: condition = .or(conditions)
    case .not: condition = .not(conditions[0])
    }
  }
}
