// What paths lead to outside of a Realm, and how it is compared: for PlainCondition.
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
    let value = queryValue(value)
    self.value = value.flatMap { Self.number($0) } ?? value
    isConstant = true
    isMixed = false
  }

  /// What a number of Foundation's is, which can be cast to every type of number; nil for others.
  private static func number(_ value: Any) -> Any? {
    guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return nil }
    return AnyRealmValue._fromAny(number).flatMap { $0._anyValue } ?? number.uint64Value
  }

  init(_ way: PlainWay) {
    value = way.value
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
        return .number(Double(Float(number)))
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

/// What a part of a path leads to, and in how many ways.
///
/// So an object is asked once for what is behind it, however many ways lead to it. PathMemo does
/// the same for what a Realm stores.
struct PlainWay {
  /// How a value is looked at.
  enum Form {
    /// By itself, or a collection by its elements.
    case plain
    /// What a mixed value holds: a collection, too, is one value.
    case mixed
    /// A collection of mixed values.
    case mixedElements
  }

  private(set) var value: Any?
  private(set) var form: Form
  /// The property that led here, and its Realm: they tell the class of an object that is not there.
  private var property: PropertyDescription?
  private var realm: ConfinedRealm?
  /// A number that is too large is the largest there is.
  fileprivate(set) var count = 1

  init(_ value: Any?) {
    self.value = queryValue(value)
    form = value is AnyRealmValue ? .mixed : .plain
  }

  /// As many ways to another value.
  func on(to value: Any?) -> PlainWay {
    var way = self
    way.value = queryValue(value)
    return way
  }

  /// As many ways to what is inside of the value, which is null or a collection.
  fileprivate func onInside(to value: Any?) -> PlainWay {
    var way = on(to: value)
    if form == .mixedElements { way.form = .mixed }
    return way
  }

  /// As many ways to a property of the object; nil to a collection of an object that is not there,
  /// which has no elements.
  ///
  /// - Parameter isOneValue: whether one value is made of the collection.
  func going(to name: String, isOneValue: Bool) -> PlainWay? {
    var way = self
    if let object = value as? ObjectBase {
      way.value = queryValue(object.value(forKey: name))
      way.property = object.property(named: name)
      way.realm = object._realm
    } else {
      let schema = classOfNone
      way.property = schema?.index(ofProperty: name).flatMap { schema?.properties[$0] }
      if !isOneValue, way.property?.isCollection == true { return nil }
      way.value = nil
    }
    if way.property?.codec.type == .any {
      way.form = way.property?.isCollection == true ? .mixedElements : .mixed
    } else {
      way.form = .plain
    }
    return way
  }

  /// The class of the objects that the property leads to; nil where it is not known.
  private var classOfNone: ClassSchema? {
    // By its name: the links of dynamic objects do not know their classes.
    if let realm, let name = property?.objectClassName {
      return realm.classes.binding(named: name)?.schema
    }
    return property?.codec.objectClass.map { ClassSchema.of($0) }
  }

  /// The ways to what is inside of the value; none when it is no collection.
  func inside() -> [PlainWay] { (Self.members(value) ?? []).map { onInside(to: $0) } }

  /// The elements of a collection or the values of a map; nil when the value is neither.
  static func members(_ value: Any?) -> [Any?]? {
    switch value {
    case let values as any _UntypedElements: return values._untypedElements
    case let map as any _UntypedEntries: return Array(map._untypedEntries.values)
    default: return nil
    }
  }
}

extension PropertyDescription {
  fileprivate var isCollection: Bool { codec.collection != .none || isComputed }
}

extension [PlainWay] {
  /// Replaces the values by others that are inside of them, or are made of what is.
  mutating func replaceInside(_ value: (Any?) -> Any?) {
    for index in indices { self[index] = self[index].onInside(to: value(self[index].value)) }
  }

  /// The ways to the elements of the collections among the values.
  func elements() -> [PlainWay] {
    flatMap { way in
      if way.form == .mixed { return [way] }
      return PlainWay.members(way.value)?.map { way.onInside(to: $0) } ?? [way]
    }
  }

  /// One way for each object, with the number of all that lead to it, in the order of the first.
  ///
  /// - Parameter identity: what tells a managed object, where instances can stand for one another.
  func merged(_ identity: (ObjectBase) -> ManagedIdentity?) -> [PlainWay] {
    if count < 2 { return self }
    var positions: [AnyHashable: Int] = [:]
    var merged: [PlainWay] = []
    for way in self {
      guard let object = way.value as? ObjectBase else {
        merged.append(way)
        continue
      }
      let key = identity(object).map { AnyHashable($0) } ?? AnyHashable(ObjectIdentifier(object))
      if let position = positions[key] {
        merged[position].count = merged[position].count.addingClamped(way.count)
      } else {
        positions[key] = merged.count
        merged.append(way)
      }
    }
    return merged
  }
}

extension Int {
  /// The sum, or the largest number where that is too large.
  func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
