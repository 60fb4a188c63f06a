// Values while conditions are evaluated: without a Swift type of their own, bytes in place. How two
// of them compare is decided here.
internal import Foundation
internal import ObjectStore
internal import Trees

/// A value of a property, an element or a condition.
///
/// Bytes are borrowed: valid while the version is, or inside of the closure that was given the
/// value.
enum PlanValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// Of a mixed value, which keeps its type; beside other values it is the same as `number`.
  case single(Float)
  case date(Double)
  /// UTF-8.
  case text(UnsafeRawBufferPointer)
  /// Data, object ids, UUIDs; of mixed values those with values inside.
  case bytes(PropertyType, UnsafeRawBufferPointer)
  case decimal(DecimalNumber)
  /// An object inside of a mixed value, by its table's key in the file and its own.
  case mixedLink(table: UInt64, ObjectKey)
  /// An object by its class's position among the Realm's, and its key.
  case link(table: Int, ObjectKey)

  /// The value of a packed or bytes cell.
  init(_ element: ElementValue, _ type: PropertyType, target: Int) {
    switch element {
    case .null: self = .null
    case .integer(let value): self.init(packed: value, type, target: target)
    case .bytes(let bytes): self.init(bytes: bytes, type)
    case .link(let key): self = .link(table: target, key)
    }
  }

  init(packed value: Int64, _ type: PropertyType, target: Int = -1) {
    switch type {
    case .bool: self = .bool(value != 0)
    case .double: self = .number(Double(_packed: value))
    case .float: self = .number(Double(Float(_packed: value)))
    case .date: self = .date(Double(_packed: value))
    case .object: self = .link(table: target, ObjectKey(rawValue: value))
    default: self = .integer(value)
    }
  }

  init(bytes: UnsafeRawBufferPointer, _ type: PropertyType) {
    switch type {
    case .string: self = .text(bytes)
    case .decimal128: self = .decimal(Decimal128(_bytes: bytes).number)
    case .any: self.init(mixed: bytes)
    default: self = .bytes(type, bytes)
    }
  }

  /// The value of an encoded mixed value; see `AnyTag`.
  init(mixed bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first, let tag = AnyTag(rawValue: first) else {
      self = .null
      return
    }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
    func packed<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer {
      Integer(littleEndian: rest.loadUnaligned(as: Integer.self))
    }
    switch tag {
    case .none: self = .null
    case .int: self = .integer(packed(Int64.self))
    case .bool: self = .bool(rest[0] != 0)
    case .float: self = .single(Float(bitPattern: packed(UInt32.self)))
    case .double: self = .number(Double(bitPattern: packed(UInt64.self)))
    case .date: self = .date(Double(bitPattern: packed(UInt64.self)))
    case .string: self = .text(rest)
    case .data: self = .bytes(.data, rest)
    case .objectId: self = .bytes(.objectId, rest)
    case .uuid: self = .bytes(.UUID, rest)
    case .decimal128: self = .decimal(Decimal128(_bytes: rest).number)
    case .object:
      guard let link = AnyCoding.link(bytes) else {
        self = .null
        return
      }
      self = .mixedLink(table: link.tableKey, link.key)
    case .list, .dictionary: self = .bytes(.any, bytes)
    }
  }

  /// The value as a number, for aggregates; nil for what is none.
  var asNumber: Double? {
    switch self {
    case .integer(let value): return Double(value)
    case .number(let value): return value
    case .single(let value): return Double(value)
    case .decimal(let value): return Decimal128(value).doubleValue
    default: return nil
    }
  }

  /// The value as a decimal number; nil for what is no number.
  var asDecimal: DecimalNumber? {
    switch self {
    case .integer(let value): return DecimalNumber(value)
    case .number(let value): return DecimalNumber(value)
    case .single(let value): return DecimalNumber(Double(value))
    case .decimal(let value): return value
    default: return nil
    }
  }
}

/// How two values lie to each other.
enum PlanOrder {
  case less, equal, greater
}

extension PlanValue {
  /// The order of two values; nil when they have none: of different sorts, or not a number.
  ///
  /// Nulls are equal to each other only.
  func order(_ other: PlanValue) -> PlanOrder? {
    switch (self, other) {
    case (.null, .null): return .equal
    case (.integer(let left), .integer(let right)): return Self.order(left, right)
    case (.number(let left), .number(let right)): return Self.order(left, right)
    case (.integer(let left), .number(let right)): return Self.order(left, right)
    case (.number(let left), .integer(let right)):
      switch Self.order(right, left) {
      case .less: return .greater
      case .greater: return .less
      case let same: return same
      }
    case (.single(let left), _): return PlanValue.number(Double(left)).order(other)
    case (_, .single(let right)): return order(.number(Double(right)))
    case (.date(let left), .date(let right)): return Self.order(left, right)
    case (.bool(let left), .bool(let right)): return Self.order(left ? 1 : 0, right ? 1 : 0)
    case (.text(let left), .text(let right)): return Self.order(left, right)
    case (.bytes(let type, let left), .bytes(let otherType, let right)):
      return type == otherType ? Self.order(left, right) : nil
    case (.link(let table, let key), .link(let otherTable, let otherKey)):
      return table == otherTable ? Self.order(key, otherKey) : nil
    case (.mixedLink(let table, let key), .mixedLink(let otherTable, let otherKey)):
      return table == otherTable ? Self.order(key, otherKey) : nil
    case (.decimal, _), (_, .decimal):
      guard let left = asDecimal, let right = other.asDecimal,
        let order = DecimalNumber.compare(left, right)
      else { return nil }
      return order < 0 ? .less : order > 0 ? .greater : .equal
    default: return nil
    }
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> PlanOrder? {
    if left < right { return .less }
    if left > right { return .greater }
    return left == right ? .equal : nil
  }

  /// Exact: no integer is rounded.
  private static func order(_ left: Int64, _ right: Double) -> PlanOrder? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return .less }
    if right < -0x1p63 { return .greater }
    let whole = Int64(right.rounded(.down))
    if left != whole { return left < whole ? .less : .greater }
    return right > right.rounded(.down) ? .less : .equal
  }

  /// Byte by byte, a prefix first.
  static func order(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> PlanOrder {
    let order = left.compare(to: right)
    return order == 0 ? .equal : order < 0 ? .less : .greater
  }

  /// Whether a comparison of two values holds.
  func holds(
    _ comparator: PredicateComparator, _ other: PlanValue, _ options: StringOptions = []
  ) -> Bool {
    if !options.isEmpty, case .text(let left) = self, case .text(let right) = other {
      let left = TextMatching.folded(left, options)
      let right = TextMatching.folded(right, options)
      return left.withUnsafeBytes { left in
        right.withUnsafeBytes { PlanValue.text(left).holds(comparator, .text($0)) }
      }
    }
    switch comparator {
    case .equal, .isIn: return order(other) == .equal
    case .notEqual: return order(other) != .equal
    case .less: return order(other) == .less
    case .greater: return order(other) == .greater
    case .lessOrEqual:
      let order = order(other)
      return order == .less || order == .equal
    case .greaterOrEqual:
      let order = order(other)
      return order == .greater || order == .equal
    case .contains, .beginsWith, .endsWith, .like: return fits(comparator, other)
    case .between, .geoWithin: return false
    }
  }

  private func fits(_ comparator: PredicateComparator, _ other: PlanValue) -> Bool {
    switch (self, other) {
    case (.text(let value), .text(let pattern)), (.bytes(_, let value), .bytes(_, let pattern)):
      switch comparator {
      case .contains: return TextMatching.contains(value, pattern)
      case .beginsWith: return value.starts(with: pattern)
      case .endsWith:
        return value.count >= pattern.count
          && value.suffix(pattern.count)
            .elementsEqual(pattern)
      default: return TextMatching.isLike(value, pattern)
      }
    case (.null, .null): return comparator == .like
    default: return false
    }
  }
}

// MARK: - Constants

/// A value that a condition keeps.
enum PlanConstant {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case single(Float)
  case date(Double)
  case text([UInt8])
  case bytes(PropertyType, [UInt8])
  case decimal(DecimalNumber)
  case mixedLink(table: UInt64, ObjectKey)
  case link(table: Int, ObjectKey)

  /// A copy of a value.
  init(_ value: PlanValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .number(let value): self = .number(value)
    case .single(let value): self = .single(value)
    case .date(let value): self = .date(value)
    case .text(let bytes): self = .text(Array(bytes))
    case .bytes(let type, let bytes): self = .bytes(type, Array(bytes))
    case .decimal(let value): self = .decimal(value)
    case .mixedLink(let table, let key): self = .mixedLink(table: table, key)
    case .link(let table, let key): self = .link(table: table, key)
    }
  }

  @inline(__always)
  func withValue<Result>(_ body: (PlanValue) -> Result) -> Result {
    switch self {
    case .null: return body(.null)
    case .bool(let value): return body(.bool(value))
    case .integer(let value): return body(.integer(value))
    case .number(let value): return body(.number(value))
    case .single(let value): return body(.single(value))
    case .date(let value): return body(.date(value))
    case .text(let bytes): return bytes.withUnsafeBytes { body(.text($0)) }
    case .bytes(let type, let bytes): return bytes.withUnsafeBytes { body(.bytes(type, $0)) }
    case .decimal(let value): return body(.decimal(value))
    case .mixedLink(let table, let key): return body(.mixedLink(table: table, key))
    case .link(let table, let key): return body(.link(table: table, key))
    }
  }

  var isNull: Bool {
    if case .null = self { return true }
    return false
  }
}

/// A comparison with constants.
struct ValueTest {
  let comparator: PredicateComparator
  let options: StringOptions
  /// One; two for between; any number for in and for beginnings, ends and parts of texts.
  let constants: [PlanConstant]
  /// The same for in, where they are several.
  let set: ConstantSet?
  /// Several beginnings, ends or parts of texts.
  let patterns: PatternSet?

  /// - Parameter type: of the values that are compared.
  init(
    _ comparator: PredicateComparator, _ options: StringOptions, _ constants: [PlanConstant],
    _ type: PropertyType
  ) {
    self.comparator = comparator
    self.options = options
    // Folded once, not a value each time.
    let folded = constants.map { constant in
      guard !options.isEmpty, case .text(let bytes) = constant else { return constant }
      return .text(bytes.withUnsafeBytes { TextMatching.folded($0, options) })
    }
    self.constants = folded
    set =
      comparator == .isIn && folded.count > 1 ? ConstantSet(folded, type) : nil
    patterns = PatternSet(comparator, folded)
  }

  func matches(_ value: PlanValue) -> Bool {
    if !options.isEmpty, case .text(let bytes) = value {
      return TextMatching.folded(bytes, options).withUnsafeBytes { matchesFolded(.text($0)) }
    }
    return matchesFolded(value)
  }

  private func matchesFolded(_ value: PlanValue) -> Bool {
    switch comparator {
    case .between:
      return constants[0].withValue { value.holds(.greaterOrEqual, $0) }
        && constants[1].withValue { value.holds(.lessOrEqual, $0) }
    case .isIn:
      if let set { return set.contains(value) }
      return constants.contains { constant in constant.withValue { value.holds(.equal, $0) } }
    default:
      if let patterns {
        if case .text(let text) = value { return patterns.fits(text) }
        return false
      }
      return constants[0].withValue { value.holds(comparator, $0) }
    }
  }
}
