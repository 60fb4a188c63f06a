// Queries whose elements have one place in the order of all: by their values, then by their rank,
// which is the key of an object, or the position in a list. So a place is found by bisection, in
// the older version with the older values and ranks.
internal import ObjectStore

/// One element of a query.
struct KeyedElement: Hashable {
  /// The key of an object; of a value its position, which may be another one in the next version.
  var key: Int64
  /// Decides between elements of equal values: the key, or the position in a list or set.
  var rank: Int64
}

/// A query that is followed by what changed alone.
struct KeyedQuery {
  /// What it chooses from.
  enum Source {
    case table
    /// Objects that link by a column, in key order and as often as they link.
    case backlinks(to: (table: TablePointer, key: ObjectKey), column: Int)
    /// Objects by their positions.
    case cell(CollectionCell)
    /// Values by their positions.
    case values(CollectionCell)
  }

  /// Paths that elements are sorted by, the first one first, and whether the smallest value comes
  /// first.
  typealias Paths = [(path: PlanPath, isAscending: Bool)]

  let source: Source
  /// The index of the stored table of the objects; of values of the object that has them.
  let table: Int
  /// The sort of the elements.
  private let type: PropertyType
  let condition: PlanCondition?
  let paths: Paths
  /// Of distinct results: what tells groups apart, and the order in which the first of each is
  /// chosen; the next one chooses among these.
  let distinct: [(ordering: PlanOrdering, paths: Paths)]
  /// The Realm's classes that are looked at, by position.
  let classes: Set<Int>

  /// Nil for other queries: inside of mixed values.
  init?(_ query: any TrackedQuery) {
    let origin = query.origin
    guard let table = (origin.table ?? origin.owner?.table)?.pointee.binding.table,
      let source = origin.keyedSource
    else { return nil }
    let plan = query.plan
    self.source = source
    self.table = table.index
    type = origin.type
    condition = plan.condition?.condition
    (paths, distinct) = Self.orders(plan.orderings)
    classes = Set(plan.tables)
  }

  /// What elements are sorted by in the end, and what distinct ones are chosen by.
  static func orders(
    _ orderings: [PlanOrdering]
  ) -> (sorts: Paths, distinct: [(ordering: PlanOrdering, paths: Paths)]) {
    var sorts: Paths = []
    var distinct: [(ordering: PlanOrdering, paths: Paths)] = []
    // The last order counts first; equal elements stay in the order that they had.
    for ordering in orderings {
      switch ordering.kind {
      case .sort(let ascending):
        sorts = zip(ordering.paths, ascending).map { ($0, $1) } + sorts
      case .distinct:
        distinct.append((ordering, sorts))
      }
    }
    return (sorts, distinct)
  }

  /// Whether ranks are not the keys.
  var ranksByPosition: Bool {
    if case .cell = source { return true }
    return false
  }

  /// Whether elements are no objects, and their keys are their positions.
  var isOfValues: Bool {
    if case .values = source { return true }
    return false
  }

  /// What looks elements up in both versions of a step; nil when one of them has none.
  func subjects(_ step: VersionStep) -> (old: SubjectReader, new: SubjectReader)? {
    if case .values(let cell) = source {
      guard let old = cell.elements(in: step, isOld: true),
        let new = cell.elements(in: step, isOld: false)
      else { return nil }
      return (SubjectReader(old, type), SubjectReader(new, type))
    }
    guard let older = step.older(step.schema.tables[table]) else { return nil }
    return (SubjectReader(older.reader), SubjectReader(step.reader(table)))
  }
}

extension QueryOrigin {
  /// How elements are followed by what changed alone; nil when they are not.
  fileprivate var keyedSource: KeyedQuery.Source? {
    switch self {
    case is TableOrigin: .table
    case let origin as CellOrigin: origin.table == nil ? .values(origin.cell) : .cell(origin.cell)
    case let origin as any LinkingOrigin: .backlinks(to: origin.linked, column: origin.column)
    default: nil
    }
  }
}

/// The order of a query's elements in one version.
struct KeyOrder {
  private let paths: KeyedQuery.Paths
  private let readers: PlanReaders
  private let subjects: SubjectReader

  /// An element's place in the order of all.
  struct Place {
    /// By the first path; null without one.
    fileprivate let value: OrderValue
    /// By the others, of which there are mostly none.
    fileprivate let others: [OrderValue]
    fileprivate let rank: Int64
  }

  init(_ paths: KeyedQuery.Paths, _ readers: PlanReaders, _ subjects: SubjectReader) {
    self.paths = paths
    self.readers = readers
    self.subjects = subjects
  }

  /// Nil when there is no such element.
  func place(of element: KeyedElement) -> Place? {
    if paths.isEmpty { return Place(value: .null, others: [], rank: element.rank) }
    return subjects.withSubject(element.key) { subject in
      let others = paths.count == 1 ? [] : paths.dropFirst().map { value(of: subject, $0.path) }
      return Place(value: value(of: subject, paths[0].path), others: others, rank: element.rank)
    }
  }

  private func value(of subject: PlanSubject, _ path: PlanPath) -> OrderValue {
    var found = OrderValue.null
    path.forEach(subject, readers) {
      found = OrderValue($0, path.type)
      return false
    }
    return found
  }

  func isBefore(_ left: Place, _ right: Place) -> Bool {
    for (index, path) in paths.enumerated() {
      let order =
        index == 0
        ? left.value.order(right.value) : left.others[index - 1].order(right.others[index - 1])
      switch order {
      case .less: return path.isAscending
      case .greater: return !path.isAscending
      case .equal: continue
      }
    }
    return left.rank < right.rank
  }

  /// A number that is smaller only for a place that comes before; of equal ones it says nothing.
  func prefix(of place: Place) -> Int64 {
    guard let first = paths.first else { return place.rank }
    let prefix: Int64 =
      switch place.value {
      case .null: .min
      case .packed(let value): value
      case .other: 0
      }
    return first.isAscending ? prefix : ~prefix
  }

  /// Whether an element that is there comes before a place.
  func isBefore(_ element: KeyedElement, _ place: Place) -> Bool {
    guard let other = self.place(of: element) else { return false }
    return isBefore(other, place)
  }
}

/// A value that elements are sorted by.
private enum OrderValue {
  case null
  /// A number as an integer of the same order, not a number included.
  case packed(Int64)
  case other(PlanConstant)

  /// - Parameter type: of the path; mixed values and decimals of any form compare with each other.
  init(_ value: PlanValue, _ type: PropertyType) {
    switch value {
    case .null: self = .null
    case _ where !type.isOrderedPacked: self = .other(PlanConstant(value))
    case .integer(let integer): self = .packed(integer)
    case .bool(let bool): self = .packed(bool ? 1 : 0)
    case .number(let number), .date(let number):
      self = .packed(OrderKey.integer(number._packed, .double))
    default: self = .other(PlanConstant(value))
    }
  }

  func order(_ other: OrderValue) -> PlanOrder {
    switch (self, other) {
    case (.null, .null): return .equal
    case (.null, _): return .less
    case (_, .null): return .greater
    case (.packed(let left), .packed(let right)):
      return left == right ? .equal : left < right ? .less : .greater
    case (.other(let left), .other(let right)):
      return left.withValue { left in right.withValue { left.sortOrder($0) } }
    default: return .equal
    }
  }
}
