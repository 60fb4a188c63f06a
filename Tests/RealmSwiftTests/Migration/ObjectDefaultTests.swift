// New properties that begin with an object: what was there before gets it whole. And objects of
// classes that are embedded no more, when the property that held them changes its kind.
import Foundation
import RealmSwift
import Storage
import Synchronization
import TestSupport
import Testing

private class Home: EmbeddedObject {
  @Persisted var city = "Bern"
  override class func _realmObjectName() -> String? { "ObjectDefaultHome" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class KeptPet: Object {
  @Persisted var name = "Bello"
  override class func _realmObjectName() -> String? { "ObjectDefaultPet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Before: Object {
  @Persisted var number = 0
  override class func _realmObjectName() -> String? { "ObjectDefaultOwner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Behind: Object {
  @Persisted var number = 0
  @Persisted var home: Home? = Home()
  @Persisted var pet: KeptPet? = KeptPet()
  @Persisted var any: AnyRealmValue = .object(KeptPet(value: ["name": "Rex"]))
  override class func _realmObjectName() -> String? { "ObjectDefaultOwner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class HeldPart: EmbeddedObject {
  @Persisted var number = 0
  override class func _realmObjectName() -> String? { "ObjectDefaultPart" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Holder: Object {
  @Persisted var part: HeldPart?
  override class func _realmObjectName() -> String? { "ObjectDefaultHolder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class FreePart: Object {
  @Persisted var number = 0
  override class func _realmObjectName() -> String? { "ObjectDefaultPart" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ListHolder: Object {
  @Persisted var part: List<FreePart>
  override class func _realmObjectName() -> String? { "ObjectDefaultHolder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ZeroBefore: Object {
  @Persisted var number = 0
  override class func _realmObjectName() -> String? { "ObjectDefaultZero" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ZeroBehind: Object {
  @Persisted var number = 0
  @Persisted var rating: Int? = 0
  @Persisted var isOn: Bool? = false
  @Persisted var weight: Double? = 0
  @Persisted var text: String? = ""
  @Persisted var data: Data? = Data()
  @Persisted(indexed: true) var any: AnyRealmValue = .int(0)
  @Persisted var nothing: Int?
  @Persisted var plain: Int
  override class func _realmObjectName() -> String? { "ObjectDefaultZero" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct ObjectDefaultTests {
  /// They were nil: zero and what is empty was taken for what a new column holds.
  @Test func optionalPropertiesBeginWithZero() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [ZeroBefore.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write { for _ in 0..<300 { realm.create(ZeroBefore.self) } }
    }
    configuration.objectTypes = [ZeroBehind.self]
    configuration.schemaVersion = 1
    let realm = try Realm(configuration: configuration)
    let objects = realm.objects(ZeroBehind.self)
    #expect(objects.allSatisfy { $0.rating == 0 && $0.isOn == false && $0.weight == 0 })
    #expect(objects.allSatisfy { $0.text?.isEmpty == true && $0.data?.isEmpty == true })
    #expect(objects.allSatisfy { $0.any == .int(0) && $0.nothing == nil && $0.plain == 0 })
    #expect(objects.where { $0.rating == 0 && $0.text == "" }.count == 300)
    #expect(objects.where { $0.any == .int(0) }.count == 300)
    #expect(try realm.checkInvariants().findings == [])
  }

  /// They had a row and no values; and with two owners the second one stopped the process.
  @Test(arguments: [0, 1, 2, 5]) func objectsThatPropertiesBeginWithAreWhole(count: Int) throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [Before.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write { for _ in 0..<count { realm.create(Before.self) } }
    }
    configuration.objectTypes = [Behind.self, Home.self, KeptPet.self]
    configuration.schemaVersion = 1
    let realm = try Realm(configuration: configuration)
    let objects = realm.objects(Behind.self)
    #expect(objects.map { $0.home?.city } == Array(repeating: "Bern", count: count))
    #expect(objects.map { $0.pet?.name } == Array(repeating: "Bello", count: count))
    #expect(
      objects.map { $0.any.object(KeptPet.self)?.name } == Array(repeating: "Rex", count: count))
    // Each has a home of its own.
    #expect(realm.objects(Behind.self).where { $0.home.city == "Bern" }.count == count)
    try realm.write { objects.first?.home?.city = "Basel" }
    #expect(objects.where { $0.home.city == "Basel" }.count == min(1, count))
  }

  /// They were removed with the column that had held them.
  @Test func objectsThatAreEmbeddedNoMoreOutliveTheirProperty() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [Holder.self, HeldPart.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(Holder.self, value: ["part": ["number": 7]])
        realm.create(Holder.self, value: ["part": ["number": 8]])
      }
    }
    configuration.objectTypes = [ListHolder.self, FreePart.self]
    configuration.schemaVersion = 1
    let seen = Mutex<[Int]>([])
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: FreePart.className()) { _, new in
        if let number = new?["number"] as? Int { seen.withLock { $0.append(number) } }
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(FreePart.self).map(\.number).sorted() == [7, 8])
    #expect(realm.objects(ListHolder.self).map(\.part.count) == [0, 0])
    #expect(seen.withLock { $0 }.sorted() == [7, 8])
  }
}
