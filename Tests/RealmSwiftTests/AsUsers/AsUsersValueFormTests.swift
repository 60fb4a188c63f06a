// Values in the forms in which programs have them: enums, boxes of older classes, own types and
// mixed values are taken wherever untyped values are, by objects that are known by name too.
import Foundation
import RealmSwift
import TestSupport
import Testing

private enum FormMode: String, PersistableEnum {
  case wifi
  case always
}

private enum FormLevel: Int, PersistableEnum {
  case low = 1
  case high = 4
}

private struct Metres: CustomPersistable {
  typealias PersistedType = Double
  var value: Double
  init(persistedValue: Double) { value = persistedValue }
  init(_ value: Double) { self.value = value }
  var persistableValue: Double { value }
}

private enum First {
  class FormSetting: Object {
    @Persisted(primaryKey: true) var id: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private class FormSetting: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var mode: FormMode = .always
  @Persisted var text: String
  @Persisted var optionalMode: FormMode?
  @Persisted var level: FormLevel = .low
  @Persisted var rank: Int?
  @Persisted var height: Metres
  @Persisted var number: Double
  @Persisted var modes: List<FormMode>
  @Persisted var texts: List<String>
  @Persisted var modeSet: MutableSet<FormMode>
  @Persisted var ranks: List<Int?>
  @Persisted var modeMap: Map<String, FormMode>
  @Persisted var any: AnyRealmValue
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class FormPet: Object {
  @Persisted(primaryKey: true) var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class FormOwner: Object {
  @Persisted var pet: FormPet?
  @Persisted var pets: List<FormPet>
  @Persisted var byName: Map<String, FormPet?>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A box with a value in it.
private func box(_ value: Int?) -> RealmProperty<Int?> {
  let box = RealmProperty<Int?>()
  box.value = value
  return box
}

private func box(_ value: AnyRealmValue) -> RealmProperty<AnyRealmValue> {
  let box = RealmProperty<AnyRealmValue>()
  box.value = value
  return box
}

@Suite(.ownThreads) struct AsUsersValueFormTests {
  /// Values for all properties, in the forms of a program.
  private static var given: [String: Any] {
    [
      "mode": FormMode.wifi, "text": FormMode.wifi,
      "optionalMode": FormMode.wifi as FormMode? as Any,
      "level": FormLevel.high, "rank": box(4), "height": Metres(2.5), "number": Metres(3.5),
      "modes": [FormMode.wifi, .always], "texts": [FormMode.always, "x"] as [Any],
      "modeSet": Set([FormMode.wifi]), "ranks": [box(1), RealmOptional<Int>(2), box(nil)] as [Any],
      "modeMap": ["a": FormMode.wifi], "any": FormLevel.high,
    ]
  }

  private func check(_ setting: FormSetting) {
    #expect(setting.mode == .wifi && setting.text == "wifi" && setting.optionalMode == .wifi)
    #expect(setting.level == .high && setting.rank == 4)
    #expect(setting.height.value == 2.5 && setting.number == 3.5)
    #expect(Array(setting.modes) == [.wifi, .always] && Array(setting.texts) == ["always", "x"])
    #expect(Array(setting.modeSet) == [.wifi] && Array(setting.ranks) == [1, 2, nil])
    #expect(setting.modeMap["a"] == .wifi && setting.any == .int(4))
  }

  @Test func createdAndAssignedByName() throws {
    let realm = try memoryRealm([FormSetting.self])
    try realm.write {
      realm.create(FormSetting.self, value: Self.given.merging(["id": 1]) { $1 })
      let typed = realm.create(FormSetting.self, value: ["id": 2])
      for (name, value) in Self.given { typed[name] = value }
      realm.create(FormSetting.self, value: ["id": 3]).setValuesForKeys(Self.given)
      let dynamic = realm.dynamicCreate("FormSetting", value: ["id": 4])
      for (name, value) in Self.given { dynamic[name] = value }
      realm.dynamicCreate("FormSetting", value: ["id": 5]).setValuesForKeys(Self.given)
      realm.dynamicCreate("FormSetting", value: Self.given.merging(["id": 6]) { $1 })
      realm.create(FormSetting.self, value: ["id": 7])
      for (name, value) in Self.given {
        realm.objects(FormSetting.self).filter("id == 7").setValue(value, forKey: name)
      }
      let unmanaged = FormSetting(value: ["id": 8])
      for (name, value) in Self.given { unmanaged.setValue(value, forKey: name) }
      check(unmanaged)
      realm.add(unmanaged)
    }
    #expect(realm.objects(FormSetting.self).count == 8)
    for setting in realm.objects(FormSetting.self) { check(setting) }
  }

  /// Properties of every kind, given as mixed values, and mixed values as values of other types.
  @Test func mixedValuesForOthersAndOthersForMixedValues() throws {
    let list = List<AnyRealmValue>()
    list.append(.string("wifi"))
    let map = Map<String, AnyRealmValue>()
    map["a"] = .string("wifi")
    let given: [String: Any] = [
      "mode": AnyRealmValue.string("wifi"), "optionalMode": AnyRealmValue.none,
      "rank": AnyRealmValue.none, "text": "a text".prefix(1), "modes": AnyRealmValue.list(list),
      "texts": ["b text".prefix(1)], "modeSet": AnyRealmValue.list(list),
      "ranks": [AnyRealmValue.none, .int(3)], "modeMap": AnyRealmValue.dictionary(map),
      "any": Decimal(2.5), "number": AnyRealmValue.double(1.5),
    ]
    func check(_ setting: FormSetting) {
      #expect(setting.mode == .wifi && setting.optionalMode == nil && setting.rank == nil)
      #expect(setting.text == "a" && Array(setting.modes) == [.wifi] && setting.number == 1.5)
      #expect(Array(setting.texts) == ["b"] && Array(setting.modeSet) == [.wifi])
      #expect(Array(setting.ranks) == [nil, 3] && setting.modeMap["a"] == .wifi)
      #expect(setting.any == .decimal128(2.5))
    }
    let realm = try memoryRealm([FormSetting.self])
    try realm.write {
      let before: [String: Any] = ["rank": 7, "optionalMode": FormMode.wifi]
      realm.create(FormSetting.self, value: given.merging(["id": 1]) { $1 })
      realm.create(FormSetting.self, value: before.merging(["id": 2]) { $1 })
        .setValuesForKeys(given)
      realm.dynamicCreate("FormSetting", value: before.merging(["id": 3]) { $1 })
        .setValuesForKeys(given)
      realm.dynamicCreate("FormSetting", value: given.merging(["id": 4]) { $1 })
      let unmanaged = FormSetting(value: before.merging(["id": 5]) { $1 })
      unmanaged.setValuesForKeys(given)
      check(unmanaged)
      realm.add(unmanaged)
    }
    #expect(realm.objects(FormSetting.self).count == 5)
    for setting in realm.objects(FormSetting.self) { check(setting) }
    for (value, expected) in [
      (CGFloat(2.5) as Any, .double(2.5)), (Float16(2.5), .double(2.5)),
      ("a text".prefix(1), .string("a")), (Float(2.5), .float(2.5)),
    ] as [(Any, AnyRealmValue)] {
      #expect(FormSetting(value: ["any": value]).any == expected)
    }
  }

  @Test func linksGivenAsMixedValues() throws {
    let realm = try memoryRealm([FormPet.self, FormOwner.self])
    try realm.write {
      let pet = realm.create(FormPet.self, value: ["name": "Ada"])
      let mixed = AnyRealmValue.object(pet)
      let forms: [String: Any] = ["pet": mixed, "pets": [mixed], "byName": ["a": mixed]]
      realm.create(FormOwner.self, value: forms)
      realm.create(FormOwner.self).setValuesForKeys(forms)
      realm.add(FormOwner(value: forms))
      let dynamic = realm.dynamicCreate("FormOwner", value: forms)
      dynamic.setValuesForKeys(forms)
      #expect(realm.objects(FormPet.self).count == 1)
      let owners = realm.objects(FormOwner.self)
      #expect(owners.count == 4)
      for owner in owners {
        #expect(owner.pet == pet && owner.pets.count == 1 && owner.byName["a"] == pet)
        owner["pet"] = AnyRealmValue.none
        #expect(owner.pet == nil)
      }
      dynamic["pet"] = mixed
      #expect(owners.filter("pet == %@", mixed).count == 1)
      dynamic["pet"] = AnyRealmValue.none
      #expect(owners.filter("pet == nil").count == 4)
    }
  }

  @Test func assignedInAMigration() throws {
    let folder = TemporaryFolder()
    do {
      let realm = try Realm(
        configuration: folder.configuration("a.realm", [First.FormSetting.self]))
      try realm.write { _ = realm.create(First.FormSetting.self, value: ["id": 1]) }
    }
    var configuration = folder.configuration("a.realm", [FormSetting.self])
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.create(
        "FormSetting", value: Self.given.merging(["id": 2]) { $1 } as [String: Any])
      migration.enumerateObjects(ofType: "FormSetting") { _, new in
        for (name, value) in Self.given { new![name] = value }
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(FormSetting.self).count == 2)
    for setting in realm.objects(FormSetting.self) { check(setting) }
  }

  @Test func nothingInABoxIsNil() throws {
    let realm = try memoryRealm([FormSetting.self])
    try realm.write {
      let setting = realm.create(FormSetting.self, value: Self.given)
      setting["rank"] = box(nil)
      setting["any"] = box(AnyRealmValue.none)
      #expect(setting.rank == nil && setting.any == .none)
      let dynamic = realm.dynamicObjects("FormSetting")[0]
      dynamic["rank"] = RealmOptional<Int>(5)
      dynamic["any"] = box(.string("x"))
      #expect(setting.rank == 5 && setting.any == .string("x"))
      dynamic["rank"] = RealmOptional<Int>()
      dynamic["optionalMode"] = FormMode?.none as Any
      #expect(setting.rank == nil && setting.optionalMode == nil)
      dynamic["text"] = AnyRealmValue.string("mixed")
      dynamic["any"] = [FormMode.wifi, box(3), Metres(1.5)] as [Any]
      #expect(setting.text == "mixed")
      #expect(setting.any == .fromArray([.string("wifi"), .int(3), .double(1.5)]))
    }
  }

  @Test func argumentsOfPredicates() throws {
    let realm = try memoryRealm([FormSetting.self])
    try realm.write { _ = realm.create(FormSetting.self, value: Self.given) }
    let settings = realm.objects(FormSetting.self)
    #expect(settings.filter("mode == %@ AND text == %@", FormMode.wifi, FormMode.wifi).count == 1)
    #expect(settings.filter("rank == %@", box(4)).count == 1)
    #expect(settings.filter("rank == %@", RealmOptional<Int>(4)).count == 1)
    #expect(settings.filter("rank == %@", box(nil)).isEmpty)
    #expect(settings.filter("rank IN %@", [box(3), box(4)]).count == 1)
    #expect(settings.filter("text IN %@", [FormMode.always, .wifi]).count == 1)
    #expect(settings.filter("height BETWEEN %@", [Metres(2), Metres(3)]).count == 1)
    #expect(
      settings.filter("ANY modes == %@ AND #any == %@", FormMode.wifi, box(.int(4))).count == 1)
    let unmanaged = FormSetting(value: Self.given)
    #expect(
      NSPredicate(format: "rank == %@ AND mode == %@", box(4), FormMode.wifi).evaluate(
        with: unmanaged))
  }

  @Test func moreArgumentsThanPlaceholders() throws {
    let realm = try memoryRealm([FormSetting.self])
    try realm.write { _ = realm.create(FormSetting.self, value: Self.given) }
    let settings = realm.objects(FormSetting.self)
    for _ in 0..<2 {
      #expect(settings.filter("text CONTAINS[c] %@", "WI", "WI").count == 1)
      #expect(settings.filter("text == 'wifi'", "unused").count == 1)
      #expect(settings.filter("%K == %@", "rank", 4, 5, FormMode.wifi).count == 1)
      let predicate = NSPredicate(format: "text CONTAINS[c] %@ OR text == %@", "wifi", "b", "c")
      #expect(settings.filter(predicate).count == 1)
      let array = NSPredicate(format: "rank IN %@", argumentArray: [[3, 4], 1])
      #expect(settings.filter(array).count == 1)
      #expect(settings.filter("rank BETWEEN %@", [1, 5], [7]).count == 1)
      #expect(settings.index(matching: "rank == %@", 4, 5) == 0)
    }
    // The same format with as many as it asks for, and then with more.
    #expect(settings.filter("rank == %@ AND text == %@", 4, "wifi").count == 1)
    #expect(settings.filter("rank == %@ AND text == %@", 4, "wifi", 1).count == 1)
  }
}
