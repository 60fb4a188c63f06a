// What client code names in constraints beside the protocols in Persistable.swift, and conversions that
// do nothing here.
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
extension Optional: KeypathSortable where Wrapped: KeypathSortable {}

/// The value of a type that an untyped one is; stops when it is none.
///
/// Elsewhere it converts from Objective-C; here values have one form only.
public func dynamicBridgeCast<T>(fromObjectiveC value: Any) -> T {
  if let value = value as? T { return value }
  if let type = T.self as? any _Persistable.Type, let made = type._fromAny(unwrapped(value)) as? T {
    return made
  }
  misuse(.argument, "Could not convert value '\(value)' to type '\(T.self)'.")
}

/// The untyped form of a value: what `value(forKey:)` would give.
///
/// Elsewhere it converts to Objective-C; here values have one form only.
public func dynamicBridgeCast<T>(fromSwift value: T) -> Any {
  (value as? any _Persistable)?._anyValue ?? value
}
