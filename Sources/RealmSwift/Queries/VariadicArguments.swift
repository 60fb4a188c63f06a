// Arguments of predicates with a type that Apple's systems give them by their Objective-C classes:
// `NSPredicate(format: "date <= %@", date as CVarArg)` is what Xcode proposes there. A predicate
// takes the value itself; that of a list of C arguments is its text.
public import Foundation

extension Date: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension UUID: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Data: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension URL: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Decimal: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Array: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Set: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Dictionary: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension NSDate: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension NSNumber: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension NSArray: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension NSSet: @retroactive CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension ObjectBase: CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension ObjectId: CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

extension Decimal128: CVarArg {
  /// Its text, for '%@'.
  public var _cVarArgEncoding: [Int] { encodedText(self) }
}

/// An object of Foundation for a list of arguments, which is a list of addresses.
///
/// Never released: whoever takes it out of the list cannot be seen.
private func encodedText(_ value: Any) -> [Int] {
  [Int(bitPattern: Unmanaged.passRetained(NSString(string: "\(value)")).toOpaque())]
}
