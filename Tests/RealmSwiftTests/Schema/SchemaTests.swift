// Classes and properties as they are found, named and refused.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum FirstHouse {
  class Twin: Object {
    @Persisted var first: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum SecondHouse {
  class Twin: Object {
    @Persisted var second: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private class PrivateOfFile: Object {
  @Persisted var value: Int
}

class GenericBox<T>: Object {
  @Persisted var value: Int
}

class OfGeneric: GenericBox<Int> {
  @Persisted var more: Int
}

private class Linked: Object {
  @Persisted var next: Linked?
  @Persisted var numbers: List<Int>
  @Persisted var texts: List<String?>
  @Persisted var others: List<Linked>
  @Persisted(originProperty: "next") var back: LinkingObjects<Linked>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Declares by names.
private class Legacy: Object {
  @Persisted var id: Int
  @Persisted var name: String
  @Persisted var note = "kept in memory"
  @Persisted var plain: Int

  override class func primaryKey() -> String? { "id" }
  override class func indexedProperties() -> [String] { ["name"] }
  override class func ignoredProperties() -> [String] { ["note"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class NoSuchKey: Object {
  @Persisted var id: Int
  override class func primaryKey() -> String? { "key" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class DoubleKey: Object {
  @Persisted var id: Double
  override class func primaryKey() -> String? { "id" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class DataIndex: Object {
  @Persisted var data: Data
  override class func indexedProperties() -> [String] { ["data"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredLink: Object {
  @Persisted var dog: Dog
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class WrongOrigins: Object {
  @Persisted var link: Dog?
  @Persisted(originProperty: "nothing") var missing: LinkingObjects<WrongOrigins>
  @Persisted(originProperty: "link") var foreign: LinkingObjects<WrongOrigins>
  @Persisted(originProperty: "number") var plain: LinkingObjects<WrongOrigins>
  @Persisted var number: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class InsideSchema: EmbeddedObject {
  @Persisted var value: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class TwoKeys: Object {
  @Persisted(primaryKey: true) var a: Int
  @Persisted(primaryKey: true) var b: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class SameColumn: Object {
  @Persisted var a: Int
  @Persisted var b: Int
  override class func propertiesMapping() -> [String: String] { ["a": "c", "b": "c"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct SchemaTests {
  @Test func findsPropertiesInOrder() {
    let schema = Person().objectSchema
    #expect(schema.className == "Person")
    #expect(schema.properties.map(\.name) == ["id", "name", "age", "score", "payload"])
    #expect(schema.properties.map(\.type) == [.int, .string, .int, .double, .data])
    #expect(schema.primaryKeyProperty?.name == "id")
    #expect(schema["name"]?.isOptional == false)
    #expect(schema["nothing"] == nil)
  }

  @Test func knowsEveryType() {
    let schema = Sample().objectSchema
    let types = schema.properties.dropFirst().prefix(11).map(\.type)
    #expect(
      types == [.bool, .int, .int, .int, .int, .int, .float, .double, .string, .data, .date])
    let optionals = schema.properties.suffix(11)
    #expect(optionals.map(\.type) == types)
    #expect(optionals.allSatisfy { $0.isOptional })
    #expect(schema.properties.prefix(12).allSatisfy { !$0.isOptional })
  }

  @Test func superclassesComeFirst() {
    let schema = Employee().objectSchema
    #expect(
      schema.properties.map(\.name) == ["id", "name", "age", "score", "payload", "salary"])
    #expect(schema.primaryKeyProperty?.name == "id")
  }

  @Test func usesStoredNames() {
    let schema = Renamed().objectSchema
    #expect(schema.className == "StoredRenamed")
    #expect(schema["swiftName"]?.columnName == "stored_name")
    #expect(schema["plain"]?.columnName == "plain")
    #expect(Renamed.className() == "Renamed")
    #expect(Zoo.Animal.className() == "Animal")
    #expect(Dog().objectSchema["weight"]?.isIndexed == true)
    #expect(Dog().objectSchema["age"]?.isIndexed == false)
  }

  @Test func knowsLinksAndCollections() {
    let schema = Linked().objectSchema
    #expect(schema["next"]?.type == .object)
    #expect(schema["next"]?.objectClassName == "Linked")
    #expect(schema["next"]?.isOptional == true)
    #expect(schema["numbers"]?.type == .int)
    #expect(schema["numbers"]?.isArray == true)
    #expect(schema["numbers"]?.isOptional == false)
    #expect(schema["numbers"]?.isSet == false && schema["numbers"]?.isMap == false)
    #expect(schema["texts"]?.isOptional == true)
    #expect(schema["others"]?.type == .object)
    #expect(schema["others"]?.isArray == true)
    #expect(schema["back"]?.type == .linkingObjects)
    #expect(schema["back"]?.objectClassName == "Linked")
    // Not stored: found by name only, and not in the texts of objects.
    #expect(!schema.properties.contains { $0.name == "back" })
    #expect(!Linked().description.contains("back"))
    #expect(!schema.isEmbedded)
    #expect(ObjectIdentifier(schema.objectClass) == ObjectIdentifier(Linked.self))
    #expect(InsideSchema().objectSchema.isEmbedded)
  }

  @Test func isEqualByContent() {
    #expect(Dog().objectSchema == Dog().objectSchema)
    #expect(Dog().objectSchema != Person().objectSchema)
    #expect(Dog().objectSchema["name"] == Dog().objectSchema["name"])
    #expect(Dog().objectSchema["name"] != Dog().objectSchema["age"])
  }

  @Test func describesItself() throws {
    let expected = """
      Linked {
      \tnext {
      \t\ttype = object;
      \t\tobjectClassName = Linked;
      \t\tlinkOriginPropertyName = (null);
      \t\tcolumnName = next;
      \t\tindexed = NO;
      \t\tisPrimary = NO;
      \t\tarray = NO;
      \t\tset = NO;
      \t\tdictionary = NO;
      \t\toptional = YES;
      \t}
      \tnumbers {
      \t\ttype = int;
      \t\tcolumnName = numbers;
      \t\tindexed = NO;
      \t\tisPrimary = NO;
      \t\tarray = YES;
      \t\tset = NO;
      \t\tdictionary = NO;
      \t\toptional = NO;
      \t}

      """
    let text = Linked().objectSchema.description
    #expect(text.hasPrefix(expected))
    #expect(text.hasSuffix("\n\t}\n}"))
    let back = Linked().objectSchema["back"]?.description
    #expect(back?.contains("\n\tlinkOriginPropertyName = next;\n") == true)
    #expect(
      Linked().objectSchema["next"]?.description.hasPrefix("next {\n\ttype = object;") == true)
    #expect(InsideSchema().objectSchema.description.hasPrefix("InsideSchema (embedded) {\n"))
    let realm = try memoryRealm([Dog.self])
    let schema = realm.schema
    #expect(schema["Dog"] == Dog().objectSchema)
    #expect(schema["Cat"] == nil)
    #expect(schema.description.hasPrefix("Schema {\n\tDog {\n\t\tname {\n\t\t\ttype = string;"))
    #expect(schema.description.hasSuffix("\n\t\t}\n\t}\n}"))
  }

  @Test func findsTheDefaultClasses() throws {
    class Local: Object {
      @Persisted var value: Int
    }
    #expect(Local().objectSchema.properties.count == 1)
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: "default-\(UUID().uuidString)"))
    let names = Set(realm.schema.objectSchema.map(\.className))
    #expect(names.isSuperset(of: ["Person", "Dog", "Sample", "Employee", "StoredRenamed"]))
    #expect(names.isSuperset(of: ["Animal", "PrivateOfFile", "OfGeneric"]))
    // Generic and local classes, and those that do not want to.
    #expect(names.isDisjoint(with: ["GenericBox", "Local", "Twin", "TwoKeys"]))
    #expect(!names.contains("Object"))
  }

  // MARK: - Declarations by name

  @Test func namesDeclareKeysAndIndexes() throws {
    let schema = Legacy().objectSchema
    #expect(schema.properties.map(\.name) == ["id", "name", "plain"])
    #expect(schema.primaryKeyProperty?.name == "id")
    #expect(schema["name"]?.isIndexed == true)
    #expect(schema["plain"]?.isIndexed == false)
    let realm = try memoryRealm([Legacy.self])
    let object = Legacy()
    object.id = 7
    object.note = "changed"
    try realm.write { realm.add(object) }
    #expect(realm.object(ofType: Legacy.self, forPrimaryKey: 7)?.note == "kept in memory")
    #expect(object.note == "changed")
  }

  @Test func wrongNamesStop() async {
    let key = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NoSuchKey().objectSchema }
    expectStop(key, "Primary key property 'key' does not exist on object 'NoSuchKey'")
    let type = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = DoubleKey().objectSchema }
    expectStop(type, "Property 'DoubleKey.id' of type 'double' cannot be made the primary key.")
    let index = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = DataIndex().objectSchema }
    expectStop(index, "Property 'DataIndex.data' of type 'data' cannot be indexed.")
  }

  // MARK: - Classes that do not fit together

  @Test func linksNeedTheirClasses() {
    let error = #expect(throws: Realm.Error.self) { _ = try memoryRealm([WrongOrigins.self]) }
    #expect(error?.code == .fail)
    #expect(
      error?.localizedDescription == """
        Schema validation failed due to the following errors:
        - Property 'WrongOrigins.link' of type 'object' has unknown object type 'Dog'
        - Property 'WrongOrigins.nothing' declared as origin of linking objects property \
        'WrongOrigins.missing' does not exist
        - Property 'WrongOrigins.link' declared as origin of linking objects property \
        'WrongOrigins.foreign' links to type 'Dog'
        - Property 'WrongOrigins.number' declared as origin of linking objects property \
        'WrongOrigins.plain' is not a link
        """)
  }

  // MARK: - Stops

  @Test func refusesARequiredLink() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = RequiredLink().objectSchema
    }
    expectStop(result, "Object property 'dog' must be marked as optional.")
  }

  @Test func refusesTwoPrimaryKeys() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = TwoKeys().objectSchema
    }
    expectStop(result, "Properties 'a' and 'b' are both marked as the primary key of 'TwoKeys'")
  }

  @Test func refusesTwoPropertiesInOneColumn() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = SameColumn().objectSchema
    }
    expectStop(result, "Properties 'a' and 'b' of 'SameColumn' are both stored as 'c'.")
  }

  @Test func refusesTwoClassesOfOneName() {
    let error = #expect(throws: Realm.Error.self) {
      _ = try memoryRealm([FirstHouse.Twin.self, SecondHouse.Twin.self])
    }
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("are both stored as 'Twin'"))
    #expect(text.contains("FirstHouse") && text.contains("SecondHouse"))
    #expect(text.contains("RealmSwiftTests."))
  }

  @Test func oneOfTwoClassesCanBePicked() throws {
    let realm = try memoryRealm([FirstHouse.Twin.self])
    try realm.write { realm.add(FirstHouse.Twin()) }
    #expect(realm.objects(FirstHouse.Twin.self).count == 1)
  }
}
