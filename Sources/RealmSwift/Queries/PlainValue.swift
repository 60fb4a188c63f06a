// How values are compared outside of a Realm: as a Realm compares them. For PlainCondition.
internal import Foundation
internal import ObjectStore

/// A value of a condition or of an object.
struct PlainValue {
  let value: Any?
  /// Whether the condition itself names it.
  let isConstant: Bool
  /// Whether it is what a mixed value holds: then its type counts.
  let isMixed: Bool

  init(constant value: Any?) {
    self.value = Self.withoutNSNumber(queryValue(value))
    isConstant = true
    isMixed = false
  }

  /// The value; one of Foundation's numbers, which can be cast to every type of number, in the type
  /// that it has.
  private static func withoutNSNumber(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return value }
    return AnyRealmValue._fromAny(number).flatMap { $0._anyValue } ?? number.uint64Value
  }

  init(_ way: PlainWay) {
    value = Self.withoutNSNumber(way.value)
    isConstant = false
    isMixed = way.form == .mixed
  }

  /// Whether a comparison of two values holds.
  func holds(
    _ comparator: PredicateComparator, _ other: PlainValue, _ options: StringOptions
  ) -> Bool {
    if value is ObjectBase || other.value is ObjectBase {
      let isSame = (value as? ObjectBase)?.isEqual(other.value) ?? false
      switch comparator {
      case .equal, .isIn: return isSame
      case .notEqual: return !isSame
      default: return false
      }
    }
    let wanted = other.constant(beside: self)
    return constant(beside: other).withValue { own in
      wanted.withValue { own.holds(comparator, $0, options) }
    }
  }

  /// The form in which the value is compared with another one: where no type counts, truth values
  /// with numbers as numbers, texts with decimal numbers as these.
  private func constant(beside other: PlainValue) -> PlanConstant {
    if !isMixed, !other.isMixed {
      if let value = value as? Bool,
        other.value is any BinaryInteger || other.value is any BinaryFloatingPoint
      {
        return .integer(value ? 1 : 0)
      }
      // Rounded, as PlanConstant does.
      if isConstant, other.value is Float,
        let number = Double._fromAny(value) ?? (value as? Decimal128)?.doubleValue
      {
        return .number(number.roundedForFloats)
      }
      let isRounding = other.isConstant && value is Float
      if other.value is Decimal128, !isRounding, let value = Decimal128._fromAny(value) {
        return .decimal(value.number)
      }
    }
    switch value {
    case nil: return .null
    case let value as Bool: return .bool(value)
    case let value as any BinaryInteger:
      return Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
    case let value as Float: return isMixed ? .single(value) : .number(Double(value))
    case let value as Double: return .number(value)
    case let value as Date: return .date(value.timeIntervalSinceReferenceDate)
    case let value as String: return .text(Array(value.utf8))
    case let value as Decimal128: return .decimal(value.number)
    case let value as any _BytesValue:
      return .bytes(type(of: value)._rlmType, value._withBytes { Array($0) })
    default:
      guard let mixed = AnyRealmValue._fromAny(value) else {
        misuse(
          .argument, "'\(ValueText.of(value))' is no value that a condition can compare.")
      }
      // A list or dictionary inside of a mixed value is compared as a whole.
      var writer = AnyValueWriter { object in
        (.max, ObjectKey(rawValue: Int64(ObjectIdentifier(object).hashValue)))
      }
      writer.append(mixed)
      return .bytes(.any, writer.bytes)
    }
  }
}
