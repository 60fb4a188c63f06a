// What paths lead to outside of a Realm, and in how many ways: for PlainCondition.

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
    } else if form == .plain, let value, let entries = untypedEntries(value) {
      // A dictionary answers for its keys.
      let entry: Any? = entries[StoredText(name)] ?? nil
      way.value = queryValue(entry)
      way.property = nil
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

  /// Whether the value is a link that leads nowhere, which is no element of a sub-query.
  var isMissingObject: Bool { value == nil && property?.codec.type == .object }

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
