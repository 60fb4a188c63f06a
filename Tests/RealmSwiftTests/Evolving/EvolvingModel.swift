// A model of a file whose classes change: nodes that link to each other and own parts, changed at
// random in the same way in a Realm and in plain Swift values.
import Foundation
import Platform
import RealmSwift
import Storage
import Testing

struct EvolvingModel {
  /// The values of each node but its key, by key.
  var nodes: [Int: [String: EvolvingContent]] = [:]

  private typealias Content = EvolvingContent

  // MARK: - Comparing

  func check(_ realm: Realm, _ form: EvolvingForm) {
    let found = realm.dynamicObjects("Node")
    #expect(found.count == nodes.count)
    var children: [Int: [Int]] = [:]
    for object in found {
      let id = object["id"] as! Int
      var values = Content.values(of: object)
      values["id"] = nil
      if values != nodes[id] {
        for (name, value) in values where value != nodes[id]?[name] {
          Issue.record("\(id).\(name): \(value), expected \(String(describing: nodes[id]?[name]))")
        }
      }
      if case .list(let kids) = values["kids"] ?? values["children"] {
        for case .link(let kid) in kids { children[kid, default: []].append(id) }
      }
    }
    for id in nodes.keys {
      #expect(form.parents(realm, id).sorted() == children[id, default: []].sorted())
    }
  }

  /// Compares some queries.
  func checkQueries(_ realm: Realm, _ random: inout RandomGenerator) {
    let objects = realm.dynamicObjects("Node")
    for property in realm.schema["Node"]!.properties
    where !property.isArray && !property.isSet && !property.isMap && property.type != .object
      && property.type != .linkingObjects && property.type != .any && property.name != "id"
    {
      guard let wanted = nodes.randomElement(using: &random)?.value[property.name] else { return }
      let expected = nodes.filter { $0.value[property.name] == wanted }.map(\.key).sorted()
      let found = objects.filter("%K == %@", property.name, wanted.given(realm))
      #expect(found.map { $0["id"] as! Int }.sorted() == expected, "\(property.name)")
    }
    let sorted = Array(objects.sorted(byKeyPath: "level").map { $0["level"] as! Int })
    #expect(sorted == sorted.sorted())
  }

  // MARK: - Changing

  /// Changes the Realm, inside a transaction, and the model.
  mutating func change(_ realm: Realm, _ random: inout RandomGenerator) {
    let schema = realm.schema
    let properties = schema["Node"]!.properties.filter {
      $0.type != .linkingObjects && $0.name != "id"
    }
    guard nodes.count > 2, let id = nodes.keys.sorted().randomElement(using: &random),
      let object = realm.dynamicObject(ofType: "Node", forPrimaryKey: id),
      let property = properties.randomElement(using: &random)
    else { return create(realm, properties, &random) }
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: create(realm, properties, &random)
    case 2, 3: upsert(id, realm, properties, &random)
    case 4:
      let count = Int.random(in: 1..<5, using: &random)
      let others = (1..<count).compactMap { _ in nodes.keys.sorted().randomElement(using: &random) }
      delete(Set(others + [id]), realm)
    case 5..<9: set(property, of: object, &random)
    case 9..<18: edit(property, of: object, &random)
    default: editPart(of: object, &random)
    }
  }

  private mutating func create(
    _ realm: Realm, _ properties: [Property], _ random: inout RandomGenerator
  ) {
    let count = Int.random(in: 0..<30, using: &random) == 0 ? 90 : 1
    for _ in 0..<count {
      let id = Int.random(in: 0..<400, using: &random)
      if nodes[id] != nil { continue }
      var given: [String: Any] = ["id": id]
      var values = Self.defaults(realm.schema, "Node")
      for property in properties
      where count == 1 && !nodes.isEmpty && Bool.random(using: &random) {
        let content = random.content(property, realm, nodes.keys.sorted())
        values[property.name] = content
        given[property.name] = content.given(realm)
      }
      let object = realm.dynamicCreate("Node", value: given)
      nodes[id] = values
      nodes[id]!["id"] = nil
      // Parts get the defaults of what was not given.
      for property in properties where property.objectClassName == "Part" {
        nodes[id]![property.name] = Content(object[property.name])
      }
    }
  }

  private mutating func upsert(
    _ id: Int, _ realm: Realm, _ properties: [Property], _ random: inout RandomGenerator
  ) {
    var given: [String: Any] = ["id": id]
    for property in properties where Int.random(in: 0..<6, using: &random) == 0 {
      let content = random.content(property, realm, nodes.keys.sorted())
      nodes[id]![property.name] = content
      given[property.name] = content.given(realm)
    }
    realm.dynamicCreate(
      "Node", value: given, update: Bool.random(using: &random) ? .all : .modified)
  }

  /// One by itself, several together.
  private mutating func delete(_ ids: Set<Int>, _ realm: Realm) {
    let schema = realm.schema
    let objects = ids.sorted().map { realm.dynamicObject(ofType: "Node", forPrimaryKey: $0)! }
    if objects.count == 1 { realm.delete(objects[0]) } else { realm.delete(objects) }
    for id in ids { nodes[id] = nil }
    for property in schema["Node"]!.properties
    where property.type == .object || property.type == .any {
      for other in nodes.keys {
        for id in ids {
          let old = nodes[other]![property.name]!
          nodes[other]![property.name] = old.forgetting(id, property, schema)
        }
      }
    }
  }

  private mutating func set(
    _ property: Property, of object: DynamicObject, _ random: inout RandomGenerator
  ) {
    let realm = object.realm!
    let content = random.content(property, realm, nodes.keys.sorted())
    object[property.name] = content.given(realm)
    nodes[object["id"] as! Int]![property.name] = content
  }

  /// Changes a part of a collection.
  private mutating func edit(
    _ property: Property, of object: DynamicObject, _ random: inout RandomGenerator
  ) {
    let id = object["id"] as! Int
    let (realm, known) = (object.realm!, nodes.keys.sorted())
    let content = nodes[id]![property.name]!
    let isPart = property.objectClassName == "Part"
    func element(_ content: Content) -> Any? {
      if property.type == .any { return content.mixed(realm) }
      return content == .null ? nil : content.given(realm)
    }
    switch (object[property.name], content) {
    case (let list as any EvolvingList, .list(var values)):
      let new = random.element(property, realm, known, isInList: true)
      let position = Int.random(in: 0...values.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1, 2:
        if isPart { return }
        list.put(element(new), at: position)
        values.insert(new, at: position)
      case 3:
        if isPart || position == values.count { return }
        list.replace(element(new), at: position)
        values[position] = new
      case 4:
        let range = position..<Swift.min(position + 2, values.count)
        list.take(range)
        values.removeSubrange(range)
      default:
        if position == values.count { return }
        let to = Int.random(in: 0..<values.count, using: &random)
        list.shift(from: position, to: to)
        values.insert(values.remove(at: position), at: to)
      }
      nodes[id]![property.name] = .list(values)
    case (let set as any EvolvingSet, .set(var values)):
      let new = random.element(property, realm, known, isInList: true)
      if let old = values.randomElement(using: &random), Bool.random(using: &random) {
        set.take(element(old)!)
        values.remove(old)
      } else {
        set.put(element(new)!)
        values.insert(new)
      }
      nodes[id]![property.name] = .set(values)
    case (let map as any EvolvingMap, .map(var values)):
      let key = "k\(Int.random(in: 0..<6, using: &random))"
      if values[key] != nil, Bool.random(using: &random) {
        map.take(key)
        values[key] = nil
      } else if !isPart {
        let new = random.element(property, realm, known, isInList: false)
        map.put(element(new), key)
        values[key] = new
      }
      nodes[id]![property.name] = .map(values)
    default: set(property, of: object, &random)
    }
  }

  /// Changes an embedded object in place.
  private mutating func editPart(of object: DynamicObject, _ random: inout RandomGenerator) {
    let id = object["id"] as! Int
    guard let part = object["part"] as? ObjectBase,
      let property = part.objectSchema.properties.randomElement(using: &random)
    else { return }
    let content = random.content(property, object.realm!, nodes.keys.sorted())
    part[property.name] = content.given(object.realm!)
    nodes[id]!["part"] = Content(object["part"])
    if case .part(let values) = nodes[id]!["part"], property.objectClassName != "Part" {
      #expect(values[property.name] == content)
    }
  }

  // MARK: - Migrating

  /// The values that an object has when nothing is given.
  static func defaults(_ schema: Schema, _ className: String) -> [String: EvolvingContent] {
    let objectClass = schema[className]!.objectClass as! ObjectBase.Type
    return Content.values(of: objectClass.init())
  }

  /// The model after the classes have changed.
  mutating func migrate(from old: Schema, to new: Schema, _ form: EvolvingForm) {
    for id in nodes.keys {
      nodes[id] = Self.migrated(nodes[id]!, "Node", from: old, to: new, form)
      nodes[id]!["id"] = nil
    }
  }

  private static func migrated(
    _ values: [String: EvolvingContent], _ className: String, from old: Schema, to new: Schema,
    _ form: EvolvingForm
  ) -> [String: EvolvingContent] {
    var result = defaults(new, className)
    for property in new[className]!.properties {
      let name = form.renames[className]?[property.name] ?? property.name
      guard let before = old[className]![name], let value = values[name] else { continue }
      if className == "Node", let convert = form.conversions[property.name] {
        result[property.name] = convert(value)
      } else if before.type == property.type, before.isArray == property.isArray,
        before.isSet == property.isSet, before.isMap == property.isMap,
        before.objectClassName == property.objectClassName
      {
        if value == .null, !property.isOptional {
          result[property.name] = zero(property.type)
        } else {
          result[property.name] = value.mapParts {
            migrated($0, "Part", from: old, to: new, form)
          }
        }
      }
    }
    return result
  }

  private static func zero(_ type: PropertyType) -> EvolvingContent {
    switch type {
    case .string: return .text("")
    case .data: return .data(Data())
    case .int: return .int(0)
    case .decimal128: return .decimal(0)
    default: return .number(0)
    }
  }
}

extension EvolvingContent {
  fileprivate func mapParts(
    _ change: ([String: EvolvingContent]) -> [String: EvolvingContent]
  ) -> EvolvingContent {
    switch self {
    case .part(let values): return .part(change(values))
    case .list(let values): return .list(values.map { $0.mapParts(change) })
    case .map(let values): return .map(values.mapValues { $0.mapParts(change) })
    default: return self
    }
  }
}

// MARK: - Random content

extension RandomGenerator {
  fileprivate mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// Content for a property.
  fileprivate mutating func content(
    _ property: Property, _ realm: Realm, _ known: [Int]
  ) -> EvolvingContent {
    let count = number(12) == 0 ? number(150) : number(4)
    let isLink = property.type == .object
    if property.isArray {
      return .list(
        (0..<(isLink ? count % 9 : count)).map { _ in
          element(property, realm, known, isInList: true)
        })
    }
    if property.isSet {
      return .set(Set((0..<count).map { _ in element(property, realm, known, isInList: true) }))
    }
    if property.isMap {
      var values: [String: EvolvingContent] = [:]
      for _ in 0..<(count % 20) {
        values["k\(number(9))"] = element(property, realm, known, isInList: false)
      }
      return .map(values)
    }
    return element(property, realm, known, isInList: false)
  }

  /// One value for a property or a collection.
  fileprivate mutating func element(
    _ property: Property, _ realm: Realm, _ known: [Int], isInList: Bool
  ) -> EvolvingContent {
    if property.isOptional, property.type != .any, !(isInList && property.type == .object),
      number(5) == 0
    {
      return .null
    }
    guard property.type == .object else { return scalar(property.type, realm, known, depth: 0) }
    if property.objectClassName == "Node" { return .link(known.randomElement(using: &self)!) }
    var values: [String: EvolvingContent] = [:]
    for inner in realm.schema["Part"]!.properties {
      // Parts inside of parts end soon.
      if inner.objectClassName == "Part", number(3) > 0 {
        values[inner.name] = .null
      } else {
        values[inner.name] = content(inner, realm, known)
      }
    }
    return .part(values)
  }

  private mutating func scalar(
    _ type: PropertyType, _ realm: Realm, _ known: [Int], depth: Int
  ) -> EvolvingContent {
    switch type {
    case .int: return .int(number(20) == 0 ? Int(truncatingIfNeeded: next()) : number(40) - 5)
    case .bool: return .flag(Bool.random(using: &self))
    case .string:
      if number(40) == 0 { return .text(String(repeating: "long ", count: number(900))) }
      return .text(["", "a", "Zoë", "👋 b", "word \(number(9))"].randomElement(using: &self)!)
    case .data: return .data(Data((0..<number(30)).map { UInt8($0) }))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number(1000)) / 4))
    case .float, .double: return .number(Double(number(1000) - 500) / 8)
    case .objectId:
      return .id(try! ObjectId(string: String(format: "%024x", number(12))))
    case .UUID:
      return .uuid(UUID(uuidString: String(format: "00000000-0000-0000-0000-%012x", number(12)))!)
    case .decimal128: return .decimal(Decimal128(integerLiteral: Int64(number(100))) / 4)
    case .any: return mixed(realm, known, depth)
    case .object, .linkingObjects: fatalError("no scalar")
    }
  }

  private mutating func mixed(_ realm: Realm, _ known: [Int], _ depth: Int) -> EvolvingContent {
    switch number(depth < 3 ? 12 : 8) {
    case 0: return .null
    case 1: return .link(known.randomElement(using: &self)!)
    case 2..<8:
      let types: [PropertyType] = [
        .int, .bool, .string, .data, .date, .double, .objectId, .UUID, .decimal128,
      ]
      return scalar(types.randomElement(using: &self)!, realm, known, depth: depth)
    case 8, 9: return .list((0..<number(4)).map { _ in mixed(realm, known, depth + 1) })
    default:
      return .map(
        Dictionary(
          (0..<number(4)).map { ("m\($0)", mixed(realm, known, depth + 1)) },
          uniquingKeysWith: { $1 }))
    }
  }
}
