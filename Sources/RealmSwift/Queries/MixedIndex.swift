// What an index on a mixed property tells: the objects that have one of the stored forms which are
// equal to a constant. A number has many of them, and all are looked for.
internal import Foundation
internal import ObjectStore
internal import Platform

extension ValuesTest {
  /// What tells the objects whose mixed value may be one of the constants.
  ///
  /// Nil without an index, for other comparisons, and where to look at all objects takes less.
  func mixedSource(_ reader: TableReader, _ table: StoredTable) -> KeySource? {
    guard case .path(let path) = left, path.hops.isEmpty, case .column(let column) = path.end,
      path.type == .any, !isAll, case .test(let test) = right, test.options.isEmpty,
      test.comparator == .equal || test.comparator == .isIn,
      table.schema.columns[column].isIndexed, reader.indexForm(column) == .hashed
    else { return nil }
    let ordersMax = PlanChoice.current == .byCost ? max(64, reader.count / 16) : .max
    var ranges: [ClosedRange<Int64>] = []
    for constant in test.constants {
      guard let forms = constant.mixedForms else { return nil }
      for form in forms {
        let order = form.withUnsafeBytes { reader.order(of: .bytes($0), column) }
        ranges.append(order...order)
      }
      if ranges.count > ordersMax { return nil }
    }
    return .orders(column: column, OrderSet(ranges))
  }
}

extension PlanConstant {
  /// The stored forms of all mixed values that are equal to the constant; nil where these are not
  /// known, or too many.
  fileprivate var mixedForms: [[UInt8]]? {
    switch self {
    case .text(let bytes): return [[AnyTag.string.rawValue] + bytes]
    case .bytes(.data, let bytes): return [[AnyTag.data.rawValue] + bytes]
    case .bytes(.objectId, let bytes): return [[AnyTag.objectId.rawValue] + bytes]
    case .bytes(.UUID, let bytes): return [[AnyTag.uuid.rawValue] + bytes]
    case .bool(let value): return [Self.stored(.bool(value))]
    // Both zeros are one date.
    case .date(let value) where value != 0 && !value.isNaN:
      return [Self.stored(.date(Date(timeIntervalSinceReferenceDate: value)))]
    case .integer(let value): return Self.forms(of: value)
    case .number(let value): return Int64(exactly: value).flatMap { Self.forms(of: $0) }
    case .single(let value): return Int64(exactly: value).flatMap { Self.forms(of: $0) }
    default: return nil
    }
  }

  /// An integer as each type of number that can hold it.
  private static func forms(of value: Int64) -> [[UInt8]]? {
    // Decimal zeros have thousands of exponents. What has no exact double is compared otherwise
    // with numbers that are rounded.
    guard value != 0, value.magnitude < 1 << 53 else { return nil }
    var forms: [AnyRealmValue] = [.int(Int(value)), .double(Double(value))]
    if let single = Float(exactly: value) { forms.append(.float(single)) }
    var coefficient = UInt128(value.magnitude)
    var exponent = 0
    while coefficient % 10 == 0 {
      coefficient /= 10
      exponent += 1
    }
    while coefficient <= DecimalNumber.coefficientMax {
      let number = DecimalNumber(
        isNegative: value < 0, coefficient: coefficient, exponent: exponent)
      forms.append(.decimal128(Decimal128(number)))
      coefficient *= 10
      exponent -= 1
    }
    return forms.map { stored($0) }
  }

  /// The bytes of a value that links to nothing.
  private static func stored(_ value: AnyRealmValue) -> [UInt8] {
    var writer = AnyValueWriter { _ in (0, ObjectKey(rawValue: -1)) }
    writer.append(value)
    return writer.bytes
  }
}
