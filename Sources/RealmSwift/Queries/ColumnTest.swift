// A condition on one column of the object itself. Most are a range of packed values, looked at a
// leaf at a time, or a test of bytes in place; what is neither is asked value by value.
internal import ObjectStore
internal import Trees

/// A column of the object itself, compared with constants.
final class ColumnTest: Sendable {
  let column: Int
  let type: PropertyType
  let test: ValueTest
  /// Nil when the comparison is no range of packed values.
  let range: PackedRange?
  private let bytes: BytesTest?
  /// The order keys of many packed constants; see `ConstantSet`.
  private let packed: IntegerSet?
  /// A test for each of a few packed constants of which a value may equal one.
  private let alternatives: [ColumnTest]

  /// What a comparison of packed values comes down to: they lie in a range, or do not.
  enum PackedRange {
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
    bytes = range == nil ? BytesTest(type, test) : nil
    let isOneOf = range == nil && bytes == nil && test.set != nil
    let alternatives =
      isOneOf && test.constants.count < ConstantSet.countMin
      ? test.constants.map {
        ColumnTest(column: column, type: type, test: ValueTest(.equal, test.options, [$0], type))
      } : []
    self.alternatives = alternatives.allSatisfy { $0.range != nil } ? alternatives : []
    packed =
      isOneOf && self.alternatives.isEmpty ? test.set?.packed(type).map(IntegerSet.init) : nil
  }

  /// What looking at a row takes.
  var cost: PlanCondition.Cost {
    if range != nil || !alternatives.isEmpty { return .packed }
    return bytes != nil || packed != nil ? .bytes : .values
  }

  func rows(_ scan: ClusterScan, among candidates: RowSet) -> RowSet {
    let (reader, cluster) = (scan.table, scan.cluster)
    // One value is read sooner than a leaf.
    if let row = candidates.only {
      return matches(TableReader.location(cluster, row), reader) ? candidates : RowSet()
    }
    switch range {
    case .nothing: return RowSet()
    case .nulls(let isOutside):
      let nulls = reader.nullRows(cluster, column)
      return isOutside ? candidates.subtracting(nulls) : candidates.intersection(nulls)
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
      if let bytes { return bytes.rows(scan, column, among: candidates) }
      if !alternatives.isEmpty {
        return alternatives.reduce(RowSet()) { $0.union($1.rows(scan, among: candidates)) }
      }
      if let packed {
        let order = reader.elementOrder(column)
        return reader.rows(
          cluster, column, among: candidates, includesNull: test.set?.hasNull ?? false
        ) { packed.contains(OrderKey.integer($0, order)) }
      }
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
      if type == .int, let range = rangeBesideFraction(test) { return range }
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

  /// The range of integers that a comparison with one number holds for; nil when the number is an
  /// integer itself or not a number, and for comparators without a range.
  private static func rangeBesideFraction(_ test: ValueTest) -> PackedRange? {
    guard test.constants.count == 1, case .number(let number) = test.constants[0], !number.isNaN,
      Int64(exactly: number) == nil
    else { return nil }
    let below: ClosedRange<Int64>?
    let above: ClosedRange<Int64>?
    if let next = Int64(exactly: number.rounded(.up)) {
      // No overflow: next to the least integer there are no fractions.
      below = Int64.min...(next - 1)
      above = next...Int64.max
    } else {
      // Greater or less than all integers.
      below = number > 0 ? Int64.min...Int64.max : nil
      above = number < 0 ? Int64.min...Int64.max : nil
    }
    let found: ClosedRange<Int64>?
    switch test.comparator {
    case .less, .lessOrEqual: found = below
    case .greater, .greaterOrEqual: found = above
    case .equal, .isIn: found = nil
    default: return nil
    }
    guard let range = found else { return .nothing }
    return .integers(range, isOutside: false, includesNull: false)
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

extension PlanConstant {
  /// The bytes of a value of a type that is stored as bytes; nil for others.
  fileprivate func bytes(_ type: PropertyType) -> [UInt8]? {
    switch (self, type) {
    case (.text(let bytes), .string): bytes
    case (.bytes(let own, let bytes), .data), (.bytes(let own, let bytes), .UUID),
      (.bytes(let own, let bytes), .objectId):
      own == type ? bytes : nil
    default: nil
    }
  }
}

// MARK: - Bytes

/// A comparison of the bytes of a text or of data with one constant, or with many of which it may
/// equal one.
private struct BytesTest {
  private enum Form {
    case equal, prefix, suffix, part
    case oneOf(ByteStringSet, hasNull: Bool)
    case anyOf(PatternSet)
    case ordered(lower: Bound?, upper: Bound?)
  }

  /// One end of a range of bytes.
  private struct Bound {
    let bytes: [UInt8]
    let isIncluded: Bool

    /// Whether bytes lie behind a lower end, or, with -1, before an upper one.
    @inline(__always)
    func allows(_ value: UnsafeRawBufferPointer, _ direction: Int) -> Bool {
      let order = bytes.withUnsafeBytes { value.compare(to: $0) }
      return order == 0 ? isIncluded : (order < 0) == (direction < 0)
    }
  }

  private let form: Form
  private let wanted: [UInt8]
  private let isNegated: Bool

  /// Nil when the comparison takes more than looking at bytes.
  init?(_ type: PropertyType, _ test: ValueTest) {
    guard test.options.isEmpty else { return nil }
    if let set = test.set, let strings = set.byteStrings(type) {
      (form, wanted, isNegated) = (.oneOf(strings, hasNull: set.hasNull), [], false)
      return
    }
    if type == .string, let patterns = test.patterns {
      (form, wanted, isNegated) = (.anyOf(patterns), [], false)
      return
    }
    let constants = test.constants.compactMap { $0.bytes(type) }
    guard constants.count == test.constants.count, let first = constants.first else { return nil }
    if test.comparator == .between {
      form = .ordered(
        lower: Bound(bytes: first, isIncluded: true),
        upper: Bound(bytes: constants[1], isIncluded: true))
      (wanted, isNegated) = ([], false)
      return
    }
    guard constants.count == 1 else { return nil }
    wanted = first
    switch test.comparator {
    case .equal, .isIn, .notEqual: form = .equal
    case .beginsWith: form = .prefix
    case .endsWith: form = .suffix
    case .contains: form = .part
    case .less: form = .ordered(lower: nil, upper: Bound(bytes: first, isIncluded: false))
    case .lessOrEqual: form = .ordered(lower: nil, upper: Bound(bytes: first, isIncluded: true))
    case .greater: form = .ordered(lower: Bound(bytes: first, isIncluded: false), upper: nil)
    case .greaterOrEqual: form = .ordered(lower: Bound(bytes: first, isIncluded: true), upper: nil)
    default: return nil
    }
    isNegated = test.comparator == .notEqual
  }

  func rows(_ scan: ClusterScan, _ column: Int, among candidates: RowSet) -> RowSet {
    if case .oneOf(let strings, let hasNull) = form {
      return scan.table.rows(scan.cluster, column, among: candidates, includesNull: hasNull) {
        strings.contains($0)
      }
    }
    if case .anyOf(let patterns) = form {
      return scan.table.rows(scan.cluster, column, among: candidates, includesNull: false) {
        patterns.fits($0)
      }
    }
    if case .ordered(let lower, let upper) = form {
      return scan.table.rows(scan.cluster, column, among: candidates, includesNull: false) {
        (lower?.allows($0, 1) ?? true) && (upper?.allows($0, -1) ?? true)
      }
    }
    return wanted.withUnsafeBytes { wanted in
      let (count, isNegated) = (wanted.count, isNegated)
      func rows(_ test: (UnsafeRawBufferPointer) -> Bool) -> RowSet {
        scan.table.rows(
          scan.cluster, column, among: candidates, includesNull: isNegated, where: test)
      }
      switch form {
      case .equal: return rows { $0.hasSameBytes(as: wanted) != isNegated }
      case .prefix:
        return rows {
          $0.count >= count
            && UnsafeRawBufferPointer(rebasing: $0[..<count]).hasSameBytes(as: wanted)
        }
      case .suffix:
        return rows {
          $0.count >= count
            && UnsafeRawBufferPointer(rebasing: $0[($0.count - count)...]).hasSameBytes(as: wanted)
        }
      case .part: return rows { TextMatching.contains($0, wanted) }
      case .oneOf, .anyOf, .ordered: return RowSet()
      }
    }
  }
}
