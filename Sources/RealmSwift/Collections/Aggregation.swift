// The smallest, the largest, the sum and the mean of values whose type is only known when they are
// seen.
internal import Foundation

/// Values of one type, or mixed values; nil ones do not count.
struct Aggregation {
  private let values: [Any]
  /// Values of several types, which are compared and summed up as mixed values are.
  private let mixed: List<AnyRealmValue>?

  init(_ values: [Any?]) {
    let values = values.compactMap { unwrapped($0) }
    self.values = values
    mixed =
      Set(values.map { ObjectIdentifier(type(of: $0)) }).count < 2
      ? nil
      : values.reduce(into: List<AnyRealmValue>()) { list, value in
        if let value = AnyRealmValue._fromAny(value) { list.append(value) }
      }
  }

  /// The smallest value; nil when there is none.
  var min: Any? { mixed.map { $0.min()?._anyValue } ?? best { $0 } }
  /// The largest value; nil when there is none.
  var max: Any? { mixed.map { $0.max()?._anyValue } ?? best { !$0 } }

  /// The values' sum; zero when there is none.
  var sum: Any {
    if let mixed { return mixed.sum()._anyValue ?? 0 }
    guard let first = values.first else { return 0 }
    return (first as? any Numeric).map { sum($0) } ?? stop(first)
  }

  /// The mean; nil when there is no value.
  var average: Any? {
    if let mixed { return (mixed.average() as AnyRealmValue?)?._anyValue }
    guard let first = values.first else { return nil }
    if first is any BinaryInteger || first is any BinaryFloatingPoint {
      return values.reduce(0.0) { $0 + (Double._fromAny($1) ?? 0) } / Double(values.count)
    }
    return (first as? any AverageableType).map { average($0) } ?? stop(first)
  }

  /// The result of one of them.
  func result(of aggregate: PredicateAggregate) -> Any? {
    switch aggregate {
    case .min: return min
    case .max: return max
    case .sum: return sum
    case .average: return average
    case .count: return values.count
    }
  }

  private func average<Value: AverageableType>(_ first: Value) -> Any {
    Value._average(values.compactMap { $0 as? Value })
  }

  private func sum<Value: Numeric>(_ first: Value) -> Any {
    if first is any BinaryInteger {
      return values.reduce(Int64(0)) { $0 &+ (Int64._fromAny($1) ?? 0) }
    }
    if first is Float { return values.reduce(0.0) { $0 + (Double._fromAny($1) ?? 0) } }
    return values.reduce(Value.zero) { $0 + ($1 as? Value ?? .zero) }
  }

  private func best(_ isBetter: (_ isLess: Bool) -> Bool) -> Any? {
    guard var best = values.first else { return nil }
    guard let first = best as? any Comparable, !(first is String) else { stop(best) }
    for value in values.dropFirst() {
      if let isLess = compare(first, value, best), isBetter(isLess) { best = value }
    }
    return best
  }

  /// Whether a value is less than another one; nil when they are equal.
  private func compare<Value: Comparable>(_: Value, _ left: Any, _ right: Any) -> Bool? {
    guard left is Value, right is Value else { return nil }
    let (left, right) = (ValueIdentity(left), ValueIdentity(right))
    return left.precedes(right) ? true : right.precedes(left) ? false : nil
  }

  private func stop(_ value: Any) -> Never {
    misuse(
      .argument, "Cannot aggregate values of type '\(type(of: value))': they are no numbers.")
  }
}

/// A type other than integers and floating point numbers that has a mean.
protocol AverageableType {
  static func _average(_ values: [Self]) -> Self
}

extension Decimal128: AverageableType {
  static func _average(_ values: [Decimal128]) -> Decimal128 {
    values.reduce(Decimal128()) { $0 + $1 } / Decimal128(integerLiteral: Int64(values.count))
  }
}
