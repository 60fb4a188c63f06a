// Which index, primary key or links tell the objects of a condition best. What is chosen gives too
// many objects at most, never too few; what it does not decide is asked of those it gives.
internal import ObjectStore
internal import Platform

/// The objects that can fulfil a condition, and what is still to be asked of them.
struct KeyChoice {
  let source: KeySource
  /// Number of keys, or more.
  let count: Int
  /// Whether all of them fulfil the condition, and nothing is to be asked.
  let isExact: Bool
  /// What is to be asked where `isExact` is false.
  let rest: PlanCondition
  /// Whether most of them fulfil what the index was chosen for; of texts that begin alike one of
  /// all may.
  let isTight: Bool
  /// How many of them probably fulfil it.
  let likely: Int

  private init(
    _ source: KeySource, isExact: Bool, isTight: Bool, _ rest: PlanCondition,
    _ reader: TableReader, count: Int? = nil, likely: Int? = nil
  ) {
    self.source = source
    self.count = count ?? source.count(reader)
    self.isExact = isExact
    self.isTight = isTight
    self.rest = rest
    self.likely = likely ?? (isTight ? self.count : max(1, source.countInside(reader)))
  }

  /// Nil when nothing tells the objects of the condition, or to find out would take longer than to
  /// look at them.
  init?(
    _ condition: PlanCondition, _ readers: PlanReaders, _ table: Int, _ reader: TableReader,
    limit: Int? = nil
  ) {
    guard PlanChoice.current == .byCost else {
      self.init(condition, readers, table, reader, Budget.any)
      return
    }
    let scan = Self.scanCost(condition, reader, nil, 0)
    guard let stored = readers.stored(table), let lookUps = condition.lookUps(stored),
      scan > Double(lookUps) * AccessCost.choice
    else { return nil }
    self.init(condition, readers, table, reader, Budget(scan: scan, limit: limit))
  }

  /// What may be spent to find objects by keys.
  struct Budget {
    /// What a scan of all objects takes.
    let scan: Double
    /// How many objects are wanted; nil for all.
    let limit: Int?

    static let any = Budget(scan: .infinity, limit: nil)
  }

  /// Nil when nothing tells the objects of the condition within the budget.
  init?(
    _ condition: PlanCondition, _ readers: PlanReaders, _ table: Int, _ reader: TableReader,
    _ budget: Budget
  ) {
    switch condition {
    case .constant, .not, .nested: return nil
    case .values(let test):
      guard let stored = readers.stored(table), let source = test.mixedSource(reader, stored) else {
        return nil
      }
      self.init(source, isExact: false, isTight: true, condition, reader)
    case .column(let test):
      guard let stored = readers.stored(table), stored.hasIndex(test.column),
        budget.allows(
          lookUps: test.lookUps, condition, reader,
          matches: { condition.sampledCount(reader, stored) }),
        let found = test.source(reader, stored)
      else { return nil }
      self.init(
        found.source, isExact: found.isExact, isTight: found.isExact || test.isTold(reader),
        condition,
        reader)
    case .linked(let test):
      guard let source = test.source(readers) else { return nil }
      self.init(source, isExact: true, isTight: true, condition, reader)
    case .and(let parts): self.init(all: parts, readers, table, reader, budget)
    case .or(let parts):
      guard !parts.isEmpty, let stored = readers.stored(table),
        let lookUps = condition.lookUps(stored),
        budget.allows(
          lookUps: lookUps, condition, reader,
          matches: { condition.sampledCount(reader, stored) })
      else { return nil }
      var sources: [KeySource] = []
      var (isExact, isTight, likely) = (true, true, 0)
      for part in parts {
        guard let choice = KeyChoice(part, readers, table, reader, budget.withoutLimit) else {
          return nil
        }
        sources.append(choice.source)
        isExact = isExact && choice.isExact
        isTight = isTight && choice.isTight
        likely += choice.likely
      }
      self.init(
        KeySource.joined(sources), isExact: isExact, isTight: isTight, condition, reader,
        likely: likely)
    }
  }

  /// The objects of several conditions at once: by the best of them, and a second that is not much
  /// worse.
  private init?(
    all parts: [PlanCondition], _ readers: PlanReaders, _ table: Int, _ reader: TableReader,
    _ budget: Budget
  ) {
    var choices: [(choice: KeyChoice, parts: [Int])] = []
    var lookedUp: [(lookUps: Int, part: Int)] = []
    // Ranges of one column are one range.
    var byColumn: [(column: Int, orders: OrderSet, isExact: Bool, isTight: Bool, parts: [Int])] =
      []
    for (index, part) in parts.enumerated() {
      if case .column(let test) = part, test.lookUps == 1, let stored = readers.stored(table),
        let found = test.source(reader, stored), case .orders(let column, let orders) = found.source
      {
        let isTight = found.isExact || test.isTold(reader)
        if let place = byColumn.firstIndex(where: { $0.column == column }) {
          byColumn[place].orders = byColumn[place].orders.intersection(orders)
          // Where null alone has the order of other values, a range without it tells all.
          byColumn[place].isExact =
            byColumn[place].isExact && found.isExact
            || test.type.isOrderedPacked && !byColumn[place].orders.contains(OrderKey.null)
          byColumn[place].isTight = byColumn[place].isTight && isTight
          byColumn[place].parts.append(index)
        } else {
          byColumn.append((column, orders, found.isExact, isTight, [index]))
        }
      } else if let lookUps = readers.stored(table).flatMap({ part.lookUps($0) }) {
        lookedUp.append((lookUps, index))
      }
    }
    for (column, orders, isExact, isTight, covered) in byColumn {
      let rest = covered.count == 1 ? parts[covered[0]] : .and(covered.map { parts[$0] })
      choices.append(
        (
          KeyChoice(
            .orders(column: column, orders), isExact: isExact, isTight: isTight, rest, reader),
          covered
        ))
    }
    // What takes few look-ups comes first: many are only worth it where that leaves many objects.
    for (lookUps, part) in lookedUp.sorted(by: { ($0.lookUps, $0.part) < ($1.lookUps, $1.part) }) {
      let left = choices.map { $0.choice.cost(reader, limit: budget.limit) }.min() ?? .infinity
      if budget.scan < .infinity, Double(lookUps) * AccessCost.lookUp > left { continue }
      if let choice = KeyChoice(parts[part], readers, table, reader, budget) {
        choices.append((choice, [part]))
      }
    }
    choices.sort { $0.choice.count < $1.choice.count }
    guard let best = choices.first else { return nil }
    var used = [best]
    // To take one more key out of a tree costs less than to ask an object that another tree names.
    if choices.count > 1, best.choice.count > 64,
      choices[1].choice.count / 8 <= best.choice.count
    {
      used.append(choices[1])
    }
    let decided = Set(used.filter { $0.choice.isExact }.flatMap { $0.parts })
    let rest = parts.indices.filter { !decided.contains($0) }.map { parts[$0] }
    self.init(
      used.count == 1 ? best.choice.source : .intersection(used.map { $0.choice.source }),
      isExact: rest.isEmpty, isTight: best.choice.isTight,
      rest.count == 1 ? rest[0] : .and(rest), reader, count: best.choice.count,
      likely: best.choice.likely)
  }
}

extension KeySource {
  /// The objects of any source; those of one column as one source.
  fileprivate static func joined(_ sources: [KeySource]) -> KeySource {
    var ranges: [Int: [ClosedRange<Int64>]] = [:]
    var others: [KeySource] = []
    for source in sources {
      if case .orders(let column, let orders) = source {
        ranges[column, default: []] += orders.ranges
      } else {
        others.append(source)
      }
    }
    others += ranges.sorted { $0.key < $1.key }.map { .orders(column: $0.key, OrderSet($0.value)) }
    return others.count == 1 ? others[0] : .union(others)
  }
}

extension ColumnTest {
  /// Whether most objects that an index gives for the constants fulfil the condition.
  fileprivate func isTold(_ reader: TableReader) -> Bool {
    let form = reader.indexForm(column)
    if form == .hashed, test.comparator == .equal || test.comparator == .isIn { return true }
    return test.constants.allSatisfy { constant in
      switch constant {
      case .text(let bytes), .bytes(_, let bytes): bytes.count <= form.prefixLength
      default: true
      }
    }
  }

  /// What tells the objects; nil without an index on the column.
  fileprivate func source(
    _ reader: TableReader, _ table: StoredTable
  ) -> (source: KeySource, isExact: Bool)? {
    if table.primaryKeyColumn == column {
      guard test.options.isEmpty, test.comparator == .equal || test.comparator == .isIn else {
        return nil
      }
      return keysByPrimaryKey(reader).map { (.keys($0), true) }
    }
    guard table.hasIndex(column),
      let found = orders(reader, isOptional: table.schema.columns[column].isOptional)
    else {
      return nil
    }
    return (.orders(column: column, found.orders), found.isExact)
  }

  private func keysByPrimaryKey(_ reader: TableReader) -> [Int64]? {
    var keys = Set<Int64>()
    for constant in test.constants {
      let isKnown = constant.withElement(type) { value in
        switch value {
        case .null: if let row = reader.findRow(integer: nil) { keys.insert(row.key.rawValue) }
        case .integer(let integer):
          if let row = reader.findRow(integer: integer) { keys.insert(row.key.rawValue) }
        case .bytes(let bytes):
          if let row = reader.findRow(bytes: bytes) { keys.insert(row.key.rawValue) }
        case .link: break
        }
      }
      if !isKnown { return nil }
    }
    return keys.sorted()
  }
}

extension LinkedTest {
  /// Who links to the objects that fit; nil when these are many or not known, or no link may fit.
  fileprivate func source(_ readers: PlanReaders) -> KeySource? {
    switch form {
    case .objects(let keys, let isNegated):
      // Nobody's backlinks tell the objects without a link.
      if isNegated || acceptsNull && isSingle { return nil }
      return linking(keys)
    case .related(let condition):
      guard !(acceptsNull && isSingle), let reader = readers[target], reader.count > 0,
        let choice = KeyChoice(condition, readers, target, reader, KeyChoice.Budget.any),
        choice.count <= 1_024
      else { return nil }
      var keys: [Int64] = []
      // The same choice: to make it again at each link would double what the one before took.
      PlanRun(condition, readers, reader, choice, limit: nil).forEachCluster { scan, rows in
        rows.forEach {
          keys.append(scan.key($0).rawValue)
          return true
        }
      }
      return linking(keys)
    }
  }

  private func linking(_ keys: [Int64]) -> KeySource {
    var keys = keys
    // A bug for tests: one of several objects is forgotten.
    if PlantedBug.backlinkMissed.isActive, keys.count > 1 { keys.removeLast() }
    return keys.isEmpty ? .keys([]) : .links(column: column, targets: keys, isSingle: isSingle)
  }
}

// MARK: - Counting

extension PlanCondition {
  /// How many objects of a table fulfil the condition, where the trees tell without an object being
  /// looked at.
  func exactCount(_ readers: PlanReaders, _ table: Int, _ reader: TableReader) -> Int? {
    if PlanChoice.current == .scan { return nil }
    switch self {
    case .constant(let value): return value ? reader.count : 0
    case .not(let part):
      return part.exactCount(readers, table, reader).map { reader.count - $0 }
    case .nested, .values: return nil
    case .column(let test) where test.test.comparator == .notEqual:
      // All but those that are equal, null ones too.
      let equal = ValueTest(.equal, test.test.options, test.test.constants, test.type)
      return PlanCondition.column(ColumnTest(column: test.column, type: test.type, test: equal))
        .exactCount(readers, table, reader).map { reader.count - $0 }
    case .linked(let test):
      // Whoever does not link there fits, those without a link too.
      if case .objects(let keys, true) = test.form, keys.count == 1, test.acceptsNull {
        return reader.count - KeyStream(reader, test.column, target: keys[0]).count
      }
      fallthrough
    case .column, .and, .or:
      guard let stored = readers.stored(table), mayBeToldExactly(stored),
        let choice = KeyChoice(self, readers, table, reader), choice.isExact,
        choice.source.isCounted
      else { return nil }
      return choice.count
    }
  }

  /// Whether indexes may give the very objects of the condition, none of which has to be asked.
  private func mayBeToldExactly(_ table: StoredTable) -> Bool {
    switch self {
    case .constant, .not, .nested, .values: false
    case .column(let test):
      table.primaryKeyColumn == test.column
        || table.hasIndex(test.column)
          && (test.type.isOrderedPacked || test.test.comparator == .beginsWith)
    case .linked(let test): test.isSingle
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.mayBeToldExactly(table) }
    }
  }
}
