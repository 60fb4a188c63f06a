// Plain Swift values beside those of a Realm: reading them from dynamic objects, and giving them to
// such.
import Foundation
import RealmSwift

/// What a property, or an element, has to hold.
indirect enum EvolvingContent: Hashable {
  case null
  case flag(Bool)
  case int(Int)
  case number(Double)
  case text(String)
  case data(Data)
  case date(Date)
  case id(ObjectId)
  case uuid(UUID)
  case decimal(Decimal128)
  /// A node by its primary key.
  case link(Int)
  /// An embedded object.
  case part([String: EvolvingContent])
  case list([EvolvingContent])
  case set(Set<EvolvingContent>)
  case map([String: EvolvingContent])

  // MARK: - From a Realm

  /// The content of a value as a dynamic object gives it.
  init(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    switch value {
    case let value as any OptionalProtocol: self.init(value._untyped)
    case let value as AnyRealmValue: self.init(value._anyValue)
    case let value as Bool: self = .flag(value)
    case let value as Int: self = .int(value)
    case let value as Float: self = .number(Double(value))
    case let value as Double: self = .number(value)
    case let value as String: self = .text(value)
    case let value as Data: self = .data(value)
    case let value as Date: self = .date(value)
    case let value as ObjectId: self = .id(value)
    case let value as UUID: self = .uuid(value)
    case let value as Decimal128: self = .decimal(value)
    case let object as ObjectBase: self.init(object)
    case let collection as any EvolvingCollection: self = collection.content
    default: fatalError("unexpected value \(value)")
    }
  }

  private init(_ object: ObjectBase) {
    let schema = object.objectSchema
    if schema.className == "Node" {
      self = .link(object["id"] as! Int)
    } else {
      self = .part(Self.values(of: object))
    }
  }

  /// The values of all stored properties.
  static func values(of object: ObjectBase) -> [String: EvolvingContent] {
    var values: [String: EvolvingContent] = [:]
    for property in object.objectSchema.properties where property.type != .linkingObjects {
      values[property.name] = EvolvingContent(object[property.name])
    }
    return values
  }

  // MARK: - To a Realm

  /// What sets a property to the content.
  func given(_ realm: Realm) -> Any {
    switch self {
    case .null: return NSNull()
    case .flag(let value): return value
    case .int(let value): return value
    case .number(let value): return value
    case .text(let value): return value
    case .data(let value): return value
    case .date(let value): return value
    case .id(let value): return value
    case .uuid(let value): return value
    case .decimal(let value): return value
    case .link(let id): return realm.dynamicObject(ofType: "Node", forPrimaryKey: id)!
    case .part(let values), .map(let values): return values.mapValues { $0.given(realm) }
    case .list(let values): return values.map { $0.given(realm) }
    case .set(let values): return values.map { $0.given(realm) }
    }
  }

  /// The content as a mixed value.
  func mixed(_ realm: Realm) -> AnyRealmValue {
    switch self {
    case .null: return .none
    case .flag(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .number(let value): return .double(value)
    case .text(let value): return .string(value)
    case .data(let value): return .data(value)
    case .date(let value): return .date(value)
    case .id(let value): return .objectId(value)
    case .uuid(let value): return .uuid(value)
    case .decimal(let value): return .decimal128(value)
    case .link(let id): return .object(realm.dynamicObject(ofType: "Node", forPrimaryKey: id)!)
    case .list(let values): return .fromArray(values.map { $0.mixed(realm) })
    case .map(let values): return .fromDictionary(values.mapValues { $0.mixed(realm) })
    case .part, .set: fatalError("no mixed value")
    }
  }

  // MARK: - Deleting

  /// The content of a property after a node has been deleted.
  func forgetting(_ id: Int, _ property: Property, _ schema: Schema) -> EvolvingContent {
    if property.type == .any { return nullifying(id) }
    switch self {
    case .link(id): return .null
    case .list(let values):
      return .list(
        values.filter { $0 != .link(id) }.map { $0.forgetting(id, property, schema) })
    case .set(let values): return .set(values.filter { $0 != .link(id) })
    case .map(let values):
      return .map(values.mapValues { $0.forgetting(id, property, schema) })
    case .part(var values):
      for inner in schema["Part"]!.properties {
        values[inner.name] = values[inner.name]!.forgetting(id, inner, schema)
      }
      return .part(values)
    default: return self
    }
  }

  private func nullifying(_ id: Int) -> EvolvingContent {
    switch self {
    case .link(id): return .null
    case .list(let values): return .list(values.map { $0.nullifying(id) })
    case .map(let values): return .map(values.mapValues { $0.nullifying(id) })
    default: return self
    }
  }
}

// MARK: - Collections

/// A collection as the model sees it.
protocol EvolvingCollection {
  var content: EvolvingContent { get }
}

/// A list as the model changes it.
protocol EvolvingList: EvolvingCollection {
  func put(_ element: Any?, at position: Int)
  func replace(_ element: Any?, at position: Int)
  func take(_ range: Range<Int>)
  func shift(from: Int, to: Int)
}

/// A set as the model changes it.
protocol EvolvingSet: EvolvingCollection {
  func put(_ element: Any)
  func take(_ element: Any)
}

/// A map as the model changes it.
protocol EvolvingMap: EvolvingCollection {
  func put(_ value: Any?, _ key: String)
  func take(_ key: String)
}

extension List: EvolvingList {
  var content: EvolvingContent { .list(map { EvolvingContent($0) }) }
  func put(_ element: Any?, at position: Int) { insert(element as! Element, at: position) }
  func replace(_ element: Any?, at position: Int) { self[position] = element as! Element }
  func take(_ range: Range<Int>) { removeSubrange(range) }
  func shift(from: Int, to: Int) { move(from: from, to: to) }
}

extension MutableSet: EvolvingSet {
  var content: EvolvingContent { .set(Set(map { EvolvingContent($0) })) }
  func put(_ element: Any) { insert(element as! Element) }
  func take(_ element: Any) { remove(element as! Element) }
}

extension Map: EvolvingMap {
  var content: EvolvingContent {
    .map(
      Dictionary(
        uniqueKeysWithValues: asKeyValueSequence().map { ($0.key._text, EvolvingContent($0.value)) }
      ))
  }
  func put(_ value: Any?, _ key: String) { updateValue(value as! Value, forKey: Key(_text: key)) }
  func take(_ key: String) { removeObject(for: Key(_text: key)) }
}
