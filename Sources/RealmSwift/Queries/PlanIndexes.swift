// Finding the objects of a condition through the primary key or an ordered index. What is found this way
// is still asked the whole condition, so a look-up may give too many objects, never too few.
internal import ObjectStore

extension PlanCondition {
  /// The keys of all objects that can fulfil the condition, in order; nil when there is no index that
  /// tells, or so many that looking at all objects is as good.
  func candidates(_ reader: TableReader, _ table: StoredTable) -> [ObjectKey]? {
    switch self {
    case .column(let test): return test.candidates(reader, table)
    case .and(let parts):
      // One value is better than a range: it comes first.
      let tests = parts.compactMap { part in
        if case .column(let test) = part { return test }
        return nil
      }
      for test in tests where test.isEquality {
        if let keys = test.candidates(reader, table) { return keys }
      }
      for part in parts { if let keys = part.candidates(reader, table) { return keys } }
      return nil
    case .or(let parts):
      var keys = Set<ObjectKey>()
      for part in parts {
        guard let some = part.candidates(reader, table) else { return nil }
        keys.formUnion(some)
      }
      return keys.sorted()
    case .constant, .not, .values: return nil
    }
  }
}

extension ColumnTest {
  /// Whether the column has to have one of some values.
  fileprivate var isEquality: Bool {
    test.options.isEmpty && (test.comparator == .equal || test.comparator == .isIn)
  }

  fileprivate func candidates(_ reader: TableReader, _ table: StoredTable) -> [ObjectKey]? {
    if isEquality {
      if table.primaryKeyColumn == column { return keysByPrimaryKey(reader) }
      if table.schema.columns[column].isIndexed { return keysByIndex(reader) }
      return nil
    }
    guard table.schema.columns[column].isIndexed, table.primaryKeyColumn != column else {
      return nil
    }
    return keysByRange(reader)
  }

  private func keysByPrimaryKey(_ reader: TableReader) -> [ObjectKey]? {
    var keys = Set<ObjectKey>()
    for constant in test.constants {
      let isKnown = constant.withElement(type) { value in
        switch value {
        case .null:
          if let key = reader.findRow(integer: nil)?.key { keys.insert(key) }
        case .integer(let integer):
          if let key = reader.findRow(integer: integer)?.key { keys.insert(key) }
        case .bytes(let bytes):
          if let key = reader.findRow(bytes: bytes)?.key { keys.insert(key) }
        case .link: break
        }
      }
      if !isKnown { return nil }
    }
    return keys.sorted()
  }

  private func keysByIndex(_ reader: TableReader) -> [ObjectKey]? {
    var keys = Set<ObjectKey>()
    let most = mostKeys(reader)
    for constant in test.constants {
      let isKnown = constant.withElement(type) { value in
        reader.forEachIndexed(column, equal: value) {
          keys.insert($0)
          return keys.count <= most
        }
      }
      if !isKnown || keys.count > most { return nil }
    }
    return keys.sorted()
  }

  private func keysByRange(_ reader: TableReader) -> [ObjectKey]? {
    guard [.int, .date, .double, .float].contains(type), test.constants.allSatisfy({ !$0.isNull })
    else { return nil }
    let (lower, upper): (PlanConstant?, PlanConstant?)
    switch test.comparator {
    case .less, .lessOrEqual: (lower, upper) = (nil, test.constants[0])
    case .greater, .greaterOrEqual: (lower, upper) = (test.constants[0], nil)
    case .between: (lower, upper) = (test.constants[0], test.constants[1])
    default: return nil
    }
    var keys: [ObjectKey] = []
    let most = mostKeys(reader)
    let isKnown = PlanConstant.withElements(lower, upper, type) { lower, upper in
      reader.forEachIndexed(column, from: lower, through: upper) { _, key in
        keys.append(key)
        return keys.count <= most
      }
    }
    return isKnown && keys.count <= most ? keys.sorted() : nil
  }

  /// How many objects are worth being found one by one.
  private func mostKeys(_ reader: TableReader) -> Int { reader.count / 8 + 16 }
}

extension PlanConstant {
  /// Runs `body` on the form that the constant has in a column; false when it has none.
  fileprivate func withElement(_ type: PropertyType, _ body: (ElementValue) -> Void) -> Bool {
    switch (self, type) {
    case (.null, _): body(.null)
    case (.integer(let value), .int): body(.integer(value))
    case (.bool(let value), .bool): body(.integer(value ? 1 : 0))
    case (.number(let value), .double), (.date(let value), .date):
      if value.isNaN { return false }
      body(.integer(value._packed))
    case (.number(let value), .float):
      if value.isNaN { return false }
      body(.integer(Float(value)._packed))
    case (.text(let bytes), .string): bytes.withUnsafeBytes { body(.bytes($0)) }
    case (.bytes(let own, let bytes), _) where own == type && own != .any:
      bytes.withUnsafeBytes { body(.bytes($0)) }
    default: return false
    }
    return true
  }

  /// Runs `body` on the forms of two bounds; false when one has none.
  fileprivate static func withElements(
    _ lower: PlanConstant?, _ upper: PlanConstant?, _ type: PropertyType,
    _ body: (ElementValue?, ElementValue?) -> Void
  ) -> Bool {
    guard let lower else {
      guard let upper else { return false }
      return upper.withElement(type) { body(nil, $0) }
    }
    guard let upper else { return lower.withElement(type) { body($0, nil) } }
    var isKnown = false
    return lower.withElement(type) { lower in
      isKnown = upper.withElement(type) { body(lower, $0) }
    } && isKnown
  }
}
