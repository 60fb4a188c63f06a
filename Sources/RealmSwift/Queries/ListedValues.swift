// The values of what is given as one argument and stands for several: collections, dictionaries,
// ranges.
internal import Foundation

/// The values of an untyped collection, of a dictionary those of its keys; nil when it is none.
func listedValues(_ value: Any?) -> [Any?]? {
  switch unwrapped(value) {
  case let values as [Any?]: return values.map { unwrapped($0) }
  case let values as NSArray: return values.map { unwrapped($0) }
  case let values as NSSet: return values.map { unwrapped($0) }
  case is String, is Data: return nil
  case let value as AnyRealmValue: return listedValues(value._anyValue)
  case let map as any _UntypedEntries: return map._untypedEntries.values.map { unwrapped($0) }
  case let map as [AnyHashable: Any]: return map.values.map { unwrapped($0) }
  case let value? where wordsOnLongRange(value) != nil: return nil
  case let values as any Sequence: return values.untypedElements
  default: return nil
  }
}

/// Why a range is no list of values: nil unless it has so many that making the list before the
/// first object is looked at would not end.
func wordsOnLongRange(_ value: Any?) -> String? {
  let valuesMax = 1 << 24
  guard let range = value as? any UntypedRange, range.length > Double(valuesMax) else { return nil }
  return "IN takes at most \(valuesMax) values of a range, not '\(ValueText.of(value))': BETWEEN "
    + "takes a closed range, and >= the start of one without an end"
}

private protocol UntypedRange {
  /// About how many values can be listed of it; 0 for ranges that are not of whole numbers.
  var length: Double { get }
}

extension Range: UntypedRange {
  fileprivate var length: Double { wholeNumbers(lowerBound, upperBound) }
}

extension ClosedRange: UntypedRange {
  fileprivate var length: Double { wholeNumbers(lowerBound, upperBound) }
}

extension PartialRangeFrom: UntypedRange {
  /// No end where it has values to list at all.
  fileprivate var length: Double { (self as Any) is any Sequence ? .infinity : 0 }
}

private func wholeNumbers(_ lower: Any, _ upper: Any) -> Double {
  guard let lower = lower as? any BinaryInteger, let upper = upper as? any BinaryInteger else {
    return 0
  }
  return Double(upper) - Double(lower)
}

/// The bounds in a collection or closed range; nil for what has no order, or not two of them.
func boundValues(_ value: Any?) -> [Any?]? {
  switch unwrapped(value) {
  case let range as any UntypedBounds: return range.untypedBounds
  // Half-open and endless ranges have no last value.
  case is any UntypedRange: return nil
  case is NSSet, is any SetAlgebra, is any _UntypedEntries, is [AnyHashable: Any]: return nil
  case let other: return listedValues(other).flatMap { $0.count == 2 ? $0 : nil }
  }
}

private protocol UntypedBounds {
  var untypedBounds: [Any?] { get }
}

extension ClosedRange: UntypedBounds {
  fileprivate var untypedBounds: [Any?] { [lowerBound, upperBound] }
}

extension Sequence {
  fileprivate var untypedElements: [Any?] { map { unwrapped($0) } }
}
