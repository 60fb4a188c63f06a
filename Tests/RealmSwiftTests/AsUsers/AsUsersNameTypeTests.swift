// Access by name: the types of what is returned, and the numbers that are taken.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum NamedLevel: Int, PersistableEnum {
  case low = 1
  case high
}

private enum NamedColor: String, PersistableEnum {
  case red
  case green
}

private struct NamedDegrees: CustomPersistable, Equatable {
  var value: Double
  init(_ value: Double) { self.value = value }
  init(persistedValue: Double) { value = persistedValue }
  var persistableValue: Double { value }
}

private struct NamedPlace: CustomPersistable {
  var city: String
  init(_ city: String) { self.city = city }
  init(persistedValue: NamedAddress) { city = persistedValue.city }
  var persistableValue: NamedAddress {
    let address = NamedAddress()
    address.city = city
    return address
  }
}

private class NamedAddress: EmbeddedObject {
  @Persisted var city: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Named: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var decimal: Decimal128
  @Persisted var oid: ObjectId
  @Persisted var uuid: UUID
  @Persisted var any: AnyRealmValue
  @Persisted var level: NamedLevel
  @Persisted var color: NamedColor?
  @Persisted var degrees: NamedDegrees
  @Persisted var maybeDegrees: NamedDegrees?
  @Persisted var place: NamedPlace?
  @Persisted var maybe8: Int8?
  @Persisted var maybeFloat: Float?
  @Persisted var link: Named?
  @Persisted var part: NamedAddress?
  @Persisted var int8s: List<Int8>
  @Persisted var levels: List<NamedLevel>
  @Persisted var colors: MutableSet<NamedColor>
  @Persisted var texts: MutableSet<String>
  @Persisted var degreesByName: Map<String, NamedDegrees>
  @Persisted var links: List<Named>
  @Persisted var linkSet: MutableSet<Named>
  @Persisted var linkMap: Map<String, Named?>
  @Persisted(originProperty: "link") var linkedBy: LinkingObjects<Named>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let namedClasses: [ObjectBase.Type] = [Named.self, NamedAddress.self]

@Suite(.ownThreads) struct AsUsersNameTypeTests {
  private static func fill(_ object: Named) {
    object.bool = true
    object.int = 1
    object.int8 = 2
    object.int16 = 3
    object.int32 = 4
    object.int64 = 5
    object.float = 6.5
    object.double = 7.5
    object.string = "s"
    object.data = Data([1])
    object.date = Date(timeIntervalSinceReferenceDate: 1)
    object.decimal = 8
    object.any = .string("a")
    object.level = .high
    object.color = .green
    object.degrees = NamedDegrees(9)
    object.maybeDegrees = NamedDegrees(10)
    object.place = NamedPlace("Bern")
    object.maybe8 = 11
    object.part = NamedAddress(value: ["city": "Basel"])
    object.int8s.append(objectsIn: [1, 2])
    object.levels.append(objectsIn: [.high, .low])
    object.colors.insert(.red)
    object.texts.insert(objectsIn: ["x", "y"])
    object.degreesByName["k"] = NamedDegrees(12)
  }

  private static func check(_ object: ObjectBase, linked: Bool = false) {
    #expect(object["bool"] as? Bool == true)
    #expect(type(of: object["int"]!) == Int.self && object["int"] as? Int == 1)
    #expect(type(of: object["int8"]!) == Int8.self && object["int8"] as? Int8 == 2)
    #expect(type(of: object["int16"]!) == Int16.self && object["int16"] as? Int16 == 3)
    #expect(type(of: object["int32"]!) == Int32.self && object["int32"] as? Int32 == 4)
    #expect(type(of: object["int64"]!) == Int64.self && object["int64"] as? Int64 == 5)
    #expect(type(of: object["float"]!) == Float.self && object["float"] as? Float == 6.5)
    #expect(object["double"] as? Double == 7.5 && object["string"] as? String == "s")
    #expect(object["data"] as? Data == Data([1]))
    #expect(object["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
    #expect(object["decimal"] as? Decimal128 == 8)
    #expect(object["oid"] is ObjectId && object["uuid"] is UUID)
    #expect(object["level"] as? NamedLevel == .high)
    #expect(object["color"] as? NamedColor == .green)
    #expect(object["degrees"] as? NamedDegrees == NamedDegrees(9))
    #expect(object["maybeDegrees"] as? NamedDegrees == NamedDegrees(10))
    #expect(object["maybe8"] as? Int8 == 11 && object["maybeFloat"] as? Float == nil)
    #expect(object["int8s"] as? List<Int8> != nil)
    #expect((object["levels"] as? List<NamedLevel>).map { Array($0) } == [.high, .low])
    #expect((object["colors"] as? MutableSet<NamedColor>)?.contains(.red) == true)
    #expect((object["texts"] as? MutableSet<String>)?.count == 2)
    #expect(
      (object["degreesByName"] as? Map<String, NamedDegrees>)?["k"] == NamedDegrees(12))
    #expect(object.value(forKey: "level") as? NamedLevel == .high)
    #expect(object.value(forKeyPath: "part.city") as? String == "Basel")
  }

  @Test func typesOfPlainObjects() throws {
    let plain = Named()
    Self.fill(plain)
    Self.check(plain)
    #expect((plain["place"] as? NamedPlace)?.city == "Bern")
    #expect((plain["part"] as? NamedAddress)?.city == "Basel")
  }

  @Test func typesOfManagedAndFrozenObjects() throws {
    let realm = try memoryRealm(namedClasses)
    let object = Named()
    Self.fill(object)
    try realm.write { realm.add(object) }
    Self.check(object)
    Self.check(object.freeze())
    #expect((object["place"] as? NamedPlace)?.city == "Bern")
    #expect((object["part"] as? NamedAddress)?.city == "Basel")
    #expect(object["linkedBy"] as? LinkingObjects<Named> != nil)
    #expect(object["link"] == nil && object["color"] != nil)
  }

  @Test func typesOfDynamicObjects() throws {
    let realm = try memoryRealm(namedClasses)
    let object = Named()
    Self.fill(object)
    try realm.write {
      realm.add(object)
      object.link = object
      object.links.append(object)
      object.linkMap["a"] = object
    }
    let dynamic = realm.dynamicObjects("Named")[0]
    Self.check(dynamic)
    // Links are of their classes, where the program has these.
    #expect((dynamic["link"] as? Named)?.string == "s")
    #expect((dynamic.link as? Named)?.isSameObject(as: object) == true)
    #expect((dynamic["part"] as? NamedAddress)?.city == "Basel")
    #expect((dynamic["links"] as? List<DynamicObject>)?.first?["string"] as? String == "s")
    #expect(
      (dynamic["linkMap"] as? Map<String, DynamicObject?>)?["a"]??["int8"] as? Int8 == 2)
    #expect(dynamic.value(forKeyPath: "link.level") as? NamedLevel == .high)
    #expect((dynamic.freeze()["link"] as? Named)?.isFrozen == true)
    let made = try realm.write {
      realm.dynamicCreate("Named", value: ["id": 5, "level": 2, "int8": 3] as [String: Any])
    }
    #expect(made["level"] as? NamedLevel == .high && made["int8"] as? Int8 == 3)
    try realm.write {
      made["level"] = NamedLevel.low
      made["color"] = "red"
      made["degrees"] = NamedDegrees(1.5)
      made["maybeDegrees"] = 2.5
      made["link"] = object
      made["int8s"] = [1, 2, 3]
      made["levels"] = [NamedLevel.low, .high]
      made["colors"] = ["red", "green"]
    }
    let typed = try #require(realm.object(ofType: Named.self, forPrimaryKey: 5))
    #expect(typed.level == .low && typed.color == .red && typed.degrees.value == 1.5)
    #expect(typed.maybeDegrees?.value == 2.5 && typed.link?.id == 0)
    #expect(Array(typed.int8s) == [1, 2, 3] && Array(typed.levels) == [.low, .high])
    #expect(typed.colors.count == 2)
  }

  /// A dynamic object is the object itself where one of a class is expected.
  @Test func dynamicObjectsAsValues() throws {
    let realm = try memoryRealm(namedClasses)
    try realm.write {
      let first = realm.create(Named.self, value: ["id": 1])
      let dynamic = realm.dynamicCreate("Named", value: ["id": 2])
      first["link"] = dynamic
      #expect(first.link?.id == 2)
      first["links"] = [dynamic, first]
      #expect(first.links.map(\.id) == [2, 1])
      first["linkMap"] = ["a": dynamic]
      #expect(first.linkMap["a"]??.id == 2)
      let made = realm.create(
        Named.self, value: ["id": 3, "link": dynamic, "links": [dynamic]] as [String: Any])
      #expect(made.link?.id == 2 && made.links.first?.id == 2)
      let plain = Named(value: ["id": 4, "link": dynamic] as [String: Any])
      realm.add(plain)
      #expect(plain.link?.id == 2 && realm.objects(Named.self).count == 4)
      dynamic["link"] = first
      #expect((dynamic["link"] as? Named)?.id == 1)
    }
  }

  @Test func everyNumberThatConvertsExactly() throws {
    let realm = try memoryRealm(namedClasses)
    let managed = try realm.write { realm.create(Named.self) }
    let dynamic = realm.dynamicObjects("Named")[0]
    let numbers: [Any] = [
      Int8(7), Int16(7), Int32(7), Int64(7), Int(7), UInt8(7), UInt16(7), UInt32(7), UInt64(7),
      UInt(7), Float(7), Double(7), NSNumber(value: 7), NSNumber(value: 7.0), Decimal(7),
      NSDecimalNumber(value: 7), Decimal128(7), Decimal128("7.00"), Decimal128("70E-1"),
    ]
    try realm.write {
      for object in [managed, dynamic, Named()] as [ObjectBase] {
        // A DynamicObject of its own has no properties.
        for number in numbers {
          for name in ["int", "int8", "int16", "int32", "int64", "float", "double", "maybe8"] {
            object[name] = 0
            object[name] = number
            let value = object[name]
            let text = "\(value ?? "nil")"
            #expect(text == "7" || text == "7.0", "\(name) from \(type(of: number))")
          }
          object["decimal"] = number
          #expect(object["decimal"] as? Decimal128 == 7)
          object["degrees"] = number
          #expect(object["degrees"] as? NamedDegrees == NamedDegrees(7))
        }
        object["level"] = Int8(1)
        #expect(object["level"] as? NamedLevel == .low)
        object["level"] = 2.0
        #expect(object["level"] as? NamedLevel == .high)
        object["level"] = NamedLevel.low
        #expect(object["level"] as? NamedLevel == .low)
      }
      let made = realm.create(
        Named.self, value: ["id": 4.0, "int8": UInt(3), "float": 2, "double": Float(0.5)])
      #expect(made.id == 4 && made.int8 == 3 && made.float == 2 && made.double == 0.5)
    }
    let plain = Named(value: ["int16": Double(9), "int8s": [1.0, 2] as [Any]] as [String: Any])
    #expect(plain.int16 == 9 && Array(plain.int8s) == [1, 2])
    #expect(realm.object(ofType: Named.self, forPrimaryKey: 4.0) != nil)
    #expect(realm.object(ofType: Named.self, forPrimaryKey: Int8(4)) != nil)
  }

  @Test(arguments: ["int8", "int", "float", "level"])
  func numbersThatDoNot(_ name: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name = name as String] in
      let values: [String: Any] = ["int8": 300, "int": 1.5, "float": 1e300, "level": 9]
      Named()[name] = values[name]!
    }
    expectStop(result, "Invalid value")
    expectStop(result, "Named.\(name)")
  }

  /// Any collection of Swift's is a value, a lazy one, too, that reads what it replaces.
  @Test(arguments: [true, false]) func collectionsOfSwift(_ isManaged: Bool) throws {
    let realm = try memoryRealm(namedClasses)
    realm.beginWrite()
    let object = Named(value: ["level": 1, "int8s": 1...3])
    if isManaged { realm.add(object) }
    object["int8s"] = object.int8s.map { $0 + 1 }
    #expect(Array(object.int8s) == [2, 3, 4])
    object.setValue(object.int8s.lazy.filter { $0 != 3 }.reversed(), forKey: "int8s")
    #expect(Array(object.int8s) == [4, 2])
    object["int8s"] = [5, 6, 7][1...]
    #expect(Array(object.int8s) == [6, 7])
    object["texts"] = ["a": 1, "b": 2].keys
    #expect(Set(object.texts) == ["a", "b"])
    object["any"] = [1, 2].lazy.map { $0 * 2 }
    #expect(object.any.listValue.map { Array($0) } == [.int(2), .int(4)])
    object["any"] = ["a": 1]
    #expect(object.any.dictionaryValue?["a"] == .int(1))
    let copy = realm.create(
      Named.self, value: ["id": 2, "level": 1, "int8s": object.int8s.map { $0 * 2 }])
    #expect(Array(copy.int8s) == [12, 14])
    try realm.commitWrite()
  }

  @Test func collectionsByName() throws {
    let realm = try memoryRealm(namedClasses)
    let object = Named()
    Self.fill(object)
    try realm.write {
      realm.add(object)
      let other = realm.create(Named.self, value: ["id": 2, "string": "t", "level": 1])
      object.links.append(objectsIn: [object, other])
      object.linkSet.insert(objectsIn: [object, other])
    }
    #expect(object.links.value(forKey: "string") as? [String] == ["s", "t"])
    #expect(object.links.value(forKey: "level") as? [NamedLevel] == [.high, .low])
    #expect(object.links.value(forKey: "int8") as? [Int8] == [2, 0])
    #expect(object.linkSet.value(forKey: "string") as? Set<String> == ["s", "t"])
    #expect(object.linkSet.value(forKeyPath: "level") as? Set<NamedLevel> == [.high, .low])
    #expect(object.linkSet.value(forKeyPath: "@count") as? Int == 2)
    #expect(object.texts.value(forKey: "self") as? Set<String> == ["x", "y"])
    #expect(realm.objects(Named.self).value(forKey: "color") as? [NamedColor?] == [.green, nil])
    #expect(object.links.value(forKeyPath: "@max.level") as? Int == 2)
    #expect(object.value(forKeyPath: "links.@sum.int8") as? Int == 2)
    #expect(object.value(forKeyPath: "linkSet.string") as? Set<String> == ["s", "t"])
    try realm.write {
      object.links.setValue(NamedLevel.low, forKey: "level")
      realm.objects(Named.self).setValue(Int64(3), forKey: "int8")
      object.linkSet.setValue("u", forKey: "string")
      object.link = object
      object.setValue(4.0, forKeyPath: "link.int8")
    }
    #expect(realm.objects(Named.self).allSatisfy { $0.level == .low && $0.string == "u" })
    #expect(object.int8 == 4)
  }

  private class Before: Object {
    @Persisted var level: Int
    @Persisted var small: Int
    override class func _realmObjectName() -> String? { "Graded" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private class After: Object {
    @Persisted var level: NamedLevel
    @Persisted var small: Int8
    override class func _realmObjectName() -> String? { "Graded" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  /// A migration sees what is stored, and mends it.
  @Test func storedValuesThatTheTypeDoesNotHave() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("graded.realm"))
    do {
      let realm = try openRealm(.init(fileURL: url, objectTypes: [Before.self]))
      try realm.write { _ = realm.create(Before.self, value: ["level": 7, "small": 300]) }
    }
    let configuration = Realm.Configuration(
      fileURL: url, schemaVersion: 1,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Graded") { _, new in
          #expect(new!["level"] as? Int == 7 && new!["small"] as? Int == 300)
          #expect(new!.description.contains("level = 7"))
          new!["level"] = 2
          new!["small"] = 30
          #expect(new!["level"] as? NamedLevel == .high && new!["small"] as? Int8 == 30)
        }
      }, objectTypes: [After.self])
    let realm = try openRealm(configuration)
    #expect(realm.objects(After.self).first?.level == .high)
  }

  @Test func typesInMigrations() throws {
    let folder = TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("named.realm"))
    do {
      let realm = try openRealm(.init(fileURL: url, objectTypes: namedClasses))
      let object = Named()
      Self.fill(object)
      try realm.write {
        realm.add(object)
        object.link = object
      }
    }
    let configuration = Realm.Configuration(
      fileURL: url, schemaVersion: 1,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Named") { old, new in
          #expect(old!["int8"] as? Int == 2 && old!["level"] as? Int == 2)
          Self.check(new!)
          #expect((new!["link"] as? MigrationObject)?["string"] as? String == "s")
          #expect((old!["link"] as? MigrationObject)?["string"] as? String == "s")
          #expect((new!["part"] as? MigrationObject)?["city"] as? String == "Basel")
          new!["int16"] = old!["int8"]
          new!["level"] = NamedLevel.low
          new!["int8"] = 5.0
        }
      }, objectTypes: namedClasses)
    let realm = try openRealm(configuration)
    let object = try #require(realm.objects(Named.self).first)
    #expect(object.int16 == 2 && object.level == .low && object.int8 == 5)
  }
}
