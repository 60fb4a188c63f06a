// What makes two values one in a file: in sets and maps that belong to no Realm, in sections, and
// wherever else values are told apart in memory. Swift's equality is something else: it takes texts
// for equal that look alike, and what is not a number for different from itself.
internal import Foundation
internal import ObjectStore

/// A value by what a file tells it from others by.
enum ValueIdentity: Hashable {
  case none
  /// A packed value; both zeros are one number.
  case integer(PropertyType, Int64)
  case text(StoredText)
  case bytes(PropertyType, [UInt8])
  /// A mixed value in its stored form.
  case mixed([UInt8])
  /// An object, or what is no value of a Realm, by its own equality.
  case other(AnyHashable)

  /// - Parameter isMixed: the value is one of several types.
  init(_ value: Any?, isMixed: Bool = false) {
    // Most values are of these types, and casts take long.
    if !isMixed, let text = plainText(value) {
      self = .text(StoredText(text))
      return
    }
    if !isMixed, let integer = plainInteger(value) {
      self = Self.packed(integer)
      return
    }
    switch unwrapped(value) {
    case nil: self = .none
    case let text as String where !isMixed: self = .text(StoredText(text))
    case let value as AnyRealmValue: self.init(mixed: value)
    case let object as ObjectBase: self = .other(AnyHashable(object))
    case let value?:
      if isMixed, let mixed = AnyRealmValue._fromAny(value) {
        self.init(mixed: mixed)
      } else {
        self.init(plain: value)
      }
    }
  }

  private init(plain value: Any) {
    switch value {
    case let value as any _PackedValue: self = Self.packed(value)
    case let value as Decimal128: self = .bytes(.decimal128, Self.bytes(value.inSet))
    case let value as any _BytesValue:
      self = .bytes(type(of: value)._rlmType, Self.bytes(value))
    case let value as any _CustomPersistable: self.init(Self.stored(value))
    case let value as any PersistableEnum: self.init(Self.raw(value))
    case let value as AnyHashable: self = .other(value)
    default: self = .other(ObjectIdentifier(type(of: value)))
    }
  }

  private init(mixed value: AnyRealmValue) {
    switch value {
    case .none: self = .none
    case .object(let object): self = .other(AnyHashable(object))
    // Of a Realm or not, these are equal when their content is.
    case .list, .dictionary: self = .other(AnyHashable(value))
    default:
      // Only objects have a place in the file.
      var writer = AnyValueWriter { _ in (0, ObjectKey(rawValue: -1)) }
      writer.append(value.formInSet ?? value)
      self = .mixed(writer.bytes)
    }
  }

  private static func packed<Value: _PackedValue>(_ value: Value) -> ValueIdentity {
    let order = ValueType(rawValue: UInt8(Value._rlmType.rawValue))!.order
    return .integer(Value._rlmType, OrderKey.integer(value._packed, order))
  }

  private static func bytes<Value: _BytesValue>(_ value: Value) -> [UInt8] {
    value._withBytes { Array($0) }
  }

  private static func stored<Value: _CustomPersistable>(_ value: Value) -> Any? {
    value.persistableValue
  }

  private static func raw<Value: PersistableEnum>(_ value: Value) -> Any? { value.rawValue }
}

extension RealmCollectionValue {
  /// What a file tells the value from others by.
  var _identity: ValueIdentity {
    // Most sets are of these: to ask what else a value can be takes longer.
    if let text = self as? String { return .text(StoredText(text)) }
    return ValueIdentity(_anyElement, isMixed: Self._rlmType == .any)
  }
}

extension RealmCollectionValue {
  /// Whether values that Swift calls equal are just those that a file has one value for.
  static var hasEqualityOfFile: Bool {
    switch _rlmType {
    // Values that are stored as objects are told apart by their own equality.
    case .object: true
    case .int, .bool, .data, .objectId, .UUID: !(self is any _CustomPersistable.Type)
    default: false
    }
  }
}

extension Collection where Element: RealmCollectionValue {
  /// The first place of a value for which a file has the same.
  func firstIndex(identicalTo element: Element) -> Index? {
    if Element.hasEqualityOfFile { return firstIndex(of: element) }
    let identity = element._identity
    return firstIndex { $0._identity == identity }
  }

  /// Whether a file has the same values for both, in the same order.
  func isIdentical(to other: some Collection<Element>) -> Bool {
    if count != other.count { return false }
    if Element.hasEqualityOfFile { return elementsEqual(other) }
    return elementsEqual(other) { $0._identity == $1._identity }
  }
}

extension Array where Element: RealmCollectionValue {
  /// The first place of a value for which a file has the same.
  ///
  /// Values of the usual types are compared as such: to make an identity of each takes long.
  func firstIndex(identicalTo element: Element) -> Int? {
    switch Element.self {
    case is String.Type:
      return firstIndex(String.self, element) { $0.hasBytes(of: $1) }
    case is Double.Type: return firstIndex(ofPacked: Double.self, element)
    case is Float.Type: return firstIndex(ofPacked: Float.self, element)
    case is Date.Type: return firstIndex(ofPacked: Date.self, element)
    case is Decimal128.Type:
      return firstIndex(Decimal128.self, element) { $0.inSet.bits == $1.inSet.bits }
    case is AnyRealmValue.Type:
      return firstIndex(AnyRealmValue.self, element) { $0.isIdentical(to: $1) }
    default: break
    }
    if Element.hasEqualityOfFile { return firstIndex(of: element) }
    let identity = element._identity
    return firstIndex { $0._identity == identity }
  }

  private func firstIndex<Value: _PackedValue>(ofPacked: Value.Type, _ element: Element) -> Int? {
    let order = ValueType(rawValue: UInt8(Value._rlmType.rawValue))!.order
    return firstIndex(Value.self, element) {
      OrderKey.integer($0._packed, order) == OrderKey.integer($1._packed, order)
    }
  }

  private func firstIndex<Value>(
    _: Value.Type, _ element: Element, _ isSame: (Value, Value) -> Bool
  ) -> Int? {
    // The caller has asked that elements are of this type.
    let (values, value) = (
      unsafeBitCast(self, to: [Value].self), unsafeBitCast(element, to: Value.self)
    )
    return values.firstIndex { isSame($0, value) }
  }
}

extension String {
  /// Whether a file has the same text for both.
  fileprivate func hasBytes(of other: String) -> Bool {
    // What differs is found out by the first two, which are fast.
    utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
  }
}

extension BinaryFloatingPoint {
  /// Both zeros are one value, and so is all that is no number.
  fileprivate func isSame(as other: Self) -> Bool { self == other || isNaN && other.isNaN }
}

extension AnyRealmValue {
  /// Whether both have the same identity.
  fileprivate func isIdentical(to other: AnyRealmValue) -> Bool {
    switch (self, other) {
    case (.none, .none): true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left.isSame(as: right)
    case (.double(let left), .double(let right)): left.isSame(as: right)
    case (.date(let left), .date(let right)):
      left.timeIntervalSinceReferenceDate.isSame(as: right.timeIntervalSinceReferenceDate)
    case (.string(let left), .string(let right)): left.hasBytes(of: right)
    case (.data(let left), .data(let right)): left == right
    case (.objectId(let left), .objectId(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.decimal128(let left), .decimal128(let right)): left.inSet.bits == right.inSet.bits
    case (.object(let left), .object(let right)): left == right
    // Of a Realm or not, these are equal when their content is.
    case (.list, .list), (.dictionary, .dictionary): self == other
    default: false
    }
  }
}

// MARK: - Order

extension ValueIdentity {
  /// The value of a section's key.
  init<Key: _Persistable>(key: Key) {
    let value = key._anyValue
    if !isPlain(value), let identity = (key as? ObjectBase)?.managedIdentity {
      // Whichever accessor leads to it.
      self = .other(AnyHashable(identity))
    } else {
      self.init(value, isMixed: Key._rlmType == .any)
    }
  }

  /// Whether it comes before another one of the same type, where a Realm sorts them; what has no
  /// order comes before nothing.
  func precedes(_ other: ValueIdentity) -> Bool {
    switch (self, other) {
    case (.none, .none): false
    case (.none, _): true
    case (.integer(_, let left), .integer(_, let right)): left < right
    case (.text(let left), .text(let right)): left.precedes(right)
    case (.bytes(.decimal128, let left), .bytes(.decimal128, let right)):
      Self.decimal(left).sortOrder(Self.decimal(right)) == .less
    case (.bytes(_, let left), .bytes(_, let right)): left.lexicographicallyPrecedes(right)
    case (.mixed(let left), .mixed(let right)):
      left.withUnsafeBytes { left in
        right.withUnsafeBytes { PlanValue(mixed: left).sortOrder(PlanValue(mixed: $0)) == .less }
      }
    default: false
    }
  }

  private static func decimal(_ bytes: [UInt8]) -> PlanValue {
    .decimal(bytes.withUnsafeBytes { Decimal128(_bytes: $0) }.number)
  }
}
