// What is in an `Any?`. The usual values are told apart by the type that the runtime notes in it: a
// cast, and even a copy of an `Any?`, takes longer than to store the value.
internal import Foundation

/// The value inside any number of optionals and boxes; nil for nil and `NSNull`.
func unwrapped(_ value: Any?) -> Any? {
  if isPlain(value) || isUntypedCollection(value) { return value }
  guard let value else { return nil }
  if instance(value, of: NSNull.self) != nil { return nil }
  if let holder = value as? any _UntypedHolder { return unwrapped(holder._untyped) }
  return value
}

/// What is stored for an enumeration, a value of a client's own type or a mixed value; nil for all
/// others, which are stored as what they are.
///
/// For properties that are known by name only: their types know nothing of the client's.
func storedForm(_ value: Any?) -> Any? {
  switch value {
  case let value as any PersistableEnum: return value._anyValue
  case let value as any _CustomPersistable: return value._anyValue
  case let value as AnyRealmValue: return value._anyValue
  default: return nil
  }
}

/// Whether a value has one of the usual types, inside of no optional.
@inline(__always)
func isPlain(_ value: Any?) -> Bool {
  let type = NotedType.of(value)
  return type == NotedType.text || type == NotedType.integer || type == NotedType.number
    || type == NotedType.truth || type == NotedType.date || type == NotedType.data
    || type == NotedType.uuid || type == NotedType.objectId
}

/// The text in an untyped value that is nothing else; nil says nothing.
@inline(__always)
func plainText(_ value: Any?) -> String? {
  guard NotedType.of(value) == NotedType.text else { return nil }
  return withUnsafeBytes(of: value) { $0.load(as: String.self) }
}

/// The integer in an untyped value that is nothing else; nil says nothing.
@inline(__always)
func plainInteger(_ value: Any?) -> Int? {
  guard NotedType.of(value) == NotedType.integer else { return nil }
  return withUnsafeBytes(of: value) { $0.load(as: Int.self) }
}

/// The value of exactly this type in an untyped value; nil says nothing.
@inline(__always)
func plain<Value>(_ value: Any?, _: Value.Type) -> Value? {
  // A longer one does not lie in the `Any?` itself.
  guard MemoryLayout<Value>.size <= 3 * MemoryLayout<UInt>.size,
    MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment,
    NotedType.of(value) == UInt(bitPattern: ObjectIdentifier(Value.self))
  else { return nil }
  return withUnsafeBytes(of: value) { $0.load(as: Value.self) }
}

/// Whether a value is a dictionary or an array of the usual type, inside of no optional.
func isUntypedCollection(_ value: Any?) -> Bool {
  let type = NotedType.of(value)
  return type == UInt(bitPattern: ObjectIdentifier([String: Any].self))
    || type == UInt(bitPattern: ObjectIdentifier([Any].self))
}

/// The object in an untyped value, or in a mixed value.
func objectValue(_ value: Any) -> ObjectBase? {
  if let object = instance(value, of: ObjectBase.self) { return object }
  if case .object(let object)? = mixedValue(value) { return object }
  return nil
}

/// The mixed value in an untyped value that is nothing else.
func mixedValue(_ value: Any) -> AnyRealmValue? {
  type(of: value) == AnyRealmValue.self ? value as? AnyRealmValue : nil
}

/// Whether a value stands for nil though it is one: a mixed value that holds nothing.
func isMixedNone(_ value: Any) -> Bool {
  if case AnyRealmValue.none? = mixedValue(value) { return true }
  return false
}

/// The instance of a class in an untyped value, inside of no optional.
///
/// A cast alone would first make one of Foundation's collections of each dictionary and array, and
/// of all that is inside of these, by calls inside of calls.
func instance<Class: AnyObject>(_ value: Any?, of _: Class.Type) -> Class? {
  guard let value, type(of: value) is AnyClass else { return nil }
  return value as? Class
}

/// The digits of a decimal number of Swift's or Foundation's; nil for all else.
///
/// To be asked for before casts to binary numbers: those of Foundation's decimal numbers succeed,
/// and round once a digit.
func decimalText(_ value: Any?) -> String? {
  guard let value else { return nil }
  if type(of: value) == Decimal.self { return (value as? Decimal)?.description }
  return instance(value, of: NSDecimalNumber.self)?.stringValue
}

/// The type that an `Any?` holds, as a word.
///
/// An `Any?` is three words for the value, or for a reference to one that is longer, and a word for
/// its type, which is 0 for nil. Texts, numbers, truth values, dates and data fit into the three
/// words.
private enum NotedType {
  static var text: UInt { UInt(bitPattern: ObjectIdentifier(String.self)) }
  static var integer: UInt { UInt(bitPattern: ObjectIdentifier(Int.self)) }
  static var number: UInt { UInt(bitPattern: ObjectIdentifier(Double.self)) }
  static var truth: UInt { UInt(bitPattern: ObjectIdentifier(Bool.self)) }
  static var date: UInt { UInt(bitPattern: ObjectIdentifier(Date.self)) }
  static var data: UInt { UInt(bitPattern: ObjectIdentifier(Data.self)) }
  static var uuid: UInt { UInt(bitPattern: ObjectIdentifier(UUID.self)) }
  static var objectId: UInt { UInt(bitPattern: ObjectIdentifier(ObjectId.self)) }

  @inline(__always)
  static func of(_ value: Any?) -> UInt {
    withUnsafeBytes(of: value) {
      $0.load(fromByteOffset: 3 * MemoryLayout<UInt>.size, as: UInt.self)
    }
  }
}
