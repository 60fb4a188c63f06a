// What was folded out of many values, in the type that the caller wants: one rule for values in a
// file and for those in memory.
internal import Foundation

extension PlanConstant {
  /// The value as a Swift type; nil for null, and when the type has no such value.
  func result<Value>(of aggregate: PredicateAggregate) -> Value? {
    switch self {
    case .null: return nil
    case .bool(let value): return aggregateResult(value, aggregate)
    case .integer(let value): return aggregateResult(value, aggregate)
    case .number(let value): return aggregateResult(value, aggregate)
    case .single(let value): return aggregateResult(value, aggregate)
    case .date(let value):
      return aggregateResult(Date(timeIntervalSinceReferenceDate: value), aggregate)
    case .text(let bytes): return aggregateResult(String(decoding: bytes, as: UTF8.self), aggregate)
    case .decimal(let value): return aggregateResult(Decimal128(value), aggregate)
    case .bytes, .link, .mixedLink: return nil
    }
  }
}

/// The result of an aggregation in the type that the caller wants; stops when it cannot be had.
func converted<Value>(_ result: Any?, _ aggregate: PredicateAggregate) -> Value? {
  guard let result else { return nil }
  if let value: Value = aggregateResult(result, aggregate) { return value }
  stopForResult(result, Value.self)
}

/// A sum, which there always is; stops when its type has no such value.
func requiredSum<Value>(_ sum: Value?) -> Value {
  // Of numbers every type has one; an enum or an own type need not have a value for it.
  guard let sum else { misuse(.argument, "The sum is no '\(Value.self)'.") }
  return sum
}

private func stopForResult(_ result: Any, _ type: Any.Type) -> Never {
  misuse(.argument, "The result \(result) is no '\(type)'.")
}

/// A result in another type; nil when that has no such value.
private func aggregateResult<Value>(_ value: Any, _ aggregate: PredicateAggregate) -> Value? {
  let type = (Value.self as? any OptionalProtocol.Type)?._wrappedType ?? Value.self
  guard let type = type as? any _Persistable.Type else {
    return foundationForm(of: value, as: type) as? Value
  }
  return type.result(value, isSum: aggregate == .sum) as? Value
}

extension _Persistable {
  fileprivate static func result(_ value: Any, isSum: Bool) -> Any? {
    // The sum and the mean of mixed values are decimal numbers; of what is wanted as an integer
    // the fraction goes.
    if _rlmType == .int, let decimal = value as? Decimal128,
      let whole = decimal.number.truncatedInteger
    {
      return isSum ? truncated(whole) : _fromAny(whole)
    }
    let isBinary = [.int, .float, .double].contains(_rlmType)
    let value = isBinary ? (value as? Decimal128)?.doubleValue ?? value : value
    let number = value as? Double ?? (value as? Float).map { Double($0) }
    switch (_rlmType, number) {
    case (.float, let number?):
      // Beyond the range of the type it is infinite.
      return _fromAny(Float(number))
    case (.int, let number?):
      let whole = number.rounded(.towardZero)
      if isSum { return truncated(Int64(nearest: whole)) }
      return Int64(exactly: whole).flatMap { _fromAny($0) }
    case (.int, nil):
      // The low bits, as `NSNumber` gives them; the sum was taken in 64 bits.
      if isSum, let whole = Int64._fromAny(value) { return truncated(whole) }
      return _fromAny(value)
    default: return _fromAny(value)
    }
  }

  /// The value for which the low bits of an integer are stored.
  private static func truncated(_ whole: Int64) -> Any? {
    _fromAny((storedType as? any _PackedValue.Type)?.packed(whole) ?? whole)
  }

  /// What values are stored as: of an enum or an own type another type.
  private static var storedType: Any.Type {
    func persisted<Type: _HasPersistedType>(_: Type.Type) -> Any.Type { Type.PersistedType.self }
    return (self as? any _HasPersistedType.Type).map { persisted($0) } ?? self
  }
}

extension _PackedValue {
  fileprivate static func packed(_ bits: Int64) -> Any { Self(_packed: bits) }
}

extension Int64 {
  /// The integer nearest to a whole number; zero for what is no number.
  fileprivate init(nearest number: Double) {
    self = Int64(exactly: number) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
  }
}
