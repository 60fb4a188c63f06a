// AnyRealmValue: a value of any type that a Realm can hold. What it is and how values compare; how
// they are stored is in AnyRealmValue+Persisted.swift.
public import Foundation

/// A value of one of the types that a Realm can hold, or none.
///
/// Two numbers are equal when they are the same number, whatever their types; `Bool` is not a
/// number. Lists and dictionaries are equal when their values are. Those of a managed value are
/// live: they show what is in the file and can be changed in a transaction, which costs time with
/// the size of the whole value.
public enum AnyRealmValue: Hashable {
  /// No value.
  case none
  /// An integer.
  case int(Int)
  /// A truth value.
  case bool(Bool)
  /// A single precision number.
  case float(Float)
  /// A double precision number.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// A link to an object.
  case object(Object)
  /// An object identifier.
  case objectId(ObjectId)
  /// A decimal number.
  case decimal128(Decimal128)
  /// A universally unique identifier.
  case uuid(UUID)
  /// Values by name.
  case dictionary(Map<String, AnyRealmValue>)
  /// Values in an order.
  case list(List<AnyRealmValue>)

  /// No value.
  public init() { self = .none }

  /// A list of values.
  public static func fromArray(_ values: [AnyRealmValue]) -> AnyRealmValue {
    let list = List<AnyRealmValue>()
    for value in values { list.append(value) }
    return .list(list)
  }

  /// Values by name.
  public static func fromDictionary(_ entries: [String: AnyRealmValue]) -> AnyRealmValue {
    let map = Map<String, AnyRealmValue>()
    for (key, value) in entries { map[key] = value }
    return .dictionary(map)
  }

  // MARK: - By type

  /// The integer, if it is one.
  public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
  /// The truth value, if it is one.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The single precision number, if it is one.
  public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
  /// The double precision number, if it is one.
  public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  /// The text, if it is one.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes, if it is that.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  /// The point in time, if it is one.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
  /// The object identifier, if it is one.
  public var objectIdValue: ObjectId? {
    if case .objectId(let value) = self { value } else { nil }
  }
  /// The decimal number, if it is one.
  public var decimal128Value: Decimal128? {
    if case .decimal128(let value) = self { value } else { nil }
  }
  /// The universally unique identifier, if it is one.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The list, if it is one.
  public var listValue: List<AnyRealmValue>? {
    if case .list(let value) = self { value } else { nil }
  }
  /// The dictionary, if it is one.
  public var dictionaryValue: Map<String, AnyRealmValue>? {
    if case .dictionary(let value) = self { value } else { nil }
  }
  /// The object, if it is one of the class.
  public func object<T: Object>(_ objectType: T.Type) -> T? {
    if case .object(let value) = self { value as? T } else { nil }
  }
  /// The object, if there is one, with its properties by name; nil of one that belongs to no Realm.
  public var dynamicObject: DynamicObject? {
    if case .object(let value) = self { value.dynamicForm } else { nil }
  }
}

@available(*, unavailable)
extension AnyRealmValue: Sendable {}

// MARK: - Comparing

extension AnyRealmValue {
  /// Whether both are the same value of the same type: an integer is no floating point number.
  ///
  /// Texts are the same when their bytes are, as in a file.
  /// Queries compare numbers of all types.
  public static func == (left: AnyRealmValue, right: AnyRealmValue) -> Bool {
    var pairs = [(left, right)]
    // Collections inside of collections are a list, not calls inside of calls.
    while let (left, right) = pairs.popLast() {
      switch (left, right) {
      case (.list(let left), .list(let right)):
        if left.count != right.count { return false }
        pairs += zip(left, right)
      case (.dictionary(let left), .dictionary(let right)):
        let (entries, others) = (left.entries, right.entries)
        if entries.count != others.count { return false }
        for (key, value) in entries {
          guard let other = others[key] else { return false }
          pairs.append((value, other))
        }
      default:
        if !isEqual(left, right) { return false }
      }
    }
    return true
  }

  /// The same of values that are no collections.
  private static func isEqual(_ left: AnyRealmValue, _ right: AnyRealmValue) -> Bool {
    switch (left, right) {
    case (.none, .none): return true
    case (.int(let left), .int(let right)): return left == right
    case (.bool(let left), .bool(let right)): return left == right
    case (.float(let left), .float(let right)): return left == right
    case (.double(let left), .double(let right)): return left == right
    case (.string(let left), .string(let right)): return StoredText(left) == StoredText(right)
    case (.data(let left), .data(let right)): return left == right
    case (.date(let left), .date(let right)): return left == right
    case (.object(let left), .object(let right)): return left == right
    case (.objectId(let left), .objectId(let right)): return left == right
    case (.decimal128(let left), .decimal128(let right)): return left == right
    case (.uuid(let left), .uuid(let right)): return left == right
    default: return false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .none: hasher.combine(0)
    case .int(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(StoredText(value))
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .objectId(let value): hasher.combine(value)
    case .decimal128(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .list(let value):
      hasher.combine(value.count)
      for element in value { element.hashInside(into: &hasher) }
    case .dictionary(let value):
      let entries = value.entries
      hasher.combine(entries.count)
      for (key, value) in entries.sorted {
        hasher.combine(key)
        value.hashInside(into: &hasher)
      }
    }
  }

  /// Hashes a value inside of a collection: of further collections only their size, however deep
  /// they are.
  private func hashInside(into hasher: inout Hasher) {
    switch self {
    case .list(let value): hasher.combine(value.count)
    case .dictionary(let value): hasher.combine(value.count)
    default: hash(into: &hasher)
    }
  }
}
