// Properties of identifiers and decimals that become required: what was nil is zero for all who
// look. And properties with another name that would begin with an object of their own.
import Foundation
import ObjectStore
import RealmSwift
import Storage
import TestSupport
import Testing

private class OptionalThing: Object {
  @Persisted var uuid: UUID?
  @Persisted var objectId: ObjectId?
  @Persisted var decimal: Decimal128?
  @Persisted var uuids: MutableSet<UUID?>
  @Persisted var decimals: List<Decimal128?>
  override class func _realmObjectName() -> String? { "RequiredZeroThing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredThing: Object {
  @Persisted(indexed: true) var uuid: UUID
  @Persisted(primaryKey: true) var objectId: ObjectId
  @Persisted var decimal: Decimal128
  @Persisted var uuids: MutableSet<UUID>
  @Persisted var decimals: List<Decimal128>
  override class func _realmObjectName() -> String? { "RequiredZeroThing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Owner: Object {
  @Persisted var number = 0
  @Persisted var pal: Pal?
  override class func _realmObjectName() -> String? { "RenamedDefaultOwner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RenamedOwner: Object {
  @Persisted var number = 0
  @Persisted var friend: RenamedPal? = RenamedPal(value: ["name": "new"])
  @Persisted var guest: RenamedPal? = RenamedPal(value: ["name": "guest"])
  override class func _realmObjectName() -> String? { "RenamedDefaultOwner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Pal: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "RenamedDefaultPal" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RenamedPal: Object {
  @Persisted var name = ""
  // Comes with each that a property begins with, and has to go with it.
  @Persisted var collar: Collar? = Collar()
  override class func _realmObjectName() -> String? { "RenamedDefaultPal" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Collar: Object {
  @Persisted var color = "red"
  override class func _realmObjectName() -> String? { "RenamedDefaultCollar" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite(.ownThreads) struct RequiredZeroTests {
  private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  private static let zeroId = ObjectId("000000000000000000000000")

  /// Accessors told zero, while queries, keys and sets did not find it.
  @Test func whatWasNilIsFoundAsZero() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [OptionalThing.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let thing = realm.create(OptionalThing.self)
        thing.uuids.insert(nil)
        thing.decimals.append(nil)
      }
    }
    configuration.objectTypes = [RequiredThing.self]
    configuration.schemaVersion = 1
    let realm = try Realm(configuration: configuration)
    let things = realm.objects(RequiredThing.self)
    let thing = try #require(things.first)
    #expect(thing.uuid == Self.zero && thing.objectId == Self.zeroId && thing.decimal == 0)
    #expect(things.where { $0.uuid == Self.zero }.count == 1)
    #expect(things.where { $0.uuid != Self.zero }.isEmpty)
    #expect(things.where { $0.objectId == Self.zeroId }.count == 1)
    #expect(things.where { $0.decimal == 0 }.count == 1)
    #expect(realm.object(ofType: RequiredThing.self, forPrimaryKey: Self.zeroId) != nil)
    #expect(thing.uuids.contains(Self.zero) && thing.decimals.contains(0))
    try realm.write { thing.uuids.insert(Self.zero) }
    #expect(thing.uuids.count == 1)
    #expect(try realm.checkInvariants().findings == [])
  }

  @Test func zeroHasTheBytesThatValuesHave() {
    #expect(ValueType.decimal128.zeroBytes == Decimal128()._withBytes { [UInt8]($0) })
    #expect(ValueType.uuid.zeroBytes == Self.zero._withBytes { [UInt8]($0) })
    #expect(ValueType.objectId.zeroBytes == Self.zeroId._withBytes { [UInt8]($0) })
  }

  /// Its first value stayed, linked by nobody.
  @Test func aRenamedPropertyLeavesNoObjectBehind() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [Owner.self, Pal.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for number in 0..<3 {
          let owner = realm.create(Owner.self, value: ["number": number])
          if number > 0 { owner.pal = realm.create(Pal.self, value: ["name": "old \(number)"]) }
        }
      }
    }
    configuration.objectTypes = [RenamedOwner.self, RenamedPal.self, Collar.self]
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.renameProperty(
        onType: RenamedOwner.className(), from: "pal", to: "friend")
    }
    let realm = try Realm(configuration: configuration)
    let owners = realm.objects(RenamedOwner.self).sorted(byKeyPath: "number")
    #expect(owners.map { $0.friend?.name } == [nil, "old 1", "old 2"])
    #expect(owners.map { $0.guest?.name } == ["guest", "guest", "guest"])
    let pals = realm.objects(RenamedPal.self)
    #expect(pals.map(\.name).sorted() == ["guest", "old 1", "old 2"])
    // One that the old ones share, and that of the guest.
    #expect(pals.allSatisfy { $0.collar?.color == "red" } && realm.objects(Collar.self).count == 2)
    #expect(try realm.checkInvariants().findings == [])
  }

  /// A first value that something else links to in the meantime stays.
  @Test func aFirstValueThatIsUsedStays() throws {
    let folder = TemporaryFolder()
    var configuration = folder.configuration("a.realm", [Owner.self, Pal.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write { _ = realm.create(Owner.self) }
    }
    configuration.objectTypes = [RenamedOwner.self, RenamedPal.self, Collar.self]
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: RenamedOwner.className()) { _, new in
        new!["guest"] = new!["friend"]
      }
      migration.renameProperty(
        onType: RenamedOwner.className(), from: "pal", to: "friend")
    }
    let realm = try Realm(configuration: configuration)
    let owner = try #require(realm.objects(RenamedOwner.self).first)
    #expect(owner.friend == nil && owner.guest?.name == "new" && owner.guest?.collar != nil)
    #expect(try realm.checkInvariants().findings == [])
  }
}
