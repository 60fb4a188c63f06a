// What client code names in constraints beside the protocols in Persistable.swift, Foundation's
// types among them, and conversions that do nothing here.
public import Foundation

/// A type by which objects can be sorted through a key path.
public protocol KeypathSortable {}

extension Int: KeypathSortable {}
extension Int8: KeypathSortable {}
extension Int16: KeypathSortable {}
extension Int32: KeypathSortable {}
extension Int64: KeypathSortable {}
extension Bool: KeypathSortable {}
extension Float: KeypathSortable {}
extension Double: KeypathSortable {}
extension String: KeypathSortable {}
extension Date: KeypathSortable {}
extension UUID: KeypathSortable {}
extension ObjectId: KeypathSortable {}
extension Decimal128: KeypathSortable {}
extension AnyRealmValue: KeypathSortable {}
extension ObjectBase: KeypathSortable {}
extension Projection: KeypathSortable {}
extension Data: KeypathSortable {}
extension NSNumber: KeypathSortable {}
extension NSDate: KeypathSortable {}
extension Optional: KeypathSortable where Wrapped: KeypathSortable {}

// MARK: - Types of results

// Types of Foundation in which results of aggregations can be had. No property has one of them.

extension NSNumber: MinMaxType, AddableType, SortableType, _HasPersistedType {
  /// By itself.
  public typealias PersistedType = NSNumber
}

extension NSDate: MinMaxType, SortableType, _HasPersistedType {
  /// By itself.
  public typealias PersistedType = NSDate
}

extension Decimal: MinMaxType, AddableType, SortableType, _HasPersistedType {
  /// By itself.
  public typealias PersistedType = Decimal
}

extension Data: SortableType {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}

/// A value of a Realm as one of Foundation's types above; nil for other types.
func foundationForm(of value: Any, as type: Any.Type) -> Any? {
  switch type {
  case is NSDate.Type: return value as? NSDate ?? (value as? Date).map { $0 as NSDate }
  case is NSDecimalNumber.Type:
    return decimalForm(of: value).map { NSDecimalNumber(decimal: $0) }
  case is Decimal.Type: return decimalForm(of: value)
  case is NSNumber.Type:
    switch value {
    case let value as NSNumber: return value
    case let value as Bool: return NSNumber(value: value)
    case let value as any BinaryInteger: return NSNumber(value: Int64(value))
    case let value as Float: return NSNumber(value: value)
    case let value as Double: return NSNumber(value: value)
    default: return decimalForm(of: value).map { NSDecimalNumber(decimal: $0) }
    }
  default: return nil
  }
}

private func decimalForm(of value: Any) -> Decimal? {
  DecimalNumber(any: value).flatMap { Decimal(string: $0.text) }
}

/// The value of a type that an untyped one is; stops when it is none.
///
/// Elsewhere it converts from Objective-C; here values have one form only.
public func dynamicBridgeCast<T>(fromObjectiveC value: Any) -> T {
  if let value = value as? T { return value }
  if let type = T.self as? any _Persistable.Type, let made = type._fromAny(unwrapped(value)) as? T {
    return made
  }
  misuse(.argument, "Could not convert value '\(ValueText.of(value))' to type '\(T.self)'.")
}

/// The untyped form of a value: what `value(forKey:)` would give.
///
/// Elsewhere it converts to Objective-C; here values have one form only.
public func dynamicBridgeCast<T>(fromSwift value: T) -> Any {
  (value as? any _Persistable)?._anyValue ?? value
}
